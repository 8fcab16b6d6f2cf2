/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-wire: what is on the wire: bytes of frames, pcap read by tshark, ordinary
 * IP over the same ports, classes by DSCP, attributes and their ranges.
 *
 * Place: test (C++17). Depends on crux-roce-test; ns-3 internet and applications; tshark
 * when it is installed.
 */
#include "crux-roce-test.h"
#include "crux-roce-tshark.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/crux-roce-dcqcn.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-echo-helper.h"

#include <map>
#include <regex>

using namespace crux_roce_test;

namespace
{

/** Bytes of a packet. */
std::vector<uint8_t>
BytesOf(const RoceFrame& frame)
{
    Ptr<Packet> packet =
        frame.ToPacket(Mac48Address("02:00:00:00:00:01"), Mac48Address("02:00:00:00:00:02"));
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), bytes.size());
    return bytes;
}

/** A number of n bytes at an offset. */
uint32_t
BigEndian(const std::vector<uint8_t>& bytes, size_t at, size_t n)
{
    uint32_t value = 0;
    for (size_t i = 0; i < n; i++)
    {
        value = value << 8 | bytes.at(at + i);
    }
    return value;
}

ROCE_CASE(BytesCase, "fields stand where the standards put them")
{
    RoceFrame f{};
    f.etherType = 0x0800;
    f.protocol = 17;
    f.dscp = 40;
    f.ecn = ROCE_ECT0;
    f.ttl = 64;
    f.srcIp = 0x0a000001;
    f.dstIp = 0x0a000002;
    f.srcPort = 0xc001;
    f.dstPort = 4791;
    f.opcode = ROCE_SEND_LAST;
    f.destQp = 0x123456;
    f.psn = 0xabcdef;
    f.ackRequest = true;
    f.payload = 100;
    std::vector<uint8_t> b = BytesOf(f);
    // Without FCS, preamble and gap: payload + 82 - 24.
    NS_TEST_ASSERT_MSG_EQ(b.size(), 158, "bytes of a data packet");
    NS_TEST_ASSERT_MSG_EQ(+b[12], 0x08, "EtherType");
    NS_TEST_ASSERT_MSG_EQ(+b[15], 162, "DSCP and ECN");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 16, 2), 144, "IPv4 length");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 36, 2), 4791, "UDP destination port");
    NS_TEST_ASSERT_MSG_EQ(+b[42], 0x02, "opcode");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 47, 3), 0x123456, "destination queue pair");
    NS_TEST_ASSERT_MSG_EQ(+b[50], 0x80, "ACK request");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 51, 3), 0xabcdef, "PSN");
    // The one's complement sum over the IPv4 header with its checksum is 0xffff.
    uint32_t sum = 0;
    for (int i = 14; i < 34; i += 2)
    {
        sum += BigEndian(b, i, 2);
    }
    NS_TEST_ASSERT_MSG_EQ((sum & 0xffff) + (sum >> 16), 0xffff, "IPv4 checksum");
    f.opcode = ROCE_ACKNOWLEDGE;
    f.payload = 0;
    f.syndrome = 0x60; // NAK, PSN sequence error
    f.msn = 0x00fedc;
    b = BytesOf(f);
    NS_TEST_ASSERT_MSG_EQ(b.size(), ROCE_ACK_WIRE - 24, "bytes of an ACK");
    NS_TEST_ASSERT_MSG_EQ(+b[54], 0x60, "syndrome in the AETH");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 55, 3), 0x00fedc, "MSN in the AETH");
    f.opcode = ROCE_CNP;
    b = BytesOf(f);
    NS_TEST_ASSERT_MSG_EQ(b.size(), ROCE_CNP_WIRE - 24, "bytes of a CNP");
    NS_TEST_ASSERT_MSG_EQ(+b[42], 0x81, "opcode of a CNP (annex A17: 1000 0001)");
    NS_TEST_ASSERT_MSG_EQ(+b[46], 0x40, "BECN");
    for (int i = 54; i < 70; i++)
    {
        NS_TEST_ASSERT_MSG_EQ(+b[i], 0, "reserved byte " << i - 54);
    }
    RoceFrame p{};
    p.etherType = 0x8808;
    p.classVector = 1 << 3;
    p.quanta = 0x1234;
    b = BytesOf(p);
    NS_TEST_ASSERT_MSG_EQ(b.size(), 60, "bytes of a PFC frame");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 14, 2), 0x0101, "opcode");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 16, 2), 8, "class-enable vector");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 24, 2), 0x1234, "timer of class 3");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 22, 2), 0, "timer of class 2");
}

