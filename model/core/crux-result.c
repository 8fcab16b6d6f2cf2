/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-result: see crux-result.h. Depends on crux-base.
 */
#include "crux-result.h"

#include <inttypes.h>
#include <math.h>

struct job_rows {
	struct crux_iteration *items;
	size_t n, cap;
};

struct crux_rows {
	uint32_t n_jobs;
	struct job_rows *jobs; /* [n_jobs] */
};

enum crux_status crux_rows_create(uint32_t n_jobs, struct crux_rows **out, struct crux_error *err)
{
	struct crux_rows *rows = crux_zeroed(1, sizeof(*rows));

	if (rows)
		rows->jobs = crux_zeroed(n_jobs, sizeof(*rows->jobs));
	if (!rows || !rows->jobs) {
		crux_free(rows);
		return crux_fail(err, CRUX_NOMEM, "out of memory for the rows of %" PRIu32 " jobs",
				 n_jobs);
	}
	rows->n_jobs = n_jobs;
	*out = rows;
	return CRUX_OK;
}

void crux_rows_destroy(struct crux_rows *rows)
{
	if (!rows)
		return;
	for (uint32_t j = 0; j < rows->n_jobs; j++)
		crux_free(rows->jobs[j].items);
	crux_free(rows->jobs);
	crux_free(rows);
}

/* Times of a row are finite and in order; the comparison is false for a NAN. */
static bool row_is_sound(const struct crux_iteration *row)
{
	return row->start_s >= 0 && row->compute_end_s >= row->start_s &&
	       row->comm_start_s >= row->start_s && row->comm_end_s >= row->comm_start_s &&
	       row->end_s >= row->compute_end_s && row->end_s >= row->comm_end_s &&
	       isfinite(row->end_s) && row->busy_s >= 0 &&
	       row->busy_s <= (row->compute_end_s - row->start_s) * (1 + 1e-9);
}

enum crux_status crux_rows_add(struct crux_rows *rows, uint32_t job,
			       const struct crux_iteration *row, struct crux_error *err)
{
	struct job_rows *of;
	enum crux_status status;

	if (job >= rows->n_jobs)
		return crux_fail(err, CRUX_RANGE,
				 "iteration of job %" PRIu32 ", but there are %" PRIu32 " jobs",
				 job, rows->n_jobs);
	if (!row_is_sound(row))
		return crux_fail(err, CRUX_INVALID,
				 "iteration of job %" PRIu32
				 " has times out of order: start %g, computation to %g, "
				 "communication %g to %g, end %g s, busy %g s",
				 job, row->start_s, row->compute_end_s, row->comm_start_s,
				 row->comm_end_s, row->end_s, row->busy_s);
	of = &rows->jobs[job];
	status = crux_reserve((void **)&of->items, &of->cap, of->n + 1, sizeof(*of->items), err);
	if (status)
		return status;
	of->items[of->n++] = *row;
	return CRUX_OK;
}

const struct crux_iteration *crux_rows_of(const struct crux_rows *rows, uint32_t job, uint64_t *n)
{
	if (job >= rows->n_jobs) {
		*n = 0;
		return NULL;
	}
	*n = rows->jobs[job].n;
	return rows->jobs[job].items;
}

/* Seconds of computation of a job inside [0, until]: each interval is clipped. */
static double computing_s(const struct job_rows *of, double until)
{
	double sum = 0;

	for (size_t i = 0; i < of->n; i++) {
		const struct crux_iteration *row = &of->items[i];
		double whole = row->compute_end_s - row->start_s;
		double inside = fmin(row->compute_end_s, until) - row->start_s;

		if (row->start_s < until)
			sum += row->busy_s > 0 && row->busy_s < whole ? inside * row->busy_s / whole
								      : inside;
	}
	return sum;
}

static void summarise_job(const struct job_rows *of, const struct crux_job_facts *facts,
			  struct crux_job_summary *out)
{
	double iteration_s = 0, exposed_s = 0;

