/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-leader: a job's leader: finds its iterations, collects its members' shares, reports
 * it and hands out its orders; see crux-daemon.h.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <math.h>

bool daemon_host_lives(const struct crux_daemon *d, const struct daemon_job *job, uint32_t i)
{
	return i == job->self || (!job->host[i].silent && !d->peers[job->hosts[i]].suspected);
}

/* ---------------------------------------------------------------- taking the role */

enum crux_status daemon_lead(struct crux_daemon *d, struct daemon_job *job, uint32_t term,
			     struct crux_error *err)
{
	bool first = term == 1;

	job->term = term;
	job->leader = job->expected = d->self;
	for (uint32_t i = 0; i < job->n_hosts; i++) {
		struct daemon_host *host = &job->host[i];

		host->collect_s = host->report_s = host->set_s = -INFINITY;
		if (!host->silent)
			host->heard_s = d->now_s;
		daemon_share_free(&host->share);
	}
	daemon_orders_free(&job->orders);
	job->in_force_all = 0;
	job->told_host = CRUX_NONE;
	job->told_id = 0;
	job->told_s = job->done_s = -INFINITY;
	job->report_due_s = INFINITY;
	if (!job->ended)
		job->since_s = d->now_s;
	job->phase = job->profile ? DAEMON_FINDS : DAEMON_COLLECTS;
	job->find_s = d->now_s + DAEMON_FIRST_SAMPLES * d->options.sample_s;
	job->count = 0;
	job->period = (struct crux_period){.count = 0};
	daemon_event(d, (struct crux_daemon_event){
				.kind = CRUX_DAEMON_LEADS, .job = job->id, .version = term});
	if (first)
		return CRUX_OK;
	d->beat_s = d->now_s; /* tell all whom it concerns */
	if (job->order.period_s > 0 && !job->ended) {
		enum crux_status status = daemon_push(
			d, (struct daemon_item){.kind = DAEMON_APPLY, .job = job->id}, err);

		if (status)
			return status;
	}
	return job->report ? daemon_lead_adopt(d, job, err) : CRUX_OK;
}

enum crux_status daemon_lead_adopt(struct crux_daemon *d, struct daemon_job *job,
				   struct crux_error *err)
{
	struct daemon_message m;
	enum crux_status status = daemon_decode(job->report, job->report_n, &m, err);

	if (status)
		return status;
	for (uint32_t h = 0; h < m.report.n_hosts; h++) {
		uint32_t i = daemon_host_index(job, m.report.hosts[h]);

		if (i == CRUX_NONE)
			continue;
		daemon_share_free(&job->host[i].share);
		job->host[i].share = m.report.shares[h];
		m.report.shares[h] = (struct daemon_share){.have = false};
	}
	job->period.period_s = m.report.iteration_s;
	daemon_message_free(&m);
	job->phase = DAEMON_REPORTED;
	job->report_due_s = job->since_s = d->now_s; /* under this leader's term */
	return CRUX_OK;
}

/* ---------------------------------------------------------------- shares */

static enum crux_status ask_share(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
				  struct crux_error *err)
{
	const struct daemon_message m = {.type = DAEMON_COLLECT,
					 .job = job->id,
					 .term = job->term,
					 .count = job->count,
					 .from_s = job->from_s,
					 .to_s = job->to_s};
	enum crux_status status;

	if (!daemon_again(d, job->host[i].collect_s))
		return CRUX_OK;
	status = daemon_tell(d, job->hosts[i], &m, err);
	if (!status)
		job->host[i].collect_s = d->now_s;
	return status;
}

static bool paths_lack(const struct daemon_share *share)
{
	for (uint32_t f = 0; f < share->n_flows; f++)
		if (share->flows[f].src_nic.v != CRUX_NONE &&
		    !daemon_share_pair(share, &share->flows[f]))
			return true;
	return false;
}

/* Ask who did not answer; is all there that can be? */
static enum crux_status collect(struct crux_daemon *d, struct daemon_job *job, bool *all,
				struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	*all = true;
	for (uint32_t i = 0; i < job->n_hosts && !status; i++) {
		if (!daemon_host_lives(d, job, i))
			continue;
		if (!job->host[i].share.have)
			status = ask_share(d, job, i, err);
		*all &= job->host[i].share.have && !paths_lack(&job->host[i].share);
	}
	return status;
}

/* ---------------------------------------------------------------- the report */

static enum crux_status tell_coordinator(struct crux_daemon *d, struct daemon_job *job,
					 struct crux_error *err)
{
	uint64_t version = job->orders.version > job->order.version ? job->orders.version
								    : job->order.version;
	enum crux_status status;

	if (!d->term || d->peers[d->coordinator].suspected)
		return CRUX_OK;
	daemon_report_date(job->report, version,
			   job->told_id == job->report_id ? d->now_s : job->since_s);
	status = daemon_tell_bytes(d, d->coordinator, job->report, job->report_n, err);
	if (status)
		return status;
	job->told_host = d->coordinator;
	job->told_term = d->term;
	job->told_id = job->report_id;
	job->told_s = d->now_s;
	return CRUX_OK;
}

