/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-queue-pair: a reliable connection: messages cut into packets, go-back-N or
 * selective repeat, completions, CNPs at the receiver, congestion control at the sender.
 *
 * Place: model/roce (C++17). Depends on crux-roce-frame, crux-roce-congestion-control,
 * crux-roce-send-queue, crux-roce-completion.
 *
 * Sender. A message of b bytes is max(1, ceil(b / Payload)) packets: SEND First, Middle,
 * Last, or Only. Sequence numbers count in 64 bits and travel in 24 (PSN, wrapping). The
 * receiver acknowledges what asks for it: the last packet of a message, one after which the
 * window is full, and one after which AckEvery packets, AckBytes of payload or an eighth of the
 * window have not been asked for. Packets in flight must be fewer than 2^23.
 * Window. Payload in flight is at most the smaller of the congestion control's window and
 * W = WindowBdp x BDP + c - 1 payloads; one packet always may go.
 *   BDP = line rate x T / 8 x payload / (payload + 82) + one payload (the packet being sent),
 *   T = base RTT + 8e12 (payload + 82) / rate over the links back, on each of which an ACK may find
 *   a packet being sent; c packets go for an ACK, so c - 1 may have arrived and not been asked for.
 * WindowBdp 1 is the least that keeps an idle path at line rate whatever comes the other way.
 * Base RTT (ps). Unless given, worked out at Connect from the links of both ways on an idle fabric:
 *   sum of delays + 8e12 (payload + 82) / rate over the links there + 8e12 x 86 / rate over those
 *   back.
 * Worked out anew, and the windows with it, at both ends when the source port of one changes.
 * Receiver. The expected packet is taken; a later one is dropped and answered by one NAK
 * with the expected PSN until that packet comes; an earlier one that asks is acknowledged
 * again.
 * Selective repeat (attribute SelectiveRepeat; both ends the same; after IRN, SIGCOMM 2018, section
 * 3.1). The receiver keeps later packets and answers each by a NAK with the expected PSN whose MSN
 * field names the packet that came (24 bits that nothing else uses in a NAK: the wire size stays).
 * The sender resends only what lies below the latest packet named and was not named itself; when a
 * packet first sent after a resent one is named and the gap is still there, the resent one was lost
 * too and goes again. A filled gap is acknowledged at once.
 * Loss, go-back-N. On a NAK the sender goes back to the PSN named.
 * Timer. When packets are outstanding and
 * nothing was acknowledged for RetransmitTimeout, it goes back to the oldest one (selective repeat:
 * resends all that were not named). After RetryLimit such retries in a row without progress the
 * next time-out fails the queue pair: every message not completed gets one completion, for the
 * oldest RETRY_EXCEEDED, or PATH_FAILED when the tables then lead to the other end no longer,
 * FLUSHED for the others; GetFailReason() says why in one line. The timer is one deadline that is
 * looked at when it would have expired, not re-armed by ACKs; after the last ACK one expiry may
 * still be pending (it does nothing).
 */
#ifndef CRUX_ROCE_QUEUE_PAIR_H
#define CRUX_ROCE_QUEUE_PAIR_H

#include "crux-roce-clock.h"
#include "crux-roce-completion.h"
#include "crux-roce-congestion-control.h"
#include "crux-roce-frame.h"
#include "crux-roce-send-queue.h"

