/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigureStore: see crux-figure-store.h.
 */
#include "crux-figure-store.h"

#include "crux-picture.h"

#include "ns3/crux-store-figure.h"

namespace ns3
{

CruxFigureStore::CruxFigureStore(const std::string& program, CruxCommandLine& cmd)
    : m_program(program),
      m_db(program + ".db")
{
    cmd.Add("db", "database file, or none", m_db);
    cmd.Add("picture", "PNG file, or none; default: beside the database", m_picture);
}

CruxFigureStore::~CruxFigureStore()
{
    crux_store_close(m_store, nullptr);
}

void
CruxFigureStore::Open(const std::string& title,
                      const CruxFigure& figure,
                      const std::string& baseline,
                      uint64_t firstSeed,
                      uint64_t seeds,
                      const std::vector<CruxFigurePublished>& published)
{
    crux_error error{};

    if (m_db == "none")
    {
        return;
    }
    CruxExitOnError(m_program, crux_store_check(m_db.c_str(), &error), error);
    CruxExitOnError(m_program, CruxCheckPicture(m_db, m_picture, &error), error);
    CruxExitOnError(m_program, crux_store_open(m_db.c_str(), &m_store, &error), error);
    const crux_figure facts{m_program.c_str(),
                            title.c_str(),
                            baseline.c_str(),
                            figure.GetIterations(),
                            figure.GetScale(),
                            firstSeed,
                            seeds};
    CruxExitOnError(m_program, crux_store_figure(m_store, &facts, &error), error);
    for (const auto& one : published)
    {
        const crux_figure_published row{one.what.c_str(),
                                        one.policy.empty() ? nullptr : one.policy.c_str(),
                                        one.low,
                                        one.high,
                                        one.unit.c_str(),
                                        one.source.c_str()};
        CruxExitOnError(m_program, crux_store_figure_published(m_store, &row, &error), error);
    }
}

void
CruxFigureStore::AddRow(const CruxFigureRow& row)
{
    crux_error error{};
    const crux_figure_row facts{row.part.empty() ? nullptr : row.part.c_str(),
                                row.label.c_str(),
                                row.topology.c_str(),
                                row.jobs.c_str(),
                                row.placement.c_str()};

    if (m_store)
    {
        CruxExitOnError(m_program, crux_store_figure_row(m_store, &facts, &m_row, &error), error);
    }
}

void
CruxFigureStore::AddRun(const CruxFigureRun& run, const std::vector<CruxFigureValue>& values)
{
    crux_error error{};
    int64_t number = 0;

    if (!m_store)
    {
        return;
    }
    const crux_figure_run facts{m_row,
                                run.engine.c_str(),
                                run.policy.c_str(),
                                run.seed,
                                run.utilisation,
                                run.aloneUtilisation,
                                run.firstEnd};
    CruxExitOnError(m_program, crux_store_figure_run(m_store, &facts, &number, &error), error);
    for (uint32_t j = 0; j < run.jobs.size(); j++)
    {
        const CruxFigureJob& job = run.jobs[j];
        const crux_figure_job row{number,
                                  j,
                                  job.name.c_str(),
                                  job.gpus,
                                  job.level,
                                  job.rank,
                                  job.iterations,
                                  job.iteration,
                                  job.jct,
                                  job.aloneIteration,
                                  job.aloneJct,
                                  job.aloneBusy,
                                  job.aloneLinkSeconds};
        CruxExitOnError(m_program, crux_store_figure_job(m_store, &row, &error), error);
    }
    for (const auto& value : values)
    {
        const crux_figure_value row{number, value.what.c_str(), value.unit.c_str(), value.value};
        CruxExitOnError(m_program, crux_store_figure_value(m_store, &row, &error), error);
    }
}

int
CruxFigureStore::Close(std::ostream& os)
{
    crux_error error{};
    crux_store* store = m_store;

    m_store = nullptr;
    CruxExitOnError(m_program, crux_store_close(store, &error), error);
    return CruxDrawPicture(os, m_db == "none" ? "" : m_db, m_picture, "crux-plot-figure.py");
}

} // namespace ns3
