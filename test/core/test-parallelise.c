/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-parallelise: how models are spread over GPUs (crux-parallelise.h): by hand, beside
 * published configurations, and for every count of GPUs.
 *
 * Place: test/core. Depends on libcrux.
 */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "crux-check.h"
#include "crux-oom-count.h"

#include "crux-parallelise.h"
#include "crux-train.h"

#include <unistd.h>

static char *spread(const char *net, uint32_t gpus, uint32_t zero)
{
	struct crux_parallel ask;
	struct crux_error err = {CRUX_OK, ""};
	char *text = NULL;

	crux_parallel_default(&ask);
	ask.net = net;
	ask.gpus = gpus;
	ask.zero = zero;
	if (crux_parallelise(&ask, &text, &err))
		CHECK_U64(err.status, CRUX_CAPACITY);
	return text;
}

static void is(const char *net, uint32_t gpus, const char *want)
{
	char *text = spread(net, gpus, 3);

	CHECK_STR(text ? text : "none", want);
	crux_free(text);
}

/*
 * A model of P parameters takes 18 P bytes in bf16 with fp32 gradients, 12 P of which ZeRO 1
 * spreads over the replicas; a GPU has 85.9e9 bytes.
 */
static void by_hand(void)
{
	/* 18 x 25.6e6 and 18 x 357e6: anywhere. GPT's table says that it reduces at the end. */
	is("resnet50", 1, "resnet50:1:tp=1:pp=1");
	is("resnet50", 24, "resnet50:24:tp=1:pp=1:bucket_mb=25");
	is("gpt", 64, "gpt:64:tp=1:pp=1");
	/* 18 x 6.74e9 = 121e9 do not fit; with ZeRO 1 (6 + 12 / 64) x 6.74e9 = 41.7e9 do. */
	is("llama-7b", 64, "llama-7b:64:tp=1:pp=1:zero=1");
	/* On two GPUs (6 + 6) x 6.74e9 = 80.9e9: 5e9 for activations, of 18.6e9 without any
	 * recomputation, 9.9e9 without those in s^2. */
	is("llama-7b", 2, "llama-7b:2:tp=1:pp=1:zero=1:recompute=full");
	/* 6 x 32.5e9 = 195e9 ask for t = 4: 48.8e9 and 24.4e9 / replicas; four of the samples. */
	is("llama-33b", 64, "llama-33b:64:tp=4:pp=1:micro=4:zero=1");
	/* A replica of all: 18 x 32.5e9 / 8 = 73.2e9. */
	is("llama-33b", 8, "llama-33b:8:tp=8:pp=1:micro=8:recompute=selective");
	/* 18 x 65.3e9 / 8 = 147e9: no replicas, so a pipeline over the hosts; 8 x 2 samples. */
	is("llama-65b", 16, "llama-65b:16:tp=8:pp=2:micro=16:recompute=full");
	/* 8 and 4 GPUs: t at most 4. 6 x 32.5e9 / 4 + 12 x 32.5e9 / 12. */
	is("llama-33b", 12, "llama-33b:12:tp=4:pp=1:micro=4:zero=1:recompute=full");
	/* 127 is a prime beyond the layers: 18 x 32.5e9 / 127. */
	is("llama-33b", 127, "llama-33b:127:tp=1:pp=1:zero=3");
	/* 7: a pipeline, of more micro-batches than GPUs. (6 + 12 / 7) x 12.85e9 = 99e9. */
	is("gpt3-13b", 7, "gpt3-13b:7:tp=1:pp=7:micro=28:recompute=selective");
	/* Eight experts in eight GPUs of a host; the 128 of the other likewise. */
	is("mixtral-8x7b", 64, "mixtral-8x7b:64:tp=1:pp=1:ep=8:zero=1:recompute=full");
	is("switch-base", 16, "switch-base:16:tp=1:pp=1:ep=8:bucket_mb=25");
	is("switch-base", 12, "switch-base:12:tp=1:pp=1:ep=4:bucket_mb=25");
}

