#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Examples that run as tests: by ./crux test, and by ns-3's test.py inside a tree. A row is the
# command, whether to run it, whether to run it under valgrind. Options hold no quotes or blanks.
# Both run them in a folder of their own, test.py several at once: no two may write one file.
cpp_examples = [
    ("crux-first", "True", "False"),
    ("crux-testbed --engine=flow --iterations=4 --db=run-flow.db --picture=none", "True", "False"),
    ("crux-testbed --engine=packet --jobs=gpt:16,bert:8 --iterations=2 --scale=100 --db=run-packet.db --picture=none", "True", "False"),
    ("crux-testbed --engine=packet,flow --topology=clos:ports=2,hosts=4,uplinks=1 --jobs=gpt:32:2,bert:32:2 --scale=1000 --db=run-clos.db --picture=none", "True", "False"),
    ("crux-testbed --engine=packet,flow --jobs=gpt3-1.3b:32:tp=4:pp=2:micro=4:iterations=2,bert:8:3 --scale=200 --db=run-program.db --picture=none", "True", "False"),
    ("crux-search-serving --queries=300 --scale=1000 --jobs=gpt:16,bert:8", "True", "False"),
    ("crux-fig7 --uplink_gbps=60 --iterations=10 --seeds=2 --explore=1 --db=run-fig7.db --picture=none", "True", "False"),
    ("crux-fig19 --seeds=2 --db=run-fig19.db", "True", "False"),
    ("crux-fig19 --engine=packet,flow --oversub=4 --iterations=2 --scale=100 --seeds=1 --policies=ecmp,crux --db=run-fig19-packet.db --picture=none", "True", "False"),
    ("crux-fig20 --sensitivity=1 --seeds=2 --iterations=3 --db=run-fig20.db --picture=none", "True", "False"),
    ("crux-fig20 --engine=packet --oversub=4 --iterations=2 --scale=200 --seeds=1 --policies=ecmp,crux --db=none", "True", "False"),
    ("crux-fig21 --iterations=5 --seeds=2 --db=run-fig21.db --picture=none", "True", "False"),
    ("crux-fig21 --engine=packet,flow --pcie_gbps=32 --iterations=2 --scale=100 --seeds=1 --policies=ecmp,crux --db=none", "True", "False"),
    ("crux-fig22 --iterations=5 --seeds=2 --db=run-fig22.db --picture=none", "True", "False"),
    ("crux-policies --seeds=2 --db=run-policies.db", "True", "False"),
    ("crux-gpu-driven", "True", "False"),
    ("crux-scaling --most=16", "True", "False"),
    ("crux-gnn", "True", "False"),
    ("crux-testbed --engine=packet,live --jobs=gpt:16:30,bert:8:30 --scale=400 --db=run-live.db --picture=none", "True", "False"),
    ("crux-arrivals --scale=400 --seeds=2 --picture=none", "True", "False"),
    ("crux-validate --cases=3 --policies=ecmp,crux,taccl --first=7 --iterations=1 --db=run-validate.db", "True", "False"),
]
python_examples = []
