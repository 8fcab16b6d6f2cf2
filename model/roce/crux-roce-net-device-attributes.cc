/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device-attributes: the attributes and trace sources of a port, and the accessors of
 * those that are more than a member: rate, marking curves, lossless classes, quanta.
 *
 * Place: model/roce (C++17). Depends on ns-3 core and network, crux-roce-drr.
 */
#include "crux-roce-net-device.h"

#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/pointer.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RoceNetDevice);

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

void
RoceNetDevice::SetDrrClasses(uint8_t mask)
{
    m_drr.SetClasses(mask);
}

uint8_t
RoceNetDevice::GetDrrClasses() const
{
    return m_drr.GetClasses();
}

void
RoceNetDevice::SetQuantum(uint8_t cls, uint32_t bytes)
{
    if (!m_drr.SetQuantum(cls, bytes))
    {
        NS_FATAL_ERROR("RoceNetDevice: quantum " << bytes << " of port " << GetLabel() << " class "
                                                 << +cls << "; needs class <= 7, "
                                                 << RoceDrr::MIN_QUANTUM << " to "
                                                 << RoceDrr::MAX_QUANTUM << " bytes");
    }
}

uint32_t
RoceNetDevice::GetQuantum(uint8_t cls) const
{
    return m_drr.GetQuantum(cls);
}

void
RoceNetDevice::SetQuanta(std::string list)
{
    if (!m_drr.SetQuanta(list))
    {
        NS_FATAL_ERROR("RoceNetDevice: DrrQuanta \""
                       << list << "\" of port " << GetLabel() << "; needs one number or eight, "
                       << RoceDrr::MIN_QUANTUM << " to " << RoceDrr::MAX_QUANTUM
                       << " bytes, separated by commas");
    }
}

std::string
RoceNetDevice::GetQuanta() const
{
    return m_drr.GetQuanta();
}

} // namespace ns3
