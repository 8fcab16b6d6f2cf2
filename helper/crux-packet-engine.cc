/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxPacketEngine: see crux-packet-engine.h.
 */
#include "crux-packet-engine.h"

#include "crux-dlt-helper.h"
#include "crux-fabric-helper.h"
#include "crux-helper.h"
#include "crux-operation.h"

#include "ns3/crux-roce-monitor.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <sstream>

namespace ns3
{

namespace
{

/**
 * \param row times of an iteration
 * \return busy_s of its row: 0 where a GPU computed from start to computeEnd
 */
double
BusySeconds(const DltIteration& row)
{
    const double all = (row.computeEnd - row.start).GetSeconds();
    return row.busy >= all * (1 - 1e-9) ? 0 : std::max(row.busy, 1e-300);
}

/// Watches the jobs of one run: rows to the sink, the end, and the lack of progress.
class Watch
{
  public:
    /**
     * \param jobs [n_jobs], nullptr where not active
     * \param sink where rows go; may be nullptr
     * \param parts where parts of operations go; may be nullptr
     * \param error of the run
     */
    Watch(const std::vector<Ptr<DltJob>>& jobs,
          const crux_sink* sink,
          const crux_part_sink* parts,
          crux_error* error)
        : m_jobs(jobs),
          m_sink(sink),
          m_parts(parts),
          m_error(error)
    {
        for (uint32_t j = 0; j < jobs.size(); j++)
        {
            if (jobs[j])
            {
                m_left++;
                jobs[j]->TraceConnectWithoutContext("Iteration",
                                                    MakeCallback(&Watch::Iteration, this).Bind(j));
                jobs[j]->TraceConnectWithoutContext("End", MakeCallback(&Watch::End, this));
                if (parts)
                {
                    jobs[j]->TraceConnectWithoutContext("Part",
                                                        MakeCallback(&Watch::Part, this).Bind(j));
                }
            }
        }
    }

    /** The others go on when a job fails; the first failure is the run's. */
    void GoOn()
    {
        m_goesOn = true;
    }

    /** Watch that something goes on. \param span without progress after which the run ends */
    void Guard(Time span)
    {
        uint64_t progress = 0;
        for (const auto& job : m_jobs)
        {
            progress += job ? job->GetProgress() : 0;
        }
        m_stalled = progress == m_progress;
        m_progress = progress;
        if (m_stalled)
        {
            Simulator::Stop();
            return;
        }
        m_guard = Simulator::Schedule(span, &Watch::Guard, this, span);
    }

    /** \return status of the run once Simulator::Run has returned */
    crux_status Verdict()
    {
        if (m_status != CRUX_OK || m_left == 0)
        {
            return m_status;
        }
        if (RoceEventGuard::IsTripped())
        {
            return crux_fail(m_error,
                             CRUX_LIMIT,
                             "the run was stopped before ns-3 ran out of event numbers; %s",
                             Waiting().c_str());
        }
        return crux_fail(m_error,
                         CRUX_STALLED,
                         m_stalled ? "nothing goes on any more, but %u jobs wait: %s"
                                   : "nothing is left to happen, but %u jobs wait: %s",
                         m_left,
                         Waiting().c_str());
    }

  private:
    /**
     * Trace sink of DltJob::Iteration.
     * \param job index
     * \param number iteration
     * \param row its times
     */
    void Iteration(uint32_t job, Ptr<const DltJob>, uint64_t number, const DltIteration& row)
    {
        crux_iteration out{row.start.GetSeconds(),
                           row.computeEnd.GetSeconds(),
                           row.commStart.GetSeconds(),
                           row.commEnd.GetSeconds(),
                           row.end.GetSeconds(),
                           BusySeconds(row)};
        if (m_sink && IsRecording())
        {
            Check(m_sink->iteration(m_sink->context, job, number, &out));
        }
    }

