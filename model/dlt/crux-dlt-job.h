/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltJob: one training job: its parameters, its ranks and the barrier between
 * iterations. DltIteration: what an iteration took.
 *
 * Place: model/dlt (C++17, ns-3). Uses ns-3 and crux-dlt-rank-application.
 */
#ifndef CRUX_DLT_JOB_H
#define CRUX_DLT_JOB_H

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

class DltRankApplication;

/// Times of one iteration of a job, over all its ranks.
struct DltIteration
{
    Time start;      //!< all ranks begin to compute
    Time computeEnd; //!< the last rank has computed
    Time commStart;  //!< the first rank may communicate
    Time commEnd;    //!< the last rank has received all; = commStart when there is nothing to send
    Time end;        //!< later of computeEnd and commEnd
    /// Seconds of computation of a GPU in the mean; 0: all from start to computeEnd.
    double busy{0};
};

/**
 * \ingroup crux
 * \brief A data-parallel training job.
 *
 * An iteration begun at T computes on [T, T + ComputeTime] on every rank; its
 * communication may start at T + OverlapStart x ComputeTime; it ends when all
 * ranks have done both (synchronous training), and the next begins at once.
 * The job begins when all its ranks' applications have started, and ends after
 * Iterations iterations or at StopTime, whichever is first.
 */
class DltJob : public Object
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    DltJob() = default;

    /// State of a job.
    enum State
    {
        WAITING,  //!< not all ranks have started
        RUNNING,  //!< iterating
        FINISHED, //!< all iterations done
        STOPPED,  //!< StopTime reached or an application stopped before the end
        FAILED,   //!< a queue pair failed
    };

    /**
     * Add the next rank; all are added before the simulation starts.
     * \param rank its application
     */
    void AddRank(Ptr<DltRankApplication> rank);

    /** \return its ranks, in ring order */
    const std::vector<Ptr<DltRankApplication>>& GetRanks() const;

    /** \return state */
    State GetState() const;
    /** \return completed iterations */
    uint64_t GetCompleted() const;
    /** \return attribute Name */
    std::string GetName() const;
    /** \return attribute JobId */
    int64_t GetJobId() const;
    /** \return attribute ComputeTime */
    Time GetComputeTime() const;
    /** \return attribute OverlapStart */
    double GetOverlapStart() const;

    /**
     * \return one line for people: which ranks the job waits for and what they
     * wait for; empty unless it is waiting or running
     */
    std::string DescribeWaiting() const;

    /** End the job now, short of its iterations; nothing more is sent. */
    void Stop();

    /**
     * TracedCallback signature for iterations.
     * \param [in] job the job
     * \param [in] number of the iteration, from 0
     * \param [in] row its times
     */
    typedef void (*IterationTracedCallback)(Ptr<const DltJob> job,
                                            uint64_t number,
                                            const DltIteration& row);
    /**
     * TracedCallback signature for the end of a job.
     * \param [in] job the job; its state tells how it ended
     * \param [in] reason empty, or why it failed
     */
    typedef void (*EndTracedCallback)(Ptr<const DltJob> job, const std::string& reason);

  protected:
    void DoDispose() override;

  private:
    friend class DltRankApplication;

    /// \name Called by the ranks @{
    void RankStarted();
    void RankComputed();
    void RankCommReady();
    void RankCommunicated();
    void RankFailed(const std::string& reason);
    /// @}

    void Begin();                                     //!< begin an iteration
    void BeginNext();                                 //!< begin it unless the job has ended
    void CheckIteration();                            //!< end it if all is done
    void End(State state, const std::string& reason); //!< end the job

    int64_t m_id{0};            //!< attribute JobId
    std::string m_name;         //!< attribute Name
    Time m_compute;             //!< attribute ComputeTime
    double m_overlap{1};        //!< attribute OverlapStart
    uint64_t m_iterations{0};   //!< attribute Iterations
    Time m_stopTime;            //!< attribute StopTime
    State m_state{WAITING};     //!< state
    uint64_t m_completed{0};    //!< iterations done
    uint32_t m_started{0};      //!< ranks started
    uint32_t m_computed{0};     //!< ranks that have computed in this iteration
    uint32_t m_communicated{0}; //!< ranks that have communicated in this iteration
    bool m_commReady{false};    //!< a rank may communicate in this iteration
    DltIteration m_row;         //!< the running iteration
    std::vector<Ptr<DltRankApplication>> m_ranks; //!< ring order
    TracedCallback<Ptr<const DltJob>, uint64_t, const DltIteration&> m_iterationTrace; //!< source
    TracedCallback<Ptr<const DltJob>, const std::string&> m_endTrace;                  //!< source
};

} // namespace ns3

#endif /* CRUX_DLT_JOB_H */
