/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-message: messages between daemons as bytes; the table of their fields is in
 * doc/daemon.md. Little-endian, doubles as their 64 bits.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <string.h>

/* ---------------------------------------------------------------- writing */

static void put(struct daemon_buffer *out, uint64_t x, size_t n)
{
	if (out->failed || crux_reserve((void **)&out->bytes, &out->cap, out->n + n, 1, NULL)) {
		out->failed = true;
		return;
	}
	for (; n; n--, x >>= 8)
		out->bytes[out->n++] = (uint8_t)x;
}

static void put_real(struct daemon_buffer *out, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	put(out, bits, 8);
}

static void put_links(struct daemon_buffer *out, const struct crux_link_id *links, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(out, links[i].v, 4);
}

static void put_flow(struct daemon_buffer *out, const struct crux_decider_flow *flow)
{
	put(out, flow->number, 4);
	put(out, flow->src_nic.v, 4);
	put(out, flow->dst_nic.v, 4);
	put(out, flow->steps, 4);
	put_real(out, flow->bytes);
	put(out, flow->ecmp_port, 2);
	put(out, flow->n_pre, 1);
	put(out, flow->n_post, 1);
	put_links(out, flow->pre, flow->n_pre);
	put_links(out, flow->post, flow->n_post);
}

static void put_pairs(struct daemon_buffer *out, const struct daemon_share *share)
{
	put(out, share->paths, 4);
	put(out, share->n_pairs, 4);
	for (uint32_t p = 0; p < share->n_pairs; p++) {
		const struct crux_decider_pair *pair = &share->pairs[p];

		put(out, pair->src_nic.v, 4);
		put(out, pair->dst_nic.v, 4);
		put(out, pair->n, 4);
		put(out, pair->hops, 4);
		put_links(out, pair->links, (size_t)pair->n * pair->hops);
		for (uint32_t i = 0; i < pair->n; i++)
			put(out, pair->ports[i], 2);
		put(out, pair->n_asked, 4);
		for (uint32_t i = 0; i < pair->n_asked; i++) {
			put(out, pair->asked_ports[i], 2);
			put(out, pair->asked_paths[i], 4);
		}
	}
}

static void put_share(struct daemon_buffer *out, const struct daemon_share *share)
{
	put(out, (uint64_t)share->have | (uint64_t)share->ok << 1, 1);
	put_real(out, share->flop);
	put_real(out, share->any_busy_s);
	put_real(out, share->overlap_start);
	for (uint32_t k = 0; k < CRUX_PROFILE_PHASES && share->ok; k++)
		put(out, share->phases[k], 2);
	put(out, share->n_flows, 4);
	for (uint32_t f = 0; f < share->n_flows; f++)
		put_flow(out, &share->flows[f]);
	put_pairs(out, share);
}

static void put_report(struct daemon_buffer *out, const struct daemon_report *report)
{
	put(out, report->id, 8);
	put(out, report->leader, 4);
	put(out, report->version, 8);
	put_real(out, report->since_s);
	put_real(out, report->iteration_s);
	put(out, report->gpus, 4);
	put(out, report->n_hosts, 4);
	for (uint32_t h = 0; h < report->n_hosts; h++)
		put(out, report->hosts[h], 4);
	for (uint32_t h = 0; h < report->n_hosts; h++)
		put_share(out, &report->shares[h]);
}

static void put_orders(struct daemon_buffer *out, const struct daemon_orders *orders)
{
	put(out, orders->version, 8);
	put(out, orders->level, 4);
	put_real(out, orders->shift_s);
	put_real(out, orders->period_s);
	put(out, orders->n_flows, 4);
	for (uint32_t f = 0; f < orders->n_flows; f++) {
		put(out, orders->numbers[f], 4);
		put(out, orders->ports[f], 2);
	}
}

static void put_beat(struct daemon_buffer *out, const struct daemon_message *m)
{
	put(out, m->term, 4);
	put(out, m->host, 4);
	put(out, m->incarnation, 4);
	put(out, m->flags, 1);
	put(out, m->n_entries, 4);
	for (uint32_t i = 0; i < m->n_entries; i++) {
		const struct daemon_entry *e = &m->entries[i];

		put(out, (uint64_t)e->job, 8);
		put(out, e->term, 4);
		put(out, e->leader, 4);
		put(out, e->report, 8);
		put(out, e->version, 8);
		put(out, e->in_force, 8);
		put(out, e->paths, 4);
		put(out, e->flags, 1);
	}
}

static void put_window(struct daemon_buffer *out, const struct daemon_message *m)
{
	put(out, m->term, 4);
	if (m->type == DAEMON_COLLECT) {
		put(out, m->count, 4);
		put_real(out, m->from_s);
		put_real(out, m->to_s);
	} else if (m->type == DAEMON_FOUND) {
		put(out, m->ok, 1);
		put_real(out, m->period.period_s);
		put_real(out, m->period.first_s);
		put(out, m->period.count, 4);
		put_real(out, m->period.strength);
	}
}

