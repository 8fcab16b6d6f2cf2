#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bad-input: commands that must fail. A row is a name, a part of the error line, and the command:
# it must end with a non-zero code that is no signal's, within 10 s, print exactly one line on
# stderr that holds the part, nothing on stdout, and leave the folder as it was (no database).
# Add rows below. Ends with "N passed, N failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it).
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs

# What the rows refer to.
mkdir in out folder
echo 'no database' > file.txt
printf '{"kind": "priority",\n  "jobs": [}\n' > in/broken.json
: > in/empty.json
printf '{"kind": "no-such-kind", "input": {}}\n' > in/unknown-kind.json
printf '[1, 2]\n' > in/array.json

limit=10

# row NAME PART PROGRAM OPTIONS...
row() {
    if [ -x "$bin/$3" ]; then
        must_fail "$1" any "$2" "$bin/$3" "${@:4}"
    else
        echo "skip $1: $3 is not built"
    fi
}

# ---- crux-testbed: where the database cannot go
testbed() {
    row "$1" "$2" crux-testbed "${@:3}"
}

testbed 'db in a missing folder' missing/x.db --db=missing/x.db
testbed 'db in a folder nobody can write to' /proc/x.db --db=/proc/x.db
testbed 'db in a file taken for a folder' file.txt/x.db --db=file.txt/x.db
testbed 'db is a folder' folder --db=folder
testbed 'db is a file of somebody else' file.txt --db=file.txt
testbed 'db is a device' /dev/null --db=/dev/null

# ---- crux-testbed: options
testbed 'unknown engine' steam --engine=steam --db=out/x.db
testbed 'unknown scheduler' nobody --scheduler=nobody --db=out/x.db
testbed 'unknown model' elephant --jobs=elephant:8 --db=out/x.db
testbed 'job larger than the cluster' 97 --jobs=gpt:97 --db=out/x.db
testbed 'job of no GPU' 'gpt: 0' --jobs=gpt:0 --db=out/x.db
testbed 'job of negative size' 'gpt: -8' --jobs=gpt:-8 --db=out/x.db
testbed 'unknown topology' moebius --topology=moebius --db=out/x.db
testbed 'unknown placement' elsewhere --placement=elsewhere --db=out/x.db
testbed 'topology file missing' nowhere.csv --topology=lingjun:nowhere.csv --db=out/x.db
testbed 'topology file is a folder' folder --topology=lingjun:folder --db=out/x.db
testbed 'no iterations' 0 --iterations=0 --db=out/x.db
testbed 'scale of nothing' 0 --scale=0 --db=out/x.db
testbed 'negative scale' -1 --scale=-1 --db=out/x.db
testbed 'payload too small' 16 --payload=16 --db=out/x.db
testbed 'payload too large' 100000 --payload=100000 --db=out/x.db

# ---- crux-testbed: the command line itself
testbed 'unknown option' '--foo' --foo=1 --db=out/x.db
testbed 'stray word' "'extra'" extra --db=out/x.db
testbed 'option without a value' '--jobs needs a value' --jobs= --db=out/x.db
testbed 'number with something behind it' 1e3 --iterations=1e3 --db=out/x.db
testbed 'scale with something behind it' 4x --scale=4x --db=out/x.db
testbed 'part of a byte' 256.5 --payload=256.5 --db=out/x.db
testbed 'negative seed' -1 --seed=-1 --db=out/x.db
testbed 'scale that is no number' nan --scale=nan --db=out/x.db
testbed 'scale without end' inf --scale=inf --db=out/x.db
testbed 'GPU of two jobs at once' 'GPU 3 of host h0 is given twice, to gpt-0 too' --jobs=gpt:4:place=h0/0-3:stop=2,bert:4:place=h0/3-6:arrival=1 --db=out/x.db
testbed 'GPU of a job that never stops' 'neither stops (stop=) before the other comes' --jobs=gpt:4:place=h0/0-3,bert:4:place=h0/0-3:arrival=9 --db=out/x.db
testbed 'GPU twice in one job' 'GPU 1 of host h0 is given twice, to gpt-0 again' --jobs=gpt:2:place=h0/1+h0/1 --db=out/x.db
testbed 'scheduler given twice' 'ecmp is given twice' --scheduler=ecmp,ecmp --db=out/x.db

