/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-job: jobs of the trace engine, and what they have done: see crux-tracesim.h. Depends
 * on crux-base, crux-problem.
 */
#include "tracesim-private.h"

#include <math.h>
#include <string.h>

void job_destroy(struct tjob *job)
{
	if (!job)
		return;
	crux_free(job->given);
	crux_free(job->candidate);
	crux_free(job->wanted);
	crux_free(job->flows);
	crux_free(job->hops);
	crux_free(job);
}

static enum crux_status check_flow(const struct crux_tracesim *s,
				   const struct crux_tracesim_job *given, uint32_t f,
				   struct crux_error *err)
{
	const struct crux_flow *flow = &given->flows[f];
	uint32_t candidate = given->candidate ? given->candidate[f] : flow->ecmp_candidate;

	if (!flow->steps)
		return crux_fail(err, CRUX_RANGE, "flow %u: 0 steps", f);
	if (flow->n_pre > CRUX_FLOW_ENDS || flow->n_post > CRUX_FLOW_ENDS)
		return crux_fail(err, CRUX_RANGE, "flow %u: %u and %u fixed links, at most %d", f,
				 flow->n_pre, flow->n_post, CRUX_FLOW_ENDS);
	if (!flow->candidates || candidate >= flow->candidates->n)
		return crux_fail(err, CRUX_RANGE, "flow %u: candidate %u of %u", f, candidate,
				 flow->candidates ? flow->candidates->n : 0);
	if (flow->bytes && ((U128)1 << 126) / s->byte < flow->bytes)
		return crux_fail(err, CRUX_LIMIT, "flow %u: %llu bytes beside links this fast", f,
				 (unsigned long long)flow->bytes);
	for (uint32_t c = 0; c < flow->candidates->n; c++)
		for (uint32_t i = 0; i < crux_flow_hops(flow); i++) {
			uint32_t link = crux_flow_link(flow, c, i).v;

			if (link >= s->n_links)
				return crux_fail(err, CRUX_NOT_FOUND, "flow %u: link %u of %u", f,
						 link, s->n_links);
		}
	return CRUX_OK;
}

static enum crux_status check(const struct crux_tracesim *s, const struct crux_tracesim_job *given,
			      struct crux_error *err)
{
	const struct crux_problem_job *job = &given->job;

	if (!job->gpus)
		return crux_fail(err, CRUX_RANGE, "0 GPUs");
	if (!(job->flop >= 0) || isinf(job->flop))
		return crux_fail(err, CRUX_RANGE, "%g FLOP are not >= 0", job->flop);
	if (!(job->overlap_start >= 0 && job->overlap_start <= 1))
		return crux_fail(err, CRUX_RANGE, "overlap start %g is not in [0, 1]",
				 job->overlap_start);
	if (given->level >= 64)
		return crux_fail(err, CRUX_RANGE, "level %u is not below 64", given->level);
	for (uint32_t f = 0; f < job->n_flows; f++) {
		enum crux_status status = check_flow(s, given, f, err);

		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}

enum crux_status job_check_length(const struct tjob *job, uint64_t floor, struct crux_error *err)
{
	if (job->instant && !floor && !job->max_iterations)
		return crux_fail(err, CRUX_INVALID,
				 "its iterations have no length, so they never end");
	return CRUX_OK;
}

static enum crux_status set_times(const struct crux_tracesim *s,
				  const struct crux_tracesim_job *given, struct tjob *job,
				  struct crux_error *err)
{
	enum crux_status status =
		tracesim_ticks(s, given->job.compute_s, "a computation", &job->compute, err);

	if (status == CRUX_OK)
		status = tracesim_ticks(s, given->job.overlap_start * given->job.compute_s,
					"a computation", &job->ready, err);
	if (status == CRUX_OK)
		status = tracesim_ticks(s, given->shift_s, "a shift", &job->wanted_shift, err);
	if (status == CRUX_OK)
		status = tracesim_ticks(s, given->floor_s, "a floor", &job->wanted_floor, err);
	if (job->ready > job->compute)
		job->ready = job->compute;
	job->instant = !job->compute;
	for (uint32_t f = 0; f < job->n_flows; f++)
		job->instant &= !job->flows[f].total && !job->flows[f].alpha;
	return status == CRUX_OK ? job_check_length(job, job->wanted_floor, err) : status;
}

static bool allocate(struct tjob *job)
{
	uint32_t n = job->n_flows;

	job->given = crux_array(n, sizeof(*job->given));
	job->candidate = crux_array(n, sizeof(*job->candidate));
	job->wanted = crux_array(n, sizeof(*job->wanted));
	job->flows = crux_zeroed(n, sizeof(*job->flows));
	job->hops = crux_zeroed(job->n_hops, sizeof(*job->hops));
	return job->given && job->candidate && job->wanted && job->flows && job->hops;
}

static void copy(struct tjob *job, const struct crux_tracesim_job *given)
{
	if (job->n_flows)
		memcpy(job->given, given->flows, job->n_flows * sizeof(*job->given));
	for (uint32_t f = 0, hop = 0; f < job->n_flows; f++) {
		const struct crux_flow *flow = &job->given[f];

		job->candidate[f] = job->wanted[f] = given->candidate ? given->candidate[f]
								      : flow->ecmp_candidate;
		job->flows[f] = (struct tflow){.bytes = flow->bytes,
					       .steps = flow->steps,
					       .hop = hop,
					       .n_hops = crux_flow_hops(flow)};
		hop += job->flows[f].n_hops;
	}
}

enum crux_status job_make(struct crux_tracesim *s, const struct crux_tracesim_job *given,
			  struct tjob **out, struct crux_error *err)
{
	enum crux_status status = check(s, given, err);
	struct tjob *job;

