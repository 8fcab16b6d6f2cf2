/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-ecmp: forwarding: ECMP over parallel links by the hash of libcrux, no
 * polarisation, shared groups, path tracing, errors of routes and connections.
 *
 * Place: test (C++17). Depends on crux-roce-test, model/core (hash).
 */
#include "crux-roce-test.h"

#include <map>
#include <set>

using namespace crux_roce_test;

namespace
{

ROCE_CASE(ParallelCase, "4 parallel links carry 64 queue pairs as crux_ecmp_hash says")
{
    Fabric f;
    const uint64_t seed = crux_ecmp_seed(42, {7});
    Ptr<Node> left = f.Switch(seed);
    Ptr<Node> right = f.Switch(crux_ecmp_seed(42, {8}));
    f.Cable(f.hosts[f.Host()], left);
    f.Cable(f.hosts[f.Host()], right);
    for (int i = 0; i < 4; i++)
    {
        f.Cable(left, right);
    }
    f.roce.InstallRoutes();
    std::vector<uint64_t> want(4);
    for (uint32_t i = 0; i < 64; i++)
    {
        const uint16_t port = 49152 + 37 * i;
        Ptr<RoceQueuePair> qp = f.Pair(0, 1, 1, port);
        qp->PostSend(i, 4096 * (i + 1));
        const crux_five_tuple tuple = {qp->GetLocalIp(), qp->GetRemoteIp(), port, 4791, 17};
        want[crux_ecmp_hash(&tuple, seed) % 4] += 4096 * (i + 1);
        // The path traced is the one hashed: port 0 is the host's, 1..4 the parallel links.
        const auto path = f.At(0)->TracePath(0, qp->GetRemoteIp(), port);
        NS_TEST_ASSERT_MSG_EQ(path.size(), 3, "links on the path");
        NS_TEST_ASSERT_MSG_EQ(path[1]->GetPort(),
                              1 + crux_ecmp_hash(&tuple, seed) % 4,
                              "port of the path");
    }
    Simulator::Run();
    for (uint32_t i = 0; i < 4; i++)
    {
        const RocePortCounters& c = f.switches[0]->GetPort(1 + i)->GetCounters();
        NS_TEST_ASSERT_MSG_EQ(c.txPayload[1], want[i], "payload on parallel link " << i);
        NS_TEST_ASSERT_MSG_GT(c.txPayload[1], 0, "parallel link " << i << " is used");
    }
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 64, "messages");
}

ROCE_CASE(PolarCase, "two stages of 4 links with seeds of their own: all 16 combinations are used")
{
    Fabric f;
    const uint32_t a = f.Host();
    const uint32_t b = f.Host();
    std::vector<Ptr<Node>> row;
    for (uint32_t i = 0; i < 3; i++)
    {
        row.push_back(f.Switch(crux_ecmp_seed(1, {i})));
    }
    f.Cable(f.hosts[a], row[0]);
    for (uint32_t i = 0; i < 8; i++)
    {
        f.Cable(row[i / 4], row[i / 4 + 1]);
    }
    f.Cable(row[2], f.hosts[b]);
    f.roce.InstallRoutes();
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> used;
    for (uint32_t i = 0; i < 256; i++)
    {
        const auto path = f.At(a)->TracePath(0, f.At(b)->GetIp(0), 49152 + i);
        used[{path[1]->GetPort(), path[2]->GetPort()}]++;
    }
    NS_TEST_ASSERT_MSG_EQ(used.size(), 16, "combinations used by 256 source ports");
    // 16 expected in each, standard deviation 3.9: all within 4 sigma.
    for (const auto& u : used)
    {
        NS_TEST_ASSERT_MSG_EQ_TOL(double(u.second), 16, 16, "share of a combination");
    }
}

ROCE_CASE(GroupCase, "equal sets of ports are stored once; addresses outside 10.0.0.0 work")
{
    Fabric f;
    f.Star(3);
    Ptr<RoceSwitch> sw = f.switches[0];
    const uint32_t before = sw->GetNGroups();
    const uint32_t group = sw->AddGroup({0, 1});
    for (uint32_t i = 0; i < 1000; i++)
    {
        sw->AddRouteGroup(0x0a010000 + i, group);
        sw->AddRoute(0x0a020000 + i, {0, 1});
        sw->AddRoute(0xc0a80000 + i, {0, 1});
    }
    NS_TEST_ASSERT_MSG_EQ(sw->GetNGroups(), before + 1, "sets stored");
    NS_TEST_ASSERT_MSG_EQ(sw->GetRoute(0xc0a80001).size(), 2, "route of 192.168.0.1");
    NS_TEST_ASSERT_MSG_EQ(sw->GetRoute(0x0a0203e7).size(), 2, "route of 10.2.3.231");
    NS_TEST_ASSERT_MSG_EQ(sw->GetRoute(0xc0a90001).size(), 0, "no route");
}

/** Whether @p text holds @p part. */
bool
Has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

