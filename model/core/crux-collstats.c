/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-collstats: see crux-collstats.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-progsim, crux-scenario, crux-wiring.
 */
#include "crux-collstats.h"

#include "crux-wiring.h"

#include <math.h>
#include <stdlib.h>

/* An operation of a job: the instance under way, and the row that it counts for. */
struct open_op {
	double start_s, end_s;
	uint64_t iteration;
	uint32_t seen; /* parts */
	uint32_t row;  /* CRUX_NONE: moves nothing, or no collective */
};

struct sum {
	struct crux_coll_row row;
	double total_s, best_s; /* of instances, divided by repeat */
};

struct crux_collstats {
	const struct crux_scenario *scn;
	size_t *first_op; /* [n_jobs] in ops */
	struct open_op *ops;
	struct sum *sums; /* [n_sums] sorted */
	uint32_t n_sums;
};

/* For sorting: an operation with what makes rows alike. */
struct sorted_op {
	struct crux_coll_row row;
	size_t op; /* in ops */
};

static int compare_rows(const struct crux_coll_row *x, const struct crux_coll_row *y)
{
#define BY(field)                                                                                  \
	if (x->field != y->field)                                                                  \
	return x->field < y->field ? -1 : 1
	BY(job);
	BY(kind);
	BY(alg);
	BY(ranks);
	BY(bytes);
	BY(channels);
#undef BY
	return 0;
}

static int compare_sorted(const void *a, const void *b)
{
	const struct sorted_op *x = a, *y = b;
	int order = compare_rows(&x->row, &y->row);

	return order ? order : (x->op > y->op) - (x->op < y->op);
}

static size_t count_ops(const struct crux_scenario *scn)
{
	size_t n = 0;

	for (uint32_t j = 0; j < scn->n_jobs; j++)
		n += scn->jobs[j].program ? scn->jobs[j].program->n_ops : 0;
	return n;
}

static size_t list_ops(struct crux_collstats *stats, struct sorted_op *list)
{
	size_t n = 0, at = 0;

	for (uint32_t j = 0; j < stats->scn->n_jobs; j++) {
		const struct crux_job *job = &stats->scn->jobs[j];

		stats->first_op[j] = at;
		for (uint32_t o = 0; job->program && o < job->program->n_ops; o++, at++) {
			const struct crux_op *op = &job->program->ops[o];

			stats->ops[at].row = CRUX_NONE;
			if (job->wiring->ops[o].coll)
				list[n++] = (struct sorted_op){
					{.job = j,
					 .kind = op->coll,
					 .alg = op->alg,
					 .ranks = job->program->groups[op->group].n,
					 .channels = op->channels,
					 .bytes = op->bytes},
					at};
		}
	}
	return n;
}

enum crux_status crux_collstats_create(const struct crux_scenario *scn, struct crux_collstats **out,
				       struct crux_error *err)
{
	size_t n_ops = count_ops(scn), n, i;
	struct crux_collstats *stats = crux_zeroed(1, sizeof(*stats));
	struct sorted_op *list = crux_array(n_ops, sizeof(*list));

	if (stats) {
		stats->scn = scn;
		stats->first_op = crux_array(scn->n_jobs, sizeof(*stats->first_op));
		stats->ops = crux_zeroed(n_ops, sizeof(*stats->ops));
		stats->sums = crux_zeroed(n_ops, sizeof(*stats->sums));
	}
	if (!stats || !list || !stats->first_op || !stats->ops || !stats->sums) {
		crux_free(list);
		crux_collstats_destroy(stats);
		return crux_fail(err, CRUX_NOMEM, "out of memory for the collectives of %u jobs",
				 scn->n_jobs);
	}
	n = list_ops(stats, list);
	qsort(list, n, sizeof(*list), compare_sorted);
	for (i = 0; i < n; i++) {
		if (!i || compare_rows(&list[i].row, &list[i - 1].row)) {
			stats->sums[stats->n_sums].row = list[i].row;
			stats->sums[stats->n_sums++].best_s = INFINITY;
		}
		stats->ops[list[i].op].row = stats->n_sums - 1;
	}
	crux_free(list);
	*out = stats;
	return CRUX_OK;
}

void crux_collstats_destroy(struct crux_collstats *stats)
{
	if (!stats)
		return;
	crux_free(stats->first_op);
	crux_free(stats->ops);
	crux_free(stats->sums);
	crux_free(stats);
}

static void close_instance(struct crux_collstats *stats, struct open_op *open, uint32_t repeat)
{
	struct sum *sum = &stats->sums[open->row];
	double s = (open->end_s - open->start_s) / repeat;

	sum->row.instances += repeat;
	sum->total_s += s * repeat;
	sum->best_s = fmin(sum->best_s, s);
}

enum crux_status crux_collstats_part(void *context, const struct crux_prog_part *part)
{
	struct crux_collstats *stats = context;
	const struct crux_job *job = &stats->scn->jobs[part->job];
	const struct crux_op *op = &job->program->ops[part->op];
	struct open_op *open = &stats->ops[stats->first_op[part->job] + part->op];

	if (open->row == CRUX_NONE)
		return CRUX_OK;
	if (!open->seen || open->iteration != part->iteration)
		*open = (struct open_op){part->start_s, part->end_s, part->iteration, 0, open->row};
	open->start_s = fmax(open->start_s, part->start_s);
	open->end_s = fmax(open->end_s, part->end_s);
	if (++open->seen == job->program->groups[op->group].n) {
		close_instance(stats, open, op->repeat);
		open->seen = 0;
	}
	return CRUX_OK;
}

enum crux_status crux_collstats_rows(const struct crux_collstats *stats, struct crux_coll_row **out,
				     uint32_t *n, struct crux_error *err)
{
	struct crux_coll_row *rows = crux_array(stats->n_sums, sizeof(*rows));
	uint32_t used = 0;

	if (!rows)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u rows", stats->n_sums);
	for (uint32_t i = 0; i < stats->n_sums; i++) {
		const struct sum *sum = &stats->sums[i];
		struct crux_coll_row *row = &rows[used];
		double factor = crux_coll_bus_factor(sum->row.kind, sum->row.ranks);

		if (!sum->row.instances)
			continue;
		*row = sum->row;
		row->mean_s = sum->total_s / (double)row->instances;
		row->algorithm_Bps = (double)row->bytes / row->mean_s;
		row->bus_Bps = row->algorithm_Bps * factor;
		row->best_bus_Bps = (double)row->bytes / sum->best_s * factor;
		used++;
	}
	*out = rows;
	*n = used;
	return CRUX_OK;
}
