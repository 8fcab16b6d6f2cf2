/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-profile: see crux-profile.h. Here: the samples and the detection; windows are in
 * profile-window.c.
 *
 * Place: model/core (C11). Depends on crux-base, crux-period.
 */
#include "crux-profile.h"

#include "period-private.h"
#include "profile-private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A sample that comes this share of an interval early is still taken: clocks are rounded. */
#define EARLY 1e-6
/* While a flow has not moved, so many times as many iterations are asked for. */
#define CAUTION 4

enum crux_status crux_profile_create(uint32_t n_flows, double interval_s, struct crux_profile **out,
				     struct crux_error *err)
{
	struct crux_profile *profile;

	if (!(interval_s > 0) || !isfinite(interval_s))
		return crux_fail(err, CRUX_RANGE, "a sample each %g s, more than 0 is needed",
				 interval_s);
	profile = crux_zeroed(1, sizeof(*profile));
	if (profile)
		profile->network = crux_zeroed(n_flows, sizeof(*profile->network));
	if (!profile || !profile->network) {
		crux_free(profile);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a profile of %u flows",
				 n_flows);
	}
	profile->n_flows = n_flows;
	profile->interval_s = interval_s;
	*out = profile;
	return CRUX_OK;
}

void crux_profile_destroy(struct crux_profile *profile)
{
	if (!profile)
		return;
	crux_free(profile->network);
	crux_free(profile->samples);
	crux_free(profile->bytes);
	crux_free(profile);
}

void crux_profile_set_network(struct crux_profile *profile, uint32_t flow)
{
	if (flow < profile->n_flows)
		profile->network[flow] = true;
}

double crux_profile_due_s(const struct crux_profile *profile)
{
	return profile->n ? profile->samples[profile->n - 1].now_s + profile->interval_s
			  : -INFINITY;
}

static enum crux_status fell(const char *what, double before, double now, struct crux_error *err)
{
	return crux_fail(err, CRUX_RANGE, "%s of a sample is %.17g after %.17g, it may not fall",
			 what, now, before);
}

static enum crux_status check_sample(const struct crux_profile *profile, double now_s,
				     const struct crux_profile_counters *counters,
				     struct crux_error *err)
{
	static const struct profile_sample zero;
	const struct profile_sample *last = profile->n ? &profile->samples[profile->n - 1] : &zero;
	const uint64_t *bytes =
		profile->n ? profile->bytes + ((size_t)profile->n - 1) * profile->n_flows : NULL;

	if (!isfinite(now_s) || (profile->n && now_s < last->now_s))
		return fell("time", last->now_s, now_s, err);
	if (!(counters->flop >= last->flop) || !isfinite(counters->flop))
		return fell("flop", last->flop, counters->flop, err);
	if (!(counters->busy_s >= last->busy_s) || !isfinite(counters->busy_s))
		return fell("busy_s", last->busy_s, counters->busy_s, err);
	if (!(counters->any_busy_s >= last->any_busy_s) || !isfinite(counters->any_busy_s))
		return fell("any_busy_s", last->any_busy_s, counters->any_busy_s, err);
	for (uint32_t f = 0; profile->n && f < profile->n_flows; f++)
		if (counters->flow_bytes[f] < bytes[f])
			return crux_fail(err, CRUX_RANGE,
					 "bytes of flow %u are %" PRIu64 " after %" PRIu64
					 ", they may not fall",
					 f, counters->flow_bytes[f], bytes[f]);
	return CRUX_OK;
}

/* Room for one sample more. */
static enum crux_status make_room(struct crux_profile *profile, struct crux_error *err)
{
	uint32_t cap = profile->cap ? 2 * profile->cap : 64;
	void *samples, *bytes;

	if (profile->n < profile->cap)
		return CRUX_OK;
	samples = crux_resize(profile->samples, cap, sizeof(*profile->samples));
	if (samples)
		profile->samples = samples;
	bytes = crux_resize(profile->bytes, (size_t)cap * profile->n_flows + 1,
			    sizeof(*profile->bytes));
	if (bytes)
		profile->bytes = bytes;
	if (!samples || !bytes)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u samples of %u flows", cap,
				 profile->n_flows);
	profile->cap = cap;
	return CRUX_OK;
}

/* Every second sample goes, the first stays. */
static void halve(struct crux_profile *profile)
{
	size_t width = profile->n_flows * sizeof(*profile->bytes);

	for (uint32_t i = 1; 2 * i < profile->n; i++) {
		profile->samples[i] = profile->samples[2 * i];
		if (width)
			memcpy(profile->bytes + (size_t)i * profile->n_flows,
			       profile->bytes + (size_t)2 * i * profile->n_flows, width);
	}
	profile->n = (profile->n + 1) / 2;
	profile->interval_s *= 2;
}

enum crux_status crux_profile_add(struct crux_profile *profile, double now_s,
				  const struct crux_profile_counters *counters,
				  struct crux_error *err)
{
	enum crux_status status = check_sample(profile, now_s, counters, err);

	if (status)
		return status;
	if (now_s < crux_profile_due_s(profile) - EARLY * profile->interval_s)
		return CRUX_OK;
	if (profile->n == CRUX_PROFILE_SAMPLES) {
		halve(profile);
		/* The last one went too: this one is due an interval after what is now the last. */
		if (now_s < crux_profile_due_s(profile) - EARLY * profile->interval_s)
			return CRUX_OK;
	}
	status = make_room(profile, err);
	if (status)
		return status;
	profile->samples[profile->n] = (struct profile_sample){
		now_s, counters->flop, counters->busy_s, counters->any_busy_s};
	if (profile->n_flows)
		memcpy(profile->bytes + (size_t)profile->n * profile->n_flows, counters->flow_bytes,
		       profile->n_flows * sizeof(*profile->bytes));
	profile->n++;
	return CRUX_OK;
}

