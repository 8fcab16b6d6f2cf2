/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigure: what the examples that follow a published figure share: run a scenario under some
 * policies, each job alone too, and print the published number beside ours.
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
    uint64_t iterations{0};     //!< completed beside the others
    double iteration{0};        //!< mean, beside the others
    double jct{0};              //!< to the end of its last iteration
    double aloneIteration{0};   //!< mean, on the same paths
    double aloneBusy{0};        //!< seconds that a GPU computes in an iteration (mean over GPUs)
    double aloneLinkSeconds{0}; //!< t_j: what its busiest link carries in an iteration
};

/// What a scenario gave under one policy.
struct CruxFigureRun
{
    std::string engine;              //!< "flow" or "packet"
    std::string policy;              //!< name
    double utilisation{0};           //!< of the allocated GPUs, until the first job ends
    double aloneUtilisation{0};      //!< the same GPUs, if every job ran as if alone
    std::vector<CruxFigureJob> jobs; //!< in the scenario's order
};

/// How a run differs from another of the same jobs, in per cent.
struct CruxFigureChange
{
    double utilisation{0};   //!< relative
    double points{0};        //!< of utilisation
    std::vector<double> jct; //!< of each job, or of each model
};

/// A scenario of a table.
struct CruxFigureRow
{
    std::string label;    //!< for people
    std::string topology; //!< description (crux-presets.h)
    std::string jobs;     //!< descriptions, with commas (crux-scenario.h)
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
     * \param topology as for Run
     * \param jobs as for Run
     * \param policies as for Run
     */
    void Check(const std::string& topology,
               const std::string& jobs,
               const std::string& policies) const;

    /**
     * Run; ends the program with one line when the scenario or a run fails.
     * \param topology description (crux-presets.h)
     * \param jobs descriptions, with commas (crux-scenario.h)
     * \param policies names, with commas
     * \return a run for each engine and policy, in this order
     */
    std::vector<CruxFigureRun> Run(const std::string& topology,
                                   const std::string& jobs,
                                   const std::string& policies) const;

    /**
     * Run rows under ecmp and crux and print a line each: utilisation, and for each model (the jobs
     * whose names begin so) the change of JCT that is largest in amount, its level under crux, and
     * its duty, the share of an iteration alone that its busiest link works for it.
     * \param os where to
     * \param rows scenarios; all of them are checked before anything is printed
     * \param models names
     * \return the changes, jct by model, in the order of rows, then engines
     */
    std::vector<CruxFigureChange> Compare(std::ostream& os,
                                          const std::vector<CruxFigureRow>& rows,
                                          const std::vector<std::string>& models) const;

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

    /** \return the seed */
    uint64_t GetSeed() const;

    /** \return computation and bytes are divided by it */
    double GetScale() const;

  private:
    void Build(const std::string& topology, const std::string& jobs, CruxScenario* scenario) const;
    CruxExperimentOptions Options(const std::string& policies) const;

    std::string m_program;        //!< name
    std::string m_engine{"flow"}; //!< names with commas
    uint64_t m_iterations;        //!< of the job with the longest iteration
    double m_scale{1};            //!< of the scenario
    uint64_t m_seed{1};           //!< of paths and jitter
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
 * \param from a run, such as under ecmp
 * \param to another, such as under crux
 * \return what changed
 */
CruxFigureChange CruxCompare(const CruxFigureRun& from, const CruxFigureRun& to);

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

/**
 * Print what the paper's figures 21 and 22 (contention on PCIe) report together beside changes.
 * \param os where to
 * \param changes of several rows, jct of BERT and ResNet
 */
void CruxPrintPcie(std::ostream& os, const std::vector<CruxFigureChange>& changes);

} // namespace ns3

#endif /* CRUX_FIGURE_H */
