/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-options: the command line of crux-trace: every value is checked before a file is read.
 *
 * Place: tools. Depends on trace-tool.h.
 */
#include "trace-tool.h"

#include "crux-problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest window, s; times are doubles. */
#define MOST_HOURS 1e6

static enum crux_status take_list(const char *name, const char *value, struct trace_list *list,
				  struct crux_error *err)
{
	char *at;

	list->text = crux_strdup(value);
	if (!list->text)
		return crux_fail(err, CRUX_NOMEM, "%s: out of memory", name);
	at = list->text;
	while (at) {
		char *comma = strchr(at, ',');

		if (comma)
			*comma = 0;
		if (!*at)
			return crux_fail(err, CRUX_INVALID, "%s=%.200s: an empty word", name,
					 value);
		for (uint32_t i = 0; i < list->n; i++)
			if (!strcmp(list->words[i], at))
				return crux_fail(err, CRUX_DUPLICATE, "%s: %.60s is given twice",
						 name, at);
		if (list->n == TRACE_LIST_MAX)
			return crux_fail(err, CRUX_LIMIT, "%s: more than %d", name, TRACE_LIST_MAX);
		list->words[list->n++] = at;
		at = comma ? comma + 1 : NULL;
	}
	return CRUX_OK;
}

static enum crux_status take_levels(struct trace_options *o, const char *value,
				    struct crux_error *err)
{
	struct trace_list list = {0};
	enum crux_status status = take_list("--levels", value, &list, err);
	uint64_t levels;

	o->n_levels = o->main_levels = 0;
	for (uint32_t i = 0; !status && i < list.n; i++) {
		status = crux_parse_whole(list.words[i], 1, 64, "--levels", &levels, err);
		if (status)
			break;
		for (uint32_t k = 0; k < o->n_levels; k++)
			if (o->levels[k] == levels)
				status = crux_fail(err, CRUX_DUPLICATE,
						   "--levels: %u is given twice", o->levels[k]);
		o->levels[o->n_levels++] = (uint32_t)levels;
		/* The paper's, or the most. */
		if (o->main_levels != 8 && (levels == 8 || levels > o->main_levels))
			o->main_levels = (uint32_t)levels;
	}
	crux_free(list.text);
	return status;
}

enum crux_status trace_take_topology(struct trace_options *o, const char *value,
				     struct crux_error *err)
{
	struct crux_store_trace_row row;

	if (strlen(value) >= sizeof(row.topology))
		return crux_fail(err, CRUX_LIMIT, "--topology: %zu characters, at most %zu",
				 strlen(value), sizeof(row.topology) - 1);
	for (uint32_t i = 0; i < o->n_topologies; i++)
		if (!strcmp(o->topologies[i], value))
			return crux_fail(err, CRUX_DUPLICATE, "--topology: %.200s is given twice",
					 value);
	if (o->n_topologies == TRACE_LIST_MAX)
		return crux_fail(err, CRUX_LIMIT, "--topology: more than %d", TRACE_LIST_MAX);
	o->topologies[o->n_topologies++] = value;
	return CRUX_OK;
}

static enum crux_status take_tick(struct trace_options *o, const char *value,
				  struct crux_error *err)
{
	double us = 1;
	uint64_t ps;
	enum crux_status status = crux_parse_real(value, 1e-6, 1e6, "--tick-us", &us, err);

	if (status)
		return status;
	ps = (uint64_t)llround(us * 1e6);
	if (fabs((double)ps - us * 1e6) > 1e-9 * us * 1e6 || UINT64_C(1000000000000) % ps)
		return crux_fail(err, CRUX_RANGE,
				 "--tick-us=%.40s: a second is no whole number of these", value);
	o->run.tick_ps = ps;
	return CRUX_OK;
}

static enum crux_status take_hours(const char *name, const char *value, double low, double *out_s,
				   struct crux_error *err)
{
	double hours = 0;
	enum crux_status status = crux_parse_real(value, low, MOST_HOURS, name, &hours, err);

	if (!status)
		*out_s = 3600 * hours;
	return status;
}

static enum crux_status take_number(struct trace_options *o, const char *name, const char *value,
				    struct crux_error *err)
{
	double minutes = 60;
	enum crux_status status;

