/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * SearchHelper: see crux-search-helper.h.
 */
#include "crux-search-helper.h"

#include "ns3/crux-flow-route.h"
#include "ns3/uinteger.h"

namespace ns3
{

SearchHelper::SearchHelper()
{
    m_factory.SetTypeId(SearchService::GetTypeId());
}

void
SearchHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

void
SearchHelper::SetQueuePairAttribute(const std::string& name, const AttributeValue& value)
{
    m_qpValues.emplace_back(name, value.Copy());
}

void
SearchHelper::SetFrontend(uint32_t host, uint32_t nic)
{
    m_hasFrontend = true;
    m_frontendHost = host;
    m_frontendNic = nic;
}

void
SearchHelper::AddShard(uint32_t host, uint32_t unit)
{
    m_places.push_back({host, unit});
}

void
SearchHelper::SetSeed(uint64_t seed)
{
    m_seed = seed;
}

void
SearchHelper::SetStartTime(Time time)
{
    m_start = time;
}

void
SearchHelper::SetStopTime(Time time)
{
    m_stop = time;
}

Ptr<SearchService>
SearchHelper::GetService() const
{
    return m_service;
}

int64_t
SearchHelper::AssignStreams(int64_t stream)
{
    NS_ABORT_MSG_IF(!m_service, "SearchHelper::AssignStreams before Install");
    return m_service->AssignStreams(stream);
}

uint32_t
SearchHelper::NicOf(const crux_topology* topology, const Place& place) const
{
    const crux_host* host = crux_topology_host(topology, place.host);
    return m_service->IsGpu() ? host->gpu_nic[place.unit] : place.unit % host->n_nics;
}

crux_status
SearchHelper::CheckPlace(const CruxFabric& fabric, uint32_t shard, crux_error* error) const
{
    const crux_topology* topology = fabric.GetTopology();
    const Place& place = m_places[shard];
    const char* kind = m_service->IsGpu() ? "GPU" : "socket";
    const std::string name = m_service->GetName();

    if (place.host >= crux_topology_n_hosts(topology))
    {
        return crux_fail(error,
                         CRUX_RANGE,
                         "%s: shard %u on host %u of %u",
                         name.c_str(),
                         shard,
                         place.host,
                         crux_topology_n_hosts(topology));
    }
    const crux_host* host = crux_topology_host(topology, place.host);
    const uint32_t units = m_service->IsGpu() ? host->n_gpus : m_service->GetCpuSockets();
    if (place.unit >= units)
    {
        return crux_fail(error,
                         CRUX_RANGE,
                         "%s: shard %u on %s %u of %s, which has %u",
                         name.c_str(),
                         shard,
                         kind,
                         place.unit,
                         host->name,
                         units);
    }
    for (uint32_t other = 0; other < shard; other++)
    {
        if (m_places[other].host == place.host && m_places[other].unit == place.unit)
        {
            return crux_fail(error,
                             CRUX_DUPLICATE,
                             "%s: shards %u and %u are both on %s %u of %s",
                             name.c_str(),
                             other,
                             shard,
                             kind,
                             place.unit,
                             host->name);
        }
    }
    if (place.host == m_frontendHost && NicOf(topology, place) == m_frontendNic)
    {
        return crux_fail(error,
                         CRUX_INVALID,
                         "%s: shard %u on %s %u of %s uses the frontend's own NIC %u",
                         name.c_str(),
                         shard,
                         kind,
                         place.unit,
                         host->name,
                         m_frontendNic);
    }
    return CRUX_OK;
}

crux_status
SearchHelper::CheckPlaces(const CruxFabric& fabric, crux_error* error) const
{
    const crux_topology* topology = fabric.GetTopology();
    const std::string name = m_service->GetName();
    UintegerValue queries;

    if (!m_hasFrontend)
    {
        return crux_fail(error, CRUX_INVALID, "%s: no frontend", name.c_str());
    }
    if (m_frontendHost >= crux_topology_n_hosts(topology) ||
        m_frontendNic >= crux_topology_host(topology, m_frontendHost)->n_nics)
    {
        return crux_fail(error,
                         CRUX_RANGE,
                         "%s: no NIC %u on host %u (%u hosts) for the frontend",
                         name.c_str(),
                         m_frontendNic,
                         m_frontendHost,
                         crux_topology_n_hosts(topology));
    }
    m_service->GetAttribute("Queries", queries);
    if (queries.Get() == 0 && !m_stop.IsStrictlyPositive())
    {
        return crux_fail(error,
                         CRUX_INVALID,
                         "%s: would never end: neither Queries nor a stop time is given",
                         name.c_str());
    }
    for (uint32_t s = 0; s < m_places.size(); s++)
    {
        crux_status status = CheckPlace(fabric, s, error);
        if (status != CRUX_OK)
        {
            return status;
        }
    }
    return CRUX_OK;
}

crux_status
SearchHelper::AllocateGpus(const CruxFabric& fabric, crux_error* error) const
{
    for (uint32_t s = 0; s < m_places.size(); s++)
    {
        const Place& place = m_places[s];
        Ptr<GpuHost> host = fabric.GetGpuHost(place.host);
        if (!host->IsBooked(place.unit) &&
            host->Allocate(place.unit, m_service->GetServiceId(), m_service->GetName()))
        {
            continue;
        }
        for (uint32_t before = 0; before < s; before++)
        {
            fabric.GetGpuHost(m_places[before].host)->Release(m_places[before].unit);
        }
        return crux_fail(error,
                         CRUX_DUPLICATE,
                         "%s: shard %u on GPU %u of %s, which is taken",
                         m_service->GetName().c_str(),
                         s,
                         place.unit,
                         crux_topology_host(fabric.GetTopology(), place.host)->name);
    }
    return CRUX_OK;
}

crux_status
SearchHelper::InstallShard(const CruxFabric& fabric, uint32_t shard, crux_error* error)
{
    const crux_topology* topology = fabric.GetTopology();
    const Place& place = m_places[shard];
    const crux_host* host = crux_topology_host(topology, place.host);
    const crux_host* front = crux_topology_host(topology, m_frontendHost);
    const std::string name = m_service->GetName();
    Ptr<SearchShard> application = CreateObject<SearchShard>();
    Ptr<RoceQueuePair> ends[2] = {
        fabric.GetRoceHost(m_frontendHost)
            ->CreateQueuePair(fabric.GetNicNumber(front->nics[m_frontendNic])),
        fabric.GetRoceHost(place.host)
            ->CreateQueuePair(fabric.GetNicNumber(host->nics[NicOf(topology, place)]))};
    std::string why;

    for (uint32_t e = 0; e < 2; e++)
    {
        for (const auto& value : m_qpValues)
        {
            ends[e]->SetAttribute(value.first, *value.second);
        }
        ends[e]->SetSourcePort(crux_entropy_port(m_seed, m_service->GetServiceId(), 2 * shard + e));
    }
    if (!RoceQueuePair::Connect(ends[0], ends[1], &why))
    {
        return crux_fail(error,
                         CRUX_UNREACHABLE,
                         "%s: no connection from the frontend on %s to shard %u on %s: %s",
                         name.c_str(),
                         front->name,
                         shard,
                         host->name,
                         why.c_str());
    }
    application->SetHostName(host->name);
    if (m_service->IsGpu())
    {
        application->SetGpu(fabric.GetGpuHost(place.host), place.unit);
    }
    fabric.GetHosts().Get(place.host)->AddApplication(application);
    m_frontend->AddShard(application, ends[0], ends[1]);
    return CRUX_OK;
}

crux_status
SearchHelper::Install(const CruxFabric& fabric, crux_error* error)
{
    NS_ABORT_MSG_IF(m_service, "SearchHelper::Install is called once");
    m_service = m_factory.Create<SearchService>();
    crux_status status = m_service->Prepare(static_cast<uint32_t>(m_places.size()), error);
    if (status == CRUX_OK)
    {
        status = CheckPlaces(fabric, error);
    }
    if (status == CRUX_OK && m_service->IsGpu())
    {
        status = AllocateGpus(fabric, error);
    }
    if (status != CRUX_OK)
    {
        return status;
    }
    m_frontend = CreateObject<SearchFrontend>();
    m_frontend->SetService(m_service);
    for (uint32_t s = 0; s < m_places.size(); s++)
    {
        status = InstallShard(fabric, s, error);
        if (status != CRUX_OK)
        {
            return status;
        }
    }
    m_frontend->SetStartTime(m_start);
    m_frontend->SetStopTime(m_stop);
    fabric.GetHosts().Get(m_frontendHost)->AddApplication(m_frontend);
    return CRUX_OK;
}

crux_status
SearchHelper::Check(crux_error* error) const
{
    if (!m_service)
    {
        return crux_fail(error, CRUX_INVALID, "the search service was not installed");
    }
    switch (m_service->GetState())
    {
    case SearchService::FINISHED:
        return CRUX_OK;
    case SearchService::FAILED:
        return crux_fail(error, CRUX_STALLED, "%s", m_service->GetFailReason().c_str());
    default:
        break;
    }
    const std::string waiting = m_service->DescribeWaiting();
    return crux_fail(error,
                     CRUX_STALLED,
                     "%s",
                     waiting.empty()
                         ? (m_service->GetName() + ": queries were still to come").c_str()
                         : waiting.c_str());
}

} // namespace ns3
