/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-lock: one writer for each database, from opening to closing.
 *
 * Place: model/core. Depends on POSIX, crux-base and, where the system has them, on
 * locks that belong to an open file (F_OFD_SETLK), not to a process.
 *
 * SQLite locks a database while a transaction lasts: bytes PENDING to SHARED of the
 * file (SQLite's file-format page, "lock-byte page"). A run is many transactions, so it
 * locks one byte more, right behind SQLite's, which readers never touch. To empty a
 * file is safe while both are held: nobody reads it, nobody writes it, no run owns it.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */

#include "crux-base.h"
#include "store-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SQLITE_LOCK_AT	  0x40000000 /* PENDING_BYTE */
#define SQLITE_LOCK_BYTES 512	     /* pending, reserved, 510 of shared */

#ifdef F_OFD_SETLK
#define GET_LOCK F_OFD_GETLK
#define SET_LOCK F_OFD_SETLK
#else
#define GET_LOCK F_GETLK
#define SET_LOCK F_SETLK
#endif

const char *const store_tails[STORE_TAILS] = {"-journal", "-wal", "-shm"};

static struct flock lock_of(short type, off_t bytes)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = SQLITE_LOCK_AT, .l_len = bytes};
}

static enum crux_status in_use(const char *path, struct crux_error *err)
{
	return crux_fail(err, CRUX_IO, "%s: is in use by another program; it is left alone", path);
}

enum crux_status store_lock_check(int fd, const char *path, struct crux_error *err)
{
	struct flock lock = lock_of(F_WRLCK, SQLITE_LOCK_BYTES + 1);

	if (fcntl(fd, GET_LOCK, &lock) != 0)
		return crux_fail(err, CRUX_IO, "%s: cannot be locked: %s", path, strerror(errno));
	return lock.l_type == F_UNLCK ? CRUX_OK : in_use(path, err);
}

static bool is_at(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static void remove_tails(const char *path)
{
	char name[4096];

	for (size_t i = 0; i < STORE_TAILS; i++)
		if ((size_t)snprintf(name, sizeof(name), "%s%s", path, store_tails[i]) <
		    sizeof(name))
			unlink(name);
}

/* All locks, an empty file unless it is kept, and SQLite's locks given back. */
static enum crux_status take(int fd, const char *path, bool keep, struct crux_error *err)
{
	struct flock lock = lock_of(F_WRLCK, SQLITE_LOCK_BYTES + 1);
	enum crux_status status;

	if (fcntl(fd, SET_LOCK, &lock) != 0) {
		if (errno == EAGAIN || errno == EACCES)
			return in_use(path, err);
		return crux_fail(err, CRUX_IO, "%s: cannot be locked: %s", path, strerror(errno));
	}
	if (!is_at(fd, path)) /* removed or exchanged since it was opened */
		return in_use(path, err);
	status = store_check_content(fd, path, err);
	if (status)
		return status;
	/* The journal goes last: left beside an empty file it would be void. */
	if (!keep && ftruncate(fd, 0) != 0)
		return crux_fail(err, CRUX_IO, "%s: cannot be emptied: %s", path, strerror(errno));
	if (!keep)
		remove_tails(path);
	lock = lock_of(F_UNLCK, SQLITE_LOCK_BYTES);
	if (fcntl(fd, SET_LOCK, &lock) != 0)
		return crux_fail(err, CRUX_IO, "%s: cannot be unlocked: %s", path, strerror(errno));
	return CRUX_OK;
}

static enum crux_status claim(const char *path, bool keep, int *out, struct crux_error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	enum crux_status status;

	if (fd < 0)
		return crux_fail(err, CRUX_IO, "%s: cannot be opened: %s", path, strerror(errno));
	status = take(fd, path, keep, err);
	if (status) {
		close(fd);
		return status;
	}
	*out = fd;
	return CRUX_OK;
}

enum crux_status store_claim(const char *path, int *fd, struct crux_error *err)
{
	return claim(path, false, fd, err);
}

enum crux_status store_claim_kept(const char *path, int *fd, struct crux_error *err)
{
	return claim(path, true, fd, err);
}

void store_discard(int fd, const char *path)
{
	if (!is_at(fd, path))
		return;
	unlink(path);
	remove_tails(path);
}
