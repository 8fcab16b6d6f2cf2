/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-cassini: circles, rotation and score of one link; see crux-cassini.h.
 * Depends on crux-base.
 */
#include "crux-cassini.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST	 100000
#define SAME	 1e-9 /* of an angle's capacity, times the number of angles: equal scores */
#define ROUNDS	 8
#define PER_TURN 16

void crux_cassini_params_default(struct crux_cassini_params *params)
{
	params->quantum_s = 1e-3;
	params->max_perimeter = 720;
	params->min_angles = 72;
}

static enum crux_status check_params(const struct crux_cassini_params *params,
				     struct crux_error *err)
{
	if (!(params->quantum_s > 0) || !isfinite(params->quantum_s))
		return crux_fail(err, CRUX_RANGE, "cassini: a quantum of %g s is not above 0",
				 params->quantum_s);
	if (!params->max_perimeter || params->max_perimeter > MOST)
		return crux_fail(err, CRUX_RANGE, "cassini: a perimeter of %u quanta: not in 1..%d",
				 params->max_perimeter, MOST);
	if (!params->min_angles || params->min_angles > MOST)
		return crux_fail(err, CRUX_RANGE, "cassini: %u angles: not in 1..%d",
				 params->min_angles, MOST);
	return CRUX_OK;
}

static enum crux_status check_arc(const struct crux_cassini_arc *arc, uint32_t i,
				  struct crux_error *err)
{
	if (!(arc->iteration_s > 0) || !isfinite(arc->iteration_s))
		return crux_fail(err, CRUX_RANGE, "arc %u: an iteration of %g s is not above 0", i,
				 arc->iteration_s);
	if (!(arc->start_s >= 0) || !(arc->duration_s >= 0) ||
	    !(arc->start_s + arc->duration_s <= arc->iteration_s * (1 + SAME)))
		return crux_fail(err, CRUX_RANGE, "arc %u: %g s + %g s is not within %g s", i,
				 arc->start_s, arc->duration_s, arc->iteration_s);
	if (!(arc->bps >= 0) || !isfinite(arc->bps))
		return crux_fail(err, CRUX_RANGE, "arc %u: %g bit/s is not >= 0", i, arc->bps);
	if (arc->fixed && !(arc->shift_s >= 0 && arc->shift_s <= arc->iteration_s))
		return crux_fail(err, CRUX_RANGE, "arc %u: a shift of %g s is not within %g s", i,
				 arc->shift_s, arc->iteration_s);
	return CRUX_OK;
}

/* T / q rounded, at least 1; more than `most`: 0. */
static uint32_t in_quanta(double iteration_s, double quantum_s, uint32_t most)
{
	double n = floor(iteration_s / quantum_s + 0.5);

	if (n > most)
		return 0;
	return n < 1 ? 1 : (uint32_t)n;
}

/* lcm of the iterations in quanta, 0 when beyond `most`. */
static uint32_t common(const struct crux_cassini_arc *arcs, uint32_t n, double quantum_s,
		       uint32_t most)
{
	uint64_t lcm = 1;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t b = in_quanta(arcs[i].iteration_s, quantum_s, most), x = lcm, y = b;

		while (y) {
			uint64_t r = x % y;

			x = y;
			y = r;
		}
		lcm = lcm / x * b;
		if (!b || lcm > most)
			return 0;
	}
	return (uint32_t)lcm;
}

enum crux_status crux_cassini_circle_of(const struct crux_cassini_params *params,
					const struct crux_cassini_arc *arcs, uint32_t n,
					struct crux_cassini_circle *circle, uint32_t *quanta,
					struct crux_error *err)
{
	enum crux_status status = check_params(params, err);
	double shortest = INFINITY, q;
	uint32_t perimeter;

