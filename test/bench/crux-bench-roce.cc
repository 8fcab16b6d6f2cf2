/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-bench-roce: speed of the packet level on the workloads of test/data/bench,
 * beside the rate of empty events of ns-3's engine in the same run.
 *
 * Place: test/bench (C++17). Depends on helper/crux-roce-helper.
 *
 * Workloads (all links 100 Gbit/s, 1 us): a one flow of 100 MB, host-switch-host; b 8 hosts to
 * one; c 16 hosts, 4 ToR, 4 spines; d the same Clos, ring of dependent chunks. A file holds the
 * number of flows, then "source destination bytes after" (after: index of the flow whose end
 * starts this one, -1: at once). Expected for a at 1000 B: 100,000 packets x 1082 B x 8 /
 * 100 Gbit/s + the last packet's second link 86.56 ns + 2 us = 8.658 ms.
 */
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/crux-roce-helper.h"
#include "ns3/crux-roce-monitor.h"
#include "ns3/crux-topology.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

namespace
{

/** A line of a workload. */
struct Flow
{
    uint32_t src;   //!< host
    uint32_t dst;   //!< host
    uint64_t bytes; //!< size
    int64_t after;  //!< flow whose end starts it
};

double
Seconds()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

bool
ReadFlows(const std::string& path, std::vector<Flow>& flows)
{
    std::ifstream in(path);
    size_t n = 0;
    if (!(in >> n))
    {
        return false;
    }
    flows.resize(n);
    for (size_t i = 0; i < n; i++)
    {
        Flow& f = flows[i];
        if (!(in >> f.src >> f.dst >> f.bytes >> f.after) || f.after >= int64_t(n))
        {
            return false;
        }
    }
    return true;
}

/** A fabric and the state of the flows on it. */
class Bench
{
  public:
    Bench(const std::vector<Flow>& flows, char workload)
        : m_flows(flows),
          m_waiting(flows.size())
    {
        if (workload == 'a' || workload == 'b')
        {
            BuildStar();
        }
        else
        {
            BuildClos(4, 4, 4);
        }
        m_roce.InstallRoutes();
        for (uint32_t i = 0; i < flows.size(); i++)
        {
            if (flows[i].after < 0)
            {
                Simulator::ScheduleNow(&Bench::Start, this, i);
            }
            else
            {
                m_waiting[flows[i].after].push_back(i);
            }
        }
    }

    void Start(uint32_t i)
    {
        const auto key = std::make_pair(m_flows[i].src, m_flows[i].dst);
        Ptr<RoceQueuePair>& qp = m_qps[key];
        if (!qp)
        {
            qp = m_hosts[key.first]->GetObject<RoceHost>()->CreateQueuePair(0);
            Ptr<RoceQueuePair> far = m_hosts[key.second]->GetObject<RoceHost>()->CreateQueuePair(0);
            RoceQueuePair::Connect(qp, far);
            far->SetRecvCallback(MakeCallback(&Bench::Done, this));
        }
        qp->PostSend(i, m_flows[i].bytes);
    }

    void Done(Ptr<RoceQueuePair>, const RoceCompletion& completion)
    {
        m_done++;
        m_last = completion.time;
        for (uint32_t i : m_waiting[completion.wrId])
        {
            Start(i);
        }
    }

    uint64_t m_done{0}; //!< flows completed
    Time m_last;        //!< when the last one was

  private:
    Ptr<Node> Host()
    {
        m_hosts.push_back(CreateObject<Node>());
        m_roce.MakeHost(m_hosts.back());
        return m_hosts.back();
    }

    Ptr<Node> Switch()
    {
        Ptr<Node> node = CreateObject<Node>();
        m_roce.MakeSwitch(node, crux_ecmp_seed(1, {node->GetId()}));
        return node;
    }

    void BuildStar()
    {
        Ptr<Node> sw = Switch();
        uint32_t n = 0;
        for (const Flow& f : m_flows)
        {
            n = std::max({n, f.src + 1, f.dst + 1});
        }
        for (uint32_t i = 0; i < n; i++)
        {
            m_roce.Connect(Host(), sw);
        }
    }

