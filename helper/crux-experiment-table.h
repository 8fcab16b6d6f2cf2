/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tables of an experiment for people: a table a run, the comparison of schedulers, the
 * agreement of the engines.
 *
 * Place: helper (C++17). Reads a CruxExperiment that has run; computes differences only.
 */
#ifndef CRUX_EXPERIMENT_TABLE_H
#define CRUX_EXPERIMENT_TABLE_H

#include "crux-experiment.h"

#include <ostream>

namespace ns3
{

/**
 * Print the scenario: topology, jobs, assumptions.
 * \param os where to
 * \param scenario a built scenario
 */
void CruxPrintScenario(std::ostream& os, const crux_scenario* scenario);

/**
 * Print a table for every run, then the comparison with the first scheduler (in points
 * of utilisation and relative) and, with two engines, how far they are apart.
 * \param os where to
 * \param experiment one that has run
 */
void CruxPrintTables(std::ostream& os, const CruxExperiment& experiment);

} // namespace ns3

#endif /* CRUX_EXPERIMENT_TABLE_H */
