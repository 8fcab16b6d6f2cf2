# SPDX-License-Identifier: GPL-2.0-only
#
# crux_plot_common: what the pictures of result databases share: reading one, the file of the
# picture, colours and units.
#
# Place: tools, a module for crux-plot*.py. Depends on Python 3 and matplotlib. A fault is one line
# on stderr and a non-zero exit: 14 input or output, 15 no such content, 16 no matplotlib.
import os
import sqlite3
import sys

# Okabe and Ito's colours, told apart by every eye. Grey is the scheduler compared with.
SCHEDULER_COLOURS = ["#8c8c8c", "#009e73", "#56b4e9", "#cc79a7", "#d55e00", "#f0e442"]
# Colour and line of each policy of communication, and the order in which pictures have them.
POLICY_STYLES = {
    "ecmp": ("#8c8c8c", "-"), "sincronia": ("#cc79a7", "-"), "varys": ("#e69f00", "-"),
    "taccl": ("#0072b2", "-"), "cassini": ("#56b4e9", "-"), "crux-pa": ("#7fcfb9", (0, (1, 1))),
    "crux-ps-pa": ("#40b799", (0, (4, 2))), "crux": ("#009e73", "-"), "crux-exact": ("#5d5d5d", "-."),
    "crux-plus": ("#d55e00", "-"),
}
OTHER_STYLES = [("#000000", "-"), ("#8c564b", "-"), ("#f0e442", "-"), ("#7a68c4", "-"), ("#000000", "--"),
                ("#8c564b", "--"), ("#7a68c4", "--")]
PNG = b"\x89PNG\r\n\x1a\n"  # how every PNG begins


def fail(code, text):
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    print(f"{name}: {text}", file=sys.stderr)
    sys.exit(code)


def read(path, load):
    """What load(db) makes of the database, which is only read."""
    if not os.path.isfile(path):
        fail(14, f"{path}: no such file")
    try:
        place = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        return load(sqlite3.connect(f"file:{place}?mode=ro", uri=True))
    except sqlite3.Error as error:
        fail(14, f"{path}: {error}")


def time_unit(longest):
    """(unit, factor) in which a time in seconds is 3 at least."""
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if longest * factor >= 3:
            return unit, factor
    return "µs", 1e6


def policy_styles(policies):
    """{policy: (colour, line)} in the order of pictures; those that the table lacks come last, by name."""
    known = [policy for policy in POLICY_STYLES if policy in policies]
    others = sorted(policy for policy in set(policies) if policy not in POLICY_STYLES)
    styles = {policy: POLICY_STYLES[policy] for policy in known}
    styles.update((policy, OTHER_STYLES[i % len(OTHER_STYLES)]) for i, policy in enumerate(others))
    return styles


def label_runs(runs):
    """Names and colours: the policy, with the engine where there are several."""
    several = len({run["engine"] for run in runs}) > 1
    for i, run in enumerate(runs):
        run["label"] = f"{run['policy']}\n{run['engine']}" if several else run["policy"]
        run["colour"] = SCHEDULER_COLOURS[i % len(SCHEDULER_COLOURS)]


def pyplot():
    try:
        import matplotlib
    except ImportError:
        fail(16, "matplotlib is missing (Debian: python3-matplotlib); no picture")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    return plt


def save(figure, path):
    try:
        figure.savefig(path, dpi=120, format="png")
    except OSError as error:
        fail(14, f"{path}: {error.strerror}")


def check_picture(database, path):
    """The picture goes to a new file, or replaces a PNG or an empty file; nothing else."""
    if not os.path.lexists(path):
        return
    if os.path.exists(database) and os.path.exists(path) and os.path.samefile(database, path):
        fail(14, f"{path}: is the database; give the picture another name")
    if os.path.islink(path) or not os.path.isfile(path):
        fail(14, f"{path}: is not a regular file")
    try:
        with open(path, "rb") as file:
            head = file.read(len(PNG))
    except OSError as error:
        fail(14, f"{path}: {error.strerror}")
    if head not in (b"", PNG):
        fail(14, f"{path}: exists and is not a PNG; it is left alone")


def arguments():
    """(database, picture) of the command line, the picture's file checked."""
    if len(sys.argv) != 3:
        fail(14, f"usage: {os.path.basename(sys.argv[0])} DATABASE PICTURE.png")
    check_picture(sys.argv[1], sys.argv[2])
    return sys.argv[1], sys.argv[2]
