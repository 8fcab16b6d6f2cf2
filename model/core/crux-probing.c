/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-probing: see crux-probing.h. Depends on crux-base, crux-topology.
 */
#include "crux-probing.h"

#include <math.h>
#include <string.h>

/* Odd, so that every port comes once a round; 2^14 over the golden ratio, so that each next port
 * falls into a widest gap of those before (up to the seed's few bits). */
#define STRIDE 10125

struct waiting {
	double due_s;
	uint16_t port;
};

struct met {
	uint32_t times;
	uint16_t port;
};

/* A port that was asked for. */
struct asked {
	uint16_t port;
	uint8_t tries; /* sent so often */
	bool settled;  /* answered, maybe by a longer path, or given up */
	uint32_t path; /* CRUX_NONE: not known */
};

struct crux_probing {
	struct crux_probing_options options;
	enum crux_probing_state state;
	struct crux_probing_counters counters;
	double now_s;
	uint32_t start, stride;	 /* of the order of ports */
	uint32_t tried;		 /* of that order */
	uint32_t n_asked;	 /* by rising port */
	uint32_t unsettled;	 /* of those: neither answered nor given up */
	struct asked *asked;	 /* [n_asked] */
	uint32_t unanswered;	 /* lost in a row */
	uint32_t stale;		 /* answers in a row that met nothing new */
	uint32_t n_waiting;	 /* oldest first */
	struct waiting *waiting; /* [burst] */
	uint32_t n, hops;
	size_t cap_met, cap_links;
	struct met *met;	    /* [n] */
	struct crux_link_id *links; /* [n * hops], sorted by path */
};

void crux_probing_options_default(struct crux_probing_options *options)
{
	*options = (struct crux_probing_options){
		.miss = 1e-3, .burst = 8, .timeout_s = 1e-3, .losses = 16, .most = 4096};
}

static enum crux_status check(const struct crux_probing_options *options, double now_s,
			      struct crux_error *err)
{
	if (!(options->miss > 0 && options->miss < 1))
		return crux_fail(err, CRUX_RANGE, "probing: miss = %g: between 0 and 1",
				 options->miss);
	if (!options->burst || options->burst > CRUX_ENTROPY_COUNT)
		return crux_fail(err, CRUX_RANGE, "probing: burst = %u: 1 to %d", options->burst,
				 CRUX_ENTROPY_COUNT);
	if (!(options->timeout_s > 0) || !isfinite(options->timeout_s))
		return crux_fail(err, CRUX_RANGE, "probing: timeout_s = %g: a time above 0",
				 options->timeout_s);
	if (!options->losses)
		return crux_fail(err, CRUX_RANGE, "probing: losses = 0: 1 or more");
	if (!options->most)
		return crux_fail(err, CRUX_RANGE, "probing: most = 0: 1 or more");
	if (!isfinite(now_s))
		return crux_fail(err, CRUX_RANGE, "probing begins at %g s: a finite time", now_s);
	for (uint32_t i = 1; i < options->n_asked; i++)
		if (options->asked_ports[i] <= options->asked_ports[i - 1])
			return crux_fail(err, CRUX_INVALID,
					 "probing: asked port %u after %u: they have to rise",
					 options->asked_ports[i], options->asked_ports[i - 1]);
	return CRUX_OK;
}

enum crux_status crux_probing_create(const struct crux_probing_options *options, double now_s,
				     struct crux_probing **out, struct crux_error *err)
{
	enum crux_status status = check(options, now_s, err);
	struct crux_probing *probing;
	uint64_t mixed;

	if (status)
		return status;
	probing = crux_zeroed(1, sizeof(*probing));
	if (probing) {
		probing->waiting = crux_array(options->burst, sizeof(*probing->waiting));
		probing->asked = crux_zeroed(options->n_asked, sizeof(*probing->asked));
	}
	if (!probing || !probing->waiting || !probing->asked) {
		crux_probing_destroy(probing);
		return crux_fail(err, CRUX_NOMEM, "out of memory for probing");
	}
	mixed = crux_mix64(options->seed + 1);
	probing->options = *options;
	probing->options.asked_ports = NULL; /* the caller's */
	probing->n_asked = probing->unsettled = options->n_asked;
	for (uint32_t i = 0; i < options->n_asked; i++)
		probing->asked[i] =
			(struct asked){.port = options->asked_ports[i], .path = CRUX_NONE};
	probing->start = mixed % CRUX_ENTROPY_COUNT;
	probing->stride = STRIDE + 2 * (mixed >> 32 & 31);
	probing->now_s = now_s;
	probing->counters.begun_s = now_s;
	probing->counters.ended_s = NAN;
	*out = probing;
	return CRUX_OK;
}

void crux_probing_destroy(struct crux_probing *probing)
{
	if (!probing)
		return;
	crux_free(probing->waiting);
	crux_free(probing->asked);
	crux_free(probing->met);
	crux_free(probing->links);
	crux_free(probing);
}