/* A GPT of SC 2021 as a file: l layers of width h, sequence 2,048, vocabulary 51,200. */
static const char *gpt_file(double l, double h, double heads)
{
	static char path[32], text[48];
	const double s = 2048, v = 51200;
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "/tmp/crux-gpt-XXXXXX");
	fd = mkstemp(path);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		CHECK_FAIL("cannot write %s", path);
		return NULL;
	}
	fprintf(file,
		"model,gpt\nachieved,0.45\nlayer,embed,embedding,parameters=%.0f,flop=0,output=%."
		"0f\n",
		(v + s) * h, s * h);
	fprintf(file,
		"layer,block,transformer,count=%.0f,parameters=%.0f,flop=%.0f,output=%.0f,"
		"activation=%.0f,"
		"selective=%.0f,selective_flop=%.0f,whole=%.0f\n",
		l, 12 * h * h + 13 * h, 24 * s * h * h + 4 * s * s * h, s * h,
		s * h * (34 + 5 * heads * s / h) / 2, 17 * s * h, 4 * s * s * h, 5 * s * h);
	fprintf(file,
		"layer,head,dense,parameters=%.0f,tied=%.0f,flop=%.0f,output=%.0f,activation=%."
		"0f\n",
		2 * h, v * h, 2 * s * h * v, s * v, 2 * s * h + 2 * s * v);
	fclose(file);
	snprintf(text, sizeof(text), "file:%s", path);
	return text;
}

/*
 * Narayanan and others, SC 2021, table 1: parameters, layers, width, heads, GPUs, t, p. No ZeRO
 * then, recomputation throughout. They had reasons besides memory, such as room for larger
 * micro-batches, so of model parallelism t p ours is at most theirs, and at least what the 18 P
 * bytes need; tensor parallelism comes first, up to a host.
 */
static void as_published(void)
{
	static const struct row {
		double billions, layers, width, heads;
		uint32_t gpus, tp, pp;
	} rows[] = {{1.7, 24, 2304, 24, 32, 1, 1},	   {3.6, 30, 3072, 32, 64, 2, 1},
		    {7.5, 36, 4096, 32, 128, 4, 1},	   {18.4, 40, 6144, 48, 256, 8, 1},
		    {39.1, 48, 8192, 64, 512, 8, 2},	   {76.1, 60, 10240, 80, 1024, 8, 4},
		    {145.6, 80, 12288, 96, 1536, 8, 8},	   {310.1, 96, 16384, 128, 1920, 8, 16},
		    {529.6, 105, 20480, 128, 2520, 8, 35}, {1008.0, 128, 25600, 160, 3072, 8, 64}};
	uint32_t before = 1;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		const char *net = gpt_file(r->layers, r->width, r->heads);
		char *text = net ? spread(net, r->gpus, 0) : NULL;
		struct crux_train train;
		struct crux_error err = {CRUX_OK, ""};

		if (!text || crux_train_parse(text, &train, &err)) {
			CHECK_FAIL("%g B: %s", r->billions, err.text);
			return;
		}
		/* The file is the paper's model, to half of the last digit that is printed. */
		CHECK_NEAR((double)crux_net_parameters(train.net), 1e9 * r->billions, 0.05e9);
		CHECK(!crux_train_fits(&train, &err));
		CHECK(train.tp * train.pp <= r->tp * r->pp);
		CHECK(train.tp * train.pp >= 18 * r->billions / 85.9);
		CHECK(train.tp * train.pp >= before);
		CHECK(train.pp == 1 || train.tp == 8);
		CHECK((train.pp > 1) == (r->pp > 1));
		CHECK(train.zero == 0);
		before = train.tp * train.pp;
		crux_train_clear(&train);
		crux_free(text);
		unlink(net + 5);
	}
}