ROCE_CASE(KindCase, "the kind is told by headers, never by length")
{
    RoceFrame f{};
    f.etherType = 0x0800;
    f.protocol = 17;
    f.dstPort = 4791;
    f.opcode = ROCE_SEND_ONLY;
    f.wireBytes = ROCE_ACK_WIRE; // a data packet as long as an ACK
    f.payload = 4;
    NS_TEST_ASSERT_MSG_EQ((f.Kind() == RoceKind::DATA), true, "data");
    f.opcode = ROCE_ACKNOWLEDGE;
    NS_TEST_ASSERT_MSG_EQ((f.Kind() == RoceKind::ACK), true, "ACK");
    f.opcode = ROCE_CNP;
    NS_TEST_ASSERT_MSG_EQ((f.Kind() == RoceKind::CNP), true, "CNP");
    f.dstPort = 4790;
    NS_TEST_ASSERT_MSG_EQ((f.Kind() == RoceKind::IP), true, "another port");
    f.protocol = 6;
    f.dstPort = 4791;
    NS_TEST_ASSERT_MSG_EQ((f.Kind() == RoceKind::IP), true, "TCP");
    f.etherType = 0x86dd;
    NS_TEST_ASSERT_MSG_EQ((f.Kind() == RoceKind::OTHER), true, "IPv6");
    f.etherType = 0x8808;
    NS_TEST_ASSERT_MSG_EQ((f.Kind() == RoceKind::PAUSE), true, "PFC");
}

