/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-progview: see crux-progview.h.
 *
 * Place: model/core (C11). Depends on crux-progsim, crux-program, crux-wiring.
 */
#include "crux-progview.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Connections of an operation: lanes, or ranks of a copy. */
static uint32_t op_conns(const struct crux_wiring *wiring, uint32_t op)
{
	const struct crux_program *program = wiring->program;
	uint32_t n = 0;

	if (program->ops[op].kind == CRUX_OP_COPY)
		return program->groups[program->ops[op].group].n;
	if (wiring->ops[op].coll)
		crux_coll_lanes(wiring->ops[op].coll, &n);
	return n;
}

static bool uses_network(const struct crux_wiring *wiring, uint32_t op)
{
	uint32_t n = op_conns(wiring, op);

	for (uint32_t i = 0; i < n; i++)
		if (wiring->conns[wiring->ops[op].conn[i]].network)
			return true;
	return false;
}

static double network_bytes(const struct crux_wiring *wiring, uint32_t op)
{
	const struct crux_wired_op *wired = &wiring->ops[op];
	const struct crux_op *facts = &wiring->program->ops[op];
	uint32_t n = op_conns(wiring, op);
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (wiring->conns[wired->conn[i]].network)
			sum += wired->coll ? (double)crux_coll_lanes(wired->coll, &n)[i].bytes *
						     facts->repeat
					   : (double)facts->bytes;
	return sum;
}

void crux_progview_traffic(const struct crux_wiring *wiring, uint64_t *bytes, uint32_t *steps)
{
	memset(bytes, 0, wiring->n_conns * sizeof(*bytes));
	memset(steps, 0, wiring->n_conns * sizeof(*steps));
	for (uint32_t o = 0; o < wiring->program->n_ops; o++) {
		const struct crux_wired_op *wired = &wiring->ops[o];
		const struct crux_op *facts = &wiring->program->ops[o];
		uint32_t n = uses_network(wiring, o) ? op_conns(wiring, o) : 0;
		const struct crux_coll_lane *lanes =
			wired->coll ? crux_coll_lanes(wired->coll, &(uint32_t){0}) : NULL;

		/* The wiring has checked that sums stay within 62 and 31 bits. */
		for (uint32_t i = 0; i < n; i++) {
			bytes[wired->conn[i]] += lanes ? lanes[i].bytes * facts->repeat
						       : facts->bytes;
			steps[wired->conn[i]] += lanes ? lanes[i].steps * facts->repeat : 1;
		}
	}
}

/* When an operation could begin, and how much it sends through the network. */
struct ready {
	double at_s, bytes;
};

struct profile {
	struct crux_iteration row;
	struct ready *ready; /* [n_ops] */
};

static enum crux_status keep_row(void *context, uint32_t job, uint64_t iteration,
				 const struct crux_iteration *row)
{
	struct profile *profile = context;

	(void)job;
	(void)iteration;
	profile->row = *row;
	return CRUX_OK;
}

/* An operation begins when its last rank has come. */
static enum crux_status keep_part(void *context, const struct crux_prog_part *part)
{
	struct profile *profile = context;

	profile->ready[part->op].at_s = fmax(profile->ready[part->op].at_s, part->start_s);
	return CRUX_OK;
}

static int compare_ready(const void *a, const void *b)
{
	const struct ready *x = a, *y = b;

	return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static double overlap_start(struct ready *ready, uint32_t n, double span_s)
{
	double total = 0, before = 0, o = 0;

	for (uint32_t i = 0; i < n; i++)
		total += ready[i].bytes;
	if (!(total > 0) || !(span_s > 0))
		return 1;
	qsort(ready, n, sizeof(*ready), compare_ready);
	for (uint32_t i = 0; i < n; i++) {
		double r = before / total;

		if (ready[i].bytes > 0 && r < 1)
			o = fmax(o, (fmin(1, ready[i].at_s / span_s) - r) / (1 - r));
		before += ready[i].bytes;
	}
	return fmin(fmax(o, 0), 1);
}

/* One iteration of @p job, whose connections are free where the network is used. */
static enum crux_status run_free(const struct crux_prog_job *job, uint32_t n_links,
				 const struct crux_sim_link *links, uint64_t seed,
				 struct profile *profile, struct crux_error *err)
{
	const struct crux_sink sink = {keep_row, profile};
	const struct crux_part_sink parts = {keep_part, profile};
	const struct crux_prog prog = {n_links, links, 1, job, INFINITY, seed};
	struct crux_sim_result *result = NULL;
	enum crux_status status = crux_progsim_run(&prog, &sink, &parts, &result, err);

	crux_sim_result_destroy(result);
	return status;
}

enum crux_status crux_progview_find(const struct crux_prog_job *job, uint32_t n_links,
				    const struct crux_sim_link *links, uint64_t seed,
				    struct crux_progview *out, struct crux_error *err)
{
	const struct crux_wiring *wiring = job->wiring;
	uint32_t n_ops = job->program->n_ops;
	struct crux_sim_flow *conns = crux_array(wiring->n_conns, sizeof(*conns));
	struct profile profile = {.ready = crux_zeroed(n_ops, sizeof(*profile.ready))};
	struct crux_prog_job alone = *job;
	enum crux_status status;

	if (!conns || !profile.ready) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
	} else {
		memcpy(conns, job->conns, wiring->n_conns * sizeof(*conns));
		/* Lanes inside hosts of operations that use the network take no time either. */
		for (uint32_t o = 0; o < n_ops; o++) {
			uint32_t n = uses_network(wiring, o) ? op_conns(wiring, o) : 0;

			for (uint32_t i = 0; i < n; i++)
				conns[wiring->ops[o].conn[i]].n_links = 0;
		}
		alone.conns = conns;
		status = run_free(&alone, n_links, links, seed, &profile, err);
	}
	if (!status) {
		out->flop = crux_program_flop(job->program);
		out->compute_s = profile.row.end_s - profile.row.start_s;
		out->gpu_s = profile.row.busy_s;
		for (uint32_t o = 0; o < n_ops; o++)
			profile.ready[o].bytes = network_bytes(wiring, o);
		out->overlap_start = overlap_start(profile.ready, n_ops, out->compute_s);
	}
	crux_free(conns);
	crux_free(profile.ready);
	return status;
}
