/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-tracesim: the calls of the trace engine: see crux-tracesim.h. Depends on crux-base,
 * crux-problem.
 */
#include "crux-tracesim.h"

#include "tracesim-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS_A_SECOND 1000000000000u

void crux_tracesim_default(struct crux_tracesim_options *options)
{
	*options = (struct crux_tracesim_options){.n_classes = 1, .tick_ps = 1, .skip = true};
}

enum crux_status tracesim_nomem(struct crux_tracesim *s, const char *what)
{
	return crux_fail(s->err, CRUX_NOMEM, "out of memory for %s", what);
}

void *tracesim_scratch(struct crux_tracesim *s, uint32_t which, size_t n, size_t size)
{
	struct scratch *scratch = &s->scratch[which];
	size_t need = n * size + 1;

	if (need > scratch->cap) {
		void *p = crux_array(need + need / 2, 1);

		if (!p)
			return NULL;
		crux_free(scratch->p);
		scratch->p = p;
		scratch->cap = need + need / 2;
	}
	return scratch->p;
}

enum crux_status tracesim_ticks(const struct crux_tracesim *s, double seconds, const char *what,
				uint64_t *out, struct crux_error *err)
{
	double ticks = seconds / s->tick_s;

	if (!(seconds >= 0))
		return crux_fail(err, CRUX_RANGE, "%s of %g s is not >= 0", what, seconds);
	if (!(ticks < (double)(LAST / 2)))
		return crux_fail(err, CRUX_LIMIT, "%s of %g s is beyond %g s", what, seconds,
				 (double)(LAST / 2) * s->tick_s);
	/* Through whole seconds, so that a time of weeks keeps its picoseconds. */
	*out = (uint64_t)floor(seconds) * s->per_s;
	*out += (uint64_t)floor((seconds - floor(seconds)) * (double)s->per_s + 0.5);
	if (seconds > 0 && !*out)
		*out = 1;
	return CRUX_OK;
}

static enum crux_status check_options(const struct crux_tracesim_options *o, struct crux_error *err)
{
	if (!o->tick_ps || PS_A_SECOND % o->tick_ps)
		return crux_fail(err, CRUX_RANGE, "a tick of %llu ps does not divide a second",
				 (unsigned long long)o->tick_ps);
	if (!o->n_classes || o->n_classes > CRUX_TRACESIM_CLASSES)
		return crux_fail(err, CRUX_RANGE, "%u sorts of links are not in 1..%d",
				 o->n_classes, CRUX_TRACESIM_CLASSES);
	for (uint32_t e = 0; e < o->n_links; e++) {
		const struct crux_sim_link *link = &o->links[e];

		if (!(link->bps >= 1 && link->bps <= 0x1p59))
			return crux_fail(err, CRUX_RANGE, "link %u: %g bit/s is not in 1..2^59", e,
					 link->bps);
		if (!(link->alpha_s >= 0) || isinf(link->alpha_s))
			return crux_fail(err, CRUX_RANGE, "link %u: a latency of %g s", e,
					 link->alpha_s);
		if (o->link_class && o->link_class[e] >= o->n_classes)
			return crux_fail(err, CRUX_RANGE, "link %u: sort %u of %u", e,
					 o->link_class[e], o->n_classes);
	}
	return CRUX_OK;
}

/* The unit of rates: the largest link at most 2^60 of it, but no less than 2^-40 bit/s. */
static void set_units(struct crux_tracesim *s)
{
	double most = 1;
	int exponent;

	for (uint32_t e = 0; e < s->n_links; e++)
		most = fmax(most, s->options.links[e].bps);
	frexp(most, &exponent); /* most < 2^exponent */
	s->shift = exponent > 20 ? 60 - exponent : 40;
	s->per_s = PS_A_SECOND / s->options.tick_ps;
	s->tick_s = (double)s->options.tick_ps / 1e12;
	s->byte = (U128)(8 * s->per_s) << s->shift;
	for (uint32_t e = 0; e < s->n_links; e++)
		s->cap[e] = (uint64_t)ldexp(s->options.links[e].bps, s->shift);
}

