/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Test of scenarios on topologies of one's own: fat tree, three layers, dual ToR, asymmetric file,
 * islands, and a topology that was built elsewhere; all policies and the flow engine.
 *
 * Place: test/core. Depends on libcrux.
 */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "crux-oom-count.h"
#include "crux-scenario.h"
#include "crux-topo-file.h"
#include "topo-rig.h"

#define ASYMMETRIC "file:" CRUX_SOURCE_DIR "/test/data/topo/asymmetric.topo"

static struct crux_scenario_options options(const char *topology, const char *jobs)
{
	struct crux_scenario_options o;

	crux_scenario_options_default(&o);
	o.topology = topology;
	o.jobs = jobs;
	o.iterations = 2;
	o.scale = 100;
	return o;
}

static enum crux_status keep(void *context, uint32_t job, uint64_t iteration,
			     const struct crux_iteration *row)
{
	(void)iteration;
	return crux_rows_add(context, job, row, NULL);
}

/*
 * The jobs' iterations under one policy: as many as meant, and none shorter than its computation,
 * nor than what the job needs alone on these paths: start of communication + the closed form.
 */
static void run_policy(const char *what, const struct crux_scenario *scn, const char *policy)
{
	struct crux_options decide;
	struct crux_sim_result *result = NULL;
	struct crux_plan *plan = NULL;
	struct crux_error err = {CRUX_OK, ""};
	struct crux_rows *rows;
	struct crux_sink sink = {keep, NULL};
	enum crux_status status;
	uint64_t n, i;

	crux_options_default(&decide);
	decide.levels = 3;
	status = crux_scenario_plan(scn, policy, &decide, &plan, &err);
	if (status == CRUX_LIMIT && !strcmp(policy, "optimal"))
		return; /* enumerates small problems only */
	if (status || crux_rows_create(scn->n_jobs, &rows, &err)) {
		CHECK_FAIL("%s, %s: %s", what, policy, err.text);
		return;
	}
	sink.context = rows;
	if (crux_scenario_run_flow(scn, plan, NULL, &sink, &result, &err))
		CHECK_FAIL("%s, %s: %s", what, policy, err.text);
	for (uint32_t j = 0; result && j < scn->n_jobs; j++) {
		const struct crux_iteration *row = crux_rows_of(rows, j, &n);
		const struct crux_job *job = &scn->jobs[j];
		double least = job->overlap_start * job->compute_s +
			       crux_scenario_comm_alone_s(scn, plan, j);

		CHECK_U64(n, job->iterations);
		for (i = 0; i < n; i++)
			if (row[i].end_s - row[i].start_s < fmax(least, job->compute_s) - 1e-9)
				CHECK_FAIL("%s, %s: %s: an iteration of %g s; at least %g", what,
					   policy, job->name, row[i].end_s - row[i].start_s,
					   fmax(least, job->compute_s));
	}
	crux_sim_result_destroy(result);
	crux_rows_destroy(rows);
	crux_plan_destroy(plan);
}

static void run_all(const char *what, struct crux_scenario *scn)
{
	uint32_t n;
	const struct crux_policy *const *policies = crux_policy_list(&n);

	CHECK(n >= 10);
	for (uint32_t i = 0; i < n; i++)
		run_policy(what, scn, policies[i]->name);
}

static void run_on(const char *topology, const char *jobs)
{
	struct crux_scenario_options o = options(topology, jobs);
	struct crux_scenario *scn;
	struct crux_error err = {CRUX_OK, ""};

	if (crux_scenario_create(&o, &scn, &err)) {
		CHECK_FAIL("%s: %s", topology, err.text);
		return;
	}
	CHECK_STR(scn->options.topology, topology);
	run_all(topology, scn);
	crux_scenario_destroy(scn);
}

static void every_policy(void)
{
	run_on("fattree:k=4", "gpt:32,bert:16,bert:16");
	run_on("clos3", "gpt:32,bert:16,resnet:16");
	run_on("testbed:ports=2", "gpt:32,bert:8,bert:8");
	run_on(ASYMMETRIC, "gpt:16,bert:8");
	run_on(ASYMMETRIC, "gpt:18:place=alpha/0-7+gamma/0-7+small/0-1,bert:8:place=beta/0-7");
}

