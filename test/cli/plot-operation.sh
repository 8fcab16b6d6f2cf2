#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# plot-operation: crux-plot-operation.py draws made-up databases of several sizes, with all of
# the tables and with some, and says in one line what it cannot draw. Ends with
# "N passed, N failed". With KEEP=FOLDER the databases and pictures stay there.
#
# Place: test/cli. Depends on /usr/bin/python3 with matplotlib, and sqlite3.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
limit=300
keep
schema=$root/model/core/crux-store-schema.c

# An empty database with the tables of the library: the text of its schema, unquoted.
empty() {
    rm -f "$1"
    sed -n '/store_schema\[\]/,$s/^[[:space:]]*"\(.*\)"[;]*$/\1/p' "$schema" | sqlite3 "$1"
}

# fixture FILE JOBS RUNS: a minute of made-up operation. Jobs come one after the other and stay for
# 35 s; each is profiled for 1.5 s, and a plan is in force 3 ms later; it lifts what the GPUs compute, the
# more the later the run. A link fails for 8 s and a host dies, which makes plans of their own.
fixture() {
    empty "$1"
    sqlite3 "$1" << END
PRAGMA foreign_keys = ON;
CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c LIMIT 240) SELECT i FROM c;
CREATE TEMP TABLE a AS SELECT i AS job, 30.0 * i / $2 AS come FROM n WHERE i < $2;
ALTER TABLE a ADD COLUMN go REAL;
UPDATE a SET go = CASE job WHEN 0 THEN 60 ELSE min(come + 35, 60) END;
INSERT INTO job SELECT job, 100 + job, CASE job WHEN 0 THEN 'gpt-0' ELSE 'bert-' || job END, 'm',
    CASE job WHEN 0 THEN 32 ELSE 8 + job % 2 * 8 END, 1, 1, come, 9, 1, 0.1, 0.5, 1 FROM a;
INSERT INTO run SELECT i + 1, 'packet', CASE i WHEN 0 THEN 'ecmp' WHEN 1 THEN 'sincronia' ELSE 'crux' END,
    NULL, 5, 0, 0, 1 FROM n WHERE i < $3;
CREATE TEMP TABLE b AS SELECT run, n.i * 0.5 AS at, job.job, gpus, come, go FROM run, n, a JOIN job USING(job)
    WHERE n.i < 120 AND n.i * 0.5 >= come AND n.i * 0.5 < go;
INSERT INTO op_bin SELECT run, row_number() OVER (PARTITION BY run ORDER BY at, job) - 1, at, at + 0.5, job,
    gpus * 0.5 * (0.5 + 0.12 * run * (at > come + 1.5) - 0.1 * (at BETWEEN 25 AND 25.8) + 0.02 * ((job * 7 + at * 6) % 5)),
    gpus, 5 FROM b;
CREATE TEMP TABLE d AS SELECT row_number() OVER (ORDER BY news) - 1 AS k, * FROM (
    SELECT come + 1.5 AS news, 0.003 AS wait, 'profile' AS cause FROM a WHERE come < 41
    UNION ALL VALUES(25.02, 0.004, 'paths'), (41.3, 0.06, 'coordinator'));
INSERT INTO op_decision SELECT run, k, k + 1, 1 + (news > 41), (news > 41), news, news + 0.001,
    CASE k WHEN 2 THEN NULL ELSE news + wait END, k + 1, 1 + k % 3, cause FROM run, d;
INSERT INTO op_order SELECT run, row_number() OVER (PARTITION BY run ORDER BY k, job) - 1, k + 1, job,
    abs(k - job) % 5, job, 1e12, 1e12, 0 FROM run, d, a WHERE come + 1.5 <= news AND go > news;
INSERT INTO op_event SELECT run, row_number() OVER (PARTITION BY run ORDER BY at) - 1, at, NULL, kind, job, host, NULL, what
    FROM run, (SELECT come AS at, 'arrival' AS kind, 100 + job AS job, NULL AS host, NULL AS what FROM a
    UNION ALL SELECT go, 'end', 100 + job, NULL, NULL FROM a WHERE go < 60
    UNION ALL VALUES(25, 'link-down', NULL, NULL, 'tor0>agg1'), (33, 'link-up', NULL, NULL, 'tor0>agg1'),
    (41, 'host-down', NULL, 0, NULL), (41.3, 'coordinates', NULL, 1, NULL));
