/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-classes: see crux-classes.h. Depends on crux-base.
 */
#include "crux-classes.h"

#include <string.h>

enum crux_status crux_class_map_find(const char *reserved, struct crux_class_map *out,
				     struct crux_error *err)
{
	if (!strcmp(reserved, "standard")) {
		*out = (struct crux_class_map){.top = 5,
					       .max_levels = 5,
					       .control = 7,
					       .profiling = 6,
					       .lossless_mask = 0xfe};
		return CRUX_OK;
	}
	if (!strcmp(reserved, "none")) {
		*out = (struct crux_class_map){.top = 7,
					       .max_levels = 8,
					       .control = 7,
					       .profiling = 7,
					       .lossless_mask = 0xff};
		return CRUX_OK;
	}
	return crux_fail(err, CRUX_NOT_FOUND,
			 "reserved classes '%s' are not known: expected 'standard' or 'none'",
			 reserved);
}

enum crux_status crux_class_map_for(const char *reserved, uint32_t levels,
				    struct crux_class_map *out, struct crux_error *err)
{
	struct crux_class_map map;
	enum crux_status status = crux_class_map_find(reserved, &map, err);

	if (status)
		return status;
	if (levels > map.max_levels)
		return crux_fail(err, CRUX_RANGE,
				 "%u levels asked, but reserved classes '%s' leave %u", levels,
				 reserved, map.max_levels);
	*out = map;
	return CRUX_OK;
}

enum crux_status crux_class_of_level(const struct crux_class_map *map, uint32_t level, uint8_t *out,
				     struct crux_error *err)
{
	if (level >= map->max_levels)
		return crux_fail(err, CRUX_RANGE,
				 "level %u does not fit: these reserved classes leave %u levels",
				 level, map->max_levels);
	*out = (uint8_t)(map->top - level);
	return CRUX_OK;
}

uint8_t crux_dscp_of_class(uint8_t cls)
{
	return (uint8_t)(cls << 3);
}

uint8_t crux_class_of_dscp(uint8_t dscp)
{
	return (uint8_t)((dscp >> 3) & 7);
}
