/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-report: the reasons as words, and the summary of what became of the rows.
 *
 * Place: model/core (C11). Depends on crux-trace.
 */
#include "crux-trace.h"

#include <stdio.h>

struct reason {
	const char *name, *text;
	enum crux_trace_file file;
};

static const struct reason reasons[] = {
#define REASON(name, file, text) {#name, text, CRUX_TRACE_FILE_##file},
	CRUX_TRACE_REASONS(REASON)
#undef REASON
};

const char *crux_trace_reason_name(enum crux_trace_reason reason)
{
	return reasons[reason].name;
}

const char *crux_trace_reason_text(enum crux_trace_reason reason)
{
	return reasons[reason].text;
}

enum crux_trace_file crux_trace_reason_file(enum crux_trace_reason reason)
{
	return reasons[reason].file;
}

static enum crux_status file_lines(const struct crux_trace_count *c, enum crux_trace_file file,
				   struct crux_text *out, struct crux_error *err)
{
	enum crux_status status =
		crux_text_add(out, err, "%s: %llu rows: %llu kept, %llu dropped\n",
			      file == CRUX_TRACE_FILE_JOB ? "job.csv" : "worker.csv",
			      (unsigned long long)c->rows[file], (unsigned long long)c->kept[file],
			      (unsigned long long)(c->rows[file] - c->kept[file]));
	bool any = false;
	char line[16];

	for (int r = 0; !status && r < CRUX_TRACE_N_REASONS; r++) {
		if (reasons[r].file != file || !c->seen[r])
			continue;
		if (!any)
			status = crux_text_add(out, err,
					       "  dropped  rows with it  first line  "
					       "reason\n");
		any = true;
		if (c->first_line[r])
			snprintf(line, sizeof(line), "%u", c->first_line[r]);
		else
			snprintf(line, sizeof(line), "-");
		if (!status)
			status = crux_text_add(out, err, "  %7llu  %12llu  %10s  %s\n",
					       (unsigned long long)c->dropped[r],
					       (unsigned long long)c->seen[r], line,
					       reasons[r].text);
	}
	return status;
}

enum crux_status crux_trace_summary(const struct crux_trace_count *count, struct crux_text *out,
				    struct crux_error *err)
{
	enum crux_status status = file_lines(count, CRUX_TRACE_FILE_JOB, out, err);

	if (!status)
		status = crux_text_add(
			out, err,
			"  of the kept: %llu still ran at the end of the trace, %llu "
			"of no length, %llu marked deleted, %llu without some of "
			"their workers\n",
			(unsigned long long)count->cut, (unsigned long long)count->zero_length,
			(unsigned long long)count->deleted, (unsigned long long)count->shrunk);
	if (!status)
		status = file_lines(count, CRUX_TRACE_FILE_WORKER, out, err);
	if (!status)
		status = crux_text_add(out, err,
				       "  names of jobs: %llu, of which %llu are not in job.csv\n",
				       (unsigned long long)count->job_names,
				       (unsigned long long)count->lone_names);
	return status;
}
