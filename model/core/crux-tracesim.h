/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-tracesim: the flow-level engine for traces: thousands of simple jobs that come and go
 * over weeks, their plans changing as they run (Crux, sections 6.3 and 6.4).
 *
 * Place: model/core (C11). Depends on crux-base, crux-flowsim (links), crux-problem, crux-result.
 *
 * Model: that of crux-flowsim.h. An iteration begun at T computes on [T, T + c]; its flows
 * become ready together at T + o c, move at the max-min fair rate inside their level on what the
 * levels above leave, and are complete at their last bit plus steps x latency of their path; it
 * ends when computation and flows are complete, but not before T + its floor (jobs that take turns
 * on GPUs), and the next begins then, or later where a shift or an alignment says so.
 *
 * Everything is a whole number. Time counts ticks of tick_ps picoseconds. Rates count
 * r = 2^-k bit/s, k the largest with every link at most 2^60 r. What is left of a flow counts
 * r x tick in 128 bits, and rate x time is taken off exactly. Rounded are, each once:
 *  - durations and times given (computation, its share o, latency, arrivals): nearest tick, one
 *    tick at least where they are not 0;
 *  - shares: a link's remainder / open flows, down to a whole r;
 *  - a last bit: the nearest tick, one at least after a flow's start; what the half tick moves
 *    too much or too little is dropped.
 * So an iteration is off by at most 1.5 ticks for computation and latency and half a tick for its
 * last bit, and by its rates' error of r / rate, below 1e-11 with rates of 1 Mbit/s and more beside
 * links of 10 Tbit/s. With the default of 1 ps that is 1e-9 of an iteration of 2 ms.
 *
 * Why whole periods can be skipped, exactly. Jobs that share a link which can fill, directly or
 * through others, form a part; parts do not know of each other between two changes (an arrival,
 * an end, a plan). The future of a part, measured from now, is a function of its state measured
 * from now: which computations and flows are under way, when each timer fires, what is left of
 * each flow. Rates need no place in it, as they are a function of which flows move: the filling
 * has one order (share, then link), in integers, whatever happened before. All of it are integers,
 * and nothing depends on the time of day. So where a state is equal, bit for bit, to an earlier
 * one, P ticks ago, the part repeats what it did in between every P ticks until it is disturbed: m
 * periods add m times the counters' difference. Nothing is approximated, and results with and
 * without skipping are identical (test-tracesim-skip.c). Repetition is found by Brent's method
 * among the moments at which an iteration begins. A job alone repeats after one iteration; jobs of
 * different levels soon, since a preempted job's phase is that of the preempting one; jobs that
 * share fairly keep their phases: equal periods repeat at once, unequal ones c1 and c2 after
 * lcm(c1, c2) in ticks. A coarser tick makes that soon (tick_ps = 10^9: 1 ms), at the error above.
 *
 * Taken as measured, where that is asked for (patience; an approximation). Of a part that has not
 * come back to a state after that many iterations, windows are measured, each as long as all before
 * it. When two in a row agree, every job goes on as in the last: with D iterations of a mean length
 * L / D in it, after t more it has done round(t D / L) more, its flows' bytes and computations
 * with them; the iteration under way, flows, timers stay as they are, later by t. So bytes,
 * computations and iterations agree, times add up, and results do not depend on when somebody
 * looks. Ends by iterations are run. How far off: doc/trace-engine.md.
 *
 * Fewer flows and links than given, as exactly (doc/trace-engine.md):
 *  - a link that cannot fill before others do is left out: its flows, parted by the narrowest
 *    other link that each crosses and that stays, bring no more than it can carry;
 *  - flows of one job that nothing tells apart (bytes, latency, what is left, and links of the same
 *    rates and the same sorts of flows) are one with a weight: colours are refined until they stay.
 *
 * Cost: a change costs the hops of the jobs changed and of those in their parts; an event the
 * logarithm of the part's timers, and a filling of what shares links with what changed, level by
 * level; an undisturbed part nothing after two to three periods, or the patience. A part is
 * advanced only when somebody asks for it, changes it, or a job of it may end.
 */
#ifndef CRUX_TRACESIM_H
#define CRUX_TRACESIM_H

#include "crux-base.h"
#include "crux-flowsim.h"
#include "crux-problem.h"
#include "crux-result.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_TRACESIM_CLASSES 8 /**< most sorts of links */

