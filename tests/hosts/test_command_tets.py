#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A liquid on tetrahedra from the command: two drops that merge and a thread that comes apart give the same bits
with any number of threads, and when killed and gone on with."""
import random
import signal
import subprocess
import unittest

from command_runner import COMMAND, CommandTest

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
        whole = self.whole()
        for threads in ("2", "8"):
            self.succeed("cook", "scene.json", "-o", threads, "-q", "--threads", threads)
            self.assertEqual(self.frames(threads), whole)

    def test_killed_and_gone_on_with(self):
        whole = self.whole()
        dice = random.Random(7)
        for _ in range(3):
            process = subprocess.Popen([COMMAND, "cook", "scene.json", "-o", "x", "--resume"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)
            lines = dice.randrange(1, 4)
            for line in process.stderr:
                lines -= line.startswith("frame ")
                if lines <= 0:
                    break
            process.kill()
            process.stderr.close()
            self.assertIn(process.wait(60), (0, -signal.SIGKILL))
            for name, data in self.frames("x").items():
                self.assertEqual(data, whole[name], f"{name} is not whole")
        self.succeed("cook", "scene.json", "-o", "x", "-q", "--resume", "--threads", "2")
        self.assertEqual(self.frames("x"), whole)


if __name__ == "__main__":
    unittest.main()
