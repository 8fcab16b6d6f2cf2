/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHost: see crux-gpu-host.h.
 */
#include "crux-gpu-host.h"

#include "ns3/crux-roce-clock.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/object-vector.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("GpuHost");
NS_OBJECT_ENSURE_REGISTERED(GpuHost);
NS_OBJECT_ENSURE_REGISTERED(Gpu);

TypeId
Gpu::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Gpu")
            .SetParent<Object>()
            .SetGroupName("Crux")
            .AddConstructor<Gpu>()
            .AddAttribute("Slowness",
                          "Factor on the length of computations, 0.001 to 1000000; a straggler "
                          "has more than 1.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Gpu::m_slowness),
                          MakeDoubleChecker<double>(1e-3, 1e6));
    return tid;
}

TypeId
GpuHost::GetTypeId()
{
    static TypeId tid = TypeId("ns3::GpuHost")
                            .SetParent<Object>()
                            .SetGroupName("Crux")
                            .AddConstructor<GpuHost>()
                            .AddAttribute("Gpus",
                                          "Number of GPUs of the host (count).",
                                          TypeId::ATTR_GET | TypeId::ATTR_CONSTRUCT,
                                          UintegerValue(8),
                                          MakeUintegerAccessor(&GpuHost::m_nGpus),
                                          MakeUintegerChecker<uint32_t>(1))
                            .AddAttribute("GpuList",
                                          "The GPUs.",
                                          ObjectVectorValue(),
                                          MakeObjectVectorAccessor(&GpuHost::m_gpus),
                                          MakeObjectVectorChecker<Gpu>())
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
    for (uint32_t i = 0; i < m_nGpus; i++)
    {
        m_gpus.push_back(CreateObject<Gpu>());
    }
    RoceClock::Refresh();
    Object::NotifyConstructionCompleted();
}

void
GpuHost::DoDispose()
{
    for (const auto& gpu : m_gpus)
    {
        gpu->end.Cancel();
    }
    for (auto& pool : m_pools)
    {
        for (auto& thread : pool.threads)
        {
            thread.end.Cancel();
        }
    }
    m_gpus.clear();
    m_batches.clear();
    m_pools.clear();
    Object::DoDispose();
}

void
GpuHost::SetName(const std::string& name)
{
    m_name = name;
}

std::string
GpuHost::GetName() const
{
    Ptr<Node> node = m_name.empty() ? GetObject<Node>() : nullptr;
    return node ? std::to_string(node->GetId()) : m_name;
}

uint32_t
GpuHost::GetNGpus() const
{
    return m_nGpus;
}

Ptr<Gpu>
GpuHost::GetGpu(uint32_t gpu) const
{
    NS_ABORT_MSG_IF(gpu >= m_gpus.size(),
                    "GPU " << gpu << " asked of a host with " << m_gpus.size());
    return m_gpus[gpu];
}

bool
GpuHost::Allocate(uint32_t gpu, int64_t jobId, const std::string& name, double slowness)
{
    NS_ABORT_MSG_IF(!(slowness > 0), "slowness of " << slowness);
    if (gpu >= m_gpus.size() || m_gpus[gpu]->taken)
    {
        return false;
    }
    m_gpus[gpu]->taken = true;
    m_gpus[gpu]->job = jobId;
    m_gpus[gpu]->name = name.empty() ? "job " + std::to_string(jobId) : name;
    m_gpus[gpu]->jobSlowness = slowness;
    return true;
}

std::string
GpuHost::GetHolder(uint32_t gpu) const
{
    return GetGpu(gpu)->taken ? GetGpu(gpu)->name : "";
}

void
GpuHost::Book(uint32_t gpu)
{
    GetGpu(gpu)->booked = true;
}

bool
GpuHost::IsBooked(uint32_t gpu) const
{
    return GetGpu(gpu)->booked;
}

void
GpuHost::Release(uint32_t number)
{
    if (m_gpus.empty())
    {
        return; // disposed of
    }
    Ptr<Gpu> gpu = GetGpu(number);
    gpu->ready.clear();
    gpu->end.Cancel();
    if (gpu->busy)
    {
        Count(number, gpu->current.flop * DoneOf(*gpu));
    }
    gpu->interference = 1;
    gpu->taken = false;
}

