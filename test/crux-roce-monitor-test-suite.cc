/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-monitor: the sampler's rows, bounds and end, and ns-3's own means over the
 * same devices: Config paths, pcap and ASCII traces, FlowMonitor when it is there.
 *
 * Place: test (C++17). Depends on crux-roce-test, crux-roce-fork, ns-3 internet and
 * applications.
 */
#include "crux-roce-fork.h"
#include "crux-roce-test.h"

#include "ns3/applications-module.h"
#include "ns3/crux-roce-sampler.h"
#include "ns3/internet-module.h"

#ifdef CRUX_HAVE_FLOW_MONITOR
#include "ns3/flow-monitor-module.h"
#endif

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace crux_roce_test;

namespace
{

/** A sampler. */
Ptr<RoceSampler>
Sampler(Time interval, uint64_t maxRows = 1000000)
{
    Ptr<RoceSampler> sampler = CreateObject<RoceSampler>();
    sampler->SetAttribute("Interval", TimeValue(interval));
    sampler->SetAttribute("MaxRows", UintegerValue(maxRows));
    return sampler;
}

ROCE_CASE(EndCase, "a monitor of 100 ns ends with the traffic, and begins again with it")
{
    Fabric f;
    f.Star(2);
    Ptr<RoceSampler> sampler = Sampler(NanoSeconds(100));
    sampler->Watch(f.Nic(0), 1);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    qp->PostSend(1, 100000);
    Simulator::Schedule(MilliSeconds(900), [qp] { qp->PostSend(2, 100000); });
    Simulator::Run(); // without a stop time
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 2, "messages");
    // The last event but for timers is the ACK's; the QP's retransmission timer may stand 67 ms.
    NS_TEST_ASSERT_MSG_LT(Simulator::Now().GetMilliSeconds(), 1000, "end of the run in ms");
    const std::vector<RoceSample>& rows = sampler->GetRows();
    // Twice 25 frames of 334 ns, 8.1 us: a row at most each 100 ns, and one without change each.
    NS_TEST_ASSERT_MSG_GT(rows.size(), 2 * 25, "rows");
    NS_TEST_ASSERT_MSG_LT(rows.size(), 2 * 90, "rows");
    double bits = 0;
    int64_t last = 0;
    for (const RoceSample& row : rows)
    {
        NS_TEST_ASSERT_MSG_EQ(row.atPs % 100000, 0, "on the grid");
        NS_TEST_ASSERT_MSG_GT(row.atPs, last, "in order");
        last = row.atPs;
        bits += static_cast<double>(row.bitsPerSecond) * 100e-9;
    }
    NS_TEST_ASSERT_MSG_EQ_TOL(bits, 16.0 * WireBytes(100000, 4096), 1, "bits in the rows");
    NS_TEST_ASSERT_MSG_EQ(rows.back().bitsPerSecond, 0, "it ends with a row of nothing");
}

ROCE_CASE(EmptyCase, "a monitor that watches nothing does nothing")
{
    Fabric f;
    f.Star(2);
    Ptr<RoceSampler> sampler = Sampler(NanoSeconds(100));
    f.Pair(0, 1)->PostSend(1, 100000);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(sampler->GetRows().size(), 0, "rows");
    std::ostringstream out;
    sampler->WriteCsv(out);
    NS_TEST_ASSERT_MSG_EQ(out.str(),
                          "time_ps,subject,class,queue_bytes,throughput_bps,paused_ps,rate_bps\n",
                          "table");
}

