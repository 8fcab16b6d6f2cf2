/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-exact: the exact optimum of priority compression as a minimum cut; see
 * crux_compress_exact in crux-compress.h. Depends on crux-base.
 */
#include "crux-compress.h"

#include <math.h>
#include <string.h>

#define MAX_LEVELS 64

/* Residual network; arc a and a ^ 1 are a pair. Node 0 is the source, 1 the sink. */
struct network {
	uint32_t n;
	size_t m, cap;
	uint32_t *head; /* [cap] of each arc */
	double *room;	/* [cap] residual capacity */
	size_t *link;	/* [cap] next arc of the same tail */
	size_t *first;	/* [n] */
	size_t *now;	/* [n] Dinic's current arc */
	uint32_t *depth, *queue, *path_node;
	size_t *path;
};

#define NO_ARC SIZE_MAX

static void network_free(struct network *net)
{
	crux_free(net->head);
	crux_free(net->room);
	crux_free(net->link);
	crux_free(net->first);
	crux_free(net->now);
	crux_free(net->depth);
	crux_free(net->queue);
	crux_free(net->path_node);
	crux_free(net->path);
}

static enum crux_status network_init(struct network *net, uint32_t n, size_t cap,
				     struct crux_error *err)
{
	*net = (struct network){.n = n, .cap = cap};
	net->head = crux_array(cap, sizeof(*net->head));
	net->room = crux_array(cap, sizeof(*net->room));
	net->link = crux_array(cap, sizeof(*net->link));
	net->first = crux_array(n, sizeof(*net->first));
	net->now = crux_array(n, sizeof(*net->now));
	net->depth = crux_array(n, sizeof(*net->depth));
	net->queue = crux_array(n, sizeof(*net->queue));
	net->path_node = crux_array((size_t)n + 1, sizeof(*net->path_node));
	net->path = crux_array(n, sizeof(*net->path));
	if (!net->head || !net->room || !net->link || !net->first || !net->now || !net->depth ||
	    !net->queue || !net->path_node || !net->path) {
		network_free(net);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a network of %u nodes", n);
	}
	for (uint32_t v = 0; v < n; v++)
		net->first[v] = NO_ARC;
	return CRUX_OK;
}

static void add_arc(struct network *net, uint32_t tail, uint32_t head, double room)
{
	net->head[net->m] = head;
	net->room[net->m] = room;
	net->link[net->m] = net->first[tail];
	net->first[tail] = net->m++;
	net->head[net->m] = tail;
	net->room[net->m] = 0;
	net->link[net->m] = net->first[head];
	net->first[head] = net->m++;
}

/* Distances from the source over arcs with room; whether the sink is reached. */
static bool measure(struct network *net)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < net->n; v++)
		net->depth[v] = UINT32_MAX;
	net->depth[0] = 0;
	net->queue[n++] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = net->queue[i];

		for (size_t a = net->first[v]; a != NO_ARC; a = net->link[a])
			if (net->room[a] > 0 && net->depth[net->head[a]] == UINT32_MAX) {
				net->depth[net->head[a]] = net->depth[v] + 1;
				net->queue[n++] = net->head[a];
			}
	}
	return net->depth[1] != UINT32_MAX;
}

/* Push what the path of `length` arcs takes; returns how much of it is still usable. */
static uint32_t augment(struct network *net, uint32_t length)
{
	double least = INFINITY;
	uint32_t keep = length;

	for (uint32_t i = 0; i < length; i++)
		least = fmin(least, net->room[net->path[i]]);
	for (uint32_t i = length; i-- > 0;) {
		net->room[net->path[i]] -= least;
		net->room[net->path[i] ^ 1] += least;
		if (!(net->room[net->path[i]] > 0))
			keep = i;
	}
	return keep;
}

/* A blocking flow along rising distances. */
static void block(struct network *net)
{
	uint32_t length = 0;

	memcpy(net->now, net->first, net->n * sizeof(*net->now));
	net->path_node[0] = 0;
	for (;;) {
		uint32_t v = net->path_node[length];
		size_t a = net->now[v];

		if (v == 1) {
			length = augment(net, length);
			continue;
		}
		while (a != NO_ARC &&
		       !(net->room[a] > 0 && net->depth[net->head[a]] == net->depth[v] + 1))
			a = net->link[a];
		net->now[v] = a;
		if (a != NO_ARC) {
			net->path[length++] = a;
			net->path_node[length] = net->head[a];
		} else if (length) {
			v = net->path_node[--length];
			net->now[v] = net->link[net->now[v]];
		} else {
			return;
		}
	}
}

static uint32_t node_of(uint32_t v, uint32_t l, uint32_t levels)
{
	if (l == 0)
		return 0;
	return l == levels ? 1 : 2 + v * (levels - 1) + (l - 1);
}

static void build(struct network *net, const struct crux_dag *dag, uint32_t k)
{
	for (uint32_t v = 0; v < dag->n; v++) {
		for (uint32_t l = 1; l + 1 < k; l++)
			add_arc(net, node_of(v, l + 1, k), node_of(v, l, k), INFINITY);
		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++) {
			uint32_t u = dag->from[e];

			for (uint32_t l = 1; l < k; l++)
				add_arc(net, node_of(u, l, k), node_of(v, l, k), INFINITY);
			for (uint32_t l = 0; l < k; l++)
				add_arc(net, node_of(u, l, k), node_of(v, l + 1, k),
					dag->weight[e]);
		}
	}
}

enum crux_status crux_compress_exact(const struct crux_dag *dag, uint32_t levels, uint32_t *level,
				     double *cut, struct crux_error *err)
{
	struct network net;
	enum crux_status status;
	double arcs;

	if (!levels || levels > MAX_LEVELS)
		return crux_fail(err, CRUX_RANGE, "%u levels: not in 1..%d", levels, MAX_LEVELS);
	arcs = 2 * ((double)dag->n * levels + (double)dag->n_edges * (2 * levels - 1));
	if (arcs > CRUX_EXACT_ARCS)
		return crux_fail(err, CRUX_LIMIT,
				 "the exact optimum of %u jobs, %zu edges, %u levels needs a "
				 "network of %.0f arcs, more than %d",
				 dag->n, dag->n_edges, levels, arcs, CRUX_EXACT_ARCS);
	status = network_init(&net, 2 + dag->n * (levels - 1), (size_t)arcs, err);
	if (status != CRUX_OK)
		return status;
	if (levels > 1) {
		build(&net, dag, levels);
		while (measure(&net))
			block(&net);
	}
	for (uint32_t v = 0; v < dag->n; v++) {
		level[v] = 0;
		for (uint32_t l = 1; l < levels; l++)
			level[v] += net.depth[node_of(v, l, levels)] != UINT32_MAX;
	}
	*cut = crux_dag_cut(dag, level);
	network_free(&net);
	return CRUX_OK;
}