    /**
     * Trace sink of DltJob::Part.
     * \param index of the job
     * \param job whose part has ended
     * \param op number of the operation
     * \param rank whose part
     * \param start when it started
     */
    void Part(uint32_t index, Ptr<const DltJob> job, uint32_t op, uint32_t rank, Time start)
    {
        crux_prog_part part{index,
                            op,
                            rank,
                            job->GetCompleted(),
                            start.GetSeconds(),
                            Simulator::Now().GetSeconds()};
        if (IsRecording())
        {
            Check(m_parts->part(m_parts->context, &part));
        }
    }

    /** \return whether rows still go to the sinks */
    bool IsRecording() const
    {
        return !m_broken && (m_status == CRUX_OK || m_goesOn);
    }

    /** A sink that fails ends the run. \param status of the sink */
    void Check(crux_status status)
    {
        if (status != CRUX_OK)
        {
            m_broken = true;
            m_status = m_status == CRUX_OK ? status : m_status;
            Simulator::Stop();
        }
    }

    /**
     * Trace sink of DltJob::End.
     * \param job that ended
     * \param reason of a failure
     */
    void End(Ptr<const DltJob> job, const std::string& reason)
    {
        m_left--;
        if (job->GetState() == DltJob::FAILED && m_status == CRUX_OK)
        {
            m_status = crux_fail(m_error,
                                 CRUX_STALLED,
                                 "%s, iteration %llu: %s",
                                 job->GetName().c_str(),
                                 static_cast<unsigned long long>(job->GetCompleted()),
                                 reason.c_str());
        }
        if (m_left == 0 || (m_status != CRUX_OK && !m_goesOn))
        {
            Simulator::Stop();
        }
    }

    /** \return what every unfinished job waits for */
    std::string Waiting() const
    {
        std::ostringstream os;
        for (const auto& job : m_jobs)
        {
            std::string what = job ? job->DescribeWaiting() : "";
            if (!what.empty())
            {
                os << (os.tellp() > 0 ? " | " : "") << what;
            }
        }
        return os.str();
    }

