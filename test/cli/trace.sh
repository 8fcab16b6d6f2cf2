#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# trace: crux-trace refuses bad options and bad traces in one line before anything runs, gives the
# same results for the same seed, keeps what is finished when it is interrupted, and resumed ends as
# if it had not been. Ends with "N passed, N failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it) and sqlite3.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs
limit=100

trace() { run "$bin/crux-trace" --no-picture "$@"; }

# refused NAME CODE PART OPTIONS...: that exit code, one line on stderr with the part, nothing written.
refused() {
    local name=$1 code=$2 part=$3 rc=0 before
    shift 3
    before=$(state)
    trace "$@" || rc=$?
    [ $rc = "$code" ] && [ "$(wc -l < err.txt)" = 1 ] && grep -qF -- "$part" err.txt && [ "$before" = "$(state)" ] &&
        ! grep -q ' util ' out.txt
    result "$name (exit $rc)" $?
}

# All but wall-clock figures.
dump() { sqlite3 "$1" .dump | grep -v timing; }
same() { cmp -s <(dump "$1") <(dump "$2") && [ "$(dump "$1" | wc -l)" -gt 50 ]; }
ask() { sqlite3 "$1" "$2"; }

# ------------------------------------------------------------------ a trace by hand
# Two hosts under two ToR. j1: 8 GPUs of host a for an hour; j2: 4 GPUs of b from the half hour to one
# and a half hours; j3 wants 8 on b meanwhile, of which only 4 are free: two workers on one GPU.
job_header=id,job_name,kind,model,status,is_deleted,gmt_job_submitted,gmt_job_running,gmt_job_stopped,gmt_job_finished
worker_header=job_name,worker_name,replica_type,host_ip,gmt_pod_running,gmt_pod_finished,RES
hand() {
    mkdir -p "$1"
    printf 'ip,DSW,PSW,ASW\na,G,P,S1\nb,G,P,S2\n' > "$1/topo.csv"
    cat > "$1/job.csv" << END
$job_header
1,j1,PyTorchJob,gpt,Succeeded,0,2023/7/15 0:00,2023/7/15 0:00,,2023/7/15 1:00
2,j2,PyTorchJob,resnet,Succeeded,0,2023/7/15 0:10,2023/7/15 0:30,,2023/7/15 1:30
3,j3,PyTorchJob,gpt,Succeeded,0,2023/7/15 0:40,2023/7/15 0:40,,2023/7/15 1:10
END
    cat > "$1/worker.csv" << END
$worker_header
j1,w,worker,a,2023/7/15 0:00,2023/7/15 1:00,"{""nvidia.com/gpu"": ""8""}"
j2,w,worker,b,2023/7/15 0:30,2023/7/15 1:30,"{""nvidia.com/gpu"": ""4""}"
j3,w,worker,b,2023/7/15 0:40,2023/7/15 1:10,"{""nvidia.com/gpu"": ""8""}"
END
}
hand hand

trace --trace=hand --db=hand.db --policies=ecmp,crux
result 'a trace by hand' $?
grep -q "by other workers at that time" out.txt &&
    [ "$(ask hand.db "SELECT dropped || ' line ' || first_line FROM trace_dropped WHERE reason = 'WORKER_HOST_FULL'")" = '1 line 4' ]
result 'two workers on one GPU: the second is dropped, told and stored' $?
# Held: 8 GPUs x 3600 s + 4 x 3600 = 43200. The window ends with the last job, at 5400 s: of 16 GPUs that is 86400.
[ "$(ask hand.db 'SELECT DISTINCT held_gpu_s, cluster_gpu_s, end_s FROM trace_run')" = '43200.0|86400.0|5400.0' ]
result 'GPU-seconds as derived' $?
# Nobody shares a link: each job runs as it does alone.
[ "$(ask hand.db 'SELECT count(*) FROM trace_job WHERE abs(iteration_s / alone_iteration_s - 1) < 1e-9')" = 4 ] &&
    [ "$(ask hand.db 'SELECT jobs, risky_jobs FROM trace_risk')" = '2|0' ]
