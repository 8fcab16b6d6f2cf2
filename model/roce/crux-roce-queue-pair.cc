/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-queue-pair: connection, sender and receiver of a reliable connection.
 *
 * Place: model/roce (C++17). Depends on crux-roce-host, crux-roce-net-device.
 */
#include "crux-roce-queue-pair.h"

#include "crux-roce-channel.h"
#include "crux-roce-dcqcn.h"
#include "crux-roce-host.h"
#include "crux-roce-net-device.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ipv4-address.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceQueuePair");
NS_OBJECT_ENSURE_REGISTERED(RoceQueuePair);

/** PSNs are 24 bit; fewer than half of them may be in flight. */
static constexpr uint32_t PSN_MASK = 0xffffff;
static constexpr uint64_t MAX_IN_FLIGHT = (1 << 23) - 1;

TypeId
RoceQueuePair::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceQueuePair")
            .SetParent<Object>()
            .SetGroupName("Crux")
            .AddConstructor<RoceQueuePair>()
            .AddAttribute("Payload",
                          "Payload of a full packet, bytes, 1 to 65491; before Connect",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RoceQueuePair::m_payload),
                          MakeUintegerChecker<uint32_t>(1, 65535 - ROCE_IP_OVERHEAD))
            .AddAttribute("AckEvery",
                          "Every how many packets an ACK is asked for, 1 to 4096; the last of a "
                          "message always asks",
                          UintegerValue(16),
                          MakeUintegerAccessor(&RoceQueuePair::m_ackEvery),
                          MakeUintegerChecker<uint32_t>(1, 4096))
            .AddAttribute("AckBytes",
                          "After how many bytes of payload an ACK is asked for (16384 is common), "
                          "up to 2^40; 0: by packets alone",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceQueuePair::m_ackBytes),
                          MakeUintegerChecker<uint64_t>(0, uint64_t(1) << 40))
            .AddAttribute("TrainLength",
                          "Packets of a message that may travel as one event while nothing else "
                          "waits, at most AckEvery, 1 to 256; 1: every packet by itself; before "
                          "Connect",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RoceQueuePair::m_trainLength),
                          MakeUintegerChecker<uint32_t>(1, 256))
            .AddAttribute("TrainTime",
                          "Time that the packets of a train would take at the sending rate (0 s to "
                          "1 s); before Connect",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&RoceQueuePair::m_trainTime),
                          MakeTimeChecker(Seconds(0), Seconds(1)))
            .AddAttribute("SelectiveRepeat",
                          "Resend what was lost alone, not all behind it; before Connect, the "
                          "same at both ends",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RoceQueuePair::m_selective),
                          MakeBooleanChecker())
            .AddAttribute("WindowBdp",
                          "Window in bandwidth-delay products of the base RTT, 0 to 1000, beside "
                          "the congestion control's; 0: none; before Connect",
                          DoubleValue(0),
                          MakeDoubleAccessor(&RoceQueuePair::m_windowBdp),
                          MakeDoubleChecker<double>(0, 1000))
            .AddAttribute("BaseRtt",
                          "Round trip on the idle path (0 s to 100 s); 0 s: worked out from the "
                          "links; before Connect",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&RoceQueuePair::m_baseRtt),
                          MakeTimeChecker(Seconds(0), Seconds(100)))
            .AddAttribute("RetransmitTimeout",
                          "Without progress for so long, go back to the oldest packet (1 us to "
                          "100 s; default 4.096 us x 2^14); before Connect",
                          TimeValue(NanoSeconds(67108864)),
                          MakeTimeAccessor(&RoceQueuePair::m_timeout),
                          MakeTimeChecker(MicroSeconds(1), Seconds(100)))
            .AddAttribute("RetryLimit",
                          "Time-outs in a row that are answered by sending again, 0 to 1000000",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RoceQueuePair::m_retryLimit),
                          MakeUintegerChecker<uint32_t>(0, 1000000))
            .AddAttribute(
                "CnpInterval",
                "Least time between two CNPs of a queue pair (0 s to 1 s); before Connect",
                TimeValue(MicroSeconds(50)),
                MakeTimeAccessor(&RoceQueuePair::m_cnpInterval),
                MakeTimeChecker(Seconds(0), Seconds(1)))
            .AddAttribute("CnpDelay",
                          "From the arrival of a marked packet to its CNP (0 s to 1 s); before "
                          "Connect",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&RoceQueuePair::m_cnpDelay),
                          MakeTimeChecker(Seconds(0), Seconds(1)))
            .AddAttribute("InitialPsn",
                          "First packet sequence number, 0 to 2^24 - 1; before Connect",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceQueuePair::m_initialPsn),
                          MakeUintegerChecker<uint32_t>(0, PSN_MASK))
            .AddAttribute("TrafficClass",
                          "Class of data packets, 0 to 7 (7 is served first)",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RoceQueuePair::SetTrafficClass,
                                               &RoceQueuePair::GetTrafficClass),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("ControlClass",
                          "Class of ACKs and CNPs, 0 to 7",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RoceQueuePair::m_ackClass),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("CongestionControl",
                          "Type of the congestion control made at Connect",
                          TypeIdValue(RoceDcqcn::GetTypeId()),
                          MakeTypeIdAccessor(&RoceQueuePair::m_controlType),
                          MakeTypeIdChecker())
            .AddAttribute("Controller",
                          "The congestion control at work, for paths of Config; null before "
                          "Connect; read only",
                          TypeId::ATTR_GET,
                          PointerValue(),
                          MakePointerAccessor(&RoceQueuePair::GetCongestionControl),
                          MakePointerChecker<RoceCongestionControl>())
            .AddTraceSource("SendComplete",
                            "A message posted here has ended",
                            MakeTraceSourceAccessor(&RoceQueuePair::m_traceSend),
                            "ns3::RoceQueuePair::CompletionTracedCallback")
            .AddTraceSource("RecvComplete",
                            "A message has been received here",
                            MakeTraceSourceAccessor(&RoceQueuePair::m_traceRecv),
                            "ns3::RoceQueuePair::CompletionTracedCallback")
            .AddTraceSource("CnpSent",
                            "A CNP is sent; CNPs so far",
                            MakeTraceSourceAccessor(&RoceQueuePair::m_traceCnpSent),
                            "ns3::RoceQueuePair::EventTracedCallback")
            .AddTraceSource("CnpReceived",
                            "A CNP has come; the rate after it, bit/s",
                            MakeTraceSourceAccessor(&RoceQueuePair::m_traceCnpReceived),
                            "ns3::RoceQueuePair::EventTracedCallback")
            .AddTraceSource("NakReceived",
                            "A NAK has come; the PSN it asks for, 0 to 2^24 - 1",
                            MakeTraceSourceAccessor(&RoceQueuePair::m_traceNak),
                            "ns3::RoceQueuePair::EventTracedCallback")
            .AddTraceSource("Timeout",
                            "The retransmission timer has expired; time-outs in a row",
                            MakeTraceSourceAccessor(&RoceQueuePair::m_traceTimeout),
                            "ns3::RoceQueuePair::EventTracedCallback")
            .AddTraceSource("Failed",
                            "The queue pair has failed; messages that end with an error",
                            MakeTraceSourceAccessor(&RoceQueuePair::m_traceFailed),
                            "ns3::RoceQueuePair::EventTracedCallback")
            .AddTraceSource("Settled",
                            "Source port and class last set are in force, or the queue pair has "
                            "failed; the port",
                            MakeTraceSourceAccessor(&RoceQueuePair::m_traceSettled),
                            "ns3::RoceQueuePair::EventTracedCallback");
    return tid;
}

