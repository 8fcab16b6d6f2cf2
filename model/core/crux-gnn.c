/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gnn: see crux-gnn.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-gpu, crux-program, crux-spec.
 */
#include "crux-gnn.h"

#include "crux-spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB	 1048576.0
#define MAX_GPUS (1u << 20)

/* Rows of features that a batch reads, and vertices whose neighbours are averaged first. */
static double rows_of(const struct crux_gnn *g)
{
	return g->batch * (1.0 + g->fanout1 + (double)g->fanout1 * g->fanout2);
}

static double targets_of(const struct crux_gnn *g)
{
	return g->batch * (1.0 + g->fanout1);
}

/* Numbers as crux_spec_apply() reads them. */
struct numbers {
	uint64_t batch, features, hidden, classes, fanout1, fanout2, threads, channels, iterations;
	double share, features_mb, ratio, cpu_gbs;
	bool features_given, ratio_given;
};

static enum crux_status apply(const struct crux_spec *spec, struct numbers *n,
			      struct crux_error *err)
{
	const struct crux_spec_key keys[] = {
		{"host", NULL, &n->share, 0, 1, NULL},
		{"batch", &n->batch, NULL, 1, 1 << 20, NULL},
		{"features", &n->features, NULL, 1, 1 << 20, NULL},
		{"hidden", &n->hidden, NULL, 1, 1 << 20, NULL},
		{"classes", &n->classes, NULL, 1, 1 << 20, NULL},
		{"fanout1", &n->fanout1, NULL, 1, 1 << 12, NULL},
		{"fanout2", &n->fanout2, NULL, 1, 1 << 12, NULL},
		{"features_mb", NULL, &n->features_mb, 0, 1e6, &n->features_given},
		{"ratio", NULL, &n->ratio, 0, 1, &n->ratio_given},
		{"cpu_gbs", NULL, &n->cpu_gbs, 1e-3, 1e6, NULL},
		{"threads", &n->threads, NULL, 1, 4096, NULL},
		{"channels", &n->channels, NULL, 1, 64, NULL},
		{"iterations", &n->iterations, NULL, 1, 1e12, NULL},
		/* Words; taken out of the list before. Here for the list of what is known. */
		{"gpu", NULL, NULL, 0, 0, NULL},
		{"drive", NULL, NULL, 0, 0, NULL},
	};

	return crux_spec_apply(spec, keys, sizeof(keys) / sizeof(keys[0]), err);
}

/* The keys whose values are words, off the list. */
static enum crux_status take_words(struct crux_spec *spec, struct crux_gnn *g,
				   struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	size_t i, n = 0;

	for (i = 0; i < spec->n_items && !status; i++) {
		if (!strcmp(spec->items[i].key, "gpu"))
			status = crux_gpu_find(spec->items[i].value, &g->gpu, err);
		else if (!strcmp(spec->items[i].key, "drive"))
			status = crux_drive_find(spec->items[i].value, &g->drive, err);
		else
			spec->items[n++] = spec->items[i];
	}
	if (!status)
		spec->n_items = n;
	return status;
}

static void fill(struct crux_gnn *g, const struct numbers *n)
{
	g->share = n->share;
	g->batch = (uint32_t)n->batch;
	g->features = (uint32_t)n->features;
	g->hidden = (uint32_t)n->hidden;
	g->classes = (uint32_t)n->classes;
	g->fanout1 = (uint32_t)n->fanout1;
	g->fanout2 = (uint32_t)n->fanout2;
	g->threads = (uint32_t)n->threads;
	g->channels = (uint32_t)n->channels;
	g->iterations = n->iterations;
	g->cpu_Bps = n->cpu_gbs * 1e9;
	g->feature_bytes = n->features_given ? (uint64_t)llround(n->features_mb * MIB)
					     : (uint64_t)(4.0 * g->features * rows_of(g));
	g->ratio = n->ratio_given ? n->ratio : 2 * targets_of(g) / rows_of(g);
	if (g->ratio > 1) /* averaging one neighbour makes nothing smaller */
		g->ratio = 1;
}

/* gnn:GPUS:key=value:... is crux-spec's gnn:GPUS,key=value,... */
static enum crux_status parse_spec(const char *text, struct crux_spec *spec, struct crux_gnn *g,
				   struct crux_error *err)
{
	char *copy = crux_strdup(text), *p;
	enum crux_status status;
	uint64_t gpus;

