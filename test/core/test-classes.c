/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit tests of crux-classes: the level -> class -> DSCP table. Place: test/core.
 */
#include "crux-classes.h"

#include "crux-check.h"

static void standard_map(void)
{
	struct crux_class_map map;
	struct crux_error err;
	uint8_t cls = 99;

	CHECK_U64(crux_class_map_find("standard", &map, &err), CRUX_OK);
	/* Five levels, classes 5 down to 1; 7 control, 6 profiling, 0 lossy. */
	CHECK_U64(crux_class_of_level(&map, 0, &cls, &err), CRUX_OK);
	CHECK_U64(cls, 5);
	CHECK_U64(crux_class_of_level(&map, 4, &cls, &err), CRUX_OK);
	CHECK_U64(cls, 1);
	CHECK_U64(crux_class_of_level(&map, 5, &cls, &err), CRUX_RANGE);
	CHECK_U64(cls, 1);
	CHECK_HAS(err.text, "level 5");
	CHECK_U64(map.lossless_mask, 0xfe);
}

static void no_reservation(void)
{
	struct crux_class_map map;
	struct crux_error err;
	uint8_t cls = 99;

	CHECK_U64(crux_class_map_find("none", &map, &err), CRUX_OK);
	CHECK_U64(crux_class_of_level(&map, 7, &cls, &err), CRUX_OK);
	CHECK_U64(cls, 0);
	CHECK_U64(crux_class_of_level(&map, 8, &cls, &err), CRUX_RANGE);
	CHECK_U64(crux_class_map_find("some", &map, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "'some'");
}

static void dscp(void)
{
	uint8_t cls;

	/* Class selectors (RFC 2474): CS0 = 0, CS1 = 8, ... CS7 = 56; lower bits do not matter. */
	for (cls = 0; cls < CRUX_CLASSES; cls++) {
		CHECK_U64(crux_dscp_of_class(cls), 8u * cls);
		CHECK_U64(crux_class_of_dscp((uint8_t)(8 * cls + 7)), cls);
	}
}

int main(void)
{
	RUN(standard_map);
	RUN(no_reservation);
	RUN(dscp);
	return DONE();
}
