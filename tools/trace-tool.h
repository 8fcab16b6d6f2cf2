/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-tool: what the files of crux-trace share.
 *
 * Place: tools. Depends on libcrux.
 */
#ifndef TRACE_TOOL_H
#define TRACE_TOOL_H

#include "crux-store-trace.h"
#include "crux-tracecluster.h"
#include "crux-tracelab.h"

#include <signal.h>

#define TRACE_LIST_MAX 64

/** Forms of traces: doc/traces.md. */
enum trace_form { TRACE_LINGJUN, TRACE_PHILLY, TRACE_PAI };
enum trace_file { TRACE_JOB_CSV, TRACE_WORKER_CSV, TRACE_TOPO_CSV, TRACE_TASK_CSV, TRACE_FILES };

/** A list of words, as an option gives it. */
struct trace_list {
	char *text; /**< owned; the words lie in it */
	const char *words[TRACE_LIST_MAX];
	uint32_t n;
};

/** The command line. */
struct trace_options {
	enum trace_form form;
	const char *folder;	      /**< or the file of jobs: what the database calls the trace */
	const char *csv[TRACE_FILES]; /**< as given; NULL: of the folder, or not of that form */
	char *paths[TRACE_FILES];     /**< owned; NULL: not of that form */
	char *own_topology;	      /**< lingjun:..., owned; NULL: the form has none */
	const char *topologies[TRACE_LIST_MAX];
	uint32_t n_topologies;
	struct trace_list schedulers, policies;
	uint32_t levels[TRACE_LIST_MAX], n_levels, main_levels;
	struct crux_tracelab_jobs_options jobs;
	struct crux_tracelab_options run; /**< what all runs share */
	uint64_t seed, payload;
	const char *db; /**< NULL: none */
	bool db_given, resume, quiet, picture;
	bool recorded; /**< is among the job schedulers */
};

/** trace-options.c: all that can be said before a file is read. */
enum crux_status trace_options_parse(int argc, char **argv, struct trace_options *o,
				     struct crux_error *err);
void trace_options_clear(struct trace_options *o);
enum crux_status trace_take_topology(struct trace_options *o, const char *value,
				     struct crux_error *err);
/** trace-form.c: forms of traces, their files. */
enum crux_status trace_form_find(const char *name, enum trace_form *out, struct crux_error *err);
const char *trace_form_name(enum trace_form form);
/** Is @p name one that names a file? Then @p value is taken. */
bool trace_form_take(struct trace_options *o, const char *name, const char *value);
/** Fills paths, own_topology, and the default of topologies; refuses files that the form lacks. */
enum crux_status trace_form_files(struct trace_options *o, struct crux_error *err);
/** trace-help.c */
void trace_usage(void);

/** What is read and built. */
struct trace_input {
	struct crux_text summary, assumptions;
	struct crux_topology *placed_on; /**< the trace's own */
	struct crux_trace *trace;
	struct crux_tracelab_jobs *jobs;
	struct crux_tracecluster *clusters[TRACE_LIST_MAX]; /**< as o->topologies */
	uint32_t n_clusters;
	uint64_t digest;
};

/** trace-input.c: the summary is filled also when no job is left. */
enum crux_status trace_input_read(const struct trace_options *o, struct trace_input *in,
				  struct crux_error *err);
void trace_input_print(const struct trace_options *o, const struct trace_input *in);
void trace_input_clear(struct trace_input *in);

/** A run that is planned. */
struct trace_planned {
	struct crux_store_trace_setting setting;
	struct crux_tracecluster *cluster;
	bool first; /**< of its topology and scheduler: the one that the risk comes from */
};

/** All runs, and what is known of them. */
struct trace_runs {
	struct trace_planned *planned;
	uint32_t n;
	struct crux_store *store;	   /**< NULL: no database */
	struct crux_store_trace_row *rows; /**< of what has run, by number */
	size_t n_rows, cap_rows;
	struct crux_tracelab_risk *risks; /**< [n], where first; jobs 0: none. Without risky */
};

/** The signal that asked to stop; 0: none. */
extern volatile sig_atomic_t trace_stopped;

/** trace-plan.c: in their order; refused by the engine's own checks, before anything runs. */
enum crux_status trace_plan(const struct trace_options *o, const struct trace_input *in,
			    struct trace_runs *runs, struct crux_error *err);
void trace_plan_clear(struct trace_runs *runs);
/** One run's options. */
struct crux_tracelab_options trace_run_options(const struct trace_options *o,
					       const struct trace_planned *planned);

/** trace-store.c: the database, begun or taken up: runs->store. A topology of the trace's own gets
 * the name that it has there; runs->rows is what has run. Runs that this command would not make:
 * CRUX_INVALID. */
enum crux_status trace_store_open(struct trace_options *o, struct trace_input *in,
				  struct trace_runs *runs, struct crux_error *err);

/** runs->rows as the database has them. */
enum crux_status trace_store_rows(struct trace_runs *runs, struct crux_error *err);

/** trace-run.c: what is left to run; then runs->rows and risks are of all. CRUX_STALLED and
 * trace_stopped: a signal came. */
enum crux_status trace_run(const struct trace_options *o, const struct trace_input *in,
			   struct trace_runs *runs, struct crux_error *err);

/** trace-row.c: the row of a result, as crux_store_trace_rows has it from the database. */
enum crux_status trace_row(const struct crux_tracelab_jobs *jobs,
			   const struct crux_store_trace_setting *setting,
			   const struct crux_tracelab_result *result,
			   struct crux_store_trace_row *out, struct crux_error *err);

/** trace-table.c */
void trace_table(const struct trace_options *o, const struct trace_runs *runs);
/** trace-paper.c: the paper's figures and ours beside. */
void trace_paper(const struct trace_runs *runs);
/** Its run, or NULL; @p levels 0: of any number. */
const struct crux_store_trace_row *trace_find(const struct trace_runs *runs, const char *topology,
					      const char *scheduler, const char *policy,
					      uint32_t levels);
/** The published policy with most utilisation, or NULL. */
const struct crux_store_trace_row *trace_best_baseline(const struct trace_runs *runs,
						       const char *topology, const char *scheduler,
						       uint32_t levels);

/** trace-picture.c: pictures of the database beside it. */
void trace_picture(const char *db);

#endif /* TRACE_TOOL_H */
