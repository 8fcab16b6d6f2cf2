/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-test-runner: ns-3's test runner with the suites of this module, for builds outside an
 * ns-3 tree (inside one, ./test.py does this).
 *
 * Place: test. Depends on ns-3's core.
 */

#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
