#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/render.sh: a scene cooked and rendered in Cycles, stills and a film; wrong words are refused."""
import os
import subprocess
import unittest

import blender_runner
from command_runner import COMMAND, ROOT, CommandTest, Picture, spray

blender_runner.skip_without("blender", "ffmpeg")


class Render(CommandTest):
    def render(self, *words):
        environment = dict(os.environ, HOME=str(self.folder), XDG_CONFIG_HOME=str(self.folder / "config"), MENISCUS=COMMAND,
                           MENISCUS_BUILD=str(blender_runner.BUILD))
        return subprocess.run([str(ROOT / "scripts/render.sh"), *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env=environment, timeout=600)

    def contrast(self, path, size):
        picture = Picture(path)
        self.assertEqual((picture.width, picture.height), size)
        levels = [sum(picture.pixel(x, y)[:3]) for y in range(picture.height) for x in range(picture.width)]
        self.assertGreater(max(levels) - min(levels), 150, "a picture of nothing")
        # The middle, where the subject is, has more in it than the background's slow gradient.
        rows = range(picture.height // 3, 2 * picture.height // 3)
        columns = range(picture.width // 3, 2 * picture.width // 3)
        steps = [abs(sum(picture.pixel(x, y)[:3]) - sum(picture.pixel(x + 1, y)[:3])) for y in rows for x in columns]
        self.assertGreater(max(steps), 60, "nothing in the middle")

    def test_a_still(self):
        done = self.render("two_shapes", "-o", "still", "--size", "160x96", "--samples", 4)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.contrast(self.folder / "still/frames/frame.0001.png", (160, 96))
        self.assertFalse((self.folder / "still/film.mp4").exists())

    def test_a_film_of_drops(self):
        scene = self.write_scene(spray(spray_rate=4000, spray_radius=0.01))
        words = (scene, "-o", "film", "-f", "11-12", "--size", "160x96", "--samples", 4, "--material", "mercury")
        done = self.render(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.contrast(self.folder / "film/frames/frame.0012.png", (160, 96))
        self.assertGreater((self.folder / "film/film.mp4").stat().st_size, 1000)

    def test_a_sheet_of_frames(self):
        scene = self.write_scene(spray(spray_rate=4000, spray_radius=0.01))
        done = self.render(scene, "-o", "sheet", "-f", "9-12", "--sheet", "--size", "160x96")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        picture = Picture(self.folder / "sheet/sheet.png")  # four tiles of half that size in a row
        self.assertTrue(4 * 80 <= picture.width <= 4 * 88 and 48 <= picture.height <= 56, (picture.width, picture.height))
        self.assertFalse((self.folder / "sheet/frames").exists())

    def test_wrong_words(self):
        self.assertEqual(self.render().returncode, 2)
        self.assertEqual(self.render("no_such_scene").returncode, 2)
        self.assertEqual(self.render("two_shapes", "--colour").returncode, 2)
        done = self.render("two_shapes", "-o", "wrong", "--material", "watr", "--size", "32x32", "--samples", 1)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("mercury", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
