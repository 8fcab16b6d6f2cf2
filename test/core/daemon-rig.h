/* SPDX-License-Identifier: GPL-2.0-only
 *
 * daemon-rig: daemons on a network of plain C: one clock, datagrams that are late, lost, doubled,
 * overtaken; hosts that crash, come back, are cut off; jobs whose counters rise as those of
 * training do. Deterministic for a seed.
 *
 * Place: test/core. Depends on crux-daemon and its private header. Included once by a test.
 *
 * Hosts h with RIG_NICS NICs each (NIC h x RIG_NICS + c), RIG_GROUP hosts a switch, RIG_WAYS ways
 * from switch to switch. Links: 2 nic to the switch, 2 nic + 1 from it; behind those up and down
 * links of each switch and way. Port p takes way p mod RIG_WAYS.
 */
#ifndef DAEMON_RIG_H
#define DAEMON_RIG_H

#include "crux-check.h"
#include "daemon-private.h"

#include <stdlib.h>

#define RIG_HOSTS 16
#define RIG_NICS  2
#define RIG_GROUP 4
#define RIG_WAYS  3
#define RIG_JOBS  16
#define RIG_LINKS (2 * RIG_HOSTS * RIG_NICS + 2 * RIG_WAYS * (RIG_HOSTS / RIG_GROUP))
#define RIG_PAIRS 64

/* A job: a ring over its hosts, RIG_NICS flows from each to the next. */
struct rig_job {
	int64_t id;
	uint32_t n_hosts, hosts[RIG_HOSTS];
	double flop, compute_s, iteration_s, bytes; /* of a host; of a flow */
	double start_s[RIG_HOSTS];		    /* by index */
	bool started[RIG_HOSTS], ended;
};

/* What a host did for a job. */
struct rig_applied {
	uint64_t version;
	uint32_t level, n_flows, numbers[2 * RIG_NICS];
	uint16_t ports[2 * RIG_NICS];
	double shift_s, period_s;
	bool leads;
	uint32_t calls;
};

struct rig_probe {
	bool on;
	struct crux_node_id src, dst;
};

struct rig;
struct rig_host {
	struct rig *rig;
	uint32_t self, life;
	struct crux_daemon *daemon;
	double wake_s;
	struct rig_applied applied[RIG_JOBS];
	bool samples[RIG_JOBS];
	struct rig_probe probes[RIG_PAIRS];
	uint32_t side; /* hosts of other sides are out of reach */
};

enum rig_kind {
	RIG_DATAGRAM,
	RIG_WAKE,
	RIG_PATHS,
	RIG_IN_FORCE,
	RIG_SAMPLE,
	RIG_START,
	RIG_END,
	RIG_CRASH,
	RIG_RESTART,
	RIG_SIDE
};

struct rig_event {
	double at_s;
	uint64_t seq;
	enum rig_kind kind;
	uint32_t host, other, life;
	uint64_t value;
	uint8_t *bytes;
	size_t n;
};

struct rig {
	uint32_t n;
	struct rig_host hosts[RIG_HOSTS];
	uint32_t n_jobs;
	struct rig_job jobs[RIG_JOBS];
	struct crux_daemon_options options;
	double now_s, loss, doubled, delay_s, spread_s, begun_s;
	uint32_t ways; /* of RIG_WAYS that are up, from 0 on */
	bool cpu_only; /* nothing moves on the first host of a job */
	bool staged;   /* hosts compute one after the other, each its part of compute_s */
	bool silent_counters;
	bool asks;	 /* probes tell where flows' own ports lie, the hash is not known */
	bool no_memory;	 /* calls may fail for lack of it */
	uint32_t failed; /* so many did */
	struct crux_rng rng;
	struct rig_event *heap;
	size_t n_heap, heap_cap;
	uint64_t seq;
	/* What was heard of. */
	uint32_t events[CRUX_DAEMON_WARNING + 1];
	uint64_t decided, in_force; /* versions, the last */
	double in_force_s, in_force_since_s, decided_s, decided_since_s;
	char warning[512];
	struct crux_decider_job measured[RIG_JOBS]; /* flows: NULL */
	double measured_bytes[RIG_JOBS];	    /* of all flows */
	double t_s[RIG_JOBS];			    /* as last ordered */
	struct crux_period period[RIG_JOBS];
	uint64_t datagrams, bytes;
};

