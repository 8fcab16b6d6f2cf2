/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigureSeries: an experiment of a paper: rows (scenarios) x seeds x engines x policies, with
 * tables of medians and spread beside what was published, a database and a picture.
 *
 * Place: helper (C++17). Uses CruxFigure, CruxFigureTable, CruxFigureStore; computes ratios only.
 */
#ifndef CRUX_FIGURE_SERIES_H
#define CRUX_FIGURE_SERIES_H

#include "crux-figure-store.h"
#include "crux-figure-table.h"
#include "crux-figure.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Runs a figure.
 *
 * Runs are compared seed by seed with the first policy, the baseline. Values of a run
 * (CruxFigureValue), which tables, database and picture show:
 *
 *   points over ecmp       utilisation minus the baseline's
 *   utilisation over ecmp  the same, relative, %
 *   GPT's JCT              mean over the model's jobs of JCT / that under the baseline, change in %
 *   top job / alone        of Crux: iteration of the job of rank 0 / alone
 *   mean slowdown, most slowdown   over the jobs, of iteration / alone
 *   share of crux's        utilisation / Crux's
 *
 * An iteration alone is the shortest that any of the policies' paths give the job when it has the
 * cluster to itself, with the same engine and seed.
 */
class CruxFigureSeries
{
  public:
    /**
     * Adds all options of a figure.
     * \param program name
     * \param title for people
     * \param cmd gets engine, iterations, scale, seed, seeds, policies, levels, db and picture
     * \param iterations default
     * \param policies default: the baseline first
     * \param levels default of K
     */
    CruxFigureSeries(const std::string& program,
                     const std::string& title,
                     CruxCommandLine& cmd,
                     uint64_t iterations,
                     const std::string& policies,
                     uint64_t levels = 5);

    /** \return what runs one scenario */
    const CruxFigure& GetFigure() const;

    /** \param models whose JCT is compared: first letters of names of jobs, word for people */
    void SetModels(const std::vector<std::pair<std::string, std::string>>& models);

    /** Tell slowdowns, instead of changes of JCT. */
    void TellSlowdowns();

    /** Tell utilisation as a share of Crux's. */
    void TellShares();

    /** \param row a scenario; rows of a part come one after the other */
    void AddRow(const CruxFigureRow& row);

    /** \param published what was published of a value; without a policy: of Crux */
    void Publish(const CruxFigurePublished& published);

    /**
     * Check everything, then run, print, store and draw. Ends the program with one line when
     * something is wrong.
     * \param os where to
     * \return exit code for main
     */
    int Run(std::ostream& os);

  private:
    std::string GetOurs() const;
    void Check();
    CruxFigureCells RunRow(const CruxFigureRow& row);
    std::vector<CruxFigureValue> Compare(const std::vector<CruxFigureRun>& runs,
                                         std::size_t index) const;
    void Changes(const CruxFigureRun& from,
                 const CruxFigureRun& to,
                 std::vector<CruxFigureValue>* values) const;

    std::string m_title;                                       //!< for people
    std::string m_policies;                                    //!< with commas
    uint64_t m_seeds{5};                                       //!< how many
    uint64_t m_levels;                                         //!< K
    bool m_slowdowns{false};                                   //!< instead of JCT
    bool m_shares{false};                                      //!< of Crux's utilisation
    CruxFigure m_figure;                                       //!< runs a scenario
    CruxFigureStore m_store;                                   //!< database and picture
    std::vector<std::pair<std::string, std::string>> m_models; //!< first letters, word
    std::vector<CruxFigureRow> m_rows;                         //!< scenarios
    std::vector<CruxFigurePublished> m_published;              //!< numbers
};

} // namespace ns3

#endif /* CRUX_FIGURE_SERIES_H */
