/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-drr: deficit round robin among neighbouring classes of a port: which of them may
 * send next. After Shreedhar and Varghese, Efficient fair queueing using deficit round robin,
 * SIGCOMM 1995, with the deficit carried below 0 as in surplus round robin (Adiseshu, Parulkar
 * and Varghese, SIGCOMM 1996). The rule stands in crux-roce-net-device.h, "Scheduling".
 *
 * Place: model/roce (C++17). Depends on crux-roce-frame; knows nothing of ports and queues.
 */
#ifndef CRUX_ROCE_DRR_H
#define CRUX_ROCE_DRR_H

#include "crux-roce-frame.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{

/** \brief The classes of a port that share by quanta, and what each may still send. */
class RoceDrr
{
  public:
    /** Quanta that are allowed, wire bytes. */
    static constexpr uint32_t MIN_QUANTUM = 256;
    static constexpr uint32_t MAX_QUANTUM = 1 << 24; //!< ditto

    /** \brief Begin anew. \param mask bit c: class c takes part; neighbours share a place */
    void SetClasses(uint8_t mask);

    /** \return the mask */
    uint8_t GetClasses() const
    {
        return m_mask;
    }

    /** \param cls a class, or any number above \return whether it takes part */
    bool Has(uint32_t cls) const
    {
        return m_mask >> cls & 1;
    }

    /** \param a a class \param b a class \return whether they take part and share a place */
    bool Share(uint32_t a, uint32_t b) const
    {
        return Has(a) && (m_group[a] >> b & 1);
    }

    /** \param cls class \param bytes its quantum \return false, and nothing set, outside the limits
     */
    bool SetQuantum(uint32_t cls, uint32_t bytes);
    /** \param cls class \return its quantum */
    uint32_t GetQuantum(uint32_t cls) const;
    /** \param list one number, or one a class, separated by commas \return false, and nothing set,
     * when it is neither */
    bool SetQuanta(const std::string& list);
    /** \return the quanta, separated by commas */
    std::string GetQuanta() const;

    /** \brief The class to serve. \param top highest that is ready; takes part
     * \param may classes that may send \return a class of top's place */
    uint32_t Pick(uint32_t top, uint32_t may);

    /** \brief A class has sent. \param cls it \param bytes on the wire; negative: not sent after
     * all */
    void Charge(uint32_t cls, int64_t bytes)
    {
        m_deficit[cls] -= bytes;
    }

  private:
    uint8_t m_mask{0};                              //!< classes that take part
    std::array<int64_t, ROCE_CLASSES> m_deficit{};  //!< wire bytes that may still go
    std::array<uint32_t, ROCE_CLASSES> m_quantum{}; //!< wire bytes a turn
    std::array<uint8_t, ROCE_CLASSES> m_group{};    //!< classes that share the class's place
    std::array<uint8_t, ROCE_CLASSES> m_turn{};     //!< by lowest class of a group: whose turn
};

} // namespace ns3

#endif /* CRUX_ROCE_DRR_H */
