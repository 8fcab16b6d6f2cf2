/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHost: the GPUs and the CPU threads of a host, aggregated to its Node beside the
 * RoceHost. Gpu: one of its GPUs.
 *
 * Place: model/dlt (C++17, ns-3). Uses ns-3 and crux-roce-clock; decides nothing.
 *
 * A computation of s seconds on GPU g takes s x Slowness(g) x interference, where interference
 * is 1, or more while the GPU also drives communication; it may change while it runs:
 *   integral over its run of dt / interference(t) = s x Slowness(g).
 * Computations of a GPU run one at a time, of those ready the one of the lowest number first,
 * each to its end. CPU threads belong to a client; work for them is served in the order of its
 * submission.
 *
 * Counters, as of hardware: they never fall, and rise while a computation runs.
 *   FLOP of GPU g    = sum over its computations of FLOP x done, done = the part of
 *                      integral dt / interference so far: 1 when it has ended
 *   busy(g)          = time in which g computed
 *   FLOP, busy(job)  = the same of what GPUs of this host computed for the job, whoever had
 *                      them before
 *   any busy(job)    = time in which at least one GPU of this host that the job has computed
 * What was dropped by Release counts as far as it had got.
 */
#ifndef CRUX_GPU_HOST_H
#define CRUX_GPU_HOST_H

#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3
{

/// Work for a CPU thread of a host.
struct GpuHostCpuWork
{
    double seconds{0};  //!< of a thread, >= 0
    uint32_t kind{0};   //!< for the client
    uint32_t what{0};   //!< for the client
    uint32_t which{0};  //!< for the client
    uint64_t amount{0}; //!< for the client
};

/// Who computes on a host. Calls come from events, never from inside Submit.
class GpuHostClient
{
  public:
    virtual ~GpuHostClient() = default;

    /**
     * A computation has ended.
     * \param gpu number on the host
     * \param tag as given to SubmitCompute
     * \param seconds that it took
     */
    virtual void ComputeDone(uint32_t gpu, uint64_t tag, double seconds) = 0;

    /** \param work has got a thread */
    virtual void CpuBegun(const GpuHostCpuWork& work) = 0;

    /** \param work is done */
    virtual void CpuDone(const GpuHostCpuWork& work) = 0;
};

/**
 * \ingroup crux
 * \brief A GPU of a GpuHost.
 */
class Gpu : public Object
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    Gpu() = default;

  private:
    friend class GpuHost;

    /// A computation that is ready.
    struct Work
    {
        uint64_t order{0};              //!< the lowest goes first
        uint64_t tag{0};                //!< for the client
        double seconds{0};              //!< without slowness
        double flop{0};                 //!< executed by it
        GpuHostClient* client{nullptr}; //!< whom to tell

        /** \param other another \return whether this goes before it */
        bool operator<(const Work& other) const
        {
            return order < other.order || (order == other.order && tag < other.tag);
        }
    };

    double m_slowness{1};    //!< attribute Slowness
    bool taken{false};       //!< allocated to a job
    int64_t job{0};          //!< the job, when taken
    std::string name;        //!< of the job, when taken
    double jobSlowness{1};   //!< the job's factor, when taken
    bool booked{false};      //!< a job will ask for it
    std::set<Work> ready;    //!< waiting
    bool busy{false};        //!< computing
    Work current;            //!< what, when busy
    double interference{1};  //!< factor now
    double left{0};          //!< seconds of the current one at interference 1, at sincePs
    int64_t sincePs{0};      //!< when left was worked out
    int64_t begunPs{0};      //!< when the current one began
    EventId end;             //!< of the current one
    bool dispatching{false}; //!< a look at ready is due
    double whole{0};         //!< what left was at the begin
    int64_t totalPs{0};      //!< computation so far, the current one not included
    double flop{0};          //!< FLOP so far, of the current one not included
};

/**
 * \ingroup crux
 * \brief GPUs and CPU threads of a host.
 *
 * A GPU belongs to at most one job at a time.
 */
