#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# plot-trace: crux-plot-trace.py draws made-up studies of traces, with all of the tables and with some,
# and says in one line what it leaves out or cannot draw. Ends with "N passed, N failed". With
# KEEP=FOLDER the databases and pictures stay there.
#
# Place: test/cli. Depends on /usr/bin/python3 with matplotlib, and sqlite3.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
limit=300
keep

# fixture NAME TOPOLOGIES POLICIES [PARTS]
fixture() {
    local name=$1
    shift
    rm -f "$work/$name.db"
    /usr/bin/python3 "$root/test/cli/plot-trace-fixture.py" "$root/model/core/crux-store-schema.c" "$work/$name.db" "$@"
}

draw() { run /usr/bin/python3 "$root/tools/crux-plot-trace.py" "$@"; }

# drawn NAME LABEL PICTURES LEFT OPTIONS...: draws NAME.db into a folder of its own; PICTURES are the
# names of the files, no more and no fewer; LEFT the figures that a line says are left out.
drawn() {
    local name=$1 label=$2 pictures=$3 left=$4 why="" picture got
    shift 4
    rm -rf "${work:?}/$label"
    mkdir "$work/$label"
    draw "$work/$name.db" "--out=$work/$label" "$@" || why="exit $?"
    got=$(cd "$work/$label" && for picture in *; do echo "${picture%.png}"; done | sort | xargs)
    [ "$got" = "$(echo "$pictures" | tr ' ' '\n' | sort | xargs)" ] || why+="; drew '$got'"
    for picture in "$work/$label"/*.png; do
        why+=$(png "$picture" 1200)
    done
    got=$(sed -n 's/^figure \(.*\) is left out: .*crux-trace .*/\1/p' out.txt | xargs)
    [ "$got" = "$left" ] || why+="; left out '$got'"
    [ ! -s err.txt ] || why+="; said: $(cat err.txt)"
    result "$label" "$why"
}

# refused NAME CODE PART OPTIONS...
refused() {
    must_fail "refused: $1" "$2" "$3" /usr/bin/python3 "$root/tools/crux-plot-trace.py" "${@:4}"
}

# change NEW OLD SQL: a copy with something different.
change() {
    cp "$work/$2.db" "$work/$1.db"
    sqlite3 "$work/$1.db" "$3"
}

jobs='fig4 fig5'
all="$jobs fig6 fig23 fig24 fig25 figK fairness"
fixture one 1 7
fixture four 4 9
# 9 policies, 6 job schedulers with ecmp and crux, 4 other numbers of levels with 2 policies: 9 + 12 + 8
# runs a topology; 14 days of hours in the 9 whole ones.
[ "$(sqlite3 "$work/four.db" "SELECT (SELECT count(*) FROM trace_run) = 4 * 29
    AND (SELECT count(*) FROM trace_bin) = 4 * 9 * 14 * 24 AND (SELECT count(*) FROM trace_risk_sort) = 20
    AND NOT EXISTS (SELECT * FROM pragma_foreign_key_check)")" = 1 ]
result 'the made-up rows fit the schema' $?

drawn one 'one topology, seven policies' "$all" ''
drawn four 'four topologies, nine policies' "${all/fig24/fig24-1 fig24-2 fig24-3 fig24-4}" ''
drawn one 'figures that are asked for' 'fig23 fairness' '' --figure=fairness,23
draw "$work/one.db" --figure=4
why=$(png "$work/one-fig4.png" 1200)
[ "$(cat out.txt)" = "$work/one-fig4.png" ] || why+="; printed $(cat out.txt)"
result 'by itself beside the database' "$why"
draw "$work/one.db" --figure=4 "--out=$work/own"
[ -e "$work/own-fig4.png" ]
result 'with a prefix' $?