result 'jobs that do not meet run as alone, and nobody is at risk' $?
[ "$(ask hand.db "SELECT group_concat(start_s || '-' || end_s, ' ') FROM trace_job WHERE run = 1")" = '0.0-3600.0 1800.0-5400.0' ]
result 'jobs hold their GPUs for their recorded time' $?
[ "$(ask hand.db 'SELECT finished, planned_runs FROM trace')" = '1|2' ]
result 'marked finished' $?
cp out.txt with.txt
trace --trace=hand --db=none --policies=ecmp,crux && cmp -s <(grep -v '^database\|^$' with.txt) <(grep -v '^$' out.txt)
result 'without a database the tables are the same' $?
trace --job-csv=hand/job.csv --worker-csv hand/worker.csv --topo-csv=hand/topo.csv --db=none --quiet --policies=crux &&
    grep -q 'lingjun:hand/topo.csv, recorded placement, 8 levels' out.txt && ! grep -q assumed out.txt && [ ! -s err.txt ]
result 'single files, quiet' $?
trace --trace=hand --db=none --from-hour=1 --hours=0.25 --policies=ecmp && grep -q '^window: *from hour 1, 0.25 hours: 1 jobs' out.txt
result 'a window' $?
trace --trace=hand --db=none --levels=2 --policies=crux,all,optimal && grep -q '^runs: *10 = ' out.txt && grep -q '^  optimal ' out.txt &&
    [ "$(grep -c '^  crux  ' out.txt)" = 1 ]
result 'all policies and one that enumerates' $?
trace --trace=hand --db=layers.db --models=layers --policies=ecmp,crux --check && grep -q '^  model gpt, tp=1:pp=1, on 8 GPUs (1 jobs)' out.txt &&
    [ "$(ask layers.db "SELECT models || ' ' || (SELECT group_concat(model, ' ') FROM trace_input) FROM trace")" = \
        'layers gpt:8:tp=1:pp=1 resnet50:4:tp=1:pp=1:bucket_mb=25' ]
result 'jobs in full' $?
refused 'resuming with other models' 11 'models is "layers" there, "simple" is asked for' --trace=hand --db=layers.db --policies=ecmp,crux --resume
# An iteration of 1e6 x 0.1 s of computation ends in no job, so no job has a slowdown.
hand wide
sed -i '$d' wide/worker.csv
echo 'j3,w,worker,a,2023/7/15 1:10,2023/7/15 1:40,"{""nvidia.com/gpu"": ""8""}"' >> wide/worker.csv
echo 'j3,v,worker,b,2023/7/15 1:10,2023/7/15 1:40,"{""nvidia.com/gpu"": ""4""}"' >> wide/worker.csv
sed -i '4s/.*/3,j3,PyTorchJob,gpt,Succeeded,0,2023\/7\/15 0:40,2023\/7\/15 1:10,,2023\/7\/15 1:40/' wide/job.csv
trace --trace=wide --db=none --compute-factor=1e6 --policies=ecmp,crux && ! grep -q 'job nan' out.txt &&
    grep -q '^    here, lingjun:wide/topo.csv, recorded placement: 0.0 %$' out.txt
result 'no iteration ends: no slowdown is told' $?
trace --trace=hand --db=none --scheduler=packed --work=iterations --policies=ecmp --check && grep -q 'wait h' out.txt
result 'iterations, with every event checked' $?

# ------------------------------------------------------------------ other forms
# 40 jobs a form, of 1 to 32 GPUs, half an hour to three: times and sizes by a generator of our own. Philly: one
# has no end, one no GPUs; PAI: a job of two tasks of half a GPU each, so of 20 + 20 GPUs, and a job without tasks.
awk 'function draw(n) { x = x * 16807 % 2147483647; return int(x / 2147483647 * n) }
function date(s) { return sprintf("2017-10-%02d %02d:%02d:%02d", 7 + s / 86400, s / 3600 % 24, s / 60 % 60, s % 60) }
BEGIN {
    x = 7; print "jobid,status,submitted_time,start_time,end_time,gpus" > "philly.csv"
    for (j = 0; j < 40; j++) {
        at += draw(600); run = at + draw(60); end = run + 1800 + draw(9000); gpus = 2 ^ draw(6)
        print "app_" j ",Pass," date(at) "," date(run) "," (j == 5 ? "None" : date(end)) "," (j == 6 ? "" : gpus) > "philly.csv"
        print "job" j ",i" j ",u,Terminated," at ".0," end ".0" > "pai-job.csv"
        tasks = j == 3 ? 2 : j != 4
        for (t = 0; t < tasks; t++)
            print "job" j ",worker" t "," (j == 3 ? 40 : gpus) ",Terminated," run "," end ",600,29," (j == 3 ? 50 : 100) ",V100" > "pai-task.csv"
    }
}'
other=('--topology=clos:tors=4,hosts=4' '--policies=ecmp,crux')
philly=(--format=philly --job-csv=philly.csv "${other[@]}")
pai=(--format=pai --job-csv=pai-job.csv --task-csv=pai-task.csv "${other[@]}")
trace "${philly[@]}" --db=philly.db && grep -q "^Philly's form" out.txt && grep -q 'job.csv: 40 rows: 39 kept, 1 dropped' out.txt &&
    grep -q 'placement: the trace has none; a job scheduler gives the GPUs' out.txt && grep -q '^clos:tors=4,hosts=4, packed, 8 levels' out.txt
