#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""meniscus cook: what is written, reports, settings, the same bytes for any threads, and everything that can go wrong."""
import json
import os
import resource
import subprocess
import unittest

from command_runner import ROOT, CommandTest, spray

REPORT_KEYS = ["frame", "time", "node", "substeps", "dt_min", "dt_max", "particles", "points", "prims", "mass", "volume", "area",
               "momentum", "angular_momentum", "center", "kinetic_energy", "surface_energy", "max_speed", "newton_iterations",
               "linear_iterations", "rollbacks", "limited_by", "seconds", "held_mb", "peak_rss_mb"]


class Frames(CommandTest):
    def test_names_formats_and_range(self):
        self.write_scene(spray(frames=[2, 4]))
        self.succeed("cook", "scene.json", "-o", "a/b/c")
        self.assertEqual(sorted(self.frames("a/b/c")), [f"moved.{i:04d}.bgeo.sc" for i in (2, 3, 4)])
        for ending in ("geo", "bgeo", "bgeo.gz"):
            self.succeed("cook", "scene.json", "-o", "x", "-f", "3", "--format", ending)
            info = json.loads(self.succeed("info", f"x/moved.0003.{ending}", "--json").stdout)
            self.assertGreater(info["points"], 100)
        self.succeed("cook", "scene.json", "-f", "-1-1", "-o", "negative", "--format=bgeo")
        self.assertEqual(sorted(self.frames("negative", "*.bgeo")), ["moved.-001.bgeo", "moved.0000.bgeo", "moved.0001.bgeo"])

    def test_without_a_folder_frames_go_here(self):
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-f", "1")
        self.assertTrue((self.folder / "moved.0001.bgeo.sc").exists())

    def test_nodes_and_settings(self):
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-f", "2-3", "--node", "spray", "--node=nozzle", "--node", "spray", "-o", "n")
        self.assertEqual(sorted(self.frames("n")), ["nozzle.0002.bgeo.sc", "nozzle.0003.bgeo.sc", "spray.0002.bgeo.sc",
                                                    "spray.0003.bgeo.sc"])
        self.succeed("cook", "scene.json", "-f", "3", "-o", "s", "--set", "moved.translate=5,6 7", "--set", "spray.rate=24000")
        few = json.loads(self.succeed("info", "s/moved.0003.bgeo.sc", "--json").stdout)
        self.assertEqual(few["points"], 2000)
        self.assertGreater(few["bounds"][0][0], 4)
        self.succeed("cook", "scene.json", "-f", "1", "-o", "m", "--node", "nozzle", "--set", "nozzle.kind=torus")
        self.assertGreater(json.loads(self.succeed("info", "m/nozzle.0001.bgeo.sc", "--json").stdout)["points"], 4)

    def test_a_later_start_gives_the_same_frames(self):
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-f", "1-8", "-o", "all")
        self.succeed("cook", "scene.json", "-f", "6-8", "-o", "some")
        everything = self.frames("all")
        for name, data in self.frames("some").items():
            self.assertEqual(data, everything[name])
        self.assertEqual(len(self.frames("some")), 3)

    def test_progress_goes_to_stderr_as_lines(self):
        self.write_scene(spray())
        done = self.succeed("cook", "scene.json", "-f", "1-3", "-o", "x")
        self.assertEqual(done.stdout, "")
        lines = [line for line in done.stderr.splitlines() if line.startswith("frame ")]
        self.assertEqual([line.split(":")[0] for line in lines], ["frame 1", "frame 2", "frame 3"])
        self.assertNotIn("\r", done.stderr)
        self.assertEqual(self.succeed("cook", "scene.json", "-f", "1-3", "-o", "x", "-q").stderr, "")

    def test_progress_on_a_terminal_is_a_bar(self):
        self.write_scene(spray(frames=[1, 40]))
        try:
            parent, child = os.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be opened here: {error}")
        from command_runner import COMMAND
        process = subprocess.Popen([COMMAND, "cook", "scene.json", "-o", "x"], stderr=child, cwd=self.folder)
        os.close(child)
        shown = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(parent)
        self.assertEqual(process.wait(60), 0)
        self.assertIn(b"\r", shown)
        self.assertIn(b"left", shown)


