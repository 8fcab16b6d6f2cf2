/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-router: shortest paths, next hops and port search; see crux-topology.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology.
 *
 * For each switch that destinations hang on ("root") one breadth-first search
 * over the network switches, done when first asked for, gives distances, lists of
 * next hops and the number of shortest paths behind each list member. A path's
 * index in its set (lexicographic in link ids) is then a sum of such numbers, so
 * the hash of a 5-tuple is turned into an index in one walk, without a search.
 */
#include "crux-topology.h"

#include <string.h>

#define DEFAULT_MAX_PATHS 65536
#define FAR		  UINT32_MAX

/* Routes towards one root switch. All arrays are by dense switch number. */
struct root {
	uint32_t *dist;		     /* [S], FAR when there is no way */
	uint32_t *first;	     /* [S + 1] into hops and before */
	struct crux_link_id *hops;   /* next hops, rising */
	uint64_t *before;	     /* shortest paths over the members before this one */
	uint64_t *count;	     /* [S] shortest paths to the root, saturating */
	struct crux_path_set **sets; /* [S], made when asked for */
};

struct crux_router {
	const struct crux_topology *topo;
	uint32_t max_paths;
	uint32_t n_switches;
	uint32_t *switch_of;	       /* [n_nodes]: dense number, CRUX_NONE for others */
	struct crux_node_id *node_of;  /* [S] */
	uint64_t *seed;		       /* [S] */
	struct root **roots;	       /* [S] */
	struct crux_link_id *identity; /* [n_links]: element i is link i */
	uint32_t *queue;	       /* [S] scratch of the search */
	struct crux_link_id *walk;     /* [S] scratch: a path, or its choices */
	uint32_t *choice;	       /* [S] scratch: wanted member at each switch of a path */
};

static void root_destroy(struct root *root, uint32_t n_switches)
{
	uint32_t s;

	if (!root)
		return;
	for (s = 0; root->sets && s < n_switches; s++)
		if (root->sets[s]) {
			crux_free(root->sets[s]->links);
			crux_free(root->sets[s]);
		}
	crux_free(root->dist);
	crux_free(root->first);
	crux_free(root->hops);
	crux_free(root->before);
	crux_free(root->count);
	crux_free(root->sets);
	crux_free(root);
}

void crux_router_destroy(struct crux_router *router)
{
	uint32_t s;

	if (!router)
		return;
	for (s = 0; router->roots && s < router->n_switches; s++)
		root_destroy(router->roots[s], router->n_switches);
	crux_free(router->switch_of);
	crux_free(router->node_of);
	crux_free(router->seed);
	crux_free(router->roots);
	crux_free(router->identity);
	crux_free(router->queue);
	crux_free(router->walk);
	crux_free(router->choice);
	crux_free(router);
}

static bool forwards(const struct crux_node *node)
{
	return node->kind == CRUX_NODE_TOR || node->kind == CRUX_NODE_AGG ||
	       node->kind == CRUX_NODE_CORE;
}

static enum crux_status allocate(struct crux_router *router, struct crux_error *err)
{
	uint32_t n = router->n_switches, n_links = crux_topology_n_links(router->topo);

	router->node_of = crux_array(n, sizeof(*router->node_of));
	router->seed = crux_array(n, sizeof(*router->seed));
	router->roots = crux_zeroed(n, sizeof(struct root *));
	router->identity = crux_array(n_links, sizeof(*router->identity));
	router->queue = crux_array(n, sizeof(*router->queue));
	router->walk = crux_array(n, sizeof(*router->walk));
	router->choice = crux_array(n, sizeof(*router->choice));
	if (!router->node_of || !router->seed || !router->roots || !router->identity ||
	    !router->queue || !router->walk || !router->choice)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a router of %u switches", n);
	return CRUX_OK;
}

