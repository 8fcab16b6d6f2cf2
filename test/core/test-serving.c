/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit tests of crux-serving and crux-latency: times of batches, fit, energy, closed forms,
 * percentiles. Place: test/core.
 */
#include "crux-latency.h"
#include "crux-serving.h"

#include "crux-check.h"
#include "crux-oom.h"

/* A device of round numbers: 1 TFLOP/s in fp16 (half achieved: 0.5), 100 GB/s, 1 us a launch. */
static struct crux_search_server device(void)
{
	return (struct crux_search_server){.precision = CRUX_FP16,
					   .gpu = true,
					   .host_w = 10,
					   .device = {.name = "round",
						      .memory_bytes = 2000000000,
						      .peak_flops = {[CRUX_FP16] = 1e12},
						      .memory_Bps = 100e9,
						      .launch_s = 1e-6,
						      .achieved = 0.5,
						      .idle_w = 50,
						      .busy_w = 250,
						      .nj_per_byte = 2}};
}

static struct crux_search whole(void)
{
	struct crux_search search;

	crux_search_default(&search);
	search.scan_share = 1;
	search.scan_launches = 2;
	search.index_bytes = 1000000000;
	search.documents = 5000000;
	search.dimensions = 100;
	return search;
}

static void scan_bound_by_memory_is_shared(void)
{
	const struct crux_search search = whole();
	const struct crux_search_server server = device();

	/* 1 GB at 100 GB/s = 10 ms, and 2 us of launches. FLOP of one query: 2 x 5e6 x 100 = 1e9,
	 * at 0.5e12: 2 ms. So up to 5 queries cost what one costs; 10 cost 20 ms. */
	CHECK_NEAR(crux_search_batch_s(&search, &server, 1), 10.002e-3, 1e-12);
	CHECK_NEAR(crux_search_batch_s(&search, &server, 5), 10.002e-3, 1e-12);
	CHECK_NEAR(crux_search_batch_s(&search, &server, 10), 20.002e-3, 1e-12);
	CHECK_NEAR(crux_search_batch_s(&search, &server, 0), 0, 0);
}

static void part_of_the_index(void)
{
	struct crux_search search = whole();
	const struct crux_search_server server = device();

	/* Two queries that read a quarter each, chosen independently: 1 - (3/4)^2 = 7/16. */
	search.scan_share = 0.25;
	CHECK_NEAR(crux_search_part(&search, 0), 0, 0);
	CHECK_NEAR(crux_search_part(&search, 1), 0.25, 1e-15);
	CHECK_NEAR(crux_search_part(&search, 2), 7.0 / 16, 1e-15);
	CHECK_NEAR(crux_search_part(&search, 1000000), 1, 1e-15);
	/* 7/16 GB at 100 GB/s; the FLOP, 2 x 0.25 x 1e9, take only 1 ms. */
	CHECK_NEAR(crux_search_batch_s(&search, &server, 2), 4.375e-3 + 2e-6, 1e-12);
	search.scan_share = 1;
	CHECK_NEAR(crux_search_part(&search, 0), 0, 0);
	CHECK_NEAR(crux_search_part(&search, 3), 1, 0);
}

static void ranking_by_a_transformer(void)
{
	struct crux_search search = whole();
	struct crux_search_server server = device();

	/* 1e8 parameters x 50 tokens x 10 candidates x 2 = 1e11 FLOP a query: 0.2 s at 0.5e12; the
	 * weights, 2e8 B, take 2 ms. 30 launches: 30 us. Beside the scan's 10.002 ms. */
	search.rank_parameters = 1e8;
	search.rank_tokens = 50;
	search.rank_candidates = 10;
	search.rank_launches = 30;
	CHECK_NEAR(crux_search_batch_s(&search, &server, 1), 0.2 + 30e-6 + 10.002e-3, 1e-12);
	/* One candidate of one token: 2e8 FLOP, 0.4 ms: the weights' 2 ms rule. */
	search.rank_tokens = search.rank_candidates = 1;
	CHECK_NEAR(crux_search_batch_s(&search, &server, 1), 2.03e-3 + 10.002e-3, 1e-12);
	/* In fp32 weights are twice as large, and this device cannot compute. */
	CHECK_NEAR(crux_search_memory_bytes(&search, &server), 1.2e9, 0);
	server.precision = CRUX_FP32;
	CHECK_NEAR(crux_search_memory_bytes(&search, &server), 1.4e9, 0);
	CHECK(isnan(crux_search_batch_s(&search, &server, 1)));
}