	if (status != CRUX_OK)
		return status;
	job = crux_zeroed(1, sizeof(*job));
	if (!job)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a job");
	job->problem = given->job;
	job->n_flows = given->job.n_flows;
	job->max_iterations = given->max_iterations;
	job->level = job->wanted_level = given->level;
	job->how = given->start;
	job->alive = true;
	job->born = job->begin_at = s->now;
	job->ended = job->shortest = NEVER;
	for (uint32_t f = 0; f < job->n_flows; f++)
		job->n_hops += crux_flow_hops(&given->flows[f]);
	if (!allocate(job))
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", job->n_flows);
	if (status == CRUX_OK) {
		copy(job, given);
		paths_set(s, job);
		status = set_times(s, given, job, err);
	}
	if (status != CRUX_OK) {
		job_destroy(job);
		return status;
	}
	*out = job;
	return CRUX_OK;
}

/* Bytes of the groups since the part was built, by sort of link. */
static void add_groups(const struct crux_tracesim *s, const struct tjob *job, uint64_t *bytes)
{
	const struct part *p = job->part;

	for (uint32_t q = job->first_group; q < job->first_group + job->n_groups; q++) {
		const struct group *g = &p->groups[q];
		uint64_t each = g->complete * g->bytes;

		if (g->moving)
			each += (uint64_t)((g->total - group_left(g, p->time)) / s->byte);
		for (uint32_t c = 0; c < s->options.n_classes; c++)
			bytes[c] += each * g->hops[c] - g->carry[c];
	}
}

enum crux_status crux_tracesim_stats(struct crux_tracesim *s, uint32_t handle,
				     struct crux_tracesim_stats *out, struct crux_error *err)
{
	uint64_t bytes[CRUX_TRACESIM_CLASSES], compute;
	enum crux_status status;
	struct tjob *job;

	if (handle >= s->n_jobs)
		return crux_fail(err, CRUX_NOT_FOUND, "no job with handle %u", handle);
	job = s->jobs[handle];
	s->err = err;
	status = job->part ? part_advance(s, job->part, s->now) : CRUX_OK;
	s->err = NULL;
	if (status != CRUX_OK)
		return status;
	memcpy(bytes, job->bytes, sizeof(bytes));
	if (job->part)
		add_groups(s, job, bytes);
	compute = job->sums.compute;
	if (job->now.computing && s->now > job->now.start)
		compute += s->now - job->now.start;
	*out = (struct crux_tracesim_stats){
		.start_s = (double)job->born * s->tick_s,
		.end_s = job->ended == NEVER ? NAN : (double)job->ended * s->tick_s,
		.iterations = job->sums.iterations,
		.compute_s = (double)compute * s->tick_s,
		.iteration_s = (double)job->sums.length * s->tick_s,
		.shortest_s = job->sums.iterations ? (double)job->shortest * s->tick_s : NAN,
		.longest_s = job->sums.iterations ? (double)job->longest * s->tick_s : NAN,
		.exposed_s = (double)job->sums.exposed * s->tick_s,
	};
	for (uint32_t c = 0; c < s->options.n_classes; c++)
		out->bytes[c] = (double)bytes[c];
	return CRUX_OK;
}

enum crux_status crux_tracesim_link_bytes(struct crux_tracesim *s, double *out,
					  struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	s->err = err;
	for (size_t i = 0; i < s->n_parts && status == CRUX_OK; i++)
		status = part_advance(s, s->parts[i], s->now);
	s->err = NULL;
	if (status != CRUX_OK)
		return status;
	for (uint32_t e = 0; e < s->n_links; e++)
		out[e] = (double)s->link_bytes[e];
	for (size_t i = 0; i < s->n_parts; i++)
		for (uint32_t j = 0; j < s->parts[i]->n_jobs; j++) {
			const struct tjob *job = s->parts[i]->jobs[j];

			for (uint32_t h = 0; h < job->n_hops; h++)
				out[job->hops[h].link] += (double)part_flow_bytes(
					s, s->parts[i], &job->flows[job->hops[h].flow]);
		}
	return CRUX_OK;
}

void crux_tracesim_get_work(const struct crux_tracesim *s, struct crux_tracesim_work *out)
{
	*out = s->work;
}
