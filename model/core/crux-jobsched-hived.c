/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched-hived: affinity cells, after HiveD (Zhao and others, HiveD: Sharing a GPU Cluster
 * for Deep Learning with Guarantees, OSDI 2020, section 3: cells and buddy cell allocation).
 *
 * Place: model/core (C11). Depends on crux-jobsched-policy.
 *
 * Cells: GPU, PCIe switch, host, ToR, pod, cluster (crux-floor.h). A cell is free when all of it
 * is; a taken one splits its parent, and cells merge again when all of the parent is free. A job of
 * n GPUs asks for cells:
 *   - n that one host can hold: within one host, and there within one PCIe cell when some is large
 *     enough, else as many whole PCIe cells as fit and what is left over within one more;
 *   - more: as many whole hosts as fit, what is left over within one more host, as above;
 *   - all under the lowest level of which some cell is large enough (GPU .. cluster); when no cell
 *     of it has room, one level up, unless hived_strict.
 * It waits until there are such cells: that is the guarantee, and its price is in the counter
 * blocked_gpu_s. Of the cells that will do, that which splits the least is taken, as a buddy
 * allocator does: the host with a PCIe cell split already, then the host, ToR and pod with the
 * fewest free GPUs; whole hosts from the ToR where they fit most tightly, else from the one with
 * the most. An empty cluster holds every job, so the oldest that waits starts at the latest then.
 *
 * Simplified: one tenant, whose virtual cluster is the whole cluster, so that binding virtual to
 * physical cells is the identity; no low-priority (opportunistic) jobs, no preemption; HiveD's
 * level of CPU sockets is not a cell.
 */
#include "crux-jobsched-policy.h"

struct cells {
	uint32_t largest[CRUX_FLOOR_LEVELS]; /* size of a cell, by level */
};

static void close_cells(void *state)
{
	crux_free(state);
}

static enum crux_status open_cells(struct crux_jobsched *s, void **state, struct crux_error *err)
{
	struct cells *cells = crux_zeroed(1, sizeof(*cells));

	if (!cells)
		return crux_fail(err, CRUX_NOMEM, "out of memory for cells");
	for (int level = 0; level < CRUX_FLOOR_LEVELS; level++)
		for (uint32_t i = 0; i < s->floor.n_cells[level]; i++)
			if (s->floor.cells[level][i].size > cells->largest[level])
				cells->largest[level] = s->floor.cells[level][i].size;
	*state = cells;
	return CRUX_OK;
}

/* ---- within a host */

/* How n GPUs lie in a host. */
struct shape {
	uint32_t rest; /* PCIe cell of the last left GPUs; CRUX_NONE: all are in whole cells */
	uint32_t left;
};

static uint32_t largest_child(const struct crux_floor *floor, const struct crux_floor_cell *host)
{
	const struct crux_floor_cell *pcie = floor->cells[CRUX_FLOOR_PCIE];
	uint32_t most = 0;

	for (uint32_t i = host->child; i < host->child + host->n_children; i++)
		most = pcie[i].size > most ? pcie[i].size : most;
	return most;
}

/*
 * Within one PCIe cell of the host when some could hold n, else whole ones as they come while they
 * fit and what is left in one more, where it fits most tightly. False: the host does not have it.
 */
static bool shape_host(const struct crux_floor *floor, uint32_t host, uint32_t n, struct shape *out)
{
	const struct crux_floor_cell *h = &floor->cells[CRUX_FLOOR_HOST][host];
	const struct crux_floor_cell *pcie = floor->cells[CRUX_FLOOR_PCIE];
	uint32_t end = h->child + h->n_children, again, i;

	*out = (struct shape){CRUX_NONE, n};
	if (h->free < n)
		return false;
	again = largest_child(floor, h) >= n ? 0 : n; /* for whole cells */
	for (i = h->child; again && i < end; i++)
		if (pcie[i].free == pcie[i].size && pcie[i].size <= out->left)
			out->left -= pcie[i].size;
	for (i = h->child; out->left && i < end; i++) {
		if (pcie[i].free == pcie[i].size && pcie[i].size <= again)
			again -= pcie[i].size; /* one of those above */
		else if (pcie[i].free >= out->left &&
			 (out->rest == CRUX_NONE || pcie[i].free < pcie[out->rest].free))
			out->rest = i;
	}
	return !out->left || out->rest != CRUX_NONE;
}

