#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# plot: crux-plot.py draws made-up databases of several sizes, and says in one line what it
# cannot draw. Ends with "N passed, N failed".
#
# Place: test/cli. Depends on /usr/bin/python3 with matplotlib.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
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

fixture() { /usr/bin/python3 "$here/plot-fixture.py" "$here/../../model/core/crux-store-schema.c" "$@"; }
plot() { /usr/bin/python3 "$here/../../tools/crux-plot.py" "$@" 2> "$work/err"; }

# A PNG by its first bytes, and not an empty sheet by its size.
drawn() {
    local name=$1 jobs=$2 runs=$3 why=ok
    fixture "$work/$name.db" "$jobs" "$runs" 1
    plot "$work/$name.db" "$work/$name.png" || why="exit $?: $(cat "$work/err")"
    if [ "$why" = ok ]; then
        [ "$(head -c 4 "$work/$name.png" | od -An -c | tr -d ' ')" = '211PNG' ] || why="no PNG"
        [ "$(wc -c < "$work/$name.png")" -gt 10000 ] || why="too small a picture"
        [ ! -s "$work/err" ] || why="said: $(cat "$work/err")"
    fi
    result "$name" "$why"
}

refused() {
    local name=$1 part=$2 why=ok
    shift 2
    ! plot "$@" || why="succeeded"
    [ "$(wc -l < "$work/err")" = 1 ] || why="$(wc -l < "$work/err") lines on stderr"
    grep -qF -- "$part" "$work/err" || why="no '$part' in: $(cat "$work/err")"
    [ ! -e "$work/none.png" ] || why="left a picture"
    result "$name" "$why"
}

drawn one-job 1 1
drawn demo 4 2
drawn many 100 3
refused missing 'no such file' "$work/missing.db" "$work/none.png"
echo text > "$work/text.db"
refused 'not a database' text.db "$work/text.db" "$work/none.png"
fixture "$work/killed.db" 2 1 0
refused 'no finished run' 'no finished run' "$work/killed.db" "$work/none.png"
refused 'picture in a missing folder' 'No such file' "$work/demo.db" "$work/missing/none.png"
refused 'no arguments' usage

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
