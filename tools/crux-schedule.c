/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-schedule: reads one problem as JSON, prints the decision as JSON.
 *
 * Place: tools (C11). Depends on libcrux, crux-json, jansson.
 *
 * The document: kind, input; id, note, units and expected are allowed and not
 * looked at. Errors: one line on standard error, exit status = number of the
 * status (crux-base.h).
 */
#define _GNU_SOURCE /* getopt_long */
#include "crux-schedule.h"

#include "crux-problem.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	schedule_function solve;
} kinds[] = {
	{"intensity", schedule_intensity}, {"correction", schedule_correction},
	{"paths", schedule_paths},	   {"compression", schedule_compression},
	{"timeline", schedule_timeline},   {"flowsim", schedule_flowsim},
	{"plan", schedule_plan},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void usage(FILE *out)
{
	uint32_t n;
	const struct crux_policy *const *policies = crux_policy_list(&n);

	fputs("usage: crux-schedule [--policy=NAME] [--seed=N] [FILE|-]\n"
	      "Read one scheduling problem as JSON (standard input by default) and print the\n"
	      "decision as JSON. The document has \"kind\" and \"input\"; kinds:\n ",
	      out);
	for (size_t i = 0; i < N_KINDS; i++)
		fprintf(out, " %s", kinds[i].name);
	fputs("\n"
	      "  --policy=NAME  who decides (kind plan; overrides the document):\n",
	      out);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "                 %-10s %s\n", policies[i]->name,
			policies[i]->summary);
	fputs("  --seed=N       seed of the sampled orders, >= 0 (default 1; kinds compression, "
	      "plan)\n"
	      "  --help         this text\n"
	      "Exit status: 0, or the number of the error.\n",
	      out);
}

static enum crux_status parse_args(int argc, char **argv, struct schedule_args *args, bool *help,
				   struct crux_error *err)
{
	static const struct option options[] = {
		{"policy", required_argument, NULL, 'p'},
		{"seed", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		char *end;

		switch (c) {
		case 'p':
			args->policy = optarg;
			break;
		case 's':
			errno = 0;
			args->seed = strtoull(optarg, &end, 10);
			args->seed_given = true;
			if (*optarg < '0' || *optarg > '9' || *end || errno)
				return crux_fail(err, CRUX_INVALID,
						 "--seed=%s is not an integer in 0..2^64-1",
						 optarg);
			break;
		case 'h':
			*help = true;
			return CRUX_OK;
		case ':':
			return crux_fail(err, CRUX_INVALID, "%s needs a value", argv[optind - 1]);
		default:
			return crux_fail(err, CRUX_UNKNOWN_KEY, "unknown option %s (see --help)",
					 argv[optind - 1]);
		}
	}
	if (argc - optind > 1)
		return crux_fail(err, CRUX_INVALID, "one file at most, not %s and %s", argv[optind],
				 argv[optind + 1]);
	if (optind < argc)
		args->file = argv[optind];
	if (args->policy) {
		const struct crux_policy *policy;

		return crux_policy_find(args->policy, &policy, err);
	}
	return CRUX_OK;
}

static enum crux_status solve(const json_t *root, const struct schedule_args *args, json_t **answer,
			      struct crux_error *err)
{
	static const char *const known[] = {"kind",  "input",	 "id", "note",
					    "units", "expected", NULL};
	struct crux_json at = crux_json_root(root, "document"), kind, input;
	const char *name = "";
	enum crux_status status = crux_json_known(&at, known, err);

	if (status == CRUX_OK)
		status = crux_json_member(&at, "kind", &kind, err);
	if (status == CRUX_OK)
		status = crux_json_string(&kind, &name, err);
	if (status == CRUX_OK)
		status = crux_json_member(&at, "input", &input, err);
	if (status != CRUX_OK)
		return status;
	for (size_t i = 0; i < N_KINDS; i++) {
		if (strcmp(kinds[i].name, name))
			continue;
		if (args->policy && kinds[i].solve != schedule_plan)
			return crux_json_fail(&kind, err, CRUX_INVALID,
					      "--policy means nothing to kind \"%s\"", name);
		return kinds[i].solve(input.value, args, answer, err);
	}
	return crux_json_fail(&kind, err, CRUX_NOT_FOUND, "there is no kind \"%s\"", name);
}

static enum crux_status print(const json_t *answer, struct crux_error *err)
{
	errno = 0;
	if (json_dumpf(answer, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) ||
	    putchar('\n') == EOF || fflush(stdout))
		return crux_fail(err, CRUX_IO, "standard output: %s",
				 errno ? strerror(errno) : "cannot write the answer");
	return CRUX_OK;
}

/* Where the message names a place, its line; else the file alone. */
static void locate(const struct crux_json_document *document, const char *file,
		   struct crux_error *err)
{
	const char *rest;
	size_t line = crux_json_locate(document, err->text, &rest);

	if (line)
		crux_fail_prefix(err, "%s:%zu: ", file, line);
	else
		crux_fail_prefix(err, "%s: ", file);
}

static void *allocate(size_t bytes)
{
	return crux_array(bytes, 1);
}

int main(int argc, char **argv)
{
	struct schedule_args args = {.seed = 1, .file = "-"};
	struct crux_json_document document = {0};
	struct crux_error err = {.status = CRUX_OK};
	json_t *answer = NULL;
	bool help = false;
	enum crux_status status = parse_args(argc, argv, &args, &help, &err);

	if (help) {
		usage(stdout);
		return fflush(stdout) ? CRUX_IO : 0;
	}
	json_set_alloc_funcs(allocate, crux_free);
	if (status == CRUX_OK)
		status = crux_json_load(args.file, &document, &err);
	if (status == CRUX_OK) {
		status = solve(document.root, &args, &answer, &err);
		if (status != CRUX_OK)
			locate(&document, strcmp(args.file, "-") ? args.file : "<stdin>", &err);
	}
	if (status == CRUX_OK)
		status = print(answer, &err);
	if (status != CRUX_OK)
		fprintf(stderr, "crux-schedule: %s\n", err.text);
	json_decref(answer);
	crux_json_unload(&document);
	return (int)status;
}