ROCE_CASE(TsharkCase, "tshark dissects data, ACK, NAK, CNP and PFC without complaint")
{
    const std::string file = CreateTempDirFilename("roce.pcap");
    uint64_t data = 0;
    uint64_t acks = 0;
    uint64_t cnps = 0;
    uint64_t pauses = 0;
    {
        Fabric f;
        UseControl("ns3::RoceNoControl");
        Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(100000));
        Config::SetDefault("ns3::RoceNetDevice::EcnKmin", UintegerValue(1));
        Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(5000));
        f.Star(3);
        f.roce.EnablePcap(file, f.Nic(0), true, true);
        bool lost = false;
        f.Nic(2)->SetLossFilter(Callback<bool, const RoceFrame&>([&lost](const RoceFrame& frame) {
            const bool lose = !lost && frame.Kind() == RoceKind::DATA && frame.psn == 20 &&
                              frame.srcIp == 0x0a000001;
            lost |= lose;
            return lose;
        }));
        Ptr<RoceQueuePair> qp = f.Pair(0, 2);
        f.Pair(1, 2)->PostSend(2, 200000);
        qp->PostSend(1, 200000);
        qp->PostSend(3, 0);
        qp->PostSend(4, 1);
        Simulator::Run();
        data = qp->GetCounters().packetsSent;
        acks = qp->GetPeer()->GetCounters().acksSent + qp->GetPeer()->GetCounters().naksSent;
        cnps = qp->GetCounters().cnpsReceived;
        pauses = f.Nic(0)->GetCounters().pauseRecv[1] + f.Nic(0)->GetCounters().resumeRecv[1];
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().naksReceived, 1, "NAKs");
        NS_TEST_ASSERT_MSG_GT(cnps, 0, "CNPs");
        NS_TEST_ASSERT_MSG_GT(pauses, 1, "PFC frames");
    }
    if (Output("command -v tshark").empty())
    {
        std::cout << "crux-roce-wire: tshark is not installed, pcap not dissected" << std::endl;
        return;
    }
    const auto fields = [&file](const std::string& options) {
        return Output("tshark -n -o ip.check_checksum:TRUE " + options + " -r '" + file +
                      "' -T fields -E separator=/s -E quote=d -e frame.protocols "
                      "-e infiniband.bth.opcode -e macc.opcode -e ip.checksum.status "
                      "-e _ws.expert.severity 2>/dev/null");
    };
    // As tshark is: its guesser for RPC over RDMA reads eight bytes of a SEND without looking
    // whether there are so many, so that the messages of 0 and 1 B (and no other frame) trip it.
    const std::string guessed = fields("");
    NS_TEST_ASSERT_MSG_LT_OR_EQ(LinesWith(guessed, "8388608"), 2, "frames with errors");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(guessed, "rpcordma"),
                          LinesWith(guessed, "8388608"),
                          "errors of the guesser alone");
    const std::string lines = fields("--disable-protocol rpcordma");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "infiniband"), data + acks + cnps, "RoCEv2 frames");
    // Opcodes 17 and 129 in the second column; ip.checksum.status 1 is "good".
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "\" \"17\" "), acks, "acknowledgements");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "\" \"129\" "), cnps, "CNPs");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "\" \"4\" "), 2, "SEND Only: 0 and 1 B");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "eth:ethertype:macc"), pauses, "PFC frames");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "\"1\""), data + acks + cnps, "good IPv4 checksums");
    // Severity error is 8388608 (0x800000), warning 6291456 (0x600000).
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "8388608"), 0, "frames with errors");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "malformed"), 0, "malformed frames");
}

/** Give a host's NIC an IP stack with its address. */
void
InstallIp(Fabric& f, uint32_t host)
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(f.hosts[host]);
    Ptr<Ipv4> ip = f.hosts[host]->GetObject<Ipv4>();
    const uint32_t i = ip->AddInterface(f.Nic(host));
    ip->AddAddress(i, Ipv4InterfaceAddress(Ipv4Address(f.At(host)->GetIp(0)), Ipv4Mask("/8")));
    ip->SetUp(i);
}

ROCE_CASE(IpCase, "UDP echo and TCP through a switch, beside RoCE, in class 0")
{
    Fabric f;
    f.Star(2, "10Gbps");
    InstallIp(f, 0);
    InstallIp(f, 1);
    const Ipv4Address to(f.At(1)->GetIp(0));
    UdpEchoServerHelper server(9);
    server.Install(f.hosts[1]);
    UdpEchoClientHelper client(to, 9);
    client.SetAttribute("MaxPackets", UintegerValue(5));
    client.SetAttribute("Interval", TimeValue(MicroSeconds(100)));
    client.SetAttribute("PacketSize", UintegerValue(1000));
    ApplicationContainer echo = client.Install(f.hosts[0]);
    uint32_t echoed = 0;
    echo.Get(0)->TraceConnectWithoutContext(
        "Rx",
        Callback<void, Ptr<const Packet>>(
            [&echoed](Ptr<const Packet> p) { echoed += p->GetSize() == 1000; }));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 80));
    Ptr<PacketSink> sunk = DynamicCast<PacketSink>(sink.Install(f.hosts[1]).Get(0));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, 80));
    bulk.SetAttribute("MaxBytes", UintegerValue(300000));
    bulk.Install(f.hosts[0]);
    f.Pair(0, 1, 5)->PostSend(1, 1000000);
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(echoed, 5, "echoes");
    NS_TEST_ASSERT_MSG_EQ(sunk->GetTotalRx(), 300000, "bytes by TCP");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "RoCE messages");
    const RocePortCounters& c = f.Nic(0)->GetCounters();
    // Five echoes: 1000 + 8 + 20 + 38 B each; TCP's 300,000 B with headers on top.
    NS_TEST_ASSERT_MSG_GT(c.txClass[0], 5 * 1066 + 300000, "bytes in class 0");
    NS_TEST_ASSERT_MSG_EQ(c.txClass[5], WireBytes(1000000, 4096), "bytes in class 5");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
}

