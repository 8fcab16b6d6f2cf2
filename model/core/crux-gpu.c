/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gpu: see crux-gpu.h, and doc/gpu-hosts.md for where each number is from.
 *
 * Place: model/core (C11). Depends on crux-base, crux-names.
 */
#include "crux-gpu.h"

#include "crux-names.h"

#include <math.h>
#include <string.h>

#define GIB	(UINT64_C(1) << 30)
#define MIB	(UINT64_C(1) << 20)
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	uint32_t bytes;
} precisions[CRUX_N_PRECISIONS] = {
	[CRUX_FP32] = {"fp32", 4}, [CRUX_TF32] = {"tf32", 4}, [CRUX_FP16] = {"fp16", 2},
	[CRUX_BF16] = {"bf16", 2}, [CRUX_FP8] = {"fp8", 1},
};

const char *crux_precision_name(enum crux_precision precision)
{
	return (unsigned)precision < CRUX_N_PRECISIONS ? precisions[precision].name : "?";
}

enum crux_status crux_precision_find(const char *name, enum crux_precision *out,
				     struct crux_error *err)
{
	const char *known[CRUX_N_PRECISIONS];

	for (size_t i = 0; i < CRUX_N_PRECISIONS; i++) {
		known[i] = precisions[i].name;
		if (!strcmp(name, known[i])) {
			*out = (enum crux_precision)i;
			return CRUX_OK;
		}
	}
	return crux_names_unknown("precision", name, known, CRUX_N_PRECISIONS, err);
}

uint32_t crux_precision_bytes(enum crux_precision precision)
{
	return (unsigned)precision < CRUX_N_PRECISIONS ? precisions[precision].bytes : 0;
}

/* Vector units at fp32, tensor cores at all else, without sparsity. Figures of the makers' data
 * sheets but for launch_s, achieved, idle_w and nj_per_byte, which are assumptions. */
static const struct crux_gpu gpus[] = {
	{
		.name = "a100-80",
		.memory_bytes = 80 * GIB,
		.peak_flops = {19.5e12, 156e12, 312e12, 312e12, 0},
		.memory_Bps = 2039e9,
		.launch_s = 5e-6,
		.achieved = 0.5,
		.idle_w = 55,
		.busy_w = 400,
		.nj_per_byte = 0.08,
		.nvlink_bps = UINT64_C(2400000000000),
		.pcie_bps = UINT64_C(256000000000),
		.source = "NVIDIA A100 Tensor Core GPU data sheet (SXM4, 80 GB)",
	},
	{
		.name = "a100-40",
		.memory_bytes = 40 * GIB,
		.peak_flops = {19.5e12, 156e12, 312e12, 312e12, 0},
		.memory_Bps = 1555e9,
		.launch_s = 5e-6,
		.achieved = 0.5,
		.idle_w = 55,
		.busy_w = 400,
		.nj_per_byte = 0.08,
		.nvlink_bps = UINT64_C(2400000000000),
		.pcie_bps = UINT64_C(256000000000),
		.source = "NVIDIA A100 Tensor Core GPU data sheet (SXM4, 40 GB)",
	},
	{
		.name = "h100",
		.memory_bytes = 80 * GIB,
		.peak_flops = {66.9e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12},
		.memory_Bps = 3350e9,
		.launch_s = 5e-6,
		.achieved = 0.45,
		.idle_w = 70,
		.busy_w = 700,
		.nj_per_byte = 0.08,
		.nvlink_bps = UINT64_C(3600000000000),
		.pcie_bps = UINT64_C(512000000000),
		.source = "NVIDIA H100 Tensor Core GPU data sheet and architecture white paper "
			  "(SXM5)",
	},
	{
		.name = "v100-16",
		.memory_bytes = 16 * GIB,
		.peak_flops = {15.7e12, 0, 125e12, 0, 0},
		.memory_Bps = 900e9,
		.launch_s = 5e-6,
		.achieved = 0.3,
		.idle_w = 40,
		.busy_w = 300,
		.nj_per_byte = 0.08,
		.nvlink_bps = UINT64_C(1200000000000),
		.pcie_bps = UINT64_C(128000000000),
		.source = "NVIDIA Tesla V100 data sheet (SXM2, 16 GB)",
	},
	{
		.name = "v100-32",
		.memory_bytes = 32 * GIB,
		.peak_flops = {15.7e12, 0, 125e12, 0, 0},
		.memory_Bps = 900e9,
		.launch_s = 5e-6,
		.achieved = 0.3,
		.idle_w = 40,
		.busy_w = 300,
		.nj_per_byte = 0.08,
		.nvlink_bps = UINT64_C(1200000000000),
		.pcie_bps = UINT64_C(128000000000),
		.source = "NVIDIA Tesla V100 data sheet (SXM2, 32 GB)",
	},
};

