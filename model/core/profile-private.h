/* SPDX-License-Identifier: GPL-2.0-only
 *
 * profile-private: the samples of a profile, and what detection and windows share.
 *
 * Place: model/core (C11), private to crux-profile and profile-window. Depends on crux-profile.
 */
#ifndef PROFILE_PRIVATE_H
#define PROFILE_PRIVATE_H

#include "crux-profile.h"

struct profile_sample {
	double now_s, flop, busy_s, any_busy_s;
};

struct crux_profile {
	uint32_t n_flows;
	bool *network; /* [n_flows] */
	double interval_s;
	uint32_t n, cap;
	struct profile_sample *samples; /* [n] rising */
	uint64_t *bytes;		/* [n * n_flows] */
};

/** A time between samples: @p share of the way from one to the next. Two samples are needed. */
struct profile_place {
	uint32_t sample;
	double share;
};
struct profile_place profile_find(const struct crux_profile *profile, double at_s);
double profile_busy(const struct crux_profile *profile, struct profile_place place);
double profile_any_busy(const struct crux_profile *profile, struct profile_place place);
double profile_bytes(const struct crux_profile *profile, struct profile_place place, uint32_t flow);

/** What the counters grew by in each of n equal intervals from from_s on. */
struct profile_grid {
	uint32_t n;
	double dt_s, from_s;
	double *signal;	  /* [n_flows * n] bytes */
	double *activity; /* [n] of busy_s: it falls where GPUs wait for the slowest of all */
};
enum crux_status profile_grid_create(const struct crux_profile *profile, double from_s, double dt_s,
				     uint32_t n, struct profile_grid *out, struct crux_error *err);
void profile_grid_clear(struct profile_grid *grid);

#endif /* PROFILE_PRIVATE_H */
