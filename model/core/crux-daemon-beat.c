/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-beat: heartbeats: who lives, who coordinates, who leads, and who lacks what; see
 * crux-daemon.h.
 *
 * A heartbeat carries an entry for every job that both ends have to do with. What a message lost
 * on its way should have brought shows as a difference between entries, and is sent again.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

/* ---------------------------------------------------------------- who lives */

void daemon_heard(struct crux_daemon *d, uint32_t src)
{
	d->peers[src].heard_s = d->now_s;
	d->peers[src].suspected = false;
}

void daemon_suspect(struct crux_daemon *d, uint32_t host)
{
	if (host == d->self || d->peers[host].suspected)
		return;
	d->peers[host].suspected = true;
	crux_courier_forget(d->courier, host);
	daemon_event(d, (struct crux_daemon_event){
				.kind = CRUX_DAEMON_SUSPECTS, .job = -1, .host = host});
}

static void watch(struct crux_daemon *d, uint32_t host)
{
	struct daemon_peer *peer = &d->peers[host];

	if (host == d->self)
		return;
	if (!peer->met)
		peer->heard_s = d->now_s;
	peer->peer = peer->met = true;
}

/* The coordinator, or who should be it: the lowest host that lives. */
static uint32_t expected_coordinator(const struct crux_daemon *d)
{
	uint32_t h = 0;

	if (d->term && (d->coordinator == d->self || !d->peers[d->coordinator].suspected))
		return d->coordinator;
	while (h != d->self && d->peers[h].suspected)
		h++;
	return h;
}

/* Whom this daemon exchanges heartbeats with. `met`: it did before as well. */
static void watch_all(struct crux_daemon *d)
{
	for (uint32_t h = 0; h < d->options.n_hosts; h++) {
		d->peers[h].met = d->peers[h].peer;
		d->peers[h].peer = false;
	}
	if (daemon_coordinates(d))
		for (uint32_t h = 0; h < d->options.n_hosts; h++)
			watch(d, h);
	else
		watch(d, expected_coordinator(d));
	for (size_t j = 0; j < d->n_jobs; j++) {
		const struct daemon_job *job = d->jobs[j];

		if (job->over)
			continue;
		if (daemon_leads(d, job))
			for (uint32_t i = 0; i < job->n_hosts; i++)
				watch(d, job->hosts[i]);
		else
			watch(d, job->expected);
	}
}

static void find_silent(struct crux_daemon *d)
{
	double since_s = d->now_s - daemon_silence_s(d);

	for (uint32_t h = 0; h < d->options.n_hosts; h++)
		if (d->peers[h].peer && d->peers[h].heard_s < since_s)
			daemon_suspect(d, h);
	for (size_t j = 0; j < d->n_jobs; j++) {
		struct daemon_job *job = d->jobs[j];

		for (uint32_t i = 0; i < job->n_hosts; i++)
			if ((daemon_leads(d, job) || job->hosts[i] == job->expected) &&
			    i != job->self && job->host[i].heard_s < since_s)
				job->host[i].silent = true;
	}
}

/* ---------------------------------------------------------------- who takes a role */

static enum crux_status succeed_leader(struct crux_daemon *d, struct daemon_job *job,
				       struct crux_error *err)
{
	uint32_t i = daemon_host_index(job, job->leader);

	if (!daemon_host_lives(d, job, i))
		for (i = 0; !daemon_host_lives(d, job, i); i++)
			;
	if (job->hosts[i] != job->expected) {
		job->expected = job->hosts[i];
		if (job->expected != job->leader)
			job->host[i].heard_s = d->now_s;
	}
	if (i == job->self && !daemon_leads(d, job))
		return daemon_lead(d, job, job->term + 1, err);
	return CRUX_OK;
}

static enum crux_status succeed(struct crux_daemon *d, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (size_t j = 0; j < d->n_jobs && !status; j++)
		if (!d->jobs[j]->over)
			status = succeed_leader(d, d->jobs[j], err);
	if (!status && !daemon_coordinates(d) && expected_coordinator(d) == d->self)
		status = daemon_coordinate(d, d->term + 1, err);
	return status;
}

/* ---------------------------------------------------------------- sending */

static struct daemon_entry entry_of(const struct crux_daemon *d, const struct daemon_job *job,
				    uint32_t dst)
{
	bool leads = daemon_leads(d, job);
	uint32_t i = daemon_host_index(job, dst);

	return (struct daemon_entry){
		.job = job->id,
		.term = job->term,
		.leader = job->leader,
		.report = job->report_id,
		.flags = job->ended ? DAEMON_HAS_ENDED : 0,
		.version = leads ? job->orders.version : job->order.version,
		.in_force = leads ? job->in_force_all : job->in_force,
		.paths = !leads		  ? job->paths
			 : i == CRUX_NONE ? 0
					  : job->host[i].paths,
	};
}

