/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-layers: published parameters and FLOP, activations by the paper's formula,
 * names, files.
 *
 * Place: test/core. Depends on libcrux.
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include "crux-check.h"
#include "crux-layers.h"
#include "crux-oom.h"

#include <stdlib.h>
#include <unistd.h>

static struct crux_net *net_of(const char *name)
{
	struct crux_net *net = NULL;
	struct crux_error err = {CRUX_OK, ""};

	if (crux_net_create(name, &net, &err))
		CHECK_FAIL("%s: %s", name, err.text);
	return net;
}

/* Published counts: exact ones with tolerance 0, rounded ones with half their last digit. */
static void published_parameters(void)
{
	static const struct {
		const char *name;
		double count, tolerance; /* relative */
	} rows[] = {
		/* Narayanan and others, SC 2021, eq. 2; Crux figure 7's shape. */
		{"gpt", 356835328, 0},
		/* Brown and others 2020, table D.1, millions: 125, 356, 1320, 2650, ... */
		{"gpt3-125m", 125e6, 0.004},
		{"gpt3-350m", 356e6, 0.0014},
		{"gpt3-1.3b", 1320e6, 0.0038},
		{"gpt3-2.7b", 2650e6, 0.0019},
		{"gpt3-6.7b", 6660e6, 0.0008},
		{"gpt3-13b", 12850e6, 0.0004},
		{"gpt3-175b", 174600e6, 0.0003},
		/* LLaMA checkpoints; table 2 of the paper rounds to 6.7, 13.0, 32.5, 65.2 B. */
		{"llama-7b", 6738415616, 0},
		{"llama-13b", 13015864320, 0},
		{"llama-33b", 32528943616, 0},
		{"llama-65b", 65285660672, 0},
		/* With both pre-training heads. */
		{"bert-base", 110106428, 0},
		{"bert-large", 336226108, 0},
		/* torchvision. */
		{"resnet50", 25557032, 0},
		{"resnet101", 44549160, 0},
		/* MLPerf's GNMT; Shazeer and others 2017, table 2: 278 M (biases not given). */
		{"gnmt-4", 160671297, 0},
		{"gnmt-8", 278e6, 0.011},
		/* Vaswani and others 2017, table 3: 65 M and 213 M. */
		{"transformer-base", 65e6, 0.03},
		{"transformer-big", 213e6, 0.006},
		/* "about 540 M". */
		{"dlrm", 540e6, 0.002},
		/* The checkpoint; Switch's table 9 says 7 B. */
		{"mixtral-8x7b", 46702792704, 0},
		{"switch-base", 7.4e9, 0.007},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct crux_net *net = net_of(rows[i].name);

		if (net)
			CHECK_NEAR((double)crux_net_parameters(net), rows[i].count,
				   rows[i].count * rows[i].tolerance);
		crux_net_destroy(net);
	}
}

/* Every name builds; every layer has sane numbers; aliases are the models they stand for. */
static void every_model(void)
{
	static const char *const same[][2] = {{"bert", "bert-large"},
					      {"bert-variant", "bert-base"},
					      {"resnet", "resnet50"},
					      {"resnet-variant", "resnet101"},
					      {"gpt-variant", "gpt3-1.3b"},
					      {"nmt", "gnmt-8"},
					      {"nmt-variant", "gnmt-4"},
					      {"multi-interests", "comirec"},
					      {"multi-interests-variant", "mind"},
					      {"click-through", "dlrm"},
					      {"transformer-nlp", "transformer-big"}};
	uint32_t n, i, k;
	const char *const *names = crux_net_names(&n);

	for (i = 0; i < n; i++) {
		struct crux_net *net = net_of(names[i]);

		CHECK_STR(net->name, names[i]);
		CHECK(net->batch >= 1 && net->source[0] && net->sample[0]);
		CHECK(net->achieved >= 0 && net->achieved <= 1);
		for (k = 0; k < net->n_layers; k++) {
			const struct crux_layer *l = &net->layers[k];

			if (!(l->count && l->name[0] && l->selective <= l->activation &&
			      l->whole <= l->activation && l->memory_fused <= l->memory_elements &&
			      l->kernels_fused <= l->kernels && l->kernels_fused >= 1))
				CHECK_FAIL("%s: layer %u (%s)", names[i], k, l->name);
		}
		crux_net_destroy(net);
	}
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		struct crux_net *a = net_of(same[i][0]), *b = net_of(same[i][1]);

		CHECK_U64(crux_net_parameters(a), crux_net_parameters(b));
		CHECK_NEAR(crux_net_flop(a), crux_net_flop(b), 0);
		crux_net_destroy(a);
		crux_net_destroy(b);
	}
}

