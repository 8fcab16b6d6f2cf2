/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxProber: attributes, the pairs of NICs that are looked after, and a probing from its beginning
 * to the paths it gives (or their computation from the hash). Datagrams, and looking after paths
 * that are known, are in crux-prober-watch.cc.
 *
 * Place: model/dlt (C++17, ns-3). Depends on crux-prober.h.
 */
#include "crux-prober.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CruxProber);

namespace
{

/** Most ports of a pair that are looked after. */
constexpr std::size_t MOST_WATCHED = 1024;

/** \return now, seconds */
double
NowSeconds()
{
    return Simulator::Now().GetSeconds();
}

} // namespace

TypeId
CruxProber::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CruxProber")
            .SetParent<Object>()
            .SetGroupName("Crux")
            .AddConstructor<CruxProber>()
            .AddAttribute("Mode",
                          "Probe: paths are found by probes with varied source ports. Hash: they "
                          "are computed from the switches' hash; failures are then not seen.",
                          EnumValue(PROBE),
                          MakeEnumAccessor(&CruxProber::m_mode),
                          MakeEnumChecker(PROBE, "Probe", HASH, "Hash"))
            .AddAttribute("Miss",
                          "Probability at most that a path is missed, all being equally likely.",
                          DoubleValue(1e-3),
                          MakeDoubleAccessor(&CruxProber::m_miss),
                          MakeDoubleChecker<double>(1e-12, 0.5))
            .AddAttribute("Burst",
                          "Probes of a pair that are on their way at once (count).",
                          UintegerValue(8),
                          MakeUintegerAccessor(&CruxProber::m_burst),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("Most",
                          "Probes of a pair in all (count).",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&CruxProber::m_most),
                          MakeUintegerChecker<uint32_t>(1, 16384))
            .AddAttribute("Losses",
                          "Probes lost in a row until the pair counts as unreachable (count).",
                          UintegerValue(16),
                          MakeUintegerAccessor(&CruxProber::m_losses),
                          MakeUintegerChecker<uint32_t>(1, 4096))
            .AddAttribute("Timeout",
                          "Time after which a probe without an answer is lost.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&CruxProber::m_timeout),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("VerifyInterval",
                          "Time between two looks at known paths; 0: never.",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&CruxProber::m_interval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Seed",
                          "Of the order in which source ports are tried.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&CruxProber::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddTraceSource("Paths",
                            "The paths of a pair are known, or known anew.",
                            MakeTraceSourceAccessor(&CruxProber::m_pathsTrace),
                            "ns3::CruxProber::PathsTracedCallback");
    return tid;
}

CruxProber::CruxProber() = default;

CruxProber::~CruxProber() = default;

void
CruxProber::DoDispose()
{
    Stop();
    if (m_host)
    {
        for (uint16_t kind : {KIND_PROBE, KIND_ANSWER})
        {
            m_host->SetDatagramCallback(kind, RoceHost::DatagramCallback());
        }
    }
    m_host = nullptr;
    Object::DoDispose();
}

void
CruxProber::Setup(Ptr<RoceHost> host,
                  const crux_topology* topology,
                  crux_router* router,
                  uint8_t trafficClass,
                  PathsCallback known)
{
    NS_ABORT_MSG_IF(m_mode == HASH && !router, "CruxProber: Hash needs the fabric's router");
    m_host = host;
    m_topology = topology;
    m_router = router;
    m_class = trafficClass;
    m_known = known;
    host->SetDatagramCallback(KIND_PROBE, MakeCallback(&CruxProber::Received, this));
    host->SetDatagramCallback(KIND_ANSWER, MakeCallback(&CruxProber::Received, this));
}

CruxProber::Pair*
CruxProber::Find(const Key& key)
{
    auto it = m_pairs.find(key);
    return it == m_pairs.end() ? nullptr : &it->second;
}

void
CruxProber::Clear(Pair& pair)
{
    pair.verify.Cancel();
    pair.late.Cancel();
    crux_probing_destroy(pair.probing);
    pair.probing = nullptr;
}

