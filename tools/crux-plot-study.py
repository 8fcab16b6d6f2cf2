#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# crux-plot-study: one picture of a study's database (doc/study.md), like the paper's figure 16:
# for each mechanism the distribution over the cases of each policy's error relative to the
# optimum, with the means in the legend.
#
#   crux-plot-study.py DATABASE PICTURE.png
#
# Place: tools. Depends on Python 3 and matplotlib. A fault is one line on stderr and a
# non-zero exit: 14 input or output, 15 no such content, 16 no matplotlib.
import os
import sqlite3
import sys

# Okabe and Ito's colours, told apart by every eye; one of a policy in all panels.
STYLES = {
    "crux": ("#009e73", "-"),
    "crux-plus": ("#d55e00", "-"),
    "taccl": ("#0072b2", "--"),
    "sincronia": ("#cc79a7", "--"),
    "varys": ("#e69f00", "--"),
    "intensity": ("#56b4e9", ":"),
    "ecmp": ("#8c8c8c", ":"),
}
TITLES = {
    "paths": "path selection",
    "ranking": "priority assignment",
    "compression": "priority compression",
    "together": "all three together",
}
NAMES = {"intensity": "intensity, k = 1", "taccl": "TACCL*", "ecmp": "random paths"}


def fail(code, text):
    print(f"crux-plot-study: {text}", file=sys.stderr)
    sys.exit(code)


def load(path):
    """(seed, cases, set) and {mechanism: {policy: errors in percent, rising}}."""
    if not os.path.isfile(path):
        fail(14, f"{path}: no such file")
    try:
        db = sqlite3.connect(f"file:{path.replace('?', '%3f').replace('#', '%23')}?mode=ro", uri=True)
        facts = db.execute("SELECT seed, cases, kind FROM study").fetchone()
        rows = db.execute("SELECT mechanism, policy, 100 * error FROM study_share ORDER BY error").fetchall()
    except sqlite3.Error as error:
        fail(14, f"{path}: {error}")
    if not facts or not rows:
        fail(15, f"{path}: holds no study")
    errors = {}
    for mechanism, policy, error in rows:
        errors.setdefault(mechanism, {}).setdefault(policy, []).append(max(0, error))
    return facts, errors


def draw_panel(axes, mechanism, policies):
    for policy, (colour, line) in STYLES.items():
        values = policies.get(policy)
        if not values:
            continue
        share = [100 * (i + 1) / len(values) for i in range(len(values))]
        mean = 100 - sum(values) / len(values)
        name = NAMES.get(policy, policy)
        if mechanism == "together" and policy == "ecmp":
            name = "random paths, one level"
        axes.plot([0] + values, [0] + share, color=colour, linestyle=line, linewidth=2,
                  label=f"{name}: {mean:.2f} %")
    shown = [sorted(v)[int(0.98 * (len(v) - 1))] for p, v in policies.items() if p in STYLES]
    axes.set_xlim(0, max(1, max(shown, default=1)))
    axes.set_ylim(0, 101)
    axes.set_title(TITLES.get(mechanism, mechanism), fontsize=10)
    axes.set_xlabel("error relative to the optimum (%)")
    axes.legend(loc="lower right", frameon=False, fontsize=8, title="mean closeness", title_fontsize=8)
    axes.grid(color="#e5e5e5", linewidth=0.6)


def draw(facts, errors, path):
    try:
        import matplotlib
    except ImportError:
        fail(16, "matplotlib is missing (Debian: python3-matplotlib); no picture")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = pyplot.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
    for axes, mechanism in zip(panels.flat, TITLES):
        draw_panel(axes, mechanism, errors.get(mechanism, {}))
    for axes in panels[:, 0]:
        axes.set_ylabel("share of the cases (%)")
    figure.suptitle(f"Closeness to the enumerated optimum: {facts[1]:,} {facts[2]} cases, seed {facts[0]}",
                    fontsize=11)
    try:
        figure.savefig(path, dpi=120, format="png")
    except OSError as error:
        fail(14, f"{path}: {error.strerror}")


def main():
    if len(sys.argv) != 3:
        fail(14, "usage: crux-plot-study.py DATABASE PICTURE.png")
    facts, errors = load(sys.argv[1])
    draw(facts, errors, sys.argv[2])


if __name__ == "__main__":
    main()