enum crux_status crux_router_create(const struct crux_topology *topo, uint64_t fabric_seed,
				    uint32_t max_paths, struct crux_router **out,
				    struct crux_error *err)
{
	struct crux_router *router = crux_zeroed(1, sizeof(*router));
	uint32_t n_nodes = crux_topology_n_nodes(topo), i;
	enum crux_status status;

	if (!router)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a router");
	router->topo = topo;
	router->max_paths = max_paths ? max_paths : DEFAULT_MAX_PATHS;
	router->switch_of = crux_array(n_nodes, sizeof(*router->switch_of));
	if (!router->switch_of) {
		crux_router_destroy(router);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a router of %u nodes",
				 n_nodes);
	}
	for (i = 0; i < n_nodes; i++) {
		struct crux_node_id id = {i};

		router->switch_of[i] = forwards(crux_topology_node(topo, id)) ? router->n_switches++
									      : CRUX_NONE;
	}
	status = allocate(router, err);
	if (status) {
		crux_router_destroy(router);
		return status;
	}
	for (i = 0; i < n_nodes; i++)
		if (router->switch_of[i] != CRUX_NONE) {
			struct crux_node_id id = {i};

			router->node_of[router->switch_of[i]] = id;
			router->seed[router->switch_of[i]] = crux_ecmp_seed(fabric_seed, id);
		}
	for (i = 0; i < crux_topology_n_links(topo); i++)
		router->identity[i].v = i;
	*out = router;
	return CRUX_OK;
}

/* Dense number of the switch at the far end of a link, CRUX_NONE for other nodes. */
static uint32_t far_switch(const struct crux_router *router, struct crux_link_id link)
{
	return router->switch_of[crux_topology_link(router->topo, link)->dst.v];
}

/* Distances by breadth-first search from the root; cables go both ways. The queue
 * ends in order of distance; its length is returned. */
static uint32_t search(struct crux_router *router, struct root *root, uint32_t r)
{
	uint32_t head = 0, tail = 0, s;

	for (s = 0; s < router->n_switches; s++)
		root->dist[s] = FAR;
	root->dist[r] = 0;
	router->queue[tail++] = r;
	while (head < tail) {
		uint32_t at = router->queue[head++], n, i;
		const struct crux_link_id *out =
			crux_topology_out(router->topo, router->node_of[at], &n);

		for (i = 0; i < n; i++) {
			uint32_t next = far_switch(router, out[i]);

			if (next != CRUX_NONE && root->dist[next] == FAR) {
				root->dist[next] = root->dist[at] + 1;
				router->queue[tail++] = next;
			}
		}
	}
	return tail;
}

static bool is_next_hop(const struct crux_router *router, const struct root *root, uint32_t s,
			struct crux_link_id link)
{
	uint32_t next = far_switch(router, link);

	return next != CRUX_NONE && root->dist[s] != FAR && root->dist[s] > 0 &&
	       root->dist[next] == root->dist[s] - 1;
}

static void list_next_hops(const struct crux_router *router, struct root *root)
{
	uint32_t total = 0, s, n, i;

	for (s = 0; s < router->n_switches; s++) {
		const struct crux_link_id *out =
			crux_topology_out(router->topo, router->node_of[s], &n);

		root->first[s] = total;
		for (i = 0; i < n; i++)
			if (is_next_hop(router, root, s, out[i]))
				root->hops[total++] = out[i];
	}
	root->first[router->n_switches] = total;
}

/* In order of distance, so that the counts behind a member are known. */
static void count_paths(const struct crux_router *router, struct root *root, uint32_t reached)
{
	uint32_t q, i;

	root->count[router->queue[0]] = 1;
	for (q = 1; q < reached; q++) {
		uint32_t s = router->queue[q];
		uint64_t sum = 0;

		for (i = root->first[s]; i < root->first[s + 1]; i++) {
			root->before[i] = sum;
			if (__builtin_add_overflow(
				    sum, root->count[far_switch(router, root->hops[i])], &sum))
				sum = UINT64_MAX;
		}
		root->count[s] = sum;
	}
}

