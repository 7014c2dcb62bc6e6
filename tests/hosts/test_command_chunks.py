#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames of nodes without memory, cooked from a cached simulation by many processes at once: each frame by one of them."""
import re
import subprocess
import unittest

from command_runner import COMMAND, CommandTest, spray

FRAMES = 30


class Chunks(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_scene(spray(frames=[1, FRAMES], spray_rate=3000))
        self.succeed("cook", "scene.json", "--node", "spray", "--node", "moved", "-o", "whole", "-q")
        self.whole = self.digests("whole", "moved.*.bgeo.sc")
        self.words = ["cook", "scene.json", "--cache", "whole", "-o", "out"]

    def start(self, *words):
        return subprocess.Popen([COMMAND, *self.words, "--share", "--threads", "1", *words], stderr=subprocess.PIPE, text=True,
                                cwd=self.folder)

    def test_the_simulation_is_read_and_not_run(self):
        done = self.succeed(*self.words, "-f", "11-20")
        self.assertEqual(self.digests("out"), {name: digest for name, digest in self.whole.items() if 11 <= int(name[6:10]) <= 20})
        self.assertNotIn("simulated", done.stderr)
        self.assertFalse((self.folder / "out/spray.checkpoint").exists())

    def test_four_processes_write_each_frame_once(self):
        crowd = [self.start() for _ in range(4)]
        said = [process.communicate(timeout=60)[1] for process in crowd]
        self.assertEqual([process.returncode for process in crowd], [0] * 4, said)
        made = [int(frame) for text in said for frame in re.findall(r"^frame (\d+): moved [1-9]", text, re.M)]
        self.assertEqual(sorted(made), sorted(set(made)))
        self.assertEqual(self.digests("out"), self.whole)
        journal = (self.folder / "out/.moved.cook").read_text().splitlines()[1:]
        self.assertEqual(sorted(int(line.split()[0]) for line in journal), list(range(1, FRAMES + 1)))

    def test_one_that_is_killed_leaves_its_frame_to_the_others(self):
        first = self.start()
        first.stderr.readline()
        second = self.start()
        first.kill()
        first.stderr.close()
        first.wait()
        _, said = second.communicate(timeout=60)
        self.assertEqual(second.returncode, 0, said)
        self.assertEqual(self.digests("out"), self.whole)

    def test_chunks_of_their_own(self):
        crowd = [self.start("-f", f"{a}-{a + 9}", "-q") for a in (1, 11, 21)]
        said = [process.communicate(timeout=60)[1] for process in crowd]
        self.assertEqual([process.returncode for process in crowd], [0, 0, 0], said)
        self.assertEqual(self.digests("out"), self.whole)

    def test_what_cannot_be(self):
        self.fail_with(2, "without memory", "cook", "scene.json", "-o", "out", "--share")
        self.fail_with(2, "holds no simulation", "cook", "scene.json", "-o", "out", "--cache", ".")
        self.fail_with(2, "no folder", "cook", "scene.json", "-o", "out", "--cache", "nowhere/at/all")
        self.fail_with(2, "--preview", *self.words, "--share", "--preview")
        (self.folder / "whole/spray.0003.bgeo.sc").unlink()
        self.fail_with(1, "spray.0003.bgeo.sc", *self.words, "--share", "-q")
        self.assertEqual(len(self.digests("out")), 2)


if __name__ == "__main__":
    unittest.main()