static enum crux_status tell_member(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
				    struct crux_error *err)
{
	enum crux_status status;

	if (i == job->self || !daemon_host_lives(d, job, i))
		return CRUX_OK;
	status = daemon_tell_bytes(d, job->hosts[i], job->report, job->report_n, err);
	if (!status)
		job->host[i].report_s = d->now_s;
	return status;
}

static void tell_profiled(struct crux_daemon *d, const struct daemon_job *job,
			  const struct crux_decider_job *measured)
{
	daemon_event(d, (struct crux_daemon_event){.kind = CRUX_DAEMON_PROFILED,
						   .since_s = job->start_s,
						   .job = job->id,
						   .measured = measured,
						   .period = job->period});
	for (uint32_t i = 0; i < job->n_hosts; i++)
		if (!job->host[i].share.have)
			daemon_warn(d, job->id, "job %lld is reported without host %u: silent",
				    (long long)job->id, job->hosts[i]);
}

/* The job as it stands, encoded. Shares are lent to the message. */
static enum crux_status write_report(struct crux_daemon *d, struct daemon_job *job, uint64_t id,
				     struct daemon_buffer *out, bool profiled,
				     struct crux_error *err)
{
	struct daemon_share *shares = crux_array(job->n_hosts, sizeof(*shares));
	struct daemon_message m = {.type = DAEMON_REPORT};
	enum crux_status status = CRUX_OK;

	if (!shares)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a report of %u hosts",
				 job->n_hosts);
	for (uint32_t i = 0; i < job->n_hosts; i++) {
		shares[i] = job->host[i].share;
		if (!daemon_host_lives(d, job, i) && paths_lack(&shares[i]))
			shares[i] =
				(struct daemon_share){.have = false}; /* else nothing is decided */
	}
	m.report = (struct daemon_report){.job = job->id,
					  .id = id,
					  .leader = d->self,
					  .since_s = job->since_s,
					  .iteration_s = d->options.profile ? job->period.period_s
									    : job->iteration_s,
					  .gpus = job->gpus,
					  .n_hosts = job->n_hosts,
					  .hosts = job->hosts,
					  .shares = shares};
	daemon_encode(out, &m);
	if (out->failed)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for a report");
	if (!status && profiled) {
		struct crux_decider_job measured;

		status = daemon_measured(&m.report, &measured, err);
		if (!status) {
			tell_profiled(d, job, &measured);
			crux_free((void *)(uintptr_t)measured.flows);
		}
	}
	crux_free(shares);
	return status;
}

/* A report, where it says something that the last one did not. */
static enum crux_status make_report(struct crux_daemon *d, struct daemon_job *job,
				    struct crux_error *err)
{
	struct daemon_buffer buffer = {.n = 0};
	enum crux_status status;
	uint64_t id;
	bool of_term;

	if (job->report_id == daemon_version(job->term, d->self, DAEMON_MOST))
		job->term++; /* numbers are used up */
	id = daemon_version(job->term, d->self, 1);
	of_term = job->report_id >> 16 == id >> 16; /* and of this leader */
	if (of_term)
		id = job->report_id + 1;
	status = write_report(d, job, id, &buffer, !job->report && d->options.profile, err);

	if (!status)
		job->report_due_s = INFINITY;
	if (status ||
	    (of_term && daemon_same_report(buffer.bytes, buffer.n, job->report, job->report_n))) {
		crux_free(buffer.bytes);
		return status;
	}
	crux_free(job->report);
	job->report = buffer.bytes;
	job->report_n = buffer.n;
	job->report_id = id;
	job->phase = DAEMON_REPORTED;
	status = daemon_stop_sampling(d, job, err);
	if (!status)
		status = tell_coordinator(d, job, err);
	for (uint32_t i = 0; i < job->n_hosts && !status; i++)
		if (job->hosts[i] != job->told_host) /* the coordinator was told as such */
			status = tell_member(d, job, i, err);
	return status;
}

/* ---------------------------------------------------------------- steps */

static enum crux_status tell_done(struct crux_daemon *d, struct daemon_job *job,
				  struct crux_error *err)
{
	const struct daemon_message m = {
		.type = DAEMON_DONE, .job = job->id, .from_s = job->since_s};
	bool same = job->told_host == d->coordinator && job->told_term == d->term;
	enum crux_status status;

	if (!d->term || d->peers[d->coordinator].suspected ||
	    (same && !daemon_again(d, job->done_s)))
		return CRUX_OK;
	status = daemon_tell(d, d->coordinator, &m, err);
	if (status)
		return status;
	job->told_host = d->coordinator;
	job->told_term = d->term;
	job->done_s = d->now_s;
	return CRUX_OK;
}

enum crux_status daemon_lead_untold(struct crux_daemon *d, struct daemon_job *job,
				    struct crux_error *err)
{
	if (job->ended)
		return tell_done(d, job, err);
	return job->report && job->phase == DAEMON_REPORTED && daemon_again(d, job->told_s)
		       ? tell_coordinator(d, job, err)
		       : CRUX_OK;
}

