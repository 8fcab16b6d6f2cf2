/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gpu: GPUs as rooflines, how communication is driven, and a power model.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Roofline: a kernel of F FLOP that moves M bytes of GPU memory takes
 *   max(F / (achieved x peak), M / memory bandwidth) + launches x launch cost.
 *
 * Driving a message of b bytes over a link of rate B (ARK, NSDI 2023; facts of latency and
 * sizes in doc/gpu-hosts.md): it takes latency_s + 8 b / B; an engine with depth 1 handles one
 * message after another, so its throughput is b / (latency_s + 8 b / B); one with depth d has d
 * messages under way: min(B / 8, d b / (latency_s + 8 b / B)) bytes a second.
 */
#ifndef CRUX_GPU_H
#define CRUX_GPU_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_precision {
	CRUX_FP32,
	CRUX_TF32,
	CRUX_FP16,
	CRUX_BF16,
	CRUX_FP8,
};
#define CRUX_N_PRECISIONS 5
/** "fp32", "tf32", "fp16", "bf16", "fp8". */
const char *crux_precision_name(enum crux_precision precision);
enum crux_status crux_precision_find(const char *name, enum crux_precision *out,
				     struct crux_error *err);
/** Bytes of a number: 4, 4, 2, 2, 1. */
uint32_t crux_precision_bytes(enum crux_precision precision);

struct crux_gpu {
	const char *name;		      /**< "a100-80", "a100-40", "h100", "v100" */
	uint64_t memory_bytes;		      /**< of the device */
	double peak_flops[CRUX_N_PRECISIONS]; /**< FLOP/s, dense; 0: not supported */
	double memory_Bps;		      /**< bytes/s of device memory */
	double launch_s;		      /**< of one kernel launch */
	double achieved;		      /**< default fraction of the peak, (0, 1] */
	double idle_w, busy_w;		      /**< power of the device, W */
	double nj_per_byte;		      /**< energy of moving a byte off the device, nJ */
	uint64_t nvlink_bps, pcie_bps;	      /**< per direction, of the host that carries it */
	const char *source;
};
enum crux_status crux_gpu_find(const char *name, const struct crux_gpu **out,
			       struct crux_error *err);
const struct crux_gpu *crux_gpu_list(uint32_t *n);

/** Seconds by the roofline; @p achieved 0: the GPU's own. NAN where the precision is not supported.
 */
double crux_gpu_time_s(const struct crux_gpu *gpu, enum crux_precision precision, double flop,
		       double bytes, double launches, double achieved);

enum crux_drive_kind {
	CRUX_DRIVE_NONE,	 /**< no cost: the network's own */
	CRUX_DRIVE_CPU,		 /**< "cpu": CPU-driven */
	CRUX_DRIVE_GPU_SOFTWARE, /**< "gpu-sw": GPU-driven by a software engine */
	CRUX_DRIVE_GPU_HARDWARE, /**< "gpu-hw": GPU-driven by a hardware engine */
};

struct crux_drive {
	enum crux_drive_kind kind;
	const char *name;	  /**< "none", "cpu", "gpu-sw", "gpu-hw" */
	double latency_s;	  /**< per message, one way */
	uint32_t depth;		  /**< messages under way at once, >= 1 */
	double interference;	  /**< computation takes 1 + so much longer meanwhile */
	double launch_s;	  /**< kernel launch per communication step */
	double cpu_s;		  /**< of a CPU thread per message */
	uint64_t line_rate_bytes; /**< published message size that reaches the line rate */
};
enum crux_status crux_drive_find(const char *name, const struct crux_drive **out,
				 struct crux_error *err);
const struct crux_drive *crux_drive_list(uint32_t *n);
/** Seconds of one message alone, and bytes/s of a stream of them. */
double crux_drive_message_s(const struct crux_drive *drive, uint64_t bytes, double bps);
double crux_drive_throughput_Bps(const struct crux_drive *drive, uint64_t bytes, double bps);

/** Joules of a GPU over a span: busy and idle seconds, bytes moved. */
double crux_gpu_energy_j(const struct crux_gpu *gpu, double busy_s, double idle_s, double bytes);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_GPU_H */
