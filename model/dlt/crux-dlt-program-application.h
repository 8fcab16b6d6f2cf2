/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltProgramApplication: the ranks of a job that are on one host.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-dlt-job.
 */
#ifndef CRUX_DLT_PROGRAM_APPLICATION_H
#define CRUX_DLT_PROGRAM_APPLICATION_H

#include "ns3/application.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class DltJob;

/**
 * \ingroup crux
 * \brief The ranks of a job on a host, installed on the host's node.
 *
 * A job begins when the applications of all its hosts have started; when one of them stops before
 * the job has ended, so does the job (its StopTime, or a rank that is killed).
 */
class DltProgramApplication : public Application
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    DltProgramApplication() = default;

    /** \param ranks numbers of the ranks on this host, rising */
    void SetRanks(const std::vector<uint32_t>& ranks);

    /** \return numbers of the ranks on this host */
    const std::vector<uint32_t>& GetRanks() const;

    /** \return whether it has started */
    bool IsStarted() const;

  protected:
    void DoDispose() override;

  private:
    friend class DltJob;

    void StartApplication() override;
    void StopApplication() override;

    Ptr<DltJob> m_job;             //!< set by DltJob::AddApplication
    std::vector<uint32_t> m_ranks; //!< on this host
    bool m_started{false};         //!< has started
};

} // namespace ns3

#endif /* CRUX_DLT_PROGRAM_APPLICATION_H */
