/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-collstats: algorithm and bus bandwidth of the collectives that jobs ran.
 *
 * Place: model/core (C11). Depends on crux-base, crux-progsim, crux-scenario.
 *
 * An instance is one run of an operation by all ranks of its group in one iteration. It lasts from
 * the start of its last rank's part to the end of the last part (waiting for late ranks is not
 * communication). Algorithm bandwidth = S x repeat / time; bus bandwidth = that times
 * crux_coll_bus_factor() (crux-collective.h); on a ring it is at most the slowest link's rate.
 * Instances alike in (job, kind, algorithm, ranks, S, channels) make one row. Means are over
 * instances, of times; the bandwidths are those of the mean time, and of the shortest. Instances
 * that moved nothing (one rank, 0 bytes) or that a kill cut short are not counted.
 */
#ifndef CRUX_COLLSTATS_H
#define CRUX_COLLSTATS_H

#include "crux-base.h"
#include "crux-progsim.h"
#include "crux-scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_coll_row {
	uint32_t job;
	enum crux_coll_kind kind;
	enum crux_coll_alg alg;
	uint32_t ranks, channels;
	uint64_t bytes;	    /**< S */
	uint64_t instances; /**< >= 1; each of `repeat` collectives in a row counts */
	double mean_s;	    /**< of one collective */
	double algorithm_Bps, bus_Bps, best_bus_Bps; /**< bytes/s */
};

struct crux_collstats;

/** For one run of a scenario with programs. */
enum crux_status crux_collstats_create(const struct crux_scenario *scn, struct crux_collstats **out,
				       struct crux_error *err);
void crux_collstats_destroy(struct crux_collstats *stats);

/** A crux_part_sink's function; the context is the collstats. */
enum crux_status crux_collstats_part(void *stats, const struct crux_prog_part *part);

/** Rows with at least one instance, by job, kind, algorithm, ranks, bytes, channels. */
enum crux_status crux_collstats_rows(const struct crux_collstats *stats, struct crux_coll_row **out,
				     uint32_t *n, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_COLLSTATS_H */
