/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device: configuration, transmission and arrival of a port. What it
 * owes to NetDevice and to the IP stack is in crux-roce-net-device-ip.cc, PFC in
 * crux-roce-net-device-pfc.cc.
 *
 * Place: model/roce (C++17). Depends on ns-3 core and network.
 */
#include "crux-roce-net-device.h"

#include "crux-roce-channel.h"
#include "crux-roce-host.h"
#include "crux-roce-monitor.h"
#include "crux-roce-queue-pair.h"
#include "crux-roce-switch.h"

#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/log.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <numeric>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNetDevice");
NS_OBJECT_ENSURE_REGISTERED(RoceNetDevice);

/** Bit of m_ready and index of m_queue for PFC frames. */
static constexpr uint32_t CONTROL = ROCE_CLASSES;

const char*
RoceDropReasonName(RoceDropReason reason)
{
    static const char* const names[] =
        {"buffer", "headroom", "no-route", "ttl", "not-ours", "error", "link-down"};
    const auto i = static_cast<size_t>(reason);
    return i < std::size(names) ? names[i] : "unknown";
}

uint64_t
RocePortCounters::Drops() const
{
    return std::accumulate(drops.begin(), drops.end(), uint64_t(0));
}

uint64_t
RocePortCounters::Pauses() const
{
    return std::accumulate(pauseSent.begin(), pauseSent.end(), uint64_t(0));
}

void
RoceNetDevice::AddClassAttributes(TypeId& tid)
{
    tid.AddAttribute("LosslessClasses",
                     "Bit c: class c has PFC and is never dropped, 0x00 to 0xff",
                     UintegerValue(0xfe),
                     MakeUintegerAccessor(&RoceNetDevice::SetLosslessClasses,
                                          &RoceNetDevice::GetLosslessClasses),
                     MakeUintegerChecker<uint8_t>())
        .AddAttribute(
            "DrrClasses",
            "Bit c: class c is served by deficit round robin with the neighbours in the "
            "mask, else by strict priority, 0x00 to 0xff",
            UintegerValue(0),
            MakeUintegerAccessor(&RoceNetDevice::SetDrrClasses, &RoceNetDevice::GetDrrClasses),
            MakeUintegerChecker<uint8_t>())
        .AddAttribute("DrrQuanta",
                      "Wire bytes a turn, 256 to 16777216: one number for all classes, or eight "
                      "separated by commas, class 0 first",
                      StringValue("10000"),
                      MakeStringAccessor(&RoceNetDevice::SetQuanta, &RoceNetDevice::GetQuanta),
                      MakeStringChecker())
        .AddAttribute("PauseQuanta",
                      "Timer in a pause frame, 512 bit times, 2 to 65535; refreshed at its half",
                      UintegerValue(65535),
                      MakeUintegerAccessor(&RoceNetDevice::m_pauseQuanta),
                      MakeUintegerChecker<uint16_t>(2))
        .AddAttribute(
            "PauseReactionQuanta",
            "Time from the arrival of a PFC frame to its effect, 512 bit times, 0 to 65535; 65536: "
            "by rate, 60 to 10G, 80 to 25G, 118 to 40G, 394 to 100G, 905 above",
            UintegerValue(65536),
            MakeUintegerAccessor(&RoceNetDevice::m_reactionQuanta),
            MakeUintegerChecker<uint32_t>(0, 65536));
}

