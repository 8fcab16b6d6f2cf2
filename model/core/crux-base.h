/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-base: what every file of libcrux shares: status codes, error texts, ids,
 * the allocation hook and the random stream.
 *
 * Place: model/core (C11, knows neither ns-3 nor C++). Depends on nothing.
 *
 * Conventions of libcrux
 *  - A function that can fail returns enum crux_status, gives results through
 *    out-pointers and leaves them untouched on failure. Its last parameter is a
 *    struct crux_error that receives one line for people; it may be NULL.
 *  - Units are in the names: _bps bit/s, _bytes, _s seconds, _ns, _ps, _flop.
 *  - Level 0 is the highest priority, everywhere.
 */
#ifndef CRUX_BASE_H
#define CRUX_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CRUX_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define CRUX_PRINTF(fmt, first)
#endif

/** Every status with its text, once. The number is the exit code of the programs. */
#define CRUX_STATUS_MAP(X)                                                                         \
	X(OK, 0, "success")                                                                        \
	X(NOMEM, 10, "out of memory")                                                              \
	X(INVALID, 11, "invalid value")                                                            \
	X(RANGE, 12, "value out of range")                                                         \
	X(NOT_FOUND, 13, "no such file or item")                                                   \
	X(IO, 14, "reading or writing failed")                                                     \
	X(SYNTAX, 15, "malformed input")                                                           \
	X(UNKNOWN_KEY, 16, "unknown key")                                                          \
	X(DUPLICATE, 17, "given twice")                                                            \
	X(UNREACHABLE, 18, "no path")                                                              \
	X(CAPACITY, 19, "does not fit the cluster")                                                \
	X(STALLED, 20, "cannot finish")                                                            \
	X(LIMIT, 21, "beyond a limit of this build")                                               \
	X(STORE, 22, "database error")                                                             \
	X(UNSUPPORTED, 23, "not in this build")

enum crux_status {
#define CRUX_STATUS_ENUM(name, number, text) CRUX_##name = number,
	CRUX_STATUS_MAP(CRUX_STATUS_ENUM)
#undef CRUX_STATUS_ENUM
};

/** Name of a status ("NOMEM") and its text ("out of memory"); never NULL. */
const char *crux_status_name(enum crux_status status);
const char *crux_status_text(enum crux_status status);

/** One line for people: what was wrong, the offending value, where it stood. */
struct crux_error {
	enum crux_status status;
	char text[512];
};

/**
 * Write an error line and return @p status, so that a failing function ends with
 * `return crux_fail(err, CRUX_RANGE, "%s:%d: ...", ...)`. @p err may be NULL.
 */
enum crux_status crux_fail(struct crux_error *err, enum crux_status status, const char *fmt, ...)
	CRUX_PRINTF(3, 4);

/** Put a prefix such as "FILE:LINE: " in front of the line already in @p err (NULL: nothing). */
void crux_fail_prefix(struct crux_error *err, const char *fmt, ...) CRUX_PRINTF(2, 3);

/** @name Ids: one-field structs, so that a link id cannot pass for a node id. @{ */
struct crux_node_id {
	uint32_t v;
};
struct crux_link_id {
	uint32_t v;
};
#define CRUX_NONE UINT32_MAX /**< no node, no link, no host, no candidate */
/** @} */

/** @name Allocation: all of libcrux allocates here; a test makes any count fail. @{ */
struct crux_allocator {
	void *(*resize)(void *context, void *old, size_t bytes); /**< bytes 0 frees */
	void *context;
};

/** Replace the allocator (NULL: the C library's). Not thread-safe; call at start. */
void crux_set_allocator(const struct crux_allocator *allocator);

/** Uninitialised and zeroed arrays of @p n items of @p size bytes. NULL when the
 * product overflows or memory is out. n = 0 gives a valid pointer to free. */
void *crux_array(size_t n, size_t size);
void *crux_zeroed(size_t n, size_t size);
void *crux_resize(void *old, size_t n, size_t size);
void crux_free(void *p);
/** A copy of a string, NULL when memory is out. */
char *crux_strdup(const char *s);
/** @} */

/**
 * Grow @p *array (items of @p size bytes, capacity *cap) to hold at least @p need,
 * doubling; CRUX_NOMEM leaves it as it was.
 */
enum crux_status crux_reserve(void **array, size_t *cap, size_t need, size_t size,
			      struct crux_error *err);

/** @name Random stream (xoshiro256**; seeded by splitmix64). Same on every machine. @{ */
struct crux_rng {
	uint64_t s[4];
};
/** Stream @p stream of seed @p seed; different streams are independent. */
void crux_rng_init(struct crux_rng *rng, uint64_t seed, uint64_t stream);
uint64_t crux_rng_next(struct crux_rng *rng);
/** Uniform in [0, n), unbiased; n >= 1. */
uint64_t crux_rng_below(struct crux_rng *rng, uint64_t n);
/** Uniform in [0, 1). */
double crux_rng_real(struct crux_rng *rng);
/** A 64-bit finaliser (bijective): the hash behind ECMP and the seeds. */
uint64_t crux_mix64(uint64_t x);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* CRUX_BASE_H */
