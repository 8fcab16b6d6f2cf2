/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-decider: jobs and pairs as they are reported; see crux-decider.h.
 *
 * Place: model/core (C11). Depends on decider-private.h.
 */
#include "decider-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum crux_status crux_decider_create(const struct crux_decider_options *options,
				     struct crux_decider **out, struct crux_error *err)
{
	const struct crux_policy *policy;
	enum crux_status status;
	struct crux_decider *d;

	if (!options->policy)
		return crux_fail(err, CRUX_INVALID, "a decider without the name of a policy");
	status = crux_policy_find(options->policy, &policy, err);
	if (status)
		return status;
	if (!options->decide.levels || options->decide.levels > 64)
		return crux_fail(err, CRUX_RANGE, "%u levels: not in 1..64",
				 options->decide.levels);
	if (!options->n_links || !options->link_bps || !options->link_is_network)
		return crux_fail(err, CRUX_INVALID,
				 "a decider of %u links: their rates and kinds are needed",
				 options->n_links);
	for (uint32_t e = 0; e < options->n_links; e++)
		if (!(options->link_bps[e] > 0) || !isfinite(options->link_bps[e]))
			return crux_fail(err, CRUX_RANGE, "link %u: %g bit/s is not above 0", e,
					 options->link_bps[e]);
	if (!(options->alike >= 0 && options->alike <= 0.5))
		return crux_fail(err, CRUX_RANGE, "alike %g: not in 0..0.5", options->alike);
	d = crux_zeroed(1, sizeof(*d));
	if (!d)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a decider");
	d->policy = policy;
	d->options = options->decide;
	d->alike = options->alike;
	d->n_links = options->n_links;
	d->link_bps = crux_array(d->n_links, sizeof(*d->link_bps));
	d->link_is_network = crux_array(d->n_links, sizeof(*d->link_is_network));
	if (!d->link_bps || !d->link_is_network) {
		crux_decider_destroy(d);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a decider of %u links",
				 options->n_links);
	}
	memcpy(d->link_bps, options->link_bps, d->n_links * sizeof(*d->link_bps));
	memcpy(d->link_is_network, options->link_is_network,
	       d->n_links * sizeof(*d->link_is_network));
	*out = d;
	return CRUX_OK;
}

static void free_pair(struct decider_pair *pair)
{
	crux_free(pair->set.links);
	crux_free(pair->ports);
	crux_free(pair->kept);
	crux_free(pair->asked_ports);
	crux_free(pair->asked_paths);
}

void crux_decider_destroy(struct crux_decider *decider)
{
	if (!decider)
		return;
	for (size_t j = 0; j < decider->n_jobs; j++)
		crux_free(decider->jobs[j].flows);
	for (size_t p = 0; p < decider->n_pairs; p++)
		free_pair(&decider->pairs[p]);
	crux_free(decider->jobs);
	crux_free(decider->pairs);
	crux_free(decider->link_bps);
	crux_free(decider->link_is_network);
	crux_free(decider->orders);
	crux_free(decider->numbers);
	crux_free(decider->ports);
	crux_free(decider);
}

uint32_t crux_decider_jobs(const struct crux_decider *decider)
{
	return (uint32_t)decider->n_jobs;
}

uint64_t crux_decider_left_out(const struct crux_decider *decider)
{
	return decider->left_out;
}

/* ---------------------------------------------------------------- jobs */

static size_t find_job(const struct crux_decider *d, int64_t id, bool *found)
{
	size_t low = 0, high = d->n_jobs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->jobs[mid].row.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	*found = low < d->n_jobs && d->jobs[low].row.id == id;
	return low;
}

static enum crux_status check_links(const struct crux_decider *d, const struct crux_link_id *links,
				    size_t n, struct crux_error *err)
{
	for (size_t i = 0; i < n; i++)
		if (links[i].v >= d->n_links)
			return crux_fail(err, CRUX_NOT_FOUND, "link %u of %u", links[i].v,
					 d->n_links);
	return CRUX_OK;
}

