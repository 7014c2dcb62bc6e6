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
