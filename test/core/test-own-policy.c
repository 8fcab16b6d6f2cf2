/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-own-policy: the worked example of doc/policies.md is the file compiled here, does what
 * the page says, and the page has a section for each policy of the registry.
 *
 * Place: test/core. Depends on libcrux, doc/policies.md, crux-policy-small-first.c.
 */
#include "crux-check.h"
#include "crux-clos-problem.h"
#include "crux-oom.h"
#include "crux-policy-small-first.c"

#ifndef CRUX_SOURCE_DIR
#define CRUX_SOURCE_DIR "."
#endif
#define ROOM 65536

static const char *text_of(const char *name, char *room)
{
	FILE *file = fopen(name, "r");
	size_t n = 0;

	if (!file)
		CHECK_FAIL("%s: cannot be read", name);
	else
		n = fread(room, 1, ROOM - 1, file);
	if (file)
		fclose(file);
	room[n] = '\0';
	CHECK(n > 0 && n < ROOM - 1);
	return room;
}

static void page_holds_the_file(void)
{
	static char page[ROOM], example[ROOM];

	text_of(CRUX_SOURCE_DIR "/doc/policies.md", page);
	text_of(CRUX_SOURCE_DIR "/test/core/crux-policy-small-first.c", example);
	CHECK(strstr(page, example) != NULL);
	CHECK_HAS(page, "\tX(small_first) ");
}

static void page_holds_the_registry(void)
{
	static char page[ROOM];
	uint32_t n;
	const struct crux_policy *const *all = crux_policy_list(&n);

	text_of(CRUX_SOURCE_DIR "/doc/policies.md", page);
	for (uint32_t i = 0; i < n; i++) {
		char heading[64];

		snprintf(heading, sizeof(heading), "\n## %s\n", all[i]->name);
		CHECK_HAS(page, heading);
	}
}

/*
 * Jobs of 16, 32, 8, 16 GPUs with ids 100, 107, 114, 121: order 114, 100, 121, 107. Four in
 * two levels: two and two.
 */
static void small_first(void)
{
	static const uint32_t gpus[] = {16, 32, 8, 16}, rank[] = {1, 3, 0, 2},
			      level[] = {0, 1, 0, 1};
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_rng rng;
	struct clos c;
	enum crux_status status;

	crux_options_default(&options);
	options.levels = 2;
	crux_rng_init(&rng, 91, 0);
	clos_make(&c, 3, 2, 12, 4, &rng);
	for (uint32_t j = 0; j < 4; j++)
		c.jobs[j].gpus = gpus[j];
	CHECK_U64(crux_policy_small_first.decide(&c.problem, &options, &plan, NULL), CRUX_OK);
	for (uint32_t j = 0; j < 4; j++) {
		CHECK_U64(plan->jobs[j].rank, rank[j]);
		CHECK_U64(plan->jobs[j].level, level[j]);
		CHECK_NEAR(plan->jobs[j].priority, -(double)gpus[j], 0);
	}
	CHECK_STR(plan->policy, "small-first");
	crux_plan_destroy(plan);
	plan = NULL;
	OOM_EVERY(status, crux_policy_small_first.decide(&c.problem, &options, &plan, NULL),
		  crux_plan_destroy(plan));
	c.jobs[0].gpus = 0;
	plan = NULL;
	CHECK_U64(crux_policy_small_first.decide(&c.problem, &options, &plan, NULL), CRUX_RANGE);
	CHECK(!plan);
	clos_free(&c);
}

int main(void)
{
	RUN(page_holds_the_file);
	RUN(page_holds_the_registry);
	RUN(small_first);
	return DONE();
}
