/* SPDX-License-Identifier: GPL-2.0-only
 *
 * scheduler-private: between the files of crux-scheduler; no public header.
 *
 * Place: model/core (C11). Depends on crux-scheduler and what it stands on.
 */
#ifndef SCHEDULER_PRIVATE_H
#define SCHEDULER_PRIVATE_H

#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-paths.h"
#include "crux-priority.h"
#include "crux-scheduler.h"

/** What is kept of one job. */
struct scheduler_row {
	struct crux_traffic spread, chosen;
	bool spread_known, chosen_known, k_known;
	double k; /**< of the two timelines below */
	struct crux_timeline_job own, reference;
};

struct scheduler_factor {
	struct crux_timeline_job reference, job;
	double k;
	bool used;
};

struct crux_scheduler {
	double *link_bps;
	bool *link_is_network; /**< NULL: all */
	struct crux_options options;
	struct crux_problem problem; /**< views of jobs and flows */
	uint64_t bytes;		     /**< of all flows */
	/* by row of the problem */
	struct crux_problem_job *jobs;
	struct scheduler_row *rows;
	uint32_t *turn; /**< in the last path selection, CRUX_NONE: none */
	size_t cap_jobs, cap_rows, cap_turn;
	/* by flow of the problem */
	struct crux_flow *flows;
	uint32_t *choice;
	size_t cap_flows, cap_choice;
	/* the last path selection */
	size_t *first;
	struct crux_placement_row *placed;
	size_t n_turns, cap_first, cap_placed;
	struct crux_tally tally;
	struct crux_paths_scratch scratch;
	struct crux_dag_builder *builder;
	struct scheduler_factor *factor; /**< [CRUX_SCHEDULER_FACTORS] by hash */
	struct crux_compress_cache *parts;
};

/** Forget all that was kept, but for what a job has alone. */
void scheduler_forget(struct crux_scheduler *s);

#endif /* SCHEDULER_PRIVATE_H */
