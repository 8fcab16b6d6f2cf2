/* SPDX-License-Identifier: GPL-2.0-only
 *
 * progsim-rig: programs on hand-made networks, for tests of the engine for programs: the wiring,
 * the run and its rows.
 *
 * Place: test/core. Depends on libcrux, crux-check. Included once by a test.
 */
#ifndef PROGSIM_RIG_H
#define PROGSIM_RIG_H

#include "crux-check.h"
#include "crux-progsim.h"

#include <stdlib.h>

struct rig;

/** Links of the way from one rank of a job to another; returns how many. */
typedef uint32_t rig_path(const struct rig *rig, const struct crux_conn *conn, uint32_t links[8]);

/** A job: its program, where it is, and what the wiring makes of it. */
struct rig {
	struct crux_program *program;
	const uint32_t *host, *nic; /* [n_ranks] for collectives, may be NULL */
	rig_path *path;
	uint32_t first; /* for one_switch: first port of the job */
	uint32_t ports; /* of the switch */
	/* Made by rig_wire. */
	struct crux_wiring wiring;
	struct crux_sim_flow *conns;
	struct crux_gpu_ref *gpus;
	uint32_t (*links)[8];
	struct crux_coll *colls[4096];
};

/** One switch: link p goes up from port p, link ports + p down to it. */
static inline uint32_t one_switch(const struct rig *rig, const struct crux_conn *conn,
				  uint32_t links[8])
{
	links[0] = rig->first + conn->src;
	links[1] = rig->ports + rig->first + conn->dst;
	return 2;
}

/** A host of its own for each rank: host memory is a port away. */
static inline uint32_t own_link(const struct rig *rig, const struct crux_conn *conn,
				uint32_t links[8])
{
	links[0] = rig->first + conn->src;
	return 1;
}

static inline uint32_t rig_conn(struct rig *rig, struct crux_conn want)
{
	struct crux_wiring *w = &rig->wiring;

	for (uint32_t c = w->n_conns; c-- > 0;)
		if (w->conns[c].group == want.group && w->conns[c].channel == want.channel &&
		    w->conns[c].src == want.src && w->conns[c].dst == want.dst &&
		    w->conns[c].src_memory == want.src_memory &&
		    w->conns[c].dst_memory == want.dst_memory)
			return c;
	w->conns = realloc(w->conns, (w->n_conns + 1) * sizeof(*w->conns));
	w->conns[w->n_conns] = want;
	return w->n_conns++;
}

/* The collective of an operation: the last one made if it is alike. */
static inline const struct crux_coll *rig_coll(struct rig *rig, const struct crux_op *op,
					       uint32_t n)
{
	static const struct crux_op none;
	static const struct crux_op *last;
	static const struct rig *last_rig;
	struct crux_coll_params p = {op->coll, op->alg, n, op->bytes, op->channels, 0, NULL, NULL};
	struct crux_error err = {.text = ""};

	if (!rig->wiring.n_colls || last_rig != rig)
		last = &none;
	p.host = rig->host;
	p.nic = rig->nic;
	if (last->group == op->group && last->coll == op->coll && last->alg == op->alg &&
	    last->bytes == op->bytes && last->channels == op->channels && last != &none)
		return rig->colls[rig->wiring.n_colls - 1];
	CHECK_U64(crux_coll_create(&p, &rig->colls[rig->wiring.n_colls], &err), CRUX_OK);
	last = op;
	last_rig = rig;
	return rig->colls[rig->wiring.n_colls++];
}