# What is not there is left out.
fixture policies 1 7 policies
drawn policies 'policies only' "$jobs fig23 fig24 fairness" '6 25 K'
fixture schedulers 1 7 schedulers
drawn schedulers 'job schedulers only' "$jobs fig25" '6 23 24 K fairness'
fixture begun 1 7 risk
drawn begun 'no run yet' "$jobs fig6" '23 24 25 K fairness'
change placed policies "UPDATE trace_run SET scheduler = 'packed'"
drawn placed 'policies under a job scheduler' "$jobs fig23 fig24 fig25 fairness" '6 K'
change own policies "DELETE FROM trace_run WHERE policy != 'cassini'; UPDATE trace_run SET policy = 'mine'"
drawn own 'a policy of one'\''s own alone' "$jobs fig23 fig24 fairness" '6 25 K'
change unfinished one 'UPDATE trace SET finished = 0, planned_runs = 30'
drawn unfinished 'unfinished' 'fig23 fairness' '' --figure=23,fairness
! cmp -s "$work/unfinished/fig23.png" "$work/one topology, seven policies/fig23.png"
result 'unfinished: the picture differs' $?
# Rates and times that do not exist: no job communicates, none ends, nothing is held, one bin.
change nulls one 'UPDATE trace_job SET iteration_s = NULL; UPDATE trace_bin SET held_gpu_s = 0, busy_gpu_s = 0;
    UPDATE trace_level SET progress_gpu_s = 0, alone_gpu_s = 0; UPDATE trace_sort SET carried = 0; UPDATE trace_run SET utilisation = NULL
    WHERE policy = '\''ecmp'\'''
drawn nulls 'values that do not exist' "$jobs fig6 fig23 fig24 figK" '25 fairness'
# Values that cannot be: put there by hand, one of each table. What has them is left out, and a line says so.
change infinite one 'UPDATE trace_run SET utilisation = 9e999 WHERE policy = '\''sincronia'\''; UPDATE trace_job SET iteration_s = 9e999 WHERE run = 1 AND job < 5;
    UPDATE trace_job SET alone_iteration_s = 1e-200 WHERE run = 1 AND job = 5; UPDATE trace_job SET alone_iteration_s = -9e999 WHERE run = 2 AND job < 3;
    UPDATE trace_bin SET busy_gpu_s = 9e999 WHERE run = 1 AND seq = 3; UPDATE trace_bin SET end_s = 9e999 WHERE run = 1 AND seq = 335;
    UPDATE trace_sort SET carried = 9e999 WHERE run = 1 AND seq = 7; UPDATE trace_level SET alone_gpu_s = 9e999 WHERE run = 1 AND level = 2;
    UPDATE trace_level SET progress_gpu_s = -9e999 WHERE run = 2 AND level = 0; UPDATE trace_input SET finish_s = 9e999 WHERE job = 1;
    UPDATE trace_input SET run_s = 1e300 WHERE job = 2; UPDATE trace SET length_s = 9e999, fairness = 9e999, bytes_factor = 9e999'
drawn infinite 'values that cannot be' "$all" ''
# Of jobs 5 + 3, and the one whose slowdown is 5e199; there are five sorts.
[ "$(grep -c 'left out$' out.txt)" = 6 ] && grep -qx 'trace_run: 1 row with a value that is infinite or missing is left out' out.txt &&
    grep -qx 'trace_input: 2 rows with a value that is infinite or missing are left out' out.txt && grep -q '^trace_job: 9 rows ' out.txt &&
    grep -q '^trace_bin: 2 rows ' out.txt && grep -q '^trace_level: 2 rows ' out.txt && grep -q '^trace_sort: 5 rows ' out.txt
result 'which are counted by table' $?
change all_infinite one 'UPDATE trace_run SET utilisation = 9e999; UPDATE trace_input SET run_s = 9e999; DELETE FROM trace_risk_sort; DELETE FROM trace_risk'
must_fail 'nothing but values that cannot be' 15 'nothing to draw' /usr/bin/python3 "$root/tools/crux-plot-trace.py" all_infinite.db
# Tables that somebody made without our constraints.
change loose one 'CREATE TABLE t AS SELECT * FROM trace_bin; DROP TABLE trace_bin; ALTER TABLE t RENAME TO trace_bin; UPDATE trace_bin SET held_gpu_s = NULL WHERE seq < 9;
    CREATE TABLE u AS SELECT * FROM trace_input; DROP TABLE trace_input; ALTER TABLE u RENAME TO trace_input; UPDATE trace_input SET gpus = '\''many'\'' WHERE job = 3'
