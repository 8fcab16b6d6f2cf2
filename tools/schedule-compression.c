/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-compression: kind `compression` of crux-schedule: a ranked contention
 * DAG into K levels, by each rule. Depends on libcrux (crux-compress).
 *
 * input: K 1..64, jobs_in_descending_priority [job...] (a permutation of 0..n-1),
 * intensity [n], edges_u_v_weight [[u, v, weight]...], sharing_pairs [[u, v]...]
 * (optional; checked and else unused: the edges say the same with weights)
 */
#include "crux-compress.h"
#include "crux-schedule.h"
#include "schedule-common.h"

#include <string.h>

struct reader {
	uint32_t n, levels;
	uint32_t *order, *rank; /* [n] job of a rank, rank of a job */
	struct crux_dag_edge *edges;
	size_t n_edges;
	struct crux_dag *dag;
	uint32_t *level;
};

static void reader_free(struct reader *r)
{
	crux_free(r->order);
	crux_free(r->rank);
	crux_free(r->edges);
	crux_free(r->level);
	crux_dag_destroy(r->dag);
}

static enum crux_status read_order(struct reader *r, const struct crux_json *at,
				   struct crux_error *err)
{
	for (uint32_t i = 0; i < r->n; i++)
		r->rank[i] = CRUX_NONE;
	for (uint32_t i = 0; i < r->n; i++) {
		struct crux_json item = crux_json_item(at, i);
		int64_t job;
		enum crux_status status = crux_json_integer(&item, 0, (int64_t)r->n - 1, &job, err);

		if (status != CRUX_OK)
			return status;
		if (r->rank[job] != CRUX_NONE)
			return crux_json_fail(&item, err, CRUX_DUPLICATE, "job %lld is given twice",
					      (long long)job);
		r->rank[job] = i;
		r->order[i] = (uint32_t)job;
	}
	return CRUX_OK;
}

/* An item [u, v] or [u, v, weight]. */
static enum crux_status read_pair(const struct reader *r, const struct crux_json *at, size_t size,
				  int64_t pair[2], struct crux_error *err)
{
	size_t n;
	enum crux_status status = crux_json_array(at, &n, err);

	if (status == CRUX_OK && n != size)
		status = crux_json_fail(at, err, CRUX_INVALID, "%zu items: must be %zu", n, size);
	for (size_t i = 0; i < 2 && status == CRUX_OK; i++) {
		struct crux_json item = crux_json_item(at, i);

		status = crux_json_integer(&item, 0, (int64_t)r->n - 1, &pair[i], err);
	}
	if (status == CRUX_OK && pair[0] == pair[1])
		status = crux_json_fail(at, err, CRUX_INVALID, "job %lld with itself",
					(long long)pair[0]);
	return status;
}

static enum crux_status read_edges(struct reader *r, const struct crux_json *at,
				   struct crux_error *err)
{
	for (size_t e = 0; e < r->n_edges; e++) {
		struct crux_json edge = crux_json_item(at, e), weight = crux_json_item(&edge, 2);
		int64_t pair[2];
		enum crux_status status = read_pair(r, &edge, 3, pair, err);

		if (status != CRUX_OK)
			return status;
		if (r->rank[pair[0]] > r->rank[pair[1]])
			return crux_json_fail(
				&edge, err, CRUX_INVALID,
				"an edge from job %lld, which ranks below job %lld (a cycle)",
				(long long)pair[0], (long long)pair[1]);
		status = crux_json_real(&weight, 0, SCHEDULE_BIG, &r->edges[e].weight, err);
		if (status != CRUX_OK)
			return status;
		r->edges[e].from = (uint32_t)pair[0];
		r->edges[e].to = (uint32_t)pair[1];
	}
	return CRUX_OK;
}

static enum crux_status read_rest(const struct reader *r, const struct crux_json *at,
				  struct crux_error *err)
{
	struct crux_json list, pairs;
	size_t n = 0;
	enum crux_status status = crux_json_get_array(at, "intensity", &list, &n, err);

