#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Films, threads and drops through the command: killed and gone on with, on any number of threads, the same bytes."""
import json
import math
import struct
import unittest

from command_runner import ROOT, CommandTest

FRAMES = 16


def scene():
    """A bubble that bursts, a thread that breaks up beside it and drips from a spout onto a ball."""
    return {
        "meniscus": 1, "title": "Films and threads", "fps": 24, "frames": [1, FRAMES],
        "nodes": [
            {"name": "bubble", "type": "film_source",
             "parms": {"kind": "bubble", "radius": 0.02, "hole": 0.012, "spacing": 0.002, "thickness": 5e-5}},
            {"name": "thread", "type": "film_source",
             "parms": {"kind": "thread", "height": 0.04, "spacing": 0.002, "thickness": 0.002, "noise": 0.2, "pin": 0,
                       "center": [0.04, 0, 0]}},
            {"name": "spout", "type": "film_source",
             "parms": {"kind": "thread", "height": 0.006, "spacing": 0.002, "thickness": 0.004, "spout": 1,
                       "velocity": [0, -0.5, 0], "center": [-0.04, 0.03, 0]}},
            {"name": "liquids", "type": "merge", "inputs": ["bubble", "thread", "spout"]},
            {"name": "ball", "type": "shape",
             "parms": {"kind": "sphere", "radius": [0.01, 0.01, 0.01], "center": [-0.038, 0.01, 0]}},
            {"name": "solid", "type": "collider", "inputs": ["ball"], "parms": {"dx": 0.002}},
            {"name": "film", "type": "mls_solver", "inputs": ["liquids", None, "solid"],
             "parms": {"spacing": 0.002, "sigma": 0.05, "air_drag": 1, "time_scale": 0.1, "adhesion": 0.01}},
            {"name": "skin", "type": "film_skin", "inputs": ["film"]}],
        "output": "skin"}


SPACING = 0.002


def disc(hole=0):
    """Points of a disc of film, 16 spacings wide, as lines of a .ply file: position, normal, thickness."""
    points = []
    for row in range(-8, 9):
        for column in range(-8, 9):
            x, z = (column + 0.5 * (row & 1)) * SPACING, 0.866 * row * SPACING
            if hole * SPACING <= math.hypot(x, z) <= 8 * SPACING:
                points.append(f"{x} 0 {z} 0 1 0 1e-4")
    return points


def film_of_points():
    return {"meniscus": 1, "fps": 24, "frames": [1, 2], "nodes": [
        {"name": "points", "type": "file", "parms": {"path": "points.ply"}},
        {"name": "film", "type": "mls_solver", "inputs": ["points"], "parms": {"spacing": SPACING, "time_scale": 0.1}},
        {"name": "skin", "type": "film_skin", "inputs": ["film"]}], "output": "skin"}


def read_ply(path):
    """Points of a binary .ply file of numbers, as dictionaries."""
    head, body = path.read_bytes().split(b"end_header\n", 1)
    count, names, form, inside = 0, [], "<", False
    for words in (line.split() for line in head.decode().splitlines()):
        if words[0] == "element":
            inside = words[1] == "vertex"
            count = int(words[2]) if inside else count
        elif words[0] == "property" and inside:
            names.append(words[2])
            form += {"float": "f", "double": "d", "int": "i"}[words[1]]
    size = struct.calcsize(form)
    return [dict(zip(names, struct.unpack_from(form, body, i * size))) for i in range(count)]


