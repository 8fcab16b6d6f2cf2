/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gpu: GPUs as rooflines, how communication is driven, and a power model.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Roofline: a kernel of F FLOP that moves M bytes of GPU memory takes
 *   max(F / (achieved x peak), M / memory bandwidth) + launches x launch cost.
 *
 * A device's figures are its data sheet's (SXM form, tensor cores without sparsity; fp32 on the
 * vector units). Assumed, as no data sheet has them: launch_s 5 us; achieved, what large-model
 * training reports (A100 0.5: Narayanan et al., SC 2021, 52 %; V100 0.3: Shoeybi et al., 2019,
 * 30 %; H100 0.45: Megatron Core's published 41 to 48 %); idle power, about what the driver's tool
 * shows; busy power, the data sheet's maximum; 10 pJ a bit off the device.
 *
 * Driving a message of b bytes over a link of B bit/s takes latency + 8 b / B. An engine with
 * depth d has d messages under way (1: one after another), so a stream of them gets
 *   min(B / 8, d b / (latency + 8 b / B)) bytes a second,
 * and b reaches the line rate from d >= 1 + latency B / (8 b) on (crux_drive_depth).
 *
 *   drive   latency us  depth  computation  launch us  CPU us     line rate from
 *                              longer by    per step   a message
 *   none    0           1      0            0          0          -
 *   cpu     39          1      16/92        5          10         4 MiB
 *   gpu-sw  39 / 3.5    1      0            0          2.5        4 MiB
 *   gpu-hw  4.3         8      0            0          0          8 KiB
 *
 * Published (ARK, NSDI 2023), and so inputs: the latencies, the sizes that reach the line rate,
 * that only the hardware engine pipelines, that copies by GPU threads slow computation, that the
 * loop kernel of a GPU-driven run is launched once. Derived: depth 8 = 1 + 4.3 us x 100 Gbit/s /
 * (8 x 8 KiB) = 7.6, rounded up. Assumed: copies hold 16 of an A100's 108 processors (a block of
 * each of 16 channels), so computation takes 108 / 92 as long; a step's kernel launch 5 us; the CPU
 * thread is busy for two signals to and from the GPU (2.5 us each, published 2 to 3) and a launch,
 * with the software engine for one signal. doc/gpu-hosts.md says what follows, and what does not.
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
	const char *name;      /**< "a100-80", "a100-40", "h100", "v100-16", "v100-32" */
	uint64_t memory_bytes; /**< of the device */
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
/** Messages under way at once that reach the line rate with @p bytes; 0 for bytes or bps of 0. */
uint32_t crux_drive_depth(double latency_s, uint64_t bytes, double bps);

/** Joules of a GPU over a span: busy and idle seconds, bytes moved. */
double crux_gpu_energy_j(const struct crux_gpu *gpu, double busy_s, double idle_s, double bytes);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_GPU_H */
