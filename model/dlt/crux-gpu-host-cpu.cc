/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHost: CPU threads of clients; see crux-gpu-host.h.
 *
 * Place: model/dlt (C++17, ns-3).
 */
#include "crux-gpu-host.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

uint32_t
GpuHost::PoolOf(GpuHostClient* client) const
{
    uint32_t pool = 0;
    while (pool < m_pools.size() && m_pools[pool].client != client)
    {
        pool++;
    }
    return pool;
}

void
GpuHost::SetCpuThreads(GpuHostClient* client, uint32_t threads)
{
    NS_ABORT_MSG_IF(threads == 0, "a client without CPU threads");
    uint32_t pool = PoolOf(client);
    if (pool == m_pools.size())
    {
        m_pools.emplace_back();
        m_pools[pool].client = client;
    }
    m_pools[pool].threads.resize(std::max<size_t>(threads, m_pools[pool].threads.size()));
    DispatchCpuSoon(pool);
}

void
GpuHost::SubmitCpu(const GpuHostCpuWork& work, GpuHostClient* client)
{
    const uint32_t pool = PoolOf(client);
    NS_ABORT_MSG_IF(pool == m_pools.size(), "CPU work of a client without CPU threads");
    NS_ABORT_MSG_IF(!(work.seconds >= 0), "CPU work of " << work.seconds << " s");
    m_pools[pool].queue.push_back(work);
    DispatchCpuSoon(pool);
}

void
GpuHost::DispatchCpuSoon(uint32_t number)
{
    Pool& pool = m_pools[number];
    if (!pool.dispatching && !pool.queue.empty())
    {
        pool.dispatching = true;
        Simulator::ScheduleNow(&GpuHost::DispatchCpu, Ptr<GpuHost>(this), number);
    }
}

void
GpuHost::DispatchCpu(uint32_t number)
{
    if (number >= m_pools.size())
    {
        return; // disposed of
    }
    m_pools[number].dispatching = false;
    for (uint32_t t = 0; t < m_pools[number].threads.size(); t++)
    {
        Pool& pool = m_pools[number]; // the client may ask for more pools
        Thread& thread = pool.threads[t];
        if (thread.busy || pool.queue.empty())
        {
            continue;
        }
        thread.busy = true;
        thread.work = pool.queue.front();
        pool.queue.pop_front();
        thread.end =
            Simulator::Schedule(Seconds(thread.work.seconds), &GpuHost::EndCpu, this, number, t);
        const GpuHostCpuWork work = thread.work;
        pool.client->CpuBegun(work);
    }
}

void
GpuHost::EndCpu(uint32_t number, uint32_t t)
{
    if (number >= m_pools.size())
    {
        return; // disposed of
    }
    Thread& thread = m_pools[number].threads[t];
    const GpuHostCpuWork work = thread.work;
    thread.busy = false;
    m_pools[number].client->CpuDone(work);
    DispatchCpuSoon(number);
}

void
GpuHost::ReleaseCpu(GpuHostClient* client)
{
    const uint32_t number = PoolOf(client);
    if (number == m_pools.size())
    {
        return;
    }
    Pool& pool = m_pools[number];
    for (auto& thread : pool.threads)
    {
        thread.end.Cancel();
    }
    pool.threads.clear();
    pool.queue.clear();
    pool.client = nullptr;
}

size_t
GpuHost::GetCpuQueue(GpuHostClient* client) const
{
    const uint32_t pool = PoolOf(client);
    return pool < m_pools.size() ? m_pools[pool].queue.size() : 0;
}

} // namespace ns3
