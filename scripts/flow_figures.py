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

ROOT = Path(__file__).resolve().parents[1]
NAMES = {0: ("Runge-Kutta 2", "#1f77b4"), 1: ("implicit (BSLQB)", "#ff7f0e"), 2: ("explicit", "#d62728")}
WIDTH, HEIGHT, LEFT, BOTTOM = 560, 360, 70, 50


def measure(program):
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as file:
        subprocess.run([program, "--all", "W1"], env={**os.environ, "FLOW_FIGURES": file.name}, stdout=subprocess.DEVNULL, check=True)
        rows = [line.split() for line in file.read().splitlines()]
    curves = {}
    for kind, scheme, x, y in rows:
        curves.setdefault(kind, {}).setdefault(int(scheme), set()).add((float(x), float(y)))
    return {kind: {scheme: sorted(points) for scheme, points in by.items()} for kind, by in curves.items()}


def draw(path, title, x_label, y_label, curves, x_of, y_of, x_ticks, y_ticks, notes):
    """Curves in the units of the ticks, which are (place, label)."""
    xs, ys = [t[0] for t in x_ticks], [t[0] for t in y_ticks]
    px = lambda x: LEFT + (x - xs[0]) / (xs[-1] - xs[0]) * (WIDTH - LEFT - 20)
    py = lambda y: HEIGHT - BOTTOM - (y - ys[0]) / (ys[-1] - ys[0]) * (HEIGHT - BOTTOM - 40)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{WIDTH / 2}" y="20" text-anchor="middle" font-size="14">{title}</text>']
    for place, label in x_ticks:
        out.append(f'<line x1="{px(place):.1f}" x2="{px(place):.1f}" y1="40" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                   f'<text x="{px(place):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{label}</text>')
    for place, label in y_ticks:
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{py(place):.1f}" y2="{py(place):.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{py(place) + 4:.1f}" text-anchor="end">{label}</text>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">{x_label}</text>'
               f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">{y_label}</text>')
    for k, (scheme, points) in enumerate(sorted(curves.items())):
        name, colour = NAMES[scheme]
        places = [(px(x_of(x)), py(y_of(y))) for x, y in points]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        if len(places) < 10:
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        out.append(f'<text x="{LEFT + 12}" y="{58 + 16 * k}" fill="{colour}">{name}{notes(points)}</text>')
    path.write_text("\n".join(out) + "\n</svg>\n")


def slope(points):
    logs = [(math.log(1 / n), math.log(error)) for n, error in points]
    mx, my = (sum(v[i] for v in logs) / len(logs) for i in (0, 1))
    return sum((x - mx) * (y - my) for x, y in logs) / sum((x - mx) ** 2 for x, _ in logs)


def main():
    curves = measure(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/tests/validation_test_flow_vortices")
    images = ROOT / "docs/images"
    draw(images / "flow_convergence.svg", "Burgers' equation, dt = dx, t = 0.5 (figure 6.7)", "cells along an edge", "largest error", curves["burgers"],
         math.log2, math.log10, [(k, 2**k) for k in (4, 5, 6, 7)], [(k, f"1e{k}") for k in range(-8, -1)], lambda p: f", slope {slope(p):.2f}")
    draw(images / "flow_rotation.svg", "A turning circle in a box, 64 x 64, CFL 3, with reflection (figure 6.6)", "time, s", "kinetic energy left",
         curves["rotation"], float, float, [(k / 2, k / 2) for k in range(7)], [(k / 5, k / 5) for k in range(7)], lambda p: f", {p[-1][1]:.3f} at the end")


if __name__ == "__main__":
    main()
