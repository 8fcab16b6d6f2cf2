/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-profile: what a job does per iteration, measured from counters of a host (Crux, section 5:
 * computation and communication summed over a period and divided by the iterations in it).
 *
 * Place: model/core (C11). Depends on crux-base, crux-period.
 *
 * A profile belongs to one job on one host. Counters only rise; a sample is their values at a
 * time. At most CRUX_PROFILE_SAMPLES are kept: when they are full every second one goes and the
 * interval between those to come doubles, so that neither the length of an iteration nor that of
 * the profile has to be known. Between samples counters are taken to rise evenly.
 */
#ifndef CRUX_PROFILE_H
#define CRUX_PROFILE_H

#include "crux-base.h"
#include "crux-period.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most samples kept. */
#define CRUX_PROFILE_SAMPLES 8192
/** Parts of an iteration of which it is told how much of them is computation. */
#define CRUX_PROFILE_PHASES 64

/** Counters of a job on a host, since it began there. */
struct crux_profile_counters {
	double flop;		    /**< FLOP that its GPUs here executed */
	double busy_s;		    /**< seconds that they computed, summed over them */
	double any_busy_s;	    /**< seconds in which one of them computed at least */
	const uint64_t *flow_bytes; /**< [n_flows] payload bytes that each flow sent */
};

struct crux_profile;

/**
 * @p n_flows: flows of the job that begin on this host, 0 is fine; @p interval_s: between the
 * first samples, > 0.
 */
enum crux_status crux_profile_create(uint32_t n_flows, double interval_s, struct crux_profile **out,
				     struct crux_error *err);
void crux_profile_destroy(struct crux_profile *profile);

/** Flow @p flow leaves the host through the network; before the first sample. */
void crux_profile_set_network(struct crux_profile *profile, uint32_t flow);

/** When the next sample is due, s; the first is due at once: -INFINITY. */
double crux_profile_due_s(const struct crux_profile *profile);

/**
 * A sample. CRUX_RANGE, and nothing is changed, when time or a counter fell. One that comes
 * before it is due (by more than 1e-6 of an interval: clocks are rounded) is dropped.
 */
enum crux_status crux_profile_add(struct crux_profile *profile, double now_s,
				  const struct crux_profile_counters *counters,
				  struct crux_error *err);

/** Seconds from the first sample to the last; 0 with less than two. */
double crux_profile_length_s(const struct crux_profile *profile);

/**
 * Iterations in the samples so far: those of the flows' signals, or, where no flow moves, of
 * computation. crux_period.first_s is then an absolute time: where computation begins after a
 * pause, if it pauses. Errors as crux_period_find(); and while a flow has not moved at all, four
 * times @p least iterations are asked for, lest micro-batches of the first iteration pass for
 * iterations.
 */
enum crux_status crux_profile_detect(const struct crux_profile *profile, uint32_t least,
				     struct crux_period *out, struct crux_error *err);

/** What a host's counters grew by in a window, what was not sampled made up for in proportion. */
struct crux_profile_share {
	double flop, busy_s, any_busy_s; /**< as crux_profile_counters */
	/**
	 * Where communication may begin, 0..1 of the computation (s of crux-timeline.h), the mean
	 * over the window's iterations; NAN where nothing moved. Where flows of the network moved
	 * (crux_profile_set_network()) it is what a scenario says of a job
	 * (crux-scenario-program.c) as far as a host can see it: o = max over t of (t - R(t-)) / (1
	 * - R(t-)), R(t) the share of the iteration's network bytes here whose movement has begun
	 * by t, a flow moving from one pause to the next (of 1 % of an iteration or two samples), t
	 * the time from the iteration's begin, as a share of it, not counting that in which no GPU
	 * here computes while a flow of the network moves. Else the share of the computation that
	 * was done when the first flow began to move.
	 *
	 * An iteration begins where GPUs here compute again after they waited for
	 * communication or for the slowest; where none ever waits that is not seen, and the middle
	 * of the pause of communication stands for it. So an optimiser that waits for gradients
	 * counts to the next iteration.
	 */
	double overlap_start;
	/**
	 * Share of time in which some GPU here computes, 0..1, for each of so many equal parts of
	 * the iteration, the mean over the window's iterations. Hosts compute at different times
	 * where they hold different stages of a pipeline; together they compute at least what the
	 * busiest of them does in each phase.
	 */
	double phases[CRUX_PROFILE_PHASES];
};

/**
 * The window [from_s, to_s] of @p count iterations of equal length, cut to the samples there
 * are. @p flow_bytes [n_flows]. CRUX_RANGE: to_s <= from_s, count = 0, or less than half of the
 * window was sampled.
 */
enum crux_status crux_profile_window(const struct crux_profile *profile, double from_s, double to_s,
				     uint32_t count, struct crux_profile_share *out,
				     double *flow_bytes, struct crux_error *err);

/**
 * overlap_start of a job from those of its hosts; begin with {0}. With w_h the host's share of the
 * network's bytes, R = sum of w_h R_h, and 1 - o = min over t of (1 - t) / (1 - R(t-)) is at least
 * 1 / sum of w_h / (1 - o_h): this is taken; it is exact where all hosts have their maximum at the
 * same t. Without any bytes: the least of the hosts', 0 if there is none.
 */
struct crux_profile_overlap {
	double bytes, rest, least;
	uint32_t n;
};
void crux_profile_overlap_add(struct crux_profile_overlap *sum, double overlap_start,
			      double network_bytes);
double crux_profile_overlap_of(const struct crux_profile_overlap *sum);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PROFILE_H */
