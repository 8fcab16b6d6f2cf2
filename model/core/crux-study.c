/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-study: see crux-study.h. Depends on crux-study-judge, crux-policy, crux-plus,
 * crux-compress, crux-intensity, crux-priority.
 */
#include "crux-study.h"

#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-plus.h"
#include "crux-priority.h"
#include "crux-study-judge.h"

#include <stdlib.h>
#include <string.h>

#define N CRUX_STUDY_JOBS
#define K CRUX_STUDY_LEVELS

struct study {
	struct crux_study_case c;
	struct crux_judge *judge;
	struct crux_options options;
	struct crux_study_result *r;
	struct crux_error *err;
	/* The problem on the best paths: one candidate a flow. */
	struct crux_path_set pinned_sets[N];
	struct crux_flow pinned_flows[N];
	struct crux_problem pinned;
	uint32_t shares[N]; /* on the best paths: bit k of shares[j] when j and k share a link */
	uint32_t full_order[N]; /* R* */
};

static const struct {
	enum crux_study_set set;
	const char *name;
} set_names[] = {{CRUX_STUDY_MODERATE, "moderate"}, {CRUX_STUDY_HEAVY, "heavy"}};

enum crux_status crux_study_set_find(const char *name, enum crux_study_set *out,
				     struct crux_error *err)
{
	for (size_t i = 0; i < sizeof(set_names) / sizeof(set_names[0]); i++) {
		if (strcmp(set_names[i].name, name) != 0)
			continue;
		*out = set_names[i].set;
		return CRUX_OK;
	}
	return crux_fail(err, CRUX_NOT_FOUND, "no set \"%s\"; there are: moderate, heavy", name);
}

const char *crux_study_set_name(enum crux_study_set set)
{
	return set_names[set].name;
}

const char *crux_study_mechanism_name(enum crux_study_mechanism mechanism)
{
	static const char *const names[] = {"paths", "ranking", "compression", "together"};

	return names[mechanism];
}

/* Time-shifting policies (cassini) decide something else than paths and levels: not here. */
static const struct crux_study_entry all_entries[] = {
	{CRUX_STUDY_PATHS, "crux"},
	{CRUX_STUDY_PATHS, "crux-plus"},
	{CRUX_STUDY_PATHS, "taccl"},
	{CRUX_STUDY_PATHS, "ecmp"},
	{CRUX_STUDY_RANKING, "crux"},
	{CRUX_STUDY_RANKING, "crux-plus"},
	{CRUX_STUDY_RANKING, "intensity"},
	{CRUX_STUDY_RANKING, "sincronia"},
	{CRUX_STUDY_RANKING, "varys"},
	{CRUX_STUDY_RANKING, "taccl"},
	{CRUX_STUDY_COMPRESSION, "crux"},
	{CRUX_STUDY_COMPRESSION, "crux-exact"},
	{CRUX_STUDY_COMPRESSION, "crux-plus"},
	{CRUX_STUDY_COMPRESSION, "sincronia"},
	{CRUX_STUDY_COMPRESSION, "varys"},
	{CRUX_STUDY_TOGETHER, "crux"},
	{CRUX_STUDY_TOGETHER, "crux-exact"},
	{CRUX_STUDY_TOGETHER, "crux-plus"},
	{CRUX_STUDY_TOGETHER, "sincronia"},
	{CRUX_STUDY_TOGETHER, "varys"},
	{CRUX_STUDY_TOGETHER, "taccl"},
	{CRUX_STUDY_TOGETHER, "ecmp"},
};

uint32_t crux_study_entries(struct crux_study_entry *out)
{
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(all_entries) / sizeof(all_entries[0]); i++) {
		const struct crux_policy *policy;
		const char *name = all_entries[i].policy;

		if (!strcmp(name, "intensity") || crux_policy_find(name, &policy, NULL) == CRUX_OK)
			out[n++] = all_entries[i];
	}
	return n;
}

