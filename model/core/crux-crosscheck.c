/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-crosscheck: errors, their spread, the worst runs and the order of policies; see
 * crux-crosscheck.h. Depends on crux-base.
 */
#include "crux-crosscheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double error_of(const double value[2])
{
	return value[CRUX_CROSSCHECK_FLOW] / value[CRUX_CROSSCHECK_PACKET] - 1;
}

static double job_error(const struct crux_crosscheck_run *run, uint32_t job)
{
	const double value[2] = {run->iteration_s[0][job], run->iteration_s[1][job]};

	return error_of(value);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Errors of a policy, or all; @p out NULL: count only. */
static uint64_t collect(const struct crux_crosscheck *all, enum crux_crosscheck_what what,
			uint32_t policy, bool met, double *out)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < all->n; i++) {
		const struct crux_crosscheck_result *r = &all->results[i];
		uint32_t values = what == CRUX_CROSSCHECK_ITERATION ? r->what.n_jobs : 1;

		for (uint32_t p = 0; p < all->n_policies; p++) {
			if ((policy != CRUX_NONE && p != policy) || (met && !r->runs[p].met))
				continue;
			for (uint32_t j = 0; j < values; j++, n++)
				if (out)
					out[n] = what == CRUX_CROSSCHECK_ITERATION
							 ? job_error(&r->runs[p], j)
							 : error_of(r->runs[p].utilisation);
		}
	}
	return n;
}

/* Nearest rank in sorted values. */
static double percentile(const double *sorted, uint64_t n, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)n);

	return sorted[rank ? rank - 1 : 0];
}

enum crux_status crux_crosscheck_measure(const struct crux_crosscheck *all,
					 enum crux_crosscheck_what what, uint32_t policy, bool met,
					 struct crux_crosscheck_spread *out, struct crux_error *err)
{
	struct crux_crosscheck_spread spread = {0, NAN, NAN, NAN, NAN};
	double *errors, sum = 0;

	spread.n = collect(all, what, policy, met, NULL);
	if (!spread.n) {
		*out = spread;
		return CRUX_OK;
	}
	errors = crux_array(spread.n, sizeof(*errors));
	if (!errors)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %llu errors",
				 (unsigned long long)spread.n);
	collect(all, what, policy, met, errors);
	for (uint64_t i = 0; i < spread.n; i++) {
		sum += errors[i];
		errors[i] = fabs(errors[i]);
	}
	qsort(errors, spread.n, sizeof(*errors), ascending);
	spread.median = percentile(errors, spread.n, 0.5);
	spread.p95 = percentile(errors, spread.n, 0.95);
	spread.most = errors[spread.n - 1];
	spread.mean = sum / (double)spread.n;
	crux_free(errors);
	*out = spread;
	return CRUX_OK;
}

bool crux_crosscheck_keeps(const struct crux_crosscheck_spread *spread)
{
	return spread->median <= CRUX_CROSSCHECK_MEDIAN && spread->p95 <= CRUX_CROSSCHECK_P95;
}

double crux_crosscheck_worst_job(const struct crux_crosscheck_result *result, uint32_t policy,
				 uint32_t *job)
{
	double worst = 0;

	*job = 0;
	for (uint32_t j = 0; j < result->what.n_jobs; j++) {
		double error = job_error(&result->runs[policy], j);

		if (fabs(error) > fabs(worst)) {
			worst = error;
			*job = j;
		}
	}
	return worst;
}

static int worst_first(const void *a, const void *b)
{
	const struct crux_crosscheck_worst *x = a, *y = b;
	double ex = fabs(x->error), ey = fabs(y->error);

	if (ex != ey)
		return ex > ey ? -1 : 1;
	if (x->result != y->result)
		return x->result < y->result ? -1 : 1;
	return (x->policy > y->policy) - (x->policy < y->policy);
}

enum crux_status crux_crosscheck_rank(const struct crux_crosscheck *all, uint32_t most,
				      struct crux_crosscheck_worst *out, uint32_t *n,
				      struct crux_error *err)
{
	struct crux_crosscheck_worst *list =
		crux_array(all->n * all->n_policies + 1, sizeof(*list));
	uint64_t found = 0;

