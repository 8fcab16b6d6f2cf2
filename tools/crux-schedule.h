/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-schedule: the kinds of problem that the program crux-schedule solves; one
 * function and one file (schedule-KIND.c) each.
 *
 * Place: tools (C11). Depends on libcrux, crux-json, jansson.
 *
 * A function reads the member `input` of the document (strictly: begin with
 * crux_json_root(input, "input"), so that messages have a line) and makes the
 * answer, an object that the caller owns. It must look at nothing else.
 */
#ifndef CRUX_SCHEDULE_H
#define CRUX_SCHEDULE_H

#include "crux-json.h"

/** The command line. */
struct schedule_args {
	const char *policy; /**< --policy; NULL: not given */
	uint64_t seed;	    /**< --seed; 1 when not given */
	bool seed_given;
	const char *file; /**< "-": standard input */
};

typedef enum crux_status (*schedule_function)(const json_t *input, const struct schedule_args *args,
					      json_t **answer, struct crux_error *err);

enum crux_status schedule_intensity(const json_t *input, const struct schedule_args *args,
				    json_t **answer, struct crux_error *err);
enum crux_status schedule_correction(const json_t *input, const struct schedule_args *args,
				     json_t **answer, struct crux_error *err);
enum crux_status schedule_paths(const json_t *input, const struct schedule_args *args,
				json_t **answer, struct crux_error *err);
enum crux_status schedule_compression(const json_t *input, const struct schedule_args *args,
				      json_t **answer, struct crux_error *err);
enum crux_status schedule_timeline(const json_t *input, const struct schedule_args *args,
				   json_t **answer, struct crux_error *err);
enum crux_status schedule_flowsim(const json_t *input, const struct schedule_args *args,
				  json_t **answer, struct crux_error *err);
enum crux_status schedule_plan(const json_t *input, const struct schedule_args *args,
			       json_t **answer, struct crux_error *err);

#endif /* CRUX_SCHEDULE_H */
