/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-train: descriptions and their errors, stages, memory against the formulas,
 * what would help.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-train.h"

static struct crux_train train_of(const char *text)
{
	struct crux_train train = {0};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_train_parse(text, &train, &err))
		CHECK_FAIL("%s: %s", text, err.text);
	return train;
}

static void defaults(void)
{
	struct crux_train t = train_of("llama-7b:64");

	CHECK_U64(t.dp, 64);
	CHECK_U64(t.batch, 1);
	CHECK_U64(t.gradient_bytes, 4);
	CHECK_U64(t.schedule, CRUX_1F1B);
	CHECK_U64(t.sync, CRUX_ALG_RING);
	CHECK_STR(t.order, "tdp");
	CHECK_STR(t.gpu->name, "a100-80");
	CHECK_STR(t.drive->name, "none");
	CHECK_U64(t.threads, 8);
	CHECK_U64(t.iterations, 0);
	crux_train_clear(&t);
	crux_train_clear(&t); /* twice does no harm */
}

static void every_key(void)
{
	struct crux_train t = train_of(
		"mixtral-8x7b:64:tp=2:pp=4:ep=4:micro=6:batch=3:schedule=gpipe:split=flop:"
		"order=dtp:precision=fp16:grads=same:zero=1:sync=tree:channels=3:bucket_mb=25:"
		"recompute=selective:fusion=1:compiler=1.25:share=1:swap=0.5:data_mb=2:"
		"checkpoint=100:storage=store-1:gpu=h100:drive=gpu-hw:threads=4:iterations=9");

	CHECK_U64(t.dp, 8);
	CHECK_U64(t.ep, 4);
	CHECK_U64(t.micro, 6);
	CHECK_U64(t.batch, 3);
	CHECK_U64(t.schedule, CRUX_GPIPE);
	CHECK_U64(t.split, CRUX_SPLIT_FLOP);
	CHECK_STR(t.order, "dtp");
	CHECK_U64(t.gradient_bytes, 2);
	CHECK_U64(t.zero, 1);
	CHECK_U64(t.sync, CRUX_ALG_TREE);
	CHECK_U64(t.channels, 3);
	CHECK_NEAR(t.bucket_bytes, 25 * 1048576.0, 0);
	CHECK_U64(t.recompute, CRUX_RECOMPUTE_SELECTIVE);
	CHECK(t.fusion && t.share);
	CHECK_NEAR(t.compiler, 1.25, 0);
	CHECK_NEAR(t.data_bytes, 2 * 1048576.0, 0);
	CHECK_U64(t.checkpoint, 100);
	CHECK_STR(t.storage, "store-1");
	CHECK_STR(t.gpu->name, "h100");
	CHECK_STR(t.drive->name, "gpu-hw");
	CHECK_U64(t.iterations, 9);
	crux_train_clear(&t);
	t = train_of("llama-7b:64:tp=8:pp=2:dp=4");
	CHECK_U64(t.dp, 4);
	crux_train_clear(&t);
	t = train_of("gpt:8:sync=ps:storage=own");
	CHECK_STR(t.storage, "");
	CHECK(t.parameter_server);
	crux_train_clear(&t);
}

