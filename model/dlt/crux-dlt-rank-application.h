/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltRankApplication: one rank (host) of a training job: computation on its GPUs
 * and its part of the ring all-reduce.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-gpu-host, crux-roce-queue-pair and the
 * ring arithmetic of libcrux (crux-workload.h).
 */
#ifndef CRUX_DLT_RANK_APPLICATION_H
#define CRUX_DLT_RANK_APPLICATION_H

#include "crux-gpu-host.h"

#include "ns3/application.h"
#include "ns3/crux-roce-queue-pair.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

class DltJob;

/**
 * \ingroup crux
 * \brief A rank of a data-parallel job, installed on its host's node.
 *
 * Ring all-reduce of S bytes over n ranks, one ring a channel: 2(n-1) steps; in step
 * s the rank sends the chunk that crux_ring_step_bytes() names, step s + 1 once the
 * message of step s has arrived from the previous rank. A channel is done when all
 * its 2(n-1) messages have arrived. Inside the host the gradients move over NVLink
 * meanwhile, for GpuHost::GetNvlinkTime(NVLink bytes of a GPU).
 */
class DltRankApplication : public Application
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    DltRankApplication() = default;

    /**
     * Which GPUs of the host the rank computes on.
     * \param host the host's GPUs
     * \param gpus numbers on the host, each allocated to the job
     * \param nvlinkBytes bytes that one GPU moves over NVLink per iteration
     */
    void SetGpus(Ptr<GpuHost> host, const std::vector<uint32_t>& gpus, uint64_t nvlinkBytes);

    /**
     * Add a ring: its queue pairs to the next and from the previous rank, connected.
     * \param toNext queue pair on which this rank sends
     * \param fromPrevious queue pair on which it receives
     * \param bytes bytes that the ring all-reduces per iteration (the channel's part)
     */
    void AddRing(Ptr<RoceQueuePair> toNext, Ptr<RoceQueuePair> fromPrevious, uint64_t bytes);

    /**
     * \param ring number, in the order of AddRing
     * \return the queue pair on which this rank sends in that ring
     */
    Ptr<RoceQueuePair> GetSendQueuePair(uint32_t ring) const;

    /** \return number of rings */
    uint32_t GetNRings() const;

    /**
     * \param ring number
     * \return payload bytes posted on the ring since the start
     */
    uint64_t GetPostedBytes(uint32_t ring) const;

    /** \return the rank's number in its job */
    uint32_t GetRank() const;

    /** \return what the rank waits for, "" when it waits for nothing */
    std::string DescribeWaiting() const;

  protected:
    void DoDispose() override;

  private:
    friend class DltJob;

    /// One ring through this rank.
    struct Ring
    {
        Ptr<RoceQueuePair> toNext;       //!< sends
        Ptr<RoceQueuePair> fromPrevious; //!< receives
        uint64_t bytes{0};               //!< all-reduced per iteration
        uint64_t posted{0};              //!< payload bytes posted in all
        uint32_t sent{0};                //!< steps sent in this iteration
        uint32_t received{0};            //!< messages received in this iteration
    };

    void StartApplication() override;
    void StopApplication() override;

    void Join(Ptr<DltJob> job, uint32_t rank); //!< called by DltJob::AddRank
    void BeginIteration();                     //!< called by the job's barrier
    void ComputeDone();                        //!< computation of the iteration done
    void StartCommunication();                 //!< the overlap point is reached
    void NvlinkDone();                         //!< NVLink part of the iteration done
    void Advance(Ring& ring);                  //!< send what may be sent
    void CheckCommunication();                 //!< tell the job when all parts are done
    uint32_t GetNSteps() const;                //!< 2(n-1)

    /**
     * A message of a ring has arrived, or its queue pair failed.
     * \param ring number
     * \param qp the queue pair
     * \param completion what happened
     */
    void Received(uint32_t ring, Ptr<RoceQueuePair> qp, const RoceCompletion& completion);
    /**
     * A message of a ring was acknowledged, or its queue pair failed.
     * \param ring number
     * \param qp the queue pair
     * \param completion what happened
     */
    void Sent(uint32_t ring, Ptr<RoceQueuePair> qp, const RoceCompletion& completion);

    Ptr<DltJob> m_job;            //!< its job
    uint32_t m_rank{0};           //!< number in the job
    Ptr<GpuHost> m_host;          //!< GPUs of the host
    std::vector<uint32_t> m_gpus; //!< numbers on the host
    uint64_t m_nvlinkBytes{0};    //!< of a GPU, per iteration
    std::vector<Ring> m_rings;    //!< channels
    bool m_started{false};        //!< application started
    bool m_computing{false};      //!< computation of this iteration runs
    bool m_communicating{false};  //!< communication of this iteration runs
    bool m_nvlinkDone{false};     //!< NVLink part of this iteration done
};

} // namespace ns3

#endif /* CRUX_DLT_RANK_APPLICATION_H */