    void BuildClos(uint32_t tors, uint32_t perTor, uint32_t spines)
    {
        std::vector<Ptr<Node>> tor;
        for (uint32_t t = 0; t < tors; t++)
        {
            tor.push_back(Switch());
            for (uint32_t h = 0; h < perTor; h++)
            {
                m_roce.Connect(Host(), tor[t]);
            }
        }
        for (uint32_t s = 0; s < spines; s++)
        {
            Ptr<Node> spine = Switch();
            for (const Ptr<Node>& t : tor)
            {
                m_roce.Connect(t, spine);
            }
        }
    }

    const std::vector<Flow>& m_flows;             //!< the workload
    std::vector<std::vector<uint32_t>> m_waiting; //!< flows that each one's end starts
    RoceHelper m_roce;                            //!< builder
    std::vector<Ptr<Node>> m_hosts;               //!< hosts
    std::map<std::pair<uint32_t, uint32_t>, Ptr<RoceQueuePair>> m_qps; //!< by hosts
};

uint64_t g_left; //!< empty events still to schedule

void
Empty()
{
    if (g_left > 0)
    {
        g_left--;
        Simulator::Schedule(Time(1000 + g_left % 97), &Empty);
    }
}

/** Events per second of ns-3's engine with 100 pending. */
double
EmptyEventRate(const ObjectFactory& scheduler)
{
    constexpr uint64_t n = 2000000;
    Simulator::SetScheduler(scheduler);
    g_left = n;
    for (int i = 0; i < 100; i++)
    {
        Simulator::Schedule(Time(i), &Empty);
    }
    const double begin = Seconds();
    Simulator::Run();
    const double rate = Simulator::GetEventCount() / (Seconds() - begin);
    Simulator::Destroy();
    return rate;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string workload = "a";
    std::string folder = "test/data/bench";
    std::string schedulerName = "ns3::PriorityQueueScheduler";
    std::string resolution = "ps";
    uint32_t runs = 3;
    uint32_t payload = 1000;
    uint32_t ackEvery = 16;
    CommandLine cmd;
    cmd.AddValue("workload", "a, b, c or d", workload);
    cmd.AddValue("folder", "where a.flows to d.flows are", folder);
    cmd.AddValue("runs", "how often; the median is printed", runs);
    cmd.AddValue("payload", "payload of a packet, bytes", payload);
    cmd.AddValue("ackEvery", "packets per ACK", ackEvery);
    cmd.AddValue("scheduler", "type of ns-3's event scheduler", schedulerName);
    cmd.AddValue("resolution", "ps or ns", resolution);
    cmd.Parse(argc, argv);
    if (resolution != "ps" && resolution != "ns")
    {
        std::cerr << "crux-bench-roce: --resolution=" << resolution << " is neither ps nor ns\n";
        return 1;
    }
    Time::SetResolution(resolution == "ps" ? Time::PS : Time::NS);
    std::vector<Flow> flows;
    const std::string path = folder + "/" + workload + ".flows";
    if (workload.size() != 1 || runs == 0 || !ReadFlows(path, flows))
    {
        std::cerr << "crux-bench-roce: cannot read flows from " << path << "\n";
        return 1;
    }
    Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(payload));
    Config::SetDefault("ns3::RoceQueuePair::AckEvery", UintegerValue(ackEvery));
    ObjectFactory scheduler;
    scheduler.SetTypeId(schedulerName);
    const double empty = EmptyEventRate(scheduler);
    std::vector<double> wall;
    uint64_t hops = 0;
    uint64_t events = 0;
    Time last;
    for (uint32_t r = 0; r < runs; r++)
    {
        Simulator::SetScheduler(scheduler);
        Bench bench(flows, workload[0]);
        const double begin = Seconds();
        Simulator::Run();
        wall.push_back(Seconds() - begin);
        hops = RoceMonitor::GetPacketHops();
        events = Simulator::GetEventCount();
        last = bench.m_last;
        if (bench.m_done != flows.size())
        {
            std::cerr << "crux-bench-roce: " << bench.m_done << " of " << flows.size()
                      << " flows completed\n";
            return 1;
        }
        Simulator::Destroy();
    }
    std::sort(wall.begin(), wall.end());
    const double median = wall[wall.size() / 2];
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << workload << ": last flow ends at " << last.GetSeconds() * 1e3 << " ms; " << hops
              << " packet-hops in " << median << " s = " << hops / median / 1e3
              << " k packet-hops/s; " << double(events) / hops << " events per packet-hop, "
              << events / median / 1e6 << " M events/s (empty events: " << empty / 1e6
              << " M/s); peak memory " << usage.ru_maxrss / 1024 << " MB" << std::endl;
    return 0;
}
