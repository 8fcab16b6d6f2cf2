/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tables of a validation: errors by policy, the worst runs with the command that repeats each, the
 * order of policies, the verdict.
 *
 * Place: helper (C++17). Uses libcrux only.
 */
#ifndef CRUX_VALIDATION_TABLE_H
#define CRUX_VALIDATION_TABLE_H

#include "ns3/crux-crosscheck.h"

#include <ostream>

namespace ns3
{

/**
 * Print everything about one congestion control.
 * \param os where to
 * \param all what was run
 * \param error one line when it fails
 * \return status
 */
crux_status CruxPrintValidation(std::ostream& os, const crux_crosscheck& all, crux_error* error);

/**
 * Whether the criteria of crux-crosscheck.h hold.
 * \param all what was run
 * \param error one line that says what does not hold, or what failed
 * \return CRUX_OK; CRUX_RANGE when they do not hold
 */
crux_status CruxJudgeValidation(const crux_crosscheck& all, crux_error* error);

} // namespace ns3

#endif /* CRUX_VALIDATION_TABLE_H */