RoceQueuePair::RoceQueuePair()
{
    m_timerEvent = Ptr<RoceEvent>(new RoceEvent(&OnTimer, this), false);
    m_cnpEvent = Ptr<RoceEvent>(new RoceEvent(&OnCnpDue, this), false);
}

RoceQueuePair::~RoceQueuePair()
{
    m_timerEvent->Detach();
    m_cnpEvent->Detach();
}

void
RoceQueuePair::DoDispose()
{
    m_timerEvent->Detach();
    m_cnpEvent->Detach();
    m_sendCallback = CompletionCallback();
    m_recvCallback = CompletionCallback();
    m_control = nullptr;
    m_host = nullptr;
    m_nic = nullptr;
    m_peer = nullptr;
    Object::DoDispose();
}

// ---------------------------------------------------------------------------
// Connection

void
RoceQueuePair::Setup(RoceHost* host, uint32_t nic, uint32_t qpn)
{
    m_host = host;
    m_nic = PeekPointer(host->GetNic(nic));
    m_nicIndex = nic;
    m_qpn = qpn;
    m_localIp = host->GetIp(nic);
    m_context = m_nic->GetNode()->GetId();
    // Some spread over the entropy range until the user sets a port.
    m_srcPort = m_wantedPort = 49152 + (qpn * 2654435761U >> 18) % 16384;
}

std::string
RoceQueuePair::CheckEnd(Ptr<RoceQueuePair> peer)
{
    std::ostringstream line;
    if (!m_nic)
    {
        return "a queue pair that no host made";
    }
    if (!m_control)
    {
        ObjectFactory factory;
        factory.SetTypeId(m_controlType);
        m_control = factory.Create<RoceCongestionControl>();
        if (!m_control)
        {
            return "CongestionControl " + m_controlType.GetName() + " is not a congestion control";
        }
    }
    const uint32_t overhead =
        ROCE_IP_OVERHEAD + (m_control->WantsTelemetry() ? ROCE_TELEMETRY_WIRE : 0);
    if (m_peer)
    {
        line << "queue pair " << m_qpn << " of " << m_nic->GetLabel() << " is connected already";
    }
    else if (m_payload + overhead > m_nic->GetMtu())
    {
        line << "payload " << m_payload << " + " << overhead << " bytes of headers exceed the MTU "
             << m_nic->GetMtu() << " of " << m_nic->GetLabel();
    }
    else if (m_payload != peer->m_payload)
    {
        line << "payload " << m_payload << " at " << m_nic->GetLabel() << ", but "
             << peer->m_payload << " at the other end";
    }
    else if (m_selective != peer->m_selective)
    {
        line << "SelectiveRepeat is " << m_selective << " at " << m_nic->GetLabel() << ", but "
             << peer->m_selective << " at " << peer->m_nic->GetLabel();
    }
    return line.str();
}

std::string
RoceQueuePair::PathError() const
{
    std::string why;
    m_host->TracePath(m_nicIndex, m_remoteIp, m_srcPort, &why);
    return why;
}

