#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# topology: crux-topology counts a topology and writes it as a file that reads as the same one,
# complete or not at all, and refuses bad options in one line. Ends with "N passed, N failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it).
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs

topology() { run "$bin/crux-topology" "$@"; }

# refused NAME PART OPTIONS...
refused() { must_fail "$1" any "$2" "$bin/crux-topology" "${@:3}"; }

# 12 hosts x (8 GPUs x 2) cables inside, 48 at NICs, 2 x 2 x 12 above; two links each.
topology --topology=testbed &&
    grep -q '^testbed: 12 hosts, 96 GPUs; 2 ToR, 2 aggregation, 0 core switches$' out.txt &&
    grep -q ' 384  links inside hosts' out.txt && grep -q ' 96  links NIC-ToR' out.txt &&
    grep -q ' 96  links ToR-aggregation' out.txt && grep -q '^testbed: 12 uplinks' out.txt
result 'counts and assumptions' $?
[ "$(find . -type f | wc -l)" = 2 ]
result 'nothing is written without --out' $?
for description in testbed:oversub=4 double-sided:hosts=1 paper-clos:tors=3,hosts=2 fattree:k=4,nics=1; do
    topology "--topology=$description" --out=one.topo && grep '^ ' out.txt > counts.txt &&
        topology --topology file:one.topo --out two.topo && cmp -s one.topo two.topo &&
        grep '^ ' out.txt | cmp -s - counts.txt
    result "$description as a file and back" $?
done
[ ! -e one.topo.part ] && [ "$(grep -c '^host' one.topo)" = 16 ]
result 'the file is replaced' $?

refused 'no topology' '--topology=DESCRIPTION is missing' --out=x.topo
refused 'unknown topology' ring --topology=ring --out=x.topo
refused 'unknown option' --topologi --topologi=testbed
refused 'stray word' extra --topology=testbed extra
refused 'option without a value' '--out: its value is missing' --topology=testbed --out
refused 'empty value' '--out: its value is missing' --topology=testbed --out=
refused 'given twice' '--topology is given twice' --topology=testbed --topology=clos
refused 'folder that is missing' nowhere/x.topo --topology=testbed --out=nowhere/x.topo
mkdir folder
refused 'file that is a folder' folder --topology=testbed --out=folder
no_room 'no room on the disk' "$bin/crux-topology" --topology=testbed --out=full.topo
! timeout 20 "$bin/crux-topology" --topology=testbed > /dev/full 2> err.txt && [ "$(wc -l < err.txt)" = 1 ]
result 'standard output is full' $?

finish
