#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# figures: the examples that follow published figures. What they print and store is held against
# closed forms that are derived here, from inputs, and against what was published, within 10 % where
# that is claimed (doc/figures.md). Bad options: one line on stderr, nothing on stdout, a non-zero
# code. Ends with "N passed, N failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it), and sqlite3.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs

# Run an example into NAME.out; says and counts when it fails.
show() {
    local name=$1 program=$2 rc=0
    shift 2
    timeout 300 "$bin/$program" "$@" > "$name.out" 2> "$name.err" < /dev/null || rc=$?
    result "$name runs" "$([ $rc = 0 ] && [ ! -s "$name.err" ] || echo "exit $rc: $(head -n 1 "$name.err")")"
}

# near NAME GOT WANTED TOLERANCE: relative; WANTED may be an expression of awk.
near() {
    result "$1" "$(awk -v got="$2" "BEGIN {
        want = $3; off = got == \"\" ? 1e9 : got - want; off = off < 0 ? -off : off
        if (off > $4 * (want < 0 ? -want : want)) print \"got '\" got \"', not \" want \" within $4\" }")"
}

# holds NAME CONDITION: of awk.
holds() {
    result "$1" "$(awk "BEGIN { if (!($2)) print \"$2 does not hold\" }")"
}

# sql NAME QUERY WANTED: the first value that NAME.db answers; says what is wrong.
sql() {
    local got
    got=$(sqlite3 "$1.db" "$2" 2>&1)
    [ "$got" = "$3" ] || echo "got '$got', not '$3'"
}

# value NAME QUERY: what it answers.
value() { sqlite3 "$1.db" "$2"; }

# ---- figure 7
show fig7 crux-fig7 --uplink_gbps=200,100,60,50 --db=fig7.db --picture=none
# Alone it takes what it was calibrated to, in every row: the table prints 1 ms.
result 'fig7: 1.53 s alone in every row' "$(awk '/Gbit\/s/ && ($(NF-5) + $(NF-4) < 1.5285 || $(NF-5) + $(NF-4) > 1.5315)' fig7.out)"
# The all-reduce that shows, on one cable of 60 Gbit/s: four rings over all 64 ranks cross it once
# each way with S / 4 each, 2 x 63/64 x S bytes at the goodput 4096 / 4178; latency is below 1 %.
near 'fig7: exposed at 60 Gbit/s' "$(awk '/one cable of 60 / { print $(NF-4) }' fig7.out)" \
    '2 * 63 / 64 * 4 * 356835328 * 8 / (60e9 * 4096 / 4178)' 0.01
# Published: 1.70 s. With 4,800 Gbit/s a ToR nothing happens (10.0 % less); with 50 to 200 it is met.
for rate in 200 100 60 50; do
    near "fig7: GPT beside BERT within 10 % of 1.70 s at $rate Gbit/s" \
        "$(awk -v r=$rate '$0 ~ "one cable of " r " " { print $(NF-3) }' fig7.out)" 1.70 0.1
done
# On four cables of 50 Gbit/s k of the four rings share the fullest one: k x 2 x 63/64 x S / 4 bytes.
result 'fig7: rings that the hash puts together' "$(awk '/cables of 50 .*seed/ { n++; k = $(NF-4) / (2 * 63 / 64 * 356835328 * 8 / (50e9 * 4096 / 4178))
    if (k < 0.97 || k > 4.1 || k - int(k + 0.5) > 0.03 || int(k + 0.5) - k > 0.03) print }
    END { if (n != 8) print n " rows" }' fig7.out)"
near 'fig7: no contention, no change' "$(awk '/testbed, 4,800/ { print $(NF-3) }' fig7.out)" 1.53 0.005

# Table: testbed, four rates, and four cables with 8 seeds.
result 'fig7: the database holds every run' "$(sql fig7 'SELECT count(*) FROM figure_run' 13)"
result 'fig7: printed is stored' "$(sql fig7 "SELECT printf('%.3f', value) FROM figure_value JOIN figure_run USING(run)
    JOIN figure_row USING(row) WHERE label LIKE 'one cable of 60 %' AND what = 'GPT beside BERT'" \
    "$(awk '/one cable of 60 / { print $(NF-3) }' fig7.out)")"

# ---- who drives communication
show driven crux-gpu-driven
# 8 KiB at 100 Gbit/s: the line rate (8 under way) against 8192 B in 39 us + 8192 x 8 / 10^11.
near 'driven: 8 KiB, gpu-hw over cpu' "$(awk '/throughput at 8 KiB/ { print $(NF-3) }' driven.out)" \
    '1e11 / 8 / (8192 / (39e-6 + 8192 * 8 / 1e11))' 0.001
