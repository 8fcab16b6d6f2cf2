#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Examples that run as tests: by ./crux test, and by ns-3's test.py inside a tree. A row is the
# command, whether to run it, whether to run it under valgrind. Options hold no quotes or blanks.
# Commands run in a folder of their own that is thrown away.
cpp_examples = [
]
python_examples = []
