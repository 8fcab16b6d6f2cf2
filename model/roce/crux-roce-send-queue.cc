/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-send-queue: messages in, messages out, and sums over their packets.
 *
 * Place: model/roce (C++17). Depends on crux-roce-send-queue.h.
 */
#include "crux-roce-send-queue.h"

#include <algorithm>

namespace ns3
{

void
RoceSendQueue::Start(uint32_t payload, uint64_t seq)
{
    m_payload = payload;
    m_end = seq;
}

void
RoceSendQueue::Post(uint64_t wrId, uint64_t bytes)
{
    const uint64_t packets = std::max<uint64_t>(1, bytes / m_payload + (bytes % m_payload != 0));
    m_messages.push_back({wrId, bytes, m_end, packets});
    m_end += packets;
}

RoceSendQueue::Message
RoceSendQueue::Pop()
{
    const Message oldest = m_messages.front();
    m_messages.pop_front();
    return oldest;
}

size_t
RoceSendQueue::Find(uint64_t seq) const
{
    size_t low = 0; // binary search for the last message that begins at or before seq
    for (size_t high = m_messages.size(); high - low > 1;)
    {
        const size_t mid = low + (high - low) / 2;
        (m_messages[mid].firstSeq <= seq ? low : high) = mid;
    }
    return low;
}

uint64_t
RoceSendQueue::BytesBetween(uint64_t from, uint64_t to) const
{
    uint64_t sum = 0;
    for (const Message& m : m_messages)
    {
        const uint64_t lo = std::max(from, m.firstSeq) - m.firstSeq;
        const uint64_t hi = std::min(to - m.firstSeq, m.packets);
        if (lo < hi)
        {
            sum += std::min(m.bytes, hi * m_payload) - std::min(m.bytes, lo * m_payload);
        }
        if (m.End() >= to)
        {
            break;
        }
    }
    return sum;
}

} // namespace ns3
