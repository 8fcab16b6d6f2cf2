#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# outputs: where crux-testbed may write its database and picture, and that whatever it refuses is
# as it was: links, files of others, files in use, pipes, names that are too long, one name for
# both. A refusal is one line on stderr, nothing on stdout, a non-zero code, at once.
# Ends with "N passed, N failed".
#
# Place: test/cli. Depends on the programs in $CRUX_BIN (./crux test sets it), sqlite3 and Python 3.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs

small=("$bin/crux-testbed" --engine=flow --scale=100 --iterations=2 --jobs=gpt:16)
testbed() { run "${small[@]}" "$@"; }

# refused NAME PART OPTIONS...: nothing is changed.
refused() { must_fail "$1" any "$2" "${small[@]}" "${@:3}"; }

# written NAME DATABASE OPTIONS...: it holds finished runs (one scheduler: one run together).
written() {
    local name=$1 database=$2 why="" runs
    shift 2
    testbed --scheduler=ecmp --db="$database" "$@" || why="exit $?: $(head -n 1 err.txt)"
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
plot_refused() { must_fail "crux-plot: $1" 14 "$2" /usr/bin/python3 "$root/tools/crux-plot.py" mine.db "$3"; }

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
    rm -f "$top/pipe"
    mkfifo "$top/pipe"
    sqlite3 mine.db < "$top/pipe" > "$top/answer" 2>&1 &
    holder=$!
    exec 3> "$top/pipe"
    printf '%s\nSELECT 1234567;\n' "$1" >&3
    for _ in {1..500}; do
        grep -q 1234567 "$top/answer" && break
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
        --jobs=gpt:16 --db=twice.db --picture=none > "$top/first" 2>&1 &
    first=$!
    rc=0
    testbed --scheduler=ecmp --db=twice.db --picture=none || rc=$?
    other=0
    wait "$first" || other=$?
    [ $rc = 0 ] || grep -q 'in use' err.txt || why+="; second: $(head -n 1 err.txt)"
    [ $other = 0 ] || grep -q 'in use' "$top/first" || why+="; first: $(tail -n 1 "$top/first")"
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
    --jobs=gpt:16 --db=twice.db --picture=none > "$top/first" 2>&1 &
first=$!
for _ in {1..200}; do
    [ "$(sqlite3 'file:twice.db?mode=ro' 'SELECT count(*) > 0 FROM run' 2> /dev/null)" = 1 ] && break
    sleep 0.02
done
kill -0 "$first" 2> /dev/null || why="the first ended too soon"
refused_in_run=0
testbed --db=twice.db --picture=none && refused_in_run=1
grep -q 'in use' err.txt || why+="; second: $(head -n 1 err.txt)"
[ $refused_in_run = 0 ] || why+="; second succeeded"
# A reader may have to wait for a commit.
answer=$(sqlite3 -cmd '.timeout 10000' 'file:twice.db?mode=ro' 'SELECT count(*) > 0 FROM run' 2>&1)
[ "$answer" = 1 ] || why+="; not readable: $answer"
kill "$first" 2> /dev/null # timeout hands it on
wait "$first" 2> /dev/null
result 'a run in progress: no second writer, readers welcome' "$why"

finish
