/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-orders: a leader hands out its job's orders and hears that they are in force.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

static bool lookup(const struct daemon_orders *orders, uint32_t number, uint16_t *port)
{
	uint32_t low = 0, high = orders->n_flows;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (orders->numbers[mid] < number)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == orders->n_flows || orders->numbers[low] != number)
		return false;
	*port = orders->ports[low];
	return true;
}

enum crux_status daemon_send_set(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
				 struct crux_error *err)
{
	struct daemon_message m = {.type = DAEMON_SET, .job = job->id, .term = job->term};
	const struct daemon_share *share = &job->host[i].share;
	enum crux_status status;

	if (!share->have || !job->orders.version || !daemon_host_lives(d, job, i))
		return CRUX_OK;
	status = daemon_orders_make(&m.orders, share->n_flows, err);
	if (status)
		return status;
	m.orders.version = job->orders.version;
	m.orders.level = job->orders.level;
	m.orders.shift_s = job->orders.shift_s;
	m.orders.period_s = job->orders.period_s;
	for (uint32_t f = 0; f < share->n_flows; f++)
		if (lookup(&job->orders, share->flows[f].number, &m.orders.ports[m.orders.n_flows]))
			m.orders.numbers[m.orders.n_flows++] = share->flows[f].number;
	status = daemon_tell(d, job->hosts[i], &m, err);
	if (!status)
		job->host[i].set_s = d->now_s;
	daemon_message_free(&m);
	return status;
}

enum crux_status daemon_on_orders(struct crux_daemon *d, struct daemon_job *job,
				  struct daemon_message *m, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (m->orders.version <= job->orders.version || job->ended)
		return CRUX_OK;
	daemon_orders_free(&job->orders);
	job->orders = m->orders;
	m->orders = (struct daemon_orders){.version = 0};
	for (uint32_t i = 0; i < job->n_hosts && !status; i++)
		status = daemon_send_set(d, job, i, err);
	return status;
}

static uint64_t in_force_on(const struct daemon_job *job, uint32_t i)
{
	return i == job->self ? job->in_force : job->host[i].in_force;
}

/* On all hosts that live and have a part in it. */
enum crux_status daemon_check_in_force(struct crux_daemon *d, struct daemon_job *job,
				       struct crux_error *err)
{
	struct daemon_message m = {
		.type = DAEMON_IN_FORCE, .job = job->id, .version = job->orders.version};

	if (!job->orders.version || job->in_force_all == job->orders.version || !d->term)
		return CRUX_OK;
	for (uint32_t i = 0; i < job->n_hosts; i++)
		if (daemon_host_lives(d, job, i) && !job->host[i].ended &&
		    job->host[i].share.have && in_force_on(job, i) < job->orders.version)
			return CRUX_OK;
	job->in_force_all = job->orders.version;
	return daemon_tell(d, d->coordinator, &m, err);
}