static bool concerns(const struct daemon_known *known, uint32_t host)
{
	for (uint32_t i = 0; i < known->n_hosts; i++)
		if (known->hosts[i] == host)
			return true;
	return false;
}

enum crux_status daemon_beat_to(struct crux_daemon *d, uint32_t dst, struct crux_error *err)
{
	struct daemon_message m = {.type = DAEMON_BEAT,
				   .term = d->term,
				   .host = d->coordinator,
				   .incarnation = d->options.courier.incarnation};
	bool to_coordinator = d->term ? dst == d->coordinator : dst == expected_coordinator(d);
	enum crux_status status;

	m.flags = (uint8_t)((d->peers[dst].peer ? DAEMON_ASKS : 0) |
			    (daemon_coordinates(d) ? DAEMON_COORDINATES : 0));
	m.entries = crux_array(d->n_jobs + d->n_known, sizeof(*m.entries));
	if (!m.entries)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a heartbeat");
	for (size_t j = 0; j < d->n_jobs; j++)
		if (!d->jobs[j]->over &&
		    (to_coordinator || daemon_host_index(d->jobs[j], dst) != CRUX_NONE))
			m.entries[m.n_entries++] = entry_of(d, d->jobs[j], dst);
	for (size_t k = 0; k < d->n_known; k++)
		if (concerns(&d->known[k], dst))
			m.entries[m.n_entries++] =
				(struct daemon_entry){.job = d->known[k].id,
						      .term = d->known[k].term,
						      .leader = d->known[k].leader,
						      .report = d->known[k].report_id,
						      .version = d->known[k].orders.version,
						      .flags = DAEMON_OF_COORDINATOR};
	if (d->peers[dst].suspected)
		crux_courier_forget(d->courier, dst); /* one heartbeat at a time will do */
	status = daemon_tell(d, dst, &m, err);
	crux_free(m.entries);
	return status;
}

/* What a heartbeat to itself would say: roles on one host repair each other as well. */
static enum crux_status beat_self(struct crux_daemon *d, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (size_t j = 0; j < d->n_jobs && !status && daemon_coordinates(d); j++) {
		struct daemon_job *job = d->jobs[j];
		const struct daemon_entry e = entry_of(d, job, d->self);
		const struct daemon_known *known;

		if (job->over)
			continue;
		status = daemon_coordinator_entry(d, d->self, &e, err);
		known = daemon_find_known(d, job->id, NULL);
		if (!status && daemon_leads(d, job) &&
		    (job->ended || !known || known->report_id < job->report_id))
			status = daemon_lead_untold(d, job, err);
	}
	return status;
}

enum crux_status daemon_beat(struct crux_daemon *d, struct crux_error *err)
{
	enum crux_status status;

	watch_all(d);
	find_silent(d);
	status = succeed(d, err);
	if (!status)
		status = beat_self(d, err);
	watch_all(d);
	for (uint32_t h = 0; h < d->options.n_hosts && !status; h++)
		if (h != d->self && (d->peers[h].peer || d->peers[h].asks)) {
			status = daemon_beat_to(d, h, err);
			d->peers[h].asks = false;
		}
	/* Not `+=`: a host that was late does not catch up. */
	if (!status)
		d->beat_s = d->now_s + d->options.heartbeat_s;
	return status;
}

/* ---------------------------------------------------------------- receiving */

/* Another life of the host: it knows nothing. */
static void forget_life(struct crux_daemon *d, uint32_t src)
{
	for (size_t j = 0; j < d->n_jobs; j++) {
		uint32_t i = daemon_host_index(d->jobs[j], src);
		struct daemon_host *host = i == CRUX_NONE ? NULL : &d->jobs[j]->host[i];

		if (!host)
			continue;
		host->silent = true;
		host->report = host->version = host->in_force = 0;
		host->paths = 0;
	}
}

static enum crux_status hear_coordinator(struct crux_daemon *d, uint32_t src,
					 const struct daemon_message *m, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (!m->term || m->host >= d->options.n_hosts)
		return !m->term && d->term ? daemon_beat_to(d, src, err) : CRUX_OK;
	if (m->term == d->term && m->host == d->coordinator)
		return CRUX_OK;
	if (d->term && !daemon_better(m->term, m->host, d->term, d->coordinator))
		return daemon_beat_to(d, src, err);
	if (m->host == d->self) /* of an earlier life */
		return daemon_coordinate(d, m->term + 1, err);
	daemon_resign(d);
	d->term = m->term;
	d->coordinator = m->host;
	daemon_heard(d, m->host); /* from now on it has to be heard */
	for (size_t j = 0; j < d->n_jobs && !status; j++)
		status = daemon_lead_step(d, d->jobs[j], err);
	return status;
}

