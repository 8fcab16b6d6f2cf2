/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-pairs: pairs of NICs that the jobs of a host use: probed while one needs them, told
 * to leaders when their paths change.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <math.h>
#include <string.h>

static struct daemon_pair *find_pair(const struct crux_daemon *d, struct crux_node_id src,
				     struct crux_node_id dst, size_t *at)
{
	size_t low = 0, high = d->n_pairs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct crux_decider_pair *row = &d->pairs[mid].row;

		if (row->src_nic.v < src.v || (row->src_nic.v == src.v && row->dst_nic.v < dst.v))
			low = mid + 1;
		else
			high = mid;
	}
	if (at)
		*at = low;
	return low < d->n_pairs && d->pairs[low].row.src_nic.v == src.v &&
			       d->pairs[low].row.dst_nic.v == dst.v
		       ? &d->pairs[low]
		       : NULL;
}

static bool same_nics(const struct crux_decider_flow *a, const struct crux_decider_flow *b)
{
	return a->src_nic.v == b->src_nic.v && a->dst_nic.v == b->dst_nic.v;
}

/* The flow is the first of its job between its NICs; not one that stays in the host. */
static bool first_of_pair(const struct daemon_job *job, uint32_t f)
{
	if (job->flows[f].src_nic.v == CRUX_NONE)
		return false;
	for (uint32_t i = 0; i < f; i++)
		if (same_nics(&job->flows[i], &job->flows[f]))
			return false;
	return true;
}

/* Room was made: for the rows and for what is to be done. */
static void use_pair(struct crux_daemon *d, const struct crux_decider_flow *flow)
{
	size_t at;
	struct daemon_pair *pair = find_pair(d, flow->src_nic, flow->dst_nic, &at);

	if (!pair) {
		pair = &d->pairs[at];
		memmove(pair + 1, pair, (d->n_pairs++ - at) * sizeof(*pair));
		*pair = (struct daemon_pair){
			.row = {.src_nic = flow->src_nic, .dst_nic = flow->dst_nic}};
		daemon_push(d,
			    (struct daemon_item){.kind = DAEMON_PROBE,
						 .src = flow->src_nic,
						 .dst = flow->dst_nic},
			    NULL);
	}
	pair->users++;
}

static void leave_pair(struct crux_daemon *d, const struct crux_decider_flow *flow)
{
	size_t at;
	struct daemon_pair *pair = find_pair(d, flow->src_nic, flow->dst_nic, &at);

	if (!pair || --pair->users)
		return;
	daemon_pair_free(&pair->row);
	memmove(pair, pair + 1, (--d->n_pairs - at) * sizeof(*pair));
	daemon_push(d,
		    (struct daemon_item){
			    .kind = DAEMON_UNPROBE, .src = flow->src_nic, .dst = flow->dst_nic},
		    NULL);
}

static bool uses(const struct daemon_job *job, const struct crux_decider_pair *pair)
{
	for (uint32_t f = 0; f < job->n_flows; f++)
		if (job->flows[f].src_nic.v == pair->src_nic.v &&
		    job->flows[f].dst_nic.v == pair->dst_nic.v)
			return true;
	return false;
}

/* The next asked port from @p i on that is a flow's of the job; n_asked: none. */
static uint32_t next_own(const struct daemon_job *job, const struct crux_decider_pair *pair,
			 uint32_t i)
{
	for (; i < pair->n_asked; i++)
		for (uint32_t f = 0; f < job->n_flows; f++)
			if (job->flows[f].src_nic.v == pair->src_nic.v &&
			    job->flows[f].dst_nic.v == pair->dst_nic.v &&
			    job->flows[f].ecmp_port == pair->asked_ports[i])
				return i;
	return i;
}

/* Where the job's own ports lie is the same. */
static bool same_asked(const struct daemon_job *job, const struct crux_decider_pair *a,
		       const struct crux_decider_pair *b)
{
	uint32_t i = next_own(job, a, 0), k = next_own(job, b, 0);

	for (; i < a->n_asked && k < b->n_asked;
	     i = next_own(job, a, i + 1), k = next_own(job, b, k + 1))
		if (a->asked_ports[i] != b->asked_ports[k] ||
		    a->asked_paths[i] != b->asked_paths[k])
			return false;
	return i >= a->n_asked && k >= b->n_asked;
}

/* A copy in which only the job's own ports were asked for. */
static bool copy_for(const struct daemon_job *job, const struct crux_decider_pair *pair,
		     struct crux_decider_pair *out)
{
	uint16_t *ports = crux_array(pair->n_asked, sizeof(*ports));
	uint32_t *paths = crux_array(pair->n_asked, sizeof(*paths));
	struct crux_decider_pair own = *pair;
	bool done = false;

