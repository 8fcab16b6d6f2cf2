/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-gpu and crux-names: rooflines, drives, energy, unknown names.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-gpu.h"
#include "crux-names.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define B   100e9 /* bit/s: 100 Gbit/s, 12.5e9 bytes/s */

static const struct crux_gpu *gpu(const char *name)
{
	const struct crux_gpu *out = NULL;

	CHECK_U64(crux_gpu_find(name, &out, NULL), CRUX_OK);
	return out;
}

static const struct crux_drive *drive(const char *name)
{
	const struct crux_drive *out = NULL;

	CHECK_U64(crux_drive_find(name, &out, NULL), CRUX_OK);
	return out;
}

static void precisions(void)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} want[] = {{"fp32", 4}, {"tf32", 4}, {"fp16", 2}, {"bf16", 2}, {"fp8", 1}};
	enum crux_precision p = CRUX_FP8;
	struct crux_error err;

	for (size_t i = 0; i < 5; i++) {
		CHECK_U64(crux_precision_find(want[i].name, &p, &err), CRUX_OK);
		CHECK_U64(p, i);
		CHECK_STR(crux_precision_name(p), want[i].name);
		CHECK_U64(crux_precision_bytes(p), want[i].bytes);
	}
	CHECK_U64(crux_precision_find("fp64", &p, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "unknown precision \"fp64\"; known: fp32, tf32, fp16, bf16, fp8");
	CHECK_U64(p, CRUX_FP8);
	CHECK_STR(crux_precision_name((enum crux_precision)99), "?");
}

/* Every preset is whole, and its ridge (FLOP a byte where computing and memory take as long) is
 * positive; fp8 is the H100's alone, tf32 and bf16 came with the A100. */
static void presets(void)
{
	uint32_t n, i;
	const struct crux_gpu *all = crux_gpu_list(&n);

	CHECK_U64(n, 5);
	for (i = 0; i < n; i++) {
		CHECK(gpu(all[i].name) == &all[i]);
		CHECK(all[i].memory_bytes >= (UINT64_C(16) << 30));
		CHECK(all[i].peak_flops[CRUX_FP32] > 0 && all[i].peak_flops[CRUX_FP16] > 0);
		CHECK(all[i].memory_Bps > 0 && all[i].launch_s > 0);
		CHECK(all[i].achieved > 0 && all[i].achieved <= 1);
		CHECK(all[i].idle_w > 0 && all[i].busy_w > all[i].idle_w);
		CHECK(all[i].nvlink_bps > all[i].pcie_bps && all[i].pcie_bps > 0);
		CHECK(all[i].source && all[i].source[0]);
	}
	CHECK(gpu("h100")->peak_flops[CRUX_FP8] > 0);
	CHECK(gpu("a100-80")->peak_flops[CRUX_FP8] == 0);
	CHECK(gpu("v100-32")->peak_flops[CRUX_BF16] == 0);
}

/*
 * A100-80, bf16 312 TFLOP/s, half achieved = 156 TFLOP/s, 2,039 GB/s, 5 us a launch.
 * Compute-bound: 156e12 FLOP over 1 GB: 1 s (memory 0.49 ms), 10 launches 50 us.
 * Memory-bound: 1e9 FLOP over 2,039e9 B: 1 s. All of the peak: 156e12 / 312e12 = 0.5 s.
 */
static void roofline(void)
{
	const struct crux_gpu *a100 = gpu("a100-80"), *v100 = gpu("v100-16");

	CHECK_NEAR(crux_gpu_time_s(a100, CRUX_BF16, 156e12, 1e9, 10, 0), 1.00005, 1e-12);
	CHECK_NEAR(crux_gpu_time_s(a100, CRUX_BF16, 1e9, 2039e9, 0, 0), 1, 1e-12);
	CHECK_NEAR(crux_gpu_time_s(a100, CRUX_BF16, 156e12, 0, 0, 1), 0.5, 1e-12);
	CHECK_NEAR(crux_gpu_time_s(a100, CRUX_FP32, 19.5e12, 0, 0, 1), 1, 1e-12);
	CHECK_NEAR(crux_gpu_time_s(a100, CRUX_BF16, 0, 0, 0, 0), 0, 0);
	CHECK(isnan(crux_gpu_time_s(v100, CRUX_BF16, 1, 1, 1, 0)));
	CHECK(isnan(crux_gpu_time_s(v100, (enum crux_precision)77, 1, 1, 1, 0)));
}

/* 2 s at 400 W, 3 s at 55 W, 1e9 bytes at 0.08 nJ: 800 + 165 + 0.08 J. */
static void energy(void)
{
	CHECK_NEAR(crux_gpu_energy_j(gpu("a100-80"), 2, 3, 1e9), 965.08, 1e-9);
	CHECK_NEAR(crux_gpu_energy_j(gpu("a100-80"), 0, 0, 0), 0, 0);
}

