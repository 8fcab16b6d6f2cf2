# SPDX-License-Identifier: GPL-2.0-only
#
# crux_plot_trace_jobs: the pictures of a trace's jobs: their sizes (figure 4), how many there are at
# once (5), who risks contention (6), and how fairly policies treat them. Each draw_* takes the study
# and pyplot, and answers the pictures, or [] where the study lacks their rows.
#
# Place: tools, a module for crux-plot-trace.py. Depends on Python 3, matplotlib, crux_plot_trace.
import math

import crux_plot_trace as base

JOBS_COLOUR, GPUS_COLOUR = "#0072b2", "#e69f00"
PAPER_LINE = {"color": base.PAPER_COLOUR, "linewidth": 1.2, "linestyle": "--"}


def draw_sizes(study, pyplot):
    sizes = sorted(job["gpus"] for job in study.inputs if job["gpus"])
    if not sizes:
        return []
    least, share, largest = base.PAPER["large"]
    ours = 100 * sum(1 for gpus in sizes if gpus >= least) / len(sizes)
    figure, grid = base.sheet(pyplot, study, (1, 1), 4.6, "Sizes of jobs (as figure 4)",
                              f"{ours:.1f} % of the jobs have {least} GPUs or more, the largest {sizes[-1]}; "
                              f"the paper's trace: over {share} %, {largest}")
    axes = grid[0][0]
    for weights, colour, label in (([1] * len(sizes), JOBS_COLOUR, "jobs"), (sizes, GPUS_COLOUR, "their GPUs")):
        whole, sum_, x, y = sum(weights), 0, [sizes[0]], [0]
        for gpus, weight in zip(sizes, weights):
            sum_ += weight
            x.append(gpus)
            y.append(100 * sum_ / whole)
        axes.step(x + [1e9], y + [100], where="post", color=colour, linewidth=2, label=f"{label} ({whole:,})")
    base.mark(axes, [least, largest], [100 - share, 100])
    axes.set_xscale("log", base=2)
    ticks = [1 << i for i in range(max(sizes[-1], largest).bit_length())]
    axes.set_xticks(ticks, ticks)
    axes.minorticks_off()
    axes.set_xlabel("GPUs of a job")
    axes.set_ylabel("share of that size or smaller (%)")
    axes.set_xlim(0.9 * min(1, sizes[0]), 1.3 * max(sizes[-1], largest))
    axes.set_ylim(0, 102)
    base.light_grid(axes, "both")
    text = f"the paper's jobs: less than {100 - share} % are smaller than {least}, none larger than {largest}"
    axes.legend(handles=axes.get_legend_handles_labels()[0] + [base.mark_handle(text)], loc="upper left", frameon=False,
                fontsize=9)
    return [figure]


def at_once(inputs):
    """([time], [jobs], [GPUs]) by the recorded times; ends come before beginnings."""
    events = {}
    for job in inputs:
        if job["run_s"] is not None and job["finish_s"] is not None and job["finish_s"] > job["run_s"]:
            for time, sign in ((job["run_s"], 1), (job["finish_s"], -1)):
                change = events.setdefault(time, [0, 0])
                change[0] += sign
                change[1] += sign * job["gpus"]
    times, jobs, gpus = sorted(events), [], []
    for time in times:
        jobs.append((jobs[-1] if jobs else 0) + events[time][0])
        gpus.append((gpus[-1] if gpus else 0) + events[time][1])
    return times, jobs, gpus