static double rig_bps[RIG_LINKS];
static bool rig_network[RIG_LINKS];

/* ---------------------------------------------------------------- the clock */

static bool rig_before(const struct rig_event *a, const struct rig_event *b)
{
	return a->at_s != b->at_s ? a->at_s < b->at_s : a->seq < b->seq;
}

static void rig_at(struct rig *rig, double at_s, struct rig_event event)
{
	size_t i = rig->n_heap;

	if (rig->n_heap == rig->heap_cap) {
		rig->heap_cap = rig->heap_cap ? 2 * rig->heap_cap : 1024;
		rig->heap = realloc(rig->heap, rig->heap_cap * sizeof(*rig->heap));
	}
	event.at_s = at_s;
	event.seq = rig->seq++;
	rig->n_heap++;
	for (; i && rig_before(&event, &rig->heap[(i - 1) / 2]); i = (i - 1) / 2)
		rig->heap[i] = rig->heap[(i - 1) / 2];
	rig->heap[i] = event;
}

static struct rig_event rig_pop(struct rig *rig)
{
	struct rig_event top = rig->heap[0], last = rig->heap[--rig->n_heap];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < rig->n_heap) {
		if (child + 1 < rig->n_heap && rig_before(&rig->heap[child + 1], &rig->heap[child]))
			child++;
		if (!rig_before(&rig->heap[child], &last))
			break;
		rig->heap[i] = rig->heap[child];
		i = child;
	}
	rig->heap[i] = last;
	return top;
}

static void rig_wake(struct rig_host *host)
{
	double due_s;

	if (!host->daemon)
		return;
	due_s = crux_daemon_due_s(host->daemon);
	if (due_s < host->rig->now_s)
		due_s = host->rig->now_s;
	if (!isfinite(due_s) || due_s >= host->wake_s)
		return;
	host->wake_s = due_s;
	rig_at(host->rig, due_s,
	       (struct rig_event){.kind = RIG_WAKE, .host = host->self, .life = host->life});
}

/* A call went well, or memory was out and may be. */
static bool rig_ok(struct rig *rig, enum crux_status status)
{
	if (rig->no_memory && status == CRUX_NOMEM) {
		rig->failed++;
		return false;
	}
	CHECK_U64(status, CRUX_OK);
	return true;
}

/* ---------------------------------------------------------------- links and paths */

static struct crux_link_id rig_way(uint32_t group, uint32_t way, bool down)
{
	return (struct crux_link_id){2 * RIG_HOSTS * RIG_NICS + 2 * (group * RIG_WAYS + way) +
				     down};
}

static uint32_t rig_paths(const struct rig *rig, struct crux_node_id src, struct crux_node_id dst,
			  struct crux_link_id *links, uint16_t *ports, uint32_t *hops)
{
	uint32_t from = src.v / RIG_NICS / RIG_GROUP, to = dst.v / RIG_NICS / RIG_GROUP;
	uint32_t n = from == to ? 1 : rig->ways;

	*hops = from == to ? 2 : 4;
	for (uint32_t i = 0; i < n; i++) {
		links[i * *hops].v = 2 * src.v;
		links[i * *hops + *hops - 1].v = 2 * dst.v + 1;
		if (from != to) {
			links[i * *hops + 1] = rig_way(from, i, false);
			links[i * *hops + 2] = rig_way(to, i, true);
		}
		ports[i] = (uint16_t)(49152 + i); /* 49152 = 3 x 16384 */
	}
	return n;
}

static uint32_t rig_ecmp_path(void *ctx, struct crux_node_id src, struct crux_node_id dst,
			      uint16_t port)
{
	const struct rig_host *host = ctx;
	bool near = src.v / RIG_NICS / RIG_GROUP == dst.v / RIG_NICS / RIG_GROUP;
	uint32_t way = near ? 0 : port % RIG_WAYS;

	return way < host->rig->ways ? way : CRUX_NONE;
}

