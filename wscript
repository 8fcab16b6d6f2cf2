# -*- Mode: python; py-indent-offset: 4; indent-tabs-mode: nil; coding: utf-8; -*-
# SPDX-License-Identifier: GPL-2.0-only
#
# The build inside waf-based ns-3 trees (before 3.36). Not tested: the reference is ns-3.37,
# built by CMakeLists.txt.


def configure(conf):
    conf.load("compiler_c")
    conf.env.append_unique("CFLAGS", ["-std=c11", "-O2", "-ffp-contract=off"])
    conf.env.append_unique("CXXFLAGS", ["-std=c++17"])
    conf.env["CRUX_SQLITE"] = conf.check_nonfatal(
        header_name="sqlite3.h", lib="sqlite3", uselib_store="CRUX_SQLITE3", mandatory=False
    )
    conf.report_optional_feature(
        "crux-store", "crux results in SQLite", conf.env["CRUX_SQLITE"], "sqlite3 not found"
    )
    conf.env["CRUX_EXPAT"] = conf.check_nonfatal(
        header_name="expat.h", lib="expat", uselib_store="CRUX_EXPAT1", mandatory=False
    )
    conf.report_optional_feature(
        "crux-xml", "crux hosts from NCCL XML", conf.env["CRUX_EXPAT"], "expat not found"
    )
    conf.env["CRUX_FFTW"] = conf.check_nonfatal(
        header_name="fftw3.h", lib="fftw3", uselib_store="CRUX_FFTW3", mandatory=False
    )
    conf.report_optional_feature(
        "crux-period", "crux iteration detection", conf.env["CRUX_FFTW"], "fftw3 not found"
    )


def find(bld, *patterns):
    """Files of this module by pattern, relative to it."""
    nodes = bld.path.ant_glob(list(patterns))
    return sorted(node.path_from(bld.path) for node in nodes)


def build(bld):
    source = bld.path.abspath()
    defines = ['CRUX_SOURCE_DIR="%s"' % source, 'CRUX_TOOLS_DIR="%s/tools"' % source]
    folders = ["model/core", "model/roce", "model/dlt", "helper", "tools", "test/core"]

    module = bld.create_ns3_module("crux", ["core", "network", "internet", "applications"])
    module.source = find(bld, "model/core/*.c", "model/roce/*.cc", "model/dlt/*.cc", "helper/*.cc")
    module.features = "c cxx cxxshlib ns3module"
    module.includes = folders
    module.defines = list(defines)
    if bld.env["CRUX_SQLITE"]:
        module.defines.append("CRUX_HAVE_SQLITE")
        module.use.append("CRUX_SQLITE3")
    if bld.env["CRUX_EXPAT"]:
        module.defines.append("CRUX_HAVE_EXPAT")
        module.use.append("CRUX_EXPAT1")
    if bld.env["CRUX_FFTW"]:
        module.defines.append("CRUX_HAVE_FFTW")
        module.use.append("CRUX_FFTW3")

    suites = find(bld, "test/*-test-suite.cc")
    if suites:
        tests = bld.create_ns3_module_test_library("crux")
        tests.source = suites
        tests.includes = folders
        tests.defines = list(defines)

    headers = bld(features="ns3header")
    headers.module = "crux"
    headers.source = find(
        bld, "model/core/crux-*.h", "model/roce/crux-*.h", "model/dlt/crux-*.h", "helper/crux-*.h"
    )

    if bld.env.ENABLE_EXAMPLES:
        for example in find(bld, "examples/*.cc"):
            name = example.split("/")[-1][: -len(".cc")]
            program = bld.create_ns3_program(name, ["crux"])
            program.source = example
            program.includes = folders
            program.defines = list(defines)
