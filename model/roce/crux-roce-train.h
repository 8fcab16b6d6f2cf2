/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-train: packet trains: several packets of a queue pair as one frame and one
 * event per hop. What the parts of model/roce keep to, and the arithmetic that they share.
 *
 * Place: model/roce (C++17). Depends on nothing.
 *
 * Off unless RoceQueuePair::TrainLength L is above 1. A train is n <= L packets of one message with
 * consecutive numbers, all full but perhaps the message's last. It ends where an ACK is asked for,
 * so that ACKs (hence AckEvery bounds L), windows and RTT samples are those of single packets; a
 * run of r packets up to the next ACK is cut in equal parts of ceil(r / ceil(r / L)).
 *
 * On a link. u is the time of a full packet, d the cable's delay, S the start, E the end of the
 * transmission.
 *   head  S + u + d            the first packet is complete at the other end
 *   tail  E + d                the last one is
 * A host hears of a train at its tail. A switch hears of it at max(head, S + (n - 1) u), when its
 * last packet has begun, and sends it on from the head on if its port has been free: late in
 * events, not in simulated time. So a train can be cut as long as a packet of it has not begun,
 * whatever d is.
 * To a switch n w <= d R / 8 + MTU + 38, w the packet's wire bytes and R the rate, so that the
 * switch, and with it its pause and its strict priority, learns of a train so late at most that
 * this and one of its packets take no longer than a frame of an MTU: the headroom's formula holds,
 * and an upper class waits for one MTU a hop at most.
 * Onward at a port where a full packet takes v: the last packet starts no earlier than at its tail.
 * If v < u the train is spread, with gaps, when the port is idle; anything that comes then cuts it,
 * and otherwise it waits at its ingress until tail - (n - 1) v and goes without gaps.
 *
 * Passing and cutting. While a train is being sent
 *   - a frame of at most SMALL bytes in a higher class (ACK, CNP, PFC) passes between two packets
 * of it, and the rest is that much later: as with single packets;
 *   - any other frame of a higher class, and at a NIC another queue pair or frame of the same
 * class, cuts it: packets not begun go back to the head of their queue, at a NIC to their queue
 * pair, which then has not sent them;
 *   - a pause of its class cuts it.
 * At a NIC a train of L / k packets is formed when k queue pairs are in turn, and none that runs
 * past the time of a paced one. A switch forwards trains of one class in the order of their
 * arrival.
 *
 * Pacing. With single packets packet i leaves at t + i T (T from the rate). A train is sent at
 * t + (n - 1) max(T - w, 0), w the time of a full packet at the slowest link of the path, so that
 * its last packet leaves that link at its own time; n such that n T <= TrainTime.
 *
 * Buffer. A train is counted whole when it is heard of and released whole when its transmission
 * begins (single packets come later and go later, by (n - 1) u / 2 in the mean); what does not fit
 * is cut off and dropped. ECN: queue = what is queued, what is still to be begun of the train
 * being sent, and one packet; every packet is marked with that probability, so the number of marks
 * is binomial (one random number a train); the receiver's CNP goes at the tail.
 *
 * Single packets. Where somebody looks at packets (traces of frames, sniffers, an error model or a
 * loss filter, at either end of a link), trains are cut to single packets for that link and travel
 * on so (after a silence up to (n - 1) u - d late: the switch hears of the first one so late).
 * Queue pairs whose congestion control wants it so (WantsSingles: HPCC, TIMELY) and packets sent
 * again by selective repeat are single packets.
 */
#ifndef CRUX_ROCE_TRAIN_H
#define CRUX_ROCE_TRAIN_H

#include <algorithm>
#include <cstdint>

namespace ns3
{

/** \brief Arithmetic of packet trains. */
struct RoceTrain
{
    /** Frames up to this wire size pass a train of a lower class. */
    static constexpr uint32_t SMALL = 128;

    /**
     * \param run packets to send together, at least 1
     * \param longest packets a train may have, at least 1
     * \return packets of the next train, so that the run has as few trains as it can, all of about
     *   one length
     */
    static uint64_t Part(uint64_t run, uint64_t longest)
    {
        const uint64_t trains = (run + longest - 1) / longest;
        return (run + trains - 1) / trains;
    }

    /**
     * \brief A binomial number by inversion: the least m with P(X <= m) >= u.
     * \param n trials
     * \param p probability of each, 0 to 1
     * \param u uniform in 0..1
     * \return successes, 0..n
     */
    static uint32_t Marks(uint32_t n, double p, double u)
    {
        if (p >= 1)
        {
            return n;
        }
        double term = 1; // P(X = 0) = (1 - p)^n, by repeated products: alike on every machine
        for (uint32_t i = 0; i < n; i++)
        {
            term *= 1 - p;
        }
        uint32_t m = 0;
        for (double sum = term; sum < u && m < n; sum += term)
        {
            term *= p / (1 - p) * (n - m) / (m + 1);
            m++;
        }
        return m;
    }
};

} // namespace ns3

#endif /* CRUX_ROCE_TRAIN_H */
