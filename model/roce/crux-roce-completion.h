/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-completion: what a queue pair reports: how a message ended, and what the queue pair
 * has done so far.
 *
 * Place: model/roce (C++17). Depends on ns-3's Time.
 */
#ifndef CRUX_ROCE_COMPLETION_H
#define CRUX_ROCE_COMPLETION_H

#include "ns3/nstime.h"

#include <cstdint>

namespace ns3
{

/** How a message ended. */
enum class RoceStatus : uint8_t
{
    SUCCESS,        //!< delivered (receiver), acknowledged (sender)
    RETRY_EXCEEDED, //!< RetryLimit retries in a row, and no answer
    FLUSHED,        //!< behind a message that failed
    PATH_FAILED,    //!< there is no path to the other end any more
};

/** What a completion callback is told. */
struct RoceCompletion
{
    uint64_t wrId;     //!< the number given to PostSend, on both sides (as immediate data would)
    uint64_t bytes;    //!< size of the message
    RoceStatus status; //!< how it ended
    Time time;         //!< when: arrival of its last packet in order, or of that one's ACK
};

/** What a queue pair has done. */
struct RoceQueuePairCounters
{
    uint64_t packetsSent{0};      //!< data packets, retransmitted ones included
    uint64_t packetsResent{0};    //!< data packets sent again
    uint64_t bytesSent{0};        //!< payload bytes, retransmitted ones included
    uint64_t bytesFirst{0};       //!< payload bytes sent for the first time
    uint64_t bytesAcked{0};       //!< payload bytes acknowledged
    uint64_t bytesReceived{0};    //!< payload bytes taken in order
    uint64_t messagesSent{0};     //!< messages completed as sender
    uint64_t messagesReceived{0}; //!< messages completed as receiver
    uint64_t outOfOrder{0};       //!< packets received that were not the expected one
    uint64_t acksSent{0};         //!< ACKs sent
    uint64_t naksSent{0};         //!< NAKs sent
    uint64_t cnpsSent{0};         //!< CNPs sent
    uint64_t naksReceived{0};     //!< NAKs received
    uint64_t cnpsReceived{0};     //!< CNPs received
    uint64_t timeouts{0};         //!< expiries of the retransmission timer
    uint64_t duplicates{0};       //!< packets received that had been received before
};

} // namespace ns3

#endif /* CRUX_ROCE_COMPLETION_H */
