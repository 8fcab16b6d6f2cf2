/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-job: a job on a host: its start, its end, and when it is over.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <math.h>
#include <string.h>

struct daemon_job *daemon_find_job(const struct crux_daemon *d, int64_t id, size_t *at)
{
	size_t low = 0, high = d->n_jobs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->jobs[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (at)
		*at = low;
	return low < d->n_jobs && d->jobs[low]->id == id ? d->jobs[low] : NULL;
}

uint32_t daemon_host_index(const struct daemon_job *job, uint32_t host)
{
	for (uint32_t i = 0; i < job->n_hosts; i++)
		if (job->hosts[i] == host)
			return i;
	return CRUX_NONE;
}

static bool amount(double x)
{
	return x >= 0 && isfinite(x);
}

static enum crux_status check_hosts(const struct crux_daemon *d, const struct crux_daemon_job *job,
				    struct crux_error *err)
{
	bool here = false;

	for (uint32_t i = 0; i < job->n_hosts; i++) {
		if (job->hosts[i] >= d->options.n_hosts)
			return crux_fail(err, CRUX_RANGE, "job %lld: host %u of %u",
					 (long long)job->id, job->hosts[i], d->options.n_hosts);
		for (uint32_t k = 0; k < i; k++)
			if (job->hosts[k] == job->hosts[i])
				return crux_fail(err, CRUX_DUPLICATE,
						 "job %lld: host %u is given twice",
						 (long long)job->id, job->hosts[i]);
		here |= job->hosts[i] == d->self;
	}
	return here ? CRUX_OK
		    : crux_fail(err, CRUX_INVALID, "job %lld has no ranks on host %u",
				(long long)job->id, d->self);
}

static enum crux_status check_job(const struct crux_daemon *d, const struct crux_daemon_job *job,
				  struct crux_error *err)
{
	long long id = job->id;
	enum crux_status status = check_hosts(d, job, err);

	if (status)
		return status;
	if (daemon_find_job(d, job->id, NULL))
		return crux_fail(err, CRUX_DUPLICATE, "job %lld runs here already", id);
	if (!job->gpus)
		return crux_fail(err, CRUX_RANGE, "job %lld: 0 GPUs", id);
	if (!amount(job->flop) || !amount(job->compute_s) || !amount(job->iteration_s) ||
	    !(job->overlap_start >= 0 && job->overlap_start <= 1))
		return crux_fail(err, CRUX_RANGE,
				 "job %lld: %g FLOP, %g s of computation, overlap start %g (0..1), "
				 "iteration of %g s: one is out of range",
				 id, job->flop, job->compute_s, job->overlap_start,
				 job->iteration_s);
	for (uint32_t f = 0; f < job->n_flows; f++)
		if (!amount(job->flows[f].bytes) || job->flows[f].n_pre > CRUX_FLOW_ENDS ||
		    job->flows[f].n_post > CRUX_FLOW_ENDS || !job->flows[f].steps)
			return crux_fail(err, CRUX_RANGE,
					 "job %lld, flow %u: %g bytes in %u steps, %u and %u fixed "
					 "links: one is out of range",
					 id, job->flows[f].number, job->flows[f].bytes,
					 job->flows[f].steps, job->flows[f].n_pre,
					 job->flows[f].n_post);
	return CRUX_OK;
}

void daemon_job_free(struct daemon_job *job)
{
	if (!job)
		return;
	for (uint32_t i = 0; job->host && i < job->n_hosts; i++)
		daemon_share_free(&job->host[i].share);
	crux_free(job->host);
	crux_free(job->hosts);
	crux_free(job->flows);
	crux_profile_destroy(job->profile);
	daemon_orders_free(&job->order);
	daemon_orders_free(&job->orders);
	crux_free(job->report);
	crux_free(job);
}

/* Until the first orders: the class of profiling, ports as they are. */
static enum crux_status first_order(struct daemon_job *job, struct crux_error *err)
{
	struct daemon_orders *order = &job->order;
	enum crux_status status = daemon_orders_make(order, job->n_flows, err);

