/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched-muri: jobs share GPUs by taking turns on storage, CPU, GPU and network, after Muri
 * (Zhao and others, Multi-Resource Interleaving for Deep Learning Training, SIGCOMM 2022,
 * section 4). The arithmetic of sharing: crux-interleave.h.
 *
 * Place: model/core (C11). Depends on muri-private.
 *
 * As long as every job that waits finds GPUs of its own, this is "packed". When not:
 *  - Groups are the running groups, and each of the first muri_window jobs that wait. A waiting
 *    group is seated when it and all before it find free GPUs.
 *  - Two groups can merge when their jobs need as many GPUs, are at most muri_share together, at
 *    least one of the two has GPUs (runs or is seated), not both run, and the period is at most
 *    (1 - muri_gain) x the sum of the iterations alone.
 *  - Merges are a maximum-weight matching, the weight of a pair being the efficiency of the merged
 *    group (crux-interleave.h). Rounds are repeated on the merged groups until nothing merges.
 *  - While free GPUs are left over, seated groups of several jobs give their youngest GPUs of its
 *    own. Then jobs start, the oldest first. All this again, until nobody starts.
 *  - After muri_overtakes jobs have joined groups past the oldest that waits, groups take in nobody
 *    but it, until it starts.
 *
 * Simplified: Muri rearranges all jobs every few minutes, stopping and restarting them, and orders
 * the queue by remaining service; here nobody is moved and the queue is first come, first served.
 * Muri tries the p first offsets for p jobs, here all distinct ones are tried.
 */
#include "muri-private.h"

static void close_muri(void *state)
{
	struct muri *m = state;

	if (!m)
		return;
	crux_free(m->actions);
	crux_free(m->groups);
	crux_free(m->edges);
	crux_free(m->mate);
	crux_free(m);
}

static enum crux_status open_muri(struct crux_jobsched *s, void **state, struct crux_error *err)
{
	(void)s;
	if (!crux_matching_available())
		return crux_fail(err, CRUX_UNSUPPORTED,
				 "job scheduler muri: this build has no LEMON for its matching "
				 "(Debian: liblemon-dev)");
	*state = crux_zeroed(1, sizeof(struct muri));
	return *state ? CRUX_OK : crux_fail(err, CRUX_NOMEM, "out of memory for muri");
}

/* Seated groups give their youngest jobs GPUs of their own while there is room. */
static enum crux_status split(struct muri *m, uint32_t *room, struct crux_error *err)
{
	for (size_t i = m->n; i-- > 0;)
		while (m->groups[i].seated && m->groups[i].n > 1 && m->groups[i].gpus <= *room) {
			struct muri_group *g = &m->groups[i], own = {.n = 1, .seat = CRUX_NONE};
			enum crux_status status;

			g->n--;
			own.jobs[0] = g->jobs[g->n];
			own.gpus = g->gpus;
			own.seated = true;
			*room -= g->gpus;
			status = muri_add(m, &own, err);
			if (status != CRUX_OK)
				return status;
		}
	return CRUX_OK;
}

/* Overtaking is counted for the job that is the oldest now. */
static void note_head(const struct crux_jobsched *s, struct muri *m)
{
	bool waits = s->head != CRUX_NONE;
	int64_t head = waits ? s->entries[s->head].job.id : 0;

	if (waits != m->waits || head != m->head)
		m->overtakes = 0;
	m->waits = waits;
	m->head = head;
}

/* Who starts, the oldest first. */
static enum crux_status list_actions(const struct crux_jobsched *s, struct muri *m,
				     struct crux_error *err)
{
	m->n_actions = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct muri_group *g = &m->groups[i];
		enum crux_status status = crux_reserve((void **)&m->actions, &m->actions_cap,
						       m->n_actions + g->n, sizeof(*m->actions),
						       err);

		if (status != CRUX_OK)
			return status;
		for (uint32_t k = 0; k < g->n && (g->seat != CRUX_NONE || g->seated); k++) {
			struct muri_action act = {g->jobs[k], g->jobs[0], g->seat};
			size_t at = m->n_actions++;

			for (; at && muri_older(s, act.entry, m->actions[at - 1].entry); at--)
				m->actions[at] = m->actions[at - 1];
			m->actions[at] = act;
		}
	}
	return CRUX_OK;
}

/* A job passes the oldest, or stays when that was passed often enough. */
static enum crux_status act(struct crux_jobsched *s, struct muri *m,
			    const struct muri_action *action, struct crux_error *err)
{
	bool founds = action->seat == CRUX_NONE && action->entry == action->founder, started;
	uint32_t seat = action->seat;

	note_head(s, m);
	if (seat == CRUX_NONE && !founds)
		seat = s->entries[action->founder].seat;
	if ((action->entry != s->head && muri_closed(s, m)) || (seat == CRUX_NONE && !founds)) {
		m->all = true;
		return CRUX_OK;
	}
	m->overtakes += action->entry != s->head;
	if (founds)
		return crux_jobsched_begin(s, action->entry, &started, err);
	crux_jobsched_join(s, action->entry, seat);
	return CRUX_OK;
}

/* All pairs were looked at: until something is fresh again there is nothing to find. */
static void settle(struct crux_jobsched *s)
{
	uint32_t i = 0;

	for (uint32_t k = 0; k < s->n_seats; k++)
		s->seats[k].fresh = false;
	for (uint32_t e = s->head; e != CRUX_NONE && i < s->options.muri_window; i++) {
		s->entries[e].fresh = false;
		e = s->entries[e].next;
	}
}

static enum crux_status share_out(struct crux_jobsched *s, struct muri *m, struct crux_error *err)
{
	uint32_t room;
	bool merged = true;
	enum crux_status status;

	status = muri_gather(s, m, err);
	while (status == CRUX_OK && merged && muri_seat(s, m, &room))
		status = muri_round(s, m, &merged, err);
	if (status == CRUX_OK) {
		muri_seat(s, m, &room);
		status = split(m, &room, err);
	}
	if (status != CRUX_OK)
		return status;
	m->all = muri_closed(s, m); /* what was closed is looked at when it opens */
	settle(s);
	status = list_actions(s, m, err);
	for (size_t i = 0; status == CRUX_OK && i < m->n_actions; i++)
		status = act(s, m, &m->actions[i], err);
	return status;
}

static enum crux_status schedule(struct crux_jobsched *s, void *state, struct crux_error *err)
{
	struct muri *m = state;
	enum crux_status status;
	uint32_t starts;
	uint64_t need = 0;

	for (uint32_t e = s->head; e != CRUX_NONE && need <= s->floor.free; e = s->entries[e].next)
		need += s->entries[e].job.gpus;
	if (need <= s->floor.free)
		return crux_jobsched_fifo(s, err);
	/* Again, as long as somebody starts: those who parted may take in others. */
	do {
		starts = s->n_starts;
		note_head(s, m);
		status = share_out(s, m, err);
	} while (status == CRUX_OK && s->n_starts > starts && s->head != CRUX_NONE);
	/* What is beyond the window may find free GPUs now. */
	return status == CRUX_OK ? crux_jobsched_fifo(s, err) : status;
}

const struct crux_jobsched_policy crux_jobsched_policy_muri = {
	.name = "muri",
	.summary = "packed; when GPUs are short, jobs whose stages interleave share them, by "
		   "maximum-weight matching (after Muri)",
	.by_count = true,
	.open = open_muri,
	.close = close_muri,
	.choose = crux_jobsched_pack,
	.schedule = schedule,
};
