/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltExecutor: runs the program of a job, iteration by iteration: which part of which
 * operation may start, and the messages of its collectives and copies.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-gpu-host, crux-gpu-host-links,
 * crux-roce-queue-pair, and programs, collectives and wirings of libcrux.
 *
 * What a program means is said in crux-program.h; the messages of a collective and what each
 * waits for in crux-collective.h. Beyond that, at this level:
 *  - A message is posted when both its ranks' parts in the collective (and its repetition) have
 *    started, as a receiver posts its buffer first, and when its waits are met.
 *  - A driven message (message_latency_s, message_cpu_s) first waits for a CPU thread of the
 *    sending rank's host, holds it for message_cpu_s, and begins to move message_latency_s after
 *    it got it. The messages of a connection overlap in that time.
 *  - A part has ended when its last message has arrived, its own at the other end included.
 *  - A GPU communicates from when all ranks of one of its collectives have started, or from the
 *    start of a copy, to the end of its part.
 * Memory is O(parts + connections), whatever the number of messages.
 */
#ifndef CRUX_DLT_EXECUTOR_H
#define CRUX_DLT_EXECUTOR_H

#include "crux-gpu-host-links.h"
#include "crux-gpu-host.h"

#include "ns3/crux-roce-queue-pair.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

struct crux_coll;
struct crux_program;
struct crux_wiring;

namespace ns3
{

/// Times of one iteration of a job, over all its ranks.
struct DltIteration
{
    Time start;      //!< all ranks begin
    Time computeEnd; //!< end of the last computation on a GPU; = start when there is none
    Time commStart;  //!< the first message could move; = computeEnd when there is none
    Time commEnd;    //!< the last message has arrived; = commStart when there is none
    Time end;        //!< all parts have ended
    /// Seconds of computation of a GPU in the mean; 0: all from start to computeEnd.
    double busy{0};
};

/// Whom an executor serves.
class DltExecutorOwner
{
  public:
    virtual ~DltExecutorOwner() = default;

