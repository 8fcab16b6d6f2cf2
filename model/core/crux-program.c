/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-program: building and checking what a job does in one iteration; see crux-program.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-collective.
 */
#include "crux-program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *crux_op_kind_name(enum crux_op_kind kind)
{
	switch (kind) {
	case CRUX_OP_COMPUTE:
		return "compute";
	case CRUX_OP_HOST:
		return "host";
	case CRUX_OP_COLLECTIVE:
		return "collective";
	case CRUX_OP_COPY:
		return "copy";
	}
	return "?";
}

enum crux_status crux_program_create(uint32_t n_ranks, struct crux_program **out,
				     struct crux_error *err)
{
	struct crux_program *program;

	if (!n_ranks)
		return crux_fail(err, CRUX_RANGE, "a program of 0 ranks: at least 1 is needed");
	program = crux_zeroed(1, sizeof(*program));
	if (!program)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a program");
	program->n_ranks = n_ranks;
	program->storage_host = CRUX_NONE;
	program->cpu_threads = 1;
	*out = program;
	return CRUX_OK;
}

void crux_program_destroy(struct crux_program *program)
{
	if (!program)
		return;
	crux_free(program->groups);
	crux_free(program->members);
	crux_free(program->ops);
	crux_free(program->deps);
	crux_free(program);
}

static enum crux_status too_many(const char *what, struct crux_error *err)
{
	return crux_fail(err, CRUX_LIMIT, "a program has more than 2^32 - 2 %s", what);
}

enum crux_status crux_program_add_group(struct crux_program *program, const uint32_t *ranks,
					uint32_t n, const char *name, uint32_t *out,
					struct crux_error *err)
{
	void *members = program->members, *groups = program->groups;
	struct crux_group *group;
	enum crux_status status;

	if (program->n_members + n >= CRUX_NONE || program->n_groups >= CRUX_NONE - 1)
		return too_many("members of groups", err);
	status = crux_reserve(&members, &program->cap_members, program->n_members + n,
			      sizeof(*program->members), err);
	program->members = members;
	if (!status)
		status = crux_reserve(&groups, &program->cap_groups, program->n_groups + 1u,
				      sizeof(*program->groups), err);
	program->groups = groups;
	if (status)
		return status;
	group = &program->groups[program->n_groups];
	memset(group, 0, sizeof(*group));
	group->first = (uint32_t)program->n_members;
	group->n = n;
	snprintf(group->name, sizeof(group->name), "%s", name);
	if (n)
		memcpy(program->members + program->n_members, ranks, n * sizeof(*ranks));
	program->n_members += n;
	*out = program->n_groups++;
	return CRUX_OK;
}

enum crux_status crux_program_add_op(struct crux_program *program, const struct crux_op *op,
				     const uint32_t *deps, uint32_t n_deps, uint32_t *out,
				     struct crux_error *err)
{
	void *all_deps = program->deps, *ops = program->ops;
	struct crux_op *added;
	enum crux_status status;

	if (program->n_deps + n_deps >= CRUX_NONE || program->n_ops >= CRUX_NONE - 1)
		return too_many("operations and dependencies", err);
	status = crux_reserve(&all_deps, &program->cap_deps, program->n_deps + n_deps,
			      sizeof(*program->deps), err);
	program->deps = all_deps;
	if (!status)
		status = crux_reserve(&ops, &program->cap_ops, program->n_ops + 1u,
				      sizeof(*program->ops), err);
	program->ops = ops;
	if (status)
		return status;
	added = &program->ops[program->n_ops];
	*added = *op;
	added->first_dep = (uint32_t)program->n_deps;
	added->n_deps = n_deps;
	if (n_deps)
		memcpy(program->deps + program->n_deps, deps, n_deps * sizeof(*deps));
	program->n_deps += n_deps;
	*out = program->n_ops++;
	return CRUX_OK;
}

static bool is_amount(double x)
{
	return isfinite(x) && x >= 0;
}

