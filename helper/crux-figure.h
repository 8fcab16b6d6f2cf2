/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigure: what the examples that follow a published figure share: run a scenario under some
 * policies, each job alone too, and print the published number beside ours. Several scenarios,
 * policies and seeds with tables, database and picture: crux-figure-series.h.
 *
 * Place: helper (C++17). Uses CruxScenario, CruxExperiment, CruxCommandLine; computes ratios only.
 */
#ifndef CRUX_FIGURE_H
#define CRUX_FIGURE_H

#include "crux-command-line.h"
#include "crux-experiment.h"

#include <ostream>
#include <string>
#include <vector>

namespace ns3
{

/// A job in a run; seconds of simulated time.
struct CruxFigureJob
{
    std::string name;           //!< "bert-0"
    uint32_t gpus{0};           //!< count
    uint32_t level{0};          //!< 0 is the highest
    uint32_t rank{0};           //!< 0 is first
    uint64_t iterations{0};     //!< completed beside the others
    double iteration{0};        //!< mean, beside the others
    double jct{0};              //!< to the end of its last iteration
    double aloneIteration{0};   //!< mean, on the same paths
    double aloneJct{0};         //!< on the same paths
    double aloneBusy{0};        //!< seconds that a GPU computes in an iteration (mean over GPUs)
    double aloneLinkSeconds{0}; //!< t_j: what its busiest link carries in an iteration
};

/// What a scenario gave under one policy.
struct CruxFigureRun
{
    std::string engine;              //!< "flow", "packet"
    std::string policy;              //!< name
    uint64_t seed{0};                //!< of paths and jitter
    double utilisation{0};           //!< of the allocated GPUs, until the first job ends
    double firstEnd{0};              //!< when that was; NAN: none ended
    double aloneUtilisation{0};      //!< the same GPUs, if every job ran as if alone
    std::vector<CruxFigureJob> jobs; //!< in the scenario's order
};

/// A scenario of a table.
struct CruxFigureRow
{
    std::string part;              //!< heading of its table; empty: none
    std::string label;             //!< for people
    std::string topology;          //!< description (crux-presets.h)
    std::string jobs;              //!< descriptions, with commas (crux-scenario.h)
    std::string placement{"pack"}; //!< of jobs that do not say (crux-placement.h)
};

/// What a run is compared by.
struct CruxFigureValue
{
    std::string what; //!< "GPT's JCT"
    std::string unit; //!< "%", "points", "s", "x"
    double value{0};  //!< NAN: not known
};

/// What was published of a value.
struct CruxFigurePublished
{
    std::string what;   //!< as in CruxFigureValue, or "utilisation"
    std::string policy; //!< that it is of; empty: of all but the baseline
    double low{0};      //!< published, or the low end of the range
    double high{0};     //!< the same, or the high end
    std::string unit;   //!< "%", "s", "x"
    std::string source; //!< where
};

/**
 * \ingroup crux
 * \brief Runs scenarios for a figure.
 */
class CruxFigure
{
  public:
    /**
     * Adds the options that all figures have.
     * \param program name in front of error lines
     * \param cmd gets engine, iterations, scale and seed
     * \param iterations default, of the job with the longest iteration
     */
    CruxFigure(const std::string& program, CruxCommandLine& cmd, uint64_t iterations);

    /**
     * Would it run? Ends the program with one line when the scenario or a policy is wrong, so that
     * nothing is printed or run before.
     * \param row the scenario
     * \param policies names, with commas
     */
    void Check(const CruxFigureRow& row, const std::string& policies) const;

    /**
     * The same.
     * \param topology description (crux-presets.h)
     * \param jobs descriptions, with commas (crux-scenario.h)
     * \param policies names, with commas
     */
    void Check(const std::string& topology,
               const std::string& jobs,
               const std::string& policies) const;

    /**
     * Run; ends the program with one line when the scenario or a run fails.
     * \param row the scenario
     * \param policies names, with commas
     * \return a run for each engine and policy, in this order
     */
    std::vector<CruxFigureRun> Run(const CruxFigureRow& row, const std::string& policies) const;

    /**
     * The same.
     * \param topology description (crux-presets.h)
     * \param jobs descriptions, with commas (crux-scenario.h)
     * \param policies names, with commas
     * \return a run for each engine and policy, in this order
     */
    std::vector<CruxFigureRun> Run(const std::string& topology,
                                   const std::string& jobs,
                                   const std::string& policies) const;

    /**
     * Read numbers of an option; ends the program with one line when they are none.
     * \param option name of the option
     * \param text numbers with commas
     * \param low least
     * \param high most
     * \return the numbers, one at least
     */
    std::vector<double> Numbers(const std::string& option,
                                const std::string& text,
                                double low,
                                double high) const;

    /** \param seed of source ports (paths) and jitter, instead of the option's */
    void SetSeed(uint64_t seed);

    /**
     * Ends the program with one line when there are no classes for so many.
     * \param levels K, priority levels for jobs; more than the standard classes leave take all
     */
    void SetLevels(uint64_t levels);

    /** \return the seed */
    uint64_t GetSeed() const;

    /** \return computation and bytes are divided by it */
    double GetScale() const;

    /** \return of the job with the longest iteration */
    uint64_t GetIterations() const;

    /** \return name in front of error lines */
    const std::string& GetProgram() const;

  private:
    void Build(const CruxFigureRow& row, CruxScenario* scenario) const;
    CruxExperimentOptions Options(const std::string& policies) const;

    std::string m_program;        //!< name
    std::string m_engine{"flow"}; //!< names with commas
    uint64_t m_iterations;        //!< of the job with the longest iteration
    double m_scale{1};            //!< of the scenario
    uint64_t m_seed{1};           //!< of paths and jitter
    uint64_t m_levels{0};         //!< K; 0: libcrux's default
};

/**
 * printf into a stream.
 * \param os where to
 * \param format of printf; a line of at most 511 characters
 */
void CruxPrint(std::ostream& os, const char* format, ...) __attribute__((format(printf, 2, 3)));

/**
 * \param ratio new / old
 * \return the change in per cent; 0 where it is rounding
 */
double CruxChange(double ratio);

/**
 * Print a line: what, the published number or range, ours (a number or the range of several), and
 * how far ours is from it: "inside", or the largest distance.
 * \param os where to
 * \param what it is
 * \param low published, or the low end of the range
 * \param high the same, or the high end
 * \param ours computed, one at least
 * \param unit "s", "%", "x"
 */
void CruxPrintPublished(std::ostream& os,
                        const std::string& what,
                        double low,
                        double high,
                        const std::vector<double>& ours,
                        const std::string& unit);

} // namespace ns3

#endif /* CRUX_FIGURE_H */