static void take_in_host(struct crux_floor *floor, uint32_t host, uint32_t n,
			 struct crux_floor_hand *hand)
{
	const struct crux_floor_cell *h = &floor->cells[CRUX_FLOOR_HOST][host];
	const struct crux_floor_cell *pcie = floor->cells[CRUX_FLOOR_PCIE];
	struct shape shape;
	uint32_t whole;

	if (!shape_host(floor, host, n, &shape))
		return;
	whole = n - shape.left;
	for (uint32_t i = h->child; whole && i < h->child + h->n_children; i++)
		if (pcie[i].free == pcie[i].size && pcie[i].size <= whole) {
			whole -= pcie[i].size;
			crux_floor_fill(floor, CRUX_FLOOR_PCIE, i, pcie[i].size, hand);
		}
	if (shape.left)
		crux_floor_fill(floor, CRUX_FLOOR_PCIE, shape.rest, shape.left, hand);
}

/* What a host costs to split, compared in this order; less is better. */
struct cost {
	uint32_t key[5]; /* other ToR than wanted; splits a PCIe cell; free of host, ToR, pod */
};

static bool cheaper(const struct cost *a, const struct cost *b)
{
	for (int i = 0; i < 5; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i];
	return false;
}

/* The host among cells first .. first + n_hosts - 1 for n GPUs, if need be under ToR @p tor. */
static uint32_t best_host(const struct crux_floor *floor, uint32_t first, uint32_t n_hosts,
			  uint32_t n, uint32_t tor)
{
	struct cost best = {{0}};
	uint32_t found = CRUX_NONE;

	for (uint32_t h = first; h < first + n_hosts; h++) {
		const struct crux_floor_cell *host = &floor->cells[CRUX_FLOOR_HOST][h];
		const struct crux_floor_cell *above = &floor->cells[CRUX_FLOOR_TOR][host->parent];
		struct shape shape;

		if (host->free >= n && shape_host(floor, h, n, &shape)) {
			struct cost cost = {
				{tor != CRUX_NONE && host->parent != tor,
				 shape.left && crux_floor_whole(floor, CRUX_FLOOR_PCIE, shape.rest),
				 host->free, above->free,
				 floor->cells[CRUX_FLOOR_POD][above->parent].free}};

			if (found == CRUX_NONE || cheaper(&cost, &best)) {
				found = h;
				best = cost;
			}
		}
	}
	return found;
}

/* ---- more than a host */

/* The run of cells of a lower level within a cell. */
static void run_below(const struct crux_floor *floor, int level, uint32_t i, int below,
		      uint32_t *first, uint32_t *n)
{
	*first = i;
	*n = 1;
	for (; level > below; level--) {
		const struct crux_floor_cell *low = &floor->cells[level][*first];
		const struct crux_floor_cell *high = &floor->cells[level][*first + *n - 1];

		*first = low->child;
		*n = high->child + high->n_children - low->child;
	}
}

/* GPUs in whole hosts of a ToR that are no larger than n, up to n. */
static uint32_t whole_gpus(const struct crux_floor *floor, uint32_t tor, uint32_t n)
{
	const struct crux_floor_cell *t = &floor->cells[CRUX_FLOOR_TOR][tor];
	uint32_t sum = 0;

	for (uint32_t h = t->child; t->whole_hosts && h < t->child + t->n_children; h++) {
		uint32_t size = floor->cells[CRUX_FLOOR_HOST][h].size;

		if (crux_floor_whole(floor, CRUX_FLOOR_HOST, h) && size <= n - sum)
			sum += size;
	}
	return sum;
}

/* Whole hosts of a ToR while they fit; what is left of n. */
static uint32_t take_whole(struct crux_floor *floor, uint32_t tor, uint32_t n,
			   struct crux_floor_hand *hand)
{
	const struct crux_floor_cell *t = &floor->cells[CRUX_FLOOR_TOR][tor];