INSERT INTO op_profile SELECT run, job, job, come, come + 1.5, 10, 0.9, 0.1 * (1 + 0.001 * (job % 3)), 1e15,
    0.05 * (1.004 - 0.002 * job), 0.5 + 0.004 * (job % 4), 0.03 * (1 + 0.01 * job), 1e15 / 0.03 / (1 + 0.01 * job),
    0.1, 1e15, 0.05, 0.5, 0.03, 1e15 / 0.03 FROM run, a;
INSERT INTO op_probing SELECT run, job, 'h0.nic0', 'h' || (job + 1) || '.nic0', 4, 4, 40, 0, 0, come, come + 0.01 FROM run, a;
END
}

# drawn NAME
drawn() {
    local file=$work/$1.png why=""
    run /usr/bin/python3 "$root/tools/crux-plot-operation.py" "$work/$1.db" "$file" || why="exit $?"
    [ -n "$why" ] || why=$(png "$file" 1200)
    [ ! -s err.txt ] || why+="; said: $(cat err.txt)"
    result "$1" "$why"
}

# refused NAME CODE PART ARGUMENTS...
refused() { must_fail "$1" "$2" "$3" /usr/bin/python3 "$root/tools/crux-plot-operation.py" "${@:4}"; }

# without NAME TABLE...: the four-jobs database with these tables empty.
without() {
    local name=$1 table
    shift
    cp "$work/one-run.db" "$work/$name.db"
    for table in "$@"; do
        sqlite3 "$work/$name.db" "DELETE FROM $table"
    done
}

fixture "$work/one-run.db" 4 1
fixture "$work/three-runs.db" 5 3
fixture "$work/many-jobs.db" 40 2
fixture "$work/one-job.db" 1 1
[ "$(sqlite3 "$work/three-runs.db" "SELECT (SELECT count(*) FROM op_decision) = 21
    AND (SELECT count(*) FROM op_profile) = 15 AND (SELECT count(*) FROM op_bin) > 1000
    AND NOT EXISTS (SELECT * FROM pragma_foreign_key_check)")" = 1 ]
result 'the made-up rows fit the schema' $?
drawn one-run
drawn three-runs
drawn many-jobs
drawn one-job
without no-plans op_decision op_order
drawn no-plans
without bins-only op_decision op_order op_event op_profile op_probing
drawn bins-only
without no-bins op_bin
drawn no-bins
without no-truths
sqlite3 "$work/no-truths.db" 'UPDATE op_profile SET true_iteration_s = NULL, true_flop = NULL, true_compute_s = NULL,
    true_overlap_start = NULL, true_t_s = NULL, true_intensity = NULL'
drawn no-truths
without killed
sqlite3 "$work/killed.db" 'UPDATE run SET finished = 0'
drawn killed
without profiles-only op_bin op_decision op_order op_event
drawn profiles-only

without nothing op_bin op_decision op_order op_event op_profile op_probing
refused 'no op rows' 15 'holds no run of Crux in operation' "$work/nothing.db" "$work/none.png"
without probing-only op_bin op_decision op_order op_event op_profile
refused 'nothing to draw' 15 'nothing to draw' "$work/probing-only.db" "$work/none.png"
empty "$work/empty.db"
refused 'no run' 15 'holds no run of Crux in operation' "$work/empty.db" "$work/none.png"
rm -f "$work/other.db"
sqlite3 "$work/other.db" 'CREATE TABLE mine(x)'
refused 'a database of somebody else' 15 'holds no run of Crux in operation' "$work/other.db" "$work/none.png"
echo text > "$work/text.db"
refused 'not a database' 14 text.db "$work/text.db" "$work/none.png"
refused 'a folder' 14 'no such file' "$work" "$work/none.png"
refused missing 14 'no such file' "$work/missing.db" "$work/none.png"
refused 'picture in a missing folder' 14 'No such file' "$work/one-job.db" "$work/missing/none.png"
refused 'picture is the database' 14 'is the database' "$work/one-job.db" "$work/one-job.db"
refused 'picture is somebody else'\''s file' 14 'not a PNG' "$work/one-job.db" "$work/text.db"
refused 'no arguments' 14 'usage: crux-plot-operation.py'
[ ! -e "$root/tools/__pycache__" ]
result 'nothing is left beside the tools' $?

finish
