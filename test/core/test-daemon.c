/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-daemon: what daemons do step by step: profile, paths, plan, orders, end; what they measure;
 * how much they say; what is refused; memory. Faults: test-daemon-faults.c.
 *
 * Place: test/core. Depends on libcrux, daemon-rig.h, daemon-rig-check.h.
 */
#include "crux-oom-count.h"
#include "daemon-rig-check.h"

static const uint32_t all[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static struct rig *calm_rig(uint32_t n, bool profile)
{
	struct rig *rig = rig_make(n, 1, 0);

	rig->options.profile = profile;
	rig_begin(rig);
	return rig;
}

/* Declared numbers: the report is what was declared, whole; one plan, in force. Paths are known
 * within 1 ms, the report follows settle_s = 1 ms after the last, the plan 1 ms after that. */
static void declared(void)
{
	struct rig *rig = calm_rig(8, false);
	uint32_t j = rig_job(rig, 8, all, 0.1, 0);
	const struct daemon_known *known;
	struct crux_decider_job job;
	struct daemon_message m;

	rig_run(rig, 0.1 - 1e-6);
	CHECK_U64(rig->events[CRUX_DAEMON_COORDINATES], 1);
	rig_run(rig, 1);
	rig_check(rig);
	CHECK_U64(rig->events[CRUX_DAEMON_DECIDED], 1);
	CHECK_U64(rig->events[CRUX_DAEMON_ORDERED], 1);
	CHECK_U64(rig->events[CRUX_DAEMON_IN_FORCE], 1);
	CHECK_U64(rig->events[CRUX_DAEMON_LEADS], 1);
	CHECK_U64(rig->events[CRUX_DAEMON_PROFILED], 0);
	CHECK_U64(rig->events[CRUX_DAEMON_WARNING], 0);
	CHECK_U64(rig->events[CRUX_DAEMON_SUSPECTS], 0);
	CHECK_U64(rig->decided, daemon_version(1, 0, 1));
	CHECK_U64(rig->in_force, rig->decided);
	CHECK(rig->decided_s < 0.104 && rig->in_force_s < 0.106);
	CHECK(rig->decided_since_s > 0.1 && rig->decided_since_s < rig->decided_s - 0.9e-3);
	for (uint32_t h = 0; h < 8; h++)
		CHECK_U64(rig->hosts[h].applied[j].calls, 2); /* profiling, orders */
	known = daemon_find_known(rig->hosts[0].daemon, j, NULL);
	if (known) {
		CHECK_U64(daemon_decode(known->report, known->report_n, &m, NULL), CRUX_OK);
		CHECK_U64(daemon_measured(&m.report, &job, NULL), CRUX_OK);
		CHECK_U64(job.gpus, 64);
		CHECK_NEAR(job.flop, 8 * rig->jobs[j].flop, 0);
		CHECK_NEAR(job.compute_s, rig->jobs[j].compute_s, 0);
		CHECK_NEAR(job.iteration_s, rig->jobs[j].iteration_s, 0);
		CHECK_U64(job.n_flows, 8 * (RIG_NICS + 1));
		crux_free((void *)(uintptr_t)job.flows);
		daemon_message_free(&m);
	}
	rig_end(rig, j, 1.5, 0);
	rig_run(rig, 2);
	rig_check(rig);
	CHECK_U64(rig->events[CRUX_DAEMON_FORGETS], 1);
	CHECK_U64(rig->events[CRUX_DAEMON_IN_FORCE], 2); /* a plan without jobs: at once */
	CHECK_NEAR(rig->decided_since_s, 1.5, 1e-9);
	rig_free(rig);
}

/* Measured: iterations of 20 ms with 10 ms of computation on 4 hosts, sampled every 0.2 ms. */
static void measured(void)
{
	struct rig *rig = calm_rig(4, true);
	uint32_t j = rig_job(rig, 4, all, 0.1, 0);
	const struct rig_job *job = &rig->jobs[j];

	rig->jobs[j].iteration_s = 20e-3;
	rig->jobs[j].compute_s = 10e-3;
	rig_run(rig, 3);
	rig_check(rig);
	CHECK_U64(rig->events[CRUX_DAEMON_PROFILED], 1);
	CHECK_U64(rig->events[CRUX_DAEMON_WARNING], 0);
	CHECK_U64(rig->events[CRUX_DAEMON_DECIDED], 1);
	CHECK(rig->period[j].count >= 4);
	CHECK_NEAR(rig->measured[j].iteration_s, 20e-3, 0.4e-3);
	CHECK_NEAR(rig->measured[j].compute_s, 10e-3, 0.2e-3);
	CHECK_NEAR(rig->measured[j].flop, 4 * job->flop, 0.02 * 4 * job->flop);
	CHECK_NEAR(rig->measured[j].overlap_start, 1, 0.05);
	/* A host sends RIG_NICS x bytes to others and half of that of one within. */
	CHECK_NEAR(rig->measured_bytes[j], 4 * 2.5 * job->bytes, 0.02 * 10 * job->bytes);
	rig_free(rig);
}

/* Four hosts compute one after the other, 2.5 ms each of 20: together 10 ms. Phases are 0.31 ms
 * long and samples 0.2 ms apart; where one host ends and the next begins, three times, at most half
 * of a phase and a sample is missed. */
static void staged(void)
{
	struct rig *rig = calm_rig(4, true);
	uint32_t j = rig_job(rig, 4, all, 0.1, 0);

	rig->staged = true;
	rig->jobs[j].iteration_s = 20e-3;
	rig->jobs[j].compute_s = 10e-3;
	rig_run(rig, 3);
	rig_check(rig);
	CHECK_U64(rig->events[CRUX_DAEMON_PROFILED], 1);
	CHECK_NEAR(rig->measured[j].iteration_s, 20e-3, 0.4e-3);
	CHECK_NEAR(rig->measured[j].compute_s, 10e-3, 3 * 0.26e-3);
	rig_free(rig);
}

/* Nothing moves or computes on the leader's host: another finds the iterations. */
static void no_signal(void)
{
	struct rig *rig = calm_rig(4, true);
	uint32_t j = rig_job(rig, 4, all, 0.1, 0);

	rig->cpu_only = true;
	rig_run(rig, 3);
	rig_check(rig);
	CHECK_U64(rig->events[CRUX_DAEMON_PROFILED], 1);
	CHECK(rig->period[j].count >= 4);
	CHECK_NEAR(rig->measured[j].iteration_s, rig->jobs[j].iteration_s,
		   0.03 * rig->jobs[j].iteration_s);
	CHECK_NEAR(rig->measured[j].flop, 3 * rig->jobs[j].flop, 0.02 * 3 * rig->jobs[j].flop);
	rig_free(rig);
}

/* No iterations anywhere: after profile_timeout_s the window counts as one, and it is said. */
static void timeout(void)
{
	struct rig *rig = calm_rig(4, true);
	uint32_t j;

	for (uint32_t h = 0; h < 4; h++)
		rig_down(rig, h);
	rig->options.profile_timeout_s = 0.5;
	rig->silent_counters = true;
	rig_begin(rig);
	j = rig_job(rig, 4, all, 0.1, 0);
	rig_run(rig, 0.59);
	CHECK_U64(rig->events[CRUX_DAEMON_PROFILED], 0);
	CHECK_U64(rig->hosts[1].applied[j].level, CRUX_LEVEL_PROFILING);
	rig_run(rig, 2);
	rig_check(rig);
	CHECK_U64(rig->events[CRUX_DAEMON_PROFILED], 1);
	CHECK_U64(rig->period[j].count, 0);
	CHECK_NEAR(rig->measured[j].iteration_s, 0, 0);
	CHECK_HAS(rig->warning, "the window is averaged");
	rig_free(rig);
}

/* Two jobs within settle_s: one decision; later ones: one each. */
static void settling(void)
{
	struct rig *rig = calm_rig(8, false);

	rig->hosts[0].daemon->options.settle_s = 5e-3;
	rig_job(rig, 4, all, 0.1, 0);
	rig_job(rig, 4, all + 4, 0.102, 0);
	rig_run(rig, 0.5);
	CHECK_U64(rig->events[CRUX_DAEMON_DECIDED], 1);
	rig_job(rig, 4, all + 2, 0.6, 0);
	rig_run(rig, 1);
	CHECK_U64(rig->events[CRUX_DAEMON_DECIDED], 2);
	rig_check(rig);
	rig_free(rig);
}

/* Paths probed anew: other ones are reported and decided, equal ones are not spoken of. */
static void paths_again(void)
{
	struct rig *rig = calm_rig(8, false);
	uint64_t messages = 0, before = 0;

	rig_job(rig, 8, all, 0.1, 0);
	rig_run(rig, 1.05); /* between two heartbeats */
	for (uint32_t h = 0; h < 8; h++)
		before += crux_daemon_counters(rig->hosts[h].daemon)->messages;
	rig_set_ways(rig, RIG_WAYS);
	rig_run(rig, 1.06);
	for (uint32_t h = 0; h < 8; h++)
		messages += crux_daemon_counters(rig->hosts[h].daemon)->messages;
	CHECK(messages - before <= 2 * (7 + 7)); /* a heartbeat both ways, if any */
	rig_run(rig, 2);
	CHECK_U64(rig->events[CRUX_DAEMON_DECIDED], 1);
	rig_set_ways(rig, 1);
	rig_run(rig, 3);
	CHECK(rig->events[CRUX_DAEMON_DECIDED] >= 2);
	rig_check(rig);
	rig_free(rig);
}

/* Switches' hash is not known: ports that were asked for say where the flows of ecmp lie. Port
 * 50000 + 31 job + 7 index + c takes way port mod 3. A job that comes later on the same pairs has
 * its ports asked for too; the first one, whose ports lie where they did, is not spoken of. */
static void asked_ports(void)
{
	struct rig *rig = rig_make(8, 1, 0), *hash = rig_make(8, 1, 0);
	const struct daemon_known *known;
	struct daemon_message m;
	uint32_t flows = 0;

	rig->asks = true;
	for (int k = 0; k < 2; k++) {
		struct rig *one = k ? hash : rig;

		one->options.profile = false;
		one->options.decider.policy = "ecmp";
		rig_begin(one);
		rig_job(one, 8, all, 0.1, 0);
		rig_job(one, 8, all, 1, 0);
		one->jobs[1].bytes = one->jobs[0].bytes;
		rig_run(one, 0.9);
		CHECK_U64(one->events[CRUX_DAEMON_DECIDED], 1);
		rig_run(one, 2);
		rig_check(one);
	}
	known = daemon_find_known(rig->hosts[0].daemon, 0, NULL);
	CHECK_U64(known->report_id & DAEMON_MOST, 1); /* reported once */
	for (int64_t j = 0; j < 2; j++) {
		CHECK_NEAR(rig->t_s[j], hash->t_s[j], 0);
		known = daemon_find_known(rig->hosts[0].daemon, j, NULL);
		CHECK_U64(daemon_decode(known->report, known->report_n, &m, NULL), CRUX_OK);
		for (uint32_t h = 0; h < m.report.n_hosts; h++)
			for (uint32_t p = 0; p < m.report.shares[h].n_pairs; p++) {
				const struct crux_decider_pair *pair = &m.report.shares[h].pairs[p];
				uint32_t port = 50000 + 31 * (uint32_t)j + 7 * h + p;

				CHECK_U64(pair->n_asked, 1);
				CHECK_U64(pair->asked_ports[0], port);
				CHECK_U64(pair->asked_paths[0], pair->n == 1 ? 0 : port % 3);
				flows++;
			}
		daemon_message_free(&m);
	}
	CHECK_U64(flows, 2 * 8 * RIG_NICS);
	rig_free(rig);
	rig_free(hash);
}

/* One host, no flows to others: decided as any; a cluster of one host, too. */
static void alone(void)
{
	struct rig *rig = calm_rig(4, false), *one = calm_rig(1, true);
	const uint32_t host = 2;

	rig_job(rig, 1, &host, 0.1, 0);
	rig_job(rig, 2, all, 0.1, 0); /* shares nothing with it */
	rig_run(rig, 1);
	rig_check(rig);
	CHECK_U64(rig->events[CRUX_DAEMON_ORDERED], 2);
	rig_free(rig);
	rig_job(one, 1, all, 0.1, 0);
	rig_run(one, 2);
	rig_check(one);
	CHECK_U64(one->events[CRUX_DAEMON_PROFILED], 1);
	CHECK_U64(one->datagrams, 0);
	rig_end(one, 0, 2, 0);
	rig_run(one, 3);
	rig_check(one);
	rig_free(one);
}

/* The job ends while it is profiled: 20 to 25 ms after its start, where 4 iterations of 20 ms take
 * 80 ms. */
static void ends_early(void)
{
	struct rig *rig = calm_rig(4, true);
	uint32_t j = rig_job(rig, 4, all, 0.1, 0);

	rig->jobs[j].iteration_s = 20e-3;
	rig->jobs[j].compute_s = 10e-3;
	rig_end(rig, j, 0.12, 5e-3);
	rig_run(rig, 2);
	rig_check(rig);
	CHECK_U64(rig->events[CRUX_DAEMON_PROFILED], 0);
	for (uint32_t h = 0; h < 4; h++) {
		CHECK(!rig->hosts[h].samples[j]);
		for (uint32_t p = 0; p < RIG_PAIRS; p++)
			CHECK(!rig->hosts[h].probes[p].on);
	}
	rig_free(rig);
}

/* Host 3 starts its ranks 50 ms late: the orders wait for it there. */
static void late_start(void)
{
	struct rig *rig = calm_rig(4, false);
	struct daemon_message set = {.type = DAEMON_SET, .job = 0, .term = 1};
	struct daemon_buffer buffer = {.n = 0};
	struct daemon_item item = {.kind = DAEMON_MESSAGE, .host = 0};
	struct crux_daemon *d = rig->hosts[3].daemon;

	rig_run(rig, 0.01);
	set.orders.version = daemon_version(1, 0, 7);
	set.orders.level = 2;
	daemon_encode(&buffer, &set);
	item.bytes = buffer.bytes;
	item.n = buffer.n;
	CHECK_U64(daemon_push(d, item, NULL), CRUX_OK);
	CHECK_U64(daemon_run(d, NULL), CRUX_OK);
	rig_job(rig, 4, all, 0.05, 0);
	rig_run(rig, 0.05 + 1e-6);
	CHECK_U64(rig->hosts[3].applied[0].level, 2);
	CHECK_U64(rig->hosts[3].applied[0].version, set.orders.version);
	rig_run(rig, 2); /* a version that was not this life's is outdone */
	rig_check(rig);
	CHECK(rig->hosts[3].applied[0].version >> 32 == 2);
	rig_free(rig);
}

/* All hosts of a job fall silent: the coordinator forgets it after 10 x 3 x 0.1 s. */
static void forgotten(void)
{
	struct rig *rig = calm_rig(4, false);

	rig_job(rig, 2, all + 2, 0.1, 0);
	rig_crash(rig, 2, 1);
	rig_crash(rig, 3, 1);
	rig_run(rig, 3.8);
	CHECK_U64(rig->events[CRUX_DAEMON_FORGETS], 0);
	rig_run(rig, 4.3);
	CHECK_U64(rig->events[CRUX_DAEMON_FORGETS], 1);
	rig_check(rig);
	rig_free(rig);
}

/* cassini: shifts reach the hosts, the leader's knows that it leads. */
static void shifts(void)
{
	struct rig *rig = rig_make(8, 5, 0);
	static const uint32_t one[2] = {0, 4}, two[2] = {1, 5};

	rig->options.profile = false;
	rig->options.decider.policy = "cassini";
	rig_begin(rig);
	rig_job(rig, 2, one, 0.1, 0);
	rig_job(rig, 2, two, 0.1, 0);
	rig_run(rig, 1);
	rig_check(rig);
	CHECK_NEAR(rig->hosts[0].applied[0].period_s, rig->jobs[0].iteration_s, 0);
	CHECK(rig->hosts[0].applied[0].leads && !rig->hosts[4].applied[0].leads);
	rig_crash(rig, 1, 1);
	rig_run(rig, 3);
	CHECK(rig->hosts[5].applied[1].leads);
	rig_check(rig);
	rig_free(rig);
}

/* What a job of 8 hosts costs, beside heartbeats: 8 COLLECT, 8 SHARE, 8 REPORT, 1 ORDERS, 8 SET,
 * 8 + 1 IN FORCE at most; a member's paths may come after its share: 8 PATHS, and what follows. */
static void traffic(void)
{
	struct rig *rig = calm_rig(8, false);
	const struct crux_courier_counters *c;
	uint64_t messages = 0, bytes = 0, beats = 0, beat_bytes = 0;

	rig_run(rig, 1.05);
	for (uint32_t h = 0; h < 8; h++) {
		c = crux_daemon_counters(rig->hosts[h].daemon);
		beats += c->messages;
		beat_bytes += c->bytes;
	}
	rig_job(rig, 8, all, 1.051, 0);
	rig_run(rig, 1.09);
	for (uint32_t h = 0; h < 8; h++) {
		c = crux_daemon_counters(rig->hosts[h].daemon);
		messages += c->messages;
		bytes += c->bytes;
	}
	printf("8 hosts: %u messages, %u bytes to start a job; %u and %u of heartbeats in 1.05 s\n",
	       (unsigned)(messages - beats), (unsigned)(bytes - beat_bytes), (unsigned)beats,
	       (unsigned)beat_bytes);
	CHECK_U64(rig->events[CRUX_DAEMON_IN_FORCE], 1);
	CHECK(messages - beats <= 8 + 8 + 8 + 8 + 1 + 8 + 9);
	CHECK(messages - beats >= 7 * 5);
	rig_free(rig);
}

/* ---------------------------------------------------------------- what is refused; memory */

static void no_send(void *ctx, uint32_t dst, const uint8_t *bytes, size_t n)
{
	(void)ctx, (void)dst, (void)bytes, (void)n;
}

static void no_pair(void *ctx, struct crux_node_id src, struct crux_node_id dst)
{
	(void)ctx, (void)src, (void)dst;
}

static void no_sample(void *ctx, int64_t job, bool on)
{
	(void)ctx, (void)job, (void)on;
}

static void no_apply(void *ctx, const struct crux_daemon_order *order)
{
	(void)ctx, (void)order;
}

static void no_event(void *ctx, const struct crux_daemon_event *event)
{
	(void)ctx, (void)event;
}

static const struct crux_daemon_calls no_calls = {NULL,	     no_send,  no_pair,	 no_pair,
						  no_sample, no_apply, no_event, NULL};

static struct crux_daemon_options options_of(uint32_t n_hosts)
{
	struct crux_daemon_options options;

	for (uint32_t e = 0; e < RIG_LINKS; e++) {
		rig_bps[e] = 8e9;
		rig_network[e] = true;
	}
	crux_daemon_options_default(&options);
	options.n_hosts = n_hosts;
	options.decider.n_links = RIG_LINKS;
	options.decider.link_bps = rig_bps;
	options.decider.link_is_network = rig_network;
	return options;
}

static void refused(void)
{
	struct crux_daemon_options options = options_of(2);
	struct crux_daemon_calls calls = no_calls;
	struct crux_daemon *d = NULL;
	struct crux_error err = {.text = ""};
	struct crux_daemon_job job = {.id = 1, .n_hosts = 2, .hosts = all, .gpus = 8};

#define REFUSED(field, value, part)                                                                \
	do {                                                                                       \
		options = options_of(2);                                                           \
		options.field = (value);                                                           \
		CHECK_U64(crux_daemon_create(&options, &no_calls, &d, &err), CRUX_RANGE);          \
		CHECK_HAS(err.text, part);                                                         \
	} while (0)
	REFUSED(courier.self, 2, "host 2 of 2");
	REFUSED(heartbeat_s, 0, "heartbeat_s 0");
	REFUSED(misses, 0, "misses 0");
	REFUSED(settle_s, -1, "settle_s -1");
	REFUSED(iterations, 1, "iterations 1");
	REFUSED(sample_s, NAN, "sample_s");
	REFUSED(profile_timeout_s, INFINITY, "profile_timeout_s inf");
	options = options_of(2);
	calls.apply = NULL;
	CHECK_U64(crux_daemon_create(&options, &calls, &d, &err), CRUX_INVALID);
	CHECK(!d);
	options.n_hosts = 65536;
	CHECK_U64(crux_daemon_create(&options, &no_calls, &d, &err), CRUX_LIMIT);
	options.n_hosts = 2;
	CHECK_U64(crux_daemon_create(&options, &no_calls, &d, &err), CRUX_OK);
	CHECK_U64(crux_daemon_begin(d, 0, NULL), CRUX_OK);
	CHECK_U64(crux_daemon_job_end(d, 0, 1, &err), CRUX_NOT_FOUND);
	job.gpus = 0;
	CHECK_U64(crux_daemon_job_start(d, 0, &job, &err), CRUX_RANGE);
	job.gpus = 8;
	job.hosts = all + 1;
	CHECK_U64(crux_daemon_job_start(d, 0, &job, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "host 2 of 2");
	job.n_hosts = 1;
	CHECK_U64(crux_daemon_job_start(d, 0, &job, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "no ranks on host 0");
	job.hosts = all;
	CHECK_U64(crux_daemon_job_start(d, 0, &job, &err), CRUX_OK);
	CHECK_U64(crux_daemon_job_start(d, 0, &job, &err), CRUX_DUPLICATE);
	CHECK_U64(crux_daemon_leader(d, 1), 0);
	CHECK_U64(crux_daemon_leader(d, 2), CRUX_NONE);
	CHECK_U64(crux_daemon_job_end(d, 0, 1, &err), CRUX_OK);
	crux_daemon_destroy(d);
}

/* A daemon's life with every allocation failing in turn: nothing leaks. */
static enum crux_status life(struct crux_error *err)
{
	const struct crux_daemon_options options = options_of(1);
	static const struct crux_link_id links[2] = {{0}, {3}};
	static const uint16_t port = 50000, own = 0;
	static const uint32_t path = 0;
	const struct crux_decider_pair pair = {{0}, {1}, 1, 2, links, &port, 1, &own, &path};
	const struct crux_decider_flow flow = {
		.src_nic = {0}, .dst_nic = {1}, .steps = 1, .bytes = 10};
	const struct crux_daemon_job job = {
		.id = 1, .n_hosts = 1, .hosts = all, .gpus = 8, .n_flows = 1, .flows = &flow};
	struct crux_daemon_options declared = options;
	struct crux_daemon *d = NULL;
	enum crux_status status;

	declared.profile = false;
	status = crux_daemon_create(&declared, &no_calls, &d, err);
	if (!status)
		status = crux_daemon_begin(d, 0, err);
	if (!status)
		status = crux_daemon_job_start(d, 0, &job, err);
	if (!status)
		status = crux_daemon_tick(d, 0, err);
	if (!status)
		status = crux_daemon_paths(d, 0, &pair, err);
	for (int t = 1; t < 10 && !status; t++)
		status = crux_daemon_tick(d, t * 2e-3, err);
	if (!status)
		status = crux_daemon_in_force(d, 0.1, 1, daemon_version(1, 0, 1), err);
	if (!status)
		status = crux_daemon_job_end(d, 0.2, 1, err);
	crux_daemon_destroy(d);
	return status;
}

static void memory(void)
{
	CHECK(oom_every_count(life, 1) > 50);
}

int main(void)
{
	RUN(declared);
	RUN(measured);
	RUN(staged);
	RUN(no_signal);
	RUN(timeout);
	RUN(settling);
	RUN(paths_again);
	RUN(asked_ports);
	RUN(alone);
	RUN(ends_early);
	RUN(late_start);
	RUN(forgotten);
	RUN(shifts);
	RUN(traffic);
	RUN(refused);
	RUN(memory);
	return DONE();
}