	own.n_asked = 0;
	own.asked_ports = ports;
	own.asked_paths = paths;
	if (ports && paths) {
		for (uint32_t i = next_own(job, pair, 0); i < pair->n_asked;
		     i = next_own(job, pair, i + 1)) {
			ports[own.n_asked] = pair->asked_ports[i];
			paths[own.n_asked++] = pair->asked_paths[i];
		}
		done = daemon_copy_pair(&own, out);
	}
	crux_free(ports);
	crux_free(paths);
	return done;
}

enum crux_status crux_daemon_paths(struct crux_daemon *daemon, double now_s,
				   const struct crux_decider_pair *pair, struct crux_error *err)
{
	struct daemon_pair *row = find_pair(daemon, pair->src_nic, pair->dst_nic, NULL);
	struct crux_decider_pair copy;
	bool same;

	if (now_s > daemon->now_s)
		daemon->now_s = now_s;
	if (!row)
		return CRUX_OK; /* nobody asks any more */
	if (!daemon_copy_pair(pair, &copy))
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u paths", pair->n);
	same = row->known && daemon_same_paths(&row->row, pair);
	for (size_t j = 0; j < daemon->n_jobs; j++) {
		struct daemon_job *job = daemon->jobs[j];

		if (job->ended || job->over || !uses(job, pair) ||
		    (same && same_asked(job, &row->row, pair)))
			continue; /* nothing is new to it */
		job->paths++;
		if (job->paths_due_s > daemon->now_s + daemon->options.settle_s)
			job->paths_due_s = daemon->now_s + daemon->options.settle_s;
	}
	daemon_pair_free(&row->row);
	row->row = copy;
	row->known = true;
	return daemon_run(daemon, err);
}

/* What is known of the job's pairs. */
enum crux_status daemon_fill_pairs(const struct crux_daemon *d, const struct daemon_job *job,
				   struct daemon_share *share, struct crux_error *err)
{
	share->paths = job->paths;
	share->pairs = crux_zeroed(job->n_flows, sizeof(*share->pairs));
	for (uint32_t f = 0; share->pairs && f < job->n_flows; f++) {
		const struct daemon_pair *pair;

		if (!first_of_pair(job, f))
			continue;
		pair = find_pair(d, job->flows[f].src_nic, job->flows[f].dst_nic, NULL);
		if (!pair || !pair->known)
			continue;
		if (!copy_for(job, &pair->row, &share->pairs[share->n_pairs]))
			return crux_fail(err, CRUX_NOMEM, "out of memory for paths");
		share->n_pairs++;
	}
	return share->pairs ? CRUX_OK : crux_fail(err, CRUX_NOMEM, "out of memory for paths");
}

enum crux_status daemon_tell_paths(struct crux_daemon *d, struct daemon_job *job,
				   struct crux_error *err)
{
	struct daemon_message m = {.type = DAEMON_PATHS, .job = job->id};
	enum crux_status status = daemon_fill_pairs(d, job, &m.share, err);

	if (!status)
		status = daemon_tell(d, job->leader, &m, err);
	daemon_message_free(&m);
	return status;
}

enum crux_status daemon_member_step(struct crux_daemon *d, struct daemon_job *job,
				    struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (job->profile && job->report) /* memory was out when it was reported */
		status = daemon_stop_sampling(d, job, err);
	if (status || job->paths_due_s > d->now_s)
		return status;
	status = job->shared && !job->ended && !job->over ? daemon_tell_paths(d, job, err)
							  : CRUX_OK;
	if (!status)
		job->paths_due_s = INFINITY;
	return status;
}

/* ---------------------------------------------------------------- of a whole job */

void daemon_use_pairs(struct crux_daemon *d, const struct daemon_job *job)
{
	for (uint32_t f = 0; f < job->n_flows; f++)
		if (first_of_pair(job, f))
			use_pair(d, &job->flows[f]);
}

void daemon_leave_pairs(struct crux_daemon *d, const struct daemon_job *job)
{
	for (uint32_t f = 0; f < job->n_flows; f++)
		if (first_of_pair(job, f))
			leave_pair(d, &job->flows[f]);
}

uint32_t daemon_known_pairs(const struct crux_daemon *d, const struct daemon_job *job)
{
	uint32_t n = 0;

	for (uint32_t f = 0; f < job->n_flows; f++) {
		const struct daemon_pair *pair =
			find_pair(d, job->flows[f].src_nic, job->flows[f].dst_nic, NULL);

		n += first_of_pair(job, f) && pair && pair->known;
	}
	return n;
}
