#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# plot-trace-fixture: a made-up study of a trace with the real tables, to draw without a run: two weeks
# of jobs whose sizes and times are drawn, utilisation that differs by policy, topology, scheduler.
#   plot-trace-fixture.py SCHEMA.c DATABASE TOPOLOGIES POLICIES [parts]
# TOPOLOGIES, POLICIES: so many of the lists below; parts: of policies,schedulers,levels,risk (all).
#
# Place: test/cli, for plot-trace.sh.
import math
import random
import re
import sqlite3
import sys

schema, path, n_topologies, n_policies = sys.argv[1:5]
parts = (sys.argv[5] if len(sys.argv) > 5 else "policies,schedulers,levels,risk").split(",")
draw = random.Random(5)
LENGTH, BIN, JOBS, K = 14 * 86400.0, 3600.0, 900, 8
TOPOLOGIES = [
    "clos:tors=173,aggs=16,hosts_per_tor=5,uplink_gbps=200",
    "lingjun:/var/lib/datasets/of/somebody/alibaba-lingjun-dataset-2023/topo.csv,uplink_gbps=400,agg_gbps=400",
    "clos3:pods=6,tors=2,planes=4,cores=8,ports=2,rails=1,hosts=72,host=h100,nvlink_gbps=3600,nic_gbps=400,delay_ns=600",
    "fattree:k=16",
][: int(n_topologies)]
POLICIES = {"crux": 0.62, "ecmp": 0.40, "sincronia": 0.41, "taccl": 0.48, "cassini": 0.50, "crux-pa": 0.55, "crux-ps-pa": 0.618,
            "varys": 0.45, "my-own-policy-of-a-long-name-31ch": 0.33}
policies = dict(list(POLICIES.items())[: int(n_policies)])
SCHEDULERS = {"muri": 1.2, "hived": 1.25, "random": 1, "packed": 1.22, "first-fit": 1.1, "backfill": 1.05}
SORTS = {"host": 9e23, "pcie-nic": 6e23, "nic-tor": 5e23, "tor-agg": 2e23, "agg-core": 1e22}

db = sqlite3.connect(path)
text = open(schema).read()
db.executescript("".join(re.findall(r'^\s*"(.*)"', text[text.index("store_schema[]") :], re.M)))


def add(table, **row):
    columns = ", ".join(row)
    db.execute(f"INSERT INTO {table}({columns}) VALUES({', '.join('?' * len(row))})", list(row.values()))


jobs = []
for job in range(JOBS):
    start = LENGTH * draw.random() ** 0.9
    length = min(60 * math.exp(draw.gauss(4.5, 2.2)), 4 * 86400)
    jobs.append((start, 2 ** min(9, int(draw.expovariate(0.28)))))
    add("trace_input", job=job, name=f"job-{job}", model="gpt", trace_model="unknown", gpus=jobs[-1][1], submit_s=start,
        run_s=start + 60, finish_s=start + 60 + length if job else start + 60, flop=1e16, compute_s=0.4, overlap_start=0.5,
        gradient_bytes=10**9, nominal_s=0.5, iterations=100)


def add_run(part, topology, scheduler, policy, levels, utilisation, whole):
    (run,) = db.execute("SELECT coalesce(max(run), 0) + 1 FROM trace_run").fetchone()
    add("run", run=run, engine="trace", policy=policy, alone_job=None, levels=levels, cut=None, weight=None, finished=1)
    add("trace_run", run=run, part=part, topology=topology, scheduler=scheduler, policy=policy, levels=levels,
        utilisation=utilisation, cluster_utilisation=utilisation / 3, busy_gpu_s=1e9 * utilisation, held_gpu_s=1e9,
        cluster_gpu_s=3e9, flop=1e20, end_s=LENGTH, decisions=1800, peak_jobs=40, peak_gpus=1900, peak_waiting=3,
        iterations=10**8)
    if not whole:
        return
    for job, (start, gpus) in enumerate(jobs):
        slow = 1 + max(0, draw.gauss(0, 1)) * (0.7 - utilisation) * (3 if gpus > 8 else 0.3)
        add("trace_job", run=run, job=job, start_s=start, end_s=start + 100, iterations=100, iteration_s=0.5 * slow if job else None,
            alone_iteration_s=0.5, compute_s=40, level=draw.randrange(levels), intensity=1e15, hosts=1, tors=1, pods=1, shared=1)
    for seq in range(int(LENGTH / BIN)):
        day = 0.6 + 0.35 * math.sin(seq / 24 * 2 * math.pi) + draw.gauss(0, 0.05)
        held = 3600 * 1900 * max(0, day) * (seq % 97 != 5)
        add("trace_bin", run=run, seq=seq, start_s=seq * BIN, end_s=(seq + 1) * BIN,
            busy_gpu_s=held * min(1, max(0, utilisation + draw.gauss(0, 0.04))), held_gpu_s=held, flop=1e18, jobs_s=1e5, waiting_s=0)
        for sort, scale in SORTS.items():
            add("trace_sort", run=run, seq=seq, sort=sort, bytes=1e12, carried=3600 * scale * utilisation * max(0, day))
    for level in range(levels if policy != "ecmp" else 1):
        lost = min(0.9, (1 - utilisation) * (level + 0.5) / levels * 1.3)
        add("trace_level", run=run, level=level, job_s=1e6, gpu_s=1e7, progress_gpu_s=1e7 * (1 - lost), alone_gpu_s=1e7)


for t, topology in enumerate(TOPOLOGIES):
    add("trace_topology", description=topology, hosts=847, gpus=6776, tors=173, aggs=16, cores=0, links=9000)
    better = 1 + 0.12 * t
    if "policies" in parts:
        for policy, value in policies.items():
            add_run("policies", topology, "recorded", policy, K, value * better, True)
    if "levels" in parts:
        for policy in ("crux", "crux-ps-pa"):
            for levels in (1, 2, 4, 16):
                add_run("levels", topology, "recorded", policy, levels, policies.get(policy, 0.4) * better * (1 - 0.1 / levels), False)
    if "schedulers" in parts:
        for scheduler, gain in SCHEDULERS.items():
            for policy, value in (("ecmp", 0.4), ("crux", 0.4 * (1.3 - 0.3 * (gain - 1)))):
                add_run("schedulers", topology, scheduler, policy, K, value * gain * better, False)
    if "risk" in parts:
        add("trace_risk", topology=topology, scheduler="recorded", jobs=JOBS, gpus=20000, risky_jobs=330, risky_gpus=11000,
            any_jobs=400, any_gpus=13000)
        for i, sort in enumerate(("nic-tor", "pcie-nic", "tor-agg", "agg-core", "host")):
            add("trace_risk_sort", topology=topology, scheduler="recorded", sort=sort, jobs=250 - 60 * i, gpus=9000 - 2000 * i)
(n_runs,) = db.execute("SELECT count(*) FROM trace_run").fetchone()
add("trace", source="out/trace", own_topology="", format="lingjun", digest="0123456789abcdef", seed="1", payload_bytes=4096, models="simple", from_s=0.0, length_s=LENGTH, bytes_factor=1.0,
    compute_factor=1.0, work="time", ring="rank", tick_ps=10**9, patience=4096, bin_s=BIN, fairness=0.0, jobs=JOBS, planned_runs=n_runs, finished=1)
db.commit()
