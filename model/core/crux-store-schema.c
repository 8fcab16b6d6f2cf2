/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-schema: the tables of a result database, explained in doc/results.md.
 *
 * Place: model/core. Depends on nothing.
 *
 * STRICT: a value of the wrong type is refused. WITHOUT ROWID: rows lie in the
 * order of their keys, whatever order they arrived in, so that two dumps of one
 * scenario are equal.
 */
#include "store-private.h"

const char store_schema[] =
	"CREATE TABLE scenario("
	" one INTEGER PRIMARY KEY CHECK(one = 1),"
	" topology TEXT NOT NULL, jobs TEXT NOT NULL, placement TEXT NOT NULL,"
	" iterations INTEGER NOT NULL, scale REAL NOT NULL, payload_bytes INTEGER NOT NULL,"
	" seed TEXT NOT NULL, raw_rate INTEGER NOT NULL, nodes INTEGER NOT NULL,"
	" links INTEGER NOT NULL, hosts INTEGER NOT NULL, gpus INTEGER NOT NULL,"
	" n_jobs INTEGER NOT NULL, n_flows INTEGER NOT NULL) STRICT;"

	"CREATE TABLE assumption(line INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;"

	"CREATE TABLE job("
	" job INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, name TEXT NOT NULL,"
	" model TEXT NOT NULL, gpus INTEGER NOT NULL, hosts INTEGER NOT NULL,"
	" channels INTEGER NOT NULL, arrival_s REAL NOT NULL, iterations INTEGER NOT NULL,"
	" flop REAL NOT NULL, compute_s REAL NOT NULL, overlap_start REAL NOT NULL,"
	" gradient_bytes INTEGER NOT NULL) STRICT;"

	"CREATE TABLE job_gpu("
	" job INTEGER NOT NULL REFERENCES job, slot INTEGER NOT NULL, host TEXT NOT NULL,"
	" gpu INTEGER NOT NULL, PRIMARY KEY(job, slot)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE run("
	" run INTEGER PRIMARY KEY, engine TEXT NOT NULL, policy TEXT NOT NULL,"
	" alone_job INTEGER REFERENCES job, levels INTEGER NOT NULL, cut REAL, weight REAL,"
	" finished INTEGER NOT NULL DEFAULT 0 CHECK(finished IN (0, 1))) STRICT;"

	"CREATE TABLE plan_job("
	" run INTEGER NOT NULL REFERENCES run, job INTEGER NOT NULL REFERENCES job,"
	" t_s REAL, intensity REAL, k REAL, priority REAL, rank INTEGER NOT NULL,"
	" level INTEGER NOT NULL, shift_s REAL NOT NULL,"
	" PRIMARY KEY(run, job)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE plan_flow("
	" run INTEGER NOT NULL REFERENCES run, flow INTEGER NOT NULL,"
	" job INTEGER NOT NULL REFERENCES job, src TEXT, dst TEXT, bytes INTEGER NOT NULL,"
	" steps INTEGER NOT NULL, candidates INTEGER NOT NULL, candidate INTEGER NOT NULL,"
	" source_port INTEGER NOT NULL, PRIMARY KEY(run, flow)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE iteration("
	" run INTEGER NOT NULL REFERENCES run, job INTEGER NOT NULL REFERENCES job,"
	" iteration INTEGER NOT NULL, start_s REAL NOT NULL, compute_end_s REAL NOT NULL,"
	" comm_start_s REAL NOT NULL, comm_end_s REAL NOT NULL, end_s REAL NOT NULL,"
	" busy_s REAL NOT NULL,"
	" PRIMARY KEY(run, job, iteration)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE link_load("
	" run INTEGER NOT NULL REFERENCES run, link INTEGER NOT NULL, name TEXT NOT NULL,"
	" kind TEXT NOT NULL, rate_bps INTEGER NOT NULL, bytes REAL NOT NULL,"
	" PRIMARY KEY(run, link)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE counter("
	" run INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL, value REAL,"
	" PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE run_summary("
	" run INTEGER PRIMARY KEY REFERENCES run, first_end_s REAL, last_end_s REAL,"
	" utilisation REAL, cluster_utilisation REAL, utilisation_to_last REAL) STRICT;"

	"CREATE TABLE job_summary("
	" run INTEGER NOT NULL REFERENCES run, job INTEGER NOT NULL REFERENCES job,"
	" iterations INTEGER NOT NULL, finished INTEGER NOT NULL, mean_iteration_s REAL,"
	" jct_s REAL, busy_gpu_s REAL, exposed_s REAL, iteration_vs_alone REAL,"
	" jct_vs_alone REAL, energy_j REAL, PRIMARY KEY(run, job)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE collective("
	" run INTEGER NOT NULL REFERENCES run, job INTEGER NOT NULL REFERENCES job,"
	" kind TEXT NOT NULL, algorithm TEXT NOT NULL, ranks INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, channels INTEGER NOT NULL, instances INTEGER NOT NULL,"
	" mean_s REAL NOT NULL, algorithm_Bps REAL, bus_Bps REAL, best_bus_Bps REAL,"
	" PRIMARY KEY(run, job, kind, algorithm, ranks, bytes, channels))"
	" STRICT, WITHOUT ROWID;"

	"CREATE TABLE timing("
	" run INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL, value REAL,"
	" PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;"

	/* Crux in operation: seq counts the rows of a run in the order of writing. */
	"CREATE TABLE op_event("
	" run INTEGER NOT NULL REFERENCES run, seq INTEGER NOT NULL, at_s REAL NOT NULL,"
	" since_s REAL, kind TEXT NOT NULL, job_id INTEGER REFERENCES job(id), host INTEGER,"
	" version INTEGER, text TEXT, PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE op_profile("
	" run INTEGER NOT NULL REFERENCES run, seq INTEGER NOT NULL,"
	" job INTEGER NOT NULL REFERENCES job, begun_s REAL NOT NULL,"
	" ended_s REAL NOT NULL CHECK(ended_s >= begun_s), iterations INTEGER NOT NULL,"
	" strength REAL, iteration_s REAL, flop REAL, compute_s REAL, overlap_start REAL,"
	" t_s REAL, intensity REAL, true_iteration_s REAL, true_flop REAL, true_compute_s REAL,"
	" true_overlap_start REAL, true_t_s REAL, true_intensity REAL,"
	" PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE op_probing("
	" run INTEGER NOT NULL REFERENCES run, seq INTEGER NOT NULL, src TEXT NOT NULL,"
	" dst TEXT NOT NULL, paths_met INTEGER NOT NULL, paths_there INTEGER NOT NULL,"
	" sent INTEGER NOT NULL, lost INTEGER NOT NULL, repeat INTEGER NOT NULL,"
	" begun_s REAL NOT NULL, ended_s REAL CHECK(ended_s >= begun_s),"
	" PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE op_decision("
	" run INTEGER NOT NULL REFERENCES run, seq INTEGER NOT NULL, version INTEGER NOT NULL,"
	" term INTEGER NOT NULL, coordinator INTEGER, news_s REAL,"
	" decided_s REAL NOT NULL CHECK(decided_s >= news_s),"
	" in_force_s REAL CHECK(in_force_s >= decided_s), jobs INTEGER NOT NULL,"
	" changed INTEGER NOT NULL, cause TEXT, PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE op_order("
	" run INTEGER NOT NULL REFERENCES run, seq INTEGER NOT NULL, version INTEGER NOT NULL,"
	" job INTEGER NOT NULL REFERENCES job, level INTEGER, rank INTEGER NOT NULL,"
	" priority REAL, intensity REAL, shift_s REAL NOT NULL,"
	" PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE op_bin("
	" run INTEGER NOT NULL REFERENCES run, seq INTEGER NOT NULL, from_s REAL NOT NULL,"
	" to_s REAL NOT NULL CHECK(to_s > from_s), job INTEGER NOT NULL REFERENCES job,"
	" busy_gpu_s REAL NOT NULL CHECK(busy_gpu_s >= 0),"
	" gpus INTEGER NOT NULL CHECK(gpus > 0), iterations INTEGER NOT NULL,"
	" PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID;"

	/* A published figure and ours: these are filled instead of the tables above. */
	"CREATE TABLE figure("
	" one INTEGER PRIMARY KEY CHECK(one = 1), name TEXT NOT NULL, title TEXT NOT NULL,"
	" baseline TEXT NOT NULL, iterations INTEGER NOT NULL, scale REAL NOT NULL,"
	" first_seed TEXT NOT NULL, seeds INTEGER NOT NULL) STRICT;"

	"CREATE TABLE figure_row("
	" row INTEGER PRIMARY KEY, part TEXT, label TEXT NOT NULL, topology TEXT NOT NULL,"
	" jobs TEXT NOT NULL, placement TEXT NOT NULL) STRICT;"

	"CREATE TABLE figure_run("
	" run INTEGER PRIMARY KEY, row INTEGER NOT NULL REFERENCES figure_row,"
	" engine TEXT NOT NULL, policy TEXT NOT NULL, seed TEXT NOT NULL,"
	" utilisation REAL NOT NULL, alone_utilisation REAL, first_end_s REAL,"
	" UNIQUE(row, engine, policy, seed)) STRICT;"

	"CREATE TABLE figure_job("
	" run INTEGER NOT NULL REFERENCES figure_run, job INTEGER NOT NULL, name TEXT NOT NULL,"
	" gpus INTEGER NOT NULL, level INTEGER NOT NULL, rank INTEGER NOT NULL,"
	" iterations INTEGER NOT NULL, iteration_s REAL, jct_s REAL, alone_iteration_s REAL,"
	" alone_jct_s REAL, alone_busy_s REAL, t_s REAL,"
	" PRIMARY KEY(run, job)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE figure_value("
	" run INTEGER NOT NULL REFERENCES figure_run, what TEXT NOT NULL, unit TEXT NOT NULL,"
	" value REAL, PRIMARY KEY(run, what)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE figure_published("
	" number INTEGER PRIMARY KEY, what TEXT NOT NULL, policy TEXT, low REAL NOT NULL,"
	" high REAL NOT NULL CHECK(high >= low), unit TEXT NOT NULL,"
	" source TEXT NOT NULL) STRICT;"

	/* A trace under topologies, job schedulers and policies; every run also has its row in run.
	 */
	"CREATE TABLE trace("
	" id INTEGER PRIMARY KEY CHECK(id = 1), source TEXT NOT NULL, own_topology TEXT NOT NULL,"
	" format TEXT NOT NULL, digest TEXT NOT NULL,"
	" seed TEXT NOT NULL, payload_bytes INTEGER NOT NULL, models TEXT NOT NULL, from_s REAL "
	"NOT NULL,"
	" length_s REAL NOT NULL, bytes_factor REAL NOT NULL, compute_factor REAL NOT NULL,"
	" work TEXT NOT NULL, ring TEXT NOT NULL, tick_ps INTEGER NOT NULL, patience INTEGER NOT "
	"NULL,"
	" bin_s REAL NOT NULL, fairness REAL NOT NULL, jobs INTEGER NOT NULL,"
	" planned_runs INTEGER NOT NULL,"
	" finished INTEGER NOT NULL DEFAULT 0 CHECK(finished IN (0, 1))) STRICT;"

	"CREATE TABLE trace_file("
	" file TEXT PRIMARY KEY, rows INTEGER NOT NULL,"
	" kept INTEGER NOT NULL CHECK(kept <= rows)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_dropped("
	" file TEXT NOT NULL REFERENCES trace_file, reason TEXT NOT NULL, text TEXT NOT NULL,"
	" seen INTEGER NOT NULL, dropped INTEGER NOT NULL CHECK(dropped <= seen),"
	" first_line INTEGER, PRIMARY KEY(file, reason)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_input("
	" job INTEGER PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL,"
	" trace_model TEXT NOT NULL, gpus INTEGER NOT NULL CHECK(gpus > 0),"
	" submit_s REAL NOT NULL, run_s REAL NOT NULL, finish_s REAL NOT NULL,"
	" flop REAL NOT NULL, compute_s REAL NOT NULL, overlap_start REAL NOT NULL,"
	" gradient_bytes INTEGER NOT NULL, nominal_s REAL NOT NULL,"
	" iterations INTEGER NOT NULL) STRICT;"

	"CREATE TABLE trace_topology("
	" description TEXT PRIMARY KEY, hosts INTEGER NOT NULL, gpus INTEGER NOT NULL,"
	" tors INTEGER NOT NULL, aggs INTEGER NOT NULL, cores INTEGER NOT NULL,"
	" links INTEGER NOT NULL) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_run("
	" run INTEGER PRIMARY KEY REFERENCES run, part TEXT NOT NULL,"
	" topology TEXT NOT NULL REFERENCES trace_topology, scheduler TEXT NOT NULL,"
	" policy TEXT NOT NULL, levels INTEGER NOT NULL, utilisation REAL,"
	" cluster_utilisation REAL, busy_gpu_s REAL NOT NULL, held_gpu_s REAL NOT NULL,"
	" cluster_gpu_s REAL NOT NULL, flop REAL NOT NULL, end_s REAL NOT NULL,"
	" decisions INTEGER NOT NULL, peak_jobs INTEGER NOT NULL, peak_gpus INTEGER NOT NULL,"
	" peak_waiting INTEGER NOT NULL, iterations INTEGER NOT NULL,"
	" UNIQUE(topology, scheduler, policy, levels)) STRICT;"

	"CREATE TABLE trace_job("
	" run INTEGER NOT NULL REFERENCES trace_run, job INTEGER NOT NULL REFERENCES trace_input,"
	" start_s REAL, end_s REAL, iterations INTEGER NOT NULL, iteration_s REAL,"
	" alone_iteration_s REAL, compute_s REAL, level REAL, intensity REAL,"
	" hosts INTEGER NOT NULL, tors INTEGER NOT NULL, pods INTEGER NOT NULL,"
	" shared INTEGER NOT NULL, PRIMARY KEY(run, job)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_bin("
	" run INTEGER NOT NULL REFERENCES trace_run, seq INTEGER NOT NULL, start_s REAL NOT NULL,"
	" end_s REAL NOT NULL CHECK(end_s >= start_s), busy_gpu_s REAL NOT NULL,"
	" held_gpu_s REAL NOT NULL, flop REAL NOT NULL, jobs_s REAL NOT NULL,"
	" waiting_s REAL NOT NULL, PRIMARY KEY(run, seq)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_sort("
	" run INTEGER NOT NULL, seq INTEGER NOT NULL, sort TEXT NOT NULL, bytes REAL NOT NULL,"
	" carried REAL NOT NULL, PRIMARY KEY(run, seq, sort),"
	" FOREIGN KEY(run, seq) REFERENCES trace_bin) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_level("
	" run INTEGER NOT NULL REFERENCES trace_run, level INTEGER NOT NULL, job_s REAL NOT NULL,"
	" gpu_s REAL NOT NULL, progress_gpu_s REAL NOT NULL, alone_gpu_s REAL NOT NULL,"
	" PRIMARY KEY(run, level)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_risk("
	" topology TEXT NOT NULL REFERENCES trace_topology, scheduler TEXT NOT NULL,"
	" jobs INTEGER NOT NULL, gpus INTEGER NOT NULL, risky_jobs INTEGER NOT NULL,"
	" risky_gpus INTEGER NOT NULL, any_jobs INTEGER NOT NULL, any_gpus INTEGER NOT NULL,"
	" PRIMARY KEY(topology, scheduler)) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_risk_sort("
	" topology TEXT NOT NULL, scheduler TEXT NOT NULL, sort TEXT NOT NULL,"
	" jobs INTEGER NOT NULL, gpus INTEGER NOT NULL, PRIMARY KEY(topology, scheduler, sort),"
	" FOREIGN KEY(topology, scheduler) REFERENCES trace_risk) STRICT, WITHOUT ROWID;"

	"CREATE TABLE trace_risky("
	" topology TEXT NOT NULL, scheduler TEXT NOT NULL,"
	" job INTEGER NOT NULL REFERENCES trace_input, PRIMARY KEY(topology, scheduler, job),"
	" FOREIGN KEY(topology, scheduler) REFERENCES trace_risk) STRICT, WITHOUT ROWID;";