void
RoceQueuePair::SetPath(const std::vector<Ptr<RoceNetDevice>>& there,
                       const std::vector<Ptr<RoceNetDevice>>& back)
{
    m_telemetry = m_control->WantsTelemetry();
    m_trains = m_control->WantsSingles() ? 1 : m_trainLength;
    const uint32_t extra = m_telemetry ? ROCE_TELEMETRY_WIRE : 0;
    const uint32_t wire = m_payload + ROCE_OVERHEAD + extra;
    m_baseRttPs = RoceClock::FromTime(m_baseRtt);
    if (m_baseRttPs == 0)
    {
        const auto add = [this](const std::vector<Ptr<RoceNetDevice>>& path, uint64_t bytes) {
            for (const Ptr<RoceNetDevice>& port : path)
            {
                m_baseRttPs +=
                    RoceClock::FromTime(DynamicCast<RoceChannel>(port->GetChannel())->GetDelay()) +
                    static_cast<int64_t>(bytes * uint64_t(8000000000000) / port->GetRateBps());
            }
        };
        add(there, wire);
        add(back, ROCE_ACK_WIRE + extra);
    }
    m_slowestBps = m_nic->GetRateBps();
    for (const Ptr<RoceNetDevice>& port : there)
    {
        m_slowestBps = std::min(m_slowestBps, port->GetRateBps());
    }
    m_control->SetPath(m_baseRttPs, m_payload, wire);
    if (m_windowBdp > 0)
    {
        const double bdp = static_cast<double>(m_nic->GetRateBps()) *
                           static_cast<double>(m_baseRttPs) / 8e12 * m_payload / wire;
        m_window = static_cast<uint64_t>(m_windowBdp * (bdp + m_payload));
    }
}

bool
RoceQueuePair::Connect(Ptr<RoceQueuePair> a, Ptr<RoceQueuePair> b, std::string* error)
{
    std::string why;
    std::vector<Ptr<RoceNetDevice>> there;
    std::vector<Ptr<RoceNetDevice>> back;
    if (!a || !b)
    {
        why = "a null queue pair";
    }
    else if (a->m_nic && a->m_nic == b->m_nic)
    {
        why = "both ends are on NIC " + a->m_nic->GetLabel();
    }
    else
    {
        why = a->CheckEnd(b);
        if (why.empty())
        {
            why = b->CheckEnd(a);
        }
        if (why.empty())
        {
            there = a->FindPath(b, why);
        }
        if (why.empty())
        {
            back = b->FindPath(a, why);
        }
    }
    if (!why.empty())
    {
        if (!error)
        {
            NS_FATAL_ERROR("RoceQueuePair::Connect: " << why);
        }
        *error = why;
        return false;
    }
    a->Attach(b, there, back);
    b->Attach(a, back, there);
    return true;
}

std::vector<Ptr<RoceNetDevice>>
RoceQueuePair::FindPath(Ptr<RoceQueuePair> peer, std::string& error) const
{
    std::string why;
    std::vector<Ptr<RoceNetDevice>> path =
        m_host->TracePath(m_nicIndex, peer->m_localIp, m_srcPort, &why);
    if (path.empty())
    {
        error = m_nic->GetLabel() + " cannot reach " + peer->m_nic->GetLabel() + ": " + why;
    }
    return path;
}

void
RoceQueuePair::Attach(Ptr<RoceQueuePair> peer,
                      const std::vector<Ptr<RoceNetDevice>>& there,
                      const std::vector<Ptr<RoceNetDevice>>& back)
{
    m_peer = PeekPointer(peer);
    m_remoteIp = peer->m_localIp;
    m_timeoutPs = RoceClock::FromTime(m_timeout);
    m_cnpPs = RoceClock::FromTime(m_cnpInterval);
    m_trainTimePs = RoceClock::FromTime(m_trainTime);
    m_cnpDelayPs = RoceClock::FromTime(m_cnpDelay);
    m_una = m_next = m_max = m_end = m_lastAsked = m_initialPsn;
    m_repeat = m_repeatEnd = m_afterRepeat = m_initialPsn;
    m_expected = peer->m_initialPsn;
    SetPath(there, back);
    m_control->Start(m_nic->GetRateBps(), RoceClock::NowPs());
}

void
RoceQueuePair::SetSendCallback(CompletionCallback callback)
{
    m_sendCallback = callback;
}

void
RoceQueuePair::SetRecvCallback(CompletionCallback callback)
{
    m_recvCallback = callback;
}

void
RoceQueuePair::SetSourcePort(uint16_t port)
{
    m_wantedPort = port;
    Change();
}

uint16_t
RoceQueuePair::GetSourcePort() const
{
    return m_wantedPort;
}

void
RoceQueuePair::SetTrafficClass(uint8_t cls)
{
    if (cls >= ROCE_CLASSES)
    {
        NS_FATAL_ERROR("RoceQueuePair: traffic class " << +cls << " is not in 0..7");
    }
    m_wantedClass = cls;
    Change();
}

uint8_t
RoceQueuePair::GetTrafficClass() const
{
    return m_wantedClass;
}

void
RoceQueuePair::Change()
{
    m_changing = m_wantedClass != activeClass || m_wantedPort != m_srcPort;
    if (!m_changing)
    {
        if (m_peer)
        {
            Kick(RoceClock::NowPs());
        }
        Tell(m_traceSettled, m_srcPort);
        return;
    }
    if (m_failed)
    {
        Tell(m_traceSettled, m_wantedPort);
        return;
    }
    if (m_una == m_next)
    {
        ApplyPending();
        if (m_peer)
        {
            Kick(RoceClock::NowPs());
        }
    }
    else if (!CanSend())
    {
        m_nic->Deactivate(this);
    }
}

