/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device: a port of a switch or a NIC of a host: eight class queues,
 * strict priority and deficit round robin, PFC in both roles, transmission, arrival,
 * failure of the link, counters and traces.
 *
 * Place: model/roce (C++17). Depends on ns-3 core and network, crux-roce-frame,
 * crux-roce-clock, crux-roce-drr, crux-roce-qp-scheduler, crux-roce-port-counters.
 *
 * Transmission. When the port is free it takes, in this order: a PFC frame; from
 * the highest class that is not paused and has something: a queued frame or, on a
 * NIC, the next packet of that class's queue pairs in turn (pull). Frames in the
 * air are a list with one event per direction; an event for "port free" exists
 * only while something waits.
 * Scheduling. Classes of DrrClasses that stand next to each other share one place in the
 * order; among them, deficit round robin: a class is served while its deficit is positive,
 * each frame takes its wire bytes off (so that a deficit may end below 0: a NIC makes a frame
 * as it is sent and need not know its length before), then the turn goes on and the next class
 * gets its quantum. Classes with quanta q_i that always have something get q_i / sum(q) of what
 * the classes above leave, to within one quantum and one frame each. A class that has nothing
 * keeps no positive deficit.
 * Link. When the cable is cut (RoceChannel::SetLinkDown), frames in flight and in the queues
 * are lost with reason LINK_DOWN, pauses end. A NIC goes on sending into the void at line rate
 * (so that its queue pairs' timers and retry limits apply); a switch routes round the port.
 * Time of a frame: 8e12 wireBytes / DataRate ps, the remainder carried to the next
 * back-to-back frame, so that rates are exact in the long run.
 * ECN (switch egress, on enqueue, ECT frames of EcnClasses): mark with probability
 *   0 below Kmin, Pmax (q - Kmin) / (Kmax - Kmin) up to Kmax, 1 above, q = queue in bytes
 *   with the frame.
 */
#ifndef CRUX_ROCE_NET_DEVICE_H
#define CRUX_ROCE_NET_DEVICE_H

#include "crux-roce-clock.h"
#include "crux-roce-drr.h"
#include "crux-roce-frame.h"
#include "crux-roce-port-counters.h"
#include "crux-roce-qp-scheduler.h"

#include "ns3/callback.h"
#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{

class ErrorModel;
class RoceChannel;
class RoceHost;
class RoceQueuePair;
class RoceSwitch;

/**
 * \brief A port. On a node with a RoceSwitch it is a switch port, with a RoceHost
 * a NIC; on any other node it carries ordinary IP only.
 */
class RoceNetDevice : public NetDevice
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    RoceNetDevice();
    ~RoceNetDevice() override;

    /** \name What the job layer and scripts use @{ */
    /** \return line rate in bit/s */
    uint64_t GetRateBps() const;
    /**
     * \brief Change the line rate; frames already begun keep theirs.
     * \param rate > 0, else a fatal error that names the port
     */
    void SetDataRate(DataRate rate);
    /** \return line rate */
    DataRate GetDataRate() const;
    /** \return the counters */
    const RocePortCounters& GetCounters() const;
    /** \return the other end of the cable, or null without a cable or when it is cut */
    Ptr<RoceNetDevice> GetPeer() const;
    /** \brief Cut the cable, for both ends; nothing happens when it is cut or absent. */
    void SetLinkDown();
    /** \brief Repair the cable, for both ends. */
    void SetLinkUp();
    /**
     * \param cls class
     * \return how long the other end has paused the class so far, the present pause included
     */
    Time GetPausedTime(uint8_t cls) const;
    /**
     * \param mask bit c: class c takes part in deficit round robin, else strict priority
     */
    void SetDrrClasses(uint8_t mask);
    /** \return mask of classes in deficit round robin */
    uint8_t GetDrrClasses() const;
    /**
     * \param cls 0..7
     * \param bytes wire bytes a turn, 256..2^24; outside is a fatal error
     */
    void SetQuantum(uint8_t cls, uint32_t bytes);
    /**
     * \param cls 0..7
     * \return wire bytes a turn
     */
    uint32_t GetQuantum(uint8_t cls) const;
    /**
     * \param cls class
     * \return bytes waiting in the class's queue (frames; not what queue pairs still have to send)
     */
    uint64_t GetQueueBytes(uint8_t cls) const;
    /**
     * \param cls class
     * \return whether the other end has paused the class
     */
    bool IsPaused(uint8_t cls) const;
    /**
     * \param cls class
     * \return whether the class is lossless on this port
     */
    bool IsLossless(uint8_t cls) const;
    /**
     * \brief Set the marking curve of one class.
     * \param cls 0..7
     * \param curve kmin <= kmax, pmax in 0..1
     */
    void SetEcnCurve(uint8_t cls, const RoceEcnCurve& curve);
    /**
     * \param cls 0..7
     * \return the marking curve in force
     */
    RoceEcnCurve GetEcnCurve(uint8_t cls) const;
    /**
     * \brief Send a PFC frame to the other end.
     * \param classVector bit c for class c
     * \param quanta 512-bit times; 0 resumes
     */
    void SendPause(uint16_t classVector, uint16_t quanta);
    /**
     * \brief Headroom that a lossless class of this port needs at its own end (bytes):
     *   2 Delay x rate + reaction quanta x 64 + 3 (Mtu + 38) + 8 x 84
     * (frames in flight both ways; what is sent during the other end's reaction; the frame
     * that passed the threshold, the one being sent before the PFC frame and the one begun at
     * the other end; the PFC frames of eight classes). The textbook's 2 Delay x rate + 2 Mtu +
     * reaction leaves out the framing, the frame that passed the threshold and the PFC frames.
     * \return bytes
     */
    uint64_t GetHeadroom() const;
    /** \param mask bit c: class c is lossless */
    void SetLosslessClasses(uint8_t mask);
    /** \return mask of lossless classes */
    uint8_t GetLosslessClasses() const;
    /** \return delay in ps between a PFC frame's arrival and its effect, at this port */
    int64_t GetPauseReactionPs() const;
    /** \return "name of node/port number" for messages */
    std::string GetLabel() const;
    /** A filter of arriving frames: true loses the frame. */
    typedef Callback<bool, const RoceFrame&> LossFilter;
    /** \param filter asked about every frame that arrives (for tests); a null one is none */
    void SetLossFilter(LossFilter filter);
    /** \param map table of classes, copied */
    void SetClassMap(const RoceClassMap& map);
    /** \return the table of classes */
    const RoceClassMap& GetClassMap() const;
    /** @} */

    /** \name Signatures of trace sources @{ */
    typedef void (*FrameTracedCallback)(const RoceFrame& frame);
    typedef void (*DropTracedCallback)(const RoceFrame& frame, RoceDropReason reason);
    typedef void (*PauseTracedCallback)(uint16_t classVector, uint16_t quanta);
    typedef void (*StopTracedCallback)(uint8_t cls, bool stopped, Time lasted);
    typedef void (*LinkTracedCallback)(bool up);
    /** @} */

    // Inherited from NetDevice
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(NetDevice::ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

    /** \name For the module's own classes @{ */
    /** \param channel the cable, set by RoceChannel::Attach */
    void SetChannel(Ptr<RoceChannel> channel);
    /** \brief The cable has its second end, or is repaired. */
    void LinkUp();
    /** \brief The cable's delay was set. */
    void UpdateDelay();
    /** \brief The cable is cut. */
    void LinkDown();

    /** \param cls class \return the oldest frame that waits in it, or null */
    const RoceFrame* PeekQueue(uint8_t cls) const
    {
        return m_queue[cls].Peek();
    }

    /** \brief A fatal error that names the port when its thresholds contradict each other. */
    void CheckThresholds() const;
    /**
     * \param sw the switch that the port belongs to
     * \param port its number there
     */
    void SetSwitch(RoceSwitch* sw, uint32_t port);
    /**
     * \param host the host that the NIC belongs to
     * \param ip address of the NIC, host order
     */
    void SetHost(RoceHost* host, uint32_t ip);

    /** \return address of a NIC, host order; 0 for other ports */
    uint32_t GetIp() const
    {
        return m_ip;
    }

    /** \return attribute PortId: the id that records of datagrams show */
    uint32_t GetPortId() const
    {
        return m_portId;
    }

    /** \return port number at the switch */
    uint32_t GetPort() const
    {
        return m_port;
    }

    /** \return the switch, or null */
    RoceSwitch* GetSwitch() const
    {
        return m_switch;
    }

    /** \return the host, or null */
    RoceHost* GetHost() const
    {
        return m_host;
    }

    /**
     * \brief Queue a frame in its class (frame->cls) and send if the port is free.
     * \param frame owned by the port from here on
     * \param nowPs time
     */
    void Enqueue(RoceFrame* frame, int64_t nowPs);

    /**
     * \param cls class
     * \param nowPs time
     * \return whether a frame of that class would leave at once
     */
    bool IsIdle(uint8_t cls, int64_t nowPs) const
    {
        return m_ready == 0 && m_freePs <= nowPs && !(m_paused >> cls & 1) && m_peer;
    }

    /**
     * \brief Send a frame at once; IsIdle() must hold for its class.
     * \param frame owned by the port from here on
     * \param nowPs time
     */
    void SendDirect(RoceFrame* frame, int64_t nowPs);

    /** \name Trains on the wire (crux-roce-train.h) @{ */
    /** \return whether packets of a train are still to be begun \param nowPs time */
    bool IsInTrain(int64_t nowPs) const
    {
        return m_trainUntilPs > nowPs;
    }

    /**
     * \brief A small frame of a higher class passes between two packets of the train being sent.
     * \param frame taken over if so \param rank its class, ROCE_CLASSES for PFC \param nowPs time
     * \return whether it did
     */
    bool PassTrain(RoceFrame* frame, uint32_t rank, int64_t nowPs);

    /** \brief A queue pair has lost packets: what is still to be begun of its train goes back.
     * \param qp it \param nowPs time */
    void StopTrain(const RoceQueuePair* qp, int64_t nowPs)
    {
        if (m_trainUntilPs > nowPs && m_trainQp == qp)
        {
            CutTrain(nowPs);
            Arm(nowPs);
        }
    }

    /** \return bytes of the train being sent whose packets are still to be begun
     * \param nowPs time */
    uint64_t GetTrainBytes(int64_t nowPs) const;
    /** \param unit wire bytes of a full packet \return packets that a train on this link may have
     */
    uint32_t GetTrainMost(uint32_t unit) const;
    /** \return whether somebody looks at single packets in this port's queues */
    bool QueuesSingles() const;
    /** \brief A train that came in comes again later, when it can go on without a gap.
     * \param frame it \param untilPs when \param nowPs time */
    void HoldTrain(RoceFrame* frame, int64_t untilPs, int64_t nowPs);
    /** @} */

    /**
     * \brief A queue pair has something to send (again), in its class.
     * \param qp a queue pair of this NIC
     * \param nowPs time
     */
    void Activate(RoceQueuePair* qp, int64_t nowPs);
    /**
     * \brief Take a queue pair off the lists of this NIC.
     * \param qp a queue pair of this NIC
     */
    void Deactivate(RoceQueuePair* qp);
    /**
     * \brief Count and trace a drop and give the frame back.
     * \param frame the frame
     * \param reason why
     */
    void Drop(RoceFrame* frame, RoceDropReason reason);
    /**
     * \brief Ingress of a switch port: pause or resume the other end, refreshing while paused.
     * \param cls class
     * \param pause whether to pause
     * \param nowPs time
     */
    void SetIngressPaused(uint8_t cls, bool pause, int64_t nowPs);

    /** \param cls class \return its marking curve, unchecked */
    const RoceEcnCurve& Curve(uint8_t cls) const
    {
        return m_curve[cls];
    }

    /** \param frame marked CE and counted \param packets of it that are marked, >= 1 */
    void MarkCe(RoceFrame& frame, uint32_t packets = 1);

    /** \return mask of ECN classes */
    uint8_t GetEcnClasses() const
    {
        return m_ecnClasses;
    }

    /** @} */

  private:
    void DoInitialize() override;
    void DoDispose() override;

    /** \name Parts of GetTypeId @{ */
    static void AddClassAttributes(TypeId& tid);
    static void AddEcnAttributes(TypeId& tid);
    static void AddTraces(TypeId& tid);
    /** @} */

    /** Owner-side entry points of the reused events. */
    static void OnArrival(void* self);
    static void OnFree(void* self);
    static void OnPace(void* self);
    static void OnPauseExpiry(void* self);
    static void OnRefresh(void* self);

    /** \brief Send as long as the port is free and something may go. \param nowPs time */
    void Service(int64_t nowPs);
    /** \brief Put one frame on the cable. \param frame the frame \param fromPs when it could
     * have begun had the port been free, at most now \param nowPs time */
    void Transmit(RoceFrame* frame, int64_t fromPs, int64_t nowPs);

    /** \brief The head of m_inFlight has changed. \param atPs its arrival \param nowPs time */
    void ScheduleArrival(int64_t atPs, int64_t nowPs)
    {
        m_arrivalAt = atPs;
        m_arrivalEvent->ScheduleAt(m_nodeId, atPs, nowPs);
    }

    /** \name Trains on the wire (crux-roce-train.h) @{ */
    static void OnHeld(void* self);
    /** \brief A train goes on the wire: m_freePs and its times. \param train it
     * \param startPs of its first packet */
    void BeginTrain(RoceFrame* train, int64_t startPs);
    /** \brief The packets not yet begun of the train being sent go back. \param nowPs time */
    void CutTrain(int64_t nowPs);
    /** \brief Cut the train being sent if a frame of the class may not wait for its end.
     * \param rank the class, ROCE_CLASSES for PFC \param nowPs time \return whether cut */
    bool MakeWay(uint32_t rank, int64_t nowPs);
    /** \return whether somebody looks at single packets at this end of the link or the other */
    bool SendsSingles() const;
    /** \return whether the train comes in slower than the link could send it */
    bool IsSpread() const;
    /** \return first packet of the train that is not begun at a time, at least 1 */
    uint32_t TrainPacketAt(int64_t atPs) const;
    /** \return packets that a queue pair's next train may have \param qp it \param nowPs time */
    uint32_t TrainLimit(const RoceQueuePair& qp, int64_t nowPs) const;
    /** @} */
    /** \brief Take the next frame of a class. \param cls class \param nowPs time \return it, or
     * null */
    RoceFrame* Take(uint32_t cls, int64_t nowPs);
    /** \brief A frame with telemetry or a datagram is sent. \param startPs when */
    void NoteCargo(RoceFrame& frame, int64_t startPs);
    /** \brief Arrange to be woken for what waits. \param nowPs time */
    void Arm(int64_t nowPs);
    /** \brief Queue pairs whose pacing time has come join their class. \param nowPs time */
    void WakePaced(int64_t nowPs);
    /** \brief A frame is complete at this end. \param frame it \param nowPs time */
    void Arrive(RoceFrame* frame, int64_t nowPs);
    /** \brief Lost by the filter or the error model? \param frame it \return whether */
    bool IsLost(const RoceFrame& frame);
    /** \brief A queue pair has something to send: in turn or paced. \param qp it \param nowPs time
     */
    void Join(RoceQueuePair* qp, int64_t nowPs);
    /** \brief A queue pair has sent: behind the others, paced or off. \param qp it */
    void Requeue(RoceQueuePair* qp);
    /** \name Accessors of attributes that change the marking curves @{ */
    void SetKmin(uint64_t bytes);
    uint64_t GetKmin() const;
    void SetKmax(uint64_t bytes);
    uint64_t GetKmax() const;
    void SetPmax(double probability);
    double GetPmax() const;
    /** @} */
    /** \name Accessors of DrrQuanta @{ */
    void SetQuanta(std::string list);
    std::string GetQuanta() const;
    /** @} */
    /** \brief Classes begin or end to be paused. \param before m_paused before
     * \param nowPs time */
    void NotePauses(uint32_t before, int64_t nowPs);
    /** \brief Tell the other end again what is paused, half a pause from now. \param nowPs time */
    void ArmRefresh(int64_t nowPs);
    /** \return reaction time in 512 bit times */
    uint32_t GetReactionQuanta() const;
    /** \param quanta 512 bit times \return ps at this port's rate */
    int64_t QuantaPs(uint32_t quanta) const;
    /** \brief A PFC frame has arrived. \param frame it, consumed \param nowPs time */
    void ReceivePause(RoceFrame* frame, int64_t nowPs);
    /** \brief Put due PFC frames in force, end expired pauses. \param nowPs time */
    void ServePauses(int64_t nowPs);
    /** \brief A PFC frame takes effect. \param frame it \param nowPs time */
    void ApplyPause(const RoceFrame& frame, int64_t nowPs);
    /** \brief Give an IPv4 packet to the node's stack. \param frame it, consumed */
    void DeliverUp(RoceFrame* frame);
    /** \brief Work out the marking curves that follow the rate. */
    void UpdateCurves();
    /** \brief Fire the sniffers. \param frame the frame \param sent by this port */
    void Sniff(const RoceFrame& frame, bool sent);

    friend class RoceHost;

    // The forwarding path's data first.
    int64_t m_freePs{0};            //!< the transmitter is free from here on (exact)
    uint64_t m_remainder{0};        //!< remainder of the last transmission time, in 1/rate ps
    uint64_t m_rateBps{0};          //!< line rate
    int64_t m_delayPs{0};           //!< propagation of the cable
    uint32_t m_ready{0};            //!< bit c: class c has frames or queue pairs; bit 8: PFC frames
    uint32_t m_paused{0};           //!< bit c: class c is paused by the other end
    uint32_t m_peerNode{0};         //!< node id of the other end (event context)
    uint32_t m_nodeId{0};           //!< node id of this end
    RoceNetDevice* m_peer{nullptr}; //!< other end
    RoceSwitch* m_switch{nullptr};  //!< owner when a switch port
    RoceHost* m_host{nullptr};      //!< owner when a NIC
    uint32_t m_port{0};             //!< number at the switch
    uint32_t m_ip{0};               //!< address of a NIC
    bool m_freePending{false};      //!< the "port free" event is scheduled
    bool m_sends{false};            //!< has a cable, cut or not at a NIC, whole at a switch
    int64_t m_trainUntilPs{0};      //!< until then the train being sent can be cut
    int64_t m_arrivalAt{0};         //!< when the head of m_inFlight is due
    int64_t m_freeAt{0};            //!< when the "port free" event is due
    uint32_t m_arrivalStrays{0};    //!< arrival events pending that others have replaced
    uint32_t m_freeStrays{0};       //!< "port free" events pending that others have replaced
    RoceDrr m_drr;                  //!< classes in deficit round robin
    RoceFrameFifo m_inFlight;       //!< frames on their way to this end
    std::array<RoceFrameFifo, ROCE_CLASSES + 1> m_queue;   //!< waiting frames; 8: PFC
    std::array<uint64_t, ROCE_CLASSES + 1> m_queueBytes{}; //!< their bytes
    Ptr<RoceEvent> m_arrivalEvent;                         //!< head of m_inFlight arrives
    Ptr<RoceEvent> m_freeEvent;                            //!< the transmitter is free
    Ptr<RoceEvent> m_paceEvent;                            //!< a paced queue pair may send
    Ptr<RoceEvent> m_pauseEvent;                           //!< a pause takes effect or expires
    Ptr<RoceEvent> m_refreshEvent;                         //!< pauses sent must be refreshed
    RocePortCounters m_counters;                           //!< counters

    // The train being sent (crux-roce-train.h).
    RoceFrame* m_train{nullptr};       //!< it; valid until then
    RoceQueuePair* m_trainQp{nullptr}; //!< whose it is, at a NIC
    int64_t m_trainStartPs{0};         //!< start of its first packet, moved on by what has passed
    int64_t m_trainUnitPs{0};          //!< time of each of its packets but the last
    int64_t m_trainStepPs{0};          //!< from the start of one to that of the next
    int64_t m_trainLastPs{0};          //!< time of its last packet
    int64_t m_trainNextPs{0};          //!< end of the last frame that has passed it
    RoceFrameFifo m_held;              //!< trains that came in and wait until they can go on
    Ptr<RoceEvent> m_heldEvent;        //!< the first of them

    // Queue pairs of a NIC.
    RoceQpScheduler m_qps;                     //!< those that have something to send
    std::array<bool, ROCE_CLASSES> m_qpTurn{}; //!< queue pairs before frames next time
    RoceQueuePair* m_taken{nullptr};           //!< queue pair of the frame just taken
    int64_t m_paceAt{INT64_MAX};               //!< earliest pending pace event

    // PFC.
    std::array<int64_t, ROCE_CLASSES> m_pausedUntil{}; //!< expiry of a pause, ps
    std::array<int64_t, ROCE_CLASSES> m_pausedSince{}; //!< begin of a pause, ps
    RoceFrameFifo m_pauseWaiting;                      //!< PFC frames within the reaction time
    int64_t m_pauseAt{INT64_MAX};                      //!< earliest pending pause event
    uint8_t m_ingressPaused{0};   //!< bit c: we have paused the other end's class c
    bool m_refreshPending{false}; //!< refresh event scheduled

    // Configuration.
    DataRate m_rate;                                  //!< attribute
    uint16_t m_mtu;                                   //!< attribute
    uint8_t m_lossless;                               //!< mask
    uint8_t m_ecnClasses;                             //!< mask
    uint64_t m_kmin{0};                               //!< attribute; 0: scaled
    uint64_t m_kmax{0};                               //!< attribute; 0: scaled
    double m_pmax{0};                                 //!< attribute
    uint16_t m_pauseQuanta;                           //!< attribute
    uint32_t m_reactionQuanta;                        //!< attribute
    uint64_t m_queueLimit;                            //!< attribute
    uint32_t m_portId;                                //!< attribute
    Ptr<ErrorModel> m_errorModel;                     //!< attribute
    LossFilter m_lossFilter;                          //!< for tests
    std::array<RoceEcnCurve, ROCE_CLASSES> m_curve{}; //!< in force
    uint8_t m_ownCurve{0};                            //!< bit c: set by SetEcnCurve
    RoceClassMap m_map;                               //!< classes

    // ns-3's side.
    Ptr<Node> m_node;                                    //!< node
    Ptr<RoceChannel> m_channel;                          //!< cable
    uint32_t m_ifIndex{0};                               //!< index at the node
    Mac48Address m_address;                              //!< MAC address
    NetDevice::ReceiveCallback m_rxCallback;             //!< the stack
    NetDevice::PromiscReceiveCallback m_promiscCallback; //!< packet sockets
    TracedCallback<> m_linkChange;                       //!< link up or down

    TracedCallback<const RoceFrame&> m_traceEnqueue;              //!< Enqueue
    TracedCallback<const RoceFrame&> m_traceDequeue;              //!< Dequeue
    TracedCallback<const RoceFrame&> m_traceTx;                   //!< TxBegin
    TracedCallback<const RoceFrame&> m_traceRx;                   //!< RxEnd
    TracedCallback<const RoceFrame&> m_traceMark;                 //!< EcnMark
    TracedCallback<const RoceFrame&, RoceDropReason> m_traceDrop; //!< Drop
    TracedCallback<uint16_t, uint16_t> m_tracePauseSent;          //!< PfcSent
    TracedCallback<uint16_t, uint16_t> m_tracePauseRecv;          //!< PfcReceived
    TracedCallback<uint8_t, bool, Time> m_traceStop;              //!< PfcState
    TracedCallback<bool> m_traceLink;                             //!< Link
    TracedCallback<Ptr<const Packet>> m_sniffer;                  //!< Sniffer
    TracedCallback<Ptr<const Packet>> m_promiscSniffer;           //!< PromiscSniffer
};

} // namespace ns3

#endif /* CRUX_ROCE_NET_DEVICE_H */
