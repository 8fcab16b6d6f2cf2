/* SPDX-License-Identifier: GPL-2.0-only
 *
 * period-cut: where, in iterations that are known but for their phase, each begins; see
 * period-private.h.
 *
 * Steps. Each flow's longest pause in every iteration votes for the phases that it covers: the
 * iteration begins where most flows pause. Events: computation begins after a pause; where
 * computation is not known, or never pauses, the flows that pause longest, those that move once an
 * iteration, have all ended. The events of the phase with the longest pauses before or behind, and
 * the most votes, are the begins; in each iteration the nearest that is like them.
 *
 * Place: model/core (C11), private. Depends on crux-base.
 */
#include "period-private.h"

#include <math.h>

#define BINS 64 /* of an iteration, for votes */
/* Computation runs from this share of its range on, communication moves from that. */
#define RUNS  0.5
#define MOVES 0.1
/* Computation tells where iterations begin if it pauses before so many of them. */
#define TELLS 0.75
/* Flows that pause nearly as long as the one that does longest. */
#define CLOCKS 0.85
/* Spread and reach round where an event is expected, in iterations. */
#define SPREAD 0.08
#define REACH  0.2
/*
 * Share of their usual pause that an event has to have; a longer one is no worse. Pauses of
 * computation differ where they are waits for the slowest GPU.
 */
#define LIKE_COMPUTATION   0.25
#define LIKE_COMMUNICATION 0.5

/* A time when an iteration may begin, and how long the pause was that speaks for it. */
struct event {
	double at, weight;
};

struct cut {
	const struct period_input *in;
	const double *at; /* [n_at] samples */
	uint32_t n_at;
	double lag;
	double votes[BINS];
	double *pause; /* [n_signals] mean longest pause of an iteration */
	double *moves; /* [n] */
	struct event *event;
	uint32_t n_events;
	double phase, typical; /* of the begins: phase, and weight of their events */
	double like;	       /* share of typical that a weight has to have */
};

/* Computation: rising edges, each with the pause before it. */
static void find_begins(const double *x, uint32_t n, struct cut *out)
{
	struct period_range range = period_range_of(x, n);
	double span = range.max - range.min, pause = 0;

	for (uint32_t i = 0; span > 0 && i < n; i++) {
		if (x[i] < range.min + RUNS * span) {
			pause++;
			continue;
		}
		if (pause > 0 && i > 0 && pause < i) {
			/* What ran in the sample before ran at its end, in this one at its end too.
			 */
			double ran = (x[i] + x[i - 1] - 2 * range.min) / span;

			out->event[out->n_events++] = (struct event){i + 1 - fmin(ran, 2), pause};
		} else if (pause > 0 && pause >= i) {
			/* The window began in a pause. */
			out->event[out->n_events++] = (struct event){i, pause};
		}
		pause = 0;
	}
}

/* Communication: falling edges, each with the pause behind it. */
static void find_ends(const double *x, uint32_t n, struct cut *out)
{
	struct period_range range = period_range_of(x, n);
	double span = range.max - range.min, floor = range.min + MOVES * span;

	for (uint32_t i = 1; span > 0 && i < n; i++) {
		if (x[i - 1] >= floor && x[i] < floor) {
			double full = i > 1 ? fmax(x[i - 2], x[i - 1]) - range.min : span;
			double moved = (x[i - 1] + x[i] - 2 * range.min) / full;

			out->event[out->n_events++] = (struct event){i - 1 + fmin(moved, 2), 0};
		}
		if (out->n_events && x[i] < floor)
			out->event[out->n_events - 1].weight++;
	}
}

/* What moves in each sample, 0..1, of the flows that pause longest. */
static void find_moves(struct cut *c)
{
	double longest = 0;

	for (uint32_t i = 0; i < c->in->n; i++)
		c->moves[i] = 0;
	for (uint32_t s = 0; s < c->in->n_signals; s++)
		longest = fmax(longest, c->pause[s]);
	for (uint32_t s = 0; s < c->in->n_signals; s++) {
		const double *x = c->in->signal + (size_t)s * c->in->n;
		struct period_range range = period_range_of(x, c->in->n);

		if (range.max <= range.min || c->pause[s] < CLOCKS * longest)
			continue;
		for (uint32_t i = 0; i < c->in->n; i++)
			c->moves[i] =
				fmax(c->moves[i], (x[i] - range.min) / (range.max - range.min));
	}
}

static double phase_of(const struct cut *c, uint32_t i, double at)
{
	return (at - c->at[i]) / (c->at[i + 1] - c->at[i]);
}

/* A pause votes for its phases and one bin more on either side. */
static void vote_for(struct cut *c, uint32_t i, double from, double to)
{
	int64_t low = (int64_t)floor(phase_of(c, i, from) * BINS) - 1;
	int64_t high = (int64_t)floor(phase_of(c, i, to) * BINS) + 1;

	for (int64_t j = low; j <= high && j < low + BINS; j++)
		c->votes[((j % BINS) + BINS) % BINS] += (to - from) / c->lag;
}