static inline void rig_collective(struct rig *rig, uint32_t o)
{
	const struct crux_op *op = &rig->program->ops[o];
	const uint32_t *ranks = crux_program_ranks(rig->program, op->group);
	const struct crux_coll *coll = rig_coll(rig, op, rig->program->groups[op->group].n);
	uint32_t n;
	const struct crux_coll_lane *lanes = crux_coll_lanes(coll, &n);
	uint32_t *conn;

	if (!n)
		return;
	if (o && rig->wiring.ops[o - 1].coll == coll) {
		rig->wiring.ops[o] = rig->wiring.ops[o - 1];
		return;
	}
	conn = malloc(n * sizeof(*conn));
	for (uint32_t l = 0; l < n; l++)
		conn[l] = rig_conn(rig, (struct crux_conn){.group = op->group,
							   .channel = lanes[l].channel,
							   .src = ranks[lanes[l].src],
							   .dst = ranks[lanes[l].dst],
							   .network = true});
	rig->wiring.ops[o] = (struct crux_wired_op){coll, conn};
}

static inline void rig_copy(struct rig *rig, uint32_t o)
{
	const struct crux_op *op = &rig->program->ops[o];
	const struct crux_group *group = &rig->program->groups[op->group];
	uint32_t *conn = malloc(group->n * sizeof(*conn));

	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t rank = crux_program_ranks(rig->program, op->group)[i];
		bool to = op->direction == CRUX_COPY_TO_GPU;

		conn[i] = rig_conn(rig, (struct crux_conn){.group = op->group,
							   .src = rank,
							   .dst = rank,
							   .src_memory = to,
							   .dst_memory = !to});
	}
	rig->wiring.ops[o] = (struct crux_wired_op){NULL, conn};
}

/** Wire program, host, nic, path, first and ports, which are set. */
static inline void rig_wire(struct rig *rig)
{
	uint32_t n_ops = rig->program->n_ops, n = rig->program->n_ranks;

	CHECK_U64(crux_program_check(rig->program, NULL), CRUX_OK);
	rig->wiring.program = rig->program;
	rig->wiring.ops = calloc(n_ops, sizeof(*rig->wiring.ops));
	for (uint32_t o = 0; o < n_ops; o++) {
		if (rig->program->ops[o].kind == CRUX_OP_COLLECTIVE)
			rig_collective(rig, o);
		if (rig->program->ops[o].kind == CRUX_OP_COPY)
			rig_copy(rig, o);
	}
	rig->conns = calloc(rig->wiring.n_conns + 1, sizeof(*rig->conns));
	rig->links = calloc(rig->wiring.n_conns + 1, sizeof(*rig->links));
	for (uint32_t c = 0; c < rig->wiring.n_conns; c++) {
		rig->conns[c].links = rig->links[c];
		rig->conns[c].n_links = rig->path(rig, &rig->wiring.conns[c], rig->links[c]);
		rig->conns[c].steps = 1;
	}
	rig->gpus = calloc(n, sizeof(*rig->gpus));
	for (uint32_t r = 0; r < n; r++)
		rig->gpus[r] = (struct crux_gpu_ref){rig->host ? rig->host[r] : rig->first + r, r};
}

static inline void rig_free(struct rig *rig)
{
	for (uint32_t o = 0; o < rig->program->n_ops; o++)
		if (!o || rig->wiring.ops[o].conn != rig->wiring.ops[o - 1].conn)
			free((void *)rig->wiring.ops[o].conn);
	for (uint32_t c = 0; c < rig->wiring.n_colls; c++)
		crux_coll_destroy(rig->colls[c]);
	free(rig->wiring.ops);
	free(rig->wiring.conns);
	free(rig->conns);
	free(rig->links);
	free(rig->gpus);
	crux_program_destroy(rig->program);
	memset(rig, 0, sizeof(*rig));
}

/** A job of a wired rig, to be changed by the test. */
static inline struct crux_prog_job rig_job(const struct rig *rig, const char *name,
					   uint64_t iterations)
{
	return (struct crux_prog_job){.name = name,
				      .program = rig->program,
				      .wiring = &rig->wiring,
				      .gpus = rig->gpus,
				      .conns = rig->conns,
				      .max_iterations = iterations,
				      .stop_s = INFINITY,
				      .missing_op = CRUX_NONE,
				      .missing_rank = CRUX_NONE};
}

