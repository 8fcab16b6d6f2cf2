/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-member: what every host of a job does: it answers its leader and carries orders out;
 * see crux-daemon.h.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- the window */

static enum crux_status measure(const struct daemon_job *job, const struct daemon_message *m,
				struct daemon_share *share, double *bytes, struct crux_error *err)
{
	struct crux_profile_share grown;
	struct crux_error why;
	enum crux_status status;

	share->flop = job->flop;
	share->any_busy_s = job->compute_s;
	share->overlap_start = job->overlap_start;
	if (!m->count || !job->profile)
		return CRUX_OK;
	status = crux_profile_window(job->profile, m->from_s, m->to_s, m->count, &grown, bytes,
				     &why);
	if (status == CRUX_NOMEM)
		return crux_fail(err, status, "%s", why.text);
	if (status)
		return CRUX_OK;
	share->ok = true;
	share->flop = grown.flop / m->count;
	share->any_busy_s = grown.any_busy_s / m->count;
	share->overlap_start = grown.overlap_start;
	for (uint32_t k = 0; k < CRUX_PROFILE_PHASES; k++)
		share->phases[k] = (uint16_t)lround(grown.phases[k] * UINT16_MAX);
	for (uint32_t f = 0; f < job->n_flows; f++)
		share->flows[f].bytes = bytes[f] / m->count;
	return CRUX_OK;
}

static enum crux_status on_collect(struct crux_daemon *d, uint32_t src, struct daemon_job *job,
				   const struct daemon_message *m, struct crux_error *err)
{
	struct daemon_message answer = {.type = DAEMON_SHARE, .job = job->id, .term = m->term};
	struct daemon_share *share = &answer.share;
	double *bytes = crux_array(job->n_flows, sizeof(*bytes));
	enum crux_status status = CRUX_NOMEM;

	share->have = true;
	if (bytes && daemon_copy_flows(job->flows, job->n_flows, &share->flows)) {
		share->n_flows = job->n_flows;
		status = measure(job, m, share, bytes, err);
	} else {
		crux_fail(err, status, "out of memory for a share of job %lld", (long long)job->id);
	}
	if (!status)
		status = daemon_fill_pairs(d, job, share, err);
	if (!status)
		status = daemon_tell(d, src, &answer, err);
	if (!status)
		job->shared = true;
	daemon_message_free(&answer);
	crux_free(bytes);
	return status;
}

static enum crux_status on_find(struct crux_daemon *d, uint32_t src, const struct daemon_job *job,
				const struct daemon_message *m, struct crux_error *err)
{
	struct daemon_message answer = {.type = DAEMON_FOUND, .job = job->id, .term = m->term};
	struct crux_error why;
	enum crux_status status = CRUX_NOT_FOUND;

	if (job->profile)
		status = crux_profile_detect(job->profile, d->options.iterations, &answer.period,
					     &why);
	if (status == CRUX_NOMEM)
		return crux_fail(err, status, "%s", why.text);
	answer.ok = !status;
	return daemon_tell(d, src, &answer, err);
}

/* ---------------------------------------------------------------- orders */

void daemon_apply(struct crux_daemon *d, struct daemon_job *job)
{
	const struct crux_daemon_order order = {.job = job->id,
						.version = job->order.version,
						.level = job->order.level,
						.shift_s = job->order.shift_s,
						.period_s = job->order.period_s,
						.leads = daemon_leads(d, job),
						.n_flows = job->order.n_flows,
						.numbers = job->order.numbers,
						.ports = job->order.ports};

	d->calls.apply(d->calls.ctx, &order);
}

static enum crux_status on_set(struct crux_daemon *d, struct daemon_job *job,
			       struct daemon_message *m, struct crux_error *err)
{
	enum crux_status status;

	if (m->orders.version <= job->order.version || job->ended)
		return CRUX_OK;
	status = daemon_push(d, (struct daemon_item){.kind = DAEMON_APPLY, .job = job->id}, err);
	if (status)
		return status;
	daemon_orders_free(&job->order);
	job->order = m->orders;
	m->orders = (struct daemon_orders){.version = 0};
	return CRUX_OK;
}

enum crux_status crux_daemon_in_force(struct crux_daemon *daemon, double now_s, int64_t job,
				      uint64_t version, struct crux_error *err)
{
	struct daemon_job *row = daemon_find_job(daemon, job, NULL);
	struct daemon_message m = {.type = DAEMON_IN_FORCE, .job = job, .version = version};
	enum crux_status status;

	if (now_s > daemon->now_s)
		daemon->now_s = now_s;
	if (!row || row->ended || row->over || version <= row->in_force)
		return CRUX_OK;
	row->in_force = version;
	status = daemon_tell(daemon, row->leader, &m, err);
	return status ? status : daemon_run(daemon, err);
}

static enum crux_status on_report(struct crux_daemon *d, struct daemon_job *job,
				  const struct daemon_message *m, const uint8_t *bytes, size_t n,
				  struct crux_error *err)
{
	enum crux_status status;
	uint8_t *copy;

	if (m->report.id <= job->report_id)
		return CRUX_OK;
	copy = crux_array(n, 1);
	if (!copy)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a report of %zu bytes", n);
	memcpy(copy, bytes, n);
	crux_free(job->report);
	job->report = copy;
	job->report_n = n;
	job->report_id = m->report.id;
	status = daemon_stop_sampling(d, job, err);
	if (!status && daemon_leads(d, job) && job->phase != DAEMON_REPORTED)
		status = daemon_lead_adopt(d, job, err);
	return status;
}

enum crux_status daemon_on_member(struct crux_daemon *d, uint32_t src, struct daemon_job *job,
				  struct daemon_message *m, const uint8_t *bytes, size_t n,
				  struct crux_error *err)
{
	bool of_leader = m->type == DAEMON_FIND || m->type == DAEMON_COLLECT ||
			 m->type == DAEMON_SET;

	if (of_leader) {
		enum crux_status status = daemon_hear_leader(d, job, m->term, src, err);

		if (status || m->term != job->term || src != job->leader)
			return status;
	}
	switch (m->type) {
	case DAEMON_FIND:
		return on_find(d, src, job, m, err);
	case DAEMON_COLLECT:
		return on_collect(d, src, job, m, err);
	case DAEMON_SET:
		return on_set(d, job, m, err);
	case DAEMON_REPORT:
		return on_report(d, job, m, bytes, n, err);
	case DAEMON_FINISHED:
		return daemon_job_over(d, job, err);
	default:
		return CRUX_OK;
	}
}