ROCE_CASE(ErrorsCase, "connections that cannot be are refused with one clear line")
{
    Fabric f;
    f.Star(2);
    const uint32_t lone = f.Host();
    Ptr<RoceNetDevice> device = CreateObject<RoceNetDevice>();
    f.hosts[lone]->AddDevice(device);
    f.At(lone)->AddNic(device, 0x0a00ff01);
    Ptr<RoceQueuePair> a = f.At(0)->CreateQueuePair(0);
    Ptr<RoceQueuePair> a2 = f.At(0)->CreateQueuePair(0);
    Ptr<RoceQueuePair> b = f.At(1)->CreateQueuePair(0);
    Ptr<RoceQueuePair> c = f.At(lone)->CreateQueuePair(0);
    std::string why;
    const std::string nic = f.Nic(0)->GetLabel();
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(a, nullptr, &why), false, "null");
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(a, a, &why), false, "itself");
    NS_TEST_ASSERT_MSG_EQ(Has(why, "both ends are on NIC " + nic), true, why);
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(a, a2, &why), false, "same NIC");
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(c, b, &why), false, "no cable");
    NS_TEST_ASSERT_MSG_EQ(Has(why, device->GetLabel() + " has no cable"), true, why);
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(a, c, &why), false, "no route");
    NS_TEST_ASSERT_MSG_EQ(Has(why, "to 10.0.255.1") && Has(why, "has no route"), true, why);
    a->SetAttribute("Payload", UintegerValue(9200));
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(a, b, &why), false, "payload beyond the MTU");
    NS_TEST_ASSERT_MSG_EQ(Has(why, "9200") && Has(why, "9216") && Has(why, nic), true, why);
    a->SetAttribute("Payload", UintegerValue(1000));
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(a, b, &why), false, "payloads differ");
    NS_TEST_ASSERT_MSG_EQ(Has(why, "1000") && Has(why, "4096"), true, why);
    NS_TEST_ASSERT_MSG_EQ(a->PostSend(1, 1), false, "post before connecting");
    a->SetAttribute("Payload", UintegerValue(4096));
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(a, b, &why), true, "right");
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(a2, b, &why), false, "connected already");
    NS_TEST_ASSERT_MSG_EQ(Has(why, "connected already"), true, why);
    // Two hosts back to back need no switch; two islands have no path.
    const uint32_t d = f.Host();
    const uint32_t e = f.Host();
    f.Cable(f.hosts[d], f.hosts[e]);
    Ptr<RoceQueuePair> dq = f.At(d)->CreateQueuePair(0);
    Ptr<RoceQueuePair> eq = f.At(e)->CreateQueuePair(0);
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(dq, a2, &why), false, "islands");
    NS_TEST_ASSERT_MSG_EQ(Has(why, "the path ends at"), true, why);
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(dq, eq, &why), true, "back to back");
}

ROCE_CASE(LoopCase, "routes that make a loop are found before traffic, and stop it when forced")
{
    Fabric f;
    const uint32_t a = f.Host();
    const uint32_t b = f.Host();
    Ptr<Node> one = f.Switch(1);
    Ptr<Node> two = f.Switch(2);
    f.Cable(f.hosts[a], one);
    f.Cable(one, two);
    f.Cable(two, f.hosts[b]);
    f.roce.InstallRoutes();
    Ptr<RoceQueuePair> qp = f.Pair(a, b);
    Config::Set("/NodeList/*/DeviceList/*/$ns3::RoceNetDevice/Mtu", UintegerValue(9000));
    f.switches[1]->AddRoute(f.At(b)->GetIp(0), {0}); // back to the first switch
    f.switches[0]->AddRoute(f.At(b)->GetIp(0), {1});
    std::string why;
    NS_TEST_ASSERT_MSG_EQ(f.At(a)->TracePath(0, f.At(b)->GetIp(0), 1, &why).size(), 0, "path");
    NS_TEST_ASSERT_MSG_EQ(Has(why, "loop"), true, why);
    qp->SetAttribute("RetryLimit", UintegerValue(0));
    qp->PostSend(1, 1);
    Simulator::Run();
    uint64_t ttl = 0;
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        ttl += port->GetCounters().drops[static_cast<size_t>(RoceDropReason::TTL)];
    }
    NS_TEST_ASSERT_MSG_EQ(ttl, 1, "dropped by TTL");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 1, "error completion");
}

/** Forwarding. */
class RoceEcmpSuite : public TestSuite
{
  public:
    RoceEcmpSuite()
        : TestSuite("crux-roce-ecmp", UNIT)
    {
        AddTestCase(new ParallelCase, TestCase::QUICK);
        AddTestCase(new PolarCase, TestCase::QUICK);
        AddTestCase(new GroupCase, TestCase::QUICK);
        AddTestCase(new ErrorsCase, TestCase::QUICK);
        AddTestCase(new LoopCase, TestCase::QUICK);
    }
};

RoceEcmpSuite g_roceEcmpSuite; //!< the suite

} // namespace
