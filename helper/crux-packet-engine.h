/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxPacketEngine: runs the jobs of a scenario under a plan at packet level and
 * writes the same rows as the flow engine.
 *
 * Place: helper (C++17). Uses the other helpers, model/dlt and model/roce.
 */
#ifndef CRUX_PACKET_ENGINE_H
#define CRUX_PACKET_ENGINE_H

#include "ns3/crux-progsim.h"
#include "ns3/crux-scenario.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

class CruxOperation;

/// What a packet-level run counted.
struct CruxPacketStats
{
    std::vector<std::pair<std::string, double>> counters; //!< name, count; simulated facts only
    std::vector<double> linkBytes; //!< [links of the topology]: payload bytes of data carried
    uint64_t packetHops{0};        //!< data packets x links crossed
    uint64_t events{0};            //!< events executed
    double wallSeconds{0};         //!< real time of Simulator::Run
};

/**
 * \ingroup crux
 * \brief Packet-level engine: fabric, jobs, Crux, Simulator::Run, rows.
 *
 * It builds everything anew, runs until every active job has ended, and destroys the
 * simulator. Call Time::SetResolution(Time::PS) once before the first run.
 */
class CruxPacketEngine
{
  public:
    /** \param reserved class map of crux-classes.h: "standard" or "none" */
    void SetReserved(const std::string& reserved);

    /**
     * A part never starts, for tests of what is reported then.
     * \param job index
     * \param op operation of its program
     * \param rank whose part
     */
    void Withhold(uint32_t job, uint32_t op, uint32_t rank);

    /**
     * Daemons measure, decide and carry out while the run goes on, instead of the plan being in
     * force from the start.
     * \param operation installed in each run that follows, with its faults; null: the plan
     */
    void SetOperation(CruxOperation* operation);

    /**
     * With daemons something always happens, so that a run that cannot go on has to be noticed.
     * \param span of simulated time without any progress of any job after which the run ends
     */
    void SetStallTime(Time span);

    /**
     * Run.
     * \param scenario a built scenario
     * \param plan the decision; only its number of levels matters when there are daemons
     * \param active [n_jobs] which jobs take part; nullptr: all
     * \param sink where each finished iteration goes
     * \param stats counted; valid also when the run failed
     * \param error one line when it fails: which job waits, for which operation and which ranks
     * \param parts where each part of an operation goes, in the order of ends; nullptr: nowhere
     * \return CRUX_OK, CRUX_STALLED, CRUX_LIMIT, CRUX_RANGE or the sink's status
     */
    crux_status Run(const crux_scenario* scenario,
                    const crux_plan* plan,
                    const bool* active,
                    const crux_sink* sink,
                    CruxPacketStats* stats,
                    crux_error* error,
                    const crux_part_sink* parts = nullptr) const;

  private:
    std::string m_reserved{"standard"};  //!< class map
    uint32_t m_withheldJob{CRUX_NONE};   //!< of Withhold
    uint32_t m_withheldOp{0};            //!< of Withhold
    uint32_t m_withheldRank{0};          //!< of Withhold
    CruxOperation* m_operation{nullptr}; //!< null: the plan
    Time m_stallTime{Seconds(100)};      //!< of SetStallTime
};

} // namespace ns3

#endif /* CRUX_PACKET_ENGINE_H */
