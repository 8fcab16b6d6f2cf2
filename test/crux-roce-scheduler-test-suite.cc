/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-scheduler: the module's event scheduler against ns-3's MapScheduler: the same order
 * for any insertions and removals, the same results of a run.
 *
 * Place: test (C++17). Depends on crux-roce-test, crux-roce-fork.
 */
#include "crux-roce-fork.h"
#include "crux-roce-test.h"

#include "ns3/crux-command-line.h"
#include "ns3/crux-event-heap.h"
#include "ns3/global-value.h"
#include "ns3/map-scheduler.h"

#include <algorithm>
#include <random>
#include <sstream>

using namespace crux_roce_test;

namespace
{

/** Whether two events are the same. */
bool
Same(const Scheduler::Event& a, const Scheduler::Event& b)
{
    return a.impl == b.impl && a.key.m_ts == b.key.m_ts && a.key.m_uid == b.key.m_uid &&
           a.key.m_context == b.key.m_context;
}

/** Both schedulers, side by side. */
struct Both
{
    Ptr<Scheduler> ours = CreateObject<CruxEventHeap>();  //!< ours
    Ptr<Scheduler> theirs = CreateObject<MapScheduler>(); //!< ns-3's
    std::vector<Scheduler::Event> waiting;                //!< in both
    uint32_t uid{4};                                      //!< next number
    uint64_t wrong{0};                                    //!< differences

    void Insert(uint64_t at, uint32_t context)
    {
        const Scheduler::Event ev{nullptr, {at, uid++, context}};
        ours->Insert(ev);
        theirs->Insert(ev);
        waiting.push_back(ev);
    }

    /** Take the next one of both. \return its time */
    uint64_t Next()
    {
        wrong += !Same(ours->PeekNext(), theirs->PeekNext());
        const Scheduler::Event a = ours->RemoveNext();
        const Scheduler::Event b = theirs->RemoveNext();
        wrong += !Same(a, b);
        Forget(a);
        return b.key.m_ts;
    }

    void Remove(size_t i)
    {
        const Scheduler::Event ev = waiting[i];
        ours->Remove(ev);
        theirs->Remove(ev);
        Forget(ev);
    }

    void Forget(const Scheduler::Event& ev)
    {
        const auto it = std::find_if(waiting.begin(), waiting.end(), [&ev](const auto& w) {
            return w.key.m_uid == ev.key.m_uid;
        });
        wrong += it == waiting.end();
        if (it != waiting.end())
        {
            *it = waiting.back();
            waiting.pop_back();
        }
    }
};

ROCE_CASE(OrderCase, "random insertions, removals and looks: MapScheduler's order, ties included")
{
    // Phases lean to growth or to shrinking, so that sizes from 0 to some hundreds are met; times
    // are a few steps ahead of now, so that many are equal and the numbers decide.
    for (uint32_t seed = 0; seed < 20; seed++)
    {
        std::mt19937 random(seed);
        Both both;
        uint64_t now = seed % 2 ? 0 : uint64_t(1) << 62; // late in a run, too
        for (uint32_t step = 0; step < 20000; step++)
        {
            const uint32_t lean = step / 1000 % 2 ? 35 : 60; // % of insertions
            const uint32_t dice = random() % 100;
            if (dice < lean || both.waiting.empty())
            {
                both.Insert(now + random() % (seed % 3 ? 5 : 1000), random() % 7);
            }
            else if (dice < 97)
            {
                now = both.Next();
            }
            else
            {
                both.Remove(random() % both.waiting.size());
            }
            both.wrong += both.ours->IsEmpty() != both.waiting.empty();
        }
        while (!both.waiting.empty())
        {
            both.Next();
        }
        NS_TEST_ASSERT_MSG_EQ(both.wrong, 0, "differences, seed " << seed);
        NS_TEST_ASSERT_MSG_EQ(both.ours->IsEmpty(), true, "empty at the end");
    }
}

ROCE_CASE(SmallCase, "one event, removed as next or by name, and a gap looked at")
{
    Both both;
    both.Insert(5, 0);
    both.Next();
    NS_TEST_ASSERT_MSG_EQ(both.ours->IsEmpty(), true, "taken");
    both.Insert(6, 0);
    both.Remove(0);
    NS_TEST_ASSERT_MSG_EQ(both.ours->IsEmpty(), true, "removed");
    // Five events, so that the root has four children; after each removal the next is looked at
    // while the gap is open, then one is removed by name, which closes it.
    for (uint64_t at : {9, 8, 7, 10, 6})
    {
        both.Insert(at, 0);
    }
    both.Next();
    NS_TEST_ASSERT_MSG_EQ(both.ours->PeekNext().key.m_ts, 7, "next after 6");
    both.Remove(0);
    both.Insert(1, 0); // earlier than all
    both.Next();
    both.Next();
    while (!both.waiting.empty())
    {
        both.Next();
    }
    NS_TEST_ASSERT_MSG_EQ(both.wrong, 0, "differences");
    const Died died = RunForked([] {
        Ptr<Scheduler> heap = CreateObject<CruxEventHeap>();
        heap->Insert({nullptr, {1, 4, 0}});
        heap->Remove({nullptr, {1, 5, 0}});
    });
    NS_TEST_ASSERT_MSG_EQ(died.failed, true, "an event that is not there");
    NS_TEST_ASSERT_MSG_NE(died.text.find("no event 5 to remove"), std::string::npos, died.text);
}

/** Everything that a run with congestion, losses, pauses and cancelled events left behind. */
std::string
Trace(const std::string& scheduler)
{
    Fabric f;
    Simulator::SetScheduler(ObjectFactory(scheduler));
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(2000000));
    Config::SetDefault("ns3::RoceNetDevice::EcnKmin", UintegerValue(50000));
    Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(200000));
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MicroSeconds(300)));
    f.Star(9);
    f.roce.AssignStreams(1);
    uint32_t frames = 0;
    f.Nic(8)->SetLossFilter(Callback<bool, const RoceFrame&>(
        [&frames](const RoceFrame&) { return ++frames % 1000 == 0; }));
    std::ostringstream out;
    for (uint32_t i = 0; i < 8; i++)
    {
        f.Pair(i, 8, 1 + i % 3)->PostSend(i, 2000000);
        // Some events are cancelled, some removed, some moved to the same instant.
        EventId late = Simulator::Schedule(MicroSeconds(100), [&out] { out << "never;"; });
        Simulator::Schedule(MicroSeconds(50), [late, i] {
            i % 2 ? Simulator::Cancel(late) : Simulator::Remove(late);
        });
        Simulator::Schedule(MicroSeconds(60), [&out, i] { out << i << ";"; });
    }
    Simulator::Run();
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        const RocePortCounters& c = port->GetCounters();
        out << c.txFrames << " " << c.txBytes << " " << c.ecnMarks << " " << c.Pauses() << " "
            << c.Drops() << " " << c.maxQueue[1] << ";";
    }
    for (const Seen& s : f.received)
    {
        out << s.completion.wrId << " " << s.completion.time.GetPicoSeconds() << ";";
    }
    out << Simulator::GetEventCount() << " events"
        << (f.Drops() > 0 && f.Pauses() > 0 && f.Cnps() > 0 ? ", lively" : "");
    return out.str();
}

