/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-floor: see crux-floor.h. The tree is built from a sorted list of GPUs, each with the
 * numbers of its cells from the pod down.
 */
#include "crux-floor.h"

#include <stdlib.h>
#include <string.h>

/* Depth d of a key is level CRUX_FLOOR_POD - d. */
#define DEPTHS CRUX_FLOOR_CLUSTER

struct gpu_key {
	uint32_t key[DEPTHS]; /* pod, ToR, host, PCIe switch, GPU */
};

const char *crux_floor_level_name(enum crux_floor_level level)
{
	static const char *const names[CRUX_FLOOR_LEVELS] = {"gpu", "pcie", "host",
							     "tor", "pod",  "cluster"};

	return names[level];
}

static int compare_gpus(const void *a, const void *b)
{
	const struct gpu_key *x = a, *y = b;

	for (int d = 0; d < DEPTHS; d++)
		if (x->key[d] != y->key[d])
			return x->key[d] < y->key[d] ? -1 : 1;
	return 0;
}

static uint32_t root_of(uint32_t *up, uint32_t node)
{
	while (up[node] != node) {
		up[node] = up[up[node]];
		node = up[node];
	}
	return node;
}

static bool within_pod(const struct crux_topology *topo, struct crux_node_id id)
{
	enum crux_node_kind kind = crux_topology_node(topo, id)->kind;

	return kind == CRUX_NODE_TOR || kind == CRUX_NODE_AGG;
}

/* Join what is cabled without a core switch: up[] leads to the lowest node of each pod. */
static void join_pods(const struct crux_topology *topo, uint32_t *up)
{
	uint32_t n = crux_topology_n_nodes(topo), links = crux_topology_n_links(topo);

	for (uint32_t i = 0; i < n; i++)
		up[i] = i;
	for (uint32_t l = 0; l < links; l += 2) {
		const struct crux_link *link = crux_topology_link(topo, (struct crux_link_id){l});
		uint32_t a, b;

		if (!within_pod(topo, link->src) || !within_pod(topo, link->dst))
			continue;
		a = root_of(up, link->src.v);
		b = root_of(up, link->dst.v);
		if (a < b)
			up[b] = a;
		else
			up[a] = b;
	}
}

/* The first neighbour over a cable of a kind; CRUX_NONE without one. */
static uint32_t neighbour(const struct crux_topology *topo, struct crux_node_id id,
			  enum crux_link_kind kind)
{
	uint32_t n;
	const struct crux_link_id *out = crux_topology_out(topo, id, &n);

	for (uint32_t i = 0; i < n; i++)
		if (crux_topology_link(topo, out[i])->kind == kind)
			return crux_topology_link(topo, out[i])->dst.v;
	return CRUX_NONE;
}

/* What a GPU hangs on: its PCIe switch, else its NIC. */
static uint32_t pcie_of(const struct crux_topology *topo, const struct crux_host *host,
			uint32_t gpu)
{
	uint32_t sw = neighbour(topo, host->gpus[gpu], CRUX_LINK_PCIE);

	if (sw != CRUX_NONE &&
	    crux_topology_node(topo, (struct crux_node_id){sw})->kind == CRUX_NODE_PCIE_SWITCH)
		return sw;
	return host->nics[host->gpu_nic[gpu]].v;
}

static void fill_keys(const struct crux_topology *topo, uint32_t *up, struct gpu_key *keys)
{
	uint32_t hosts = crux_topology_n_hosts(topo), n = 0;

	join_pods(topo, up);
	for (uint32_t h = 0; h < hosts; h++) {
		const struct crux_host *host = crux_topology_host(topo, h);
		uint32_t sw = neighbour(topo, host->nics[0], CRUX_LINK_NETWORK);

		for (uint32_t g = 0; g < host->n_gpus; g++)
			keys[n++] = (struct gpu_key){
				{root_of(up, sw), host->tor_group, h, pcie_of(topo, host, g), g}};
	}
	qsort(keys, n, sizeof(*keys), compare_gpus);
}

