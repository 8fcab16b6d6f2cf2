#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# crux-plot-operation: one picture of runs of Crux in operation (tables op_*, doc/results.md): GPU
# utilisation over time, of each run and by job, with what happened; levels of jobs over time; how
# long plans took from the first news to being in force; how far profiles were from the truth.
# All but the first are of one run: the last that has plans.
#
#   crux-plot-operation.py DATABASE PICTURE.png
#
# Place: tools. Depends on Python 3, matplotlib, crux_plot_common (faults and exit codes there).
import statistics
import sys

sys.dont_write_bytecode = True  # nothing is left beside the tools
import crux_plot_common as common

JOB_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442",
               "#8c564b", "#7a68c4", "#6b6b6b"]
OTHERS = "#cfcfcf"  # jobs beyond the colours, together
LONGEST_NAME = 18
MOST_BARS = 6  # profiles beyond which bars become ranges
TABLES = ["op_event", "op_profile", "op_probing", "op_decision", "op_order", "op_bin"]
# What happened, from the top: (name, colour, line through the panels, marker).
MARKS = {
    "arrival": ("job arrives", "#6b6b6b", (0, (4, 3)), "v"),
    "end": ("job ends", "#6b6b6b", None, "|"),
    "decided": ("plan decided", "#0072b2", "-", "o"),
    "in force": ("plan in force", "#0072b2", (0, (1, 2)), "d"),
    "link-down": ("link fails", "#d55e00", "-", "X"),
    "link-up": ("link is back", "#d55e00", (0, (1, 2)), "^"),
    "host-down": ("host dies", "black", "-", "X"),
    "host-up": ("host is back", "black", (0, (1, 2)), "^"),
}
FIGURES = ["iteration_s", "flop", "compute_s", "overlap_start", "t_s", "intensity"]
FIGURE_NAMES = ["iteration\ntime", "FLOP", "compu-\ntation", "overlap\nstart*", "t", "intensity"]


# ------------------------------------------------------------------ reading


def load_run(db, run, engine, policy, finished):
    def rows(columns, table, order="seq"):
        return db.execute(f"SELECT {columns} FROM {table} WHERE run = ? ORDER BY {order}", [run]).fetchall()

    pairs = ", ".join(f"{name}, true_{name}" for name in FIGURES)
    decisions = rows("version, news_s, decided_s, in_force_s", "op_decision")
    marks = {kind: [] for kind in MARKS}
    for at, kind in rows("at_s, kind", "op_event"):
        if kind in marks and kind not in ("decided", "in force"):
            marks[kind].append(at)
    marks["decided"] = [decided for _, _, decided, _ in decisions]
    marks["in force"] = [force for _, _, _, force in decisions if force is not None]
    return {
        "engine": engine,
        "policy": policy if finished else f"{policy} (unfinished)",
        "bins": rows("from_s, to_s, job, busy_gpu_s, gpus", "op_bin"),
        "marks": marks,
        "decisions": decisions,
        "orders": rows("version, job, level", "op_order"),
        "profiled": rows("job, begun_s, ended_s", "op_profile"),
        "profiles": [(row[0], list(zip(row[1::2], row[2::2]))) for row in rows(f"job, {pairs}", "op_profile")],
        "ends": dict(db.execute("SELECT j.job, max(at_s) FROM op_event JOIN job j ON j.id = job_id "
                                "WHERE run = ? AND kind = 'end' GROUP BY j.job", [run])),
        "probed": bool(rows("1", "op_probing")),
    }


def has_rows(run):
    marked = any(run["marks"].values())
    return bool(marked or run["bins"] or run["orders"] or run["profiles"] or run["probed"])


def load(db):
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables.issuperset(TABLES + ["run", "job"]):
        return [], {}
    runs = [
        load_run(db, *row)
        for row in db.execute("SELECT run, engine, policy, finished FROM run "
                              "WHERE alone_job IS NULL ORDER BY run").fetchall()
    ]
    jobs = {
        job: name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
        for job, name in db.execute("SELECT job, name FROM job ORDER BY job")
    }
    return [run for run in runs if has_rows(run)], jobs


# ------------------------------------------------------------------ utilisation over time


def spans(bins):
    """Times at which something changes; busy GPUs of each job and GPUs held from each to the next."""
    times = sorted({t for row in bins for t in row[:2]})
    place = {t: i for i, t in enumerate(times)}
    busy = {}
    held = [0] * len(times)
    for begin, end, job, busy_gpu_s, gpus in bins:
        of_job = busy.setdefault(job, [0] * len(times))
        for i in range(place[begin], place[end]):
            of_job[i] += busy_gpu_s / (end - begin)
            held[i] += gpus
    return times, busy, held