static uint32_t rig_flows(const struct rig_job *job, uint32_t index, struct crux_decider_flow *out)
{
	uint32_t next = (index + 1) % job->n_hosts, n = 0;

	for (uint32_t c = 0; job->n_hosts > 1 && c < RIG_NICS; c++, n++)
		out[n] = (struct crux_decider_flow){
			.number = index * (RIG_NICS + 1) + c,
			.src_nic = {job->hosts[index] * RIG_NICS + c},
			.dst_nic = {job->hosts[next] * RIG_NICS + c},
			.steps = 1,
			.bytes = job->bytes,
			.ecmp_port = (uint16_t)(50000 + job->id * 31 + index * 7 + c)};
	out[n] = (struct crux_decider_flow){.number = index * (RIG_NICS + 1) + RIG_NICS,
					    .src_nic = {CRUX_NONE},
					    .dst_nic = {CRUX_NONE},
					    .steps = 1,
					    .bytes = job->bytes / 2};
	return n + 1;
}

/* ---------------------------------------------------------------- what daemons ask for */

static void rig_send(void *ctx, uint32_t dst, const uint8_t *bytes, size_t n)
{
	struct rig_host *host = ctx;
	struct rig *rig = host->rig;
	int copies = 1 + (crux_rng_real(&rig->rng) < rig->doubled);

	rig->datagrams++;
	rig->bytes += n;
	for (; copies; copies--) {
		double late_s = rig->delay_s + rig->spread_s * crux_rng_real(&rig->rng);
		struct rig_event event = {
			.kind = RIG_DATAGRAM, .host = dst, .other = host->self, .n = n};

		if (crux_rng_real(&rig->rng) < rig->loss)
			continue;
		event.bytes = malloc(n ? n : 1);
		memcpy(event.bytes, bytes, n);
		rig_at(rig, rig->now_s + late_s, event);
	}
}

static void rig_probe_soon(struct rig_host *host, uint32_t p);

static void rig_probe(void *ctx, struct crux_node_id src, struct crux_node_id dst)
{
	struct rig_host *host = ctx;
	uint32_t p = 0;

	while (p < RIG_PAIRS && host->probes[p].on)
		p++;
	CHECK(p < RIG_PAIRS);
	CHECK_U64(src.v / RIG_NICS, host->self);
	if (p == RIG_PAIRS)
		return;
	host->probes[p] = (struct rig_probe){true, src, dst};
	rig_probe_soon(host, p);
}

static void rig_probe_soon(struct rig_host *host, uint32_t p)
{
	rig_at(host->rig, host->rig->now_s + 1e-3 * crux_rng_real(&host->rig->rng),
	       (struct rig_event){
		       .kind = RIG_PATHS, .host = host->self, .life = host->life, .value = p});
}

static void rig_unprobe(void *ctx, struct crux_node_id src, struct crux_node_id dst)
{
	struct rig_host *host = ctx;

	for (uint32_t p = 0; p < RIG_PAIRS; p++)
		if (host->probes[p].on && host->probes[p].src.v == src.v &&
		    host->probes[p].dst.v == dst.v) {
			host->probes[p].on = false;
			return;
		}
	CHECK_FAIL("pair %u, %u is not probed", src.v, dst.v);
}

static void rig_sample(void *ctx, int64_t job, bool on)
{
	struct rig_host *host = ctx;

	CHECK(host->samples[job] != on);
	host->samples[job] = on;
	if (on)
		rig_at(host->rig, host->rig->now_s,
		       (struct rig_event){.kind = RIG_SAMPLE,
					  .host = host->self,
					  .life = host->life,
					  .value = (uint64_t)job});
}

static void rig_apply(void *ctx, const struct crux_daemon_order *order)
{
	struct rig_host *host = ctx;
	struct rig_applied *row = &host->applied[order->job];

	CHECK(order->version >= row->version);
	CHECK(order->n_flows <= 2 * RIG_NICS);
	row->version = order->version;
	row->level = order->level;
	row->shift_s = order->shift_s;
	row->period_s = order->period_s;
	row->leads = order->leads;
	row->n_flows = order->n_flows;
	row->calls++;
	memcpy(row->numbers, order->numbers, order->n_flows * sizeof(*order->numbers));
	memcpy(row->ports, order->ports, order->n_flows * sizeof(*order->ports));
	rig_at(host->rig, host->rig->now_s + 1e-3 * crux_rng_real(&host->rig->rng),
	       (struct rig_event){.kind = RIG_IN_FORCE,
				  .host = host->self,
				  .life = host->life,
				  .other = (uint32_t)order->job,
				  .value = order->version});
}

