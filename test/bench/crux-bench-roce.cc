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
 *
 * A packet-hop is a data packet that has crossed a link; ACKs, CNPs and PFC frames are not
 * counted, but their events are. Times are user CPU time, since the machine may be shared; several
 * schedulers take turns, run by run. Bars (k packet-hops/s, where empty events are 3.7 M/s with
 * 5,000 pending in PriorityQueueScheduler; they scale with that rate): an ACK for each packet a, b
 * 1,000, c, d 800; fewer ACKs: c 1,300. --check=1 makes a median below the bar an error.
 */
#include "ns3/config.h"
#include "ns3/crux-command-line.h"
#include "ns3/crux-roce-helper.h"
#include "ns3/crux-roce-monitor.h"
#include "ns3/crux-topology.h"
#include "ns3/double.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/scheduler.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <new>
#include <sstream>
#include <sys/resource.h>
#include <vector>

/** Allocations by C++ in the whole program. */
static uint64_t g_allocations;

// Not inlined: seen through, the pair of malloc and free looks mismatched to gcc.
[[gnu::noinline]] void*
operator new(std::size_t size)
{
    g_allocations++;
    if (void* p = std::malloc(size ? size : 1))
    {
        return p;
    }
    throw std::bad_alloc();
}

[[gnu::noinline]] void
operator delete(void* p) noexcept
{
    std::free(p);
}

[[gnu::noinline]] void
operator delete(void* p, std::size_t) noexcept
{
    std::free(p);
}

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

/** User CPU time of this process, s. */
double
UserSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) * 1e-6;
}

/** Read a workload, the sizes times @p factor. */
bool
ReadFlows(const std::string& path, double factor, std::vector<Flow>& flows)
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
        f.bytes = std::max<uint64_t>(1, static_cast<uint64_t>(double(f.bytes) * factor));
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
        m_roce.AssignStreams(1); // every run marks the same packets
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

/** Events per second of ns-3's engine with @p pending of them waiting. */
double
EmptyEventRate(const ObjectFactory& scheduler, uint64_t pending)
{
    Simulator::SetScheduler(scheduler);
    g_left = 2000000;
    for (uint64_t i = 0; i < pending; i++)
    {
        Simulator::Schedule(Time(i), &Empty);
    }
    const double begin = UserSeconds();
    Simulator::Run();
    const double rate = double(Simulator::GetEventCount()) / (UserSeconds() - begin);
    Simulator::Destroy();
    return rate;
}

/** What the command line says. */
struct Options
{
    std::string workload{"a"};                    //!< a to d
    std::string folder{"test/data/bench"};        //!< of the workloads
    std::string schedulers{"ns3::CruxEventHeap"}; //!< types, with commas between them
    std::string control{"ns3::RoceDcqcn"};        //!< type
    std::string resolution{"ps"};                 //!< ps or ns
    double factor{1};                             //!< of the sizes
    uint64_t runs{3};                             //!< of each scheduler
    uint64_t payload{1000};                       //!< bytes
    uint64_t ackEvery{16};                        //!< packets
    uint64_t ackBytes{0};                         //!< bytes
    uint64_t train{1};                            //!< packets
    uint64_t seed{1};                             //!< of ECN marks
    double window{0};                             //!< bandwidth-delay products
    uint64_t check{0};                            //!< whether the bar counts
};

/** One run. */
struct Result
{
    double seconds{0};       //!< user CPU time
    uint64_t hops{0};        //!< packet-hops
    uint64_t events{0};      //!< of the engine
    uint64_t allocations{0}; //!< while it ran
    Time last;               //!< end of the last flow
};

/** Run the workload once; ends the program when a flow does not complete. */
Result
Run(const std::vector<Flow>& flows, char workload, const ObjectFactory& scheduler)
{
    Result r;
    Simulator::SetScheduler(scheduler);
    Bench bench(flows, workload);
    const uint64_t allocations = g_allocations;
    const double begin = UserSeconds();
    Simulator::Run();
    r.seconds = UserSeconds() - begin;
    r.allocations = g_allocations - allocations;
    r.hops = RoceMonitor::GetPacketHops();
    r.events = Simulator::GetEventCount();
    r.last = bench.m_last;
    if (bench.m_done != flows.size())
    {
        std::cerr << "crux-bench-roce: " << bench.m_done << " of " << flows.size()
                  << " flows completed\n";
        std::exit(1);
    }
    Simulator::Destroy();
    return r;
}

/** The bar in k packet-hops/s for empty events of 3.7 M/s, 0 where there is none. */
double
Bar(const Options& o)
{
    const char w = o.workload[0];
    if (o.payload != 1000)
    {
        return 0;
    }
    if (o.ackEvery == 1)
    {
        return w == 'a' || w == 'b' ? 1000 : 800;
    }
    return w == 'c' ? 1300 : 0;
}

