#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lint: every check of style and every static check, as ./crux lint. Ends with
# "N passed, N failed", one check a tool.
#
# Place: tools. Depends on shellcheck, clang-format, cppcheck, python3; a missing one fails.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 2
passed=0
failed=0

check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
    fi
}

# Files of ours by suffix; nothing that was built.
sources() {
    find model helper tools test examples -type f \( "$@" \) -not -path '*/data/*' \
        2> /dev/null | sort
}

shell_files() {
    echo crux
    echo .ci/run
    find tools test -name '*.sh' | sort
}

shell() { shell_files | xargs shellcheck; }

format() {
    local file bad=0
    while read -r file; do
        clang-format "$file" | cmp -s - "$file" || {
            echo "$file: not formatted; clang-format -i $file"
            bad=1
        }
    done < <(sources -name '*.c' -o -name '*.h' -o -name '*.cc')
    return $bad
}

analyse() {
    # Suppressed: ns-3's macros, which cppcheck does not see; members that ns-3's attributes set;
    # a comparison of an index after its use, which it takes for a check of limits; strings by value,
    # as bound trace sinks take them.
    local flags=(--quiet --error-exitcode=1 "--enable=warning,performance,portability" --inline-suppr
        --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=noValidConfiguration
        --suppress=uninitMemberVar --suppress=arrayIndexThenCheck --suppress=passedByValue
        --suppress=useInitializationList -DCRUX_HAVE_SQLITE -DCRUX_HAVE_EXPAT -DCRUX_HAVE_FFTW -D__GNUC__ -Imodel/core
        -Imodel/roce -Imodel/dlt -Ihelper -Itools -Itest/core)
    local files
    mapfile -t files < <(sources -name '*.c' -o -name '*.cc')
    cppcheck -j "$(nproc)" "${flags[@]}" "${files[@]}"
}

python_syntax() {
    local file bad=0
    while read -r file; do
        /usr/bin/python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' \
            "$file" || bad=1
    done < <(sources -name '*.py')
    return $bad
}

licences() {
    local file bad=0
    while read -r file; do
        head -n 4 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' || {
            echo "$file: no licence line at its head"
            bad=1
        }
    done < <(
        sources -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.py' -o -name '*.sh'
        shell_files
    )
    return $bad
}

check shellcheck shell
check clang-format format
check cppcheck analyse
check python python_syntax
check licence licences
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
