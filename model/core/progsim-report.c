/* SPDX-License-Identifier: GPL-2.0-only
 *
 * progsim-report: how jobs end before their time: killed, stalled, or at the horizon; see
 * crux-progsim.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-program, crux-maxmin, crux-eventq.
 */
#include "progsim-private.h"

#include <stdio.h>

static void count_computation(struct ps_run *r, uint32_t job, double now)
{
	struct ps_job *j = &r->jobs[job];

	for (uint32_t i = 0; i < j->program->n_ranks; i++)
		if (j->servers[i].part != CRUX_NONE && now > j->ranks[i].started_s)
			r->result->jobs[job].compute_s +=
				(now - j->ranks[i].started_s) / j->program->n_ranks;
}

/* Nothing of the job is in the lists of ended parts and of servers when this is called. */
void ps_stop(struct ps_run *r, uint32_t job)
{
	struct ps_job *j = &r->jobs[job];

	j->stop = false;
	if (j->done)
		return;
	if (j->started)
		count_computation(r, job, r->now);
	for (uint32_t f = j->first_flow; f < j->first_flow + j->n_flows; f++) {
		ps_close_flow(r, &r->flows[f], r->now);
		if (r->flows[f].state == PS_MOVING) {
			crux_maxmin_stop(r->solver, f);
			r->resolve = true;
		}
		r->flows[f].state = PS_IDLE;
		crux_eventq_clear(&r->queue, f);
	}
	for (uint32_t i = 0; i < j->n_hosts; i++) {
		j->hosts[i].flow = CRUX_NONE;
		j->hosts[i].drivers = 0;
	}
	for (uint32_t i = 0; i < 2 * j->program->n_ranks; i++)
		crux_eventq_clear(&r->queue, j->first_timer + i);
	crux_eventq_clear(&r->queue, r->n_flows + 2 * r->n_ranks + 2 * job);
	j->active = 0;
	j->done = true;
}

/* The first collective that some ranks have posted and others not; CRUX_NONE. */
static uint32_t waiting_collective(const struct ps_job *j)
{
	for (uint32_t o = 0; o < j->program->n_ops; o++)
		if (j->posted[o] && j->posted[o] < j->program->groups[j->program->ops[o].group].n)
			return o;
	return CRUX_NONE;
}

/*
 * Ranks that have not posted a collective: their parts still wait for something, or are the one
 * that never starts.
 */
static void list_missing(const struct ps_job *j, uint32_t o, char *text, size_t size)
{
	const struct crux_op *op = &j->program->ops[o];
	const uint32_t *ranks = crux_program_ranks(j->program, op->group);
	uint32_t count = 0;
	size_t used = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < j->program->groups[op->group].n; i++) {
		bool posted = !j->unmet[j->first_part[o] + i] &&
			      !(o == j->job->missing_op && ranks[i] == j->job->missing_rank);

		if (posted)
			continue;
		if (count++ < 16 && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%u", used ? ", " : "",
						 ranks[i]);
	}
	if (count > 16 && used < size)
		snprintf(text + used, size - used, ", ... (%u in all)", count);
}

void ps_stalled(struct ps_run *r, uint32_t job)
{
	const struct ps_job *j = &r->jobs[job];
	const struct crux_program *program = j->program;
	uint32_t o = waiting_collective(j), part = 0;
	char ranks[256];

	if (o != CRUX_NONE) {
		list_missing(j, o, ranks, sizeof(ranks));
		r->status = crux_fail(
			r->err, CRUX_STALLED,
			"job %s stalls at %g s in iteration %llu: operation %u \"%s\" (%s of group "
			"\"%s\") waits for ranks that have not posted it: %s",
			j->job->name, r->now, (unsigned long long)r->result->jobs[job].iterations,
			o, program->ops[o].name, crux_coll_kind_name(program->ops[o].coll),
			program->groups[program->ops[o].group].name, ranks);
		return;
	}
	/* Then the first part that waits for nothing, or for a part that comes later in vain. */
	if (j->job->missing_op != CRUX_NONE)
		o = j->job->missing_op;
	else
		while (part + 1 < j->n_parts && !j->unmet[part])
			part++;
	o = o != CRUX_NONE ? o : j->part_op[part];
	r->status = crux_fail(
		r->err, CRUX_STALLED,
		"job %s stalls at %g s in iteration %llu: operation %u \"%s\" of group \"%s\" "
		"never "
		"starts on rank %u",
		j->job->name, r->now, (unsigned long long)r->result->jobs[job].iterations, o,
		program->ops[o].name, program->groups[program->ops[o].group].name,
		j->job->missing_op != CRUX_NONE ? j->job->missing_rank : ps_part_rank(j, part));
}

/* What is under way at the end counts as far as it got. */
void ps_close(struct ps_run *r)
{
	double end = fmin(r->now, r->prog->horizon_s);

	for (uint32_t i = 0; i < r->prog->n_jobs; i++)
		if (r->jobs[i].started && !r->jobs[i].done)
			count_computation(r, i, end);
	for (uint32_t f = 0; f < r->n_flows; f++)
		ps_close_flow(r, &r->flows[f], end);
	r->result->end_s = end;
}
