#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# plan: kind `plan` of crux-schedule: the documented example, bad input with the line it must
# name, the same answer twice, and 1,000 jobs over the Lingjun topology within 2 s.
# Ends with "N passed, N failed".
#
# Place: test/cli. Depends on $CRUX_BIN/crux-schedule, /usr/bin/python3, test/data.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs
only_with crux-schedule

schedule() { "$bin/crux-schedule" "$@" 2> err.txt; }

# The example: two network flows a job; on a path each link begins where the last one ended; the
# two jobs share the NIC of no host, and of the paths across, job 2 avoids job 1's.
example() {
    schedule "$root/test/data/plan/example.json" > "$work/a.json" || { cat err.txt; return 1; }
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
why=$(example 2>&1) || why=${why:-failed}
result example "${why##*$'\n'}"

schedule "$root/test/data/plan/example.json" > "$work/b.json"
cmp -s "$work/a.json" "$work/b.json"
result "same answer twice" $?
schedule --seed=2 "$root/test/data/plan/example.json" > "$work/c.json"
! cmp -s "$work/a.json" "$work/c.json"
result "another seed" $?

# Change the example by a sed expression: must fail with the text and the line in the file.
edited() {
    sed "$2" "$root/test/data/plan/example.json" > bad.json
    must_fail "$1" any "$3" "$bin/crux-schedule" bad.json
}
edited "GPU twice" 's/\[0, 1\], \[2/[0, 0], [2/' 'GPU 0 of host 0 is given twice'
edited "GPU twice: line" 's/\[0, 1\], \[2/[0, 0], [2/' 'bad.json:29:'
edited "unknown GPU" 's/\[2, 1\]/[2, 2]/' 'GPU 2 of host 2: that host has 2'
edited "unknown host" 's/\[2, 1\]/[4, 0]/' 'host 4: there are 4'
edited "not a pair" 's/\[2, 1\]/[2]/' 'must be [host, gpu]'
edited "no GPUs" 's/"gpus": \[\[.*\]\]/"gpus": []/' 'lists 0 GPUs'
edited "too large a job" 's/"gpus": 4}/"gpus": 9}/' 'needs 9 GPUs; the cluster has 8'
edited "not enough left" 's/"gpus": 4}/"gpus": 5}/' 'needs 5 GPUs; the cluster has 8, of which 4 are free'
edited "GPUs zero" 's/"gpus": 4}/"gpus": 0}/' 'jobs[1].gpus'
edited "unknown model" 's/"gpt"/"vgg"/' 'known: gpt, bert, resnet'
edited "no work" 's/"flop": 2e12, //' 'needs "model", or "flop"'
edited "negative FLOP" 's/2e12/-1/' 'jobs[1].flop'
edited "overlap above 1" 's/"overlap_start": 0.5/"overlap_start": 1.5/' 'overlap_start'
edited "negative bytes" 's/400000000/-4/' 'gradient_bytes'
edited "unknown key of a job" 's/"compute_s"/"seconds"/' 'seconds'
edited "unknown key" 's/"seed"/"sead"/' 'sead'
edited "unknown policy" 's/"crux"/"best"/' 'best'
edited "K zero" 's/"K": 2/"K": 0/' 'input.K'
edited "K 65" 's/"K": 2/"K": 65/' 'input.K'
edited "id twice" 's/"id": 2/"id": 1/' 'given twice'
edited "host without links" '/h3.nic0/d' 'h3.nic0 of host "d" has no link to a switch'
edited "island" 's/"a": "tor1", "b": "agg/"a": "tor0", "b": "agg/' 'rank 0 (host a) to rank 1 (host c): no path from'
edited "rate zero" 's/"h1.nic0", "b": "tor0", "bps": 100000000000/"h1.nic0", "b": "tor0", "bps": 0/' 'links[1].bps'
edited "unknown node" 's/"a": "h1.nic0"/"a": "h7.nic0"/' 'there is no switch or NIC "h7.nic0"'
edited "back to back" 's/"h0.nic0", "b": "tor0"/"h0.nic0", "b": "h1.nic0"/' 'back to back'
edited "switch twice" 's/"tor1", "kind"/"tor0", "kind"/' 'there already'
edited "switch kind" 's/"kind": "agg"/"kind": "hub"/' 'known: tor, agg, core'
edited "NICs" 's/"gpus": 2, "nics": 1/"gpus": 2, "nics": 3/' '3 NICs'

printf '{"kind": "plan", "input": {"topology": "lingjun:/nonexistent.csv", "jobs": []}}' > bad.json
bad() { must_fail "$1" any "$2" "$bin/crux-schedule" bad.json; }
bad "missing topo.csv" '/nonexistent.csv: cannot be opened'
printf '{"kind": "plan", "input": {"topology": "testbed:tor=1", "jobs": []}}' > bad.json
bad "unknown topology key" 'unknown key "tor"'
printf '{"kind": "plan", "input": {"topology": "testbed", "jobs": []}}' > bad.json
bad "no jobs" '0 jobs'
printf '{"kind": "plan", "input": {"topology": 7, "jobs": []}}' > bad.json
bad "topology a number" 'input.topology'

# 2 s are for an optimised build on an idle machine; ten times that for debug builds and load.
/usr/bin/python3 "$root/tools/make-plan-problem.py" --topology "lingjun:$root/test/data/lingjun/topo.csv" > "$work/big.json"
start=$(date +%s%N)
if schedule "$work/big.json" > "$work/big.out"; then
    ms=$((($(date +%s%N) - start) / 1000000))
    echo "     1,000 jobs over the Lingjun topology: $ms ms"
    [ $ms -le 20000 ]
    result "1,000 jobs" $?
else
    result "1,000 jobs" "no answer"
fi

finish