static enum crux_status check_head(const struct crux_program *program, struct crux_error *err)
{
	const struct {
		const char *what;
		double value;
	} amounts[] = {
		{"message latency", program->message_latency_s},
		{"CPU time of a message", program->message_cpu_s},
		{"interference", program->interference},
	};
	size_t i;

	if (!program->n_ranks)
		return crux_fail(err, CRUX_RANGE, "a program of 0 ranks: at least 1 is needed");
	if (!program->cpu_threads)
		return crux_fail(err, CRUX_RANGE,
				 "a program with 0 CPU threads: at least 1 is needed");
	for (i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
		if (!is_amount(amounts[i].value))
			return crux_fail(err, CRUX_RANGE, "%s: %g is not a finite number >= 0",
					 amounts[i].what, amounts[i].value);
	return CRUX_OK;
}

/* seen[r]: 1 + the last group that had rank r. */
static enum crux_status check_group(const struct crux_program *program, uint32_t number,
				    uint32_t *seen, struct crux_error *err)
{
	const struct crux_group *group = &program->groups[number];
	uint32_t i;

	if (!group->n)
		return crux_fail(err, CRUX_INVALID, "group %u (%.15s) has no ranks", number,
				 group->name);
	if (group->first > program->n_members || group->n > program->n_members - group->first)
		return crux_fail(err, CRUX_INVALID,
				 "group %u (%.15s): members %u to %llu, but there are %zu", number,
				 group->name, group->first,
				 (unsigned long long)group->first + group->n - 1,
				 program->n_members);
	for (i = 0; i < group->n; i++) {
		uint32_t rank = program->members[group->first + i];

		if (rank >= program->n_ranks)
			return crux_fail(err, CRUX_RANGE,
					 "group %u (%.15s): rank %u, but ranks are 0..%u", number,
					 group->name, rank, program->n_ranks - 1);
		if (seen[rank] == number + 1)
			return crux_fail(err, CRUX_DUPLICATE,
					 "group %u (%.15s): rank %u is in it twice", number,
					 group->name, rank);
		seen[rank] = number + 1;
	}
	return CRUX_OK;
}

/* "operation 7 (grad ar b2) ": the start of every complaint about it. */
#define OP_FAIL(status, fmt, ...)                                                                  \
	crux_fail(err, status, "operation %u (%.23s): " fmt, number, op->name, __VA_ARGS__)

static enum crux_status check_time(const struct crux_op *op, uint32_t number,
				   struct crux_error *err)
{
	if (!is_amount(op->seconds))
		return OP_FAIL(CRUX_RANGE, "%g seconds; a finite number >= 0 is needed",
			       op->seconds);
	if (!is_amount(op->flop))
		return OP_FAIL(CRUX_RANGE, "%g FLOP; a finite number >= 0 is needed", op->flop);
	return CRUX_OK;
}

static bool alg_fits(enum crux_coll_kind kind, enum crux_coll_alg alg)
{
	if (alg == CRUX_ALG_TREE)
		return kind == CRUX_ALL_REDUCE || kind == CRUX_BROADCAST;
	if (alg == CRUX_ALG_RING)
		return kind != CRUX_ALL_TO_ALL && kind != CRUX_SEND;
	return alg != CRUX_ALG_HIERARCHICAL || kind == CRUX_ALL_REDUCE;
}

static enum crux_status check_collective(const struct crux_op *op, uint32_t number, uint32_t n,
					 struct crux_error *err)
{
	uint64_t total;

