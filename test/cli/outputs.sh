#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# outputs: where crux-testbed may write its database and picture, and that whatever it refuses is
# as it was: links, files of others, files in use, pipes, names that are too long, one name for
# both. A refusal is one line on stderr, nothing on stdout, a non-zero code, at once.
# Ends with "N passed, N failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it), sqlite3 and Python 3.
set -uo pipefail

plot=$(cd "$(dirname "$0")/../../tools" && pwd)/crux-plot.py
bin=${CRUX_BIN:?set CRUX_BIN to the folder of the programs}
passed=0
failed=0
work=$(mktemp -d)
said=$(mktemp -d)
trap 'rm -rf "$work" "$said"' EXIT
cd "$work" || exit 2

testbed() {
    timeout 20 "$bin/crux-testbed" --engine=flow --scale=100 --iterations=2 --jobs=gpt:16 "$@" \
        > "$said/out" 2> "$said/err" < /dev/null
}

# Kind, links, size, target and content of everything in the folder.
state() {
    find . -printf '%p %y %n %s %l\n' | sort
    find . -type f -exec cksum {} + | sort
}

result() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: ${2#; }"
    fi
}

# refused NAME PART OPTIONS...: nothing is changed.
refused() {
    local name=$1 part=$2 rc=0 why="" before
    shift 2
    before=$(state)
    testbed "$@" || rc=$?
    [ $rc -ne 0 ] || why+="; succeeded"
    [ $rc -lt 124 ] || why+="; hung or died (exit $rc)"
    [ "$(wc -l < "$said/err")" = 1 ] || why+="; $(wc -l < "$said/err") lines on stderr"
    [ ! -s "$said/out" ] || why+="; wrote to stdout: $(head -n 1 "$said/out")"
    grep -qF -- "$part" "$said/err" || why+="; no '$part' in: $(head -n 1 "$said/err")"
    [ "$before" = "$(state)" ] || why+="; changed: $(diff <(echo "$before") <(state) | tr '\n' ' ')"
    result "$name" "$why"
}

# written NAME DATABASE OPTIONS...: it holds finished runs (one scheduler: one run together).
written() {
    local name=$1 database=$2 why="" runs
    shift 2
    testbed --scheduler=ecmp --db="$database" "$@" || why="exit $?: $(head -n 1 "$said/err")"
    runs=$(sqlite3 "$database" 'SELECT count(*) FROM run WHERE finished AND alone_job IS NULL')
    [ "$runs" = 1 ] || why+="; $runs finished runs, not 1"
    result "$name" "$why"
}

# ---- links and what is no file
written 'a new database' mine.db --picture=none
written 'one of ours is replaced' mine.db --picture=none
ln -s mine.db link.db
ln -s nothing dangling.db
ln mine.db hard.db
mkfifo pipe
mkdir folder
ln -s /dev/stdout stdout.png
ln -s nothing dangling.png
echo 'mine' > mine.txt
refused 'db is a link' 'symbolic link' --db=link.db --picture=none
refused 'db is a link to nothing' 'symbolic link' --db=dangling.db --picture=none
refused 'db is a pipe' 'not a regular file' --db=pipe --picture=none
refused 'db is /dev/stdout' 'not a regular file' --db=/dev/stdout --picture=none

# ---- pictures
refused 'picture is the database by default' 'is the database' --db=x.png
refused 'picture is the database' 'is the database' --db=new.db --picture=new.db
refused 'picture is the database by another path' 'is the database' --db=new.db "--picture=$work/./new.db"
refused 'picture is one of ours and the database' 'is the database' --db=mine.db --picture=mine.db
refused 'picture is the database by a hard link' 'is the database' --db=mine.db --picture=hard.db
refused 'picture is a journal' 'beside the database' --db=new.db --picture=new.db-journal
refused 'picture is a file of somebody else' 'not a PNG' --db=new.db --picture=mine.txt
refused 'picture is a database' 'not a PNG' --db=new.db --picture=mine.db
refused 'picture is a pipe' 'not a regular file' --db=new.db --picture=pipe
refused 'picture is a folder' 'is a folder' --db=new.db --picture=folder
refused 'picture is a device' 'not a regular file' --db=new.db --picture=/dev/null
refused 'picture is a link to a device' 'symbolic link' --db=new.db --picture=stdout.png
refused 'picture is a link to nothing' 'symbolic link' --db=new.db --picture=dangling.png

