/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxProber: its datagrams (probes, answers to others, answers to ours) and what they say of paths
 * that are known already: lost, moved, back. All it may do about a pair is to begin its probing
 * anew, or to go on with it.
 *
 * Place: model/dlt (C++17, ns-3). Depends on crux-prober.h.
 */
#include "crux-prober.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CruxProber");

namespace
{

/** \param out where to \param value little-endian */
void
Put(std::vector<uint8_t>* out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
    {
        out->push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
}

/** \param bytes four of them \return little-endian number */
uint32_t
Get(const uint8_t* bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

} // namespace

void
CruxProber::Verify(const Key& key)
{
    Pair* pair = Find(key);
    if (!pair || pair->probing)
    {
        return;
    }
    if (pair->lost)
    {
        Begin(key, *pair);
        return;
    }
    for (auto& [port, watched] : pair->watched)
    {
        watched.waiting = true;
        Send(*pair, port);
    }
    pair->late = Simulator::Schedule(m_timeout, &CruxProber::Late, this, key);
    pair->verify = Simulator::Schedule(Max(m_interval, m_timeout), &CruxProber::Verify, this, key);
}

void
CruxProber::Late(const Key& key)
{
    Pair* pair = Find(key);
    bool again = false;
    if (!pair || pair->probing)
    {
        return;
    }
    for (auto& [port, watched] : pair->watched)
    {
        watched.losses = watched.waiting ? watched.losses + 1 : 0;
        again = again || watched.losses == 2;
    }
    if (again)
    {
        NS_LOG_INFO("pair " << key.first << " " << key.second << ": probes are lost");
        Begin(key, *pair);
    }
}

void
CruxProber::Check(const Key& key, uint16_t port, const uint32_t* links, uint32_t n)
{
    Pair* pair = Find(key);
    auto it = pair->watched.find(port);
    if (it == pair->watched.end() || !it->second.waiting)
    {
        return;
    }
    const bool back = it->second.losses >= 2; // it had been given up
    it->second.waiting = false;
    it->second.losses = 0;
    if (back || !std::equal(links, links + n, it->second.links.begin(), it->second.links.end()))
    {
        it->second.links.assign(links, links + n);
        if (!pair->probing)
        {
            NS_LOG_INFO("pair " << key.first << " " << key.second << ": port " << port
                                << (back ? " is back" : " moved"));
            Begin(key, *pair);
        }
    }
}

bool
CruxProber::Send(const Pair& pair, uint16_t port)
{
    const bool sent =
        m_host->SendDatagram(pair.nic, pair.dstIp, port, m_class, KIND_PROBE, nullptr, 0, true);
    m_wireBytes += sent ? RoceDatagram::Wire(0, true) : 0;
    return sent;
}

void
CruxProber::Received(const RoceDatagram& datagram)
{
    if (!m_host)
    {
        return;
    }
    datagram.kind == KIND_PROBE ? Answer(datagram) : Answered(datagram);
}

void
CruxProber::Answer(const RoceDatagram& probe)
{
    std::vector<uint8_t> body;
    uint32_t nic = 0;
    while (nic < m_host->GetNNics() && m_host->GetIp(nic) != probe.dstIp)
    {
        nic++;
    }
    if (nic == m_host->GetNNics())
    {
        return;
    }
    Put(&body, probe.srcPort);
    for (uint32_t i = 0; i < probe.nHops; i++)
    {
        Put(&body, probe.hops[i]);
    }
    const uint32_t size = static_cast<uint32_t>(body.size());
    if (m_host->SendDatagram(nic,
                             probe.srcIp,
                             probe.srcPort,
                             m_class,
                             KIND_ANSWER,
                             body.data(),
                             size,
                             false))
    {
        m_wireBytes += RoceDatagram::Wire(size, false);
    }
}

void
CruxProber::Answered(const RoceDatagram& answer)
{
    // By the addresses: the answer comes from the pair's destination.
    auto it = std::find_if(m_pairs.begin(), m_pairs.end(), [&](const auto& entry) {
        return entry.second.dstIp == answer.srcIp &&
               crux_topology_address(m_topology, crux_node_id{entry.first.first}) == answer.dstIp;
    });
    if (it == m_pairs.end() || answer.size < 4 || answer.size % 4)
    {
        return;
    }
    const Key key = it->first;
    const auto port = static_cast<uint16_t>(Get(answer.bytes));
    const uint32_t n = answer.size / 4 - 1;
    std::vector<uint32_t> numbers(n);
    std::vector<crux_link_id> links(n);
    for (uint32_t i = 0; i < n; i++)
    {
        numbers[i] = Get(answer.bytes + 4 * (i + 1));
        links[i] = crux_link_id{numbers[i]};
    }
    const bool probing = it->second.probing;
    Check(key, port, numbers.data(), n);
    if (!probing)
    {
        return;
    }
    crux_error error{};
    crux_status status = crux_probing_answer(it->second.probing,
                                             Simulator::Now().GetSeconds(),
                                             port,
                                             links.data(),
                                             n,
                                             &error);
    NS_ABORT_MSG_IF(status == CRUX_NOMEM, "CruxProber: " << error.text);
    Advance(key);
}

} // namespace ns3
