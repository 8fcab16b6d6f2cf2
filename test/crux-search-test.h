/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-search-test: what the suites of search serving share: hosts under a switch and a service.
 *
 * Place: test. Uses helper, model/dlt and libcrux.
 */
#ifndef CRUX_SEARCH_TEST_H
#define CRUX_SEARCH_TEST_H

#include "ns3/crux-presets.h"
#include "ns3/crux-search-helper.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <string>
#include <vector>

namespace crux_search_test
{

using namespace ns3;

constexpr int64_t BYTE_PS = 80;           //!< of a byte at 100 Gbit/s
constexpr int64_t LINK_PS = 1000000;      //!< delay of a cable
constexpr int64_t QUERY_WIRE = 256 + 82;  //!< bytes of a query's one packet
constexpr int64_t FULL_WIRE = 4096 + 82;  //!< bytes of a full packet
constexpr int64_t SERVICE_PS = 100000000; //!< 10 MB at 100 GB/s
/// A query alone, from NIC over a switch to NIC: two links, stored and forwarded once.
constexpr int64_t QUERY_PS = 2 * QUERY_WIRE * BYTE_PS + 2 * LINK_PS;

/// Hosts of one NIC and one GPU under one switch, 100 Gbit/s and 1 us a cable; one service.
class Bed
{
  public:
    /**
     * \param hosts number of them
     * \param shards on hosts 1, 2, ...; the frontend is host 0
     */
    Bed(uint32_t hosts, uint32_t shards)
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
        const std::string text = "testbed:tors=1,aggs=1,nics=1,gpus=1,nic_gbps=100,uplink_gbps=100,"
                                 "uplinks=1,hosts=" +
                                 std::to_string(hosts);
        crux_text assumptions{};
        Must(crux_preset_build(text.c_str(), &m_topology, &assumptions, &error));
        crux_free(assumptions.text);
        Must(crux_router_create(m_topology, 1, 0, &m_router, &error));
        Must(fabric.Build(m_topology, m_router, 1, &error));
        fabric.SetLosslessClasses(0xfe);
        fabric.AssignStreams(0);
        // Processors whose one memory-bound scan takes 100 us whatever the batch.
        search.SetAttribute("Device", StringValue("cpu"));
        search.SetAttribute("IndexBytes", UintegerValue(10000000));
        search.SetAttribute("Documents", UintegerValue(1));
        search.SetAttribute("Dimensions", UintegerValue(1));
        search.SetAttribute("ScanShare", DoubleValue(1));
        search.SetAttribute("BatchSize", UintegerValue(1));
        search.SetAttribute("BatchDelay", TimeValue(Seconds(0)));
        search.SetFrontend(0, 0);
        for (uint32_t s = 0; s < shards; s++)
        {
            search.AddShard(1 + s, 0);
        }
    }

    ~Bed()
    {
        Simulator::Destroy();
        crux_router_destroy(m_router);
        crux_topology_destroy(m_topology);
    }

    Bed(const Bed&) = delete;
    Bed& operator=(const Bed&) = delete;

    /** Queries at fixed distances. \param n number \param rate of them, 1/s */
    void Regular(uint64_t n, double rate)
    {
        search.SetAttribute("InterArrival", StringValue("ns3::ConstantRandomVariable[Constant=1]"));
        Poisson(n, rate);
    }

    /** Poisson queries. \param n number \param rate of them, 1/s */
    void Poisson(uint64_t n, double rate)
    {
        search.SetAttribute("Queries", UintegerValue(n));
        search.SetAttribute("QueryRate", DoubleValue(rate));
    }

    /** \return status of Install; random streams are fixed. \param stream of arrivals */
    crux_status Install(int64_t stream = 100)
    {
        crux_status status = search.Install(fabric, &error);
        if (status == CRUX_OK)
        {
            search.AssignStreams(stream);
            search.GetService()->TraceConnectWithoutContext("Query",
                                                            MakeCallback(&Bed::OnQuery, this));
        }
        return status;
    }

    /** Install and run to the end. \return status of Check. \param stream of arrivals */
    crux_status Run(int64_t stream = 100)
    {
        crux_status status = Install(stream);
        if (status == CRUX_OK)
        {
            Simulator::Run();
            status = search.Check(&error);
        }
        return status;
    }

    /** \return latencies in ps, in the order of queries */
    const std::vector<int64_t>& Latencies() const
    {
        return m_latencies;
    }

    /** \return sum of a counter of all ports. \param drops drops, else pauses */
    uint64_t Count(bool drops) const
    {
        uint64_t n = 0;
        for (uint32_t l = 0; l < crux_topology_n_links(m_topology); l++)
        {
            Ptr<RoceNetDevice> port = fabric.GetPort(crux_link_id{l});
            n += !port ? 0 : drops ? port->GetCounters().Drops() : port->GetCounters().Pauses();
        }
        return n;
    }

    CruxFabric fabric;   //!< built
    SearchHelper search; //!< not installed yet
    crux_error error{};  //!< of the last call

  private:
    /** \param status of a step that cannot fail */
    void Must(crux_status status)
    {
        NS_ABORT_MSG_IF(status != CRUX_OK, error.text);
    }

    /** Trace sink. \param query its times */
    void OnQuery(Ptr<const SearchService>, const SearchQuery& query)
    {
        NS_ABORT_MSG_IF(query.id != m_latencies.size(), "queries are answered in order");
        m_latencies.push_back((query.end - query.arrival).GetPicoSeconds());
    }

    crux_topology* m_topology{nullptr}; //!< of the fabric
    crux_router* m_router{nullptr};     //!< of the fabric
    std::vector<int64_t> m_latencies;   //!< ps
};

/// A case from the body of a member function.
#define SEARCH_CASE(name, text)                                                                    \
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

} // namespace crux_search_test

#endif /* CRUX_SEARCH_TEST_H */
