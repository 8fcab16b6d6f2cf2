/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scenario: from a handful of strings and numbers to a cluster with placed
 * jobs and the scheduling problem; then a plan; then a run of the flow engine.
 *
 * Place: model/core (C11). Depends on topology, presets, workload, placement,
 * problem, flowsim, result.
 * Data flow: options -> topology + jobs -> problem -> plan -> engine -> rows.
 *
 * Time of a step (alpha-beta, store and forward). A message of F full frames over
 * hops e = 1..H, all at rate B: the first hop sends F frames, then the last frame
 * crosses the other H - 1 hops: F t + (H - 1) t + sum of propagation, t = 8 (payload
 * + 82) / B. So a flow of b bytes in s dependent steps takes, alone,
 *   8 b / goodput + s x alpha,  alpha = sum of propagation + one frame on each hop but one.
 * Which hop is left out matters only where rates differ; it should be the slowest,
 * and it is the last (NIC's own) hop here, which is as slow as any in all presets.
 * Per link: alpha_e = propagation + 8 (payload + 82) / B_e for network links, without
 * the second part where the link ends at a NIC; links inside a host: propagation.
 *
 * Jobs, as a string: "MODEL:GPUS[:ITERATIONS][:key=value]...,...". A model of the table in
 * crux-models.c (gpt, bert, resnet) without keys of its own is a simple job: one computation, one
 * ring all-reduce. With other keys, or another model, a job runs a program: keys and models in
 * crux-train.h ("llama-7b:64:tp=8:pp=2:micro=16") and crux-gnn.h. Keys of every job:
 *   iterations=N
 *   arrival=S       when it comes, seconds (default 0)
 *   stop=S          killed at this time, seconds, after its arrival
 *   jitter=R        relative standard deviation of computation times, 0..1
 *   slow=RxF+...    rank R computes F >= 1 times as long (a straggler)
 *   place=H/A-B+... ranks in this order on GPUs A to B of host H, ...; else by the policy. Jobs may
 *                   have the same GPUs if the one's stop is no later than the other's arrival
 * As soon as one job of a scenario needs a program, all of them run programs (the simple ones that
 * of crux_program_simple(), which takes the same time). Or "mix:N[:SEED]": N jobs, the
 * model uniform over the table, GPUs 8 (35 %), 16 (20 %), 32 (20 %), 64 (15 %) or 128
 * (10 %), after the paper's "over 10 % of jobs use 128 GPUs or more" (section 2.2).
 *
 * Iterations: the job with the longest nominal iteration runs options.iterations, any
 * other round(iterations x longest / its own), at least 1; a job with a number in its
 * description runs that many. Nominal: computation + communication that it does
 * not hide, each flow alone in the network.
 */
#ifndef CRUX_SCENARIO_H
#define CRUX_SCENARIO_H

#include "crux-base.h"
#include "crux-flowsim.h"
#include "crux-problem.h"
#include "crux-result.h"
#include "crux-topology.h"
#include "crux-workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Ethernet 14 + FCS 4 + IPv4 20 + UDP 8 + BTH 12 + ICRC 4 + preamble and gap 20. */
#define CRUX_FRAME_OVERHEAD 82

struct crux_scenario_options {
	/**
	 * "testbed": 2 ToR x 6 hosts, 2 aggregation switches (paper, 6.1).
	 * "clos:tors=4,hosts=4,aggs=2,uplinks=1": parametric two-layer Clos.
	 * "clos3", "fattree:k=4": three layers.
	 * "lingjun:FILE": topo.csv; a PSW label stands for psw switches, a DSW label for dsw.
	 * "file:PATH": any topology, crux-topo-file.h.
	 * Further keys behind the colon or a comma: see crux-presets.h.
	 */
	const char *topology;
	const char
		*jobs; /**< "gpt:32,bert:8,...": model:GPUs[:iterations]; or "mix:100" (see doc) */
	const char *placement;	/**< "span" (every job spans the ToRs), "pack", "random" */
	uint64_t iterations;	/**< of the job with the longest nominal iteration; the others run
				   about as long */
	double scale;		/**< > 0: computation and bytes are divided by it */
	uint32_t payload_bytes; /**< per packet, 256..9000; sets the goodput */
	uint64_t seed;
	bool raw_rate; /**< flow engine at the raw rate instead of the goodput */
};
void crux_scenario_options_default(struct crux_scenario_options *options);

struct crux_scenario {
	struct crux_scenario_options options;
	struct crux_topology *topo;
	struct crux_router *router;
	uint32_t n_jobs;
	struct crux_job *jobs;
	uint32_t n_flows;
	struct crux_flow *flows;      /**< what problem.flows points to */
	struct crux_flow_role *roles; /**< [n_flows] */
	struct crux_problem problem;  /**< over all links of topo; points into this scenario */
	bool programs; /**< every job runs a program (crux-program.h); else every one is simple */
	char *assumptions; /**< lines: what the input lacked and what was assumed; "" if nothing */
};

/**
 * Build and check everything before anything runs: unknown keys and models, a job
 * larger than the cluster (both numbers), unreadable files, hosts without links.
 */
enum crux_status crux_scenario_create(const struct crux_scenario_options *options,
				      struct crux_scenario **out, struct crux_error *err);
/**
 * The same on a topology that was built elsewhere (crux-topo-draft.h), frozen. It belongs to the
 * scenario when this succeeds, else still to the caller. options->topology is not read; that of the
 * scenario is "own: " and its counts.
 */
enum crux_status crux_scenario_create_on(const struct crux_scenario_options *options,
					 struct crux_topology *topo, struct crux_scenario **out,
					 struct crux_error *err);
void crux_scenario_destroy(struct crux_scenario *scn);

/**
 * The second half of create, for jobs that were made elsewhere: with topo, jobs (id,
 * name, gpus, flop, compute_s, overlap_start, gradient_bytes, arrival_s), n_jobs and
 * options set in @p scn, make router, shapes, flows, roles and problem. On failure
 * crux_scenario_destroy() frees what was made.
 */
enum crux_status crux_scenario_assemble(struct crux_scenario *scn, struct crux_error *err);

/** Decide with a policy and assign the source ports. */
enum crux_status crux_scenario_plan(const struct crux_scenario *scn, const char *policy,
				    const struct crux_options *options, struct crux_plan **out,
				    struct crux_error *err);

/** rate x payload / (payload + 82), as a factor in (0, 1). */
double crux_goodput_factor(uint32_t payload_bytes);

/** Rate of a link for payload, bit/s: network links times the goodput factor unless raw_rate. */
double crux_scenario_link_bps(const struct crux_scenario *scn, struct crux_link_id link);
/** alpha_e of a link, seconds: see the head of this file. */
double crux_scenario_link_alpha_s(const struct crux_scenario *scn, struct crux_link_id link);

/**
 * Seconds that one iteration's communication of a job takes alone on its plan's
 * paths: the alpha-beta closed form, per link: the job's bytes / goodput, plus
 * steps x (propagation + store-and-forward of one frame per hop); the largest over
 * its flows. @p plan NULL: on the paths that the switches' hash gives. NAN when memory
 * is out.
 */
double crux_scenario_comm_alone_s(const struct crux_scenario *scn, const struct crux_plan *plan,
				  uint32_t job);

/**
 * Run the flow engine under a plan. @p active: [n_jobs], which jobs take part
 * (NULL: all). Link latency: propagation plus one frame's serialisation for
 * every hop but the last (store and forward), as at packet level.
 */
enum crux_status crux_scenario_run_flow(const struct crux_scenario *scn,
					const struct crux_plan *plan, const bool *active,
					const struct crux_sink *sink, struct crux_sim_result **out,
					struct crux_error *err);

/** The same for jobs with programs, with a row for every part of an operation (timelines). */
struct crux_part_sink;
enum crux_status crux_scenario_run_parts(const struct crux_scenario *scn,
					 const struct crux_plan *plan, const bool *active,
					 const struct crux_sink *sink,
					 const struct crux_part_sink *parts,
					 struct crux_sim_result **out, struct crux_error *err);

/**
 * Energy of one iteration of a job, J: its GPUs busy and idle for what @p summary says of an
 * iteration, and every byte that an iteration moves on one of its flows (crux-gpu.h: power model).
 * NAN when no iteration ended.
 */
double crux_scenario_energy_j(const struct crux_scenario *scn, uint32_t job,
			      const struct crux_job_summary *summary);

/** Facts for the summary, [n_jobs] of @p out; inactive jobs get 0 GPUs. */
void crux_scenario_facts(const struct crux_scenario *scn, const bool *active,
			 struct crux_job_facts *out);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_SCENARIO_H */