void
CruxProber::Probe(crux_node_id src, uint32_t nic, crux_node_id dst, const std::set<uint16_t>& ports)
{
    const Key key(src.v, dst.v);
    auto [it, fresh] = m_pairs.try_emplace(key);
    Pair& pair = it->second;
    // What was asked for before may have ended: only those of now are asked for again.
    const bool news =
        !std::includes(pair.flows.begin(), pair.flows.end(), ports.begin(), ports.end());
    pair.flows = ports;
    if (!m_host || !(fresh || (news && m_mode == PROBE)))
    {
        return;
    }
    pair.nic = nic;
    pair.dstIp = crux_topology_address(m_topology, dst);
    if (m_mode == HASH)
    {
        m_events[key] = Simulator::ScheduleNow(&CruxProber::Compute, this, key);
        return;
    }
    Begin(key, pair);
}

void
CruxProber::Forget(crux_node_id src, crux_node_id dst)
{
    const Key key(src.v, dst.v);
    if (Pair* pair = Find(key))
    {
        Clear(*pair);
        m_events[key].Cancel();
        m_events.erase(key);
        m_pairs.erase(key);
    }
}

void
CruxProber::ProbeAll()
{
    for (auto& [key, pair] : m_pairs)
    {
        if (m_mode == PROBE && m_host)
        {
            Begin(key, pair);
        }
    }
}

void
CruxProber::Stop()
{
    for (auto& [key, pair] : m_pairs)
    {
        Clear(pair);
        m_events[key].Cancel();
    }
    m_pairs.clear();
    m_events.clear();
}

uint64_t
CruxProber::GetWireBytes() const
{
    return m_wireBytes;
}

// ---------------------------------------------------------------------------
// Probing

void
CruxProber::Begin(const Key& key, Pair& pair)
{
    crux_probing_options options;
    crux_error error{};
    crux_probing_options_default(&options);
    options.miss = m_miss;
    options.burst = m_burst;
    options.most = m_most;
    options.losses = m_losses;
    options.timeout_s = m_timeout.GetSeconds();
    // Each pair tries ports in an order of its own, and another one when it is probed again.
    options.seed = crux_mix64(
        m_seed ^ crux_mix64(static_cast<uint64_t>(key.first) << 32 | key.second) ^ pair.repeat);
    std::set<uint16_t> asked(pair.flows);
    asked.insert(pair.stood.begin(), pair.stood.end());
    pair.asked.assign(asked.begin(), asked.end());
    options.n_asked = static_cast<uint32_t>(pair.asked.size());
    options.asked_ports = pair.asked.data();
    Clear(pair);
    crux_status status = crux_probing_create(&options, NowSeconds(), &pair.probing, &error);
    NS_ABORT_MSG_IF(status != CRUX_OK, "CruxProber: " << error.text);
    m_events[key].Cancel();
    m_events[key] = Simulator::ScheduleNow(&CruxProber::Advance, this, key);
}

void
CruxProber::Advance(const Key& key)
{
    Pair* pair = Find(key);
    uint16_t port = 0;
    if (!pair || !pair->probing)
    {
        return;
    }
    while (crux_probing_next(pair->probing, NowSeconds(), &port))
    {
        Send(*pair, port); // one that cannot be sent is one that is lost
    }
    if (crux_probing_state(pair->probing) == CRUX_PROBING_RUNS)
    {
        Schedule(key, *pair);
        return;
    }
    Finish(key, *pair);
}

void
CruxProber::Schedule(const Key& key, Pair& pair)
{
    const double due = crux_probing_due_s(pair.probing);
    if (std::isinf(due))
    {
        return;
    }
    // Not before the next nanosecond: a time in seconds may round to just before it is due.
    const Time wait = Max(Seconds(due) - Simulator::Now(), NanoSeconds(1));
    m_events[key].Cancel();
    m_events[key] = Simulator::Schedule(wait, &CruxProber::Advance, this, key);
}

