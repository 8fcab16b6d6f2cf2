/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-workload: DLT jobs: the model table, data parallelism with ring
 * all-reduce, and the expansion of a placed job into flows.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-problem.
 *
 * Ring all-reduce of S bytes over n ranks: 2(n-1) steps; in each a rank sends one
 * chunk to the next rank and receives one from the previous. Reduce-scatter: rank r
 * sends chunk (r - k) mod n in step k = 0..n-2; all-gather: rank r sends chunk
 * (r + 1 - k) mod n in step k = 0..n-2. Chunks differ by at most 1 B. Sum over the
 * ranks: 2 S (n-1) bytes. Here a rank is a host: the job's GPUs inside a host
 * reduce over NVLink first, and the buffer is split (by at most 1 B) over the
 * channels, one ring a NIC; channel c joins the c-th used NIC of every host (a NIC
 * is used when a GPU of the job is nearest to it; the lowest such GPU feeds it).
 *
 * Flows of a job of S gradient bytes over n hosts and m channels:
 *  - network, rank r to rank r + 1 of ring c: crux_ring_bytes(chunk c of S in m, n, r)
 *    bytes in 2(n-1) dependent steps, over GPU-PCIe, PCIe-NIC, NIC-ToR, one of the
 *    candidate paths, and the mirror of the first three;
 *  - NVLink, GPU i to the next of the job's g GPUs in the same host through the
 *    NVSwitch: crux_ring_bytes(S, g, i) bytes, 2 S (g-1) over all of them, in 2(g-1)
 *    steps. It runs at the same time as the network rings: the buffer is reduced
 *    piece by piece in a pipeline, so neither waits for the whole of the other.
 */
#ifndef CRUX_WORKLOAD_H
#define CRUX_WORKLOAD_H

#include "crux-base.h"
#include "crux-problem.h"
#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A row of the model table; every number has its source beside it in crux-models.c. */
struct crux_model {
	const char *name;	 /**< "gpt", "bert", "resnet" */
	uint64_t parameters;	 /**< count */
	uint64_t gradient_bytes; /**< all-reduced per iteration */
	double flop_per_gpu;	 /**< FLOP of one iteration on each GPU (weak scaling: fixed batch a
				    GPU) */
	double peak_flops;	 /**< FLOP/s of the GPU at the precision used (A100: 312e12) */
	double achieved;	 /**< fraction of the peak, (0, 1] */
	double overlap_start; /**< share of computation after which all-reduce may start, [0, 1] */
	const char *source;   /**< one line */
};
/** Model by name; CRUX_NOT_FOUND names the known ones. */
enum crux_status crux_model_find(const char *name, const struct crux_model **out,
				 struct crux_error *err);
const struct crux_model *crux_model_list(uint32_t *n);

/** Bytes of chunk @p i (0..n-1) of @p total split in @p n: the first total mod n are 1 B longer. */
uint64_t crux_chunk(uint64_t total, uint32_t n, uint32_t i);
/** Bytes that rank @p r sends in step @p step (0..2(n-1)-1) of a ring all-reduce of @p total. */
uint64_t crux_ring_step_bytes(uint64_t total, uint32_t n, uint32_t r, uint32_t step);
/** Their sum over the steps. */
uint64_t crux_ring_bytes(uint64_t total, uint32_t n, uint32_t r);

/** A GPU of the cluster. */
struct crux_gpu_ref {
	uint32_t host, gpu;
};

/** By host, then GPU, for qsort. */
int crux_gpu_ref_compare(const void *a, const void *b);

struct crux_gpu;
struct crux_program;
struct crux_wiring;

/** A job, placed. Durations and bytes are already divided by the scale. */
struct crux_job {
	int64_t id;
	char name[32];			/**< "gpt-0" */
	char model_name[32];		/**< "gpt", "llama-7b" */
	const struct crux_model *model; /**< row of the table; NULL for jobs of other kinds */
	uint32_t n_gpus;
	struct crux_gpu_ref *gpus; /**< [n_gpus], sorted by host, then GPU */
	double arrival_s;
	uint64_t iterations; /**< >= 1 */
	double flop;	     /**< W_j per iteration, all GPUs */
	double compute_s;
	double overlap_start;
	uint64_t gradient_bytes;
	uint32_t n_ranks;	      /**< hosts of the ring */
	uint32_t *rank_host;	      /**< [n_ranks] in ring order: by ToR group, then host */
	uint32_t n_channels;	      /**< rings: least number of used NICs on any of its hosts */
	uint32_t first_flow, n_flows; /**< in the scenario's flow array */
	/**
	 * A job that runs a program (crux-program.h): program and wiring (owned), and where each
	 * rank is, [n_gpus]. Connection i of the wiring is flow first_flow + i. NULL for the simple
	 * job described above; then the fields of the ring mean nothing for a program's job.
	 */
	struct crux_program *program;
	struct crux_wiring *wiring;
	struct crux_gpu_ref *rank_gpu;
	const struct crux_gpu *gpu; /**< what it runs on, for energy; never NULL in a scenario */
	double stop_s;		    /**< killed at this time; 0: never */
	bool shares;	  /**< some of its GPUs are other jobs' before it comes or after its stop */
	double jitter;	  /**< relative standard deviation of computation times; programs only */
	double *slowness; /**< [n_gpus] by rank: factor on computation; NULL: 1; programs only */
};

/**
 * What a flow is in its job. Network flows come first, channel by channel, rank
 * by rank: flow first_flow + c * n_ranks + r goes from rank r to rank r + 1 of
 * ring c. With one rank there is none. Then NVLink flows, one a GPU, when a
 * host holds several of the job's GPUs.
 */
struct crux_flow_role {
	bool nvlink;		 /**< does not leave the host (NVLink; a program's: PCIe too) */
	uint32_t channel, rank;	 /**< network flows */
	struct crux_gpu_ref gpu; /**< NVLink flows */
};

/**
 * From job->gpus (sorted by host and GPU, each once, existing): n_ranks, rank_host
 * (allocated; the caller frees it), n_channels and n_flows.
 */
enum crux_status crux_job_shape(struct crux_job *job, const struct crux_topology *topo,
				struct crux_error *err);

/**
 * Write the job's n_flows flows and roles. @p index: of the job in the problem. A
 * network flow's ecmp_port is drawn from (@p seed, job id, number of the flow in
 * the job), its ecmp_candidate is what the switches' hash makes of that port.
 * CRUX_UNREACHABLE names the job, both ranks and their hosts.
 */
enum crux_status crux_job_flows(const struct crux_job *job, uint32_t index,
				const struct crux_topology *topo, struct crux_router *router,
				uint64_t seed, struct crux_flow *flows,
				struct crux_flow_role *roles, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_WORKLOAD_H */