def mean_utilisation(bins):
    held = sum(gpus * (end - begin) for begin, end, _, _, gpus in bins)
    return sum(row[3] for row in bins) / held if held else 0


def outside(axes, **options):
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, fontsize=9,
                borderaxespad=0, alignment="left", **options)


def draw_total(axes, runs, factor):
    for run in runs:
        if not run["bins"]:
            continue
        times, busy, held = spans(run["bins"])
        share = [
            100 * sum(of_job[i] for of_job in busy.values()) / held[i] if held[i] else float("nan")
            for i in range(len(times))
        ]
        share[-1] = share[-2]  # to the last bin's end
        label = run["label"].replace("\n", ", ")
        colour = run["colour"] if len(runs) > 1 else "black"
        axes.step([t * factor for t in times], share, where="post", color=colour, linewidth=1.5,
                  label=f"{label}: {100 * mean_utilisation(run['bins']):.1f} %")
    axes.set_ylim(0, 105)
    axes.set_ylabel("utilisation\n(% of held)")
    axes.set_title("GPU utilisation of all jobs", fontsize=10, loc="left")
    outside(axes, title="mean over time", title_fontsize=9)


def draw_jobs(axes, run, jobs, colours, factor):
    times, busy, held = spans(run["bins"])
    scaled = [t * factor for t in times]
    layers = [(jobs[job], colours[job], busy[job]) for job in sorted(busy) if colours[job] != OTHERS]
    rest = [busy[job] for job in busy if colours[job] == OTHERS]
    if rest:
        layers.append((f"{len(rest)} other jobs", OTHERS, [sum(values) for values in zip(*rest)]))
    below = [0] * len(times)
    for name, colour, values in layers:
        above = [low + value for low, value in zip(below, values)]
        axes.fill_between(scaled, below, above, step="post", color=colour, linewidth=0, label=name)
        below = above
    axes.step(scaled, held, where="post", color="black", linewidth=1.2, label="held")
    axes.set_ylim(0, max(held) * 1.08)
    axes.set_ylabel("GPUs")
    axes.set_title(f"computing GPUs by job{run['of']}", fontsize=10, loc="left")
    outside(axes)


def draw_marks(axes, run, factor):
    kinds = [kind for kind in MARKS if run["marks"][kind]]
    for i, kind in enumerate(kinds):
        _, colour, _, marker = MARKS[kind]
        axes.plot([t * factor for t in run["marks"][kind]], [i] * len(run["marks"][kind]), marker,
                  color=colour, markersize=6 if marker != "|" else 9, clip_on=False)
        axes.axhline(i, color="#e5e5e5", linewidth=0.6, zorder=0)
    axes.set_yticks(range(len(kinds)), [MARKS[kind][0] for kind in kinds], fontsize=9)
    axes.set_ylim(len(kinds) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, pad=9)
    axes.spines["left"].set_visible(False)


def draw_lines(axes, run, factor, kinds):
    """Thin lines where something happened; fainter the more there are."""
    for kind in kinds:
        _, colour, line, _ = MARKS[kind]
        if line is not None:
            alpha = 0.8 if len(run["marks"][kind]) <= 20 else 0.3
            for t in run["marks"][kind]:
                axes.axvline(t * factor, color=colour, linestyle=line, linewidth=0.8, alpha=alpha)


# ------------------------------------------------------------------ levels over time


def levels_of(run, last):
    """{job: [(from, to, level)]}, level -1 while it was profiled and no plan was in force."""
    force = {version: at for version, _, _, at in run["decisions"] if at is not None}
    steps = {}
    for job, begun, _ in run["profiled"]:
        steps.setdefault(job, [(begun, -1)])
    for at, job, level in sorted(
        (force[version], job, -1 if level is None else level)
        for version, job, level in run["orders"] if version in force
    ):
        steps.setdefault(job, []).append((at, level))
    spans_of = {}
    for job, changes in steps.items():
        end = run["ends"].get(job, last)
        ends = [at for at, _ in changes[1:]] + [end]
        spans_of[job] = [(at, min(to, end), level) for (at, level), to in zip(changes, ends) if at < end]
    return spans_of


