/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltJob: see crux-dlt-job.h.
 */
#include "crux-dlt-job.h"

#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
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
            .AddAttribute("Jitter",
                          "Factor on the length of each computation, drawn anew each time (below 0 "
                          "counts as 0), such as ns3::NormalRandomVariable[Mean=1|Variance=0.01]; "
                          "null: always 1.",
                          PointerValue(),
                          MakePointerAccessor(&DltJob::m_jitter),
                          MakePointerChecker<RandomVariableStream>())
            .AddTraceSource("Start",
                            "All applications of the job have started.",
                            MakeTraceSourceAccessor(&DltJob::m_startTrace),
                            "ns3::DltJob::StartTracedCallback")
            .AddTraceSource("Iteration",
                            "An iteration has ended.",
                            MakeTraceSourceAccessor(&DltJob::m_iterationTrace),
                            "ns3::DltJob::IterationTracedCallback")
            .AddTraceSource("Part",
                            "A rank's part in an operation has ended.",
                            MakeTraceSourceAccessor(&DltJob::m_partTrace),
                            "ns3::DltJob::PartTracedCallback")
            .AddTraceSource("Aligned",
                            "An iteration that AlignStart has put off begins.",
                            MakeTraceSourceAccessor(&DltJob::m_alignedTrace),
                            "ns3::DltJob::AlignedTracedCallback")
            .AddTraceSource("End",
                            "The job has ended.",
                            MakeTraceSourceAccessor(&DltJob::m_endTrace),
                            "ns3::DltJob::EndTracedCallback");
    return tid;
}

DltJob::~DltJob()
{
    if (m_executor)
    {
        m_executor->Detach();
    }
}

void
DltJob::DoDispose()
{
    m_stopEvent.Cancel();
    m_beginEvent.Cancel();
    m_applications.clear();
    m_jitter = nullptr;
    if (m_executor)
    {
        m_executor->Detach();
        m_executor = nullptr;
    }
    Object::DoDispose();
}

Ptr<DltExecutor>
DltJob::SetProgram(const crux_program* program,
                   const crux_wiring* wiring,
                   std::shared_ptr<const void> keeper)
{
    NS_ABORT_MSG_IF(m_executor, m_name << " has a program already");
    m_keeper = std::move(keeper);
    m_executor = Create<DltExecutor>(program, wiring, this);
    return m_executor;
}

Ptr<DltExecutor>
DltJob::GetExecutor() const
{
    return m_executor;
}

void
DltJob::AddApplication(Ptr<DltProgramApplication> application)
{
    NS_ABORT_MSG_IF(m_started > 0, m_name << ": an application is added after the job's start");
    NS_ABORT_MSG_IF(application->m_job, "an application belongs to one job");
    application->m_job = this;
    m_applications.push_back(application);
}