	if (status)
		return status;
	order->level = CRUX_LEVEL_PROFILING;
	for (uint32_t f = 0; f < job->n_flows; f++)
		if (job->flows[f].src_nic.v != CRUX_NONE) {
			order->numbers[order->n_flows] = job->flows[f].number;
			order->ports[order->n_flows++] = job->flows[f].ecmp_port;
		}
	return CRUX_OK;
}

static enum crux_status make_job(struct crux_daemon *d, const struct crux_daemon_job *from,
				 struct daemon_job **out, struct crux_error *err)
{
	struct daemon_job *job = crux_zeroed(1, sizeof(*job));
	enum crux_status status = CRUX_OK;

	if (!job)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a job");
	*out = job;
	job->id = from->id;
	job->n_hosts = from->n_hosts;
	job->gpus = from->gpus;
	job->flop = from->flop;
	job->compute_s = from->compute_s;
	job->overlap_start = from->overlap_start;
	job->iteration_s = from->iteration_s;
	job->start_s = d->now_s;
	job->paths_due_s = job->report_due_s = INFINITY;
	job->hosts = crux_array(job->n_hosts, sizeof(*job->hosts));
	job->host = crux_zeroed(job->n_hosts, sizeof(*job->host));
	if (!job->hosts || !job->host ||
	    !daemon_copy_flows(from->flows, from->n_flows, &job->flows))
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %lld of %u flows",
				 (long long)from->id, from->n_flows);
	job->n_flows = from->n_flows;
	memcpy(job->hosts, from->hosts, job->n_hosts * sizeof(*job->hosts));
	job->self = daemon_host_index(job, d->self);
	for (uint32_t i = 0; i < job->n_hosts; i++)
		job->host[i].heard_s = d->now_s;
	job->paths = daemon_known_pairs(d, job);
	if (d->options.profile)
		status = crux_profile_create(job->n_flows, d->options.sample_s, &job->profile, err);
	for (uint32_t f = 0; job->profile && f < job->n_flows; f++)
		if (job->flows[f].src_nic.v != CRUX_NONE)
			crux_profile_set_network(job->profile, f);
	return status ? status : first_order(job, err);
}

/* Orders that came before the job. */
static enum crux_status take_early(struct crux_daemon *d, int64_t job, struct crux_error *err)
{
	for (size_t i = 0; i < d->n_early; i++)
		if (d->early[i].job == job) {
			struct daemon_item item = {.kind = DAEMON_MESSAGE,
						   .host = d->early[i].src,
						   .bytes = d->early[i].bytes,
						   .n = d->early[i].n};

			memmove(&d->early[i], &d->early[i + 1],
				(--d->n_early - i) * sizeof(*d->early));
			return daemon_push(d, item, err);
		}
	return CRUX_OK;
}

static void forget_stone(struct crux_daemon *d, int64_t job)
{
	for (size_t i = 0; i < d->n_stones; i++)
		if (d->stones[i].job == job)
			d->stones[i].until_s = -INFINITY;
}