	for (uint32_t h = t->child; h < t->child + t->n_children; h++) {
		uint32_t size = floor->cells[CRUX_FLOOR_HOST][h].size;

		if (crux_floor_whole(floor, CRUX_FLOOR_HOST, h) && size <= n) {
			crux_floor_fill(floor, CRUX_FLOOR_HOST, h, size, hand);
			n -= size;
		}
	}
	return n;
}

/* The ToR that has most of n in whole hosts; of several the one with the fewest of them. */
static uint32_t best_tor(const struct crux_floor *floor, uint32_t first, uint32_t n_tors,
			 uint32_t n)
{
	uint32_t best = CRUX_NONE, most = 0;

	for (uint32_t t = first; t < first + n_tors; t++) {
		uint32_t sum = whole_gpus(floor, t, n);
		const struct crux_floor_cell *tors = floor->cells[CRUX_FLOOR_TOR];

		if (sum > most ||
		    (sum && sum == most && tors[t].whole_hosts < tors[best].whole_hosts)) {
			best = t;
			most = sum;
		}
	}
	return best;
}

/* n GPUs under a cell of ToR level or above; false, and nothing taken, when it has no such cells.
 */
static bool take_under(struct crux_floor *floor, int level, uint32_t i, uint32_t n,
		       struct crux_floor_hand *hand)
{
	uint32_t first_tor, n_tors, first_host, n_hosts, tor = CRUX_NONE, left = n, host;

	run_below(floor, level, i, CRUX_FLOOR_TOR, &first_tor, &n_tors);
	run_below(floor, level, i, CRUX_FLOOR_HOST, &first_host, &n_hosts);
	while (left) {
		uint32_t next = best_tor(floor, first_tor, n_tors, left);

		if (next == CRUX_NONE)
			break;
		tor = next;
		left = take_whole(floor, tor, left, hand);
	}
	if (!left)
		return true;
	host = best_host(floor, first_host, n_hosts, left, tor);
	if (host != CRUX_NONE) {
		take_in_host(floor, host, left, hand);
		return true;
	}
	crux_floor_drop(floor, hand);
	return false;
}

/* The next cell of a level in order of (free GPUs, number) after the one before; CRUX_NONE. */
static uint32_t next_tightest(const struct crux_floor *floor, int level, uint32_t n, uint32_t last)
{
	const struct crux_floor_cell *cells = floor->cells[level];
	uint32_t best = CRUX_NONE;

	for (uint32_t i = 0; i < floor->n_cells[level]; i++) {
		bool after = last == CRUX_NONE || cells[i].free > cells[last].free ||
			     (cells[i].free == cells[last].free && i > last);

		if (cells[i].free >= n && after &&
		    (best == CRUX_NONE || cells[i].free < cells[best].free))
			best = i;
	}
	return best;
}

static bool choose(struct crux_jobsched *s, void *state, const struct crux_jobsched_job *job,
		   struct crux_floor_hand *hand)
{
	const struct cells *cells = state;
	struct crux_floor *floor = &s->floor;
	int level = CRUX_FLOOR_GPU, top = CRUX_FLOOR_CLUSTER;

	while (cells->largest[level] < job->gpus)
		level++;
	if (level <= CRUX_FLOOR_HOST) {
		uint32_t host =
			best_host(floor, 0, floor->n_cells[CRUX_FLOOR_HOST], job->gpus, CRUX_NONE);

		if (host == CRUX_NONE)
			return false;
		take_in_host(floor, host, job->gpus, hand);
		return true;
	}
	if (s->options.hived_strict)
		top = level;
	for (; level <= top; level++)
		for (uint32_t i = next_tightest(floor, level, job->gpus, CRUX_NONE); i != CRUX_NONE;
		     i = next_tightest(floor, level, job->gpus, i))
			if (take_under(floor, level, i, job->gpus, hand))
				return true;
	return false;
}

const struct crux_jobsched_policy crux_jobsched_policy_hived = {
	.name = "hived",
	.summary = "whole cells of host, PCIe switch and GPU, as close together as they come, "
		   "buddy by "
		   "buddy (after HiveD)",
	.open = open_cells,
	.close = close_cells,
	.choose = choose,
};
