/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched-simple: job schedulers that look at no more than what is free, first come, first
 * served: first-fit (hosts by number), random (hosts in random order), packed (least cells).
 *
 * Place: model/core (C11). Depends on crux-jobsched-policy.
 */
#include "crux-jobsched-policy.h"

/* Up to what the hand lacks, from a host by its cell, in order. */
static void take_from_host(struct crux_floor *floor, uint32_t cell, struct crux_floor_hand *hand)
{
	const struct crux_floor_cell *host = &floor->cells[CRUX_FLOOR_HOST][cell];

	for (uint32_t r = host->first; host->free && r < host->first + host->size; r++)
		crux_floor_take(floor, r, hand);
}

static bool choose_first(struct crux_jobsched *s, void *state, const struct crux_jobsched_job *job,
			 struct crux_floor_hand *hand)
{
	(void)state;
	for (uint32_t h = 0; hand->n < job->gpus && h < s->floor.n_hosts; h++)
		take_from_host(&s->floor, s->floor.host_cell[h], hand);
	return hand->n == job->gpus;
}

const struct crux_jobsched_policy crux_jobsched_policy_first_fit = {
	.name = "first-fit",
	.summary = "the first free GPUs by number of host and GPU; first come, first served",
	.by_count = true,
	.choose = choose_first,
};

struct shuffle {
	struct crux_rng rng;
	uint32_t *hosts; /* [n_hosts] */
};

static void close_random(void *state)
{
	struct shuffle *shuffle = state;

	if (shuffle)
		crux_free(shuffle->hosts);
	crux_free(shuffle);
}

static enum crux_status open_random(struct crux_jobsched *s, void **state, struct crux_error *err)
{
	struct shuffle *shuffle = crux_zeroed(1, sizeof(*shuffle));

	if (shuffle)
		shuffle->hosts = crux_array(s->floor.n_hosts, sizeof(*shuffle->hosts));
	if (!shuffle || !shuffle->hosts) {
		close_random(shuffle);
		return crux_fail(err, CRUX_NOMEM, "out of memory to shuffle %u hosts",
				 s->floor.n_hosts);
	}
	crux_rng_init(&shuffle->rng, s->options.seed, 0);
	*state = shuffle;
	return CRUX_OK;
}

/* Hosts with something free in random order (Fisher and Yates), all of each. */
static bool choose_random(struct crux_jobsched *s, void *state, const struct crux_jobsched_job *job,
			  struct crux_floor_hand *hand)
{
	struct shuffle *shuffle = state;
	uint32_t n = 0;

	for (uint32_t h = 0; h < s->floor.n_hosts; h++)
		if (s->floor.cells[CRUX_FLOOR_HOST][h].free)
			shuffle->hosts[n++] = h;
	while (hand->n < job->gpus && n) {
		uint32_t k = (uint32_t)crux_rng_below(&shuffle->rng, n);

		take_from_host(&s->floor, shuffle->hosts[k], hand);
		shuffle->hosts[k] = shuffle->hosts[--n];
	}
	return hand->n == job->gpus;
}

const struct crux_jobsched_policy crux_jobsched_policy_random = {
	.name = "random",
	.summary = "hosts in random order (seeded), all that is free on each; first come, first "
		   "served",
	.by_count = true,
	.open = open_random,
	.close = close_random,
	.choose = choose_random,
};

/* The lowest level with a cell that has n free; of these the one with the fewest. */
bool crux_jobsched_pack(struct crux_jobsched *s, void *state, const struct crux_jobsched_job *job,
			struct crux_floor_hand *hand)
{
	struct crux_floor *floor = &s->floor;

	(void)state;
	for (int level = CRUX_FLOOR_PCIE; level < CRUX_FLOOR_LEVELS; level++) {
		const struct crux_floor_cell *cells = floor->cells[level];
		uint32_t best = CRUX_NONE;

		for (uint32_t i = 0; i < floor->n_cells[level]; i++)
			if (cells[i].free >= job->gpus &&
			    (best == CRUX_NONE || cells[i].free < cells[best].free))
				best = i;
		if (best == CRUX_NONE)
			continue;
		crux_floor_fill(floor, level, best, job->gpus, hand);
		return true;
	}
	return false;
}

const struct crux_jobsched_policy crux_jobsched_policy_packed = {
	.name = "packed",
	.summary = "in one host, else under one ToR, else in one pod, where it fits most tightly; "
		   "first come, first served",
	.by_count = true,
	.choose = crux_jobsched_pack,
};