	if (!copy)
		return crux_fail(err, CRUX_NOMEM, "out of memory for \"%.80s\"", text);
	p = strchr(copy, ':');
	while (p && (p = strchr(p + 1, ':')) != NULL)
		*p = ',';
	status = crux_spec_parse(copy, spec, err);
	crux_free(copy);
	if (status)
		return status;
	if (strcmp(spec->name, "gnn") != 0 || !spec->word)
		status = crux_fail(err, CRUX_SYNTAX,
				   "\"%.80s\" is not gnn:GPUS[:key=value...], such as gnn:4", text);
	if (!status)
		status = crux_parse_whole(spec->word, 1, MAX_GPUS, "gnn: GPUs", &gpus, err);
	if (status) {
		crux_spec_clear(spec);
		return status;
	}
	g->gpus = (uint32_t)gpus;
	return CRUX_OK;
}

enum crux_status crux_gnn_parse(const char *text, struct crux_gnn *out, struct crux_error *err)
{
	struct numbers n = {.batch = 512,
			    .features = 602,
			    .hidden = 256,
			    .classes = 41,
			    .fanout1 = 25,
			    .fanout2 = 10,
			    .threads = 64,
			    .channels = 1,
			    .cpu_gbs = 75};
	struct crux_gnn g = {.gpus = 0};
	struct crux_spec spec = {.text = NULL};
	enum crux_status status = parse_spec(text, &spec, &g, err);

	if (status)
		return status;
	status = crux_gpu_find("a100-80", &g.gpu, err);
	if (!status)
		status = crux_drive_find("none", &g.drive, err);
	if (!status)
		status = take_words(&spec, &g, err);
	if (!status)
		status = apply(&spec, &n, err);
	crux_spec_clear(&spec);
	if (status)
		return status;
	fill(&g, &n);
	*out = g;
	return CRUX_OK;
}

uint64_t crux_gnn_parameters(const struct crux_gnn *g)
{
	return (2 * (uint64_t)g->features + 1) * g->hidden +
	       (2 * (uint64_t)g->hidden + 1) * g->classes;
}

void crux_gnn_copies(const struct crux_gnn *g, uint64_t *raw, uint64_t *aggregated)
{
	uint64_t on_host = (uint64_t)llround(g->share * (double)g->feature_bytes);

	*raw = g->feature_bytes - on_host;
	*aggregated = (uint64_t)llround(g->ratio * (double)on_host);
}

/* FLOP of both layers: forward, and two thirds or (the first has no input gradient) half more. */
static double flop_of(const struct crux_gnn *g)
{
	double first = 2 * targets_of(g) * 2 * g->features * g->hidden;
	double second = 2.0 * g->batch * 2 * g->hidden * g->classes;

	return 2 * first + 3 * second;
}

/*
 * Memory of the GPU: untouched features are written by the copy's side, read to be averaged and
 * written smaller; all aggregated ones are read forward and backward; hidden vectors 6 times.
 * Kernels: averaging, two matrices a layer, activations, loss, and their gradients.
 */
double crux_gnn_gpu_s(const struct crux_gnn *g)
{
	uint64_t raw, aggregated;
	double bytes;

	crux_gnn_copies(g, &raw, &aggregated);
	bytes = (double)raw * (1 + g->ratio) + 2 * g->ratio * (double)g->feature_bytes +
		6 * 4 * targets_of(g) * g->hidden;
	return crux_gpu_time_s(g->gpu, g->gpu->peak_flops[CRUX_TF32] > 0 ? CRUX_TF32 : CRUX_FP32,
			       flop_of(g), bytes, 24, 0);
}

double crux_gnn_host_s(const struct crux_gnn *g, uint32_t gpus_on_host)
{
	return g->share * (double)g->feature_bytes / (g->cpu_Bps / gpus_on_host);
}

double crux_gnn_seconds(const struct crux_gnn *g, uint32_t gpus_on_host, double pcie_Bps)
{
	double host_s = crux_gnn_host_s(g, gpus_on_host), copy_s;
	uint64_t raw, aggregated;

	crux_gnn_copies(g, &raw, &aggregated);
	copy_s = (double)raw / pcie_Bps;
	return (copy_s > host_s ? copy_s : host_s) + (double)aggregated / pcie_Bps +
	       crux_gnn_gpu_s(g);
}

double crux_gnn_best(const struct crux_gnn *gnn, uint32_t gpus_on_host, double pcie_Bps,
		     double *seconds)
{
	double rate = gnn->cpu_Bps / gpus_on_host;
	struct crux_gnn balanced = *gnn, all = *gnn;
	double at_balance, at_all;

	balanced.share = rate / (pcie_Bps + rate);
	all.share = 1;
	at_balance = crux_gnn_seconds(&balanced, gpus_on_host, pcie_Bps);
	at_all = crux_gnn_seconds(&all, gpus_on_host, pcie_Bps);
	*seconds = at_all < at_balance ? at_all : at_balance;
	return at_all < at_balance ? 1 : balanced.share;
}

