#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# crux-plot-trace: the pictures of a study of a trace (tables trace*, doc/results.md), a file a
# figure, after the paper's figures: doc/trace-pictures.md.
#
#   crux-plot-trace.py DATABASE [--out=PREFIX or FOLDER] [--figure=23,24,...]
#
# Files are PREFIX-fig23.png (PREFIX: the database's name without .db), or FOLDER/fig23.png. A figure
# whose rows the database lacks is left out, and a line says how crux-trace makes them; if none is
# left, that is a fault.
#
# Place: tools. Depends on Python 3, matplotlib, crux_plot_common (faults and exit codes there),
# crux_plot_trace*.
import os
import sys

sys.dont_write_bytecode = True  # nothing is left beside the tools
import crux_plot_common as common
import crux_plot_trace as base
import crux_plot_trace_jobs as jobs
import crux_plot_trace_runs as runs

TABLES = ["trace", "trace_input", "trace_run", "trace_job", "trace_bin", "trace_sort", "trace_level", "trace_risk",
          "trace_risk_sort"]
# What draws, and what crux-trace must be asked for.
FIGURES = {
    "4": (jobs.draw_sizes, "the trace has no job in its window"),
    "5": (jobs.draw_concurrency, "no job of the trace holds GPUs for any time"),
    "6": (jobs.draw_risk, "crux-trace makes its rows with the first run of a topology and job scheduler"),
    "23": (runs.draw_policies, "crux-trace --policies=all makes its rows"),
    "24": (runs.draw_over_time, "crux-trace --policies=all makes its rows"),
    "25": (runs.draw_schedulers, "crux-trace --scheduler=random,muri,hived --policies=ecmp,crux makes its rows"),
    "K": (runs.draw_levels, "crux-trace --levels=1,2,4,8 makes its rows"),
    "fairness": (jobs.draw_fairness, "crux-trace --policies=all makes its rows"),
}


def rows(db, table, columns, order):
    """Rows of a table as dictionaries."""
    names = columns.replace(" ", "").split(",")
    return [dict(zip(names, row)) for row in base.Study.read(db, columns, table, "", [], order)]


def study_facts(db):
    """The row of table trace, None for what is infinite or missing; None when there is none."""
    columns = "source, from_s, length_s, bytes_factor, compute_factor, work, fairness, planned_runs, finished"
    names = columns.split(", ")
    row = db.execute(f"SELECT {columns} FROM trace ORDER BY id").fetchone()
    return row and {name: value if base.sound(name, value) else None for name, value in zip(names, row)}


def load(db):
    """A base.Study; None when the database holds none."""
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not there.issuperset(TABLES):
        return None
    facts = study_facts(db)
    if not facts:
        return None
    run_rows = rows(db, "trace_run", "run, part, topology, scheduler, policy, levels, utilisation", "run")
    inputs = rows(db, "trace_input", "gpus, run_s, finish_s", "job")
    risks = rows(db, "trace_risk", "topology, scheduler, jobs, gpus, risky_jobs, risky_gpus, any_jobs, any_gpus",
                 "topology, scheduler")
    sorts = rows(db, "trace_risk_sort", "topology, scheduler, sort, jobs, gpus", "topology, scheduler, sort")
    return base.Study(db, facts, run_rows, inputs, risks, sorts)


def options():
    """(database, prefix of the files, figures asked for)."""
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    out, asked = None, None
    for word in sys.argv[1:]:
        key, _, value = word.partition("=")
        if key == "--out" and value:
            out = value
        elif key == "--figure" and value:
            asked = value.split(",")
        elif word.startswith("--"):
            common.fail(14, f"{word}: no such option; there are --out=PREFIX or FOLDER, --figure={','.join(FIGURES)}")
    for name in asked or []:
        if name not in FIGURES:
            common.fail(14, f"--figure: no figure {name!r}; there are {', '.join(FIGURES)}")
    if len(names) != 1:
        common.fail(14, "usage: crux-plot-trace.py DATABASE [--out=PREFIX or FOLDER] [--figure=23,24,...]")
    if out is None:
        out = names[0].removesuffix(".db")
    if os.path.isdir(out) or out.endswith("/"):
        prefix = os.path.join(out, "")
    else:
        prefix = out + "-"
    if not os.path.isdir(os.path.dirname(prefix) or "."):
        common.fail(14, f"{os.path.dirname(prefix)}: no such folder for pictures")
    return names[0], prefix, [name for name in FIGURES if asked is None or name in asked]


def draw(db, database, asked):
    """([(end of the file's name, picture)], lines about what is left out)."""
    study = load(db)
    if study is None:
        common.fail(15, f"{database}: holds no study of crux-trace (table trace is empty or missing)")
    pyplot = common.pyplot()
    drawn, absent = [], []
    for name in asked:
        function, hint = FIGURES[name]
        pictures = function(study, pyplot)
        if not pictures:
            absent.append(f"figure {name} is left out: {hint}")
        stem = name if name == "fairness" else "fig" + name
        drawn += [(f"{stem}-{i}.png" if len(pictures) > 1 else f"{stem}.png", picture)
                  for i, picture in enumerate(pictures, 1)]
    return drawn, absent + base.Study.left_out()


def main():
    database, prefix, asked = options()
    drawn, absent = common.read(database, lambda db: draw(db, database, asked))
    if not drawn:
        common.fail(15, f"{database}: nothing to draw: " + "; ".join(absent))
    for end, _ in drawn:
        common.check_picture(database, prefix + end)
    for end, picture in drawn:
        common.save(picture, prefix + end)
        print(prefix + end)
    for line in absent:
        print(line)


if __name__ == "__main__":
    main()