/** @name Rows and parts of the last run. @{ */
#define RIG_ROWS  256
#define RIG_PARTS 4096
struct rig_rows {
	struct crux_iteration row[8][RIG_ROWS];
	uint64_t n[8];
	struct crux_prog_part part[RIG_PARTS];
	uint32_t n_parts;
};
static struct rig_rows rows;

static inline enum crux_status rig_keep(void *context, uint32_t job, uint64_t iteration,
					const struct crux_iteration *row)
{
	struct rig_rows *keep = context;

	if (job < 8 && iteration < RIG_ROWS)
		keep->row[job][iteration] = *row;
	if (job < 8)
		keep->n[job] = iteration + 1;
	return CRUX_OK;
}

static inline enum crux_status rig_keep_part(void *context, const struct crux_prog_part *part)
{
	struct rig_rows *keep = context;

	if (keep->n_parts < RIG_PARTS)
		keep->part[keep->n_parts++] = *part;
	return CRUX_OK;
}

/** Run; NULL and an error line when it fails. */
static inline struct crux_sim_result *rig_run(const struct crux_prog *prog, struct crux_error *err)
{
	struct crux_sim_result *result = NULL;
	struct crux_sink sink = {rig_keep, &rows};
	struct crux_part_sink parts = {rig_keep_part, &rows};

	memset(&rows, 0, sizeof(rows));
	err->text[0] = 0;
	err->status = CRUX_OK;
	if (crux_progsim_run(prog, &sink, &parts, &result, err) == CRUX_OK)
		CHECK_STR(err->text, "");
	else
		CHECK(!result && err->text[0]);
	return result;
}

/** The part of an operation and rank in iteration 0. */
static inline const struct crux_prog_part *rig_part(uint32_t op, uint32_t rank)
{
	static const struct crux_prog_part none = {0, 0, 0, 0, NAN, NAN};

	for (uint32_t i = 0; i < rows.n_parts; i++)
		if (rows.part[i].op == op && rows.part[i].rank == rank && !rows.part[i].iteration &&
		    !rows.part[i].job)
			return &rows.part[i];
	return &none;
}
/** @} */

/** @name Short forms of crux_program_add_*. @{ */
static inline uint32_t rig_group(struct rig *rig, uint32_t n, const uint32_t *ranks,
				 const char *name)
{
	uint32_t out = CRUX_NONE;

	CHECK_U64(crux_program_add_group(rig->program, ranks, n, name, &out, NULL), CRUX_OK);
	return out;
}

static inline uint32_t rig_op(struct rig *rig, struct crux_op op, uint32_t n_deps,
			      const uint32_t *deps)
{
	uint32_t out = CRUX_NONE;
	struct crux_error err = {.text = ""};

	if (op.kind == CRUX_OP_COLLECTIVE && !op.repeat)
		op.repeat = 1;
	if (op.kind == CRUX_OP_COLLECTIVE && !op.channels)
		op.channels = 1;
	CHECK_U64(crux_program_add_op(rig->program, &op, deps, n_deps, &out, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	return out;
}

static inline struct crux_op compute(uint32_t group, double seconds, const char *name)
{
	struct crux_op op = {.kind = CRUX_OP_COMPUTE, .group = group, .seconds = seconds};

	snprintf(op.name, sizeof(op.name), "%s", name);
	return op;
}

static inline struct crux_op collective(uint32_t group, enum crux_coll_kind kind,
					enum crux_coll_alg alg, uint64_t bytes, const char *name)
{
	struct crux_op op = {.kind = CRUX_OP_COLLECTIVE,
			     .group = group,
			     .coll = kind,
			     .alg = alg,
			     .bytes = bytes};

	snprintf(op.name, sizeof(op.name), "%s", name);
	return op;
}

static inline void rig_program(struct rig *rig, uint32_t n_ranks)
{
	CHECK_U64(crux_program_create(n_ranks, &rig->program, NULL), CRUX_OK);
}
/** @} */

#endif /* PROGSIM_RIG_H */