class Report(CommandTest):
    def read(self, name="report.jsonl"):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def test_a_line_for_each_frame_and_simulating_node(self):
        scene = spray()
        scene["nodes"].append({"name": "second", "type": "spray_solver", "inputs": [None, "spray"],
                               "parms": {"rate": 0, "time_scale": 0.5, "start_frame": 2}})
        scene["nodes"].append({"name": "both", "type": "merge", "inputs": ["second", "spray"]})
        scene["output"] = "both"
        self.write_scene(scene)
        self.succeed("cook", "scene.json", "-f", "1-5", "-o", "x", "--report", "report.jsonl")
        lines = self.read()
        self.assertEqual([(line["frame"], line["node"]) for line in lines],
                         [(frame, node) for frame in range(1, 6) for node in ("spray", "second")])
        for line in lines:
            self.assertEqual([key for key in REPORT_KEYS if key in line], list(line))
            self.assertIn("total", line["seconds"])
            self.assertGreater(line["peak_rss_mb"], 1)
            scale, start = (1, 1) if line["node"] == "spray" else (0.5, 2)
            self.assertAlmostEqual(line["time"], max(line["frame"] - start, 0) / 24 * scale, places=12)
        last = lines[-2]
        self.assertEqual(last["points"], last["particles"])
        self.assertEqual(len(last["momentum"]), 3)
        self.assertGreaterEqual(last["substeps"], 3)

    def test_memory_stays_flat(self):
        # Frames that have gone to files are not kept: foam of 430 points grew by 40 kB a frame, up to 128 MB.
        foam = json.loads((ROOT / "tests/golden/foam.json").read_text())
        self.write_scene({**foam, "frames": [1, 80]})
        self.succeed("cook", "scene.json", "-o", "x", "--report", "report.jsonl", "-q")
        held = [line["held_mb"] for line in self.read()]
        self.assertLess(max(held[60:]), 1.05 * max(held[20:40]))

    def test_report_to_stdout_and_a_bad_place(self):
        self.write_scene(spray())
        text = self.succeed("cook", "scene.json", "-f", "1-2", "-o", "x", "--report", "-").stdout
        self.assertEqual([json.loads(line)["frame"] for line in text.splitlines()], [1, 2])
        self.fail_with(1, "report", "cook", "scene.json", "-f", "1-2", "-o", "x", "--report", "no/such/folder/r.jsonl")


class SameBytes(CommandTest):
    def test_threads_and_schedulers(self):
        self.write_scene(spray())
        first = None
        for scheduler in ("threads", "tbb"):
            for threads in (1, 2, 3, 8):
                folder = f"{scheduler}{threads}"
                self.succeed("cook", "scene.json", "-o", folder, "--threads", threads, "--scheduler", scheduler, "-q")
                frames = self.frames(folder)
                first = first or frames
                self.assertEqual(len(frames), 12)
                self.assertEqual(frames, first, folder)


