/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched-core: the queue, and the books of who holds which GPUs; see
 * crux-jobsched-policy.h.
 *
 * Place: model/core (C11). Depends on jobsched-private.
 */
#include "jobsched-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t jobsched_position(const struct crux_jobsched *s, int64_t id)
{
	uint32_t low = 0, high = s->n_jobs;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (s->by_id[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint32_t jobsched_find(const struct crux_jobsched *s, int64_t id)
{
	uint32_t at = jobsched_position(s, id);

	return at < s->n_jobs && s->by_id[at].id == id ? s->by_id[at].entry : CRUX_NONE;
}

/* ---- the queue */

static bool before(const struct crux_jobsched_entry *a, const struct crux_jobsched_entry *b)
{
	if (a->submit_s != b->submit_s)
		return a->submit_s < b->submit_s;
	return a->job.id < b->job.id;
}

void jobsched_enqueue(struct crux_jobsched *s, uint32_t entry)
{
	struct crux_jobsched_entry *e = &s->entries[entry];

	e->prev = s->tail;
	while (e->prev != CRUX_NONE && before(e, &s->entries[e->prev]))
		e->prev = s->entries[e->prev].prev;
	e->next = e->prev == CRUX_NONE ? s->head : s->entries[e->prev].next;
	if (e->prev == CRUX_NONE)
		s->head = entry;
	else
		s->entries[e->prev].next = entry;
	if (e->next == CRUX_NONE)
		s->tail = entry;
	else
		s->entries[e->next].prev = entry;
	s->n_waiting++;
}

void jobsched_dequeue(struct crux_jobsched *s, uint32_t entry)
{
	struct crux_jobsched_entry *e = &s->entries[entry];

	if (e->prev == CRUX_NONE)
		s->head = e->next;
	else
		s->entries[e->prev].next = e->next;
	if (e->next == CRUX_NONE)
		s->tail = e->prev;
	else
		s->entries[e->next].prev = e->prev;
	e->next = e->prev = CRUX_NONE;
	s->n_waiting--;
}

/* ---- running jobs by (end, id) */

static uint32_t running_position(const struct crux_jobsched *s, const struct crux_jobsched_entry *e)
{
	uint32_t low = 0, high = s->n_running;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct crux_jobsched_entry *m = &s->entries[s->running[mid]];

		if (m->end_s < e->end_s || (m->end_s == e->end_s && m->job.id < e->job.id))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void running_add(struct crux_jobsched *s, uint32_t entry)
{
	uint32_t at = running_position(s, &s->entries[entry]);

	memmove(&s->running[at + 1], &s->running[at], (s->n_running - at) * sizeof(*s->running));
	s->running[at] = entry;
	s->n_running++;
}

static void running_remove(struct crux_jobsched *s, uint32_t entry)
{
	uint32_t at = running_position(s, &s->entries[entry]);

	s->n_running--;
	memmove(&s->running[at], &s->running[at + 1], (s->n_running - at) * sizeof(*s->running));
}

/* ---- starting and stopping */

static uint32_t new_seat(struct crux_jobsched *s, uint32_t gpus)
{
	uint32_t i = 0;

	while (i < s->n_seats && s->seats[i].n)
		i++;
	if (i == s->n_seats)
		s->n_seats++;
	s->seats[i] = (struct crux_jobsched_seat){.gpus = gpus};
	return i;
}

/* The others on a seat go on in other company. */
static void tell_others(struct crux_jobsched *s, const struct crux_jobsched_seat *seat)
{
	for (uint32_t i = 0; i < seat->n; i++) {
		struct crux_jobsched_entry *e = &s->entries[seat->members[i]];

		if (!e->told)
			s->retimed[s->n_retimed++] = e->job.id;
		e->told = true;
	}
}

static void count_start(struct crux_jobsched *s, const struct crux_jobsched_start *start)
{
	struct crux_jobsched_counters *c = &s->counters;
	uint32_t held = s->floor.n_gpus - s->floor.free;

	c->starts++;
	c->passed += start->passed;
	c->joined += start->joined;
	c->hosts += start->hosts;
	c->tors += start->tors;
	c->pods += start->pods;
	c->waited_s += start->waited_s;
	c->longest_wait_s = fmax(c->longest_wait_s, start->waited_s);
	c->peak_held = held > c->peak_held ? held : c->peak_held;
	c->peak_running = s->n_running > c->peak_running ? s->n_running : c->peak_running;
}

/* The job's ranks are set: it runs from now on. */
static void run(struct crux_jobsched *s, uint32_t entry, uint32_t seat, bool joined)
{
	struct crux_jobsched_entry *e = &s->entries[entry];
	const struct crux_floor_hand hand = {e->ranks, e->job.gpus, e->job.gpus};
	struct crux_jobsched_start start = {
		.id = e->job.id,
		.n_gpus = e->job.gpus,
		.gpus = e->gpus,
		.waited_s = s->counters.time_s - e->submit_s,
		.hosts = crux_floor_span(&s->floor, CRUX_FLOOR_HOST, &hand),
		.tors = crux_floor_span(&s->floor, CRUX_FLOOR_TOR, &hand),
		.pods = crux_floor_span(&s->floor, CRUX_FLOOR_POD, &hand),
		.passed = entry != s->head,
		.joined = joined,
	};

	if (joined)
		tell_others(s, &s->seats[seat]);
	if (entry == s->head)
		crux_jobsched_reserve(s, INFINITY);
	jobsched_dequeue(s, entry);
	s->seats[seat].members[s->seats[seat].n++] = entry;
	s->seats[seat].fresh = true;
	e->seat = seat;
	e->told = true;
	e->start_s = s->counters.time_s;
	e->end_s = e->job.duration_s > 0 ? e->start_s + e->job.duration_s : INFINITY;
	running_add(s, entry);
	s->starts[s->n_starts++] = start;
	count_start(s, &start);
}

static int compare_ranks(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void set_gpus(struct crux_jobsched *s, struct crux_jobsched_entry *e)
{
	uint32_t n = e->job.gpus;

	qsort(e->ranks, n, sizeof(*e->ranks), compare_ranks);
	for (uint32_t i = 0; i < n; i++)
		e->gpus[i] = s->floor.ref[e->ranks[i]];
	qsort(e->gpus, n, sizeof(*e->gpus), crux_gpu_ref_compare);
}

enum crux_status crux_jobsched_begin(struct crux_jobsched *s, uint32_t entry, bool *started,
				     struct crux_error *err)
{
	struct crux_jobsched_entry *e = &s->entries[entry];
	struct crux_floor_hand hand = {e->ranks, 0, e->job.gpus};
	uint32_t before = s->floor.free, taken;
	bool chosen;

	*started = false;
	if (e->job.gpus > before)
		return CRUX_OK;
	chosen = s->policy->choose(s, s->state, &e->job, &hand);
	taken = before - s->floor.free;
	if (taken != hand.n || taken != (chosen ? e->job.gpus : 0)) {
		crux_floor_drop(&s->floor, &hand);
		return crux_fail(err, CRUX_INVALID,
				 "job scheduler %s took %u GPUs for job %lld, which needs %u",
				 s->policy->name, taken, (long long)e->job.id, e->job.gpus);
	}
	if (!chosen && s->policy->by_count)
		return crux_fail(err, CRUX_INVALID,
				 "job scheduler %s refused job %lld of %u GPUs while %u are free",
				 s->policy->name, (long long)e->job.id, e->job.gpus, before);
	if (!chosen)
		return CRUX_OK;
	set_gpus(s, e);
	run(s, entry, new_seat(s, e->job.gpus), false);
	*started = true;
	return CRUX_OK;
}

void crux_jobsched_join(struct crux_jobsched *s, uint32_t entry, uint32_t seat)
{
	struct crux_jobsched_entry *e = &s->entries[entry];
	const struct crux_jobsched_entry *there = &s->entries[s->seats[seat].members[0]];

	memcpy(e->ranks, there->ranks, e->job.gpus * sizeof(*e->ranks));
	memcpy(e->gpus, there->gpus, e->job.gpus * sizeof(*e->gpus));
	run(s, entry, seat, true);
}

void jobsched_stop(struct crux_jobsched *s, uint32_t entry)
{
	struct crux_jobsched_entry *e = &s->entries[entry];
	struct crux_jobsched_seat *seat = &s->seats[e->seat];
	uint32_t i = 0;

	running_remove(s, entry);
	while (seat->members[i] != entry)
		i++;
	seat->n--;
	memmove(&seat->members[i], &seat->members[i + 1], (seat->n - i) * sizeof(seat->members[0]));
	seat->fresh = true;
	if (!seat->n)
		for (i = 0; i < e->job.gpus; i++)
			crux_floor_give(&s->floor, e->ranks[i]);
	tell_others(s, seat);
	while (s->n_seats && !s->seats[s->n_seats - 1].n)
		s->n_seats--;
}

void crux_jobsched_reserve(struct crux_jobsched *s, double time_s)
{
	s->counters.reserved_id = s->head == CRUX_NONE ? 0 : s->entries[s->head].job.id;
	s->counters.reserved_s = time_s;
}

enum crux_status crux_jobsched_fifo(struct crux_jobsched *s, struct crux_error *err)
{
	bool started = true;

	while (started && s->head != CRUX_NONE) {
		enum crux_status status = crux_jobsched_begin(s, s->head, &started, err);

		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}
