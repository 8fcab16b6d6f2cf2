/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltJob: see crux-dlt-job.h.
 */
#include "crux-dlt-job.h"

#include "crux-dlt-rank-application.h"

#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("DltJob");
NS_OBJECT_ENSURE_REGISTERED(DltJob);

TypeId
DltJob::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::DltJob")
            .SetParent<Object>()
            .SetGroupName("Crux")
            .AddConstructor<DltJob>()
            .AddAttribute("JobId",
                          "Number of the job; ties between jobs go to the lower one.",
                          IntegerValue(0),
                          MakeIntegerAccessor(&DltJob::m_id),
                          MakeIntegerChecker<int64_t>())
            .AddAttribute("Name",
                          "Name of the job in messages and results.",
                          StringValue("job"),
                          MakeStringAccessor(&DltJob::m_name),
                          MakeStringChecker())
            .AddAttribute("ComputeTime",
                          "Computation of one iteration on every GPU (time, >= 0).",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&DltJob::m_compute),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("OverlapStart",
                          "Share of the computation after which communication may start (0..1).",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&DltJob::m_overlap),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Iterations",
                          "Iterations to run (count); 0: until StopTime.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&DltJob::m_iterations),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("StopTime",
                          "Simulated time at which the job ends at the latest; 0: none.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&DltJob::m_stopTime),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("Iteration",
                            "An iteration has ended.",
                            MakeTraceSourceAccessor(&DltJob::m_iterationTrace),
                            "ns3::DltJob::IterationTracedCallback")
            .AddTraceSource("End",
                            "The job has ended.",
                            MakeTraceSourceAccessor(&DltJob::m_endTrace),
                            "ns3::DltJob::EndTracedCallback");
    return tid;
}

void
DltJob::DoDispose()
{
    m_ranks.clear();
    Object::DoDispose();
}

void
DltJob::AddRank(Ptr<DltRankApplication> rank)
{
    NS_ABORT_MSG_IF(m_started > 0, m_name << ": a rank is added after the job has started");
    rank->Join(this, static_cast<uint32_t>(m_ranks.size()));
    m_ranks.push_back(rank);
}

const std::vector<Ptr<DltRankApplication>>&
DltJob::GetRanks() const
{
    return m_ranks;
}

DltJob::State
DltJob::GetState() const
{
    return m_state;
}

uint64_t
DltJob::GetCompleted() const
{
    return m_completed;
}

std::string
DltJob::GetName() const
{
    return m_name;
}

int64_t
DltJob::GetJobId() const
{
    return m_id;
}

Time
DltJob::GetComputeTime() const
{
    return m_compute;
}

double
DltJob::GetOverlapStart() const
{
    return m_overlap;
}

void
DltJob::RankStarted()
{
    if (m_state != WAITING || ++m_started < m_ranks.size())
    {
        return;
    }
    NS_ABORT_MSG_IF(m_iterations == 0 && m_stopTime.IsZero(),
                    m_name << ": neither Iterations nor StopTime is given");
    m_state = RUNNING;
    if (!m_stopTime.IsZero())
    {
        Time left = m_stopTime - Simulator::Now();
        Simulator::Schedule(Max(left, Time(0)), &DltJob::Stop, this);
    }
    Begin();
}

void
DltJob::Begin()
{
    NS_LOG_FUNCTION(this << m_completed);
    m_computed = 0;
    m_communicated = 0;
    m_commReady = false;
    m_row.start = Simulator::Now();
    for (const auto& rank : m_ranks)
    {
        rank->BeginIteration();
    }
}

void
DltJob::RankComputed()
{
    m_row.computeEnd = Simulator::Now();
    m_computed++;
    CheckIteration();
}

void
DltJob::RankCommReady()
{
    if (!m_commReady)
    {
        m_commReady = true;
        m_row.commStart = Simulator::Now();
    }
}

void
DltJob::RankCommunicated()
{
    m_row.commEnd = Simulator::Now();
    m_communicated++;
    CheckIteration();
}

void
DltJob::CheckIteration()
{
    if (m_state != RUNNING || m_computed < m_ranks.size() || m_communicated < m_ranks.size())
    {
        return;
    }
    m_row.end = Max(m_row.computeEnd, m_row.commEnd);
    uint64_t number = m_completed++;
    m_iterationTrace(this, number, m_row);
    if (m_state != RUNNING)
    {
        return; // a trace sink stopped the job
    }
    if (m_iterations && m_completed == m_iterations)
    {
        End(FINISHED, "");
    }
    else
    {
        // A new event, so that an iteration of no length cannot recurse without end.
        Simulator::ScheduleNow(&DltJob::BeginNext, this);
    }
}

void
DltJob::BeginNext()
{
    if (m_state == RUNNING)
    {
        Begin();
    }
}

void
DltJob::RankFailed(const std::string& reason)
{
    if (m_state == RUNNING || m_state == WAITING)
    {
        End(FAILED, reason);
    }
}

void
DltJob::Stop()
{
    if (m_state == RUNNING || m_state == WAITING)
    {
        End(STOPPED, "");
    }
}

void
DltJob::End(State state, const std::string& reason)
{
    NS_LOG_INFO(m_name << " ends in state " << state << " " << reason);
    m_state = state;
    m_endTrace(this, reason);
}

std::string
DltJob::DescribeWaiting() const
{
    std::ostringstream os;
    if (m_state != WAITING && m_state != RUNNING)
    {
        return "";
    }
    os << m_name << ", iteration " << m_completed << ":";
    const char* separator = " ";
    for (const auto& rank : m_ranks)
    {
        std::string what = rank->DescribeWaiting();
        if (!what.empty())
        {
            os << separator << what;
            separator = "; ";
        }
    }
    return os.str();
}

} // namespace ns3
