/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-check: the harness of the C unit tests. A test program is one file:
 *
 *	static void ring_bytes(void) { CHECK_U64(crux_ring_bytes(8, 2, 0), 8); }
 *	int main(void) { RUN(ring_bytes); return DONE(); }
 *
 * A failing check prints file, line and both values and goes on; checks do not
 * vanish in release builds. The last line is "N passed, N failed" (cases).
 *
 * Place: test/core. Included once by each test program.
 */
#ifndef CRUX_CHECK_H
#define CRUX_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int check_case_bad, check_passed, check_failed;

#define CHECK_FAIL(...)                                                                            \
	do {                                                                                       \
		check_case_bad++;                                                                  \
		printf("%s:%d: ", __FILE__, __LINE__);                                             \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
	} while (0)

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			CHECK_FAIL("not true: %s", #cond);                                         \
	} while (0)

#define CHECK_U64(got, want)                                                                       \
	do {                                                                                       \
		uint64_t g_ = (got), w_ = (want);                                                  \
		if (g_ != w_)                                                                      \
			CHECK_FAIL("%s: %" PRIu64 " instead of %" PRIu64, #got, g_, w_);           \
	} while (0)

#define CHECK_I64(got, want)                                                                       \
	do {                                                                                       \
		int64_t g_ = (got), w_ = (want);                                                   \
		if (g_ != w_)                                                                      \
			CHECK_FAIL("%s: %" PRId64 " instead of %" PRId64, #got, g_, w_);           \
	} while (0)

/** |got - want| <= tolerance (absolute); equal infinities are equal. */
#define CHECK_NEAR(got, want, tolerance)                                                           \
	do {                                                                                       \
		double g_ = (got), w_ = (want), t_ = (tolerance);                                  \
		if (!(g_ == w_ || fabs(g_ - w_) <= t_))                                            \
			CHECK_FAIL("%s: %.17g instead of %.17g +- %g", #got, g_, w_, t_);          \
	} while (0)

#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *g_ = (got), *w_ = (want);                                              \
		if (strcmp(g_, w_) != 0)                                                           \
			CHECK_FAIL("%s: \"%s\" instead of \"%s\"", #got, g_, w_);                  \
	} while (0)

/** The text @p got holds @p part (for error lines). */
#define CHECK_HAS(got, part)                                                                       \
	do {                                                                                       \
		const char *g_ = (got), *w_ = (part);                                              \
		if (!strstr(g_, w_))                                                               \
			CHECK_FAIL("%s: \"%s\" lacks \"%s\"", #got, g_, w_);                       \
	} while (0)

#define RUN(test)                                                                                  \
	do {                                                                                       \
		check_case_bad = 0;                                                                \
		test();                                                                            \
		printf("%s %s\n", check_case_bad ? "FAIL" : "ok  ", #test);                        \
		if (check_case_bad)                                                                \
			check_failed++;                                                            \
		else                                                                               \
			check_passed++;                                                            \
	} while (0)

#define DONE() (printf("%d passed, %d failed\n", check_passed, check_failed), check_failed ? 1 : 0)

#endif /* CRUX_CHECK_H */
