/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-operation: results of Crux in operation (tables op_*, doc/results.md): what the
 * daemons measured, probed, decided and carried out, and what the GPUs did meanwhile.
 *
 * Place: model/core (C11). Depends on crux-base, crux-store.
 *
 * Each function adds one row to its table, numbered within the run in the order of the calls
 * (column seq, from 0), and commits as crux-store does. Times are simulated seconds. What is not
 * known is NAN (double), -1 (int64_t) or NULL (text), where a member says so, and becomes NULL;
 * infinite figures stay so. The run and the job must be there. Errors: CRUX_STORE, with the
 * constraint that a row broke: a wrong run or job, NAN or NULL where a value is needed, a span that
 * ends before it begins; the row is left out and the store stays usable.
 *
 * Figures of control traffic are counters of the run: crux_store_counter() with the names below.
 */
#ifndef CRUX_STORE_OPERATION_H
#define CRUX_STORE_OPERATION_H

#include "crux-base.h"
#include "crux-store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Kinds of events that pictures mark; any other kind is a row all the same. @{ */
#define CRUX_OP_ARRIVAL	  "arrival"   /**< `job` begins on its hosts */
#define CRUX_OP_END	  "end"	      /**< `job` is over */
#define CRUX_OP_LINK_DOWN "link-down" /**< `text`: the link */
#define CRUX_OP_LINK_UP	  "link-up"
#define CRUX_OP_HOST_DOWN "host-down" /**< `host`, or its daemon, died */
#define CRUX_OP_HOST_UP	  "host-up"
/** @} */

/** @name Counters of control traffic. Shares: 0..1, of control_wire_bytes. @{ */
#define CRUX_OP_MESSAGES   "control_messages"	/**< of daemons, each counted once */
#define CRUX_OP_DATAGRAMS  "control_datagrams"	/**< sent: with acknowledgements, retries */
#define CRUX_OP_WIRE_BYTES "control_wire_bytes" /**< of datagrams, headers included */
/** In all bytes that hosts sent. */
#define CRUX_OP_SHARE_OF_TRAFFIC "control_share_of_traffic"
/** In what all network cards could have sent in the run. */
#define CRUX_OP_SHARE_OF_CAPACITY "control_share_of_capacity"
#define CRUX_OP_RETRIES		  "control_retries"  /**< datagrams sent once more */
#define CRUX_OP_LOST		  "control_lost"     /**< messages given up */
#define CRUX_OP_PROBE_WIRE_BYTES  "probe_wire_bytes" /**< of probes and answers */
/** @} */

/** Something happened (table op_event). */
struct crux_op_event {
	double at_s, since_s; /**< since_s: what it is the answer to, or NAN */
	const char *kind;     /**< above, or any other word */
	int64_t job;	      /**< id of the job (crux_job.id, column job.id), or -1 */
	int64_t host;	      /**< index, or -1 */
	int64_t version;      /**< of a plan, or -1 */
	const char *text;     /**< for people; may be NULL */
};

/** What was measured of a job, and what is true of it (table op_profile). */
struct crux_op_profile {
	uint32_t job;		 /**< index */
	double begun_s, ended_s; /**< first sample; reported */
	uint32_t iterations;	 /**< in the window; 0: no period was found */
	double strength;	 /**< of the period, crux-period.h; NAN: none */
	/** Measured: s, FLOP, s, 0..1, s, FLOP/s; NAN: not known. */
	double iteration_s, flop, compute_s, overlap_start, t_s, intensity;
	/** The same as the model has it; NAN: not known. */
	double true_iteration_s, true_flop, true_compute_s, true_overlap_start, true_t_s,
		true_intensity;
};

/** Paths of a pair of network cards were looked for (table op_probing). */
struct crux_op_probing {
	const char *src, *dst;		 /**< names of nodes */
	uint32_t paths_met, paths_there; /**< found; equal-cost paths of the topology */
	uint32_t sent, lost;		 /**< probes */
	uint32_t repeat;		 /**< 0: the pair's first, 1..: looked for again */
	double begun_s, ended_s;	 /**< ended_s: NAN: never */
};

/** A plan (table op_decision). */
struct crux_op_decision {
	int64_t version;
	uint32_t term;	     /**< of the coordinator */
	int64_t coordinator; /**< host index, or -1: none, the orders were there from the start */
	double news_s;	     /**< first news behind it, or NAN */
	double decided_s;
	double in_force_s;   /**< on all hosts that it concerns; NAN: never */
	uint32_t jobs;	     /**< that took part */
	uint32_t changed;    /**< jobs with new orders */
	const char *trigger; /**< what the news were, for people; may be NULL (column cause) */
};

/** What a plan says of a job (table op_order). */
struct crux_op_order {
	int64_t version; /**< of the plan */
	uint32_t job;	 /**< index */
	uint32_t level;	 /**< 0 is the highest; UINT32_MAX, the class of profiling, becomes NULL */
	uint32_t rank;	 /**< 0 is first */
	double priority, intensity; /**< FLOP/s; NAN: the policy has none */
	double shift_s;
};

/** What a job's GPUs did in a span of time (table op_bin). */
struct crux_op_bin {
	double from_s, to_s; /**< from_s < to_s */
	uint32_t job;	     /**< index */
	double busy_gpu_s;   /**< GPU-seconds of computation */
	uint32_t gpus;	     /**< held in the bin, >= 1; a job that holds none has no row */
	uint64_t iterations; /**< that ended in it */
};

enum crux_status crux_store_op_event(struct crux_store *store, int64_t run,
				     const struct crux_op_event *event, struct crux_error *err);
enum crux_status crux_store_op_profile(struct crux_store *store, int64_t run,
				       const struct crux_op_profile *profile,
				       struct crux_error *err);
enum crux_status crux_store_op_probing(struct crux_store *store, int64_t run,
				       const struct crux_op_probing *probing,
				       struct crux_error *err);
enum crux_status crux_store_op_decision(struct crux_store *store, int64_t run,
					const struct crux_op_decision *decision,
					struct crux_error *err);
enum crux_status crux_store_op_order(struct crux_store *store, int64_t run,
				     const struct crux_op_order *order, struct crux_error *err);
enum crux_status crux_store_op_bin(struct crux_store *store, int64_t run,
				   const struct crux_op_bin *bin, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_STORE_OPERATION_H */