static void end(struct crux_probing *probing, enum crux_probing_state state)
{
	probing->state = state;
	probing->counters.ended_s = probing->now_s;
	probing->n_waiting = 0;
}

/* Answers in a row without news that end it; with nothing met there is no such number. */
static uint32_t enough(const struct crux_probing *probing)
{
	double m;

	if (!probing->n)
		return UINT32_MAX;
	m = -log(probing->options.miss) / log1p(1.0 / probing->n);
	m = ceil(m * (1 - 1e-12)); /* a whole number may be computed a rounding too high */
	return m < 1 ? 1 : m < UINT32_MAX ? (uint32_t)m : UINT32_MAX;
}

static struct asked *find_asked(const struct crux_probing *probing, uint16_t port)
{
	uint32_t low = 0, high = probing->n_asked;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (probing->asked[middle].port < port)
			low = middle + 1;
		else
			high = middle;
	}
	return low < probing->n_asked && probing->asked[low].port == port ? &probing->asked[low]
									  : NULL;
}

static void settle(struct crux_probing *probing, struct asked *asked)
{
	probing->unsettled -= !asked->settled;
	asked->settled = true;
}

static void look(struct crux_probing *probing)
{
	bool spent = probing->counters.sent == probing->options.most && !probing->n_waiting;

	if (probing->state != CRUX_PROBING_RUNS)
		return;
	if (probing->stale >= enough(probing) && (!probing->unsettled || spent))
		end(probing, CRUX_PROBING_DONE);
	else if (probing->unanswered >= probing->options.losses)
		end(probing, CRUX_PROBING_UNREACHABLE);
	else if (spent)
		end(probing,
		    probing->counters.answered ? CRUX_PROBING_LIMIT : CRUX_PROBING_UNREACHABLE);
}

static void forget(struct crux_probing *probing, uint32_t i)
{
	probing->n_waiting--;
	memmove(probing->waiting + i, probing->waiting + i + 1,
		(probing->n_waiting - i) * sizeof(*probing->waiting));
}

/* Time goes by: probes are lost. */
static void advance(struct crux_probing *probing, double now_s)
{
	probing->now_s = fmax(probing->now_s, now_s);
	while (probing->n_waiting && probing->waiting[0].due_s <= probing->now_s) {
		struct asked *asked = find_asked(probing, probing->waiting[0].port);

		if (!asked)
			probing->unanswered++;
		else if (asked->tries == CRUX_PROBING_TRIES)
			settle(probing, asked);
		forget(probing, 0);
		probing->counters.lost++;
		look(probing);
	}
}

static bool is_waiting(const struct crux_probing *probing, uint16_t port)
{
	for (uint32_t i = 0; i < probing->n_waiting; i++)
		if (probing->waiting[i].port == port)
			return true;
	return false;
}

/* An asked port that was tried fewer than `tries` times; NULL: none. */
static struct asked *next_asked(const struct crux_probing *probing, uint32_t tries)
{
	for (uint32_t i = 0; probing->unsettled && i < probing->n_asked; i++) {
		struct asked *asked = &probing->asked[i];

		if (!asked->settled && asked->tries < tries && !is_waiting(probing, asked->port))
			return asked;
	}
	return NULL;
}

/* No more are on their way than could still be needed. */
static bool needs_more(const struct crux_probing *probing)
{
	uint32_t most = enough(probing);

	return probing->stale < most && probing->n_waiting < most - probing->stale;
}

static bool may_send(const struct crux_probing *probing)
{
	return probing->state == CRUX_PROBING_RUNS && probing->n_waiting < probing->options.burst &&
	       probing->counters.sent < probing->options.most &&
	       (needs_more(probing) || next_asked(probing, CRUX_PROBING_TRIES));
}

/* The next of the order; in the first round without those that were asked for. */
static uint16_t next_of_order(struct crux_probing *probing)
{
	uint64_t offset;
	uint16_t port;

	do {
		offset = probing->start + (uint64_t)probing->tried++ * probing->stride;
		port = (uint16_t)(CRUX_ENTROPY_FIRST + offset % CRUX_ENTROPY_COUNT);
	} while (probing->tried <= CRUX_ENTROPY_COUNT && find_asked(probing, port));
	return port;
}

bool crux_probing_next(struct crux_probing *probing, double now_s, uint16_t *port)
{
	struct waiting *waiting;
	struct asked *asked;

	advance(probing, now_s);
	if (!may_send(probing))
		return false;
	asked = next_asked(probing, needs_more(probing) ? 1 : CRUX_PROBING_TRIES);
	if (asked)
		asked->tries++;
	*port = asked ? asked->port : next_of_order(probing);
	probing->counters.sent++;
	waiting = &probing->waiting[probing->n_waiting++];
	waiting->port = *port;
	waiting->due_s = probing->now_s + probing->options.timeout_s;
	return true;
}

double crux_probing_due_s(const struct crux_probing *probing)
{
	if (may_send(probing))
		return probing->now_s;
	return probing->n_waiting ? probing->waiting[0].due_s : (double)INFINITY;
}