# plot_refused NAME PART PICTURE: crux-plot.py by itself.
plot_refused() {
    local name=$1 part=$2 rc=0 why="" before
    before=$(state)
    timeout 20 /usr/bin/python3 "$plot" mine.db "$3" > "$said/out" 2> "$said/err" || rc=$?
    [ $rc = 14 ] || why+="; exit $rc, not 14"
    [ "$(wc -l < "$said/err")" = 1 ] || why+="; $(wc -l < "$said/err") lines on stderr"
    grep -qF -- "$part" "$said/err" || why+="; no '$part' in: $(head -n 1 "$said/err")"
    [ "$before" = "$(state)" ] || why+="; changed: $(diff <(echo "$before") <(state) | tr '\n' ' ')"
    result "crux-plot: $name" "$why"
}

plot_refused 'picture is the database' 'is the database' mine.db
plot_refused 'picture is a file of somebody else' 'not a PNG' mine.txt
plot_refused 'picture is a pipe' 'not a regular file' pipe
plot_refused 'picture is a link' 'not a regular file' dangling.png

# ---- names: 255 bytes at most, the journal's 8 included
long=$(printf 'x%.0s' {1..256})
refused 'db of 252 bytes' 'File name too long' --db="${long:0:252}" --picture=none
refused 'db of 248 bytes' 'File name too long' --db="${long:0:248}" --picture=none
written 'db of 247 bytes' "${long:0:247}" --picture=none
refused 'picture of 256 bytes' 'File name too long' --db=new.db --picture="$long"

# ---- in use
# hold SQL: another program in a transaction, until let_go.
hold() {
    rm -f "$said/pipe"
    mkfifo "$said/pipe"
    sqlite3 mine.db < "$said/pipe" > "$said/answer" 2>&1 &
    holder=$!
    exec 3> "$said/pipe"
    printf '%s\nSELECT 1234567;\n' "$1" >&3
    for _ in {1..500}; do
        grep -q 1234567 "$said/answer" && break
        sleep 0.01
    done
}

let_go() {
    exec 3>&-
    wait "$holder"
}

hold 'BEGIN EXCLUSIVE;'
refused 'db held exclusively by sqlite3' 'in use' --db=mine.db --picture=none
let_go
hold 'BEGIN; SELECT count(*) FROM run;'
refused 'db being read by sqlite3' 'in use' --db=mine.db --picture=none
let_go

# Two runs of one name at once: one is refused or comes after the other; one result remains, whole.
why=""
for _ in 1 2 3; do
    timeout 60 "$bin/crux-testbed" --engine=flow --scale=100 --iterations=2000 --scheduler=ecmp \
        --jobs=gpt:16 --db=twice.db --picture=none > "$said/first" 2>&1 &
    first=$!
    rc=0
    testbed --scheduler=ecmp --db=twice.db --picture=none || rc=$?
    other=0
    wait "$first" || other=$?
    [ $rc = 0 ] || grep -q 'in use' "$said/err" || why+="; second: $(head -n 1 "$said/err")"
    [ $other = 0 ] || grep -q 'in use' "$said/first" || why+="; first: $(tail -n 1 "$said/first")"
    [ $rc = 0 ] || [ $other = 0 ] || why+="; both were refused"
    [ "$(sqlite3 twice.db 'PRAGMA integrity_check')" = ok ] || why+="; damaged"
    [ "$(sqlite3 twice.db 'SELECT count(*) FROM run WHERE finished AND alone_job IS NULL')" = 1 ] ||
        why+="; no finished run"
done
result 'two runs of one name' "$why"

# The first is stopped in its run (its database exists and holds a run): the second is refused,
# readers are not, and the first ends as if it had been alone.
rm -f twice.db
why=""
timeout 60 "$bin/crux-testbed" --engine=flow --scale=100 --iterations=200000 --scheduler=ecmp \
    --jobs=gpt:16 --db=twice.db --picture=none > "$said/first" 2>&1 &
first=$!
for _ in {1..200}; do
    [ "$(sqlite3 'file:twice.db?mode=ro' 'SELECT count(*) > 0 FROM run' 2> /dev/null)" = 1 ] && break
    sleep 0.02
done
kill -0 "$first" 2> /dev/null || why="the first ended too soon"
refused_in_run=0
testbed --db=twice.db --picture=none && refused_in_run=1
grep -q 'in use' "$said/err" || why+="; second: $(head -n 1 "$said/err")"
[ $refused_in_run = 0 ] || why+="; second succeeded"
# A reader may have to wait for a commit.
answer=$(sqlite3 -cmd '.timeout 10000' 'file:twice.db?mode=ro' 'SELECT count(*) > 0 FROM run' 2>&1)
[ "$answer" = 1 ] || why+="; not readable: $answer"
kill "$first" 2> /dev/null # timeout hands it on
wait "$first" 2> /dev/null
result 'a run in progress: no second writer, readers welcome' "$why"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