/* A new cell of a level from a rank on, under the last one of the level above. */
static void open_cell(struct crux_floor *floor, int level, uint32_t rank)
{
	uint32_t n = floor->n_cells[level]++;
	struct crux_floor_cell *cell = &floor->cells[level][n];

	*cell = (struct crux_floor_cell){.first = rank, .parent = CRUX_NONE};
	if (level < CRUX_FLOOR_CLUSTER) {
		struct crux_floor_cell *above;

		cell->parent = floor->n_cells[level + 1] - 1;
		above = &floor->cells[level + 1][cell->parent];
		if (!above->n_children++)
			above->child = n;
	}
}

static void grow_tree(struct crux_floor *floor, const struct gpu_key *keys)
{
	open_cell(floor, CRUX_FLOOR_CLUSTER, 0);
	for (uint32_t r = 0; r < floor->n_gpus; r++) {
		uint32_t host = keys[r].key[2];
		int d = 0;

		while (r && d < DEPTHS && keys[r].key[d] == keys[r - 1].key[d])
			d++;
		for (; d < DEPTHS; d++)
			open_cell(floor, CRUX_FLOOR_POD - d, r);
		floor->ref[r] = (struct crux_gpu_ref){host, keys[r].key[4]};
		floor->host_cell[host] = floor->n_cells[CRUX_FLOOR_HOST] - 1;
		for (int level = 0; level < CRUX_FLOOR_LEVELS; level++) {
			struct crux_floor_cell *c = &floor->cells[level][floor->n_cells[level] - 1];

			c->size++;
			c->free++;
		}
	}
	floor->free = floor->n_gpus;
	for (uint32_t h = 0; h < floor->n_cells[CRUX_FLOOR_HOST]; h++) {
		uint32_t i = h;

		for (int level = CRUX_FLOOR_HOST; level < CRUX_FLOOR_LEVELS; level++) {
			floor->cells[level][i].whole_hosts++;
			i = floor->cells[level][i].parent;
		}
	}
}

enum crux_status crux_floor_init(struct crux_floor *floor, const struct crux_topology *topo,
				 struct crux_error *err)
{
	uint32_t n = crux_topology_n_gpus(topo), hosts = crux_topology_n_hosts(topo);
	struct crux_floor f = {.n_gpus = n, .n_hosts = hosts};
	struct gpu_key *keys;
	uint32_t *up;
	bool whole = true;

	if (!n)
		return crux_fail(err, CRUX_INVALID, "a cluster of 0 GPUs: at least 1");
	keys = crux_array(n, sizeof(*keys));
	up = crux_array(crux_topology_n_nodes(topo), sizeof(*up));
	for (int level = 0; level < CRUX_FLOOR_LEVELS; level++) {
		uint32_t most = level <= CRUX_FLOOR_PCIE ? n : hosts;

		f.cells[level] = crux_array(most, sizeof(*f.cells[level]));
		whole = whole && f.cells[level];
	}
	f.ref = crux_array(n, sizeof(*f.ref));
	f.host_cell = crux_array(hosts, sizeof(*f.host_cell));
	if (keys && up && whole && f.ref && f.host_cell) {
		fill_keys(topo, up, keys);
		grow_tree(&f, keys);
		*floor = f;
	} else {
		whole = false;
		crux_floor_clear(&f);
	}
	crux_free(keys);
	crux_free(up);
	return whole ? CRUX_OK
		     : crux_fail(err, CRUX_NOMEM, "out of memory for the cells of %u GPUs", n);
}

void crux_floor_clear(struct crux_floor *floor)
{
	for (int level = 0; level < CRUX_FLOOR_LEVELS; level++)
		crux_free(floor->cells[level]);
	crux_free(floor->ref);
	crux_free(floor->host_cell);
	memset(floor, 0, sizeof(*floor));
}

bool crux_floor_whole(const struct crux_floor *floor, enum crux_floor_level level, uint32_t i)
{
	return floor->cells[level][i].free == floor->cells[level][i].size;
}

