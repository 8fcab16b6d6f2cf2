/* SPDX-License-Identifier: GPL-2.0-only
 *
 * progsim-check: what the engine for programs refuses; see crux-progsim.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-program, crux-wiring.
 */
#include "progsim-private.h"

#define MAX_ITERATIONS 1e9

static bool is_time(double s)
{
	return s >= 0 && !isinf(s);
}

static enum crux_status check_times(const struct crux_prog_job *job, struct crux_error *err)
{
	if (!is_time(job->start_s))
		return crux_fail(err, CRUX_RANGE, "job %s: start at %g s is not >= 0", job->name,
				 job->start_s);
	if (!(job->stop_s >= 0))
		return crux_fail(err, CRUX_RANGE, "job %s: stop at %g s is not >= 0", job->name,
				 job->stop_s);
	if (!is_time(job->jitter))
		return crux_fail(err, CRUX_RANGE, "job %s: a jitter of %g is not >= 0", job->name,
				 job->jitter);
	for (uint32_t i = 0; job->slowness && i < job->program->n_ranks; i++)
		if (!(job->slowness[i] > 0) || isinf(job->slowness[i]))
			return crux_fail(err, CRUX_RANGE,
					 "job %s: rank %u computes %g times as long: above 0",
					 job->name, i, job->slowness[i]);
	return CRUX_OK;
}

static enum crux_status check_program(const struct crux_prog_job *job, struct crux_error *err)
{
	const struct crux_program *program = job->program;
	enum crux_status status = crux_program_check(program, err);

	if (status != CRUX_OK) {
		crux_fail_prefix(err, "job %s: ", job->name);
		return status;
	}
	if (!program->n_ops)
		return crux_fail(err, CRUX_INVALID, "job %s: a program of 0 operations", job->name);
	if (job->wiring->program != program)
		return crux_fail(err, CRUX_INVALID, "job %s: the wiring of another program",
				 job->name);
	if (!is_time(program->message_latency_s) || !is_time(program->message_cpu_s) ||
	    !is_time(program->interference))
		return crux_fail(err, CRUX_RANGE,
				 "job %s: a latency of %g s, %g s of CPU, an interference of %g: "
				 "not all >= 0",
				 job->name, program->message_latency_s, program->message_cpu_s,
				 program->interference);
	if (!program->cpu_threads)
		return crux_fail(err, CRUX_RANGE, "job %s: 0 CPU threads", job->name);
	if (job->missing_op != CRUX_NONE &&
	    (job->missing_op >= program->n_ops || job->missing_rank >= program->n_ranks))
		return crux_fail(err, CRUX_NOT_FOUND, "job %s: operation %u of %u, rank %u of %u",
				 job->name, job->missing_op, program->n_ops, job->missing_rank,
				 program->n_ranks);
	return CRUX_OK;
}

static enum crux_status check_conns(const struct crux_prog *prog, const struct crux_prog_job *job,
				    struct crux_error *err)
{
	for (uint32_t c = 0; c < job->wiring->n_conns; c++)
		for (uint32_t i = 0; i < job->conns[c].n_links; i++)
			if (job->conns[c].links[i] >= prog->n_links)
				return crux_fail(err, CRUX_NOT_FOUND,
						 "job %s, connection %u: link %u of %u", job->name,
						 c, job->conns[c].links[i], prog->n_links);
	return CRUX_OK;
}

/* Connections of an operation, and how many. */
static const uint32_t *conns_of(const struct crux_prog_job *job, uint32_t o, uint32_t *n)
{
	const struct crux_wired_op *wired = &job->wiring->ops[o];
	const struct crux_op *op = &job->program->ops[o];

	*n = 0;
	if (op->kind == CRUX_OP_COLLECTIVE && wired->coll)
		crux_coll_lanes(wired->coll, n);
	if (op->kind == CRUX_OP_COPY && op->bytes)
		*n = job->program->groups[op->group].n;
	return wired->conn;
}

