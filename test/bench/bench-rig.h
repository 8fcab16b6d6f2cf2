/* SPDX-License-Identifier: GPL-2.0-only
 *
 * bench-rig: processor time, medians, memory, and the end of a program that cannot go on.
 *
 * Place: test/bench. Depends on crux-base. Included once by a program, which defines BENCH, its
 * name, and _POSIX_C_SOURCE 200809L before any include.
 */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "crux-base.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static struct crux_error err;

static inline void
must(enum crux_status status)
{
    if (status == CRUX_OK)
        return;
    fprintf(stderr, "%s: %s\n", BENCH, err.text);
    exit((int)status);
}

/* Processor time of this process. */
static inline double
processor_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double
now_ms(void)
{
    return 1e3 * processor_s();
}

static inline int
bench_rising(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;

    return (x > y) - (x < y);
}

/* Sorts them. */
static inline double
median(double* values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), bench_rising);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Most memory that this process has had. */
static inline double
peak_mib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

#endif /* BENCH_RIG_H */
