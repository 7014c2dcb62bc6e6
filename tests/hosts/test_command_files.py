#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a cook reads and writes: one cook per folder and node, nothing mixed, nothing overwritten that it reads, and nothing
that keeps it waiting."""
import json
import os
import subprocess
import unittest

from command_runner import COMMAND, CommandTest, spray


def still(path="in.obj", frames=(1, 6)):
    """A scene that moves what it reads a little further at each frame."""
    return {"meniscus": 1, "frames": list(frames), "nodes": [
        {"name": "read", "type": "file", "parms": {"path": path}},
        {"name": "m", "type": "transform", "inputs": ["read"],
         "parms": {"translate": {"keys": [[1, [0, 0, 0]], [100, [1, 0, 0]]]}}}], "output": "m"}


def moving(path="in.obj", frames=(1, 6)):
    """A simulation that is fed from a file."""
    scene = spray(frames=list(frames))
    scene["nodes"][0] = {"name": "nozzle", "type": "file", "parms": {"path": path}}
    return scene


class Files(CommandTest):
    def write_square(self, size, name="in.obj"):
        path = self.folder / name
        path.write_text(f"v 0 0 0\nv {size} 0 0\nv {size} {size} 0\nv 0 {size} 0\nf 1 2 3 4\n")
        return path

    def cook(self, *more, folder="x"):
        return ["cook", "scene.json", "-o", folder, "-q", *more]

    def check_like_a_new_cook(self, *more):
        self.succeed(*self.cook(*more))
        self.succeed(*self.cook(*more, folder="new"))
        self.assertEqual(self.frames("x"), self.frames("new"))

    # ---- two cooks ----

    def test_a_second_cook_into_the_folder_is_refused(self):
        self.write_scene(spray(frames=[1, 400], spray_rate=20000))
        first = subprocess.Popen([COMMAND, "cook", "scene.json", "-o", "x"], stderr=subprocess.PIPE, text=True,
                                 cwd=self.folder)
        self.addCleanup(first.stderr.close)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        next(line for line in first.stderr if line.startswith("frame "))
        self.write_scene(spray(frames=[1, 2], spray_seed=8), "other.json")
        for more in ([], ["--resume"]):
            self.fail_with(1, "Another cook is writing", "cook", "other.json", "-o", "x", *more)
        self.assertIsNone(first.poll(), "the first cook ended before the second began")
        self.succeed("cook", "other.json", "-o", "elsewhere", "-q")

    def test_names_that_would_be_one_file(self):
        scene = {"meniscus": 1, "nodes": [{"name": "b", "type": "shape"},
                                          {"name": "m", "type": "tet_solver", "inputs": ["b"]},
                                          {"name": "m_1", "type": "shape"}], "output": "b"}
        self.write_scene(scene)
        self.fail_with(2, "would both be written as m_1", *self.cook("--node", "m:1", "--node", "m_1"))
        self.assertEqual(list((self.folder / "x").glob("*")), [])
        self.succeed(*self.cook("--node", "b", "--node", "m_1", "--node", "b"))

    # ---- inputs that change ----

    def check_change(self, scene, change):
        self.write_scene(scene)
        self.succeed(*self.cook("-f", "1-3"))
        before = self.frames("x")
        change()
        done = self.fail_with(2, "has changed since frame", *self.cook("--resume"))
        self.assertIn("without --resume", done.stderr)
        self.assertEqual(self.frames("x"), before)
        self.check_like_a_new_cook()

    def test_an_input_that_changed(self):
        for scene in (still(), moving()):
            self.write_square(0.1)
            self.check_change(scene, lambda: self.write_square(0.2))

    def test_deleting_the_checkpoint_does_not_mix_two_cooks(self):
        self.write_square(0.1)
        self.write_scene(moving())
        self.succeed(*self.cook("-f", "1-3"))
        self.write_square(0.2)
        (self.folder / "x/spray.checkpoint").unlink()
        self.fail_with(2, "has changed since frame", *self.cook("--resume"))
        self.check_like_a_new_cook()

    def test_one_file_of_a_sequence_that_changed(self):
        for scene in (still("in.$F.obj"), moving("in.$F.obj")):
            for frame in range(1, 7):
                self.write_square(0.1, f"in.{frame}.obj")
            self.check_change(scene, lambda: self.write_square(0.2, "in.2.obj"))

    def test_an_input_of_a_frame_that_was_only_simulated(self):
        for frame in range(1, 9):
            self.write_square(0.1, f"in.{frame}.obj")
        self.write_scene(moving("in.$F.obj", frames=(5, 8)))
        self.succeed(*self.cook("-f", "5-5"))
        (self.folder / "x/moved.0005.bgeo.sc").unlink()
        journal = self.folder / "x/.moved.cook"
        journal.write_text("".join(line for line in journal.read_text().splitlines(True) if not line.startswith("5 ")))
        self.write_square(0.2, "in.2.obj")
        self.fail_with(2, "has changed since frame", *self.cook("--resume"))

    def test_files_that_arrive_later_can_be_resumed_with(self):
        for scene in (still("in.$F.obj"), moving("in.$F.obj")):
            for frame in range(1, 4):
                self.write_square(0.1, f"in.{frame}.obj")
            self.write_scene(scene)
            self.fail_with(1, "in.4.obj", *self.cook())
            for frame in range(4, 7):
                self.write_square(0.1, f"in.{frame}.obj")
            self.succeed(*self.cook("--resume"))
            self.succeed(*self.cook(folder="new"))
            self.assertEqual(self.frames("x"), self.frames("new"))
            for frame in range(4, 7):
                (self.folder / f"in.{frame}.obj").unlink()

    def test_the_same_bytes_under_another_date_can_be_resumed_with(self):
        self.write_square(0.1)
        self.write_scene(still())
        self.succeed(*self.cook("-f", "1-3"))
        os.utime(self.write_square(0.1), (1e9, 1e9))
        self.succeed(*self.cook("--resume"))

    # ---- outputs over inputs ----

    def check_kept(self, code, part, kept, *words):
        before = kept.read_bytes()
        self.fail_with(code, part, *words)
        self.assertEqual(kept.read_bytes(), before)

    def test_a_report_over_what_the_cook_needs(self):
        square = self.write_square(0.1)
        scene = self.write_scene(moving())
        os.symlink("scene.json", self.folder / "link.json")
        for name in ("scene.json", "./scene.json", "link.json"):
            self.check_kept(2, "would overwrite", scene, *self.cook("--report", name))
        self.check_kept(2, "would overwrite", square, *self.cook("--report", "in.obj"))
        for name in ("x/.moved.cook", "x/spray.checkpoint", "x/moved.0003.bgeo.sc"):
            self.fail_with(2, "writes a file of that name itself", *self.cook("--report", name))
        self.succeed(*self.cook("--report", "x/report.jsonl"))

    def test_frames_over_what_the_cook_needs(self):
        scene = still("x/m.$F4.obj")
        self.write_scene(scene)
        (self.folder / "x").mkdir()
        for frame in range(1, 7):
            square = self.write_square(0.1, f"x/m.{frame:04}.obj")
        self.check_kept(2, "read by 'read'", square, *self.cook("--format", "obj"))
        self.succeed(*self.cook("--format", "geo"))
        path = self.write_scene(still("x/m.0001.obj"), "m.0002.geo")
        self.check_kept(2, "the scene", path, "cook", "m.0002.geo", "--format", "geo", "-q")

    # ---- doctor ----

    def test_doctor_lists_every_file_before_it_reads_one(self):
        outside = self.folder.parent / "meniscus-outside.obj"
        scene = moving()
        scene["nodes"].append({"name": "beside", "type": "file", "parms": {"path": "sea.$F4.vdb"}})
        scene["nodes"].append({"name": "far", "type": "file", "parms": {"path": str(outside)}})
        self.write_scene(scene)
        done = self.run_command("doctor", "scene.json")
        self.assertEqual(done.returncode, 1)  # in.obj is missing, and the list stands all the same
        for name, path, notes in (("nozzle", "in.obj", ["missing"]), ("beside", "sea.0001.vdb and on", ["missing"]),
                                  ("far", str(outside), ["missing", "outside the scene's folder"])):
            line = next(line for line in done.stdout.splitlines() if line.strip().startswith(name))
            for part in [path, *notes]:
                self.assertIn(part, line)
        self.write_square(0.1)
        text = self.succeed("doctor", "scene.json").stdout
        line = next(line for line in text.splitlines() if line.strip().startswith("nozzle"))
        self.assertNotIn("missing", line)
        self.assertNotIn("outside", line)
        for name in ("moved.0001 to moved.0006", ".moved.cook", "spray.checkpoint"):
            self.assertIn(name, text)

    # ---- pipes ----

    def test_pipes_in_the_way_do_not_wait_for_anybody(self):
        self.write_scene(spray(frames=[1, 3]))
        for name in (".moved.cook", ".moved.0002.bgeo.sc.part", "spray.checkpoint", ".spray.checkpoint.part"):
            with self.subTest(name=name):
                self.succeed(*self.cook("-f", "1-1"))
                path = self.folder / "x" / name
                path.unlink(missing_ok=True)
                os.mkfifo(path)
                done = self.run_command(*self.cook("--resume"))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(name, done.stderr)
                path.unlink()
        os.mkfifo(self.folder / "pipe")
        self.fail_with(1, "nothing reads from this pipe", *self.cook("--report", "pipe"))

    def test_a_report_into_a_pipe_that_somebody_reads(self):
        self.write_scene(spray(frames=[1, 3]))
        os.mkfifo(self.folder / "pipe")
        reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True, cwd=self.folder)
        while self.run_command(*self.cook("--report", "pipe")).returncode != 0:  # until the reader has opened it
            self.assertIsNone(reader.poll())
        lines = reader.communicate(timeout=60)[0].splitlines()
        self.assertEqual([json.loads(line)["frame"] for line in lines], [1, 2, 3])

    # ---- journals that somebody has touched ----

    def test_journals_that_make_no_sense(self):
        self.write_scene(spray(frames=[1, 3]))
        self.succeed(*self.cook(folder="new"))
        for text, code in ((b"", 0), (b"menis", 0), (b"\0\n", 2), (b"meniscus cook 1 0123456789abcdef\n1\n", 2)):
            self.succeed(*self.cook("-f", "1-2"))
            (self.folder / "x/.moved.cook").write_bytes(text)
            done = self.run_command(*self.cook("--resume"))
            self.assertEqual(done.returncode, code, done.stderr)
            if code == 0:
                self.assertEqual(self.frames("x"), self.frames("new"))
        for line in (b"2147483647 0000000000000000\n", b"3 ffffffffffffffff\n", b"checkpoint 999999 0000000000000000\n",
                     b"3 \n", b"3 12\n", b"\xff\xfe\n"):
            self.succeed(*self.cook("-f", "1-2"))
            with open(self.folder / "x/.moved.cook", "ab") as file:
                file.write(line)
            done = self.run_command(*self.cook("--resume"))
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 0:
                self.assertEqual(self.frames("x"), self.frames("new"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
