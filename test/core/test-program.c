/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-program: building, every fault that the check names, sums, the simple form.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-program.h"

/* Ranks 0..3; groups {0, 1}, {2, 3}; a computation each, a send of 100 B, a copy on {2, 3}. */
static struct crux_program *sample(void)
{
	static const uint32_t ranks[4] = {0, 1, 2, 3};
	struct crux_op compute = {.kind = CRUX_OP_COMPUTE, .name = "fwd", .seconds = 2, .flop = 10};
	struct crux_op send = {.kind = CRUX_OP_COLLECTIVE,
			       .name = "send",
			       .coll = CRUX_SEND,
			       .bytes = 100,
			       .repeat = 1,
			       .channels = 1};
	struct crux_op copy = {.kind = CRUX_OP_COPY, .name = "swap", .bytes = 7};
	struct crux_program *p = NULL;
	uint32_t g[3], n[4];

	CHECK_U64(crux_program_create(4, &p, NULL), CRUX_OK);
	CHECK_U64(crux_program_add_group(p, ranks, 2, "a", &g[0], NULL), CRUX_OK);
	CHECK_U64(crux_program_add_group(p, ranks + 2, 2, "b", &g[1], NULL), CRUX_OK);
	CHECK_U64(crux_program_add_group(p, ranks, 4, "all", &g[2], NULL), CRUX_OK);
	compute.group = g[0];
	CHECK_U64(crux_program_add_op(p, &compute, NULL, 0, &n[0], NULL), CRUX_OK);
	compute.group = g[1];
	compute.seconds = 3;
	CHECK_U64(crux_program_add_op(p, &compute, NULL, 0, &n[1], NULL), CRUX_OK);
	send.group = g[2];
	CHECK_U64(crux_program_add_op(p, &send, n, 2, &n[2], NULL), CRUX_OK);
	copy.group = g[1];
	CHECK_U64(crux_program_add_op(p, &copy, &n[2], 1, &n[3], NULL), CRUX_OK);
	return p;
}

static void building(void)
{
	struct crux_program *p = sample();
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_program_check(p, &err), CRUX_OK);
	CHECK_U64(p->n_groups, 3);
	CHECK_U64(p->n_ops, 4);
	CHECK_U64(crux_program_ranks(p, 1)[0], 2);
	CHECK_U64(p->ops[2].n_deps, 2);
	CHECK_U64(p->deps[p->ops[3].first_dep], 2);
	CHECK_U64(p->storage_host, CRUX_NONE);
	/* Two ranks of 10 FLOP and two more; 2 x 2 s + 2 x 3 s. */
	CHECK_NEAR(crux_program_flop(p), 40, 1e-12);
	CHECK_NEAR(crux_program_gpu_s(p), 10, 1e-12);
	/* Host operations count as work, not as time of a GPU. */
	p->ops[0].kind = CRUX_OP_HOST;
	CHECK_NEAR(crux_program_flop(p), 40, 1e-12);
	CHECK_NEAR(crux_program_gpu_s(p), 6, 1e-12);
	CHECK_STR(crux_op_kind_name(CRUX_OP_HOST), "host");
	CHECK_STR(crux_op_kind_name((enum crux_op_kind)9), "?");
	crux_program_destroy(p);
	crux_program_destroy(NULL);
	CHECK_U64(crux_program_create(0, &p, &err), CRUX_RANGE);
}

/* One change to a sound program, the status and the words that the check must find for it. */
#define FAULT(change, status, words)                                                               \
	do {                                                                                       \
		struct crux_program *p = sample();                                                 \
		struct crux_error err = {CRUX_OK, ""};                                             \
		change;                                                                            \
		CHECK_U64(crux_program_check(p, &err), status);                                    \
		CHECK_HAS(err.text, words);                                                        \
		crux_program_destroy(p);                                                           \
	} while (0)

static void faults_of_groups(void)
{
	FAULT(p->members[3] = 4, CRUX_RANGE, "group 1 (b): rank 4, but ranks are 0..3");
	FAULT(p->members[3] = 2, CRUX_DUPLICATE, "group 1 (b): rank 2 is in it twice");
	FAULT(p->groups[0].n = 0, CRUX_INVALID, "group 0 (a) has no ranks");
	FAULT(p->groups[2].n = 5, CRUX_INVALID, "group 2 (all): members 4 to 8, but there are 8");
	FAULT(p->cpu_threads = 0, CRUX_RANGE, "0 CPU threads");
	FAULT(p->interference = -1, CRUX_RANGE, "interference: -1");
	FAULT(p->message_cpu_s = NAN, CRUX_RANGE, "CPU time of a message");
	FAULT(p->message_latency_s = INFINITY, CRUX_RANGE, "message latency: inf");
	/* The first fault is the one that is named. */
	FAULT((p->members[0] = 9, p->members[3] = 9), CRUX_RANGE, "group 0 (a)");
}

