#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# validate: crux-validate prints and stores the same whatever the number of processes, repeats a
# case by the line it prints, fails where the levels do not agree, and refuses bad options in one
# line. Scaled far down, where next to nothing is sent, so that it is quick. Ends with "N passed, N
# failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it), and sqlite3.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs
only_with crux-validate
limit=60

# check NAME OPTIONS...: into NAME.out, NAME.err and NAME.rc.
check() {
    local name=$1 rc=0
    shift
    timeout 60 "$bin/crux-validate" "$@" > "$name.out" 2> "$name.err" < /dev/null || rc=$?
    echo $rc > "$name.rc"
}

# refused NAME PART OPTIONS...
refused() { must_fail "$1" any "$2" "$bin/crux-validate" "${@:3}"; }

dump() { sqlite3 "$1" .dump | grep -v 'INSERT INTO timing'; }

# ---- the same from one process and from three
common=(--cases=4 --seed=3 --scale=2000 "--policies=ecmp,crux,taccl")
check one "${common[@]}" --processes=1 --db=one.db
check three "${common[@]}" --processes=3 --db=three.db
diff <(grep -v '^database:' one.out) <(grep -v '^database:' three.out)
result "the same text from one process and from three" $?
[ "$(dump one.db)" = "$(dump three.db)" ]
result "the same database from one process and from three" $?
[ "$(sqlite3 one.db 'SELECT count(*) FROM crosscheck_run')" = 12 ]
result "a row for each of 4 cases and 3 policies" $?

# ---- where an ACK passes a train that is then cut: it once came late
check passed --first=17 --cases=1 --scale=10 --policies=ecmp
[ "$(wc -l < passed.err)" -ge 1 ] && grep -q '^ecmp ' passed.out
result "frames that passed trains that were cut" $?

# ---- what DCQCN costs weighs 100 times more: no agreement, said in the last line
check off --window=0 --set=contended --first=2 --cases=2 --scale=100 --policies=ecmp,cassini
[ "$(cat off.rc)" -ne 0 ] && [ "$(cat off.rc)" -lt 124 ] && tail -n 1 off.err | grep -q '^crux-validate: dcqcn: median'
result "levels that do not agree: non-zero, and why" $?

# ---- the line below the worst run repeats it
worst=$(grep -m 1 -oE '^ +[-+][0-9.]+ %  case' one.out | grep -oE '[-+][0-9.]+')
read -ra again <<< "$(grep -m 1 -oE '\./crux validate .*' one.out)"
check again "${again[@]:2}" --db=none
[ "$worst" = "$(grep -m 1 -oE '^ +[-+][0-9.]+ %  case' again.out | grep -oE '[-+][0-9.]+')" ]
result "the worst run again, by its own line" $?

# ---- bad options
refused "a control that is not known" "congestion control 'tcp' is not known" --control=tcp
refused "a control given twice" "dcqcn is given twice" --control=dcqcn,dcqcn
refused "a set that is not known" "set 'odd' is not known" --set=odd
refused "a policy that is not known" 'no policy "fair"' --policies=fair
refused "a policy given twice" "ecmp is given twice" --policies=ecmp,crux,ecmp
refused "no policy" "--policies" --policies=
refused "no case" "0 is not in 1..100000" --cases=0
refused "too many levels" "--levels" --levels=6
refused "a database nowhere" "/nowhere/x.db" --db=/nowhere/x.db
refused "an unknown option" "--case is not known" --case=3

finish