ROCE_CASE(TransitCase, "a host takes only what is addressed to it; unknown things are counted")
{
    Fabric f;
    f.Star(2);
    // The switch is told that 10.9.9.9 lives at host 1, which knows nothing about it.
    f.switches[0]->AddRoute(0x0a090909, {1});
    Ptr<RoceNetDevice> nic = f.Nic(0);
    for (uint32_t dst : {0x0a090909U, 0x0b000001U, f.At(1)->GetIp(0)})
    {
        RoceFrame* frame = RoceFrame::New();
        frame->etherType = 0x0800;
        frame->protocol = 17;
        frame->dstPort = 4791;
        frame->opcode = ROCE_SEND_ONLY;
        frame->dstIp = dst;
        frame->destQp = 999; // a queue pair that is not
        frame->ttl = 64;
        frame->wireBytes = 200;
        nic->Enqueue(frame, 0);
    }
    Simulator::Run();
    const auto drops = [](Ptr<RoceNetDevice> port, RoceDropReason reason) {
        return port->GetCounters().drops[static_cast<size_t>(reason)];
    };
    NS_TEST_ASSERT_MSG_EQ(drops(f.Nic(1), RoceDropReason::NOT_OURS), 2, "at the host");
    NS_TEST_ASSERT_MSG_EQ(drops(f.switches[0]->GetPort(0), RoceDropReason::NO_ROUTE), 1, "switch");
    NS_TEST_ASSERT_MSG_EQ(RoceFrame::Outstanding(), 0, "frames not given back");
}

ROCE_CASE(ClassCase, "one table maps DSCP to class to queue")
{
    Fabric f;
    f.Star(2);
    RoceClassMap map;
    map.Set(46, 5); // class 5 travels as DSCP 46
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        port->SetClassMap(map);
    }
    std::vector<uint8_t> seen;
    f.Nic(1)->SetLossFilter(Callback<bool, const RoceFrame&>([&seen](const RoceFrame& frame) {
        seen.push_back(frame.dscp);
        return false;
    }));
    f.Pair(0, 1, 5)->PostSend(1, 1);
    f.Pair(0, 1, 2)->PostSend(2, 1);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(seen.size(), 2, "packets");
    NS_TEST_ASSERT_MSG_EQ(+seen[0], 46, "DSCP of class 5");
    NS_TEST_ASSERT_MSG_EQ(+seen[1], 16, "DSCP of class 2");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(1)->GetCounters().rxPayload[5], 1, "received in class 5");
}