const struct crux_gpu *crux_gpu_list(uint32_t *n)
{
	*n = N_OF(gpus);
	return gpus;
}

enum crux_status crux_gpu_find(const char *name, const struct crux_gpu **out,
			       struct crux_error *err)
{
	const char *known[N_OF(gpus)];

	for (size_t i = 0; i < N_OF(gpus); i++) {
		known[i] = gpus[i].name;
		if (!strcmp(name, known[i])) {
			*out = &gpus[i];
			return CRUX_OK;
		}
	}
	return crux_names_unknown("GPU", name, known, N_OF(gpus), err);
}

double crux_gpu_time_s(const struct crux_gpu *gpu, enum crux_precision precision, double flop,
		       double bytes, double launches, double achieved)
{
	double peak = (unsigned)precision < CRUX_N_PRECISIONS ? gpu->peak_flops[precision] : 0;
	double compute, memory = bytes / gpu->memory_Bps;

	if (!(peak > 0))
		return NAN;
	compute = flop / ((achieved > 0 ? achieved : gpu->achieved) * peak);
	return (compute > memory ? compute : memory) + launches * gpu->launch_s;
}

double crux_gpu_energy_j(const struct crux_gpu *gpu, double busy_s, double idle_s, double bytes)
{
	return busy_s * gpu->busy_w + idle_s * gpu->idle_w + bytes * gpu->nj_per_byte * 1e-9;
}

/* ---- how communication is driven: see crux-gpu.h for the figures and assumptions */
static const struct crux_drive drives[] = {
	{
		.kind = CRUX_DRIVE_NONE,
		.name = "none",
		.depth = 1,
	},
	{
		.kind = CRUX_DRIVE_CPU,
		.name = "cpu",
		.latency_s = 39e-6,
		.depth = 1,
		.interference = 16.0 / 92,
		.launch_s = 5e-6,
		.cpu_s = 10e-6,
		.line_rate_bytes = 4 * MIB,
	},
	{
		.kind = CRUX_DRIVE_GPU_SOFTWARE,
		.name = "gpu-sw",
		.latency_s = 39e-6 / 3.5,
		.depth = 1,
		.cpu_s = 2.5e-6,
		.line_rate_bytes = 4 * MIB,
	},
	{
		.kind = CRUX_DRIVE_GPU_HARDWARE,
		.name = "gpu-hw",
		.latency_s = 4.3e-6,
		.depth = 8,
		.line_rate_bytes = 8192,
	},
};

const struct crux_drive *crux_drive_list(uint32_t *n)
{
	*n = N_OF(drives);
	return drives;
}

enum crux_status crux_drive_find(const char *name, const struct crux_drive **out,
				 struct crux_error *err)
{
	const char *known[N_OF(drives)];

	for (size_t i = 0; i < N_OF(drives); i++) {
		known[i] = drives[i].name;
		if (!strcmp(name, known[i])) {
			*out = &drives[i];
			return CRUX_OK;
		}
	}
	return crux_names_unknown("drive", name, known, N_OF(drives), err);
}

double crux_drive_message_s(const struct crux_drive *drive, uint64_t bytes, double bps)
{
	return drive->latency_s + 8.0 * (double)bytes / bps;
}

double crux_drive_throughput_Bps(const struct crux_drive *drive, uint64_t bytes, double bps)
{
	double stream;

	if (!bytes)
		return 0;
	stream = drive->depth * (double)bytes / crux_drive_message_s(drive, bytes, bps);
	return stream < bps / 8 ? stream : bps / 8;
}

uint32_t crux_drive_depth(double latency_s, uint64_t bytes, double bps)
{
	double wire_s = 8.0 * (double)bytes / bps;

	if (!(latency_s >= 0) || !(bps > 0) || !bytes || latency_s / wire_s > 1e9)
		return 0;
	return (uint32_t)ceil(1 + latency_s / wire_s - 1e-9);
}
