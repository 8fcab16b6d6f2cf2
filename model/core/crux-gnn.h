/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gnn: a graph neural network in training: features come from host memory over PCIe in each
 * iteration, and a share of the first operator may run on the host, beside the data.
 *
 * Place: model/core (C11). Depends on crux-base, crux-gpu, crux-program, crux-spec.
 *
 * Model. GraphSAGE of two layers, mean aggregator (Hamilton and others, NeurIPS 2017): a batch of
 * b vertices samples f1 neighbours each and f2 of each of these; rows = b (1 + f1 + f1 f2) feature
 * vectors of F numbers (4 B) are read, D = 4 F rows bytes. The first operator averages the f2
 * (or f1) neighbours of b (1 + f1) vertices: what is left of D is the ratio
 *   r = 2 b (1 + f1) / rows        (a vertex's own features and its neighbours' mean)
 * It has no parameters, so it needs no backward pass. Running share x of it on the host leaves
 *   D (1 - x) + r D x              bytes for PCIe (partial execution near the data, APSys 2021)
 * and costs the host x D / C seconds, C bytes/s that its CPU gathers and adds for each GPU (the
 * host's rate divided by the job's GPUs on it). With B bytes/s of PCIe for each GPU and g(x)
 * seconds on the GPU an iteration takes, before gradients,
 *   T(x) = max((1 - x) D / B, x D / C) + x r D / B + g(x),   g(x) = max(flop, memory) + launches
 * The untouched features move while the host works; what the host made moves behind both. Both
 * terms of the maximum balance at x* = C / (B + C); beyond it the slope is D / C + r D / B, so x*
 * is the best share whenever g's slope is smaller (it saves at most D / memory bandwidth).
 * Published: up to 6.6 times the throughput (APSys 2021). Here T(0) / T(x) < 1/r + g(0) B / (r D).
 * Not modelled: gathering untouched rows by the CPU (the GPU reads host memory by itself), caches
 * of features on the GPU, the sampling, limits of the host's memory shared by copies and CPU.
 */
#ifndef CRUX_GNN_H
#define CRUX_GNN_H

#include "crux-base.h"
#include "crux-gpu.h"
#include "crux-program.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Description: gnn:GPUS[:key=value...]
 *  - host (0): share of the first operator on the host, 0..1
 *  - batch (512), features (602), hidden (256), classes (41), fanout1 (25), fanout2 (10): GraphSAGE
 *    on Reddit
 *  - features_mb (from the above): D, MiB of features of a batch
 *  - ratio (from the fan-outs): r, 0..1
 *  - cpu_gbs (75): 10^9 bytes/s that a host's CPU gathers and adds
 *  - threads (64): CPU threads of a host
 *  - gpu (a100-80), drive (none), channels (1), iterations: as in crux-train.h
 */
struct crux_gnn {
	uint32_t gpus;
	double share; /**< x */
	uint32_t batch, features, hidden, classes, fanout1, fanout2;
	uint64_t feature_bytes; /**< D */
	double ratio;		/**< r */
	double cpu_Bps;		/**< of a host */
	uint32_t threads, channels;
	const struct crux_gpu *gpu;
	const struct crux_drive *drive;
	uint64_t iterations; /**< 0: not given */
};

/** Parse a description and check it. */
enum crux_status crux_gnn_parse(const char *text, struct crux_gnn *out, struct crux_error *err);

/** Parameters, and bytes that PCIe carries for a GPU and iteration: untouched, aggregated. */
uint64_t crux_gnn_parameters(const struct crux_gnn *gnn);
void crux_gnn_copies(const struct crux_gnn *gnn, uint64_t *raw, uint64_t *aggregated);
/** g: seconds on the GPU. */
double crux_gnn_gpu_s(const struct crux_gnn *gnn);
/** x D / C: seconds on the host for each GPU, of which @p gpus_on_host share its CPU. */
double crux_gnn_host_s(const struct crux_gnn *gnn, uint32_t gpus_on_host);

/** T(x) of gnn->share, PCIe giving @p pcie_Bps to each GPU. Without the all-reduce. */
double crux_gnn_seconds(const struct crux_gnn *gnn, uint32_t gpus_on_host, double pcie_Bps);
/** The best share and its T: x* or 1, whichever is less (ties: x*). */
double crux_gnn_best(const struct crux_gnn *gnn, uint32_t gpus_on_host, double pcie_Bps,
		     double *seconds);

/**
 * The program of one iteration. @p host: [gpus] where each rank is; NULL: all on one. Computation
 * and bytes are divided by @p scale.
 */
enum crux_status crux_gnn_program(const struct crux_gnn *gnn, const uint32_t *host, double scale,
				  struct crux_program **out, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_GNN_H */