	for (uint32_t i = 0; i < n && status == CRUX_OK; i++) {
		status = check_arc(&arcs[i], i, err);
		shortest = fmin(shortest, arcs[i].iteration_s);
	}
	if (status != CRUX_OK)
		return status;
	q = fmax(fmin(params->quantum_s, shortest / PER_TURN), DBL_MIN);
	while (!(perimeter = common(arcs, n, q, params->max_perimeter)))
		q *= 2;
	for (uint32_t i = 0; i < n && quanta; i++)
		quanta[i] = in_quanta(arcs[i].iteration_s, q, params->max_perimeter);
	*circle = (struct crux_cassini_circle){
		.quantum_s = q,
		.perimeter = perimeter,
		.angles = perimeter * ((params->min_angles + perimeter - 1) / perimeter),
	};
	return CRUX_OK;
}

/* A job's arc in angles of its own turn, in shares of the capacity. */
struct turn {
	uint32_t angles;       /* of one iteration */
	double begin, end;     /* 0 <= begin <= end <= angles */
	double share;	       /* rate / capacity */
	double offset;	       /* where it begins, in angles after the origin */
	uint32_t best, chosen; /* rotations of those that are free */
};

struct link {
	struct crux_cassini_circle circle;
	uint32_t n, n_free;
	uint32_t *quanta; /* [n] */
	struct turn *turns;
	uint32_t *free;	     /* [n_free] numbers of turns, by id; the search's order */
	double *base;	     /* [angles] sum of those placed */
	double *fold[3];     /* [2 x angles] added excess: first, whole and last angle of an arc */
	double least;	     /* excess of the best combination, in angle-capacities */
	double found_excess; /* of best_rotation() */
};

/* Add the arc, `offset` angles after the origin and once more each turn, to base. */
static void add_turn(double *base, uint32_t angles, const struct turn *t, double offset,
		     double sign)
{
	double a = offset + t->begin, b = offset + t->end;
	uint64_t first = (uint64_t)floor(a), last = (uint64_t)ceil(b);

	for (uint32_t turn = 0; turn < angles; turn += t->angles)
		for (uint64_t i = first; i < last; i++) {
			double part = fmin((double)i + 1, b) - fmax((double)i, a);

			if (part > 0)
				base[(turn + i) % angles] += sign * part * t->share;
		}
}

static double over(double demand)
{
	return demand > 1 ? demand - 1 : 0;
}

static double excess(const struct link *l)
{
	double sum = 0;

	for (uint32_t a = 0; a < l->circle.angles; a++)
		sum += over(l->base[a]);
	return sum;
}

/*
 * fold[k][p] = what demand v_k adds to the excess when it lies on angle p of each turn;
 * whole angles as prefix sums over two turns.
 */
static void fold_excess(struct link *l, const struct turn *t, const double v[3])
{
	uint32_t s = t->angles;

	for (int k = 0; k < 3; k++)
		memset(l->fold[k], 0, 2 * (size_t)s * sizeof(double));
	for (uint32_t a = 0; a < l->circle.angles; a++) {
		double without = over(l->base[a]);

		for (int k = 0; k < 3; k++)
			l->fold[k][a % s] += over(l->base[a] + v[k]) - without;
	}
	for (int k = 0; k < 3; k++)
		memcpy(l->fold[k] + s, l->fold[k], s * sizeof(double));
	for (uint32_t p = 1; p < 2 * s; p++)
		l->fold[1][p] += l->fold[1][p - 1];
}

/* The rotation of turn t that adds least to the excess of base, the first of equals. */
static uint32_t best_rotation(struct link *l, const struct turn *t)
{
	uint32_t s = t->angles, first = (uint32_t)floor(t->begin), chosen = 0;
	uint32_t last = (uint32_t)fmax(ceil(t->end), first + 1.0) - 1, whole = 0;
	double v[3] = {0, t->share, 0}, least = INFINITY;

	v[0] = (fmin(first + 1.0, t->end) - t->begin) * t->share;
	if (last > first) {
		v[2] = (t->end - last) * t->share;
		whole = last - first - 1;
	}
	fold_excess(l, t, v);
	for (uint32_t r = 0; r < s; r++) {
		uint32_t p = (r + first) % s;
		double sum = l->fold[0][p];

		if (whole)
			sum += l->fold[1][p + whole] - l->fold[1][p];
		if (last > first)
			sum += l->fold[2][(r + last) % s];
		if (sum < least - SAME * l->circle.angles) {
			least = sum;
			chosen = r;
		}
	}
	l->found_excess = least;
	return chosen;
}

