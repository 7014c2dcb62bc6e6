#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/house.svg: the rooms of the house and which includes which, read off the sources.

  scripts/house.py            writes the picture
  scripts/house.py --check    exits with 1 when the picture is out of date
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/images/house.svg"
# From below to above: a room includes rooms of its own row and of rows under it.
ROWS = [
    ("core", ["core/base"]),
    ("core", ["core/linear", "core/geo", "core/space", "core/trimesh", "core/levelset"]),
    ("core", ["core/mesh", "core/tetmesh", "core/sources", "core/contact", "core/heat"]),
    ("core", ["core/spray", "core/trace", "core/mpm", "core/tet", "core/codim", "core/film", "core/elastic", "core/flow"]),
    ("nodes", ["nodes"]),
    ("plugin", ["plugin/json", "plugin/io", "plugin/vdb", "plugin/tbb", "plugin/host"]),
    ("plugin", ["plugin/preview", "plugin/headless", "plugin/python", "plugin/houdini"]),
]
COLOURS = {"core": "#dcecff", "nodes": "#fff3d6", "plugin": "#e6f5e6"}
WIDTH, STEP, BOX_WIDTH, BOX_HEIGHT = 1000, 110, 132, 40


def rooms():
    return [room for _, names in ROWS for room in names]


def room_of(path):
    """The room of a file, given by its path below the root; None outside the house."""
    if path.startswith("core/include/"):
        return None
    return next((room for room in rooms() if path == room or path.startswith(room + "/")), None)


def target_of(include):
    """The room that an include leads to; public headers belong to everybody."""
    if include.startswith("meniscus/"):
        return None
    return room_of(include) if include.split("/")[0] in ("nodes", "plugin") else room_of("core/" + include)


def arrows():
    found = set()
    for folder in ("core", "nodes", "plugin"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".cpp", ".hpp"):
                continue
            here = room_of(path.relative_to(ROOT).as_posix())
            for include in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
                there = target_of(include)
                if here and there and here != there:
                    found.add((here, there))
    return sorted(found)


def places():
    at = {}
    for row, (_, names) in enumerate(ROWS):
        for i, room in enumerate(names):
            at[room] = (WIDTH * (i + 0.5) / len(names), STEP * (len(ROWS) - row) - STEP / 2)
    return at


def draw():
    at = places()
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {STEP * len(ROWS)}" font-family="sans-serif" font-size="15">',
             '  <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
             '<path d="M0 0L8 4L0 8Z" fill="#667"/></marker></defs>',
             f'  <rect width="{WIDTH}" height="{STEP * len(ROWS)}" fill="#fff"/>']
    for here, there in arrows():
        (x0, y0), (x1, y1) = at[here], at[there]
        side = 0 if y0 == y1 else (1 if y1 > y0 else -1)
        if side == 0:  # neighbours: an arc under the row
            y = y0 + BOX_HEIGHT / 2
            path = f"M{x0:.0f} {y:.0f}Q{(x0 + x1) / 2:.0f} {y + 30:.0f} {x1:.0f} {y:.0f}"
        else:
            path = f"M{x0:.0f} {y0 + side * BOX_HEIGHT / 2:.0f}L{x1:.0f} {y1 - side * BOX_HEIGHT / 2:.0f}"
        lines.append(f'  <path d="{path}" fill="none" stroke="#667" stroke-opacity="0.45" marker-end="url(#tip)"/>')
    for folder, names in ROWS:
        for room in names:
            x, y = at[room]
            lines.append(f'  <rect x="{x - BOX_WIDTH / 2:.0f}" y="{y - BOX_HEIGHT / 2:.0f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" '
                         f'fill="{COLOURS[folder]}" stroke="#335"/>')
            lines.append(f'  <text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle">{room}</text>')
    return "\n".join(lines + ["</svg>", ""])


def main():
    text = draw()
    if "--check" in sys.argv[1:]:
        if not PICTURE.is_file() or PICTURE.read_text() != text:
            sys.exit("docs/images/house.svg is out of date: run scripts/house.py")
        return
    PICTURE.write_text(text)


if __name__ == "__main__":
    main()