static void errors(void)
{
	static const struct {
		const char *text;
		enum crux_status status;
		const char *words;
	} rows[] = {
		{"llama-7b", CRUX_SYNTAX, "\"llama-7b\" is not MODEL:GPUS"},
		{":8", CRUX_SYNTAX, "is not MODEL:GPUS"},
		{"llama-7b:0", CRUX_RANGE, "llama-7b: GPUs: 0 is not in 1..1048576"},
		{"llama-7b:eight", CRUX_SYNTAX, "\"eight\" is not a number"},
		{"lama-7b:8", CRUX_NOT_FOUND, "nearest: llama-7b"},
		{"llama-7b:8:tp", CRUX_SYNTAX, "\"tp\" is not key=value"},
		{"llama-7b:8:", CRUX_SYNTAX, "\"\" is not key=value"},
		{"llama-7b:8:tq=2", CRUX_UNKNOWN_KEY,
		 "unknown key \"tq\"; known: tp, pp, dp, ep, "},
		{"llama-7b:8:tp=2:tp=2", CRUX_DUPLICATE, "tp is given twice"},
		{"llama-7b:8:tp=0", CRUX_RANGE, "llama-7b: tp: 0"},
		{"llama-7b:8:zero=2", CRUX_NOT_FOUND, "zero: unknown \"2\"; known: 0, 1, 3"},
		{"llama-7b:8:sync=star", CRUX_NOT_FOUND, "known: ring, tree, direct, hier"},
		{"llama-7b:8:order=tdd", CRUX_INVALID, "\"tdd\" is no order"},
		{"llama-7b:8:swap=1.5", CRUX_RANGE, "1.5 is not in 0..1"},
		{"llama-7b:8:gpu=b200", CRUX_NOT_FOUND, "b200"},
		/* Products, with numbers. */
		{"llama-7b:64:tp=3", CRUX_INVALID,
		 "tp 3 x pp 1 x dp is not 64 GPUs: 64 is not a multiple of 3"},
		{"llama-7b:64:tp=8:pp=2:dp=8", CRUX_INVALID,
		 "tp 8 x pp 2 x dp 8 = 128, but it has 64 GPUs"},
		{"llama-7b:8:tp=8:pp=2", CRUX_INVALID,
		 "tp 8 x pp 2 = 16 GPUs are needed, but it has 8"},
		{"mixtral-8x7b:24:ep=16", CRUX_INVALID, "ep 16 does not divide dp 24"},
		{"mixtral-8x7b:24:ep=3", CRUX_INVALID, "ep 3 does not divide the 8 experts"},
		{"llama-7b:8:ep=2", CRUX_INVALID, "ep 2, but it has no experts"},
		{"gpt:64:pp=32", CRUX_INVALID, "pp 32 stages of 24 layers"},
		{"resnet50:8:tp=2", CRUX_INVALID, "no transformer layers to split"},
		{"gpt:8:pp=2:accumulate=4", CRUX_INVALID, "accumulates by micro=4"},
		{"gpt:8:micro=4097", CRUX_RANGE, "4097 is not in 1..4096"},
		{"gpt:8:micro=100:accumulate=50", CRUX_LIMIT, "accumulate 50 is above 4096"},
		{"gpt:8:gpu=v100-32", CRUX_INVALID, "GPU v100-32 has no bf16"},
		{"gpt:8:compiler=3", CRUX_RANGE, "compiler 3 x achieved 0.43"},
		{"gpt:8:zero=1:sync=ps", CRUX_INVALID, "not zero=1, ep=1"},
		{"file:/nonexistent/net:8", CRUX_NOT_FOUND, "/nonexistent/net"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct crux_train t = {0};
		struct crux_error err = {CRUX_OK, ""};

		CHECK_U64(crux_train_parse(rows[i].text, &t, &err), rows[i].status);
		CHECK_HAS(err.text, rows[i].words);
		CHECK(!t.net);
	}
}

static void stages(void)
{
	/* 24 blocks in 4 stages of 6; the look-up in front, the head behind: 1 + 6, 12, 18. */
	struct crux_train t = train_of("gpt:8:pp=4");

	CHECK_U64(t.cut[0], 0);
	CHECK_U64(t.cut[1], 7);
	CHECK_U64(t.cut[2], 13);
	CHECK_U64(t.cut[3], 19);
	CHECK_U64(t.cut[4], 26);
	crux_train_clear(&t);
	/* 32 blocks in 6 stages: 6, 6, 5, 5, 5, 5. */
	t = train_of("llama-7b:6:pp=6");
	CHECK_U64(t.cut[1], 7);
	CHECK_U64(t.cut[2], 13);
	CHECK_U64(t.cut[3], 18);
	CHECK_U64(t.cut[5], 28);
	crux_train_clear(&t);
	/*
	 * By FLOP: gpt's block is 24 s h^2 (1 + s/6h) = 68.7e9, the head 2 s h V = 214.7e9,
	 * 3.1 blocks; in two stages of 27.1 blocks 13.6 each: the best are 14 and 10 + head.
	 */
	t = train_of("gpt:2:pp=2:split=flop");
	CHECK_U64(t.cut[1], 15);
	crux_train_clear(&t);
	/* A stage for every layer. */
	t = train_of("gpt:26:pp=26:split=flop");
	CHECK_U64(t.cut[25], 25);
	crux_train_clear(&t);
}

/* 18 B a parameter: bf16, fp32 gradient, master copy, two moments (ZeRO's 16 with 2-byte ones). */
static void memory_of_gpt3(void)
{
	struct crux_train t = train_of("gpt3-175b:1");
	struct crux_memory m;
	struct crux_error err = {CRUX_OK, ""};
	double p = 174604259328, s = 2048, h = 12288, a = 96, v = 50257;
	/* 96 layers of Korthikanti's formula, a mask behind the look-up, 4 s h (1 + V/h). */
	double act = 96 * s * h * (34 + 5 * a * s / h) + s * h + 4 * s * h * (1 + v / h);
	/* A gradient buffer of 2 B for each output: 97 s h and a loss a token. */
	double buffers = 2 * (97 * s * h + s), total = 18 * p + act + buffers;
	char words[64];

	crux_train_memory(&t, &m);
	CHECK_NEAR(m.parameters, 2 * p, 1);
	CHECK_NEAR(m.gradients, 4 * p, 1);
	CHECK_NEAR(m.optimiser, 12 * p, 1);
	CHECK_NEAR(m.activations, act, 1);
	CHECK_NEAR(m.buffers, buffers, 1);
	CHECK_NEAR(m.total, total, 1);
	CHECK_U64(crux_train_fits(&t, &err), CRUX_CAPACITY);
	snprintf(words, sizeof(words), " are %.0f more than a100-80",
		 total - (double)t.gpu->memory_bytes);
	CHECK_HAS(err.text, words);
	/* 2 B less a parameter are 349 GB, more than all activations (276 GB). */
	CHECK_HAS(err.text, "no switch alone is enough; grads=same comes closest, ");
	crux_train_clear(&t);
	/* Korthikanti's Megatron configuration, TP 8 x PP 8, does fit. */
	t = train_of("gpt3-175b:64:tp=8:pp=8:micro=64:recompute=selective");
	CHECK_U64(crux_train_fits(&t, &err), CRUX_OK);
	crux_train_memory(&t, &m);
	/* Stage 0: 8 micro-batches in flight, 12 layers of s b h (10 + 24/8), and the mask / 8. */
	CHECK_U64(m.stage, 0);
	CHECK_NEAR(m.activations, 8 * (12 * s * h * (10 + 24 / 8.0) + s * h / 8), 1);
	crux_train_clear(&t);
}

static double total_of(const char *text)
{
	struct crux_train t = train_of(text);
	struct crux_memory m;

	crux_train_memory(&t, &m);
	crux_train_clear(&t);
	return m.total;
}

static struct crux_memory memory_of(const char *text)
{
	struct crux_train t = train_of(text);
	struct crux_memory m;

	crux_train_memory(&t, &m);
	crux_train_clear(&t);
	return m;
}

static void memory_by_switch(void)
{
	double p = 6738415616, s = 2048, h = 4096, f = 11008, v = 32000;
	struct crux_memory m = memory_of("llama-7b:8:grads=same"), n;

	/* ZeRO's paper: 16 B a parameter; stage 1 leaves 4 + 12/N, stage 3 16/N. */
	CHECK_NEAR(m.parameters + m.gradients + m.optimiser, 16 * p, 1);
	m = memory_of("llama-7b:8:grads=same:zero=1");
	CHECK_NEAR(m.parameters + m.gradients + m.optimiser, (4 + 12 / 8.0) * p, 12);
	m = memory_of("llama-7b:8:grads=same:zero=3");
	CHECK_NEAR(m.parameters + m.gradients + m.optimiser, 16 / 8.0 * p, 16);
	/* Gathered: two layers' parameters at 2 B (the head's V h + h is less than a block's). */
	n = memory_of("llama-7b:8:grads=same");
	CHECK_NEAR(m.buffers - n.buffers, 2 * 2 * (4 * h * h + 3 * h * f + 2 * h), 1);
	/* fp32: no master copy. */
	m = memory_of("llama-7b:8:precision=fp32");
	CHECK_NEAR(m.parameters + m.gradients + m.optimiser, 16 * p, 1);
	/* Full recomputation: 2 s h bytes a layer, the head's own 4 s (h + V). */
	m = memory_of("llama-7b:8:recompute=full");
	CHECK_NEAR(m.activations, 32 * 2 * s * h + 4 * s * (h + v), 1);
	/* ... and one layer whole while it is computed again, but for its input. */
	CHECK_NEAR(m.buffers - n.buffers, 2 * (7 * s * h + 4 * s * f + 32 * s * s), 1);
	/* Half of the activations on the host. */
	m = memory_of("llama-7b:8:swap=0.5");
	CHECK_NEAR(m.activations, n.activations / 2, 1);
	/* Shared by lifetime: two gradients of activations instead of 33 and the loss's. */
	m = memory_of("llama-7b:8:share=1");
	CHECK_NEAR(n.buffers, 2 * (33 * s * h + s), 1);
	CHECK_NEAR(m.buffers, 2 * 2 * s * h, 1);
	/* Experts over ep: 8 of 3 h f x 32 layers. */
	m = memory_of("mixtral-8x7b:8:ep=8");
	CHECK_NEAR(m.parameters, 2 * (46702792704.0 - 7 * 32 * 3 * 4096.0 * 14336), 2);
}

/* 1F1B holds min(p - s, m) micro-batches, GPipe all m: less when m > p, the same when m <= p. */
static void schedules_in_memory(void)
{
	struct crux_memory gpipe = memory_of("gpt:4:pp=4:micro=16:schedule=gpipe");
	struct crux_memory one = memory_of("gpt:4:pp=4:micro=16:schedule=1f1b");
	struct crux_train t = train_of("gpt:4:pp=4:micro=16");

	CHECK(one.activations < gpipe.activations);
	CHECK_U64(crux_train_in_flight(&t, 0), 4);
	CHECK_U64(crux_train_in_flight(&t, 3), 1);
	crux_train_clear(&t);
	/* GPipe's fullest is the last stage, 6 blocks and the logits, 16 times. */
	CHECK_U64(gpipe.stage, 3);
	t = train_of("gpt:4:pp=4:micro=3:schedule=gpipe");
	CHECK_U64(crux_train_in_flight(&t, 0), 3);
	crux_train_clear(&t);
	CHECK(total_of("gpt:4:pp=4:micro=3") <= total_of("gpt:4:pp=4:micro=3:schedule=gpipe"));
}

static void tied_tables(void)
{
	/*
	 * With pp = 2 the last stage has a copy of the table of V h: 12 blocks of 12 h^2 + 13 h and
	 * V h; the first one also s h positions. Two micro-batches in flight fill the first.
	 */
	double h = 1024, v = 51200, block = 12 * h * h + 13 * h;
	struct crux_memory m = memory_of("gpt:2:pp=2:micro=2");

	CHECK_U64(m.stage, 0);
	CHECK_NEAR(m.parameters, 2 * (12 * block + (v + 2048) * h), 1);
	m = memory_of("gpt:2:pp=2:schedule=gpipe:micro=8");
	CHECK_U64(m.stage, 1); /* the logits of 8 micro-batches */
	CHECK_NEAR(m.parameters, 2 * (12 * block + v * h), 1);
}

static void advice(void)
{
	struct crux_error err = {CRUX_OK, ""};
	struct crux_train t = train_of("llama-7b:8");

	/* 18 B x 6.74e9 = 121 GB and activations: a shard of the optimiser or of the model helps.
	 */
	CHECK_U64(crux_train_fits(&t, &err), CRUX_CAPACITY);
	CHECK_HAS(err.text, "llama-7b: ");
	CHECK_HAS(err.text, "each alone would do: zero=1, zero=3, tp=2, pp=2");
	crux_train_clear(&t);
	t = train_of("gpt3-1.3b:1:batch=8");
	CHECK_U64(crux_train_fits(&t, &err), CRUX_CAPACITY);
	/* 23.7 GB of parameters and states; activations of 95 GB, of which 31 are not scores. */
	CHECK_HAS(err.text, "recompute=selective, recompute=full, swap=1, ");
	CHECK_HAS(err.text, "batch=");
	crux_train_clear(&t);
	/* Experts are 7.25e9 parameters of 18 B; half of them, 65 GB, and 3.5 of the rest fit. */
	t = train_of("switch-base:8");
	CHECK_U64(crux_train_fits(&t, &err), CRUX_CAPACITY);
	CHECK_HAS(err.text, "pp=2, ep=2");
	crux_train_clear(&t);
	t = train_of("llama-7b:8:zero=1");
	CHECK_U64(crux_train_fits(&t, &err), CRUX_OK);
	crux_train_clear(&t);
}

static enum crux_status parse_and_fit(struct crux_error *err)
{
	struct crux_train t;
	enum crux_status status = crux_train_parse("gpt3-13b:8:pp=2", &t, err);

	if (status)
		return status;
	status = crux_train_fits(&t, err);
	crux_train_clear(&t);
	return status == CRUX_CAPACITY ? CRUX_OK : status;
}

static void out_of_memory(void)
{
	struct crux_error err = {CRUX_OK, ""};
	enum crux_status status;

	OOM_EVERY(status, parse_and_fit(&err), (void)0);
}

int main(void)
{
	RUN(defaults);
	RUN(every_key);
	RUN(errors);
	RUN(stages);
	RUN(memory_of_gpt3);
	RUN(memory_by_switch);
	RUN(schedules_in_memory);
	RUN(tied_tables);
	RUN(advice);
	RUN(out_of_memory);
	return DONE();
}
