/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gentrace-write: a generated trace's files in a folder: all complete or none.
 *
 * Place: model/core. Depends on POSIX, gentrace-private.
 */
#define _POSIX_C_SOURCE 200809L

#include "gentrace-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the order in which they get their names: the one that vouches for the others last. */
enum { F_LICENCE, F_TOPO, F_WORKER, F_JOB, FILES };
static const char *const names[FILES] = {"topo.csv.LICENSE", "topo.csv", "worker.csv", "job.csv"};

#define MARK_WITHIN 65536

static char *path_of(const char *folder, const char *before, const char *name, const char *after)
{
	size_t bytes = strlen(folder) + strlen(before) + strlen(name) + strlen(after) + 2;
	char *path = crux_array(bytes, 1);

	if (path)
		snprintf(path, bytes, "%s/%s%s%s", folder, before, name, after);
	return path;
}

/* A name for the file while it is written. */
static char *part_of(const char *folder, const char *name)
{
	char after[40];

	snprintf(after, sizeof(after), ".%ld.part", (long)getpid());
	return path_of(folder, ".", name, after);
}

/* Is job.csv one of ours? Its first rows hold the mark. */
static bool is_ours(const char *path)
{
	char head[MARK_WITHIN + 1];
	FILE *file = fopen(path, "rb");
	size_t n;

	if (!file)
		return false;
	n = fread(head, 1, MARK_WITHIN, file);
	fclose(file);
	head[n] = 0;
	return strstr(head, GEN_MARK) != NULL;
}

static enum crux_status check_files(const char *folder, struct crux_error *err)
{
	char *job = path_of(folder, "", names[F_JOB], "");
	enum crux_status status = CRUX_OK;
	struct stat st;
	bool ours;

	if (!job)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a path");
	ours = lstat(job, &st) == 0 && S_ISREG(st.st_mode) && is_ours(job);
	crux_free(job);
	for (int i = FILES - 1; !status && i >= 0; i--) {
		char *path = path_of(folder, "", names[i], "");

		if (!path)
			return crux_fail(err, CRUX_NOMEM, "out of memory for a path");
		if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
			status = crux_fail(err, CRUX_IO, "%.300s: is not a regular file", path);
		else if (lstat(path, &st) == 0 && !ours)
			status = crux_fail(err, CRUX_IO,
					   "%.300s: exists and was not generated; it is left alone",
					   path);
		crux_free(path);
	}
	return status;
}

/* Can a file be made here? By trying: permissions mean nothing to root. */
static enum crux_status check_writable(const char *folder, struct crux_error *err)
{
	char *part = part_of(folder, names[F_JOB]);
	enum crux_status status = CRUX_OK;
	int fd;

	if (!part)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a path");
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		status = crux_fail(err, CRUX_IO, "%.300s: cannot create files in it: %s", folder,
				   strerror(errno));
	} else {
		close(fd);
		unlink(part);
	}
	crux_free(part);
	return status;
}

enum crux_status crux_gentrace_check(const char *folder, struct crux_error *err)
{
	enum crux_status status;
	struct stat st;

	if (!folder || !folder[0])
		return crux_fail(err, CRUX_INVALID,
				 "the name of the folder for the trace is empty");
	if (stat(folder, &st) != 0) {
		if (errno != ENOENT || mkdir(folder, 0777) != 0)
			return crux_fail(err, CRUX_IO, "%.300s: cannot be created: %s", folder,
					 strerror(errno));
		rmdir(folder);
		return CRUX_OK;
	}
	if (!S_ISDIR(st.st_mode))
		return crux_fail(err, CRUX_IO, "%.300s: is not a folder", folder);
	status = check_files(folder, err);
	return status ? status : check_writable(folder, err);
}

static enum crux_status write_part(const char *path, const char *data, size_t bytes,
				   struct crux_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool good = fd >= 0;

	while (good && bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		good = n > 0;
		data += good ? n : 0;
		bytes -= good ? (size_t)n : 0;
	}
	good = good && fsync(fd) == 0;
	if (!good)
		crux_fail(err, CRUX_IO, "%.300s: cannot be written: %s", path, strerror(errno));
	if (fd >= 0 && close(fd) != 0 && good) {
		crux_fail(err, CRUX_IO, "%.300s: cannot be written: %s", path, strerror(errno));
		good = false;
	}
	return good ? CRUX_OK : CRUX_IO;
}

struct content {
	const char *data;
	size_t bytes;
	char *part, *path;
};

static enum crux_status write_all(struct content files[FILES], const char *folder,
				  struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (int i = 0; !status && i < FILES; i++) {
		if (!files[i].data)
			continue;
		files[i].part = part_of(folder, names[i]);
		files[i].path = path_of(folder, "", names[i], "");
		status = files[i].part && files[i].path
				 ? write_part(files[i].part, files[i].data, files[i].bytes, err)
				 : crux_fail(err, CRUX_NOMEM, "out of memory for a path");
	}
	for (int i = 0; !status && i < FILES; i++)
		if (files[i].data && rename(files[i].part, files[i].path) != 0)
			status = crux_fail(err, CRUX_IO, "%.300s: cannot be written: %s",
					   files[i].path, strerror(errno));
	for (int i = 0; i < FILES; i++) {
		if (status && files[i].part)
			unlink(files[i].part);
		crux_free(files[i].part);
		crux_free(files[i].path);
	}
	return status;
}

enum crux_status crux_gentrace_write(const struct crux_gentrace *trace, const char *folder,
				     struct crux_error *err)
{
	struct content files[FILES] = {
		[F_LICENCE] = {trace->licence, trace->licence_bytes, NULL, NULL},
		[F_TOPO] = {trace->topo_csv, trace->topo_bytes, NULL, NULL},
		[F_WORKER] = {trace->worker_csv.text, trace->worker_csv.length, NULL, NULL},
		[F_JOB] = {trace->job_csv.text, trace->job_csv.length, NULL, NULL}};
	enum crux_status status = crux_gentrace_check(folder, err);
	bool made;

	if (status)
		return status;
	made = mkdir(folder, 0777) == 0;
	status = write_all(files, folder, err);
	if (status && made)
		rmdir(folder);
	return status;
}