class BadScenes(CommandTest):
    def check_scene(self, part, scene):
        self.write_scene(scene)
        done = self.fail_with(2, part, "cook", "scene.json", "-o", "x")
        self.assertIn("scene.json", done.stderr)
        self.assertFalse((self.folder / "x").exists())

    def test_scenes_that_are_none(self):
        self.fail_with(2, "missing.json", "cook", "missing.json")
        self.check_scene("scene.json:1", "")
        self.check_scene("scene.json:", "{")
        self.check_scene("scene.json:", "[1, 2]")
        self.check_scene("scene.json:", "[" * 100000)
        self.check_scene("scene.json:", json.dumps(spray())[:-20])
        (self.folder / "folder.json").mkdir()
        self.fail_with(2, "folder.json", "cook", "folder.json")
        self.fail_with(2, "", "cook", "/dev/null")

    def test_wrong_names_types_and_values(self):
        self.check_scene("did you mean 'spray_solver'", spray().__class__(
            spray(), nodes=[{"name": "s", "type": "spray_solvr"}], output="s"))
        self.check_scene("rate", spray(spray_rat=3))
        self.check_scene("radius", spray(spray_radius="large"))
        self.check_scene("life", spray(spray_life=-1))
        self.check_scene("kind", spray(nozzle_kind="cone"))
        loop = spray()
        loop["nodes"].append({"name": "a", "type": "merge", "inputs": ["b"]})
        loop["nodes"].append({"name": "b", "type": "merge", "inputs": ["a"]})
        self.check_scene("loop", loop)

    def test_wrong_words_about_a_good_scene(self):
        self.write_scene(spray())
        self.fail_with(2, "did you mean 'moved'", "cook", "scene.json", "--node", "move")
        self.fail_with(2, "output", "cook", "scene.json", "--node", "moved:3")
        for setting in ("spray", "spray.rate", "rate=3", "=", ".=", "spray.=3"):
            self.fail_with(2, "--set", "cook", "scene.json", "--set", setting)
        self.fail_with(2, "did you mean 'spray'", "cook", "scene.json", "--set", "spry.rate=3")
        self.fail_with(2, "did you mean 'rate'", "cook", "scene.json", "--set", "spray.rat=3")
        self.fail_with(2, "rate", "cook", "scene.json", "--set", "spray.rate=-5")
        self.fail_with(2, "rate", "cook", "scene.json", "--set", "spray.rate=nan")
        nameless = spray()
        del nameless["output"]
        self.write_scene(nameless)
        self.fail_with(2, "--node", "cook", "scene.json")

    def test_a_cook_that_fails_says_which_node(self):
        self.write_scene({"meniscus": 1, "nodes": [{"name": "lost", "type": "file", "parms": {"path": "nowhere.bgeo"}}],
                          "output": "lost"})
        self.fail_with(1, "lost", "cook", "scene.json", "-f", "1", "-o", "x")
        self.write_scene(spray(spray_max_drops=3000))
        self.fail_with(1, "spray", "cook", "scene.json", "-o", "y")
        # What was made before it failed stays.
        self.assertIn("moved.0002.bgeo.sc", self.frames("y"))

    def test_what_a_format_cannot_hold_is_refused(self):
        self.write_scene(spray())
        done = self.run_command("cook", "scene.json", "-f", "2", "-o", "x", "--format", "vdb")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.frames("x", "*.vdb"), {})


class BadPlaces(CommandTest):
    def test_folders_that_cannot_be_made(self):
        self.write_scene(spray())
        (self.folder / "file").write_text("in the way")
        self.fail_with(1, "in the way", "cook", "scene.json", "-o", "file")
        self.fail_with(1, "file/below", "cook", "scene.json", "-o", "file/below")
        self.fail_with(1, "/proc/nowhere", "cook", "scene.json", "-o", "/proc/nowhere")
        self.assertEqual((self.folder / "file").read_text(), "in the way")
        self.fail_with(1, "", "cook", "scene.json", "-o", "n" * 5000)

    def test_a_full_disk_leaves_whole_frames_only(self):
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-o", "whole", "--format", "bgeo")
        whole = self.frames("whole", "*.bgeo")
        limit = sorted(len(data) for data in whole.values())[6]

        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = self.fail_with(1, "x/", "cook", "scene.json", "-o", "x", "--format", "bgeo", preexec_fn=limit_files)
        self.assertIn("arge", done.stderr)  # larger, or too large
        written = self.frames("x", "*.bgeo")
        self.assertGreater(len(written), 2)
        self.assertLess(len(written), 12)
        for name, data in written.items():
            self.assertEqual(data, whole[name])
        self.assertEqual(self.frames("x", ".*part"), {})
        # With room again it goes on.
        self.succeed("cook", "scene.json", "-o", "x", "--format", "bgeo", "--resume")
        self.assertEqual(self.frames("x", "*.bgeo"), whole)

    def test_a_full_file_system(self):
        place = self.folder / "small"
        place.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no small file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(place)])
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-o", "whole", "--format", "bgeo")
        whole = self.frames("whole", "*.bgeo")
        self.fail_with(1, "No space left", "cook", "scene.json", "-o", "small", "--format", "bgeo")
        written = self.frames("small", "*.bgeo")
        self.assertLess(len(written), 12)
        for name, data in written.items():
            self.assertEqual(data, whole[name])


if __name__ == "__main__":
    unittest.main(verbosity=1)
