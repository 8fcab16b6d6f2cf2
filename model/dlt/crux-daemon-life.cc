/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxDaemon: attributes, configuration, start, death and revival, and getters. It makes and
 * destroys the daemon of libcrux; what the two say to each other in between is in
 * crux-daemon-application.cc.
 *
 * Place: model/dlt (C++17, ns-3). Depends on crux-daemon-application.h.
 */
#include "crux-daemon-application.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CruxDaemon);

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
    Must(crux_daemon_begin(m_daemon, Simulator::Now().GetSeconds(), &error), error);
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

} // namespace ns3