static void fits_or_says_by_how_much_not(void)
{
	struct crux_search search = whole();
	const struct crux_search_server server = device();
	struct crux_error err;

	search.index_bytes = 2000000000;
	CHECK_U64(crux_search_fits(&search, &server, &err), CRUX_OK);
	search.index_bytes = 2000000123;
	search.name = "photos";
	CHECK_U64(crux_search_fits(&search, &server, &err), CRUX_CAPACITY);
	/* 8 shards of 2000000123 B over 2e9 B each: 8.0000005, so 9. */
	CHECK_STR(err.text, "photos: a shard needs 2000000123 bytes of memory, round has "
			    "2000000000: 123 too many; 9 shards instead of 8 would fit");
	search.rank_parameters = 1e9; /* 2e9 B of weights leave no room at all */
	CHECK_U64(crux_search_fits(&search, &server, &err), CRUX_CAPACITY);
	CHECK_HAS(err.text, "weights");
	CHECK_HAS(err.text, "2000000123 too many");
}

static void saturation(void)
{
	struct crux_search search = whole();
	const struct crux_search_server server = device();

	search.batch = 10; /* 20.002 ms for 10 */
	CHECK_NEAR(crux_search_capacity_qps(&search, &server), 10 / 20.002e-3, 1e-9);
	/* 8 answers of 10000 B in 3 packets: 8 x (10000 + 3 x 82) = 81968 B a query on the wire, at
	 * 100 Gbit/s; the queries' 8 x (256 + 82) are less. */
	search.answer_bytes = 10000;
	CHECK_NEAR(crux_search_network_qps(&search, 100e9, 4096), 100e9 / (8 * 81968.0), 1e-6);
	search.query_bytes = 20000; /* 5 packets: 8 x 20410 */
	CHECK_NEAR(crux_search_network_qps(&search, 100e9, 4096), 100e9 / (8 * 163280.0), 1e-6);
}

static void energy(void)
{
	struct crux_search search = whole();
	const struct crux_search_server server = device();

	/* 3 s busy of 10: 3 x 250 + 7 x 50 + 10 x 10 W of the host; 1000 queries of 256 + 1200 B
	 * at 2 nJ: 2.912 mJ. */
	CHECK_NEAR(crux_search_energy_j(&search, &server, 3, 10, 1000), 1200 + 2.912e-3, 1e-9);
}

static void closed_forms(void)
{
	/* r = 0.5, s = 1 ms: 0.5 x 1 / (2 x 0.5) = 0.5 ms; twice the rate: saturated. */
	CHECK_NEAR(crux_md1_wait_s(500, 1e-3), 0.5e-3, 1e-15);
	CHECK_NEAR(crux_md1_wait_s(0, 1e-3), 0, 0);
	CHECK(isinf(crux_md1_wait_s(1000, 1e-3)));
	/* Of 4 queries at 1000 a second the first waits 3 ms in the mean, the last 0: 1.5 ms. */
	CHECK_NEAR(crux_batch_fill_s(1000, 4), 1.5e-3, 1e-15);
	CHECK_NEAR(crux_batch_fill_s(1000, 1), 0, 0);
}