/* Count up digits 0..base-1, the last the fastest; false after the last. */
static bool next_digits(uint32_t *digits, uint32_t base)
{
	for (uint32_t i = N; i-- > 0;) {
		if (++digits[i] < base)
			return true;
		digits[i] = 0;
	}
	return false;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

/* Next permutation in lexicographic order; false after the last. */
static bool next_permutation(uint32_t *a)
{
	uint32_t i = N - 1, k = N - 1;

	while (i > 0 && a[i - 1] >= a[i])
		i--;
	if (!i)
		return false;
	while (a[k] <= a[i - 1])
		k--;
	swap(&a[i - 1], &a[k]);
	for (k = N - 1; i < k; i++, k--)
		swap(&a[i], &a[k]);
	return true;
}

static enum crux_status judge(struct study *s, const uint32_t *candidate, const uint32_t *level,
			      double *u)
{
	return crux_judge_utilisation(s->judge, candidate, level, u, s->err);
}

/* The best levels on given paths, of all or of those valid for a ranking (rank by job). */
static enum crux_status best_levels(struct study *s, const uint32_t *candidate,
				    const uint32_t *rank, uint32_t *best, double *u)
{
	uint32_t level[N] = {0};

	*u = -1;
	do {
		double here;
		bool valid = true;
		enum crux_status status;

		for (uint32_t a = 0; rank && a < N; a++)
			for (uint32_t b = 0; b < N; b++)
				valid &= !(s->shares[a] >> b & 1) || rank[a] >= rank[b] ||
					 level[a] <= level[b];
		if (!valid)
			continue;
		status = judge(s, candidate, level, &here);
		if (status != CRUX_OK)
			return status;
		if (here > *u) {
			*u = here;
			if (best)
				memcpy(best, level, sizeof(level));
		}
	} while (next_digits(level, K));
	return CRUX_OK;
}

static enum crux_status find_optimum(struct study *s)
{
	uint32_t path[N] = {0};

	s->r->optimum = -1;
	do {
		uint32_t level[N];
		double u;
		enum crux_status status = best_levels(s, path, NULL, level, &u);

		if (status != CRUX_OK)
			return status;
		if (u > s->r->optimum) {
			s->r->optimum = u;
			memcpy(s->r->best_path, path, sizeof(path));
			memcpy(s->r->best_level, level, sizeof(level));
		}
	} while (next_digits(path, CRUX_STUDY_AGGS));
	return CRUX_OK;
}

/* Every job alone: as if none shared a link. */
static enum crux_status find_alone(struct study *s)
{
	struct crux_problem one = s->c.problem;
	double busy = 0, gpus = 0;

	for (uint32_t j = 0; j < N; j++) {
		struct crux_problem_job job = s->c.jobs[j];
		struct crux_flow flow = s->c.flows[j];
		struct crux_judge *alone;
		uint32_t zero = 0;
		double u;
		enum crux_status status;

		job.first_flow = flow.job = 0;
		one.n_jobs = one.n_flows = 1;
		one.jobs = &job;
		one.flows = &flow;
		status = crux_judge_create(&one, &s->c.start_s[j], CRUX_STUDY_HORIZON_S, &alone,
					   s->err);
		if (status != CRUX_OK)
			return status;
		status = crux_judge_utilisation(alone, &zero, &zero, &u, s->err);
		crux_judge_destroy(alone);
		if (status != CRUX_OK)
			return status;
		busy += u * job.gpus;
		gpus += job.gpus;
	}
	s->r->gpus = (uint32_t)gpus;
	s->r->alone = busy / gpus;
	return CRUX_OK;
}

static void pin_paths(struct study *s)
{
	const struct crux_problem *p = &s->c.problem;

	for (uint32_t f = 0; f < N; f++) {
		const struct crux_path_set *set = p->flows[f].candidates;

		s->pinned_sets[f] = (struct crux_path_set){
			1, set->hops, set->links + (size_t)s->r->best_path[f] * set->hops};
		s->pinned_flows[f] = p->flows[f];
		s->pinned_flows[f].candidates = &s->pinned_sets[f];
		s->pinned_flows[f].ecmp_candidate = 0;
	}
	s->pinned = *p;
	s->pinned.flows = s->pinned_flows;
	for (uint32_t a = 0; a < N; a++) {
		s->shares[a] = 0;
		for (uint32_t b = 0; b < N; b++)
			for (uint32_t i = 0; i < s->pinned_sets[a].hops && a != b; i++)
				for (uint32_t k = 0; k < s->pinned_sets[b].hops; k++)
					if (s->pinned_sets[a].links[i].v ==
					    s->pinned_sets[b].links[k].v)
						s->shares[a] |= 1U << b;
	}
}

/* R*: the best of all rankings on P* when each has a level of its own. */
static enum crux_status find_full_ranking(struct study *s)
{
	uint32_t order[N], level[N];
	double best = -1;

	for (uint32_t i = 0; i < N; i++)
		order[i] = i;
	do {
		double u;
		enum crux_status status;

		for (uint32_t i = 0; i < N; i++)
			level[order[i]] = i;
		status = judge(s, s->r->best_path, level, &u);
		if (status != CRUX_OK)
			return status;
		if (u > best) {
			best = u;
			memcpy(s->full_order, order, sizeof(order));
		}
	} while (next_permutation(order));
	return CRUX_OK;
}

static enum crux_status decide(struct study *s, const char *name,
			       const struct crux_problem *problem, struct crux_plan **plan)
{
	const struct crux_policy *policy;
	enum crux_status status = crux_policy_find(name, &policy, s->err);

	if (status == CRUX_OK)
		status = policy->decide(problem, &s->options, plan, s->err);
	if (status != CRUX_OK)
		crux_fail_prefix(s->err, "case %llu, policy %s: ", (unsigned long long)s->r->index,
				 name);
	return status;
}

static enum crux_status judge_plan(struct study *s, const char *name, bool best_of_levels,
				   double *u)
{
	struct crux_plan *plan;
	uint32_t candidate[N], level[N];
	enum crux_status status = decide(s, name, &s->c.problem, &plan);

	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < N; j++) {
		candidate[j] = plan->flows[j].candidate;
		level[j] = plan->jobs[j].level;
	}
	crux_plan_destroy(plan);
	if (best_of_levels)
		return best_levels(s, candidate, NULL, NULL, u);
	return judge(s, candidate, level, u);
}

