# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# common: what the checks of this folder share; each of them sources it first. It makes an empty
# folder, goes there and removes it at the end; counts what passed and failed; and holds the checks
# that many need. It is no check itself: ./crux test leaves it out.
#
# It sets $root, the module; $data, test/data; $work, the folder, in $top, which is beside it for
# what must not be seen there. A command's output is in out.txt and err.txt.
#
# Place: test/cli. Depends on bash and coreutils.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034 # read by those that source this
data=$root/test/data
passed=0
failed=0
limit=20 # seconds a command may take
top=$(mktemp -d)
work=$top/work
trap 'rm -rf "$top"' EXIT
mkdir "$work"
start=$PWD
cd "$work" || exit 2

# folder NAME: the whole path of one that was named where the script was called.
folder() { (cd "$start" && cd "$1" && pwd); }

# programs: sets $bin from $CRUX_BIN.
programs() {
    bin=$(folder "${CRUX_BIN:?set CRUX_BIN to the folder of the programs}") || exit 2
}

# only_with PROGRAM: without it, where a library was missing, there is nothing to check.
only_with() {
    if [ ! -x "$bin/$1" ]; then
        echo "skip: $1 is not built"
        finish
        exit
    fi
}

# keep: with KEEP=FOLDER what is made is made there, and stays.
keep() {
    [ -n "${KEEP-}" ] || return 0
    cd "$start" && mkdir -p "$KEEP" && cd "$KEEP" || exit 2
    work=$PWD
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}

# result NAME VERDICT: passed if that is 0, an exit status, or nothing; else it says what is wrong.
result() {
    if [ -z "$2" ] || [ "$2" = 0 ]; then
        passed=$((passed + 1))
        echo "ok   $1"
        return
    fi
    failed=$((failed + 1))
    if [[ $2 =~ ^[0-9]+$ ]]; then echo "FAIL $1"; else echo "FAIL $1: ${2#; }"; fi
    [ ! -s err.txt ] || head -c 600 err.txt | sed 's/^/     /'
}

# run COMMAND...: a program, no function, within $limit seconds.
run() { timeout "$limit" "$@" > out.txt 2> err.txt < /dev/null; }

# Kind, mode, links, size, target and content of everything in the folder, but what run writes.
state() {
    find . -not -name out.txt -not -name err.txt -printf '%p %M %n %s %l\n' | sort
    find . -type f -not -name out.txt -not -name err.txt -exec cksum {} + | sort
}

# must_fail NAME CODE PART COMMAND...: it ends with that exit status (any: with one that is no
# signal's), one line on stderr with PART, nothing on stdout, and leaves the folder as it was.
must_fail() {
    local name=$1 code=$2 part=$3 rc=0 why="" before after
    shift 3
    before=$(state)
    run "$@" || rc=$?
    after=$(state)
    case $code:$rc in
    any:0) why="; succeeded" ;;
    any:124) why="; ran for $limit s" ;;
    any:*) [ $rc -lt 126 ] || why="; died (exit $rc)" ;;
    *) [ $rc = "$code" ] || why="; exit $rc, not $code" ;;
    esac
    [ "$(wc -l < err.txt)" = 1 ] || why+="; $(wc -l < err.txt) lines on stderr"
    [ ! -s out.txt ] || why+="; wrote to stdout: $(head -n 1 out.txt)"
    grep -qF -- "$part" err.txt || why+="; no '$part' in: $(head -n 1 err.txt)"
    [ "$before" = "$after" ] || why+="; changed: $(diff <(echo "$before") <(echo "$after") | tr '\n' ' ')"
    result "$name" "$why"
}

# no_room NAME COMMAND...: no file may have a byte: it fails, and nothing half written is left.
no_room() {
    local name=$1 rc=0 why="" before
    shift
    before=$(state)
    (
        ulimit -f 0
        trap '' XFSZ
        timeout "$limit" "$@" > /dev/null 2>&1
    ) || rc=$?
    [ $rc -ne 0 ] && [ $rc -lt 124 ] || why+="; exit $rc"
    [ "$before" = "$(state)" ] || why+="; left files"
    result "$name" "$why"
}

# png FILE [WIDTH]: says what it lacks of a picture: a PNG by its first bytes, its width in bytes 16
# to 19, and no empty sheet by its size.
png() {
    [ "$(head -c 4 "$1" | od -An -c | tr -d ' ')" = '211PNG' ] || echo "; no PNG"
    [ -z "${2-}" ] || [ "$(od -An -tx1 -j 16 -N 4 "$1" | tr -d ' ')" = "$(printf '%08x' "$2")" ] || echo "; not $2 wide"
    [ "$(wc -c < "$1")" -gt 10000 ] || echo "; too small a picture"
}