	if ((unsigned)op->coll >= CRUX_N_COLL_KINDS)
		return OP_FAIL(CRUX_INVALID, "%u is no kind of collective", (unsigned)op->coll);
	if ((unsigned)op->alg > CRUX_ALG_HIERARCHICAL)
		return OP_FAIL(CRUX_INVALID, "%u is no algorithm", (unsigned)op->alg);
	if (!alg_fits(op->coll, op->alg))
		return OP_FAIL(CRUX_INVALID, "there is no %s algorithm for %s",
			       crux_coll_alg_name(op->alg), crux_coll_kind_name(op->coll));
	if (op->coll == CRUX_SEND && n % 2)
		return OP_FAIL(CRUX_INVALID,
			       "a send needs an even group, half senders; its group has %u", n);
	if (!op->repeat)
		return OP_FAIL(CRUX_RANGE, "repeat is %u; at least 1 is needed", op->repeat);
	if (!op->channels)
		return OP_FAIL(CRUX_RANGE, "channels are %u; at least 1 is needed", op->channels);
	/* No collective moves more than 2 S n bytes. */
	if (__builtin_mul_overflow(op->bytes, UINT64_C(2) * n, &total) ||
	    __builtin_mul_overflow(total, (uint64_t)op->repeat, &total))
		return OP_FAIL(CRUX_RANGE, "%llu bytes %u times in a group of %u: beyond 64 bits",
			       (unsigned long long)op->bytes, op->repeat, n);
	return CRUX_OK;
}

static enum crux_status check_deps(const struct crux_program *program, uint32_t number,
				   struct crux_error *err)
{
	const struct crux_op *op = &program->ops[number];
	uint32_t i;

	if (op->first_dep > program->n_deps || op->n_deps > program->n_deps - op->first_dep)
		return OP_FAIL(CRUX_INVALID, "%u dependencies from %u on, but there are %zu",
			       op->n_deps, op->first_dep, program->n_deps);
	for (i = 0; i < op->n_deps; i++)
		if (program->deps[op->first_dep + i] >= number)
			return OP_FAIL(CRUX_INVALID,
				       "depends on operation %u; only lower numbers are allowed",
				       program->deps[op->first_dep + i]);
	return CRUX_OK;
}

static enum crux_status check_op(const struct crux_program *program, uint32_t number,
				 struct crux_error *err)
{
	const struct crux_op *op = &program->ops[number];
	enum crux_status status = CRUX_OK;

	if (!memchr(op->name, 0, sizeof(op->name)))
		return crux_fail(err, CRUX_INVALID, "operation %u: its name has no end", number);
	if (op->group >= program->n_groups)
		return OP_FAIL(CRUX_RANGE, "group %u, but there are %u", op->group,
			       program->n_groups);
	if ((unsigned)op->traffic > CRUX_TRAFFIC_STORAGE)
		return OP_FAIL(CRUX_INVALID, "%u is no class of traffic", (unsigned)op->traffic);
	switch (op->kind) {
	case CRUX_OP_COMPUTE:
	case CRUX_OP_HOST:
		status = check_time(op, number, err);
		break;
	case CRUX_OP_COLLECTIVE:
		status = check_collective(op, number, program->groups[op->group].n, err);
		break;
	case CRUX_OP_COPY:
		if ((unsigned)op->direction > CRUX_COPY_FROM_GPU)
			status = OP_FAIL(CRUX_INVALID, "%u is no direction of a copy",
					 (unsigned)op->direction);
		break;
	default:
		return OP_FAIL(CRUX_INVALID, "%u is no kind of operation", (unsigned)op->kind);
	}
	return status ? status : check_deps(program, number, err);
}

enum crux_status crux_program_check(const struct crux_program *program, struct crux_error *err)
{
	enum crux_status status = check_head(program, err);
	uint32_t *seen, i;

	if (status)
		return status;
	seen = crux_zeroed(program->n_ranks, sizeof(*seen));
	if (!seen)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u ranks", program->n_ranks);
	for (i = 0; i < program->n_groups && !status; i++)
		status = check_group(program, i, seen, err);
	crux_free(seen);
	for (i = 0; i < program->n_ops && !status; i++)
		status = check_op(program, i, err);
	return status;
}

double crux_program_flop(const struct crux_program *program)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < program->n_ops; i++)
		if (program->ops[i].kind == CRUX_OP_COMPUTE || program->ops[i].kind == CRUX_OP_HOST)
			sum += program->ops[i].flop * program->groups[program->ops[i].group].n;
	return sum;
}

