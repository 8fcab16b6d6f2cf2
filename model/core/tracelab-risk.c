/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-risk: which jobs of a run are at risk of contention; see crux-tracelab.h.
 *
 * Place: model/core (C11), private. Depends on crux-tracelab.
 *
 * One sweep over time. A link knows how many of the jobs that run use it, and the exclusive or of
 * their numbers, which names the user where there is one. Who meets users is marked, and so is the
 * user that was alone before; where there are two or more, they were marked when the second came.
 * So a job costs its links when it starts and when it ends, whoever else is there.
 */
#include "tracelab-private.h"

#include <stdlib.h>
#include <string.h>

enum view { ECMP, ANY, N_VIEWS };

struct event {
	double at_s;
	uint32_t start; /* 0: an end. Who ends when another starts does not meet it. */
	uint32_t job;
};

struct link_list {
	uint32_t *links;
	uint32_t n;
};

/* Users of each link, and what each job risks: a bit for each sort. */
struct book {
	uint32_t *users, *names; /* [n_links] */
	uint32_t *risk;		 /* [n_jobs] */
};

struct sweep {
	const struct crux_tracecluster *cluster;
	const struct crux_tracelab_jobs *jobs;
	const struct crux_tracelab_result *result;
	struct book book[N_VIEWS];
	struct link_list (*held)[N_VIEWS]; /* [n_jobs], while they run */
	struct event *events;		   /* [2 n_jobs] */
	size_t n_events;
	/* Links of the job at hand. */
	uint32_t *list, *stamp, n_list, round; /* [n_links] */
	const struct crux_path_set **sets;
	size_t n_sets, cap_sets;
};

static bool ran(const struct crux_tracelab_job_result *job)
{
	return job->placed && job->end_s > job->start_s;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at_s != y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static void list_link(struct sweep *s, struct crux_link_id link)
{
	if (s->stamp[link.v] == s->round)
		return;
	s->stamp[link.v] = s->round;
	s->list[s->n_list++] = link.v;
}

/* All links of a set, once a job: few sets serve its many flows. */
static enum crux_status list_set(struct sweep *s, const struct crux_path_set *set,
				 struct crux_error *err)
{
	void *sets = s->sets;
	enum crux_status status;

	for (size_t i = s->n_sets; i-- > 0;)
		if (s->sets[i] == set)
			return CRUX_OK;
	status = crux_reserve(&sets, &s->cap_sets, s->n_sets + 1, sizeof(struct crux_path_set *),
			      err);
	s->sets = sets;
	if (status)
		return status;
	s->sets[s->n_sets++] = set;
	for (size_t i = 0; i < (size_t)set->n * set->hops; i++)
		list_link(s, set->links[i]);
	return CRUX_OK;
}

static enum crux_status list_flow(struct sweep *s, const struct crux_flow *flow, enum view view,
				  struct crux_error *err)
{
	uint32_t hops = view == ECMP ? crux_flow_hops(flow) : 0;

	for (uint32_t h = 0; h < hops; h++)
		list_link(s, crux_flow_link(flow, flow->ecmp_candidate, h));
	if (view == ECMP)
		return CRUX_OK;
	for (uint32_t h = 0; h < flow->n_pre; h++)
		list_link(s, flow->pre[h]);
	for (uint32_t h = 0; h < flow->n_post; h++)
		list_link(s, flow->post[h]);
	return list_set(s, flow->candidates, err);
}

static enum crux_status list_links(struct sweep *s, const struct tracelab_placed *placed,
				   enum view view, struct link_list *out, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	s->round++;
	s->n_list = 0;
	s->n_sets = 0;
	for (uint32_t f = 0; !status && f < placed->problem.n_flows; f++)
		if (placed->flows[f].bytes)
			status = list_flow(s, &placed->flows[f], view, err);
	if (status)
		return status;
	out->links = crux_array(s->n_list, sizeof(*out->links));
	if (!out->links)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u links", s->n_list);
	memcpy(out->links, s->list, s->n_list * sizeof(*out->links));
	out->n = s->n_list;
	return CRUX_OK;
}

static void meet(struct sweep *s, uint32_t job, enum view view)
{
	const struct link_list *held = &s->held[job][view];
	struct book *book = &s->book[view];

	for (uint32_t i = 0; i < held->n; i++) {
		uint32_t e = held->links[i], bit = UINT32_C(1) << s->cluster->sort[e];

		if (book->users[e])
			book->risk[job] |= bit;
		if (book->users[e] == 1)
			book->risk[book->names[e]] |= bit;
		book->users[e]++;
		book->names[e] ^= job;
	}
}

static void part(struct sweep *s, uint32_t job, enum view view)
{
	struct link_list *held = &s->held[job][view];

	for (uint32_t i = 0; i < held->n; i++) {
		s->book[view].users[held->links[i]]--;
		s->book[view].names[held->links[i]] ^= job;
	}
	crux_free(held->links);
	*held = (struct link_list){NULL, 0};
}

static enum crux_status start(struct sweep *s, uint32_t job, struct crux_error *err)
{
	struct tracelab_placed placed;
	enum crux_status status = tracelab_place(s->cluster, &s->jobs->jobs[job], job,
						 s->result->jobs[job].placed,
						 s->result->jobs[job].ring, &placed, err);

	if (status)
		return status;
	for (enum view v = ECMP; !status && v < N_VIEWS; v++) {
		status = list_links(s, &placed, v, &s->held[job][v], err);
		if (!status)
			meet(s, job, v);
	}
	tracelab_placed_clear(&placed);
	return status;
}

static enum crux_status sweep_make(struct sweep *s, struct crux_error *err)
{
	uint32_t n = s->jobs->n, n_links = s->cluster->n_links;
	bool made = true;

	for (enum view v = ECMP; v < N_VIEWS; v++) {
		struct book *book = &s->book[v];

		book->users = crux_zeroed(n_links, sizeof(*book->users));
		book->names = crux_zeroed(n_links, sizeof(*book->names));
		book->risk = crux_zeroed(n, sizeof(*book->risk));
		made = made && book->users && book->names && book->risk;
	}
	s->held = crux_zeroed(n, sizeof(*s->held));
	s->events = crux_array(n, 2 * sizeof(*s->events));
	s->list = crux_array(n_links, sizeof(*s->list));
	s->stamp = crux_zeroed(n_links, sizeof(*s->stamp));
	if (!made || !s->held || !s->events || !s->list || !s->stamp)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs on %u links", n,
				 n_links);
	for (uint32_t j = 0; j < n; j++) {
		const struct crux_tracelab_job_result *job = &s->result->jobs[j];

		if (!ran(job))
			continue;
		s->events[s->n_events++] = (struct event){job->start_s, 1, j};
		s->events[s->n_events++] = (struct event){job->end_s, 0, j};
	}
	qsort(s->events, s->n_events, sizeof(*s->events), by_time);
	return CRUX_OK;
}