void
RoceNetDevice::AddEcnAttributes(TypeId& tid)
{
    tid.AddAttribute("EcnClasses",
                     "Bit c: frames of class c are marked at a switch's egress, 0x00 to 0xff",
                     UintegerValue(0xfe),
                     MakeUintegerAccessor(&RoceNetDevice::m_ecnClasses),
                     MakeUintegerChecker<uint8_t>())
        .AddAttribute("EcnKmin",
                      "Queue above which marking begins, bytes, at most EcnKmax; 0: 4000 per "
                      "Gbit/s of DataRate",
                      UintegerValue(0),
                      MakeUintegerAccessor(&RoceNetDevice::SetKmin, &RoceNetDevice::GetKmin),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute(
            "EcnKmax",
            "Queue above which every frame is marked, bytes, at least EcnKmin; 0: 4 x EcnKmin",
            UintegerValue(0),
            MakeUintegerAccessor(&RoceNetDevice::SetKmax, &RoceNetDevice::GetKmax),
            MakeUintegerChecker<uint64_t>())
        .AddAttribute("EcnPmax",
                      "Probability of a mark at EcnKmax, 0 to 1",
                      DoubleValue(0.2),
                      MakeDoubleAccessor(&RoceNetDevice::SetPmax, &RoceNetDevice::GetPmax),
                      MakeDoubleChecker<double>(0, 1));
}

void
RoceNetDevice::AddTraces(TypeId& tid)
{
    const std::string frame = "ns3::RoceNetDevice::FrameTracedCallback";
    const std::string pause = "ns3::RoceNetDevice::PauseTracedCallback";
    tid.AddTraceSource("Enqueue",
                       "A frame enters a class queue",
                       MakeTraceSourceAccessor(&RoceNetDevice::m_traceEnqueue),
                       frame)
        .AddTraceSource("Dequeue",
                        "A frame leaves a class queue",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_traceDequeue),
                        frame)
        .AddTraceSource("TxBegin",
                        "A frame's transmission begins",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_traceTx),
                        frame)
        .AddTraceSource("RxEnd",
                        "A frame has arrived completely",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_traceRx),
                        frame)
        .AddTraceSource("EcnMark",
                        "A frame is marked CE",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_traceMark),
                        frame)
        .AddTraceSource("Drop",
                        "A frame is thrown away, with the reason",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_traceDrop),
                        "ns3::RoceNetDevice::DropTracedCallback")
        .AddTraceSource("PfcSent",
                        "A PFC frame is queued: class vector, quanta",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_tracePauseSent),
                        pause)
        .AddTraceSource("PfcReceived",
                        "A PFC frame has arrived: class vector, quanta",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_tracePauseRecv),
                        pause)
        .AddTraceSource("PfcState",
                        "A class begins (true) or ends (false) to be paused by the other end; how "
                        "long the pause lasted",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_traceStop),
                        "ns3::RoceNetDevice::StopTracedCallback")
        .AddTraceSource("Link",
                        "The cable is laid or repaired (true) or cut (false)",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_traceLink),
                        "ns3::RoceNetDevice::LinkTracedCallback")
        .AddTraceSource("Sniffer",
                        "Frames sent by and arriving at this port, as bytes",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_sniffer),
                        "ns3::Packet::TracedCallback")
        .AddTraceSource("PromiscSniffer",
                        "The same as Sniffer",
                        MakeTraceSourceAccessor(&RoceNetDevice::m_promiscSniffer),
                        "ns3::Packet::TracedCallback");
}