	for (size_t i = 0; i < of->n; i++) {
		iteration_s += of->items[i].end_s - of->items[i].start_s;
		exposed_s += of->items[i].end_s - of->items[i].compute_end_s;
	}
	out->iterations = of->n;
	out->finished = facts->max_iterations > 0 && of->n >= facts->max_iterations;
	out->mean_iteration_s = of->n ? iteration_s / (double)of->n : NAN;
	out->exposed_s = of->n ? exposed_s / (double)of->n : NAN;
	out->jct_s = out->finished ? of->items[of->n - 1].end_s - facts->arrival_s : NAN;
	out->busy_gpu_s = facts->gpus * computing_s(of, INFINITY);
}

/* Busy GPU-seconds of all jobs inside [0, until] / (gpus x until); NAN for no GPUs or no time. */
static double utilisation(const struct crux_rows *rows, const struct crux_job_facts *jobs,
			  double until, uint64_t gpus)
{
	double busy = 0;

	if (!gpus || !(until > 0))
		return NAN;
	for (uint32_t j = 0; j < rows->n_jobs; j++)
		busy += jobs[j].gpus * computing_s(&rows->jobs[j], until);
	return busy / ((double)gpus * until);
}

static void summarise_all(const struct crux_rows *rows, const struct crux_job_facts *jobs,
			  uint64_t allocated, uint32_t cluster_gpus, struct crux_summary *sum)
{
	sum->first_end_s = NAN;
	sum->last_end_s = 0;
	for (uint32_t j = 0; j < rows->n_jobs; j++) {
		const struct job_rows *of = &rows->jobs[j];

		summarise_job(of, &jobs[j], &sum->jobs[j]);
		if (!of->n)
			continue;
		sum->last_end_s = fmax(sum->last_end_s, of->items[of->n - 1].end_s);
		/* fmin() ignores the NAN of "none yet". */
		if (sum->jobs[j].finished)
			sum->first_end_s = fmin(sum->first_end_s, of->items[of->n - 1].end_s);
	}
	sum->utilisation = utilisation(rows, jobs, sum->first_end_s, allocated);
	sum->cluster_utilisation = utilisation(rows, jobs, sum->first_end_s, cluster_gpus);
	sum->utilisation_to_last = utilisation(rows, jobs, sum->last_end_s, allocated);
}

enum crux_status crux_summarise(const struct crux_rows *rows, const struct crux_job_facts *jobs,
				uint32_t n_jobs, uint32_t cluster_gpus, struct crux_summary **out,
				struct crux_error *err)
{
	struct crux_summary *sum;
	uint64_t allocated = 0;

	if (n_jobs != rows->n_jobs)
		return crux_fail(err, CRUX_INVALID,
				 "rows of %" PRIu32 " jobs, but facts of %" PRIu32, rows->n_jobs,
				 n_jobs);
	for (uint32_t j = 0; j < n_jobs; j++)
		allocated += jobs[j].gpus - jobs[j].again;
	if (allocated > cluster_gpus)
		return crux_fail(err, CRUX_CAPACITY,
				 "the jobs hold %" PRIu64 " GPUs, but the cluster has %" PRIu32,
				 allocated, cluster_gpus);
	sum = crux_zeroed(1, sizeof(*sum));
	if (sum)
		sum->jobs = crux_zeroed(n_jobs, sizeof(*sum->jobs));
	if (!sum || !sum->jobs) {
		crux_free(sum);
		return crux_fail(err, CRUX_NOMEM,
				 "out of memory for the summary of %" PRIu32 " jobs", n_jobs);
	}
	sum->n_jobs = n_jobs;
	summarise_all(rows, jobs, allocated, cluster_gpus, sum);
	*out = sum;
	return CRUX_OK;
}

void crux_summary_destroy(struct crux_summary *summary)
{
	if (!summary)
		return;
	crux_free(summary->jobs);
	crux_free(summary);
}