struct crux_tracesim_options {
	uint32_t n_links;
	const struct crux_sim_link *links; /**< [n_links] */
	/** Sort of each link (say 0 inside hosts, 1 NIC-ToR, 2 ToR-aggregation), below n_classes;
	 * NULL: all 0. Bytes are counted by sort. */
	const uint8_t *link_class;
	uint32_t n_classes; /**< 1..CRUX_TRACESIM_CLASSES */
	uint64_t tick_ps;   /**< a divisor of 10^12; default 1 */
	bool skip;	    /**< advance whole periods at once; default true */
	/**
	 * With skip: iterations that the jobs of a part begin, all together, since it was disturbed
	 * last without a state coming back, before it is taken to go on as measured over the last
	 * half of them: an approximation, see above. 0 (default): never.
	 */
	uint64_t patience;
	/** At every event: no link above its rate, no flow that a link with room holds back, bytes
	 * sent = asked, computation adds up. A failure is CRUX_INVALID, "check: ...". Slow. */
	bool check;
	/** Where rows go, by job handle, each job's in order; then nothing is skipped. NULL: none.
	 */
	const struct crux_sink *sink;
};
/** Tick of 1 ps, one sort, skipping, no check, no sink. */
void crux_tracesim_default(struct crux_tracesim_options *options);

/** What is given of a job, and its part of a plan. Copied; path sets must live on. */
struct crux_tracesim_job {
	/** id, gpus, flop, compute_s, overlap_start, n_flows count. */
	struct crux_problem_job job;
	const struct crux_flow *flows; /**< [job.n_flows] */
	uint64_t max_iterations;       /**< 0: until it is removed */
	enum crux_sim_start start;
	uint32_t level;		   /**< 0 is the highest, below 64 */
	const uint32_t *candidate; /**< [job.n_flows]; NULL: ecmp_candidate */
	double shift_s;		   /**< delay of the first iteration */
	double floor_s;		   /**< its iterations last at least that long (default 0) */
};

/** What a job has done so far, also after its end. Iterations under way count as far as they are,
 * but for the iteration's own sums. An iteration's length includes what it waits for its floor. */
struct crux_tracesim_stats {
	double start_s, end_s; /**< end: of its last iteration, or its removal; NAN while it runs */
	uint64_t iterations;
	double compute_s;	      /**< seconds of computation of each of its GPUs */
	double iteration_s;	      /**< sum of its iterations' lengths */
	double shortest_s, longest_s; /**< of one iteration; NAN when there is none */
	/** Sum over iterations of what communication takes after computation; not the wait for the
	 * floor. */
	double exposed_s;
	double bytes[CRUX_TRACESIM_CLASSES]; /**< on links of each sort; a whole number */
};

/** All that the engine did. Counters of work; results do not depend on them. */
struct crux_tracesim_work {
	uint64_t events;     /**< timers that fired */
	uint64_t solves;     /**< fillings */
	uint64_t iterations; /**< of all jobs, however they were advanced */
	uint64_t skipped;    /**< of these, advanced by whole periods or as measured */
	uint64_t measured;   /**< of these, as measured (patience) */
	uint64_t builds;     /**< parts built */
	uint64_t flows,
		weights; /**< moving flows of the parts built, and how many they stand for */
};

struct crux_tracesim;

/** Checks the options whole: CRUX_RANGE, CRUX_INVALID. */
enum crux_status crux_tracesim_create(const struct crux_tracesim_options *options,
				      struct crux_tracesim **out, struct crux_error *err);
void crux_tracesim_destroy(struct crux_tracesim *sim);

/** Time reached. */
double crux_tracesim_now_s(const struct crux_tracesim *sim);

/**
 * A job starts now. Its handle through @p handle: 0, 1, ... in order of this call. Faults begin
 * "job <id>"; a failed call changes nothing. CRUX_INVALID: iterations without length and without
 * number.
 */
enum crux_status crux_tracesim_add(struct crux_tracesim *sim, const struct crux_tracesim_job *job,
				   uint32_t *handle, struct crux_error *err);
/** A job stops now, within an iteration perhaps. CRUX_NOT_FOUND: it does not run. */
enum crux_status crux_tracesim_remove(struct crux_tracesim *sim, uint32_t handle,
				      struct crux_error *err);
/**
 * Another plan for a job from now on. What is left of its flows goes on at the new level and on
 * the new paths. @p candidate: [n_flows] or NULL, as they are. @p shift_s delays the next
 * iteration that begins, once. CRUX_NOT_FOUND, CRUX_RANGE.
 */
enum crux_status crux_tracesim_plan(struct crux_tracesim *sim, uint32_t handle, uint32_t level,
				    const uint32_t *candidate, double shift_s,
				    struct crux_error *err);

/**
 * Another floor: an iteration that begins from now on lasts at least @p floor_s from its begin, the
 * last one too. The one under way keeps its own. CRUX_NOT_FOUND, CRUX_RANGE; CRUX_INVALID:
 * iterations without length and without number.
 */
enum crux_status crux_tracesim_floor(struct crux_tracesim *sim, uint32_t handle, double floor_s,
				     struct crux_error *err);
/**
 * The next iteration that begins does not begin before @p not_before_s, a time like
 * crux_tracesim_now_s; once. Replaces one that has not been used; a time at or before the present
 * takes it back. With a shift: at the later of end + shift and this. CRUX_NOT_FOUND, CRUX_RANGE.
 */
