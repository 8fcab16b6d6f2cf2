/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-datagram: datagrams between hosts: payload, time, bytes on the wire, receivers,
 * loopback, counters.
 *
 * Place: test (C++17). Depends on crux-roce-datagram-test; tshark when it is
 * installed.
 */
#include "crux-roce-datagram-test.h"
#include "crux-roce-tshark.h"

using namespace crux_roce_test;

namespace
{

static_assert(sizeof(RoceFrame) == 128, "a frame is two cache lines");

ROCE_CASE(PayloadCase, "0, 1 and as many bytes as fit the MTU arrive as they were; more is refused")
{
    const uint64_t bodies = RoceDatagramBody::Outstanding();
    const uint64_t frames = RoceFrame::Outstanding();
    {
        Fabric f;
        f.Star(2);
        Inbox inbox;
        inbox.Listen(f.At(1));
        // MTU 9216: IPv4 20, UDP 8, BTH 12, DETH 8, ICRC 4 leave 9164; a record 64 less.
        const uint32_t most = 9164;
        NS_TEST_ASSERT_MSG_EQ(f.At(0)->GetMaxDatagram(0, false), most, "longest payload");
        NS_TEST_ASSERT_MSG_EQ(f.At(0)->GetMaxDatagram(0, true), most - 64, "with a record");
        NS_TEST_ASSERT_MSG_EQ(Send(f, 0, 1, most + 1, 7, false), false, "one byte too many");
        NS_TEST_ASSERT_MSG_EQ(Send(f, 0, 1, most - 63, 7, true), false, "with a record");
        NS_TEST_ASSERT_MSG_EQ(f.At(0)->GetDatagramCounters().refused, 2, "refused");
        NS_TEST_ASSERT_MSG_EQ(RoceDatagramBody::Outstanding(), bodies, "nothing is sent");
        const std::vector<uint32_t> sizes = {0, 1, 255, 4096, most, 0, 1, most - 64};
        for (size_t i = 0; i < sizes.size(); i++)
        {
            NS_TEST_ASSERT_MSG_EQ(Send(f, 0, 1, sizes[i], 3, i >= 5), true, "sent");
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), sizes.size(), "received");
        for (size_t i = 0; i < sizes.size(); i++)
        {
            const Got& g = inbox.got[i];
            NS_TEST_ASSERT_MSG_EQ((g.bytes == Pattern(sizes[i])), true, "payload " << sizes[i]);
            NS_TEST_ASSERT_MSG_EQ(g.datagram.srcIp, f.At(0)->GetIp(0), "source");
            NS_TEST_ASSERT_MSG_EQ(g.datagram.dstIp, f.At(1)->GetIp(0), "destination");
            NS_TEST_ASSERT_MSG_EQ(g.datagram.srcPort, 50000, "source port");
            NS_TEST_ASSERT_MSG_EQ(+g.datagram.trafficClass, 3, "class");
            NS_TEST_ASSERT_MSG_EQ(g.datagram.kind, 9, "kind");
            NS_TEST_ASSERT_MSG_EQ(g.datagram.marked, false, "no queue, no mark");
            NS_TEST_ASSERT_MSG_EQ(g.datagram.wireBytes, sizes[i] + (i >= 5 ? 154 : 90), "wire");
            NS_TEST_ASSERT_MSG_EQ(g.hops.size(), (i >= 5 ? 2 : 0), "ports listed");
            NS_TEST_ASSERT_MSG_EQ(g.datagram.nPorts, 2, "ports counted");
        }
        // PortId is not set in this case.
        NS_TEST_ASSERT_MSG_EQ(inbox.got[5].hops[1], UINT32_MAX, "a port without a name");
        // A body goes back to the pool with its memory: the next datagram lies in the same.
        Send(f, 0, 1, 4000, 7, false);
        Simulator::Run();
        Send(f, 0, 1, 4000, 7, false);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ((inbox.got[8].where == inbox.got[9].where), true, "memory is reused");
    }
    NS_TEST_ASSERT_MSG_EQ(RoceDatagramBody::Outstanding(), bodies, "bodies not given back");
    NS_TEST_ASSERT_MSG_EQ(RoceFrame::Outstanding(), frames, "frames not given back");
}