	if (!strcmp(name, "--hours"))
		return take_hours(name, value, 1.0 / 60, &o->jobs.length_s, err);
	if (!strcmp(name, "--from-hour"))
		return take_hours(name, value, 0, &o->jobs.from_s, err);
	if (!strcmp(name, "--seed"))
		return crux_parse_whole(value, 0, INT64_MAX, name, &o->seed, err);
	if (!strcmp(name, "--tick-us"))
		return take_tick(o, value, err);
	if (!strcmp(name, "--patience"))
		return crux_parse_whole(value, 0, UINT64_C(1) << 53, name, &o->run.patience, err);
	if (!strcmp(name, "--bytes-factor"))
		return crux_parse_real(value, 1e-6, 1e6, name, &o->jobs.bytes_factor, err);
	if (!strcmp(name, "--compute-factor"))
		return crux_parse_real(value, 1e-6, 1e6, name, &o->jobs.compute_factor, err);
	if (!strcmp(name, "--payload"))
		return crux_parse_whole(value, 256, 9000, name, &o->payload, err);
	if (!strcmp(name, "--fairness"))
		return crux_parse_real(value, 0, 1, name, &o->run.plan.fairness, err);
	if (strcmp(name, "--bin-minutes") != 0)
		return crux_fail(err, CRUX_UNKNOWN_KEY, "%s: no such option (--help lists them)",
				 name);
	status = crux_parse_real(value, 1.0 / 60, 60 * MOST_HOURS, name, &minutes, err);
	if (!status)
		o->run.bin_s = 60 * minutes;
	return status;
}

static enum crux_status take(struct trace_options *o, const char *name, const char *value,
			     struct crux_error *err)
{
	if (!*value)
		return crux_fail(err, CRUX_INVALID, "%s: its value is empty", name);
	if (trace_form_take(o, name, value))
		return CRUX_OK;
	if (!strcmp(name, "--format"))
		return trace_form_find(value, &o->form, err);
	if (!strcmp(name, "--trace")) {
		o->folder = value;
		return CRUX_OK;
	}
	if (!strcmp(name, "--db")) {
		o->db_given = true;
		o->db = strcmp(value, "none") ? value : NULL;
		return CRUX_OK;
	}
	if (!strcmp(name, "--topology"))
		return trace_take_topology(o, value, err);
	if (!strcmp(name, "--scheduler"))
		return take_list(name, value, &o->schedulers, err);
	if (!strcmp(name, "--policies"))
		return take_list(name, value, &o->policies, err);
	if (!strcmp(name, "--levels"))
		return take_levels(o, value, err);
	if (!strcmp(name, "--work")) {
		enum crux_status status = crux_tracelab_work_find(value, &o->run.work, err);

		if (status)
			crux_fail_prefix(err, "--work: ");
		return status;
	}
	if (!strcmp(name, "--ring")) {
		enum crux_status status = crux_tracelab_ring_find(value, &o->run.ring, err);

		if (status)
			crux_fail_prefix(err, "--ring: ");
		return status;
	}
	if (!strcmp(name, "--models")) {
		enum crux_status status = crux_tracelab_models_find(value, &o->jobs.models, err);

		if (status)
			crux_fail_prefix(err, "--models: ");
		return status;
	}
	return take_number(o, name, value, err);
}

static bool *flag_of(struct trace_options *o, const char *name)
{
	if (!strcmp(name, "--resume"))
		return &o->resume;
	if (!strcmp(name, "--check"))
		return &o->run.check;
	if (!strcmp(name, "--quiet"))
		return &o->quiet;
	return !strcmp(name, "--no-picture") ? &o->picture : NULL;
}

/* --name=value or --name value, each once but for the topologies. */
static enum crux_status split(int argc, char **argv, struct trace_options *o,
			      struct crux_error *err)
{
	char seen[40][24];
	int n_seen = 0;

	for (int i = 1; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');
		size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
		enum crux_status status = CRUX_OK;
		char name[24];
		bool *flag;

		if (length >= sizeof(name) || strncmp(argv[i], "--", 2) != 0)
			return crux_fail(err, CRUX_UNKNOWN_KEY,
					 "%.60s: no such option (--help lists them)", argv[i]);
		memcpy(name, argv[i], length);
		name[length] = 0;
		for (int s = 0; s < n_seen && strcmp(name, "--topology") != 0; s++)
			if (!strcmp(seen[s], name))
				return crux_fail(err, CRUX_DUPLICATE, "%s is given twice", name);
		flag = flag_of(o, name);
		if (flag && equals)
			return crux_fail(err, CRUX_INVALID, "%s takes no value", name);
		if (flag)
			*flag = strcmp(name, "--no-picture") != 0;
		else if (!equals && i + 1 == argc)
			return crux_fail(err, CRUX_INVALID, "%s: its value is missing", name);
		else
			status = take(o, name, equals ? equals + 1 : argv[++i], err);
		if (status)
			return status;
		if (n_seen < (int)(sizeof(seen) / sizeof(seen[0])))
			memcpy(seen[n_seen++], name, sizeof(name));
	}
	return CRUX_OK;
}

/* ---- names */

/* Unknown words of a list, all of them, and what there is. */
static enum crux_status unknown(const char *option, const char *what, const char *words,
				const char *known, struct crux_error *err)
{
	return crux_fail(err, CRUX_NOT_FOUND, "%s: no %s %.160s; there are: %s", option, what,
			 words, known);
}

static void add_word(char *text, size_t size, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%.40s", used ? ", " : "", word);
}

