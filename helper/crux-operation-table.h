/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * The record of a run with daemons, as tables for people.
 *
 * Place: helper (C++17). Uses CruxOperation; computes ratios only.
 */
#ifndef CRUX_OPERATION_TABLE_H
#define CRUX_OPERATION_TABLE_H

#include "crux-operation.h"

#include <ostream>

namespace ns3
{

/**
 * Print what was measured, probed and decided.
 * \param os where to
 * \param scenario of the run
 * \param operation after Finish
 */
void CruxPrintOperation(std::ostream& os,
                        const crux_scenario* scenario,
                        const CruxOperation& operation);

} // namespace ns3

#endif /* CRUX_OPERATION_TABLE_H */
