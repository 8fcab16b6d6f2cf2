/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHost: see crux-gpu-host.h.
 */
#include "crux-gpu-host.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("GpuHost");
NS_OBJECT_ENSURE_REGISTERED(GpuHost);

TypeId
GpuHost::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::GpuHost")
            .SetParent<Object>()
            .SetGroupName("Crux")
            .AddConstructor<GpuHost>()
            .AddAttribute("Gpus",
                          "Number of GPUs of the host (count).",
                          TypeId::ATTR_GET | TypeId::ATTR_CONSTRUCT,
                          UintegerValue(8),
                          MakeUintegerAccessor(&GpuHost::m_nGpus),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("NvlinkRate",
                          "Rate of a GPU's NVLink per direction (bit/s); A100: 2.4 Tbit/s.",
                          DataRateValue(DataRate(2400000000000ULL)),
                          MakeDataRateAccessor(&GpuHost::m_nvlinkRate),
                          MakeDataRateChecker())
            .AddTraceSource("ComputeBegin",
                            "A GPU begins a computation.",
                            MakeTraceSourceAccessor(&GpuHost::m_computeBegin),
                            "ns3::GpuHost::ComputeTracedCallback")
            .AddTraceSource("ComputeEnd",
                            "A GPU ends a computation.",
                            MakeTraceSourceAccessor(&GpuHost::m_computeEnd),
                            "ns3::GpuHost::ComputeTracedCallback");
    return tid;
}

void
GpuHost::NotifyConstructionCompleted()
{
    m_gpus.resize(m_nGpus);
    Object::NotifyConstructionCompleted();
}

void
GpuHost::DoDispose()
{
    m_gpus.clear();
    Object::DoDispose();
}

uint32_t
GpuHost::GetNGpus() const
{
    return m_nGpus;
}

bool
GpuHost::Allocate(uint32_t gpu, int64_t jobId)
{
    if (gpu >= m_gpus.size() || m_gpus[gpu].taken)
    {
        return false;
    }
    m_gpus[gpu].taken = true;
    m_gpus[gpu].job = jobId;
    return true;
}

void
GpuHost::Release(uint32_t gpu)
{
    NS_ABORT_MSG_IF(gpu >= m_gpus.size() || m_gpus[gpu].busy,
                    "GPU " << gpu << " of " << m_gpus.size() << " is busy or does not exist");
    m_gpus[gpu].taken = false;
}

void
GpuHost::Compute(const std::vector<uint32_t>& gpus, Time duration, Callback<void> done)
{
    NS_LOG_FUNCTION(this << gpus.size() << duration);
    NS_ABORT_MSG_IF(duration.IsStrictlyNegative(), "negative computation time " << duration);
    for (uint32_t gpu : gpus)
    {
        NS_ABORT_MSG_IF(gpu >= m_gpus.size(),
                        "GPU " << gpu << " asked of a host with " << m_gpus.size());
        NS_ABORT_MSG_IF(!m_gpus[gpu].taken, "GPU " << gpu << " computes without a job");
        NS_ABORT_MSG_IF(m_gpus[gpu].busy, "GPU " << gpu << " computes already");
        m_gpus[gpu].busy = true;
        m_computeBegin(gpu, m_gpus[gpu].job, duration);
    }
    Simulator::Schedule(duration, &GpuHost::ComputeDone, this, gpus, duration, done);
}

void
GpuHost::ComputeDone(std::vector<uint32_t> gpus, Time duration, Callback<void> done)
{
    for (uint32_t gpu : gpus)
    {
        m_gpus[gpu].busy = false;
        m_gpus[gpu].total += duration;
        m_computeEnd(gpu, m_gpus[gpu].job, duration);
    }
    done();
}

Time
GpuHost::GetBusyTime(uint32_t gpu) const
{
    NS_ABORT_MSG_IF(gpu >= m_gpus.size(),
                    "GPU " << gpu << " asked of a host with " << m_gpus.size());
    return m_gpus[gpu].total;
}

Time
GpuHost::GetNvlinkTime(uint64_t bytes) const
{
    return Seconds(8.0 * static_cast<double>(bytes) /
                   static_cast<double>(m_nvlinkRate.GetBitRate()));
}

} // namespace ns3