void
RoceQueuePair::ApplyPending()
{
    if (m_nic)
    {
        m_nic->Deactivate(this);
    }
    const bool moved = m_srcPort != m_wantedPort;
    activeClass = m_wantedClass;
    m_srcPort = m_wantedPort;
    m_changing = false;
    if (moved && m_peer)
    {
        // This port chooses the way of our packets and of our ACKs for the other end's.
        UpdatePath();
        m_peer->UpdatePath();
    }
    Tell(m_traceSettled, m_srcPort);
}

bool
RoceQueuePair::IsSettled() const
{
    return m_failed || !m_changing;
}

void
RoceQueuePair::UpdatePath()
{
    const int64_t before = m_baseRttPs;
    const auto there = m_host->TracePath(m_nicIndex, m_remoteIp, m_srcPort);
    const auto back = m_peer->m_host->TracePath(m_peer->m_nicIndex, m_localIp, m_peer->m_srcPort);
    if (there.empty() || back.empty())
    {
        return; // a failure: what was known holds until the next change
    }
    SetPath(there, back);
    if (m_baseRttPs != before)
    {
        m_control->OnPathChange(RoceClock::NowPs());
    }
}

void
RoceQueuePair::SetCongestionControl(Ptr<RoceCongestionControl> control)
{
    if (m_peer)
    {
        NS_FATAL_ERROR("RoceQueuePair: congestion control set after Connect");
    }
    m_control = control;
}

Ptr<RoceCongestionControl>
RoceQueuePair::GetCongestionControl() const
{
    return m_control;
}

uint32_t
RoceQueuePair::GetQpn() const
{
    return m_qpn;
}

Ptr<RoceNetDevice>
RoceQueuePair::GetNic() const
{
    return m_nic;
}

uint32_t
RoceQueuePair::GetNicIndex() const
{
    return m_nicIndex;
}

uint32_t
RoceQueuePair::GetLocalIp() const
{
    return m_localIp;
}

uint32_t
RoceQueuePair::GetRemoteIp() const
{
    return m_remoteIp;
}

Ptr<RoceQueuePair>
RoceQueuePair::GetPeer() const
{
    return m_peer;
}

uint32_t
RoceQueuePair::GetPayload() const
{
    return m_payload;
}

bool
RoceQueuePair::IsFailed() const
{
    return m_failed;
}

uint64_t
RoceQueuePair::GetOutstanding() const
{
    return m_messages.size();
}

const std::string&
RoceQueuePair::GetFailReason() const
{
    return m_failReason;
}

void
RoceQueuePair::FailPath(const std::string& reason)
{
    if (m_peer && !m_failed)
    {
        Fail(RoceStatus::PATH_FAILED, reason, RoceClock::NowPs());
    }
}

Time
RoceQueuePair::GetBaseRtt() const
{
    return RoceClock::ToTime(m_baseRttPs);
}

void
RoceQueuePair::SetRateLimit(uint64_t bps)
{
    m_rateLimit = std::max<uint64_t>(bps, m_nic->GetRateBps() / 1000);
}

uint64_t
RoceQueuePair::GetRateLimit() const
{
    return m_rateLimit;
}

void
RoceQueuePair::ForgetPace()
{
    if (!m_peer || m_failed)
    {
        return;
    }
    const int64_t nowPs = RoceClock::NowPs();
    m_nic->Deactivate(this); // its place among the paced depends on nextSendPs
    nextSendPs = std::min(nextSendPs, nowPs);
    m_duePs = std::min(m_duePs, nowPs);
    Kick(nowPs);
}

const RoceQueuePairCounters&
RoceQueuePair::GetCounters() const
{
    return m_counters;
}

// ---------------------------------------------------------------------------
// Sender

bool
RoceQueuePair::PostSend(uint64_t wrId, uint64_t bytes)
{
    if (!m_peer || m_failed)
    {
        return false;
    }
    const uint64_t packets = std::max<uint64_t>(1, bytes / m_payload + (bytes % m_payload != 0));
    m_messages.push_back({wrId, bytes, m_end, packets});
    m_end += packets;
    Kick(RoceClock::NowPs());
    return true;
}

void
RoceQueuePair::Kick(int64_t nowPs)
{
    if (CanSend())
    {
        if (m_trains > 1 && !turnNext && pacedAt < 0)
        {
            m_duePs = std::max(m_duePs, nowPs);
            SetWake();
        }
        m_nic->Activate(this, nowPs);
    }
}

bool
RoceQueuePair::CanSend() const
{
    if (m_failed)
    {
        return false;
    }
    if (m_repeat < m_repeatEnd)
    {
        return true; // sent again: it takes no more of the window
    }
    if (m_next >= m_end)
    {
        return false;
    }
    if (m_next == m_una)
    {
        return true; // nothing in flight: one packet always may go
    }
    if (m_changing && m_lastAsked == m_next)
    {
        return false; // waiting for the ACK that puts the change in force
    }
    return m_next - m_una < MAX_IN_FLIGHT && WindowOpen();
}

