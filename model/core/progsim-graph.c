/* SPDX-License-Identifier: GPL-2.0-only
 *
 * progsim-graph: the parts of a program's operations, and which waits for which; see
 * crux-program.h and progsim-private.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-program.
 */
#include "progsim-private.h"

/* Groups of each rank, rising, with its place in them. */
struct places {
	uint32_t *first; /* [n_ranks + 1] */
	struct {
		uint32_t group, place;
	} * all;
	uint32_t *last; /* [n_groups] the latest collective of a group so far, CRUX_NONE */
};

static void places_free(struct places *p)
{
	crux_free(p->first);
	crux_free(p->all);
	crux_free(p->last);
}

static enum crux_status places_init(struct places *p, const struct crux_program *program,
				    struct crux_error *err)
{
	uint32_t n = program->n_ranks;

	p->first = crux_zeroed((size_t)n + 1, sizeof(*p->first));
	p->all = crux_array(program->n_members, sizeof(*p->all));
	p->last = crux_array(program->n_groups, sizeof(*p->last));
	if (!p->first || !p->all || !p->last) {
		places_free(p);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u groups", program->n_groups);
	}
	for (size_t m = 0; m < program->n_members; m++)
		p->first[program->members[m] + 1]++;
	for (uint32_t r = 0; r < n; r++)
		p->first[r + 1] += p->first[r];
	for (uint32_t g = 0; g < program->n_groups; g++)
		for (uint32_t i = 0; i < program->groups[g].n; i++) {
			uint32_t at = p->first[crux_program_ranks(program, g)[i]]++;

			p->all[at].group = g;
			p->all[at].place = i;
		}
	for (uint32_t r = n; r-- > 0;)
		p->first[r + 1] = p->first[r];
	p->first[0] = 0;
	return CRUX_OK;
}

/* Place of a rank in a group, or CRUX_NONE. */
static uint32_t place_of(const struct places *p, uint32_t rank, uint32_t group)
{
	uint32_t low = p->first[rank], high = p->first[rank + 1];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->all[mid].group < group)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->first[rank + 1] && p->all[low].group == group ? p->all[low].place
								      : CRUX_NONE;
}

/* Part `to` waits for part `from`: counted in the first pass, written in the second. */
static void edge(struct ps_job *j, uint32_t from, uint32_t to)
{
	if (!j->next) {
		j->first_next[from + 1]++;
		j->needs[to]++;
	} else {
		j->next[j->first_next[from]++] = to;
	}
}

/* The parts of op wait for those of the same ranks in dep. */
static void op_edges(struct ps_job *j, const struct places *p, uint32_t op, uint32_t dep)
{
	const struct crux_program *program = j->program;
	uint32_t a = program->ops[op].group, b = program->ops[dep].group, small, large;
	const uint32_t *ranks;

	if (a == b) {
		for (uint32_t i = 0; i < program->groups[a].n; i++)
			edge(j, j->first_part[dep] + i, j->first_part[op] + i);
		return;
	}
	small = program->groups[a].n <= program->groups[b].n ? a : b;
	large = small == a ? b : a;
	ranks = crux_program_ranks(program, small);
	for (uint32_t i = 0; i < program->groups[small].n; i++) {
		uint32_t k = place_of(p, ranks[i], large);

		if (k == CRUX_NONE)
			continue;
		edge(j, j->first_part[dep] + (small == b ? i : k),
		     j->first_part[op] + (small == a ? i : k));
	}
}

static void edges(struct ps_job *j, struct places *p)
{
	const struct crux_program *program = j->program;

	for (uint32_t g = 0; g < program->n_groups; g++)
		p->last[g] = CRUX_NONE;
	for (uint32_t o = 0; o < program->n_ops; o++) {
		const struct crux_op *op = &program->ops[o];

		for (uint32_t d = 0; d < op->n_deps; d++)
			op_edges(j, p, o, program->deps[op->first_dep + d]);
		if (op->kind != CRUX_OP_COLLECTIVE)
			continue;
		if (p->last[op->group] != CRUX_NONE)
			op_edges(j, p, o, p->last[op->group]);
		p->last[op->group] = o;
	}
}

/* Numbers that do not fit in 32 bits are refused. */
static enum crux_status count_parts(struct ps_job *j, struct crux_error *err)
{
	const struct crux_program *program = j->program;
	uint64_t parts = 0;

	for (uint32_t o = 0; o < program->n_ops; o++)
		parts += program->groups[program->ops[o].group].n;
	if (parts >= CRUX_NONE)
		return crux_fail(err, CRUX_LIMIT, "job %s: %llu parts of operations: 2^32",
				 j->job->name, (unsigned long long)parts);
	j->n_parts = (uint32_t)parts;
	j->first_part = crux_array((size_t)program->n_ops + 1, sizeof(*j->first_part));
	j->part_op = crux_array(parts, sizeof(*j->part_op));
	j->needs = crux_zeroed(parts, sizeof(*j->needs));
	j->first_next = crux_zeroed(parts + 1, sizeof(*j->first_next));
	if (!j->first_part || !j->part_op || !j->needs || !j->first_next)
		return crux_fail(err, CRUX_NOMEM, "job %s: out of memory for %u parts",
				 j->job->name, j->n_parts);
	j->first_part[0] = 0;
	for (uint32_t o = 0; o < program->n_ops; o++) {
		uint32_t n = program->groups[program->ops[o].group].n;

		j->first_part[o + 1] = j->first_part[o] + n;
		for (uint32_t i = 0; i < n; i++)
			j->part_op[j->first_part[o] + i] = o;
	}
	return CRUX_OK;
}

/* From counts in [part + 1] to first places. */
static enum crux_status sum_edges(struct ps_job *j, struct crux_error *err)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < j->n_parts; p++) {
		n += j->first_next[p + 1];
		if (n >= CRUX_NONE)
			return crux_fail(err, CRUX_LIMIT, "job %s: 2^32 dependencies of parts",
					 j->job->name);
		j->first_next[p + 1] = (uint32_t)n;
	}
	j->next = crux_array(n, sizeof(*j->next));
	if (!j->next)
		return crux_fail(err, CRUX_NOMEM, "job %s: out of memory for %llu dependencies",
				 j->job->name, (unsigned long long)n);
	return CRUX_OK;
}

enum crux_status ps_graph(struct ps_job *j, struct crux_error *err)
{
	struct places p = {0};
	enum crux_status status = count_parts(j, err);

	if (status == CRUX_OK)
		status = places_init(&p, j->program, err);
	if (status != CRUX_OK)
		return status;
	edges(j, &p);
	status = sum_edges(j, err);
	if (status == CRUX_OK) {
		edges(j, &p);
		for (uint32_t part = j->n_parts; part-- > 0;)
			j->first_next[part + 1] = j->first_next[part];
		j->first_next[0] = 0;
	}
	places_free(&p);
	return status;
}
