#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# own-policy: follow doc/policies.md to the letter: its file beside ours, its line in a copy of
# crux-policy.c, compiled against libcrux; the policy is then found by its name and decides. Ends
# with "N passed, N failed".
#
# Place: test/cli. Depends on libcrux-core.a beside $CRUX_BIN (./crux test sets it), a C compiler.
# shellcheck source=test/cli/common.sh
. "$(dirname "$0")/common.sh"
programs
lib=$(dirname "$bin")/lib/libcrux-core.a

# block LANGUAGE: the text of the page's fenced block of that kind.
block() { awk -v mark="\`\`\`$1" '$0 == "```" { on = 0 } on { print } $0 == mark { on = 1 }' "$root/doc/policies.md"; }

block c > "$work/crux-policy-small-first.c"
block line > "$work/line"
[ "$(wc -l < "$work/line")" = 1 ]
result "the page names one line" $?

awk -v line="$(cat "$work/line")" '/end of the list/ { print line } { print }' \
    "$root/model/core/crux-policy.c" > "$work/crux-policy.c"
[ "$(diff "$root/model/core/crux-policy.c" "$work/crux-policy.c" | grep -c '^[<>]')" = 1 ]
result "one line makes the difference" $?

cat > "$work/main.c" << 'END'
#include "crux-problem.h"
#include <stdio.h>

int main(void)
{
	struct crux_problem empty = {0};
	struct crux_options options;
	const struct crux_policy *policy;
	struct crux_plan *plan;

	crux_options_default(&options);
	if (crux_policy_find("small-first", &policy, NULL) ||
	    policy->decide(&empty, &options, &plan, NULL))
		return 1;
	printf("%s\n", plan->policy);
	crux_plan_destroy(plan);
	return 0;
}
END
# A library with sanitizers wants them at the link, too.
sanitize=()
[ "$(nm "$lib" 2> /dev/null | grep -c '__asan_init$')" = 0 ] || sanitize=("-fsanitize=address,undefined")
${CC:-cc} -std=c11 -Wall -Wextra -Werror "${sanitize[@]}" -I"$root/model/core" "$work"/*.c "$lib" -lm -o "$work/main"
result "it compiles without a warning" $?
[ "$("$work/main")" = small-first ]
result "it is found by its name and decides" $?

finish
