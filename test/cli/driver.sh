#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# driver: ./crux finds every program by its name, and refuses an unknown one in one line. Ends with
# "N passed, N failed".
#
# Place: test/cli. Depends on ./crux and on $CRUX_BIN, the bin folder of a build (./crux test sets it).
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs
build=$(dirname "$bin")

# First, middle and last of the list, an example, a tool and a unit test.
for program in crux-first crux-testbed crux-schedule test-classes; do
    case $program in
    test-*) out=$("$root/crux" run --build-dir="$build" $program 2>&1) ;;
    *) out=$("$root/crux" run --build-dir="$build" $program --help 2>&1) ;;
    esac
    rc=$?
    [ $rc = 0 ] && [ -n "$out" ]
    result "run $program" $?
done

out=$("$root/crux" run --build-dir="$build" no-such-program 2>&1)
rc=$?
[ $rc != 0 ] && [ "$(wc -l <<< "$out")" = 1 ] && grep -q 'Known: crux-.* crux-first ' <<< "$out"
result 'an unknown program is refused in one line that lists the known ones' $?

missing=0
for file in "$root"/tools/*.c; do
    ! grep -q '^int main(' "$file" || grep -q " $(basename "${file%.c}") " <<< "$out " || missing=1
done
[ $missing = 0 ] && ! grep -q ' crux-json ' <<< "$out "
result 'every tool is known' $?

out=$("$root/crux" build --build-dir="$build" no-such-program 2>&1)
rc=$?
[ $rc != 0 ] && [ "$out" = 'crux: build: no program no-such-program' ]
result 'nothing is built for an unknown program' $?

"$root/crux" help | grep 'demo' > /dev/null
result 'help' $?

finish