static void rig_event_of(void *ctx, const struct crux_daemon_event *event)
{
	struct rig *rig = ((struct rig_host *)ctx)->rig;

	if (event->kind != CRUX_DAEMON_ORDERED || event->changed)
		rig->events[event->kind]++;
	CHECK_NEAR(event->now_s, rig->now_s, 0);
	if (event->kind == CRUX_DAEMON_ORDERED)
		rig->t_s[event->job] = event->order->t_s;
	if (event->kind == CRUX_DAEMON_WARNING)
		snprintf(rig->warning, sizeof(rig->warning), "%s", event->text);
	if (event->kind == CRUX_DAEMON_DECIDED) {
		rig->decided = event->version;
		rig->decided_s = event->now_s;
		rig->decided_since_s = event->since_s;
	}
	if (event->kind == CRUX_DAEMON_IN_FORCE) {
		rig->in_force = event->version;
		rig->in_force_s = event->now_s;
		rig->in_force_since_s = event->since_s;
	}
	if (event->kind == CRUX_DAEMON_PROFILED) {
		rig->measured[event->job] = *event->measured;
		rig->measured_bytes[event->job] = 0;
		for (uint32_t f = 0; f < event->measured->n_flows; f++)
			rig->measured_bytes[event->job] += event->measured->flows[f].bytes;
		rig->measured[event->job].flows = NULL;
		rig->period[event->job] = event->period;
	}
}

/* ---------------------------------------------------------------- hosts and jobs */

