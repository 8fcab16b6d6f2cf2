/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-sampler: a monitor that samples queue depth, throughput, pauses and rates
 * while something moves.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-queue-pair.
 *
 * Samples are taken at the multiples of Interval. Nothing is scheduled until a watched port sends
 * or queues a frame or is paused or resumed, and nothing more after a sample at which nothing has
 * changed: the events of a monitor end with the traffic and begin again with it, and where rows
 * are missing the last one holds (queue, paused or not, rate) and the throughput was 0. Cost: three
 * trace sinks per watched port, one event per interval with traffic.
 *   throughput of a port's class = 8 x wire bytes begun in the interval / interval, bit/s, so
 *     that an interval shorter than a frame may show more than the line rate;
 *   throughput of a queue pair = 8 x payload bytes sent, again included / interval, bit/s.
 */
#ifndef CRUX_ROCE_SAMPLER_H
#define CRUX_ROCE_SAMPLER_H

#include "crux-roce-net-device.h"

#include "ns3/object.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{

/** A row: one watched thing at one time. */
struct RoceSample
{
    /** cls of a queue pair's row. */
    static constexpr uint8_t QUEUE_PAIR = 255;

    int64_t atPs;           //!< time of the sample, ps
    uint32_t subject;       //!< number that Watch returned
    uint8_t cls;            //!< class, or QUEUE_PAIR
    uint64_t queueBytes;    //!< waiting in the class's queue, wire bytes; 0 for a queue pair
    uint64_t bitsPerSecond; //!< throughput in the interval that ends now
    int64_t pausedPs;       //!< paused by the other end within the interval, ps
    uint64_t rateBps;       //!< sending rate that the congestion control allows; 0 for a port
};

/** \brief The monitor. */
class RoceSampler : public Object
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    RoceSampler();
    ~RoceSampler() override;

    /**
     * \brief Watch a class of a port.
     * \param port the port
     * \param cls 0..7; larger is a fatal error
     * \return number of the subject in the rows
     */
    uint32_t Watch(Ptr<RoceNetDevice> port, uint8_t cls);
    /**
     * \brief Watch what a queue pair sends.
     * \param qp the queue pair
     * \return number of the subject in the rows
     */
    uint32_t Watch(Ptr<RoceQueuePair> qp);

    /** \return the rows, in order of time, then subject */
    const std::vector<RoceSample>& GetRows() const;
    /** \return whether MaxRows are written and the monitor has stopped */
    bool IsFull() const;
    /**
     * \param subject number
     * \return "name of node/port number", with " qp number" for a queue pair
     */
    std::string GetName(uint32_t subject) const;
    /** \brief All rows, with a line of names first. \param out receives them, comma separated */
    void WriteCsv(std::ostream& out) const;

  private:
    /** Something watched, as it was at the last sample. */
    struct Subject
    {
        Ptr<RoceNetDevice> port; //!< it, or the queue pair's NIC
        Ptr<RoceQueuePair> qp;   //!< it, or null
        uint8_t cls;             //!< class, or QUEUE_PAIR
        uint64_t bytes;          //!< sent
        uint64_t queueBytes;     //!< waiting
        int64_t pausedPs;        //!< paused so far
        uint64_t rateBps;        //!< allowed
    };

    void DoDispose() override;
    /** \brief Hear of traffic at a port; once a port. */
    void Hook(Ptr<RoceNetDevice> port);
    /** \brief Connect or disconnect the sinks. */
    void Connect(Ptr<RoceNetDevice> port, bool connect);
    /** \brief Something moves: a sample at the next multiple of Interval. */
    void Arm();
    /** \brief Take a sample. */
    static void OnSample(void* self);
    /** \return whether anything has changed; \p now is what it has become, \p sample the row */
    bool Look(uint32_t subject, int64_t nowPs, RoceSample& sample);
    /** \name Trace sinks @{ */
    void OnFrame(const RoceFrame& frame);
    void OnStop(uint8_t cls, bool stopped, Time lasted);
    /** @} */

    Time m_interval;                          //!< attribute
    uint64_t m_maxRows;                       //!< attribute
    std::vector<Subject> m_subjects;          //!< watched
    std::vector<Ptr<RoceNetDevice>> m_hooked; //!< ports with sinks
    std::vector<RoceSample> m_rows;           //!< rows
    Ptr<RoceEvent> m_event;                   //!< the next sample
    int64_t m_lastPs{0};                      //!< begin of the interval
    bool m_armed{false};                      //!< the event is scheduled
    bool m_full{false};                       //!< stopped
};

} // namespace ns3

#endif /* CRUX_ROCE_SAMPLER_H */
