/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-decode: messages between daemons read: whatever is counted is checked against the
 * length that is left before anything is allocated, numbers against what they can be.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <math.h>
#include <string.h>

/* After the first fault everything reads as 0. */
struct reader {
	const uint8_t *at;
	size_t left;
	bool bad, no_memory;
};

static uint64_t get(struct reader *r, size_t n)
{
	uint64_t x = 0;

	if (r->bad || r->left < n) {
		r->bad = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		x |= (uint64_t)r->at[i] << (8 * i);
	r->at += n;
	r->left -= n;
	return x;
}

static uint32_t get_u32(struct reader *r)
{
	return (uint32_t)get(r, 4);
}

static double get_real(struct reader *r)
{
	uint64_t bits = get(r, 8);
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* Terms rise by one: a large one is a fault, and would leave no room above. */
static uint32_t get_term(struct reader *r)
{
	uint32_t term = get_u32(r);

	if (term > INT32_MAX)
		r->bad = true;
	return r->bad ? 0 : term;
}

static uint64_t get_version(struct reader *r)
{
	uint64_t version = get(r, 8);

	if (version > INT64_MAX)
		r->bad = true;
	return r->bad ? 0 : version;
}

/* A number >= 0 and finite; others are faults. */
static double get_amount(struct reader *r)
{
	double x = get_real(r);

	if (!(x >= 0) || !isfinite(x))
		r->bad = true;
	return r->bad ? 0 : x;
}

static double get_time(struct reader *r)
{
	double x = get_real(r);

	if (!isfinite(x))
		r->bad = true;
	return r->bad ? 0 : x;
}

/* A number of items of at least `least` bytes each, which must be there. */
static uint32_t get_count(struct reader *r, size_t least)
{
	uint32_t n = get_u32(r);

	if (n > r->left / least)
		r->bad = true;
	return r->bad ? 0 : n;
}

static void *make(struct reader *r, size_t n, size_t size)
{
	void *p = r->bad ? NULL : crux_zeroed(n, size);

	if (!p && !r->bad)
		r->bad = r->no_memory = true;
	return p;
}

static void get_links(struct reader *r, struct crux_link_id *links, size_t n)
{
	for (size_t i = 0; i < n && !r->bad; i++)
		links[i].v = get_u32(r);
}

static void get_flow(struct reader *r, struct crux_decider_flow *flow)
{
	flow->number = get_u32(r);
	flow->src_nic.v = get_u32(r);
	flow->dst_nic.v = get_u32(r);
	flow->steps = get_u32(r);
	flow->bytes = get_amount(r);
	flow->ecmp_port = (uint16_t)get(r, 2);
	flow->n_pre = (uint32_t)get(r, 1);
	flow->n_post = (uint32_t)get(r, 1);
	if (flow->n_pre > CRUX_FLOW_ENDS || flow->n_post > CRUX_FLOW_ENDS)
		r->bad = true;
	if (r->bad) {
		flow->n_pre = flow->n_post = 0;
		return;
	}
	get_links(r, flow->pre, flow->n_pre);
	get_links(r, flow->post, flow->n_post);
}

/* Ports rise, paths are there. */
static void get_asked(struct reader *r, struct crux_decider_pair *pair)
{
	uint32_t n = get_count(r, 6), *paths = make(r, n, sizeof(*paths));
	uint16_t *ports = make(r, n, sizeof(*ports));

	pair->asked_ports = ports;
	pair->asked_paths = paths;
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		ports[i] = (uint16_t)get(r, 2);
		paths[i] = get_u32(r);
		if ((i && ports[i] <= ports[i - 1]) ||
		    (paths[i] >= pair->n && paths[i] != CRUX_NONE))
			r->bad = true;
	}
	pair->n_asked = r->bad ? 0 : n;
}

static void get_pair(struct reader *r, struct crux_decider_pair *pair)
{
	struct crux_link_id *links;
	uint16_t *ports;
	uint64_t n_links;

	pair->src_nic.v = get_u32(r);
	pair->dst_nic.v = get_u32(r);
	pair->n = get_u32(r);
	pair->hops = get_u32(r);
	n_links = (uint64_t)pair->n * pair->hops;
	if (r->bad || n_links > r->left / 4 || pair->n > r->left / 2) {
		r->bad = true;
		pair->n = 0;
		return;
	}
	pair->links = links = make(r, n_links, sizeof(*links));
	pair->ports = ports = make(r, pair->n, sizeof(*ports));
	if (r->bad) {
		pair->n = 0;
		return;
	}
	get_links(r, links, n_links);
	for (uint32_t i = 0; i < pair->n; i++)
		ports[i] = (uint16_t)get(r, 2);
	get_asked(r, pair);
}

static void get_pairs(struct reader *r, struct daemon_share *share)
{
	uint32_t n;

	share->paths = get_u32(r);
	n = get_count(r, 20);
	share->pairs = make(r, n, sizeof(*share->pairs));
	while (share->n_pairs < n && !r->bad)
		get_pair(r, &share->pairs[share->n_pairs++]);
}

static void get_share(struct reader *r, struct daemon_share *share)
{
	uint32_t flags = (uint32_t)get(r, 1);

	share->have = flags & 1;
	share->ok = flags & 2;
	share->flop = get_amount(r);
	share->any_busy_s = get_amount(r);
	share->overlap_start = get_real(r); /* NAN: nothing moved */
	if (!isnan(share->overlap_start) &&
	    !(share->overlap_start >= 0 && share->overlap_start <= 1))
		r->bad = true;
	for (uint32_t k = 0; k < CRUX_PROFILE_PHASES && share->ok; k++)
		share->phases[k] = (uint16_t)get(r, 2);
	share->n_flows = get_count(r, 28);
	share->flows = make(r, share->n_flows, sizeof(*share->flows));
	for (uint32_t f = 0; f < share->n_flows && !r->bad; f++)
		get_flow(r, &share->flows[f]);
	get_pairs(r, share);
}

static void get_report(struct reader *r, struct daemon_report *report)
{
	uint32_t n;

	report->id = get_version(r);
	report->leader = get_u32(r);
	report->version = get_version(r);
	report->since_s = get_time(r);
	report->iteration_s = get_amount(r);
	report->gpus = get_u32(r);
	n = get_count(r, 4 + 37);
	report->hosts = make(r, n, sizeof(*report->hosts));
	report->shares = make(r, n, sizeof(*report->shares));
	if (r->bad)
		return;
	report->n_hosts = n;
	for (uint32_t h = 0; h < n; h++)
		report->hosts[h] = get_u32(r);
	for (uint32_t h = 0; h < n && !r->bad; h++)
		get_share(r, &report->shares[h]);
}

static void get_orders(struct reader *r, struct daemon_orders *orders)
{
	orders->version = get_version(r);
	orders->level = get_u32(r);
	orders->shift_s = get_amount(r);
	orders->period_s = get_amount(r);
	orders->n_flows = get_count(r, 6);
	orders->numbers = make(r, orders->n_flows, sizeof(*orders->numbers));
	orders->ports = make(r, orders->n_flows, sizeof(*orders->ports));
	for (uint32_t f = 0; f < orders->n_flows && !r->bad; f++) {
		orders->numbers[f] = get_u32(r);
		orders->ports[f] = (uint16_t)get(r, 2);
	}
}

static void get_beat(struct reader *r, struct daemon_message *m)
{
	m->term = get_term(r);
	m->host = get_u32(r);
	m->incarnation = get_u32(r);
	m->flags = (uint8_t)get(r, 1);
	m->n_entries = get_count(r, 45);
	m->entries = make(r, m->n_entries, sizeof(*m->entries));
	for (uint32_t i = 0; i < m->n_entries && !r->bad; i++) {
		struct daemon_entry *e = &m->entries[i];

		e->job = (int64_t)get(r, 8);
		e->term = get_term(r);
		e->leader = get_u32(r);
		e->report = get_version(r);
		e->version = get_version(r);
		e->in_force = get_version(r);
		e->paths = get_u32(r);
		e->flags = (uint8_t)get(r, 1);
	}
}

static void get_window(struct reader *r, struct daemon_message *m)
{
	m->term = get_term(r);
	if (m->type == DAEMON_COLLECT) {
		m->count = get_u32(r);
		m->from_s = get_time(r);
		m->to_s = get_time(r);
	} else if (m->type == DAEMON_FOUND) {
		m->ok = get(r, 1);
		m->period.period_s = get_amount(r);
		m->period.first_s = get_time(r);
		m->period.count = get_u32(r);
		m->period.strength = get_amount(r);
		if (m->ok && (!m->period.count || !(m->period.period_s > 0)))
			r->bad = true;
	}
}

static void get_body(struct reader *r, struct daemon_message *m)
{
	switch (m->type) {
	case DAEMON_BEAT:
		get_beat(r, m);
		break;
	case DAEMON_FIND:
	case DAEMON_FOUND:
	case DAEMON_COLLECT:
		get_window(r, m);
		break;
	case DAEMON_SHARE:
		m->term = get_term(r);
		get_share(r, &m->share);
		break;
	case DAEMON_PATHS:
		get_pairs(r, &m->share);
		break;
	case DAEMON_REPORT:
		m->report.job = m->job;
		get_report(r, &m->report);
		break;
	case DAEMON_SET:
		m->term = get_term(r);
		get_orders(r, &m->orders);
		break;
	case DAEMON_ORDERS:
		get_orders(r, &m->orders);
		break;
	case DAEMON_IN_FORCE:
		m->version = get_version(r);
		break;
	case DAEMON_DONE:
		m->from_s = get_time(r);
		break;
	case DAEMON_FINISHED:
	case DAEMON_TYPES:
		break;
	}
}

enum crux_status daemon_decode(const uint8_t *bytes, size_t n, struct daemon_message *out,
			       struct crux_error *err)
{
	struct reader r = {.at = bytes, .left = n};
	struct daemon_message m = {.job = 0};
	uint64_t magic = get(&r, 1), version = get(&r, 1), type = get(&r, 1);

	if (r.bad || magic != DAEMON_MAGIC || version != DAEMON_VERSION || !type ||
	    type >= DAEMON_TYPES)
		return crux_fail(err, CRUX_SYNTAX,
				 "%zu bytes of magic %#x, version %u, type %u are no message of "
				 "version %d",
				 n, (unsigned)magic, (unsigned)version, (unsigned)type,
				 DAEMON_VERSION);
	m.type = (enum daemon_type)type;
	if (m.type != DAEMON_BEAT)
		m.job = (int64_t)get(&r, 8);
	get_body(&r, &m);
	if (!r.bad && !r.left) {
		*out = m;
		return CRUX_OK;
	}
	daemon_message_free(&m);
	if (r.no_memory)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a message of %zu bytes", n);
	return crux_fail(err, CRUX_SYNTAX, "a message of type %u and %zu bytes %s", (unsigned)type,
			 n, r.bad ? "is cut short or holds an impossible number" : "is too long");
}