/* A flow votes, in each iteration, by its longest pause that has its middle there. */
static void vote(struct cut *c, uint32_t signal)
{
	const double *x = c->in->signal + (size_t)signal * c->in->n;
	struct period_range range = period_range_of(x, c->in->n);
	double floor = range.min + MOVES * (range.max - range.min), from = 0, longest = 0, end = 0;
	uint32_t i = 0, n = 0;

	for (uint32_t s = 0; s <= c->in->n && i + 1 < c->n_at; s++) {
		double middle = (from + s) / 2;

		if (s < c->in->n && x[s] < floor)
			continue;
		/* A pause [from, s) ends. */
		while (i + 1 < c->n_at && middle >= c->at[i + 1]) {
			if (longest > 0 && longest < 1.5 * c->lag) {
				vote_for(c, i, end - longest, end);
				c->pause[signal] += longest;
				n++;
			}
			longest = 0;
			i++;
		}
		if (middle >= c->at[i] && s - from > longest) {
			longest = s - from;
			end = s;
		}
		from = s + 1;
	}
	c->pause[signal] /= n > 0 ? n : 1;
}

/* The phase at which iterations begin, and the weight that its events have. */
static void find_phase(struct cut *c)
{
	double heard[BINS] = {0}, squares[BINS] = {0}, most = 0, best = -1;
	uint32_t i = 0;

	for (uint32_t j = 0; j < BINS; j++)
		most = fmax(most, c->votes[j]);
	for (uint32_t e = 0; e < c->n_events; e++) {
		double weight = fmin(c->event[e].weight, c->lag), p;

		while (i + 2 < c->n_at && c->event[e].at >= c->at[i + 1])
			i++;
		p = phase_of(c, i, c->event[e].at);
		if (p >= 0 && p < 1) {
			heard[(uint32_t)(p * BINS)] += weight;
			squares[(uint32_t)(p * BINS)] += weight * weight;
		}
	}
	for (uint32_t j = 0; j < BINS; j++) {
		uint32_t before = (j + BINS - 1) % BINS, behind = (j + 1) % BINS;
		double here = heard[j] + (heard[before] + heard[behind]) / 2;
		double score = here * (most > 0 ? pow(c->votes[j] / most, 6) : 1);

		if (score > best) {
			best = score;
			c->phase = (j + 0.5) / BINS;
			c->typical =
				here > 0 ? (squares[j] + (squares[before] + squares[behind]) / 2) /
						   here
					 : 0;
		}
	}
}

/* The event near where one is expected that is most like the begins'; CRUX_NONE: none there. */
static uint32_t event_near(const struct cut *c, double expected)
{
	uint32_t best = CRUX_NONE, low = 0, high = c->n_events;
	double most = 0, reach = REACH * c->lag;

	while (low < high) { /* the first one within reach */
		uint32_t middle = low + (high - low) / 2;

		if (c->event[middle].at < expected - reach)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->n_events && c->event[low].at <= expected + reach; low++) {
		const struct event *e = &c->event[low];
		double off = (e->at - expected) / (SPREAD * c->lag);
		double like = fmin(1, e->weight / c->typical);

		if (like >= c->like && like * exp(-off * off / 2) > most) {
			most = like * exp(-off * off / 2);
			best = low;
		}
	}
	return best;
}

/* Put begins on events; how many. */
static uint32_t snap(struct cut *c, double *begin, bool *snapped)
{
	uint32_t n = 0;

	find_phase(c);
	for (uint32_t i = 0; i < c->n_at + 2; i++) {
		uint32_t e;

		if (i == 0)
			begin[i] = c->at[0] + (c->phase - 1) * c->lag;
		else if (i >= c->n_at)
			begin[i] = c->at[c->n_at - 1] + (c->phase + i - c->n_at) * c->lag;
		else
			begin[i] = c->at[i - 1] + c->phase * (c->at[i] - c->at[i - 1]);
		e = event_near(c, begin[i]);
		snapped[i] = e != CRUX_NONE;
		n += snapped[i];
		if (snapped[i])
			begin[i] = c->event[e].at;
	}
	return n;
}

/* Cut by computation, if it tells (true), else by communication. */
static bool cut(struct cut *c, double *begin, bool *snapped)
{
	const struct period_input *in = c->in;

	if (in->activity)
		find_begins(in->activity, in->n, c);
	c->like = LIKE_COMPUTATION;
	if (c->n_events && snap(c, begin, snapped) >= TELLS * c->n_at)
		return true;
	c->n_events = 0;
	c->like = LIKE_COMMUNICATION;
	find_moves(c);
	find_ends(c->moves, in->n, c);
	snap(c, begin, snapped);
	return false;
}

enum crux_status period_cut(const struct period_input *in, const double *weight, const double *at,
			    uint32_t n_at, double *begin, bool *snapped, bool *told,
			    struct crux_error *err)
{
	struct cut c = {.in = in, .at = at, .n_at = n_at};

	if (n_at < 2)
		return crux_fail(err, CRUX_NOT_FOUND, "no period: less than two iterations");
	c.lag = (at[n_at - 1] - at[0]) / (n_at - 1);
	c.pause = crux_zeroed(in->n_signals, sizeof(*c.pause));
	c.moves = crux_array(in->n, sizeof(*c.moves));
	c.event = crux_array(in->n, sizeof(*c.event));
	if (c.pause && c.moves && c.event) {
		for (uint32_t s = 0; s < in->n_signals; s++)
			if (!weight || weight[s] > 0)
				vote(&c, s);
		*told = cut(&c, begin, snapped);
	}
	crux_free(c.pause);
	crux_free(c.moves);
	crux_free(c.event);
	if (!c.pause || !c.moves || !c.event)
		return crux_fail(err, CRUX_NOMEM, "out of memory for events in %u samples", in->n);
	return CRUX_OK;
}
