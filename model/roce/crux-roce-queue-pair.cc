/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-queue-pair: attributes, life, getters and failure of a queue pair, what it tells its
 * user and the traces. Joining two ends is in -connect.cc, the sender in -send.cc and
 * -retransmit.cc, trains in -train.cc, the receiver in -receive.cc.
 *
 * Place: model/roce (C++17). Depends on crux-roce-dcqcn (the default).
 */
#include "crux-roce-queue-pair.h"

#include "crux-roce-dcqcn.h"
#include "crux-roce-net-device.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceQueuePair");
NS_OBJECT_ENSURE_REGISTERED(RoceQueuePair);

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
                          "Window in bandwidth-delay products, 0 to 1000, beside "
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
    return m_messages.Size();
}

const std::string&
RoceQueuePair::GetFailReason() const
{
    return m_failReason;
}

Time
RoceQueuePair::GetBaseRtt() const
{
    return RoceClock::ToTime(m_baseRttPs);
}

const RoceQueuePairCounters&
RoceQueuePair::GetCounters() const
{
    return m_counters;
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

void
RoceQueuePair::Fail(RoceStatus status, const std::string& reason, int64_t nowPs)
{
    NS_LOG_WARN(reason);
    m_failed = true;
    m_failReason = reason;
    m_nic->Deactivate(this);
    Tell(m_traceFailed, m_messages.Size());
    if (m_changing)
    {
        Tell(m_traceSettled, m_wantedPort);
    }
    while (m_messages.Size() > 0)
    {
        const RoceSendQueue::Message lost = m_messages.Pop();
        Complete({lost.wrId, lost.bytes, status, RoceClock::ToTime(nowPs)}, true);
        status = RoceStatus::FLUSHED;
    }
}

void
RoceQueuePair::FailPath(const std::string& reason)
{
    if (m_peer && !m_failed)
    {
        Fail(RoceStatus::PATH_FAILED, reason, RoceClock::NowPs());
    }
}

} // namespace ns3
