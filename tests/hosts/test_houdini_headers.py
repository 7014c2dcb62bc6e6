#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Headers of Houdini's generations, as near as Debian comes to them. The build compiles plugin/vdb and plugin/tbb with OpenVDB 10
and TBB 2021. TBB 2020 (Houdini 20.5) is a stand-in with the few names that plugin/tbb calls, and C++20 (Houdini 22) is a switch.
What was compiled by hand against the real sources stands in docs/houdini.md."""
import os
import re
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
STAND_IN = SOURCE / "tests/hosts/tbb_2020"
# In TBB 2020 and in 2021; what only one of them has (info, task, task_scheduler_init) is not here.
SHARED = {"blocked_range", "blocked_range3d", "parallel_for", "parallel_reduce", "simple_partitioner", "task_arena", "this_task_arena", "global_control",
          "enumerable_thread_specific", "combinable", "task_group", "spin_mutex"}


def compiles(path, standard, *includes, options=()):
    words = ["c++", f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *options]
    for folder in (*includes, SOURCE, SOURCE / "core/include", SOURCE / "core"):
        words += ["-I", str(folder)]
    return subprocess.run([*words, str(path)], capture_output=True, text=True)


class Headers(unittest.TestCase):
    def test_the_scheduler_compiles_with_tbb_2020(self):
        for standard in ("gnu++17", "gnu++20"):
            done = compiles(SOURCE / "plugin/tbb/tbb_scheduler.cpp", standard, STAND_IN)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_stand_in_refuses_what_came_later(self):
        later = subprocess.run(["c++", "-std=gnu++17", "-fsyntax-only", "-I", str(STAND_IN), "-x", "c++", "-"], capture_output=True, text=True,
                               input="#include <tbb/task_arena.h>\nint n = tbb::info::default_concurrency();\n")
        self.assertNotEqual(later.returncode, 0)
        self.assertIn("tbb::info", later.stderr)

    def test_volumes_compile_without_what_came_after_tbb_2020(self):
        """OpenVDB's headers need all of TBB, so here the installed one stands in for 2020: what it has and 2020 had not goes by
        another name once the headers are in. plugin/vdb names TBB in grid.hpp, which its files share."""
        hidden = STAND_IN / "hide_later.h"
        done = compiles(SOURCE / "plugin/vdb/grid.cpp", "gnu++17", options=("-DIMATH_HALF_NO_LOOKUP_TABLE", "-include", str(hidden)))
        self.assertEqual(done.returncode, 0, done.stderr)
        later = subprocess.run(["c++", "-std=gnu++17", "-fsyntax-only", "-include", str(hidden), "-x", "c++", "-"], capture_output=True, text=True,
                               input="int n = tbb::info::default_concurrency();\n")
        self.assertNotEqual(later.returncode, 0)

    def test_the_shim_follows_the_type_that_houdini_counts_inputs_by(self):
        double = SOURCE / "tests/hosts/houdini_double"
        for index in ("long",): # the double itself has unsigned, as 20.5 has
            done = compiles(SOURCE / "plugin/houdini/sop.cpp", "gnu++17", double,
                            options=("-DIMATH_HALF_NO_LOOKUP_TABLE", f"-DHOUDINI_DOUBLE_INPUT_INDEX={index}"))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_nothing_else_of_one_version_alone_is_named(self):
        for folder in ("plugin/vdb", "plugin/tbb", "plugin/houdini"):
            for path in sorted((SOURCE / folder).glob("*.[ch]pp")):
                code = re.sub(r"//.*", "", path.read_text())
                self.assertLessEqual(set(re.findall(r"\btbb::(\w+)", code)), SHARED, path)
                self.assertNotIn("oneapi/", code, path)

    def test_only_the_namespace_that_every_version_has(self):
        """Houdini's OpenVDB has a suffix behind its version; whoever writes `openvdb::` alone never sees it."""
        for folder in ("plugin/vdb", "plugin/houdini"):
            for path in sorted((SOURCE / folder).glob("*.[ch]pp")):
                self.assertNotRegex(path.read_text(), r"openvdb::v\d|openvdb_sesi::|OPENVDB_VERSION_NAME", path)


if __name__ == "__main__":
    unittest.main()