ROCE_CASE(RunCase, "an incast with losses and pauses ends the same under three schedulers")
{
    const std::string want = Trace("ns3::MapScheduler");
    NS_TEST_ASSERT_MSG_EQ(want.substr(0, 16), "0;1;2;3;4;5;6;7;", "order at one instant: " << want);
    NS_TEST_ASSERT_MSG_NE(want.find("lively"), std::string::npos, "losses, pauses, CNPs: " << want);
    NS_TEST_ASSERT_MSG_EQ(Trace("ns3::CruxEventHeap"), want, "ours");
    NS_TEST_ASSERT_MSG_EQ(Trace("ns3::PriorityQueueScheduler"), want, "ns-3's other one");
}

/** The scheduler that the next simulation takes. */
std::string
Chosen()
{
    TypeIdValue scheduler;
    GlobalValue::GetValueByName("SchedulerType", scheduler);
    return scheduler.Get().GetName();
}

ROCE_CASE(DefaultCase, "programs with the module's command line take it unless told otherwise")
{
    const std::string before = Chosen();
    for (const std::string wanted : {"", "ns3::MapScheduler", "ns3::HeapScheduler"})
    {
        Config::SetGlobal("SchedulerType", StringValue("ns3::MapScheduler"));
        CruxCommandLine cmd("program");
        std::string option = "--SchedulerType=" + wanted;
        char name[] = "program";
        char* argv[] = {name, &option[0], nullptr};
        cmd.Parse(wanted.empty() ? 1 : 2, argv);
        NS_TEST_ASSERT_MSG_EQ(Chosen(),
                              (wanted.empty() ? "ns3::CruxEventHeap" : wanted),
                              "option \"" << wanted << "\"");
    }
    Config::SetGlobal("SchedulerType", StringValue("ns3::PriorityQueueScheduler"));
    CruxCommandLine cmd("program");
    NS_TEST_ASSERT_MSG_EQ(Chosen(), "ns3::PriorityQueueScheduler", "chosen before");
    Config::SetGlobal("SchedulerType", StringValue(before));
}

/** The scheduler. */
class RoceSchedulerSuite : public TestSuite
{
  public:
    RoceSchedulerSuite()
        : TestSuite("crux-roce-scheduler", UNIT)
    {
        AddTestCase(new OrderCase, TestCase::QUICK);
        AddTestCase(new SmallCase, TestCase::QUICK);
        AddTestCase(new RunCase, TestCase::QUICK);
        AddTestCase(new DefaultCase, TestCase::QUICK);
    }
};

RoceSchedulerSuite g_roceSchedulerSuite; //!< the suite

} // namespace
