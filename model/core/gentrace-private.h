/* SPDX-License-Identifier: GPL-2.0-only
 *
 * gentrace-private: jobs and workers while a trace is made; what the files of crux-gentrace share.
 *
 * Place: model/core (C11), private to crux-gentrace*.c. Depends on crux-gentrace, crux-topology.
 *
 * Times are minutes from 2023-01-01 00:00.
 */
#ifndef GENTRACE_PRIVATE_H
#define GENTRACE_PRIVATE_H

#include "crux-gentrace.h"
#include "crux-topology.h"

#define GEN_GPUS  8u /* of a host: crux-presets.h's default, and the trace's typical worker */
#define GEN_START ((int64_t)195 * 1440 + 47)	       /* 15 July 00:47 */
#define GEN_LAST  ((int64_t)210 * 1440 + 22 * 60 + 50) /* 30 July 22:50 */
#define GEN_CUT	  ((int64_t)215 * 1440 + 23 * 60 + 59) /* 4 August 23:59 */
#define GEN_NONE  INT64_MIN

/* Random streams of their own, so that one draw more in a step changes no other step. */
enum gen_stream {
	GEN_SIZES = 1,
	GEN_FATES,
	GEN_TIMES,
	GEN_ARRIVALS,
	GEN_LAUNCHES,
	GEN_HOSTS,
	GEN_FAULTS,
	GEN_WORDS,
	GEN_ORDER,
	GEN_RANKS
};

enum gen_fate { GEN_RAN, GEN_RUNS, GEN_NEVER, GEN_EARLY };

struct gen_job {
	enum gen_fate fate;
	bool lone;	 /* without a row in job.csv */
	bool no_times;	 /* NEVER, and nothing at all */
	bool no_end;	 /* NEVER, and not even stopped */
	bool no_workers; /* in worker.csv */
	bool away;	 /* on hosts that the topology lacks */
	uint32_t gpus;	 /* of all workers; 0: none */
	uint32_t rows;	 /* workers */
	int64_t submit, run, finish, queue;
	uint32_t first_worker;
	uint32_t launches; /* of all its workers */
};

enum gen_fault { GEN_FINE, GEN_NO_START, GEN_NO_END, GEN_NO_DURATION, GEN_NO_RES };

struct gen_worker {
	uint32_t job, host; /* host: of the topology, or a number of an unknown one */
	uint32_t launches;
	enum gen_fault fault;
	bool away;
};

struct gen {
	struct crux_gentrace *out;
	uint64_t seed;
	const struct crux_topology *topo;
	struct gen_job *jobs; /* those of job.csv, then the lone ones */
	struct gen_worker *workers;
	uint32_t n_jobs, n_lone, n_workers;
	uint32_t *scratch; /* [n_jobs + n_lone] */
	uint32_t *order;   /* [n_jobs + n_lone] */
	int64_t window;	   /* minutes of submissions */
};

struct crux_rng gen_rng(const struct gen *gen, enum gen_stream stream);
void gen_shuffle(struct crux_rng *rng, uint32_t *items, uint32_t n);
/** Minutes that quantile @p q, 0..1, of the running time and of the queueing has. */
int64_t gen_running_time(double q);
int64_t gen_queueing(double q);

/** @name The steps, in their order. @{ */
void gen_sizes(struct gen *gen);
void gen_fates(struct gen *gen);
enum crux_status gen_times(struct gen *gen, struct crux_error *err);
enum crux_status gen_workers(struct gen *gen, struct crux_error *err);
void gen_faults(struct gen *gen);
enum crux_status gen_place(struct gen *gen, struct crux_error *err);
void gen_expect(struct gen *gen);
enum crux_status gen_write_jobs(struct gen *gen, struct crux_error *err);
enum crux_status gen_write_workers(struct gen *gen, struct crux_error *err);
/** @} */

/** In a field of every row of job.csv, so that a generated file is known as such. */
#define GEN_MARK "crux gen-trace"

#endif /* GENTRACE_PRIVATE_H */
