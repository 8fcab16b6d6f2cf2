/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-channel: a full-duplex cable between two RoceNetDevices.
 *
 * Place: model/roce (C++17). Depends on ns-3 core and network.
 */
#include "crux-roce-channel.h"

#include "crux-roce-clock.h"
#include "crux-roce-net-device.h"

#include "ns3/log.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceChannel");
NS_OBJECT_ENSURE_REGISTERED(RoceChannel);

TypeId
RoceChannel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceChannel")
            .SetParent<Channel>()
            .SetGroupName("Crux")
            .AddConstructor<RoceChannel>()
            .AddAttribute("Delay",
                          "Propagation time, one way, above 0 s, to 10 s",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&RoceChannel::SetDelay, &RoceChannel::GetDelay),
                          MakeTimeChecker(Seconds(0), Seconds(10)));
    return tid;
}

RoceChannel::RoceChannel()
{
}

RoceChannel::~RoceChannel()
{
}

void
RoceChannel::DoDispose()
{
    m_ends[0] = nullptr;
    m_ends[1] = nullptr;
    Channel::DoDispose();
}

void
RoceChannel::Attach(Ptr<NetDevice> device)
{
    Ptr<RoceNetDevice> port = DynamicCast<RoceNetDevice>(device);
    if (!port)
    {
        const std::string name = device ? device->GetInstanceTypeId().GetName() : "null";
        NS_FATAL_ERROR("RoceChannel: a device of kind "
                       << name << " cannot share a cable with ns3::RoceNetDevice"
                       << (m_ends[0] ? " " + m_ends[0]->GetLabel() : ""));
    }
    Attach(port);
}

void
RoceChannel::Attach(Ptr<RoceNetDevice> device)
{
    if (!device)
    {
        Attach(Ptr<NetDevice>());
    }
    if (m_ends[1])
    {
        NS_FATAL_ERROR("RoceChannel: a third port, " << device->GetLabel() << ", on the cable from "
                                                     << m_ends[0]->GetLabel() << " to "
                                                     << m_ends[1]->GetLabel());
    }
    if (device->GetChannel())
    {
        NS_FATAL_ERROR("RoceChannel: port " << device->GetLabel() << " has a cable already");
    }
    m_ends[m_ends[0] ? 1 : 0] = device;
    device->SetChannel(this);
    SetLinkUp();
}

void
RoceChannel::SetLinkUp()
{
    if (m_ends[1] && !m_up)
    {
        m_up = true;
        m_ends[0]->LinkUp();
        if (m_up) // else a callback has cut it again
        {
            m_ends[1]->LinkUp();
        }
    }
}

void
RoceChannel::SetLinkDown()
{
    if (m_up)
    {
        m_up = false;
        m_ends[0]->LinkDown();
        if (!m_up) // else a callback has repaired it
        {
            m_ends[1]->LinkDown();
        }
    }
}

bool
RoceChannel::IsUp() const
{
    return m_up;
}

std::size_t
RoceChannel::GetNDevices() const
{
    return m_ends[1] ? 2 : (m_ends[0] ? 1 : 0);
}

Ptr<NetDevice>
RoceChannel::GetDevice(std::size_t i) const
{
    return i < 2 ? m_ends[i] : nullptr;
}

Ptr<RoceNetDevice>
RoceChannel::GetPeer(const RoceNetDevice* device) const
{
    return PeekPointer(m_ends[0]) == device ? m_ends[1] : m_ends[0];
}

void
RoceChannel::SetDelay(Time delay)
{
    m_delay = delay;
    if (m_ends[1])
    {
        CheckDelay();
        m_ends[0]->UpdateDelay();
        m_ends[1]->UpdateDelay();
    }
}

void
RoceChannel::CheckDelay() const
{
    if (RoceClock::FromTime(m_delay) <= 0)
    {
        NS_FATAL_ERROR("RoceChannel: Delay of the cable from "
                       << m_ends[0]->GetLabel() << " to " << m_ends[1]->GetLabel() << " is "
                       << m_delay.As(Time::NS) << ", must be above 0");
    }
}

Time
RoceChannel::GetDelay() const
{
    return m_delay;
}

} // namespace ns3
