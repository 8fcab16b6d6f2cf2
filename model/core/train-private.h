/* SPDX-License-Identifier: GPL-2.0-only
 *
 * train-private: what the files of crux-train share: checks, stages, costs of runs of layers,
 * and the program while it grows.
 *
 * Place: model/core (C11), private to crux-train*. Depends on crux-train.
 */
#ifndef TRAIN_PRIVATE_H
#define TRAIN_PRIVATE_H

#include "crux-train.h"

/** All sizes against each other; no allocation. */
enum crux_status train_check(const struct crux_train *train, struct crux_error *err);
/** Allocate and fill train->cut. */
enum crux_status train_cut(struct crux_train *train, struct crux_error *err);

/** Of @p count layers from @p at on, how many are in [first, end). */
uint32_t train_share(uint32_t at, uint32_t count, uint32_t first, uint32_t end);
/** The model has transformer layers: they alone are recomputed, split by TP and dealt to stages. */
bool train_has_blocks(const struct crux_net *net);
bool train_is_block(const struct crux_layer *layer);
/** Full recomputation applies to it. */
bool train_recomputes(const struct crux_train *train, const struct crux_layer *layer);
/** Micro-batches of an iteration: micro x accumulate. */
uint32_t train_micros(const struct crux_train *train);
/** Fraction of the peak: the model's (or GPU's) x compiler. */
double train_achieved(const struct crux_train *train);
/** Bytes of optimiser state of a parameter: master copy if 16 bits compute, two moments. */
uint32_t train_optimiser_bytes(const struct crux_train *train);

/** Parameters of a run of layers, by how they are spread and synchronised. */
struct train_parameters {
	uint64_t dense;	  /**< on all replicas; a copy of tied ones included */
	uint64_t experts; /**< spread over ep */
	double touched;	  /**< parameters of sparse tables that one sample reads */
	uint64_t sparse;  /**< parameters of those tables; not in dense */
};
void train_count(const struct crux_train *train, uint32_t first, uint32_t end,
		 struct train_parameters *out);
/** Parameters on the fullest rank: ceil(dense / tp) + sparse + ceil(experts / (tp ep)). */
uint64_t train_local(const struct crux_train *train, const struct train_parameters *count);
/** The same that ZeRO leaves on a rank when it @p shards; sparse tables stay whole. */
double train_left_by_zero(const struct crux_train *train, const struct train_parameters *count,
			  bool shards);
/**
 * Where the piece that ends (exclusively) at @p end starts, going down to @p first: so many
 * layers that their gradients on a rank reach the bucket. Without a bucket: one layer with
 * ZeRO 3, else all.
 */
uint32_t train_piece_start(const struct crux_train *train, uint32_t first, uint32_t end);

/** A collective that a run of layers repeats: @p bytes are the full buffer's of a rank. */
struct train_run {
	uint64_t bytes;
	uint32_t forward, backward; /**< times */
};
/** What a run of layers costs on a rank, in one micro-batch. */
struct train_cost {
	double forward_s, forward_flop, backward_s, backward_flop;
	struct train_run *tp, *ep; /**< all-reduces, all-to-alls; sizes alike are one entry */
	uint32_t n_tp, n_ep;
	size_t cap_tp, cap_ep;
};
enum crux_status train_cost_of(const struct crux_train *train, uint32_t first, uint32_t end,
			       struct train_cost *out, struct crux_error *err);
void train_cost_clear(struct train_cost *cost);

/** Elements (per sample) of what a run of layers keeps for backward on a rank. */
double train_kept(const struct crux_train *train, uint32_t first, uint32_t end);
/** Output of the layer in front of @p layer (its own output for the first). */
double train_input(const struct crux_net *net, uint32_t layer);
/** Bytes of activations between a stage and the next, of a micro-batch. */
uint64_t train_boundary_bytes(const struct crux_train *train, uint32_t stage);

/** Operations that a chain continues from: consecutive numbers. */
struct train_tail {
	uint32_t first, n;
};

/** A part of a stage's layers that is computed at once. */
struct train_piece {
	struct train_parameters count;
	struct train_cost cost;
};

/** The program while it grows. Groups by stage s, tensor rank t, replica d, expert rank e. */
struct train_build {
	const struct crux_train *train;
	const uint32_t *host, *nic;
	double scale;
	struct crux_program *program;
	struct crux_error *err;
	enum crux_status status; /**< of the first failure; later calls do nothing */
	/** Chains of a stage: a replica each, or all ranks in one when tp = pp = 1. */
	uint32_t units;
	uint32_t micros;
	uint32_t *unit;	   /**< [pp][units] */
	uint32_t *dp;	   /**< [pp][tp] */
	uint32_t *ep;	   /**< [pp][tp][dp / ep] all-to-all groups; NULL: ep = 1 */
	uint32_t *edp;	   /**< [pp][tp][ep] replicas of an expert */
	uint32_t *send[2]; /**< [pp][units] to the next, to the previous stage; CRUX_NONE: none */
	uint32_t *push[2]; /**< [pp][tp][dp] worker to server, back; NULL: no parameter server */
	uint32_t *channels, *last; /**< of each group: rings; its last synchronisation */
	size_t cap_channels, cap_last;
	struct train_piece *whole;	  /**< [pp] */
	struct train_piece *pieces;	  /**< of stage s: [first_piece[s], first_piece[s + 1]) */
	uint32_t *first_piece;		  /**< [pp + 1], in backward order */
	struct train_tail *tail, *before; /**< [pp][units] now, and before the last micro-batch */
	uint32_t *sent[2]; /**< [pp][micros][units] the send that arrives at the stage */
	uint32_t *swapped; /**< [pp][micros][units] the copy to the host */
	uint32_t *deps;	   /**< scratch */
	uint32_t n_deps;
	size_t cap_deps;
};

/** @name Building blocks. They do nothing after a failure. @{ */
uint32_t train_rank(const struct crux_train *train, uint32_t t, uint32_t d, uint32_t s);
uint64_t train_scaled(const struct train_build *build, uint64_t bytes);
uint32_t train_group(struct train_build *build, const uint32_t *ranks, uint32_t n,
		     const char *name);
void train_depend(struct train_build *build, struct train_tail tail);
/** Add an operation on all that was train_depend()ed on since the last one. */
uint32_t train_op(struct train_build *build, const struct crux_op *op);
/** A collective: dependencies as for train_op. */
uint32_t train_collective(struct train_build *build, uint32_t group, enum crux_coll_kind kind,
			  enum crux_coll_alg alg, uint64_t bytes, uint32_t repeat,
			  uint32_t channels, const char *name);
void train_groups(struct train_build *build);
/** @} */

/** All micro-batches of all stages in the order of the schedule. */
void train_micro_batches(struct train_build *build);
/** Gradients of a piece, once its backward pass is there; gathering of its parameters (ZeRO 3). */
void train_reduce(struct train_build *build, uint32_t stage, const struct train_piece *piece,
		  const char *name);
struct train_tail train_gather(struct train_build *build, uint32_t stage,
			       const struct train_piece *piece, const char *name);
/** What follows: gradients of tied parameters, optimiser, gathering, data and checkpoints. */
void train_finish(struct train_build *build);

#endif /* TRAIN_PRIVATE_H */