/* Hosts of four NICs and a host of one: one ring, which is as slow as the slowest on its way. */
static void unlike_hosts(void)
{
	struct crux_scenario_options o = options(ASYMMETRIC, "gpt:10:1:place=alpha/0-7+small/0-1");
	struct crux_scenario *scn;
	struct crux_error err = {CRUX_OK, ""};
	double s, goodput = 4096.0 / 4178;

	if (crux_scenario_create(&o, &scn, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	CHECK_U64(scn->jobs[0].n_ranks, 2);
	CHECK_U64(scn->jobs[0].n_channels, 1);
	/* 2 ranks: each sends the whole gradient once, at 100 Gbit/s, small's NIC. The path: NIC,
	 * tor, agg0 (tor2 has no other uplink), tor, NIC; latency is microseconds. */
	s = 8 * (double)scn->jobs[0].gradient_bytes / (100e9 * goodput);
	CHECK_NEAR(crux_scenario_comm_alone_s(scn, NULL, 0), s, 3e-5);
	CHECK(crux_scenario_comm_alone_s(scn, NULL, 0) > s);
	/* Either of tor0's two cables to agg0, either way. */
	for (uint32_t i = 0; i < scn->n_flows; i++)
		if (!scn->roles[i].nvlink)
			CHECK_U64(scn->flows[i].candidates->n, 2);
	crux_scenario_destroy(scn);
}

/* Two islands: an error only where a job spans them, and it names both. */
static void islands(void)
{
	static const char *const text = "switch t0 tor\nswitch t1 tor\nhost a\nhost b\nhost c\n"
					"cable a.nic* t0\ncable b.nic* t0\ncable c.nic* t1\n";
	struct crux_scenario_options o = options("", "bert:16:place=a/0-7+b/0-7,bert:8");
	struct crux_scenario *scn = NULL;
	struct crux_error err = {CRUX_OK, ""};
	struct topo_rig rig;
	char description[64];

	rig_open(&rig);
	fputs(text, rig.file);
	fclose(rig.file);
	rig.file = NULL;
	snprintf(description, sizeof(description), "file:%s", rig.path);
	o.topology = description;
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_OK);
	crux_scenario_destroy(scn);
	scn = NULL;
	o.jobs = "bert:16:place=b/0-7+c/0-7";
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_UNREACHABLE);
	CHECK_HAS(err.text, "h1.nic0");
	CHECK_HAS(err.text, "h2.nic0");
	CHECK(!scn);
	rig_done(&rig);
}

static struct crux_topology *build_one(void)
{
	struct crux_topology *topo = NULL;
	struct crux_text notes = {NULL, 0, 0};

	if (crux_preset_build("clos:tors=2,hosts=1,gpus=2,nics=1", &topo, &notes, NULL))
		CHECK_FAIL("no topology");
	crux_free(notes.text);
	return topo;
}

/* It is the scenario's on success, the caller's on failure; the record says "own". */
static void built_elsewhere(void)
{
	struct crux_scenario_options o = options(NULL, "bert:4");
	struct crux_scenario *scn = NULL;
	struct crux_topology *topo = build_one();
	struct crux_error err = {CRUX_OK, ""};

	o.jobs = "bert:5";
	CHECK_U64(crux_scenario_create_on(&o, topo, &scn, &err), CRUX_CAPACITY);
	CHECK_HAS(err.text, "needs 5 GPUs; the cluster has 4");
	o.jobs = "elephant:4";
	CHECK_U64(crux_scenario_create_on(&o, topo, &scn, &err), CRUX_NOT_FOUND);
	CHECK(!scn);
	o.jobs = "bert:4";
	CHECK_U64(crux_scenario_create_on(&o, topo, &scn, &err), CRUX_OK);
	if (!scn)
		return;
	CHECK(scn->topo == topo);
	/* 2 ToR + 2 aggregation switches; 2 NICs and 2 x 2 uplinks (1 x 200 / (2 x 200), up). */
	CHECK_STR(scn->options.topology, "own: 4 switches, 2 hosts, 4 GPUs, 6 cables");
	run_all("own", scn);
	crux_scenario_destroy(scn);
}

static struct crux_topology *oom_topo;

static enum crux_status create_on_and_gone(struct crux_error *err)
{
	struct crux_scenario_options o = options(NULL, "bert:4");
	struct crux_scenario *scn;
	enum crux_status status = crux_scenario_create_on(&o, oom_topo, &scn, err);

	if (!status) {
		scn->topo = NULL; /* the test's, made before allocations were counted */
		crux_scenario_destroy(scn);
	}
	return status;
}

static void out_of_memory(void)
{
	oom_topo = build_one();
	CHECK(oom_every_count(create_on_and_gone, 1) > 20);
	crux_topology_destroy(oom_topo);
}

int main(void)
{
	RUN(every_policy);
	RUN(unlike_hosts);
	RUN(islands);
	RUN(built_elsewhere);
	RUN(out_of_memory);
	return DONE();
}