uint64_t
RoceQueuePair::Window() const
{
    return std::min(m_control->GetWindow(), m_window);
}

bool
RoceQueuePair::WindowOpen() const
{
    const uint64_t window = Window();
    return window == RoceCongestionControl::NO_WINDOW || m_inFlight + m_payload <= window;
}

bool
RoceQueuePair::ShouldAsk() const
{
    const uint64_t packets = m_next - m_lastAsked;
    if (m_changing || packets >= m_ackEvery || m_next - m_una >= MAX_IN_FLIGHT)
    {
        return true;
    }
    const uint64_t window = Window();
    if (m_ackBytes == 0 && window == RoceCongestionControl::NO_WINDOW)
    {
        return false;
    }
    const uint64_t bytes = packets * m_payload; // the last of a message asks anyway
    return (m_ackBytes && bytes >= m_ackBytes) || bytes >= window / 8 ||
           m_inFlight + m_payload > window;
}

uint64_t
RoceQueuePair::PayloadOf(const Message& message, uint64_t seq) const
{
    const uint64_t i = seq - message.firstSeq;
    return i + 1 == message.packets ? message.bytes - i * m_payload : m_payload;
}

RoceFrame*
RoceQueuePair::Build(const Message& message, uint64_t seq) const
{
    const bool first = seq == message.firstSeq;
    const bool last = seq + 1 == message.firstSeq + message.packets;
    RoceFrame* frame = RoceFrame::New();
    frame->wrId = message.wrId;
    frame->payload = static_cast<uint32_t>(PayloadOf(message, seq));
    frame->wireBytes = frame->payload + ROCE_OVERHEAD;
    frame->cls = activeClass;
    frame->dscp = m_nic->GetClassMap().DscpOf(activeClass);
    frame->ecn = ROCE_ECT0;
    frame->etherType = 0x0800;
    frame->srcIp = m_localIp;
    frame->dstIp = m_remoteIp;
    frame->ttl = 64;
    frame->protocol = 17;
    frame->srcPort = m_srcPort;
    frame->dstPort = 4791;
    frame->destQp = m_peer->m_qpn;
    frame->psn = seq & PSN_MASK;
    frame->opcode = first ? (last ? ROCE_SEND_ONLY : ROCE_SEND_FIRST)
                          : (last ? ROCE_SEND_LAST : ROCE_SEND_MIDDLE);
    if (m_telemetry)
    {
        frame->wireBytes += ROCE_TELEMETRY_WIRE;
        frame->telemetry = RoceTelemetry::New();
    }
    return frame;
}

RoceFrame*
RoceQueuePair::NextInOrder(uint64_t packets, int64_t nowPs)
{
    const Message& message = m_messages[m_current];
    RoceFrame* frame = Build(message, m_next);
    if (packets > 1)
    {
        Extend(frame, message, packets, nowPs);
        m_maxBefore = m_max;
        m_askedBefore = m_lastAsked;
    }
    const bool last = m_next + packets == message.firstSeq + message.packets;
    const uint64_t again = m_max > m_next ? std::min(packets, m_max - m_next) : 0;
    m_counters.packetsResent += again;
    m_counters.bytesFirst += again < packets ? frame->payload - again * m_payload : 0;
    m_next += packets;
    m_inFlight += frame->payload;
    m_current += last;
    m_max = std::max(m_max, m_next);
    if (last || ShouldAsk())
    {
        frame->ackRequest = true;
        m_lastAsked = m_next;
    }
    return frame;
}

RoceFrame*
RoceQueuePair::NextRepeat()
{
    RoceFrame* frame = Build(m_messages[MessageOf(m_repeat)], m_repeat);
    frame->ackRequest = true;
    if (m_repeat == m_una)
    {
        m_afterRepeat = m_next;
    }
    m_counters.packetsResent++;
    m_repeat++;
    SkipNamed();
    return frame;
}

RoceFrame*
RoceQueuePair::NextPacket(int64_t nowPs, uint32_t limit)
{
    const bool again = m_repeat < m_repeatEnd;
    const uint64_t packets = limit > 1 && !again ? TrainPackets(limit, nowPs) : 1;
    if (m_next == m_una)
    {
        m_deadline = nowPs + m_timeoutPs;
        ArmTimer(nowPs);
    }
    RoceFrame* frame = again ? NextRepeat() : NextInOrder(packets, nowPs);
    m_counters.packetsSent += packets;
    m_counters.bytesSent += frame->payload;
    m_control->OnSend(nowPs, frame->wireBytes);
    if (frame->ackRequest && m_samplePs < 0 && !again)
    {
        m_samplePs = nowPs;
        m_sampleSeq = m_next;
        if (packets > 1) // of the last packet
        {
            m_samplePs += static_cast<int64_t>(packets - 1) * UnitPs(m_nic->GetRateBps());
        }
    }
    if (m_trains > 1)
    {
        PaceTrain(*frame, nowPs);
    }
    else
    {
        Pace(frame->wireBytes, nowPs);
    }
    return frame;
}

uint64_t
RoceQueuePair::Rate() const
{
    return std::min(m_control->GetRate(), m_rateLimit);
}

