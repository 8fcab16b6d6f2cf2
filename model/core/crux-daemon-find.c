/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-find: a leader looks for the job's iterations, in its own samples or in those of
 * others.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#define GROWTH 1.25 /* each further one after so many times as many */

void daemon_found(struct daemon_job *job, const struct crux_period *period)
{
	job->period = *period;
	job->from_s = period->first_s;
	job->to_s = period->first_s + period->count * period->period_s;
	job->count = period->count;
	job->phase = DAEMON_COLLECTS;
}

/* Does anything of the job move or compute here? */
static enum crux_status has_signal(const struct crux_daemon *d, const struct daemon_job *job,
				   bool *out, struct crux_error *err)
{
	double *bytes = crux_array(job->n_flows, sizeof(*bytes));
	struct crux_profile_share share;
	enum crux_status status;

	if (!bytes)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", job->n_flows);
	status = crux_profile_window(job->profile, job->start_s, d->now_s, 1, &share, bytes, err);
	*out = !status && share.any_busy_s > 0;
	for (uint32_t f = 0; f < job->n_flows && !status; f++)
		*out |= bytes[f] > 0;
	crux_free(bytes);
	return status == CRUX_NOMEM ? status : CRUX_OK;
}

/* Without a signal here another host looks, and as well when half of the time has gone by. */
static enum crux_status ask_next(struct crux_daemon *d, struct daemon_job *job,
				 struct crux_error *err)
{
	const struct daemon_message m = {.type = DAEMON_FIND, .job = job->id, .term = job->term};
	bool signal = false;
	enum crux_status status = has_signal(d, job, &signal, err);

	if (status)
		return status;
	if (signal && d->now_s < job->start_s + d->options.profile_timeout_s / 2)
		return CRUX_OK;
	for (uint32_t tries = 0; tries < job->n_hosts; tries++) {
		job->ask = (job->ask + 1) % job->n_hosts;
		if (job->ask != job->self && daemon_host_lives(d, job, job->ask))
			return daemon_tell(d, job->hosts[job->ask], &m, err);
	}
	return CRUX_OK;
}

enum crux_status daemon_find_iterations(struct crux_daemon *d, struct daemon_job *job,
					struct crux_error *err)
{
	double end_s = job->start_s + d->options.profile_timeout_s, next_s;
	struct crux_period period;
	struct crux_error why;
	enum crux_status status;

	if (d->now_s < job->find_s)
		return CRUX_OK;
	status = job->profile
			 ? crux_profile_detect(job->profile, d->options.iterations, &period, &why)
			 : CRUX_NOT_FOUND;
	if (status == CRUX_NOMEM)
		return crux_fail(err, status, "%s", why.text);
	if (!status) {
		daemon_found(job, &period);
		return CRUX_OK;
	}
	if (!job->profile || d->now_s >= end_s) { /* all samples are one iteration */
		job->from_s = job->start_s;
		job->to_s = d->now_s;
		job->count = 1;
		job->phase = DAEMON_COLLECTS;
		daemon_warn(d, job->id,
			    "job %lld: no iteration time in %g s, the window is averaged",
			    (long long)job->id, d->now_s - job->start_s);
		return CRUX_OK;
	}
	next_s = job->start_s + (d->now_s - job->start_s) * GROWTH;
	if (next_s < d->now_s + d->options.sample_s)
		next_s = d->now_s + d->options.sample_s;
	status = ask_next(d, job, err);
	if (!status)
		job->find_s = next_s < end_s ? next_s : end_s;
	return status;
}
