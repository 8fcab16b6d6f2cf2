/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltProgramApplication: see crux-dlt-program-application.h.
 */
#include "crux-dlt-program-application.h"

#include "crux-dlt-job.h"

#include "ns3/log.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("DltProgramApplication");
NS_OBJECT_ENSURE_REGISTERED(DltProgramApplication);

TypeId
DltProgramApplication::GetTypeId()
{
    static TypeId tid = TypeId("ns3::DltProgramApplication")
                            .SetParent<Application>()
                            .SetGroupName("Crux")
                            .AddConstructor<DltProgramApplication>();
    return tid;
}

void
DltProgramApplication::DoDispose()
{
    m_job = nullptr;
    Application::DoDispose();
}

void
DltProgramApplication::SetRanks(const std::vector<uint32_t>& ranks)
{
    m_ranks = ranks;
}

const std::vector<uint32_t>&
DltProgramApplication::GetRanks() const
{
    return m_ranks;
}

bool
DltProgramApplication::IsStarted() const
{
    return m_started;
}

void
DltProgramApplication::StartApplication()
{
    NS_ABORT_MSG_IF(!m_job, "a DltProgramApplication starts without a job");
    m_started = true;
    m_job->ApplicationStarted();
}

void
DltProgramApplication::StopApplication()
{
    if (m_job)
    {
        m_job->Stop();
    }
}

} // namespace ns3