static enum crux_status check_flow(const struct crux_decider *d,
				   const struct crux_decider_flow *flow, struct crux_error *err)
{
	uint32_t most = decider_in_host(flow) ? CRUX_FLOW_ENDS : CRUX_FLOW_ENDS - 1;
	enum crux_status status;

	if ((flow->src_nic.v == CRUX_NONE) != (flow->dst_nic.v == CRUX_NONE))
		return crux_fail(err, CRUX_INVALID, "one NIC only");
	if (!flow->steps)
		return crux_fail(err, CRUX_RANGE, "0 steps: at least 1");
	if (!(flow->bytes >= 0) || flow->bytes >= 0x1p63)
		return crux_fail(err, CRUX_RANGE, "%g bytes are not in [0, 2^63)", flow->bytes);
	if (flow->n_pre > most || flow->n_post > most)
		return crux_fail(err, CRUX_LIMIT, "%u and %u fixed links, at most %u", flow->n_pre,
				 flow->n_post, most);
	status = check_links(d, flow->pre, flow->n_pre, err);
	return status ? status : check_links(d, flow->post, flow->n_post, err);
}

static bool is_amount(double x)
{
	return x >= 0 && isfinite(x);
}

static enum crux_status check_job(const struct crux_decider *d, const struct crux_decider_job *job,
				  struct crux_error *err)
{
	long long id = job->id;

	if (!job->gpus)
		return crux_fail(err, CRUX_RANGE, "job %lld: 0 GPUs", id);
	if (!is_amount(job->flop))
		return crux_fail(err, CRUX_RANGE, "job %lld: %g FLOP is not >= 0", id, job->flop);
	if (!is_amount(job->compute_s))
		return crux_fail(err, CRUX_RANGE, "job %lld: %g s of computation is not >= 0", id,
				 job->compute_s);
	if (!(job->overlap_start >= 0 && job->overlap_start <= 1))
		return crux_fail(err, CRUX_RANGE, "job %lld: overlap start %g is not in [0, 1]", id,
				 job->overlap_start);
	if (!is_amount(job->iteration_s))
		return crux_fail(err, CRUX_RANGE, "job %lld: an iteration of %g s is not >= 0", id,
				 job->iteration_s);
	for (uint32_t f = 0; f < job->n_flows; f++) {
		enum crux_status status = check_flow(d, &job->flows[f], err);

		if (status) {
			crux_fail_prefix(err, "job %lld, flow %u: ", id, job->flows[f].number);
			return status;
		}
	}
	return CRUX_OK;
}

static int compare_flows(const void *a, const void *b)
{
	const struct crux_decider_flow *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

enum crux_status crux_decider_report(struct crux_decider *decider,
				     const struct crux_decider_job *job, struct crux_error *err)
{
	enum crux_status status = check_job(decider, job, err);
	struct crux_decider_flow *flows;
	bool found;
	size_t at = find_job(decider, job->id, &found);
	struct decider_job *row;

	if (!status && !found)
		status = crux_reserve((void **)&decider->jobs, &decider->jobs_cap,
				      decider->n_jobs + 1, sizeof(*decider->jobs), err);
	if (status)
		return status;
	flows = crux_array(job->n_flows, sizeof(*flows));
	if (!flows)
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %lld of %u flows",
				 (long long)job->id, job->n_flows);
	if (job->n_flows) {
		memcpy(flows, job->flows, job->n_flows * sizeof(*flows));
		qsort(flows, job->n_flows, sizeof(*flows), compare_flows);
	}
	for (uint32_t f = 1; f < job->n_flows; f++)
		if (flows[f].number == flows[f - 1].number) {
			status = crux_fail(err, CRUX_DUPLICATE, "job %lld: flow %u is given twice",
					   (long long)job->id, flows[f].number);
			crux_free(flows);
			return status;
		}
	row = &decider->jobs[at];
	if (found) {
		crux_free(row->flows);
	} else {
		memmove(row + 1, row, (decider->n_jobs - at) * sizeof(*row));
		decider->n_jobs++;
	}
	row->row = *job;
	row->row.flows = row->flows = flows;
	return CRUX_OK;
}

/* ---------------------------------------------------------------- pairs */

size_t decider_find_pair(const struct crux_decider *decider, struct crux_node_id src,
			 struct crux_node_id dst, bool *found)
{
	size_t low = 0, high = decider->n_pairs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct decider_pair *pair = &decider->pairs[mid];

		if (pair->src_nic.v < src.v ||
		    (pair->src_nic.v == src.v && pair->dst_nic.v < dst.v))
			low = mid + 1;
		else
			high = mid;
	}
	*found = low < decider->n_pairs && decider->pairs[low].src_nic.v == src.v &&
		 decider->pairs[low].dst_nic.v == dst.v;
	return low;
}

