/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-datagram-test: what the suites of datagrams share: an inbox, patterns as payload,
 * ports with names.
 *
 * Place: test (C++17, internal). Depends on crux-roce-test.
 */
#ifndef CRUX_ROCE_DATAGRAM_TEST_H
#define CRUX_ROCE_DATAGRAM_TEST_H

#include "crux-roce-test.h"

#include <string>
#include <vector>

namespace crux_roce_test
{

/** A datagram that has come, with its bytes. */
struct Got
{
    int64_t atPs;               //!< when
    RoceDatagram datagram;      //!< it; its pointers are no longer valid
    std::vector<uint8_t> bytes; //!< payload
    std::vector<uint32_t> hops; //!< record
    const uint8_t* where;       //!< where the payload was
};

/** Takes what comes. */
struct Inbox
{
    std::vector<Got> got; //!< all

    void On(const RoceDatagram& d)
    {
        Got g{Simulator::Now().GetPicoSeconds(), d, {}, {}, d.bytes};
        g.bytes.assign(d.bytes, d.bytes + d.size);
        g.hops.assign(d.hops, d.hops + d.nHops);
        got.push_back(g);
    }

    /** Take all that comes to a host. */
    void Listen(Ptr<RoceHost> host)
    {
        host->SetDatagramCallback(MakeCallback(&Inbox::On, this));
    }
};

/** n bytes that depend on all of their places. */
inline std::vector<uint8_t>
Pattern(uint32_t n)
{
    std::vector<uint8_t> bytes(n);
    for (uint32_t i = 0; i < n; i++)
    {
        bytes[i] = static_cast<uint8_t>(i * 7 + (i >> 8) * 13 + n);
    }
    return bytes;
}

/** Send a pattern from a host's first NIC to another's. */
inline bool
Send(const Fabric& f,
     uint32_t from,
     uint32_t to,
     uint32_t size,
     uint8_t cls,
     bool record,
     uint16_t port = 50000)
{
    const std::vector<uint8_t> bytes = Pattern(size);
    return f.At(from)
        ->SendDatagram(0, f.At(to)->GetIp(0), port, cls, 9, bytes.data(), size, record);
}

/** Give every port an id: 1000 and its place in Fabric::Ports(). */
inline void
NamePorts(const Fabric& f)
{
    const std::vector<Ptr<RoceNetDevice>> ports = f.Ports();
    for (size_t i = 0; i < ports.size(); i++)
    {
        ports[i]->SetAttribute("PortId", UintegerValue(1000 + i));
    }
}

/** Ids of the ports of TracePath. */
inline std::vector<uint32_t>
Traced(const Fabric& f, uint32_t from, uint32_t to, uint16_t port)
{
    std::vector<uint32_t> ids;
    for (const Ptr<RoceNetDevice>& device : f.At(from)->TracePath(0, f.At(to)->GetIp(0), port))
    {
        ids.push_back(device->GetPortId());
    }
    return ids;
}

/** Host 0 - switch - n parallel cables - switch - host 1, ports named. */
inline void
Dumbbell(Fabric& f, uint32_t cables)
{
    Ptr<Node> left = f.Switch(crux_ecmp_seed(42, {7}));
    Ptr<Node> right = f.Switch(crux_ecmp_seed(42, {8}));
    f.Cable(f.hosts[f.Host()], left);
    f.Cable(f.hosts[f.Host()], right);
    for (uint32_t i = 0; i < cables; i++)
    {
        f.Cable(left, right);
    }
    f.roce.InstallRoutes();
    NamePorts(f);
}

/** Datagrams dropped anywhere. */
inline uint64_t
DatagramDrops(const Fabric& f)
{
    uint64_t n = 0;
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        n += port->GetCounters().dropDatagrams;
    }
    return n;
}

} // namespace crux_roce_test

#endif /* CRUX_ROCE_DATAGRAM_TEST_H */