static void servers(void)
{
	struct crux_search_server server = {.host_w = -1};
	struct crux_search_cpu cpu;
	struct crux_error err;

	crux_search_cpu_default(&cpu);
	CHECK_U64(crux_search_server_cpu(&cpu, &server, &err), CRUX_OK);
	/* 32 cores x 3 GHz x 32 FLOP = 3.072 TFLOP/s. */
	CHECK_NEAR(server.device.peak_flops[CRUX_FP32], 3.072e12, 1);
	CHECK(!server.gpu);
	CHECK_U64(crux_search_server_gpu("v100-32", CRUX_FP16, &server, &err), CRUX_OK);
	CHECK_STR(server.device.name, "v100-32");
	CHECK(server.gpu);
	server.host_w = -1;
	CHECK_U64(crux_search_server_gpu("v100-32", CRUX_BF16, &server, &err), CRUX_INVALID);
	CHECK_STR(err.text, "v100-32 does not compute in bf16");
	CHECK_U64(crux_search_server_gpu("v100-23", CRUX_FP16, &server, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "v100-32");
	cpu.busy_w = 79; /* below idle */
	CHECK_U64(crux_search_server_cpu(&cpu, &server, &err), CRUX_RANGE);
	CHECK_STR(err.text, "cpu: busy power (W) is 79, not in [80, 1e+06]");
	CHECK_NEAR(server.host_w, -1, 0); /* failures leave it alone */
}

static void bad_services(void)
{
	struct crux_search good, bad;
	struct crux_error err;

	crux_search_default(&good);
	CHECK_U64(crux_search_check(&good, &err), CRUX_OK);
#define BAD(field, value, line)                                                                    \
	bad = good;                                                                                \
	bad.field = (value);                                                                       \
	CHECK_U64(crux_search_check(&bad, &err), CRUX_RANGE);                                      \
	CHECK_STR(err.text, line)
	BAD(shards, 0, "search: shards is 0, not in [1, 65536]");
	BAD(batch, 0, "search: batch is 0, not in [1, 1e+06]");
	BAD(scan_share, 0, "search: scan share is 0, not in (0, 1]");
	BAD(scan_share, 1.5, "search: scan share is 1.5, not in (0, 1]");
	BAD(scan_share, NAN, "search: scan share is nan, not in (0, 1]");
	BAD(rate_qps, 0, "search: query rate (1/s) is 0, not in (0, 1e+12]");
	BAD(batch_delay_s, -1, "search: batch delay (s) is -1, not in [0, 1e+06]");
	BAD(answer_bytes, 0, "search: answer bytes is 0, not in [1, 1.09951e+12]");
#undef BAD
}

static void exact_percentiles(void)
{
	struct crux_latency latency;
	uint64_t i;

	/* 1..200 us in another order (77 and 200 have no common divisor): nearest rank. */
	crux_latency_init(&latency, 200);
	CHECK(isnan(crux_latency_quantile_s(&latency, 0.5)));
	CHECK(isnan(crux_latency_mean_s(&latency)));
	for (i = 0; i < 200; i++)
		CHECK_U64(crux_latency_add(&latency, (i * 77 % 200 + 1) * 1000000, NULL), CRUX_OK);
	CHECK(crux_latency_exact(&latency));
	CHECK_NEAR(crux_latency_quantile_s(&latency, 0.5), 100e-6, 1e-18);
	CHECK_NEAR(crux_latency_quantile_s(&latency, 0.95), 190e-6, 1e-18);
	CHECK_NEAR(crux_latency_quantile_s(&latency, 0.99), 198e-6, 1e-18);
	CHECK_NEAR(crux_latency_quantile_s(&latency, 0.991), 199e-6, 1e-18); /* 198.2 */
	CHECK_NEAR(crux_latency_quantile_s(&latency, 0), 1e-6, 1e-18);
	CHECK_NEAR(crux_latency_quantile_s(&latency, 1), 200e-6, 1e-18);
	CHECK(isnan(crux_latency_quantile_s(&latency, 1.01)));
	CHECK_NEAR(crux_latency_mean_s(&latency), 100.5e-6, 1e-16);
	crux_latency_clear(&latency);
}

/* The histogram against the exact record of the same values: within 2^-11. */
static void histogram_within_its_bound(void)
{
	static const double q[] = {0, 0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
	struct crux_latency exact, binned;
	struct crux_rng rng;
	uint64_t i;
	size_t k;

	crux_latency_init(&exact, 100000);
	crux_latency_init(&binned, 5000); /* goes over from exact to bins on the way */
	crux_rng_init(&rng, 1, 2);
	for (i = 0; i < 100000; i++) { /* over 17 decades; ldexp is exact */
		const uint64_t ps = crux_rng_next(&rng) >> crux_rng_below(&rng, 58);

		crux_latency_add(&exact, ps, NULL);
		crux_latency_add(&binned, ps, NULL);
		if (i == 4999)
			CHECK(crux_latency_exact(&binned));
	}
	CHECK(crux_latency_exact(&exact) && !crux_latency_exact(&binned));
	for (k = 0; k < sizeof(q) / sizeof(q[0]); k++) {
		const double want = crux_latency_quantile_s(&exact, q[k]);

		CHECK_NEAR(crux_latency_quantile_s(&binned, q[k]), want, want / 2048);
	}
	CHECK_NEAR(crux_latency_mean_s(&binned), crux_latency_mean_s(&exact), 0);
	CHECK_U64(binned.least_ps, exact.least_ps);
	CHECK_U64(binned.greatest_ps, exact.greatest_ps);
	crux_latency_clear(&exact);
	crux_latency_clear(&binned);
}

/* Every boundary of the bins: v, alone in a histogram from the start, comes back as itself, as
 * the middle of a bin is cut to [least, greatest]; two values apart by more than a bin stay so. */
static void ends_of_bins(void)
{
	uint32_t e;

	for (e = 0; e < 64; e++) {
		const uint64_t v = (uint64_t)1 << e;
		struct crux_latency latency;

		crux_latency_init(&latency, 0);
		crux_latency_add(&latency, v - 1, NULL);
		crux_latency_add(&latency, v, NULL);
		CHECK_NEAR(crux_latency_quantile_s(&latency, 0.5), (double)(v - 1) * 1e-12,
			   (double)v * 1e-12 / 2048);
		CHECK_NEAR(crux_latency_quantile_s(&latency, 1), (double)v * 1e-12,
			   (double)v * 1e-12 / 2048);
		crux_latency_add(&latency, UINT64_MAX, NULL);
		CHECK_U64(latency.greatest_ps, UINT64_MAX);
		CHECK_NEAR(crux_latency_quantile_s(&latency, 1), 0x1p64 * 1e-12,
			   0x1p64 * 1e-12 / 2048);
		crux_latency_clear(&latency);
	}
}

/* Ten values with a limit of 4: every allocation made to fail in turn; what was recorded before
 * the failure is intact. */
static enum crux_status ten_values(struct crux_latency *latency, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	uint64_t i;

	crux_latency_init(latency, 4);
	for (i = 1; i <= 10 && status == CRUX_OK; i++)
		status = crux_latency_add(latency, i, err);
	if (status != CRUX_OK) {
		CHECK_U64(latency->count, i - 2);
		CHECK_U64(latency->greatest_ps, i - 2);
		crux_latency_clear(latency);
	}
	return status;
}

static void out_of_memory(void)
{
	struct crux_latency latency;
	struct crux_error err;
	enum crux_status status;

	OOM_EVERY(status, ten_values(&latency, &err), crux_latency_clear(&latency));
	CHECK_U64(status, CRUX_OK);
}

int main(void)
{
	RUN(scan_bound_by_memory_is_shared);
	RUN(part_of_the_index);
	RUN(ranking_by_a_transformer);
	RUN(fits_or_says_by_how_much_not);
	RUN(saturation);
	RUN(energy);
	RUN(closed_forms);
	RUN(servers);
	RUN(bad_services);
	RUN(exact_percentiles);
	RUN(histogram_within_its_bound);
	RUN(ends_of_bins);
	RUN(out_of_memory);
	return DONE();
}
