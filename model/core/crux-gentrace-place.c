/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gentrace-place: the hosts of the workers, and what a reader will keep of it; see
 * crux-gentrace.h.
 *
 * Place: model/core (C11). Depends on gentrace-private.
 */
#include "gentrace-private.h"

#include <stdlib.h>

struct place {
	struct gen *gen;
	uint32_t *ring, *free, *active; /* hosts ToR by ToR; free GPUs by host; jobs that run */
	uint32_t n, n_active;
};

static bool fits(const struct place *p, uint32_t host, uint32_t gpus, bool only_partly)
{
	return p->free[host] >= gpus && !(only_partly && p->free[host] == GEN_GPUS);
}

/* A host for a worker: partly used ones first, so that whole ones stay whole. */
static uint32_t find_host(const struct place *p, uint32_t start, uint32_t gpus)
{
	for (int partly = gpus < GEN_GPUS; partly >= 0; partly--)
		for (uint32_t i = 0; i < p->n; i++) {
			uint32_t host = p->ring[(start + i) % p->n];

			if (fits(p, host, gpus, partly))
				return host;
		}
	return CRUX_NONE;
}

static uint32_t worker_gpus(const struct gen_job *job)
{
	return job->gpus < GEN_GPUS ? job->gpus : GEN_GPUS;
}

/* Share of workers that do not lie beside their neighbour; doc/traces.md. */
#define ELSEWHERE 0.15

static bool place_job(struct place *p, const struct gen_job *job, uint32_t start,
		      struct crux_rng *rng)
{
	struct gen_worker *w = &p->gen->workers[job->first_worker];

	for (uint32_t k = 0; k < job->rows; k++) {
		if (crux_rng_real(rng) < ELSEWHERE)
			start = (uint32_t)crux_rng_below(rng, p->n);
		w[k].host = find_host(p, start, worker_gpus(job));
		if (w[k].host == CRUX_NONE) {
			while (k--)
				p->free[w[k].host] += worker_gpus(job);
			return false;
		}
		p->free[w[k].host] -= worker_gpus(job);
	}
	return true;
}

/* Pods are numbered before hosts are found, so that ToR do not show in the order of rows. */
static void shuffle(struct place *p, const struct gen_job *job, struct crux_rng *rng)
{
	struct gen_worker *w = &p->gen->workers[job->first_worker];

	for (uint32_t k = job->rows; k > 1; k--) {
		uint32_t i = (uint32_t)crux_rng_below(rng, k), host = w[k - 1].host;

		w[k - 1].host = w[i].host;
		w[i].host = host;
	}
}

static int64_t end_of(const struct gen_job *job)
{
	return job->fate == GEN_RUNS ? INT64_MAX : job->finish;
}

/* Give back what is over by @p now; returns when the next of the others ends. */
static int64_t release(struct place *p, int64_t now)
{
	int64_t next = INT64_MAX;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_active; i++) {
		const struct gen_job *job = &p->gen->jobs[p->active[i]];

		if (end_of(job) > now) {
			next = end_of(job) < next ? end_of(job) : next;
			p->active[n++] = p->active[i];
			continue;
		}
		for (uint32_t k = 0; k < job->rows; k++)
			p->free[p->gen->workers[job->first_worker + k].host] += worker_gpus(job);
	}
	p->n_active = n;
	return next;
}

static enum crux_status run_jobs(struct place *p, struct crux_rng *rng, struct crux_rng *order,
				 struct crux_error *err)
{
	struct gen *gen = p->gen;
	int64_t now = GEN_NONE;

