#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# crux-plot: one picture of a result database (doc/results.md): GPU utilisation of each
# scheduler, iteration time of each job relative to running alone, and when each job computed
# and communicated.
#
#   crux-plot.py DATABASE PICTURE.png
#
# Place: tools. Depends on Python 3, matplotlib, crux_plot_common (faults and exit codes there).
import sys

sys.dont_write_bytecode = True  # nothing is left beside the tools
import crux_plot_common as common

COMPUTE, COMMUNICATE = "#0072b2", "#e69f00"
MOST_BARS = 10  # jobs beyond which bars become a curve, and rows of a timeline
ITERATIONS_SHOWN = 3


def load(db):
    """Runs with all jobs together, with what the picture needs of each; and names of jobs."""
    rows = db.execute(
        "SELECT run, engine, policy, utilisation, first_end_s FROM run JOIN run_summary "
        "USING(run) WHERE alone_job IS NULL AND finished ORDER BY run"
    ).fetchall()
    runs = [
        {
            "engine": engine,
            "policy": policy,
            "utilisation": utilisation,
            "relative": dict(
                db.execute("SELECT job, iteration_vs_alone FROM job_summary WHERE run = ?", [run])
            ),
            "mean_s": dict(
                db.execute("SELECT job, mean_iteration_s FROM job_summary WHERE run = ?", [run])
            ),
            "iterations": db.execute(
                "SELECT job, start_s, compute_end_s, comm_start_s, comm_end_s FROM iteration "
                "WHERE run = ? ORDER BY job, iteration",
                [run],
            ).fetchall(),
        }
        for run, engine, policy, utilisation, _ in rows
    ]
    jobs = db.execute("SELECT job, name, gpus FROM job ORDER BY job").fetchall()
    levels = dict(
        ((policy, job), level)
        for policy, job, level in db.execute(
            "SELECT policy, job, level FROM plan_job JOIN run USING(run) "
            "WHERE alone_job IS NULL ORDER BY run DESC"
        )
    )
    for run in runs:
        run["levels"] = {job: levels.get((run["policy"], job)) for job, _, _ in jobs}
    return runs, jobs


def draw_utilisation(axes, runs):
    values = [100 * (run["utilisation"] or 0) for run in runs]
    bars = axes.bar(range(len(runs)), values, color=[run["colour"] for run in runs], width=0.65)
    axes.bar_label(bars, [f"{value:.1f}" for value in values], padding=2)
    axes.set_xticks(range(len(runs)), [run["label"] for run in runs])
    axes.set_ylim(0, max(100, max(values) * 1.08))
    axes.set_ylabel("GPU utilisation (% of allocated)")
    axes.set_title("until the first job ends", fontsize=10)


def draw_relative(axes, runs, jobs):
    axes.axhline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel("iteration time / alone")
    axes.set_title("1 = as fast as alone", fontsize=10)
    seen = [v for run in runs for v in run["relative"].values() if v is not None]
    if not seen:
        return
    if len(jobs) > MOST_BARS:
        for run in runs:
            values = sorted(v for v in run["relative"].values() if v is not None)
            share = [100 * (i + 1) / len(values) for i in range(len(values))]
            axes.step(share, values, where="pre", color=run["colour"], label=run["policy"], linewidth=2)
        axes.set_xlabel(f"share of the {len(jobs)} jobs (%)")
        axes.set_xlim(0, 100)
        axes.set_ylim(min(1, min(seen)) - 0.03, max(seen) * 1.05)
    else:
        width = 0.8 / len(runs)
        for i, run in enumerate(runs):
            at = [j + (i - (len(runs) - 1) / 2) * width for j in range(len(jobs))]
            values = [run["relative"].get(job) or 0 for job, _, _ in jobs]
            label = run["label"].replace("\n", ", ")
            bars = axes.bar(at, values, width * 0.94, color=run["colour"], label=label)
            size = 9 if len(jobs) * len(runs) <= 8 else 7
            axes.bar_label(bars, [f"{v:.2f}" for v in values], padding=2, fontsize=size,
                           rotation=0 if len(jobs) * len(runs) <= 12 else 90)
        axes.set_xticks(range(len(jobs)), [f"{name}\n{gpus} GPUs" for _, name, gpus in jobs])
        axes.set_ylim(0, max(seen) * 1.15)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)


def window_of(runs):
    """Some iterations of the slowest job, from time 0; no longer than the longest run."""
    longest = max((v for run in runs for v in run["mean_s"].values() if v is not None), default=0)
    last = max((row[4] for run in runs for row in run["iterations"]), default=0)
    return min(ITERATIONS_SHOWN * longest, last) or 1


def draw_timeline(axes, run, jobs, window):
    unit, factor = common.time_unit(window)
    shown = jobs[:MOST_BARS]
    place = {job: i for i, (job, _, _) in enumerate(shown)}
    for colour, columns, low in ((COMPUTE, (1, 2), -0.38), (COMMUNICATE, (3, 4), 0.02)):
        spans = {}
        for row in run["iterations"]:
            begin, end = row[columns[0]], min(row[columns[1]], window)
            if row[0] in place and begin < window and end > begin:
                spans.setdefault(row[0], []).append((begin * factor, (end - begin) * factor))
        for job, bars in spans.items():
            axes.broken_barh(bars, (place[job] + low, 0.36), facecolors=colour, edgecolor="white",
                             linewidth=0.5)
    labels = []
    for job, name, _ in shown:
        level = run["levels"].get(job)
        labels.append(name if level is None else f"{name} (level {level})")
    axes.set_yticks(range(len(shown)), labels)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(0, window * factor)
    beyond = f", {len(shown)} of {len(jobs)} jobs" if len(shown) < len(jobs) else ""
    axes.set_title(run["label"].replace("\n", ", ") + beyond, fontsize=10, loc="left")
    axes.set_xlabel(f"simulated time ({unit})")


def draw(runs, jobs, path):
    pyplot = common.pyplot()
    from matplotlib import patches

    rows = min(len(jobs), MOST_BARS)
    strip = 0.9 + 0.32 * rows
    figure = pyplot.figure(figsize=(11, 4 + strip * len(runs)), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[4, strip * len(runs)])
    left, right = top.subplots(1, 2, width_ratios=[1 + 0.35 * len(runs), 4])
    draw_utilisation(left, runs)
    draw_relative(right, runs, jobs)
    window = window_of(runs)
    timelines = bottom.subplots(len(runs), 1, sharex=True, squeeze=False)[:, 0]
    for axes, run in zip(timelines, runs):
        draw_timeline(axes, run, jobs, window)
        axes.label_outer()
    timelines[0].legend(
        handles=[
            patches.Patch(color=COMPUTE, label="computation"),
            patches.Patch(color=COMMUNICATE, label="communication"),
        ],
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0,
        ncols=2,
        frameon=False,
    )
    common.save(figure, path)


def main():
    database, picture = common.arguments()
    runs, jobs = common.read(database, load)
    if not runs or not jobs:
        common.fail(15, f"{database}: holds no finished run of all jobs")
    common.label_runs(runs)
    draw(runs, jobs, picture)


if __name__ == "__main__":
    main()