drawn loose 'NULL and words for numbers' "$all" ''
change short policies 'DELETE FROM trace_bin WHERE seq > 0; DELETE FROM trace_sort WHERE seq > 0; DELETE FROM trace_input WHERE job > 1;
    UPDATE trace SET length_s = 1800, from_s = 86400 * 1.5; UPDATE trace_bin SET end_s = 1800'
drawn short 'half an hour, one bin, two jobs' "$jobs fig23 fig24 fairness" '6 25 K'
change momentary policies 'UPDATE trace_input SET finish_s = run_s; UPDATE trace_input SET gpus = 1'
drawn momentary 'jobs of no length, of one GPU' 'fig4 fig23 fig24 fairness' '6 25 K'
change loaded one 'UPDATE trace_run SET utilisation = utilisation * 2.4'
drawn loaded 'utilisation above 1' 'fig23 fig25 figK' '' --figure=23,25,K

# What is drawn, against numbers that follow from the rows by hand.
/usr/bin/python3 - "$root/tools" > out.txt 2> err.txt << 'END'
import sqlite3, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import crux_plot_trace as base, crux_plot_trace_jobs as jobs, crux_plot_trace_runs as runs

def near(got, want):
    assert len(got) == len(want) and all(abs(a - b) < 1e-9 for a, b in zip(got, want)), (got, want)

# 4 GPUs from 0 to 10, 8 from 10 to 20, 2 from 5 to 10, 1 for no time: the end at 10 comes first.
once = jobs.at_once([{"gpus": g, "run_s": r, "finish_s": f} for g, r, f in ((4, 0, 10), (8, 10, 20), (2, 5, 10), (1, 3, 3))])
assert once == ([0, 5, 10, 20], [1, 2, 1, 0], [4, 6, 8, 0]), once
# 340 bins of a second with 1 and 2: 170 of two seconds with 2 and 4; 341: 114 of three, the last of two.
joined, n = runs.coarser([(i, i + 1, 1, 2) for i in range(340)])
assert n == 2 and len(joined) == 170 and joined[169] == (338, 340, 2, 4), joined[-1]
joined, n = runs.coarser([(i, i + 1, 1, 2) for i in range(341)])
assert n == 3 and len(joined) == 114 and joined[113] == (339, 341, 2, 4), joined[-1]
# 0.6 over 0.4 and 0.5.
text = runs.gains({p: {"utilisation": u} for p, u in (("sincronia", 0.4), ("cassini", 0.5), ("crux", 0.6), ("ecmp", 0.1))})
assert text == "crux +10.0 to +20.0 points,\n+20.0 to +50.0 %\nover sincronia, cassini", text
assert runs.gain(0.6, 0.5) == "+20.0 %"
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE trace_job(run, job, iteration_s, alone_iteration_s)")
db.executemany("INSERT INTO trace_job VALUES(1, ?, ?, ?)", [(0, 3, 2), (1, 2, 2), (2, None, 2), (3, 2, None), (4, 2, 0)])
db.execute("CREATE TABLE trace_level(run, level, progress_gpu_s, alone_gpu_s)")
db.executemany("INSERT INTO trace_level VALUES(1, ?, ?, ?)", [(0, 9, 10), (1, 0, 0), (2, 4, 10)])
one = {"part": "policies", "topology": "t", "scheduler": "packed"}
found = [dict(one, run=i, policy=p, levels=k, utilisation=u, part=part) for i, p, k, u, part in (
    (1, "crux", 8, 0.5, "policies"), (2, "crux", 16, 0.6, "levels"), (3, "ecmp", 8, 0.3, "policies"),
    (4, "taccl", 4, 0.2, "levels"), (5, "taccl", 2, 0.1, "levels"), (6, "varys", 8, None, "policies"))]
