/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxValidation: random small clusters (crux-crosscheck.h) at flow and at packet level, over
 * several processes.
 *
 * Place: helper (C++17). Uses CruxScenario, CruxPacketEngine, libcrux, POSIX (fork, shared memory).
 */
#ifndef CRUX_VALIDATION_H
#define CRUX_VALIDATION_H

#include "crux-scenario-helper.h"

#include "ns3/crux-crosscheck.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/// Most processes.
#define CRUX_VALIDATION_PROCESSES 256

/// What to run; policies are checked by CruxValidation::Check.
struct CruxValidationOptions
{
    crux_crosscheck_set set{CRUX_CROSSCHECK_EVEN}; //!< of cases
    uint64_t seed{1};                              //!< of the cases
    uint64_t first{0};                             //!< first case
    uint64_t cases{40};                            //!< how many
    uint64_t iterations{2};                        //!< of the job with the longest iteration
    double scale{1};                               //!< computation and bytes are divided by it
    uint64_t levels{5};                            //!< K
    uint64_t train{16};                //!< packets that may travel as one event (crux-roce-train.h)
    double window{1};                  //!< bandwidth-delay products in flight; 0: any
    std::vector<std::string> policies; //!< names
    uint64_t processes{1};             //!< how many share the work; results do not depend on it
    bool progress{false};              //!< a line on standard error while it runs
};

/**
 * \ingroup crux
 * \brief Runs the cases; each plan once at each level.
 */
class CruxValidation
{
  public:
    /** \param options what to run */
    explicit CruxValidation(const CruxValidationOptions& options);
    ~CruxValidation();
    CruxValidation(const CruxValidation&) = delete;
    CruxValidation& operator=(const CruxValidation&) = delete;

    /**
     * Find the policies.
     * \param error one line when one is not known or given twice
     * \return status
     */
    crux_status Check(crux_error* error) const;

    /**
     * Find congestion controls.
     * \param controls names: dcqcn, dcqcn-1us (AlphaTimer 1 us), none, hpcc, timely
     * \param error one line when one is not known or given twice, or there is none
     * \return status
     */
    static crux_status CheckControls(const std::vector<std::string>& controls, crux_error* error);

    /**
     * Run all cases; other attributes as their defaults are set now.
     * \param control congestion control, one of CheckControls
     * \param error one line when it fails
     * \return status
     */
    crux_status Run(const std::string& control, crux_error* error);

    /** \return the results, in the order of cases; valid once Run has succeeded */
    const crux_crosscheck_result* GetResults() const;

    /** \return seconds of real time that Run took */
    double GetWallSeconds() const;

  private:
    struct Shared; //!< what the processes share

    void Work(uint64_t process);
    crux_status RunCase(uint64_t index, crux_crosscheck_result* result, crux_error* error) const;
    crux_status RunPlan(const crux_scenario* scenario,
                        const crux_plan* plan,
                        crux_crosscheck_level level,
                        crux_crosscheck_run* run,
                        crux_crosscheck_result* result,
                        crux_error* error) const;
    void SetDefaults(const std::string& name) const;
    crux_status Spawn(const std::string& control, std::vector<int>* children, crux_error* error);
    crux_status Await(const std::vector<int>& children, crux_error* error);
    void ShowProgress() const;

    CruxValidationOptions m_options; //!< what to run
    Shared* m_shared{nullptr};       //!< shared memory
    size_t m_size{0};                //!< its bytes
    double m_begin{0};               //!< real time at which Run began, s
    double m_wall{0};                //!< seconds of Run
};

} // namespace ns3

#endif /* CRUX_VALIDATION_H */
