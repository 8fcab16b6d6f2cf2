/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-gnn: sizes of GraphSAGE, time against the share on the host, the best share
 * against a sweep, the program.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-gnn.h"
#include "crux-oom.h"

static struct crux_gnn gnn_of(const char *text)
{
	struct crux_gnn g = {.gpus = 0};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_gnn_parse(text, &g, &err))
		CHECK_FAIL("%s: %s", text, err.text);
	return g;
}

/* 512 x (1 + 25 + 250) = 141,312 rows of 602 x 4 B; 13,312 of them are averaged for. */
static void sizes(void)
{
	struct crux_gnn g = gnn_of("gnn:4:host=0.25");
	uint64_t raw, aggregated;

	CHECK_U64(g.gpus, 4);
	CHECK_U64(g.feature_bytes, UINT64_C(141312) * 602 * 4);
	CHECK_NEAR(g.ratio, 2 * 13312 / 141312.0, 1e-12);
	CHECK_NEAR(g.cpu_Bps, 75e9, 0);
	CHECK_U64(g.threads, 64);
	CHECK_STR(g.gpu->name, "a100-80");
	/* (2 x 602 + 1) x 256 + (2 x 256 + 1) x 41. */
	CHECK_U64(crux_gnn_parameters(&g), 1205 * 256 + 513 * 41);
	crux_gnn_copies(&g, &raw, &aggregated);
	CHECK_U64(raw, g.feature_bytes - g.feature_bytes / 4);
	CHECK_NEAR((double)aggregated, g.ratio * (double)g.feature_bytes / 4, 0.5);
	/* Four GPUs share 75 GB/s. */
	CHECK_NEAR(crux_gnn_host_s(&g, 4), 0.25 * (double)g.feature_bytes / (75e9 / 4), 1e-12);
	g = gnn_of("gnn:1:features_mb=100:ratio=0.1:cpu_gbs=50:gpu=v100-32:drive=cpu");
	CHECK_U64(g.feature_bytes, 100 * 1048576);
	CHECK_NEAR(g.ratio, 0.1, 0);
	CHECK_STR(g.drive->name, "cpu");
	CHECK(crux_gnn_gpu_s(&g) > 0);
	/* Averaging one neighbour leaves more than was there: the ratio stops at 1. */
	g = gnn_of("gnn:1:fanout1=1:fanout2=1");
	CHECK_NEAR(g.ratio, 1, 0);
}

/* T(0) = D/B + g; at host = 1 max(0, D/C) + r D/B + g; in the middle the longer of the two. */
static void seconds(void)
{
	struct crux_gnn g = gnn_of("gnn:1");
	double d = (double)g.feature_bytes, b = 25e9, c = 75e9;

	CHECK_NEAR(crux_gnn_seconds(&g, 1, b), d / b + crux_gnn_gpu_s(&g), 1e-9);
	g.share = 1;
	CHECK_NEAR(crux_gnn_seconds(&g, 1, b), d / c + g.ratio * d / b + crux_gnn_gpu_s(&g), 1e-9);
	g.share = 0.3;
	CHECK_NEAR(crux_gnn_seconds(&g, 1, b),
		   0.7 * d / b + 0.3 * g.ratio * d / b + crux_gnn_gpu_s(&g), 1e-9);
	/* Less is copied, so the GPU, too, has less to average. */
	CHECK(crux_gnn_gpu_s(&g) <
	      crux_gnn_gpu_s(&(struct crux_gnn){.batch = g.batch,
						.features = g.features,
						.hidden = g.hidden,
						.classes = g.classes,
						.fanout1 = g.fanout1,
						.fanout2 = g.fanout2,
						.feature_bytes = g.feature_bytes,
						.ratio = g.ratio,
						.gpu = g.gpu}));
}

/* The closed form is as good as the best of 2,001 shares, and balances CPU against PCIe. */
static void best_share(void)
{
	static const struct {
		const char *text;
		uint32_t gpus;
		double pcie;
	} rows[] = {{"gnn:1", 1, 25e9},
		    {"gnn:1", 1, 12e9},
		    {"gnn:8", 8, 12.5e9},
		    {"gnn:8:cpu_gbs=400", 8, 12e9},
		    {"gnn:4:ratio=0.05", 4, 12e9},
		    {"gnn:1:cpu_gbs=5000:ratio=0", 1, 12e9},
		    {"gnn:1:ratio=1", 1, 25e9}};
	size_t i;
	int k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct crux_gnn g = gnn_of(rows[i].text);
		double t, share = crux_gnn_best(&g, rows[i].gpus, rows[i].pcie, &t), least = 1e9;

		for (k = 0; k <= 2000; k++) {
			double now;

			g.share = k / 2000.0;
			now = crux_gnn_seconds(&g, rows[i].gpus, rows[i].pcie);
			least = now < least ? now : least;
		}
		CHECK(t <= least * (1 + 1e-9));
		/* A step of the sweep is 1/2000 of at most the larger slope. */
		CHECK_NEAR(t, least, 0.002 * least);
		g.share = share;
		CHECK_NEAR(crux_gnn_seconds(&g, rows[i].gpus, rows[i].pcie), t, 1e-15);
		if (share < 1)
			CHECK_NEAR((1 - share) * (double)g.feature_bytes / rows[i].pcie,
				   crux_gnn_host_s(&g, rows[i].gpus), 1e-6);
	}
}

