/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scenario-truth: see crux-scenario-truth.h. Depends on crux-scenario, crux-flow-route,
 * crux-intensity.
 */
#include "crux-scenario-truth.h"

#include "crux-flow-route.h"
#include "crux-intensity.h"

static enum crux_status choose(const struct crux_scenario *scn, uint32_t job, uint32_t number,
			       uint16_t port, uint32_t *candidate, struct crux_error *err)
{
	const struct crux_problem_job *facts = &scn->problem.jobs[job];
	const struct crux_flow *flow = &scn->flows[facts->first_flow + number];

	return crux_flow_hash_path(scn->topo, scn->router, flow->src_nic, flow->dst_nic, port,
				   &candidate[facts->first_flow + number], err);
}

enum crux_status crux_scenario_truth(const struct crux_scenario *scn, uint32_t job, uint32_t n,
				     const uint32_t *numbers, const uint16_t *ports, double *t_s,
				     double *intensity, struct crux_error *err)
{
	struct crux_tally tally;
	struct crux_traffic traffic;
	uint32_t *candidate;
	enum crux_status status = CRUX_OK;

	if (job >= scn->n_jobs)
		return crux_fail(err, CRUX_RANGE, "job %u of %u", job, scn->n_jobs);
	for (uint32_t i = 0; i < n; i++) {
		const struct crux_problem_job *facts = &scn->problem.jobs[job];

		if (numbers[i] >= facts->n_flows)
			return crux_fail(err, CRUX_RANGE, "flow %u of %u", numbers[i],
					 facts->n_flows);
		if (scn->flows[facts->first_flow + numbers[i]].src_nic.v == CRUX_NONE)
			return crux_fail(err, CRUX_INVALID,
					 "flow %u stays in its host: it has no source port",
					 numbers[i]);
	}
	candidate = crux_zeroed(scn->n_flows, sizeof(*candidate));
	if (!candidate && scn->n_flows)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", scn->n_flows);
	for (uint32_t i = 0; i < n && status == CRUX_OK; i++)
		status = choose(scn, job, numbers[i], ports[i], candidate, err);
	if (status == CRUX_OK)
		status = crux_tally_init(&tally, &scn->problem, err);
	if (status == CRUX_OK) {
		crux_traffic_one(&scn->problem, job, candidate, &tally, &traffic);
		crux_tally_free(&tally);
		*t_s = traffic.t_s;
		*intensity = traffic.intensity;
	}
	crux_free(candidate);
	return status;
}