/* Every combination of rotations of the free turns from number k on. */
static void search_all(struct link *l, uint32_t k)
{
	struct turn *t = &l->turns[l->free[k]];

	if (k + 1 == l->n_free) {
		double sum;

		t->chosen = best_rotation(l, t);
		sum = excess(l) + l->found_excess;
		if (sum < l->least - SAME * l->circle.angles) {
			l->least = sum;
			for (uint32_t i = 0; i < l->n_free; i++)
				l->turns[l->free[i]].best = l->turns[l->free[i]].chosen;
		}
		return;
	}
	for (t->chosen = 0; t->chosen < t->angles; t->chosen++) {
		add_turn(l->base, l->circle.angles, t, t->chosen, 1);
		search_all(l, k + 1);
		add_turn(l->base, l->circle.angles, t, t->chosen, -1);
	}
}

/* Larger area of the circle first, then the lower id: insertion, as the list is short. */
static void by_area(struct link *l)
{
	for (uint32_t i = 1; i < l->n_free; i++) {
		uint32_t moved = l->free[i], k = i;
		const struct turn *t = &l->turns[moved];
		double area = t->share * (t->end - t->begin) / t->angles;

		for (; k > 0; k--) {
			const struct turn *u = &l->turns[l->free[k - 1]];

			if (u->share * (u->end - u->begin) / u->angles >= area * (1 - SAME))
				break;
			l->free[k] = l->free[k - 1];
		}
		l->free[k] = moved;
	}
}

static void descend(struct link *l)
{
	bool better = true;

	by_area(l);
	for (uint32_t i = 0; i < l->n_free; i++) {
		struct turn *t = &l->turns[l->free[i]];

		t->best = best_rotation(l, t);
		add_turn(l->base, l->circle.angles, t, t->best, 1);
	}
	for (int round = 0; round < ROUNDS && better; round++) {
		better = false;
		for (uint32_t i = 0; i < l->n_free; i++) {
			struct turn *t = &l->turns[l->free[i]];
			double before = excess(l);
			uint32_t r;

			add_turn(l->base, l->circle.angles, t, t->best, -1);
			r = best_rotation(l, t);
			if (excess(l) + l->found_excess < before - SAME * l->circle.angles) {
				t->best = r;
				better = true;
			}
			add_turn(l->base, l->circle.angles, t, t->best, 1);
		}
	}
}

/* Combinations x angles of the exhaustive search. */
static double work(const struct link *l)
{
	double product = l->circle.angles;

	for (uint32_t i = 0; i + 1 < l->n_free; i++)
		product *= l->turns[l->free[i]].angles;
	return product;
}

static void rotate(struct link *l)
{
	if (!l->n_free)
		return;
	if (work(l) <= CRUX_CASSINI_WORK) {
		l->least = INFINITY;
		search_all(l, 0);
	} else {
		descend(l);
	}
	for (uint32_t i = 0; i < l->n_free; i++)
		l->turns[l->free[i]].offset = l->turns[l->free[i]].best;
}

static void link_free(struct link *l)
{
	crux_free(l->quanta);
	crux_free(l->turns);
	crux_free(l->free);
	crux_free(l->base);
	for (int k = 0; k < 3; k++)
		crux_free(l->fold[k]);
}

