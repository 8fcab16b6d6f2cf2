/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace: a cluster's trace under topologies, job schedulers and communication policies (Crux,
 * sections 6.3 and 6.4; doc/trace-command.md): tables, a database, pictures. Interrupted it keeps
 * what is finished; --resume goes on.
 *
 * Place: tools. Depends on libcrux, POSIX (signals). trace-options.c and
 * trace-form.c read the command line, trace-input.c the trace, trace-plan.c says what to run,
 * trace-store.c begins the database, trace-run.c runs, trace-table.c and trace-paper.c print,
 * trace-picture.c draws.
 */
#define _POSIX_C_SOURCE 200809L

#include "trace-tool.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void stop(int signal_number)
{
	trace_stopped = signal_number;
}

/* A second signal ends the program at once; the database holds whole runs whatever happens. */
static void listen(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	sigemptyset(&action.sa_mask);
	action.sa_flags = (int)SA_RESETHAND;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* Can the database be written? Of a build without SQLite only who asks for one hears. */
static enum crux_status check_db(struct trace_options *o, struct crux_error *err)
{
	enum crux_status status;

	if (!o->db)
		return CRUX_OK;
	if (!o->db_given)
		mkdir("out", 0777); /* if it cannot be, the check says so */
	status = crux_store_check(o->db, err);
	if (status != CRUX_STORE || o->db_given || o->resume)
		return status;
	fprintf(stderr, "crux-trace: %s; nothing is stored\n", err->text);
	o->db = NULL;
	return CRUX_OK;
}

static void tell_stopped(const struct trace_options *o, const struct trace_runs *runs)
{
	const char *name = trace_stopped == SIGINT ? "SIGINT" : "SIGTERM";

	if (o->db)
		fprintf(stderr,
			"crux-trace: stopped by %s; the runs that had ended are in %s, which is "
			"marked unfinished: the same command with --resume goes on\n",
			name, o->db);
	else
		fprintf(stderr,
			"crux-trace: stopped by %s; %zu of %u runs had ended, and are lost without "
			"a database\n",
			name, runs->n_rows, runs->n);
}

static enum crux_status run(struct trace_options *o, struct trace_input *in,
			    struct trace_runs *runs, struct crux_error *err)
{
	enum crux_status status = trace_plan(o, in, runs, err), closed;

	if (status)
		return status;
	if (!o->quiet)
		printf("runs:     %u = topologies %u x job schedulers %u x policies %u x levels "
		       "%u\n",
		       runs->n, o->n_topologies, o->schedulers.n, o->policies.n, o->n_levels);
	fflush(stdout);
	listen(stop);
	if (o->db)
		status = trace_store_open(o, in, runs, err);
	if (!status)
		status = trace_run(o, in, runs, err);
	closed = crux_store_close(runs->store, status ? NULL : err);
	listen(SIG_DFL);
	return status ? status : closed;
}

static enum crux_status trace(struct trace_options *o, struct trace_runs *runs,
			      struct crux_error *err)
{
	struct trace_input in;
	enum crux_status status = trace_input_read(o, &in, err);

	trace_input_print(o, &in);
	if (!status)
		status = run(o, &in, runs, err);
	if (!status) {
		trace_table(o, runs);
		trace_paper(runs);
		if (o->db)
			printf("\ndatabase: %s\n", o->db);
		if (o->db && o->picture)
			trace_picture(o->db);
	} else if (trace_stopped) {
		tell_stopped(o, runs);
	}
	trace_plan_clear(runs);
	trace_input_clear(&in);
	return status;
}

/* A fault is one line, whatever was typed or a file is called. */
static void tell_fault(struct crux_error *err)
{
	for (char *c = err->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	fprintf(stderr, "crux-trace: %s\n", err->text);
}

int main(int argc, char **argv)
{
	struct trace_options o;
	struct trace_runs runs = {0};
	struct crux_error err = {CRUX_OK, ""};
	enum crux_status status;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			trace_usage();
			return 0;
		}
	}
	signal(SIGXFSZ, SIG_IGN); /* a file that is too large is a fault like any other */
	status = trace_options_parse(argc, argv, &o, &err);
	if (!status)
		status = check_db(&o, &err);
	if (!status)
		status = trace(&o, &runs, &err);
	trace_options_clear(&o);
	if (!status && (fflush(stdout) != 0 || ferror(stdout)))
		status = crux_fail(&err, CRUX_IO, "standard output cannot be written");
	if (status && trace_stopped)
		return 128 + (int)trace_stopped;
	if (status)
		tell_fault(&err);
	return (int)status;
}