/* Ranking by intensity alone, all correction factors 1. */
static enum crux_status rank_by_intensity(struct study *s, uint32_t *order)
{
	struct crux_traffic traffic[N];
	uint32_t zero[N] = {0};
	double intensity[N];
	int64_t id[N];
	enum crux_status status = crux_traffic_all(&s->pinned, zero, traffic, s->err);

	for (uint32_t j = 0; status == CRUX_OK && j < N; j++) {
		intensity[j] = traffic[j].intensity;
		id[j] = s->c.jobs[j].id;
	}
	return status == CRUX_OK ? crux_rank(intensity, NULL, id, N, order, s->err) : status;
}

static enum crux_status judge_ranking(struct study *s, const char *name, double *u)
{
	uint32_t rank[N];
	enum crux_status status;

	if (!strcmp(name, "intensity")) {
		uint32_t order[N];

		status = rank_by_intensity(s, order);
		for (uint32_t i = 0; status == CRUX_OK && i < N; i++)
			rank[order[i]] = i;
	} else {
		struct crux_plan *plan;

		status = decide(s, name, &s->pinned, &plan);
		if (status == CRUX_OK) {
			for (uint32_t j = 0; j < N; j++)
				rank[j] = plan->jobs[j].rank;
			crux_plan_destroy(plan);
		}
	}
	if (status != CRUX_OK)
		return status;
	return best_levels(s, s->r->best_path, rank, NULL, u);
}