static uint32_t count_next_hops(const struct crux_router *router, const struct root *root)
{
	uint32_t total = 0, s, n, i;

	for (s = 0; s < router->n_switches; s++) {
		const struct crux_link_id *out =
			crux_topology_out(router->topo, router->node_of[s], &n);

		for (i = 0; i < n; i++)
			total += is_next_hop(router, root, s, out[i]);
	}
	return total;
}

static enum crux_status root_get(struct crux_router *router, uint32_t r, struct root **out,
				 struct crux_error *err)
{
	uint32_t n = router->n_switches, reached, hops;
	struct root *root = router->roots[r];

	if (root) {
		*out = root;
		return CRUX_OK;
	}
	root = crux_zeroed(1, sizeof(*root));
	if (!root)
		return crux_fail(err, CRUX_NOMEM, "out of memory for routes");
	root->dist = crux_array(n, sizeof(*root->dist));
	root->first = crux_array((size_t)n + 1, sizeof(*root->first));
	root->count = crux_zeroed(n, sizeof(*root->count));
	root->sets = crux_zeroed(n, sizeof(struct crux_path_set *));
	if (!root->dist || !root->first || !root->count || !root->sets)
		goto no_memory;
	reached = search(router, root, r);
	hops = count_next_hops(router, root);
	root->hops = crux_array(hops, sizeof(*root->hops));
	root->before = crux_zeroed(hops, sizeof(*root->before));
	if (!root->hops || !root->before)
		goto no_memory;
	list_next_hops(router, root);
	count_paths(router, root, reached);
	router->roots[r] = root;
	*out = root;
	return CRUX_OK;
no_memory:
	root_destroy(root, n);
	return crux_fail(err, CRUX_NOMEM, "out of memory for the routes towards %s",
			 crux_topology_node(router->topo, router->node_of[r])->name);
}

/* The i-th network cable of a NIC as the link NIC -> switch; CRUX_NONE past the last. */
static uint32_t nic_cable(const struct crux_router *router, struct crux_node_id nic, uint32_t i)
{
	uint32_t n, k;
	const struct crux_link_id *out = crux_topology_out(router->topo, nic, &n);

	for (k = 0; k < n; k++)
		if (crux_topology_link(router->topo, out[k])->kind == CRUX_LINK_NETWORK && !i--)
			return out[k].v;
	return CRUX_NONE;
}

static enum crux_status check_nic(const struct crux_router *router, struct crux_node_id nic,
				  struct crux_error *err)
{
	if (nic.v >= crux_topology_n_nodes(router->topo))
		return crux_fail(err, CRUX_NOT_FOUND, "node %u: there are %u", nic.v,
				 crux_topology_n_nodes(router->topo));
	if (crux_topology_node(router->topo, nic)->kind != CRUX_NODE_NIC)
		return crux_fail(err, CRUX_INVALID, "%s is not a NIC",
				 crux_topology_node(router->topo, nic)->name);
	return CRUX_OK;
}

/*
 * The cable of @p dst (as the link NIC -> switch) that is nearest to switch @p s,
 * the first of equals, and the routes towards its switch. Further on the path the
 * same cable stays the nearest and first: a hop brings no other cable closer than
 * it brings this one. So every switch decides alike.
 */
static enum crux_status nearest_cable(struct crux_router *router, uint32_t s,
				      struct crux_node_id dst, uint32_t *cable, struct root **out,
				      struct crux_error *err)
{
	uint32_t i, link;

	*cable = CRUX_NONE;
	*out = NULL;
	for (i = 0; (link = nic_cable(router, dst, i)) != CRUX_NONE; i++) {
		struct crux_link_id id = {link};
		struct root *root = NULL;
		enum crux_status status = root_get(router, far_switch(router, id), &root, err);

		if (status)
			return status;
		if (root->dist[s] != FAR && (!*out || root->dist[s] < (*out)->dist[s])) {
			*out = root;
			*cable = link;
		}
	}
	return CRUX_OK;
}