/* Every count: an answer that goes together and fits, the same twice; or none that would. */
static void every_count(void)
{
	static const char *const nets[] = {"resnet50", "comirec",   "gpt3-2.7b",
					   "gpt3-13b", "llama-65b", "mixtral-8x7b"};
	uint32_t none = 0;

	for (size_t i = 0; i < 6; i++)
		for (uint32_t gpus = 1; gpus <= 3000; gpus += gpus < 130 ? 1 : 97) {
			char *text = spread(nets[i], gpus, 3), *again = spread(nets[i], gpus, 3);
			struct crux_train train;
			struct crux_error err = {CRUX_OK, ""};

			none += !text;
			if (!text)
				continue;
			CHECK_STR(again, text);
			if (crux_train_parse(text, &train, &err) || crux_train_fits(&train, &err)) {
				CHECK_FAIL("%s: %s", text, err.text);
			} else {
				/* Tensor groups lie in hosts of 8 that are filled one by one. */
				CHECK(8 % train.tp == 0);
				CHECK_U64((uint64_t)train.tp * train.pp * train.dp, gpus);
				CHECK(train.micro >= train.tp * train.pp || train.micro == 4096);
				CHECK(train.pp == 1 || train.micro >= 4 * train.pp);
				crux_train_clear(&train);
			}
			crux_free(text);
			crux_free(again);
		}
	/* 18 P over all GPUs: gpt3-13b from 231e9 bytes: 3; llama-65b 1175e9: 14; mixtral 841e9:
	 * 10. Fewer can hold none of them; and some more that have no factors. */
	CHECK(none >= 2 + 13 + 9 && none <= 60);
}

static void refused(void)
{
	struct crux_parallel ask;
	struct crux_error err = {CRUX_OK, ""};
	char *text = NULL;

	crux_parallel_default(&ask);
	ask.net = "llama-65b";
	CHECK_U64(crux_parallelise(&ask, &text, &err), CRUX_CAPACITY);
	CHECK_HAS(err.text, "llama-65b fits in no way on 1 GPUs of a100-80: tp=1, pp=1");
	ask.net = "llama-66b";
	CHECK_U64(crux_parallelise(&ask, &text, &err), CRUX_NOT_FOUND);
	ask.net = "gpt";
	ask.gpus = 0;
	CHECK_U64(crux_parallelise(&ask, &text, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "gpt: 0 GPUs");
	ask.gpus = 8;
	ask.zero = 2;
	CHECK_U64(crux_parallelise(&ask, &text, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "zero=2 is none of 0, 1, 3");
	ask.zero = 3;
	ask.gpus_per_host = 0;
	CHECK_U64(crux_parallelise(&ask, &text, &err), CRUX_RANGE);
	ask.gpus_per_host = 8;
	ask.gpu = "a1000";
	CHECK_U64(crux_parallelise(&ask, &text, &err), CRUX_NOT_FOUND);
	CHECK(!text);
	ask.gpu = "v100-32";
	CHECK_U64(crux_parallelise(&ask, &text, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "GPU v100-32 has no bf16");
	/* Another GPU is in the description; with half of the memory 18 x 2.65e9 ask for more. */
	ask.net = "gpt3-2.7b";
	ask.gpu = "a100-40";
	if (crux_parallelise(&ask, &text, &err))
		CHECK_FAIL("%s", err.text);
	else
		CHECK_STR(text, "gpt3-2.7b:8:tp=1:pp=1:zero=1:recompute=selective:gpu=a100-40");
	crux_free(text);
}

static enum crux_status whole(struct crux_error *err)
{
	struct crux_parallel ask;
	char *text = NULL;
	enum crux_status status;

	crux_parallel_default(&ask);
	ask.net = "llama-65b";
	ask.gpus = 16;
	status = crux_parallelise(&ask, &text, err);
	crux_free(text);
	return status;
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(whole, 1) > 10);
}

int main(void)
{
	RUN(by_hand);
	RUN(as_published);
	RUN(every_count);
	RUN(refused);
	RUN(out_of_memory);
	return DONE();
}