const std::vector<Ptr<DltProgramApplication>>&
DltJob::GetApplications() const
{
    return m_applications;
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

uint64_t
DltJob::GetProgress() const
{
    uint64_t progress = m_completed + m_parts + (m_executor ? m_executor->GetMessages() : 0);
    for (const auto& application : m_applications)
    {
        TimeValue start;
        application->GetAttribute("StartTime", start);
        if (m_state == WAITING && start.Get() > Simulator::Now())
        {
            progress += static_cast<uint64_t>(Simulator::Now().GetTimeStep());
        }
    }
    return progress;
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

int64_t
DltJob::AssignStreams(int64_t stream)
{
    if (!m_jitter)
    {
        return 0;
    }
    m_jitter->SetStream(stream);
    return 1;
}

void
DltJob::ApplicationStarted()
{
    if (m_state != WAITING || ++m_started < m_applications.size())
    {
        return;
    }
    NS_ABORT_MSG_IF(!m_executor, m_name << " starts without a program");
    NS_ABORT_MSG_IF(m_iterations == 0 && m_stopTime.IsZero(),
                    m_name << ": neither Iterations nor StopTime is given");
    Start(false);
}

void
DltJob::Start(bool last)
{
    if (m_state != WAITING || !m_executor)
    {
        return;
    }
    const std::string why = m_executor->TakeGpus(m_id, m_name);
    if (!why.empty() && !last)
    {
        // Who holds it may end in this very instant.
        m_beginEvent = Simulator::ScheduleNow(&DltJob::Start, this, true);
        return;
    }
    if (!why.empty())
    {
        End(FAILED, why);
        return;
    }
    m_state = RUNNING;
    m_executor->SetJitter(m_jitter);
    if (!m_stopTime.IsZero())
    {
        const Time left = m_stopTime - Simulator::Now();
        m_stopEvent = Simulator::Schedule(Max(left, Time(0)), &DltJob::Stop, this);
    }
    m_startTrace(this);
    BeginSoon();
}

void
DltJob::IterationDone(const DltIteration& row)
{
    const uint64_t number = m_completed++;
    m_iterationTrace(this, number, row);
    if (m_state != RUNNING)
    {
        return; // a trace sink stopped the job
    }
    if (m_iterations && m_completed == m_iterations)
    {
        End(FINISHED, "");
        return;
    }
    // A new event, so that an iteration of no length cannot recurse without end.
    Simulator::ScheduleNow(&DltJob::BeginSoon, Ptr<DltJob>(this));
}

Time
DltJob::GetIterationStart() const
{
    return m_begun;
}

void
DltJob::AlignStart(Time reference, Time shift, Time period)
{
    NS_ABORT_MSG_IF(period.IsStrictlyNegative(), m_name << " is aligned to a period of " << period);
    m_alignAt = reference + shift;
    m_alignPeriod = period;
    if (m_beginEvent.IsRunning()) // an iteration that waits waits for this instead
    {
        m_beginEvent.Cancel();
        PutOff();
    }
}

void
DltJob::PutOff()
{
    const int64_t period = m_alignPeriod.GetTimeStep();
    int64_t wait = 0;
    if (period > 0)
    {
        wait = (m_alignAt - Simulator::Now()).GetTimeStep() % period;
        wait += wait < 0 ? period : 0;
    }
    m_beginEvent = Simulator::Schedule(TimeStep(wait), &DltJob::BeginNext, this);
}

void
DltJob::BeginSoon()
{
    m_due = Simulator::Now();
    if (!m_alignPeriod.IsZero() && m_state == RUNNING)
    {
        PutOff();
        return;
    }
    BeginNext();
}

void
DltJob::BeginNext()
{
    if (m_state != RUNNING || !m_executor)
    {
        return;
    }
    if (!m_alignPeriod.IsZero())
    {
        m_alignPeriod = Time(0);
        m_alignedTrace(this, m_completed, Simulator::Now() - m_due);
    }
    if (m_state == RUNNING) // no trace sink has stopped the job
    {
        m_begun = Simulator::Now();
        m_executor->Begin();
    }
}

void
DltJob::PartDone(uint32_t op, uint32_t rank, Time start)
{
    m_parts++;
    m_partTrace(this, op, rank, start);
}

void
DltJob::ExecutionFailed(const std::string& reason)
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
    m_stopEvent.Cancel();
    m_beginEvent.Cancel();
    if (m_executor)
    {
        state == FINISHED ? m_executor->Finish() : m_executor->Stop();
    }
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
    os << m_name << ", iteration " << m_completed << ": ";
    const char* separator = "";
    for (const auto& application : m_applications)
    {
        if (!application->IsStarted())
        {
            for (uint32_t rank : application->GetRanks())
            {
                os << separator << "rank " << rank << " has not started";
                separator = "; ";
            }
        }
    }
    if (m_beginEvent.IsRunning())
    {
        os << "begins in " << Simulator::GetDelayLeft(m_beginEvent).As(Time::US);
    }
    else if (m_state == RUNNING)
    {
        os << m_executor->Describe();
    }
    return os.str();
}

} // namespace ns3