void
RoceQueuePair::Pace(uint32_t wireBytes, int64_t nowPs)
{
    const uint64_t rate = Rate();
    if (rate >= m_nic->GetRateBps())
    {
        nextSendPs = nowPs; // the port itself paces
        return;
    }
    // Within a tick of its time the packet counts as sent at that time.
    const bool onTime = nextSendPs <= nowPs && nextSendPs > nowPs - RoceClock::TickPs();
    nextSendPs = (onTime ? nextSendPs : nowPs) +
                 static_cast<int64_t>(wireBytes * uint64_t(8000000000000) / rate);
}

uint64_t
RoceQueuePair::BytesBetween(uint64_t from, uint64_t to) const
{
    uint64_t sum = 0;
    for (const Message& m : m_messages)
    {
        const uint64_t lo = std::max(from, m.firstSeq) - m.firstSeq;
        const uint64_t hi = std::min(to - m.firstSeq, m.packets);
        if (lo < hi)
        {
            sum += std::min(m.bytes, hi * m_payload) - std::min(m.bytes, lo * m_payload);
        }
        if (m.firstSeq + m.packets >= to)
        {
            break;
        }
    }
    return sum;
}

void
RoceQueuePair::Acknowledge(uint64_t seq, int64_t nowPs)
{
    if (seq <= m_una || seq > m_max)
    {
        return;
    }
    const uint64_t bytes = BytesBetween(m_una, seq);
    uint64_t notInFlight = 0; // named before, so counted already
    for (uint64_t i = m_una; i < seq && !m_named.empty(); i++)
    {
        if (m_named.front())
        {
            notInFlight += PayloadOf(m_messages[MessageOf(i)], i);
        }
        m_named.pop_front();
    }
    const bool beyond = seq > m_next; // acknowledged although we had gone back
    m_inFlight = seq >= m_next ? 0 : m_inFlight - (bytes - notInFlight);
    m_next = std::max(m_next, seq);
    m_lastAsked = std::max(m_lastAsked, seq);
    m_una = seq;
    m_afterRepeat = m_next; // what is sent from now on comes after the oldest one's last sending
    if (m_repeat < seq)
    {
        m_repeat = seq;
        SkipNamed();
    }
    m_retries = 0;
    m_deadline = nowPs + m_timeoutPs;
    m_counters.bytesAcked += bytes;
    int64_t rtt = 0;
    if (m_samplePs >= 0 && seq >= m_sampleSeq)
    {
        rtt = nowPs - m_samplePs;
        m_samplePs = -1;
    }
    m_control->OnAck(nowPs, bytes, rtt);
    if (beyond)
    {
        while (m_current < m_messages.size() &&
               m_messages[m_current].firstSeq + m_messages[m_current].packets <= m_next)
        {
            m_current++;
        }
    }
    if (m_changing && m_una == m_next)
    {
        ApplyPending(); // before a completion posts more, and that goes the old way
    }
    while (!m_messages.empty() && m_messages.front().firstSeq + m_messages.front().packets <= m_una)
    {
        const Message done = m_messages.front();
        m_messages.pop_front();
        m_current--;
        m_counters.messagesSent++;
        Complete({done.wrId, done.bytes, RoceStatus::SUCCESS, RoceClock::ToTime(nowPs)}, true);
    }
}

void
RoceQueuePair::Complete(const RoceCompletion& completion, bool sender)
{
    const Ptr<RoceQueuePair> self = this;
    (sender ? m_traceSend : m_traceRecv)(self, completion);
    const CompletionCallback& callback = sender ? m_sendCallback : m_recvCallback;
    if (!callback.IsNull())
    {
        callback(self, completion);
    }
}

void
RoceQueuePair::Tell(const EventTrace& trace, uint64_t value)
{
    if (!trace.IsEmpty())
    {
        trace(Ptr<RoceQueuePair>(this), value);
    }
}

size_t
RoceQueuePair::MessageOf(uint64_t seq) const
{
    size_t low = 0; // binary search for the last message that begins at or before seq
    for (size_t high = m_messages.size(); high - low > 1;)
    {
        const size_t mid = low + (high - low) / 2;
        (m_messages[mid].firstSeq <= seq ? low : high) = mid;
    }
    return low;
}

void
RoceQueuePair::SkipNamed()
{
    while (m_repeat < m_repeatEnd && m_repeat - m_una < m_named.size() && m_named[m_repeat - m_una])
    {
        m_repeat++;
    }
    m_repeatEnd = std::max(m_repeat, m_repeatEnd);
}

void
RoceQueuePair::Named(uint64_t seq)
{
    if (seq < m_una || seq >= m_next)
    {
        return;
    }
    const uint64_t i = seq - m_una;
    if (i >= m_named.size())
    {
        m_named.resize(i + 1, false);
    }
    if (!m_named[i])
    {
        m_named[i] = true;
        m_inFlight -= PayloadOf(m_messages[MessageOf(seq)], seq);
    }
    m_samplePs = -1;
    if (m_repeat > m_una && m_afterRepeat > m_una && seq >= m_afterRepeat)
    {
        m_repeat = m_una; // sent after the oldest went again, and that one is missing still
        m_afterRepeat = m_next;
    }
    m_repeatEnd = std::max(m_repeatEnd, seq);
    SkipNamed();
}

void
RoceQueuePair::GoBack()
{
    m_lastAsked = m_una;
    m_samplePs = -1;
    if (m_selective)
    {
        m_repeat = m_una;
        m_repeatEnd = m_next;
        SkipNamed();
        return;
    }
    m_next = m_una;
    m_inFlight = 0;
    m_current = 0;
}

