/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-model: what stands for the trace's names of models; see crux-trace.h, doc/traces.md.
 *
 * Place: model/core (C11). Depends on crux-trace.
 *
 * The trace gives neither configurations nor iteration times, so every row is an assumption:
 * the published model of that name and size where there is one, else the nearest in kind. The rows
 * of the three-row table (crux-models.c) are for jobs of one computation and one all-reduce, the
 * nets (crux-layers.h) for jobs in full.
 */
#include "crux-trace.h"

#include <stdio.h>
#include <string.h>

/* The first three stand for "unknown", by size. */
static const struct crux_trace_model table[] = {
	{"unknown", "gpt", "gpt", "no model given; 64 GPUs or more: a language model"},
	{"unknown", "bert", "bert-large", "no model given; 9 to 63 GPUs: a smaller language model"},
	{"unknown", "resnet", "resnet50", "no model given; a host or less: a vision model"},
	{"llama", "gpt", "llama-7b", "size not given: the smallest LLaMA"},
	{"llama-30b", "gpt", "llama-33b", "the size of that name has 32.5 B parameters"},
	{"65b", "gpt", "llama-65b", "a size that LLaMA alone has"},
	{"gpt", "gpt", "gpt", "size not given: the paper's"},
	{"gpt-1b", "gpt", "gpt3-1.3b", "nearest size of GPT-3"},
	{"gpt-3b", "gpt", "gpt3-2.7b", "nearest size of GPT-3"},
	{"gpt-7b", "gpt", "gpt3-6.7b", "nearest size of GPT-3"},
	{"gpt-13b", "gpt", "gpt3-13b", "GPT-3 of that size"},
	{"resnet", "resnet", "resnet50", "depth not given: 50"},
	{"mnist", "resnet", "resnet50", "a small vision model; its traffic is less than assumed"},
	{"image", "resnet", "resnet101", "a vision model"},
	{"word-embedding", "bert", "comirec", "tables of embeddings"},
	{"cognitive", "bert", "bert-large", "in-house; a language model of moderate size"},
	{"layer-attn", "bert", "transformer-base", "attention layers"},
	{"multigen", "gpt", "transformer-big", "generation, encoder and decoder"},
	{"rl", "gpt", "gpt3-1.3b", "reinforcement learning of a language model"},
	{"reward", "gpt", "gpt3-1.3b", "reward model of a language model"},
	{"dota", "resnet", "resnet50", "detection in aerial images (DOTA)"},
	{"dlm", "bert", "bert-large", "a language model of moderate size"},
	{"preprocess", "resnet", "resnet50", "data preparation; its traffic is less than assumed"},
	{"sidecar", "resnet", "resnet50", "an auxiliary job; its traffic is less than assumed"},
	{"concat", "resnet", "resnet50", "data preparation; its traffic is less than assumed"},
};
#define N_ROWS ((uint32_t)(sizeof(table) / sizeof(table[0])))

const struct crux_trace_model *crux_trace_models(uint32_t *n)
{
	*n = N_ROWS;
	return table;
}

static char plain(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == '_' ? '-' : c;
}

static bool same(const char *row, const char *name)
{
	while (*row && *row == plain(*name)) {
		row++;
		name++;
	}
	return !*row && !*name;
}

const struct crux_trace_model *crux_trace_model_find(const char *name, uint32_t gpus)
{
	for (uint32_t i = 3; i < N_ROWS; i++)
		if (same(table[i].trace, name))
			return &table[i];
	return &table[gpus >= 64 ? 0 : gpus >= 9 ? 1 : 2];
}

/* Neither in the table nor "unknown" nor empty. */
static bool is_strange(const struct crux_trace_job *job)
{
	return job->model[0] && !same("unknown", job->model) &&
	       crux_trace_model_find(job->model, job->gpus) < &table[3];
}

#define MOST_NAMES 20

static enum crux_status strange_names(const struct crux_trace *trace, struct crux_text *text,
				      struct crux_error *err)
{
	const char *met[MOST_NAMES];
	uint32_t n = 0, more = 0;
	enum crux_status status = CRUX_OK;

	for (uint32_t j = 0; !status && j < trace->n_jobs; j++) {
		uint32_t i = 0;

		if (!is_strange(&trace->jobs[j]))
			continue;
		while (i < n && strcmp(met[i], trace->jobs[j].model) != 0)
			i++;
		if (i < n)
			continue;
		if (n == MOST_NAMES) {
			more++;
			continue;
		}
		met[n++] = trace->jobs[j].model;
		status = crux_text_add(text, err,
				       "trace: model \"%.40s\" is not known, first of job %.60s: "
				       "taken as unknown\n",
				       trace->jobs[j].model, trace->jobs[j].name);
	}
	if (!status && more)
		status =
			crux_text_add(text, err, "trace: %u more jobs of models not known\n", more);
	return status;
}

enum crux_status crux_trace_assume(const struct crux_trace *trace, struct crux_text *assumptions,
				   struct crux_error *err)
{
	enum crux_status status = crux_text_add(
		assumptions, err,
		"trace: bandwidths, traffic, iteration times and types of GPU are not in it; they "
		"come from the models below\n");

	for (uint32_t i = 0; !status && i < N_ROWS; i++) {
		uint64_t jobs = 0, gpus = 0;

		for (uint32_t j = 0; j < trace->n_jobs; j++) {
			const struct crux_trace_job *job = &trace->jobs[j];

			if (crux_trace_model_find(job->model, job->gpus) != &table[i])
				continue;
			jobs++;
			gpus += job->gpus;
		}
		if (jobs)
			status = crux_text_add(
				assumptions, err,
				"trace: model %s (%llu jobs, %llu GPUs) is taken as %s, in full "
				"%s: %s\n",
				table[i].trace, (unsigned long long)jobs, (unsigned long long)gpus,
				table[i].model, table[i].net, table[i].why);
	}
	return status ? status : strange_names(trace, assumptions, err);
}