ROCE_CASE(RowsCase, "queue, throughput, pauses and rates have their values")
{
    Fabric f;
    UseControl("ns3::RoceFixedRate");
    Config::SetDefault("ns3::RoceFixedRate::Rate", StringValue("60Gbps"));
    f.Star(3);
    Ptr<RoceSampler> sampler = Sampler(MicroSeconds(10));
    const Ptr<RoceNetDevice> out = f.switches[0]->GetPort(2);
    Ptr<RoceQueuePair> a = f.Pair(0, 2, 3);
    Ptr<RoceQueuePair> b = f.Pair(1, 2, 3);
    const uint32_t queue = sampler->Watch(out, 3);
    const uint32_t rate = sampler->Watch(a);
    a->PostSend(1, 10000000);
    b->PostSend(2, 10000000);
    Simulator::Schedule(MicroSeconds(100), [&f] { f.Nic(2)->SendPause(1 << 3, 4000); }); // 20.48 us
    Simulator::Schedule(MicroSeconds(90), [&] {
        // 2 x 60 - 100 = 20 Gbit/s make 2,500 B a us from 1.3 us on (a frame and a cable).
        const std::vector<RoceSample>& rows = sampler->GetRows();
        NS_TEST_ASSERT_MSG_EQ((rows.size() >= 16), true, "rows by 90 us");
        const RoceSample& q = rows[14]; // at 80 us
        NS_TEST_ASSERT_MSG_EQ(q.subject, queue, "subject");
        NS_TEST_ASSERT_MSG_EQ(q.atPs, 80000000, "ps");
        NS_TEST_ASSERT_MSG_EQ_TOL(double(q.queueBytes), 2500 * 78.7, 3 * 4178, "queue in bytes");
        NS_TEST_ASSERT_MSG_EQ_TOL(double(q.bitsPerSecond), 100e9, 4178 * 8 / 10e-6, "bit/s");
        NS_TEST_ASSERT_MSG_EQ(q.pausedPs, 0, "paused");
        const RoceSample& r = rows[15];
        NS_TEST_ASSERT_MSG_EQ(r.subject, rate, "subject");
        NS_TEST_ASSERT_MSG_EQ(+r.cls, +RoceSample::QUEUE_PAIR, "class");
        NS_TEST_ASSERT_MSG_EQ(r.rateBps, 60000000000, "rate");
        NS_TEST_ASSERT_MSG_EQ_TOL(double(r.bitsPerSecond),
                                  60e9 * 4096 / 4178,
                                  4096 * 8 / 10e-6,
                                  "payload bit/s");
    });
    Simulator::Run();
    int64_t paused = 0;
    for (const RoceSample& row : sampler->GetRows())
    {
        paused += row.pausedPs;
    }
    NS_TEST_ASSERT_MSG_EQ(paused, 20480000, "ps paused in all rows");
    NS_TEST_ASSERT_MSG_EQ(sampler->GetName(queue), out->GetLabel(), "name");
    std::ostringstream csv;
    sampler->WriteCsv(csv);
    const std::string text = csv.str();
    NS_TEST_ASSERT_MSG_EQ(uint64_t(std::count(text.begin(), text.end(), '\n')),
                          sampler->GetRows().size() + 1,
                          "lines of the table");
}

ROCE_CASE(BoundCase, "when the rows are full it says so once and stops; intervals have a floor")
{
    const auto run = [] {
        Fabric f;
        f.Star(2);
        Ptr<RoceSampler> sampler = Sampler(NanoSeconds(200), 50);
        sampler->Watch(f.Nic(0), 1);
        sampler->Watch(f.Nic(1), 1);
        f.Pair(0, 1)->PostSend(1, 10000000);
        Simulator::Run();
        _exit(sampler->GetRows().size() == 50 && sampler->IsFull() && f.received.size() == 1 ? 0
                                                                                             : 1);
    };
    const Died end = RunForked(run);
    NS_TEST_ASSERT_MSG_EQ(end.failed, false, "50 rows, and the message arrived: " << end.text);
    // 25 samples of two rows are taken; the 26th, at 5.2 us, finds no room.
    NS_TEST_ASSERT_MSG_EQ(end.text,
                          "crux: monitor: MaxRows = 50 rows are written; no more from +5.2us\n",
                          "said once");
    Ptr<RoceSampler> sampler = CreateObject<RoceSampler>();
    NS_TEST_ASSERT_MSG_EQ(sampler->SetAttributeFailSafe("Interval", TimeValue(NanoSeconds(99))),
                          false,
                          "99 ns");
    NS_TEST_ASSERT_MSG_EQ(sampler->SetAttributeFailSafe("MaxRows", UintegerValue(0)), false, "0");
}

ROCE_CASE(GoneCase, "a monitor that goes away before its ports leaves nothing behind")
{
    Fabric f;
    f.Star(2);
    Ptr<RoceSampler> sampler = Sampler(MicroSeconds(1));
    sampler->Watch(f.Nic(0), 1);
    f.Pair(0, 1)->PostSend(1, 1000000);
    Simulator::Schedule(MicroSeconds(20), [&sampler] { sampler = nullptr; });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "messages");
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

/** A TCP transfer from host 0 to host 1; the sink. */
Ptr<PacketSink>
InstallTcp(Fabric& f, uint64_t bytes)
{
    InstallIp(f, 0);
    InstallIp(f, 1);
    const Ipv4Address to(f.At(1)->GetIp(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 80));
    Ptr<PacketSink> sunk = DynamicCast<PacketSink>(sink.Install(f.hosts[1]).Get(0));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, 80));
    bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
    bulk.Install(f.hosts[0]);
    return sunk;
}