static void published_flop(void)
{
	struct crux_net *net = net_of("resnet50");
	double s = 2048, l = 24, h = 1024, v = 51200;

	/* torchvision: 4.09 and 7.80 GMAC, two FLOP each. */
	CHECK_NEAR(crux_net_flop(net), 2 * 4.09e9, 2 * 0.005e9);
	crux_net_destroy(net);
	net = net_of("resnet101");
	CHECK_NEAR(crux_net_flop(net), 2 * 7.80e9, 2 * 0.005e9);
	crux_net_destroy(net);
	/*
	 * SC 2021, eq. 3 counts four forward passes of the layers and three of the output,
	 * 96 s l h^2 (1 + s/6h + V/16lh); one: 24 s l h^2 (1 + s/6h) + 2 s h V.
	 */
	net = net_of("gpt");
	CHECK_NEAR(crux_net_flop(net), 24 * s * l * h * h * (1 + s / (6 * h)) + 2 * s * h * v,
		   1e-9 * crux_net_flop(net));
	/* crux-models' row by eq. 3: 2.897e13 for 4 sequences. */
	CHECK_NEAR(4 * (4 * crux_net_flop(net) - 2 * s * h * v),
		   96 * 4 * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h)), 1e6);
	CHECK_NEAR(net->overlap_start, 1, 0);
	crux_net_destroy(net);
}

/* The usual estimate, 2 N FLOP a token forward; attention adds s/(6 h), embeddings take away. */
static void two_n_a_token(void)
{
	static const struct {
		const char *name;
		double tokens;
	} rows[] = {
		{"gpt3-13b", 2048}, {"gpt3-175b", 2048}, {"llama-33b", 2048}, {"llama-65b", 2048}};
	size_t i;

	for (i = 0; i < 4; i++) {
		struct crux_net *net = net_of(rows[i].name);
		double n = (double)crux_net_parameters(net);

		CHECK_NEAR(crux_net_flop(net) / (2 * n * rows[i].tokens), 1, 0.07);
		crux_net_destroy(net);
	}
}

/* Bytes of a layer's activations at 2 B: s b h (34 + 5 a s/h); selective s b h 34. */
static void activations_by_the_formula(void)
{
	struct crux_net *net = net_of("gpt3-175b");
	const struct crux_layer *l = &net->layers[1];
	double s = 2048, h = 12288, a = 96, t = 8;

	CHECK_U64(l->count, 96);
	CHECK_NEAR(2 * l->activation, s * h * (34 + 5 * a * s / h), 1);
	CHECK_NEAR(2 * l->selective, s * h * 34, 1);
	CHECK_NEAR(2 * l->output, s * h * 2, 1);
	/* Tensor parallelism t: s b h (10 + 24/t + 5 a s/(h t)). */
	CHECK_NEAR(2 * (l->whole + (l->activation - l->whole) / t),
		   s * h * (10 + 24 / t + 5 * a * s / (h * t)), 1);
	/* Recomputed with the selective kind: QK^T and the product with V, 4 s^2 h FLOP. */
	CHECK_NEAR(l->selective_flop, 4 * s * s * h, 1);
	crux_net_destroy(net);
	/* LLaMA by the same method: 2 B x (8 s h + 4 s f + a s^2), counted in doc/models.md. */
	net = net_of("llama-7b");
	l = &net->layers[1];
	CHECK_NEAR(l->activation, 8 * s * 4096 + 4 * s * 11008 + 32 * s * s, 1);
	CHECK_NEAR(l->selective, 8 * s * 4096 + 4 * s * 11008, 1);
	crux_net_destroy(net);
}

static void experts(void)
{
	struct crux_net *net = net_of("mixtral-8x7b");
	const struct crux_layer *l = &net->layers[1];
	uint64_t active;

	CHECK_U64(l->kind, CRUX_LAYER_EXPERTS);
	CHECK_U64(l->experts, 8);
	CHECK_U64(l->top_k, 2);
	CHECK_U64(l->expert_parameters, UINT64_C(3) * 4096 * 14336);
	/* Published: 12.9 B active, six of eight experts less in 32 layers. */
	active = crux_net_parameters(net) - UINT64_C(6) * 32 * l->expert_parameters;
	CHECK_U64(active, UINT64_C(12879925248));
	/* FLOP follow the active ones: the look-up's 131 M hardly count; attention adds. */
	CHECK_NEAR(crux_net_flop(net) / (2 * 4096.0 * (double)active), 1, 0.08);
	crux_net_destroy(net);
}