/* What a pair of NICs uses: first and last link, first switch, routes to the last. */
struct route {
	struct crux_link_id first, last;
	uint32_t s;
	struct root *root;
};

static enum crux_status route_get(struct crux_router *router, struct crux_node_id src,
				  struct crux_node_id dst, struct route *out,
				  struct crux_error *err)
{
	enum crux_status status = check_nic(router, src, err);
	struct route best = {.root = NULL};
	uint32_t i, link;

	if (status || (status = check_nic(router, dst, err)))
		return status;
	for (i = 0; (link = nic_cable(router, src, i)) != CRUX_NONE; i++) {
		struct crux_link_id id = {link};
		uint32_t s = far_switch(router, id), cable;
		struct root *root;

		status = nearest_cable(router, s, dst, &cable, &root, err);
		if (status)
			return status;
		if (root && (!best.root || root->dist[s] < best.root->dist[best.s])) {
			struct crux_link_id down = {cable};

			best = (struct route){id, crux_link_reverse(down), s, root};
		}
	}
	if (!best.root)
		return crux_fail(err, CRUX_UNREACHABLE, "no path from %s to %s",
				 crux_topology_node(router->topo, src)->name,
				 crux_topology_node(router->topo, dst)->name);
	*out = best;
	return CRUX_OK;
}

/* Write path number @p index from switch @p s to the root; dist[s] links. */
static void path_at(const struct crux_router *router, const struct root *root, uint32_t s,
		    uint64_t index, struct crux_link_id *links, uint32_t *choice)
{
	uint32_t h;

	for (h = 0; root->dist[s]; h++) {
		uint32_t i = root->first[s];

		while (i + 1 < root->first[s + 1] && root->before[i + 1] <= index)
			i++;
		index -= root->before[i];
		links[h] = root->hops[i];
		if (choice)
			choice[h] = i - root->first[s];
		s = far_switch(router, root->hops[i]);
	}
}

static enum crux_status set_get(struct crux_router *router, struct root *root, uint32_t s,
				const struct crux_path_set **out, struct crux_error *err)
{
	struct crux_path_set *set = root->sets[s];
	uint32_t i;

	if (set) {
		*out = set;
		return CRUX_OK;
	}
	if (root->count[s] > router->max_paths)
		return crux_fail(err, CRUX_LIMIT,
				 "%llu shortest paths from %s: at most %u are handled",
				 (unsigned long long)root->count[s],
				 crux_topology_node(router->topo, router->node_of[s])->name,
				 router->max_paths);
	set = crux_zeroed(1, sizeof(*set));
	if (!set)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a set of paths");
	set->n = (uint32_t)root->count[s];
	set->hops = root->dist[s];
	set->links = crux_array((size_t)set->n * set->hops, sizeof(*set->links));
	if (!set->links) {
		crux_free(set);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a set of paths");
	}
	for (i = 0; i < set->n; i++)
		path_at(router, root, s, i, set->links + (size_t)i * set->hops, NULL);
	root->sets[s] = set;
	*out = set;
	return CRUX_OK;
}

enum crux_status crux_router_paths(struct crux_router *router, struct crux_node_id src,
				   struct crux_node_id dst, struct crux_link_id *first,
				   const struct crux_path_set **set, struct crux_link_id *last,
				   struct crux_error *err)
{
	const struct crux_path_set *paths = NULL;
	struct route route;
	enum crux_status status = route_get(router, src, dst, &route, err);

	if (!status)
		status = set_get(router, route.root, route.s, &paths, err);
	if (status)
		return status;
	*first = route.first;
	*last = route.last;
	*set = paths;
	return CRUX_OK;
}

