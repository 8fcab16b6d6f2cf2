# SPDX-License-Identifier: GPL-2.0-only
#
# crux_plot_trace_runs: the pictures that compare runs of a trace: utilisation by policy (figure 23),
# over time (24), under job schedulers (25), by levels (K). Each draw_* takes the study and pyplot,
# and answers the pictures, or [] where the study lacks their rows.
#
# Place: tools, a module for crux-plot-trace.py. Depends on Python 3, matplotlib, crux_plot_trace.
import math

import crux_plot_trace as base

BASELINES = ["sincronia", "varys", "taccl", "cassini"]
SHOWN = ["crux-pa", "crux-ps-pa", "crux"]  # of figure 24, beside ecmp and the best baseline
SCHEDULERS = ["none", "random", "first-fit", "packed", "backfill", "hived", "muri"]  # order in pictures
NONE = ["none", "random", "first-fit"]  # what counts as no job scheduler, by preference
MOST_POINTS = 170  # of a line over time; more bins are drawn as means of several


# ------------------------------------------------------------------ figure 23


def gains(found):
    """What crux gains over the published schedulers there, in words."""
    before = [found[p]["utilisation"] for p in BASELINES if p in found and found[p]["utilisation"] > 0]
    if "crux" not in found or not before:
        return ""
    crux = found["crux"]["utilisation"]
    points = sorted(100 * (crux - value) for value in before)
    shares = sorted(100 * (crux / value - 1) for value in before)
    return (f"crux {points[0]:+.1f} to {points[-1]:+.1f} points,\n{shares[0]:+.1f} to {shares[-1]:+.1f} %\n"
            f"over {', '.join(p for p in BASELINES if p in found)}")


def draw_bars(axes, study, topology, found, x, small):
    """From x on; answers whether the paper has marks there."""
    paper = base.PAPER["clos"] if topology.split(":")[0] == "clos" else {}
    for policy, run in found.items():
        value = 100 * run["utilisation"]
        axes.bar(x, value, 0.88, color=study.styles[policy][0])
        base.write_above(axes, x, f"{value:.1f}", value, paper.get(policy), 8 if small else 9, 90 if small else 0)
        if policy in paper:
            base.mark(axes, x, paper[policy])
        x += 1
    return any(policy in paper for policy in found)


def draw_policies(study, pyplot):
    from matplotlib import patches

    groups = study.compared()
    if not groups:
        return []
    figure, grid = base.sheet(pyplot, study, (1, 1), 5.6,
                              "Average GPU utilisation by policy and topology (as figure 23)",
                              f"{study.levels} levels; the paper's: {base.PAPER['gains']}")
    axes = grid[0][0]
    x, ticks, marked = 0.0, [], False
    bars = sum(len(found) for *_, found in groups)
    for topology, scheduler, found in groups:
        marked = draw_bars(axes, study, topology, found, x, bars > 20) or marked
        text = base.placed(topology, scheduler, 92 / len(groups), 5)
        text += "\n" + gains(found).replace("\n", " " if len(groups) == 1 else "\n")
        ticks.append((x + (len(found) - 1) / 2, text))
        x += len(found) + 0.8
    if len(groups) == 1:
        names = [base.wrapped(policy.replace("-", "- "), 12).replace("- ", "-") for policy in groups[0][2]]
        axes.set_xticks(range(len(names)), names)
        axes.set_xlabel(ticks[0][1])
    else:
        axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks], fontsize=8.5)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.8, x - 1)
    axes.set_ylim(0, max(100, axes.get_ylim()[1]))
    axes.set_ylabel("GPU utilisation (% of the GPU time held)")
    base.light_grid(axes)
    there = {policy for *_, found in groups for policy in found}
    handles = [patches.Patch(color=study.styles[p][0], label=p) for p in study.styles if p in there]
    handles = handles if len(groups) > 1 else []
    if marked:
        handles.append(base.mark_handle("the paper's, two-layer Clos, as a listener noted it"))
    base.legend(figure, handles)
    return [figure]


# ------------------------------------------------------------------ figure 24


