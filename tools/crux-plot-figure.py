#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# crux-plot-figure: one picture of the database of an example that follows a published figure
# (doc/results.md, tables figure*): for each row and policy the median over the seeds with least
# and most, and what was published as a band.
#
#   crux-plot-figure.py DATABASE PICTURE.png
#
# Place: tools. Depends on Python 3, matplotlib, crux_plot_common (faults and exit codes there).
import statistics
import sys
import textwrap

sys.dont_write_bytecode = True  # nothing is left beside the tools
import crux_plot_common as common

# One colour of a policy in all pictures; Okabe and Ito's, and two greys.
COLOURS = {
    "ecmp": "#8c8c8c", "crux": "#009e73", "crux-plus": "#d55e00", "sincronia": "#cc79a7",
    "varys": "#e69f00", "taccl": "#0072b2", "cassini": "#56b4e9", "crux-pa": "#7fcfb9",
    "crux-ps-pa": "#40b799", "crux-exact": "#5d5d5d",
}
OTHER = "#000000"
BAND = "#f0e442"
UTILISATION = "utilisation"  # of figure_run, in figure_published.what
MOST_LABELS = 24  # slots beyond which medians are not written beside their points


def load(db):
    """What the picture needs: facts, groups (rows x engines), policies, numbers, published."""
    facts = db.execute("SELECT name, title, baseline, scale, seeds FROM figure").fetchone()
    groups = db.execute(
        "SELECT DISTINCT row, part, label, engine FROM figure_run JOIN figure_row USING(row) ORDER BY row, run"
    ).fetchall()
    policies = [p for (p,) in db.execute("SELECT policy FROM figure_run GROUP BY policy ORDER BY min(run)")]
    numbers = {UTILISATION: {}}
    units = {UTILISATION: "%"}
    for row, engine, policy, value in db.execute("SELECT row, engine, policy, 100 * utilisation FROM figure_run"):
        numbers[UTILISATION].setdefault((row, engine, policy), []).append(value)
    for row, engine, policy, what, unit, value in db.execute(
        "SELECT row, engine, policy, what, unit, value FROM figure_value JOIN figure_run USING(run) "
        "WHERE value IS NOT NULL ORDER BY run"
    ):
        units[what] = unit
        numbers.setdefault(what, {}).setdefault((row, engine, policy), []).append(value)
    published = db.execute("SELECT what, policy, low, high, source FROM figure_published").fetchall()
    return facts, groups, policies, numbers, units, published


def panels(numbers, units, published):
    """Values to draw, from top to bottom: published ones first; points say what the relative change says."""
    order = [UTILISATION] + [what for what, *_ in published] + sorted(numbers)
    return [what for what in dict.fromkeys(order) if what in numbers and units[what] != "points"]


def heads(published, shown):
    """What is drawn as bands, in words."""
    return sorted({source for what, _, _, _, source in published if what in shown})


class Slots:
    """Where each (row, engine, policy) lies on the x axis."""

    def __init__(self, groups, policies, single):
        self.at, self.groups, self.parts = {}, [], []
        x = 0.0
        for row, part, label, engine in groups:
            if not self.parts or self.parts[-1][0] != part:
                x += 0.6 if self.parts else 0
                self.parts.append([part, x, x])
            begin = x
            for policy in policies:
                self.at[row, engine, policy] = x
                x += 1
            self.groups.append((begin, x - 1, label, engine))
            self.parts[-1][2] = x - 1
            x += 0.6 if len(policies) > 1 or single else 0
        self.end = self.parts[-1][2]
        self.policies = policies
        self.several_engines = len({engine for *_, engine in groups}) > 1


def draw_band(axes, low, high, begin, end):
    """A range, or a line where it is one number."""
    axes.fill_between([begin, end], low, high, color=BAND, alpha=0.55, linewidth=0, zorder=0)
    for edge in {low, high}:
        axes.plot([begin, end], [edge, edge], color="#b8a800", linewidth=1.2, zorder=1)


