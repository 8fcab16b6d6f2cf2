#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# make-plan-problem: write a `plan` problem of many small jobs for crux-schedule, to
# time it and to try it. Place: tools (Python 3, standard library).
#
#   tools/make-plan-problem.py --jobs 1000 --topology lingjun:test/data/lingjun/topo.csv > p.json
#   crux-schedule p.json
"""Jobs draw their model uniformly from the table and their GPUs from 2, 4, 6, 8 (a
mean of 5: 1,000 jobs take about 5,000 of the Lingjun cluster's 6,776 GPUs); with
--mix they have 8 to 128 GPUs as in crux-testbed's mix:N."""
import argparse
import json
import random
import sys

SMALL = [2, 4, 6, 8]
MIX = [8] * 7 + [16] * 4 + [32] * 4 + [64] * 3 + [128] * 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--topology", default="lingjun:test/data/lingjun/topo.csv")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", type=int, default=8)
    parser.add_argument("--policy", default="crux")
    parser.add_argument("--mix", action="store_true", help="8 to 128 GPUs a job")
    args = parser.parse_args()
    if args.jobs < 1:
        parser.error("--jobs must be at least 1")
    rng = random.Random(args.seed)
    jobs = [
        {
            "id": i,
            "model": rng.choice(["gpt", "bert", "resnet"]),
            "gpus": rng.choice(MIX if args.mix else SMALL),
        }
        for i in range(args.jobs)
    ]
    problem = {
        "kind": "plan",
        "input": {
            "topology": args.topology,
            "jobs": jobs,
            "K": args.levels,
            "policy": args.policy,
            "seed": args.seed,
        },
    }
    json.dump(problem, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