	if (status == CRUX_OK && n != r->n)
		status = crux_json_fail(&list, err, CRUX_INVALID, "%zu intensities of %u jobs", n,
					r->n);
	for (size_t i = 0; i < n && status == CRUX_OK; i++) {
		struct crux_json item = crux_json_item(&list, i);
		double ignored;

		status = crux_json_real_or_inf(&item, 0, SCHEDULE_BIG, &ignored, err);
	}
	if (status != CRUX_OK || !crux_json_optional(at, "sharing_pairs", &pairs))
		return status;
	status = crux_json_array(&pairs, &n, err);
	for (size_t i = 0; i < n && status == CRUX_OK; i++) {
		struct crux_json item = crux_json_item(&pairs, i);
		int64_t pair[2];

		status = read_pair(r, &item, 2, pair, err);
	}
	return status;
}

static enum crux_status read_input(struct reader *r, const struct crux_json *at,
				   struct crux_error *err)
{
	static const char *const known[] = {"K",
					    "jobs_in_descending_priority",
					    "intensity",
					    "edges_u_v_weight",
					    "sharing_pairs",
					    NULL};
	struct crux_json order, edges;
	int64_t levels = 0;
	size_t n = 0;
	enum crux_status status = crux_json_known(at, known, err);

	if (status == CRUX_OK)
		status = crux_json_get_integer(at, "K", 1, 64, &levels, err);
	if (status == CRUX_OK)
		status = crux_json_get_array(at, "jobs_in_descending_priority", &order, &n, err);
	if (status == CRUX_OK)
		status = crux_json_get_array(at, "edges_u_v_weight", &edges, &r->n_edges, err);
	if (status != CRUX_OK)
		return status;
	r->n = (uint32_t)n;
	r->levels = (uint32_t)levels;
	r->order = crux_array(n, sizeof(*r->order));
	r->rank = crux_array(n, sizeof(*r->rank));
	r->level = crux_array(n, sizeof(*r->level));
	r->edges = crux_array(r->n_edges, sizeof(*r->edges));
	if (!r->order || !r->rank || !r->level || !r->edges)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", n);
	status = read_order(r, &order, err);
	if (status == CRUX_OK)
		status = read_rest(r, at, err);
	if (status == CRUX_OK)
		status = read_edges(r, &edges, err);
	if (status == CRUX_OK)
		status = crux_dag_from_edges(r->n, r->edges, r->n_edges, &r->dag, err);
	return status;
}

static int add_levels(json_t *made, const char *name, const struct reader *r, double cut)
{
	json_t *levels = json_array();
	int bad = 0;

	for (uint32_t v = 0; v < r->n; v++)
		bad |= json_array_append_new(levels, json_integer(r->level[v]));
	return bad | json_object_set_new(made, name,
					 json_pack("{s:o,s:f}", "levels", levels, "cut", cut));
}

static int add_rule(json_t *made, const char *name, const struct reader *r,
		    uint32_t (*rule)(uint32_t, uint32_t, uint32_t))
{
	for (uint32_t v = 0; v < r->n; v++)
		r->level[v] = rule(r->rank[v], r->n, r->levels);
	return add_levels(made, name, r, crux_dag_cut(r->dag, r->level));
}

enum crux_status schedule_compression(const json_t *input, const struct schedule_args *args,
				      json_t **answer, struct crux_error *err)
{
	struct crux_json at = crux_json_root(input, "input");
	struct crux_options options;
	struct reader r = {.n = 0};
	json_t *made = json_object();
	double cut;
	int bad = 0;
	enum crux_status status = read_input(&r, &at, err);

	crux_options_default(&options);
	if (status == CRUX_OK)
		status = crux_compress_sampled(r.dag, r.levels, options.sampled_orders, args->seed,
					       r.level, &cut, err);
	if (status == CRUX_OK) {
		bad |= add_levels(made, "crux", &r, cut);
		status = crux_compress_exact(r.dag, r.levels, r.level, &cut, err);
	}
	if (status == CRUX_OK) {
		bad |= add_levels(made, "exact", &r, cut);
		bad |= add_rule(made, "sincronia", &r, crux_level_sincronia);
		bad |= add_rule(made, "varys", &r, crux_level_varys);
		status = crux_compress_order(r.dag, r.levels, r.order, r.level, &cut, err);
	}
	if (status == CRUX_OK) {
		bad |= json_object_set_new(made, "priority_order_dp_cut", json_real(cut));
		status = schedule_answer(made, bad, answer, err);
	} else {
		json_decref(made);
	}
	reader_free(&r);
	return status;
}
