/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-wiring: connections of a program; see crux-wiring.h. Their routes are in
 * crux-wiring-route.c.
 *
 * Place: model/core (C11). Depends on crux-program, crux-collective, crux-topology.
 *
 * Collectives alike (group, kind, algorithm, bytes, channels) share one crux_coll and one list
 * of connections. Connections are numbered by (group, form, channel, src, dst).
 */
#include "crux-wiring.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (UINT64_C(1) << 62) /* of a connection in an iteration: sums stay in 64 bits */

/* What a connection is for: each of a group's forms has connections of its own. */
enum form {
	FORM_LANE,
	FORM_TO_GPU,
	FORM_FROM_GPU,
	FORM_FROM_STORAGE,
	FORM_TO_STORAGE,
};

struct key {
	uint32_t group, form, channel, src, dst;
};

static int compare_keys(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	for (size_t i = 0; i < sizeof(struct key) / sizeof(uint32_t); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* An operation in the order of what makes collectives alike. */
struct alike {
	uint32_t group, kind, alg, channels;
	uint64_t bytes;
	uint32_t op;
	uint32_t coll; /* its number, CRUX_NONE for copies and for what moves nothing */
	size_t pool;   /* where its connections begin in the pool */
};

static int compare_alike(const void *a, const void *b)
{
	const struct alike *x = a, *y = b;

#define BY(field)                                                                                  \
	if (x->field != y->field)                                                                  \
	return x->field < y->field ? -1 : 1
	BY(group);
	BY(kind);
	BY(alg);
	BY(channels);
	BY(bytes);
	BY(op);
#undef BY
	return 0;
}

static bool same_coll(const struct alike *x, const struct alike *y)
{
	return x->group == y->group && x->kind == y->kind && x->alg == y->alg &&
	       x->channels == y->channels && x->bytes == y->bytes;
}

struct build {
	struct crux_wiring *w;
	const struct crux_program *program;
	const struct crux_gpu_ref *gpus;
	const struct crux_topology *topo;
	struct crux_error *err;
	struct alike *alike; /* [n]: collectives, sorted */
	uint32_t n;
	struct key *keys; /* [n_keys]: with repetitions, then unique */
	size_t n_keys, cap_keys;
	size_t pool; /* entries so far */
};

static enum crux_status add_key(struct build *b, struct key key)
{
	void *keys = b->keys;
	enum crux_status status =
		crux_reserve(&keys, &b->cap_keys, b->n_keys + 1, sizeof(key), b->err);

	b->keys = keys;
	if (!status)
		b->keys[b->n_keys++] = key;
	return status;
}

static enum form copy_form(const struct crux_program *program, const struct crux_op *op)
{
	bool far = op->traffic == CRUX_TRAFFIC_STORAGE && program->storage_host != CRUX_NONE;

	if (op->direction == CRUX_COPY_TO_GPU)
		return far ? FORM_FROM_STORAGE : FORM_TO_GPU;
	return far ? FORM_TO_STORAGE : FORM_FROM_GPU;
}

/* The ranks' hosts and NICs, as the collective wants them. */
static enum crux_status make_coll(struct build *b, const struct crux_op *op, struct crux_coll **out)
{
	const struct crux_group *group = &b->program->groups[op->group];
	const uint32_t *ranks = crux_program_ranks(b->program, op->group);
	uint32_t *where = crux_array(2 * (size_t)group->n, sizeof(*where)), i;
	struct crux_coll_params params = {
		.kind = op->coll,
		.alg = op->alg,
		.n = group->n,
		.bytes = op->bytes,
		.channels = op->channels,
	};
	enum crux_status status;

	if (!where)
		return crux_fail(b->err, CRUX_NOMEM, "out of memory for group %s", group->name);
	params.host = where;
	params.nic = where + group->n;
	for (i = 0; i < group->n; i++) {
		struct crux_gpu_ref gpu = b->gpus[ranks[i]];

		where[i] = gpu.host;
		where[group->n + i] = crux_topology_host(b->topo, gpu.host)->gpu_nic[gpu.gpu];
	}
	status = crux_coll_create(&params, out, b->err);
	crux_free(where);
	if (status && b->err)
		crux_fail_prefix(b->err, "operation %s of group %s: ", op->name, group->name);
	return status;
}

/* The keys of one collective's lanes; its share of the pool. */
static enum crux_status lanes_to_keys(struct build *b, uint32_t group, const struct crux_coll *coll)
{
	const uint32_t *ranks = crux_program_ranks(b->program, group);
	uint32_t n, i;
	const struct crux_coll_lane *lanes = crux_coll_lanes(coll, &n);
	enum crux_status status = CRUX_OK;

	for (i = 0; !status && i < n; i++)
		status = add_key(b, (struct key){group, FORM_LANE, lanes[i].channel,
						 ranks[lanes[i].src], ranks[lanes[i].dst]});
	b->pool += n;
	return status;
}

static enum crux_status copy_to_keys(struct build *b, const struct crux_op *op)
{
	const uint32_t *ranks = crux_program_ranks(b->program, op->group);
	enum crux_status status = CRUX_OK;
	uint32_t i;

	for (i = 0; !status && i < b->program->groups[op->group].n; i++)
		status = add_key(b, (struct key){op->group, copy_form(b->program, op), 0, ranks[i],
						 ranks[i]});
	b->pool += i;
	return status;
}

static enum crux_status collect_collectives(struct build *b)
{
	struct crux_wiring *w = b->w;
	enum crux_status status = CRUX_OK;
	uint32_t i;

	for (i = 0; i < b->program->n_ops; i++) {
		const struct crux_op *op = &b->program->ops[i];

		if (op->kind == CRUX_OP_COLLECTIVE)
			b->alike[b->n++] = (struct alike){op->group,	op->coll,  op->alg,
							  op->channels, op->bytes, i,
							  CRUX_NONE,	0};
	}
	qsort(b->alike, b->n, sizeof(*b->alike), compare_alike);
	w->colls = crux_zeroed(b->n, sizeof(struct crux_coll *));
	if (!w->colls)
		return crux_fail(b->err, CRUX_NOMEM, "out of memory for %u collectives", b->n);
	for (i = 0; !status && i < b->n; i++) {
		struct alike *a = &b->alike[i];

		if (i && same_coll(a, a - 1)) {
			a->coll = a[-1].coll;
			a->pool = a[-1].pool;
			continue;
		}
		a->pool = b->pool;
		a->coll = w->n_colls;
		status = make_coll(b, &b->program->ops[a->op], &w->colls[w->n_colls]);
		if (!status)
			status = lanes_to_keys(b, a->group, w->colls[w->n_colls++]);
	}
	return status;
}

static enum crux_status collect_copies(struct build *b)
{
	enum crux_status status = CRUX_OK;
	uint32_t i;

	for (i = 0; !status && i < b->program->n_ops; i++)
		if (b->program->ops[i].kind == CRUX_OP_COPY)
			status = copy_to_keys(b, &b->program->ops[i]);
	return status;
}

static enum crux_status make_conns(struct build *b)
{
	struct crux_wiring *w = b->w;
	size_t i, n = 0;

	if (b->n_keys)
		qsort(b->keys, b->n_keys, sizeof(*b->keys), compare_keys);
	for (i = 0; i < b->n_keys; i++)
		if (!n || compare_keys(&b->keys[i], &b->keys[n - 1]))
			b->keys[n++] = b->keys[i];
	if (n > UINT32_MAX / 4)
		return crux_fail(b->err, CRUX_LIMIT, "%zu connections of one job", n);
	b->n_keys = n;
	w->conns = crux_zeroed(n, sizeof(*w->conns));
	w->bytes = crux_zeroed(n, sizeof(*w->bytes));
	w->steps = crux_zeroed(n, sizeof(*w->steps));
	w->pool = crux_array(b->pool, sizeof(*w->pool));
	if (!w->conns || !w->bytes || !w->steps || !w->pool)
		return crux_fail(b->err, CRUX_NOMEM, "out of memory for %zu connections", n);
	w->n_conns = (uint32_t)n;
	for (i = 0; i < n; i++) {
		const struct key *key = &b->keys[i];
		uint32_t storage = b->program->storage_host;
		bool far = key->form == FORM_FROM_STORAGE || key->form == FORM_TO_STORAGE;

		w->conns[i] = (struct crux_conn){
			.group = key->group,
			.channel = key->channel,
			.src = key->src,
			.dst = key->dst,
			.src_memory = key->form == FORM_TO_GPU || key->form == FORM_FROM_STORAGE,
			.dst_memory = key->form == FORM_FROM_GPU || key->form == FORM_TO_STORAGE,
			.storage = far,
			.network = far ? b->gpus[key->src].host != storage
				       : b->gpus[key->src].host != b->gpus[key->dst].host,
		};
	}
	return CRUX_OK;
}

static uint32_t conn_of(const struct build *b, const struct key *key)
{
	const struct key *found = bsearch(key, b->keys, b->n_keys, sizeof(*b->keys), compare_keys);

	return (uint32_t)(found - b->keys);
}

/* Add an operation's bytes and steps to a connection. */
static enum crux_status add_traffic(struct build *b, uint32_t op, uint32_t conn, uint64_t bytes,
				    uint64_t steps)
{
	struct crux_wiring *w = b->w;

	if (bytes > MOST_BYTES - w->bytes[conn] || steps > UINT32_MAX / 2 - w->steps[conn])
		return crux_fail(b->err, CRUX_LIMIT,
				 "operation %s: more than 2^62 bytes or 2^31 messages in an "
				 "iteration on one connection",
				 b->program->ops[op].name);
	w->bytes[conn] += bytes;
	w->steps[conn] += (uint32_t)steps;
	return CRUX_OK;
}

static enum crux_status wire_collective(struct build *b, const struct alike *a)
{
	const struct crux_op *op = &b->program->ops[a->op];
	const struct crux_coll *coll = b->w->colls[a->coll];
	const uint32_t *ranks = crux_program_ranks(b->program, op->group);
	uint32_t n, i, *conn = b->w->pool + a->pool;
	const struct crux_coll_lane *lanes = crux_coll_lanes(coll, &n);
	enum crux_status status = CRUX_OK;

	for (i = 0; !status && i < n; i++) {
		conn[i] = conn_of(b, &(struct key){op->group, FORM_LANE, lanes[i].channel,
						   ranks[lanes[i].src], ranks[lanes[i].dst]});
		if (lanes[i].bytes > MOST_BYTES / op->repeat)
			status = add_traffic(b, a->op, conn[i], UINT64_MAX, 0);
		else
			status = add_traffic(b, a->op, conn[i], lanes[i].bytes * op->repeat,
					     (uint64_t)lanes[i].steps * op->repeat);
	}
	if (n)
		b->w->ops[a->op] = (struct crux_wired_op){coll, conn};
	return status;
}

static enum crux_status wire_copies(struct build *b, size_t at)
{
	enum crux_status status = CRUX_OK;
	uint32_t o, i;

	for (o = 0; !status && o < b->program->n_ops; o++) {
		const struct crux_op *op = &b->program->ops[o];
		uint32_t *conn = b->w->pool + at;

		if (op->kind != CRUX_OP_COPY)
			continue;
		for (i = 0; !status && i < b->program->groups[op->group].n; i++) {
			uint32_t rank = crux_program_ranks(b->program, op->group)[i];

			conn[i] = conn_of(b, &(struct key){op->group, copy_form(b->program, op), 0,
							   rank, rank});
			status = add_traffic(b, o, conn[i], op->bytes, 1);
		}
		b->w->ops[o].conn = conn;
		at += i;
	}
	return status;
}

static enum crux_status check_places(struct build *b)
{
	uint32_t hosts = crux_topology_n_hosts(b->topo), i;

	for (i = 0; i < b->program->n_ranks; i++)
		if (b->gpus[i].host >= hosts ||
		    b->gpus[i].gpu >= crux_topology_host(b->topo, b->gpus[i].host)->n_gpus)
			return crux_fail(b->err, CRUX_NOT_FOUND,
					 "rank %u: there is no GPU %u of host %u", i,
					 b->gpus[i].gpu, b->gpus[i].host);
	if (b->program->storage_host != CRUX_NONE && b->program->storage_host >= hosts)
		return crux_fail(b->err, CRUX_NOT_FOUND, "storage host %u: there are %u hosts",
				 b->program->storage_host, hosts);
	return CRUX_OK;
}

static enum crux_status build_all(struct build *b)
{
	enum crux_status status = check_places(b);
	size_t copies;
	uint32_t i;

	b->w->ops = crux_zeroed(b->program->n_ops, sizeof(*b->w->ops));
	b->alike = crux_array(b->program->n_ops, sizeof(*b->alike));
	if (!status && (!b->w->ops || !b->alike))
		status = crux_fail(b->err, CRUX_NOMEM, "out of memory for %u operations",
				   b->program->n_ops);
	if (!status)
		status = collect_collectives(b);
	copies = b->pool;
	if (!status)
		status = collect_copies(b);
	if (!status)
		status = make_conns(b);
	for (i = 0; !status && i < b->n; i++)
		status = wire_collective(b, &b->alike[i]);
	if (!status)
		status = wire_copies(b, copies);
	for (i = 0; !status && i < b->w->n_conns; i++)
		b->w->steps[i] += !b->w->steps[i];
	return status;
}

enum crux_status crux_wiring_create(const struct crux_program *program,
				    const struct crux_gpu_ref *gpus,
				    const struct crux_topology *topo, struct crux_wiring **out,
				    struct crux_error *err)
{
	struct build b = {.program = program, .gpus = gpus, .topo = topo, .err = err};
	enum crux_status status;

	b.w = crux_zeroed(1, sizeof(*b.w));
	if (!b.w)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a wiring");
	b.w->program = program;
	status = build_all(&b);
	crux_free(b.alike);
	crux_free(b.keys);
	if (status)
		crux_wiring_destroy(b.w);
	else
		*out = b.w;
	return status;
}

void crux_wiring_destroy(struct crux_wiring *wiring)
{
	uint32_t i;

	if (!wiring)
		return;
	for (i = 0; i < wiring->n_colls; i++)
		crux_coll_destroy(wiring->colls[i]);
	crux_free(wiring->colls);
	crux_free(wiring->conns);
	crux_free(wiring->bytes);
	crux_free(wiring->steps);
	crux_free(wiring->ops);
	crux_free(wiring->pool);
	crux_free(wiring);
}
