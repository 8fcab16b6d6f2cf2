/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched: see crux-jobsched.h. Events are checked whole and their memory is there before
 * anything changes.
 *
 * Place: model/core (C11). Depends on jobsched-private.
 */
#include "jobsched-private.h"

#include <math.h>
#include <string.h>

void crux_jobsched_options_init(struct crux_jobsched_options *options)
{
	*options = (struct crux_jobsched_options){
		.seed = 1,
		.muri_share = CRUX_STAGES,
		.muri_gain = 0.1,
		.muri_window = 64,
		.muri_overtakes = 32,
	};
}

static enum crux_status check_options(const struct crux_jobsched_options *options,
				      struct crux_error *err)
{
	if (!options->muri_share || options->muri_share > CRUX_STAGES)
		return crux_fail(err, CRUX_RANGE, "muri_share of %u jobs on a GPU: not in 1..%d",
				 options->muri_share, CRUX_STAGES);
	if (!(options->muri_gain >= 0 && options->muri_gain < 1))
		return crux_fail(err, CRUX_RANGE, "muri_gain of %g: not in [0, 1)",
				 options->muri_gain);
	if (!options->muri_window || options->muri_window > 4096)
		return crux_fail(err, CRUX_RANGE, "muri_window of %u jobs: not in 1..4096",
				 options->muri_window);
	return CRUX_OK;
}

enum crux_status crux_jobsched_create(const struct crux_jobsched_policy *policy,
				      const struct crux_topology *topo,
				      const struct crux_jobsched_options *options,
				      struct crux_jobsched **out, struct crux_error *err)
{
	struct crux_jobsched_options defaults;
	struct crux_jobsched *s;
	enum crux_status status;

	crux_jobsched_options_init(&defaults);
	if (!options)
		options = &defaults;
	status = check_options(options, err);
	if (status != CRUX_OK)
		return status;
	s = crux_zeroed(1, sizeof(*s));
	if (!s)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the job scheduler %s",
				 policy->name);
	s->policy = policy;
	s->options = *options;
	s->head = s->tail = CRUX_NONE;
	s->counters.time_s = -INFINITY;
	s->counters.reserved_s = INFINITY;
	status = crux_floor_init(&s->floor, topo, err);
	if (status == CRUX_OK && policy->open)
		status = policy->open(s, &s->state, err);
	if (status == CRUX_OK)
		*out = s;
	else
		crux_jobsched_destroy(s);
	return status;
}

void crux_jobsched_destroy(struct crux_jobsched *s)
{
	if (!s)
		return;
	if (s->policy->close)
		s->policy->close(s->state);
	for (uint32_t i = 0; i < s->n_jobs; i++) {
		crux_free(s->entries[s->by_id[i].entry].ranks);
		crux_free(s->entries[s->by_id[i].entry].gpus);
	}
	crux_floor_clear(&s->floor);
	crux_free(s->entries);
	crux_free(s->seats);
	crux_free(s->by_id);
	crux_free(s->running);
	crux_free(s->spare);
	crux_free(s->starts);
	crux_free(s->retimed);
	crux_free(s);
}

/* One array longer; what grew stays so when another does not. */
static bool grow_one(void **array, uint32_t n, size_t size)
{
	void *p = crux_resize(*array, n, size);

	if (p)
		*array = p;
	return p != NULL;
}

/* Room for one more job. */
static enum crux_status grow(struct crux_jobsched *s, struct crux_error *err)
{
	uint32_t cap = s->cap ? 2 * s->cap : 64;

	if (s->n_jobs < s->cap)
		return CRUX_OK;
	if (!grow_one((void **)&s->entries, cap, sizeof(*s->entries)) ||
	    !grow_one((void **)&s->seats, cap, sizeof(*s->seats)) ||
	    !grow_one((void **)&s->by_id, cap, sizeof(*s->by_id)) ||
	    !grow_one((void **)&s->running, cap, sizeof(*s->running)) ||
	    !grow_one((void **)&s->spare, cap, sizeof(*s->spare)) ||
	    !grow_one((void **)&s->starts, cap, sizeof(*s->starts)) ||
	    !grow_one((void **)&s->retimed, cap, sizeof(*s->retimed)))
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs", cap);
	/* All below cap are present, so the new ones are what is spare. */
	for (uint32_t i = 0; i < cap - s->cap; i++)
		s->spare[i] = cap - 1 - i;
	s->cap = cap;
	return CRUX_OK;
}

