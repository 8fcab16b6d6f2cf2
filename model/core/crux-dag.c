/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-dag: the contention DAG of crux-compress.h. Depends on crux-problem.
 */
#include "compress-private.h"

#include <math.h>
#include <string.h>

void crux_dag_destroy(struct crux_dag *dag)
{
	if (!dag)
		return;
	crux_free(dag->first_in);
	crux_free(dag->from);
	crux_free(dag->weight);
	crux_free(dag);
}

enum crux_status compress_dag_create(uint32_t n, size_t n_edges, struct crux_dag **out,
				     struct crux_error *err)
{
	struct crux_dag *dag = crux_zeroed(1, sizeof(*dag));

	if (!dag)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a graph");
	dag->n = n;
	dag->n_edges = n_edges;
	dag->first_in = crux_zeroed((size_t)n + 2, sizeof(*dag->first_in));
	dag->from = crux_array(n_edges, sizeof(*dag->from));
	dag->weight = crux_array(n_edges, sizeof(*dag->weight));
	if (!dag->first_in || !dag->from || !dag->weight) {
		crux_dag_destroy(dag);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs, %zu edges", n,
				 n_edges);
	}
	*out = dag;
	return CRUX_OK;
}

/* Peel nodes without edges into them off the end: what stays lies on or behind a cycle. */
static enum crux_status check_acyclic(const struct crux_dag *dag, struct crux_error *err)
{
	uint32_t *out_degree = crux_zeroed(dag->n, sizeof(*out_degree));
	uint32_t *queue = crux_array(dag->n, sizeof(*queue)), n = 0;
	enum crux_status status = CRUX_OK;

	if (!out_degree || !queue) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs", dag->n);
	} else {
		for (size_t e = 0; e < dag->n_edges; e++)
			out_degree[dag->from[e]]++;
		for (uint32_t v = 0; v < dag->n; v++)
			if (!out_degree[v])
				queue[n++] = v;
		for (uint32_t i = 0; i < n; i++)
			for (size_t e = dag->first_in[queue[i]]; e < dag->first_in[queue[i] + 1];
			     e++)
				if (!--out_degree[dag->from[e]])
					queue[n++] = dag->from[e];
		for (uint32_t v = 0; v < dag->n && n < dag->n; v++)
			if (out_degree[v]) {
				status = crux_fail(err, CRUX_INVALID,
						   "the edges form a cycle that job %u leads to",
						   v);
				break;
			}
	}
	crux_free(out_degree);
	crux_free(queue);
	return status;
}

static enum crux_status too_many(size_t n_edges, struct crux_error *err)
{
	return crux_fail(err, CRUX_LIMIT, "at least %zu contention edges: at most %llu are handled",
			 n_edges, (unsigned long long)CRUX_DAG_EDGES);
}

enum crux_status crux_dag_from_edges(uint32_t n, const struct crux_dag_edge *edges, size_t n_edges,
				     struct crux_dag **out, struct crux_error *err)
{
	struct crux_dag *dag;
	enum crux_status status;

	if (n_edges > CRUX_DAG_EDGES)
		return too_many(n_edges, err);
	for (size_t e = 0; e < n_edges; e++) {
		if (edges[e].from >= n || edges[e].to >= n)
			return crux_fail(err, CRUX_RANGE, "edge %zu: %u -> %u of %u jobs", e,
					 edges[e].from, edges[e].to, n);
		if (!(edges[e].weight >= 0) || isinf(edges[e].weight))
			return crux_fail(err, CRUX_RANGE, "edge %zu: weight %g", e,
					 edges[e].weight);
	}
	status = compress_dag_create(n, n_edges, &dag, err);
	if (status != CRUX_OK)
		return status;
	/* Counting sort by head; first_in is one ahead while it fills. */
	for (size_t e = 0; e < n_edges; e++)
		dag->first_in[edges[e].to + 2]++;
	for (uint32_t v = 0; v < n; v++)
		dag->first_in[v + 1] += dag->first_in[v];
	for (size_t e = 0; e < n_edges; e++) {
		size_t at = dag->first_in[edges[e].to + 1]++;

		dag->from[at] = edges[e].from;
		dag->weight[at] = edges[e].weight;
	}
	status = check_acyclic(dag, err);
	if (status != CRUX_OK) {
		crux_dag_destroy(dag);
		return status;
	}
	*out = dag;
	return CRUX_OK;
}

/*
 * For each link the ranks of the jobs that load it, rising; and each job's links. Memory
 * may serve again.
 */