static void sweep_clear(struct sweep *s)
{
	for (enum view v = ECMP; v < N_VIEWS; v++) {
		for (uint32_t j = 0; s->held && j < s->jobs->n; j++)
			crux_free(s->held[j][v].links);
		crux_free(s->book[v].users);
		crux_free(s->book[v].names);
		crux_free(s->book[v].risk);
	}
	crux_free(s->held);
	crux_free(s->events);
	crux_free(s->list);
	crux_free(s->stamp);
	crux_free(s->sets);
}

static void count(const struct sweep *s, struct crux_tracelab_risk *out)
{
	for (uint32_t j = 0; j < s->jobs->n; j++) {
		uint32_t gpus = s->jobs->jobs[j].gpus, risk = s->book[ECMP].risk[j];

		if (!ran(&s->result->jobs[j]))
			continue;
		out->jobs++;
		out->gpus += gpus;
		out->risky[j] = risk != 0;
		out->risky_jobs += risk != 0;
		out->risky_gpus += risk ? gpus : 0;
		for (uint32_t c = 0; c < CRUX_TRACESIM_CLASSES; c++) {
			out->sort_jobs[c] += risk >> c & 1;
			out->sort_gpus[c] += risk >> c & 1 ? gpus : 0;
		}
		out->any_jobs += s->book[ANY].risk[j] != 0;
		out->any_gpus += s->book[ANY].risk[j] ? gpus : 0;
	}
}

enum crux_status crux_tracelab_risk_find(const struct crux_tracecluster *cluster,
					 const struct crux_tracelab_jobs *jobs,
					 const struct crux_tracelab_result *result,
					 struct crux_tracelab_risk **out, struct crux_error *err)
{
	struct sweep s = {.cluster = cluster, .jobs = jobs, .result = result};
	struct crux_tracelab_risk *risk;
	enum crux_status status;

	if (result->n_jobs != jobs->n)
		return crux_fail(err, CRUX_INVALID, "the run is of %u jobs, the list of %u",
				 result->n_jobs, jobs->n);
	risk = crux_zeroed(1, sizeof(*risk));
	if (risk)
		risk->risky = crux_zeroed(jobs->n, sizeof(*risk->risky));
	status = risk && risk->risky
			 ? sweep_make(&s, err)
			 : crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs", jobs->n);
	for (size_t i = 0; !status && i < s.n_events; i++) {
		if (s.events[i].start) {
			status = start(&s, s.events[i].job, err);
			continue;
		}
		for (enum view v = ECMP; v < N_VIEWS; v++)
			part(&s, s.events[i].job, v);
	}
	if (!status)
		count(&s, risk);
	sweep_clear(&s);
	if (status)
		crux_tracelab_risk_destroy(risk);
	else
		*out = risk;
	return status;
}

void crux_tracelab_risk_destroy(struct crux_tracelab_risk *risk)
{
	if (!risk)
		return;
	crux_free(risk->risky);
	crux_free(risk);
}