/* Published: 39 us; 3.5 times less = 11.14 us; 9.1 times less = 4.29, printed as 4.3 us. At
 * 100 Gbit/s 8 KiB take 65,536 / 1e11 = 0.65536 us on the wire. */
static void messages(void)
{
	CHECK_NEAR(crux_drive_message_s(drive("cpu"), 0, B), 39e-6, 1e-15);
	CHECK_NEAR(crux_drive_message_s(drive("gpu-sw"), 0, B), 11.142857e-6, 1e-12);
	CHECK_NEAR(crux_drive_message_s(drive("gpu-hw"), 0, B), 4.3e-6, 1e-15);
	CHECK_NEAR(drive("cpu")->latency_s / drive("gpu-hw")->latency_s, 9.1, 0.05);
	CHECK_NEAR(crux_drive_message_s(drive("cpu"), 8 * KIB, B), 39.65536e-6, 1e-12);
	CHECK_NEAR(crux_drive_message_s(drive("none"), 8 * KIB, B), 0.65536e-6, 1e-15);
	CHECK_NEAR(crux_drive_throughput_Bps(drive("cpu"), 0, B), 0, 0);
	/* Of an empty message over no time the throughput is 0, not undefined. */
	CHECK_NEAR(crux_drive_throughput_Bps(drive("none"), 0, B), 0, 0);
	CHECK_NEAR(crux_drive_throughput_Bps(drive("none"), 1, B), 12.5e9, 1e-3);
}

/*
 * The depth: 1 + 4.3 / 0.65536 = 7.56, so 8 at 100 Gbit/s; at 400 Gbit/s 1 + 4.3 / 0.16384 =
 * 27.2, so 28. What it gives: the line rate from 8 KiB on (8 x 8192 / 4.95536 us = 13.2e9 bytes/s,
 * above 12.5e9), not yet at 4 KiB (8 x 4096 / 4.62768 us = 7.08e9).
 */
static void depth(void)
{
	const struct crux_drive *hw = drive("gpu-hw");

	CHECK_U64(crux_drive_depth(4.3e-6, 8 * KIB, B), 8);
	CHECK_U64(crux_drive_depth(4.3e-6, 8 * KIB, 4 * B), 28);
	CHECK_U64(crux_drive_depth(0, 8 * KIB, B), 1);
	CHECK_U64(crux_drive_depth(4.3e-6, 0, B), 0);
	CHECK_U64(crux_drive_depth(4.3e-6, 1, 0), 0);
	CHECK_U64(hw->depth, crux_drive_depth(hw->latency_s, hw->line_rate_bytes, B));
	CHECK_NEAR(crux_drive_throughput_Bps(hw, 8 * KIB, B), 12.5e9, 1);
	CHECK_NEAR(crux_drive_throughput_Bps(hw, 4 * KIB, B), 7.081e9, 1e6);
	/* Faster links need more: with 8, 8 x 8192 / (4.3 + 0.32768 us) of 25e9 = 56.6 %, and at
	 * 400 Gbit/s 8 x 8192 / (4.3 + 0.16384 us) of 50e9 = 29.4 %. */
	CHECK_U64(crux_drive_depth(4.3e-6, 8 * KIB, 2 * B), 15);
	CHECK_NEAR(crux_drive_throughput_Bps(hw, 8 * KIB, 2 * B) / 25e9, 0.5665, 1e-4);
	CHECK_NEAR(crux_drive_throughput_Bps(hw, 8 * KIB, 4 * B) / 50e9, 0.2936, 1e-4);
	CHECK_U64(drive("cpu")->depth, 1);
	CHECK_U64(drive("gpu-sw")->depth, 1);
}

/*
 * What a serial engine gives where the line rate is said to be reached, 4 MiB: 335.54 us on the
 * wire, so 335.54 / (335.54 + 39) = 89.6 % (CPU) and 335.54 / 346.69 = 96.8 % (software engine).
 * At 8 KiB: hardware against CPU 39.65536 / 0.65536 = 60.5, against software 11.79822 / 0.65536 =
 * 18.0, where 3.9 is published: an engine that only waited for each message would be far slower
 * than the measured one. 15 messages under way give 39.65536 / (15 x 0.65536) = 4.03, 16 give 3.78;
 * so does a serial engine whose next message starts g = 2.9 x 0.65536 = 1.90 us after the last was
 * on the wire (about one GPU-CPU signal), and at 4 MiB that one is at 335.54 / 337.44 = 99.4 %.
 */