study = base.Study(db, {}, found, [], [{"topology": "t", "scheduler": "packed"}],
                   [{"topology": "t", "scheduler": "packed", "sort": "nic-tor", "jobs": 2, "gpus": 30}])
near(jobs.slowdowns(study, found[0]), [1, 1.5])
assert [level for level, _ in jobs.losses(study, found[0])] == [0, 2]
near([lost for _, lost in jobs.losses(study, found[0])], [10, 60])
# Eight levels, as most runs have; else the most.
assert study.levels == 8 and study.scheduler_of("t") == "packed"
assert [(p, run["run"]) for p, run in study.of("t", "packed").items()] == [("ecmp", 3), ("taccl", 4), ("crux", 1)]
assert [(p, len(x)) for p, x in runs.by_levels(study)[0][2].items()] == [("taccl", 2), ("crux", 2)]
risk = {"topology": "t", "scheduler": "packed", "jobs": 4, "gpus": 40, "risky_jobs": 3, "risky_gpus": 36,
        "any_jobs": 4, "any_gpus": 40}
near([share for _, *pair in jobs.risk_groups(study, risk) for share in pair], [75, 90, 50, 75, 100, 100])
# Of seven panels of a topology the one under the job scheduler of its comparison stays; two are few.
many, said = study.few([("t", s) for s in ("a", "b", "c", "d", "e", "f", "packed")], lambda item: item)
assert many == [("t", "packed")] and said.startswith("6 more under"), said
assert study.few([("t", "a"), ("t", "packed")], lambda item: item) == ([("t", "a"), ("t", "packed")], "")
# ecmp, the best baseline, the steps of crux.
assert runs.shown_policies({p: {"utilisation": u} for p, u in (
    ("ecmp", 0.1), ("sincronia", 0.3), ("taccl", 0.5), ("cassini", 0.4), ("crux-pa", 0.6), ("crux", 0.7))}) == [
    "ecmp", "taccl", "crux-pa", "crux"]
assert jobs.slowdown_ticks(1.04) == [1, 1.005, 1.01, 1.02, 1.03] and jobs.slowdown_ticks(2500) == [1, 10, 100, 1000]
assert base.short("lingjun:/a/b/topo.csv,gpus=4") == "lingjun:topo.csv,gpus=4"
END
result 'numbers by hand' "$(tail -n 1 err.txt)"

refused 'what is asked for is not there' 15 'nothing to draw: figure K is left out' "$work/policies.db" --figure=K
change nothing one 'DELETE FROM trace'
refused 'no study' 15 'holds no study of crux-trace' "$work/nothing.db"
rm -f "$work/other.db"
sqlite3 "$work/other.db" 'CREATE TABLE trace(x)'
refused 'a database of somebody else' 15 'holds no study of crux-trace' "$work/other.db"
change older one 'ALTER TABLE trace_run DROP COLUMN part'
refused 'a column that is missing' 14 'part' "$work/older.db"
echo text > "$work/text.db"
refused 'not a database' 14 text.db "$work/text.db"
refused 'a folder' 14 'no such file' "$work"
refused missing 14 'no such file' "$work/missing.db"
refused 'a folder that is missing' 14 'no such folder' "$work/one.db" "--out=$work/missing/pictures"
refused 'a figure that does not exist' 14 "no figure '22'" "$work/one.db" --figure=23,22
refused 'an option that does not exist' 14 '--figures=23' "$work/one.db" --figures=23
refused 'no value' 14 '--out' "$work/one.db" --out=
refused 'no arguments' 14 'usage: crux-plot-trace.py'
refused 'two databases' 14 'usage' "$work/one.db" "$work/four.db"
mkdir -p "$work/taken"
echo text > "$work/taken/fig23.png"
refused 'a picture that is somebody else'\''s file' 14 'not a PNG' "$work/one.db" "--out=$work/taken"
[ "$(cd "$work/taken" && head -v -- *)" = $'==> fig23.png <==\ntext' ]
result 'then nothing is written' $?
[ ! -e "$root/tools/__pycache__" ]
result 'nothing is left beside the tools' $?

finish
