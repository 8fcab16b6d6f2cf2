#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# determinism: the same scenario and seed give the same result tables, byte for byte, in two
# processes; another seed gives others. With CRUX_BIN2 (programs of another build type) the two
# builds are compared too. Ends with "N passed, N failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it) and sqlite3.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs
[ -z "${CRUX_BIN2-}" ] || bin2=$(folder "$CRUX_BIN2") || exit 2

# scenario DATABASE PROGRAMS OPTIONS...: crux-testbed into a database, dumped without wall-clock times.
scenario() {
    local name=$1 programs=$2
    shift 2
    "$programs/crux-testbed" --db="$work/$name.db" --picture=none "$@" > "$work/$name.out" 2>&1 ||
        return 1
    sqlite3 "$work/$name.db" .dump | grep -v '^INSERT INTO timing ' > "$work/$name.sql"
    [ "$(grep -c '^INSERT INTO iteration ' "$work/$name.sql")" -gt 0 ]
}

# rows NAME: the iterations alone, without the options that were stored.
rows() { grep '^INSERT INTO iteration ' "$work/$1.sql"; }

for engine in packet flow live; do
    # A live run has to last until its jobs are measured.
    size=(--scale=100 --iterations=2)
    [ $engine != live ] || size=(--scale=400 --iterations=30)
    options=("--engine=$engine" --topology=testbed:oversub=4 "--jobs=gpt:32,bert:8,bert:8" "${size[@]}")
    scenario "$engine-1" "$bin" "${options[@]}" --seed=3 && scenario "$engine-2" "$bin" "${options[@]}" --seed=3 &&
        cmp -s "$work/$engine-1.sql" "$work/$engine-2.sql"
    result "$engine level: same seed, same tables" $?
    scenario "$engine-3" "$bin" "${options[@]}" --seed=4 && ! cmp -s <(rows "$engine-1") <(rows "$engine-3")
    result "$engine level: another seed, other iteration times" $?
    if [ -n "${bin2-}" ]; then
        scenario "$engine-4" "$bin2" "${options[@]}" --seed=3 &&
            cmp -s "$work/$engine-1.sql" "$work/$engine-4.sql"
        result "$engine level: two build types, same tables" $?
    fi
done

finish