double crux_program_gpu_s(const struct crux_program *program)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < program->n_ops; i++)
		if (program->ops[i].kind == CRUX_OP_COMPUTE)
			sum += program->ops[i].seconds * program->groups[program->ops[i].group].n;
	return sum;
}

static enum crux_status check_simple(uint32_t n_ranks, double compute_s, double overlap_start,
				     double flop_per_rank, uint32_t channels,
				     struct crux_error *err)
{
	if (!n_ranks || n_ranks >= CRUX_NONE)
		return crux_fail(err, CRUX_RANGE, "%u ranks: 1 to 2^32 - 2 are possible", n_ranks);
	if (!is_amount(compute_s))
		return crux_fail(err, CRUX_RANGE,
				 "%g s of computation; a finite number >= 0 is needed", compute_s);
	if (!(overlap_start >= 0 && overlap_start <= 1))
		return crux_fail(err, CRUX_RANGE, "overlap start %g is not in 0..1", overlap_start);
	if (!is_amount(flop_per_rank))
		return crux_fail(err, CRUX_RANGE, "%g FLOP; a finite number >= 0 is needed",
				 flop_per_rank);
	if (!channels)
		return crux_fail(err, CRUX_RANGE, "0 channels; at least 1 is needed");
	return CRUX_OK;
}

static enum crux_status add_all(struct crux_program *program, struct crux_error *err)
{
	uint32_t *ranks = crux_array(program->n_ranks, sizeof(*ranks)), i, group;
	enum crux_status status;

	if (!ranks)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u ranks", program->n_ranks);
	for (i = 0; i < program->n_ranks; i++)
		ranks[i] = i;
	status = crux_program_add_group(program, ranks, program->n_ranks, "all", &group, err);
	crux_free(ranks);
	return status;
}

enum crux_status crux_program_simple(uint32_t n_ranks, double compute_s, double overlap_start,
				     double flop_per_rank, uint64_t bytes, uint32_t channels,
				     struct crux_program **out, struct crux_error *err)
{
	enum crux_status status =
		check_simple(n_ranks, compute_s, overlap_start, flop_per_rank, channels, err);
	struct crux_op compute = {.kind = CRUX_OP_COMPUTE};
	struct crux_op sync = {.kind = CRUX_OP_COLLECTIVE,
			       .name = "grad ar",
			       .coll = CRUX_ALL_REDUCE,
			       .alg = CRUX_ALG_HIERARCHICAL,
			       .bytes = bytes,
			       .repeat = 1,
			       .channels = channels};
	struct crux_program *program = NULL;
	uint32_t before = CRUX_NONE, after, number;

	if (!status)
		status = crux_program_create(n_ranks, &program, err);
	if (status)
		return status;
	status = add_all(program, err);
	/* The share before the first gradients, the rest, and the all-reduce beside the rest. */
	if (!status && overlap_start > 0) {
		snprintf(compute.name, sizeof(compute.name), "compute");
		compute.seconds = compute_s * overlap_start;
		compute.flop = flop_per_rank * overlap_start;
		status = crux_program_add_op(program, &compute, NULL, 0, &before, err);
	}
	if (!status && overlap_start < 1) {
		snprintf(compute.name, sizeof(compute.name), "compute rest");
		compute.seconds = compute_s - compute_s * overlap_start;
		compute.flop = flop_per_rank - flop_per_rank * overlap_start;
		status = crux_program_add_op(program, &compute, &before, before != CRUX_NONE,
					     &after, err);
	}
	if (!status && bytes && n_ranks > 1)
		status = crux_program_add_op(program, &sync, &before, before != CRUX_NONE, &number,
					     err);
	if (!status)
		status = crux_program_check(program, err);
	if (status) {
		crux_program_destroy(program);
		return status;
	}
	*out = program;
	return CRUX_OK;
}