ROCE_CASE(ConfigCase, "Config paths set attributes and connect traces of all ports")
{
    Fabric f;
    f.Star(3);
    const std::string ports = "/NodeList/*/DeviceList/*/$ns3::RoceNetDevice/";
    Config::Set(ports + "DataRate", StringValue("40Gbps"));
    Config::Set(ports + "DrrClasses", UintegerValue(6));
    Config::Set("/NodeList/*/$ns3::RoceSwitch/ResumeOffset", UintegerValue(5000));
    uint64_t frames = 0;
    Config::ConnectWithoutContext(
        ports + "RxEnd",
        Callback<void, const RoceFrame&>([&frames](const RoceFrame&) { frames++; }));
    f.Pair(0, 1)->PostSend(1, 40960);
    Simulator::Run();
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        NS_TEST_ASSERT_MSG_EQ(port->GetRateBps(), 40000000000, "rate");
        NS_TEST_ASSERT_MSG_EQ(+port->GetDrrClasses(), 6, "classes in turns");
    }
    UintegerValue offset;
    f.switches[0]->GetAttribute("ResumeOffset", offset);
    NS_TEST_ASSERT_MSG_EQ(offset.Get(), 5000, "offset");
    NS_TEST_ASSERT_MSG_EQ(frames, 2 * 10 + 2, "10 packets and an ACK over two links");
}

ROCE_CASE(PathsCase, "and of queue pairs, their congestion control and the cables")
{
    Fabric f;
    f.Star(2);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    const std::string pairs = "/NodeList/*/$ns3::RoceHost/QueuePairs/*/";
    Config::Set(pairs + "AckEvery", UintegerValue(5));
    Config::Set(pairs + "Controller/$ns3::RoceDcqcn/Gain", DoubleValue(0.5));
    Config::Set("/ChannelList/*/$ns3::RoceChannel/Delay", TimeValue(MicroSeconds(3)));
    uint32_t ended = 0;
    for (const std::string source : {"SendComplete", "RecvComplete"})
    {
        Config::ConnectWithoutContext(pairs + source,
                                      Callback<void, Ptr<RoceQueuePair>, const RoceCompletion&>(
                                          [&ended](Ptr<RoceQueuePair>, const RoceCompletion& c) {
                                              ended += c.status == RoceStatus::SUCCESS;
                                          }));
    }
    qp->PostSend(1, 50 * 4096);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(ended, 2, "completions of both ends");
    NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().acksSent, 10, "an ACK for 5 packets");
    // 50 packets on the first link, the last one on the second, 3 us each.
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(1), 51 * 334240 + 6000000, "time in ps");
    DoubleValue gain;
    qp->GetCongestionControl()->GetAttribute("Gain", gain);
    NS_TEST_ASSERT_MSG_EQ(gain.Get(), 0.5, "gain");
    // 2 x 3 us x 100 Gbit/s / 8 in place of 2 x 1 us.
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetPort(0)->GetHeadroom(), 78650 + 50000, "headroom");
    // What cannot be: a delay of nothing, and one that changes under frames on the cable.
    for (const std::string delay : {"0s", "2us"})
    {
        const Died died = RunForked([&] {
            qp->PostSend(2, 50 * 4096);
            Simulator::Schedule(MicroSeconds(5), [&delay] {
                Config::Set("/ChannelList/0/$ns3::RoceChannel/Delay", StringValue(delay));
            });
            Simulator::Run();
        });
        NS_TEST_ASSERT_MSG_EQ(died.failed, true, delay);
        const std::string want = delay == "0s" ? "must be above 0" : "frames are on the cable";
        NS_TEST_ASSERT_MSG_NE(died.text.find(want), std::string::npos, died.text);
    }
}

ROCE_CASE(FilesCase, "pcap and ASCII traces hold RoCE and TCP of the same port")
{
    Fabric f;
    f.Star(2, "10Gbps");
    Ptr<PacketSink> sunk = InstallTcp(f, 100000);
    const std::string pcap = CreateTempDirFilename("crux-monitor.pcap");
    const std::string ascii = CreateTempDirFilename("crux-monitor.tr");
    f.roce.EnablePcap(pcap, f.Nic(0), true, true);
    {
        AsciiTraceHelper helper;
        f.roce.EnableAscii(helper.CreateFileStream(ascii), f.Nic(0));
    }
    f.Pair(0, 1, 5)->PostSend(1, 40960);
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(sunk->GetTotalRx(), 100000, "bytes by TCP");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "messages");
    const RocePortCounters& c = f.Nic(0)->GetCounters();
    std::ifstream lines(ascii);
    uint64_t sent = 0;
    uint64_t arrived = 0;
    for (std::string line; std::getline(lines, line);)
    {
        sent += line[0] == '+';
        arrived += line[0] == 'r';
    }
    NS_TEST_ASSERT_MSG_EQ(sent, c.txFrames, "lines of frames sent");
    NS_TEST_ASSERT_MSG_EQ(arrived, c.rxFrames, "lines of frames received");
    std::ifstream file(pcap, std::ios::binary | std::ios::ate);
    // 24 B for the file, 16 B a frame; a frame without FCS, preamble and gap (24 B), the shortest
    // perhaps without padding.
    const auto size = static_cast<uint64_t>(file.tellg());
    const uint64_t frames = c.txFrames + c.rxFrames;
    const uint64_t most = 24 + c.txBytes + c.rxBytes + frames * 16 - frames * 24;
    NS_TEST_ASSERT_MSG_EQ((size <= most && size + 30 * frames >= most), true, "size " << size);
}