static enum crux_status check_time(const struct crux_jobsched *s, int64_t id, double time_s,
				   struct crux_error *err)
{
	if (!isfinite(time_s) || time_s < s->counters.time_s)
		return crux_fail(err, CRUX_RANGE,
				 "job %lld: an event at %g s: finite and not before %g s",
				 (long long)id, time_s, s->counters.time_s);
	return CRUX_OK;
}

static enum crux_status check_job(const struct crux_jobsched *s,
				  const struct crux_jobsched_job *job, struct crux_error *err)
{
	long long id = (long long)job->id;

	if (!job->gpus)
		return crux_fail(err, CRUX_RANGE, "job %lld needs 0 GPUs: at least 1", id);
	if (job->gpus > s->floor.n_gpus)
		return crux_fail(err, CRUX_CAPACITY, "job %lld needs %u GPUs; the cluster has %u",
				 id, job->gpus, s->floor.n_gpus);
	if (s->policy->needs_duration && !(job->duration_s > 0 && isfinite(job->duration_s)))
		return crux_fail(err, CRUX_RANGE,
				 "job %lld declares a duration of %g s: %s needs one above 0", id,
				 job->duration_s, s->policy->name);
	for (int r = 0; r < CRUX_STAGES; r++)
		if (!(job->stages.s[r] >= 0 && isfinite(job->stages.s[r])))
			return crux_fail(err, CRUX_RANGE,
					 "job %lld: stage %d takes %g s: finite, at least 0", id, r,
					 job->stages.s[r]);
	if (!(job->stages.hidden_s >= 0 && job->stages.hidden_s <= job->stages.s[CRUX_STAGE_GPU]))
		return crux_fail(err, CRUX_RANGE,
				 "job %lld: %g s of communication inside a GPU stage of %g s: at "
				 "least 0, at most all of it",
				 id, job->stages.hidden_s, job->stages.s[CRUX_STAGE_GPU]);
	if (jobsched_find(s, job->id) != CRUX_NONE)
		return crux_fail(err, CRUX_DUPLICATE, "job %lld is present already", id);
	return CRUX_OK;
}

/* The clock goes on: integrals up to now. */
static void advance(struct crux_jobsched *s, double time_s)
{
	struct crux_jobsched_counters *c = &s->counters;
	double step = isfinite(c->time_s) ? time_s - c->time_s : 0;

	c->held_gpu_s += step * (s->floor.n_gpus - s->floor.free);
	c->waiting_job_s += step * s->n_waiting;
	if (s->head != CRUX_NONE) {
		c->starved_gpu_s += step * s->floor.free;
		if (s->entries[s->head].job.gpus <= s->floor.free)
			c->blocked_gpu_s += step * s->floor.free;
	}
	c->time_s = time_s;
	for (uint32_t i = 0; i < s->n_starts; i++) {
		uint32_t entry = jobsched_find(s, s->starts[i].id);

		if (entry != CRUX_NONE)
			s->entries[entry].told = false;
	}
	for (uint32_t i = 0; i < s->n_retimed; i++) {
		uint32_t entry = jobsched_find(s, s->retimed[i]);

		if (entry != CRUX_NONE)
			s->entries[entry].told = false;
	}
	s->n_starts = s->n_retimed = 0;
}

static enum crux_status schedule(struct crux_jobsched *s, struct crux_jobsched_result *result,
				 struct crux_error *err)
{
	struct crux_jobsched_counters *c = &s->counters;
	enum crux_status status = CRUX_OK;

	if (s->head == CRUX_NONE)
		crux_jobsched_reserve(s, INFINITY);
	else if (s->policy->schedule)
		status = s->policy->schedule(s, s->state, err);
	else
		status = crux_jobsched_fifo(s, err);
	if (status != CRUX_OK)
		return status;
	c->peak_waiting = s->n_waiting > c->peak_waiting ? s->n_waiting : c->peak_waiting;
	*result = (struct crux_jobsched_result){s->starts, s->n_starts, s->retimed, s->n_retimed};
	return CRUX_OK;
}

enum crux_status crux_jobsched_arrive(struct crux_jobsched *s, const struct crux_jobsched_job *job,
				      double time_s, struct crux_jobsched_result *result,
				      struct crux_error *err)
{
	struct crux_jobsched_entry e = {.job = *job, .submit_s = time_s, .fresh = true};
	enum crux_status status = check_time(s, job->id, time_s, err);
	uint32_t entry, at;

