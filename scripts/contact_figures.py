#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what docs/theory/contact.md compares with figures 4.13 to 4.17 of the thesis, into docs/images.

    scripts/contact_figures.py [PROGRAM]     build/release/tests/validation_test_elastic_contact unless told
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from plots import draw

ROOT = Path(__file__).resolve().parents[1]
METHODS = {0: ("barrier, BDF2", "#1f77b4"), 1: ("barrier, backward Euler", "#17becf"), 2: ("barrier, explicit", "#9467bd"),
           3: ("impulses, backward Euler", "#ff7f0e"), 4: ("impulses, explicit", "#d62728")}
FRICTIONS = {0: ("friction 0.57", "#2ca02c"), 1: ("friction 0.58", "#1f77b4")}


def measure(program):
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as file:
        subprocess.run([program, "--all", "figures"], env={**os.environ, "CONTACT_FIGURES": file.name}, stdout=subprocess.DEVNULL, check=True)
        curves = {}
        for kind, which, x, y in (line.split() for line in file):
            curves.setdefault(kind, {}).setdefault(int(which), []).append((float(x), float(y)))
    return curves


def main():
    curves = measure(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/tests/validation_test_elastic_contact")
    images = ROOT / "docs/images"
    draw(images / "contact_energy.svg", METHODS, "Two soft boxes meet, steps of 2 ms at most (figures 4.13 to 4.16)", "time, s", "kinetic energy left", curves["energy"],
         float, float, [(k / 50, k / 50) for k in range(7)], [(k / 5, k / 5) for k in range(9)], lambda p: f", {p[-1][1]:.3f} at the end")
    draw(images / "contact_incline.svg", FRICTIONS, "A block on an incline of 30 degrees (figure 4.17)", "time, s", "speed, m/s", curves["incline"],
         float, float, [(k / 2, k / 2) for k in range(6)], [(k / 20, k / 20) for k in range(6)], lambda p: "")


if __name__ == "__main__":
    main()