uint64_t
RoceQueuePair::Unwrap(uint32_t psn, uint64_t near)
{
    int64_t diff = static_cast<int64_t>(psn) - static_cast<int64_t>(near & PSN_MASK);
    if (diff >= 1 << 23)
    {
        diff -= 1 << 24;
    }
    else if (diff < -(1 << 23))
    {
        diff += 1 << 24;
    }
    return near + static_cast<uint64_t>(diff);
}

void
RoceQueuePair::ReceiveAck(const RoceFrame& frame, int64_t nowPs)
{
    if (m_failed || !m_peer)
    {
        return;
    }
    const bool nak = frame.syndrome == ROCE_SYNDROME_NAK_SEQUENCE;
    const uint64_t seq = Unwrap(frame.psn, m_una) + !nak; // all before it is acknowledged
    const uint64_t named = Unwrap(frame.msn, m_una);
    if (frame.telemetry)
    {
        m_control->OnTelemetry(nowPs, std::max(m_una, seq), m_next, *frame.telemetry);
    }
    Acknowledge(seq, nowPs);
    if (nak)
    {
        m_counters.naksReceived++;
        m_nic->StopTrain(this, nowPs);
        if (m_failed || seq != m_una || m_una >= m_next)
        {
            // an old one
        }
        else if (m_selective)
        {
            const bool fresh = m_repeatEnd <= m_una;
            Named(named);
            if (fresh && m_repeatEnd > m_una)
            {
                m_control->OnLoss(nowPs, false);
            }
        }
        else
        {
            GoBack();
            m_control->OnLoss(nowPs, false);
        }
        Tell(m_traceNak, frame.psn);
    }
    if (m_changing && m_una == m_next)
    {
        ApplyPending();
    }
    if (!CanSend())
    {
        m_nic->Deactivate(this); // what it was to send has been acknowledged, or the window shrank
        return;
    }
    Kick(nowPs);
}

void
RoceQueuePair::ReceiveCnp(int64_t nowPs)
{
    m_counters.cnpsReceived++;
    if (m_control)
    {
        m_control->OnCnp(nowPs);
        Tell(m_traceCnpReceived, m_control->GetRate());
    }
}

void
RoceQueuePair::ArmTimer(int64_t nowPs)
{
    if (!m_timerPending)
    {
        m_timerPending = true;
        m_timerEvent->ScheduleAt(m_context, m_deadline, nowPs);
    }
}

void
RoceQueuePair::OnTimer(void* self)
{
    auto qp = static_cast<RoceQueuePair*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    qp->m_timerPending = false;
    if (qp->m_failed || qp->m_una == qp->m_next)
    {
        return; // nothing is outstanding; the next packet starts the timer
    }
    if (nowPs < qp->m_deadline)
    {
        qp->ArmTimer(nowPs);
        return;
    }
    qp->Timeout(nowPs);
}

void
RoceQueuePair::Timeout(int64_t nowPs)
{
    m_counters.timeouts++;
    if (++m_retries > m_retryLimit)
    {
        const std::string path = PathError();
        std::ostringstream line;
        line << "queue pair " << m_qpn << " from " << m_nic->GetLabel() << " to "
             << m_peer->m_nic->GetLabel() << ": no answer to " << m_retryLimit << " retries";
        if (!path.empty())
        {
            line << "; " << path;
        }
        Fail(path.empty() ? RoceStatus::RETRY_EXCEEDED : RoceStatus::PATH_FAILED,
             line.str(),
             nowPs);
        return;
    }
    GoBack();
    if (m_una != m_next) // selective repeat: nothing else starts the timer again
    {
        m_deadline = nowPs + m_timeoutPs;
        ArmTimer(nowPs);
    }
    m_control->OnLoss(nowPs, true);
    if (m_changing)
    {
        ApplyPending();
    }
    Kick(nowPs);
    Tell(m_traceTimeout, m_retries);
}

void
RoceQueuePair::Fail(RoceStatus status, const std::string& reason, int64_t nowPs)
{
    NS_LOG_WARN(reason);
    m_failed = true;
    m_failReason = reason;
    m_nic->Deactivate(this);
    Tell(m_traceFailed, m_messages.size());
    if (m_changing)
    {
        Tell(m_traceSettled, m_wantedPort);
    }
    while (!m_messages.empty())
    {
        const Message lost = m_messages.front();
        m_messages.pop_front();
        Complete({lost.wrId, lost.bytes, status, RoceClock::ToTime(nowPs)}, true);
        status = RoceStatus::FLUSHED;
    }
}

// ---------------------------------------------------------------------------
// Receiver

RoceFrame*
RoceQueuePair::NewControl(uint8_t opcode, uint32_t wireBytes) const
{
    RoceFrame* frame = RoceFrame::New();
    frame->wireBytes = wireBytes;
    frame->cls = m_ackClass;
    frame->dscp = m_nic->GetClassMap().DscpOf(m_ackClass);
    frame->etherType = 0x0800;
    frame->srcIp = m_localIp;
    frame->dstIp = m_remoteIp;
    frame->ttl = 64;
    frame->protocol = 17;
    frame->opcode = opcode;
    frame->srcPort = m_srcPort;
    frame->dstPort = 4791;
    frame->destQp = m_peer->m_qpn;
    return frame;
}

