/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxScenario: the scenario of libcrux (topology, jobs, placement) for C++ scripts.
 *
 * Place: helper (C++17). Uses libcrux only; a thin owner, decides nothing.
 */
#ifndef CRUX_SCENARIO_HELPER_H
#define CRUX_SCENARIO_HELPER_H

#include "crux-topology-helper.h"

#include "ns3/crux-scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

/**
 * End the program when a libcrux call failed: one line "program: text" to standard
 * error, exit code = status number.
 * \param program name in front of the line
 * \param status what the call returned; CRUX_OK returns at once
 * \param error its error line
 */
void CruxExitOnError(const std::string& program, crux_status status, const crux_error& error);

/**
 * \param text words separated by commas
 * \return the words; an empty text gives none
 */
std::vector<std::string> CruxSplit(const std::string& text);

/**
 * \ingroup crux
 * \brief Owner of a crux_scenario: set the options, then Build.
 *
 * The strings are those of crux_scenario_options (crux-scenario.h).
 */
class CruxScenario
{
  public:
    CruxScenario();
    ~CruxScenario();
    CruxScenario(const CruxScenario&) = delete;
    CruxScenario& operator=(const CruxScenario&) = delete;

    /**
     * \param topology "testbed[:...]", "clos[:...]", "clos3[:...]", "fattree:k=4[,...]",
     *                 "lingjun:FILE[,...]", "file:PATH[,...]" (crux-presets.h)
     */
    void SetTopology(const std::string& topology);
    /**
     * A topology of one's own, as it is when the scenario is built; what is wrong with it is the
     * error of Build. The description that is stored is "own: " and its counts.
     * \param topology built in the script
     */
    void SetTopology(const CruxTopology& topology);
    /** \param jobs "model:GPUs[:iterations],..." or "mix:N" */
    void SetJobs(const std::string& jobs);
    /** \param placement "span", "pack" or "random" */
    void SetPlacement(const std::string& placement);
    /** \param iterations of the job with the longest iteration, >= 1 */
    void SetIterations(uint64_t iterations);
    /** \param scale computation and bytes are divided by it, > 0 */
    void SetScale(double scale);
    /** \param bytes payload of a packet, 256 .. 9000 */
    void SetPayload(uint32_t bytes);
    /** \param seed of placement, ECMP and source ports */
    void SetSeed(uint64_t seed);

    /**
     * Build everything.
     * \param error one line when it fails
     * \return status; CRUX_OK: Get() is valid
     */
    crux_status Build(crux_error* error);

    /**
     * Build, or end the program with one line and a non-zero exit code.
     * \param program name in front of the line
     */
    void BuildOrExit(const std::string& program);

    /** \return the built scenario, nullptr before Build */
    const crux_scenario* Get() const;

  private:
    crux_status Create(crux_scenario** out, crux_error* error) const;

    std::string m_topology;             //!< owns options.topology
    std::optional<CruxTopology> m_own;  //!< instead of m_topology
    std::string m_jobs;                 //!< owns options.jobs
    std::string m_placement;            //!< owns options.placement
    crux_scenario_options m_options;    //!< as given
    crux_scenario* m_scenario{nullptr}; //!< built
};

/// Owner of a plan.
class CruxPlan
{
  public:
    CruxPlan() = default;
    ~CruxPlan();
    CruxPlan(const CruxPlan&) = delete;
    CruxPlan& operator=(const CruxPlan&) = delete;

    /**
     * Decide; replaces an earlier plan only when it succeeds.
     * \param scenario a built scenario
     * \param policy its name: "ecmp", "crux", ...
     * \param options K, sampled orders, seed
     * \param error one line when it fails
     * \return status
     */
    crux_status Decide(const crux_scenario* scenario,
                       const std::string& policy,
                       const crux_options& options,
                       crux_error* error);

    /** \return the plan, nullptr before Decide */
    const crux_plan* Get() const;

  private:
    crux_plan* m_plan{nullptr}; //!< decided
};

} // namespace ns3

#endif /* CRUX_SCENARIO_HELPER_H */
