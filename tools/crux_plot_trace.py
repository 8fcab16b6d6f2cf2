# SPDX-License-Identifier: GPL-2.0-only
#
# crux_plot_trace: what the pictures of a study of a trace share: the study as read, numbers of the
# paper, words, sheets and legends. What is the paper's (Crux, SIGCOMM 2024) is in PAPER and is
# called so in the pictures; all other numbers are the database's.
#
# Place: tools, a module for crux-plot-trace.py. Depends on Python 3, matplotlib, crux_plot_common.
import collections
import math
import os
import textwrap

import crux_plot_common as common

PAPER = {
    # Section 6.3: what Crux gains over them there, and on the double-sided network; whether relative or
    # points it does not say.
    "gains": "Crux gains 13 to 23 % on the two-layer Clos, 4 to 7 % on the double-sided network",
    # Section 6.3, two-layer Clos, as a listener noted it: utilisation in percent by policy.
    "clos": {"sincronia": 39, "taccl": 49, "cassini": 51, "crux-ps-pa": 62, "crux": 62},
    "lost": 55.5,  # section 6.3: percent of throughput that the jobs of the lowest level lose
    "schedulers": {"muri": (20, 14), "hived": (25, 11)},  # section 6.4: over none, and Crux on top; percent
    "risk": (36.3, 51),  # section 2.2: percent of jobs, of GPUs
    "large": (128, 10, 512),  # section 2.2: over 10 % of jobs have 128 GPUs or more, the largest 512
    "peak": (30, 1000),  # section 2.2: over 30 jobs and 1,000 GPUs at once
}
PAPER_COLOUR = "black"
SORTS = {"pcie-nic": "PCIe switch-NIC", "nic-tor": "NIC-ToR", "tor-agg": "ToR-aggregation",
         "agg-core": "aggregation-core", "host": "inside hosts"}
WORK = {"time": "recorded time", "iterations": "recorded iterations"}
MOST_PANELS = 6  # of a picture with a panel for each topology and job scheduler
WIDTH = 10  # inches: 1200 pixels


# Columns that are words; that may be NULL, as nothing ended or was held. All others are numbers.
WORDS = {"source", "work", "part", "topology", "scheduler", "policy", "sort"}
NULLABLE = {"utilisation", "iteration_s", "alone_iteration_s"}
MOST = 1e100  # what is larger cannot be drawn any more than what is infinite


def sound(name, value):
    """Can the column have it?"""
    if value is None:
        return name in NULLABLE
    return isinstance(value, str) if name in WORDS else isinstance(value, (int, float)) and abs(value) < MOST


class Study:
    """What a database holds. Other tables are asked for when they are drawn."""

    odd = {}  # (table, of which run and how found): rows left out

    @classmethod
    def read(cls, db, columns, table, where, values, order, run=None):
        """Rows as tuples, but those with a value that is infinite or missing."""
        names = columns.replace(" ", "").split(",")
        found = db.execute(f"SELECT {columns} FROM {table} {where} ORDER BY {order}", values).fetchall()
        kept = [row for row in found if all(map(sound, names, row))]
        cls.leave_out(table, run, len(found) - len(kept))
        return kept

    @classmethod
    def leave_out(cls, table, key, n):
        """Counted once, however often it is read."""
        if n:
            cls.odd[table, key] = n

    @classmethod
    def left_out(cls):
        """A line for each table of which rows are not drawn."""
        counts = collections.Counter()
        for (table, _), n in cls.odd.items():
            counts[table] += n
        return [f"{table}: {n} {'row' if n == 1 else 'rows'} with a value that is infinite or missing "
                f"{'is' if n == 1 else 'are'} left out" for table, n in sorted(counts.items())]

    def __init__(self, db, facts, runs, inputs, risks, sorts):
        self.db, self.facts, self.runs = db, facts, runs
        self.inputs, self.risks, self.sorts = inputs, risks, sorts
        self.topologies = list(dict.fromkeys(run["topology"] for run in runs))
        self.styles = common.policy_styles({run["policy"] for run in runs})
        counts = collections.Counter(run["levels"] for run in runs if run["part"] != "levels")
        self.levels = max(counts, key=lambda n: (counts[n], n), default=None)  # what most runs have

    def of(self, topology, scheduler):
        """{policy: run} in the order of pictures, of the levels that most runs have, else of the most levels."""
        found = {}
        for run in self.runs:
            if run["topology"] == topology and run["scheduler"] == scheduler and run["utilisation"] is not None:
                key = (run["levels"] == self.levels, run["levels"])
                if run["policy"] not in found or key > found[run["policy"]][0]:
                    found[run["policy"]] = key, run
        return {policy: found[policy][1] for policy in self.styles if policy in found}

    def scheduler_of(self, topology):
        """Of the runs that compare policies: the recorded placement where it was run."""
        names = [run["scheduler"] for run in self.runs if run["topology"] == topology and run["part"] == "policies"]
        recorded = any(r["scheduler"] == "recorded" for r in self.runs if r["topology"] == topology)
        return "recorded" if recorded else names[0] if names else None

    def compared(self):
        """[(topology, scheduler, {policy: run})] of figures 23, 24, and fairness."""
        found = [(t, self.scheduler_of(t)) for t in self.topologies]
        return [(t, s, self.of(t, s)) for t, s in found if s is not None and self.of(t, s)]

    def few(self, items, where):
        """(items, what to say): of too many panels those of the job scheduler that policies are compared under."""
        kept = [item for item in items if where(item)[1] == self.scheduler_of(where(item)[0])]
        if len(items) <= MOST_PANELS or not kept or len(kept) == len(items):
            return items, ""
        return kept, f"{len(items) - len(kept)} more under other job schedulers are not drawn"

    def rows(self, columns, table, run, order):
        return self.read(self.db, columns, table, "WHERE run = ?", [run["run"]], order, run["run"])


