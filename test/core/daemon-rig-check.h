/* SPDX-License-Identifier: GPL-2.0-only
 *
 * daemon-rig-check: what must hold of the rig's daemons when nothing has happened for a while.
 *
 * Place: test/core. Depends on daemon-rig.h. Included once by a test.
 */
#ifndef DAEMON_RIG_CHECK_H
#define DAEMON_RIG_CHECK_H

#include "daemon-rig.h"

static inline uint32_t rig_coordinator(const struct rig *rig)
{
	uint32_t found = CRUX_NONE;

	for (uint32_t h = 0; h < rig->n; h++)
		if (rig->hosts[h].daemon && crux_daemon_coordinates(rig->hosts[h].daemon)) {
			if (found != CRUX_NONE)
				CHECK_FAIL("hosts %u and %u coordinate", found, h);
			found = h;
		}
	CHECK(found != CRUX_NONE);
	for (uint32_t h = 0; h < rig->n; h++)
		if (rig->hosts[h].daemon)
			CHECK_U64(crux_daemon_coordinator(rig->hosts[h].daemon), found);
	return found;
}

/* The plan from scratch of what the coordinator knows. */
static struct crux_decider *rig_scratch(const struct rig *rig, const struct crux_daemon *d,
					const struct crux_decider_order **orders, uint32_t *n)
{
	struct crux_decider *scratch = NULL;
	void *ctx = (void *)(uintptr_t)&rig->hosts[0];

	CHECK_U64(crux_decider_create(&rig->options.decider, &scratch, NULL), CRUX_OK);
	for (size_t k = d->n_known; k-- > 0;) {
		struct daemon_message m;
		struct crux_decider_job job;

		CHECK_U64(daemon_decode(d->known[k].report, d->known[k].report_n, &m, NULL),
			  CRUX_OK);
		CHECK_U64(daemon_measured(&m.report, &job, NULL), CRUX_OK);
		CHECK_U64(crux_decider_report(scratch, &job, NULL), CRUX_OK);
		for (uint32_t h = 0; h < m.report.n_hosts; h++)
			for (uint32_t p = 0; p < m.report.shares[h].n_pairs; p++)
				CHECK_U64(crux_decider_paths(scratch, &m.report.shares[h].pairs[p],
							     NULL),
					  CRUX_OK);
		crux_free((void *)(uintptr_t)job.flows);
		daemon_message_free(&m);
	}
	CHECK_U64(crux_decider_decide(scratch, rig->asks ? NULL : rig_ecmp_path, ctx, orders, n,
				      NULL),
		  CRUX_OK);
	return scratch;
}

static uint16_t rig_port(const struct crux_decider_order *order, uint32_t number)
{
	for (uint32_t f = 0; f < order->n_flows; f++)
		if (order->numbers[f] == number)
			return order->ports[f];
	CHECK_FAIL("flow %u has no port", number);
	return 0;
}

/* The job's orders are in force on every host that has it and lives; one leader, alive. */
static void rig_check_job(const struct rig *rig, const struct rig_job *job,
			  const struct daemon_known *known, const struct crux_decider_order *order)
{
	uint32_t leader = CRUX_NONE;

	CHECK_U64(order->level, known->orders.level);
	CHECK(known->in_force >= known->orders.version);
	for (uint32_t i = 0; i < job->n_hosts; i++) {
		const struct rig_host *host = &rig->hosts[job->hosts[i]];
		const struct rig_applied *row = &host->applied[job->id];
		const struct daemon_job *mine =
			host->daemon ? daemon_find_job(host->daemon, job->id, NULL) : NULL;

		if (!mine)
			continue;
		if (leader == CRUX_NONE)
			leader = crux_daemon_leader(host->daemon, job->id);
		CHECK_U64(crux_daemon_leader(host->daemon, job->id), leader);
		CHECK_U64(row->version, known->orders.version);
		CHECK_U64(row->level, order->level);
		CHECK_NEAR(row->shift_s, order->shift_s, 0);
		CHECK_NEAR(row->period_s, order->iteration_s, 0);
		CHECK(row->leads == (leader == host->self) || row->period_s == 0);
		CHECK_U64(mine->in_force, row->version);
		CHECK(!host->samples[job->id]);
		CHECK_U64(row->n_flows, job->n_hosts > 1 ? RIG_NICS : 0);
		for (uint32_t f = 0; f < row->n_flows; f++)
			CHECK_U64(row->ports[f], rig_port(order, row->numbers[f]));
	}
	CHECK(leader != CRUX_NONE && rig->hosts[leader].daemon);
	CHECK(leader == CRUX_NONE || daemon_find_job(rig->hosts[leader].daemon, job->id, NULL));
	CHECK_U64(known->leader, leader);
}

static bool rig_runs(const struct rig *rig, const struct rig_job *job)
{
	for (uint32_t i = 0; i < job->n_hosts && !job->ended; i++)
		if (rig->hosts[job->hosts[i]].daemon &&
		    daemon_find_job(rig->hosts[job->hosts[i]].daemon, job->id, NULL))
			return true;
	return false;
}

/* Everything that must hold when nothing happened for a while. */
static inline void rig_check(const struct rig *rig)
{
	uint32_t c = rig_coordinator(rig), n = 0, running = 0;
	const struct crux_decider_order *orders = NULL;
	const struct crux_daemon *d = c == CRUX_NONE ? NULL : rig->hosts[c].daemon;
	struct crux_decider *scratch;

	if (!d)
		return;
	scratch = rig_scratch(rig, d, &orders, &n);
	for (uint32_t j = 0; j < rig->n_jobs; j++) {
		const struct rig_job *job = &rig->jobs[j];
		const struct daemon_known *known = daemon_find_known(d, job->id, NULL);
		const struct crux_decider_order *order = NULL;

		if (!rig_runs(rig, job)) {
			if (job->ended && known)
				CHECK_FAIL("job %u has ended and is known", j);
			for (uint32_t h = 0; h < rig->n && job->ended; h++)
				if (rig->hosts[h].daemon &&
				    daemon_find_job(rig->hosts[h].daemon, j, NULL))
					CHECK_FAIL("job %u is left on host %u", j, h);
			continue;
		}
		running++;
		for (uint32_t i = 0; i < n; i++)
			if (orders[i].job == job->id)
				order = &orders[i];
		if (known && order)
			rig_check_job(rig, job, known, order);
		else
			CHECK_FAIL("job %u: known %d, order %d", j, !!known, !!order);
	}
	CHECK_U64(n, running);
	crux_decider_destroy(scratch);
}

#endif /* DAEMON_RIG_CHECK_H */
