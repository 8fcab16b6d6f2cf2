/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigureStore: the database and the picture of an example that follows a published figure.
 *
 * Place: helper (C++17). Uses crux-store-figure, CruxFigure, CruxDrawPicture.
 */
#ifndef CRUX_FIGURE_STORE_H
#define CRUX_FIGURE_STORE_H

#include "crux-figure.h"

#include "ns3/crux-store.h"

#include <ostream>
#include <string>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Writes tables figure* (doc/results.md) and draws them. Ends the program with one line when
 * something cannot be written.
 */
class CruxFigureStore
{
  public:
    /**
     * Adds its options.
     * \param program name in front of error lines, and of the database
     * \param cmd gets db and picture
     */
    CruxFigureStore(const std::string& program, CruxCommandLine& cmd);
    ~CruxFigureStore();
    CruxFigureStore(const CruxFigureStore&) = delete;
    CruxFigureStore& operator=(const CruxFigureStore&) = delete;

    /**
     * Check both files, then open the database; nothing may be printed or run before.
     * \param title for people
     * \param figure its options
     * \param baseline policy that others are compared with
     * \param firstSeed of the runs
     * \param seeds how many
     * \param published numbers
     */
    void Open(const std::string& title,
              const CruxFigure& figure,
              const std::string& baseline,
              uint64_t firstSeed,
              uint64_t seeds,
              const std::vector<CruxFigurePublished>& published);

    /**
     * \param row a scenario; the runs that follow are of it
     */
    void AddRow(const CruxFigureRow& row);

    /**
     * \param run of the row added last
     * \param values that it is compared by
     */
    void AddRun(const CruxFigureRun& run, const std::vector<CruxFigureValue>& values);

    /**
     * Close the database, draw the picture and say where they are.
     * \param os where to
     * \return exit code for main
     */
    int Close(std::ostream& os);

  private:
    std::string m_program;        //!< name
    std::string m_db;             //!< path, or "none"
    std::string m_picture;        //!< path, empty or "none"
    crux_store* m_store{nullptr}; //!< open, or nullptr: none
    int64_t m_row{0};             //!< number of the last row
};

} // namespace ns3

#endif /* CRUX_FIGURE_STORE_H */