/* ---- the program */

static uint64_t scaled(uint64_t bytes, double scale)
{
	double value = (double)bytes / scale;

	if (!(scale < 1 || scale > 1) || !bytes)
		return bytes;
	if (value < 1)
		return 1;
	return value > 0x1p62 ? UINT64_C(1) << 62 : (uint64_t)value;
}

/* The most ranks on one host: its CPU is shared by so many. */
static enum crux_status crowd(const struct crux_gnn *g, const uint32_t *host, uint32_t *out,
			      struct crux_error *err)
{
	uint32_t *count, most = 0, top = 0, i;

	for (i = 0; host && i < g->gpus; i++)
		top = host[i] > top ? host[i] : top;
	count = crux_zeroed((size_t)top + 1, sizeof(*count));
	if (!count)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u hosts", top);
	for (i = 0; i < g->gpus; i++) {
		uint32_t *here = &count[host ? host[i] : 0];

		++*here;
		most = *here > most ? *here : most;
	}
	crux_free(count);
	*out = most;
	return CRUX_OK;
}

static enum crux_status add_ops(const struct crux_gnn *g, uint32_t most, double scale,
				struct crux_program *p, struct crux_error *err)
{
	struct crux_op op[5] = {
		{.kind = CRUX_OP_COPY, .name = "features"},
		{.kind = CRUX_OP_HOST, .name = "aggregate"},
		{.kind = CRUX_OP_COPY, .name = "aggregated"},
		{.kind = CRUX_OP_COMPUTE, .name = "compute"},
		{.kind = CRUX_OP_COLLECTIVE,
		 .name = "grad ar",
		 .coll = CRUX_ALL_REDUCE,
		 .alg = CRUX_ALG_RING,
		 .repeat = 1,
		 .channels = g->channels},
	};
	uint32_t deps[4], n = 0, host, number;
	enum crux_status status = CRUX_OK;
	uint64_t raw, aggregated;

	crux_gnn_copies(g, &raw, &aggregated);
	op[0].bytes = scaled(raw, scale);
	op[1].seconds = crux_gnn_host_s(g, most) / scale;
	/* An addition a number that is averaged. */
	op[1].flop = g->share * (double)g->feature_bytes / 4 / scale;
	op[2].bytes = scaled(aggregated, scale);
	op[3].seconds = crux_gnn_gpu_s(g) / scale;
	op[3].flop = flop_of(g) / scale;
	op[4].bytes = scaled(4 * crux_gnn_parameters(g), scale);
	if (raw)
		status = crux_program_add_op(p, &op[0], NULL, 0, &deps[n++], err);
	if (!status && g->share > 0) {
		status = crux_program_add_op(p, &op[1], NULL, 0, &host, err);
		deps[n++] = host;
		if (!status && aggregated)
			status = crux_program_add_op(p, &op[2], &host, 1, &deps[n++], err);
	}
	if (!status)
		status = crux_program_add_op(p, &op[3], deps, n, &number, err);
	if (!status && g->gpus > 1)
		status = crux_program_add_op(p, &op[4], &number, 1, &number, err);
	return status;
}

enum crux_status crux_gnn_program(const struct crux_gnn *gnn, const uint32_t *host, double scale,
				  struct crux_program **out, struct crux_error *err)
{
	struct crux_program *p = NULL;
	uint32_t *ranks, most = 1, group, i;
	enum crux_status status;

	if (!(scale > 0) || !isfinite(scale))
		return crux_fail(err, CRUX_RANGE, "scale: %g is not a positive number", scale);
	status = crowd(gnn, host, &most, err);
	if (!status)
		status = crux_program_create(gnn->gpus, &p, err);
	if (status)
		return status;
	ranks = crux_array(gnn->gpus, sizeof(*ranks));
	if (!ranks) {
		crux_program_destroy(p);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u ranks", gnn->gpus);
	}
	for (i = 0; i < gnn->gpus; i++)
		ranks[i] = i;
	status = crux_program_add_group(p, ranks, gnn->gpus, "all", &group, err);
	crux_free(ranks);
	p->message_latency_s = gnn->drive->latency_s + gnn->drive->launch_s;
	p->message_cpu_s = gnn->drive->cpu_s;
	p->interference = gnn->drive->interference;
	p->cpu_threads = gnn->threads;
	if (!status)
		status = add_ops(gnn, most, scale, p, err);
	if (!status)
		status = crux_program_check(p, err);
	if (status) {
		crux_program_destroy(p);
		return status;
	}
	*out = p;
	return CRUX_OK;
}
