#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Blender add-on with a window (Xvfb): one click, an interface that stays alive, Esc, undo, errors on their nodes, every node
type drawn; two screenshots."""
import os
import shutil
import unittest
from pathlib import Path

import blender_runner

blender_runner.skip_without("blender", "xvfb-run")
HOME = blender_runner.Home()


class Window(unittest.TestCase):
    def run_case(self, name):
        shot = HOME.folder / f"{name}.png"
        self.assertEqual(HOME.cases(name, shot, window=True), 0)
        self.assertGreater(shot.stat().st_size, 10000, "the screenshot is empty")
        keep = os.environ.get("MENISCUS_SCREENSHOTS")  # a folder to keep them in
        if keep:
            shutil.copyfile(shot, Path(keep) / shot.name)

    def test_one_click(self):
        self.run_case("window")

    @unittest.skipUnless(os.environ.get("MENISCUS_SCREENSHOTS"), "only for its pictures: it simulates twice and renders")
    def test_the_first_hour(self):
        self.run_case("first_hour")
        for name in ("first_hour_1.png", "first_hour_2.png"):
            shutil.copyfile(HOME.folder / name, Path(os.environ["MENISCUS_SCREENSHOTS"]) / name)

    def test_a_render_with_motion_blur_while_the_view_turns(self):
        self.assertEqual(HOME.cases("window_render", HOME.folder / "window_render.png", window=True), 0)

    def test_the_node_editor(self):
        self.run_case("editor")


if __name__ == "__main__":
    unittest.main(verbosity=1)