class Films(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_scene(scene())

    def whole(self):
        self.succeed("cook", "scene.json", "-o", "whole", "--node", "film", "--node", "skin", "-q", "--threads", "1")
        frames = self.frames("whole")
        self.assertEqual(len(frames), 2 * FRAMES)
        return frames

    def test_any_number_of_threads(self):
        self.check_threads(self.whole(), "--node", "film", "--node", "skin")

    def test_killed_and_gone_on_with(self):
        self.check_kills(self.whole(), 6, 8, "--node", "film", "--node", "skin")

    def test_bad_threads_are_a_sentence(self):
        for parms, code, words in (({"thickness": 0}, 2, "thickness"), ({"spacing": -1}, 2, "spacing"),
                                   ({"kind": "lines"}, 1, "polylines"), ({"noise": 2}, 2, "noise")):
            bad = scene()
            bad["nodes"][1]["parms"].update(parms)
            self.write_scene(bad)
            self.fail_with(code, words, "cook", "scene.json", "-o", "bad", "-q")

    def test_a_volume_becomes_film(self):
        """Two drops meet and spread: what gets thinner than a cell goes from codimension 0 to 1, and little of it to drops."""
        lamella = json.loads((ROOT / "examples/mls_lamella/scene.json").read_text())
        for node in lamella["nodes"]:
            if "dx" in node.get("parms", {}):
                node["parms"]["dx"] = 0.002
            if node["type"] == "mls_solver":
                node["parms"]["spacing"] = 0.001
        self.write_scene(lamella)
        last = 9
        self.succeed("cook", "scene.json", "-o", "lamella", "-q", "--node", "liquid", "--format", "ply", "-f", f"1-{last}")
        mass = {}
        for frame in (1, last):
            points = [p for p in read_ply(self.folder / f"lamella/liquid.{frame:04d}.ply") if not p["skin"]]
            mass[frame] = [sum(p["mass"] for p in points if p["codim"] == codim) for codim in range(4)]
        all_of_it = sum(mass[1])
        self.assertEqual(mass[1][1:], [0, 0, 0])
        self.assertAlmostEqual(sum(mass[last]) / all_of_it, 1, delta=1e-5)  # single precision in files
        self.assertGreater(mass[last][1], 0.1 * all_of_it)
        self.assertLess(mass[last][3], 0.05 * all_of_it)

    def write_points(self, points):
        names = ["x", "y", "z", "nx", "ny", "nz", "thickness"]
        head = ["ply", "format ascii 1.0", f"element vertex {len(points)}"] + [f"property float {n}" for n in names]
        (self.folder / "points.ply").write_text("\n".join(head + ["end_header"] + points) + "\n")

    def test_films_that_are_no_films_are_a_sentence(self):
        self.write_scene(film_of_points())
        good = disc()
        for points, words in (
                (good[:10] + ["nan 0 0 0 1 0 1e-4"], "Point 10 of the film has a position"),
                (good[:10] + ["1e-4 0 1e-4 0 1 0 0"], "Point 10 of the film is 0 m thick"),
                (good[:10] + ["1e-4 0 1e-4 0 1 0 inf"], "Point 10 of the film is inf m thick"),
                (["0 0 0 0 0 0 1e-4"] + good, "Point 0 of the film has no normal"),
                ([f"{0.05 * i} 0 0 0 1 0 1e-4" for i in range(20)], "too far apart"),
                ([f"{SPACING * i} 0 0 0 1 0 1e-4" for i in range(20)], "on a line"),
                ([], "empty")):
            self.write_points(points)
            self.fail_with(1, words, "cook", "scene.json", "-o", "bad", "-q", "--threads", "1")

    def test_odd_films_are_films(self):
        good = disc()
        for points, parms in (
                (disc(hole=3), {}),
                (good + good, {}),  # every point twice
                (good + ["0.1 0 0 0 1 0 1e-4", "0.1 0.2 0 0 1 0 1e-4"], {}),  # two that are alone
                (good, {"min_thickness": 1}),  # all of it breaks
                (good, {"use_limits": True, "limit_center": [1, 1, 1], "limit_size": [1e-6, 1e-6, 1e-6]})):
            odd = film_of_points()
            odd["nodes"][1]["parms"].update(parms)
            self.write_scene(odd)
            self.write_points(points)
            self.succeed("cook", "scene.json", "-o", "odd", "-q", "--threads", "1")

    def test_rings_that_touch_and_jets_into_walls(self):
        skin = {"name": "skin", "type": "film_skin", "inputs": ["film"]}
        for shift in (0.04, 0.01, 0):
            rings = [{"name": name, "type": "film_source", "parms": {
                "kind": "disc", "radius": 0.02, "spacing": SPACING, "thickness": 1e-4, "center": [x, 0.05 * x, 0]}}
                for name, x in (("a", 0), ("b", shift))]
            self.write_scene({"meniscus": 1, "fps": 24, "frames": [1, 2], "nodes": rings + [
                {"name": "both", "type": "merge", "inputs": ["a", "b"]},
                {"name": "film", "type": "mls_solver", "inputs": ["both"], "parms": {"spacing": SPACING, "time_scale": 0.1}},
                skin], "output": "skin"})
            self.succeed("cook", "scene.json", "-o", "rings", "-q", "--threads", "1")
        for height in (0, -0.01):  # above the wall, and inside of it
            self.write_scene({"meniscus": 1, "fps": 24, "frames": [1, 4], "nodes": [
                {"name": "box", "type": "shape", "parms": {"kind": "box", "size": [0.1, 0.01, 0.1], "center": [0, -0.01, 0]}},
                {"name": "wall", "type": "collider", "inputs": ["box"], "parms": {"dx": 0.002}},
                {"name": "jet", "type": "jet_source", "parms": {"spacing": 0.001, "center": [0, height, 0]}},
                {"name": "film", "type": "mls_solver", "inputs": [None, None, "wall", "jet"], "parms": {"time_scale": 0.05}},
                skin], "output": "skin"})
            self.succeed("cook", "scene.json", "-o", "jet", "-q", "--threads", "1")


if __name__ == "__main__":
    unittest.main()