def coarser(points):
    """Bins (start, end, sums...) joined, as many as make MOST_POINTS at most."""
    n = -(-len(points) // MOST_POINTS)
    joined = []
    for i in range(0, len(points), max(n, 1)):
        part = points[i:i + n]
        joined.append((part[0][0], part[-1][1], *(sum(row[k] for row in part) for k in range(2, len(part[0])))))
    return joined, n


def draw_line(axes, points, values, factor, stroke):
    """Over the middles of bins; None: nothing there."""
    x = [(start + end) / 2 * factor for start, end, *_ in points]
    y = [math.nan if value is None else value for value in values]
    axes.plot(x, y, marker="o" if len(x) < 3 else "", **stroke)


def shown_policies(found):
    """ecmp, the baseline with most utilisation, and the steps of crux; else whatever is there."""
    best = max((p for p in BASELINES if p in found), key=lambda p: found[p]["utilisation"], default=None)
    wanted = ["ecmp", best] + SHOWN
    shown = [p for p in found if p in wanted]
    return shown or list(found)[:5]


def power(axes, largest):
    """Scale an axis of a quantity by a power of 1000; its text."""
    exponent = 3 * int(math.floor(math.log10(largest) / 3)) if largest > 0 else 0
    axes.yaxis.set_major_formatter(lambda value, _: f"{value / 10.0 ** exponent:g}")
    return f"10$^{{{exponent}}}$ " if exponent else ""


def draw_one_over_time(study, pyplot, topology, scheduler, found):
    shown = shown_policies(found)
    by_seq = {p: {seq: row for seq, *row in study.rows("seq, start_s, end_s, busy_gpu_s, held_gpu_s", "trace_bin",
                                                       found[p], "seq")} for p in shown}
    bins = {p: list(by_seq[p].values()) for p in shown}
    shown = [p for p in shown if bins[p]]
    if not shown:
        return []
    carried = {p: {} for p in shown}
    for policy in shown:
        times = by_seq[policy]
        for seq, sort, value in study.rows("seq, sort, carried", "trace_sort", found[policy], "sort, seq"):
            if seq in times:
                carried[policy].setdefault(sort, []).append((*times[seq][:2], value))
    panels = [s for s in ("pcie-nic", "nic-tor", "tor-agg") if any(s in carried[p] for p in shown)]
    end = max(bins[p][-1][1] for p in shown)
    unit, factor = base.days(end)
    strokes = base.strokes(shown, study.styles)
    joined = max(coarser(bins[p])[1] for p in shown)
    more = base.wrapped(base.short(topology), 115, 2) + ("" if scheduler == "recorded" else f", placed by {scheduler}")
    length = coarser(bins[shown[0]])[0][0]
    more += f"; means over {(length[1] - length[0]) / 3600:g} h" + (f" ({joined} bins)" if joined > 1 else "")
    figure, grid = base.sheet(pyplot, study, (len(panels) + 1, 1), 2.1 + 1.9 * (len(panels) + 1),
                         "Intensity carried by links, and GPU utilisation, over time (as figure 24)", more, sharex=True)
    for axes, sort in zip(grid[:, 0], panels):
        largest = 0
        for policy in shown:
            points = coarser(carried[policy].get(sort, []))[0]
            if points:
                values = [value / (to - start) if to > start else None for start, to, value in points]
                largest = max([largest] + [v for v in values if v is not None])
                draw_line(axes, points, values, factor, strokes[policy])
        axes.set_ylabel(f"{power(axes, largest)}B/s × FLOP/s")
        axes.set_title(f"{base.SORTS[sort]}: bytes × intensity of their job, per second", fontsize=9, loc="left")
        axes.set_ylim(0)
        base.light_grid(axes)
    axes, seen = grid[-1, 0], [95, 100]
    for policy in shown:
        points = coarser(bins[policy])[0]
        values = [100 * busy / held if held else None for _, _, busy, held in points]
        seen += [value for value in values if value is not None]
        draw_line(axes, points, values, factor, strokes[policy])
    axes.set_title("GPU utilisation: busy of the GPU time held", fontsize=9, loc="left")
    axes.set_ylabel("%")
    axes.set_ylim(max(0, min(seen) - 5), max(seen) + 1)
    axes.set_xlim(0, end * factor)
    axes.set_xlabel(f"time from the window's beginning ({unit})")
    base.light_grid(axes)
    base.legend(figure, [base.line_of(p, study.styles) for p in shown])
    return [figure]


def draw_over_time(study, pyplot):
    return [figure for group in study.compared() for figure in draw_one_over_time(study, pyplot, *group)]


# ------------------------------------------------------------------ figure 25


def scheduler_order(name):
    return SCHEDULERS.index(name) if name in SCHEDULERS else len(SCHEDULERS), name


def gain(value, before):
    return f"{100 * (value / before - 1):+.1f} %" if before else ""


def draw_schedulers(study, pyplot):
    from matplotlib import patches

    panels = []
    for topology in study.topologies:
        names = {r["scheduler"] for r in study.runs if r["topology"] == topology and r["scheduler"] != "recorded"}
        found = [(name, study.of(topology, name)) for name in sorted(names, key=scheduler_order)]
        found = [(name, runs) for name, runs in found if "ecmp" in runs or "crux" in runs]
        if any("ecmp" in runs and "crux" in runs for _, runs in found):
            panels.append((topology, found))
    if not panels:
        return []
    said = "; ".join(f"{name} +{alone} % over none, Crux +{crux} % more"
                     for name, (alone, crux) in base.PAPER["schedulers"].items())
    figure, grid = base.sheet(pyplot, study, (len(panels), 1), 1.7 + 3.1 * len(panels),
                         "GPU utilisation under job schedulers, without and with Crux (as figure 25)",
                         f"The paper's: {said}. All gains are relative here.")
    for axes, (topology, found) in zip(grid[:, 0], panels):
        none = next((n for n in NONE if any(n == name and "ecmp" in runs for name, runs in found)), None)
        alone = next((runs["ecmp"]["utilisation"] for name, runs in found if name == none), None)
        for x, (name, runs) in enumerate(found):
            for policy, at in (("ecmp", x - 0.2), ("crux", x + 0.2)):
                if policy not in runs:
                    continue
                value = runs[policy]["utilisation"]
                text = f"{100 * value:.1f}"
                if policy == "crux" and "ecmp" in runs:
                    text = f"{gain(value, runs['ecmp']['utilisation'])}\n{text}"
                elif policy == "ecmp" and none and name != none:
                    text = f"{gain(value, alone)}\n{text}"
                axes.bar(at, 100 * value, 0.38, color=study.styles[policy][0])
                axes.annotate(text, (at, 100 * value), (0, 3), textcoords="offset points", ha="center", va="bottom",
                              fontsize=9 if len(found) <= 6 else 7.5)
        labels = [f"{name}\n(taken as none)" if name == none else name for name, _ in found]
        axes.set_xticks(range(len(found)), labels)
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(-0.6, len(found) - 0.4)
        axes.set_ylim(0, max(100, 1.22 * axes.get_ylim()[1]))
        axes.set_ylabel("GPU utilisation (%)")
        axes.set_title(base.wrapped(base.short(topology), 115, 2), fontsize=9, loc="left")
        base.light_grid(axes)
    texts = {"ecmp": "without Crux (ecmp); above the bar: gain over no job scheduler",
             "crux": "with Crux; above the bar: gain over without"}
    base.legend(figure, [patches.Patch(color=study.styles[p][0], label=text) for p, text in texts.items()], 2)
    return [figure]


# ------------------------------------------------------------------ levels


def by_levels(study):
    """[(topology, scheduler, {policy: [(levels, utilisation)]})] where levels vary."""
    found = {}
    for run in study.runs:
        if run["utilisation"] is not None:
            lines = found.setdefault((run["topology"], run["scheduler"]), {})
            lines.setdefault(run["policy"], []).append((run["levels"], 100 * run["utilisation"]))
    varied = []
    for (topology, scheduler), lines in found.items():
        kept = {p: sorted(lines[p]) for p in study.styles if len(lines.get(p, [])) > 1}
        if kept:
            varied.append((topology, scheduler, kept))
    return varied


def draw_levels(study, pyplot):
    panels = by_levels(study)
    if not panels:
        return []
    panels, left = study.few(panels, lambda panel: panel[:2])
    columns = min(2, len(panels))
    grid_rows = -(-len(panels) // columns)
    figure, grid = base.sheet(pyplot, study, (grid_rows, columns), 1.6 + 3.3 * grid_rows,
                              "GPU utilisation by number of priority levels", left)
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    for axes, (topology, scheduler, lines) in zip(grid.flat, panels):
        numbers = sorted({n for points in lines.values() for n, _ in points})
        for policy, points in lines.items():
            colour, dash = study.styles[policy]
            axes.plot([numbers.index(n) for n, _ in points], [value for _, value in points], color=colour,
                      linestyle=dash, linewidth=2, marker="o", markersize=5)
        axes.set_xticks(range(len(numbers)), numbers)
        axes.set_xlabel("levels (steps are not to scale)")
        axes.set_ylabel("GPU utilisation (%)")
        axes.set_title(base.placed(topology, scheduler, 115 / columns), fontsize=9, loc="left")
        axes.margins(y=0.15)
        base.light_grid(axes)
    base.legend(figure, [base.line_of(p, study.styles, marker="o") for p in study.styles
                         if any(p in lines for *_, lines in panels)])
    return [figure]
