#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed can be used from outside: find_package(meniscus), link it, run it; the command runs too."""
import os
import pathlib
import subprocess
import sys
import tempfile

build = os.environ["MENISCUS_BUILD"]
source = pathlib.Path(os.environ["MENISCUS_SOURCE"])

PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(user C CXX)
find_package(meniscus REQUIRED)
add_executable(user_c main.c)
target_link_libraries(user_c PRIVATE meniscus::meniscus)
add_executable(user_cxx main.cpp)
target_link_libraries(user_cxx PRIVATE meniscus::meniscus)
add_executable(user_network network.c)
target_link_libraries(user_network PRIVATE meniscus::host)
"""

PROGRAM = """\
#include <meniscus/meniscus.h>
#include <stdio.h>
int main(void)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = NULL;
    if (mn_geo_create(ctx, &geo) != MN_OK || mn_geo_add_points(geo, 7, NULL) != MN_OK) return 1;
    printf("%d points\\n", (int)mn_geo_point_count(geo));
    mn_geo_free(geo);
    mn_context_free(ctx);
    return 0;
}
"""


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0:
        print("failed:", *command)
        print(result.stdout[-3000:], result.stderr[-3000:])
        sys.exit(1)
    return result.stdout


def cached(name):
    for line in (pathlib.Path(build) / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split("=", 1)[1]
    return ""


if cached("MENISCUS_SANITIZE"):
    print("skipped: a library with sanitizers in it asks the same of its users")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    prefix, project, out = root / "prefix", root / "user", root / "build"
    run("cmake", "--install", build, "--prefix", prefix)
    project.mkdir()
    (project / "CMakeLists.txt").write_text(PROJECT)
    (project / "main.c").write_text(PROGRAM)
    (project / "main.cpp").write_text(PROGRAM)
    (project / "network.c").write_text((source / "examples/c/04_network.c").read_text())
    run("cmake", "-G", "Ninja", "-S", project, "-B", out, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", out)
    for program in ("user_c", "user_cxx"):
        answer = run(out / program)
        if answer != "7 points\n":
            print(f"{program} says {answer!r}")
            sys.exit(1)
    if "frame 3:" not in run(out / "user_network", root):
        print("user_network does not cook")
        sys.exit(1)
    nodes = run(prefix / "bin" / "meniscus", "nodes")
    if "file" not in nodes:
        print(f"the installed command does not list its nodes: {nodes[:300]!r}")
        sys.exit(1)
    modules = list(prefix.rglob("meniscus/__init__.py"))
    libraries = list(prefix.rglob("libmeniscus_plugin.so*"))
    if not modules or not libraries:
        print(f"the Python module ({modules}) or its library ({libraries}) is not installed")
        sys.exit(1)
print("installed, found, linked and run")
