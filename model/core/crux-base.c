/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-base: see crux-base.h. Depends on the C library only.
 */
#include "crux-base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *crux_status_name(enum crux_status status)
{
	switch (status) {
#define CRUX_STATUS_CASE(name, number, text)                                                       \
	case CRUX_##name:                                                                          \
		return #name;
		CRUX_STATUS_MAP(CRUX_STATUS_CASE)
#undef CRUX_STATUS_CASE
	}
	return "?";
}

const char *crux_status_text(enum crux_status status)
{
	switch (status) {
#define CRUX_STATUS_CASE(name, number, text)                                                       \
	case CRUX_##name:                                                                          \
		return text;
		CRUX_STATUS_MAP(CRUX_STATUS_CASE)
#undef CRUX_STATUS_CASE
	}
	return "unknown status";
}

enum crux_status crux_fail(struct crux_error *err, enum crux_status status, const char *fmt, ...)
{
	if (err) {
		va_list args;

		err->status = status;
		va_start(args, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, args);
		va_end(args);
	}
	return status;
}

void crux_fail_prefix(struct crux_error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list args;
	int n;

	if (!err)
		return;
	memcpy(old, err->text, sizeof(old));
	va_start(args, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, "%.*s",
			 (int)(sizeof(err->text) - (size_t)n - 1), old);
}

static void *libc_resize(void *context, void *old, size_t bytes)
{
	(void)context;
	if (!bytes) {
		free(old);
		return NULL;
	}
	return realloc(old, bytes);
}

static const struct crux_allocator libc_allocator = {libc_resize, NULL};
static struct crux_allocator current_allocator = {libc_resize, NULL};

void crux_set_allocator(const struct crux_allocator *allocator)
{
	current_allocator = allocator ? *allocator : libc_allocator;
}

void *crux_resize(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return current_allocator.resize(current_allocator.context, old, bytes ? bytes : 1);
}

void *crux_array(size_t n, size_t size)
{
	return crux_resize(NULL, n, size);
}

void *crux_zeroed(size_t n, size_t size)
{
	void *p = crux_array(n, size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

void crux_free(void *p)
{
	if (p)
		current_allocator.resize(current_allocator.context, p, 0);
}

char *crux_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = crux_array(n, 1);

	if (copy)
		memcpy(copy, s, n);
	return copy;
}

enum crux_status crux_reserve(void **array, size_t *cap, size_t need, size_t size,
			      struct crux_error *err)
{
	size_t want = *cap ? *cap : 8;
	void *grown;

	if (need <= *cap)
		return CRUX_OK;
	while (want < need) {
		if (want > SIZE_MAX / 2)
			return crux_fail(err, CRUX_LIMIT, "an array of %zu items is too large",
					 need);
		want *= 2;
	}
	grown = crux_resize(*array, want, size);
	if (!grown)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu items of %zu bytes", want,
				 size);
	*array = grown;
	*cap = want;
	return CRUX_OK;
}

uint64_t crux_mix64(uint64_t x)
{
	/* Stafford's variant 13 of the murmur3 finaliser: a bijection on 64 bits. */
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x;
}

void crux_rng_init(struct crux_rng *rng, uint64_t seed, uint64_t stream)
{
	uint64_t x = crux_mix64(seed) ^ crux_mix64(~stream);
	int i;

	for (i = 0; i < 4; i++) {
		x += UINT64_C(0x9e3779b97f4a7c15);
		rng->s[i] = crux_mix64(x);
	}
}

static uint64_t rotate_left(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t crux_rng_next(struct crux_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t crux_rng_below(struct crux_rng *rng, uint64_t n)
{
	uint64_t biased = -n % n; /* 2^64 mod n: values below it would be too frequent */
	uint64_t x;

	do {
		x = crux_rng_next(rng);
	} while (x < biased);
	return x % n;
}

double crux_rng_real(struct crux_rng *rng)
{
	return (double)(crux_rng_next(rng) >> 11) * 0x1p-53;
}
