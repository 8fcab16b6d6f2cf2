/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHost: the GPUs of a host, aggregated to its Node beside the RoceHost.
 *
 * Place: model/dlt (C++17, ns-3). Uses ns-3 only; decides nothing.
 */
#ifndef CRUX_GPU_HOST_H
#define CRUX_GPU_HOST_H

#include "ns3/callback.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief GPUs joined by NVLink inside a host.
 *
 * A GPU belongs to at most one job at a time and does one computation at a time.
 * NVLink: every GPU has a link of rate NvlinkRate each way to the NVSwitch, used by
 * its own job only, so that a transfer of b bytes takes 8 b / rate.
 */
class GpuHost : public Object
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    GpuHost() = default;

    /** \return number of GPUs */
    uint32_t GetNGpus() const;

    /**
     * Give a GPU to a job.
     * \param gpu number on this host, 0 .. GetNGpus() - 1
     * \param jobId the job
     * \return false, and nothing changes, when the GPU does not exist or is taken
     */
    bool Allocate(uint32_t gpu, int64_t jobId);

    /**
     * Give a GPU back; its job must not compute on it.
     * \param gpu number on this host
     */
    void Release(uint32_t gpu);

    /**
     * Keep GPUs busy for a time.
     * \param gpus numbers on this host; each must be allocated and idle
     * \param duration >= 0
     * \param done called at the end
     */
    void Compute(const std::vector<uint32_t>& gpus, Time duration, Callback<void> done);

    /**
     * \param gpu number on this host
     * \return time that the GPU has computed in all, running computation excluded
     */
    Time GetBusyTime(uint32_t gpu) const;

    /**
     * \param bytes bytes that one GPU sends (and as many that it receives) over NVLink
     * \return 8 bytes / NvlinkRate
     */
    Time GetNvlinkTime(uint64_t bytes) const;

    /**
     * TracedCallback signature for computations.
     * \param [in] gpu number on this host
     * \param [in] jobId the job
     * \param [in] duration its length
     */
    typedef void (*ComputeTracedCallback)(uint32_t gpu, int64_t jobId, Time duration);

  protected:
    void NotifyConstructionCompleted() override;
    void DoDispose() override;

  private:
    /// One GPU.
    struct Gpu
    {
        bool taken{false}; //!< allocated to a job
        int64_t job{0};    //!< the job, when taken
        bool busy{false};  //!< computing
        Time total;        //!< computation so far
    };

    /**
     * End of a computation.
     * \param gpus the GPUs
     * \param duration its length
     * \param done whom to tell
     */
    void ComputeDone(std::vector<uint32_t> gpus, Time duration, Callback<void> done);

    uint32_t m_nGpus{8};                                    //!< attribute Gpus
    DataRate m_nvlinkRate;                                  //!< attribute NvlinkRate
    std::vector<Gpu> m_gpus;                                //!< [m_nGpus]
    TracedCallback<uint32_t, int64_t, Time> m_computeBegin; //!< trace source
    TracedCallback<uint32_t, int64_t, Time> m_computeEnd;   //!< trace source
};

} // namespace ns3

#endif /* CRUX_GPU_HOST_H */