enum crux_status daemon_hear_leader(struct crux_daemon *d, struct daemon_job *job, uint32_t term,
				    uint32_t leader, struct crux_error *err)
{
	uint32_t i = daemon_host_index(job, leader);
	bool led = daemon_leads(d, job);

	if (i == CRUX_NONE || !daemon_better(term, leader, job->term, job->leader))
		return CRUX_OK;
	if (leader == d->self) /* in an earlier life */
		return daemon_lead(d, job, term + 1, err);
	job->term = term;
	job->leader = job->expected = leader;
	job->host[i].silent = false;
	job->host[i].heard_s = d->now_s;
	return led && job->order.period_s > 0 && !job->ended
		       ? daemon_push(d, (struct daemon_item){.kind = DAEMON_APPLY, .job = job->id},
				     err)
		       : CRUX_OK;
}

static enum crux_status hear_member(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
				    const struct daemon_entry *e, struct crux_error *err)
{
	struct daemon_host *host = &job->host[i];
	enum crux_status status = CRUX_OK;

	host->heard_s = d->now_s;
	host->silent = false;
	host->report = e->report;
	host->version = e->version;
	host->ended = e->flags & DAEMON_HAS_ENDED;
	if (e->in_force > host->in_force)
		host->in_force = e->in_force;
	if (daemon_leads(d, job))
		return daemon_lead_repair(d, job, i, err);
	if (job->hosts[i] != job->leader || e->leader != job->leader)
		return CRUX_OK;
	if (e->paths != job->paths && job->shared)
		status = daemon_tell_paths(d, job, err);
	if (!status && e->report < job->report_id && !d->peers[job->leader].suspected)
		status = daemon_tell_bytes(d, job->leader, job->report, job->report_n, err);
	return status;
}

static enum crux_status hear_entry(struct crux_daemon *d, uint32_t src,
				   const struct daemon_entry *e, struct crux_error *err)
{
	struct daemon_job *job = daemon_find_job(d, e->job, NULL);
	bool of_coordinator = e->flags & DAEMON_OF_COORDINATOR;
	enum crux_status status = CRUX_OK;
	uint32_t i;

	if (!of_coordinator && daemon_stoned(d, e->job)) {
		const struct daemon_message m = {.type = DAEMON_FINISHED, .job = e->job};

		return daemon_tell(d, src, &m, err);
	}
	if (job && !job->over) {
		status = daemon_hear_leader(d, job, e->term, e->leader, err);
		i = daemon_host_index(job, src);
		if (!status && i != CRUX_NONE && !of_coordinator)
			status = hear_member(d, job, i, e, err);
	}
	if (!status && daemon_coordinates(d) && !of_coordinator)
		status = daemon_coordinator_entry(d, src, e, err);
	return status;
}

/* What is led here, and what the coordinator says that it has. */
static enum crux_status compare_with_coordinator(struct crux_daemon *d,
						 const struct daemon_message *m,
						 struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (size_t j = 0; j < d->n_jobs && !status; j++) {
		struct daemon_job *job = d->jobs[j];
		bool has = false;

		for (uint32_t e = 0; e < m->n_entries && !has; e++)
			has = m->entries[e].flags & DAEMON_OF_COORDINATOR &&
			      m->entries[e].job == job->id &&
			      m->entries[e].report >= job->report_id;
		if (daemon_leads(d, job) && (!has || job->ended))
			status = daemon_lead_untold(d, job, err);
	}
	return status;
}

enum crux_status daemon_on_beat(struct crux_daemon *d, uint32_t src, const struct daemon_message *m,
				struct crux_error *err)
{
	struct daemon_peer *peer = &d->peers[src];
	enum crux_status status;

	if (peer->beats && peer->incarnation != m->incarnation)
		forget_life(d, src);
	peer->beats = true;
	peer->incarnation = m->incarnation;
	peer->asks |= m->flags & DAEMON_ASKS && !peer->peer;
	status = hear_coordinator(d, src, m, err);
	for (uint32_t e = 0; e < m->n_entries && !status; e++)
		status = hear_entry(d, src, &m->entries[e], err);
	if (!status && m->flags & DAEMON_COORDINATES && d->term && src == d->coordinator)
		status = compare_with_coordinator(d, m, err);
	return status;
}
