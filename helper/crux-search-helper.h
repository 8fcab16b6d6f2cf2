/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * SearchHelper: a search service on the hosts of a fabric.
 *
 * Place: helper (C++17). Uses CruxFabric, model/dlt, model/roce and libcrux.
 */
#ifndef CRUX_SEARCH_HELPER_H
#define CRUX_SEARCH_HELPER_H

#include "crux-fabric-helper.h"

#include "ns3/crux-search-application.h"
#include "ns3/crux-search-service.h"
#include "ns3/object-factory.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Installs a search service: GPUs allocated, a frontend, shards, connections.
 *
 * \code
 *   SearchHelper search;
 *   search.SetAttribute("Device", StringValue("a100-80"));
 *   search.SetAttribute("Queries", UintegerValue(10000));
 *   search.SetFrontend(0, 0);
 *   search.AddShard(1, 0);
 *   search.Install(fabric, &error);
 *   Simulator::Run();
 *   search.Check(&error);               // says what a service that did not finish waits for
 *   search.GetService()->GetSummary();
 * \endcode
 */
class SearchHelper
{
  public:
    SearchHelper();

    /** \param name attribute of SearchService \param value its value */
    void SetAttribute(const std::string& name, const AttributeValue& value);
    /** \param name attribute of RoceQueuePair \param value on both ends of every connection */
    void SetQueuePairAttribute(const std::string& name, const AttributeValue& value);
    /**
     * \param host host index
     * \param nic number of the NIC on the host
     */
    void SetFrontend(uint32_t host, uint32_t nic);
    /**
     * Add the next shard.
     * \param host host index
     * \param unit GPU number on the host; with Device "cpu" the socket, whose NIC is number
     *        socket mod NICs
     */
    void AddShard(uint32_t host, uint32_t unit);
    /** \param seed of the source ports, which choose paths */
    void SetSeed(uint64_t seed);
    /** \param time when queries begin to come; shards are there from time 0 */
    void SetStartTime(Time time);
    /** \param time when queries cease to come; those under way are answered */
    void SetStopTime(Time time);

    /**
     * Install. What is wrong is found before anything is made but connections: a host, NIC, GPU or
     * socket that does not exist or is taken or given twice, parameters out of range, a shard that
     * does not fit, a service that would never end, ends without a path. \param fabric built \param
     * error one line when it fails \return status
     */
    crux_status Install(const CruxFabric& fabric, crux_error* error);

    /**
     * Fix the random stream of the arrivals.
     * \param stream its number
     * \return streams used
     */
    int64_t AssignStreams(int64_t stream);

    /** \return the service; null before Install */
    Ptr<SearchService> GetService() const;

    /**
     * To be asked once the simulation has run.
     * \param error one line when the service failed or was left waiting
     * \return CRUX_OK when it has finished, else CRUX_STALLED
     */
    crux_status Check(crux_error* error) const;

  private:
    /// Where a shard is.
    struct Place
    {
        uint32_t host; //!< index
        uint32_t unit; //!< GPU or socket
    };

    crux_status CheckPlaces(const CruxFabric& fabric, crux_error* error) const;
    crux_status CheckPlace(const CruxFabric& fabric, uint32_t shard, crux_error* error) const;
    crux_status AllocateGpus(const CruxFabric& fabric, crux_error* error) const;
    crux_status InstallShard(const CruxFabric& fabric, uint32_t shard, crux_error* error);
    uint32_t NicOf(const crux_topology* topology, const Place& place) const;

    ObjectFactory m_factory;                                             //!< of the service
    std::vector<std::pair<std::string, Ptr<AttributeValue>>> m_qpValues; //!< of queue pairs
    bool m_hasFrontend{false};                                           //!< SetFrontend was called
    uint32_t m_frontendHost{0};                                          //!< index
    uint32_t m_frontendNic{0};                                           //!< on the host
    std::vector<Place> m_places;                                         //!< of the shards
    uint64_t m_seed{1};                                                  //!< of source ports
    Time m_start;                                                        //!< of the frontend
    Time m_stop;                                                         //!< of it; 0: none
    Ptr<SearchService> m_service;                                        //!< installed
    Ptr<SearchFrontend> m_frontend;                                      //!< installed
};

} // namespace ns3

#endif /* CRUX_SEARCH_HELPER_H */