def draw_levels(axes, run, jobs, colours, factor, last):
    spans_of = levels_of(run, last)
    lowest = max((level for rows in spans_of.values() for _, _, level in rows), default=0)
    order = sorted(spans_of)
    for i, job in enumerate(order):
        # Jobs of one level lie beside each other, within a third of its height each way.
        shift = 0.66 * ((i + 0.5) / len(order) - 0.5)
        x, y = [], []
        for begin, end, level in spans_of[job]:
            x += [begin * factor, end * factor]
            y += [level + shift] * 2
        front = colours[job] != OTHERS
        axes.plot(x, y, color=colours[job], linewidth=2.2 if front else 0.8, zorder=3 if front else 2,
                  solid_capstyle="butt", solid_joinstyle="miter", label=jobs[job] if front else None)
    if not run["bins"]:  # else the panel above names the colours
        outside(axes)
    first = min((level for rows in spans_of.values() for _, _, level in rows), default=0)
    first = min(first, 0)
    for edge in range(first, lowest + 2):
        axes.axhline(edge - 0.5, color="#e5e5e5", linewidth=0.6, zorder=0)
    levels = range(first, lowest + 1)
    axes.set_yticks(levels, ["profiled" if level < 0 else str(level) for level in levels])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(lowest + 0.5, first - 0.5)
    axes.set_ylabel("level")
    axes.set_title(f"levels of jobs in the plan in force, 0 is the highest{run['of']}", fontsize=10, loc="left")


# ------------------------------------------------------------------ plans and profiles


def draw_delays(axes, run, time, last):
    rows = [row for row in run["decisions"] if row[1] is not None]
    longest = max((v - row[1] for row in rows for v in row[2:] if v is not None), default=1)
    unit, factor = common.time_unit(longest)
    seen = []
    for _, news, decided, force in rows:
        at = decided * time[1]
        low = (decided - news) * factor
        axes.plot([at], [low], "o", color="white", markeredgecolor="#0072b2", markersize=5, zorder=3)
        seen.append(low)
        if force is not None:
            high = (force - news) * factor
            axes.plot([at, at], [low, high], color="#0072b2", linewidth=1, zorder=2)
            axes.plot([at], [high], "d", color="#0072b2", markersize=6, zorder=3)
            seen.append(high)
    if seen and min(seen) > 0 and max(seen) > 20 * min(seen):
        axes.set_yscale("log")
        axes.set_ylim(min(seen) / 1.6, max(seen) * 1.6)
        axes.yaxis.set_major_formatter("{x:g}")
    else:
        axes.set_ylim(0, max(seen, default=1) * 1.12 or 1)
    axes.set_xlim(0, last * time[1])
    axes.set_xlabel(f"simulated time of the decision ({time[0]})")
    axes.set_ylabel(f"since the first news ({unit})")
    axes.set_title(f"from news to plan decided (○) and in force (◆){run['of']}", fontsize=10, loc="left")
    axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)


def errors_of(run):
    """[(job, [error of each figure in per cent, None: not known])]; of shares in points."""
    found = []
    for job, pairs in run["profiles"]:
        errors = []
        for name, (measured, true) in zip(FIGURES, pairs):
            known = measured is not None and true is not None and abs(true) < float("inf")
            if not known or abs(measured) == float("inf") or (true == 0 and name != "overlap_start"):
                errors.append(None)
            else:
                errors.append(100 * (measured - true if name == "overlap_start" else measured / true - 1))
        if any(error is not None for error in errors):
            found.append((job, errors))
    return found


def draw_errors(axes, run, jobs, colours):
    found = errors_of(run)
    axes.axhline(0, color="black", linewidth=0.8)
    if len(found) <= MOST_BARS:
        width = 0.8 / len(found)
        for i, (job, errors) in enumerate(found):
            at = [(k + (i - (len(found) - 1) / 2) * width, e) for k, e in enumerate(errors) if e is not None]
            axes.bar([x for x, _ in at], [e for _, e in at], width * 0.9, color=colours[job], label=jobs[job])
        if not run["bins"] and not run["orders"]:
            outside(axes)
        title = f"error of each job's profile{run['of']}"
    else:
        for k in range(len(FIGURES)):
            values = [errors[k] for _, errors in found if errors[k] is not None]
            if values:
                middle = statistics.median(values)
                axes.errorbar([k], [middle], [[middle - min(values)], [max(values) - middle]],
                              fmt="o", color="#0072b2", capsize=5, markersize=5)
        title = f"error of {len(found)} profiles: median, range{run['of']}"
    seen = [e for _, errors in found for e in errors if e is not None]
    reach = max(max(abs(e) for e in seen) * 1.15, 0.1)
    axes.set_ylim(-reach if min(seen) < 0 else -0.1 * reach, reach if max(seen) > 0 else 0.1 * reach)
    axes.set_xticks(range(len(FIGURES)), FIGURE_NAMES, fontsize=9)
    axes.set_xlim(-0.6, len(FIGURES) - 0.4)
    axes.set_ylabel("measured - true (%, * points)")
    axes.set_title(title, fontsize=10, loc="left")
    axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)


