#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gen-trace: crux-gen-trace writes the same files for the same seed, complete or not at all, leaves
# what others wrote, and refuses bad options in one line. Ends with "N passed, N failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it).
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs

gen() { run "$bin/crux-gen-trace" "$@"; }

# refused NAME PART OPTIONS...
refused() { must_fail "$1" any "$2" "$bin/crux-gen-trace" "${@:3}"; }

gen --seed=3 --out=a --size=small
result 'small' $?
# 518 and 2,374 rows and a header each: a tenth of 5,180 and 23,742.
[ "$(wc -l < a/job.csv)" = 519 ] && [ "$(wc -l < a/worker.csv)" = 2375 ]
result 'rows' $?
cmp -s a/topo.csv "$data/lingjun/topo.csv" && cmp -s a/topo.csv.LICENSE "$data/lingjun/LICENSE"
result 'topo.csv and its licence are copies' $?
[ "$(find a -type f | wc -l)" = 4 ]
result 'nothing else in the folder' $?
grep -q '^job.csv: 518 rows: [0-9]* kept, [0-9]* dropped$' out.txt && grep -q 'never ran$' out.txt
result 'the summary of reading it' $?
gen --seed 3 --out b --size small && cmp -s a/job.csv b/job.csv && cmp -s a/worker.csv b/worker.csv
result 'same seed, same bytes' $?
gen --seed=4 --out=b --size=small && ! cmp -s a/job.csv b/job.csv
result 'a generated trace is replaced; another seed, other bytes' $?
gen --out=full && [ "$(wc -l < full/job.csv)" = 5181 ] && [ "$(wc -l < full/worker.csv)" = 23743 ]
result 'full size by default' $?
gen --out=c --topology=a/topo.csv --size=small --seed=3 && cmp -s a/job.csv c/job.csv &&
    [ ! -e c/topo.csv.LICENSE ]
result 'a topology of the user, without a licence beside it' $?

mkdir mine
echo 'id,job_name' > mine/job.csv
refused 'a trace of somebody else' mine/job.csv --out=mine --size=small
mkdir own
echo 'ip,DSW,PSW,ASW' > own/topo.csv
refused 'a topology of somebody else' own/topo.csv --out=own --size=small
refused 'no folder named' --out --size=small
refused 'folder in a missing folder' missing/x --out=missing/x
refused 'folder where nobody can write' /proc/x --out=/proc/x
refused 'folder is a file' a/job.csv --out=a/job.csv
refused 'topology missing' nowhere.csv --out=d --topology=nowhere.csv
refused 'topology is no topo.csv' short-row.csv:3 --out=d --topology="$data/lingjun-bad/short-row.csv"
refused 'unknown size' medium --out=d --size=medium
refused 'negative seed' -- --out=d --seed=-1
refused 'seed that is no number' abc --out=d --seed=abc
refused 'unknown option' --sede --out=d --sede=1
refused 'stray word' extra --out=d extra
refused 'option without a value' --seed --out=d --seed
[ ! -e d ]
result 'a refusal makes no folder' $?
no_room 'no room on the disk' "$bin/crux-gen-trace" --out=e --size=small
# Standard output that is full: the files are there, the failure is told.
! timeout 20 "$bin/crux-gen-trace" --out=f --size=small > /dev/full 2> err.txt && [ -s f/job.csv ] && [ "$(wc -l < err.txt)" = 1 ]
result 'standard output is full' $?

finish
