/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigureTable: medians with their spread over seeds, printed beside what was published.
 *
 * Place: helper (C++17). Uses CruxFigure; computes medians only.
 */
#ifndef CRUX_FIGURE_TABLE_H
#define CRUX_FIGURE_TABLE_H

#include "crux-figure.h"

#include <ostream>
#include <string>
#include <vector>

namespace ns3
{

/// Least, median and most of several numbers.
struct CruxSpread
{
    double least{0};  //!< NAN: there is none
    double median{0}; //!< of an even count the mean of the middle two
    double most{0};   //!< NAN: there is none
};

/**
 * \param numbers any; NANs do not count
 * \return their spread
 */
CruxSpread CruxSpreadOf(std::vector<double> numbers);

/// A row of a figure under an engine and a policy: a list of numbers, one a seed, for each value.
struct CruxFigureCell
{
    std::string engine;                       //!< "flow", "packet"
    std::string policy;                       //!< name
    std::vector<CruxFigureValue> values;      //!< what they are; the numbers are below
    std::vector<std::vector<double>> numbers; //!< [values][seeds]

    /**
     * Add a seed.
     * \param run of it; its utilisation in % becomes the first value
     * \param more values of it, the same ones for every seed
     */
    void Add(const CruxFigureRun& run, const std::vector<CruxFigureValue>& more);

    /**
     * \param what a value
     * \return its numbers, or nullptr
     */
    const std::vector<double>* Find(const std::string& what) const;
};

/// A row with its cells, by engine, then policy.
struct CruxFigureCells
{
    std::string label;                 //!< of the row
    std::vector<CruxFigureCell> cells; //!< engines x policies
};

/**
 * \ingroup crux
 * \brief One table of a figure: rows that are compared with the same published numbers.
 */
class CruxFigureTable
{
  public:
    /**
     * \param os where to
     * \param part heading, or empty
     * \param ours the policy whose numbers are held against those published of none
     */
    CruxFigureTable(std::ostream& os, const std::string& part, const std::string& ours);

    /**
     * Print a row.
     * \param row its numbers; at least a cell
     */
    void AddRow(const CruxFigureCells& row);

    /**
     * Print, under the rows, the published numbers beside ours (medians of the rows), how many
     * seeds are inside, and whether ours has at least the utilisation of every other policy.
     * \param published numbers
     */
    void Finish(const std::vector<CruxFigurePublished>& published) const;

  private:
    void PrintHead(const CruxFigureCells& row);
    void PrintPublished(const std::string& engine, const CruxFigurePublished& published) const;
    void PrintOrder(const std::string& engine) const;
    void PrintTop(const std::string& engine) const;
    std::vector<const CruxFigureCell*> Find(const std::string& engine,
                                            const std::string& policy) const;

    std::ostream& m_os;                   //!< where to
    std::string m_part;                   //!< heading
    std::string m_ours;                   //!< policy
    std::vector<CruxFigureCells> m_rows;  //!< so far
    std::vector<CruxFigureValue> m_heads; //!< columns
};

/// Value of a run under Crux: iteration of the job that is first / the same job alone.
extern const char* const CRUX_FIGURE_TOP;
/// Value of a run: utilisation / that under Crux.
extern const char* const CRUX_FIGURE_SHARE;

} // namespace ns3

#endif /* CRUX_FIGURE_TABLE_H */