void daemon_encode(struct daemon_buffer *out, const struct daemon_message *m)
{
	put(out, DAEMON_MAGIC, 1);
	put(out, DAEMON_VERSION, 1);
	put(out, m->type, 1);
	if (m->type != DAEMON_BEAT)
		put(out, (uint64_t)(m->type == DAEMON_REPORT ? m->report.job : m->job), 8);
	switch (m->type) {
	case DAEMON_BEAT:
		put_beat(out, m);
		break;
	case DAEMON_FIND:
	case DAEMON_FOUND:
	case DAEMON_COLLECT:
		put_window(out, m);
		break;
	case DAEMON_SHARE:
		put(out, m->term, 4);
		put_share(out, &m->share);
		break;
	case DAEMON_PATHS:
		put_pairs(out, &m->share);
		break;
	case DAEMON_REPORT:
		put_report(out, &m->report);
		break;
	case DAEMON_SET:
		put(out, m->term, 4);
		put_orders(out, &m->orders);
		break;
	case DAEMON_ORDERS:
		put_orders(out, &m->orders);
		break;
	case DAEMON_IN_FORCE:
		put(out, m->version, 8);
		break;
	case DAEMON_DONE:
		put_real(out, m->from_s);
		break;
	case DAEMON_FINISHED:
	case DAEMON_TYPES:
		break;
	}
}

/* ---------------------------------------------------------------- memory */

void daemon_pair_free(struct crux_decider_pair *pair)
{
	crux_free((void *)(uintptr_t)pair->links);
	crux_free((void *)(uintptr_t)pair->ports);
	crux_free((void *)(uintptr_t)pair->asked_ports);
	crux_free((void *)(uintptr_t)pair->asked_paths);
	pair->links = NULL;
	pair->ports = pair->asked_ports = NULL;
	pair->asked_paths = NULL;
}

void daemon_share_free(struct daemon_share *share)
{
	for (uint32_t p = 0; share->pairs && p < share->n_pairs; p++)
		daemon_pair_free(&share->pairs[p]);
	crux_free(share->pairs);
	crux_free(share->flows);
	*share = (struct daemon_share){.have = false};
}

void daemon_orders_free(struct daemon_orders *orders)
{
	crux_free(orders->numbers);
	crux_free(orders->ports);
	*orders = (struct daemon_orders){.version = 0};
}

void daemon_message_free(struct daemon_message *m)
{
	for (uint32_t h = 0; h < m->report.n_hosts; h++)
		daemon_share_free(&m->report.shares[h]);
	crux_free(m->report.shares);
	crux_free(m->report.hosts);
	crux_free(m->entries);
	daemon_share_free(&m->share);
	daemon_orders_free(&m->orders);
}

bool daemon_copy_flows(const struct crux_decider_flow *flows, uint32_t n,
		       struct crux_decider_flow **out)
{
	*out = crux_array(n, sizeof(**out));
	if (*out && n)
		memcpy(*out, flows, n * sizeof(**out));
	return *out;
}

/* A copy of n items; NULL: no memory. */
static void *copy_of(const void *from, size_t n, size_t size)
{
	void *copy = crux_array(n, size);

	if (copy && n)
		memcpy(copy, from, n * size);
	return copy;
}

bool daemon_copy_pair(const struct crux_decider_pair *pair, struct crux_decider_pair *out)
{
	struct crux_decider_pair copy = *pair;

	copy.links = copy_of(pair->links, (size_t)pair->n * pair->hops, sizeof(*pair->links));
	copy.ports = copy_of(pair->ports, pair->n, sizeof(*pair->ports));
	copy.asked_ports = copy_of(pair->asked_ports, pair->n_asked, sizeof(*pair->asked_ports));
	copy.asked_paths = copy_of(pair->asked_paths, pair->n_asked, sizeof(*pair->asked_paths));
	if (!copy.links || !copy.ports || !copy.asked_ports || !copy.asked_paths) {
		daemon_pair_free(&copy);
		return false;
	}
	*out = copy;
	return true;
}

static bool same(const void *a, const void *b, size_t n, size_t size)
{
	return !n || !memcmp(a, b, n * size);
}

bool daemon_same_paths(const struct crux_decider_pair *a, const struct crux_decider_pair *b)
{
	size_t n = (size_t)a->n * a->hops;

	return a->n == b->n && (!a->n || a->hops == b->hops) &&
	       same(a->links, b->links, n, sizeof(*a->links)) &&
	       same(a->ports, b->ports, a->n, sizeof(*a->ports));
}