	if (!list)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %llu runs",
				 (unsigned long long)(all->n * all->n_policies));
	for (uint64_t i = 0; i < all->n; i++)
		for (uint32_t p = 0; p < all->n_policies; p++) {
			struct crux_crosscheck_worst *w = &list[found];

			if (all->results[i].runs[p].same_as != p)
				continue;
			*w = (struct crux_crosscheck_worst){.result = i, .policy = p};
			w->error = crux_crosscheck_worst_job(&all->results[i], p, &w->job);
			found++;
		}
	qsort(list, found, sizeof(*list), worst_first);
	*n = found < most ? (uint32_t)found : most;
	memcpy(out, list, *n * sizeof(*list));
	crux_free(list);
	return CRUX_OK;
}

static double difference(double a, double b)
{
	double larger = fmax(a, b);

	return larger > 0 ? (a - b) / larger : 0;
}

/* Do they have to be in one order, and are they? */
static bool must_agree(const double d[2], enum crux_crosscheck_where where)
{
	bool first = fabs(d[0]) > CRUX_CROSSCHECK_DISTINCT;
	bool second = fabs(d[1]) > CRUX_CROSSCHECK_DISTINCT;

	return where == CRUX_CROSSCHECK_BOTH ? first && second : first || second;
}

/* Equal but for rounding is no order. */
static bool agree(const double d[2])
{
	return d[0] * d[1] > 0 && fabs(d[0]) > 1e-9 && fabs(d[1]) > 1e-9;
}

/* Pairs of policies of one place, by utilisation [policy][level]. */
static void compare(const double (*u)[2], uint32_t n, enum crux_crosscheck_where where,
		    struct crux_crosscheck_violation v, uint32_t most,
		    struct crux_crosscheck_violation *out, uint64_t *pairs, uint64_t *violations)
{
	for (v.a = 0; v.a < n; v.a++)
		for (v.b = v.a + 1; v.b < n; v.b++) {
			for (int level = 0; level < 2; level++)
				v.difference[level] = difference(u[v.a][level], u[v.b][level]);
			if (!must_agree(v.difference, where))
				continue;
			++*pairs;
			if (agree(v.difference))
				continue;
			if (*violations < most)
				out[*violations] = v;
			++*violations;
		}
}

void crux_crosscheck_order(const struct crux_crosscheck *all, enum crux_crosscheck_where where,
			   uint32_t most, struct crux_crosscheck_violation *out, uint64_t *pairs,
			   uint64_t *violations)
{
	double u[CRUX_CROSSCHECK_POLICIES][2];

	*pairs = *violations = 0;
	for (uint64_t i = 0; i < all->n; i++) {
		for (uint32_t p = 0; p < all->n_policies; p++)
			memcpy(u[p], all->results[i].runs[p].utilisation, sizeof(u[p]));
		compare((const double(*)[2])u, all->n_policies, where,
			(struct crux_crosscheck_violation){.result = i}, most, out, pairs,
			violations);
	}
}

double crux_crosscheck_mean(const struct crux_crosscheck *all, uint32_t policy,
			    enum crux_crosscheck_level level)
{
	double sum = 0;

	for (uint64_t i = 0; i < all->n; i++)
		sum += all->results[i].runs[policy].utilisation[level];
	return sum / (double)all->n;
}

void crux_crosscheck_order_of_means(const struct crux_crosscheck *all, uint32_t most,
				    struct crux_crosscheck_violation *out, uint64_t *pairs,
				    uint64_t *violations)
{
	double u[CRUX_CROSSCHECK_POLICIES][2];

	*pairs = *violations = 0;
	for (uint32_t p = 0; p < all->n_policies; p++)
		for (int level = 0; level < 2; level++)
			u[p][level] =
				crux_crosscheck_mean(all, p, (enum crux_crosscheck_level)level);
	compare((const double(*)[2])u, all->n_policies, CRUX_CROSSCHECK_EITHER,
		(struct crux_crosscheck_violation){.result = UINT64_MAX}, most, out, pairs,
		violations);
}