/* The bound of the header: T(0)/T(x) < 1/r + g(0) B/(r D); it holds and is not far off. */
static void gain(void)
{
	struct crux_gnn g = gnn_of("gnn:1:cpu_gbs=2000");
	double b = 12e9, t, before = crux_gnn_seconds(&g, 1, b);

	crux_gnn_best(&g, 1, b, &t);
	CHECK(before / t <
	      1 / g.ratio + crux_gnn_gpu_s(&g) * b / (g.ratio * (double)g.feature_bytes));
	CHECK(before / t > 0.8 / g.ratio);
}

static void program(void)
{
	struct crux_gnn g = gnn_of("gnn:4:host=0.5:channels=2");
	struct crux_program *p = NULL;
	struct crux_error err = {CRUX_OK, ""};
	const uint32_t host[4] = {0, 0, 0, 7};

	CHECK_U64(crux_gnn_program(&g, host, 1, &p, &err), CRUX_OK);
	CHECK_U64(p->n_ops, 5);
	CHECK_U64(p->ops[0].kind, CRUX_OP_COPY);
	CHECK_U64(p->ops[0].direction, CRUX_COPY_TO_GPU);
	CHECK_U64(p->ops[0].bytes, g.feature_bytes / 2);
	CHECK_U64(p->ops[1].kind, CRUX_OP_HOST);
	/* Three of the four share a CPU. */
	CHECK_NEAR(p->ops[1].seconds, 0.5 * (double)g.feature_bytes / (75e9 / 3), 1e-12);
	CHECK_U64(p->deps[p->ops[2].first_dep], 1);
	CHECK_U64(p->ops[3].kind, CRUX_OP_COMPUTE);
	CHECK_U64(p->ops[3].n_deps, 3);
	CHECK_U64(p->ops[4].bytes, 4 * (1205 * 256 + 513 * 41));
	CHECK_U64(p->ops[4].channels, 2);
	CHECK_U64(p->cpu_threads, 64);
	crux_program_destroy(p);
	g.share = 0; /* nothing on the host */
	CHECK_U64(crux_gnn_program(&g, NULL, 2, &p, &err), CRUX_OK);
	CHECK_U64(p->n_ops, 3);
	CHECK_U64(p->ops[0].bytes, g.feature_bytes / 2);
	crux_program_destroy(p);
	g = gnn_of("gnn:1:host=1"); /* nothing untouched, nobody to talk to */
	CHECK_U64(crux_gnn_program(&g, NULL, 1, &p, &err), CRUX_OK);
	CHECK_U64(p->n_ops, 3);
	CHECK_U64(p->ops[0].kind, CRUX_OP_HOST);
	crux_program_destroy(p);
	CHECK_U64(crux_gnn_program(&g, NULL, 0, &p, &err), CRUX_RANGE);
}

static void errors(void)
{
	static const struct {
		const char *text;
		enum crux_status status;
		const char *words;
	} rows[] = {
		{"gnn", CRUX_SYNTAX, "is not gnn:GPUS"},
		{"gpt:4", CRUX_SYNTAX, "is not gnn:GPUS"},
		{"gnn:0", CRUX_RANGE, "gnn: GPUs: 0"},
		{"gnn:4:host=1.5", CRUX_RANGE, "gnn: host: 1.5 is not in 0..1"},
		{"gnn:4:share=1", CRUX_UNKNOWN_KEY, "unknown key \"share\"; known: host, batch"},
		{"gnn:4:batch=2:batch=3", CRUX_DUPLICATE, "batch is given twice"},
		{"gnn:4:gpu=b200", CRUX_NOT_FOUND, "b200"},
		{"gnn:4:batch", CRUX_SYNTAX, "not key=value"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct crux_gnn g = {.gpus = 0};
		struct crux_error err = {CRUX_OK, ""};

		CHECK_U64(crux_gnn_parse(rows[i].text, &g, &err), rows[i].status);
		CHECK_HAS(err.text, rows[i].words);
		CHECK_U64(g.gpus, 0);
	}
}

static enum crux_status make(struct crux_error *err)
{
	const uint32_t host[2] = {3, 3};
	struct crux_program *p = NULL;
	struct crux_gnn g;
	enum crux_status status = crux_gnn_parse("gnn:2:host=0.5", &g, err);

	if (!status)
		status = crux_gnn_program(&g, host, 1, &p, err);
	crux_program_destroy(p);
	return status;
}

static void out_of_memory(void)
{
	struct crux_error err = {CRUX_OK, ""};
	enum crux_status status;

	OOM_EVERY(status, make(&err), (void)0);
}

int main(void)
{
	RUN(sizes);
	RUN(seconds);
	RUN(best_share);
	RUN(gain);
	RUN(program);
	RUN(errors);
	RUN(out_of_memory);
	return DONE();
}
