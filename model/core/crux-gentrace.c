/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gentrace: see crux-gentrace.h. The steps are in gentrace-private.h.
 *
 * Place: model/core (C11). Depends on gentrace-private, crux-lingjun.
 */
#include "crux-gentrace.h"

#include "crux-lingjun.h"
#include "crux-names.h"
#include "gentrace-private.h"

#include <string.h>

#define MAX_FILE ((size_t)64 << 20)

static const uint64_t full[CRUX_GENTRACE_N_COUNTS] = {
#define NUMBER(name, number, text) number,
	CRUX_GENTRACE_COUNTS(NUMBER)
#undef NUMBER
};

static const char *const sizes[] = {"small", "full"};

enum crux_status crux_gentrace_size_find(const char *name, enum crux_gentrace_size *out,
					 struct crux_error *err)
{
	for (int i = 0; i < 2; i++)
		if (!strcmp(name, sizes[i])) {
			*out = (enum crux_gentrace_size)i;
			return CRUX_OK;
		}
	return crux_names_unknown("size", name, sizes, 2, err);
}

/* The topology's bytes, and the file LICENSE beside it where there is one. */
static enum crux_status read_topology(const char *path, struct crux_gentrace *out,
				      struct crux_error *err)
{
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
	char *beside;
	enum crux_status status =
		crux_read_file(path, MAX_FILE, &out->topo_csv, &out->topo_bytes, err);

	if (status)
		return status;
	beside = crux_zeroed(folder + sizeof("LICENSE"), 1);
	if (!beside)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a path");
	memcpy(beside, path, folder);
	memcpy(beside + folder, "LICENSE", sizeof("LICENSE"));
	/* Absent or unreadable: none. */
	status = crux_read_file(beside, MAX_FILE, &out->licence, &out->licence_bytes, NULL);
	crux_free(beside);
	if (status == CRUX_NOMEM)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a licence");
	return CRUX_OK;
}

static enum crux_status steps(struct gen *gen, struct crux_error *err)
{
	enum crux_status status;

	gen_sizes(gen);
	gen_fates(gen);
	status = gen_times(gen, err);
	if (!status)
		status = gen_workers(gen, err);
	if (status)
		return status;
	gen_faults(gen);
	status = gen_place(gen, err);
	if (status)
		return status;
	gen_expect(gen);
	status = gen_write_jobs(gen, err);
	return status ? status : gen_write_workers(gen, err);
}

static enum crux_status make(const struct crux_gentrace_options *options, struct crux_gentrace *out,
			     struct crux_error *err)
{
	struct gen gen = {.out = out, .seed = options->seed, .window = GEN_LAST - GEN_START};
	enum crux_status status = CRUX_OK;
	const struct crux_spec spec = {.name = "lingjun", .word = options->topology};
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};

	status = crux_lingjun_build(&spec, &topo, &notes, err);
	crux_free(notes.text);
	if (status)
		return status;
	gen.topo = topo;
	for (int i = 0; i < CRUX_GENTRACE_N_COUNTS; i++)
		out->counts[i] = options->size == CRUX_GENTRACE_FULL ? full[i]
				 : full[i] < 15			     ? 1
								     : (full[i] + 5) / 10;
	if (options->size == CRUX_GENTRACE_SMALL)
		gen.window /= 10;
	gen.n_jobs = (uint32_t)out->counts[CRUX_GENTRACE_JOBS];
	gen.n_lone = (uint32_t)out->counts[CRUX_GENTRACE_LONE];
	gen.jobs = crux_zeroed(gen.n_jobs + gen.n_lone, sizeof(*gen.jobs));
	gen.scratch = crux_array(gen.n_jobs + gen.n_lone, sizeof(*gen.scratch));
	gen.order = crux_array(gen.n_jobs + gen.n_lone, sizeof(*gen.order));
	if (!gen.jobs || !gen.scratch || !gen.order)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs", gen.n_jobs);
	else
		status = steps(&gen, err);
	crux_free(gen.jobs);
	crux_free(gen.workers);
	crux_free(gen.scratch);
	crux_free(gen.order);
	crux_topology_destroy(topo);
	return status;
}

enum crux_status crux_gentrace_make(const struct crux_gentrace_options *options,
				    struct crux_gentrace **out, struct crux_error *err)
{
	struct crux_gentrace *trace;
	enum crux_status status;

	if (!options->topology || !options->topology[0])
		return crux_fail(err, CRUX_INVALID,
				 "a trace is made over a topo.csv: none is given");
	trace = crux_zeroed(1, sizeof(*trace));
	if (!trace)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a trace");
	status = read_topology(options->topology, trace, err);
	if (!status)
		status = make(options, trace, err);
	if (status)
		crux_gentrace_destroy(trace);
	else
		*out = trace;
	return status;
}

void crux_gentrace_destroy(struct crux_gentrace *trace)
{
	if (!trace)
		return;
	crux_free(trace->job_csv.text);
	crux_free(trace->worker_csv.text);
	crux_free(trace->topo_csv);
	crux_free(trace->licence);
	crux_free(trace);
}