ROCE_CASE(LatencyCase, "time over 4 links is serialisation and propagation, to the picosecond")
{
    Fabric f;
    const std::vector<std::string> rates = {"100Gbps", "40Gbps", "25Gbps", "100Gbps"};
    std::vector<Ptr<Node>> chain = {f.hosts[f.Host()], f.Switch(), f.Switch(), f.Switch()};
    chain.push_back(f.hosts[f.Host()]);
    for (size_t i = 0; i < rates.size(); i++)
    {
        f.Cable(chain[i], chain[i + 1], rates[i], std::to_string(100 * (i + 1)) + "ns");
    }
    f.roce.InstallRoutes();
    Inbox inbox;
    inbox.Listen(f.At(1));
    int64_t at = 0;
    std::vector<int64_t> want;
    for (const bool record : {false, true})
    {
        for (const uint32_t size : {0, 1, 1000, 9000})
        {
            at += 100000000; // 100 us, so that they do not meet
            // 80, 200, 320 and 80 ps a byte; 100 + 200 + 300 + 400 ns of cable.
            want.push_back(at + (size + (record ? 154 : 90)) * int64_t(680) + 1000000);
            Simulator::Schedule(PicoSeconds(at),
                                [&f, size, record] { Send(f, 0, 1, size, 5, record); });
        }
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), want.size(), "received");
    for (size_t i = 0; i < want.size(); i++)
    {
        NS_TEST_ASSERT_MSG_EQ(inbox.got[i].atPs, want[i], "arrival of " << i);
    }
}

/** Bytes of what passes a port. */
struct Tap
{
    std::vector<std::vector<uint8_t>> frames; //!< all

    void On(Ptr<const Packet> packet)
    {
        frames.emplace_back(packet->GetSize());
        packet->CopyData(frames.back().data(), packet->GetSize());
    }
};

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

ROCE_CASE(BytesCase, "headers, record and payload stand where they should")
{
    Fabric f;
    f.Star(2);
    NamePorts(f); // the switch's 1000 and 1001, NICs 1002 and 1003
    Tap tap;
    f.Nic(1)->TraceConnectWithoutContext("Sniffer", MakeCallback(&Tap::On, &tap));
    Inbox inbox;
    inbox.Listen(f.At(1));
    Send(f, 0, 1, 100, 7, false);
    Send(f, 0, 1, 100, 7, true, 50001);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(tap.frames.size(), 2, "frames");
    for (uint32_t i = 0; i < 2; i++)
    {
        const std::vector<uint8_t>& b = tap.frames[i];
        const uint32_t payload =
            i ? 126 : 62; // Ethernet 14, IPv4 20, UDP 8, BTH 12, DETH 8, record
        // Without FCS, preamble and gap.
        NS_TEST_ASSERT_MSG_EQ(b.size(), RoceDatagram::Wire(100, i) - 24, "bytes");
        NS_TEST_ASSERT_MSG_EQ(b.size(), payload + 100 + 4, "with ICRC");
        NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 16, 2), b.size() - 14, "IPv4 length");
        NS_TEST_ASSERT_MSG_EQ(+b[15], 226, "DSCP 56, ECT(0)");
        NS_TEST_ASSERT_MSG_EQ(+b[22], 63, "TTL behind a switch");
        NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 34, 2), 50000 + i, "UDP source port");
        NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 36, 2), 4791, "UDP destination port");
        NS_TEST_ASSERT_MSG_EQ(+b[42], 0x64, "UD SEND Only");
        NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 47, 3), 2, "destination queue pair");
        NS_TEST_ASSERT_MSG_EQ(+b[50], 0, "no ACK asked for");
        NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 51, 3), i, "PSN");
        NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 54, 4), 0x11111111, "Q_Key");
        NS_TEST_ASSERT_MSG_EQ(BigEndian(b, 58, 4), (i ? 0x10009 : 9), "source queue pair: kind");
        const std::vector<uint8_t> bytes(b.begin() + payload, b.end() - 4);
        NS_TEST_ASSERT_MSG_EQ((bytes == Pattern(100)), true, "payload");
    }
    NS_TEST_ASSERT_MSG_EQ(BigEndian(tap.frames[1], 62, 4), 1002, "the NIC in the record");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(tap.frames[1], 66, 4), 1001, "the switch's port");
    NS_TEST_ASSERT_MSG_EQ(BigEndian(tap.frames[1], 70, 4), UINT32_MAX, "nothing behind them");
}

