/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-rig: what the tests of traces share: a folder for files, a topology, reading.
 *
 * Place: test/core. Included once by a test. Depends on libcrux, POSIX.
 */
#ifndef TRACE_RIG_H
#define TRACE_RIG_H

#include "crux-check.h"
#include "crux-lingjun.h"
#include "crux-trace.h"

#include <stdlib.h>
#include <unistd.h>

#ifndef CRUX_SOURCE_DIR
#define CRUX_SOURCE_DIR "."
#endif
#define SAMPLE CRUX_SOURCE_DIR "/test/data/trace/"
#define REAL   CRUX_SOURCE_DIR "/test/data/lingjun/topo.csv"

static char rig_folder[] = "/tmp/crux-trace-XXXXXX";

static void rig_begin(void)
{
	if (!mkdtemp(rig_folder))
		abort();
}

static void rig_path(char path[64], const char *name)
{
	snprintf(path, 64, "%.40s/%.20s", rig_folder, name);
}

static void rig_write(const char *name, const char *text, size_t bytes)
{
	char path[64];
	FILE *file;

	rig_path(path, name);
	unlink(path); /* a new file: some file systems flush one that is cut to nothing */
	file = fopen(path, "wb");
	if (!file || fwrite(text, 1, bytes, file) != bytes || fclose(file) != 0)
		abort();
}

static void rig_end(void)
{
	static const char *const names[] = {"job.csv", "worker.csv", "topo.csv",
					    "topo.csv.LICENSE"};
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		rig_path(path, names[i]);
		unlink(path);
	}
	rmdir(rig_folder);
}

static struct crux_topology *rig_topology(const char *path)
{
	const struct crux_spec spec = {.name = "lingjun", .word = path};
	struct crux_text notes = {NULL, 0, 0};
	struct crux_topology *topo = NULL;
	struct crux_error err = {CRUX_OK, ""};

	if (crux_lingjun_build(&spec, &topo, &notes, &err))
		CHECK_FAIL("%s", err.text);
	crux_free(notes.text);
	return topo;
}

/* What became of a reading. */
struct rig {
	enum crux_status status;
	struct crux_error err;
	struct crux_trace *trace; /* NULL unless CRUX_OK */
	struct crux_text summary;
};

static struct rig rig_read_at(const char *job, const char *worker, const struct crux_topology *topo,
			      bool replay)
{
	const struct crux_trace_options options = {job, worker, topo, replay};
	struct rig r = {CRUX_OK, {CRUX_OK, ""}, NULL, {NULL, 0, 0}};

	r.status = crux_trace_read(&options, &r.trace, &r.summary, &r.err);
	CHECK_U64(r.status, r.err.status);
	return r;
}

/* The files of the folder. */
static struct rig rig_read(const struct crux_topology *topo, bool replay)
{
	char job[64], worker[64];

	rig_path(job, "job.csv");
	rig_path(worker, "worker.csv");
	return rig_read_at(job, worker, topo, replay);
}

static void rig_done(struct rig *r)
{
	crux_trace_destroy(r->trace);
	crux_free(r->summary.text);
}

#endif /* TRACE_RIG_H */
