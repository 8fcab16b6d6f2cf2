/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-priority: see crux-priority.h. Depends on crux-timeline.
 */
#include "crux-priority.h"

#include <math.h>
#include <stdlib.h>

#define ZERO 1e-10 /* relative: a share's difference below this is none */
#define SAME 1e-11 /* relative: keys closer than this are equal */

/* Share of the link of a job under another, and of its error. */
static double second_share(const struct crux_timeline_job *upper,
			   const struct crux_timeline_job *lower, double *error)
{
	double error_s, mean = crux_timeline_lower_s(upper, lower, &error_s);

	*error = 0;
	if (!(lower->comm_s > 0) || isinf(mean))
		return 0;
	*error = lower->comm_s / mean * error_s / mean;
	return lower->comm_s / mean;
}

/* What a job loses by being second; 0 when it is none but for rounding. */
static double loss(const struct crux_timeline_job *upper, const struct crux_timeline_job *lower)
{
	double alone, second, error, d;

	if (!(lower->comm_s > 0))
		return 0;
	alone = lower->comm_s / crux_timeline_alone_s(lower);
	second = second_share(upper, lower, &error);
	d = alone - second;
	return d > fmax(ZERO * alone, 2 * error) ? d : 0;
}

double crux_correction_factor(const struct crux_timeline_job *r, const struct crux_timeline_job *j)
{
	double d_r = loss(j, r), d_j = loss(r, j);

	if (d_r == 0)
		return d_j == 0 ? 1 : INFINITY;
	return d_j / d_r;
}

uint32_t crux_priority_reference(const struct crux_priority_job *jobs, uint32_t n)
{
	uint32_t r = 0;

	for (uint32_t j = 1; j < n; j++)
		if (jobs[j].network_bytes > jobs[r].network_bytes ||
		    (jobs[j].network_bytes == jobs[r].network_bytes && jobs[j].id < jobs[r].id))
			r = j;
	return n ? r : CRUX_NONE;
}

double crux_priority_value(double k, double intensity)
{
	return k == 0 || intensity == 0 ? 0 : k * intensity;
}

void crux_priority_assign(struct crux_priority_job *jobs, uint32_t n, uint32_t *reference)
{
	uint32_t r = crux_priority_reference(jobs, n);

	for (uint32_t j = 0; j < n; j++) {
		struct crux_priority_job *job = &jobs[j];

		job->k = j == r ? 1 : crux_correction_factor(&jobs[r].timeline, &job->timeline);
		job->priority = crux_priority_value(job->k, job->intensity);
	}
	*reference = r;
}

void crux_fairness_mix(double weight, const struct crux_problem *problem, double *priority)
{
	double most = 0;

	if (!(weight > 0))
		return;
	for (uint32_t j = 0; j < problem->n_jobs; j++)
		if (isfinite(priority[j]))
			most = fmax(most, priority[j]);
	for (uint32_t j = 0; j < problem->n_jobs; j++) {
		double slowdown = fmax(problem->jobs[j].slowdown, 1), relative = 0;

		if (isinf(priority[j]))
			relative = 1;
		else if (most > 0)
			relative = priority[j] / most;
		priority[j] = (1 - weight) * relative + weight * (1 - 1 / slowdown);
	}
}

struct rank_row {
	double first, second;
	int64_t id;
	uint32_t index;
};

static int falling(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_first(const void *a, const void *b)
{
	const struct rank_row *x = a, *y = b;
	int by_first = falling(x->first, y->first);

	return by_first ? by_first : (x->id > y->id) - (x->id < y->id);
}

static int compare_second(const void *a, const void *b)
{
	const struct rank_row *x = a, *y = b;
	int by_second = falling(x->second, y->second);

	return by_second ? by_second : (x->id > y->id) - (x->id < y->id);
}

static int compare_id(const void *a, const void *b)
{
	const struct rank_row *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool same(double a, double b)
{
	return a == b ||
	       (isfinite(a) && isfinite(b) && fabs(a - b) <= SAME * fmax(fabs(a), fabs(b)));
}

/* End of the run of rows from `i` on whose key equals the run's first. */
static uint32_t run_end(const struct rank_row *rows, uint32_t i, uint32_t end, bool second)
{
	uint32_t j = i + 1;

	while (j < end && same(second ? rows[i].second : rows[i].first,
			       second ? rows[j].second : rows[j].first))
		j++;
	return j;
}

enum crux_status crux_rank(const double *first, const double *second, const int64_t *id, uint32_t n,
			   uint32_t *order, struct crux_error *err)
{
	struct rank_row *rows = crux_array(n, sizeof(*rows));

	if (!rows)
		return crux_fail(err, CRUX_NOMEM, "out of memory for ranking %u jobs", n);
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct rank_row){first[i], second ? second[i] : 0, id[i], i};
	qsort(rows, n, sizeof(*rows), compare_first);
	for (uint32_t i = 0, end; i < n; i = end) {
		end = run_end(rows, i, n, false);
		qsort(rows + i, end - i, sizeof(*rows), compare_second);
		for (uint32_t j = i, last; j < end; j = last) {
			last = run_end(rows, j, end, true);
			qsort(rows + j, last - j, sizeof(*rows), compare_id);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = rows[i].index;
	crux_free(rows);
	return CRUX_OK;
}