# ------------------------------------------------------------------ the sheet


def colours_of(run, jobs):
    """The jobs that computed most have colours of their own."""
    busy = dict.fromkeys(jobs, 0)
    for _, _, job, busy_gpu_s, _ in run["bins"]:
        busy[job] += busy_gpu_s
    most = len(JOB_COLOURS) if len(jobs) <= len(JOB_COLOURS) else len(JOB_COLOURS) - 1
    front = sorted(sorted(jobs, key=lambda job: (-busy[job], job))[:most])
    colours = dict.fromkeys(jobs, OTHERS)
    colours.update(zip(front, JOB_COLOURS))
    return colours


def last_time(runs):
    ends = [row[1] for run in runs for row in run["bins"]]
    marks = [t for run in runs for times in run["marks"].values() for t in times]
    profiles = [ended for run in runs for _, _, ended in run["profiled"]]
    return max(ends + marks + profiles, default=0) or 1


def draw_times(figure, runs, run, jobs, panels, time, last):
    """The panels over time, on one axis."""
    colours = colours_of(run, jobs)
    heights = [height for _, height in panels]
    grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    outer = [kind for kind in MARKS if kind not in ("decided", "in force")]
    for axes, (name, _) in zip(grid, panels):
        if name == "total":
            draw_total(axes, runs, time[1])
        elif name == "marks":
            draw_marks(axes, run, time[1])
        elif name == "jobs":
            draw_jobs(axes, run, jobs, colours, time[1])
        else:
            draw_levels(axes, run, jobs, colours, time[1], last)
        if name != "marks":
            draw_lines(axes, run, time[1], outer if name == "total" and len(runs) > 1 else MARKS)
        axes.set_xlim(0, last * time[1])
    grid[-1].set_xlabel(f"simulated time ({time[0]})")


def draw(runs, jobs, database, path):
    plt = common.pyplot()
    run = next((r for r in reversed(runs) if r["orders"]), runs[-1])
    run["of"] = ": " + run["label"].replace("\n", ", ") if len(runs) > 1 else ""
    last = last_time(runs)
    time = common.time_unit(last)
    panels = [("total", 1.7)] if any(r["bins"] for r in runs) else []
    kinds = sum(1 for times in run["marks"].values() if times)
    panels += [("marks", 0.25 + 0.2 * kinds)] if kinds else []
    panels += [("jobs", 2.6)] if run["bins"] else []
    levels = [row[2] for row in run["orders"] if row[2] is not None]
    panels += [("levels", 1 + 0.3 * max(levels, default=0))] if run["orders"] else []
    lower = [name for name, shown in (("delays", any(row[1] is not None for row in run["decisions"])),
                                      ("errors", errors_of(run))) if shown]
    if not panels and not lower:
        common.fail(15, f"{database}: holds nothing to draw of Crux in operation: no bins, plans or events")
    upper = sum(height for _, height in panels) + 0.35 * len(panels) + 0.3 if panels else 0
    figure = plt.figure(figsize=(10, upper + (3 if lower else 0)), layout="constrained")
    parts = [height for height in (upper, 3 if lower else 0) if height]
    sheets = figure.subfigures(len(parts), 1, height_ratios=parts, squeeze=False)[:, 0]
    if panels:
        draw_times(sheets[0], runs, run, jobs, panels, time, last)
    if lower:
        grid = sheets[-1].subplots(1, len(lower), squeeze=False)[0]
        for axes, name in zip(grid, lower):
            if name == "delays":
                draw_delays(axes, run, time, last)
            else:
                draw_errors(axes, run, jobs, colours_of(run, jobs))
    common.save(figure, path)


def main():
    database, picture = common.arguments()
    runs, jobs = common.read(database, load)
    if not runs:
        common.fail(15, f"{database}: holds no run of Crux in operation (all op_ tables are empty or missing)")
    common.label_runs(runs)
    draw(runs, jobs, database, picture)


if __name__ == "__main__":
    main()
