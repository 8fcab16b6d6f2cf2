/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-intensity: see crux-intensity.h. Depends on crux-problem.
 */
#include "crux-intensity.h"

#include <math.h>

double crux_intensity(double flop, double t_s)
{
	if (!(flop > 0))
		return 0;
	return t_s > 0 ? flop / t_s : INFINITY;
}

static bool is_network(const struct crux_problem *problem, uint32_t link)
{
	return !problem->link_is_network || problem->link_is_network[link];
}

/* Returns whether the link is a network link. */
static bool add(struct crux_tally *tally, const struct crux_problem *problem,
		struct crux_link_id link, double bytes)
{
	if (tally->bytes[link.v] == 0)
		tally->touched[tally->n++] = link.v;
	tally->bytes[link.v] += bytes;
	return is_network(problem, link.v);
}

static bool add_flow(struct crux_tally *tally, const struct crux_problem *problem,
		     const struct crux_flow *flow, const uint32_t *candidate)
{
	const struct crux_path_set *set = flow->candidates;
	double bytes = (double)flow->bytes;
	bool network = false;

	for (uint32_t i = 0; i < flow->n_pre; i++)
		network |= add(tally, problem, flow->pre[i], bytes);
	for (uint32_t i = 0; i < flow->n_post; i++)
		network |= add(tally, problem, flow->post[i], bytes);
	if (candidate) {
		size_t first = (size_t)*candidate * set->hops;

		for (uint32_t i = 0; i < set->hops; i++)
			network |= add(tally, problem, set->links[first + i], bytes);
	} else {
		size_t n = (size_t)set->n * set->hops;

		for (size_t i = 0; i < n; i++)
			network |= add(tally, problem, set->links[i], bytes / set->n);
	}
	return network;
}

enum crux_status crux_tally_init(struct crux_tally *tally, const struct crux_problem *problem,
				 struct crux_error *err)
{
	*tally = (struct crux_tally){
		.bytes = crux_zeroed(problem->n_links, sizeof(*tally->bytes)),
		.touched = crux_array(problem->n_links, sizeof(*tally->touched)),
	};
	if (tally->bytes && tally->touched)
		return CRUX_OK;
	crux_tally_free(tally);
	return crux_fail(err, CRUX_NOMEM, "out of memory for the traffic on %u links",
			 problem->n_links);
}

void crux_tally_free(struct crux_tally *tally)
{
	crux_free(tally->bytes);
	crux_free(tally->touched);
	*tally = (struct crux_tally){0};
}

void crux_traffic_one(const struct crux_problem *problem, uint32_t j, const uint32_t *candidate,
		      struct crux_tally *tally, struct crux_traffic *out)
{
	const struct crux_problem_job *job = &problem->jobs[j];

	*out = (struct crux_traffic){0};
	for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		const struct crux_flow *flow = &problem->flows[f];

		if (flow->bytes && add_flow(tally, problem, flow, candidate ? candidate + f : NULL))
			out->network_bytes += (double)flow->bytes;
	}
	for (uint32_t i = 0; i < tally->n; i++) {
		uint32_t e = tally->touched[i];
		double t = 8 * tally->bytes[e] / problem->link_bps[e];

		tally->bytes[e] = 0;
		out->t_s = fmax(out->t_s, t);
		if (is_network(problem, e))
			out->network_t_s = fmax(out->network_t_s, t);
	}
	tally->n = 0;
	out->intensity = crux_intensity(job->flop, out->t_s);
}

enum crux_status crux_traffic_all(const struct crux_problem *problem, const uint32_t *candidate,
				  struct crux_traffic *out, struct crux_error *err)
{
	struct crux_tally tally;
	enum crux_status status = crux_tally_init(&tally, problem, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < problem->n_jobs; j++)
		crux_traffic_one(problem, j, candidate, &tally, &out[j]);
	crux_tally_free(&tally);
	return CRUX_OK;
}