/* The cell of a host changed from whole to not, or back, by @p step. */
static void count_whole(struct crux_floor *floor, uint32_t host, uint32_t step)
{
	uint32_t i = host;

	for (int level = CRUX_FLOOR_HOST; level < CRUX_FLOOR_LEVELS; level++) {
		floor->cells[level][i].whole_hosts += step;
		i = floor->cells[level][i].parent;
	}
}

/* Add @p step (1, or -1 as a whole number without sign) to the free GPUs above a rank. */
static void count_free(struct crux_floor *floor, uint32_t rank, uint32_t step)
{
	uint32_t i = rank, host = 0;
	bool before = false, after = false;

	for (int level = 0; level < CRUX_FLOOR_LEVELS; level++) {
		struct crux_floor_cell *cell = &floor->cells[level][i];

		if (level == CRUX_FLOOR_HOST) {
			host = i;
			before = cell->free == cell->size;
			after = cell->free + step == cell->size;
		}
		cell->free += step;
		i = cell->parent;
	}
	floor->free += step;
	if (before != after)
		count_whole(floor, host, after ? 1 : UINT32_MAX);
}

bool crux_floor_take(struct crux_floor *floor, uint32_t rank, struct crux_floor_hand *hand)
{
	if (rank >= floor->n_gpus || !floor->cells[CRUX_FLOOR_GPU][rank].free ||
	    hand->n == hand->room)
		return false;
	count_free(floor, rank, UINT32_MAX);
	hand->ranks[hand->n++] = rank;
	return true;
}

void crux_floor_give(struct crux_floor *floor, uint32_t rank)
{
	if (!floor->cells[CRUX_FLOOR_GPU][rank].free)
		count_free(floor, rank, 1);
}

void crux_floor_drop(struct crux_floor *floor, struct crux_floor_hand *hand)
{
	while (hand->n)
		crux_floor_give(floor, hand->ranks[--hand->n]);
}

/* The child where n fit most tightly, else the one with the most free. */
static uint32_t best_child(const struct crux_floor_cell *cells, uint32_t first, uint32_t n_cells,
			   uint32_t n)
{
	uint32_t best = first;

	for (uint32_t i = first + 1; i < first + n_cells; i++) {
		uint32_t a = cells[i].free, b = cells[best].free;

		if (a >= n ? b < n || a < b : b < n && a > b)
			best = i;
	}
	return best;
}

void crux_floor_fill(struct crux_floor *floor, enum crux_floor_level level, uint32_t i, uint32_t n,
		     struct crux_floor_hand *hand)
{
	const struct crux_floor_cell *cell = &floor->cells[level][i];

	if (level == CRUX_FLOOR_GPU) {
		crux_floor_take(floor, i, hand);
		return;
	}
	while (n) {
		const struct crux_floor_cell *below = floor->cells[level - 1];
		uint32_t child = best_child(below, cell->child, cell->n_children, n);
		uint32_t k = below[child].free < n ? below[child].free : n;

		if (!k)
			return;
		crux_floor_fill(floor, level - 1, child, k, hand);
		n -= k;
	}
}

uint32_t crux_floor_span(const struct crux_floor *floor, enum crux_floor_level level,
			 const struct crux_floor_hand *hand)
{
	uint32_t last = CRUX_NONE, n = 0;

	for (uint32_t k = 0; k < hand->n; k++) {
		uint32_t i = hand->ranks[k];

		for (int at = 0; at < (int)level; at++)
			i = floor->cells[at][i].parent;
		n += i != last;
		last = i;
	}
	return n;
}

void crux_floor_free_cells(const struct crux_floor *floor, uint32_t n[CRUX_FLOOR_LEVELS])
{
	for (int level = 0; level < CRUX_FLOOR_LEVELS; level++) {
		n[level] = 0;
		for (uint32_t i = 0; i < floor->n_cells[level]; i++) {
			uint32_t above = floor->cells[level][i].parent;

			n[level] +=
				crux_floor_whole(floor, level, i) &&
				(above == CRUX_NONE || !crux_floor_whole(floor, level + 1, above));
		}
	}
}