def draw_concurrency(study, pyplot):
    times, jobs, gpus = at_once(study.inputs)
    if not times:
        return []
    figure, grid = base.sheet(pyplot, study, (2, 1), 5.6, "Jobs and GPUs at once, by the recorded times (as figure 5)",
                              f"most at once: {max(jobs):,} jobs, {max(gpus):,} GPUs; the paper's trace: over "
                              f"{base.PAPER['peak'][0]:,}, over {base.PAPER['peak'][1]:,}", sharex=True)
    unit, factor = base.days(times[-1])
    for axes, values, colour, text, peak in zip(grid[:, 0], (jobs, gpus), (JOBS_COLOUR, GPUS_COLOUR),
                                                ("jobs at once", "GPUs held at once"), base.PAPER["peak"]):
        axes.step([time * factor for time in times], values, where="post", color=colour, linewidth=1.1)
        axes.axhline(peak, **PAPER_LINE, label=f"the paper's peak is over {peak:,}")
        axes.set_ylabel(text)
        axes.set_ylim(0, 1.25 * max(max(values), peak))
        base.light_grid(axes)
        axes.legend(loc="upper right", frameon=False, fontsize=9)
    grid[-1, 0].set_xlim(min(0, times[0] * factor), times[-1] * factor)
    grid[-1, 0].set_xlabel(f"time from the window's beginning ({unit})")
    return [figure]


# ------------------------------------------------------------------ figure 6


def risk_groups(study, risk):
    """[(label, share of jobs, share of GPUs)], any sort first."""
    whole = risk["jobs"], risk["gpus"]
    groups = [("any of these,\nby ECMP's paths", risk["risky_jobs"], risk["risky_gpus"])]
    of = {r["sort"]: r for r in study.sorts if (r["topology"], r["scheduler"]) == (risk["topology"], risk["scheduler"])}
    groups += [(text, of[sort]["jobs"], of[sort]["gpus"]) for sort, text in base.SORTS.items() if sort in of]
    groups.append(("any, by any\ncandidate path", risk["any_jobs"], risk["any_gpus"]))
    return [(base.wrapped(label, 16) if "\n" not in label else label, *(100 * n / all_ for n, all_ in zip(pair, whole)))
            for label, *pair in groups]


def draw_risk(study, pyplot):
    from matplotlib import patches

    risks = [risk for risk in study.risks if risk["jobs"] and risk["gpus"]]
    risks.sort(key=lambda r: study.topologies.index(r["topology"]) if r["topology"] in study.topologies else 99)
    if not risks:
        return []
    risks, left = study.few(risks, lambda risk: (risk["topology"], risk["scheduler"]))
    published = base.PAPER["risk"]
    figure, grid = base.sheet(pyplot, study, (len(risks), 1), 1.6 + 2.9 * len(risks),
                              "Jobs and GPUs that risk contention, by sort of link (as figure 6)",
                              f"The paper's trace: {published[0]} % of the jobs, {published[1]} % of the GPUs"
                              + (f"; {left}" if left else ""))
    for axes, risk in zip(grid[:, 0], risks):
        groups = risk_groups(study, risk)
        for x, (_, *shares) in enumerate(groups):
            for i, share in enumerate(shares):
                at = x - 0.2 + 0.4 * i
                axes.bar(at, share, 0.38, color=(JOBS_COLOUR, GPUS_COLOUR)[i])
                base.write_above(axes, at, f"{share:.1f}", share, None if x else published[i])
        base.mark(axes, (-0.2, 0.2), published)
        axes.set_xticks(range(len(groups)), [label for label, *_ in groups], fontsize=9)
        axes.tick_params(axis="x", length=0)
        axes.set_ylim(0, max(100, 1.1 * axes.get_ylim()[1]))
        axes.set_ylabel("share (%)")
        axes.set_title(base.placed(risk["topology"], risk["scheduler"], 115).replace("\nplaced", "; placed")
                       + f": {risk['jobs']:,} jobs, {risk['gpus']:,} GPUs", fontsize=9, loc="left")
        base.light_grid(axes)
    bars = [patches.Patch(color=JOBS_COLOUR, label="jobs"), patches.Patch(color=GPUS_COLOUR, label="their GPUs")]
    base.legend(figure, bars + [base.mark_handle("the paper's")])
    return [figure]


# ------------------------------------------------------------------ fairness


MOST_SLOWDOWN = 1e12  # of an axis


