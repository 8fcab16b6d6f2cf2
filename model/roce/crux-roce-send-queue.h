/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-send-queue: the messages that a queue pair has been given and that have not ended,
 * oldest first, and where each packet stands in them. A message of b bytes is
 * max(1, ceil(b / payload)) packets; packets are numbered in 64 bits through all messages.
 *
 * Place: model/roce (C++17). Depends on the standard library; knows nothing of frames and time.
 */
#ifndef CRUX_ROCE_SEND_QUEUE_H
#define CRUX_ROCE_SEND_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <deque>

namespace ns3
{

/** \brief Messages of a queue pair that are not completed. */
class RoceSendQueue
{
  public:
    /** A message. */
    struct Message
    {
        uint64_t wrId;     //!< caller's number
        uint64_t bytes;    //!< size
        uint64_t firstSeq; //!< number of its first packet
        uint64_t packets;  //!< number of packets

        /** \return number of the packet after its last */
        uint64_t End() const
        {
            return firstSeq + packets;
        }
    };

    /** \brief Before the first message. \param payload bytes of a full packet \param seq number of
     * the first packet */
    void Start(uint32_t payload, uint64_t seq);
    /** \brief Add a message. \param wrId caller's number \param bytes size */
    void Post(uint64_t wrId, uint64_t bytes);
    /** \brief Take the oldest message off; there must be one. \return it */
    Message Pop();

    /** \return messages */
    size_t Size() const
    {
        return m_messages.size();
    }

    /** \return number of the first packet not posted */
    uint64_t End() const
    {
        return m_end;
    }

    /** \param i index, 0 the oldest \return message */
    const Message& operator[](size_t i) const
    {
        return m_messages[i];
    }

    /** \param seq a packet of a message here \return index of the message */
    size_t Find(uint64_t seq) const;

    /** \param message it \param seq one of its packets \return payload bytes of the packet */
    uint64_t PayloadOf(const Message& message, uint64_t seq) const
    {
        const uint64_t i = seq - message.firstSeq;
        return i + 1 == message.packets ? message.bytes - i * m_payload : m_payload;
    }

    /** \param seq a packet of a message here \return its payload bytes */
    uint64_t PayloadOf(uint64_t seq) const
    {
        return PayloadOf(m_messages[Find(seq)], seq);
    }

    /** \return payload bytes of the packets [from, to) of the messages here */
    uint64_t BytesBetween(uint64_t from, uint64_t to) const;

  private:
    std::deque<Message> m_messages; //!< oldest first
    uint64_t m_payload{1};          //!< bytes of a full packet
    uint64_t m_end{0};              //!< first packet not posted
};

} // namespace ns3

#endif /* CRUX_ROCE_SEND_QUEUE_H */
