/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-plan: which runs, in which order, and whether each could be run.
 *
 * Place: tools. Depends on trace-tool.h.
 */
#include "trace-tool.h"

#include <stdio.h>
#include <string.h>

struct crux_tracelab_options trace_run_options(const struct trace_options *o,
					       const struct trace_planned *planned)
{
	struct crux_tracelab_options run = o->run;

	run.scheduler = planned->setting.scheduler;
	run.policy = planned->setting.policy;
	run.plan.levels = planned->setting.levels;
	return run;
}

/* A run is for the comparison of policies, but for a second job scheduler or number of levels. */
static const char *part_of(const struct trace_options *o, uint32_t scheduler, uint32_t levels)
{
	if (levels != o->main_levels)
		return "levels";
	return scheduler ? "schedulers" : "policies";
}

/* Ends a run as soon as it has begun: its checks are made by then. */
static enum crux_status end_at_once(void *context, double now_s, uint32_t ended,
				    struct crux_error *err)
{
	bool *begun = context;

	(void)now_s, (void)ended;
	*begun = true;
	return crux_fail(err, CRUX_STALLED, "begun");
}

static enum crux_status probe(const struct trace_options *o, const struct trace_input *in,
			      const struct trace_planned *planned, struct crux_error *err)
{
	struct crux_tracelab_options run = trace_run_options(o, planned);
	struct crux_tracelab_result *result = NULL;
	struct crux_error why = {CRUX_OK, ""};
	bool begun = false;
	enum crux_status status;

	run.progress = end_at_once;
	run.context = &begun;
	status = crux_tracelab_run(planned->cluster, in->jobs, &run, &result, &why);
	crux_tracelab_result_destroy(result);
	if (!status || begun)
		return CRUX_OK;
	return crux_fail(err, status, "%s", why.text);
}

/* A policy that enumerates, and would meet too many jobs. */
static enum crux_status admit(const struct trace_options *o, const struct trace_input *in,
			      const struct trace_planned *planned, struct crux_error *err)
{
	struct crux_tracelab_options run = trace_run_options(o, planned);
	enum crux_status status = crux_tracelab_admit(planned->cluster, in->jobs, &run, err);

	if (status)
		crux_fail_prefix(err, "%.100s, %s, %s, K = %u: ", planned->setting.topology,
				 run.scheduler, run.policy, run.plan.levels);
	return status;
}

/* The first run of each topology and scheduler that is under ECMP, else its first. */
static void mark_first(struct trace_runs *runs)
{
	for (uint32_t r = 0; r < runs->n; r++) {
		const struct crux_store_trace_setting *a = &runs->planned[r].setting;
		struct trace_planned *best = &runs->planned[r];
		bool done = false;

		for (uint32_t q = 0; q < runs->n; q++) {
			struct trace_planned *other = &runs->planned[q];

			if (strcmp(other->setting.topology, a->topology) != 0 ||
			    strcmp(other->setting.scheduler, a->scheduler) != 0)
				continue;
			done = done || other->first;
			if (strcmp(best->setting.policy, "ecmp") != 0 &&
			    !strcmp(other->setting.policy, "ecmp"))
				best = other;
		}
		if (!done)
			best->first = true;
	}
}

enum crux_status trace_plan(const struct trace_options *o, const struct trace_input *in,
			    struct trace_runs *runs, struct crux_error *err)
{
	size_t each = (size_t)o->policies.n * o->n_levels;
	enum crux_status status = CRUX_OK;

	memset(runs, 0, sizeof(*runs));
	runs->planned =
		crux_zeroed(each * o->n_topologies * o->schedulers.n, sizeof(*runs->planned));
	runs->risks = crux_zeroed(each * o->n_topologies * o->schedulers.n, sizeof(*runs->risks));
	if (!runs->planned || !runs->risks)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the runs");
	for (uint32_t t = 0; t < o->n_topologies; t++)
		for (uint32_t s = 0; s < o->schedulers.n; s++)
			for (uint32_t p = 0; p < o->policies.n; p++)
				for (uint32_t k = 0; k < o->n_levels; k++)
					runs->planned[runs->n++] = (struct trace_planned){
						.setting = {o->topologies[t],
							    o->schedulers.words[s],
							    o->policies.words[p], o->levels[k],
							    part_of(o, s, o->levels[k])},
						.cluster = in->clusters[t],
					};
	mark_first(runs);
	/* Most of what can be refused does not depend on policy or levels. */
	for (uint32_t r = 0; !status && r < runs->n; r += (uint32_t)each)
		status = probe(o, in, &runs->planned[r], err);
	for (uint32_t r = 0; !status && r < runs->n; r++)
		status = admit(o, in, &runs->planned[r], err);
	return status;
}

void trace_plan_clear(struct trace_runs *runs)
{
	crux_free(runs->planned);
	crux_free(runs->risks);
	crux_free(runs->rows);
}