ROCE_CASE(LoopbackCase, "to the host itself: at once, by an event, on no wire")
{
    Fabric f;
    const uint32_t host = f.Host();
    Ptr<Node> sw = f.Switch();
    f.Cable(f.hosts[host], sw);
    f.Cable(f.hosts[host], sw);
    f.roce.InstallRoutes();
    Inbox inbox;
    inbox.Listen(f.At(host));
    f.Nic(host)->SetLinkDown(); // it does not matter
    Simulator::Schedule(MicroSeconds(3), [&] {
        for (const uint32_t nic : {0, 1})
        {
            const std::vector<uint8_t> bytes = Pattern(50 + nic);
            const bool sent = f.At(host)->SendDatagram(0,
                                                       f.At(host)->GetIp(nic),
                                                       7,
                                                       5,
                                                       nic,
                                                       bytes.data(),
                                                       50 + nic,
                                                       true);
            NS_TEST_ASSERT_MSG_EQ(sent, true, "sent");
        }
        NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 0, "not within the call");
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 2, "received");
    for (uint32_t i = 0; i < 2; i++)
    {
        const Got& g = inbox.got[i];
        NS_TEST_ASSERT_MSG_EQ(g.atPs, 3000000, "at once");
        NS_TEST_ASSERT_MSG_EQ((g.bytes == Pattern(50 + i)), true, "payload");
        NS_TEST_ASSERT_MSG_EQ(g.datagram.dstIp, f.At(host)->GetIp(i), "destination");
        NS_TEST_ASSERT_MSG_EQ(+g.datagram.trafficClass, 5, "class");
        NS_TEST_ASSERT_MSG_EQ(g.hops.size() + g.datagram.nPorts + g.datagram.wireBytes, 0, "wire");
    }
    NS_TEST_ASSERT_MSG_EQ(f.At(host)->GetDatagramCounters().looped, 2, "counted");
    NS_TEST_ASSERT_MSG_EQ(f.At(host)->GetDatagramCounters().sentBytes, 0, "no bytes");
}

ROCE_CASE(KindCase, "each kind may have a receiver; receivers may answer and change receivers")
{
    Fabric f;
    f.Star(2);
    std::vector<uint16_t> one;
    std::vector<uint16_t> other;
    Inbox back;
    back.Listen(f.At(0));
    const auto send = [&f](uint16_t kind) {
        const std::vector<uint8_t> bytes = Pattern(kind);
        f.At(0)->SendDatagram(0, f.At(1)->GetIp(0), 1, 7, kind, bytes.data(), kind, false);
        Simulator::Run();
    };
    send(4);
    NS_TEST_ASSERT_MSG_EQ(f.At(1)->GetDatagramCounters().unclaimed, 1, "nobody takes it");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(1)->GetCounters().dropDatagrams, 1, "so it is dropped");
    f.At(1)->SetDatagramCallback(
        RoceHost::DatagramCallback([&](const RoceDatagram& d) { other.push_back(d.kind); }));
    f.At(1)->SetDatagramCallback(5, RoceHost::DatagramCallback([&](const RoceDatagram& d) {
                                     one.push_back(d.kind);
                                     f.At(1)->SetDatagramCallback(5, RoceHost::DatagramCallback());
                                     f.At(1)->SendDatagram(0,
                                                           d.srcIp,
                                                           d.srcPort,
                                                           d.trafficClass,
                                                           d.kind,
                                                           d.bytes,
                                                           d.size,
                                                           false);
                                 }));
    send(4);
    send(5);
    send(5);
    NS_TEST_ASSERT_MSG_EQ((one == std::vector<uint16_t>{5}), true, "its own, once");
    NS_TEST_ASSERT_MSG_EQ((other == std::vector<uint16_t>{4, 5}), true, "all others");
    NS_TEST_ASSERT_MSG_EQ(back.got.size(), 1, "answers");
    NS_TEST_ASSERT_MSG_EQ((back.got[0].bytes == Pattern(5)), true, "with what came");
}

/** Sums of the traces. */
struct Sums
{
    uint64_t datagrams{0}; //!< how many
    uint64_t bytes{0};     //!< on the wire

    void On(uint32_t, uint32_t, uint16_t kind, uint32_t wireBytes)
    {
        datagrams += kind == 9;
        bytes += wireBytes;
    }
};