ROCE_CASE(TracesCase, "every event has a trace source; sinks may change a queue pair")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(100000));
    Config::SetDefault("ns3::RoceNetDevice::EcnKmin", UintegerValue(1));
    Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(5000));
    f.Star(3);
    std::map<std::string, uint64_t> seen;
    for (const std::string name : {"Enqueue", "Dequeue", "TxBegin", "RxEnd", "EcnMark"})
    {
        uint64_t& n = seen[name];
        Config::ConnectWithoutContext(
            "/NodeList/*/DeviceList/*/$ns3::RoceNetDevice/" + name,
            Callback<void, const RoceFrame&>([&n](const RoceFrame&) { n++; }));
    }
    uint64_t& pauses = seen["PfcSent"];
    Config::ConnectWithoutContext(
        "/NodeList/*/DeviceList/*/$ns3::RoceNetDevice/PfcSent",
        Callback<void, uint16_t, uint16_t>([&pauses](uint16_t, uint16_t) { pauses++; }));
    Ptr<RoceQueuePair> qp = f.Pair(0, 2);
    f.Pair(1, 2)->PostSend(2, 400000);
    f.Nic(0)->TraceConnectWithoutContext(
        "TxBegin",
        Callback<void, const RoceFrame&>([qp](const RoceFrame& frame) {
            if (frame.psn % 20 == 7)
            {
                qp->SetTrafficClass(1 + frame.psn % 3);
            }
        }));
    qp->PostSend(1, 400000);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 2, "messages");
    uint64_t tx = 0;
    uint64_t rx = 0;
    uint64_t marks = 0;
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        tx += port->GetCounters().txFrames;
        rx += port->GetCounters().rxFrames;
        marks += port->GetCounters().ecnMarks;
    }
    NS_TEST_ASSERT_MSG_EQ(seen["TxBegin"], tx, "TxBegin");
    NS_TEST_ASSERT_MSG_EQ(seen["RxEnd"], rx, "RxEnd");
    NS_TEST_ASSERT_MSG_EQ(tx, rx, "what is sent arrives");
    NS_TEST_ASSERT_MSG_EQ(seen["EcnMark"], marks, "EcnMark");
    NS_TEST_ASSERT_MSG_EQ(seen["Enqueue"], seen["Dequeue"], "what is queued leaves");
    // Every data packet passes one switch: 2 x 98 (400,000 / 4096 = 97.7), and its queue.
    NS_TEST_ASSERT_MSG_GT_OR_EQ(seen["Enqueue"], 196, "Enqueue");
    NS_TEST_ASSERT_MSG_GT(seen["PfcSent"], 0, "PfcSent");
    NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().outOfOrder, 0, "out of order");
}

ROCE_CASE(AttributesCase, "attributes out of range are refused")
{
    Fabric f;
    Ptr<RoceQueuePair> qp = CreateObject<RoceQueuePair>();
    Ptr<RoceNetDevice> port = CreateObject<RoceNetDevice>();
    Ptr<RoceSwitch> sw = CreateObject<RoceSwitch>();
    Ptr<RoceDcqcn> cc = CreateObject<RoceDcqcn>();
    NS_TEST_ASSERT_MSG_EQ(qp->SetAttributeFailSafe("Payload", UintegerValue(0)), false, "payload");
    NS_TEST_ASSERT_MSG_EQ(qp->SetAttributeFailSafe("Payload", UintegerValue(65536)), false, "big");
    NS_TEST_ASSERT_MSG_EQ(qp->SetAttributeFailSafe("TrafficClass", UintegerValue(8)), false, "8");
    NS_TEST_ASSERT_MSG_EQ(qp->SetAttributeFailSafe("AckEvery", UintegerValue(0)), false, "ack");
    NS_TEST_ASSERT_MSG_EQ(qp->SetAttributeFailSafe("InitialPsn", UintegerValue(1 << 24)),
                          false,
                          "PSN");
    NS_TEST_ASSERT_MSG_EQ(qp->SetAttributeFailSafe("RetransmitTimeout", TimeValue(Seconds(0))),
                          false,
                          "time-out");
    NS_TEST_ASSERT_MSG_EQ(port->SetAttributeFailSafe("EcnPmax", DoubleValue(1.1)), false, "Pmax");
    NS_TEST_ASSERT_MSG_EQ(port->SetAttributeFailSafe("Mtu", UintegerValue(67)), false, "MTU");
    NS_TEST_ASSERT_MSG_EQ(port->SetAttributeFailSafe("LosslessClasses", UintegerValue(256)),
                          false,
                          "classes");
    NS_TEST_ASSERT_MSG_EQ(sw->SetAttributeFailSafe("Alpha", DoubleValue(0)), false, "alpha");
    NS_TEST_ASSERT_MSG_EQ(cc->SetAttributeFailSafe("Gain", DoubleValue(0)), false, "gain");
    NS_TEST_ASSERT_MSG_EQ(cc->SetAttributeFailSafe("FastRecoverySteps", UintegerValue(0)),
                          false,
                          "steps");
    // Defaults that scale with the rate: 100 KB and 400 KB at 25 Gbit/s.
    port->SetDataRate(DataRate("25Gbps"));
    NS_TEST_ASSERT_MSG_EQ(port->GetEcnCurve(1).kmin, 100000, "Kmin at 25 Gbit/s");
    NS_TEST_ASSERT_MSG_EQ(port->GetEcnCurve(1).kmax, 400000, "Kmax at 25 Gbit/s");
    port->SetDataRate(DataRate("200Gbps"));
    NS_TEST_ASSERT_MSG_EQ(port->GetEcnCurve(1).kmin, 800000, "Kmin at 200 Gbit/s");
}

