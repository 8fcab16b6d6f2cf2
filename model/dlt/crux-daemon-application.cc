/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxDaemon: see crux-daemon-application.h.
 */
#include "crux-daemon-application.h"

#include "ns3/boolean.h"
#include "ns3/crux-flow-route.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CruxDaemon");
NS_OBJECT_ENSURE_REGISTERED(CruxDaemon);

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

TypeId
CruxDaemon::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CruxDaemon")
            .SetParent<Application>()
            .SetGroupName("Crux")
            .AddConstructor<CruxDaemon>()
            .AddAttribute("Policy",
                          "Scheduling policy of the coordinator: ecmp, crux, sincronia, varys, "
                          "taccl, cassini, ... (doc/policies.md).",
                          StringValue("crux"),
                          MakeStringAccessor(&CruxDaemon::m_policy),
                          MakeStringChecker())
            .AddAttribute("Levels",
                          "Priority levels K of jobs (count); at most what Reserved leaves.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&CruxDaemon::m_levels),
                          MakeUintegerChecker<uint32_t>(1, 64))
            .AddAttribute("SampledOrders",
                          "Topological orders that compression samples, m (count).",
                          UintegerValue(10),
                          MakeUintegerAccessor(&CruxDaemon::m_orders),
                          MakeUintegerChecker<uint32_t>(1, 10000))
            .AddAttribute("Seed",
                          "Of the sampled orders.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&CruxDaemon::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Fairness",
                          "Weight of a job's recent slowdown beside its intensity, 0 to 1.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&CruxDaemon::m_fairness),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Alike",
                          "Share by which the measurements of two jobs may differ that count as "
                          "the same, 0 (off) to 0.5.",
                          DoubleValue(0.03),
                          MakeDoubleAccessor(&CruxDaemon::m_alike),
                          MakeDoubleChecker<double>(0, 0.5))
            .AddAttribute("Reserved",
                          "Classes that jobs do not get: standard (7 control, 6 profiling, 0 other "
                          "traffic) or none.",
                          StringValue("standard"),
                          MakeStringAccessor(&CruxDaemon::m_reserved),
                          MakeStringChecker())
            .AddAttribute("Profile",
                          "Whether jobs are measured; else what they declare is believed.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&CruxDaemon::m_profile),
                          MakeBooleanChecker())
            .AddAttribute("ProfileIterations",
                          "Iterations that a job is measured for (count).",
                          UintegerValue(10),
                          MakeUintegerAccessor(&CruxDaemon::m_iterations),
                          MakeUintegerChecker<uint32_t>(2, 1000000))
            .AddAttribute("SampleInterval",
                          "Time between the first readings of a job's counters; it doubles each "
                          "time that 8192 of them are full.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&CruxDaemon::m_sampleInterval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("ProfileTimeout",
                          "Time after which a job whose iterations were not found is reported all "
                          "the same.",
                          TimeValue(Seconds(120)),
                          MakeTimeAccessor(&CruxDaemon::m_profileTimeout),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("HeartbeatInterval",
                          "Time between two heartbeats.",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&CruxDaemon::m_heartbeat),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Misses",
                          "Heartbeats missed until a host is suspected (count).",
                          UintegerValue(3),
                          MakeUintegerAccessor(&CruxDaemon::m_misses),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("Settle",
                          "Time from the last news to the decision.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&CruxDaemon::m_settle),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RetryInterval",
                          "Time until a control message is sent again, the first time.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&CruxDaemon::m_retry),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Retries",
                          "Times that a control message is sent again (count).",
                          UintegerValue(8),
                          MakeUintegerAccessor(&CruxDaemon::m_retries),
                          MakeUintegerChecker<uint32_t>(0, 64))
            .AddTraceSource("Event",
                            "Something that happened: roles, measurements, decisions.",
                            MakeTraceSourceAccessor(&CruxDaemon::m_eventTrace),
                            "ns3::CruxDaemon::EventTracedCallback")
            .AddTraceSource("Order",
                            "What this host carries out from now on.",
                            MakeTraceSourceAccessor(&CruxDaemon::m_orderTrace),
                            "ns3::CruxDaemon::OrderTracedCallback");
    return tid;
}

CruxDaemon::CruxDaemon() = default;

CruxDaemon::~CruxDaemon()
{
    crux_daemon_destroy(m_daemon);
}

void
CruxDaemon::DoDispose()
{
    Kill();
    m_jobs.clear();
    m_roce = nullptr;
    m_transport = nullptr;
    m_prober = nullptr;
    m_cluster = nullptr;
    Application::DoDispose();
}

void
CruxDaemon::Setup(uint32_t host, Ptr<CruxCluster> cluster)
{
    m_host = host;
    m_cluster = cluster;
}

void
CruxDaemon::AddJob(const CruxHostJob& job)
{
    Job& mine = m_jobs[job.id];
    mine.facts = job;
    job.job->TraceConnectWithoutContext("Start", MakeCallback(&CruxDaemon::JobStarted, this));
    job.job->TraceConnectWithoutContext("End", MakeCallback(&CruxDaemon::JobEnded, this));
}

void
CruxDaemon::Must(crux_status status, const crux_error& error) const
{
    NS_ABORT_MSG_IF(status != CRUX_OK, "daemon of host " << m_host << ": " << error.text);
}

// ---------------------------------------------------------------------------
// Life

