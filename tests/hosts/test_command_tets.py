#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A liquid on tetrahedra from the command: two drops that merge and a thread that comes apart give the same bits
with any number of threads, and when killed and gone on with."""
import unittest

from command_runner import CommandTest

FRAMES = 6


def scene():
    def ball(name, x):
        return [{"name": name, "type": "shape",
                 "parms": {"kind": "sphere", "radius": [0.002, 0.002, 0.002], "center": [x, 0, 0]}},
                {"name": name + "_tets", "type": "tetrahedralize", "inputs": [name], "parms": {"size": 0.0012}}]
    return {"meniscus": 1, "fps": 24, "frames": [1, FRAMES],
            "nodes": ball("left", 0) + ball("right", 0.0037) + [
                {"name": "thread", "type": "shape", "parms": {"kind": "tube", "radius": [0.0005, 0.0005, 0.0005],
                                                              "size": [0, 0.008, 0], "center": [0.01, 0, 0]}},
                {"name": "thread_tets", "type": "tetrahedralize", "inputs": ["thread"], "parms": {"size": 0.0007}},
                {"name": "all", "type": "merge", "inputs": ["left_tets", "right_tets", "thread_tets"]},
                {"name": "water", "type": "tet_solver", "inputs": ["all"],
                 "parms": {"viscosity": 0.005, "size": 0.001, "split_threshold": 2, "gravity": [0, 0, 0],
                           "time_scale": 0.05}}],
            "output": "water"}


def box(name, size, center):
    return {"name": name, "type": "shape", "parms": {"kind": "box", "size": size, "center": center}}


def liquid(*more, inputs=(), **parms):
    """A small ball of water between solids that do not fit it."""
    return {"meniscus": 1, "fps": 24, "frames": [1, 3],
            "nodes": [{"name": "ball", "type": "shape", "parms": {"kind": "sphere", "radius": [0.002, 0.002, 0.002]}},
                      {"name": "tets", "type": "tetrahedralize", "inputs": ["ball"], "parms": {"size": 0.0012}},
                      *more,
                      {"name": "water", "type": "tet_solver", "inputs": ["tets", *inputs],
                       "parms": {"time_scale": 0.02, **parms}}],
            "output": "water"}


def collider(shape):
    return {"name": "solid", "type": "collider", "inputs": [shape], "parms": {"dx": 0.0003}}


class BadInput(CommandTest):
    """A sentence to act on, or a sane result, and the last good frame stays."""

    def refused(self, scene, sentence, frames=1):
        self.write_scene(scene)
        self.fail_with(1, sentence, "cook", "scene.json", "-o", "out", "--threads", "1")
        self.assertEqual(len(self.frames("out")), frames)

    def test_a_collider_around_half_of_the_liquid(self):
        scene = liquid(box("block", [0.01, 0.01, 0.01], [0, -0.005, 0]), collider("block"), inputs=["solid"])
        self.refused(scene, "A collider lies in the liquid at the start")

    def test_liquid_outside_of_its_domain(self):
        self.refused(liquid(use_domain=1, domain_size=[0.003, 0.01, 0.01]), "beyond the left side of the domain")

    def test_nothing_to_simulate(self):
        scene = liquid()
        scene["nodes"][-1]["inputs"] = [None]
        self.refused(scene, "holds no tetrahedra", 0)

    def test_a_thin_plate_through_the_liquid_and_two_drops_in_one_place(self):
        plate = liquid(box("plate", [0.01, 0.0008, 0.01], [0, 0, 0]), collider("plate"), inputs=["solid"])
        twice = liquid({"name": "both", "type": "merge", "inputs": ["tets", "tets"]}, gravity=[0, 0, 0])
        twice["nodes"][-1]["inputs"] = ["both"]
        for scene in (plate, twice):
            self.write_scene(scene)
            self.succeed("cook", "scene.json", "-o", "out", "--threads", "1")
            self.assertEqual(len(self.frames("out")), 3)


class Tets(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_scene(scene())

    def whole(self):
        self.succeed("cook", "scene.json", "-o", "whole", "-q", "--threads", "1")
        frames = self.frames("whole")
        self.assertEqual(len(frames), FRAMES)
        return frames

    def test_any_number_of_threads(self):
        self.check_threads(self.whole())

    def test_killed_and_gone_on_with(self):
        self.check_kills(self.whole(), 3, 3)


if __name__ == "__main__":
    unittest.main()
