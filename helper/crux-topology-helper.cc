/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxTopology: see crux-topology-helper.h.
 */
#include "crux-topology-helper.h"

#include "ns3/crux-topo-file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ns3
{

/// What was added so far.
struct CruxTopology::Draft
{
    crux_topo_draft* draft{nullptr}; //!< elements
    crux_error first{};              //!< what was wrong first; status CRUX_OK: nothing yet
    crux_text notes{};               //!< assumptions

    Draft()
    {
        crux_topo_draft_create(nullptr, &draft, &first);
    }

    ~Draft()
    {
        crux_topo_draft_destroy(draft);
        crux_free(notes.text);
    }

    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    /** \return whether elements can still be added: nothing was wrong yet */
    bool IsGood() const
    {
        return first.status == CRUX_OK;
    }
};

CruxTopology::CruxTopology()
    : m_draft(std::make_shared<Draft>())
{
}

void
CruxTopology::AddSwitch(const std::string& name, const std::string& kind)
{
    if (m_draft->IsGood())
    {
        crux_topo_draft_switch(m_draft->draft, 0, name.c_str(), kind.c_str(), &m_draft->first);
    }
}

void
CruxTopology::AddHost(const std::string& name, const std::string& keys)
{
    if (m_draft->IsGood())
    {
        crux_topo_draft_host(m_draft->draft,
                             0,
                             name.c_str(),
                             keys.c_str(),
                             &m_draft->notes,
                             &m_draft->first);
    }
}

void
CruxTopology::AddCable(const std::string& a,
                       const std::string& b,
                       double gbps,
                       double delayNs,
                       uint64_t count)
{
    if (m_draft->IsGood())
    {
        const crux_topo_cable cable{gbps, delayNs, count};
        crux_topo_draft_cable(m_draft->draft, 0, a.c_str(), b.c_str(), &cable, &m_draft->first);
    }
}

crux_status
CruxTopology::Build(crux_topology** out, crux_error* error) const
{
    if (!m_draft->IsGood())
    {
        return crux_fail(error, m_draft->first.status, "%s", m_draft->first.text);
    }
    return crux_topo_draft_build(m_draft->draft, out, error);
}

crux_status
CruxTopology::Write(const std::string& path, crux_error* error) const
{
    crux_topology* topology = nullptr;
    crux_status status = Build(&topology, error);
    if (status != CRUX_OK)
    {
        return status;
    }
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file)
    {
        status = crux_topology_write(topology, file, error);
        if (std::fclose(file) != 0 && status == CRUX_OK)
        {
            status = crux_fail(error, CRUX_IO, "%s", std::strerror(errno));
        }
        crux_fail_prefix(status == CRUX_OK ? nullptr : error, "%.300s: ", path.c_str());
    }
    else
    {
        status = crux_fail(error,
                           CRUX_IO,
                           "%.300s: cannot be written: %s",
                           path.c_str(),
                           std::strerror(errno));
    }
    crux_topology_destroy(topology);
    return status;
}

std::string
CruxTopology::GetAssumptions() const
{
    return m_draft->notes.text ? m_draft->notes.text : "";
}

} // namespace ns3