enum crux_status crux_daemon_job_start(struct crux_daemon *daemon, double now_s,
				       const struct crux_daemon_job *job, struct crux_error *err)
{
	struct daemon_job *row = NULL;
	enum crux_status status;
	size_t at;

	if (now_s > daemon->now_s)
		daemon->now_s = now_s;
	status = check_job(daemon, job, err);
	if (!status)
		status = make_job(daemon, job, &row, err);
	if (!status)
		status = crux_reserve((void **)&daemon->jobs, &daemon->jobs_cap, daemon->n_jobs + 1,
				      sizeof(*daemon->jobs), err);
	if (!status)
		status = crux_reserve((void **)&daemon->pairs, &daemon->pairs_cap,
				      daemon->n_pairs + job->n_flows, sizeof(*daemon->pairs), err);
	if (!status) /* every pair probed, apply (twice), sample */
		status = daemon_push_room(daemon, job->n_flows + 3, err);
	if (status) {
		daemon_job_free(row);
		return status;
	}
	forget_stone(daemon, job->id);
	daemon_find_job(daemon, job->id, &at);
	memmove(daemon->jobs + at + 1, daemon->jobs + at,
		(daemon->n_jobs++ - at) * sizeof(*daemon->jobs));
	daemon->jobs[at] = row;
	/* That it starts speaks for its hosts; they are heard of soon, or not. */
	for (uint32_t i = 0; i < row->n_hosts; i++) {
		daemon->peers[row->hosts[i]].suspected = false;
		daemon->peers[row->hosts[i]].heard_s = daemon->now_s;
	}
	row->term = 1;
	row->leader = row->expected = row->hosts[0];
	daemon_push(daemon, (struct daemon_item){.kind = DAEMON_APPLY, .job = row->id}, NULL);
	if (row->profile)
		daemon_push(daemon, (struct daemon_item){.kind = DAEMON_SAMPLE_ON, .job = row->id},
			    NULL);
	daemon_use_pairs(daemon, row);
	status = take_early(daemon, row->id, err);
	if (!status && daemon_leads(daemon, row))
		status = daemon_lead(daemon, row, 1, err);
	return status ? status : daemon_run(daemon, err);
}

struct crux_profile *crux_daemon_profile(struct crux_daemon *daemon, int64_t job)
{
	struct daemon_job *row = daemon_find_job(daemon, job, NULL);

	return row ? row->profile : NULL;
}

enum crux_status daemon_stop_sampling(struct crux_daemon *d, struct daemon_job *job,
				      struct crux_error *err)
{
	struct daemon_item item = {.kind = DAEMON_SAMPLE_OFF, .job = job->id};
	enum crux_status status;

	if (!job->profile)
		return CRUX_OK;
	status = daemon_push(d, item, err);
	if (status)
		return status;
	crux_profile_destroy(job->profile);
	job->profile = NULL;
	return CRUX_OK;
}

static void drop_job(struct crux_daemon *d, struct daemon_job *job)
{
	size_t at;

	daemon_find_job(d, job->id, &at);
	memmove(d->jobs + at, d->jobs + at + 1, (--d->n_jobs - at) * sizeof(*d->jobs));
	daemon_job_free(job);
}

enum crux_status daemon_job_over(struct crux_daemon *d, struct daemon_job *job,
				 struct crux_error *err)
{
	const struct daemon_message m = {.type = DAEMON_FINISHED, .job = job->id};
	enum crux_status status = daemon_stone(d, job->id, err);

	for (uint32_t i = 0; i < job->n_hosts && !status && daemon_leads(d, job); i++)
		if (i != job->self)
			status = daemon_tell(d, job->hosts[i], &m, err);
	if (!status)
		status = daemon_stop_sampling(d, job, err);
	if (status)
		return status;
	if (job->ended)
		drop_job(d, job);
	else
		job->over = true;
	return CRUX_OK;
}

enum crux_status crux_daemon_job_end(struct crux_daemon *daemon, double now_s, int64_t job,
				     struct crux_error *err)
{
	struct daemon_job *row = daemon_find_job(daemon, job, NULL);
	enum crux_status status;

	if (now_s > daemon->now_s)
		daemon->now_s = now_s;
	if (!row || row->ended)
		return crux_fail(err, CRUX_NOT_FOUND, "job %lld does not run here", (long long)job);
	status = daemon_push_room(daemon, row->n_flows + 1, err);
	if (status)
		return status;
	row->ended = true;
	row->since_s = daemon->now_s;
	daemon_stop_sampling(daemon, row, NULL); /* there is room */
	daemon_leave_pairs(daemon, row);
	if (row->over)
		drop_job(daemon, row);
	else
		status = daemon_lead_step(daemon, row, err);
	return status ? status : daemon_run(daemon, err);
}
