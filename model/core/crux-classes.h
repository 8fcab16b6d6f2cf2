/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-classes: the one table that maps a level to a traffic class, its DSCP and
 * its queue, and says which classes are lossless.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Class c is 802.1p priority c, queue c (7 is served first) and DSCP 8 c (class
 * selector). Default ("standard"): 7 control (CNP, ACK, daemons), 6 profiling,
 * 5 downwards the jobs' K <= 5 levels, 0 for TCP and UDP (lossy). "none": all
 * eight for jobs, as in the paper's simulation (section 6.3): level l is class
 * 7 - l, K <= 8; control shares class 7, TCP and UDP share class 0, which is
 * then lossless.
 */
#ifndef CRUX_CLASSES_H
#define CRUX_CLASSES_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_CLASSES 8

struct crux_class_map {
	uint8_t top;	    /**< class of level 0 */
	uint8_t max_levels; /**< most levels that fit */
	uint8_t control;    /**< class of CNP, ACK and the daemons' messages */
	uint8_t profiling; /**< class of a job that is measured; the highest, where none is reserved
			    */
	uint8_t lossless_mask; /**< bit c set: class c is lossless (PFC) */
};

/** @p reserved: "standard" or "none"; else CRUX_NOT_FOUND. */
enum crux_status crux_class_map_find(const char *reserved, struct crux_class_map *out,
				     struct crux_error *err);
/** The same, and CRUX_RANGE when @p levels jobs' levels do not fit. */
enum crux_status crux_class_map_for(const char *reserved, uint32_t levels,
				    struct crux_class_map *out, struct crux_error *err);
/** Class of a level; CRUX_RANGE when level >= max_levels. */
enum crux_status crux_class_of_level(const struct crux_class_map *map, uint32_t level, uint8_t *out,
				     struct crux_error *err);
/** DSCP of a class (0..56) and class of a DSCP (its upper three bits). */
uint8_t crux_dscp_of_class(uint8_t cls);
uint8_t crux_class_of_dscp(uint8_t dscp);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_CLASSES_H */