class GpuHost : public Object
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    GpuHost();
    ~GpuHost() override;
    GpuHost(const GpuHost&) = delete;
    GpuHost& operator=(const GpuHost&) = delete;

    /** \param name of the host, for people; without one it has the number of its node */
    void SetName(const std::string& name);
    /** \return that name */
    std::string GetName() const;

    /** \return number of GPUs */
    uint32_t GetNGpus() const;

    /**
     * \param gpu number on this host; beyond the last is a fatal error
     * \return the GPU
     */
    Ptr<Gpu> GetGpu(uint32_t gpu) const;

    /**
     * Give a GPU to a job.
     * \param gpu number on this host, 0 .. GetNGpus() - 1
     * \param jobId the job
     * \param name of the job, for people; empty: "job " and its number
     * \param slowness > 0: factor on the length of the job's computations there
     * \return false, and nothing changes, when the GPU does not exist or is taken
     */
    bool Allocate(uint32_t gpu, int64_t jobId, const std::string& name = "", double slowness = 1);

    /**
     * \param gpu number on this host
     * \return name of the job that holds the GPU; empty: it is free
     */
    std::string GetHolder(uint32_t gpu) const;

    /**
     * Say that a job will ask for a GPU when it starts.
     * \param gpu number on this host
     */
    void Book(uint32_t gpu);

    /**
     * \param gpu number on this host
     * \return whether a job has booked it, at whatever time
     */
    bool IsBooked(uint32_t gpu) const;

    /**
     * Give a GPU back; what its job computes there, or would, is dropped, and nobody is told.
     * \param gpu number on this host
     */
    void Release(uint32_t gpu);

    /**
     * Compute, when the GPU gets to it.
     * \param gpu number on this host, allocated
     * \param order the lowest of those ready goes first
     * \param tag comes back; equal orders go by it
     * \param seconds >= 0, without slowness and interference
     * \param client told at the end
     * \param flop >= 0, executed evenly over the computation
     */
    void SubmitCompute(uint32_t gpu,
                       uint64_t order,
                       uint64_t tag,
                       double seconds,
                       GpuHostClient* client,
                       double flop = 0);

    /**
     * The same on several GPUs, each when it gets to it, with order 0.
     * \param gpus numbers on this host, allocated
     * \param duration >= 0, without slowness and interference
     * \param done called when all have ended; never when one was released before
     */
    void Compute(const std::vector<uint32_t>& gpus, Time duration, Callback<void> done);

    /**
     * Set what communication does to the computations of a GPU from now on.
     * \param gpu number on this host
     * \param factor >= 1: on the length of computations
     */
    void SetInterference(uint32_t gpu, double factor);

    /**
     * \param gpu number on this host
     * \return time that the GPU has computed in all, running computation excluded
     */
    Time GetBusyTime(uint32_t gpu) const;

    /**
     * \param gpu number on this host
     * \return seconds that the GPU has computed in all, the running computation included
     */
    double GetBusySeconds(uint32_t gpu) const;

    /**
     * \param gpu number on this host
     * \return FLOP that the GPU has executed in all, those of the running computation included
     */
    double GetFlop(uint32_t gpu) const;

    /**
     * \param jobId a job
     * \return seconds that GPUs of this host have computed for it in all, summed over them, running
     * computations included
     */
    double GetJobBusySeconds(int64_t jobId) const;

    /**
     * \param jobId a job
     * \return FLOP that GPUs of this host have executed for it in all, those of running
     * computations included
     */
    double GetJobFlop(int64_t jobId) const;

    /**
     * \param jobId a job
     * \return seconds in which at least one GPU of this host allocated to the job computed, until
     * now; 0 for a job that never computed here
     */
    double GetAnyBusySeconds(int64_t jobId) const;

    /**
     * Give a client CPU threads of its own.
     * \param client whose
     * \param threads how many, >= 1
     */
    void SetCpuThreads(GpuHostClient* client, uint32_t threads);

    /**
     * Work for one of the client's CPU threads: first come, first served.
     * \param work what
     * \param client with threads; told when the work gets one and when it is done
     */
    void SubmitCpu(const GpuHostCpuWork& work, GpuHostClient* client);

    /**
     * Take a client's threads back and drop its work, running and waiting; it is told nothing.
     * \param client whose
     */
    void ReleaseCpu(GpuHostClient* client);

    /**
     * \param client with threads
     * \return its work that waits for a thread
     */
    size_t GetCpuQueue(GpuHostClient* client) const;

    /**
     * TracedCallback signature for computations.
     * \param [in] gpu number on this host
     * \param [in] jobId the job
     * \param [in] duration its length: planned at the begin, real at the end
     */
    typedef void (*ComputeTracedCallback)(uint32_t gpu, int64_t jobId, Time duration);

  protected:
    void NotifyConstructionCompleted() override;
    void DoDispose() override;

  private:
    /// Computations whose common end is told by a callback.
    class Batch;

    /// A CPU thread.
    struct Thread
    {
        bool busy{false};    //!< has work
        GpuHostCpuWork work; //!< what, when busy
        EventId end;         //!< of it
    };

    /// The CPU threads of a client.
    struct Pool
    {
        GpuHostClient* client{nullptr};   //!< whose; null: taken back
        std::vector<Thread> threads;      //!< of it
        std::deque<GpuHostCpuWork> queue; //!< waiting
        bool dispatching{false};          //!< DispatchCpu is due
    };

    /// Computation of a job on any GPU.
    struct Union
    {
        uint32_t busy{0};   //!< GPUs that compute
        int64_t sincePs{0}; //!< when the first of them began
        int64_t totalPs{0}; //!< before that
        int64_t busyPs{0};  //!< of all its GPUs here, running computations not included
        double flop{0};     //!< the same
    };

    /** \param gpu which computes \return part of its computation that is done, 0 .. 1 */
    static double DoneOf(const Gpu& gpu);
    /** A computation ends or is dropped: count it. \param gpu number on this host
     * \param flop executed by it \return how long it took, ps */
    int64_t Count(uint32_t gpu, double flop);
    /** Start the next computation of a GPU, if it is idle. \param gpu number on this host */
    void Dispatch(uint32_t gpu);
    /** See to a Dispatch in this instant. \param gpu number on this host */
    void DispatchSoon(uint32_t gpu);
    /** Schedule the end of the current computation. \param gpu number on this host */
    void ScheduleEnd(uint32_t gpu);
    /** The current computation ends. \param gpu number on this host */
    void End(uint32_t gpu);
    /** \param client whose \return number of its pool; the number of pools when it has none */
    uint32_t PoolOf(GpuHostClient* client) const;
    /** Give free threads to what waits. \param pool number */
    void DispatchCpu(uint32_t pool);
    /** See to a DispatchCpu in this instant. \param pool number */
    void DispatchCpuSoon(uint32_t pool);
    /** Work on a thread is done. \param pool number \param thread which */
    void EndCpu(uint32_t pool, uint32_t thread);

    uint32_t m_nGpus{8};                                    //!< attribute Gpus
    std::string m_name;                                     //!< for people
    std::vector<Ptr<Gpu>> m_gpus;                           //!< [m_nGpus]
    std::map<uint64_t, std::unique_ptr<Batch>> m_batches;   //!< of Compute, by number
    uint64_t m_nextBatch{0};                                //!< number
    std::map<int64_t, Union> m_unions;                      //!< by job
    std::vector<Pool> m_pools;                              //!< CPU threads
    TracedCallback<uint32_t, int64_t, Time> m_computeBegin; //!< trace source
    TracedCallback<uint32_t, int64_t, Time> m_computeEnd;   //!< trace source
};

} // namespace ns3

#endif /* CRUX_GPU_HOST_H */
