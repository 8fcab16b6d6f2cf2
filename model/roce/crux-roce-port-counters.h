/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-port-counters: what a port counts, the reasons of drops, and the curve by which it
 * marks.
 *
 * Place: model/roce (C++17). Depends on crux-roce-frame.
 */
#ifndef CRUX_ROCE_PORT_COUNTERS_H
#define CRUX_ROCE_PORT_COUNTERS_H

#include "crux-roce-frame.h"

#include <array>
#include <cstdint>

namespace ns3
{

/** Why a frame was thrown away. */
enum class RoceDropReason : uint8_t
{
    BUFFER,    //!< lossy class: above the dynamic threshold or the queue limit
    HEADROOM,  //!< lossless class: headroom used up (a configuration that is not lossless)
    NO_ROUTE,  //!< the switch has no route to the destination, or cannot forward the kind
    TTL,       //!< hops used up
    NOT_OURS,  //!< a host got a packet for another address or an unknown queue pair
    ERROR,     //!< lost by the error model or loss filter
    LINK_DOWN, //!< no cable or a cut one, or refused by the port (too long)
    COUNT,
};

/**
 * \param reason a reason
 * \return its name in lower case
 */
const char* RoceDropReasonName(RoceDropReason reason);

/** What a port has done since it was made. Bytes are wire sizes unless said otherwise. */
struct RocePortCounters
{
    uint64_t txFrames{0};                            //!< frames sent, PFC included
    uint64_t txBytes{0};                             //!< bytes sent
    uint64_t rxFrames{0};                            //!< frames received
    uint64_t rxBytes{0};                             //!< bytes received
    std::array<uint64_t, ROCE_CLASSES> txClass{};    //!< bytes sent per class
    std::array<uint64_t, ROCE_CLASSES> rxClass{};    //!< bytes received per class
    std::array<uint64_t, ROCE_CLASSES> txPayload{};  //!< RoCE payload bytes sent per class
    std::array<uint64_t, ROCE_CLASSES> rxPayload{};  //!< RoCE payload bytes received per class
    std::array<uint64_t, ROCE_CLASSES> pauseSent{};  //!< pause frames (quanta > 0) sent per class
    std::array<uint64_t, ROCE_CLASSES> pauseRecv{};  //!< pause frames (quanta > 0) received
    std::array<uint64_t, ROCE_CLASSES> resumeSent{}; //!< resume frames sent per class
    std::array<uint64_t, ROCE_CLASSES> resumeRecv{}; //!< resume frames received per class
    uint64_t pauseIgnored{0};                        //!< PFC frames for classes above 7
    uint64_t pauseLossy{0};                          //!< pauses for lossy classes: not heeded
    std::array<uint64_t, ROCE_CLASSES> stops{};      //!< times the class began to be paused
    std::array<int64_t, ROCE_CLASSES> stoppedPs{};   //!< ps in pauses of the class that have ended
    uint64_t ecnMarks{0};                            //!< frames marked at this port's queues
    std::array<uint64_t, static_cast<size_t>(RoceDropReason::COUNT)> drops{}; //!< per reason
    /** Frames dropped per class and reason; PFC frames are in drops only. */
    std::array<std::array<uint64_t, static_cast<size_t>(RoceDropReason::COUNT)>, ROCE_CLASSES>
        dropsOf{};
    std::array<uint64_t, ROCE_CLASSES> maxQueue{}; //!< longest queue seen per class, bytes
    /** \name Datagrams, counted above too but for payload @{ */
    uint64_t txDatagrams{0};     //!< sent
    uint64_t txDatagramBytes{0}; //!< bytes of them
    uint64_t rxDatagrams{0};     //!< received, those that are lost as they arrive included
    uint64_t rxDatagramBytes{0}; //!< bytes of them
    uint64_t dropDatagrams{0};   //!< dropped for any reason
    /** @} */

    /** \return frames dropped for any reason */
    uint64_t Drops() const;
    /** \return pause frames sent in all classes */
    uint64_t Pauses() const;
};

/** ECN marking curve of a class; all in bytes, probability in 0..1. */
struct RoceEcnCurve
{
    uint64_t kmin; //!< no mark below
    uint64_t kmax; //!< always a mark above
    double pmax;   //!< probability at kmax
};

} // namespace ns3

#endif /* CRUX_ROCE_PORT_COUNTERS_H */
