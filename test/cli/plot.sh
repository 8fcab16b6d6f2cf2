#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# plot: crux-plot.py draws made-up databases of several sizes, and says in one line what it
# cannot draw. Ends with "N passed, N failed".
#
# Place: test/cli. Depends on /usr/bin/python3 with matplotlib.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
limit=300

fixture() { /usr/bin/python3 "$root/test/cli/plot-fixture.py" "$root/model/core/crux-store-schema.c" "$@"; }
plot() { run /usr/bin/python3 "$root/tools/crux-plot.py" "$@"; }

# drawn NAME JOBS RUNS
drawn() {
    local name=$1 why=""
    fixture "$work/$name.db" "$2" "$3" 1
    plot "$work/$name.db" "$work/$name.png" || why="exit $?"
    [ -n "$why" ] || why=$(png "$work/$name.png")
    [ ! -s err.txt ] || why+="; said: $(cat err.txt)"
    result "$name" "$why"
}

# refused NAME PART ARGUMENTS...
refused() { must_fail "$1" any "$2" /usr/bin/python3 "$root/tools/crux-plot.py" "${@:3}"; }

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

finish