double crux_profile_length_s(const struct crux_profile *profile)
{
	return profile->n < 2 ? 0
			      : profile->samples[profile->n - 1].now_s - profile->samples[0].now_s;
}

struct profile_place profile_find(const struct crux_profile *profile, double at_s)
{
	const struct profile_sample *s = profile->samples;
	uint32_t low = 0, high = profile->n - 1;

	if (at_s <= s[0].now_s)
		return (struct profile_place){0, 0};
	if (at_s >= s[high].now_s)
		return (struct profile_place){high - 1, 1};
	while (high - low > 1) { /* s[low] <= at < s[high] */
		uint32_t middle = low + (high - low) / 2;

		if (s[middle].now_s <= at_s)
			low = middle;
		else
			high = middle;
	}
	return (struct profile_place){low, (at_s - s[low].now_s) / (s[high].now_s - s[low].now_s)};
}

double profile_busy(const struct crux_profile *profile, struct profile_place place)
{
	const struct profile_sample *s = profile->samples + place.sample;

	return s[0].busy_s + place.share * (s[1].busy_s - s[0].busy_s);
}

double profile_any_busy(const struct crux_profile *profile, struct profile_place place)
{
	const struct profile_sample *s = profile->samples + place.sample;

	return s[0].any_busy_s + place.share * (s[1].any_busy_s - s[0].any_busy_s);
}

double profile_bytes(const struct crux_profile *profile, struct profile_place place, uint32_t flow)
{
	const uint64_t *b = profile->bytes + (size_t)place.sample * profile->n_flows + flow;

	return (double)b[0] + place.share * (double)(b[profile->n_flows] - b[0]);
}

void profile_grid_clear(struct profile_grid *grid)
{
	crux_free(grid->signal);
	crux_free(grid->activity);
}

enum crux_status profile_grid_create(const struct crux_profile *profile, double from_s, double dt_s,
				     uint32_t n, struct profile_grid *out, struct crux_error *err)
{
	struct profile_grid grid = {n, dt_s, from_s, NULL, NULL};
	struct profile_place before = profile_find(profile, from_s);

	grid.signal = crux_array((size_t)profile->n_flows * n + 1, sizeof(*grid.signal));
	grid.activity = crux_array(n, sizeof(*grid.activity));
	if (!grid.signal || !grid.activity) {
		profile_grid_clear(&grid);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u samples of %u flows", n,
				 profile->n_flows);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct profile_place behind = profile_find(profile, from_s + (i + 1) * dt_s);

		grid.activity[i] =
			fmax(0, profile_busy(profile, behind) - profile_busy(profile, before));
		for (uint32_t f = 0; f < profile->n_flows; f++)
			grid.signal[(size_t)f * n + i] =
				fmax(0, profile_bytes(profile, behind, f) -
						profile_bytes(profile, before, f));
		before = behind;
	}
	*out = grid;
	return CRUX_OK;
}

/* Flows that have moved since the first sample. */
static uint32_t count_moved(const struct crux_profile *profile)
{
	const uint64_t *last = profile->bytes + (size_t)(profile->n - 1) * profile->n_flows;
	uint32_t moved = 0;

	for (uint32_t f = 0; f < profile->n_flows; f++)
		moved += last[f] > profile->bytes[f];
	return moved;
}

/* The job began with the first sample. */
static bool from_begin(const struct crux_profile *profile)
{
	const struct profile_sample *first = profile->samples;
	bool zero = first->flop == 0 && first->busy_s == 0 && first->any_busy_s == 0;

	for (uint32_t f = 0; f < profile->n_flows; f++)
		zero = zero && profile->bytes[f] == 0;
	return zero;
}

enum crux_status crux_profile_detect(const struct crux_profile *profile, uint32_t least,
				     struct crux_period *out, struct crux_error *err)
{
	struct profile_grid grid;
	struct period_input in = {0};
	struct crux_period found;
	uint32_t moved;
	double dt_s;
	enum crux_status status;

	if (profile->n < 2 || !(crux_profile_length_s(profile) > 0))
		return crux_fail(err, CRUX_NOT_FOUND, "no period: %u samples", profile->n);
	dt_s = crux_profile_length_s(profile) / (profile->n - 1);
	status = profile_grid_create(profile, profile->samples[0].now_s, dt_s, profile->n - 1,
				     &grid, err);
	if (status)
		return status;
	moved = count_moved(profile);
	in.n = grid.n;
	in.signal = moved ? grid.signal : grid.activity;
	in.n_signals = moved ? profile->n_flows : 1;
	in.activity = grid.activity;
	in.from_begin = from_begin(profile);
	status = period_find(&in, dt_s, least, &found, err);
	profile_grid_clear(&grid);
	if (status)
		return status;
	if (moved && moved < profile->n_flows && found.count < (uint64_t)CAUTION * least)
		return crux_fail(err, CRUX_NOT_FOUND,
				 "no period: %u of %u flows have not moved yet in %u times %g s",
				 profile->n_flows - moved, profile->n_flows, found.count,
				 found.period_s);
	found.first_s += profile->samples[0].now_s;
	*out = found;
	return CRUX_OK;
}
