/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-sampler: a monitor of queues, throughput, pauses and rates.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-queue-pair.
 */
#include "crux-roce-sampler.h"

#include "crux-roce-congestion-control.h"
#include "crux-roce-queue-pair.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iostream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceSampler");
NS_OBJECT_ENSURE_REGISTERED(RoceSampler);

TypeId
RoceSampler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoceSampler")
                            .SetParent<Object>()
                            .SetGroupName("Crux")
                            .AddConstructor<RoceSampler>()
                            .AddAttribute("Interval",
                                          "Time between two samples, 100 ns to 100 s",
                                          TimeValue(MicroSeconds(10)),
                                          MakeTimeAccessor(&RoceSampler::m_interval),
                                          MakeTimeChecker(NanoSeconds(100), Seconds(100)))
                            .AddAttribute("MaxRows",
                                          "Rows after which the monitor says so and stops, 1 to "
                                          "4294967295 (48 bytes each)",
                                          UintegerValue(1000000),
                                          MakeUintegerAccessor(&RoceSampler::m_maxRows),
                                          MakeUintegerChecker<uint64_t>(1, UINT32_MAX));
    return tid;
}

RoceSampler::RoceSampler()
{
    m_event = Ptr<RoceEvent>(new RoceEvent(&OnSample, this), false);
}

RoceSampler::~RoceSampler()
{
    m_event->Detach();
    for (const Ptr<RoceNetDevice>& port : m_hooked)
    {
        Connect(port, false);
    }
}

void
RoceSampler::DoDispose()
{
    m_event->Detach();
    for (const Ptr<RoceNetDevice>& port : m_hooked)
    {
        Connect(port, false);
    }
    m_hooked.clear();
    m_subjects.clear();
    Object::DoDispose();
}

void
RoceSampler::Connect(Ptr<RoceNetDevice> port, bool connect)
{
    const auto frame = MakeCallback(&RoceSampler::OnFrame, this);
    const auto stop = MakeCallback(&RoceSampler::OnStop, this);
    if (connect)
    {
        port->TraceConnectWithoutContext("TxBegin", frame);
        port->TraceConnectWithoutContext("Enqueue", frame);
        port->TraceConnectWithoutContext("PfcState", stop);
    }
    else
    {
        port->TraceDisconnectWithoutContext("TxBegin", frame);
        port->TraceDisconnectWithoutContext("Enqueue", frame);
        port->TraceDisconnectWithoutContext("PfcState", stop);
    }
}

void
RoceSampler::Hook(Ptr<RoceNetDevice> port)
{
    if (std::find(m_hooked.begin(), m_hooked.end(), port) == m_hooked.end())
    {
        m_hooked.push_back(port);
        Connect(port, true);
    }
}

uint32_t
RoceSampler::Watch(Ptr<RoceNetDevice> port, uint8_t cls)
{
    if (cls >= ROCE_CLASSES)
    {
        NS_FATAL_ERROR("RoceSampler: class " << +cls << " of port " << port->GetLabel()
                                             << ", must be 0 to 7");
    }
    Hook(port);
    RoceSample start;
    m_subjects.push_back({port, nullptr, cls, 0, 0, 0, 0});
    Look(static_cast<uint32_t>(m_subjects.size() - 1), RoceClock::NowPs() + 1, start);
    return static_cast<uint32_t>(m_subjects.size() - 1);
}

uint32_t
RoceSampler::Watch(Ptr<RoceQueuePair> qp)
{
    Hook(qp->GetNic());
    RoceSample start;
    m_subjects.push_back({qp->GetNic(), qp, RoceSample::QUEUE_PAIR, 0, 0, 0, 0});
    Look(static_cast<uint32_t>(m_subjects.size() - 1), RoceClock::NowPs() + 1, start);
    return static_cast<uint32_t>(m_subjects.size() - 1);
}

const std::vector<RoceSample>&
RoceSampler::GetRows() const
{
    return m_rows;
}