// ---------------------------------------------------------------------------
// GPUs

void
GpuHost::SubmitCompute(uint32_t number,
                       uint64_t order,
                       uint64_t tag,
                       double seconds,
                       GpuHostClient* client,
                       double flop)
{
    NS_LOG_FUNCTION(this << number << order << tag << seconds);
    Ptr<Gpu> gpu = GetGpu(number);
    NS_ABORT_MSG_IF(!gpu->taken, "GPU " << number << " computes without a job");
    NS_ABORT_MSG_IF(!(seconds >= 0), "computation of " << seconds << " s");
    NS_ABORT_MSG_IF(!(flop >= 0), "computation of " << flop << " FLOP");
    Gpu::Work work;
    work.order = order;
    work.tag = tag;
    work.seconds = seconds;
    work.flop = flop;
    work.client = client;
    gpu->ready.insert(work);
    DispatchSoon(number);
}

/// Computations whose common end is told by a callback.
class GpuHost::Batch : public GpuHostClient
{
  public:
    /**
     * \param host of the GPUs
     * \param number of the batch there
     * \param left computations
     * \param done called at the end of the last one
     */
    Batch(GpuHost* host, uint64_t number, size_t left, Callback<void> done)
        : m_host(host),
          m_number(number),
          m_left(left),
          m_done(done)
    {
    }

    void ComputeDone(uint32_t /* gpu */, uint64_t /* tag */, double /* seconds */) override
    {
        if (--m_left == 0)
        {
            Callback<void> done = m_done;
            m_host->m_batches.erase(m_number); // and this with it
            done();
        }
    }

    void CpuBegun(const GpuHostCpuWork& /* work */) override
    {
    }

    void CpuDone(const GpuHostCpuWork& /* work */) override
    {
    }

  private:
    GpuHost* m_host;       //!< of the GPUs
    uint64_t m_number;     //!< there
    size_t m_left;         //!< computations that have not ended
    Callback<void> m_done; //!< whom to tell
};

GpuHost::GpuHost() = default;
GpuHost::~GpuHost() = default;

void
GpuHost::Compute(const std::vector<uint32_t>& gpus, Time duration, Callback<void> done)
{
    const uint64_t number = m_nextBatch++;
    auto& batch = m_batches[number];
    batch = std::make_unique<Batch>(this, number, gpus.size(), done);
    for (uint32_t gpu : gpus)
    {
        SubmitCompute(gpu, 0, number, duration.GetSeconds(), batch.get());
    }
}

void
GpuHost::DispatchSoon(uint32_t number)
{
    Gpu& gpu = *m_gpus[number];
    if (!gpu.busy && !gpu.dispatching && !gpu.ready.empty())
    {
        // Not at once: of those that become ready in this instant the lowest goes first.
        gpu.dispatching = true;
        Simulator::ScheduleNow(&GpuHost::Dispatch, Ptr<GpuHost>(this), number);
    }
}

void
GpuHost::Dispatch(uint32_t number)
{
    if (m_gpus.empty())
    {
        return; // disposed of
    }
    Gpu& gpu = *m_gpus[number];
    gpu.dispatching = false;
    if (gpu.busy || gpu.ready.empty())
    {
        return;
    }
    gpu.current = *gpu.ready.begin();
    gpu.ready.erase(gpu.ready.begin());
    gpu.busy = true;
    gpu.begunPs = gpu.sincePs = RoceClock::NowPs();
    gpu.left = gpu.whole = gpu.current.seconds * gpu.m_slowness * gpu.jobSlowness;
    Union& all = m_unions[gpu.job];
    if (all.busy++ == 0)
    {
        all.sincePs = gpu.begunPs;
    }
    m_computeBegin(number, gpu.job, Seconds(gpu.left * gpu.interference));
    ScheduleEnd(number);
}

void
GpuHost::ScheduleEnd(uint32_t number)
{
    Gpu& gpu = *m_gpus[number];
    gpu.end =
        Simulator::Schedule(Seconds(gpu.left * gpu.interference), &GpuHost::End, this, number);
}

