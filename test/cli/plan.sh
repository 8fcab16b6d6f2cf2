#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# plan: kind `plan` of crux-schedule: the documented example, bad input with the line it must
# name, the same answer twice, and 1,000 jobs over the Lingjun topology within 2 s.
# Ends with "N passed, N failed".
#
# Place: test/cli. Depends on $CRUX_BIN/crux-schedule, /usr/bin/python3, test/data.
set -uo pipefail

bin=${CRUX_BIN:?set CRUX_BIN to the folder of the programs}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

result() {
    if [ "$2" = ok ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: $2"
    fi
}

if [ ! -x "$bin/crux-schedule" ]; then
    echo "skip plan: crux-schedule is not built"
    echo "0 passed, 0 failed"
    exit 0
fi

schedule() { "$bin/crux-schedule" "$@" 2> "$work/err"; }

# The example: two network flows a job; on a path each link begins where the last one ended; the
# two jobs share the NIC of no host, and of the paths across, job 2 avoids job 1's.
example() {
    schedule "$root/test/data/plan/example.json" > "$work/a.json" || { cat "$work/err"; return 1; }
    /usr/bin/python3 - "$work/a.json" << 'PY'
import json, sys
answer = json.load(open(sys.argv[1]))
assert [j["id"] for j in answer["jobs"]] == [1, 2], "ids"
assert sorted(j["rank"] for j in answer["jobs"]) == [0, 1], "ranks"
assert len(answer["flows"]) == 4, "flows"
uplinks = {1: set(), 2: set()}
for f in answer["flows"]:
    ends = [link.split("#")[0].split(">") for link in f["path"]]
    assert len(ends) == 8, "8 hops"
    assert all(a[1] == b[0] for a, b in zip(ends, ends[1:])), "a path hangs together"
    assert 49152 <= f["source_port"] <= 65535, "port"
    # 3 cables up, 2 down; over agg0 2 x 1, over agg1 1 x 1.
    assert f["candidates"] == 3, "candidates"
    uplinks[f["job"]].update(f["path"][3:5])
assert not uplinks[1] & uplinks[2], "the jobs keep apart"
# gpt: 356,835,328 parameters of 4 B; two ranks send the whole buffer each.
assert [f["bytes"] for f in answer["flows"]] == [1427341312] * 2 + [400000000] * 2, "bytes"
PY
}
if why=$(example 2>&1); then result example ok; else result example "${why##*$'\n'}"; fi

schedule "$root/test/data/plan/example.json" > "$work/b.json"
if cmp -s "$work/a.json" "$work/b.json"; then result "same answer twice" ok; else result "same answer twice" differs; fi
schedule --seed=2 "$root/test/data/plan/example.json" > "$work/c.json"
if ! cmp -s "$work/a.json" "$work/c.json"; then result "another seed" ok; else result "another seed" "the same ports"; fi

# Change the example by a sed expression: must fail with the text and the line in the file.
must_fail() {
    local name=$1 edit=$2 part=$3 rc=0
    sed "$edit" "$root/test/data/plan/example.json" > "$work/bad.json"
    timeout 10 "$bin/crux-schedule" "$work/bad.json" > "$work/out" 2> "$work/err" || rc=$?
    if [ $rc -eq 0 ] || [ $rc -ge 124 ]; then
        result "$name" "exit status $rc"
    elif [ -s "$work/out" ]; then
        result "$name" "printed an answer"
    elif [ "$(wc -l < "$work/err")" -ne 1 ]; then
        result "$name" "$(wc -l < "$work/err") lines on stderr"
    elif ! grep -qF -- "$part" "$work/err"; then
        result "$name" "\"$(cat "$work/err")\" lacks \"$part\""
    else
        result "$name" ok
    fi
}
must_fail "GPU twice" 's/\[0, 1\], \[2/[0, 0], [2/' 'GPU 0 of host 0 is given twice'
must_fail "GPU twice: line" 's/\[0, 1\], \[2/[0, 0], [2/' 'bad.json:29:'
must_fail "unknown GPU" 's/\[2, 1\]/[2, 2]/' 'GPU 2 of host 2: that host has 2'
must_fail "unknown host" 's/\[2, 1\]/[4, 0]/' 'host 4: there are 4'
must_fail "not a pair" 's/\[2, 1\]/[2]/' 'must be [host, gpu]'
must_fail "no GPUs" 's/"gpus": \[\[.*\]\]/"gpus": []/' 'lists 0 GPUs'
must_fail "too large a job" 's/"gpus": 4}/"gpus": 9}/' 'needs 9 GPUs; the cluster has 8'
must_fail "not enough left" 's/"gpus": 4}/"gpus": 5}/' 'needs 5 GPUs; the cluster has 8, of which 4 are free'
must_fail "GPUs zero" 's/"gpus": 4}/"gpus": 0}/' 'jobs[1].gpus'
must_fail "unknown model" 's/"gpt"/"vgg"/' 'known: gpt, bert, resnet'
must_fail "no work" 's/"flop": 2e12, //' 'needs "model", or "flop"'
must_fail "negative FLOP" 's/2e12/-1/' 'jobs[1].flop'
must_fail "overlap above 1" 's/"overlap_start": 0.5/"overlap_start": 1.5/' 'overlap_start'
must_fail "negative bytes" 's/400000000/-4/' 'gradient_bytes'
must_fail "unknown key of a job" 's/"compute_s"/"seconds"/' 'seconds'
must_fail "unknown key" 's/"seed"/"sead"/' 'sead'
must_fail "unknown policy" 's/"crux"/"best"/' 'best'
must_fail "K zero" 's/"K": 2/"K": 0/' 'input.K'
must_fail "K 65" 's/"K": 2/"K": 65/' 'input.K'
must_fail "id twice" 's/"id": 2/"id": 1/' 'given twice'
must_fail "host without links" '/h3.nic0/d' 'h3.nic0 of host "d" has no link to a switch'
must_fail "island" 's/"a": "tor1", "b": "agg/"a": "tor0", "b": "agg/' 'rank 0 (host a) to rank 1 (host c): no path from'
must_fail "rate zero" 's/"h1.nic0", "b": "tor0", "bps": 100000000000/"h1.nic0", "b": "tor0", "bps": 0/' 'links[1].bps'
must_fail "unknown node" 's/"a": "h1.nic0"/"a": "h7.nic0"/' 'there is no switch or NIC "h7.nic0"'
must_fail "back to back" 's/"h0.nic0", "b": "tor0"/"h0.nic0", "b": "h1.nic0"/' 'back to back'
must_fail "switch twice" 's/"tor1", "kind"/"tor0", "kind"/' 'there already'
must_fail "switch kind" 's/"kind": "agg"/"kind": "hub"/' 'known: tor, agg, core'
must_fail "NICs" 's/"gpus": 2, "nics": 1/"gpus": 2, "nics": 3/' '3 NICs'

printf '{"kind": "plan", "input": {"topology": "lingjun:/nonexistent.csv", "jobs": []}}' > "$work/bad.json"
must_fail_file() {
    local rc=0
    "$bin/crux-schedule" "$work/bad.json" > "$work/out" 2> "$work/err" || rc=$?
    if [ $rc -ne 0 ] && [ $rc -lt 124 ] && grep -qF -- "$2" "$work/err"; then result "$1" ok; else result "$1" "$rc: $(cat "$work/err")"; fi
}
must_fail_file "missing topo.csv" '/nonexistent.csv: cannot be opened'
printf '{"kind": "plan", "input": {"topology": "testbed:tor=1", "jobs": []}}' > "$work/bad.json"
must_fail_file "unknown topology key" 'unknown key "tor"'
printf '{"kind": "plan", "input": {"topology": "testbed", "jobs": []}}' > "$work/bad.json"
must_fail_file "no jobs" '0 jobs'
printf '{"kind": "plan", "input": {"topology": 7, "jobs": []}}' > "$work/bad.json"
must_fail_file "topology a number" 'input.topology'

# 2 s are for an optimised build on an idle machine; ten times that for debug builds and load.
/usr/bin/python3 "$root/tools/make-plan-problem.py" --topology "lingjun:$root/test/data/lingjun/topo.csv" > "$work/big.json"
start=$(date +%s%N)
if schedule "$work/big.json" > "$work/big.out"; then
    ms=$((($(date +%s%N) - start) / 1000000))
    echo "     1,000 jobs over the Lingjun topology: $ms ms"
    if [ $ms -le 20000 ]; then result "1,000 jobs" ok; else result "1,000 jobs" "$ms ms"; fi
else
    result "1,000 jobs" "$(cat "$work/err")"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
