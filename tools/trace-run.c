/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-run: runs what is planned and not there yet, tells how far it is, and stops where a signal
 * asks for it.
 *
 * Place: tools. Depends on trace-tool.h, POSIX.
 */
#define _POSIX_C_SOURCE 200809L

#include "trace-tool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHOW_S 0.2 /* between two texts on a terminal */

volatile sig_atomic_t trace_stopped;

/* How far it is, for people; wall clock here and nowhere else. */
struct show {
	bool terminal, quiet;
	const struct trace_runs *runs;
	uint32_t run, left; /* number, from 0; that were not there at the start */
	uint32_t ended;	    /* of these */
	double length_s;    /* simulated */
	double begun, run_begun, shown;
};

static double wall_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void name_run(const struct show *show, char *out, size_t size)
{
	const struct crux_store_trace_setting *s = &show->runs->planned[show->run].setting;

	snprintf(out, size, "run %u of %u: %.60s, %s, %s, K = %u", show->run + 1, show->runs->n,
		 s->topology, s->scheduler, s->policy, s->levels);
}

/* What is left, by the runs so far and the share of this one; below 0: not known yet. */
static double left_s(const struct show *show, double share, double now)
{
	double runs = show->ended + share;

	if (!(runs > 0.02))
		return -1;
	return (now - show->begun) / runs * (show->left - runs);
}

static enum crux_status tell(void *context, double now_s, uint32_t ended, struct crux_error *err)
{
	struct show *show = context;
	double now, share, left;
	char name[200], eta[40] = "";

	(void)ended;
	if (trace_stopped)
		return crux_fail(err, CRUX_STALLED, "stopped");
	if (!show->terminal)
		return CRUX_OK;
	now = wall_s();
	if (now - show->shown < SHOW_S)
		return CRUX_OK;
	show->shown = now;
	share = now_s < show->length_s ? now_s / show->length_s : 1;
	left = left_s(show, share, now);
	if (left >= 90)
		snprintf(eta, sizeof(eta), ", about %.0f min left", ceil(left / 60));
	else if (left >= 0)
		snprintf(eta, sizeof(eta), ", about %.0f s left", ceil(left));
	name_run(show, name, sizeof(name));
	fprintf(stderr, "\r\033[K%s: %.0f %% of the time%s", name, floor(100 * share), eta);
	return CRUX_OK;
}

static void tell_end(struct show *show, double utilisation)
{
	char name[200];

	if (show->terminal)
		fputs("\r\033[K", stderr);
	show->ended++;
	if (show->quiet || show->terminal)
		return;
	name_run(show, name, sizeof(name));
	fprintf(stderr, "%s: utilisation %.2f %%, %.1f s\n", name, 100 * utilisation,
		wall_s() - show->run_begun);
}

static enum crux_status keep_row(struct trace_runs *runs, const struct trace_input *in,
				 const struct trace_planned *planned,
				 const struct crux_tracelab_result *result, struct crux_error *err)
{
	void *rows = runs->rows;
	enum crux_status status =
		crux_reserve(&rows, &runs->cap_rows, runs->n_rows + 1, sizeof(*runs->rows), err);

	runs->rows = rows;
	if (!status)
		status = trace_row(in->jobs, &planned->setting, result, &runs->rows[runs->n_rows],
				   err);
	runs->n_rows += !status;
	return status;
}

/* The risk goes first: a run that is there has its risk there. */
static enum crux_status keep(struct trace_runs *runs, const struct trace_input *in, uint32_t r,
			     const struct crux_tracelab_result *result, struct crux_error *err)
{
	const struct trace_planned *planned = &runs->planned[r];
	struct crux_tracelab_risk *risk = NULL;
	enum crux_status status = CRUX_OK;

	if (planned->first) {
		status = crux_tracelab_risk_find(planned->cluster, in->jobs, result, &risk, err);
		if (!status && runs->store)
			status = crux_store_trace_risk(runs->store, planned->setting.topology,
						       planned->setting.scheduler, risk, err);
		if (!status) {
			runs->risks[r] = *risk;
			runs->risks[r].risky = NULL;
		}
		crux_tracelab_risk_destroy(risk);
	}
	if (!status && runs->store)
		return crux_store_trace_run(runs->store, &planned->setting, result, err);
	return status ? status : keep_row(runs, in, planned, result, err);
}

static enum crux_status run_one(const struct trace_options *o, const struct trace_input *in,
				struct trace_runs *runs, struct show *show, struct crux_error *err)
{
	const struct trace_planned *planned = &runs->planned[show->run];
	struct crux_tracelab_options run = trace_run_options(o, planned);
	struct crux_tracelab_result *result = NULL;
	enum crux_status status;

	run.progress = tell;
	run.context = show;
	show->run_begun = wall_s();
	status = crux_tracelab_run(planned->cluster, in->jobs, &run, &result, err);
	if (status) {
		if (show->terminal)
			fputs("\r\033[K", stderr);
		if (!trace_stopped)
			crux_fail_prefix(err, "%.100s, %s, %s, K = %u: ", planned->setting.topology,
					 run.scheduler, run.policy, run.plan.levels);
		return status;
	}
	status = keep(runs, in, show->run, result, err);
	tell_end(show, result->utilisation);
	crux_tracelab_result_destroy(result);
	return status;
}

/* Of the runs that are there already. */
static enum crux_status find_risks(struct trace_runs *runs, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t r = 0; !status && r < runs->n; r++)
		if (runs->planned[r].first)
			status = crux_store_trace_get_risk(
				runs->store, runs->planned[r].setting.topology,
				runs->planned[r].setting.scheduler, &runs->risks[r], err);
	return status;
}

enum crux_status trace_run(const struct trace_options *o, const struct trace_input *in,
			   struct trace_runs *runs, struct crux_error *err)
{
	struct show show = {
		.terminal = isatty(STDERR_FILENO) && !o->quiet,
		.quiet = o->quiet,
		.runs = runs,
		.length_s = in->jobs->length_s,
		.begun = wall_s(),
	};
	enum crux_status status = runs->store ? find_risks(runs, err) : CRUX_OK;
	size_t there = runs->n_rows;

	if (status)
		return status;
	show.left = runs->n - (uint32_t)there;
	if (there && !o->quiet)
		fprintf(stderr, "%zu of %u runs are there\n", there, runs->n);
	/* Runs are made in the order of the plan, so those there are the first ones. */
	for (show.run = (uint32_t)there; !status && show.run < runs->n; show.run++) {
		if (trace_stopped)
			return crux_fail(err, CRUX_STALLED, "stopped");
		status = run_one(o, in, runs, &show, err);
	}
	if (!status && runs->store)
		status = crux_store_trace_finish(runs->store, err);
	return !status && runs->store ? trace_store_rows(runs, err) : status;
}
