#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Blender add-on, installed from its zip into Blender without a window: nodes and tables, presets, bits, wrong input;
saving, moving, stopping and going on; the command-line bake."""
import shutil
import signal
import subprocess
import unittest

import blender_runner

blender_runner.skip_without("blender")
HOME = blender_runner.Home()


class Blender(unittest.TestCase):
    def test_nodes(self):
        self.assertEqual(HOME.cases("nodes"), 0)

    def test_what_artists_do(self):
        self.assertEqual(HOME.cases("trial"), 0)

    def test_caches(self):
        self.assertEqual(HOME.cases("cache_cases"), 0)


MAKE = """
import sys
sys.path.insert(0, {cases!r})
import bpy, inside
scene = inside.fresh()
scene.frame_end = {last}
inside.drop_tree(cells={cells})
bpy.ops.wm.save_as_mainfile(filepath={path!r})
"""


class CommandLine(unittest.TestCase):
    """A bake that is started and watched from the shell."""

    def setUp(self):
        shutil.rmtree(HOME.folder / "meniscus_cache", ignore_errors=True)
        self.path = HOME.folder / "shell.blend"
        self.script = next(HOME.folder.rglob("addons/meniscus_blender/bake_command.py"))

    def make(self, cells, last):
        script = HOME.folder / "make.py"
        script.write_text(MAKE.format(cases=str(blender_runner.CASES), cells=cells, last=last, path=str(self.path)))
        done = HOME.blender("--python-exit-code", "3", "--python", script)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def bake(self, *words):
        return HOME.blender(self.path, "--python", self.script, "--", *words)

    def frames(self):
        return {path.name: path.read_bytes() for path in (HOME.folder / "meniscus_cache").rglob("*.bgeo.sc")
                if path.parent.name != "inputs"}

    def test_bake_stop_and_resume(self):
        self.make(10, 6)
        done = self.bake()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(" done, "), 6, done.stdout)
        whole = self.frames()
        self.assertEqual(len(whole), 6)

        shutil.rmtree(HOME.folder / "meniscus_cache")
        words = ["blender", "-b", str(self.path), "--python", str(self.script), "--"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=HOME.environment,
                                   cwd=HOME.folder)
        for line in process.stdout:
            if "frame 2 done" in line:
                process.send_signal(signal.SIGTERM)
                break
        out, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, out + errors)
        self.assertLess(len(self.frames()), 6)
        self.assertGreaterEqual(len(self.frames()), 2)

        done = self.bake("--resume")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.frames(), whole)

    def test_wrong_usage(self):
        self.make(8, 2)
        done = self.bake("--tree", "nobody")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("no network 'nobody'", done.stderr)
        self.assertEqual(self.bake("--unknown").returncode, 2)
        done = self.bake("-f", "5-1")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("write 1-5", done.stderr)

    def test_a_part_of_the_frames_leaves_the_others(self):
        self.make(8, 4)
        self.assertEqual(self.bake().returncode, 0)
        whole = self.frames()
        self.assertEqual(len(whole), 4)
        done = self.bake("-f", "2-3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.frames(), whole)


if __name__ == "__main__":
    unittest.main(verbosity=1)
