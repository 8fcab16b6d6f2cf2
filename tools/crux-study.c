/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-study: the study of section 4.4 of the paper: how close each mechanism of each policy
 * comes to the optimum, over random cases (crux-study.h, doc/study.md). Prints a table, writes
 * a database.
 *
 *	crux-study [--cases N] [--seed S] [--set moderate|heavy] [--processes P] [--db FILE]
 *
 * Place: tools. Depends on libcrux, POSIX (fork, shared memory). Case i is done by process
 * i mod P; the results lie in case order in shared memory, so P changes nothing but time.
 */
#define _DEFAULT_SOURCE

#include "crux-study.h"
#include "crux-store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CASES     1000000
#define MAX_PROCESSES 256

struct options {
	uint64_t cases, seed, processes;
	enum crux_study_set set;
	const char *db;
};

/* What the processes share. */
struct shared {
	volatile uint64_t done[MAX_PROCESSES];
	struct crux_error error[MAX_PROCESSES];
	struct crux_study_result results[];
};

static int complain(const struct crux_error *err)
{
	fprintf(stderr, "crux-study: %s\n", err->text);
	return (int)err->status;
}

static void usage(void)
{
	puts("usage: crux-study [--cases N] [--seed S] [--set moderate|heavy] [--processes P]"
	     " [--db FILE]\n"
	     "  how close each mechanism of each policy comes to the optimum (doc/study.md)\n"
	     "  --cases      random cases, 1 to 1000000 (default 1500)\n"
	     "  --seed       of the cases (default 1)\n"
	     "  --set        communication 0.1 to 0.6 (moderate, default) or 0.2 to 1.2 (heavy)\n"
	     "               of the computation\n"
	     "  --processes  1 to 256 (default: processors)\n"
	     "  --db         SQLite database to write, replaced if it is one of crux");
}

static enum crux_status number(const char *name, const char *text, uint64_t low, uint64_t high,
			       uint64_t *out, struct crux_error *err)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (!*text || *end || strchr(text, '-') || errno)
		return crux_fail(err, CRUX_INVALID, "%s=%s: not a whole number", name, text);
	if (*out < low || *out > high)
		return crux_fail(err, CRUX_RANGE, "%s=%s: not in %llu..%llu", name, text,
				 (unsigned long long)low, (unsigned long long)high);
	return CRUX_OK;
}

static enum crux_status take(struct options *o, const char *name, const char *value,
			     struct crux_error *err)
{
	if (!strcmp(name, "--cases"))
		return number(name, value, 1, MAX_CASES, &o->cases, err);
	if (!strcmp(name, "--seed"))
		return number(name, value, 0, INT64_MAX, &o->seed, err);
	if (!strcmp(name, "--processes"))
		return number(name, value, 1, MAX_PROCESSES, &o->processes, err);
	if (!strcmp(name, "--set"))
		return crux_study_set_find(value, &o->set, err);
	if (!strcmp(name, "--db")) {
		o->db = value;
		return crux_store_check(value, err);
	}
	return crux_fail(err, CRUX_UNKNOWN_KEY, "%s: no such option (--help lists them)", name);
}

/* --name value or --name=value. */
static enum crux_status parse(int argc, char **argv, struct options *o, struct crux_error *err)
{
	for (int i = 1; i < argc; i++) {
		char name[32];
		const char *equals = strchr(argv[i], '=');
		size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
		enum crux_status status;

		if (length >= sizeof(name))
			return crux_fail(err, CRUX_UNKNOWN_KEY, "%.60s: no such option", argv[i]);
		memcpy(name, argv[i], length);
		name[length] = 0;
		if (!equals && i + 1 == argc)
			return crux_fail(err, CRUX_INVALID, "%s: its value is missing", name);
		status = take(o, name, equals ? equals + 1 : argv[++i], err);
		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}

static void work(const struct options *o, struct shared *shared, uint64_t process)
{
	for (uint64_t i = process; i < o->cases; i += o->processes) {
		if (crux_study_run(o->seed, i, o->set, &shared->results[i],
				   &shared->error[process]) != CRUX_OK)
			return;
		shared->done[process]++;
	}
}

static void show_progress(const struct options *o, const struct shared *shared)
{
	uint64_t done = 0;

	if (!isatty(STDERR_FILENO))
		return;
	for (uint64_t p = 0; p < o->processes; p++)
		done += shared->done[p];
	fprintf(stderr, "\r%llu of %llu cases", (unsigned long long)done,
		(unsigned long long)o->cases);
	if (done == o->cases)
		fprintf(stderr, "\r\033[K");
}

static enum crux_status run(const struct options *o, struct shared *shared, struct crux_error *err)
{
	pid_t child[MAX_PROCESSES];
	uint64_t running = 0;
	enum crux_status status = CRUX_OK;