TypeId
RoceNetDevice::GetTypeId()
{
    static TypeId tid = [] {
        TypeId t("ns3::RoceNetDevice");
        t.SetParent<NetDevice>()
            .SetGroupName("Crux")
            .AddConstructor<RoceNetDevice>()
            .AddAttribute(
                "DataRate",
                "Line rate, bit/s, positive",
                DataRateValue(DataRate("100Gbps")),
                MakeDataRateAccessor(&RoceNetDevice::SetDataRate, &RoceNetDevice::GetDataRate),
                MakeDataRateChecker())
            .AddAttribute("Mtu",
                          "Longest IP packet, bytes, 68 to 65535",
                          UintegerValue(9216),
                          MakeUintegerAccessor(&RoceNetDevice::SetMtu, &RoceNetDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>(68))
            .AddAttribute("QueueLimit",
                          "Bytes that may wait in a class of a NIC when ordinary IP or a datagram "
                          "joins them, any; 0: none",
                          UintegerValue(1 << 20),
                          MakeUintegerAccessor(&RoceNetDevice::m_queueLimit),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("PortId",
                          "Id of 4 bytes that the port writes into records of datagrams, any; "
                          "4294967295: not named",
                          UintegerValue(UINT32_MAX),
                          MakeUintegerAccessor(&RoceNetDevice::m_portId),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ReceiveErrorModel",
                          "Loses arriving frames (PFC frames too)",
                          PointerValue(),
                          MakePointerAccessor(&RoceNetDevice::m_errorModel),
                          MakePointerChecker<ErrorModel>());
        AddClassAttributes(t);
        AddEcnAttributes(t);
        AddTraces(t);
        return t;
    }();
    return tid;
}

RoceNetDevice::RoceNetDevice()
    : m_map(RoceClassMap::Default())
{
    RoceClock::Refresh();
    RoceMonitor::Register();
    m_arrivalEvent = Ptr<RoceEvent>(new RoceEvent(&OnArrival, this), false);
    m_freeEvent = Ptr<RoceEvent>(new RoceEvent(&OnFree, this), false);
    m_paceEvent = Ptr<RoceEvent>(new RoceEvent(&OnPace, this), false);
    m_pauseEvent = Ptr<RoceEvent>(new RoceEvent(&OnPauseExpiry, this), false);
    m_refreshEvent = Ptr<RoceEvent>(new RoceEvent(&OnRefresh, this), false);
    m_heldEvent = Ptr<RoceEvent>(new RoceEvent(&OnHeld, this), false);
    m_address = Mac48Address::Allocate();
}

RoceNetDevice::~RoceNetDevice()
{
    for (const Ptr<RoceEvent>& event :
         {m_arrivalEvent, m_freeEvent, m_paceEvent, m_pauseEvent, m_refreshEvent, m_heldEvent})
    {
        event->Detach();
    }
    m_inFlight.Clear();
    m_held.Clear();
    m_pauseWaiting.Clear();
    for (RoceFrameFifo& queue : m_queue)
    {
        queue.Clear();
    }
}

void
RoceNetDevice::DoDispose()
{
    for (const Ptr<RoceEvent>& event :
         {m_arrivalEvent, m_freeEvent, m_paceEvent, m_pauseEvent, m_refreshEvent, m_heldEvent})
    {
        event->Detach();
    }
    m_inFlight.Clear();
    m_held.Clear();
    m_pauseWaiting.Clear();
    for (RoceFrameFifo& queue : m_queue)
    {
        queue.Clear();
    }
    m_ready = 0;
    m_trainUntilPs = 0;
    m_turn.fill(nullptr);
    m_paced.clear();
    m_node = nullptr;
    m_channel = nullptr;
    m_peer = nullptr;
    m_sends = false;
    m_switch = nullptr;
    m_host = nullptr;
    m_errorModel = nullptr;
    m_lossFilter = LossFilter();
    m_rxCallback = NetDevice::ReceiveCallback();
    m_promiscCallback = NetDevice::PromiscReceiveCallback();
    NetDevice::DoDispose();
}

// ---------------------------------------------------------------------------
// Configuration

uint64_t
RoceNetDevice::GetRateBps() const
{
    return m_rateBps;
}

void
RoceNetDevice::SetDataRate(DataRate rate)
{
    if (rate.GetBitRate() == 0)
    {
        NS_FATAL_ERROR("RoceNetDevice: DataRate of port " << GetLabel()
                                                          << " is 0 bit/s, must be positive");
    }
    m_rate = rate;
    m_rateBps = rate.GetBitRate();
    m_remainder = 0;
    UpdateCurves();
}

DataRate
RoceNetDevice::GetDataRate() const
{
    return m_rate;
}

const RocePortCounters&
RoceNetDevice::GetCounters() const
{
    return m_counters;
}

Ptr<RoceNetDevice>
RoceNetDevice::GetPeer() const
{
    return m_peer;
}

uint64_t
RoceNetDevice::GetQueueBytes(uint8_t cls) const
{
    return m_queueBytes.at(cls);
}

bool
RoceNetDevice::IsPaused(uint8_t cls) const
{
    return cls < ROCE_CLASSES && (m_paused >> cls & 1);
}

bool
RoceNetDevice::IsLossless(uint8_t cls) const
{
    return cls < ROCE_CLASSES && (m_lossless >> cls & 1);
}

void
RoceNetDevice::UpdateCurves()
{
    const uint64_t kmin = m_kmin ? m_kmin : m_rateBps / 250000; // 100 KB at 25 Gbit/s
    const uint64_t kmax = m_kmax ? m_kmax : 4 * kmin;           // CheckThresholds compares
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        if (!(m_ownCurve >> c & 1))
        {
            m_curve[c] = {kmin, kmax, m_pmax};
        }
    }
}

void
RoceNetDevice::SetEcnCurve(uint8_t cls, const RoceEcnCurve& curve)
{
    if (cls >= ROCE_CLASSES || curve.kmin > curve.kmax || !(curve.pmax >= 0 && curve.pmax <= 1))
    {
        NS_FATAL_ERROR("RoceNetDevice: ECN curve of port "
                       << GetLabel() << " class " << +cls << ": Kmin " << curve.kmin << ", Kmax "
                       << curve.kmax << ", Pmax " << curve.pmax
                       << "; needs class <= 7, Kmin <= Kmax, 0 <= Pmax <= 1");
    }
    m_curve[cls] = curve;
    m_ownCurve |= 1U << cls;
}

RoceEcnCurve
RoceNetDevice::GetEcnCurve(uint8_t cls) const
{
    return m_curve.at(cls);
}

void
RoceNetDevice::SetKmin(uint64_t bytes)
{
    m_kmin = bytes;
    UpdateCurves();
}

uint64_t
RoceNetDevice::GetKmin() const
{
    return m_kmin;
}

void
RoceNetDevice::SetKmax(uint64_t bytes)
{
    m_kmax = bytes;
    UpdateCurves();
}

uint64_t
RoceNetDevice::GetKmax() const
{
    return m_kmax;
}

void
RoceNetDevice::SetPmax(double probability)
{
    m_pmax = probability;
    UpdateCurves();
}

double
RoceNetDevice::GetPmax() const
{
    return m_pmax;
}

void
RoceNetDevice::SetLosslessClasses(uint8_t mask)
{
    m_lossless = mask;
}

uint8_t
RoceNetDevice::GetLosslessClasses() const
{
    return m_lossless;
}

std::string
RoceNetDevice::GetLabel() const
{
    if (!m_node)
    {
        return "(on no node)";
    }
    std::string name = Names::FindName(m_node);
    if (name.empty())
    {
        name = "node" + std::to_string(m_node->GetId());
    }
    return name + "/" + std::to_string(m_switch ? m_port : m_ifIndex);
}

void
RoceNetDevice::SetLossFilter(LossFilter filter)
{
    m_lossFilter = filter;
}

void
RoceNetDevice::SetClassMap(const RoceClassMap& map)
{
    m_map = map;
}

const RoceClassMap&
RoceNetDevice::GetClassMap() const
{
    return m_map;
}

void
RoceNetDevice::SetChannel(Ptr<RoceChannel> channel)
{
    m_channel = channel;
}

void
RoceNetDevice::SetSwitch(RoceSwitch* sw, uint32_t port)
{
    m_switch = sw;
    m_port = port;
}

void
RoceNetDevice::SetHost(RoceHost* host, uint32_t ip)
{
    m_host = host;
    m_ip = ip;
}

// ---------------------------------------------------------------------------
// Transmission

void
RoceNetDevice::Drop(RoceFrame* frame, RoceDropReason reason)
{
    while (frame->more > 0 && !m_traceDrop.IsEmpty())
    {
        RoceFrame* rest = frame->Split(1);
        Drop(frame, reason);
        frame = rest;
    }
    m_counters.drops[static_cast<size_t>(reason)] += frame->Packets();
    m_counters.dropDatagrams += frame->IsDatagram();
    if (frame->etherType != 0x8808)
    {
        m_counters.dropsOf[frame->cls][static_cast<size_t>(reason)] += frame->Packets();
    }
    m_traceDrop(*frame, reason);
    NS_LOG_DEBUG(GetLabel() << " drops a frame: " << RoceDropReasonName(reason));
    RoceFrame::Free(frame);
}

void
RoceNetDevice::MarkCe(RoceFrame& frame, uint32_t packets)
{
    frame.ecn = ROCE_CE;
    frame.marked = static_cast<uint16_t>(packets);
    m_counters.ecnMarks += packets;
    m_traceMark(frame);
}

void
RoceNetDevice::SendDirect(RoceFrame* frame, int64_t nowPs)
{
    if (!m_traceEnqueue.IsEmpty() || !m_traceDequeue.IsEmpty())
    {
        m_traceEnqueue(*frame);
        m_traceDequeue(*frame);
    }
    Transmit(frame, frame->more ? frame->headPs : nowPs, nowPs);
}

void
RoceNetDevice::Enqueue(RoceFrame* frame, int64_t nowPs)
{
    const uint32_t cls = frame->cls;
    if (m_trainUntilPs > nowPs)
    {
        if (m_host && PassTrain(frame, cls, nowPs))
        {
            return;
        }
        MakeWay(cls, nowPs);
    }
    if (!m_peer)
    {
        if (m_switch)
        {
            m_switch->Release(frame, nowPs); // the switch has counted it in
        }
        Drop(frame, RoceDropReason::LINK_DOWN);
        return;
    }
    m_queue[cls].Push(frame);
    m_queueBytes[cls] += frame->wireBytes;
    m_counters.maxQueue[cls] = std::max(m_counters.maxQueue[cls], m_queueBytes[cls]);
    m_ready |= 1U << cls;
    if (!m_traceEnqueue.IsEmpty())
    {
        m_traceEnqueue(*frame);
    }
    Service(nowPs);
}

void
RoceNetDevice::Service(int64_t nowPs)
{
    if (m_freePs <= nowPs && m_sends)
    {
        if (!m_paced.empty())
        {
            WakePaced(nowPs);
        }
        const uint32_t may = m_ready & ~m_paused;
        if (may)
        {
            uint32_t cls = 31 - __builtin_clz(may);
            if (m_drr >> cls & 1)
            {
                cls = PickDrr(cls, may);
            }
            RoceFrame* frame = Take(cls, nowPs);
            if (m_drr >> cls & 1)
            {
                m_deficit[cls] -= frame->wireBytes;
            }
            Transmit(frame, nowPs, nowPs);
            if (m_taken)
            {
                Requeue(m_taken);
                m_taken = nullptr;
            }
        }
    }
    Arm(nowPs);
}

void
RoceNetDevice::Requeue(RoceQueuePair* qp)
{
    if (!qp->turnNext)
    {
        return; // a trace sink has moved it meanwhile
    }
    if (qp->nextSendPs <= m_freePs && qp->CanSend())
    {
        m_turn[qp->activeClass] = qp->turnNext; // stays in turn, behind the others
        return;
    }
    Deactivate(qp);
    if (qp->CanSend())
    {
        PushPaced(qp);
    }
}

void
RoceNetDevice::Arm(int64_t nowPs)
{
    if (m_ready & ~m_paused)
    {
        if (!m_freePending && m_sends)
        {
            m_freePending = true;
            m_freeAt = m_freePs;
            m_freeEvent->ScheduleAt(m_nodeId, m_freePs, nowPs);
        }
    }
    else if (!m_paced.empty())
    {
        const int64_t at = std::max(m_paced.front()->nextSendPs, m_freePs);
        if (at < m_paceAt)
        {
            m_paceAt = at;
            m_paceEvent->ScheduleAt(m_nodeId, at, nowPs);
        }
    }
}

RoceFrame*
RoceNetDevice::Take(uint32_t cls, int64_t nowPs)
{
    RoceQueuePair* qp = cls == CONTROL ? nullptr : m_turn[cls];
    RoceFrame* frame;
    if (qp && (m_queue[cls].IsEmpty() || m_qpTurn[cls]))
    {
        m_qpTurn[cls] = false;
        m_taken = qp;
        return qp->NextPacket(nowPs, qp->GetTrainLength() > 1 ? TrainLimit(*qp, nowPs) : 1);
    }
    frame = m_queue[cls].Pop();
    if (frame->more)
    {
        const uint32_t most = GetTrainMost(frame->unit);
        if (frame->more >= most)
        {
            m_queue[cls].PushFront(frame->Split(most));
        }
    }
    m_queueBytes[cls] -= frame->wireBytes;
    if (cls != CONTROL)
    {
        m_qpTurn[cls] = true;
        if (!m_traceDequeue.IsEmpty())
        {
            m_traceDequeue(*frame);
        }
        if (m_switch)
        {
            m_switch->Release(frame, nowPs);
        }
    }
    if (m_queue[cls].IsEmpty() && !qp)
    {
        m_ready &= ~(1U << cls);
    }
    return frame;
}

void
RoceNetDevice::Transmit(RoceFrame* frame, int64_t fromPs, int64_t nowPs)
{
    // Back to back with the last frame (within a tick): go on from its exact end.
    const bool backToBack = m_freePs > fromPs - RoceClock::TickPs();
    const int64_t start = backToBack ? m_freePs : fromPs;
    const uint64_t scaled =
        frame->wireBytes * uint64_t(8000000000000) + (backToBack ? m_remainder : 0);
    const uint64_t ps = scaled / m_rateBps;
    m_remainder = scaled - ps * m_rateBps;
    m_freePs = start + static_cast<int64_t>(ps);
    frame->arrivalPs = m_freePs + m_delayPs;
    if (!m_peer)
    {
        Drop(frame, RoceDropReason::LINK_DOWN);
        return;
    }
    if (frame->more)
    {
        BeginTrain(frame, start);
    }
    m_counters.txFrames += frame->Packets();
    m_counters.txBytes += frame->wireBytes;
    if (frame->etherType != 0x8808)
    {
        m_counters.txClass[frame->cls] += frame->wireBytes;
        m_counters.txPayload[frame->cls] += frame->payload;
    }
    if (frame->telemetry) // or datagram
    {
        NoteCargo(*frame, start);
    }
    if (!m_traceTx.IsEmpty())
    {
        m_traceTx(*frame);
    }
    if (!m_sniffer.IsEmpty() || !m_promiscSniffer.IsEmpty())
    {
        Sniff(*frame, true);
    }
    RoceNetDevice* peer = m_peer;
    if (!peer) // a trace sink has cut the cable
    {
        Drop(frame, RoceDropReason::LINK_DOWN);
        return;
    }
    if (peer->m_inFlight.Insert(frame)) // else behind others
    {
        peer->m_arrivalStrays += frame->next != nullptr; // it has passed a train
        peer->ScheduleArrival(frame->arrivalPs, nowPs);
    }
}

void
RoceNetDevice::OnFree(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    if (device->m_freeStrays && (!device->m_freePending || nowPs < device->m_freeAt))
    {
        device->m_freeStrays--;
        return;
    }
    device->m_freePending = false;
    device->Service(nowPs);
}

// ---------------------------------------------------------------------------
// Queue pairs of a NIC

/** Orders the heap of paced queue pairs: earliest on top, ties by number. */
static bool
Before(const RoceQueuePair* a, const RoceQueuePair* b)
{
    return a->nextSendPs != b->nextSendPs ? a->nextSendPs < b->nextSendPs
                                          : a->GetQpn() < b->GetQpn();
}

void
RoceNetDevice::SiftUp(size_t i)
{
    RoceQueuePair* qp = m_paced[i];
    while (i > 0 && Before(qp, m_paced[(i - 1) / 2]))
    {
        m_paced[i] = m_paced[(i - 1) / 2];
        m_paced[i]->pacedAt = static_cast<int32_t>(i);
        i = (i - 1) / 2;
    }
    m_paced[i] = qp;
    qp->pacedAt = static_cast<int32_t>(i);
}

void
RoceNetDevice::SiftDown(size_t i)
{
    RoceQueuePair* qp = m_paced[i];
    for (size_t child; (child = 2 * i + 1) < m_paced.size(); i = child)
    {
        if (child + 1 < m_paced.size() && Before(m_paced[child + 1], m_paced[child]))
        {
            child++;
        }
        if (!Before(m_paced[child], qp))
        {
            break;
        }
        m_paced[i] = m_paced[child];
        m_paced[i]->pacedAt = static_cast<int32_t>(i);
    }
    m_paced[i] = qp;
    qp->pacedAt = static_cast<int32_t>(i);
}

void
RoceNetDevice::PushPaced(RoceQueuePair* qp)
{
    m_paced.push_back(qp);
    SiftUp(m_paced.size() - 1);
}

void
RoceNetDevice::JoinTurn(RoceQueuePair* qp)
{
    RoceQueuePair*& turn = m_turn[qp->activeClass];
    if (turn)
    {
        qp->turnNext = turn;
        qp->turnPrev = turn->turnPrev;
        turn->turnPrev->turnNext = qp;
        turn->turnPrev = qp;
    }
    else
    {
        qp->turnNext = qp->turnPrev = qp;
        turn = qp;
    }
    m_turns[qp->activeClass]++;
    m_ready |= 1U << qp->activeClass;
}

void
RoceNetDevice::WakePaced(int64_t nowPs)
{
    while (!m_paced.empty() && m_paced.front()->nextSendPs <= nowPs)
    {
        RoceQueuePair* qp = m_paced.front();
        Deactivate(qp);
        if (qp->CanSend())
        {
            JoinTurn(qp);
        }
    }
}

void
RoceNetDevice::Join(RoceQueuePair* qp, int64_t nowPs)
{
    if (qp->turnNext || qp->pacedAt >= 0)
    {
        return;
    }
    if (qp->nextSendPs > std::max(nowPs, m_freePs))
    {
        PushPaced(qp);
    }
    else
    {
        JoinTurn(qp);
    }
}

void
RoceNetDevice::Activate(RoceQueuePair* qp, int64_t nowPs)
{
    if (qp->turnNext || qp->pacedAt >= 0)
    {
        return;
    }
    const bool now = qp->nextSendPs <= std::max(nowPs, m_freePs);
    const bool cut = now && m_trainUntilPs > nowPs && MakeWay(qp->activeClass, nowPs);
    Join(qp, nowPs);
    if (cut && qp->turnNext)
    {
        m_turn[qp->activeClass] = qp; // not behind the one that was cut for it
    }
    Service(nowPs);
}

void
RoceNetDevice::Deactivate(RoceQueuePair* qp)
{
    if (qp->turnNext)
    {
        RoceQueuePair*& turn = m_turn[qp->activeClass];
        m_turns[qp->activeClass]--;
        if (qp->turnNext == qp)
        {
            turn = nullptr;
            if (m_queue[qp->activeClass].IsEmpty())
            {
                m_ready &= ~(1U << qp->activeClass);
            }
        }
        else
        {
            if (turn == qp)
            {
                turn = qp->turnNext;
            }
            qp->turnPrev->turnNext = qp->turnNext;
            qp->turnNext->turnPrev = qp->turnPrev;
        }
        qp->turnNext = qp->turnPrev = nullptr;
    }
    else if (qp->pacedAt >= 0)
    {
        const auto i = static_cast<size_t>(qp->pacedAt);
        RoceQueuePair* last = m_paced.back();
        m_paced.pop_back();
        if (last != qp)
        {
            m_paced[i] = last;
            SiftUp(i);
            SiftDown(static_cast<size_t>(last->pacedAt));
        }
        qp->pacedAt = -1;
    }
}

void
RoceNetDevice::OnPace(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    if (nowPs >= device->m_paceAt) // else an earlier event has taken its place
    {
        device->m_paceAt = INT64_MAX;
        device->Service(nowPs);
    }
}

// ---------------------------------------------------------------------------
// Arrival

void
RoceNetDevice::OnArrival(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    if (device->m_arrivalStrays &&
        (device->m_inFlight.IsEmpty() || RoceClock::NowPs() < device->m_arrivalAt))
    {
        device->m_arrivalStrays--;
        return;
    }
    RoceFrame* frame = device->m_inFlight.Pop();
    const int64_t nowPs = RoceClock::TickPs() == 1 ? frame->arrivalPs : RoceClock::NowPs();
    if (!device->m_inFlight.IsEmpty())
    {
        device->ScheduleArrival(device->m_inFlight.Peek()->arrivalPs, nowPs);
    }
    device->Arrive(frame, nowPs);
}

bool
RoceNetDevice::IsLost(const RoceFrame& frame)
{
    if (!m_lossFilter.IsNull() && m_lossFilter(frame))
    {
        return true;
    }
    return m_errorModel && m_errorModel->IsCorrupt(Create<Packet>(frame.wireBytes));
}

void
RoceNetDevice::Arrive(RoceFrame* frame, int64_t nowPs)
{
    const RoceKind kind = frame->Kind();
    RoceEventGuard::Tick();
    m_counters.rxFrames += frame->Packets();
    m_counters.rxBytes += frame->wireBytes;
    if (kind == RoceKind::DATA)
    {
        RoceMonitor::CountHops(frame->Packets());
    }
    else if (kind == RoceKind::DATAGRAM)
    {
        m_counters.rxDatagrams++;
        m_counters.rxDatagramBytes += frame->wireBytes;
    }
    if ((m_errorModel || !m_lossFilter.IsNull()) && IsLost(*frame))
    {
        Drop(frame, RoceDropReason::ERROR);
        return;
    }
    if (!m_traceRx.IsEmpty())
    {
        m_traceRx(*frame);
    }
    if (!m_sniffer.IsEmpty() || !m_promiscSniffer.IsEmpty())
    {
        Sniff(*frame, false);
    }
    if (kind == RoceKind::PAUSE)
    {
        ReceivePause(frame, nowPs);
        return;
    }
    frame->cls = m_map.ClassOf(frame->dscp);
    m_counters.rxClass[frame->cls] += frame->wireBytes;
    m_counters.rxPayload[frame->cls] += frame->payload;
    if (m_switch)
    {
        m_switch->Receive(frame, m_port, nowPs);
    }
    else if (m_host)
    {
        m_host->Receive(frame, this, nowPs);
    }
    else
    {
        DeliverUp(frame);
    }
}

} // namespace ns3
