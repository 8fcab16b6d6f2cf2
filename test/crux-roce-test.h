/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-test: what the packet level's suites share: a small fabric with a record
 * of every completion.
 *
 * Place: test (C++17, internal). Depends on helper/crux-roce-helper.
 */
#ifndef CRUX_ROCE_TEST_H
#define CRUX_ROCE_TEST_H

#include "ns3/config.h"
#include "ns3/crux-roce-helper.h"
#include "ns3/crux-roce-monitor.h"
#include "ns3/crux-topology.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <string>
#include <vector>

namespace crux_roce_test
{

using namespace ns3;

/** A completion and whose it was. */
struct Seen
{
    uint32_t qpn;              //!< queue pair
    RoceCompletion completion; //!< what it was told
};

/** Hosts, switches and cables with the completions they saw. */
class Fabric
{
  public:
    Fabric()
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS); // the suites compute in ps
        }
        Config::Reset();
    }

    ~Fabric()
    {
        Simulator::Destroy();
        Config::Reset();
    }

    uint32_t Host()
    {
        hosts.push_back(CreateObject<Node>());
        roce.MakeHost(hosts.back());
        return hosts.size() - 1;
    }

    Ptr<Node> Switch(uint64_t seed = 1)
    {
        Ptr<Node> node = CreateObject<Node>();
        switches.push_back(roce.MakeSwitch(node, seed));
        nodes.push_back(node);
        return node;
    }

    /** Lay a cable; the two ports. */
    std::pair<Ptr<RoceNetDevice>, Ptr<RoceNetDevice>> Cable(Ptr<Node> a,
                                                            Ptr<Node> b,
                                                            std::string rate = "100Gbps",
                                                            std::string delay = "1us")
    {
        roce.SetDeviceAttribute("DataRate", StringValue(rate));
        roce.SetChannelAttribute("Delay", StringValue(delay));
        return roce.Connect(a, b);
    }

    /** n hosts on one switch. */
    void Star(uint32_t n, std::string rate = "100Gbps")
    {
        Ptr<Node> sw = Switch();
        for (uint32_t i = 0; i < n; i++)
        {
            Cable(hosts[Host()], sw, rate);
        }
        roce.InstallRoutes();
    }

    Ptr<RoceHost> At(uint32_t host) const
    {
        return hosts[host]->GetObject<RoceHost>();
    }

    Ptr<RoceNetDevice> Nic(uint32_t host) const
    {
        return At(host)->GetNic(0);
    }

    /** A connected queue pair from one host to another; its completions are recorded. */
    Ptr<RoceQueuePair> Pair(uint32_t from, uint32_t to, uint8_t cls = 1, uint16_t port = 0)
    {
        Ptr<RoceQueuePair> a = At(from)->CreateQueuePair(0);
        Ptr<RoceQueuePair> b = At(to)->CreateQueuePair(0);
        a->SetTrafficClass(cls);
        if (port)
        {
            a->SetSourcePort(port);
        }
        a->SetSendCallback(MakeCallback(&Fabric::OnSent, this));
        b->SetRecvCallback(MakeCallback(&Fabric::OnReceived, this));
        RoceQueuePair::Connect(a, b);
        return a;
    }

    void OnSent(Ptr<RoceQueuePair> qp, const RoceCompletion& c)
    {
        sent.push_back({qp->GetQpn(), c});
    }

    void OnReceived(Ptr<RoceQueuePair> qp, const RoceCompletion& c)
    {
        received.push_back({qp->GetQpn(), c});
    }

    /** When the message of that number was received, ps; -1 when it was not. */
    int64_t ReceivedPs(uint64_t wrId) const
    {
        for (const Seen& s : received)
        {
            if (s.completion.wrId == wrId)
            {
                return s.completion.time.GetPicoSeconds();
            }
        }
        return -1;
    }

    /** All ports of all nodes. */
    std::vector<Ptr<RoceNetDevice>> Ports() const
    {
        std::vector<Ptr<RoceNetDevice>> ports;
        for (const Ptr<RoceSwitch>& sw : switches)
        {
            for (uint32_t p = 0; p < sw->GetNPorts(); p++)
            {
                ports.push_back(sw->GetPort(p));
            }
        }
        for (const Ptr<Node>& host : hosts)
        {
            const Ptr<RoceHost> rdma = host->GetObject<RoceHost>();
            for (uint32_t i = 0; i < rdma->GetNNics(); i++)
            {
                ports.push_back(rdma->GetNic(i));
            }
        }
        return ports;
    }

    uint64_t Drops() const
    {
        uint64_t n = 0;
        for (const Ptr<RoceNetDevice>& port : Ports())
        {
            n += port->GetCounters().Drops();
        }
        return n;
    }

    uint64_t Pauses() const
    {
        uint64_t n = 0;
        for (const Ptr<RoceNetDevice>& port : Ports())
        {
            n += port->GetCounters().Pauses();
        }
        return n;
    }

    uint64_t Cnps() const
    {
        uint64_t n = 0;
        for (const Ptr<Node>& host : hosts)
        {
            const Ptr<RoceHost> rdma = host->GetObject<RoceHost>();
            for (uint32_t i = 0; i < rdma->GetNQueuePairs(); i++)
            {
                n += rdma->GetQueuePair(i)->GetCounters().cnpsSent;
            }
        }
        return n;
    }

    RoceHelper roce;                       //!< builder
    std::vector<Ptr<Node>> hosts;          //!< hosts
    std::vector<Ptr<Node>> nodes;          //!< the switches' nodes
    std::vector<Ptr<RoceSwitch>> switches; //!< switches
    std::vector<Seen> sent;                //!< completions of senders
    std::vector<Seen> received;            //!< completions of receivers
};

/** Bytes on a link of a message. */
inline uint64_t
WireBytes(uint64_t bytes, uint64_t payload)
{
    const uint64_t packets = bytes ? (bytes + payload - 1) / payload : 1;
    return bytes + packets * ROCE_OVERHEAD;
}

/** Use a congestion control by default. */
inline void
UseControl(const std::string& type)
{
    Config::SetDefault("ns3::RoceQueuePair::CongestionControl",
                       TypeIdValue(TypeId::LookupByName(type)));
}

/** A case from a member function's body. */
#define ROCE_CASE(name, text)                                                                      \
    class name : public TestCase                                                                   \
    {                                                                                              \
      public:                                                                                      \
        name()                                                                                     \
            : TestCase(text)                                                                       \
        {                                                                                          \
        }                                                                                          \
                                                                                                   \
      private:                                                                                     \
        void DoRun() override;                                                                     \
    };                                                                                             \
    void name::DoRun()

} // namespace crux_roce_test

#endif /* CRUX_ROCE_TEST_H */