	for (uint32_t i = 0; i < gen->n_jobs + gen->n_lone; i++) {
		struct gen_job *job = &gen->jobs[gen->order[i]];
		int64_t drawn = job->run, next;
		uint32_t start = (uint32_t)crux_rng_below(rng, p->n);

		if (job->fate == GEN_NEVER || job->fate == GEN_EARLY || job->away || !job->gpus) {
			job->finish += job->run;
			continue;
		}
		now = now > job->run ? now : job->run;
		next = release(p, now);
		while (!place_job(p, job, start, order)) {
			if (next == INT64_MAX)
				return crux_fail(err, CRUX_CAPACITY,
						 "a job of %u GPUs never finds room: jobs that "
						 "still ran at the end hold the cluster's %u",
						 job->gpus, crux_topology_n_gpus(gen->topo));
			now = next;
			next = release(p, now);
		}
		shuffle(p, job, order);
		job->run = now;
		job->finish += now;
		gen->out->delayed += now > drawn;
		p->active[p->n_active++] = gen->order[i];
	}
	return CRUX_OK;
}

struct turn {
	int64_t key;
	uint32_t index;
};

static int compare_turns(const void *x, const void *y)
{
	const struct turn *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Hosts ToR by ToR, jobs by the time that they want to run. */
static void set_orders(struct place *p, struct turn *turns)
{
	struct gen *gen = p->gen;
	uint32_t jobs = gen->n_jobs + gen->n_lone;

	for (uint32_t h = 0; h < p->n; h++)
		turns[h] = (struct turn){crux_topology_host(gen->topo, h)->tor_group, h};
	qsort(turns, p->n, sizeof(*turns), compare_turns);
	for (uint32_t h = 0; h < p->n; h++) {
		p->ring[h] = turns[h].index;
		p->free[h] = GEN_GPUS;
	}
	for (uint32_t i = 0; i < jobs; i++)
		turns[i] = (struct turn){gen->jobs[i].run, i};
	qsort(turns, jobs, sizeof(*turns), compare_turns);
	for (uint32_t i = 0; i < jobs; i++)
		gen->order[i] = turns[i].index;
}

enum crux_status gen_place(struct gen *gen, struct crux_error *err)
{
	uint32_t hosts = crux_topology_n_hosts(gen->topo), jobs = gen->n_jobs + gen->n_lone;
	struct place p = {.gen = gen, .n = hosts};
	struct turn *turns = crux_array(hosts > jobs ? hosts : jobs, sizeof(*turns));
	struct crux_rng rng = gen_rng(gen, GEN_HOSTS), order = gen_rng(gen, GEN_RANKS);
	enum crux_status status = CRUX_OK;

	p.ring = crux_array(hosts, sizeof(*p.ring));
	p.free = crux_array(hosts, sizeof(*p.free));
	p.active = crux_array(jobs, sizeof(*p.active));
	if (!turns || !p.ring || !p.free || !p.active) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u hosts", hosts);
	} else {
		set_orders(&p, turns);
		/* Those that are not placed below: anywhere. */
		for (uint32_t i = 0; i < gen->n_workers; i++)
			gen->workers[i].host = (uint32_t)crux_rng_below(&rng, hosts);
		status = run_jobs(&p, &rng, &order, err);
	}
	crux_free(turns);
	crux_free(p.ring);
	crux_free(p.free);
	crux_free(p.active);
	return status;
}

void gen_expect(struct gen *gen)
{
	for (uint32_t i = 0; i < gen->n_jobs; i++) {
		const struct gen_job *job = &gen->jobs[i];
		uint64_t kept[2] = {0, 0};

		if ((job->fate != GEN_RAN && job->fate != GEN_RUNS) || !job->gpus)
			continue;
		for (uint32_t k = 0; k < job->rows; k++) {
			const struct gen_worker *w = &gen->workers[job->first_worker + k];
			bool fine = !w->fault || job->fate == GEN_RUNS;

			kept[0] += fine;
			kept[1] += fine && !w->away;
		}
		for (int replay = 0; replay < 2; replay++) {
			gen->out->kept_jobs[replay] += kept[replay] > 0;
			gen->out->kept_workers[replay] += kept[replay];
		}
	}
}