static void nearest_names(void)
{
	struct crux_net *net = NULL;
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_net_create("lama-7b", &net, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "unknown model \"lama-7b\"; nearest: llama-7b, ");
	CHECK_U64(crux_net_create("resnet-50", &net, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "nearest: resnet50, ");
	CHECK_U64(crux_net_create("", &net, &err), CRUX_NOT_FOUND);
	CHECK_U64(crux_net_create("gpt3-13", &net, NULL), CRUX_NOT_FOUND);
	CHECK(!net);
	CHECK_STR(crux_layer_kind_name((enum crux_layer_kind)9), "?");
}

/* Write a file, read it as a model. */
static enum crux_status from_text(const char *text, struct crux_net **out, struct crux_error *err)
{
	char path[64] = "file:/tmp/crux-layers-XXXXXX";
	int fd = mkstemp(path + 5);
	FILE *file = fdopen(fd, "w");
	enum crux_status status;

	fputs(text, file);
	fclose(file);
	status = crux_net_create(path, out, err);
	unlink(path + 5);
	return status;
}

static void files(void)
{
	struct crux_net *net = NULL;
	struct crux_error err = {CRUX_OK, ""};
	const struct crux_layer *l;
	enum crux_status status = from_text("# a comment, with a comma\n"
					    "model,mine\nsample,image\nbatch,32\nachieved,0.4\n\n"
					    "layer,conv,dense,parameters=100,flop=2e6,output=10\n"
					    "layer,moe,experts,count=3,parameters=90,flop=1,"
					    "output=4,activation=8,experts=4,expert_parameters=20,"
					    "kernels=7\n",
					    &net, &err);

	if (status) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	CHECK_STR(net->name, "mine");
	CHECK_U64(net->batch, 32);
	CHECK_NEAR(net->achieved, 0.4, 0);
	CHECK(net->overlap_start < 0);
	CHECK_U64(crux_net_parameters(net), 100 + 3 * 90);
	CHECK_NEAR(crux_net_flop(net), 2e6 + 3, 1e-9);
	CHECK_U64(crux_net_depth(net), 4);
	l = &net->layers[0]; /* defaults: activation and memory from the output */
	CHECK_NEAR(l->activation, 10, 0);
	CHECK_NEAR(l->memory_elements, 20, 0);
	CHECK_NEAR(l->kernels_fused, 1, 0);
	l = &net->layers[1];
	CHECK_U64(l->top_k, 1);
	CHECK_NEAR(l->kernels_fused, 7, 0);
	crux_net_destroy(net);
}

/* Each broken text with the status, the place and the words of its error. */
static void broken_files(void)
{
#define L "layer,a,dense,parameters=1,flop=1,output=1"
	static const struct {
		const char *text;
		enum crux_status status;
		const char *words;
	} rows[] = {
		{"", CRUX_INVALID, ": no layers"},
		{"batch,0\n" L, CRUX_RANGE, ":1:7: batch: 0 is not in 1..16777216"},
		{L ",flop=2", CRUX_DUPLICATE, ":1:44: flop is given twice"},
		{"\n" L ",flops=2", CRUX_UNKNOWN_KEY, ":2:44: unknown key \"flops=2\"; known: "},
		{"layer,a,dense,parameters=1,flop=1", CRUX_INVALID, ":1:1: layer a has no output"},
		{"layer,a,conv,flop=1", CRUX_NOT_FOUND, ":1:9: unknown kind \"conv\""},
		{"layer,a", CRUX_SYNTAX, ":1:1: a layer needs"},
		{L ",7", CRUX_SYNTAX, "\"7\" is not key=value"},
		{L ",count=0", CRUX_RANGE, "count: 0 is not in 1..10000"},
		{L ",count=1.5", CRUX_RANGE, "count: 1.5"},
		{L ",selective=2", CRUX_RANGE, "selective 2 is above its activation 1"},
		{L ",touched=2", CRUX_INVALID, "touched belongs to kind embedding"},
		{L ",experts=2", CRUX_INVALID, "belong to kind experts"},
		{"layer,a,experts,parameters=9,flop=1,output=1,experts=2,expert_parameters=5",
		 CRUX_RANGE, "2 experts of 5 parameters are more than its 9"},
		{"layer,a,experts,parameters=9,flop=1,output=1,experts=2,expert_parameters=4,"
		 "top_k=3",
		 CRUX_RANGE, "top_k 3 of 2 experts"},
		{"achieved,1.2\n" L, CRUX_RANGE, ":1:10: achieved"},
		{"colour,red\n" L, CRUX_UNKNOWN_KEY, ":1:1: unknown line \"colour\""},
		{"model,a,b\n" L, CRUX_SYNTAX, "\"model\" needs one value"},
		{"layer,\"a", CRUX_SYNTAX, ":1:"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct crux_net *net = NULL;
		struct crux_error err = {CRUX_OK, ""};

		CHECK_U64(from_text(rows[i].text, &net, &err), rows[i].status);
		CHECK_HAS(err.text, rows[i].words);
		CHECK_HAS(err.text, "/tmp/crux-layers-");
		CHECK(!net);
	}
}

static enum crux_status build_and_drop(const char *name, struct crux_error *err)
{
	struct crux_net *net = NULL;
	enum crux_status status = crux_net_create(name, &net, err);

	crux_net_destroy(net);
	return status;
}

static void out_of_memory(void)
{
	struct crux_error err = {CRUX_OK, ""};
	struct crux_net *net = NULL;
	enum crux_status status;

	OOM_EVERY(status, build_and_drop("switch-base", &err), (void)0);
	OOM_EVERY(status, from_text(L "\n" L "\n", &net, &err), crux_net_destroy(net));
	CHECK_U64(build_and_drop("file:/nonexistent/x", &err), CRUX_NOT_FOUND);
}

int main(void)
{
	RUN(published_parameters);
	RUN(every_model);
	RUN(published_flop);
	RUN(two_n_a_token);
	RUN(activations_by_the_formula);
	RUN(experts);
	RUN(nearest_names);
	RUN(files);
	RUN(broken_files);
	RUN(out_of_memory);
	return DONE();
}