static enum crux_status compress_dag(struct study *s, bool exact, uint32_t *level)
{
	uint32_t zero[N] = {0}, by_rank[N];
	struct crux_traffic traffic[N];
	double intensity[N], cut;
	struct crux_dag *dag;
	enum crux_status status = crux_traffic_all(&s->pinned, zero, traffic, s->err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < N; j++)
		intensity[j] = traffic[j].intensity;
	status = crux_dag_from_problem(&s->pinned, zero, s->full_order, intensity, &dag, s->err);
	if (status != CRUX_OK)
		return status;
	status = exact ? crux_compress_exact(dag, K, by_rank, &cut, s->err)
		       : crux_compress_sampled(dag, K, s->options.sampled_orders, s->options.seed,
					       by_rank, &cut, s->err);
	crux_dag_destroy(dag);
	for (uint32_t i = 0; status == CRUX_OK && i < N; i++)
		level[s->full_order[i]] = by_rank[i];
	return status;
}

static enum crux_status judge_compression(struct study *s, const char *name, double *u)
{
	uint32_t level[N], zero[N] = {0};
	enum crux_status status = CRUX_OK;

	if (!strcmp(name, "crux-plus"))
		status = crux_plus_compress(&s->pinned, zero, s->full_order, &s->options, level,
					    s->err);
	else if (!strcmp(name, "crux") || !strcmp(name, "crux-exact"))
		status = compress_dag(s, name[4] != 0, level);
	else
		for (uint32_t i = 0; i < N; i++)
			level[s->full_order[i]] = !strcmp(name, "varys")
							  ? crux_level_varys(i, N, K)
							  : crux_level_sincronia(i, N, K);
	if (status != CRUX_OK)
		return status;
	return judge(s, s->r->best_path, level, u);
}

static enum crux_status judge_all(struct study *s)
{
	struct crux_study_entry entries[CRUX_STUDY_MAX_ENTRIES];
	uint32_t n = crux_study_entries(entries);

	for (uint32_t i = 0; i < n; i++) {
		const char *name = entries[i].policy;
		double *u = &s->r->utilisation[i];
		enum crux_status status;

		if (entries[i].mechanism == CRUX_STUDY_RANKING)
			status = judge_ranking(s, name, u);
		else if (entries[i].mechanism == CRUX_STUDY_COMPRESSION)
			status = judge_compression(s, name, u);
		else
			status = judge_plan(s, name, entries[i].mechanism == CRUX_STUDY_PATHS, u);
		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}

enum crux_status crux_study_run(uint64_t seed, uint64_t index, enum crux_study_set set,
				struct crux_study_result *out, struct crux_error *err)
{
	struct crux_study_result result = {.index = index};
	struct study *s = crux_zeroed(1, sizeof(*s));
	enum crux_status status;

	if (!s)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a case of the study");
	s->r = &result;
	s->err = err;
	crux_options_default(&s->options);
	s->options.levels = K;
	s->options.seed = crux_mix64(seed + index);
	crux_study_case_make(seed, index, set, &s->c);
	result.tors = s->c.tors;
	result.hosts = s->c.hosts;
	status = crux_judge_create(&s->c.problem, s->c.start_s, CRUX_STUDY_HORIZON_S, &s->judge,
				   err);
	if (status == CRUX_OK)
		status = find_alone(s);
	if (status == CRUX_OK)
		status = find_optimum(s);
	if (status == CRUX_OK) {
		pin_paths(s);
		status = find_full_ranking(s);
	}
	if (status == CRUX_OK)
		status = judge_all(s);
	if (status == CRUX_OK) {
		result.engine_runs = crux_judge_runs(s->judge);
		*out = result;
	}
	crux_judge_destroy(s->judge);
	crux_free(s);
	return status;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void crux_study_summarise(const struct crux_study_result *results, uint64_t n, uint32_t entry,
			  double *scratch, struct crux_study_summary *out)
{
	*out = (struct crux_study_summary){0};
	for (uint64_t i = 0; i < n; i++) {
		scratch[i] = results[i].utilisation[entry] / results[i].optimum;
		out->mean += scratch[i] / (double)n;
		out->optimal += scratch[i] >= 1 - 1e-9;
	}
	qsort(scratch, n, sizeof(*scratch), compare);
	out->least = scratch[0];
	out->p05 = scratch[n / 20];
	out->p50 = scratch[n / 2];
}