static double least_of_conn(const struct crux_prog *prog, const struct crux_prog_job *job,
			    uint32_t conn, double bytes, double steps)
{
	double bps = INFINITY, alpha = job->program->message_latency_s;

	for (uint32_t i = 0; i < job->conns[conn].n_links; i++) {
		bps = fmin(bps, prog->links[job->conns[conn].links[i]].bps);
		alpha += prog->links[job->conns[conn].links[i]].alpha_s;
	}
	return 8 * bytes / bps + alpha * steps;
}

/* At least so long takes the longest operation, alone. */
static enum crux_status least_time(const struct crux_prog *prog, const struct crux_prog_job *job,
				   double *out, struct crux_error *err)
{
	*out = 0;
	for (uint32_t o = 0; o < job->program->n_ops; o++) {
		const struct crux_op *op = &job->program->ops[o];
		const struct crux_wired_op *wired = &job->wiring->ops[o];
		uint32_t n, lanes_n;
		const uint32_t *conn = conns_of(job, o, &n);

		if (op->kind == CRUX_OP_COMPUTE || op->kind == CRUX_OP_HOST)
			*out = fmax(*out, op->seconds);
		for (uint32_t i = 0; i < n; i++) {
			double bytes = (double)op->bytes, steps = 1;

			if (!conn || conn[i] >= job->wiring->n_conns)
				return crux_fail(err, CRUX_NOT_FOUND,
						 "job %s, operation %u \"%s\": connection %u of %u",
						 job->name, o, op->name, conn ? conn[i] : 0,
						 job->wiring->n_conns);
			if (op->kind == CRUX_OP_COLLECTIVE) {
				const struct crux_coll_lane *lane =
					&crux_coll_lanes(wired->coll, &lanes_n)[i];

				bytes = (double)lane->bytes * op->repeat;
				steps = (double)lane->steps * op->repeat;
			}
			*out = fmax(*out, least_of_conn(prog, job, conn[i], bytes, steps));
		}
	}
	return CRUX_OK;
}

static enum crux_status check_job(const struct crux_prog *prog, const struct crux_prog_job *job,
				  struct crux_error *err)
{
	double end = fmin(prog->horizon_s, job->stop_s), least;
	enum crux_status status = check_program(job, err);

	if (status == CRUX_OK)
		status = check_times(job, err);
	if (status == CRUX_OK)
		status = check_conns(prog, job, err);
	if (status == CRUX_OK)
		status = least_time(prog, job, &least, err);
	if (status != CRUX_OK)
		return status;
	if (isinf(end) && !job->max_iterations)
		return crux_fail(err, CRUX_INVALID,
				 "job %s: neither a number of iterations nor a stop nor a horizon "
				 "ends it",
				 job->name);
	if (!job->max_iterations && !(least > 0))
		return crux_fail(err, CRUX_INVALID,
				 "job %s: its iterations have no length, so they never end",
				 job->name);
	if (job->max_iterations ? (double)job->max_iterations > MAX_ITERATIONS
				: end / least > MAX_ITERATIONS)
		return crux_fail(err, CRUX_LIMIT, "job %s: more than %g iterations", job->name,
				 MAX_ITERATIONS);
	return CRUX_OK;
}

enum crux_status ps_check(const struct crux_prog *prog, struct crux_error *err)
{
	if (!(prog->horizon_s > 0))
		return crux_fail(err, CRUX_RANGE, "a horizon of %g s is not above 0",
				 prog->horizon_s);
	for (uint32_t e = 0; e < prog->n_links; e++) {
		if (!(prog->links[e].bps > 0) || isinf(prog->links[e].bps))
			return crux_fail(err, CRUX_RANGE, "link %u: %g bit/s is not above 0", e,
					 prog->links[e].bps);
		if (!is_time(prog->links[e].alpha_s))
			return crux_fail(err, CRUX_RANGE, "link %u: a latency of %g s", e,
					 prog->links[e].alpha_s);
	}
	for (uint32_t i = 0; i < prog->n_jobs; i++) {
		enum crux_status status = check_job(prog, &prog->jobs[i], err);

		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}