    /** \param row the iteration that has ended */
    virtual void IterationDone(const DltIteration& row) = 0;
    /** \param reason why the job cannot go on, one line */
    virtual void ExecutionFailed(const std::string& reason) = 0;
    /**
     * A part has ended.
     * \param op operation
     * \param rank whose part
     * \param start when it started
     */
    virtual void PartDone(uint32_t op, uint32_t rank, Time start) = 0;
};

/**
 * \ingroup crux
 * \brief A program on the GPUs, links and queue pairs of a job.
 */
class DltExecutor : public SimpleRefCount<DltExecutor>,
                    public GpuHostClient,
                    public GpuHostLinksClient
{
  public:
    /**
     * \param program checked; outlives the executor
     * \param wiring of it; outlives the executor
     * \param owner told what happens, until Detach
     */
    DltExecutor(const crux_program* program, const crux_wiring* wiring, DltExecutorOwner* owner);
    ~DltExecutor() override;
    DltExecutor(const DltExecutor&) = delete;
    DltExecutor& operator=(const DltExecutor&) = delete;

    /// \name Place: all ranks and connections, before the first Begin @{
    /**
     * \param rank of the program
     * \param host its host
     * \param gpu its GPU there, the job's from TakeGpus() to Stop() or Finish()
     * \param slowness > 0: factor on the length of its computations
     */
    void SetRank(uint32_t rank, Ptr<GpuHost> host, uint32_t gpu, double slowness = 1);
    /**
     * A connection inside a host.
     * \param conn of the wiring
     * \param links of the host
     * \param way numbers of the links that it lies on; empty: arrives at once
     * \param latency of the way
     */
    void SetLocal(uint32_t conn,
                  Ptr<GpuHostLinks> links,
                  const std::vector<uint32_t>& way,
                  Time latency);
    /**
     * A connection over the network.
     * \param conn of the wiring
     * \param send queue pair of the source, connected
     * \param receive its other end
     */
    void SetNetwork(uint32_t conn, Ptr<RoceQueuePair> send, Ptr<RoceQueuePair> receive);
    /**
     * What a network connection uses inside the host at one of its ends.
     * \param conn of the wiring
     * \param end 0 source, 1 destination
     * \param links of that host
     * \param way numbers of the links
     * \param nicLink link for the NIC's rate
     */
    void SetShare(uint32_t conn,
                  uint32_t end,
                  Ptr<GpuHostLinks> links,
                  const std::vector<uint32_t>& way,
                  uint32_t nicLink);
    /// @}

    /**
     * \param level of the job's traffic inside hosts, 0 is the highest
     * \param storage level of its storage traffic
     */
    void SetLevels(uint32_t level, uint32_t storage);
    /**
     * The same on one host: connections inside it, and what network connections use there.
     * \param level as above
     * \param storage as above
     * \param links of the host, others keep their levels; null: of all hosts
     */
    void SetLevels(uint32_t level, uint32_t storage, Ptr<GpuHostLinks> links);
    /** \param conn of the wiring \return whether storage copies use it (between hosts nothing else
     * does then) */
    bool IsStorage(uint32_t conn) const;
    /** \param factor on each part's computation, drawn anew each iteration; null: 1 */
    void SetJitter(Ptr<RandomVariableStream> factor);
    /** A part never starts (for tests). \param op operation \param rank whose part */
    void Withhold(uint32_t op, uint32_t rank);

    /** \return number of ranks */
    uint32_t GetNRanks() const;
    /** \return messages posted since the start */
    uint64_t GetMessages() const;
    /**
     * Payload bytes that a connection has moved until now, those of messages under way included;
     * never falls. Over the network: sent for the first time by its queue pair (a train counts
     * from its first packet on); inside a host: by the fluid model. O(1).
     * \param conn of the wiring
     * \return bytes
     */
    uint64_t GetConnBytes(uint32_t conn) const;

    /**
     * Take all GPUs for the job, or none.
     * \param jobId number of the job
     * \param name of it
     * \return empty, or why not: which GPU of which host is held by whom
     */
    std::string TakeGpus(int64_t jobId, const std::string& name);
    /** Begin an iteration; none may run, and the GPUs are the job's. */
    void Begin();
    /** Drop what runs: messages not delivered, computations. The GPUs are released. */
    void Stop();
    /** All iterations are done: release the GPUs. */
    void Finish();
    /** The owner goes away. */
    void Detach();

    /** \return one line: what is waited for, and which ranks have not posted */
    std::string Describe() const;

    /// \name From hosts @{
    void ComputeDone(uint32_t gpu, uint64_t tag, double seconds) override;
    void CpuBegun(const GpuHostCpuWork& work) override;
    void CpuDone(const GpuHostCpuWork& work) override;
    void Arrived(uint32_t tag, uint64_t number, uint64_t bytes) override;
    void Limited(uint32_t tag, uint64_t bps) override;
    /// @}

  private:
    static constexpr uint32_t NONE = UINT32_MAX; //!< no number

    /// State of a part.
    enum PartState : uint8_t
    {
        PART_WAITS,
        PART_RUNS,
        PART_ENDED,
    };

    /// A rank.
    struct Rank
    {
        Ptr<GpuHost> host;            //!< where
        uint32_t gpu{0};              //!< which
        double slowness{1};           //!< of its computations
        bool held{false};             //!< the GPU is the job's
        uint32_t moving{0};           //!< collectives and copies that move
        bool hostBusy{false};         //!< a host computation runs or waits for a thread
        std::set<uint32_t> hostReady; //!< operations: host computations that are ready
    };

    /// One end of a network connection inside its host.
    struct Share
    {
        Ptr<GpuHostLinks> links;    //!< null: not modelled
        uint32_t number{0};         //!< its connection there
        uint64_t limit{UINT64_MAX}; //!< bit/s of payload
    };

    /// A connection.
    struct Conn
    {
        Ptr<RoceQueuePair> send;        //!< network: source
        Ptr<RoceQueuePair> receive;     //!< network: destination
        Share share[2];                 //!< network: at both ends
        Ptr<GpuHostLinks> links;        //!< local; null with no network either: no way to go
        uint32_t number[2]{NONE, NONE}; //!< local: its connections there, of job and storage
        bool used[2]{false, false};     //!< by copies of the job's class, of the storage class
        uint32_t lane{NONE};            //!< of the source's collective
        uint32_t posted{0};             //!< messages, of the source's collective
        uint32_t arrived{0};            //!< messages, of the destination's collective
        uint64_t moving{0};             //!< messages given to the network and not arrived
        uint64_t moved{0};              //!< bytes that arrived at once, or before Detach
        mutable uint64_t most{0};       //!< bytes last told: a cut train is not taken back
    };

    /// Progress of a rank in the lanes of one channel that end at it.
    struct Channel
    {
        uint32_t lanes{0};   //!< that end here
        uint32_t least{0};   //!< all have delivered so many
        uint32_t atLeast{0}; //!< lanes that have delivered no more
    };

    /// A member of a group: the collective that it is in.
    struct Member
    {
        uint32_t op{NONE};             //!< operation; NONE: in none
        uint32_t round{0};             //!< repetition
        uint64_t left{0};              //!< messages, out and in, that have not arrived
        uint64_t unposted{0};          //!< messages, out, that have not been posted
        bool laneBlocked{false};       //!< an outgoing lane waits for particular lanes
        std::vector<Channel> channels; //!< incoming
    };

    /// Why a lane does not go on.
    enum Block
    {
        BLOCK_NOT,  //!< all posted
        BLOCK_PEER, //!< an end has not started
        BLOCK_ALL,  //!< waits for all incoming lanes of its channel
        BLOCK_LANE, //!< waits for particular lanes
    };

    void BuildGraph();                                           //!< m_next, m_base
    void BuildPlaces();                                          //!< m_place*
    uint32_t PositionOf(uint32_t group, uint32_t rank) const;    //!< NONE: not in it
    uint32_t RankOf(uint32_t op, uint32_t position) const;       //!< inverse
    Member& MemberOf(uint32_t op, uint32_t position);            //!< of the operation's group
    void Ready(uint32_t op, uint32_t position);                  //!< all dependencies are met
    void Drain();                                                //!< start what is ready
    void StartPart(uint32_t op, uint32_t position);              //!< start it
    void EndPart(uint32_t op, uint32_t position);                //!< it has ended
    void EndIteration();                                         //!< all parts have ended
    void StartHost(uint32_t rank);                               //!< next host computation
    double SecondsOf(uint32_t op, uint32_t position) const;      //!< with jitter
    void Moves(uint32_t rank, bool begins);                      //!< interference
    void StartCollective(uint32_t op, uint32_t position);        //!< a member joins
    void BeginRound(uint32_t op, uint32_t position);             //!< a repetition of it
    void EndRound(uint32_t op, uint32_t position);               //!< all its messages arrived
    bool CountIn(uint32_t op, uint32_t position, uint32_t lane); //!< true: more for wait_all
    void AdvanceOut(uint32_t op, uint32_t position);             //!< post what may be posted
    Block AdvanceLane(uint32_t op, uint32_t lane);               //!< post what may be posted
    void Drive(uint32_t conn, uint32_t op, uint64_t bytes);      //!< a message may go
    void Move(uint32_t conn, uint32_t op, uint64_t bytes, uint32_t era); //!< it goes
    void SetMoving(Conn& c, bool moves);                                 //!< tell both hosts
    void ArrivedIn(uint32_t conn, uint32_t op);                          //!< a lane's message
    void ReleaseGpus();                                                  //!< give them back
    void Fail(const std::string& reason);                                //!< tell the owner
    /** \param conn bound \param qp its end \param completion what happened */
    void Received(uint32_t conn, Ptr<RoceQueuePair> qp, const RoceCompletion& completion);
    /** \param conn bound \param qp its end \param completion what happened */
    void Sent(uint32_t conn, Ptr<RoceQueuePair> qp, const RoceCompletion& completion);

    const crux_program* m_program;      //!< what to run
    const crux_wiring* m_wiring;        //!< over what
    DltExecutorOwner* m_owner;          //!< null: detached
    std::vector<Rank> m_ranks;          //!< [ranks]
    std::vector<Conn> m_conns;          //!< [connections]
    std::vector<Member> m_members;      //!< [members of all groups]
    Ptr<RandomVariableStream> m_jitter; //!< null: none
    std::vector<double> m_factors;      //!< [parts] with jitter
    uint32_t m_missingOp{NONE};         //!< withheld
    uint32_t m_missingRank{NONE};       //!< withheld

    std::vector<uint32_t> m_firstPart;  //!< [ops + 1] parts of an operation, by position
    std::vector<uint32_t> m_base;       //!< [parts] dependencies that concern its rank
    std::vector<uint32_t> m_firstNext;  //!< [ops + 1] in m_next
    std::vector<uint32_t> m_next;       //!< operations that depend on one
    std::vector<uint32_t> m_placeFirst; //!< [ranks + 1] groups of a rank, rising
    std::vector<uint32_t> m_placeGroup; //!< the group
    std::vector<uint32_t> m_placeAt;    //!< the rank's position in it

    bool m_running{false};                             //!< an iteration runs
    bool m_draining{false};                            //!< inside Drain
    uint32_t m_era{0};                                 //!< grows with Stop
    std::vector<uint32_t> m_unmet;                     //!< [parts]
    std::vector<PartState> m_state;                    //!< [parts]
    std::vector<int64_t> m_began;                      //!< [parts] ps
    std::vector<uint32_t> m_started;                   //!< [ops] parts started
    std::deque<std::pair<uint32_t, uint32_t>> m_ready; //!< operation, position
    std::deque<uint32_t> m_hostDue;                    //!< ranks that may start a host computation
    uint64_t m_left{0};                                //!< parts that have not ended
    uint64_t m_messages{0};                            //!< posted
    bool m_communicated{false};                        //!< a message was posted in this iteration
    DltIteration m_row;                                //!< this iteration
};

} // namespace ns3

#endif /* CRUX_DLT_EXECUTOR_H */