static void faults_of_operations(void)
{
	FAULT(p->ops[1].group = 3, CRUX_RANGE, "operation 1 (fwd): group 3, but there are 3");
	FAULT(p->ops[0].seconds = -0.5, CRUX_RANGE, "operation 0 (fwd): -0.5 seconds");
	FAULT(p->ops[0].flop = INFINITY, CRUX_RANGE, "inf FLOP");
	FAULT(p->ops[0].kind = (enum crux_op_kind)7, CRUX_INVALID, "7 is no kind of operation");
	FAULT(p->ops[2].coll = (enum crux_coll_kind)6, CRUX_INVALID, "6 is no kind of collective");
	FAULT(p->ops[2].alg = (enum crux_coll_alg)5, CRUX_INVALID, "5 is no algorithm");
	FAULT(p->ops[2].alg = CRUX_ALG_TREE, CRUX_INVALID, "no tree algorithm for send");
	FAULT((p->ops[2].coll = CRUX_ALL_GATHER, p->ops[2].alg = CRUX_ALG_HIERARCHICAL),
	      CRUX_INVALID, "no hierarchical algorithm for all-gather");
	FAULT(p->groups[2].n = 3, CRUX_INVALID, "even group, half senders; its group has 3");
	FAULT(p->ops[2].repeat = 0, CRUX_RANGE, "repeat is 0");
	FAULT(p->ops[2].channels = 0, CRUX_RANGE, "channels are 0");
	/* 2 x 4 x 2^61 is 2^64. */
	FAULT(p->ops[2].bytes = UINT64_C(1) << 61, CRUX_RANGE, "beyond 64 bits");
	FAULT(p->ops[3].direction = (enum crux_copy_direction)2, CRUX_INVALID, "direction");
	FAULT(p->ops[3].traffic = (enum crux_traffic)2, CRUX_INVALID, "class of traffic");
	FAULT(p->deps[0] = 2, CRUX_INVALID,
	      "operation 2 (send): depends on operation 2; only lower numbers are allowed");
	FAULT(p->ops[3].n_deps = 2, CRUX_INVALID, "2 dependencies from 2 on, but there are 3");
	FAULT(memset(p->ops[0].name, 'x', sizeof(p->ops[0].name)), CRUX_INVALID,
	      "operation 0: its name has no end");
}

static struct crux_program *simple(double overlap, uint32_t ranks, uint64_t bytes)
{
	struct crux_program *p = NULL;
	struct crux_error err = {CRUX_OK, ""};

	if (crux_program_simple(ranks, 2, overlap, 5, bytes, 4, &p, &err))
		CHECK_FAIL("%s", err.text);
	return p;
}

static void the_simple_form(void)
{
	struct crux_program *p = simple(0.25, 8, 1000);

	/* 0.5 s, then 1.5 s beside the all-reduce; 8 ranks of 5 FLOP and 2 s. */
	CHECK_U64(p->n_ops, 3);
	CHECK_NEAR(p->ops[0].seconds, 0.5, 1e-15);
	CHECK_NEAR(p->ops[1].seconds, 1.5, 1e-15);
	CHECK_U64(p->ops[2].kind, CRUX_OP_COLLECTIVE);
	CHECK_U64(p->ops[2].bytes, 1000);
	CHECK_U64(p->ops[2].channels, 4);
	CHECK_U64(p->ops[2].alg, CRUX_ALG_HIERARCHICAL);
	CHECK_U64(p->ops[2].n_deps, 1);
	CHECK_U64(p->deps[p->ops[2].first_dep], 0);
	CHECK_NEAR(crux_program_flop(p), 40, 1e-12);
	CHECK_NEAR(crux_program_gpu_s(p), 16, 1e-12);
	crux_program_destroy(p);
	p = simple(0, 8, 1000); /* from the start on: no dependency */
	CHECK_U64(p->n_ops, 2);
	CHECK_U64(p->ops[1].n_deps, 0);
	crux_program_destroy(p);
	p = simple(1, 8, 1000); /* after all of the computation */
	CHECK_U64(p->n_ops, 2);
	CHECK_U64(p->ops[1].n_deps, 1);
	crux_program_destroy(p);
	p = simple(1, 1, 1000); /* nobody to talk to */
	CHECK_U64(p->n_ops, 1);
	crux_program_destroy(p);
}

static void faults_of_the_simple_form(void)
{
	struct crux_program *p = NULL;
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_program_simple(0, 1, 0, 1, 1, 1, &p, &err), CRUX_RANGE);
	CHECK_U64(crux_program_simple(2, -1, 0, 1, 1, 1, &p, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "-1 s of computation");
	CHECK_U64(crux_program_simple(2, 1, 1.5, 1, 1, 1, &p, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "overlap start 1.5");
	CHECK_U64(crux_program_simple(2, 1, NAN, 1, 1, 1, &p, &err), CRUX_RANGE);
	CHECK_U64(crux_program_simple(2, 1, 0, NAN, 1, 1, &p, &err), CRUX_RANGE);
	CHECK_U64(crux_program_simple(2, 1, 0, 1, 1, 0, &p, &err), CRUX_RANGE);
	CHECK_U64(crux_program_simple(2, 1, 0, 1, UINT64_MAX, 1, &p, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "beyond 64 bits");
	CHECK(!p);
}

static void out_of_memory(void)
{
	struct crux_program *p = NULL;
	struct crux_error err = {CRUX_OK, ""};
	enum crux_status status;

	OOM_EVERY(status, crux_program_simple(16, 1, 0.5, 1, 100, 1, &p, &err),
		  crux_program_destroy(p));
	CHECK_U64(status, CRUX_OK);
}

int main(void)
{
	RUN(building);
	RUN(faults_of_groups);
	RUN(faults_of_operations);
	RUN(the_simple_form);
	RUN(faults_of_the_simple_form);
	RUN(out_of_memory);
	return DONE();
}