# ---- crux-testbed: topo.csv, by line and column
csv() {
    testbed "topo.csv: $1" "$2" "--topology=lingjun:$data/lingjun-bad/$1" --jobs=gpt:8 --db=out/x.db
}

csv open-quote.csv open-quote.csv:3:3:
csv short-row.csv short-row.csv:3:
csv wrong-header.csv wrong-header.csv:1:
csv duplicate-host.csv duplicate-host.csv:
csv empty.csv empty.csv
testbed 'unknown key of a topology' hots --topology=testbed:hots=6 --db=out/x.db

# ---- crux-testbed: a topology of one's own, by line
own() {
    local name=$1 part=$2
    printf '%b' "$3" > in/own.topo
    testbed "file:PATH: $name" "in/own.topo:$part" --topology=file:in/own.topo --jobs=gpt:8 --db=out/x.db
}

own 'unknown element' '1: unknown element "swich"' 'swich t tor\n'
own 'unknown kind' '2: switch t: unknown kind "leaf"; known: tor, agg, core' '# x\nswitch t leaf\n'
own 'unknown key of a host' '1: host a: unknown key "gpu"' 'host a gpu=8\n'
own 'name given twice' '2: the name "t" is given twice' 'switch t tor\nswitch t tor\n'
own 'unknown end' '3: cable a.nic* tr: unknown switch or host "tr"; known: t, a' 'switch t tor\nhost a\ncable a.nic* tr\n'
own 'NIC that is not there' '3: cable a.nic4 t: no "a.nic4"' 'switch t tor\nhost a\ncable a.nic4 t\n'
own 'host without a cable' '2: host a: nic0 of its 4 NICs has no cable' 'switch t tor\nhost a\n'
own 'rate of nothing' '3: cable a.nic* t: gbps: 0 is not in' 'switch t tor\nhost a\ncable a.nic* t gbps=0\n'
own 'delay of a day' '3: cable a.nic* t: delay_ns: 9e13 is not in' 'switch t tor\nhost a\ncable a.nic* t delay_ns=9e13\n'
own 'absurd count' '3: cable a.nic* t: count: 99999 is not in 1..65536' 'switch t tor\nhost a\ncable a.nic* t count=99999\n'
own 'no hosts' ' the topology has no hosts' 'switch t tor\n'
printf 'switch t tor\nswitch u tor\nhost a\nhost b\ncable a.nic* t\ncable b.nic* u\n' > in/islands.topo
testbed 'file:PATH: job across islands' 'h1.nic' --topology=file:in/islands.topo --jobs=gpt:16 --db=out/x.db
testbed 'file:PATH: missing' nowhere.topo --topology=file:nowhere.topo --db=out/x.db
testbed 'file:PATH: no path' 'file:PATH is meant' --topology=file --db=out/x.db
testbed 'fat tree of odd k' 'k: 5 is odd' --topology=fattree:k=5 --db=out/x.db
testbed 'rate of nothing' nic_gbps --topology=testbed:nic_gbps=0 --db=out/x.db
testbed 'negative rate' uplink_gbps --topology=testbed:uplink_gbps=-1 --db=out/x.db
testbed 'oversubscription that no whole number of uplinks gives' oversub --topology=testbed:oversub=7 --db=out/x.db
testbed 'more levels than classes' '8 levels' --levels=8 --db=out/x.db
testbed 'picture in a missing folder' missing/x.png --db=out/x.db --picture=missing/x.png

# ---- crux-schedule
schedule() {
    row "$1" "$2" crux-schedule "${@:3}"
}

schedule 'problem file missing' nowhere.json nowhere.json
schedule 'problem file is a folder' folder folder
schedule 'malformed JSON: line' in/broken.json:2 in/broken.json
schedule 'empty problem' in/empty.json in/empty.json
schedule 'unknown kind' no-such-kind in/unknown-kind.json
schedule 'problem is no object' in/array.json in/array.json

finish