# 24 layers x 4 all-reduces of 2048 x 2048 x 2 B over 8 hosts: 14 steps, each with two cables of 1 us,
# a frame of 4,178 B stored once, 39 us and 5 us of a launch; and 2 x 7/8 x S at the goodput.
S='2048 * 2048 * 2'
beta="2 * 7 / 8 * 8 * $S / (200e9 * 4096 / 4178)"
wire='2e-6 + 8 * 4178 / 200e9'
row() { awk -v f="$1" '/a GPU a host/ { here = 1 } here && $1 == 1 { print $f; exit }' driven.out | tr -d x; }
near 'driven: all-reduces over the network, cpu, ms' "$(row 4)" "1e3 * 96 * (14 * ($wire + 44e-6) + $beta)" 0.001
near 'driven: all-reduce gain' "$(row 8)" "(14 * ($wire + 44e-6) + $beta) / (14 * ($wire + 4.3e-6) + $beta)" 0.001
near 'driven: all-reduce gain within 10 % of the published 1.8' "$(row 8)" 1.8 0.1
holds 'driven: iteration gain below the published most, 2.1' "$(row 7) > 1 && $(row 7) <= 2.1"

# ---- figures 19 and 20
show fig19 crux-fig19 --seeds=3 --db=fig19.db
show fig20 crux-fig20 --seeds=3 --db=fig20.db --picture=none
# 3 rates of uplinks x 3 rows x 6 policies x 3 seeds; figure 20 has one row.
result 'fig19: the database holds every run' "$(sql fig19 'SELECT count(*) FROM figure_run' 162)"
result 'fig20: the database holds every run' "$(sql fig20 'SELECT count(*) FROM figure_run' 54)"
# GPT on 4 hosts: four rings, one a network card, over the hosts: each puts 2 x 3/4 x S / 4 bytes on
# its card; an iteration is its computation and then that.
t='2 * 3 / 4 * 4 * 356835328 / 4 * 8 / (200e9 * 4096 / 4178)'
gpt="FROM figure_job JOIN figure_run USING(run) WHERE name = 'gpt-0' AND policy = 'crux'"
near "fig19: GPT's communication" "$(value fig19 "SELECT max(alone_iteration_s - alone_busy_s) $gpt")" "$t" 0.01
near "fig20: GPT's, on 6 hosts" "$(value fig20 "SELECT max(alone_iteration_s - alone_busy_s) $gpt")" "($t) / 0.75 * 5 / 6" 0.01
for figure in fig19 fig20; do
    result "$figure: the job that is first takes 1.03 of its time alone at most" \
        "$(sql $figure "SELECT max(value) <= 1.03 AND min(value) >= 0.999 AND count(*) > 0 FROM figure_value WHERE what = 'top job / alone'" 1)"
    # Medians of three seeds: the second of them.
    result "$figure: by medians no policy has more utilisation than crux" "$(sql $figure "WITH m AS (SELECT row, policy,
        utilisation AS u FROM (SELECT *, row_number() OVER (PARTITION BY row, policy ORDER BY utilisation) AS n FROM figure_run) WHERE n = 2)
        SELECT count(*) || ' ' || sum(a.u > b.u + 5e-5) FROM m a JOIN m b USING(row) WHERE b.policy = 'crux' AND a.policy != 'crux'" \
        "$([ $figure = fig19 ] && echo '45 0' || echo '15 0')")"
    result "$figure: it says so" "$([ "$(grep -c 'is at least that of every other policy' $figure.out)" = 3 ] || echo 'not for every table')"
    result "$figure: changes are those of the same seed" "$(sql $figure "SELECT max(abs(value - 100 * (b.utilisation - a.utilisation))) < 1e-5
        FROM figure_value JOIN figure_run b USING(run) JOIN figure_run a USING(row, engine, seed)
        WHERE a.policy = 'ecmp' AND what = 'points over ecmp'" 1)"
done
result 'fig20: every GPU of the testbed is held' "$(sql fig20 'SELECT DISTINCT s FROM (SELECT sum(gpus) AS s FROM figure_job GROUP BY run)' 96)"
result 'fig19: the median is printed' "$(want=$(value fig19 "SELECT printf('%.2f', 100 * utilisation) FROM figure_run
    WHERE row = 9 AND policy = 'ecmp' ORDER BY utilisation LIMIT 1 OFFSET 1")
    awk -v want="$want" '/^GPT 32, 3/ { n++ } n == 3 && $1 == "ecmp" { if ($2 != want) print $2 " is printed, " want " stored"; exit }' fig19.out)"
