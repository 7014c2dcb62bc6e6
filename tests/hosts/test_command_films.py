#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Films, threads and drops through the command: killed and gone on with, on any number of threads, the same bytes."""
import unittest

from command_runner import CommandTest

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


if __name__ == "__main__":
    unittest.main()
