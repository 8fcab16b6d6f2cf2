/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracesim-memo: rates by sets that have been before, bit for bit against the solver that
 * follows every change, and what of them is told. Depends on libcrux (private headers).
 */
#include "rates-rig.h"
#include "tracesim-memo.h"

#define JOBS 4
#define EACH (FLOWS / JOBS)

/* The same flows twice: with a memo, and as they are. */
struct pair {
	struct rates_case with, plain;
	struct rate_memo memo;
	void *memory;
	uint32_t n_jobs;
	uint64_t told[FLOWS]; /* what somebody knows who only listens to what changed */
};

/* Apart: two jobs on one half of the links, two on the other; else flows anywhere. */
static void begin(struct pair *p, struct crux_rng *rng, bool apart)
{
	size_t bytes;

	memset(p, 0, sizeof(*p));
	make(&p->with, rng);
	for (uint32_t f = 0; apart && f < FLOWS; f++) {
		/* Jobs 0 and 1 on links 0 to 3, jobs 2 and 3 on links 4 to 7. */
		for (uint32_t i = 0; i < p->with.n[f]; i++)
			p->with.link[f][i] = (f / EACH < 2 ? 0 : 4) + (f + i) % 4;
	}
	if (apart) {
		crux_free(p->with.memory);
		equip(&p->with);
	}
	p->plain = p->with;
	equip(&p->plain);
	p->n_jobs = JOBS;
	bytes = memo_layout(&p->memo, NULL, &p->with.r, p->n_jobs);
	p->memory = crux_zeroed(bytes, 1);
	CHECK(p->memory != NULL);
	memo_layout(&p->memo, p->memory, &p->with.r, p->n_jobs);
	p->memo.first = 64;
	for (uint32_t j = 0; j < JOBS; j++)
		memo_job(&p->memo, j, j * EACH, EACH);
}

static void end(struct pair *p)
{
	memo_clear(&p->memo);
	crux_free(p->memory);
	crux_free(p->with.memory);
	crux_free(p->plain.memory);
}

static void flip(struct pair *p, uint32_t f)
{
	bool on = !p->with.active[f];

	p->with.active[f] = on;
	p->told[f] = 0;
	if (on) {
		memo_start(&p->memo, f);
		rates_start(&p->plain.r, f);
	} else {
		memo_stop(&p->memo, f);
		rates_stop(&p->plain.r, f);
	}
}

static void solve(struct pair *p)
{
	uint32_t n = memo_solve(&p->memo);

	rates_solve(&p->plain.r);
	for (uint32_t i = 0; i < n; i++)
		p->told[p->memo.changed[i]] = memo_rate(&p->memo, p->memo.changed[i]);
	for (uint32_t f = 0; f < FLOWS; f++) {
		CHECK_U64(memo_rate(&p->memo, f), p->plain.r.rate[f]);
		CHECK_U64(p->told[f], p->plain.r.rate[f]);
	}
}

/*
 * Whole jobs start and flows stop one after the other in one order, as in iterations: few sets.
 * From the 65th solve on the table is asked, and finds most: a job alone makes EACH sets with
 * flows, two jobs that meet (EACH + 1)^2 - 1, two pairs apart twice that.
 */
static void iterations(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 17, 0);
	for (int round = 0; round < 40 && check_case_bad < 20; round++) {
		uint32_t left[JOBS] = {0};
		struct pair p;

		begin(&p, &rng, true);
		for (int i = 0; i < 3000; i++) {
			uint32_t j = (uint32_t)crux_rng_below(&rng, JOBS);

			if (left[j])
				flip(&p, j * EACH + --left[j]);
			else
				for (left[j] = 0; left[j] < EACH;)
					flip(&p, j * EACH + left[j]++);
			if (crux_rng_below(&rng, 4))
				solve(&p);
		}
		CHECK(p.memo.on);
		CHECK(p.memo.entries <= 2 * ((EACH + 1) * (EACH + 1) - 1));
		CHECK(p.memo.asked - p.memo.found <= p.memo.entries);
		CHECK(p.memo.found > 1000);
		end(&p);
	}
}

/* Any of 2^20 sets: hardly one comes back, and after three windows the table is given up. */
static void no_sets_come_back(void)
{
	struct crux_rng rng;
	struct pair p;
	int solves = 0;

	crux_rng_init(&rng, 18, 0);
	begin(&p, &rng, false);
	while (!p.memo.given_up && solves < 40000 && check_case_bad < 20) {
		for (uint64_t i = 1 + crux_rng_below(&rng, 5); i > 0; i--)
			flip(&p, (uint32_t)crux_rng_below(&rng, FLOWS));
		solve(&p);
		solves++;
	}
	CHECK(p.memo.given_up);
	CHECK(!p.memo.on);
	/* A solve asks for each of the clusters that changed, JOBS at most. */
	CHECK(solves >= 64 + 3 * 8192 / JOBS);
	for (int i = 0; i < 200; i++) {
		flip(&p, (uint32_t)crux_rng_below(&rng, FLOWS));
		solve(&p);
	}
	end(&p);
}

/* Two new sets a round, of which the table has room for 2^13: it is full now and then. */
static void full(void)
{
	struct crux_rng rng;
	struct pair p;
	uint32_t emptied = 0, entries = 0;

	crux_rng_init(&rng, 19, 0);
	begin(&p, &rng, false);
	for (int i = 0; i < 9000 && check_case_bad < 20; i++) {
		flip(&p, (uint32_t)crux_rng_below(&rng, FLOWS));
		solve(&p);
		/* There and back twice: three sets of five are found. */
		for (int back = 0; back < 4; back++) {
			flip(&p, 0);
			solve(&p);
		}
		emptied += p.memo.entries < entries;
		entries = p.memo.entries;
	}
	CHECK(p.memo.on);
	CHECK(emptied > 0);
	end(&p);
}

/* More jobs than a word has bits: never a table, the same rates. */
static void many_jobs(void)
{
	struct crux_rng rng;
	struct pair p;

	crux_rng_init(&rng, 20, 0);
	begin(&p, &rng, false);
	p.memo.given_up = true; /* as memo_layout() says of 65 jobs */
	for (int i = 0; i < 300; i++) {
		flip(&p, (uint32_t)crux_rng_below(&rng, FLOWS));
		solve(&p);
	}
	CHECK(!p.memo.on);
	memo_layout(&p.memo, NULL, &p.with.r, 64);
	CHECK(!p.memo.given_up);
	memo_layout(&p.memo, NULL, &p.with.r, 65);
	CHECK(p.memo.given_up);
	end(&p);
}

int main(void)
{
	RUN(iterations);
	RUN(no_sets_come_back);
	RUN(full);
	RUN(many_jobs);
	return DONE();
}