/* Behind the others, unless it is there. */
static enum crux_status add_policy(struct trace_list *list, const char *name,
				   struct crux_error *err)
{
	for (uint32_t p = 0; p < list->n; p++)
		if (!strcmp(list->words[p], name))
			return CRUX_OK;
	if (list->n == TRACE_LIST_MAX)
		return crux_fail(err, CRUX_LIMIT, "--policies: more than %d", TRACE_LIST_MAX);
	list->words[list->n++] = name;
	return CRUX_OK;
}

/* No policy, or all among others: all that do not enumerate, then the others. */
static enum crux_status expand_all(struct trace_list *asked, struct crux_error *err)
{
	const struct trace_list given = *asked;
	enum crux_status status = CRUX_OK;
	bool all = !asked->n;
	uint32_t n;
	const struct crux_policy *const *list = crux_policy_list(&n);

	for (uint32_t p = 0; p < given.n; p++)
		all = all || !strcmp(given.words[p], "all");
	if (!all)
		return CRUX_OK;
	asked->n = 0;
	for (uint32_t p = 0; p < n && !status; p++)
		if (strcmp(list[p]->name, "optimal") != 0 &&
		    strcmp(list[p]->name, "crux-exact") != 0)
			status = add_policy(asked, list[p]->name, err);
	for (uint32_t p = 0; p < given.n && !status; p++)
		if (strcmp(given.words[p], "all") != 0)
			status = add_policy(asked, given.words[p], err);
	return status;
}

static enum crux_status check_policies(struct trace_options *o, struct crux_error *err)
{
	uint32_t n;
	const struct crux_policy *const *list = crux_policy_list(&n), *policy;
	char lost[200] = "", known[256] = "all";
	struct trace_list *asked = &o->policies;
	enum crux_status status = expand_all(asked, err);

	if (status)
		return status;
	for (uint32_t p = 0; p < n; p++)
		add_word(known, sizeof(known), list[p]->name);
	for (uint32_t p = 0; p < asked->n; p++)
		if (crux_policy_find(asked->words[p], &policy, NULL))
			add_word(lost, sizeof(lost), asked->words[p]);
	return *lost ? unknown("--policies", "policy", lost, known, err) : CRUX_OK;
}

static enum crux_status check_schedulers(struct trace_options *o, struct crux_error *err)
{
	uint32_t n;
	const struct crux_jobsched_policy *const *list = crux_jobsched_list(&n), *policy;
	char lost[200] = "", known[256] = "recorded";
	struct trace_list *asked = &o->schedulers;

	for (uint32_t s = 0; s < n; s++)
		add_word(known, sizeof(known), crux_jobsched_name(list[s]));
	if (!asked->n)
		asked->words[asked->n++] = o->form == TRACE_LINGJUN ? "recorded" : "packed";
	for (uint32_t s = 0; s < asked->n; s++) {
		if (!strcmp(asked->words[s], "recorded")) {
			o->recorded = true;
			if (o->form != TRACE_LINGJUN)
				return crux_fail(
					err, CRUX_INVALID,
					"--scheduler=recorded: not with --format=%s, which "
					"has no placement",
					trace_form_name(o->form));
			if (o->run.work == CRUX_TRACELAB_ITERATIONS)
				return crux_fail(err, CRUX_INVALID,
						 "--work=iterations: not with the recorded "
						 "placement, where a job that takes longer would "
						 "hold others' GPUs; give --scheduler");
		} else if (crux_jobsched_find(asked->words[s], &policy, NULL)) {
			add_word(lost, sizeof(lost), asked->words[s]);
		}
	}
	if (*lost)
		return unknown("--scheduler", "job scheduler", lost, known, err);
	if (o->recorded && asked->n > 1 && o->jobs.from_s > 0)
		return crux_fail(
			err, CRUX_INVALID,
			"--from-hour: jobs that run at the window's beginning are in it with "
			"the recorded placement, and not with a job scheduler; give one "
			"command for either");
	return CRUX_OK;
}

/* ---- the whole */

enum crux_status trace_options_parse(int argc, char **argv, struct trace_options *o,
				     struct crux_error *err)
{
	enum crux_status status;

	memset(o, 0, sizeof(*o));
	o->seed = 1;
	o->payload = 4096;
	o->levels[o->n_levels++] = o->main_levels = 8;
	o->db = "out/crux-trace.db";
	o->picture = true;
	crux_tracelab_jobs_default(&o->jobs);
	crux_tracelab_default(&o->run);
	o->run.patience = 1024; /* a command is to end; 0 is exact */
	status = split(argc, argv, o, err);
	if (!status)
		status = check_policies(o, err);
	if (!status)
		status = check_schedulers(o, err);
	if (!status && o->resume && !o->db)
		status = crux_fail(err, CRUX_INVALID, "--resume: there is no database (--db=none)");
	if (!status)
		status = trace_form_files(o, err);
	o->run.plan.seed = o->run.jobsched.seed = o->seed;
	return status;
}

void trace_options_clear(struct trace_options *o)
{
	for (int f = 0; f < TRACE_FILES; f++)
		crux_free(o->paths[f]);
	crux_free(o->own_topology);
	crux_free(o->schedulers.text);
	crux_free(o->policies.text);
}