enum crux_status crux_router_next_hops(struct crux_router *router, struct crux_node_id sw,
				       struct crux_node_id dst, const struct crux_link_id **links,
				       uint32_t *n, struct crux_error *err)
{
	enum crux_status status = check_nic(router, dst, err);
	struct root *root;
	uint32_t s, cable;

	if (status)
		return status;
	if (sw.v >= crux_topology_n_nodes(router->topo) || router->switch_of[sw.v] == CRUX_NONE)
		return crux_fail(err, CRUX_INVALID, "node %u is not a network switch", sw.v);
	s = router->switch_of[sw.v];
	status = nearest_cable(router, s, dst, &cable, &root, err);
	if (status)
		return status;
	if (!root) {
		*links = router->identity;
		*n = 0;
	} else if (!root->dist[s]) {
		*links = router->identity + (cable ^ 1);
		*n = 1;
	} else {
		*links = root->hops + root->first[s];
		*n = root->first[s + 1] - root->first[s];
	}
	return CRUX_OK;
}

enum crux_status crux_router_hash_path(struct crux_router *router, struct crux_node_id src,
				       struct crux_node_id dst, const struct crux_five_tuple *tuple,
				       uint32_t *index, struct crux_error *err)
{
	struct route route;
	enum crux_status status = route_get(router, src, dst, &route, err);
	uint64_t sum = 0;
	uint32_t s;

	if (status)
		return status;
	s = route.s;
	while (route.root->dist[s]) {
		uint32_t first = route.root->first[s], n = route.root->first[s + 1] - first;
		uint32_t i = first + crux_ecmp_hash(tuple, router->seed[s]) % n;

		sum += route.root->before[i];
		s = far_switch(router, route.root->hops[i]);
	}
	if (route.root->count[route.s] > router->max_paths)
		return crux_fail(err, CRUX_LIMIT, "more than %u shortest paths", router->max_paths);
	*index = (uint32_t)sum;
	return CRUX_OK;
}

/* Does the hash of @p tuple take the path in router->walk with router->choice? */
static bool takes_path(const struct crux_router *router, const struct route *route,
		       const struct crux_five_tuple *tuple)
{
	const struct root *root = route->root;
	uint32_t s = route->s, h;

	for (h = 0; root->dist[s]; h++) {
		uint32_t n = root->first[s + 1] - root->first[s];

		if (n > 1 && crux_ecmp_hash(tuple, router->seed[s]) % n != router->choice[h])
			return false;
		s = far_switch(router, router->walk[h]);
	}
	return true;
}

enum crux_status crux_router_port_for_path(struct crux_router *router, struct crux_node_id src,
					   struct crux_node_id dst, uint32_t index, uint16_t start,
					   uint16_t *port, struct crux_error *err)
{
	struct route route;
	enum crux_status status = route_get(router, src, dst, &route, err);
	struct crux_five_tuple tuple = {.dst_port = CRUX_ROCE_PORT, .protocol = 17};
	uint32_t offset, i;

	if (status)
		return status;
	if (index >= route.root->count[route.s])
		return crux_fail(err, CRUX_RANGE, "path %u from %s to %s: there are %llu", index,
				 crux_topology_node(router->topo, src)->name,
				 crux_topology_node(router->topo, dst)->name,
				 (unsigned long long)route.root->count[route.s]);
	path_at(router, route.root, route.s, index, router->walk, router->choice);
	tuple.src_ip = crux_topology_address(router->topo, src);
	tuple.dst_ip = crux_topology_address(router->topo, dst);
	offset = start >= CRUX_ENTROPY_FIRST ? (uint32_t)(start - CRUX_ENTROPY_FIRST) : 0;
	for (i = 0; i < CRUX_ENTROPY_COUNT; i++) {
		tuple.src_port = (uint16_t)(CRUX_ENTROPY_FIRST + (offset + i) % CRUX_ENTROPY_COUNT);
		if (takes_path(router, &route, &tuple)) {
			*port = tuple.src_port;
			return CRUX_OK;
		}
	}
	return crux_fail(err, CRUX_NOT_FOUND, "no UDP source port takes path %u from %s to %s",
			 index, crux_topology_node(router->topo, src)->name,
			 crux_topology_node(router->topo, dst)->name);
}