#include "ns3/callback.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace ns3
{

class RoceHost;
class RoceNetDevice;

/** \brief One end of a reliable connection, made by RoceHost::CreateQueuePair. */
class RoceQueuePair : public Object
{
  public:
    /** Told about completions; it may post, and change class and port. */
    typedef Callback<void, Ptr<RoceQueuePair>, const RoceCompletion&> CompletionCallback;

    /** Number of a host's first queue pair (smaller ones are kept for management). */
    static constexpr uint32_t FIRST_QPN = 16;

    /** \return the type */
    static TypeId GetTypeId();
    RoceQueuePair();
    ~RoceQueuePair() override;

    /**
     * \brief Join two queue pairs; both sides may then send. Refused when an end is null,
     * already connected, both are on one NIC, a payload + 44 (86 with telemetry) exceeds the
     * NIC's MTU, the payloads or SelectiveRepeat differ, or the tables lead from one end not to the
     * other (the line names both hosts).
     * \param a one end
     * \param b other end
     * \param error receives one line when refused; when null, a refusal is a fatal error
     * \return whether they are connected
     */
    static bool Connect(Ptr<RoceQueuePair> a, Ptr<RoceQueuePair> b, std::string* error = nullptr);

    /**
     * \brief Send a message.
     * \param wrId any number; comes back in the completions of both sides
     * \param bytes size, 0 included
     * \return false, and no completion, when not connected or failed
     */
    bool PostSend(uint64_t wrId, uint64_t bytes);

    /** \param callback called once for every message posted here */
    void SetSendCallback(CompletionCallback callback);
    /** \param callback called once for every message received here */
    void SetRecvCallback(CompletionCallback callback);

    /**
     * \brief Set the UDP source port of everything this end sends, which selects its path.
     * On a live queue pair the change waits until what is in flight is acknowledged, so that
     * packets are not overtaken (which go-back-N would punish).
     * \param port 0..65535; 49152..65535 by custom
     */
    void SetSourcePort(uint16_t port);
    /** \return the port last set (perhaps not yet in force) */
    uint16_t GetSourcePort() const;
    /**
     * \brief Set the traffic class of data packets; changes like the source port.
     * \param cls 0..7, 7 is served first; larger is a fatal error
     */
    void SetTrafficClass(uint8_t cls);
    /** \return the class last set (perhaps not yet in force) */
    uint8_t GetTrafficClass() const;
    /** \return whether port and class last set are in force, or the queue pair has failed. The
     * trace Settled tells when that is so: at once where nothing has to be waited for. It says
     * nothing of the other end, which has a port and a class of its own; that end's ACKs for our
     * packets may take any path, for what they acknowledge is counted from the beginning. */
    bool IsSettled() const;

    /** \param control replaces the congestion control; before Connect */
    void SetCongestionControl(Ptr<RoceCongestionControl> control);
    /** \return the congestion control (null before Connect unless set) */
    Ptr<RoceCongestionControl> GetCongestionControl() const;

    /** \return number of this queue pair at its host */
    uint32_t GetQpn() const;
    /** \return the NIC */
    Ptr<RoceNetDevice> GetNic() const;
    /** \return number of the NIC at its host */
    uint32_t GetNicIndex() const;
    /** \return address of this end, host order */
    uint32_t GetLocalIp() const;
    /** \return address of the other end, host order; 0 before Connect */
    uint32_t GetRemoteIp() const;
    /** \return the other end, or null */
    Ptr<RoceQueuePair> GetPeer() const;
    /** \return payload bytes of a full packet */
    uint32_t GetPayload() const;
    /** \return whether the queue pair has failed */
    bool IsFailed() const;
    /** \return why it failed, one line that names both ends; empty while it has not */
    const std::string& GetFailReason() const;
    /**
     * \brief Fail now, with PATH_FAILED for the oldest message (a link is known to be down).
     * Does nothing when not connected or failed already.
     * \param reason one line
     */
    void FailPath(const std::string& reason);
    /** \return round trip of a full packet and its ACK on the idle path of the source port in
     * force; 0 s before Connect */
    Time GetBaseRtt() const;
    /**
     * \brief Pace this end from its next packet on at what its host can feed the NIC with,
     * beside the congestion control. A thousandth of the line rate is always granted.
     * \param bps wire bit/s; UINT64_MAX: no limit
     */
    void SetRateLimit(uint64_t bps);
    /** \return the limit in force, wire bit/s; UINT64_MAX: none */
    uint64_t GetRateLimit() const;
    /** \brief What was to wait because of the last packet's rate need not: after a limit that
     * was next to nothing. One packet, or train, may so go earlier than congestion control paces.
     */
    void ForgetPace();
    /** \return messages posted and not completed */
    uint64_t GetOutstanding() const;
    /** \return the counters */
    const RoceQueuePairCounters& GetCounters() const;

    /** Signature of the traces SendComplete and RecvComplete. */
    typedef void (*CompletionTracedCallback)(Ptr<RoceQueuePair> qp,
                                             const RoceCompletion& completion);
    /** Signature of the other traces; what the value is stands in each one's help. */
    typedef void (*EventTracedCallback)(Ptr<RoceQueuePair> qp, uint64_t value);

    /** \name For RoceHost and RoceNetDevice @{ */
    /** \brief Made by a host. \param host it \param nic NIC number \param qpn number */
    void Setup(RoceHost* host, uint32_t nic, uint32_t qpn);
    /** \return whether a packet may go but for pacing */
    bool CanSend() const;
    /** \brief Make the next packet or train (CanSend must hold). \param nowPs time
     * \param limit packets at most \return it */
    RoceFrame* NextPacket(int64_t nowPs, uint32_t limit = 1);

    /** \return packets that a train may have; 1: no trains */
    uint32_t GetTrainLength() const
    {
        return m_trains;
    }

    /** \brief The end of the last train was not sent. \param rest it, not consumed */
    void Unsend(const RoceFrame& rest);
    /** \brief A data packet came. \param frame not consumed, its telemetry may be taken
     * \param nowPs time */
    void ReceiveData(RoceFrame& frame, int64_t nowPs);
    /** \brief An ACK or NAK came. \param frame not consumed \param nowPs time */
    void ReceiveAck(const RoceFrame& frame, int64_t nowPs);
    /** \brief A CNP came. \param nowPs time */
    void ReceiveCnp(int64_t nowPs);

    int64_t nextSendPs{0};            //!< pacing: not before (for the NIC)
    RoceQueuePair* turnNext{nullptr}; //!< circular list of the NIC's class; null when not in it
    RoceQueuePair* turnPrev{nullptr}; //!< ditto
    int32_t pacedAt{-1};              //!< place in the NIC's heap, -1 when not in it
    uint8_t activeClass{1};           //!< class in force
                                      /** @} */

  protected:
    void DoDispose() override;

  private:
    /** PSNs are 24 bit; fewer than half of them may be in flight. */
    static constexpr uint32_t PSN_MASK = 0xffffff;
    static constexpr uint64_t MAX_IN_FLIGHT = (1 << 23) - 1; //!< packets

    /** A packet that was received before an earlier one (selective repeat). */
    struct Early
    {
        uint64_t wrId{0};    //!< of its message
        uint32_t payload{0}; //!< bytes
        bool here{false};    //!< received
        bool last{false};    //!< last of its message
    };

    /** A trace of something that happened, with a number. */
    typedef TracedCallback<Ptr<RoceQueuePair>, uint64_t> EventTrace;

    static void OnTimer(void* self);
    static void OnCnpDue(void* self);

    /** \brief One end of Connect. \param peer other end \param there links to it
     * \param back links from it */
    void Attach(Ptr<RoceQueuePair> peer,
                const std::vector<Ptr<RoceNetDevice>>& there,
                const std::vector<Ptr<RoceNetDevice>>& back);
    /** \brief Check one end of Connect, make its congestion control.
     * \return what is wrong, or an empty string */
    std::string CheckEnd(Ptr<RoceQueuePair> peer);
    /** \param peer other end \param error set when there is no path \return the path */
    std::vector<Ptr<RoceNetDevice>> FindPath(Ptr<RoceQueuePair> peer, std::string& error) const;
    /** \return 64-bit sequence number nearest to @p near that @p psn stands for */
    static uint64_t Unwrap(uint32_t psn, uint64_t near);
    /** \param cls class \return a frame in it to the other end, but for its lengths, opcode and PSN
     */
    RoceFrame* NewFrame(uint8_t cls) const;
    /** \brief Make a packet. \param message it \param seq which packet \return it */
    RoceFrame* Build(const RoceSendQueue::Message& message, uint64_t seq) const;
    /** \brief The next packet is sent again (selective repeat). \return it */
    RoceFrame* NextRepeat();
    /** \brief The next packets in order. \param packets how many, of one message \param nowPs time
     * \return them */
    RoceFrame* NextInOrder(uint64_t packets, int64_t nowPs);
    /** \name Trains (crux-roce-train.h) @{ */
    /** \param rateBps bit/s \return time of a full packet, ps */
    int64_t UnitPs(uint64_t rateBps) const;
    /** \param rateBps sending rate \return how much later than its first packet would a train of
     * two leaves, for its last one to leave the slowest link of the path at its own time, ps */
    int64_t TrainGap(uint64_t rateBps) const;
    /** \param limit packets at most \return packets of the next train when its time has come */
    uint64_t TrainWish(uint64_t limit) const;
    /** \param limit packets at most \param nowPs time \return packets of a train sent now */
    uint64_t TrainPackets(uint64_t limit, int64_t nowPs) const;
    /** \brief Set nextSendPs from m_duePs. */
    void SetWake();
    /** \brief Pace, for trains. \param frame just made \param nowPs time */
    void PaceTrain(const RoceFrame& frame, int64_t nowPs);
    /** \brief Make a packet a train. \param frame m_next's \param message it
     * \param packets in all \param nowPs time */
    void Extend(RoceFrame* frame,
                const RoceSendQueue::Message& message,
                uint64_t packets,
                int64_t nowPs);
    /** \brief A train came that is not simply the next. \param frame it \param seq its first
     * packet \param nowPs time */
    void ReceiveTrain(RoceFrame& frame, uint64_t seq, int64_t nowPs);
    /** @} */
    /** \return whether the packet just sent should ask for an ACK */
    bool ShouldAsk() const;
    /** \brief Selective repeat: the receiver has a packet. \param seq it */
    void Named(uint64_t seq);
    /** \brief Go back to the oldest packet not acknowledged. */
    void GoBack();
    /** \brief Move m_repeat to the next packet to send again, if there is one. */
    void SkipNamed();
    /** \brief Work out base RTT and windows. \param there links to the other end
     * \param back links from there */
    void SetPath(const std::vector<Ptr<RoceNetDevice>>& there,
                 const std::vector<Ptr<RoceNetDevice>>& back);
    /** \brief A source port changed: base RTT and windows anew, the congestion control told. */
    void UpdatePath();
    /** \return why the other end cannot be reached now, or an empty string */
    std::string PathError() const;
    /** \brief Set when the next packet may go. \param wireBytes of the last \param nowPs time */
    void Pace(uint32_t wireBytes, int64_t nowPs);
    /** \return the lower of the congestion control's rate and SetRateLimit's, bit/s */
    uint64_t Rate() const;
    /** \return payload bytes that may be in flight */
    uint64_t Window() const;
    /** \param back links from the other end \param wire bytes of a full packet on a link
     * \return the limit by WindowBdp, payload bytes */
    uint64_t WindowFor(const std::vector<Ptr<RoceNetDevice>>& back, uint32_t wire) const;
    /** \param window bytes, or NO_WINDOW \return every how many packets an ACK is asked for */
    uint64_t AskEvery(uint64_t window) const;
    /** \return whether the window admits a full packet */
    bool WindowOpen() const;
    /** \brief Tell a trace, when somebody listens. \param trace it \param value number */
    void Tell(const EventTrace& trace, uint64_t value);
    /** \brief Send a CNP now. \param nowPs time */
    void SendCnp(int64_t nowPs);
    /** \brief Tell trace and user. \param completion what \param sender of this end's messages */
    void Complete(const RoceCompletion& completion, bool sender);
    /** \brief Class or port was set: put it in force now or later. */
    void Change();
    /** \brief Everything before @p seq is acknowledged. */
    void Acknowledge(uint64_t seq, int64_t nowPs);
    /** \brief Put a pending class and port in force when nothing is in flight. */
    void ApplyPending();
    /** \brief Let the NIC know that something may be sent. */
    void Kick(int64_t nowPs);
    /** \brief See that the timer runs. */
    void ArmTimer(int64_t nowPs);
    /** \brief The timer expired. */
    void Timeout(int64_t nowPs);
    /** \brief Fail: complete everything with an error.
     * \param status of the oldest message \param reason one line \param nowPs time */
    void Fail(RoceStatus status, const std::string& reason, int64_t nowPs);
    /** \brief A packet is taken in order. */
    void Take(uint64_t wrId, uint32_t payload, bool last, int64_t nowPs);
    /** \brief A packet other than the expected one came. */
    void ReceiveOther(RoceFrame& frame, uint64_t seq, int64_t nowPs);
    /** \brief Take packets kept that are now in order. */
    void TakeEarly(int64_t nowPs);
    /** \brief Send an ACK or NAK; it takes the telemetry of @p data along.
     * \param seq PSN \param syndrome which \param msn MSN field \param data what it answers
     * \param nowPs time */
    void SendAck(uint64_t seq, uint8_t syndrome, uint64_t msn, RoceFrame& data, int64_t nowPs);
    /** \brief Send a CNP, after CnpDelay, unless one was due within CnpInterval. */
    void MaybeCnp(const RoceFrame& data, int64_t nowPs);
    /** \return a control frame to the other end */
    RoceFrame* NewControl(uint8_t opcode, uint32_t wireBytes) const;

    // Configuration.
    uint32_t m_payload{4096};  //!< bytes
    uint32_t m_trainLength{1}; //!< TrainLength
    Time m_trainTime;          //!< TrainTime
    uint32_t m_ackEvery{16};   //!< packets
    uint64_t m_ackBytes{0};    //!< bytes, 0: not by bytes
    bool m_selective{false};   //!< SelectiveRepeat
    double m_windowBdp{0};     //!< WindowBdp
    Time m_baseRtt;            //!< BaseRtt
    Time m_cnpDelay;           //!< CnpDelay
    uint32_t m_retryLimit{7};  //!< time-outs
    uint32_t m_initialPsn{0};  //!< first PSN
    uint8_t m_ackClass{7};     //!< class of ACKs and CNPs
    Time m_timeout;            //!< RetransmitTimeout
    Time m_cnpInterval;        //!< CnpInterval
    TypeId m_controlType;      //!< CongestionControl

    // Place.
    RoceHost* m_host{nullptr};            //!< host
    RoceNetDevice* m_nic{nullptr};        //!< NIC
    RoceQueuePair* m_peer{nullptr};       //!< other end
    uint32_t m_nicIndex{0};               //!< number of the NIC
    uint32_t m_qpn{0};                    //!< own number
    uint32_t m_localIp{0};                //!< own address
    uint32_t m_remoteIp{0};               //!< other address
    uint32_t m_context{0};                //!< node id
    Ptr<RoceCongestionControl> m_control; //!< congestion control

    // Sender.
    RoceSendQueue m_messages;         //!< not completed
    size_t m_current{0};              //!< message that m_next belongs to
    uint64_t m_una{0};                //!< oldest packet not acknowledged
    uint64_t m_next{0};               //!< next packet to send
    uint64_t m_max{0};                //!< first packet never sent
    uint64_t m_inFlight{0};           //!< payload bytes in [m_una, m_next)
    uint64_t m_lastAsked{0};          //!< packet after the last that asked for an ACK
    uint64_t m_window{UINT64_MAX};    //!< limit by WindowBdp, payload bytes
    uint64_t m_rateLimit{UINT64_MAX}; //!< SetRateLimit
    int64_t m_baseRttPs{0};           //!< base RTT
    uint64_t m_repeat{0};             //!< next candidate to send again
    uint64_t m_repeatEnd{0};          //!< first packet that is not one
    uint64_t m_afterRepeat{0};        //!< first packet sent after the oldest was sent again
    std::deque<bool> m_named;         //!< received by the other end, from m_una on
    uint64_t m_sampleSeq{0};          //!< packet whose round trip is measured
    int64_t m_samplePs{-1};           //!< when it left, -1: none
    int64_t m_deadline{0};            //!< retransmission
    int64_t m_timeoutPs{0};           //!< RetransmitTimeout
    int64_t m_trainTimePs{0};         //!< TrainTime
    uint64_t m_slowestBps{1};         //!< slowest link of the path
    int64_t m_duePs{0};               //!< trains: when the next packet would go by itself
    uint64_t m_maxBefore{0};          //!< m_max before the last train
    uint64_t m_askedBefore{0};        //!< m_lastAsked before the last train
    uint32_t m_retries{0};            //!< time-outs in a row
    bool m_timerPending{false};       //!< timer event scheduled
    bool m_failed{false};             //!< failed
    uint32_t m_trains{1};             //!< packets that a train may have
    bool m_telemetry{false};          //!< packets carry telemetry
    std::string m_failReason;         //!< why
    uint16_t m_srcPort{0};            //!< source port in force
    uint16_t m_wantedPort{0};         //!< source port set
    uint8_t m_wantedClass{1};         //!< class set
    bool m_changing{false};           //!< wanted differs from in force
    Ptr<RoceEvent> m_timerEvent;      //!< timer

    // Receiver.
    uint64_t m_expected{0};       //!< next packet expected
    uint64_t m_received{0};       //!< bytes of the message coming in
    uint64_t m_msn{0};            //!< messages received
    int64_t m_lastCnp{INT64_MIN}; //!< when the last CNP went
    int64_t m_cnpPs{0};           //!< CnpInterval
    int64_t m_cnpDelayPs{0};      //!< CnpDelay
    Ptr<RoceEvent> m_cnpEvent;    //!< a CNP is due
    std::deque<Early> m_early;    //!< packets from m_expected on (selective repeat)
    bool m_nakSent{false};        //!< a NAK for the present gap has gone

    CompletionCallback m_sendCallback;                                     //!< user
    CompletionCallback m_recvCallback;                                     //!< user
    RoceQueuePairCounters m_counters;                                      //!< counters
    TracedCallback<Ptr<RoceQueuePair>, const RoceCompletion&> m_traceSend; //!< SendComplete
    TracedCallback<Ptr<RoceQueuePair>, const RoceCompletion&> m_traceRecv; //!< RecvComplete
    EventTrace m_traceCnpSent;                                             //!< CnpSent
    EventTrace m_traceCnpReceived;                                         //!< CnpReceived
    EventTrace m_traceNak;                                                 //!< NakReceived
    EventTrace m_traceTimeout;                                             //!< Timeout
    EventTrace m_traceFailed;                                              //!< Failed
    EventTrace m_traceSettled;                                             //!< Settled
};

} // namespace ns3

#endif /* CRUX_ROCE_QUEUE_PAIR_H */
