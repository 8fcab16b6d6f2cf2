/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-report: what reports and orders add up to, and when two are the same.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <math.h>
#include <string.h>

static double network_bytes(const struct daemon_share *share)
{
	double sum = 0;

	for (uint32_t f = 0; f < share->n_flows; f++)
		if (share->flows[f].src_nic.v != CRUX_NONE)
			sum += share->flows[f].bytes;
	return sum;
}

/* Seconds of an iteration in which some host computes, phase by phase that which does so most. */
static double computing_s(const struct daemon_report *report)
{
	double sum = 0;

	for (uint32_t k = 0; k < CRUX_PROFILE_PHASES; k++) {
		uint16_t most = 0;

		for (uint32_t h = 0; h < report->n_hosts; h++)
			if (report->shares[h].ok && report->shares[h].phases[k] > most)
				most = report->shares[h].phases[k];
		sum += most;
	}
	return report->iteration_s * sum / CRUX_PROFILE_PHASES / UINT16_MAX;
}

/*
 * Of the job: FLOP add up; computation lasts as long as some host computes, and at least as on the
 * host where it lasts longest (where nothing tells when, or the iteration is not known);
 * communication starts as its bytes allow (crux_profile_overlap).
 */
enum crux_status daemon_measured(const struct daemon_report *report, struct crux_decider_job *out,
				 struct crux_error *err)
{
	struct crux_decider_job job = {.id = report->job,
				       .gpus = report->gpus,
				       .compute_s = computing_s(report),
				       .iteration_s = report->iteration_s};
	struct crux_decider_flow *flows;
	struct crux_profile_overlap overlap = {0};
	size_t n = 0;

	for (uint32_t h = 0; h < report->n_hosts; h++)
		n += report->shares[h].n_flows;
	flows = n < CRUX_NONE ? crux_array(n, sizeof(*flows)) : NULL;
	if (!flows)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu flows of job %lld", n,
				 (long long)report->job);
	for (uint32_t h = 0; h < report->n_hosts; h++) {
		const struct daemon_share *share = &report->shares[h];

		job.flop += share->flop;
		if (share->any_busy_s > job.compute_s)
			job.compute_s = share->any_busy_s;
		if (share->have)
			crux_profile_overlap_add(&overlap, share->overlap_start,
						 network_bytes(share));
		if (share->n_flows)
			memcpy(flows + job.n_flows, share->flows, share->n_flows * sizeof(*flows));
		job.n_flows += share->n_flows;
	}
	job.overlap_start = crux_profile_overlap_of(&overlap);
	job.flows = flows;
	*out = job;
	return CRUX_OK;
}

const struct crux_decider_pair *daemon_share_pair(const struct daemon_share *share,
						  const struct crux_decider_flow *flow)
{
	for (uint32_t p = 0; p < share->n_pairs; p++)
		if (share->pairs[p].src_nic.v == flow->src_nic.v &&
		    share->pairs[p].dst_nic.v == flow->dst_nic.v)
			return &share->pairs[p];
	return NULL;
}

void daemon_report_date(uint8_t *bytes, uint64_t version, double since_s)
{
	uint64_t bits;

	memcpy(&bits, &since_s, sizeof(bits));
	for (int i = 0; i < 8; i++) {
		bytes[DAEMON_REPORT_VERSION + i] = (uint8_t)(version >> (8 * i));
		bytes[DAEMON_REPORT_VERSION + 8 + i] = (uint8_t)(bits >> (8 * i));
	}
}

bool daemon_same_report(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b)
{
	return n_a == n_b && n_a >= DAEMON_REPORT_HEAD &&
	       !memcmp(a + DAEMON_REPORT_HEAD, b + DAEMON_REPORT_HEAD, n_a - DAEMON_REPORT_HEAD);
}

enum crux_status daemon_orders_make(struct daemon_orders *out, uint32_t n, struct crux_error *err)
{
	struct daemon_orders orders = {.numbers = crux_array(n, sizeof(*orders.numbers)),
				       .ports = crux_array(n, sizeof(*orders.ports))};

	if (!orders.numbers || !orders.ports) {
		daemon_orders_free(&orders);
		return crux_fail(err, CRUX_NOMEM, "out of memory for orders to %u flows", n);
	}
	*out = orders;
	return CRUX_OK;
}

bool daemon_same_orders(const struct daemon_orders *a, const struct daemon_orders *b)
{
	return a->level == b->level && a->shift_s == b->shift_s && a->period_s == b->period_s &&
	       a->n_flows == b->n_flows &&
	       (!a->n_flows || (!memcmp(a->numbers, b->numbers, a->n_flows * sizeof(*a->numbers)) &&
				!memcmp(a->ports, b->ports, a->n_flows * sizeof(*a->ports))));
}
