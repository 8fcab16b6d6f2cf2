/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-input: reads a trace, builds its topologies, and says what is assumed.
 *
 * Place: tools. Depends on trace-tool.h, POSIX (stat).
 */
#define _POSIX_C_SOURCE 200809L

#include "trace-tool.h"

#include "crux-presets.h"
#include "crux-trace-other.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* FNV-1a of the bytes of a file, on top of @p digest; and its length, so that no byte moves over.
 */
static enum crux_status add_file(const char *path, uint64_t *digest, struct crux_error *err)
{
	FILE *file;
	unsigned char buffer[65536];
	uint64_t length = 0;
	struct stat is;
	size_t got;
	bool bad;

	/* What is read once only, as a pipe, would be empty or hang when it is parsed. */
	if (!stat(path, &is) && !S_ISREG(is.st_mode))
		return crux_fail(err, CRUX_IO, "%s: is no regular file", path);
	file = fopen(path, "rb");
	if (!file)
		return crux_fail(err, errno == ENOENT ? CRUX_NOT_FOUND : CRUX_IO, "%s: %s", path,
				 strerror(errno));
	while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0) {
		for (size_t i = 0; i < got; i++)
			*digest = (*digest ^ buffer[i]) * UINT64_C(0x100000001b3);
		length += got;
	}
	bad = ferror(file) != 0;
	fclose(file);
	if (bad)
		return crux_fail(err, CRUX_IO, "%s: cannot be read", path);
	*digest = crux_mix64(*digest ^ length);
	return CRUX_OK;
}

/* With the placement on its own topology, whose network need not be one that is run on. */
static enum crux_status read_lingjun(const struct trace_options *o, struct trace_input *in,
				     struct crux_error *err)
{
	struct crux_trace_options read = {.job_csv = o->paths[TRACE_JOB_CSV],
					  .worker_csv = o->paths[TRACE_WORKER_CSV],
					  .replay = true};
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status = crux_preset_build(o->own_topology, &in->placed_on, &notes, err);

	crux_free(notes.text);
	if (status)
		return status;
	read.topo = in->placed_on;
	return crux_trace_read(&read, &in->trace, &in->summary, err);
}

/* Without a topology: a job that a cluster cannot hold is refused, as of any trace. */
static enum crux_status read_trace(const struct trace_options *o, struct trace_input *in,
				   struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	in->digest = UINT64_C(0xcbf29ce484222325);
	for (int f = 0; !status && f < TRACE_FILES; f++)
		if (o->paths[f])
			status = add_file(o->paths[f], &in->digest, err);
	if (status)
		return status;
	if (o->form == TRACE_PHILLY)
		return crux_trace_philly_read(o->paths[TRACE_JOB_CSV], NULL, &in->trace,
					      &in->summary, err);
	if (o->form == TRACE_PAI)
		return crux_trace_pai_read(o->paths[TRACE_JOB_CSV], o->paths[TRACE_TASK_CSV], NULL,
					   &in->trace, &in->summary, err);
	return read_lingjun(o, in, err);
}

/* GPUs of the hosts that the first topology's jobs get: the least, so that a tensor group fits
 * into any. */
static uint32_t gpus_per_host(const struct crux_tracecluster *c)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t h = 0; h < c->n_hosts; h++) {
		uint32_t gpus = crux_topology_host(c->topo, h)->n_gpus;

		least = gpus && gpus < least ? gpus : least;
	}
	return least;
}

/* The lines of a topology, each with its description in front. */
static enum crux_status assume_cluster(struct trace_input *in, const struct crux_tracecluster *c,
				       struct crux_error *err)
{
	enum crux_status status = crux_text_add(
		&in->assumptions, err, "%s: %u hosts, %u GPUs, ports of NICs at %g Gbit/s\n",
		c->description, c->n_hosts, c->n_gpus, 1e-9 * (double)c->nic_bps);
	const char *line = c->assumptions;

	while (!status && *line) {
		int length = (int)strcspn(line, "\n");

		status = crux_text_add(&in->assumptions, err, "%s: %.*s\n", c->description, length,
				       line);
		line += length + (line[length] == '\n');
	}
	return status;
}

static enum crux_status assume(const struct trace_options *o, struct trace_input *in,
			       struct crux_error *err)
{
	enum crux_status status = crux_trace_assume(in->trace, &in->assumptions, err);

	if (!status && o->form != TRACE_LINGJUN)
		status = crux_text_add(&in->assumptions, err,
				       "placement: the trace has none; a job scheduler gives the "
				       "GPUs (packed, unless others are asked for)\n");
	if (!status)
		status = crux_tracelab_assume(in->jobs, &in->assumptions, err);
	for (uint32_t c = 0; !status && c < in->n_clusters; c++)
		status = assume_cluster(in, in->clusters[c], err);
	return status;
}

enum crux_status trace_input_read(const struct trace_options *o, struct trace_input *in,
				  struct crux_error *err)
{
	struct crux_tracelab_jobs_options jobs = o->jobs;
	enum crux_status status = CRUX_OK;

	memset(in, 0, sizeof(*in));
	status = read_trace(o, in, err);
	while (!status && in->n_clusters < o->n_topologies) {
		status = crux_tracecluster_create(o->topologies[in->n_clusters],
						  (uint32_t)o->payload, o->seed,
						  &in->clusters[in->n_clusters], err);
		if (!status)
			in->n_clusters++;
	}
	jobs.placed_on = o->recorded ? in->placed_on : NULL;
	/* Jobs are the same for all topologies: by the hosts and NICs of the first. */
	if (!status) {
		jobs.gpus_per_host = gpus_per_host(in->clusters[0]);
		jobs.cluster = in->clusters[0];
		status = crux_tracelab_jobs_make(in->trace, (double)in->clusters[0]->nic_bps, &jobs,
						 &in->jobs, err);
	}
	return status ? status : assume(o, in, err);
}

void trace_input_print(const struct trace_options *o, const struct trace_input *in)
{
	const char *line = in->assumptions.text ? in->assumptions.text : "";

	if (o->quiet)
		return;
	printf("trace:    %s\n", o->folder);
	if (in->summary.text)
		fputs(in->summary.text, stdout);
	if (!in->jobs)
		return;
	printf("window:   from hour %g, %.6g hours: %u jobs, the largest with %u GPUs\n",
	       in->jobs->options.from_s / 3600, in->jobs->length_s / 3600, in->jobs->n,
	       in->jobs->gpus);
	puts("assumed:");
	while (*line) {
		int length = (int)strcspn(line, "\n");

		printf("  %.*s\n", length, line);
		line += length + (line[length] == '\n');
	}
	fflush(stdout);
}

void trace_input_clear(struct trace_input *in)
{
	crux_tracelab_jobs_destroy(in->jobs);
	for (uint32_t c = 0; c < in->n_clusters; c++)
		crux_tracecluster_destroy(in->clusters[c]);
	crux_trace_destroy(in->trace);
	crux_topology_destroy(in->placed_on);
	crux_free(in->summary.text);
	crux_free(in->assumptions.text);
}