static enum crux_status link_init(struct link *l, const struct crux_cassini_params *params,
				  const struct crux_cassini_arc *arcs, struct crux_error *err)
{
	enum crux_status status;
	size_t room;

	l->quanta = crux_array(l->n, sizeof(*l->quanta));
	l->turns = crux_zeroed(l->n, sizeof(*l->turns));
	l->free = crux_array(l->n, sizeof(*l->free));
	if (!l->quanta || !l->turns || !l->free)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u circles", l->n);
	status = crux_cassini_circle_of(params, arcs, l->n, &l->circle, l->quanta, err);
	if (status != CRUX_OK)
		return status;
	room = 2 * (size_t)l->circle.angles;
	l->base = crux_zeroed(room, sizeof(*l->base));
	for (int k = 0; k < 3; k++)
		l->fold[k] = crux_array(room, sizeof(double));
	if (!l->base || !l->fold[0] || !l->fold[1] || !l->fold[2])
		return crux_fail(err, CRUX_NOMEM, "out of memory for a circle of %u angles",
				 l->circle.angles);
	return CRUX_OK;
}

/* Angles from the link's origin to the begin of the job's iterations, in [0, t->angles). */
static double offset_of(const struct crux_cassini_arc *arc, const struct turn *t, double origin)
{
	double offset = fmod(arc->shift_s / arc->iteration_s * t->angles - origin, t->angles);

	return offset < 0 ? offset + t->angles : offset;
}

static void draw(struct link *l, double capacity_bps, const struct crux_cassini_arc *arcs)
{
	uint32_t per_quantum = l->circle.angles / l->circle.perimeter;

	for (uint32_t i = 0; i < l->n; i++) {
		struct turn *t = &l->turns[i];
		double scale;

		t->angles = l->quanta[i] * per_quantum;
		scale = t->angles / arcs[i].iteration_s;
		t->begin = fmin(arcs[i].start_s * scale, t->angles);
		t->end = fmin((arcs[i].start_s + arcs[i].duration_s) * scale, t->angles);
		t->share = arcs[i].bps / capacity_bps;
	}
}

/* The root lies at offset 0, other fixed jobs relative to it; the rest is free. */
static void place(struct link *l, const struct crux_cassini_arc *arcs, uint32_t root, double origin)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (i != root && !arcs[i].fixed) {
			l->free[l->n_free++] = i;
			continue;
		}
		if (i != root)
			l->turns[i].offset = offset_of(&arcs[i], &l->turns[i], origin);
		add_turn(l->base, l->circle.angles, &l->turns[i], l->turns[i].offset, 1);
	}
}

/* Back to seconds; what differs from a whole iteration by rounding alone is none. */
static double shift_of(const struct crux_cassini_arc *arc, const struct turn *t, double origin)
{
	double part = fmod(t->offset + origin, t->angles) / t->angles;

	return part > 1 - SAME ? 0 : part * arc->iteration_s;
}

static double score_of(struct link *l)
{
	memset(l->base, 0, l->circle.angles * sizeof(*l->base));
	for (uint32_t i = 0; i < l->n; i++)
		add_turn(l->base, l->circle.angles, &l->turns[i], l->turns[i].offset, 1);
	return 1 - excess(l) / l->circle.angles;
}

enum crux_status crux_cassini_link(const struct crux_cassini_params *params, double capacity_bps,
				   struct crux_cassini_arc *arcs, uint32_t n, double *score,
				   struct crux_error *err)
{
	struct link l = {.n = n};
	uint32_t root = 0;
	double origin = 0;
	enum crux_status status;

	if (!(capacity_bps > 0) || !isfinite(capacity_bps))
		return crux_fail(err, CRUX_RANGE, "a capacity of %g bit/s is not above 0",
				 capacity_bps);
	status = link_init(&l, params, arcs, err);
	while (root < n && !arcs[root].fixed)
		root++;
	if (status == CRUX_OK && n) {
		draw(&l, capacity_bps, arcs);
		if (root < n)
			origin = arcs[root].shift_s / arcs[root].iteration_s * l.turns[root].angles;
		else
			root = 0;
		place(&l, arcs, root, origin);
		rotate(&l);
		for (uint32_t i = 0; i < n; i++)
			if (!arcs[i].fixed)
				arcs[i].shift_s = shift_of(&arcs[i], &l.turns[i], origin);
	}
	if (status == CRUX_OK)
		*score = score_of(&l);
	link_free(&l);
	return status;
}
