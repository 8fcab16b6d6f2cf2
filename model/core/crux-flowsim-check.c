/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-flowsim-check: what the flow-level engine refuses; see crux-flowsim.h. Depends
 * on crux-base.
 */
#include "crux-flowsim.h"

#include <math.h>

#define MAX_ITERATIONS 1e9

static enum crux_status check_flow(const struct crux_sim *sim, uint32_t j, uint32_t f,
				   double *least_s, struct crux_error *err)
{
	const struct crux_sim_flow *flow = &sim->jobs[j].flows[f];
	double bps = INFINITY, alpha = 0;

	if (!(flow->bytes >= 0) || isinf(flow->bytes))
		return crux_fail(err, CRUX_RANGE, "job %u, flow %u: %g bytes are not >= 0", j, f,
				 flow->bytes);
	if (!flow->steps)
		return crux_fail(err, CRUX_RANGE, "job %u, flow %u: 0 steps", j, f);
	for (uint32_t i = 0; i < flow->n_links; i++) {
		if (flow->links[i] >= sim->n_links)
			return crux_fail(err, CRUX_NOT_FOUND, "job %u, flow %u: link %u of %u", j,
					 f, flow->links[i], sim->n_links);
		bps = fmin(bps, sim->links[flow->links[i]].bps);
		alpha += sim->links[flow->links[i]].alpha_s;
	}
	if (flow->n_links)
		*least_s = fmax(*least_s, 8 * flow->bytes / bps + alpha * flow->steps);
	return CRUX_OK;
}

static enum crux_status check_job(const struct crux_sim *sim, uint32_t j, struct crux_error *err)
{
	const struct crux_sim_job *job = &sim->jobs[j];
	double comm = 0, least;

	if (!job->gpus)
		return crux_fail(err, CRUX_RANGE, "job %u: 0 GPUs", j);
	if (!(job->compute_s >= 0) || isinf(job->compute_s))
		return crux_fail(err, CRUX_RANGE, "job %u: %g s of computation are not >= 0", j,
				 job->compute_s);
	if (!(job->overlap_start >= 0 && job->overlap_start <= 1))
		return crux_fail(err, CRUX_RANGE, "job %u: overlap start %g is not in [0, 1]", j,
				 job->overlap_start);
	if (!(job->start_s >= 0) || isinf(job->start_s))
		return crux_fail(err, CRUX_RANGE, "job %u: start at %g s is not >= 0", j,
				 job->start_s);
	for (uint32_t f = 0; f < job->n_flows; f++) {
		enum crux_status status = check_flow(sim, j, f, &comm, err);

		if (status != CRUX_OK)
			return status;
	}
	if (isinf(sim->horizon_s) && !job->max_iterations)
		return crux_fail(err, CRUX_INVALID,
				 "job %u: neither a number of iterations nor a horizon ends it", j);
	least = fmax(job->compute_s, job->overlap_start * job->compute_s + comm);
	if (!job->max_iterations && !(least > 0))
		return crux_fail(err, CRUX_INVALID,
				 "job %u: its iterations have no length, so they never end", j);
	if (job->max_iterations ? (double)job->max_iterations > MAX_ITERATIONS
				: sim->horizon_s / least > MAX_ITERATIONS)
		return crux_fail(err, CRUX_LIMIT, "job %u: more than %g iterations", j,
				 MAX_ITERATIONS);
	return CRUX_OK;
}

enum crux_status crux_flowsim_check(const struct crux_sim *sim, struct crux_error *err)
{
	uint64_t n = 0;

	if (!(sim->horizon_s > 0))
		return crux_fail(err, CRUX_RANGE, "a horizon of %g s is not above 0",
				 sim->horizon_s);
	for (uint32_t e = 0; e < sim->n_links; e++) {
		if (!(sim->links[e].bps > 0) || isinf(sim->links[e].bps))
			return crux_fail(err, CRUX_RANGE, "link %u: %g bit/s is not above 0", e,
					 sim->links[e].bps);
		if (!(sim->links[e].alpha_s >= 0) || isinf(sim->links[e].alpha_s))
			return crux_fail(err, CRUX_RANGE, "link %u: a latency of %g s", e,
					 sim->links[e].alpha_s);
	}
	for (uint32_t j = 0; j < sim->n_jobs; j++) {
		enum crux_status status = check_job(sim, j, err);

		if (status != CRUX_OK)
			return status;
		n += sim->jobs[j].n_flows;
	}
	if (n + 2 * (uint64_t)sim->n_jobs >= CRUX_NONE)
		return crux_fail(err, CRUX_LIMIT, "%llu flows of %u jobs", (unsigned long long)n,
				 sim->n_jobs);
	return CRUX_OK;
}