crux_daemon_options
CruxDaemon::Options() const
{
    crux_daemon_options options;
    crux_daemon_options_default(&options);
    options.courier.self = m_host;
    options.courier.incarnation = m_incarnation;
    options.courier.mtu = std::min(options.courier.mtu, m_roce->GetMaxDatagram(0, false));
    options.courier.retry_s = m_retry.GetSeconds();
    options.courier.retries = m_retries;
    options.n_hosts = static_cast<uint32_t>(m_cluster->addresses.size());
    options.heartbeat_s = m_heartbeat.GetSeconds();
    options.misses = m_misses;
    options.settle_s = m_settle.GetSeconds();
    options.profile = m_profile;
    options.iterations = m_iterations;
    options.sample_s = m_sampleInterval.GetSeconds();
    options.profile_timeout_s = m_profileTimeout.GetSeconds();
    options.decider.policy = m_policy.c_str();
    options.decider.alike = m_alike;
    options.decider.decide.levels = m_levels;
    options.decider.decide.sampled_orders = m_orders;
    options.decider.decide.seed = m_seed;
    options.decider.decide.fairness = m_fairness;
    options.decider.n_links = static_cast<uint32_t>(m_cluster->linkBps.size());
    options.decider.link_bps = m_cluster->linkBps.data();
    options.decider.link_is_network = m_cluster->linkIsNetwork.get();
    return options;
}

void
CruxDaemon::StartApplication()
{
    m_roce = GetNode()->GetObject<RoceHost>();
    m_transport = GetNode()->GetObject<CruxTransport>();
    NS_ABORT_MSG_IF(!m_cluster || !m_roce || !m_transport,
                    "CruxDaemon: Setup first, on a node with RoceHost and CruxTransport");
    for (uint32_t nic = 0; nic < m_roce->GetNNics(); nic++)
    {
        m_roce->GetNic(nic)->AddLinkChangeCallback(MakeCallback(&CruxDaemon::CableChanged, this));
    }
    if (!m_prober)
    {
        m_prober = CreateObject<CruxProber>();
    }
    m_prober->Setup(m_roce,
                    m_cluster->topology,
                    m_cluster->router,
                    m_cluster->classes.control,
                    MakeCallback(&CruxDaemon::PathsKnown, this));
    m_ready = true;
    if (!m_killed)
    {
        Revive();
    }
}

void
CruxDaemon::StopApplication()
{
    Kill();
}

void
CruxDaemon::Revive()
{
    crux_error error{};
    m_killed = false;
    if (m_daemon || !m_ready)
    {
        return;
    }
    const crux_daemon_options options = Options();
    crux_daemon_calls calls{};
    calls.ctx = this;
    calls.send = &CruxDaemon::CallSend;
    calls.probe = &CruxDaemon::CallProbe;
    calls.unprobe = &CruxDaemon::CallUnprobe;
    calls.sample = &CruxDaemon::CallSample;
    calls.apply = &CruxDaemon::CallApply;
    calls.event = &CruxDaemon::CallEvent;
    EnumValue mode;
    m_prober->GetAttribute("Mode", mode);
    calls.ecmp_path = mode.Get() == CruxProber::HASH ? &CruxDaemon::CallEcmpPath : nullptr;
    Must(crux_daemon_create(&options, &calls, &m_daemon, &error), error);
    m_incarnation++;
    m_roce->SetDatagramCallback(KIND_CONTROL, MakeCallback(&CruxDaemon::Received, this));
    Must(crux_daemon_begin(m_daemon, NowSeconds(), &error), error);
    Schedule();
    // Jobs that run already: begun in this instant before the daemon did, or in an earlier life.
    for (const auto& [id, job] : m_jobs)
    {
        if (job.facts.job->GetState() == DltJob::RUNNING)
        {
            JobStarted(job.facts.job);
        }
    }
}

void
CruxDaemon::Kill()
{
    m_killed = true;
    if (!m_daemon)
    {
        return;
    }
    m_past = GetCounters();
    crux_daemon_destroy(m_daemon);
    m_daemon = nullptr;
    m_event.Cancel();
    for (auto& [id, job] : m_jobs)
    {
        job.sample.Cancel();
        job.sampling = false;
        job.started = false;
    }
    m_roce->SetDatagramCallback(KIND_CONTROL, RoceHost::DatagramCallback());
    m_prober->Stop();
}

bool
CruxDaemon::IsAlive() const
{
    return m_daemon;
}

const crux_daemon*
CruxDaemon::Get() const
{
    return m_daemon;
}

uint32_t
CruxDaemon::GetHost() const
{
    return m_host;
}

void
CruxDaemon::SetProber(Ptr<CruxProber> prober)
{
    m_prober = prober;
}

Ptr<CruxProber>
CruxDaemon::GetProber() const
{
    return m_prober;
}

uint64_t
CruxDaemon::GetWireBytes() const
{
    return m_wireBytes;
}

struct crux_courier_counters
CruxDaemon::GetCounters() const
{
    struct crux_courier_counters sum = m_past;
    if (m_daemon)
    {
        const struct crux_courier_counters* now = crux_daemon_counters(m_daemon);
        sum.messages += now->messages;
        sum.delivered += now->delivered;
        sum.lost += now->lost;
        sum.datagrams += now->datagrams;
        sum.bytes += now->bytes;
        sum.retried += now->retried;
        sum.duplicates += now->duplicates;
        sum.malformed += now->malformed;
    }
    return sum;
}

std::string
CruxDaemon::GetPolicy() const
{
    return m_policy;
}

std::string
CruxDaemon::GetReserved() const
{
    return m_reserved;
}

uint32_t
CruxDaemon::GetLevels() const
{
    return m_levels;
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