void
RoceQueuePair::SendAck(uint64_t seq, uint8_t syndrome, uint64_t msn, RoceFrame& data, int64_t nowPs)
{
    RoceFrame* frame = NewControl(ROCE_ACKNOWLEDGE, ROCE_ACK_WIRE);
    frame->psn = seq & PSN_MASK;
    frame->msn = msn & PSN_MASK;
    frame->syndrome = syndrome;
    if (data.telemetry)
    {
        frame->telemetry = data.telemetry;
        frame->wireBytes += ROCE_TELEMETRY_WIRE;
        data.telemetry = nullptr;
    }
    (syndrome == ROCE_SYNDROME_ACK ? m_counters.acksSent : m_counters.naksSent)++;
    m_nic->Enqueue(frame, nowPs);
}

void
RoceQueuePair::MaybeCnp(const RoceFrame& data, int64_t nowPs)
{
    if (m_lastCnp != INT64_MIN && nowPs - m_lastCnp < m_cnpPs)
    {
        return;
    }
    int64_t sincePs = nowPs;
    if (data.more) // the first mark came some time before the last packet
    {
        sincePs -= data.spanPs / (data.marked + 1) * data.marked;
        sincePs = std::max(sincePs, m_lastCnp == INT64_MIN ? sincePs : m_lastCnp + m_cnpPs);
    }
    m_lastCnp = sincePs;
    if (m_cnpDelayPs > 0)
    {
        m_cnpEvent->ScheduleAt(m_context, nowPs + m_cnpDelayPs, nowPs);
        return;
    }
    SendCnp(nowPs);
}

void
RoceQueuePair::SendCnp(int64_t nowPs)
{
    m_counters.cnpsSent++;
    m_nic->Enqueue(NewControl(ROCE_CNP, ROCE_CNP_WIRE), nowPs);
    Tell(m_traceCnpSent, m_counters.cnpsSent);
}

void
RoceQueuePair::OnCnpDue(void* self)
{
    auto qp = static_cast<RoceQueuePair*>(self);
    if (qp->m_peer && !qp->m_failed)
    {
        qp->SendCnp(RoceClock::NowPs());
    }
}

void
RoceQueuePair::ReceiveOther(RoceFrame& frame, uint64_t seq, int64_t nowPs)
{
    m_counters.outOfOrder++;
    if (seq < m_expected) // received before
    {
        m_counters.duplicates++;
        if (frame.ackRequest)
        {
            SendAck(m_expected - 1, ROCE_SYNDROME_ACK, m_msn, frame, nowPs);
        }
        return;
    }
    if (!m_selective)
    {
        if (!m_nakSent)
        {
            m_nakSent = true;
            SendAck(m_expected, ROCE_SYNDROME_NAK_SEQUENCE, m_msn, frame, nowPs);
        }
        return;
    }
    const uint64_t i = seq - m_expected;
    if (i >= m_early.size())
    {
        m_early.resize(i + 1);
    }
    m_counters.duplicates += m_early[i].here;
    const bool last = frame.opcode == ROCE_SEND_LAST || frame.opcode == ROCE_SEND_ONLY;
    m_early[i] = Early{frame.wrId, frame.payload, true, last};
    SendAck(m_expected, ROCE_SYNDROME_NAK_SEQUENCE, seq, frame, nowPs);
}

void
RoceQueuePair::Take(uint64_t wrId, uint32_t payload, bool last, int64_t nowPs)
{
    m_received += payload;
    m_counters.bytesReceived += payload;
    if (last)
    {
        const RoceCompletion completion{wrId,
                                        m_received,
                                        RoceStatus::SUCCESS,
                                        RoceClock::ToTime(nowPs)};
        m_received = 0;
        m_counters.messagesReceived++;
        Complete(completion, false);
    }
}

void
RoceQueuePair::TakeEarly(int64_t nowPs)
{
    // m_early[0] stood for the packet just taken; those behind it were received before.
    m_early.pop_front();
    while (!m_early.empty() && m_early.front().here)
    {
        const Early early = m_early.front();
        m_early.pop_front();
        Take(early.wrId, early.payload, early.last, nowPs);
    }
}

void
RoceQueuePair::ReceiveData(RoceFrame& frame, int64_t nowPs)
{
    if (m_failed || !m_peer)
    {
        return;
    }
    if (frame.ecn == ROCE_CE)
    {
        MaybeCnp(frame, nowPs);
    }
    const uint64_t seq = Unwrap(frame.psn, m_expected);
    if (frame.more && (seq != m_expected || !m_early.empty()))
    {
        ReceiveTrain(frame, seq, nowPs);
        return;
    }
    if (seq != m_expected)
    {
        ReceiveOther(frame, seq, nowPs);
        return;
    }
    m_nakSent = false;
    const bool last = frame.opcode == ROCE_SEND_LAST || frame.opcode == ROCE_SEND_ONLY;
    uint64_t taken = 1; // this packet and those kept behind it
    m_expected += frame.more;
    m_msn += last;
    while (taken < m_early.size() && m_early[taken].here)
    {
        m_msn += m_early[taken].last;
        taken++;
    }
    m_expected += taken;
    if (frame.ackRequest || taken > 1)
    {
        SendAck(m_expected - 1, ROCE_SYNDROME_ACK, m_msn, frame, nowPs);
    }
    const bool early = !m_early.empty();
    Take(frame.wrId, frame.payload, last, nowPs);
    if (early)
    {
        TakeEarly(nowPs);
    }
}

} // namespace ns3