struct crux_dag_builder {
	size_t *first_job; /* [n_links + 2] into job */
	uint32_t *job;
	size_t *first_link; /* [n_jobs + 1] into link, by rank */
	uint32_t *link;
	uint32_t *stamp; /* [max(n_links, n_jobs)] */
	size_t n, cap_first_job, cap_job, cap_first_link, cap_link, cap_stamp;
	struct crux_dag dag;
	size_t cap_first_in, cap_from, cap_weight;
};

enum crux_status crux_dag_builder_create(struct crux_dag_builder **out, struct crux_error *err)
{
	struct crux_dag_builder *in = crux_zeroed(1, sizeof(*in));

	if (!in)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a graph");
	*out = in;
	return CRUX_OK;
}

void crux_dag_builder_destroy(struct crux_dag_builder *in)
{
	if (!in)
		return;
	crux_free(in->first_job);
	crux_free(in->job);
	crux_free(in->first_link);
	crux_free(in->link);
	crux_free(in->stamp);
	crux_free(in->dag.first_in);
	crux_free(in->dag.from);
	crux_free(in->dag.weight);
	crux_free(in);
}

/* The network links of each job, by rank, each once. */
static enum crux_status list_links(const struct crux_problem *problem, const uint32_t *candidate,
				   const uint32_t *order, struct crux_dag_builder *in,
				   struct crux_error *err)
{
	for (uint32_t r = 0; r < problem->n_jobs; r++) {
		const struct crux_problem_job *job = &problem->jobs[order[r]];

		in->first_link[r] = in->n;
		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
			const struct crux_flow *flow = &problem->flows[f];
			uint32_t hops = flow->bytes ? crux_flow_hops(flow) : 0;
			enum crux_status status = crux_reserve((void **)&in->link, &in->cap_link,
							       in->n + hops, sizeof(*in->link),
							       err);

			if (status != CRUX_OK)
				return status;
			for (uint32_t i = 0; i < hops; i++) {
				uint32_t e = crux_flow_link(flow, candidate[f], i).v;

				if (in->stamp[e] == r + 1 ||
				    (problem->link_is_network && !problem->link_is_network[e]))
					continue;
				in->stamp[e] = r + 1;
				in->link[in->n++] = e;
			}
		}
	}
	in->first_link[problem->n_jobs] = in->n;
	return CRUX_OK;
}

static enum crux_status builder_room(struct crux_dag_builder *in, size_t n_links, size_t n_jobs,
				     struct crux_error *err)
{
	size_t most = n_jobs > n_links ? n_jobs : n_links;
	enum crux_status status = crux_reserve((void **)&in->first_job, &in->cap_first_job,
					       n_links + 2, sizeof(*in->first_job), err);

	if (status == CRUX_OK)
		status = crux_reserve((void **)&in->first_link, &in->cap_first_link, n_jobs + 1,
				      sizeof(*in->first_link), err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&in->stamp, &in->cap_stamp, most + 1,
				      sizeof(*in->stamp), err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&in->dag.first_in, &in->cap_first_in, n_jobs + 2,
				      sizeof(*in->dag.first_in), err);
	if (status != CRUX_OK)
		return status;
	memset(in->first_job, 0, (n_links + 2) * sizeof(*in->first_job));
	memset(in->stamp, 0, (most + 1) * sizeof(*in->stamp));
	in->n = 0;
	in->dag.n = (uint32_t)n_jobs;
	in->dag.n_edges = 0;
	return CRUX_OK;
}

static enum crux_status incidence_make(const struct crux_problem *problem,
				       const uint32_t *candidate, const uint32_t *order,
				       struct crux_dag_builder *in, struct crux_error *err)
{
	enum crux_status status = builder_room(in, problem->n_links, problem->n_jobs, err);

	if (status == CRUX_OK)
		status = list_links(problem, candidate, order, in, err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&in->job, &in->cap_job, in->n + 1, sizeof(*in->job),
				      err);
	if (status != CRUX_OK)
		return status;
	for (size_t i = 0; i < in->n; i++)
		in->first_job[in->link[i] + 2]++;
	for (uint32_t e = 0; e < problem->n_links; e++)
		in->first_job[e + 1] += in->first_job[e];
	for (uint32_t r = 0; r < problem->n_jobs; r++)
		for (size_t i = in->first_link[r]; i < in->first_link[r + 1]; i++)
			in->job[in->first_job[in->link[i] + 1]++] = r;
	if (problem->n_jobs)
		memset(in->stamp, 0, problem->n_jobs * sizeof(*in->stamp));
	return CRUX_OK;
}

