#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the plugin is built where there is a Houdini (HFS is set): configured against a double of an installation, with the
package file and the libraries where Houdini has them. The plugin must take every library that it shares with the program
from there. Nothing is compiled: the sources themselves are those of the shim's own test."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))

# What our CMake file uses of $HFS/toolkit/cmake/HoudiniConfig.cmake: the target Houdini, and a function that puts the plugin
# into a folder without "lib" before its name.
PACKAGE = """
set(Houdini_VERSION 20.5.278)
add_library(Houdini INTERFACE)
target_include_directories(Houdini SYSTEM INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../include")
target_compile_definitions(Houdini INTERFACE MAKING_DSO)
target_link_libraries(Houdini INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../../dsolib/libHoudiniUT.so")
function(houdini_configure_target target)
  cmake_parse_arguments(given "" "INSTDIR;LIB_PREFIX" "" ${ARGN})
  if(NOT given_INSTDIR)
    message(FATAL_ERROR "without INSTDIR Houdini is started to ask for a folder, which takes a licence")
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${given_INSTDIR}")
endfunction()
"""
SHARED = ("openvdb_sesi", "tbb", "blosc", "z")


class Build(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.hfs, self.build = Path(self._folder.name) / "hfs", Path(self._folder.name) / "build"
        (self.hfs / "toolkit/cmake").mkdir(parents=True)
        (self.hfs / "toolkit/include").mkdir()
        (self.hfs / "dsolib").mkdir()
        (self.hfs / "toolkit/cmake/HoudiniConfig.cmake").write_text(PACKAGE)
        for name in (*SHARED, "HoudiniUT"):
            subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", str(self.hfs / f"dsolib/lib{name}.so"), f"-Wl,-soname,lib{name}.so"],
                           check=True)

    def configure(self):
        return subprocess.run(["cmake", "-G", "Ninja", "-S", str(SOURCE), "-B", str(self.build), "-DMENISCUS_TESTS=OFF",
                               "-DCMAKE_BUILD_TYPE=Release"], capture_output=True, text=True, env=dict(os.environ, HFS=str(self.hfs)))

    def test_the_plugin_takes_houdinis_own_libraries(self):
        done = self.configure()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        plugin = "houdini/meniscus-20.5/dso/meniscus_houdini.so"
        commands = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", plugin], capture_output=True, text=True,
                                  check=True).stdout.splitlines()
        link = commands[-1]
        self.assertIn(plugin, link)
        for name in (*SHARED, "HoudiniUT"):
            self.assertIn(str(self.hfs / f"dsolib/lib{name}.so"), link.replace("toolkit/cmake/../../", ""))
        for wrong in ("libopenvdb.so", "x86_64-linux-gnu/libtbb", "x86_64-linux-gnu/libblosc", "x86_64-linux-gnu/libz"):
            self.assertNotIn(wrong, link)
        # Every source that includes a shared library's headers sees Houdini's before the system's.
        compiled = [line for line in commands if " -c " in line]
        for part in ("houdini/sop.cpp", "houdini/register.cpp", "meniscus_vdb.dir", "tbb/tbb_scheduler.cpp", "io/seekable.c"):
            lines = [line for line in compiled if part in line]
            self.assertTrue(lines, part)
            for line in lines:
                self.assertIn(f"-isystem {self.hfs}/toolkit/", line.replace("/toolkit/cmake/../include", "/toolkit/include"))
        for line in compiled:  # options for C++ alone never reach C
            self.assertEqual("MAKING_DSO" in line, "plugin/houdini/" in line and ".cpp" in line, line)

    def test_a_package_is_for_the_version_it_was_built_with(self):
        for version, end in (("20.5", "21.0"), ("21.0", "21.5"), ("22.0", "22.5")):
            (self.hfs / "toolkit/cmake/HoudiniConfig.cmake").write_text(PACKAGE.replace("20.5.278", f"{version}.100"))
            done = self.configure()
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            package = json.loads((self.build / "plugin/houdini/package.json").read_text())
            self.assertEqual(package["enable"], f"houdini_version >= '{version}' and houdini_version < '{end}'")
            self.assertEqual(package["hpath"], f"$HOUDINI_PACKAGE_PATH/meniscus-{version}")
            shim = next(line for line in (self.build / "build.ninja").read_text().split("build ") if "houdini/sop.cpp" in line)
            self.assertIn("-std=gnu++20" if version == "22.0" else "-std=gnu++17", shim)

    def test_a_houdini_without_a_library_is_said(self):
        (self.hfs / "dsolib/libopenvdb_sesi.so").unlink()
        done = self.configure()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("openvdb_sesi", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