const struct decider_pair *decider_pair_of(const struct crux_decider *decider,
					   const struct crux_decider_flow *flow)
{
	bool found;
	size_t at = decider_find_pair(decider, flow->src_nic, flow->dst_nic, &found);

	return found ? &decider->pairs[at] : NULL;
}

static bool uses(const struct decider_job *job, const struct decider_pair *pair)
{
	for (uint32_t f = 0; f < job->row.n_flows; f++)
		if (job->flows[f].src_nic.v == pair->src_nic.v &&
		    job->flows[f].dst_nic.v == pair->dst_nic.v)
			return true;
	return false;
}

static void drop_pair(struct crux_decider *d, size_t at)
{
	free_pair(&d->pairs[at]);
	memmove(&d->pairs[at], &d->pairs[at + 1], (--d->n_pairs - at) * sizeof(*d->pairs));
}

enum crux_status crux_decider_done(struct crux_decider *decider, int64_t job,
				   struct crux_error *err)
{
	bool found, kept;
	size_t at = find_job(decider, job, &found);
	struct decider_job gone;

	if (!found)
		return crux_fail(err, CRUX_NOT_FOUND, "job %lld is not known", (long long)job);
	gone = decider->jobs[at];
	memmove(&decider->jobs[at], &decider->jobs[at + 1],
		(--decider->n_jobs - at) * sizeof(gone));
	for (uint32_t f = 0; f < gone.row.n_flows; f++) {
		size_t p = decider_find_pair(decider, gone.flows[f].src_nic, gone.flows[f].dst_nic,
					     &found);

		kept = !found;
		for (size_t j = 0; j < decider->n_jobs && !kept; j++)
			kept = uses(&decider->jobs[j], &decider->pairs[p]);
		if (!kept)
			drop_pair(decider, p);
	}
	crux_free(gone.flows);
	return CRUX_OK;
}

static enum crux_status check_pair(const struct crux_decider *d,
				   const struct crux_decider_pair *pair, struct crux_error *err)
{
	enum crux_status status;

	if (pair->src_nic.v == CRUX_NONE || pair->dst_nic.v == CRUX_NONE)
		return crux_fail(err, CRUX_INVALID, "a pair of NICs without NIC");
	for (uint32_t i = 0; i < pair->n_asked; i++) {
		if (i && pair->asked_ports[i] <= pair->asked_ports[i - 1])
			return crux_fail(err, CRUX_INVALID,
					 "NIC %u to NIC %u: asked port %u after %u: they have to "
					 "rise",
					 pair->src_nic.v, pair->dst_nic.v, pair->asked_ports[i],
					 pair->asked_ports[i - 1]);
		if (pair->asked_paths[i] >= pair->n && pair->asked_paths[i] != CRUX_NONE)
			return crux_fail(err, CRUX_NOT_FOUND,
					 "NIC %u to NIC %u: port %u takes path %u of %u",
					 pair->src_nic.v, pair->dst_nic.v, pair->asked_ports[i],
					 pair->asked_paths[i], pair->n);
	}
	if (!pair->n)
		return CRUX_OK;
	if (pair->hops < 2)
		return crux_fail(err, CRUX_RANGE,
				 "NIC %u to NIC %u: paths of %u links, at least 2: to a switch "
				 "and from one",
				 pair->src_nic.v, pair->dst_nic.v, pair->hops);
	status = check_links(d, pair->links, (size_t)pair->n * pair->hops, err);
	if (status)
		crux_fail_prefix(err, "NIC %u to NIC %u: ", pair->src_nic.v, pair->dst_nic.v);
	return status;
}

/* Make room for the pair and take over its paths. */
static enum crux_status fill_pair(struct decider_pair *out, const struct crux_decider_pair *pair,
				  struct crux_error *err)
{
	uint32_t hops = pair->n ? pair->hops - 2 : 0, i;