/** Print the median of a scheduler's runs. \return whether it reaches the bar */
bool
Report(const Options& o, const std::string& scheduler, std::vector<Result> runs, double empty)
{
    std::sort(runs.begin(), runs.end(), [](const Result& a, const Result& b) {
        return a.seconds < b.seconds;
    });
    const Result& r = runs[runs.size() / 2];
    const double rate = double(r.hops) / r.seconds / 1e3;
    const double bar = Bar(o) * empty / 3.7e6;
    std::cout << o.workload << ": last flow ends at " << r.last.GetSeconds() * 1e3 << " ms; "
              << r.hops << " packet-hops in " << r.seconds << " s (" << runs.front().seconds
              << " to " << runs.back().seconds << ") = " << rate << " k packet-hops/s, "
              << r.seconds * 1e9 / double(r.hops) << " ns each; " << double(r.events) / r.hops
              << " events and " << double(r.allocations) / r.hops << " allocations per packet-hop; "
              << scheduler;
    if (bar > 0)
    {
        std::cout << "; bar " << bar << " k packet-hops/s";
    }
    std::cout << std::endl;
    return rate >= bar;
}

/** Read the command line; ends the program when it is wrong. */
Options
Parse(int argc, char* argv[])
{
    Options o;
    CruxCommandLine cmd("crux-bench-roce");
    cmd.Add("workload", "a, b, c or d", o.workload);
    cmd.Add("folder", "where a.flows to d.flows are", o.folder);
    cmd.Add("factor", "the sizes of the flows are multiplied by it", o.factor, 1e-6, 1e6);
    cmd.Add("runs", "how often; the median is printed", o.runs, 1, 1000);
    cmd.Add("payload", "payload of a packet, bytes", o.payload, 1, 65491);
    cmd.Add("ackEvery", "packets per ACK", o.ackEvery, 1, 4096);
    cmd.Add("ackBytes", "bytes per ACK, 0: by packets alone", o.ackBytes, 0, 1 << 30);
    cmd.Add("train", "packets that may travel as one event; 1: exact", o.train, 1, 256);
    cmd.Add("seed", "run number of the random numbers (ECN marks)", o.seed, 1, 1000000);
    cmd.Add("window", "window in bandwidth-delay products, 0: none", o.window, 0, 1000);
    cmd.Add("control", "type of congestion control", o.control);
    cmd.Add("scheduler",
            "types of ns-3's event schedulers, with commas between them; they take turns",
            o.schedulers);
    cmd.Add("resolution", "ps or ns", o.resolution);
    cmd.Add("check", "1: a median below the bar is an error", o.check, 0, 1);
    cmd.Parse(argc, argv);
    if (o.resolution != "ps" && o.resolution != "ns")
    {
        std::cerr << "crux-bench-roce: --resolution=" << o.resolution << " is neither ps nor ns\n";
        std::exit(1);
    }
    return o;
}

} // namespace

int
main(int argc, char* argv[])
{
    const Options o = Parse(argc, argv);
    Time::SetResolution(o.resolution == "ps" ? Time::PS : Time::NS);
    std::vector<Flow> flows;
    const std::string path = o.folder + "/" + o.workload + ".flows";
    if (o.workload.size() != 1 || !ReadFlows(path, o.factor, flows))
    {
        std::cerr << "crux-bench-roce: cannot read flows from " << path << "\n";
        return 1;
    }
    std::vector<std::string> names;
    std::istringstream list(o.schedulers);
    for (std::string name; std::getline(list, name, ',');)
    {
        TypeId type;
        if (!TypeId::LookupByNameFailSafe(name, &type) || !type.IsChildOf(Scheduler::GetTypeId()))
        {
            std::cerr << "crux-bench-roce: " << name << " is not a scheduler of events\n";
            return 1;
        }
        names.push_back(name);
    }
    Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(o.payload));
    Config::SetDefault("ns3::RoceQueuePair::AckEvery", UintegerValue(o.ackEvery));
    Config::SetDefault("ns3::RoceQueuePair::AckBytes", UintegerValue(o.ackBytes));
    Config::SetDefault("ns3::RoceQueuePair::TrainLength", UintegerValue(o.train));
    Config::SetDefault("ns3::RoceQueuePair::WindowBdp", DoubleValue(o.window));
    RngSeedManager::SetRun(o.seed);
    Config::SetDefault("ns3::RoceQueuePair::CongestionControl", StringValue(o.control));
    const double empty = EmptyEventRate(ObjectFactory("ns3::PriorityQueueScheduler"), 5000);
    std::vector<std::vector<Result>> results(names.size());
    for (uint64_t r = 0; r < o.runs; r++)
    {
        for (size_t i = 0; i < names.size(); i++)
        {
            results[i].push_back(Run(flows, o.workload[0], ObjectFactory(names[i])));
        }
    }
    bool reached = true;
    for (size_t i = 0; i < names.size(); i++)
    {
        reached = Report(o, names[i], results[i], empty) && reached;
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "empty events: " << empty / 1e6 << " M/s; peak memory " << usage.ru_maxrss / 1024
              << " MB" << std::endl;
    return o.check && !reached;
}
