/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-switch-buffer: how a switch's buffer is divided before the first frame, and the check
 * of headroom, buffer and thresholds with its warnings; deadlocks that are reported. Of what a
 * frame changes (accounts, bytes in use) it writes nothing.
 *
 * Place: model/roce (C++17). Depends on crux-roce-switch, crux-roce-net-device.
 */
#include "crux-roce-switch.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace ns3
{

void
RoceSwitch::Configure()
{
    m_configured = true;
    m_gapPs = RoceClock::FromTime(m_flowletGap);
    if (m_gapPs > 0)
    {
        m_flowlets.Allocate();
    }
    uint64_t total = 0;
    for (Port& port : m_ports)
    {
        port.device->CheckThresholds();
        const uint32_t classes = __builtin_popcount(port.device->GetLosslessClasses());
        port.headroom = static_cast<uint64_t>(m_headroomScale * port.device->GetHeadroom());
        total += classes * port.headroom;
    }
    m_sharedSize = m_sharedBuffer ? m_sharedBuffer : DefaultShared();
    if (m_bufferSize && m_bufferSize < total + m_sharedSize)
    {
        m_sharedSize = m_bufferSize > total ? m_bufferSize - total : 0;
        if (m_bufferSize < total)
        {
            for (Port& port : m_ports)
            {
                port.headroom = static_cast<uint64_t>(double(port.headroom) * m_bufferSize / total);
            }
        }
    }
    m_sharedSize = std::max(m_sharedSize, m_sharedUsed); // when configured anew at run time
    if (!m_warned)
    {
        Warn(Check());
        Warn(CheckMarking());
    }
}

void
RoceSwitch::Warn(const std::vector<std::string>& lines)
{
    if (!lines.empty())
    {
        m_warned = true;
        std::cerr << "crux: warning: " << lines[0];
        if (lines.size() > 1)
        {
            std::cerr << " (and " << lines.size() - 1 << " more ports of this switch)";
        }
        std::cerr << std::endl;
    }
}

uint64_t
RoceSwitch::DefaultShared() const
{
    uint64_t kmax = 0;
    for (const Port& port : m_ports)
    {
        for (uint8_t c = 0; c < ROCE_CLASSES; c++)
        {
            kmax = std::max(kmax, port.device->Curve(c).kmax);
        }
    }
    const double marking = static_cast<double>(kmax) * (1 + m_alpha) / m_alpha;
    const uint64_t least = std::max<uint64_t>(32 << 20, m_ports.size() * (256 << 10));
    // One byte more, so that the threshold rounded down is not below Kmax.
    return marking < 0x1p50 ? std::max(least, static_cast<uint64_t>(marking) + 16) : least;
}

std::string
RoceSwitch::CheckPort(const Port& port) const
{
    const RoceNetDevice& device = *port.device;
    const Ptr<RoceNetDevice> peer = device.GetPeer();
    const uint8_t lossless = device.GetLosslessClasses();
    std::ostringstream line;
    if (!peer || !lossless)
    {
        return "";
    }
    line << "port " << device.GetLabel();
    if (port.headroom < device.GetHeadroom())
    {
        line << ": headroom is " << port.headroom << " bytes per lossless class, needs "
             << device.GetHeadroom()
             << "; lossless classes may lose frames (HeadroomScale, BufferSize)";
        return line.str();
    }
    if (lossless & ~peer->GetLosslessClasses())
    {
        line << ": lossless classes 0x" << std::hex << +lossless << ", but 0x"
             << +peer->GetLosslessClasses() << " at " << peer->GetLabel()
             << "; frames of the others are not protected on this link";
        return line.str();
    }
    if (device.GetRateBps() != peer->GetRateBps())
    {
        line << " sends at " << device.GetRateBps() << " bit/s, its other end " << peer->GetLabel()
             << " at " << peer->GetRateBps();
        return line.str();
    }
    return "";
}

std::string
RoceSwitch::CheckMarking(const Port& port) const
{
    const RoceNetDevice& device = *port.device;
    const uint8_t both = device.GetLosslessClasses() & device.GetEcnClasses();
    const uint64_t threshold = GetPauseThreshold();
    for (uint8_t c = 0; device.GetPeer() && c < ROCE_CLASSES; c++)
    {
        if (both >> c & 1 && device.Curve(c).kmax > threshold)
        {
            std::ostringstream line;
            line << "port " << device.GetLabel() << " class " << +c << ": EcnKmax "
                 << device.Curve(c).kmax << " bytes is above the PFC threshold of " << threshold
                 << "; PFC may come before ECN (EcnKmax, SharedBuffer, Alpha)";
            return line.str();
        }
    }
    return "";
}

std::vector<std::string>
RoceSwitch::Collect(std::string (RoceSwitch::*check)(const Port&) const)
{
    std::vector<std::string> lines;
    if (!m_configured)
    {
        Configure();
    }
    for (const Port& port : m_ports)
    {
        const std::string line = (this->*check)(port);
        if (!line.empty())
        {
            lines.push_back(line);
        }
    }
    return lines;
}

std::vector<std::string>
RoceSwitch::Check()
{
    return Collect(&RoceSwitch::CheckPort);
}

std::vector<std::string>
RoceSwitch::CheckMarking()
{
    return Collect(&RoceSwitch::CheckMarking);
}

uint64_t
RoceSwitch::GetPauseThreshold() const
{
    return static_cast<uint64_t>(m_alpha / (1 + m_alpha) * static_cast<double>(GetSharedSize()));
}

int64_t
RoceSwitch::GetDeadlockPs() const
{
    return RoceClock::FromTime(m_deadlockTime);
}

uint64_t
RoceSwitch::GetDeadlocks() const
{
    return m_deadlocks;
}

void
RoceSwitch::OnDeadlock(const std::string& cycle)
{
    m_deadlocks++;
    m_traceDeadlock(cycle);
    std::cerr << "crux: deadlock at " << Simulator::Now().As(Time::US) << ": " << cycle
              << (m_deadlockStops ? "; stopped" : "") << std::endl;
    if (m_deadlockStops)
    {
        Simulator::Stop();
    }
}

uint64_t
RoceSwitch::GetSharedSize() const
{
    return m_configured ? m_sharedSize : (m_sharedBuffer ? m_sharedBuffer : DefaultShared());
}

uint64_t
RoceSwitch::GetUsed() const
{
    return m_sharedUsed + m_headroomUsed;
}

int64_t
RoceSwitch::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

} // namespace ns3
