/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gen-trace: a trace that looks like the Lingjun trace: job.csv, worker.csv and topo.csv in
 * a folder (crux-gentrace.h, doc/traces.md). Then reads it as any trace and prints the summary.
 *
 *	crux-gen-trace --out=DIR [--seed=S] [--size=small|full] [--topology=FILE]
 *
 * Place: tools. Depends on libcrux.
 */
#include "crux-gentrace.h"
#include "crux-lingjun.h"
#include "crux-trace.h"

#include <stdio.h>
#include <string.h>

#ifndef CRUX_SOURCE_DIR
#define CRUX_SOURCE_DIR "."
#endif
#define TOPOLOGY CRUX_SOURCE_DIR "/test/data/lingjun/topo.csv"

struct options {
	struct crux_gentrace_options trace;
	const char *folder;
};

static void usage(void)
{
	puts("usage: crux-gen-trace --out=DIR [--seed=S] [--size=small|full] [--topology=FILE]\n"
	     "  writes DIR/job.csv, worker.csv and topo.csv, a trace like Lingjun's "
	     "(doc/traces.md)\n"
	     "  --out       folder; made if it is missing\n"
	     "  --seed      of everything random, 0 to 2^63 - 1 (default 1)\n"
	     "  --size      full: 5,180 jobs in two weeks (default); small: a tenth in a tenth of "
	     "the "
	     "time\n"
	     "  --topology  topo.csv of the cluster (default " TOPOLOGY ")");
}

static enum crux_status take(struct options *o, const char *name, const char *value,
			     struct crux_error *err)
{
	if (!*value)
		return crux_fail(err, CRUX_INVALID, "%s: its value is empty", name);
	if (!strcmp(name, "--out")) {
		o->folder = value;
		return CRUX_OK;
	}
	if (!strcmp(name, "--topology")) {
		o->trace.topology = value;
		return CRUX_OK;
	}
	if (!strcmp(name, "--seed"))
		return crux_parse_whole(value, 0, INT64_MAX, name, &o->trace.seed, err);
	if (!strcmp(name, "--size"))
		return crux_gentrace_size_find(value, &o->trace.size, err);
	return crux_fail(err, CRUX_UNKNOWN_KEY, "%s: no such option (--help lists them)", name);
}

/* --name=value or --name value, each once. */
static enum crux_status parse(int argc, char **argv, struct options *o, struct crux_error *err)
{
	for (int i = 1; i < argc; i++) {
		char name[32];
		const char *equals = strchr(argv[i], '=');
		size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
		enum crux_status status;

		if (length >= sizeof(name) || strncmp(argv[i], "--", 2) != 0)
			return crux_fail(err, CRUX_UNKNOWN_KEY,
					 "%.60s: no such option (--help lists them)", argv[i]);
		memcpy(name, argv[i], length);
		name[length] = 0;
		if (!equals && i + 1 == argc)
			return crux_fail(err, CRUX_INVALID, "%s: its value is missing", name);
		status = take(o, name, equals ? equals + 1 : argv[++i], err);
		if (status)
			return status;
	}
	if (!o->folder)
		return crux_fail(err, CRUX_INVALID,
				 "--out=DIR is missing: the folder for the trace");
	return CRUX_OK;
}

static void show(const struct options *o, const struct crux_gentrace *trace)
{
	static const char *const texts[] = {
#define TEXT(name, number, text) text,
		CRUX_GENTRACE_COUNTS(TEXT)
#undef TEXT
	};

	printf("%s: job.csv, worker.csv, topo.csv; seed %llu\n", o->folder,
	       (unsigned long long)o->trace.seed);
	for (int i = 0; i < CRUX_GENTRACE_N_COUNTS; i++)
		printf("  %7llu  %s\n", (unsigned long long)trace->counts[i], texts[i]);
	printf("  %7u  GPUs of the largest job\n", trace->largest_gpus);
	printf("  %7llu  jobs that waited for room\n", (unsigned long long)trace->delayed);
}

/* As a user of the trace would. */
static enum crux_status read_back(const struct options *o, const struct crux_gentrace *made,
				  struct crux_error *err)
{
	char job[4200], worker[4200];
	const struct crux_spec spec = {.name = "lingjun", .word = o->trace.topology};
	struct crux_trace_options options = {job, worker, NULL, true};
	struct crux_text summary = {NULL, 0, 0}, notes = {NULL, 0, 0};
	struct crux_topology *topo = NULL;
	struct crux_trace *trace = NULL;
	enum crux_status status = crux_lingjun_build(&spec, &topo, &notes, err);

	snprintf(job, sizeof(job), "%s/job.csv", o->folder);
	snprintf(worker, sizeof(worker), "%s/worker.csv", o->folder);
	options.topo = topo;
	if (!status)
		status = crux_trace_read(&options, &trace, &summary, err);
	if (!status &&
	    (trace->n_jobs != made->kept_jobs[1] || trace->n_workers != made->kept_workers[1]))
		status = crux_fail(err, CRUX_INVALID,
				   "%.200s: %u jobs and %u workers are read, %llu and %llu were "
				   "made to be",
				   o->folder, trace->n_jobs, trace->n_workers,
				   (unsigned long long)made->kept_jobs[1],
				   (unsigned long long)made->kept_workers[1]);
	if (!status) {
		printf("read with the recorded placement:\n%s", summary.text);
		crux_trace_destroy(trace);
	}
	crux_topology_destroy(topo);
	crux_free(summary.text);
	crux_free(notes.text);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = {{1, CRUX_GENTRACE_FULL, TOPOLOGY}, NULL};
	struct crux_error err = {CRUX_OK, ""};
	struct crux_gentrace *trace = NULL;
	enum crux_status status;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			usage();
			return 0;
		}
	}
	status = parse(argc, argv, &o, &err);
	if (!status)
		status = crux_gentrace_check(o.folder, &err);
	if (!status)
		status = crux_gentrace_make(&o.trace, &trace, &err);
	if (!status)
		status = crux_gentrace_write(trace, o.folder, &err);
	if (!status) {
		show(&o, trace);
		status = read_back(&o, trace, &err);
	}
	crux_gentrace_destroy(trace);
	if (!status && (fflush(stdout) != 0 || ferror(stdout)))
		status = crux_fail(&err, CRUX_IO, "standard output cannot be written");
	if (status)
		fprintf(stderr, "crux-gen-trace: %s\n", err.text);
	return (int)status;
}
