#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what docs/theory/flow.md compares with figures 6.6 and 6.7 of the chapter, into docs/images.

    scripts/flow_figures.py [PROGRAM]     build/release/tests/validation_test_flow_vortices unless told
"""
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from plots import draw

ROOT = Path(__file__).resolve().parents[1]
NAMES = {0: ("Runge-Kutta 2", "#1f77b4"), 1: ("implicit (BSLQB)", "#ff7f0e"), 2: ("explicit", "#d62728")}


def measure(program):
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as file:
        subprocess.run([program, "--all", "W1"], env={**os.environ, "FLOW_FIGURES": file.name}, stdout=subprocess.DEVNULL, check=True)
        rows = [line.split() for line in file.read().splitlines()]
    curves = {}
    for kind, scheme, x, y in rows:
        curves.setdefault(kind, {}).setdefault(int(scheme), set()).add((float(x), float(y)))
    return {kind: {scheme: sorted(points) for scheme, points in by.items()} for kind, by in curves.items()}


def slope(points):
    logs = [(math.log(1 / n), math.log(error)) for n, error in points]
    mx, my = (sum(v[i] for v in logs) / len(logs) for i in (0, 1))
    return sum((x - mx) * (y - my) for x, y in logs) / sum((x - mx) ** 2 for x, _ in logs)


def main():
    curves = measure(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/tests/validation_test_flow_vortices")
    images = ROOT / "docs/images"
    draw(images / "flow_convergence.svg", NAMES, "Burgers' equation, dt = dx, t = 0.5 (figure 6.7)", "cells along an edge", "largest error", curves["burgers"],
         math.log2, math.log10, [(k, 2**k) for k in (4, 5, 6, 7)], [(k, f"1e{k}") for k in range(-8, -1)], lambda p: f", slope {slope(p):.2f}")
    draw(images / "flow_rotation.svg", NAMES, "A turning circle in a box, 64 x 64, CFL 3, with reflection (figure 6.6)", "time, s", "kinetic energy left",
         curves["rotation"], float, float, [(k / 2, k / 2) for k in range(7)], [(k / 5, k / 5) for k in range(7)], lambda p: f", {p[-1][1]:.3f} at the end")


if __name__ == "__main__":
    main()