enum crux_status daemon_lead_step(struct crux_daemon *d, struct daemon_job *job,
				  struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	bool all = false;

	if (!daemon_leads(d, job))
		return CRUX_OK;
	if (job->ended)
		return tell_done(d, job, err);
	if (job->phase == DAEMON_FINDS)
		status = daemon_find_iterations(d, job, err);
	if (!status && job->phase != DAEMON_FINDS)
		status = collect(d, job, &all, err);
	if (!status && job->phase == DAEMON_COLLECTS && all)
		job->report_due_s = job->since_s = d->now_s;
	if (!status && job->report_due_s <= d->now_s)
		status = make_report(d, job, err);
	if (!status && job->phase == DAEMON_REPORTED && job->report &&
	    (job->told_id != job->report_id || job->told_host != d->coordinator ||
	     job->told_term != d->term))
		status = tell_coordinator(d, job, err);
	/* Its own paths and its own part: no heartbeat asks for those. */
	if (job->host[job->self].share.have && job->host[job->self].paths != job->paths &&
	    job->paths_due_s == INFINITY)
		job->paths_due_s = d->now_s + d->options.heartbeat_s;
	if (!status && job->order.version < job->orders.version &&
	    daemon_again(d, job->host[job->self].set_s))
		status = daemon_send_set(d, job, job->self, err);
	return status ? status : daemon_check_in_force(d, job, err);
}

double daemon_lead_due_s(const struct crux_daemon *d, const struct daemon_job *job)
{
	if (!daemon_leads(d, job) || job->ended)
		return INFINITY;
	if (job->phase == DAEMON_FINDS)
		return job->find_s;
	if (job->phase == DAEMON_COLLECTS && job->host[job->self].collect_s == -INFINITY)
		return d->now_s;
	return job->report_due_s;
}

enum crux_status daemon_lead_repair(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
				    struct crux_error *err)
{
	struct daemon_host *host = &job->host[i];
	enum crux_status status = CRUX_OK;

	if (job->ended)
		return CRUX_OK;
	if (job->phase == DAEMON_REPORTED && host->report < job->report_id &&
	    daemon_again(d, host->report_s))
		status = tell_member(d, job, i, err);
	if (!status && host->version < job->orders.version && daemon_again(d, host->set_s))
		status = daemon_send_set(d, job, i, err);
	return status ? status : daemon_lead_step(d, job, err);
}

/* ---------------------------------------------------------------- messages */

static void report_soon(const struct crux_daemon *d, struct daemon_job *job)
{
	double due_s = d->now_s + d->options.settle_s;

	if (job->phase != DAEMON_REPORTED || job->report_due_s <= due_s)
		return;
	job->report_due_s = due_s;
	job->since_s = d->now_s;
}

static void on_share(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
		     struct daemon_message *m)
{
	struct daemon_host *host = &job->host[i];

	if (m->term != job->term || job->phase == DAEMON_FINDS)
		return;
	host->paths = m->share.paths;
	if (d->options.profile && !m->share.ok)
		daemon_warn(d, job->id,
			    "job %lld: host %u measured nothing in the window, what was declared "
			    "counts",
			    (long long)job->id, job->hosts[i]);
	m->share.paths = 0; /* how often they changed is no part of a report */
	daemon_share_free(&host->share);
	host->share = m->share;
	m->share = (struct daemon_share){.have = false};
	report_soon(d, job);
}

static void on_paths(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
		     struct daemon_message *m)
{
	struct daemon_host *host = &job->host[i];
	struct crux_decider_pair *pairs = host->share.pairs;
	uint32_t n = host->share.n_pairs;

	if (!host->share.have)
		return; /* the share will bring them */
	host->paths = m->share.paths;
	if (i == job->self && host->paths == job->paths)
		job->paths_due_s = INFINITY; /* what was told came */
	host->share.pairs = m->share.pairs;
	host->share.n_pairs = m->share.n_pairs;
	m->share.pairs = pairs;
	m->share.n_pairs = n;
	report_soon(d, job);
}

enum crux_status daemon_on_leader(struct crux_daemon *d, uint32_t src, struct daemon_job *job,
				  struct daemon_message *m, struct crux_error *err)
{
	uint32_t i = daemon_host_index(job, src);

	if (m->type == DAEMON_ORDERS)
		return daemon_on_orders(d, job, m, err);
	if (i == CRUX_NONE)
		return CRUX_OK;
	if (m->type == DAEMON_SHARE)
		on_share(d, job, i, m);
	else if (m->type == DAEMON_PATHS)
		on_paths(d, job, i, m);
	else if (m->type == DAEMON_FOUND && m->ok && m->term == job->term &&
		 job->phase == DAEMON_FINDS)
		daemon_found(job, &m->period);
	else if (m->type == DAEMON_IN_FORCE && m->version > job->host[i].in_force)
		job->host[i].in_force = m->version;
	return CRUX_OK;
}