static int compare(const struct crux_probing *probing, uint32_t i, const struct crux_link_id *links)
{
	const struct crux_link_id *own = probing->links + (size_t)i * probing->hops;

	for (uint32_t h = 0; h < probing->hops; h++)
		if (own[h].v != links[h].v)
			return own[h].v < links[h].v ? -1 : 1;
	return 0;
}

/* The path's place, or where it belongs. */
static uint32_t find(const struct crux_probing *probing, const struct crux_link_id *links,
		     bool *found)
{
	uint32_t low = 0, high = probing->n;

	*found = false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare(probing, middle, links);

		*found |= !order;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Room for a path more, of @p n that are met. */
static enum crux_status reserve(struct crux_probing *probing, uint32_t n, uint32_t hops,
				struct crux_error *err)
{
	enum crux_status status = crux_reserve((void **)&probing->met, &probing->cap_met,
					       (size_t)n + 1, sizeof(*probing->met), err);

	return status ? status
		      : crux_reserve((void **)&probing->links, &probing->cap_links,
				     ((size_t)n + 1) * hops, sizeof(*probing->links), err);
}

/* Only longer ones were met so far: they are no candidates. */
static void start_over(struct crux_probing *probing, uint32_t hops)
{
	for (uint32_t i = 0; i < probing->n; i++)
		probing->counters.longer += probing->met[i].times;
	for (uint32_t i = 0; i < probing->n_asked; i++)
		probing->asked[i].path = CRUX_NONE;
	probing->n = 0;
	probing->hops = hops;
	probing->stale = 0;
}

static void insert(struct crux_probing *probing, uint32_t at, uint16_t port,
		   const struct crux_link_id *links)
{
	uint32_t hops = probing->hops, behind = probing->n - at;
	struct crux_link_id *place = probing->links + (size_t)at * hops;

	memmove(probing->met + at + 1, probing->met + at, behind * sizeof(*probing->met));
	memmove(place + hops, place, (size_t)behind * hops * sizeof(*place));
	memcpy(place, links, hops * sizeof(*place));
	probing->met[at] = (struct met){1, port};
	for (uint32_t i = 0; i < probing->n_asked; i++)
		if (probing->asked[i].path != CRUX_NONE && probing->asked[i].path >= at)
			probing->asked[i].path++;
	probing->n++;
	probing->stale = 0;
}

/* Into @p path goes where it lies; CRUX_NONE: it is longer than others. */
static enum crux_status take(struct crux_probing *probing, uint16_t port,
			     const struct crux_link_id *links, uint32_t hops, uint32_t *path,
			     struct crux_error *err)
{
	bool shorter = probing->n && hops < probing->hops, found = false;
	enum crux_status status;
	uint32_t at = 0;

	*path = CRUX_NONE;
	if (probing->n && hops > probing->hops) {
		probing->counters.longer++;
		return CRUX_OK;
	}
	if (!shorter && probing->n)
		at = find(probing, links, &found);
	if (found) {
		probing->met[at].times++;
		probing->stale++;
		*path = at;
		return CRUX_OK;
	}
	status = reserve(probing, shorter ? 0 : probing->n, hops, err);
	if (status)
		return status;
	if (shorter || !probing->n)
		start_over(probing, hops);
	insert(probing, at, port, links);
	*path = at;
	return CRUX_OK;
}

enum crux_status crux_probing_answer(struct crux_probing *probing, double now_s, uint16_t port,
				     const struct crux_link_id *links, uint32_t hops,
				     struct crux_error *err)
{
	struct asked *asked = find_asked(probing, port);
	enum crux_status status;
	uint32_t i, path;

	if (!hops)
		return crux_fail(err, CRUX_INVALID,
				 "the answer to the probe of port %u has 0 links: 1 or more", port);
	advance(probing, now_s);
	for (i = 0; i < probing->n_waiting && probing->waiting[i].port != port; i++)
		;
	if (i == probing->n_waiting) {
		probing->counters.late++;
		return CRUX_OK;
	}
	status = take(probing, port, links, hops, &path, err);
	if (status)
		return status;
	if (asked) {
		asked->path = path;
		settle(probing, asked);
	}
	forget(probing, i);
	probing->counters.answered++;
	probing->unanswered = 0;
	look(probing);
	return CRUX_OK;
}

enum crux_probing_state crux_probing_state(const struct crux_probing *probing)
{
	return probing->state;
}

uint32_t crux_probing_paths(const struct crux_probing *probing, uint32_t *hops)
{
	if (hops)
		*hops = probing->hops;
	return probing->n;
}

struct crux_probing_path crux_probing_path(const struct crux_probing *probing, uint32_t i)
{
	return (struct crux_probing_path){probing->met[i].port, probing->met[i].times,
					  probing->links + (size_t)i * probing->hops};
}

uint32_t crux_probing_asked(const struct crux_probing *probing, uint32_t i)
{
	return probing->asked[i].path;
}

struct crux_probing_counters crux_probing_counters(const struct crux_probing *probing)
{
	return probing->counters;
}
