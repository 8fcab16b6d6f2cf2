/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-plan: the calls that change a running job: it stops, or gets another level, paths,
 * shift, floor, alignment: see crux-tracesim.h. Its part must come to the present before it sees
 * them, so they are noted here and taken when parts are built. Depends on crux-base.
 */
#include "tracesim-private.h"

#include <string.h>

enum crux_status tracesim_change(struct crux_tracesim *s, struct tjob *job, struct crux_error *err)
{
	enum crux_status status;

	if (job->changed)
		return CRUX_OK;
	status = crux_reserve((void **)&s->changed, &s->cap_changed, s->n_changed + 1,
			      sizeof(*s->changed), err);
	if (status != CRUX_OK)
		return status;
	s->changed[s->n_changed++] = job->handle;
	job->changed = true;
	return CRUX_OK;
}

static enum crux_status running(struct crux_tracesim *s, uint32_t handle, struct tjob **out,
				struct crux_error *err)
{
	if (handle >= s->n_jobs || !s->jobs[handle]->alive || s->jobs[handle]->leaving)
		return crux_fail(err, CRUX_NOT_FOUND, "job with handle %u does not run", handle);
	*out = s->jobs[handle];
	return CRUX_OK;
}

enum crux_status crux_tracesim_remove(struct crux_tracesim *s, uint32_t handle,
				      struct crux_error *err)
{
	struct tjob *job = NULL;
	enum crux_status status = running(s, handle, &job, err);

	if (status == CRUX_OK)
		status = tracesim_change(s, job, err);
	if (status == CRUX_OK) {
		job->leaving = true;
		job->ended = s->now;
	}
	return status;
}

enum crux_status crux_tracesim_plan(struct crux_tracesim *s, uint32_t handle, uint32_t level,
				    const uint32_t *candidate, double shift_s,
				    struct crux_error *err)
{
	struct tjob *job = NULL;
	uint64_t shift;
	enum crux_status status = running(s, handle, &job, err);
	bool other = false;

	if (status == CRUX_OK)
		status = tracesim_ticks(s, shift_s, "a shift", &shift, err);
	if (status != CRUX_OK)
		return status;
	if (level >= 64)
		return crux_fail(err, CRUX_RANGE, "job %lld: level %u is not below 64",
				 (long long)job->problem.id, level);
	for (uint32_t f = 0; candidate && f < job->n_flows; f++) {
		other |= candidate[f] != job->wanted[f];
		if (candidate[f] >= job->given[f].candidates->n)
			return crux_fail(err, CRUX_RANGE, "job %lld, flow %u: candidate %u of %u",
					 (long long)job->problem.id, f, candidate[f],
					 job->given[f].candidates->n);
	}
	if (!other && level == job->level && !shift)
		return CRUX_OK;
	status = tracesim_change(s, job, err);
	if (status != CRUX_OK)
		return status;
	/* Its part, if it is in one, must not see this before it has come to the present. */
	if (other) {
		memcpy(job->wanted, candidate, job->n_flows * sizeof(*candidate));
		job->repath = true;
	}
	job->wanted_level = level;
	job->wanted_shift = shift;
	return CRUX_OK;
}

enum crux_status crux_tracesim_floor(struct crux_tracesim *s, uint32_t handle, double floor_s,
				     struct crux_error *err)
{
	struct tjob *job = NULL;
	uint64_t ticks = 0;
	enum crux_status status = running(s, handle, &job, err);

	if (status == CRUX_OK)
		status = tracesim_ticks(s, floor_s, "a floor", &ticks, err);
	if (status == CRUX_OK) {
		status = job_check_length(job, ticks, err);
		if (status != CRUX_OK)
			crux_fail_prefix(err, "job %lld: ", (long long)job->problem.id);
	}
	if (status != CRUX_OK || ticks == job->wanted_floor)
		return status;
	status = tracesim_change(s, job, err);
	if (status == CRUX_OK)
		job->wanted_floor = ticks;
	return status;
}

enum crux_status crux_tracesim_align(struct crux_tracesim *s, uint32_t handle, double not_before_s,
				     struct crux_error *err)
{
	struct tjob *job = NULL;
	uint64_t ticks = 0;
	enum crux_status status = running(s, handle, &job, err);

	if (status == CRUX_OK)
		status = tracesim_ticks(s, not_before_s, "an alignment", &ticks, err);
	if (status != CRUX_OK)
		return status;
	if (ticks <= s->now)
		ticks = 0;
	/* One pending may have been used by now: its part may lag. */
	if (!ticks && !job->now.align && !job->realign)
		return CRUX_OK;
	status = tracesim_change(s, job, err);
	if (status == CRUX_OK) {
		job->wanted_align = ticks;
		job->realign = true;
	}
	return status;
}