ROCE_CASE(TcpLossCase, "TCP that overloads a port is dropped in class 0; RoCE does not notice")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(300000));
    Config::SetDefault("ns3::RoceNetDevice::EcnClasses", UintegerValue(0));
    f.Star(3, "10Gbps");
    for (uint32_t host : {0, 1, 2})
    {
        InstallIp(f, host);
    }
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 80));
    Ptr<PacketSink> sunk = DynamicCast<PacketSink>(sink.Install(f.hosts[2]).Get(0));
    BulkSendHelper bulk("ns3::TcpSocketFactory",
                        InetSocketAddress(Ipv4Address(f.At(2)->GetIp(0)), 80));
    bulk.SetAttribute("MaxBytes", UintegerValue(2000000));
    bulk.Install(NodeContainer(f.hosts[0], f.hosts[1]));
    Ptr<RoceQueuePair> qp = f.Pair(0, 2, 5);
    Simulator::Schedule(MilliSeconds(1), [qp] { qp->PostSend(1, 1000000); });
    Simulator::Stop(Seconds(5));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(sunk->GetTotalRx(), 4000000, "bytes by TCP");
    uint64_t lost = 0;
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        lost += port->GetCounters().dropsOf[0][static_cast<size_t>(RoceDropReason::BUFFER)];
    }
    NS_TEST_ASSERT_MSG_GT(lost, 0, "lost in class 0");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), lost, "and nothing else");
    // 800 ps a byte; as if alone, but for one TCP frame (ns-3's segments of 536 B are at most
    // 636 B on the wire) in the way on each of two links.
    const int64_t alone = 1000000000 + int64_t(WireBytes(1000000, 4096) + 4178) * 800 + 2000000;
    NS_TEST_ASSERT_MSG_GT_OR_EQ(f.ReceivedPs(1), alone, "RoCE in ps");
    NS_TEST_ASSERT_MSG_LT_OR_EQ(f.ReceivedPs(1), alone + 2 * 636 * 800, "RoCE in ps");
}

#ifdef CRUX_HAVE_FLOW_MONITOR
ROCE_CASE(FlowMonitorCase, "FlowMonitor sees TCP over the devices, beside RoCE")
{
    Fabric f;
    f.Star(2, "10Gbps");
    Ptr<PacketSink> sunk = InstallTcp(f, 100000);
    FlowMonitorHelper helper;
    NodeContainer ends(f.hosts[0], f.hosts[1]);
    Ptr<FlowMonitor> monitor = helper.Install(ends);
    f.Pair(0, 1, 5)->PostSend(1, 1000000);
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(sunk->GetTotalRx(), 100000, "bytes by TCP");
    const FlowMonitor::FlowStatsContainer stats = monitor->GetFlowStats();
    NS_TEST_ASSERT_MSG_EQ(stats.size(), 2, "data and ACKs of TCP");
    NS_TEST_ASSERT_MSG_GT(stats.at(1).rxBytes, 100000, "bytes with headers");
    NS_TEST_ASSERT_MSG_EQ(stats.at(1).rxPackets, stats.at(1).txPackets, "packets");
    NS_TEST_ASSERT_MSG_EQ(stats.at(1).lostPackets, 0, "lost");
    // Two links of 1 us and a frame on each: no packet is faster.
    NS_TEST_ASSERT_MSG_GT(stats.at(1).delaySum.GetNanoSeconds(),
                          int64_t(2000 * stats.at(1).rxPackets),
                          "delay");
}
#endif

/** Monitors. */
class RoceMonitorSuite : public TestSuite
{
  public:
    RoceMonitorSuite()
        : TestSuite("crux-roce-monitor", UNIT)
    {
        AddTestCase(new EndCase, TestCase::QUICK);
        AddTestCase(new EmptyCase, TestCase::QUICK);
        AddTestCase(new RowsCase, TestCase::QUICK);
        AddTestCase(new BoundCase, TestCase::QUICK);
        AddTestCase(new GoneCase, TestCase::QUICK);
        AddTestCase(new ConfigCase, TestCase::QUICK);
        AddTestCase(new PathsCase, TestCase::QUICK);
        AddTestCase(new FilesCase, TestCase::QUICK);
        AddTestCase(new TcpLossCase, TestCase::QUICK);
#ifdef CRUX_HAVE_FLOW_MONITOR
        AddTestCase(new FlowMonitorCase, TestCase::QUICK);
#endif
    }
};

RoceMonitorSuite g_roceMonitorSuite; //!< the suite

} // namespace