enum crux_status crux_tracesim_align(struct crux_tracesim *sim, uint32_t handle,
				     double not_before_s, struct crux_error *err);

/** Jobs that have had their iterations, at time now; by handle. Valid until the next call. */
struct crux_tracesim_done {
	uint32_t n;
	const uint32_t *jobs;
};
/**
 * Go on to @p until_s, or to the first time before or at it at which jobs have had their
 * iterations: these have ended and are named in @p done. Events at that time have happened; an
 * iteration that ends at until_s counts, the next has begun. @p until_s = INFINITY: until jobs are
 * done; CRUX_STALLED when none ever will be. After any failure of this call only
 * crux_tracesim_destroy may follow.
 */
enum crux_status crux_tracesim_advance(struct crux_tracesim *sim, double until_s,
				       struct crux_tracesim_done *done, struct crux_error *err);

/** What a job has done by now. CRUX_NOT_FOUND. Fails as crux_tracesim_advance does. */
enum crux_status crux_tracesim_stats(struct crux_tracesim *sim, uint32_t handle,
				     struct crux_tracesim_stats *out, struct crux_error *err);
/** Bytes that every link has carried by now, [n_links]. Fails as crux_tracesim_advance does. */
enum crux_status crux_tracesim_link_bytes(struct crux_tracesim *sim, double *out,
					  struct crux_error *err);
void crux_tracesim_get_work(const struct crux_tracesim *sim, struct crux_tracesim_work *out);

/** @name A trace from its beginning to its end @{ */

/** A job of a trace. */
struct crux_tracesim_arrival {
	double at_s;  /**< >= 0, in rising order */
	double end_s; /**< removed then, >= at_s; INFINITY: it has max_iterations */
	struct crux_tracesim_job job;
};

/** What has just happened: handles. Ends of a time come before arrivals. */
struct crux_tracesim_change {
	double time_s;
	uint32_t n_ended, n_arrived;
	const uint32_t *ended, *arrived;
};

/**
 * decide: called after every time at which jobs arrived or ended, and at those that wake asks for,
 * before anything moves: gives plans by crux_tracesim_plan, floors and alignments, and may add and
 * remove jobs of its own. Jobs that it adds are told when they end, not those that it
 * removes. NULL: plans stay.
 *
 * wake: the next time after the present (or the present, where decide has not been called then) at
 * which decide is called though nothing arrives or ends; INFINITY: none. Asked after every decide.
 * While it is finite the run goes on without jobs. A time is taken to the nearest tick, the next
 * one at least. CRUX_INVALID: a time gone by. NULL: none.
 *
 * step: called at every step of the run and every few ten thousand events within one, with the
 * time that the run has reached or is coming to; an error ends it with that status. NULL: nothing.
 */
struct crux_tracesim_hooks {
	enum crux_status (*decide)(void *context, struct crux_tracesim *sim,
				   const struct crux_tracesim_change *change,
				   struct crux_error *err);
	double (*wake)(void *context);
	enum crux_status (*step)(void *context, double now_s, struct crux_error *err);
	void *context;
};

/** One bin of the time series: sums over it, of all jobs. */
struct crux_tracesim_bin {
	double start_s, end_s;
	double busy_gpu_s; /**< GPU-seconds of computation */
	double held_gpu_s; /**< GPU-seconds for which jobs held their GPUs */
	double flop;	   /**< work of the computation done, W_j / c_j a second */
	double bytes[CRUX_TRACESIM_CLASSES];
	/** Bytes times the intensity that their job had then, FLOP/s x byte. */
	double carried[CRUX_TRACESIM_CLASSES];
};

struct crux_tracesim_result {
	uint32_t n_jobs; /**< handles given */
	struct crux_tracesim_stats *jobs;
	size_t n_bins;
	struct crux_tracesim_bin *bins;
	double end_s; /**< the horizon, or when the last job ended */
	struct crux_tracesim_work work;
};

/**
 * Run @p arrivals on a fresh engine to @p horizon_s (INFINITY: until the last end). @p bin_s:
 * width of the bins, INFINITY: one. @p intensity (may be NULL) gives I_j of a handle, asked for
 * after each decide, for `carried`. CRUX_INVALID: arrivals out of order, a job that never ends;
 * CRUX_LIMIT: over 10^7 bins.
 */
struct crux_tracesim_trace {
	struct crux_tracesim_options options;
	const struct crux_tracesim_arrival *arrivals;
	uint32_t n_arrivals;
	double horizon_s, bin_s;
	struct crux_tracesim_hooks hooks;
	double (*intensity)(void *context, uint32_t handle); /**< with hooks.context */
};
enum crux_status crux_tracesim_run(const struct crux_tracesim_trace *trace,
				   struct crux_tracesim_result **out, struct crux_error *err);
void crux_tracesim_result_destroy(struct crux_tracesim_result *result);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TRACESIM_H */