bool
RoceSampler::IsFull() const
{
    return m_full;
}

std::string
RoceSampler::GetName(uint32_t subject) const
{
    const Subject& s = m_subjects.at(subject);
    return s.port->GetLabel() + (s.qp ? " qp " + std::to_string(s.qp->GetQpn()) : "");
}

void
RoceSampler::WriteCsv(std::ostream& out) const
{
    out << "time_ps,subject,class,queue_bytes,throughput_bps,paused_ps,rate_bps\n";
    for (const RoceSample& row : m_rows)
    {
        out << row.atPs << "," << GetName(row.subject) << ",";
        if (row.cls != RoceSample::QUEUE_PAIR)
        {
            out << +row.cls;
        }
        out << "," << row.queueBytes << "," << row.bitsPerSecond << "," << row.pausedPs << ","
            << row.rateBps << "\n";
    }
}

void
RoceSampler::OnFrame(const RoceFrame&)
{
    Arm();
}

void
RoceSampler::OnStop(uint8_t, bool, Time)
{
    Arm();
}

void
RoceSampler::Arm()
{
    if (m_armed || m_full)
    {
        return;
    }
    const int64_t nowPs = RoceClock::NowPs();
    const int64_t interval = RoceClock::FromTime(m_interval);
    m_armed = true;
    m_lastPs = nowPs / interval * interval;
    m_event->ScheduleAt(m_hooked[0]->GetNode()->GetId(), m_lastPs + interval, nowPs);
}

bool
RoceSampler::Look(uint32_t subject, int64_t nowPs, RoceSample& sample)
{
    Subject& s = m_subjects[subject];
    uint64_t bytes;
    uint64_t queue = 0;
    int64_t paused = 0;
    uint64_t rate = 0;
    if (s.qp)
    {
        const Ptr<RoceCongestionControl> control = s.qp->GetCongestionControl();
        bytes = s.qp->GetCounters().bytesSent;
        rate = control ? control->GetRate() : 0;
    }
    else
    {
        bytes = s.port->GetCounters().txClass[s.cls];
        queue = s.port->GetQueueBytes(s.cls);
        paused = RoceClock::FromTime(s.port->GetPausedTime(s.cls));
    }
    const double seconds = static_cast<double>(nowPs - m_lastPs) * 1e-12;
    sample = {nowPs,
              subject,
              s.cls,
              queue,
              static_cast<uint64_t>(8.0 * static_cast<double>(bytes - s.bytes) / seconds + 0.5),
              paused - s.pausedPs,
              rate};
    // A pause that only goes on is no reason to go on looking: its end is heard of.
    const bool moved = bytes != s.bytes || queue != s.queueBytes || rate != s.rateBps ||
                       (paused != s.pausedPs && !s.port->IsPaused(s.cls));
    s.bytes = bytes;
    s.queueBytes = queue;
    s.pausedPs = paused;
    s.rateBps = rate;
    return moved;
}

void
RoceSampler::OnSample(void* self)
{
    auto sampler = static_cast<RoceSampler*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    bool moved = false;
    sampler->m_armed = false;
    for (uint32_t i = 0; i < sampler->m_subjects.size(); i++)
    {
        if (sampler->m_rows.size() >= sampler->m_maxRows)
        {
            sampler->m_full = true;
            std::cerr << "crux: monitor: MaxRows = " << sampler->m_maxRows
                      << " rows are written; no more from " << Simulator::Now().As(Time::US)
                      << std::endl;
            return;
        }
        RoceSample sample;
        moved |= sampler->Look(i, nowPs, sample);
        sampler->m_rows.push_back(sample);
    }
    if (moved)
    {
        sampler->m_armed = true;
        sampler->m_lastPs = nowPs;
        const int64_t interval = RoceClock::FromTime(sampler->m_interval);
        sampler->m_event->ScheduleAt(sampler->m_hooked[0]->GetNode()->GetId(),
                                     nowPs + interval,
                                     nowPs);
    }
}

} // namespace ns3