static bool allocate(struct crux_tracesim *s)
{
	uint32_t n = s->n_links;

	s->cap = crux_array(n, sizeof(*s->cap));
	s->alpha_s = crux_array(n, sizeof(*s->alpha_s));
	s->link_class = crux_zeroed(n, sizeof(*s->link_class));
	s->kept = crux_zeroed(n, sizeof(*s->kept));
	s->users = crux_zeroed(n, sizeof(struct hop *));
	s->link_bytes = crux_zeroed(n, sizeof(*s->link_bytes));
	s->mark = crux_array(n, sizeof(*s->mark));
	s->stamp = crux_zeroed(n, sizeof(*s->stamp));
	s->touched = crux_zeroed(n, sizeof(*s->touched));
	s->flowing = crux_zeroed(n, sizeof(*s->flowing));
	s->fastest = crux_zeroed(n, sizeof(*s->fastest));
	return s->cap && s->alpha_s && s->link_class && s->kept && s->users && s->link_bytes &&
	       s->mark && s->stamp && s->touched && s->flowing && s->fastest;
}

enum crux_status crux_tracesim_create(const struct crux_tracesim_options *options,
				      struct crux_tracesim **out, struct crux_error *err)
{
	enum crux_status status = check_options(options, err);
	struct crux_tracesim *s;

	if (status != CRUX_OK)
		return status;
	s = crux_zeroed(1, sizeof(*s));
	if (s) {
		s->options = *options;
		s->n_links = options->n_links;
	}
	if (!s || !allocate(s)) {
		crux_tracesim_destroy(s);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u links", options->n_links);
	}
	set_units(s);
	for (uint32_t e = 0; e < s->n_links; e++) {
		s->alpha_s[e] = options->links[e].alpha_s;
		s->mark[e] = CRUX_NONE;
		if (options->link_class)
			s->link_class[e] = options->link_class[e];
	}
	s->options.links = NULL; /* copied */
	s->options.link_class = NULL;
	*out = s;
	return CRUX_OK;
}

void crux_tracesim_destroy(struct crux_tracesim *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_jobs; i++)
		job_destroy(s->jobs[i]);
	for (size_t i = 0; i < s->n_parts; i++)
		part_destroy(s->parts[i]);
	for (uint32_t i = 0; i < N_SCRATCH; i++)
		crux_free(s->scratch[i].p);
	crux_free(s->cap);
	crux_free(s->alpha_s);
	crux_free(s->link_class);
	crux_free(s->kept);
	crux_free(s->users);
	crux_free(s->link_bytes);
	crux_free(s->mark);
	crux_free(s->stamp);
	crux_free(s->touched);
	crux_free(s->flowing);
	crux_free(s->fastest);
	crux_free(s->jobs);
	crux_free(s->parts);
	crux_free(s->changed);
	crux_free(s->done);
	crux_free(s);
}

double crux_tracesim_now_s(const struct crux_tracesim *s)
{
	return (double)s->now * s->tick_s;
}

enum crux_status crux_tracesim_add(struct crux_tracesim *s, const struct crux_tracesim_job *given,
				   uint32_t *handle, struct crux_error *err)
{
	struct tjob *job = NULL;
	enum crux_status status;

	if (s->n_jobs >= CRUX_NONE)
		return crux_fail(err, CRUX_LIMIT, "%zu jobs", s->n_jobs);
	status = job_make(s, given, &job, err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&s->jobs, &s->cap_jobs, s->n_jobs + 1,
				      sizeof(struct tjob *), err);
	if (status == CRUX_OK) {
		job->handle = (uint32_t)s->n_jobs;
		status = tracesim_change(s, job, err);
	}
	if (status != CRUX_OK) {
		crux_fail_prefix(err, "job %lld: ", (long long)given->job.id);
		job_destroy(job);
		return status;
	}
	s->jobs[s->n_jobs++] = job;
	*handle = job->handle;
	return CRUX_OK;
}