	for (uint64_t p = 0; p < o->processes && status == CRUX_OK; p++) {
		child[p] = fork();
		if (child[p] == 0) {
			work(o, shared, p);
			_exit((int)shared->error[p].status);
		}
		if (child[p] < 0)
			status = crux_fail(err, CRUX_IO, "process %llu: %s", (unsigned long long)p,
					   strerror(errno));
		else
			running++;
	}
	for (uint64_t p = 0; p < running; p++) {
		int how = 0;

		while (waitpid(child[p], &how, isatty(STDERR_FILENO) ? WNOHANG : 0) == 0) {
			show_progress(o, shared);
			usleep(200000);
		}
		if (status == CRUX_OK && shared->error[p].status != CRUX_OK) {
			*err = shared->error[p];
			status = err->status;
		} else if (status == CRUX_OK && (!WIFEXITED(how) || WEXITSTATUS(how))) {
			status = crux_fail(err, CRUX_IO, "process %llu ended early",
					   (unsigned long long)p);
		}
	}
	show_progress(o, shared);
	return status;
}

static enum crux_status print(const struct options *o, const struct crux_study_result *results,
			      struct crux_error *err)
{
	struct crux_study_entry entries[CRUX_STUDY_MAX_ENTRIES];
	uint32_t n = crux_study_entries(entries);
	double *scratch = crux_array(o->cases, sizeof(*scratch)), optimum = 0, alone = 0, runs = 0;

	if (!scratch)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a summary");
	for (uint64_t i = 0; i < o->cases; i++) {
		optimum += results[i].optimum / (double)o->cases;
		alone += results[i].alone / (double)o->cases;
		runs += (double)results[i].engine_runs / (double)o->cases;
	}
	printf("%llu %s cases, seed %llu: GPU utilisation %.2f %% without contention, %.2f %% at "
	       "the"
	       " optimum (%.0f engine runs a case)\n\n",
	       (unsigned long long)o->cases, crux_study_set_name(o->set),
	       (unsigned long long)o->seed, 100 * alone, 100 * optimum, runs);
	printf("%-12s %-11s %9s %9s %9s %9s\n", "mechanism", "policy", "mean %", "5th pct %",
	       "least %", "optimal %");
	for (uint32_t i = 0; i < n; i++) {
		struct crux_study_summary s;

		crux_study_summarise(results, o->cases, i, scratch, &s);
		printf("%-12s %-11s %9.2f %9.2f %9.2f %9.1f\n",
		       crux_study_mechanism_name(entries[i].mechanism), entries[i].policy,
		       100 * s.mean, 100 * s.p05, 100 * s.least,
		       100 * (double)s.optimal / (double)o->cases);
	}
	crux_free(scratch);
	return CRUX_OK;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum crux_status study(const struct options *o, struct crux_error *err)
{
	size_t size = sizeof(struct shared) + o->cases * sizeof(struct crux_study_result);
	struct shared *shared =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double begun = seconds(), wall;
	enum crux_status status;

	if (shared == MAP_FAILED)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %llu cases",
				 (unsigned long long)o->cases);
	status = run(o, shared, err);
	wall = seconds() - begun;
	if (status == CRUX_OK)
		status = print(o, shared->results, err);
	if (status == CRUX_OK && o->db)
		status = crux_study_store(o->db, o->seed, o->set, shared->results, o->cases, wall,
					  (uint32_t)o->processes, err);
	munmap(shared, size);
	if (status == CRUX_OK)
		fprintf(stderr, "%.1f s with %llu processes%s%s\n", wall,
			(unsigned long long)o->processes, o->db ? "; tables in " : "",
			o->db ? o->db : "");
	return status;
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct options o = {.cases = 1500, .seed = 1, .set = CRUX_STUDY_MODERATE};
	struct crux_error err = {CRUX_OK, ""};

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			usage();
			return 0;
		}
	}
	o.processes = processors > MAX_PROCESSES ? MAX_PROCESSES
		      : processors > 1		 ? (uint64_t)processors
						 : 1;
	if (parse(argc, argv, &o, &err) != CRUX_OK || study(&o, &err) != CRUX_OK)
		return complain(&err);
	return 0;
}
