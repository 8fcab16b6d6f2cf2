/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigureTable: see crux-figure-table.h.
 */
#include "crux-figure-table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ns3
{

const char* const CRUX_FIGURE_TOP = "top job / alone";
const char* const CRUX_FIGURE_SHARE = "share of crux's";

namespace
{

const double SAME = 0.005; //!< points of utilisation that do not count as a difference
const double TOP = 1.03;   //!< the job that is first takes no longer than this, of alone

const std::size_t COLUMN_0 = 14; //!< characters for names of policies
const std::size_t COLUMN = 24;   //!< for a value

/**
 * \param text of a column
 * \param line gets it, and blanks
 */
void
AddColumn(const std::string& text, std::string* line)
{
    *line += " " + text;
    line->append(text.size() < COLUMN ? COLUMN - text.size() : 0, ' ');
}

/**
 * \param numbers of seeds
 * \param value what they are: changes have a sign
 * \return median, and the spread when there are several
 */
std::string
Text(const std::vector<double>& numbers, const CruxFigureValue& value)
{
    const CruxSpread spread = CruxSpreadOf(numbers);
    const bool exact = value.unit == "x" || value.unit == "s";
    const bool change = !exact && value.what != "utilisation";
    const char* all = exact    ? "%.3f [%.3f..%.3f]"
                      : change ? "%+.2f [%+.1f..%+.1f]"
                               : "%.2f [%.1f..%.1f]";
    const char* one = exact ? "%.3f" : change ? "%+.2f" : "%.2f";
    char text[96];

    if (std::isnan(spread.median))
    {
        return "-";
    }
    if (numbers.size() > 1)
    {
        std::snprintf(text, sizeof(text), all, spread.median, spread.least, spread.most);
    }
    else
    {
        std::snprintf(text, sizeof(text), one, spread.median);
    }
    return text;
}

} // namespace

CruxSpread
CruxSpreadOf(std::vector<double> numbers)
{
    const auto end = std::remove_if(numbers.begin(), numbers.end(), [](double number) {
        return std::isnan(number);
    });
    numbers.erase(end, numbers.end());
    std::sort(numbers.begin(), numbers.end());
    const std::size_t n = numbers.size();
    if (n == 0)
    {
        return {NAN, NAN, NAN};
    }
    return {numbers[0], (numbers[(n - 1) / 2] + numbers[n / 2]) / 2, numbers[n - 1]};
}

void
CruxFigureCell::Add(const CruxFigureRun& run, const std::vector<CruxFigureValue>& more)
{
    engine = run.engine;
    policy = run.policy;
    values.assign(1, {"utilisation", "%", 100 * run.utilisation});
    values.insert(values.end(), more.begin(), more.end());
    numbers.resize(values.size());
    for (std::size_t v = 0; v < values.size(); v++)
    {
        numbers[v].push_back(values[v].value);
    }
}

const std::vector<double>*
CruxFigureCell::Find(const std::string& what) const
{
    for (std::size_t v = 0; v < values.size(); v++)
    {
        if (values[v].what == what)
        {
            return &numbers[v];
        }
    }
    return nullptr;
}

CruxFigureTable::CruxFigureTable(std::ostream& os, const std::string& part, const std::string& ours)
    : m_os(os),
      m_part(part),
      m_ours(ours)
{
}

void
CruxFigureTable::PrintHead(const CruxFigureCells& row)
{
    for (const auto& cell : row.cells)
    {
        for (const auto& value : cell.values)
        {
            const auto same = [&value](const CruxFigureValue& head) {
                return head.what == value.what;
            };
            if (std::none_of(m_heads.begin(), m_heads.end(), same))
            {
                m_heads.push_back(value);
            }
        }
    }
    m_os << "\n";
    if (!m_part.empty())
    {
        m_os << m_part << "\n";
    }
    std::string line(COLUMN_0, ' ');
    for (const auto& head : m_heads)
    {
        const std::string unit = head.unit == "%" ? ", %" : head.unit == "s" ? ", s" : "";
        AddColumn(head.what + unit, &line);
    }
    m_os << line << "\n";
}

void
CruxFigureTable::AddRow(const CruxFigureCells& row)
{
    if (m_rows.empty())
    {
        PrintHead(row);
    }
    const bool several = row.cells.front().engine != row.cells.back().engine;
    std::string engine;
    for (const auto& cell : row.cells)
    {
        if (cell.engine != engine)
        {
            m_os << row.label << (several ? ", " + cell.engine + " level" : "") << "\n";
            engine = cell.engine;
        }
        std::string line = "  " + cell.policy;
        line.resize(std::max(line.size(), COLUMN_0), ' ');
        for (const auto& head : m_heads)
        {
            const auto* numbers = cell.Find(head.what);
            AddColumn(numbers ? Text(*numbers, head) : "", &line);
        }
        m_os << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
    }
    m_os << std::flush;
    m_rows.push_back(row);
}

std::vector<const CruxFigureCell*>
CruxFigureTable::Find(const std::string& engine, const std::string& policy) const
{
    std::vector<const CruxFigureCell*> found;
    for (const auto& row : m_rows)
    {
        for (const auto& cell : row.cells)
        {
            if (cell.engine == engine && cell.policy == policy)
            {
                found.push_back(&cell);
            }
        }
    }
    return found;
}

void
CruxFigureTable::PrintPublished(const std::string& engine,
                                const CruxFigurePublished& published) const
{
    const std::string policy = published.policy.empty() ? m_ours : published.policy;
    std::vector<double> medians;
    std::size_t seeds = 0;
    std::size_t inside = 0;

    for (const auto* cell : Find(engine, policy))
    {
        const auto* numbers = cell->Find(published.what);
        if (numbers)
        {
            medians.push_back(CruxSpreadOf(*numbers).median);
            seeds += numbers->size();
            inside += std::count_if(numbers->begin(), numbers->end(), [&published](double number) {
                return number >= published.low && number <= published.high;
            });
        }
    }
    if (medians.empty())
    {
        return;
    }
    const std::string what =
        published.policy.empty() ? published.what : published.what + ", " + policy;
    CruxPrintPublished(m_os, what, published.low, published.high, medians, published.unit);
    if (seeds > medians.size() && published.high > published.low)
    {
        CruxPrint(m_os, "  %34s %zu of %zu runs inside\n", "", inside, seeds);
    }
}

void
CruxFigureTable::PrintOrder(const std::string& engine) const
{
    std::string behind;
    std::string text;
    std::size_t others = 0;
    char margin[96];

    for (const auto& row : m_rows)
    {
        double ours = NAN;
        for (const auto& cell : row.cells)
        {
            ours = cell.engine == engine && cell.policy == m_ours
                       ? CruxSpreadOf(cell.numbers[0]).median
                       : ours;
        }
        for (const auto& cell : row.cells)
        {
            const double other = CruxSpreadOf(cell.numbers[0]).median;
            others += cell.engine == engine && cell.policy != m_ours;
            if (cell.engine == engine && other > ours + SAME)
            {
                std::snprintf(margin, sizeof(margin), " by %.2f points", other - ours);
                behind +=
                    (behind.empty() ? "" : "; ") + cell.policy + margin + " (" + row.label + ")";
            }
        }
    }
    if (others > 0 && !Find(engine, m_ours).empty())
    {
        m_os << "  utilisation with " << m_ours
             << (behind.empty() ? " is at least that of every other policy, by medians\n"
                                : " is below, by medians: " + behind + "\n");
    }
}

void
CruxFigureTable::PrintTop(const std::string& engine) const
{
    double most = 0;
    for (const auto* cell : Find(engine, m_ours))
    {
        const auto* numbers = cell->Find(CRUX_FIGURE_TOP);
        most = numbers ? std::fmax(most, CruxSpreadOf(*numbers).most) : most;
    }
    if (most > 0)
    {
        CruxPrint(m_os,
                  "  the job that is first with %s takes %.3f of its time alone at most: %s\n",
                  m_ours.c_str(),
                  most,
                  most <= TOP ? "within 3 %" : "not within 3 %");
    }
}

void
CruxFigureTable::Finish(const std::vector<CruxFigurePublished>& published) const
{
    std::string engine;
    for (const auto& cell : m_rows.front().cells)
    {
        if (cell.engine == engine)
        {
            continue;
        }
        engine = cell.engine;
        if (m_rows.front().cells.back().engine != m_rows.front().cells.front().engine)
        {
            m_os << "  " << engine << " level:\n";
        }
        for (const auto& one : published)
        {
            PrintPublished(engine, one);
        }
        PrintOrder(engine);
        PrintTop(engine);
    }
    m_os << std::flush;
}

} // namespace ns3