result 'a trace of Philly'"'"'s form, packed' $?
# Every job runs for as long as it did: the sum of gpus x (end - start) of the rows, the row without an end to the last.
want=$(awk -F, 'function s(d) { split(d, p, /[- :]/); return ((p[3] * 24 + p[4]) * 60 + p[5]) * 60 + p[6] }
    NR > 1 { if ($5 != "None" && s($5) > last) last = s($5); if ($6) { run[NR] = s($4); end[NR] = $5 == "None" ? 0 : s($5); gpus[NR] = $6 } }
    END { for (n in gpus) sum += gpus[n] * ((end[n] ? end[n] : last) - run[n]); print sum }' philly.csv)
[ "$(ask philly.db 'SELECT DISTINCT cast(held_gpu_s AS INTEGER) FROM trace_run')" = "$want" ] &&
    [ "$(ask philly.db 'SELECT format, source, own_topology, finished FROM trace')" = 'philly|philly.csv||1' ]
result 'held for the recorded times, and stored' $?
[ "$(ask philly.db "SELECT jobs = 39, any_jobs >= risky_jobs FROM trace_risk")" = '1|1' ] &&
    [ "$(ask philly.db "SELECT group_concat(file || rows || '-' || kept, ' ') FROM trace_file")" = 'job.csv40-39 worker.csv40-39' ]
result 'with its risk and its rows' $?
trace "${pai[@]}" --db=pai.db --scheduler=hived,muri --work=iterations && grep -q 'job.csv: 40 rows: 39 kept, 1 dropped' out.txt &&
    [ "$(ask pai.db "SELECT gpus FROM trace_input WHERE name = 'job3'")" = 40 ] && [ "$(ask pai.db 'SELECT count(*) FROM trace_run')" = 4 ]
result 'a trace of PAI'"'"'s form, under two job schedulers' $?
cp pai.db pai2.db
trace "${pai[@]}" --db=pai.db --scheduler=hived,muri --work=iterations --resume && grep -q '^4 of 4 runs are there' err.txt && same pai.db pai2.db
result 'which is complete' $?
echo 'late,worker,1,Terminated,1,2,600,29,100,V100' >> pai-task.csv
refused 'resuming with another table of tasks' 11 'digest' "${pai[@]}" --db=pai.db --scheduler=hived,muri --work=iterations --resume
if /usr/bin/python3 -c 'import matplotlib' 2> /dev/null; then
    /usr/bin/python3 "$root/tools/crux-plot-trace.py" philly.db --out=philly > out.txt 2> err.txt &&
        [ "$(find . -maxdepth 1 -name 'philly-*.png' | sort | xargs)" = './philly-fairness.png ./philly-fig23.png ./philly-fig24.png ./philly-fig25.png ./philly-fig4.png ./philly-fig5.png ./philly-fig6.png' ]
    result 'its pictures' $?
fi
refused 'unknown form' 13 'no form of traces helios; there are: lingjun, philly, pai' "${philly[@]:1}" --format=helios --db=none
refused 'a form without a topology of its own' 11 '--topology is missing: --format=philly' --format=philly --job-csv=philly.csv --db=none
refused 'a form without a placement' 11 '--scheduler=recorded: not with --format=philly' "${philly[@]}" --db=none --scheduler=packed,recorded
refused 'a form without workers' 11 '--worker-csv: not with --format=philly, which reads --job-csv' "${philly[@]}" --db=none --worker-csv=hand/worker.csv
refused 'a form without topo.csv' 11 '--topo-csv: not with --format=pai' "${pai[@]}" --db=none --topo-csv=hand/topo.csv
refused 'a form without tasks' 11 '--task-csv: not with --format=lingjun' --trace=hand --db=none --task-csv=pai-task.csv
refused 'PAI without tasks' 11 '--task-csv=FILE is missing: --format=pai' --format=pai --job-csv=pai-job.csv "${other[@]}" --db=none
refused 'Philly without jobs' 11 '--job-csv=FILE is missing: --format=philly' --format=philly "${other[@]}" --db=none
refused 'a folder of another form' 11 'a folder is of --format=lingjun' --format=philly --trace=hand "${other[@]}" --db=none
refused 'Philly'"'"'s rows as PAI'"'"'s' 11 'none of the 41 jobs is left' "${pai[@]:2}" --format=pai --job-csv=philly.csv --db=none
refused 'a job larger than the cluster, of another form' 19 'needs 32 GPUs' --format=philly --job-csv=philly.csv --topology=clos:tors=1,hosts=2 --db=none
# Nothing of a job in full is made before that: its 125,000 hosts of 8 GPUs would be more than a topology has.
printf 'jobid,status,submitted_time,start_time,end_time,gpus\na,Pass,2017-10-03 0:00,2017-10-03 0:01,2017-10-03 2:00,999999\n' > vast.csv
refused 'a vast job in full' 19 'needs 999999 GPUs' --format=philly --job-csv=vast.csv --models=layers --topology=clos:tors=1,hosts=2 --db=none

# ------------------------------------------------------------------ options
h=(--trace=hand --db=none)
refused 'no trace' 11 '--trace=FOLDER is missing'
refused 'one of three files' 11 '--worker-csv' --job-csv=hand/job.csv
refused 'folder that is not there' 13 nowhere/job.csv --trace=nowhere --db=none
refused 'file that is not there' 13 nowhere.csv "${h[@]}" --worker-csv=nowhere.csv
mkfifo pipe
refused 'pipe for a file, which is read twice' 14 'pipe: is no regular file' "${h[@]}" --worker-csv=pipe
refused 'folder for a file' 14 hand "${h[@]}" --job-csv=hand
refused 'unknown option' 16 --polices "${h[@]}" --polices=ecmp
refused 'second name of an option' 16 --schedulers "${h[@]}" --scheduler=packed --schedulers=random
refused 'line end in a value' 15 '?8' "${h[@]}" --levels=$'\n8'
refused 'stray word' 16 extra "${h[@]}" extra
refused 'option without a value' 11 --levels "${h[@]}" --levels
refused 'empty value' 11 --levels "${h[@]}" --levels=
refused 'flag with a value' 11 '--resume takes no value' "${h[@]}" --resume=yes
refused 'option twice' 17 '--seed is given twice' "${h[@]}" --seed=1 --seed=2
refused 'unknown policies, all named' 13 'no policy nix, nada; there are: all, ecmp' "${h[@]}" --policies=nix,crux,nada
refused 'policy twice' 17 'crux is given twice' "${h[@]}" --policies=crux,ecmp,crux
refused 'empty policy' 11 'an empty word' "${h[@]}" --policies=crux,,ecmp
refused 'unknown job schedulers, all named' 13 'no job scheduler nix, nada; there are: recorded, first-fit' "${h[@]}" --scheduler=nix,packed,nada
refused 'no levels' 12 '--levels' "${h[@]}" --levels=0
refused 'too many levels' 12 65 "${h[@]}" --levels=8,65
refused 'levels that are no number' 15 eight "${h[@]}" --levels=eight
refused 'levels twice' 17 '8 is given twice' "${h[@]}" --levels=8,4,8
refused 'no hours' 12 '--hours' "${h[@]}" --hours=0
refused 'negative hour' 12 '--from-hour' "${h[@]}" --from-hour=-1
refused 'window without jobs' 11 'no job' "${h[@]}" --from-hour=100
refused 'seed that is no number' 15 abc "${h[@]}" --seed=abc
refused 'unknown work' 13 weeks "${h[@]}" --work=weeks
refused 'unknown models' 13 'no models "full"; there are: simple, layers' "${h[@]}" --models=full
refused 'unknown order of rings' 13 random "${h[@]}" --ring=random
refused 'iterations with the recorded placement' 11 'not with the recorded placement' "${h[@]}" --work=iterations
refused 'a later window with and without the recorded placement' 11 'one command for either' "${h[@]}" --from-hour=1 --scheduler=recorded,packed
refused 'no bins' 12 '--bin-minutes' "${h[@]}" --bin-minutes=0
refused 'tick that does not divide a second' 12 0.7 "${h[@]}" --tick-us=0.7
refused 'patience that is no number' 12 1.5 "${h[@]}" --patience=1.5
refused 'no bytes' 12 '--bytes-factor' "${h[@]}" --bytes-factor=0
refused 'computation that is no number' 15 fast "${h[@]}" --compute-factor=fast
refused 'payload' 12 '--payload' "${h[@]}" --payload=100
refused 'fairness' 12 '--fairness' "${h[@]}" --fairness=1.5
refused 'unknown topology' 13 torus "${h[@]}" --topology=torus
refused 'key of a topology' 16 torz "${h[@]}" --topology=clos:torz=3
refused 'topology twice' 17 'given twice' "${h[@]}" --topology=clos --topology=clos
refused 'topology too long' 21 characters "${h[@]}" --topology="clos:tors=$(printf '1%.0s' {1..300})"
refused 'names of files too long for a description' 21 'shorter names of its files would do): --topology: ' --trace="$(printf './%.0s' {1..130})hand" --db=none
refused 'resume without a database' 11 '--db=none' "${h[@]}" --resume
refused 'job larger than a cluster' 19 'needs 8 GPUs' "${h[@]}" --scheduler=packed --topology=clos:tors=1,hosts=1,gpus=4
refused 'recorded placement on fewer hosts' 11 'over 2 hosts' "${h[@]}" --topology=clos:tors=1,hosts=1
refused 'database in a folder that is not there' 14 missing/x.db --trace=hand --db=missing/x.db
refused 'database that is a folder' 14 folder --trace=hand --db=hand
echo 'dear diary' > diary
refused 'database that is something else' 14 'not a database of crux' --trace=hand --db=diary
"$bin/crux-study" --cases=2 --db=study.db > /dev/null 2>&1
cp study.db study2.db
refused 'resuming a database of another kind' 11 'holds no study of a trace' --trace=hand --db=study.db --resume
cmp -s study.db study2.db
result 'which is left as it was' $?

# ------------------------------------------------------------------ traces
hand bad
sed -i '1s/gmt_job_running/running/' bad/job.csv
refused 'column missing in job.csv' 15 gmt_job_running --trace=bad --db=none
hand bad
sed -i '1s/,RES//' bad/worker.csv
refused 'column missing in worker.csv' 15 RES --trace=bad --db=none
hand bad
sed -i '3s/$/,"never ends/' bad/job.csv
refused 'not CSV' 15 bad/job.csv:3 --trace=bad --db=none
hand bad
# 8,000 years are 7e7 hours: more than 10^7 bins of an hour, and with 1 ps a tick more than 2^61 of them.
sed -i '2s#2023/7/15 1:00#9999/12/31 23:59#' bad/job.csv bad/worker.csv
cp hand.db kept.db
refused 'more bins than there can be, before the database is touched' 21 'make them wider' --trace=bad --db=kept.db
refused 'more ticks than there can be' 21 'make it longer' --trace=bad --db=kept.db --bin-minutes=60000 --tick-us=0.000001
cmp -s hand.db kept.db
result 'which is as it was' $?
hand bad
printf 'ip,DSW\na,G\n' > bad/topo.csv
refused 'column missing in topo.csv' 15 topo.csv --trace=bad --db=none
hand bad
sed -i 's/2023/never/g' bad/job.csv
refused 'all rows rejected' 11 'none of the 3 jobs is left' --trace=bad --db=none
grep -q '3 rows: 0 kept, 3 dropped' out.txt && grep -q 'a time that is no date' out.txt
result 'with a summary of why' $?

# ------------------------------------------------------------------ seeds, interruptions
"$bin/crux-gen-trace" --out=small --size=small --seed=5 > /dev/null
s=(--trace=small --from-hour=10 --hours=6 "--policies=ecmp,sincronia,crux" "--scheduler=random,hived" "--levels=2,8")
trace "${s[@]}" --db=a.db && trace "${s[@]}" --db=b.db && same a.db b.db
result 'same seed, same database' $?
cp out.txt whole.txt
[ "$(ask a.db "SELECT group_concat(n, ' ') FROM (SELECT part || count(*) AS n FROM trace_run GROUP BY part)")" = 'levels6 policies3 schedulers3' ]
result 'runs say what they are for' $?
trace "${s[@]}" --db=c.db --seed=2 && ! same a.db c.db
result 'another seed, another database' $?
refused 'resuming with another seed' 11 'seed is "1" there, "3" is asked for' "${s[@]}" --db=a.db --resume --seed=3
refused 'resuming with another order of rings' 11 'ring is "rank" there, "tor" is asked for' "${s[@]}" --db=a.db --resume --ring=tor
refused 'resuming with another bin' 11 'bin_s is 3600 there, 1800 is asked for' "${s[@]}" --db=a.db --resume --bin-minutes=30
refused 'resuming with other policies, as many' 11 'not this command' --db=a.db --resume --trace=small \
    --from-hour=10 --hours=6 --policies=ecmp,sincronia,varys --scheduler=random,hived --levels=2,8
echo >> small/job.csv
refused 'resuming with other files' 11 'digest' "${s[@]}" --db=a.db --resume
sed -i '$d' small/job.csv
same a.db b.db
result 'and the database is as it was' $?

# A job alone is 8 levels x its paths, 17 jobs at once are too many whatever these are.
refused 'a policy that would meet too many jobs' 21 'optimal, K = 8: at hour' --db=a.db --trace=small --policies=ecmp,optimal
same a.db b.db
result 'before anything ran' $?

# stopped SIGNAL CODE: sent when the third run has begun; then resumed, twice for SIGKILL's sake.
stopped() {
    local signal=$1 code=$2 rc=0 pid
    rm -f d.db
    # By itself, not under timeout, so that the signal reaches it.
    "$bin/crux-trace" --no-picture "${s[@]}" --db=d.db > out.txt 2> err.txt < /dev/null &
    pid=$!
    for _ in {1..2000}; do
        if grep -q '^run 2 of 12' err.txt || ! kill -0 $pid 2> /dev/null; then break; fi
        sleep 0.01
    done
    kill -"$signal" $pid
    wait $pid 2> /dev/null || rc=$?
    [ $rc = "$code" ]
    result "$signal: exit $rc" $?
    runs=$(ask d.db 'SELECT count(*) FROM trace_run')
    [ "$runs" -ge 2 ] && [ "$runs" -lt 12 ] && [ "$(ask d.db 'SELECT finished FROM trace')" = 0 ]
    result "$signal: $runs runs are kept, and it is marked unfinished" $?
    [ "$signal" = KILL ] || { tail -n 1 err.txt | grep -qF 'd.db, which is marked unfinished: the same command with --resume'; }
    result "$signal: says how to go on" $?
    trace "${s[@]}" --db=d.db --resume && grep -q "^$runs of 12 runs are there" err.txt && same a.db d.db
    result "$signal: resumed, it ends as an uninterrupted one" $?
    cmp -s <(grep -v '^database' whole.txt) <(grep -v '^database' out.txt)
    result "$signal: and prints the same tables" $?
}
stopped INT 130
stopped TERM 143
stopped KILL 137
# By another name of the folder: the runs that are missing are of the topology's first name.
trace --trace=small --hours=6 --policies=ecmp,crux --db=f.db
cp f.db g.db
ask g.db 'PRAGMA foreign_keys = ON; UPDATE trace SET finished = 0; DELETE FROM timing WHERE run = 2; DELETE FROM trace_job WHERE run = 2;
    DELETE FROM trace_sort WHERE run = 2; DELETE FROM trace_bin WHERE run = 2; DELETE FROM trace_level WHERE run = 2; DELETE FROM trace_run WHERE run = 2;
    DELETE FROM run WHERE run = 2' > /dev/null
trace --trace="$PWD/./small//" --hours=6 --policies=ecmp,crux --db=g.db --resume && grep -q '^1 of 2 runs are there' err.txt && same f.db g.db
result 'resumed by another name of the folder' $?
trace --trace=small/ --hours=6 --policies=ecmp,crux --db=h.db && [ "$(ask h.db 'SELECT own_topology FROM trace')" = lingjun:small/topo.csv ]
result 'a slash behind the folder is none of the name' $?
refused 'resuming on another topology' 11 'run 1 of the database is lingjun:small/topo.csv' --trace=small --hours=6 --policies=ecmp,crux --db=f.db --resume --topology=paper-clos --scheduler=recorded
trace "${s[@]}" --db=d.db --resume && grep -q '^12 of 12 runs are there' err.txt && same a.db d.db
result 'resumed when all is there' $?
trace "${s[@]}" --db=e.db --resume && same a.db e.db
result 'resumed when nothing is there' $?
! timeout 100 "$bin/crux-trace" --no-picture --trace=hand --db=none --policies=ecmp > /dev/full 2> err.txt && [ "$(grep -c 'standard output' err.txt)" = 1 ]
result 'standard output is full' $?
rc=0
(ulimit -f 40 && trace "${s[@]}" --db=i.db) || rc=$?
[ $rc = 22 ] && [ "$(grep -vc '^run ' err.txt)" = 1 ] && grep -q 'i.db: ' err.txt
result 'a limit on the size of files' $?

finish