/** Four hosts send 50 datagrams of 1,000 B each at once to the fifth; small buffer. */
void
Incast(Fabric& f, uint8_t cls, Inbox& inbox, Sums& tx, Sums& rx)
{
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(50000));
    Config::SetDefault("ns3::RoceNetDevice::EcnKmin", UintegerValue(1000));
    Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(2000));
    f.Star(5);
    inbox.Listen(f.At(4));
    for (uint32_t h = 0; h < 5; h++)
    {
        f.At(h)->TraceConnectWithoutContext("DatagramTx", MakeCallback(&Sums::On, &tx));
        f.At(h)->TraceConnectWithoutContext("DatagramRx", MakeCallback(&Sums::On, &rx));
    }
    for (uint32_t i = 0; i < 200; i++)
    {
        Send(f, i % 4, 4, 1000, cls, false);
    }
    Simulator::Run();
}

ROCE_CASE(CountersCase, "sent is received and dropped, in datagrams and bytes; PFC loses nothing")
{
    for (const uint8_t cls : {0, 2}) // lossy, lossless
    {
        const uint64_t bodies = RoceDatagramBody::Outstanding();
        Fabric f;
        Inbox inbox;
        Sums tx;
        Sums rx;
        Incast(f, cls, inbox, tx, rx);
        uint64_t sent = 0;
        uint64_t sentBytes = 0;
        uint64_t wireBytes = 0;
        uint64_t marked = 0;
        for (uint32_t h = 0; h < 4; h++)
        {
            sent += f.At(h)->GetDatagramCounters().sent;
            sentBytes += f.At(h)->GetDatagramCounters().sentBytes;
            wireBytes += f.Nic(h)->GetCounters().txDatagramBytes;
        }
        for (const Got& g : inbox.got)
        {
            marked += g.datagram.marked;
        }
        const RoceDatagramCounters& to = f.At(4)->GetDatagramCounters();
        const RocePortCounters& nic = f.Nic(4)->GetCounters();
        const RocePortCounters& out = f.switches[0]->GetPort(4)->GetCounters();
        NS_TEST_ASSERT_MSG_EQ(sent, 200, "sent");
        NS_TEST_ASSERT_MSG_EQ(sentBytes, 200 * 1090, "bytes sent");
        NS_TEST_ASSERT_MSG_EQ(wireBytes, 200 * 1090, "bytes on the hosts' links");
        NS_TEST_ASSERT_MSG_EQ(to.received, inbox.got.size(), "received");
        NS_TEST_ASSERT_MSG_EQ(to.receivedBytes, inbox.got.size() * 1090, "bytes received");
        NS_TEST_ASSERT_MSG_EQ(to.received + DatagramDrops(f), sent, "and dropped");
        NS_TEST_ASSERT_MSG_EQ(out.txDatagrams, to.received, "sent by the switch");
        NS_TEST_ASSERT_MSG_EQ(out.txDatagramBytes, to.receivedBytes, "bytes of the switch");
        NS_TEST_ASSERT_MSG_EQ(nic.rxDatagrams, to.received, "at the NIC");
        NS_TEST_ASSERT_MSG_EQ(nic.rxDatagramBytes, nic.rxClass[cls], "alone in the class");
        NS_TEST_ASSERT_MSG_EQ(nic.rxPayload[cls], 0, "not a queue pair's payload");
        NS_TEST_ASSERT_MSG_EQ(tx.datagrams, sent, "DatagramTx");
        NS_TEST_ASSERT_MSG_EQ(tx.bytes, sentBytes, "its bytes");
        NS_TEST_ASSERT_MSG_EQ(rx.datagrams, to.received, "DatagramRx");
        NS_TEST_ASSERT_MSG_EQ(rx.bytes, to.receivedBytes, "its bytes");
        NS_TEST_ASSERT_MSG_EQ((f.Drops() > 0), (cls == 0), "class 0 drops");
        NS_TEST_ASSERT_MSG_EQ((f.Pauses() > 0), (cls == 2), "class 2 pauses");
        NS_TEST_ASSERT_MSG_EQ((marked > 0), (cls == 2), "class 2 is marked");
        NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed(), 0, "buffer");
        NS_TEST_ASSERT_MSG_EQ(RoceDatagramBody::Outstanding(), bodies, "bodies not given back");
    }
}