static void rig_up(struct rig *rig, uint32_t h)
{
	struct rig_host *host = &rig->hosts[h];
	struct crux_daemon_options options = rig->options;
	const struct crux_daemon_calls calls = {
		host,	    rig_send,  rig_probe,    rig_unprobe,
		rig_sample, rig_apply, rig_event_of, rig->asks ? NULL : rig_ecmp_path};
	struct crux_error err = {.text = ""};

	host->life++;
	options.courier.self = h;
	options.courier.incarnation = host->life;
	options.n_hosts = rig->n;
	host->wake_s = INFINITY;
	memset(host->applied, 0, sizeof(host->applied));
	memset(host->samples, 0, sizeof(host->samples));
	memset(host->probes, 0, sizeof(host->probes));
	CHECK_U64(crux_daemon_create(&options, &calls, &host->daemon, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	CHECK_U64(crux_daemon_begin(host->daemon, rig->now_s, NULL), CRUX_OK);
	rig_wake(host);
}

static void rig_down(struct rig *rig, uint32_t h)
{
	crux_daemon_destroy(rig->hosts[h].daemon);
	rig->hosts[h].daemon = NULL;
	rig->hosts[h].life++;
}

static void rig_start_on(struct rig *rig, uint32_t j, uint32_t index)
{
	struct rig_job *job = &rig->jobs[j];
	struct rig_host *host = &rig->hosts[job->hosts[index]];
	struct crux_decider_flow flows[RIG_NICS + 1];
	const struct crux_daemon_job row = {.id = job->id,
					    .n_hosts = job->n_hosts,
					    .hosts = job->hosts,
					    .gpus = job->n_hosts * 8,
					    .flop = job->flop,
					    .compute_s = job->compute_s,
					    .overlap_start = 1,
					    .iteration_s = job->iteration_s,
					    .n_flows = rig_flows(job, index, flows),
					    .flows = flows};
	struct crux_error err = {.text = ""};

	if (!host->daemon || job->ended)
		return;
	if (!job->started[index])
		job->start_s[index] = rig->now_s;
	job->started[index] = true;
	for (uint32_t p = 0; p < RIG_PAIRS && rig->asks; p++)
		for (uint32_t f = 0; f < row.n_flows; f++)
			if (host->probes[p].on && host->probes[p].src.v == flows[f].src_nic.v &&
			    host->probes[p].dst.v == flows[f].dst_nic.v)
				rig_probe_soon(host, p); /* it brings new ports */
	CHECK_U64(crux_daemon_job_start(host->daemon, rig->now_s, &row, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	rig_wake(host);
}

static void rig_end_on(struct rig *rig, uint32_t j, uint32_t index)
{
	struct rig_job *job = &rig->jobs[j];
	struct rig_host *host = &rig->hosts[job->hosts[index]];
	enum crux_status status;

	job->ended = true;
	if (!host->daemon)
		return;
	/* CRUX_NOT_FOUND: the host came back and knows nothing of it. */
	status = crux_daemon_job_end(host->daemon, rig->now_s, job->id, NULL);
	CHECK(status == CRUX_OK || status == CRUX_NOT_FOUND);
	rig_wake(host);
}

/* Counters as they are `t` seconds after the start: compute_s of computation, then flows until
 * the iteration's end, evenly. */
static void rig_counters(const struct rig *rig, const struct rig_job *job, uint32_t index, double t,
			 struct crux_profile_counters *out, uint64_t *bytes)
{
	double k = floor(t / job->iteration_s), at = t - k * job->iteration_s;
	double busy = k * job->compute_s + (at < job->compute_s ? at : job->compute_s);
	double moved = k;
	uint32_t n = job->n_hosts > 1 ? RIG_NICS + 1 : 1;

	if (rig->staged) {
		double part = job->compute_s / job->n_hosts, done = at - index * part;

		busy = k * part + (done < 0 ? 0 : done < part ? done : part);
	}
	if (at > job->compute_s)
		moved += (at - job->compute_s) / (job->iteration_s - job->compute_s);
	busy = floor(busy * 1e9 + 0.5) * 1e-9; /* roundings would let it fall */
	if (rig->silent_counters || (rig->cpu_only && !index))
		busy = moved = 0;
	*out = (struct crux_profile_counters){.flop = job->flop * busy / job->compute_s,
					      .busy_s = 8 * busy,
					      .any_busy_s = busy,
					      .flow_bytes = bytes};
	for (uint32_t f = 0; f < n; f++)
		bytes[f] = (uint64_t)(moved * (f == n - 1 ? job->bytes / 2 : job->bytes) + 0.5);
}

static void rig_take_sample(struct rig *rig, struct rig_host *host, uint32_t j)
{
	const struct rig_job *job = &rig->jobs[j];
	struct crux_profile *profile = crux_daemon_profile(host->daemon, job->id);
	struct crux_profile_counters counters;
	uint64_t bytes[RIG_NICS + 1];
	uint32_t index = 0;
	double due_s;

	if (!host->samples[j] || !profile)
		return;
	while (job->hosts[index] != host->self)
		index++;
	rig_counters(rig, job, index, rig->now_s - job->start_s[index], &counters, bytes);
	rig_ok(rig, crux_profile_add(profile, rig->now_s, &counters, NULL));
	due_s = crux_profile_due_s(profile);
	rig_at(rig, due_s > rig->now_s ? due_s : rig->now_s + rig->options.sample_s,
	       (struct rig_event){
		       .kind = RIG_SAMPLE, .host = host->self, .life = host->life, .value = j});
}

static int rig_compare_ports(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* The ports of all flows of a pair, of jobs that started, and where they lie. */
static uint32_t rig_asked(struct rig_host *host, const struct rig_probe *probe, uint16_t *ports,
			  uint32_t *paths)
{
	const struct rig *rig = host->rig;
	struct crux_decider_flow flows[RIG_NICS + 1];
	uint32_t n = 0, unique = 0;

	for (uint32_t j = 0; j < rig->n_jobs && rig->asks; j++)
		for (uint32_t i = 0; i < rig->jobs[j].n_hosts; i++) {
			uint32_t n_flows = rig_flows(&rig->jobs[j], i, flows);

			for (uint32_t f = 0; f < n_flows && rig->jobs[j].started[i]; f++)
				if (flows[f].src_nic.v == probe->src.v &&
				    flows[f].dst_nic.v == probe->dst.v)
					ports[n++] = flows[f].ecmp_port;
		}
	qsort(ports, n, sizeof(*ports), rig_compare_ports);
	for (uint32_t i = 0; i < n; i++)
		if (!i || ports[i] != ports[i - 1]) {
			ports[unique] = ports[i];
			paths[unique++] = rig_ecmp_path(host, probe->src, probe->dst, ports[i]);
		}
	return unique;
}

static void rig_answer(struct rig *rig, struct rig_host *host, uint32_t p)
{
	struct crux_link_id links[4 * RIG_WAYS];
	uint16_t ports[RIG_WAYS];
	uint16_t asked_ports[RIG_JOBS * RIG_HOSTS];
	uint32_t asked_paths[RIG_JOBS * RIG_HOSTS];
	struct crux_decider_pair pair = {.links = links,
					 .ports = ports,
					 .asked_ports = asked_ports,
					 .asked_paths = asked_paths};

	if (!host->probes[p].on)
		return;
	pair.src_nic = host->probes[p].src;
	pair.dst_nic = host->probes[p].dst;
	pair.n = rig_paths(rig, pair.src_nic, pair.dst_nic, links, ports, &pair.hops);
	pair.n_asked = rig_asked(host, &host->probes[p], asked_ports, asked_paths);
	if (!rig_ok(rig, crux_daemon_paths(host->daemon, rig->now_s, &pair, NULL)))
		rig_at(rig, rig->now_s + 1e-3, /* once more */
		       (struct rig_event){.kind = RIG_PATHS,
					  .host = host->self,
					  .life = host->life,
					  .value = p});
}

/* Another number of ways is up: all pairs are probed again. */
static inline void rig_set_ways(struct rig *rig, uint32_t ways)
{
	rig->ways = ways;
	for (uint32_t h = 0; h < rig->n; h++)
		for (uint32_t p = 0; p < RIG_PAIRS && rig->hosts[h].daemon; p++)
			rig_at(rig, rig->now_s + 1e-3 * crux_rng_real(&rig->rng),
			       (struct rig_event){.kind = RIG_PATHS,
						  .host = h,
						  .life = rig->hosts[h].life,
						  .value = p});
}

/* ---------------------------------------------------------------- running */

/* The library starts the jobs of a host that came back anew, or does not. */
static void rig_come_back(struct rig *rig, uint32_t h, bool jobs)
{
	if (rig->hosts[h].daemon)
		return;
	rig_up(rig, h);
	for (uint32_t j = 0; j < rig->n_jobs && jobs; j++)
		for (uint32_t i = 0; i < rig->jobs[j].n_hosts; i++)
			if (rig->jobs[j].hosts[i] == h && rig->jobs[j].started[i])
				rig_start_on(rig, j, i);
}

static void rig_do(struct rig *rig, struct rig_event *e)
{
	struct rig_host *host = &rig->hosts[e->host];
	bool alive = host->daemon && host->life == e->life;

	switch (e->kind) {
	case RIG_DATAGRAM:
		if (host->daemon && host->side == rig->hosts[e->other].side)
			rig_ok(rig, crux_daemon_receive(host->daemon, rig->now_s, e->other,
							e->bytes, e->n, NULL));
		break;
	case RIG_WAKE:
		if (alive && host->wake_s <= rig->now_s) {
			host->wake_s = INFINITY;
			rig_ok(rig, crux_daemon_tick(host->daemon, rig->now_s, NULL));
		}
		break;
	case RIG_PATHS:
		if (alive)
			rig_answer(rig, host, (uint32_t)e->value);
		break;
	case RIG_IN_FORCE:
		if (alive)
			rig_ok(rig, crux_daemon_in_force(host->daemon, rig->now_s, e->other,
							 e->value, NULL));
		break;
	case RIG_SAMPLE:
		if (alive)
			rig_take_sample(rig, host, (uint32_t)e->value);
		break;
	case RIG_START:
		rig_start_on(rig, (uint32_t)e->value, e->other);
		break;
	case RIG_END:
		rig_end_on(rig, (uint32_t)e->value, e->other);
		break;
	case RIG_CRASH:
		if (host->daemon)
			rig_down(rig, e->host);
		break;
	case RIG_RESTART:
		rig_come_back(rig, e->host, e->value);
		break;
	case RIG_SIDE:
		host->side = e->other;
		break;
	}
	free(e->bytes);
	rig_wake(host);
}

static void rig_run(struct rig *rig, double until_s)
{
	while (rig->n_heap && rig->heap[0].at_s <= until_s) {
		struct rig_event e = rig_pop(rig);

		rig->now_s = e.at_s;
		rig_do(rig, &e);
	}
	rig->now_s = until_s;
}

static struct rig *rig_make(uint32_t n, uint64_t seed, double loss)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	for (uint32_t e = 0; e < RIG_LINKS; e++) {
		rig_bps[e] = 8e9;
		rig_network[e] = true;
	}
	rig->n = n;
	rig->ways = RIG_WAYS;
	rig->loss = loss;
	rig->doubled = loss;
	rig->delay_s = 20e-6;
	rig->spread_s = loss > 0 ? 300e-6 : 0; /* reorders */
	crux_rng_init(&rig->rng, seed, 1);
	crux_daemon_options_default(&rig->options);
	rig->options.decider.n_links = RIG_LINKS;
	rig->options.decider.link_bps = rig_bps;
	rig->options.decider.link_is_network = rig_network;
	rig->options.decider.decide.levels = 3;
	rig->options.sample_s = 200e-6;
	rig->options.iterations = 4;
	for (uint32_t h = 0; h < n; h++) {
		rig->hosts[h].rig = rig;
		rig->hosts[h].self = h;
	}
	return rig;
}

static void rig_begin(struct rig *rig)
{
	for (uint32_t h = 0; h < rig->n; h++)
		if (!rig->hosts[h].daemon)
			rig_up(rig, h);
}

static void rig_free(struct rig *rig)
{
	for (uint32_t h = 0; h < rig->n; h++)
		crux_daemon_destroy(rig->hosts[h].daemon);
	for (size_t i = 0; i < rig->n_heap; i++)
		free(rig->heap[i].bytes);
	free(rig->heap);
	free(rig);
}

/* A job on the given hosts; it starts at start_s on each, up to late_s later. Its number. */
static inline uint32_t rig_job(struct rig *rig, uint32_t n, const uint32_t *hosts, double start_s,
			       double late_s)
{
	uint32_t j = rig->n_jobs++;
	struct rig_job *job = &rig->jobs[j];

	*job = (struct rig_job){.id = j, .n_hosts = n};
	memcpy(job->hosts, hosts, n * sizeof(*hosts));
	job->flop = 1e12 * (double)(1 + crux_rng_below(&rig->rng, 9));
	job->iteration_s = 5e-3 * (double)(1 + crux_rng_below(&rig->rng, 4));
	job->compute_s = job->iteration_s / 2;
	job->bytes = 1e5 * (double)(1 + crux_rng_below(&rig->rng, 9));
	for (uint32_t i = 0; i < n; i++)
		rig_at(rig, start_s + late_s * crux_rng_real(&rig->rng),
		       (struct rig_event){
			       .kind = RIG_START, .host = hosts[i], .other = i, .value = j});
	return j;
}

static inline void rig_end(struct rig *rig, uint32_t j, double at_s, double late_s)
{
	for (uint32_t i = 0; i < rig->jobs[j].n_hosts; i++)
		rig_at(rig, at_s + late_s * crux_rng_real(&rig->rng),
		       (struct rig_event){.kind = RIG_END,
					  .host = rig->jobs[j].hosts[i],
					  .other = i,
					  .value = j});
}

static inline void rig_crash(struct rig *rig, uint32_t host, double at_s)
{
	rig_at(rig, at_s, (struct rig_event){.kind = RIG_CRASH, .host = host});
}

static inline void rig_restart(struct rig *rig, uint32_t host, double at_s, bool jobs)
{
	rig_at(rig, at_s, (struct rig_event){.kind = RIG_RESTART, .host = host, .value = jobs});
}

static inline void rig_side(struct rig *rig, uint32_t host, double at_s, uint32_t side)
{
	rig_at(rig, at_s, (struct rig_event){.kind = RIG_SIDE, .host = host, .other = side});
}

#endif /* DAEMON_RIG_H */
