/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-path: may a database be written at a path? (crux_store_check). The
 * answer comes from trying, not from permission bits, which mean nothing to root
 * or on a read-only file system. Links, devices and pipes are refused by lstat,
 * before anything is opened.
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

#define LONGEST_TAIL 8 /* "-journal" */

/* A name beside @p path for a trial file, "<folder>/.crux--...XXXXXX", as long as the journal's. */
static char *trial_name(const char *path)
{
	static const char head[] = ".crux-", tail[] = "XXXXXX";
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
	size_t length = strlen(path + folder) + LONGEST_TAIL;
	char *name;

	if (length < strlen(head) + strlen(tail))
		length = strlen(head) + strlen(tail);
	name = crux_array(folder + length + 1, 1);
	if (name) {
		memcpy(name, path, folder);
		memset(name + folder, '-', length);
		memcpy(name + folder, head, strlen(head));
		memcpy(name + folder + length - strlen(tail), tail, sizeof(tail));
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

enum crux_status store_check_content(int fd, const char *path, struct crux_error *err)
{
	unsigned char head[CRUX_SQLITE_HEADER_BYTES];
	struct stat st;
	uint32_t id;
	ssize_t got;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return crux_fail(err, CRUX_IO, "%s: is not a regular file", path);
	got = pread(fd, head, sizeof(head), 0);
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

/* Not to be followed, opened or removed: links, devices, pipes, folders. */
static enum crux_status check_kind(const char *path, const struct stat *st, struct crux_error *err)
{
	if (S_ISDIR(st->st_mode))
		return crux_fail(err, CRUX_IO, "%s: is a folder, not a file", path);
	if (S_ISLNK(st->st_mode))
		return crux_fail(err, CRUX_IO,
				 "%s: is not a regular file but a symbolic link; name its target",
				 path);
	if (!S_ISREG(st->st_mode))
		return crux_fail(err, CRUX_IO, "%s: is not a regular file", path);
	return CRUX_OK;
}

/* A file that exists: regular, writable, ours or empty, and in nobody's use. */
static enum crux_status check_file(const char *path, const struct stat *st, struct crux_error *err)
{
	enum crux_status status = check_kind(path, st, err);
	int fd;

	if (status)
		return status;
	fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return crux_fail(err, CRUX_IO, "%s: cannot be written: %s", path, strerror(errno));
	status = store_check_content(fd, path, err);
	if (!status)
		status = store_lock_check(fd, path, err);
	close(fd);
	return status;
}

/* The files that SQLite would make beside it: absent, or regular. */
static enum crux_status check_tails(const char *path, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	size_t bytes = strlen(path) + LONGEST_TAIL + 1;
	char *name = crux_array(bytes, 1);
	struct stat st;

	if (!name)
		return crux_fail(err, CRUX_NOMEM, "%s: out of memory", path);
	for (size_t i = 0; !status && i < STORE_TAILS; i++) {
		snprintf(name, bytes, "%s%s", path, store_tails[i]);
		if (lstat(name, &st) == 0)
			status = check_kind(name, &st, err);
	}
	crux_free(name);
	return status;
}

enum crux_status crux_store_check(const char *path, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
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
	if (lstat(path, &st) == 0)
		status = check_file(path, &st, err);
	else if (errno != ENOENT)
		status = crux_fail(err, CRUX_IO, "%s: %s", path, strerror(errno));
	if (!status)
		status = check_folder(path, err);
	if (!status)
		status = store_check_length(path, err);
	return status ? status : check_tails(path, err);
}
