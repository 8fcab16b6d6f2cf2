/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-picture: the pictures of a database, by crux-plot-trace.py.
 *
 * Place: tools. Depends on trace-tool.h, POSIX.
 */
#define _POSIX_C_SOURCE 200809L

#include "trace-tool.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#ifndef CRUX_TOOLS_DIR
#define CRUX_TOOLS_DIR "tools"
#endif

extern char **environ;

void trace_picture(const char *db)
{
	static char python[] = "/usr/bin/python3", script[] = CRUX_TOOLS_DIR "/crux-plot-trace.py";
	char path[4200];
	char *const words[] = {python, script, path, NULL};
	int state = 0;
	pid_t pid = 0;

	snprintf(path, sizeof(path), "%s%s", db[0] == '-' ? "./" : "", db);
	puts("\npictures:");
	fflush(stdout);
	if (posix_spawn(&pid, python, NULL, NULL, words, environ) != 0 ||
	    waitpid(pid, &state, 0) != pid || !WIFEXITED(state) || WEXITSTATUS(state))
		puts("not drawn (it needs /usr/bin/python3 with matplotlib)");
}
