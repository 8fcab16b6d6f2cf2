/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxDaemon: what happens to a daemon (time, jobs, datagrams, paths, cables) is handed to the
 * daemon of libcrux, and what that one asks for is done. Its attributes and its life are in
 * crux-daemon-life.cc.
 *
 * Place: model/dlt (C++17, ns-3). Depends on crux-daemon-application.h.
 */
#include "crux-daemon-application.h"

#include "ns3/crux-flow-route.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CruxDaemon");

namespace
{

/** \return now, seconds */
double
NowSeconds()
{
    return Simulator::Now().GetSeconds();
}

/** \param due seconds \return how long to wait, a nanosecond at least: times in seconds may round
 * to just before they are due */
Time
Wait(double due)
{
    const double left = std::min(due - NowSeconds(), 1e6);
    return Max(Seconds(left), NanoSeconds(1));
}

} // namespace

void
CruxDaemon::Must(crux_status status, const crux_error& error) const
{
    NS_ABORT_MSG_IF(status != CRUX_OK, "daemon of host " << m_host << ": " << error.text);
}

// ---------------------------------------------------------------------------
// What happens

void
CruxDaemon::Schedule()
{
    m_event.Cancel();
    if (!m_daemon)
    {
        return;
    }
    const double due = crux_daemon_due_s(m_daemon);
    if (!std::isinf(due))
    {
        m_event = Simulator::Schedule(Wait(due), &CruxDaemon::Tick, this);
    }
}

void
CruxDaemon::Tick()
{
    crux_error error{};
    Must(crux_daemon_tick(m_daemon, NowSeconds(), &error), error);
    Schedule();
}

void
CruxDaemon::JobStarted(Ptr<const DltJob> job)
{
    Job& mine = m_jobs.at(job->GetJobId());
    crux_error error{};
    if (!m_daemon)
    {
        return;
    }
    crux_daemon_job facts{};
    facts.id = mine.facts.id;
    facts.n_hosts = static_cast<uint32_t>(mine.facts.hosts.size());
    facts.hosts = mine.facts.hosts.data();
    facts.gpus = mine.facts.gpus;
    facts.flop = mine.facts.flop;
    facts.compute_s = mine.facts.compute;
    facts.overlap_start = mine.facts.overlapStart;
    facts.iteration_s = mine.facts.iteration;
    facts.n_flows = static_cast<uint32_t>(mine.facts.flows.size());
    facts.flows = mine.facts.flows.data();
    mine.started = true;
    Must(crux_daemon_job_start(m_daemon, NowSeconds(), &facts, &error), error);
    // Pairs that were looked after before have new ports.
    for (const auto& flow : mine.facts.flows)
    {
        if (flow.src_nic.v != CRUX_NONE)
        {
            ProbePair(flow.src_nic, flow.dst_nic);
        }
    }
    Schedule();
}

void
CruxDaemon::ProbePair(crux_node_id src, crux_node_id dst)
{
    std::set<uint16_t> ports;
    for (const auto& [id, job] : m_jobs)
    {
        for (const auto& flow : job.facts.flows)
        {
            if (job.started && flow.src_nic.v == src.v && flow.dst_nic.v == dst.v)
            {
                ports.insert(flow.ecmp_port);
            }
        }
    }
    m_prober->Probe(src, m_cluster->nicNumbers.at(src.v), dst, ports);
}

void
CruxDaemon::JobEnded(Ptr<const DltJob> job, const std::string& reason)
{
    Job& mine = m_jobs.at(job->GetJobId());
    crux_error error{};
    mine.sample.Cancel();
    mine.sampling = false;
    if (m_daemon && mine.started)
    {
        NS_LOG_INFO("host " << m_host << ": " << job->GetName() << " ends " << reason);
        mine.started = false;
        Must(crux_daemon_job_end(m_daemon, NowSeconds(), mine.facts.id, &error), error);
        Schedule();
    }
}

void
CruxDaemon::Received(const RoceDatagram& datagram)
{
    crux_error error{};
    const auto& all = m_cluster->addresses;
    const auto from = std::find(all.begin(), all.end(), datagram.srcIp);
    if (!m_daemon || from == all.end())
    {
        return;
    }
    crux_status status = crux_daemon_receive(m_daemon,
                                             NowSeconds(),
                                             static_cast<uint32_t>(from - all.begin()),
                                             datagram.bytes,
                                             datagram.size,
                                             &error);
    Must(status, error);
    Schedule();
}

void
CruxDaemon::PathsKnown(const CruxPaths& paths)
{
    crux_error error{};
    crux_decider_pair pair{};
    if (!m_daemon)
    {
        return;
    }
    pair.src_nic = crux_node_id{paths.src};
    pair.dst_nic = crux_node_id{paths.dst};
    pair.n = paths.n;
    pair.hops = paths.hops;
    pair.links = paths.links.data();
    pair.ports = paths.ports.data();
    pair.n_asked = static_cast<uint32_t>(paths.askedPorts.size());
    pair.asked_ports = paths.askedPorts.data();
    pair.asked_paths = paths.askedPaths.data();
    Must(crux_daemon_paths(m_daemon, NowSeconds(), &pair, &error), error);
    Schedule();
}