static void serial_against_published(void)
{
	struct crux_drive d = *drive("cpu");
	double hw = crux_drive_throughput_Bps(drive("gpu-hw"), 8 * KIB, B);

	CHECK_NEAR(crux_drive_throughput_Bps(&d, 4 * MIB, B) / 12.5e9, 0.8959, 1e-4);
	CHECK_NEAR(crux_drive_throughput_Bps(drive("gpu-sw"), 4 * MIB, B) / 12.5e9, 0.9679, 1e-4);
	/* 83.886 us at 400 Gbit/s: 83.886 / 122.886. */
	CHECK_NEAR(crux_drive_throughput_Bps(&d, 4 * MIB, 4 * B) / 50e9, 0.6826, 1e-4);
	CHECK_NEAR(hw / crux_drive_throughput_Bps(&d, 8 * KIB, B), 60.51, 0.01);
	CHECK_NEAR(hw / crux_drive_throughput_Bps(drive("gpu-sw"), 8 * KIB, B), 18.0, 0.01);
	d.depth = 15;
	CHECK_NEAR(hw / crux_drive_throughput_Bps(&d, 8 * KIB, B), 4.034, 1e-3);
	d.depth = 16;
	CHECK_NEAR(hw / crux_drive_throughput_Bps(&d, 8 * KIB, B), 3.782, 1e-3);
	d.depth = 1;
	d.latency_s = 2.9 * 0.65536e-6;
	CHECK_NEAR(hw / crux_drive_throughput_Bps(&d, 8 * KIB, B), 3.9, 1e-9);
	CHECK_NEAR(crux_drive_throughput_Bps(&d, 4 * MIB, B) / 12.5e9, 0.9944, 1e-4);
}

/* Only what runs on GPU threads slows computation; only a CPU drives by kernel launches; no CPU
 * thread is left in the way of the hardware engine. 108 processors less 16: 108 / 92 - 1 = 0.174.
 */
static void costs(void)
{
	uint32_t n, i;
	const struct crux_drive *all = crux_drive_list(&n);

	CHECK_U64(n, 4);
	for (i = 0; i < n; i++) {
		CHECK(drive(all[i].name) == &all[i]);
		CHECK_U64(all[i].kind, i);
		CHECK(all[i].depth >= 1);
		CHECK_U64(all[i].launch_s > 0, all[i].kind == CRUX_DRIVE_CPU);
		CHECK_U64(all[i].interference > 0, all[i].kind == CRUX_DRIVE_CPU);
	}
	CHECK_NEAR(drive("cpu")->interference, 108.0 / 92 - 1, 1e-12);
	CHECK(drive("cpu")->cpu_s > drive("gpu-sw")->cpu_s);
	CHECK(drive("gpu-sw")->cpu_s > 0);
	CHECK_NEAR(drive("gpu-hw")->cpu_s, 0, 0);
}

/* kitten -> sitting: replace, replace, insert = 3. */
static void names(void)
{
	static const char *const many[] = {"gpt", "gpt-1.3b", "gpt-175b", "bert",  "nmt",
					   "ctr", "resnet",   "llama-7b", "gpt-x", "gpt-y"};
	const struct crux_gpu *out = NULL;
	const struct crux_drive *how = NULL;
	struct crux_error err;
	char longer[300];

	CHECK_U64(crux_names_distance("kitten", "sitting"), 3);
	CHECK_U64(crux_names_distance("", "abc"), 3);
	CHECK_U64(crux_names_distance("abc", ""), 3);
	CHECK_U64(crux_names_distance("abc", "abc"), 0);
	CHECK_U64(crux_names_unknown("model", "lama-7b", many, 10, &err), CRUX_NOT_FOUND);
	/* lama-7b: llama-7b 1; gpt-1.3b and gpt-x, ... are 5 and more away. */
	CHECK_HAS(err.text, "unknown model \"lama-7b\"; nearest: llama-7b, ");
	CHECK_HAS(err.text, "(of 10)");
	/* gpt-: gpt 1, gpt-x 1, gpt-y 1, in the order given. */
	CHECK_U64(crux_names_unknown("model", "gpt-", many, 10, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "nearest: gpt, gpt-x, gpt-y (of 10)");
	CHECK_U64(crux_gpu_find("a100", &out, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text,
		  "unknown GPU \"a100\"; known: a100-80, a100-40, h100, v100-16, v100-32");
	CHECK(!out);
	CHECK_U64(crux_drive_find("dma", &how, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "unknown drive \"dma\"; known: none, cpu, gpu-sw, gpu-hw");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CHECK_U64(crux_gpu_find(longer, &out, &err), CRUX_NOT_FOUND);
	CHECK_U64(crux_gpu_find("", &out, NULL), CRUX_NOT_FOUND);
}

int main(void)
{
	RUN(precisions);
	RUN(presets);
	RUN(roofline);
	RUN(energy);
	RUN(messages);
	RUN(depth);
	RUN(serial_against_published);
	RUN(costs);
	RUN(names);
	return DONE();
}