    const std::vector<Ptr<DltJob>>& m_jobs; //!< watched
    const crux_sink* m_sink;                //!< rows
    const crux_part_sink* m_parts;          //!< parts of operations
    crux_error* m_error;                    //!< of the run
    crux_status m_status{CRUX_OK};          //!< of the run
    uint32_t m_left{0};                     //!< jobs that have not ended
    uint64_t m_progress{UINT64_MAX};        //!< of all jobs, at the last look
    bool m_stalled{false};                  //!< none between two looks
    bool m_goesOn{false};                   //!< a job that fails does not end the run
    bool m_broken{false};                   //!< a sink has failed
    EventId m_guard;                        //!< the next look
};

/**
 * Add the counters of every port.
 * \param fabric after the run
 * \param stats where to
 */
void
Count(const CruxFabric& fabric, CruxPacketStats* stats)
{
    const uint32_t links = crux_topology_n_links(fabric.GetTopology());
    uint64_t frames = 0;
    uint64_t pauses = 0;
    uint64_t marks = 0;
    std::vector<uint64_t> drops(static_cast<size_t>(RoceDropReason::COUNT));

    stats->linkBytes.assign(links, 0);
    for (uint32_t link = 0; link < links; link++)
    {
        Ptr<RoceNetDevice> port = fabric.GetPort(crux_link_id{link});
        if (!port)
        {
            continue;
        }
        const RocePortCounters& c = port->GetCounters();
        stats->linkBytes[link] = static_cast<double>(
            std::accumulate(c.txPayload.begin(), c.txPayload.end(), uint64_t{0}));
        frames += c.txFrames;
        pauses += c.Pauses();
        marks += c.ecnMarks;
        for (size_t i = 0; i < drops.size(); i++)
        {
            drops[i] += c.drops[i];
        }
    }
    stats->counters.emplace_back("frames_sent", static_cast<double>(frames));
    stats->counters.emplace_back("pause_frames", static_cast<double>(pauses));
    stats->counters.emplace_back("ecn_marks", static_cast<double>(marks));
    for (size_t i = 0; i < drops.size(); i++)
    {
        stats->counters.emplace_back(std::string("drops_") +
                                         RoceDropReasonName(static_cast<RoceDropReason>(i)),
                                     static_cast<double>(drops[i]));
    }
}

/**
 * Add the counters of every queue pair.
 * \param jobs after the run
 * \param scenario their scenario
 * \param stats where to
 */
void
CountQueuePairs(const DltJobHelper& jobs, const crux_scenario* scenario, CruxPacketStats* stats)
{
    RoceQueuePairCounters sum;
    for (uint32_t f = 0; f < scenario->n_flows; f++)
    {
        Ptr<RoceQueuePair> qp = jobs.GetQueuePair(f);
        if (qp)
        {
            const RoceQueuePairCounters& c = qp->GetCounters();
            sum.packetsSent += c.packetsSent;
            sum.packetsResent += c.packetsResent;
            sum.cnpsReceived += c.cnpsReceived;
            sum.naksReceived += c.naksReceived;
            sum.timeouts += c.timeouts;
        }
    }
    stats->counters.emplace_back("data_packets", static_cast<double>(sum.packetsSent));
    stats->counters.emplace_back("data_packets_resent", static_cast<double>(sum.packetsResent));
    stats->counters.emplace_back("cnps", static_cast<double>(sum.cnpsReceived));
    stats->counters.emplace_back("naks", static_cast<double>(sum.naksReceived));
    stats->counters.emplace_back("timeouts", static_cast<double>(sum.timeouts));
}

} // namespace

void
CruxPacketEngine::SetReserved(const std::string& reserved)
{
    m_reserved = reserved;
}

void
CruxPacketEngine::Withhold(uint32_t job, uint32_t op, uint32_t rank)
{
    m_withheldJob = job;
    m_withheldOp = op;
    m_withheldRank = rank;
}

void
CruxPacketEngine::SetOperation(CruxOperation* operation)
{
    m_operation = operation;
}

void
CruxPacketEngine::SetStallTime(Time span)
{
    m_stallTime = span;
}

crux_status
CruxPacketEngine::Run(const crux_scenario* scenario,
                      const crux_plan* plan,
                      const bool* active,
                      const crux_sink* sink,
                      CruxPacketStats* stats,
                      crux_error* error,
                      const crux_part_sink* parts) const
{
    CruxFabric fabric;
    DltJobHelper jobs;
    CruxHelper crux;

    crux.SetReserved(m_reserved);
    crux_status status =
        fabric.Build(scenario->topo, scenario->router, scenario->options.seed, error);
    if (status == CRUX_OK)
    {
        fabric.AssignStreams(0);
        status = jobs.Install(fabric, scenario, active, error);
    }
    if (status == CRUX_OK)
    {
        // A job's jitter is its own, whoever else runs.
        jobs.AssignStreams(static_cast<int64_t>(crux_mix64(scenario->options.seed) >> 2));
        status = m_operation ? m_operation->Install(fabric, jobs, scenario, error)
                             : crux.Apply(fabric, jobs, scenario, plan, error);
    }
    if (status == CRUX_OK)
    {
        if (m_withheldJob != CRUX_NONE)
        {
            jobs.GetJobs()[m_withheldJob]->GetExecutor()->Withhold(m_withheldOp, m_withheldRank);
        }
        Watch watch(jobs.GetJobs(), sink, parts, error);
        if (m_operation)
        {
            watch.GoOn();
            watch.Guard(m_stallTime);
        }
        auto begin = std::chrono::steady_clock::now();
        Simulator::Run();
        std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
        status = watch.Verdict();
        stats->wallSeconds = wall.count();
        stats->events = Simulator::GetEventCount();
        stats->packetHops = RoceMonitor::GetPacketHops();
        stats->counters.emplace_back("packet_hops", static_cast<double>(stats->packetHops));
        stats->counters.emplace_back("events", static_cast<double>(stats->events));
        Count(fabric, stats);
        CountQueuePairs(jobs, scenario, stats);
        if (m_operation)
        {
            m_operation->Finish();
        }
    }
    Simulator::Destroy();
    return status;
}

} // namespace ns3