void
CruxDaemon::CableChanged()
{
    if (m_daemon)
    {
        m_prober->ProbeAll();
    }
}

void
CruxDaemon::InForce(int64_t job, uint64_t version, int64_t)
{
    crux_error error{};
    if (m_daemon && m_jobs.at(job).started)
    {
        crux_status status = crux_daemon_in_force(m_daemon, NowSeconds(), job, version, &error);
        Must(status, error);
        Schedule();
    }
}

void
CruxDaemon::Sample(int64_t id)
{
    Job& job = m_jobs.at(id);
    crux_profile* profile = m_daemon ? crux_daemon_profile(m_daemon, id) : nullptr;
    crux_error error{};
    if (!profile || !job.sampling)
    {
        return;
    }
    const CruxTransportCounters read = m_transport->Read(id);
    crux_profile_counters counters{};
    counters.flop = read.flop;
    counters.busy_s = read.busyS;
    counters.any_busy_s = read.anyBusyS;
    counters.flow_bytes = read.flowBytes;
    Must(crux_profile_add(profile, NowSeconds(), &counters, &error), error);
    job.sample =
        Simulator::Schedule(Wait(crux_profile_due_s(profile)), &CruxDaemon::Sample, this, id);
}

// ---------------------------------------------------------------------------
// What the daemon asks for

void
CruxDaemon::CallSend(void* ctx, uint32_t dst, const uint8_t* bytes, size_t n)
{
    auto* self = static_cast<CruxDaemon*>(ctx);
    const auto size = static_cast<uint32_t>(n);
    // The path of control messages does not matter: one port of the entropy range.
    const uint16_t port = static_cast<uint16_t>(49152 + (self->m_host * 131 + dst * 17) % 16384);
    if (self->m_roce->SendDatagram(0,
                                   self->m_cluster->addresses.at(dst),
                                   port,
                                   self->m_cluster->classes.control,
                                   KIND_CONTROL,
                                   bytes,
                                   size,
                                   false))
    {
        self->m_wireBytes += RoceDatagram::Wire(size, false);
    }
}

void
CruxDaemon::CallProbe(void* ctx, crux_node_id src, crux_node_id dst)
{
    static_cast<CruxDaemon*>(ctx)->ProbePair(src, dst);
}

void
CruxDaemon::CallUnprobe(void* ctx, crux_node_id src, crux_node_id dst)
{
    static_cast<CruxDaemon*>(ctx)->m_prober->Forget(src, dst);
}

void
CruxDaemon::CallSample(void* ctx, int64_t id, bool on)
{
    auto* self = static_cast<CruxDaemon*>(ctx);
    auto it = self->m_jobs.find(id);
    if (it == self->m_jobs.end())
    {
        return;
    }
    it->second.sample.Cancel();
    it->second.sampling = on;
    if (on)
    {
        it->second.sample = Simulator::ScheduleNow(&CruxDaemon::Sample, self, id);
    }
}

void
CruxDaemon::CallApply(void* ctx, const crux_daemon_order* order)
{
    auto* self = static_cast<CruxDaemon*>(ctx);
    const crux_class_map& map = self->m_cluster->classes;
    Job& job = self->m_jobs.at(order->job);
    crux_error error{};
    uint8_t own = map.profiling;
    uint8_t storage = 0;
    // Inside hosts: 0 while a job is profiled, then its level + 1.
    uint32_t level = 0;
    self->Must(crux_class_of_level(&map, self->m_levels - 1, &storage, &error), error);
    if (order->level != CRUX_LEVEL_PROFILING)
    {
        self->Must(crux_class_of_level(&map, order->level, &own, &error), error);
        level = order->level + 1;
    }
    std::vector<std::pair<uint32_t, uint16_t>> ports;
    for (uint32_t i = 0; i < order->n_flows; i++)
    {
        ports.emplace_back(order->numbers[i], order->ports[i]);
    }
    self->m_orderTrace(self, *order);
    self->m_transport->Apply(
        order->job,
        own,
        storage,
        level,
        self->m_levels,
        ports,
        MakeCallback(&CruxDaemon::InForce, self).Bind(order->job, order->version));
    if (order->leads)
    {
        job.facts.job->AlignStart(Time(0), Seconds(order->shift_s), Seconds(order->period_s));
    }
}

void
CruxDaemon::CallEvent(void* ctx, const crux_daemon_event* event)
{
    auto* self = static_cast<CruxDaemon*>(ctx);
    NS_LOG_INFO(NowSeconds() << " host " << self->m_host << ": event " << event->kind << " job "
                             << event->job << " version " << event->version << " "
                             << (event->text ? event->text : ""));
    self->m_eventTrace(self, *event);
}

uint32_t
CruxDaemon::CallEcmpPath(void* ctx, crux_node_id src, crux_node_id dst, uint16_t port)
{
    auto* self = static_cast<CruxDaemon*>(ctx);
    uint32_t index = CRUX_NONE;
    if (crux_flow_hash_path(self->m_cluster->topology,
                            self->m_cluster->router,
                            src,
                            dst,
                            port,
                            &index,
                            nullptr) != CRUX_OK)
    {
        index = CRUX_NONE;
    }
    return index;
}

} // namespace ns3