/* One link's jobs contend each with each: a bound before any work. */
static enum crux_status check_links(const struct crux_problem *problem,
				    const struct crux_dag_builder *in, struct crux_error *err)
{
	for (uint32_t e = 0; e < problem->n_links; e++) {
		size_t k = in->first_job[e + 1] - in->first_job[e];

		if (k && k - 1 > 2 * (CRUX_DAG_EDGES / k))
			return too_many(k * (k - 1) / 2, err);
	}
	return CRUX_OK;
}

/* The tails u < v that share a link with v, once each. */
static enum crux_status tails_of(struct crux_dag_builder *in, uint32_t v, struct crux_error *err)
{
	struct crux_dag *dag = &in->dag;

	for (size_t i = in->first_link[v]; i < in->first_link[v + 1]; i++) {
		const uint32_t *job = in->job + in->first_job[in->link[i]];
		size_t most = in->first_job[in->link[i] + 1] - in->first_job[in->link[i]];
		enum crux_status status = crux_reserve((void **)&dag->from, &in->cap_from,
						       dag->n_edges + most, sizeof(*dag->from),
						       err);

		if (status != CRUX_OK)
			return status;
		for (; *job < v; job++) {
			if (in->stamp[*job] == v + 1)
				continue;
			in->stamp[*job] = v + 1;
			dag->from[dag->n_edges++] = *job;
		}
	}
	return dag->n_edges > CRUX_DAG_EDGES ? too_many(dag->n_edges, err) : CRUX_OK;
}

static enum crux_status weigh(const struct crux_problem *problem, const uint32_t *order,
			      const double *intensity, struct crux_dag_builder *in,
			      struct crux_error *err)
{
	struct crux_dag *dag = &in->dag;
	enum crux_status status = crux_reserve((void **)&dag->weight, &in->cap_weight,
					       dag->n_edges + 1, sizeof(*dag->weight), err);

	for (size_t e = 0; e < dag->n_edges && status == CRUX_OK; e++) {
		uint32_t j = order[dag->from[e]];

		if (!isfinite(intensity[j]))
			status = crux_fail(err, CRUX_RANGE,
					   "job %lld: an intensity of %g FLOP/s on a shared link",
					   (long long)problem->jobs[j].id, intensity[j]);
		dag->weight[e] = intensity[j];
	}
	return status;
}

enum crux_status crux_dag_build(struct crux_dag_builder *in, const struct crux_problem *problem,
				const uint32_t *candidate, const uint32_t *order,
				const double *intensity, const struct crux_dag **out,
				struct crux_error *err)
{
	enum crux_status status = incidence_make(problem, candidate, order, in, err);

	if (status == CRUX_OK)
		status = check_links(problem, in, err);
	for (uint32_t v = 0; v < problem->n_jobs && status == CRUX_OK; v++) {
		in->dag.first_in[v] = in->dag.n_edges;
		status = tails_of(in, v, err);
	}
	if (status == CRUX_OK) {
		in->dag.first_in[problem->n_jobs] = in->dag.n_edges;
		status = weigh(problem, order, intensity, in, err);
	}
	if (status == CRUX_OK)
		*out = &in->dag;
	return status;
}

enum crux_status crux_dag_from_problem(const struct crux_problem *problem,
				       const uint32_t *candidate, const uint32_t *order,
				       const double *intensity, struct crux_dag **out,
				       struct crux_error *err)
{
	struct crux_dag_builder *in = NULL;
	const struct crux_dag *built;
	struct crux_dag *dag = NULL;
	enum crux_status status = crux_dag_builder_create(&in, err);

	if (status == CRUX_OK)
		status = crux_dag_build(in, problem, candidate, order, intensity, &built, err);
	if (status == CRUX_OK && !(dag = crux_array(1, sizeof(*dag))))
		status = crux_fail(err, CRUX_NOMEM, "out of memory for a graph");
	if (status == CRUX_OK) {
		*dag = *built;
		in->dag = (struct crux_dag){0}; /* its arrays are the new graph's */
		*out = dag;
	}
	crux_dag_builder_destroy(in);
	return status;
}

double crux_dag_cut(const struct crux_dag *dag, const uint32_t *level)
{
	double cut = 0;

	for (uint32_t v = 0; v < dag->n; v++)
		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++)
			if (level[dag->from[e]] != level[v])
				cut += dag->weight[e];
	return cut;
}

double crux_dag_weight(const struct crux_dag *dag)
{
	double sum = 0;

	for (size_t e = 0; e < dag->n_edges; e++)
		sum += dag->weight[e];
	return sum;
}

bool crux_dag_valid(const struct crux_dag *dag, const uint32_t *level)
{
	for (uint32_t v = 0; v < dag->n; v++)
		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++)
			if (level[dag->from[e]] > level[v])
				return false;
	return true;
}
