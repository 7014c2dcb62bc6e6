#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cook that is stopped, killed or damaged at any moment and gone on with gives the bytes of one that never was."""
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from command_runner import COMMAND, ROOT, CommandTest, spray

FRAMES = 48
SCENE = spray(frames=[1, FRAMES], spray_rate=20000)


class Resume(CommandTest):
    whole = None  # the frames and the report of a cook that was never stopped

    def setUp(self):
        super().setUp()
        self.write_scene(SCENE)
        self.words = ["cook", "scene.json", "-o", "x", "--report", "x.jsonl"]

    def start(self, *more):
        return subprocess.Popen([COMMAND, *self.words, *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                cwd=self.folder)

    def wait_for_lines(self, process, count):
        """Until so many frames have been reported, or the process ends."""
        for line in process.stderr:
            count -= line.startswith("frame ")
            if count <= 0:
                return

    def reference(self):
        if Resume.whole is None:
            self.succeed("cook", "scene.json", "-o", "whole", "--report", "whole.jsonl", "-q")
            Resume.whole = self.frames("whole"), self.report("whole.jsonl")
            self.assertEqual(len(Resume.whole[0]), FRAMES)
        return Resume.whole[0]

    def report(self, name):
        lines = []
        for text in (self.folder / name).read_text().splitlines():
            line = json.loads(text)
            # How long it took and how much memory there was is not what was simulated.
            del line["seconds"], line["held_mb"], line["peak_rss_mb"]
            lines.append(line)
        return lines

    def check_like_whole(self, whole):
        self.assertEqual(self.frames("x"), whole)
        self.assertEqual(self.report("x.jsonl"), Resume.whole[1])
        self.assertEqual(self.frames("x", ".*part"), {})

    def test_killed_twenty_times(self):
        whole = self.reference()
        seed = int(os.environ.get("MENISCUS_TEST_SEED", random.SystemRandom().randrange(10 ** 6)))
        print(f"seed {seed}")
        dice = random.Random(seed)
        killed = 0
        for _ in range(20):
            process = self.start("--resume")
            self.wait_for_lines(process, dice.randrange(0, 4))
            time.sleep(dice.random() * 0.03)
            process.kill()
            process.stderr.close()
            killed += process.wait(60) == -signal.SIGKILL
            for name, data in self.frames("x").items():
                self.assertEqual(data, whole[name], f"{name} is not whole")
        self.assertGreaterEqual(killed, 10, "the scene is too short for this test")
        self.succeed(*self.words, "--resume", "-q")
        self.check_like_whole(whole)

    def stop_with(self, number):
        process = self.start()
        self.wait_for_lines(process, 5)
        process.send_signal(number)
        _, rest = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("--resume", rest)
        self.assertTrue((self.folder / "x/spray.checkpoint").exists())
        made = len(self.frames("x"))
        self.assertTrue(5 <= made < FRAMES, made)

    def test_stopped_by_sigint_and_sigterm(self):
        whole = self.reference()
        for number in (signal.SIGINT, signal.SIGTERM):
            shutil.rmtree(self.folder / "x", ignore_errors=True)
            self.stop_with(number)
            before = {name: (self.folder / "x" / name).stat().st_mtime_ns for name in self.frames("x")}
            done = self.succeed(*self.words, "--resume")
            self.check_like_whole(whole)
            # What was there has not been written again, and no frame was simulated from the beginning.
            for name, stamp in before.items():
                self.assertEqual((self.folder / "x" / name).stat().st_mtime_ns, stamp)
            self.assertNotIn("frame 2:", done.stderr)

    def test_simulations_that_feed_each_other(self):
        scene = spray(frames=[1, 20], spray_rate=20000)
        scene["nodes"].append({"name": "second", "type": "spray_solver", "inputs": ["spray"],
                               "parms": {"rate": 3000, "emit_from": "points", "life": 0.3}})
        scene["nodes"].append({"name": "both", "type": "merge", "inputs": ["second", "spray"]})
        scene["output"] = "both"
        self.write_scene(scene)
        self.succeed("cook", "scene.json", "-o", "whole", "-q")
        for number in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            process = self.start("--resume")
            self.wait_for_lines(process, 4)
            process.send_signal(number)
            process.communicate(timeout=60)
        self.succeed(*self.words, "--resume", "-q")
        self.assertEqual(self.frames("x"), self.frames("whole"))
        lines = self.report("x.jsonl")
        self.assertEqual(sorted((line["frame"], line["node"]) for line in lines),
                         [(frame, node) for frame in range(1, 21) for node in ("second", "spray")])

    def test_a_longer_range_goes_on_from_the_end(self):
        whole = self.reference()
        self.succeed(*self.words, "-f", "1-20", "-q")
        done = self.succeed(*self.words, "--resume")
        self.assertNotIn("frame 20:", done.stderr)
        self.check_like_whole(whole)
        self.assertIn("all frames are there", self.succeed(*self.words, "--resume").stderr)

    def test_a_shape_beside_the_simulation_does_not_send_it_back(self):
        self.succeed(*self.words, "--node", "spray", "--node", "nozzle", "-f", "1-5", "-q")
        done = self.succeed(*self.words, "--node", "spray", "--node", "nozzle", "-f", "1-6", "--resume")
        self.assertNotIn("frame 4: simulated", done.stderr)
        self.assertIn("frame 6:", done.stderr)

    def test_another_number_of_threads_and_scheduler(self):
        whole = self.reference()
        self.succeed(*self.words, "-f", "1-20", "--threads", "1")
        self.succeed(*self.words, "-f", "1-40", "--threads", "3", "--resume")
        self.succeed(*self.words, "--scheduler", "tbb", "--resume")
        self.check_like_whole(whole)

    def test_half_a_line_of_the_report(self):
        whole = self.reference()
        self.succeed(*self.words, "-f", "1-20", "-q")
        path = self.folder / "x.jsonl"
        path.write_bytes(path.read_bytes() + b'{"frame": 21, "time": 0.8')
        self.succeed(*self.words, "--resume", "-q")
        self.check_like_whole(whole)

    def test_frames_that_are_gone_or_only_begun(self):
        whole = self.reference()
        self.succeed(*self.words, "-q")
        (self.folder / "x/moved.0007.bgeo.sc").unlink()
        (self.folder / "x/moved.0030.bgeo.sc").write_bytes(b"")
        (self.folder / "x/.moved.0031.bgeo.sc.part").write_bytes(b"begun")
        (self.folder / "x/moved.0031.bgeo.sc").unlink()
        self.succeed(*self.words, "--resume", "-q")
        self.check_like_whole(whole)

    def test_an_earlier_cook_is_not_mixed_in(self):
        whole = self.reference()
        self.succeed(*self.words, "--set", "spray.seed=99", "-q")
        self.assertNotEqual(self.frames("x"), whole)
        process = self.start()
        self.wait_for_lines(process, 5)
        process.kill()
        process.stderr.close()
        process.wait(60)
        self.succeed(*self.words, "--resume", "-q")
        self.check_like_whole(whole)

    def test_another_scene_cannot_be_gone_on_with(self):
        self.succeed(*self.words, "-f", "1-5", "-q")
        before = self.frames("x")
        self.fail_with(2, "--resume", *self.words, "--resume", "--set", "spray.seed=99")
        self.fail_with(2, "--resume", *self.words, "--resume", "--format", "bgeo")
        self.assertEqual(self.frames("x"), before)

    def test_title_and_range_may_change(self):
        self.succeed(*self.words, "-f", "1-5", "-q")
        self.write_scene(dict(SCENE, frames=[1, 7], title="Another name", render={"studio": "dark"},
                              camera={"position": [0, 0, 1], "target": [0, 0, 0]}))
        done = self.succeed(*self.words, "--resume")
        self.assertNotIn("frame 5:", done.stderr)
        self.assertEqual(len(self.frames("x")), 7)

    def test_nothing_to_go_on_with(self):
        done = self.succeed(*self.words, "-f", "1-3", "--resume")
        self.assertIn("from the beginning", done.stderr)
        self.assertEqual(len(self.frames("x")), 3)

    def test_a_damaged_checkpoint_is_said_and_not_used(self):
        self.succeed(*self.words, "-f", "1-5", "-q")
        path = self.folder / "x/spray.checkpoint"
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        self.fail_with(1, "spray.checkpoint", *self.words, "--resume")
        path.unlink()
        self.succeed(*self.words, "--resume", "-f", "1-8", "-q")
        self.succeed("cook", "scene.json", "-o", "whole", "-f", "1-8", "-q")
        self.assertEqual(self.frames("x"), self.frames("whole"))


class EverySolver(CommandTest):
    """Killed and stopped by turns, wherever that catches it, each solver gives the bytes of a cook that never was."""

    def check(self, scene):
        words = ["cook", str(ROOT / "tests/golden" / f"{scene}.json"), "-f", "1-9"]
        self.succeed(*words, "-o", "whole", "-q")
        whole = self.frames("whole")
        self.assertEqual(len(whole), 9)
        stopped = 0
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            process = subprocess.Popen([COMMAND, *words, "-o", "x", "--resume"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       text=True, cwd=self.folder)
            for line in process.stderr:
                if line.startswith("frame "):
                    break
            process.send_signal(number)
            process.communicate(timeout=120)
            stopped += process.returncode in (-number, 130)
            for name, data in self.frames("x").items():
                self.assertEqual(data, whole[name], f"{scene}: {name} is not whole")
        self.assertGreaterEqual(stopped, 2, f"{scene} is too short for this test")
        self.succeed(*words, "-o", "x", "--resume", "-q")
        self.assertEqual(self.frames("x"), whole)

    def test_mpm(self):
        self.check("mpm")

    def test_tet(self):
        self.check("tet")

    def test_film(self):
        self.check("film")

    def test_volume(self):
        self.check("volume")


if __name__ == "__main__":
    unittest.main(verbosity=1)