	*out = (struct decider_pair){.src_nic = pair->src_nic,
				     .dst_nic = pair->dst_nic,
				     .set = {.hops = hops},
				     .n_reported = pair->n,
				     .n_asked = pair->n_asked};
	out->set.links = crux_array((size_t)pair->n * hops, sizeof(*out->set.links));
	out->ports = crux_array(pair->n, sizeof(*out->ports));
	out->kept = crux_array(pair->n, sizeof(*out->kept));
	out->asked_ports = crux_array(pair->n_asked, sizeof(*out->asked_ports));
	out->asked_paths = crux_array(pair->n_asked, sizeof(*out->asked_paths));
	if (!out->set.links || !out->ports || !out->kept || !out->asked_ports ||
	    !out->asked_paths) {
		free_pair(out);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u paths", pair->n);
	}
	if (pair->n_asked) {
		memcpy(out->asked_ports, pair->asked_ports,
		       pair->n_asked * sizeof(*out->asked_ports));
		memcpy(out->asked_paths, pair->asked_paths,
		       pair->n_asked * sizeof(*out->asked_paths));
	}
	for (i = 0; i < pair->n; i++) {
		const struct crux_link_id *path = pair->links + (size_t)i * pair->hops;

		if (!i) {
			out->first = path[0];
			out->last = path[pair->hops - 1];
		}
		out->kept[i] = CRUX_NONE;
		if (path[0].v != out->first.v || path[pair->hops - 1].v != out->last.v)
			continue;
		out->kept[i] = out->set.n;
		out->ports[out->set.n] = pair->ports[i];
		memcpy(out->set.links + (size_t)out->set.n++ * hops, path + 1,
		       hops * sizeof(*path));
	}
	return CRUX_OK;
}

/* The same paths in the same order; what stands left out on both sides does not matter. */
static bool same_paths(const struct decider_pair *a, const struct decider_pair *b)
{
	return a->n_reported == b->n_reported && a->set.n == b->set.n &&
	       a->set.hops == b->set.hops && a->first.v == b->first.v && a->last.v == b->last.v &&
	       (!a->n_reported || !memcmp(a->kept, b->kept, a->n_reported * sizeof(*a->kept))) &&
	       (!a->set.n || !memcmp(a->set.links, b->set.links,
				     (size_t)a->set.n * a->set.hops * sizeof(*a->set.links)));
}

/* What was known of ports that the new report does not name stays. */
static enum crux_status keep_asked(struct decider_pair *new, const struct decider_pair *old,
				   struct crux_error *err)
{
	uint32_t most = new->n_asked + old->n_asked, n = 0, i = 0, k = 0;
	uint16_t *ports = crux_array(most, sizeof(*ports));
	uint32_t *paths = crux_array(most, sizeof(*paths));

	if (!ports || !paths) {
		crux_free(ports);
		crux_free(paths);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u ports", most);
	}
	while (i < new->n_asked || k < old->n_asked) {
		bool of_new = k == old->n_asked ||
			      (i < new->n_asked &&new->asked_ports[i] <= old->asked_ports[k]);

		k += of_new && k < old->n_asked && new->asked_ports[i] == old->asked_ports[k];
		ports[n] = of_new ? new->asked_ports[i] : old->asked_ports[k];
		paths[n++] = of_new ? new->asked_paths[i] : old->asked_paths[k];
		i += of_new;
		k += !of_new;
	}
	crux_free(new->asked_ports);
	crux_free(new->asked_paths);
	new->asked_ports = ports;
	new->asked_paths = paths;
	new->n_asked = n;
	return CRUX_OK;
}

enum crux_status crux_decider_paths(struct crux_decider *decider,
				    const struct crux_decider_pair *pair, struct crux_error *err)
{
	enum crux_status status = check_pair(decider, pair, err);
	struct decider_pair new;
	bool found;
	size_t at = decider_find_pair(decider, pair->src_nic, pair->dst_nic, &found);

	if (!status && !found)
		status = crux_reserve((void **)&decider->pairs, &decider->pairs_cap,
				      decider->n_pairs + 1, sizeof(*decider->pairs), err);
	if (!status)
		status = fill_pair(&new, pair, err);
	if (status)
		return status;
	if (found && same_paths(&decider->pairs[at], &new))
		status = keep_asked(&new, &decider->pairs[at], err);
	if (status) {
		free_pair(&new);
		return status;
	}
	if (found) {
		free_pair(&decider->pairs[at]);
	} else {
		memmove(&decider->pairs[at + 1], &decider->pairs[at],
			(decider->n_pairs++ - at) * sizeof(new));
	}
	decider->pairs[at] = new;
	decider->left_out += new.n_reported - new.set.n;
	return CRUX_OK;
}
