/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxOperation: a packet-level run with daemons: what goes wrong on purpose, and a record of what
 * they measured, probed, decided and carried out.
 *
 * Place: helper (C++17). Uses CruxHelper, CruxFabric, DltJobHelper; writes rows of
 * crux-store-operation.h; decides nothing.
 */
#ifndef CRUX_OPERATION_H
#define CRUX_OPERATION_H

#include "crux-helper.h"
#include "crux-operation-timeline.h"

#include "ns3/crux-faults.h"
#include "ns3/crux-store-operation.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/// A measurement of a job beside the truth; NAN where not known.
struct CruxOpProfile
{
    uint32_t job{0};            //!< index
    double begun{0};            //!< s, start of the job
    double ended{0};            //!< s, reported
    crux_period period{};       //!< count 0: no period was found
    double iteration{0};        //!< s, measured
    double flop{0};             //!< W, measured
    double compute{0};          //!< s, measured
    double overlapStart{0};     //!< measured
    double linkSeconds{0};      //!< t_j, measured
    double intensity{0};        //!< measured
    double trueIteration{0};    //!< s, mean of what ran in the window
    double trueFlop{0};         //!< W
    double trueCompute{0};      //!< s
    double trueOverlapStart{0}; //!< share
    double trueLinkSeconds{0};  //!< t_j
    double trueIntensity{0};    //!< FLOP/s
};

/// What a plan says of a job.
struct CruxOpOrder
{
    uint32_t job{0};       //!< index
    uint32_t level{0};     //!< 0 is the highest
    uint32_t rank{0};      //!< 0 is first
    double priority{0};    //!< P_j
    double intensity{0};   //!< I_j
    double linkSeconds{0}; //!< t_j
    double shift{0};       //!< s
};

/// A plan.
struct CruxOpDecision
{
    uint64_t version{0};             //!< term and number
    uint32_t coordinator{0};         //!< host
    double news{0};                  //!< s
    double decided{0};               //!< s
    double inForce{0};               //!< s; NAN: never
    uint32_t changed{0};             //!< jobs with new orders
    std::string trigger;             //!< for people
    std::vector<CruxOpOrder> orders; //!< of its jobs
};

/**
 * \ingroup crux
 * \brief Daemons on a fabric, and the record of a run.
 *
 * Used by CruxPacketEngine::SetOperation, or by hand: Install before Simulator::Run, Finish after
 * it and before Simulator::Destroy.
 */
class CruxOperation
{
  public:
    CruxOperation() = default;
    CruxOperation(const CruxOperation&) = delete;
    CruxOperation& operator=(const CruxOperation&) = delete;

    /** \return the helper that installs the daemons: its attributes are theirs */
    CruxHelper& GetHelper();
    /**
     * What goes wrong, and when.
     * \param text as crux-faults.h has it: "link:tor0>agg0@0.5-0.9,daemon:h3@0.2"
     */
    void SetFaults(const std::string& text);

    /**
     * Install daemons and schedule the faults.
     * \param fabric built
     * \param jobs installed
     * \param scenario of them; outlives the run
     * \param error one line when it fails
     * \return status
     */
    crux_status Install(CruxFabric& fabric,
                        const DltJobHelper& jobs,
                        const crux_scenario* scenario,
                        crux_error* error);
    /** Close the record: the run has ended. */
    void Finish();
    /**
     * Write the record.
     * \param store open
     * \param run number of the run there
     * \param error one line when it fails
     * \return status
     */
    crux_status Store(crux_store* store, int64_t run, crux_error* error) const;

    /** \return measurements, in the order of reports */
    const std::vector<CruxOpProfile>& GetProfiles() const;
    /** \return plans, in the order of decisions */
    const std::vector<CruxOpDecision>& GetDecisions() const;
    /** \return what the probing of pairs gave, in the order of ends */
    const std::vector<CruxPaths>& GetPaths() const;
    /** \return things that happened, texts in \p text */
    const std::vector<crux_op_event>& GetEvents() const;
    /** \return spans of GetBinSeconds() from 0 on */
    const std::vector<CruxOpBin>& GetBins() const;
    /** \return length of a span, s */
    double GetBinSeconds() const;
    /** \return counters, names of crux-store-operation.h */
    const std::vector<std::pair<std::string, double>>& GetCounters() const;
    /** \return lines for people: jobs whose iterations were not found, silent hosts */
    const std::vector<std::string>& GetWarnings() const;
    /**
     * \param from s
     * \param to s, cut to the end of the record
     * \return busy / held GPU seconds of all jobs between; NAN when none was held
     */
    double GetUtilisation(double from, double to) const;

  private:
    void Event(Ptr<const CruxDaemon> daemon, const crux_daemon_event& event);        //!< trace sink
    void Profiled(const crux_daemon_event& event);                                   //!< a report
    void Decided(Ptr<const CruxDaemon> daemon, const crux_daemon_event& event);      //!< a plan
    void Ordered(const crux_daemon_event& event);                                    //!< part of it
    void Paths(const CruxPaths& paths);                                              //!< trace sink
    void Iteration(Ptr<const DltJob> job, uint64_t number, const DltIteration& row); //!< sink
    void JobStarted(Ptr<const DltJob> job);                                          //!< trace sink
    void JobEnded(Ptr<const DltJob> job, const std::string& reason);                 //!< trace sink
    void Computed(uint32_t gpu, int64_t job, Time duration);                         //!< trace sink
    void Fault(crux_fault fault, bool repair);                                       //!< it happens
    void CutHost(uint32_t host, bool repair);           //!< all its cables
    void AddTruth(CruxOpProfile* profile) const;        //!< what is known
    void AddTrueLinks(const crux_decider_order* order); //!< t_j, I_j
    void Note(const std::string& kind,
              int64_t job,
              int64_t host,
              int64_t version,
              double since,
              const std::string& text); //!< an event
    uint32_t IndexOf(int64_t id) const; //!< of a job
    void Count();                       //!< counters

    CruxHelper m_helper;                                        //!< installs
    std::string m_faultText;                                    //!< as given
    const crux_scenario* m_scenario{nullptr};                   //!< of the run
    const CruxFabric* m_fabric{nullptr};                        //!< of the run
    std::map<int64_t, uint32_t> m_index;                        //!< job id: index
    std::vector<double> m_started;                              //!< [jobs] s; NAN: not yet
    std::vector<bool> m_over;                                   //!< [jobs] ended
    std::vector<std::vector<std::pair<double, double>>> m_rows; //!< [jobs] iterations: from, to
    std::vector<CruxOpProfile> m_profiles;                      //!< measurements
    std::vector<CruxOpDecision> m_decisions;                    //!< plans
    std::vector<CruxPaths> m_paths;                             //!< probings
    std::vector<crux_op_event> m_events;                        //!< happened
    std::map<std::string, bool> m_texts;                        //!< owns what events point to
    CruxOpTimeline m_timeline;                                  //!< GPU seconds by time
    std::vector<std::pair<std::string, double>> m_counters;     //!< of Count
    std::vector<std::string> m_warnings;                        //!< for people
    double m_end{0};                                            //!< s
};

} // namespace ns3

#endif /* CRUX_OPERATION_H */
