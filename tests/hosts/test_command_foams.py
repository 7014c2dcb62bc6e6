#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bubbles, foams and films in frames through the command: bad films are a sentence, odd ones a sane result; a foam in the middle of
its rearrangements is killed and gone on with, on any number of threads, the same bytes."""
import json
import math
import unittest

from command_runner import CommandTest

FRAMES = 10


def foam(**parms):
    """Gas passes through the films fast: bubbles shrink, vanish and rearrange in every frame."""
    solver = {"size": 0.0035, "gravity": [0, 0, 0], "gibbs": 0.5, "drag": 0.5, "diffusion": 3e-4, "damping": 1, "time_scale": 0.5}
    return {"meniscus": 1, "fps": 24, "frames": [1, FRAMES], "nodes": [
        {"name": "bubbles", "type": "film_source",
         "parms": {"kind": "cluster", "count": 9, "radius": 0.012, "variation": 0.4, "spacing": 0.0035, "thickness": 2e-6}},
        {"name": "film", "type": "film_solver", "inputs": ["bubbles"], "parms": {**solver, **parms}},
        {"name": "skin", "type": "film_skin", "inputs": ["film"], "parms": {"subdivide": 0}}], "output": "skin"}


def ball(around=12, radius=0.01, center=0.0):
    """Points and triangles of a ball, all facing outwards."""
    rows = around // 2
    points, triangles = [(center, radius, 0)], []
    for row in range(1, rows):
        a = math.pi * row / rows
        for k in range(around):
            b = 2 * math.pi * k / around
            points.append((center + radius * math.sin(a) * math.cos(b), radius * math.cos(a), radius * math.sin(a) * math.sin(b)))
    points.append((center, -radius, 0))
    last = len(points) - 1
    for k in range(around):
        n = (k + 1) % around
        triangles.append((0, 1 + n, 1 + k))
        triangles.append((last, last - around + k, last - around + n))
        for row in range(rows - 2):
            a, b = 1 + row * around + k, 1 + row * around + n
            triangles += [(a, b, a + around), (b, b + around, a + around)]
    return points, triangles


class Foams(CommandTest):
    def mesh(self, points, triangles, inputs=(), **parms):
        lines = ["v %.9g %.9g %.9g" % p for p in points] + ["f %d %d %d" % tuple(i + 1 for i in t) for t in triangles]
        (self.folder / "film.obj").write_text("\n".join(lines) + "\n")
        nodes = [{"name": "mesh", "type": "file", "parms": {"path": "film.obj"}}, *inputs,
                 {"name": "film", "type": "film_solver", "inputs": ["mesh", None, *(i["name"] for i in inputs[1:])],
                  "parms": {"size": 0.004, "gravity": [0, 0, 0], **parms}}]
        self.write_scene({"meniscus": 1, "fps": 24, "frames": [1, 3], "nodes": nodes, "output": "film"})

    def cook(self, *words):
        self.succeed("cook", "scene.json", "-o", "out", "-q", "--threads", "1", "--report", "report.jsonl", *words)
        rows = [json.loads(line) for line in (self.folder / "report.jsonl").read_text().splitlines()]
        for row in rows:
            for key in ("mass", "area", "kinetic_energy"):
                self.assertTrue(math.isfinite(row.get(key, 0)), row)
        return rows

    def test_any_number_of_threads_and_killed_in_a_cascade(self):
        self.write_scene(foam())
        self.succeed("cook", "scene.json", "-o", "whole", "--node", "film", "--node", "skin", "-q", "--threads", "1")
        frames = self.frames("whole")
        self.check_threads(frames, "--node", "film", "--node", "skin")
        self.check_kills(frames, 3, 5, "--node", "film", "--node", "skin")

    def test_bad_films_are_a_sentence(self):
        points, triangles = ball()
        for bad, words in ((triangles + [triangles[5]], "same three"),
                           (triangles + [(3, 3, 4)], "three points of its own"),
                           (triangles + [(0, 0, 0)], "three points of its own")):
            self.mesh(points, bad)
            self.fail_with(1, words, "cook", "scene.json", "-o", "bad", "-q", "--threads", "1")
        self.mesh(points + [(1, 1, 1), (2, 2, 2), (3, 3, 3)], triangles + [tuple(len(points) + i for i in range(3))])
        self.fail_with(1, "no area", "cook", "scene.json", "-o", "bad", "-q", "--threads", "1")
        self.mesh([], [])
        self.fail_with(1, "film", "cook", "scene.json", "-o", "bad", "-q", "--threads", "1")

    def test_regions_that_contradict_are_named(self):
        """One triangle of a bubble says that another pocket is behind it."""
        self.mesh(*ball())
        self.succeed("cook", "scene.json", "-o", "good", "-q", "-f", "1", "--format", "geo")
        geo = json.loads((self.folder / "good/film.0001.geo").read_text())
        attributes = geo[geo.index("attributes") + 1]
        region, = (a[1] for a in attributes[attributes.index("primitiveattributes") + 1] if "region" in a[0])
        values = region[region.index("values") + 1]
        values[values.index("tuples") + 1][7] = [2, 0]
        (self.folder / "film.geo").write_text(json.dumps(geo))
        scene = json.loads((self.folder / "scene.json").read_text())
        scene["nodes"][0]["parms"]["path"] = "film.geo"
        self.write_scene(scene)
        self.fail_with(1, "contradict each other", "cook", "scene.json", "-o", "bad", "-q")

    def sources(self, **film):
        """A ball of tetrahedra above a disc of film."""
        nodes = [{"name": "ball", "type": "shape", "parms": {"kind": "sphere", "radius": [0.004] * 3, "center": [0, 0.006, 0]}},
                 {"name": "tets", "type": "tetrahedralize", "inputs": ["ball"], "parms": {"size": 0.002}},
                 {"name": "disc", "type": "film_source", "parms": {"kind": "disc", "radius": 0.01, "spacing": 0.002, **film}},
                 {"name": "both", "type": "merge", "inputs": ["tets", "disc"]},
                 {"name": "film", "type": "film_solver", "inputs": ["both"], "parms": {"time_scale": 0.01}}]
        self.write_scene({"meniscus": 1, "fps": 24, "frames": [1, 2], "nodes": nodes, "output": "film"})

    def test_points_of_film_are_refused(self):
        self.sources()
        self.fail_with(1, "Turn on triangles", "cook", "scene.json", "-o", "bad", "-q")
        self.sources(triangles=True)
        self.succeed("cook", "scene.json", "-o", "good", "-q")

    def test_inverted_triangles_are_turned(self):
        """Pockets are found from the films, not from the way that polygons face: the bubble keeps its volume."""
        points, triangles = ball()
        self.mesh(points, [t[::-1] if i % 3 == 0 else t for i, t in enumerate(triangles)])
        area = [row["area"] for row in self.cook()]
        self.assertGreater(area[-1], 0.9 * area[0])

    def test_bubbles_in_bubbles(self):
        points, triangles = [], []
        for radius in (0.01, 0.02, 0.03):
            p, t = ball(radius=radius)
            triangles += [tuple(i + len(points) for i in one) for one in t]
            points += p
        self.mesh(points, triangles)
        area = [row["area"] for row in self.cook()]
        self.assertGreater(area[-1], 0.9 * area[0])

    def test_a_pocket_without_volume(self):
        """Two discs that lie on each other, closed along their edge."""
        around = 12
        rim = [(0.02 * math.cos(2 * math.pi * k / around), 0, 0.02 * math.sin(2 * math.pi * k / around)) for k in range(around)]
        triangles = [(side, 2 + (k + 1 - side) % around, 2 + (k + side) % around) for side in range(2) for k in range(around)]
        self.mesh([(0, 0, 0), (0, 0, 0), *rim], triangles)
        self.cook()

    def test_everything_bursts(self):
        points, triangles = ball(around=16)
        self.mesh(points, triangles, burst=True, min_thickness=1, time_scale=0.05)
        rows = self.cook()
        self.assertAlmostEqual(rows[-1]["mass"] / rows[0]["mass"], 1, delta=1e-9)  # liquid stays

    def test_a_film_through_a_collider(self):
        """A bar through a bubble is refused with the point, a floor that it just touches puts it on top, and one that sweeps through
        it bursts it or pushes it along."""
        points, triangles = ball(radius=0.02)

        def solid(size, center):
            return [{"name": "box", "type": "shape", "parms": {"kind": "box", "size": size, "center": center}},
                    {"name": "solid", "type": "collider", "inputs": ["box"], "parms": {"dx": 0.002}}]

        self.mesh(points, triangles, solid([0.02, 0.02, 0.1], [0.015, 0, 0]))
        self.fail_with(1, "inside a collider", "cook", "scene.json", "-o", "bad", "-q", "--threads", "1")
        self.mesh(points, triangles, solid([0.1, 0.02, 0.1], [0, -0.027, 0]), time_scale=0.1)
        self.cook()
        for burst in (False, True):
            sweep = {"keys": [[1, [0, -0.04, 0]], [3, [0, -0.02, 0]]]}
            self.mesh(points, triangles, solid([0.01, 0.03, 0.01], sweep), burst=burst, time_scale=0.05)
            self.cook()

    def test_frames_that_move_apart_without_end(self):
        scene = {"meniscus": 1, "fps": 24, "frames": [1, 8], "nodes": [
            {"name": "rings", "type": "film_source", "parms": {
                "kind": "cylinder", "triangles": True, "radius": 0.02, "height": {"keys": [[1, 0.02], [8, 2]]}, "spacing": 0.004,
                "thickness": 2e-6}},
            {"name": "film", "type": "film_solver", "inputs": ["rings"],
             "parms": {"size": 0.004, "gravity": [0, 0, 0], "time_scale": 0.2, "max_vertices": 200000}}], "output": "film"}
        self.write_scene(scene)
        rows = self.cook()
        self.assertLess(rows[-1]["area"], 2 * rows[0]["area"])  # it has parted, two discs are left


if __name__ == "__main__":
    unittest.main()
