#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gain: Crux against ECMP on the testbed (the paper's figure 19) at 1:1, 2:1 and 4:1, with one to
# three BERT jobs beside the GPT, over several seeds: least, median and most gain in GPU
# utilisation, in points and relative. doc/validation.md shows what it prints.
#
# usage: tools/gain.sh [SEEDS [OPTIONS OF crux-testbed]]     (default: 20 --engine=flow)
#
# Place: tools. Depends on crux-testbed in $CRUX_BIN (default build/bin).
set -euo pipefail

bin=${CRUX_BIN:-$(cd "$(dirname "$0")/.." && pwd)/build/bin}
seeds=${1:-20}
shift || true
[ $# -gt 0 ] || set -- --engine=flow --iterations=10

printf '%-8s %-5s %-7s %s\n' uplinks BERTs seeds 'gain in points: least median most; relative %: least median most'
for oversub in 1 2 4; do
    jobs=gpt:32
    for berts in 1 2 3; do
        jobs+=,bert:8
        for seed in $(seq "$seeds"); do
            "$bin/crux-testbed" --jobs=$jobs --topology=testbed:oversub=$oversub --seed="$seed" --db=none "$@" |
                sed -n -E 's/.* crux against ecmp: .*\(\+?(-?[0-9.]+) points, \+?(-?[0-9.]+) % relative\)/\1 \2/p'
        done | awk -v oversub=$oversub -v berts=$berts '
            function sort(a, n,    i, j, t) {
                for (i = 2; i <= n; i++)
                    for (j = i; j > 1 && a[j - 1] > a[j]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
            }
            function median(a, n) { return (a[int((n + 1) / 2)] + a[int(n / 2) + 1]) / 2 }
            { p[NR] = $1 + 0; r[NR] = $2 + 0 }
            END {
                sort(p, NR); sort(r, NR)
                printf "%-8s %-5d %-7d %6.2f %6.2f %6.2f;  %6.2f %6.2f %6.2f\n", oversub ":1", berts, NR, \
                    p[1], median(p, NR), p[NR], r[1], median(r, NR), r[NR]
            }'
    done
done
