#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# plot-fixture: a made-up database with the real tables, to draw without a run.
#   plot-fixture.py SCHEMA.c DATABASE JOBS SCHEDULERS FINISHED
#
# Place: test/cli, for plot.sh.
import re
import sqlite3
import sys

schema, path, n_jobs, n_runs, finished = sys.argv[1:]
text = open(schema).read()
sql = "".join(re.findall(r'^\s*"(.*)"', text[text.index("store_schema[]") :], re.M))
db = sqlite3.connect(path)
db.executescript(sql)
for j in range(int(n_jobs)):
    name, gpus = ("gpt-0", 32) if j == 0 else (f"bert-{j}", 8)
    db.execute("INSERT INTO job VALUES(?,?,?,'m',?,1,1,0,9,1,0.1,0.5,1)", [j, j, name, gpus])
for r in range(int(n_runs)):
    policy = ["ecmp", "crux", "sincronia"][r]
    db.execute("INSERT INTO run VALUES(?,'packet',?,NULL,5,0,0,?)", [r + 1, policy, int(finished)])
    db.execute("INSERT INTO run_summary VALUES(?,1,2,?,0.5,0.5)", [r + 1, 0.7 + 0.06 * r])
    for j in range(int(n_jobs)):
        # Half of the computation overlaps; job j communicates as long as it computes, the more
        # slowly the lower its place.
        compute = 0.02 if j == 0 else 0.008
        communicate = compute * (1 + 0.3 * (j % 4) / (r + 1))
        db.execute("INSERT INTO plan_job VALUES(?,?,1,1,1,1,?,?,0)", [r + 1, j, j, j * r % 5])
        t = 0
        for i in range(9):
            ready = t + compute / 2
            end = max(t + compute, ready + communicate)
            row = [r + 1, j, i, t, t + compute, ready, ready + communicate, end, compute]
            db.execute("INSERT INTO iteration VALUES(?,?,?,?,?,?,?,?,?)", row)
            t = end
        mean = t / 9
        row = [r + 1, j, 9, 1, mean, t, 1, 0, mean / (1.5 * compute), 1, None]
        db.execute("INSERT INTO job_summary VALUES(?,?,?,?,?,?,?,?,?,?,?)", row)
db.commit()
