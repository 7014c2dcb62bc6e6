#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone, as C17 under our own warnings and as C++17."""
import os
import pathlib
import subprocess
import sys
import tempfile

source = pathlib.Path(os.environ["MENISCUS_SOURCE"])
include = source / "core" / "include"
headers = sorted(include.glob("meniscus/*.h")) + sorted(source.glob("plugin/*/*.h")) + [source / "nodes" / "node.h"]
# What a host or a program that links the library includes; the rest of plugin/ is private.
public = [h for h in headers if h.parent.name in ("meniscus", "nodes") or
          h.name in ("io.h", "vdb.h", "tbb_scheduler.h", "network.h")]

flags = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only", "-I", str(include), "-I", str(source)]
compilers = [("C17", ["cc", "-std=c17", "-x", "c"]), ("C++17", ["c++", "-std=c++17", "-x", "c++"])]

failures = 0
with tempfile.TemporaryDirectory() as folder:
    for header in public:
        unit = pathlib.Path(folder) / "unit.txt"
        # Twice, so that a missing include guard shows.
        unit.write_text(f'#include "{header}"\n#include "{header}"\nint main(void) {{ return 0; }}\n')
        for language, command in compilers:
            result = subprocess.run(command + flags + [str(unit)], capture_output=True, text=True)
            if result.returncode != 0:
                failures += 1
                print(f"{header.relative_to(source)} does not compile alone as {language}:\n{result.stderr}")
if len(public) < 15:
    print(f"only {len(public)} headers found under {source}")
    failures += 1
print(f"{len(public)} headers, {failures} failures")
sys.exit(1 if failures else 0)
