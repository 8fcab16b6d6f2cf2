/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-program: what a job does in one iteration: a graph of computations, copies and
 * collectives over its ranks. Both engines run it; schedulers see its traffic.
 *
 * Place: model/core (C11). Depends on crux-base, crux-collective.
 *
 * Meaning
 *  - A rank is a GPU of the job, 0..n_ranks-1. A group is an ordered list of ranks; each
 *    communicator is a group of its own and has queue pairs of its own.
 *  - An operation belongs to a group; every rank of the group has a part in it. The part of
 *    rank r starts when r's parts in all operations that it depends on have ended (a
 *    dependency in whose group r is not is met). Dependencies have lower numbers.
 *  - Computations of one GPU run one at a time: of those ready the lowest number first,
 *    each to its end. Host computations of one rank likewise, on the host's CPU threads.
 *  - Collectives of one group run one at a time in the order of their numbers (as a
 *    communicator's stream does), so a rank's part in one also waits for its part in the one
 * before. A rank's part has ended when all that it sends has been delivered and all that it
 * receives has arrived; for repeat > 1, so many times in a row (layers of one block: same sizes).
 *  - A copy moves bytes between a rank's GPU and the memory of its host, over PCIe; with
 *    a storage host it goes on over NIC and network to (from) that host's memory.
 *  - An iteration begins at once on all ranks and ends when every part has ended.
 */
#ifndef CRUX_PROGRAM_H
#define CRUX_PROGRAM_H

#include "crux-base.h"
#include "crux-collective.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_op_kind {
	CRUX_OP_COMPUTE,    /**< seconds on each rank's GPU */
	CRUX_OP_HOST,	    /**< seconds on each rank's host, on threads of its CPU */
	CRUX_OP_COLLECTIVE, /**< coll, alg, bytes, repeat */
	CRUX_OP_COPY,	    /**< bytes a rank, direction */
};
const char *crux_op_kind_name(enum crux_op_kind kind);

enum crux_copy_direction {
	CRUX_COPY_TO_GPU,   /**< host memory to GPU */
	CRUX_COPY_FROM_GPU, /**< GPU to host memory */
};

/** Which class of traffic a collective or copy travels in. */
enum crux_traffic {
	CRUX_TRAFFIC_JOB,     /**< the job's level */
	CRUX_TRAFFIC_STORAGE, /**< the lowest level of the plan */
};

struct crux_op {
	enum crux_op_kind kind;
	char name[24];	/**< for messages and timelines: "fwd s0 m3", "grad ar b2" */
	uint32_t group; /**< number of its group */
	double seconds; /**< COMPUTE, HOST: of each rank, launches included, >= 0 */
	double flop;	/**< COMPUTE, HOST: of each rank, >= 0 */
	enum crux_coll_kind coll;
	enum crux_coll_alg alg;
	uint64_t bytes;	   /**< COLLECTIVE: S; COPY: of each rank */
	uint32_t repeat;   /**< COLLECTIVE: times in a row, >= 1 */
	uint32_t channels; /**< COLLECTIVE: >= 1 */
	enum crux_copy_direction direction;
	enum crux_traffic traffic;
	uint32_t first_dep, n_deps; /**< in deps */
};

struct crux_group {
	uint32_t first, n; /**< in members; n >= 1 */
	char name[16];	   /**< "tp 3", "dp 0", "pp 1>2", "all" */
};

/** A program. Built by crux_program_add_*, then checked; immutable from then on. */
struct crux_program {
	uint32_t n_ranks;
	uint32_t n_groups, n_ops;
	struct crux_group *groups; /**< [n_groups] */
	uint32_t *members;	   /**< ranks of all groups */
	struct crux_op *ops;	   /**< [n_ops] */
	uint32_t *deps;
	size_t n_members, n_deps;
	size_t cap_groups, cap_members, cap_ops, cap_deps;
	uint32_t
		storage_host; /**< host that STORAGE copies go to; CRUX_NONE: the rank's own host */
	/**
	 * How communication is driven (crux-gpu.h): seconds before each message of a
	 * collective or copy moves, and seconds of a CPU thread that it takes meanwhile.
	 */
	double message_latency_s, message_cpu_s;
	/** Computation takes 1 + so much longer while its GPU communicates (copies by GPU threads).
	 */
	double interference;
	uint32_t cpu_threads; /**< that drive communication and run HOST parts, of a host; >= 1 */
};

enum crux_status crux_program_create(uint32_t n_ranks, struct crux_program **out,
				     struct crux_error *err);
void crux_program_destroy(struct crux_program *program);

/** @name Building. Numbers count from 0 in the order of the calls. @{ */
enum crux_status crux_program_add_group(struct crux_program *program, const uint32_t *ranks,
					uint32_t n, const char *name, uint32_t *out,
					struct crux_error *err);
/** @p op: kind and its fields (first_dep, n_deps are set here); copied. */
enum crux_status crux_program_add_op(struct crux_program *program, const struct crux_op *op,
				     const uint32_t *deps, uint32_t n_deps, uint32_t *out,
				     struct crux_error *err);
/** Check the whole: groups, ranks twice in a group, sizes, dependencies. The first fault is named.
 */
enum crux_status crux_program_check(const struct crux_program *program, struct crux_error *err);
/** @} */

/** Ranks of a group. */
static inline const uint32_t *crux_program_ranks(const struct crux_program *program, uint32_t group)
{
	return program->members + program->groups[group].first;
}

/** Sum over the ranks: FLOP (W_j) and seconds on the GPUs of one iteration. */
double crux_program_flop(const struct crux_program *program);
double crux_program_gpu_s(const struct crux_program *program);

/**
 * Data parallelism in the simple form of crux-workload.h: @p compute_s on every rank; after the
 * share
 * @p overlap_start of it a hierarchical all-reduce of @p bytes over @p channels.
 */
enum crux_status crux_program_simple(uint32_t n_ranks, double compute_s, double overlap_start,
				     double flop_per_rank, uint64_t bytes, uint32_t channels,
				     struct crux_program **out, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PROGRAM_H */
