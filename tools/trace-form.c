/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-form: the forms of traces that crux-trace reads, and the files of each.
 *
 * Place: tools. Depends on trace-tool.h.
 */
#include "trace-tool.h"

#include <stdio.h>
#include <string.h>

static const char *const options[TRACE_FILES] = {"--job-csv", "--worker-csv", "--topo-csv",
						 "--task-csv"};
static const char *const names[TRACE_FILES] = {"job.csv", "worker.csv", "topo.csv", NULL};

#define BIT(file) (1U << TRACE_##file##_CSV)

static const struct form {
	const char *name;
	unsigned int files;
	const char *reads;
} forms[] = {
	{"lingjun", BIT(JOB) | BIT(WORKER) | BIT(TOPO), "--job-csv, --worker-csv and --topo-csv"},
	{"philly", BIT(JOB), "--job-csv"},
	{"pai", BIT(JOB) | BIT(TASK), "--job-csv and --task-csv"},
};

enum crux_status trace_form_find(const char *name, enum trace_form *out, struct crux_error *err)
{
	for (int f = 0; f < 3; f++)
		if (!strcmp(name, forms[f].name)) {
			*out = (enum trace_form)f;
			return CRUX_OK;
		}
	return crux_fail(err, CRUX_NOT_FOUND,
			 "--format: no form of traces %.60s; there are: lingjun, philly, pai",
			 name);
}

const char *trace_form_name(enum trace_form form)
{
	return forms[form].name;
}

bool trace_form_take(struct trace_options *o, const char *name, const char *value)
{
	for (int f = 0; f < TRACE_FILES; f++)
		if (!strcmp(name, options[f])) {
			o->csv[f] = value;
			return true;
		}
	return false;
}

/* What was given and the form has no use for, and what it lacks. */
static enum crux_status check_files(const struct trace_options *o, struct crux_error *err)
{
	const struct form *form = &forms[o->form];

	for (int f = 0; f < TRACE_FILES; f++)
		if (o->csv[f] && !(form->files >> f & 1))
			return crux_fail(err, CRUX_INVALID,
					 "%s: not with --format=%s, which reads %s", options[f],
					 form->name, form->reads);
	if (o->form != TRACE_LINGJUN && o->folder)
		return crux_fail(err, CRUX_INVALID,
				 "--trace: a folder is of --format=lingjun; --format=%s reads %s",
				 form->name, form->reads);
	for (int f = 0; f < TRACE_FILES; f++) {
		if (!(form->files >> f & 1) || o->csv[f] || o->folder)
			continue;
		if (o->form == TRACE_LINGJUN)
			return crux_fail(err, CRUX_INVALID,
					 "--trace=FOLDER is missing, or %s=FILE beside the other "
					 "two files",
					 options[f]);
		return crux_fail(err, CRUX_INVALID, "%s=FILE is missing: --format=%s reads %s",
				 options[f], form->name, form->reads);
	}
	if (o->form != TRACE_LINGJUN && !o->n_topologies)
		return crux_fail(err, CRUX_INVALID,
				 "--topology is missing: --format=%s has no topology of its own",
				 form->name);
	return CRUX_OK;
}

enum crux_status trace_form_files(struct trace_options *o, struct crux_error *err)
{
	enum crux_status status = check_files(o, err);
	size_t length = o->folder ? strlen(o->folder) : 0, bytes;

	if (status)
		return status;
	while (length > 1 && o->folder[length - 1] == '/')
		length--;
	for (int f = 0; f < TRACE_FILES; f++) {
		if (!(forms[o->form].files >> f & 1))
			continue;
		bytes = o->csv[f] ? strlen(o->csv[f]) + 1 : length + strlen(names[f]) + 2;
		o->paths[f] = crux_array(bytes, 1);
		if (!o->paths[f])
			return crux_fail(err, CRUX_NOMEM, "out of memory");
		if (o->csv[f])
			snprintf(o->paths[f], bytes, "%s", o->csv[f]);
		else
			snprintf(o->paths[f], bytes, "%.*s/%s", (int)length, o->folder, names[f]);
	}
	if (!o->folder)
		o->folder = o->csv[TRACE_JOB_CSV];
	if (o->form != TRACE_LINGJUN)
		return CRUX_OK;
	bytes = strlen(o->paths[TRACE_TOPO_CSV]) + 16;
	o->own_topology = crux_array(bytes, 1);
	if (!o->own_topology)
		return crux_fail(err, CRUX_NOMEM, "out of memory");
	snprintf(o->own_topology, bytes, "lingjun:%s", o->paths[TRACE_TOPO_CSV]);
	if (o->n_topologies)
		return CRUX_OK;
	status = trace_take_topology(o, o->own_topology, err);
	if (status) /* nobody gave it */
		crux_fail_prefix(err, "the trace's own (shorter names of its files would do): ");
	return status;
}