void
GpuHost::SetInterference(uint32_t number, double factor)
{
    NS_ABORT_MSG_IF(!(factor >= 1), "interference of " << factor);
    Ptr<Gpu> gpu = GetGpu(number);
    if (factor == gpu->interference)
    {
        return;
    }
    if (gpu->busy)
    {
        const int64_t now = RoceClock::NowPs();
        const double done = static_cast<double>(now - gpu->sincePs) * 1e-12 / gpu->interference;
        gpu->left = std::max(0.0, gpu->left - done);
        gpu->sincePs = now;
        gpu->end.Cancel();
        gpu->interference = factor;
        ScheduleEnd(number);
    }
    gpu->interference = factor;
}

void
GpuHost::End(uint32_t number)
{
    if (m_gpus.empty())
    {
        return;
    }
    Gpu& gpu = *m_gpus[number];
    const Gpu::Work work = gpu.current;
    const int64_t took = Count(number, work.flop);
    work.client->ComputeDone(number, work.tag, static_cast<double>(took) * 1e-12);
    DispatchSoon(number);
}

// ---------------------------------------------------------------------------
// Counters

int64_t
GpuHost::Count(uint32_t number, double flop)
{
    Gpu& gpu = *m_gpus[number];
    const int64_t now = RoceClock::NowPs();
    const int64_t took = now - gpu.begunPs;
    gpu.busy = false;
    gpu.totalPs += took;
    gpu.flop += flop;
    Union& all = m_unions[gpu.job];
    all.busyPs += took;
    all.flop += flop;
    if (--all.busy == 0)
    {
        all.totalPs += now - all.sincePs;
    }
    m_computeEnd(number, gpu.job, RoceClock::ToTime(took));
    return took;
}

double
GpuHost::DoneOf(const Gpu& gpu)
{
    const double since = static_cast<double>(RoceClock::NowPs() - gpu.sincePs) * 1e-12;
    const double left = std::max(0.0, gpu.left - since / gpu.interference);
    return gpu.whole > 0 ? 1 - left / gpu.whole : 0;
}

Time
GpuHost::GetBusyTime(uint32_t gpu) const
{
    return RoceClock::ToTime(GetGpu(gpu)->totalPs);
}

double
GpuHost::GetBusySeconds(uint32_t number) const
{
    Ptr<Gpu> gpu = GetGpu(number);
    const int64_t now = gpu->busy ? RoceClock::NowPs() - gpu->begunPs : 0;
    return static_cast<double>(gpu->totalPs + now) * 1e-12;
}

double
GpuHost::GetFlop(uint32_t number) const
{
    Ptr<Gpu> gpu = GetGpu(number);
    return gpu->flop + (gpu->busy ? gpu->current.flop * DoneOf(*gpu) : 0);
}

double
GpuHost::GetJobBusySeconds(int64_t jobId) const
{
    const auto it = m_unions.find(jobId);
    int64_t ps = it == m_unions.end() ? 0 : it->second.busyPs;
    for (const auto& gpu : m_gpus)
    {
        ps += gpu->busy && gpu->job == jobId ? RoceClock::NowPs() - gpu->begunPs : 0;
    }
    return static_cast<double>(ps) * 1e-12;
}

double
GpuHost::GetJobFlop(int64_t jobId) const
{
    const auto it = m_unions.find(jobId);
    double flop = it == m_unions.end() ? 0 : it->second.flop;
    for (const auto& gpu : m_gpus)
    {
        flop += gpu->busy && gpu->job == jobId ? gpu->current.flop * DoneOf(*gpu) : 0;
    }
    return flop;
}

double
GpuHost::GetAnyBusySeconds(int64_t jobId) const
{
    const auto it = m_unions.find(jobId);
    if (it == m_unions.end())
    {
        return 0;
    }
    const Union& all = it->second;
    const int64_t now = all.busy > 0 ? RoceClock::NowPs() - all.sincePs : 0;
    return static_cast<double>(all.totalPs + now) * 1e-12;
}

} // namespace ns3
