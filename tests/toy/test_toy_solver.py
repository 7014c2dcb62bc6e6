#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A solver of 150 lines (toy_solver.c), as every host shows it: help, cook, report, cancel, checkpoints, Python, Houdini."""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hosts"))
sys.path.insert(0, str(HERE.parents[1] / "plugin/python"))
from command_runner import CommandTest  # noqa: E402
import meniscus  # noqa: E402

SCENE = {
    "meniscus": 1, "fps": 24, "frames": [1, 12],
    "nodes": [
        {"name": "balls", "type": "shape", "parms": {"kind": "grid", "size": [1, 0, 1], "center": [0, 2, 0]}},
        {"name": "toy", "type": "toy_solver", "inputs": ["balls"], "parms": {"pull": 4, "max_fall": 0.02}},
    ],
    "output": "toy",
}


class Toy(CommandTest):
    def test_it_is_short(self):
        self.assertLess(len((HERE / "toy_solver.c").read_text().splitlines()), 150)

    def test_the_command_knows_it(self):
        text = self.succeed("nodes", "toy_solver").stdout
        for part in ("Meniscus Toy Solver", "pull", "m/s^2", "Acceleration of the balls.", "max_substeps"):
            self.assertIn(part, text)

    def test_it_cooks_reports_and_resumes(self):
        self.write_scene(SCENE)
        self.succeed("cook", "scene.json", "-o", "whole", "--report", "report.jsonl")
        lines = [json.loads(line) for line in (self.folder / "report.jsonl").read_text().splitlines()]
        self.assertEqual(len(lines), 12)
        self.assertGreater(lines[-1]["particles"], 3)
        self.assertGreater(lines[-1]["substeps"], 1)  # max_fall made it halve its steps
        self.assertGreater(lines[-1]["rollbacks"], 0)
        self.assertIn("total", lines[-1]["seconds"])
        whole = self.frames("whole")
        self.assertEqual(len(whole), 12)
        self.check_threads(whole)
        self.succeed("cook", "scene.json", "-o", "parts", "-f", "1-5")
        self.assertTrue((self.folder / "parts/toy.checkpoint").exists())
        self.succeed("cook", "scene.json", "-o", "parts", "--resume")
        self.assertEqual(self.frames("parts"), whole)

    def test_what_is_wrong_is_said(self):
        scene = json.loads(json.dumps(SCENE))
        scene["nodes"][1]["parms"]["max_fall"] = 1e-6
        self.write_scene(scene)
        self.fail_with(1, "toy_solver 'toy': A step failed even in steps of", "cook", "scene.json", "-o", "bad")
        scene["nodes"][1]["parms"]["pull"] = -1
        self.write_scene(scene)
        self.fail_with(2, "pull", "cook", "scene.json", "-o", "bad")

    def test_python_has_it(self):
        self.assertIn("toy_solver", meniscus.node_types())
        net = meniscus.Network()
        balls = net.add("shape", "balls", kind="grid", center=(0, 2, 0))
        net.output = net.add("toy_solver", "toy", inputs=[balls], pull=4)
        heights = [net.cook(frame=frame).bounds[0][1] for frame in (1, 3, 6)]
        self.assertTrue(heights[0] > heights[1] > heights[2])

    @unittest.skipUnless("MENISCUS_SHIM" in os.environ, "no Houdini double in this build")
    def test_houdini_has_it(self):
        path = self.write_scene(SCENE)
        shim = [os.environ["MENISCUS_SHIM"], str(path), "toy", "1"]
        hashes = [subprocess.run([*shim, frame], capture_output=True, text=True, check=True).stdout for frame in ("1", "4")]
        self.assertNotEqual(*hashes)


if __name__ == "__main__":
    unittest.main()