def draw_panel(axes, what, unit, numbers, published, slots):
    from matplotlib import patheffects

    for name, policy, low, high, _ in published:
        if name != what:
            continue
        if policy is None:
            draw_band(axes, low, high, -0.6, slots.end + 0.4)
        else:
            for (_, _, of), x in slots.at.items():
                if of == policy:
                    draw_band(axes, low, high, x - 0.45, x + 0.45)
    written = len(numbers) <= MOST_LABELS
    for key, values in numbers.items():
        x, colour = slots.at[key], COLOURS.get(key[2], OTHER)
        median = statistics.median(values)
        axes.plot([x, x], [min(values), max(values)], color=colour, linewidth=2.2, zorder=2, solid_capstyle="butt")
        for end in {min(values), max(values)}:
            axes.plot([x - 0.18, x + 0.18], [end, end], color=colour, linewidth=1.4, zorder=2)
        axes.plot(x, median, "o", color=colour, markersize=6.5, markeredgecolor="white", zorder=3)
        if written:
            text = f"{median:.2f}" if unit in ("x", "s") else f"{round(median, 1) + 0:.1f}"
            axes.annotate(text, (x, max(values)), (0, 5), textcoords="offset points", ha="center", fontsize=8,
                          path_effects=[patheffects.withStroke(linewidth=2.5, foreground="white")])
    if unit != "s" and what != UTILISATION:
        axes.axhline(1 if unit == "x" else 0, color="black", linewidth=0.8, linestyle=":", zorder=1)
    axes.margins(y=0.18 if written else 0.08)
    label = what[:1].upper() + what[1:] + (f" ({unit})" if unit != "x" else "")
    axes.set_ylabel("\n".join(textwrap.wrap(label, 20)))
    axes.set_xlim(-0.7, slots.end + 0.5)
    axes.tick_params(axis="x", length=0)
    for (_, _, end), (_, begin, _) in zip(slots.parts, slots.parts[1:]):
        axes.axvline((end + begin) / 2, color="#bbbbbb", linewidth=1)


def label_axis(axes, slots, single, width):
    """Rows under the lowest panel, or policies where there is one row only."""
    if single:
        axes.set_xticks([slots.at[key] for key in slots.at], [key[2] for key in slots.at])
        return
    ticks, labels = [], []
    wide = max(12, int(110 / len(slots.groups)))
    for begin, end, label, engine in slots.groups:
        ticks.append((begin + end) / 2)
        lines = textwrap.wrap(label, wide if len(slots.policies) > 1 else 22)
        labels.append("\n".join(lines + ([f"{engine} level"] if slots.several_engines else [])))
    crowded = max(len(line) for label in labels for line in label.split("\n")) * len(labels) > 12 * width
    axes.set_xticks(ticks, labels, rotation=60 if crowded else 0, ha="right" if crowded else "center",
                    rotation_mode="anchor" if crowded else "default", fontsize=8.5)


def draw(loaded, path):
    facts, groups, policies, numbers, units, published = loaded
    pyplot = common.pyplot()
    from matplotlib import lines, patches

    single = len(groups) == 1 and len(policies) > 1
    slots = Slots(groups, policies, single)
    shown = panels(numbers, units, published)
    width = min(22, max(8, 2.6 + 0.34 * slots.end))
    figure, all_axes = pyplot.subplots(len(shown), 1, figsize=(width, 1.4 + 1.9 * len(shown)), sharex=True,
                                       squeeze=False, layout="constrained")
    all_axes = all_axes[:, 0]
    for axes, what in zip(all_axes, shown):
        draw_panel(axes, what, units[what], numbers[what], published, slots)
    label_axis(all_axes[-1], slots, single, width)
    for part, begin, end in slots.parts:
        if part:
            text = "\n".join(textwrap.wrap(part, max(14, int(3.2 * (end - begin + 1)))))
            all_axes[0].text((begin + end) / 2, 1.03, text, transform=all_axes[0].get_xaxis_transform(),
                             ha="center", va="bottom", fontsize=9)
    handles = []
    if not single and len(policies) > 1:
        handles = [lines.Line2D([], [], color=COLOURS.get(p, OTHER), marker="o", linewidth=2, label=p)
                   for p in policies]
    bands = heads(published, shown)
    if bands:
        handles.append(patches.Patch(facecolor=BAND, edgecolor="#b8a800", alpha=0.7, label="published: " + "; ".join(bands)))
    if handles:
        columns = min(len(handles), max(2, int(width / 2)))
        figure.legend(handles=handles, loc="lower center", ncols=columns, frameon=False)
        room = 0.28 * -(-len(handles) // columns) / figure.get_figheight()
        figure.get_layout_engine().set(rect=(0, room, 1, 1 - room))
    counts = {len(values) for values in numbers[UTILISATION].values()}
    least = f"{min(counts)} to " if len(counts) > 1 else ""
    seeds = f"medians of {least}{max(counts)} seeds, with least and most" if max(counts) > 1 else "one seed"
    scale = f", scale {facts[3]:g}" if facts[3] != 1 else ""
    engines = " and ".join(dict.fromkeys(engine for *_, engine in groups))
    figure.suptitle(f"{facts[1]}\n{seeds}; {engines} level{scale}", fontsize=11)
    common.save(figure, path)


def main():
    database, picture = common.arguments()
    loaded = common.read(database, load)
    if not loaded[0] or not loaded[1]:
        common.fail(15, f"{database}: holds no runs of a figure")
    draw(loaded, picture)


if __name__ == "__main__":
    main()