ROCE_CASE(LimitCase, "a NIC's queue has its limit; what is in flight at the end is given back")
{
    const uint64_t bodies = RoceDatagramBody::Outstanding();
    const uint64_t frames = RoceFrame::Outstanding();
    {
        Fabric f;
        f.Star(2);
        Inbox inbox;
        inbox.Listen(f.At(1));
        uint32_t sent = 0;
        for (uint32_t i = 0; i < 200; i++)
        {
            sent += Send(f, 0, 1, 9164, 7, false);
        }
        // One on the wire and 2^20 / (9164 + 90) = 113 behind it.
        NS_TEST_ASSERT_MSG_EQ(sent, 114, "taken");
        NS_TEST_ASSERT_MSG_EQ(f.At(0)->GetDatagramCounters().refused, 86, "refused");
        f.At(0)->SendDatagram(0, f.At(0)->GetIp(0), 1, 7, 1, nullptr, 0, false); // loopback
        // Each takes 740.32 ns: three have arrived 2 links on at 5 us.
        Simulator::Stop(MicroSeconds(5));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 3, "received");
        NS_TEST_ASSERT_MSG_EQ(RoceDatagramBody::Outstanding(), bodies + 111, "on their way");
        f.At(0)->SendDatagram(0, f.At(0)->GetIp(0), 1, 7, 1, nullptr, 0, false);
    }
    NS_TEST_ASSERT_MSG_EQ(RoceDatagramBody::Outstanding(), bodies, "bodies not given back");
    NS_TEST_ASSERT_MSG_EQ(RoceFrame::Outstanding(), frames, "frames not given back");
}

ROCE_CASE(TsharkCase, "tshark dissects datagrams without complaint")
{
    const std::string file = CreateTempDirFilename("datagram.pcap");
    {
        Fabric f;
        f.Star(2);
        NamePorts(f);
        f.roce.EnablePcap(file, f.Nic(1), true, true);
        Inbox inbox;
        inbox.Listen(f.At(1));
        for (const bool record : {false, true})
        {
            for (const uint32_t size : {0, 1, 2, 3, 4, 8, 100, 1000, 9000})
            {
                Send(f, 0, 1, size, 7, record);
            }
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 18, "received");
    }
    if (Output("command -v tshark").empty())
    {
        std::cout << "crux-roce-datagram: tshark is not installed, pcap not dissected" << std::endl;
        return;
    }
    const auto fields = [&file](const std::string& options) {
        return Output("tshark -n -o ip.check_checksum:TRUE " + options + " -r '" + file +
                      "' -T fields -E separator=/s -E quote=d -e infiniband.bth.opcode "
                      "-e infiniband.bth.destqp -e infiniband.deth.q_key "
                      "-e infiniband.deth.srcqp -e ip.checksum.status "
                      "-e _ws.expert.severity -e frame.protocols 2>/dev/null");
    };
    // As tshark is: its guesser for Ethernet over InfiniBand reads four bytes without looking
    // whether there are so many, so that the empty datagram (and no other) trips it. Severity
    // error is 8388608 (0x800000).
    const std::string guessed = fields("");
    NS_TEST_ASSERT_MSG_LT_OR_EQ(LinesWith(guessed, "8388608"), 1, "frames with errors");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(guessed, "eoib"),
                          LinesWith(guessed, "8388608"),
                          "errors of the guesser alone");
    const std::string lines = fields("--disable-protocol infiniband.eoib");
    // Opcode 100, the queue pair and key of all, kind 9, then a good IPv4 checksum and no error.
    const std::string head = "\"100\" \"0x000002\" \"0x0000000011111111\" ";
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, head + "\"0x00000009\" \"1\"  "), 9, lines);
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, head + "\"0x00010009\" \"1\"  "), 9, lines);
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "ip:udp:infiniband"), 18, "RoCEv2 frames");
    NS_TEST_ASSERT_MSG_EQ(LinesWith(lines, "malformed"), 0, "malformed frames");
}

/** Datagrams. */
class RoceDatagramSuite : public TestSuite
{
  public:
    RoceDatagramSuite()
        : TestSuite("crux-roce-datagram", UNIT)
    {
        AddTestCase(new PayloadCase, TestCase::QUICK);
        AddTestCase(new LatencyCase, TestCase::QUICK);
        AddTestCase(new BytesCase, TestCase::QUICK);
        AddTestCase(new LoopbackCase, TestCase::QUICK);
        AddTestCase(new KindCase, TestCase::QUICK);
        AddTestCase(new CountersCase, TestCase::QUICK);
        AddTestCase(new LimitCase, TestCase::QUICK);
        AddTestCase(new TsharkCase, TestCase::QUICK);
    }
};

RoceDatagramSuite g_roceDatagramSuite; //!< the suite

} // namespace