	if (status == CRUX_OK)
		status = check_job(s, job, err);
	if (status == CRUX_OK)
		status = grow(s, err);
	if (status != CRUX_OK)
		return status;
	e.ranks = crux_array(job->gpus, sizeof(*e.ranks));
	e.gpus = crux_array(job->gpus, sizeof(*e.gpus));
	if (!e.ranks || !e.gpus) {
		crux_free(e.ranks);
		crux_free(e.gpus);
		return crux_fail(err, CRUX_NOMEM, "out of memory for the %u GPUs of job %lld",
				 job->gpus, (long long)job->id);
	}
	advance(s, time_s);
	e.next = e.prev = e.seat = CRUX_NONE;
	e.end_s = INFINITY;
	entry = s->spare[s->cap - s->n_jobs - 1];
	s->entries[entry] = e;
	at = jobsched_position(s, job->id);
	memmove(&s->by_id[at + 1], &s->by_id[at], (s->n_jobs - at) * sizeof(*s->by_id));
	s->by_id[at] = (struct crux_jobsched_id){job->id, entry};
	s->n_jobs++;
	s->counters.arrivals++;
	jobsched_enqueue(s, entry);
	status = schedule(s, result, err);
	s->counters.waits += s->entries[entry].seat == CRUX_NONE;
	return status;
}

enum crux_status crux_jobsched_depart(struct crux_jobsched *s, int64_t id, double time_s,
				      struct crux_jobsched_result *result, struct crux_error *err)
{
	enum crux_status status = check_time(s, id, time_s, err);
	uint32_t entry = jobsched_find(s, id), at = jobsched_position(s, id);

	if (status != CRUX_OK)
		return status;
	if (entry == CRUX_NONE)
		return crux_fail(err, CRUX_NOT_FOUND, "job %lld departs: no such job is present",
				 (long long)id);
	advance(s, time_s);
	if (s->entries[entry].seat != CRUX_NONE) {
		jobsched_stop(s, entry);
	} else {
		bool head = entry == s->head;

		jobsched_dequeue(s, entry);
		if (head)
			crux_jobsched_reserve(s, INFINITY);
	}
	crux_free(s->entries[entry].ranks);
	crux_free(s->entries[entry].gpus);
	s->n_jobs--;
	memmove(&s->by_id[at], &s->by_id[at + 1], (s->n_jobs - at) * sizeof(*s->by_id));
	s->spare[s->cap - s->n_jobs - 1] = entry;
	s->counters.departures++;
	return schedule(s, result, err);
}

enum crux_status crux_jobsched_share(const struct crux_jobsched *s, int64_t id,
				     struct crux_jobsched_sharing *out, struct crux_error *err)
{
	struct crux_stages stages[CRUX_STAGES];
	uint32_t entry = jobsched_find(s, id);
	const struct crux_jobsched_seat *seat;

	if (entry == CRUX_NONE || s->entries[entry].seat == CRUX_NONE)
		return crux_fail(err, CRUX_NOT_FOUND, "job %lld does not run", (long long)id);
	seat = &s->seats[s->entries[entry].seat];
	*out = (struct crux_jobsched_sharing){.n = seat->n};
	for (uint32_t i = 0; i < seat->n; i++) {
		out->ids[i] = s->entries[seat->members[i]].job.id;
		stages[i] = s->entries[seat->members[i]].job.stages;
	}
	if (seat->n > 1)
		out->period_s = crux_interleave_period(stages, seat->n, out->offset);
	return CRUX_OK;
}

void crux_jobsched_count(const struct crux_jobsched *s, struct crux_jobsched_counters *out)
{
	uint32_t whole = 0;

	*out = s->counters;
	out->gpus = s->floor.n_gpus;
	out->free = s->floor.free;
	out->running = s->n_running;
	out->waiting = s->n_waiting;
	crux_floor_free_cells(&s->floor, out->free_cells);
	for (uint32_t h = 0; h < s->floor.n_cells[CRUX_FLOOR_HOST]; h++)
		if (crux_floor_whole(&s->floor, CRUX_FLOOR_HOST, h))
			whole += s->floor.cells[CRUX_FLOOR_HOST][h].size;
	out->fragmentation = out->free ? (double)(out->free - whole) / out->free : 0;
}
