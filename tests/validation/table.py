#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every validation program with its long cases and writes docs/validation.md from the rows they print.

    python3 tests/validation/table.py [NAME...]

With names, only programs whose name holds one of them run; the rows of the others stay as they are in the page.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation.md"
HEAD = """# Validation

Physics with known answers. `scripts/validate.sh` runs every case and writes this page; the quick ones also run in `scripts/test.sh`, which fails when a
row that stood inside its bound falls out of it. A row that is not met stands here with its number and the reason.

"""
COLUMNS = "| row | case | measured | reference | unit | error | bound | | remark |\n|---|---|---|---|---|---|---|---|---|\n"


def old_sections():
    """Program name -> its rows in the page as it is, and the words below them, which are written by hand."""
    if not PAGE.exists():
        return {}, {}
    parts = re.split(r"^## (\S+)\n", PAGE.read_text(), flags=re.M)
    bodies = dict(zip(parts[1::2], parts[2::2]))
    rows = {name: re.findall(r"^\| (?!row \||---).*\|$", body, re.M) for name, body in bodies.items()}
    return rows, {name: re.sub(r"^\|.*\n", "", body, flags=re.M).strip() for name, body in bodies.items()}


def run(program):
    rows, ok = [], True
    print(f"== {program.name}", flush=True)
    with subprocess.Popen([program, "--all"], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith("VALIDATION\t"):
                rows.append("| " + " | ".join(line.rstrip("\n").split("\t")[1:]) + " |")
        ok = process.wait() == 0
    return rows, ok


def main():
    names = sys.argv[1:]
    programs = sorted((ROOT / "build" / "release" / "tests").glob("validation_test_*"))
    sections, notes = old_sections()
    failed = []
    present = {program.name.removeprefix("validation_test_") for program in programs}
    sections = {name: rows for name, rows in sections.items() if name in present}
    for program in programs:
        name = program.name.removeprefix("validation_test_")
        if names and not any(part in name for part in names):
            continue
        sections[name], ok = run(program)
        if not ok:
            failed.append(name)
    with PAGE.open("w") as page:
        page.write(HEAD)
        for name in sorted(sections):
            page.write(f"## {name}\n\n{COLUMNS}" + "".join(row + "\n" for row in sections[name]) + "\n")
            if notes.get(name):
                page.write(notes[name] + "\n\n")
    if failed:
        print("not as they should be: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
