/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltJob: one training job: its program, its applications and the barrier between
 * iterations.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-dlt-executor and
 * crux-dlt-program-application.
 */
#ifndef CRUX_DLT_JOB_H
#define CRUX_DLT_JOB_H

#include "crux-dlt-executor.h"
#include "crux-dlt-program-application.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief A training job.
 *
 * It runs a program (crux-program.h), the same one each iteration. An iteration begins at once on
 * all ranks and ends when every part of the program has ended; the next begins then. The job
 * begins when all its applications have started, and ends after Iterations iterations or at
 * StopTime, whichever is first. Its GPUs are its own between the two: if one is still another's
 * when it begins, and not given back in the same instant, it fails and says whose. AlignStart
 * delays the begin of one iteration, by less than a period.
 */
class DltJob : public Object, public DltExecutorOwner
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    DltJob() = default;
    ~DltJob() override;

    /// State of a job.
    enum State
    {
        WAITING,  //!< not all applications have started
        RUNNING,  //!< iterating
        FINISHED, //!< all iterations done
        STOPPED,  //!< StopTime reached or an application stopped before the end
        FAILED,   //!< a queue pair failed, or a GPU was another's at the start
    };

    /**
     * Say what the job runs, once.
     * \param program checked
     * \param wiring of it
     * \param keeper keeps both alive; null: they outlive the job
     * \return the executor, to be told where ranks and connections are
     */
    Ptr<DltExecutor> SetProgram(const crux_program* program,
                                const crux_wiring* wiring,
                                std::shared_ptr<const void> keeper = nullptr);

    /** \return the executor; null before SetProgram */
    Ptr<DltExecutor> GetExecutor() const;

    /**
     * Add the application of a host; all are added before the simulation starts.
     * \param application it, with its ranks
     */
    void AddApplication(Ptr<DltProgramApplication> application);

    /** \return its applications, in the order of AddApplication */
    const std::vector<Ptr<DltProgramApplication>>& GetApplications() const;

    /** \return state */
    State GetState() const;
    /** \return completed iterations */
    uint64_t GetCompleted() const;
    /** \return when the iteration that runs, or the last one, began; 0 before the first */
    Time GetIterationStart() const;
    /**
     * Shift the job in time: the next iteration that begins after this call begins at the first
     * instant from its own on that is reference + shift + k x period, k any whole number; those
     * after it follow as always. A later call replaces one whose iteration has not begun.
     * \param reference any instant
     * \param shift added to it
     * \param period > 0; 0: no delay, and one that waits begins now
     */
    void AlignStart(Time reference, Time shift, Time period);
    /**
     * \return a number that is another whenever the job has got on: an iteration or a part of an
     * operation ended, a message was posted, its start is still to come
     */
    uint64_t GetProgress() const;
    /** \return attribute Name */
    std::string GetName() const;
    /** \return attribute JobId */
    int64_t GetJobId() const;

    /**
     * Fix the random stream of the jitter.
     * \param stream number
     * \return streams used
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * \return one line for people: what the job waits for, and which ranks have not posted
     * what; empty unless it is waiting or running
     */
    std::string DescribeWaiting() const;

    /** End the job now, short of its iterations; nothing more is sent. */
    void Stop();

    /// \name From its executor and applications @{
    void ApplicationStarted(); //!< one more has started
    void IterationDone(const DltIteration& row) override;
    void ExecutionFailed(const std::string& reason) override;
    void PartDone(uint32_t op, uint32_t rank, Time start) override;
    /// @}

    /**
     * TracedCallback signature for the start of a job.
     * \param [in] job the job; its first iteration begins when all sinks have returned
     */
    typedef void (*StartTracedCallback)(Ptr<const DltJob> job);
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
     * TracedCallback signature for parts of operations.
     * \param [in] job the job
     * \param [in] op number of the operation in the program
     * \param [in] rank whose part
     * \param [in] start when it started; it ends now
     */
    typedef void (*PartTracedCallback)(Ptr<const DltJob> job,
                                       uint32_t op,
                                       uint32_t rank,
                                       Time start);
    /**
     * TracedCallback signature for an iteration whose begin AlignStart has put off.
     * \param [in] job the job
     * \param [in] number of the iteration, from 0
     * \param [in] delay of its begin, 0 included
     */
    typedef void (*AlignedTracedCallback)(Ptr<const DltJob> job, uint64_t number, Time delay);
    /**
     * TracedCallback signature for the end of a job.
     * \param [in] job the job; its state tells how it ended
     * \param [in] reason empty, or why it failed
     */
    typedef void (*EndTracedCallback)(Ptr<const DltJob> job, const std::string& reason);

  protected:
    void DoDispose() override;

  private:
    void Start(bool last);                            //!< take the GPUs and begin
    void BeginSoon();                                 //!< BeginNext, at once or aligned
    void PutOff();                                    //!< BeginNext, aligned
    void BeginNext();                                 //!< begin an iteration unless it has ended
    void End(State state, const std::string& reason); //!< end the job

    int64_t m_id{0};                                        //!< attribute JobId
    std::string m_name;                                     //!< attribute Name
    uint64_t m_iterations{0};                               //!< attribute Iterations
    Time m_stopTime;                                        //!< attribute StopTime
    Ptr<RandomVariableStream> m_jitter;                     //!< attribute Jitter
    State m_state{WAITING};                                 //!< state
    uint64_t m_completed{0};                                //!< iterations done
    uint64_t m_parts{0};                                    //!< parts of operations done
    uint32_t m_started{0};                                  //!< applications started
    EventId m_stopEvent;                                    //!< at StopTime
    EventId m_beginEvent;                                   //!< of an iteration that is put off
    Time m_begun;                                           //!< GetIterationStart
    Time m_due;                                             //!< begin of what is put off, undelayed
    Time m_alignAt;                                         //!< AlignStart: an instant
    Time m_alignPeriod;                                     //!< AlignStart; 0: none asked for
    Ptr<DltExecutor> m_executor;                            //!< runs the program
    std::shared_ptr<const void> m_keeper;                   //!< of program and wiring
    std::vector<Ptr<DltProgramApplication>> m_applications; //!< one a host
    TracedCallback<Ptr<const DltJob>> m_startTrace;         //!< source
    TracedCallback<Ptr<const DltJob>, uint64_t, const DltIteration&> m_iterationTrace; //!< source
    TracedCallback<Ptr<const DltJob>, uint32_t, uint32_t, Time> m_partTrace;           //!< source
    TracedCallback<Ptr<const DltJob>, const std::string&> m_endTrace;                  //!< source
    TracedCallback<Ptr<const DltJob>, uint64_t, Time> m_alignedTrace;                  //!< source
};

} // namespace ns3

#endif /* CRUX_DLT_JOB_H */
