/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-path: may a database be written at a path? (crux_store_check). The
 * answer comes from trying, not from permission bits, which mean nothing to root
 * or on a read-only file system.
 *
 * Place: model/core. Depends on POSIX and crux-base; not on SQLite.
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-store.h"
#include "store-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name beside @p path for a trial file, "<folder>/.crux-XXXXXX". */
static char *trial_name(const char *path)
{
	static const char tail[] = ".crux-XXXXXX";
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
	char *name = crux_array(folder + sizeof(tail), 1);

	if (name) {
		memcpy(name, path, folder);
		memcpy(name + folder, tail, sizeof(tail));
	}
	return name;
}

static enum crux_status check_folder(const char *path, struct crux_error *err)
{
	char *trial = trial_name(path);
	enum crux_status status = CRUX_OK;
	int fd;

	if (!trial)
		return crux_fail(err, CRUX_NOMEM, "%s: out of memory", path);
	fd = mkstemp(trial);
	if (fd < 0) {
		status = crux_fail(err, CRUX_IO, "%s: cannot create a file in its folder: %s", path,
				   strerror(errno));
	} else {
		close(fd);
		unlink(trial);
	}
	crux_free(trial);
	return status;
}

/* A file that exists: writable, and empty or a database of ours (by its header). */
static enum crux_status check_file(const char *path, const struct stat *st, struct crux_error *err)
{
	unsigned char head[CRUX_SQLITE_HEADER_BYTES];
	uint32_t id;
	ssize_t got;
	int fd;

	if (S_ISDIR(st->st_mode))
		return crux_fail(err, CRUX_IO, "%s: is a folder, not a file", path);
	if (!S_ISREG(st->st_mode))
		return crux_fail(err, CRUX_IO, "%s: is not a regular file", path);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return crux_fail(err, CRUX_IO, "%s: cannot be written: %s", path, strerror(errno));
	got = read(fd, head, sizeof(head));
	close(fd);
	if (got == 0)
		return CRUX_OK;
	if (got == (ssize_t)sizeof(head) && memcmp(head, "SQLite format 3", 16) == 0) {
		const unsigned char *p = head + CRUX_SQLITE_APPLICATION_ID_AT;

		id = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
		if (id == CRUX_STORE_APPLICATION_ID)
			return CRUX_OK;
	}
	return crux_fail(err, CRUX_IO, "%s: exists and is not a database of crux; it is left alone",
			 path);
}

enum crux_status crux_store_check(const char *path, struct crux_error *err)
{
	struct stat st;
	size_t length = path ? strlen(path) : 0;

	if (!length)
		return crux_fail(err, CRUX_INVALID, "the name of the database is empty");
	if (!store_built_in())
		return crux_fail(err, CRUX_STORE,
				 "%s: this build has no SQLite, so it cannot write a database",
				 path);
	if (path[length - 1] == '/')
		return crux_fail(err, CRUX_IO, "%s: is a folder, not a file", path);
	if (stat(path, &st) == 0) {
		enum crux_status status = check_file(path, &st, err);

		if (status)
			return status;
	} else if (errno != ENOENT) {
		return crux_fail(err, CRUX_IO, "%s: %s", path, strerror(errno));
	}
	return check_folder(path, err);
}