def slowdowns(study, run):
    pairs = study.rows("iteration_s, alone_iteration_s", "trace_job", run, "job")
    values = [mean / alone for mean, alone in pairs if mean and alone]
    drawn = [value for value in values if 0 < value < MOST_SLOWDOWN]
    study.leave_out("trace_job", ("slowdown", run["run"]), len(values) - len(drawn))
    return sorted(drawn)


def losses(study, run):
    """[(level, percent of throughput lost)] of levels that jobs with communication had."""
    rows = study.rows("level, progress_gpu_s, alone_gpu_s", "trace_level", run, "level")
    return [(level, 100 * (1 - progress / alone)) for level, progress, alone in rows if alone]


def slowdown_ticks(most):
    """Of an axis that ends there; the step grows with it."""
    rows = ([1, 1.005, 1.01, 1.02, 1.03, 1.05], [1, 1.02, 1.05, 1.1, 1.15, 1.2], [1, 1.1, 1.2, 1.3, 1.5, 1.7, 2],
            [1, 1.2, 1.5, 2, 3, 5, 7], [1, 2, 5, 10, 20, 50, 100])
    row = next((row for row in rows if row[-1] >= most), [10 ** i for i in range(int(math.log10(most)) + 1)])
    return [tick for tick in row if tick <= most]


def draw_slowdowns(axes, study, found):
    lowest, most = 100, 1.02
    strokes = base.strokes(found, study.styles)
    for policy, run in found.items():
        values = slowdowns(study, run)
        if not values:
            continue
        share = [100 * (i + 1) / len(values) for i in range(len(values))]
        axes.step([values[0], *values, 1e9], [0, *share, 100], where="post", **strokes[policy])
        lowest = min(lowest, 100 * sum(1 for v in values if v <= 1.005) / len(values))
        most = max(most, values[-1])
    axes.set_xscale("log")
    axes.set_xlim(most ** -0.02, most ** 1.03)
    ticks = slowdown_ticks(most ** 1.03)
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set_ylim(max(0, lowest - 8), 100.5)
    axes.set_xlabel("slowdown: iteration time / alone under that policy")
    axes.set_ylabel("share of jobs so slow at most (%)")
    base.light_grid(axes, "both")


def draw_losses(axes, study, found):
    levels, strokes = {0}, base.strokes(found, study.styles)
    for policy, run in found.items():
        points = losses(study, run)
        axes.plot([level for level, _ in points], [lost for _, lost in points], marker="o",
                  markersize=3 + strokes[policy]["linewidth"], **strokes[policy])
        levels.update(level for level, _ in points)
    axes.axhline(base.PAPER["lost"], **PAPER_LINE)
    axes.annotate(f"the paper's, lowest level: {base.PAPER['lost']} %", (0.02, base.PAPER["lost"]), (0, 3),
                  xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8.5)
    axes.set_xticks(range(max(levels) + 1) if max(levels) <= 16 else sorted(levels))
    axes.set_xlim(-0.3, max(levels) + 0.3)
    axes.set_ylim(min(0, axes.get_ylim()[0]), max(65, axes.get_ylim()[1]))
    axes.set_xlabel("priority level, 0 the highest")
    axes.set_ylabel("throughput lost against alone (%)")
    base.light_grid(axes)


def draw_fairness(study, pyplot):
    groups = [(t, s, found) for t, s, found in study.compared() if any(slowdowns(study, r) for r in found.values())]
    if not groups:
        return []
    figure, grid = base.sheet(pyplot, study, (len(groups), 2), 1.6 + 3.5 * len(groups),
                              "Fairness: slowdown of jobs, and throughput lost by priority level")
    for axes, (topology, scheduler, found) in zip(grid, groups):
        draw_slowdowns(axes[0], study, found)
        draw_losses(axes[1], study, found)
        axes[0].set_title(base.placed(topology, scheduler, 60, 2), fontsize=9, loc="left")
    base.legend(figure, [base.line_of(p, study.styles) for p in study.styles if any(p in f for *_, f in groups)])
    return [figure]