void
CruxProber::ReadAsked(Pair& pair, CruxPaths* paths)
{
    std::vector<bool> kept(paths->n, false);
    if (paths->n == 0)
    {
        return; // what was known stays
    }
    for (uint32_t i = 0; i < pair.asked.size(); i++)
    {
        const uint16_t port = pair.asked[i];
        const uint32_t path = crux_probing_asked(pair.probing, i);
        const auto& stood = pair.stood;
        if (pair.flows.count(port))
        {
            paths->askedPorts.push_back(port);
            paths->askedPaths.push_back(path);
        }
        if (path == CRUX_NONE)
        {
            // Looked after as one that was given up: when it answers the pair is probed again.
            auto [it, fresh] = pair.watched.try_emplace(port);
            it->second.losses = fresh ? 2 : it->second.losses;
            continue;
        }
        Watched& watched = pair.watched[port];
        watched = Watched();
        for (uint32_t hop = 0; hop < paths->hops; hop++)
        {
            watched.links.push_back(paths->links[path * paths->hops + hop].v);
        }
        if (!kept[path] && std::find(stood.begin(), stood.end(), port) != stood.end())
        {
            paths->ports[path] = port;
            kept[path] = true;
        }
    }
    pair.stood = paths->ports;
}

void
CruxProber::Finish(const Key& key, Pair& pair)
{
    CruxPaths paths;
    paths.src = key.first;
    paths.dst = key.second;
    paths.n = crux_probing_paths(pair.probing, &paths.hops);
    for (uint32_t i = 0; i < paths.n; i++)
    {
        const struct crux_probing_path path = crux_probing_path(pair.probing, i);
        paths.links.insert(paths.links.end(), path.links, path.links + paths.hops);
        paths.ports.push_back(path.port);
        Watched& watched = pair.watched[path.port];
        watched = Watched();
        for (uint32_t hop = 0; hop < paths.hops; hop++)
        {
            watched.links.push_back(path.links[hop].v);
        }
    }
    ReadAsked(pair, &paths);
    paths.counters = crux_probing_counters(pair.probing);
    paths.limited = crux_probing_state(pair.probing) == CRUX_PROBING_LIMIT;
    paths.repeat = pair.repeat++;
    crux_probing_destroy(pair.probing);
    pair.probing = nullptr;
    while (pair.watched.size() > MOST_WATCHED)
    {
        pair.watched.erase(pair.watched.begin());
    }
    if (!m_interval.IsZero())
    {
        pair.verify = Simulator::Schedule(m_interval, &CruxProber::Verify, this, key);
    }
    const bool again = paths.n == 0 && pair.lost;
    pair.lost = paths.n == 0;
    if (again)
    {
        return; // still the same
    }
    m_pathsTrace(paths);
    if (paths.n > 0 || pair.watched.empty())
    {
        m_known(paths);
    }
}

void
CruxProber::Compute(const Key& key)
{
    const crux_node_id src{key.first};
    const crux_node_id dst{key.second};
    crux_link_id first{};
    crux_link_id last{};
    const crux_path_set* set = nullptr;
    crux_error error{};
    CruxPaths paths;
    if (!Find(key))
    {
        return;
    }
    paths.src = key.first;
    paths.dst = key.second;
    if (crux_router_paths(m_router, src, dst, &first, &set, &last, &error) == CRUX_OK)
    {
        paths.n = set->n;
        paths.hops = set->hops + 2;
    }
    for (uint32_t i = 0; i < paths.n; i++)
    {
        uint16_t port = 0;
        crux_status status =
            crux_router_port_for_path(m_router, src, dst, i, CRUX_ENTROPY_FIRST, &port, &error);
        if (status != CRUX_OK)
        {
            paths.n = i; // no port leads further
            break;
        }
        paths.links.push_back(first);
        paths.links.insert(paths.links.end(),
                           set->links + i * set->hops,
                           set->links + (i + 1) * set->hops);
        paths.links.push_back(last);
        paths.ports.push_back(port);
    }
    m_pathsTrace(paths);
    m_known(paths);
}

} // namespace ns3