static int compare_handles(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Jobs of the part that have had their iterations: they leave. */
static enum crux_status collect(struct crux_tracesim *s, struct part *p)
{
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		struct tjob *job = p->jobs[j];
		enum crux_status status;

		if (!job->now.finished || job->leaving)
			continue;
		status = tracesim_change(s, job, s->err);
		if (status == CRUX_OK)
			status = crux_reserve((void **)&s->done, &s->cap_done, s->n_done + 1,
					      sizeof(*s->done), s->err);
		if (status != CRUX_OK)
			return status;
		job->leaving = true;
		s->done[s->n_done++] = job->handle;
	}
	p->finished = false;
	return CRUX_OK;
}

/* The part in which the earliest job may end; with check, in which something happens next. */
static struct part *next_part(const struct crux_tracesim *s, uint64_t *key)
{
	struct part *best = NULL;
	uint32_t item;

	*key = NEVER;
	for (size_t i = 0; i < s->n_parts; i++) {
		struct part *p = s->parts[i];
		uint64_t at = s->options.check && !p->measure.on ? timers_first(&p->timers, &item)
								 : p->key;

		if (at < *key) {
			*key = at;
			best = p;
		}
	}
	return best;
}

static bool may_end(const struct crux_tracesim *s)
{
	for (size_t i = 0; i < s->n_parts; i++)
		if (s->parts[i]->key != NEVER)
			return true;
	return false;
}

enum crux_status tracesim_advance(struct crux_tracesim *s, uint64_t until)
{
	enum crux_status status = tracesim_rebuild(s);
	uint64_t limit = until, key;
	struct part *p;

	s->n_done = 0;
	if (status == CRUX_OK && until == NEVER && !may_end(s))
		status = crux_fail(s->err, CRUX_STALLED,
				   "after %g s no job will ever have had its iterations",
				   crux_tracesim_now_s(s));
	while (status == CRUX_OK && (p = next_part(s, &key)) && key <= limit) {
		if (s->options.check && key > s->now) {
			status = check_links(s);
			s->now = key;
		}
		if (status == CRUX_OK)
			status = part_advance(s, p, key);
		if (status == CRUX_OK && p->finished) {
			limit = key;
			status = collect(s, p);
		}
	}
	if (status == CRUX_OK && until == NEVER && !s->n_done)
		return crux_fail(s->err, CRUX_STALLED,
				 "after %g s no job will ever have had its iterations",
				 crux_tracesim_now_s(s));
	if (status == CRUX_OK && s->options.check)
		status = check_links(s);
	s->now = limit;
	if (s->n_done)
		qsort(s->done, s->n_done, sizeof(*s->done), compare_handles);
	/* Rows are wanted as they happen, not when somebody looks. */
	if (status == CRUX_OK && s->options.sink)
		for (size_t i = 0; i < s->n_parts && status == CRUX_OK; i++)
			status = part_advance(s, s->parts[i], s->now);
	return status;
}

enum crux_status crux_tracesim_advance(struct crux_tracesim *s, double until_s,
				       struct crux_tracesim_done *done, struct crux_error *err)
{
	uint64_t until = NEVER;
	enum crux_status status = CRUX_OK;

	if (!isinf(until_s))
		status = tracesim_ticks(s, until_s, "a time", &until, err);
	if (status == CRUX_OK && until < s->now)
		status = crux_fail(err, CRUX_RANGE, "a time of %g s before the present of %g s",
				   until_s, crux_tracesim_now_s(s));
	if (status != CRUX_OK)
		return status;
	s->err = err;
	status = tracesim_advance(s, until);
	s->err = NULL;
	if (status == CRUX_OK)
		*done = (struct crux_tracesim_done){(uint32_t)s->n_done, s->done};
	return status;
}
