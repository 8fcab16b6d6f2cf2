/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-figure: results of an example that follows a published figure (tables figure*,
 * doc/results.md): scenarios under several engines, policies and seeds, and what was published.
 *
 * Place: model/core (C11). Depends on crux-base, crux-store.
 *
 * A database holds one figure. Each function adds one row and commits as crux-store does. Rows,
 * runs and published numbers are numbered from 1 in the order of the calls. Times are simulated
 * seconds. A double that is not known is NAN, a text that may be NULL says so; they become NULL.
 * Errors: CRUX_STORE, with the constraint that a row broke: a wrong row or run, NAN or NULL where a
 * value is needed, a combination given twice; the row is left out and the store stays usable.
 */
#ifndef CRUX_STORE_FIGURE_H
#define CRUX_STORE_FIGURE_H

#include "crux-base.h"
#include "crux-store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The figure (table figure, one row); first of all. */
struct crux_figure {
	const char *name, *title; /**< "crux-fig19"; for people */
	const char *baseline;	  /**< policy that others are compared with */
	uint64_t iterations;	  /**< of the job with the longest iteration */
	double scale;		  /**< computation and bytes were divided by it */
	uint64_t first_seed, seeds;
};

/** A scenario (table figure_row). */
struct crux_figure_row {
	const char *part, *label;		 /**< heading of its table, or NULL; for people */
	const char *topology, *jobs, *placement; /**< crux-scenario.h */
};

/** A row under an engine and a policy with a seed (table figure_run). */
struct crux_figure_run {
	int64_t row;
	const char *engine, *policy;
	uint64_t seed;
	double utilisation;	  /**< of the allocated GPUs until the first job ended */
	double alone_utilisation; /**< if every job ran as if alone */
	double first_end_s;	  /**< end of the first job that finished, or NAN */
};

/** A job of a run (table figure_job). */
struct crux_figure_job {
	int64_t run;
	uint32_t job;	     /**< index in its scenario */
	const char *name;    /**< "bert-1" */
	uint32_t gpus;	     /**< count */
	uint32_t level;	     /**< 0 is the highest */
	uint32_t rank;	     /**< 0 is first */
	uint64_t iterations; /**< completed */
	double iteration_s;  /**< mean, beside the others; NAN: none */
	double jct_s;	     /**< end of the last iteration - arrival; NAN: not finished */
	double alone_iteration_s, alone_jct_s; /**< the same job alone, on the same paths */
	double alone_busy_s;		       /**< seconds that a GPU computes in an iteration */
	double t_s; /**< communication of an iteration on its busiest link */
};

/** What a run is compared by (table figure_value). */
struct crux_figure_value {
	int64_t run;
	const char *what, *unit; /**< "GPT's JCT"; "%", "s", "x" */
	double value;		 /**< or NAN */
};

/** What was published of a value (table figure_published). */
struct crux_figure_published {
	const char *what;   /**< as in figure_value, or "utilisation", of figure_run, in % */
	const char *policy; /**< that it is of, or NULL: of all but the baseline */
	double low, high;   /**< a range, or twice the same number */
	const char *unit, *source;
};

enum crux_status crux_store_figure(struct crux_store *store, const struct crux_figure *figure,
				   struct crux_error *err);
/** @p number gets that of the row. */
enum crux_status crux_store_figure_row(struct crux_store *store, const struct crux_figure_row *row,
				       int64_t *number, struct crux_error *err);
/** @p number gets that of the run. */
enum crux_status crux_store_figure_run(struct crux_store *store, const struct crux_figure_run *run,
				       int64_t *number, struct crux_error *err);
enum crux_status crux_store_figure_job(struct crux_store *store, const struct crux_figure_job *job,
				       struct crux_error *err);
enum crux_status crux_store_figure_value(struct crux_store *store,
					 const struct crux_figure_value *value,
					 struct crux_error *err);
enum crux_status crux_store_figure_published(struct crux_store *store,
					     const struct crux_figure_published *published,
					     struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_STORE_FIGURE_H */
