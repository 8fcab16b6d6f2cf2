/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train: a training job as ML engineers describe it (model, parallelism, precision, switches)
 * to a program; and the memory that it needs.
 *
 * Place: model/core (C11). Depends on crux-base, crux-gpu, crux-layers, crux-program.
 *
 * Description, as on command lines: MODEL:GPUS[:key=value...], for example
 *   llama-7b:64:tp=8:pp=2:micro=16:schedule=1f1b:precision=bf16:zero=1:recompute=full
 * (file:PATH:64:... for a model of one's own; PATH holds no colon). Every key is optional; unknown
 * ones are errors that list the known ones. Formulas of every switch: doc/jobs.md.
 *
 *  - tp, pp, ep (1): tensor, pipeline, expert parallelism; dp = GPUs / (tp x pp); ep divides dp
 *  - dp (from the above): data parallelism; if given, tp x pp x dp must be the GPUs
 *  - micro (1): micro-batches of an iteration
 *  - batch (model's): samples of a micro-batch, on each data-parallel replica
 *  - accumulate (1): so many times micro before one synchronisation; pp = 1 only
 *  - schedule (1f1b): gpipe or 1f1b
 *  - split (layers): stages of alike many layers; flop: of alike many FLOP
 *  - order (tdp): ranks to GPUs, fastest first: t tensor, d data, p pipeline
 *  - precision (bf16): of computation: fp32, tf32, fp16, bf16, fp8
 *  - grads (fp32): size of a gradient: fp32, or same as the parameters
 *  - zero (0): 1: optimiser sharded (reduce-scatter, all-gather); 3: parameters too
 *  - sync (ring): all-reduce: ring, tree, direct, hierarchical; ps: parameter server
 *  - channels (auto): rings; auto: the NICs that a group's ranks have on each of its hosts
 *  - bucket_mb (0): gradients reduced in buckets of so many MiB; 0: after the backward pass
 *  - recompute (none): none, selective, full
 *  - fusion (0): operator fusion 0 or 1
 *  - compiler (1): factor on the achieved fraction (compiled or library efficiency)
 *  - share (0): sharing of buffers by lifetime 0 or 1
 *  - swap (0): share of activations swapped to host memory, 0..1
 *  - data_mb (0): data read per GPU and iteration, MiB (storage class)
 *  - checkpoint (0): iterations between checkpoints; 0: none. Modelled as its mean bytes
 *  - storage (own): host that data and checkpoints come from and go to
 *  - gpu (a100-80): preset
 *  - drive (none): how communication is driven: none, cpu, gpu-sw, gpu-hw
 *  - threads (8): CPU threads of a host that drive communication
 *  - iterations: how many; the caller's default when not given
 */
#ifndef CRUX_TRAIN_H
#define CRUX_TRAIN_H

#include "crux-base.h"
#include "crux-gpu.h"
#include "crux-layers.h"
#include "crux-program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_schedule { CRUX_GPIPE, CRUX_1F1B };
enum crux_split { CRUX_SPLIT_LAYERS, CRUX_SPLIT_FLOP };
enum crux_recompute { CRUX_RECOMPUTE_NONE, CRUX_RECOMPUTE_SELECTIVE, CRUX_RECOMPUTE_FULL };

struct crux_train {
	struct crux_net *net; /**< owned */
	const struct crux_gpu *gpu;
	const struct crux_drive *drive;
	uint32_t gpus, tp, pp, dp, ep, micro, batch, accumulate;
	enum crux_schedule schedule;
	enum crux_split split;
	char order[4]; /**< permutation of "tdp", fastest first */
	enum crux_precision precision;
	uint32_t gradient_bytes; /**< of one gradient: 4 or the precision's */
	uint32_t zero;
	enum crux_coll_alg sync;
	bool parameter_server;
	uint32_t channels; /**< 0: auto */
	double bucket_bytes;
	enum crux_recompute recompute;
	bool fusion, share;
	double compiler, swap, data_bytes;
	uint64_t checkpoint, iterations; /**< iterations 0: not given */
	char storage[72];		 /**< host's name, "" for the rank's own */
	uint32_t threads;		 /**< of a host's CPU, >= 1 */
	uint32_t *cut;			 /**< [pp + 1] first layer of each stage (owned) */
};

/**
 * Parse a description. All sizes are checked: TP x PP x DP = GPUs, layers >= PP, ... Whether it
 * fits the memory is crux_train_fits' to say.
 */
enum crux_status crux_train_parse(const char *text, struct crux_train *out, struct crux_error *err);
void crux_train_clear(struct crux_train *train);

/** Bytes on the fullest GPU, by what they are for. */
struct crux_memory {
	double parameters, gradients, optimiser;
	double activations; /**< kept for backward, of the micro-batches in flight */
	/** Gradients of activations; a layer that is recomputed; parameters gathered (ZeRO 3). */
	double buffers;
	double total;
	uint32_t stage; /**< pipeline stage of the fullest GPU */
};
/** Bytes of an activation and of a parameter: the precision's, but 2 for fp8 (16-bit tensors). */
uint32_t crux_train_element_bytes(const struct crux_train *train);
/** Micro-batches whose activations stage @p stage holds at once: min(pp - stage, m) or m. */
uint32_t crux_train_in_flight(const struct crux_train *train, uint32_t stage);
void crux_train_memory(const struct crux_train *train, struct crux_memory *out);
/** CRUX_CAPACITY: by how many bytes it does not fit and which switches would help, tried one by
 * one. */
enum crux_status crux_train_fits(const struct crux_train *train, struct crux_error *err);

/**
 * The program of one iteration. @p host, @p nic: [gpus] where each rank is (crux_coll_params), or
 * NULL. Computation and bytes are divided by @p scale (bytes rounded down, but at least 1). @p
 * storage_host: number of train->storage, or CRUX_NONE.
 */
enum crux_status crux_train_program(const struct crux_train *train, const uint32_t *host,
				    const uint32_t *nic, double scale, uint32_t storage_host,
				    struct crux_program **out, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TRAIN_H */