result 'fig19: a picture' "$([ "$(head -c 4 fig19.png | od -An -c | tr -d ' ')" = '211PNG' ] && [ "$(wc -c < fig19.png)" -gt 30000 ] || echo 'no PNG, or an empty one')"
# Rates halved: t of every job, bytes over rate, is twice as long; computation stays.
show duty crux-fig19 --oversub=4 --duty=1,2 --seeds=1 --policies=ecmp,crux --db=duty.db --picture=none
result 'fig19: twice the communication' "$(sql duty "SELECT count(*) || ' ' || max(abs(b.t_s / a.t_s - 2) < 1e-9 AND abs(b.alone_busy_s / a.alone_busy_s - 1) < 1e-9)
    FROM figure_job a JOIN figure_run r USING(run) JOIN figure_run q USING(engine, policy, seed) JOIN figure_job b ON b.run = q.run AND b.job = a.job
    WHERE q.row = r.row + 3 AND policy = 'crux'" '9 1')"
show again crux-fig19 --seeds=3 --db=again.db --picture=none
result 'fig19: the same again' "$(cmp <(sqlite3 fig19.db .dump) <(sqlite3 again.db .dump) 2>&1)"

# The picture's program, where there is nothing to draw.
cp fig20.db bare.db
sqlite3 bare.db 'DELETE FROM figure_value; DELETE FROM figure_job; DELETE FROM figure_run'
plot=$root/tools/crux-plot-figure.py
for name in bare missing text; do
    [ $name != text ] || echo text > text.db
    rc=0
    /usr/bin/python3 "$plot" $name.db none.png > out 2> err || rc=$?
    result "plot refuses: $name" "$([ "$rc $(wc -l < err)" = "$rc 1" ] && [ $rc -ge 14 ] && [ ! -e none.png ] || echo "exit $rc: $(head -n 1 err)")"
done

# ---- every policy on one cluster
show policies crux-policies --seeds=3 --db=policies.db --picture=none
result 'policies: all of them' "$(sql policies 'SELECT count(DISTINCT policy) || count(DISTINCT seed) FROM figure_run' 93)"
result "policies: crux's share is 1, others' are their utilisation over it" "$(sql policies "SELECT max(abs(value - a.utilisation / b.utilisation)) < 1e-9
    FROM figure_value JOIN figure_run a USING(run) JOIN figure_run b USING(row, engine, seed) WHERE b.policy = 'crux' AND what = 'share of crux''s'" 1)"
result 'policies: nobody is faster than alone' "$(sql policies "SELECT min(value) > 0.999 FROM figure_value WHERE what LIKE '%slowdown'" 1)"

# ---- figures 21 and 22
show fig21 crux-fig21 --jitter=0 --seeds=1 --db=fig21.db --picture=none
show fig22 crux-fig22 --jitter=0 --seeds=1 --db=fig22.db --picture=none
change() { echo "FROM figure_value JOIN figure_run USING(run) JOIN figure_row USING(row) WHERE what = '$1''s JCT' AND policy = 'crux' AND part LIKE 'PCIe%'"; }
for figure in fig21 fig22; do
    result "$figure: by the book nothing contends" "$(sql $figure "SELECT count(*) > 5 AND max(abs(value)) < 0.005 FROM figure_value
        JOIN figure_run USING(run) JOIN figure_row USING(row) WHERE part LIKE '%by the book' AND what LIKE '%JCT'" 1)"
done
# BERT's duty on PCIe of 32 Gbit/s: each of 4 rings over 16 ranks puts 2 x 15/16 x S / 4 bytes on a
# host's cable; alone its iteration is 256 / 694 s of computation and then that.
t='2 * 15 / 16 * 4 * 336226108 / 4 * 8 / 32e9'
near 'fig21: BERT on PCIe of 32 Gbit/s' "$(value fig21 "SELECT t_s / alone_iteration_s FROM figure_job JOIN figure_run USING(run)
    JOIN figure_row USING(row) WHERE part = 'PCIe 32 Gbit/s' AND policy = 'crux' AND name = 'bert-0' LIMIT 1")" "($t) / ($t + 256 / 694)" 0.01
result 'fig21: BERT is first under crux' "$(sql fig21 "SELECT count(*) || min(rank = 0 AND level = 0) FROM figure_job JOIN figure_run USING(run)
    JOIN figure_row USING(row) WHERE policy = 'crux' AND part LIKE 'PCIe%' AND name = 'bert-0'" 161)"
result 'fig21: BERT gains as published' "$(sql fig21 "SELECT count(*) || min(value BETWEEN -33 AND -7) $(change BERT)" 161)"
result 'fig21: ResNet loses' "$(sql fig21 "SELECT count(*) || min(value > 0) $(change ResNet)" 161)"
result 'fig22: who is first gains' "$(sql fig22 "SELECT count(*) || max(value < 0) $(change BERT) AND run IN (SELECT run FROM figure_job WHERE rank = 0 AND name = 'bert-0')" 81)"
result 'fig22: on 8 GPUs that is ResNet' "$(sql fig22 "SELECT count(*) || max(value < 0) $(change ResNet) AND run IN (SELECT run FROM figure_job WHERE rank = 0 AND name LIKE 'resnet-%')" 41)"