# ------------------------------------------------------------------ words


def short(topology):
    """A description without the folders of its files."""
    parts = [":".join(os.path.basename(p) if "/" in p else p for p in word.split(":")) for word in topology.split(",")]
    return ",".join(parts)


def wrapped(text, width, lines=4):
    """Broken at commas and colons too; cut after some lines."""
    spaced = text.replace(",", ", ").replace(":", ": ")
    got = textwrap.wrap(spaced, max(8, int(width)), max_lines=lines, placeholder=" …")
    return "\n".join(got).replace(", ", ",").replace(": ", ":")


def placed(topology, scheduler, width, lines=3):
    """A topology's heading, with the job scheduler where it is not the recorded placement."""
    return wrapped(short(topology), width, lines) + ("" if scheduler == "recorded" else f"\nplaced by {scheduler}")


def caption(study, title, more=""):
    """What holds for the picture, in two or three lines."""
    facts = study.facts
    source = (facts["source"] or "").rstrip("/")
    source = source if len(source) <= 40 else "…/" + os.path.basename(source)[-40:]
    parts = [f"trace {source}", f"from day {facts['from_s'] / 86400:.3g}" if facts["from_s"] is not None else ""]
    if facts["from_s"] is not None and facts["length_s"] is not None:
        parts[-1] += f" to {(facts['from_s'] + facts['length_s']) / 86400:.3g}"
    parts = [part for part in parts if part]
    parts += [f"{len(study.inputs):,} jobs, each its {WORK.get(facts['work'], facts['work'])}"]
    for name, factor in (("bytes", facts["bytes_factor"]), ("computation", facts["compute_factor"])):
        parts += [f"{name} x {factor:g}"] if factor not in (1, None) else []
    parts += [f"fairness {facts['fairness']:g}"] if facts["fairness"] else []
    lines = [title, "; ".join(parts)] + ([more] if more else [])
    if not facts["finished"]:
        lines.append(f"UNFINISHED: {len(study.runs)} of {facts['planned_runs']} runs")
    return "\n".join("\n".join(textwrap.wrap(line, 125)) for line in lines)


def sheet(pyplot, study, grid, height, title, more="", **keys):
    """(figure, axes[row][column]) with the caption."""
    figure, axes = pyplot.subplots(*grid, figsize=(WIDTH, height), squeeze=False, layout="constrained", **keys)
    figure.suptitle(caption(study, title, more), fontsize=10)
    return figure, axes


def legend(figure, handles, columns=5):
    """Below everything."""
    if not handles:
        return
    columns = min(len(handles), columns)
    longest = max(len(handle.get_label()) for handle in handles)
    columns = max(1, min(columns, int(130 / (longest + 7))))
    figure.legend(handles=handles, loc="lower center", ncols=columns, frameon=False, fontsize=9)
    room = (0.22 * -(-len(handles) // columns) + 0.12) / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, room, 1, 1 - room))


def line_of(policy, styles, **keys):
    from matplotlib import lines

    colour, dash = styles[policy]
    return lines.Line2D([], [], color=colour, linestyle=dash, linewidth=2, label=policy, **keys)


def strokes(policies, styles):
    """{policy: keys of its line}: the earlier the wider, so that those on one another all show; dashed ones on top."""
    keys = {}
    for i, policy in enumerate(policies):
        colour, dash = styles[policy]
        width = 1.4 + 1.4 * (1 - i / max(1, len(policies) - 1)) if dash == "-" else 1.6
        keys[policy] = {"color": colour, "linestyle": dash, "linewidth": width, "zorder": 2 if dash == "-" else 3}
    return keys


def days(longest):
    """(unit, factor) of an axis of a trace's time."""
    for unit, seconds in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if longest >= 3 * seconds:
            return unit, 1 / seconds
    return "s", 1


def mark(axes, x, y):
    """A number of the paper's."""
    axes.plot(x, y, "D", color="white", markeredgecolor=PAPER_COLOUR, markersize=6, zorder=4)


def mark_handle(label):
    from matplotlib import lines

    return lines.Line2D([], [], marker="D", linestyle="", color="white", markeredgecolor=PAPER_COLOUR, label=label)


def write_above(axes, x, text, value, marked=None, size=9, rotation=0):
    """Above a bar, and above the paper's mark where that would be in the way."""
    reach = 6 + (24 if rotation else 10) / 2.2  # of the text and mark, in units of an axis of 100
    over = marked is not None and -3 < marked - value < reach
    axes.annotate(text, (x, max(value, marked) if over else value), (0, 7 if over else 3), textcoords="offset points",
                  ha="center", va="bottom", fontsize=size, rotation=rotation)


def light_grid(axes, axis="y"):
    axes.grid(axis=axis, color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
