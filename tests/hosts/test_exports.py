#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What libmeniscus_plugin exports is the list in tests/golden/exports.txt, no more and no less: taking a function out of the
library, or letting one slip in, is a decision.

    test_exports.py --update    writes the list anew
"""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
LIBRARY = Path(os.environ.get("MENISCUS_LIBRARY", ROOT / "build/release/lib/libmeniscus_plugin.so"))
LIST = ROOT / "tests/golden/exports.txt"

if not LIBRARY.exists():
    print(f"skipped: {LIBRARY} is not there")
    sys.exit(77)
symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
exported = sorted({line.split()[-1].split("@")[0] for line in symbols.splitlines() if " A " not in line})
if any("asan" in name or "tsan" in name for name in exported):
    print("skipped: a library with sanitizers in it")
    sys.exit(77)
if "--update" in sys.argv:
    LIST.write_text("\n".join(exported) + "\n")
known = LIST.read_text().split()
for word, names in (("exported, but not in the list", set(exported) - set(known)), ("in the list, but gone", set(known) - set(exported))):
    for name in sorted(names):
        print(f"{word}: {name}")
if exported != known:
    sys.exit("if that is meant: tests/hosts/test_exports.py --update")
print(f"{len(exported)} symbols")