# ---- scaling
show scaling crux-scaling
result 'scaling: closed forms within 0.01 %' "$(awk 'NF == 6 && $4 ~ /^[+-]/ { n++; if ($4 < -0.01 || $4 > 0.01) print }
    END { if (n != 14) print n " rows" }' scaling.out)"
# The bend: t(2) = S x 8 / goodput is hidden, t(4) = 1.5 x that is not; c = 256 / 694 s, o is where
# DDP's first bucket of 25 MiB is ready.
c='256 / 694'
o='1 / 3 + 2 / 3 * 25 * 1048576 / (4 * 336226108)'
t1='4 * 336226108 * 8 / (50e9 * 4096 / 4178)'
weak() { awk -v n="$1" -v f="$2" '/batch of a GPU fixed/ { here = 1 } here && $1 == n { print $f; exit }' scaling.out; }
near 'scaling: 2 GPUs, all hidden' "$(weak 2 6)" 2 1e-4
near 'scaling: 4 GPUs, 1.5 all-reduces begin at o c' "$(weak 4 2)" "1e3 * (($o) * $c + 1.5 * $t1)" 1e-4
near 'scaling: 64 GPUs' "$(weak 64 2)" "1e3 * (($o) * $c + 2 * 63 / 64 * $t1)" 2e-3
holds 'scaling: the bend is between 2 and 4' "$t1 < (1 - ($o)) * $c && 1.5 * $t1 > (1 - ($o)) * $c"
# With layers alike and next to nothing to send the bubble is (p - 1) / (m + p - 1) of an iteration.
result 'scaling: bubble of equal stages' "$(awk '/^pipeline/ { here = 1 } here && NF == 5 && $1 + 0 { n++; want = 100 * ($1 - 1) / ($2 + $1 - 1)
    if ($3 - want > 0.02 || want - $3 > 0.02) print } END { if (n != 9) print n " rows" }' scaling.out)"
result 'scaling: what does not fit is said' "$(grep -q 'accumulate=8 .*does not fit' scaling.out || echo 'not said')"

# ---- graph networks
show gnn crux-gnn
result 'gnn: closed form within 0.2 %' "$(awk '$4 ~ /^[+-]/ { n++; if ($4 < -0.2 || $4 > 0.2) print } END { if (n != 24) print n " rows" }' gnn.out)"
# x* = C / (B + C): C = 75 / 8 GB/s, B = half a cable of 256 Gbit/s.
near 'gnn: best share' "$(awk '/best share in the runs/ { print $NF; exit }' gnn.out)" '75 / 8 / (16 + 75 / 8)' 1e-3
result 'gnn: below the published most' "$(awk '/throughput/ && $NF != "inside"' gnn.out)"

# ---- bad options
refused() { must_fail "refused: $1" any "$2" "$bin/$3" "${@:4}"; }
echo text > text
mkdir folder
refused 'a folder that does not exist' 'no-such' crux-fig19 --db=no-such/fig.db
refused 'a database that is none' 'text' crux-fig20 --db=text
refused 'a folder for a database' 'folder' crux-policies --db=folder
refused 'a picture that is none' 'text' crux-fig21 --db=new.db --picture=text
refused 'the database for a picture' 'is the database' crux-fig22 --db=new.db --picture=new.db
result 'refused: nothing is left behind' "$([ ! -e new.db ] && [ "$(cat text)" = text ] || echo 'there is')"
refused 'a policy that does not exist' 'no-such' crux-fig19 --policies=ecmp,no-such
refused 'no seed' 'seeds' crux-fig20 --seeds=0
refused 'uplinks that do not come out' 'whole number' crux-fig19 --oversub=7
refused 'nine levels' 'levels' crux-policies --levels=9
refused 'more GPUs than there are' 'the cluster has 64' crux-policies --topology=clos:tors=2
refused 'a rate that is no number' uplink_gbps crux-fig7 --uplink_gbps=60,fast
refused 'a key of GPT that does not exist' 'bucket' crux-fig7 --gpt=buckets=1
refused 'an engine that does not exist' 'wire' crux-fig7 --engine=wire
refused 'a model that does not exist' 'no-such' crux-gpu-driven --model=no-such
refused 'tensor parallelism of too many GPUs' '16' crux-gpu-driven --tp=16 --topology=testbed:tors=1,hosts=1
refused 'a batch of nothing' 'batch' crux-fig21 --resnet=:batch=0
refused 'hosts that are not there' 'h4' crux-fig22 --topology=testbed:tors=1,hosts=4
refused 'a model outside the table' 'nmt' crux-scaling --model=nmt
refused 'a ratio beyond 1' 'ratio' crux-gnn --keys=:ratio=2
refused 'no CPU rate' 'cpu_gbs' crux-gnn --cpu_gbs=0

finish