ROCE_CASE(HelpCase, "every attribute says its unit or kind and its range, every trace what it is")
{
    const std::regex range(
        "positive|any|up to|above 0|at most|at least|read only|[0-9a-z] to [0-9]");
    const std::regex unit(
        "[Bb]ytes|bit/s|\\b(us|ns|s)\\b|512 bit times|packet|[Tt]ime-outs|[Ss]amples|"
        "steps|Bit c|Seed|Class|Probability|Utilisation|[Ss]hare|factor|weight|"
        "bandwidth-delay|reserved / headroom|Flows|by how much|Rows");
    uint32_t attributes = 0;
    uint32_t traces = 0;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        if (tid.GetName().rfind("ns3::Roce", 0) != 0)
        {
            continue;
        }
        for (std::size_t a = 0; a < tid.GetAttributeN(); a++)
        {
            const TypeId::AttributeInformation info = tid.GetAttribute(a);
            const std::string kind = info.checker->GetValueTypeName();
            const std::string what = tid.GetName() + "::" + info.name + ": " + info.help;
            NS_TEST_ASSERT_MSG_EQ(info.help.empty(), false, what);
            attributes++;
            if (kind == "ns3::UintegerValue" || kind == "ns3::DoubleValue" ||
                kind == "ns3::TimeValue" || kind == "ns3::DataRateValue")
            {
                NS_TEST_ASSERT_MSG_EQ(std::regex_search(info.help, range), true, "range: " << what);
                NS_TEST_ASSERT_MSG_EQ(std::regex_search(info.help, unit), true, "unit: " << what);
            }
        }
        for (std::size_t t = 0; t < tid.GetTraceSourceN(); t++)
        {
            const TypeId::TraceSourceInformation info = tid.GetTraceSource(t);
            NS_TEST_ASSERT_MSG_EQ(info.help.empty() || info.callback.empty(), false, info.name);
            traces++;
        }
    }
    // All of them were looked at: doc/crux.rst lists them.
    NS_TEST_ASSERT_MSG_GT(attributes, 60, "attributes");
    NS_TEST_ASSERT_MSG_GT(traces, 19, "trace sources");
}

/** The wire. */
class RoceWireSuite : public TestSuite
{
  public:
    RoceWireSuite()
        : TestSuite("crux-roce-wire", UNIT)
    {
        AddTestCase(new BytesCase, TestCase::QUICK);
        AddTestCase(new KindCase, TestCase::QUICK);
        AddTestCase(new TsharkCase, TestCase::QUICK);
        AddTestCase(new IpCase, TestCase::QUICK);
        AddTestCase(new TransitCase, TestCase::QUICK);
        AddTestCase(new ClassCase, TestCase::QUICK);
        AddTestCase(new TracesCase, TestCase::QUICK);
        AddTestCase(new AttributesCase, TestCase::QUICK);
        AddTestCase(new HelpCase, TestCase::QUICK);
    }
};

RoceWireSuite g_roceWireSuite; //!< the suite

} // namespace
