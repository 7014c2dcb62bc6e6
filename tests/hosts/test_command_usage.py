#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line itself, and the subcommands that look at things: nodes, info, convert, doctor."""
import json
import unittest

from command_runner import CommandTest, spray

SUBCOMMANDS = ("cook", "nodes", "doctor", "info", "convert", "preview")


class Usage(CommandTest):
    def test_help_everywhere(self):
        overview = self.succeed("--help").stdout
        for name in SUBCOMMANDS:
            self.assertIn(f"meniscus {name}", overview)
            text = self.succeed(name, "--help").stdout
            self.assertTrue(text.startswith(f"usage: meniscus {name}"), text)
        cook = self.succeed("cook", "--help").stdout
        for option in ("-f", "-o", "--node", "--set", "--format", "--threads", "--resume", "--report", "--preview"):
            self.assertIn(option, cook)

    def test_version(self):
        self.assertRegex(self.succeed("--version").stdout, r"^meniscus \d+\.\d+\.\d+\n$")

    def test_wrong_words_get_the_nearest_right_one(self):
        self.fail_with(2, "meniscus cook")
        self.fail_with(2, "did you mean 'cook'", "cok")
        self.fail_with(2, "did you mean '--node'", "cook", "--nod", "x")
        self.fail_with(2, "needs a value", "cook", "scene.json", "--node")
        self.fail_with(2, "takes no value", "cook", "scene.json", "--resume=yes")
        self.fail_with(2, "which scene?", "cook")
        self.fail_with(2, "one scene", "cook", "a.json", "b.json")
        self.fail_with(2, "which file?", "info")
        self.fail_with(2, "two files", "convert", "a.geo")
        self.fail_with(2, "which files?", "preview", "-o", "x.png")
        self.fail_with(2, "-o PNG", "preview", "a.geo")
        self.fail_with(2, ".png", "preview", "a.geo", "-o", "x.jpg")

    def test_help_of_a_command(self):
        self.assertEqual(self.succeed("help", "cook").stdout, self.succeed("cook", "--help").stdout)

    def test_names_get_suggestions_or_a_list(self):
        self.fail_with(2, "did you mean 'mpm_solver'", "nodes", "mpm")
        self.write_scene(spray())
        self.fail_with(2, "there are ", "cook", "scene.json", "--node", "qqqqqq")

    def test_vectors_are_written_in_brackets_or_by_one_number(self):
        self.write_scene({"meniscus": 1, "output": "ball", "nodes": [
            {"name": "ball", "type": "shape", "parms": {"kind": "sphere", "radius": 0.5, "center": [0, 0, 0]}}]})
        self.succeed("cook", "scene.json", "-f", "1", "-o", "a")
        low, high = json.loads(self.succeed("info", "a/ball.0001.bgeo.sc", "--json").stdout)["bounds"]
        self.assertAlmostEqual(high[0] - low[0], 1, delta=0.02)
        self.assertAlmostEqual(high[2] - low[2], 1, delta=0.02)
        self.succeed("cook", "scene.json", "-f", "1", "-o", "b", "--set", "ball.center=[1, 2,3]", "--set", "ball.radius=0.25")
        low, high = json.loads(self.succeed("info", "b/ball.0001.bgeo.sc", "--json").stdout)["bounds"]
        self.assertAlmostEqual(low[2], 2.75, delta=0.02)
        self.fail_with(2, "takes 3 numbers", "cook", "scene.json", "--set", "ball.center=[1,2]")

    def test_a_scene_from_stdin_frames_by_steps_and_obj(self):
        text = json.dumps({"meniscus": 1, "frames": [1, 6], "output": "ball", "nodes": [
            {"name": "ball", "type": "shape", "parms": {"kind": "sphere", "radius": {"keys": [[1, 1], [6, 2]]}}}]})
        done = self.succeed("cook", "-", "-f", "1-6x2", "-o", "steps", "--format", "obj", input=text)
        self.assertEqual(sorted(path.name for path in (self.folder / "steps").glob("*.obj")),
                         ["ball.0001.obj", "ball.0003.obj", "ball.0005.obj"])
        self.assertEqual(done.stderr.count("no place for v"), 1)
        self.fail_with(2, "stdin:1", "cook", "-", input="{")
        facts = json.loads(self.succeed("doctor", "-", "--json", input=text).stdout)
        self.assertEqual((facts["output"], facts["last_frame"], facts["nodes"][0]["type"]), ("ball", 6, "shape"))

    def test_numbers_are_checked(self):
        self.write_scene(spray())
        for text in ("0", "-3", "many", "2000", "1.5", ""):
            self.fail_with(2, "--threads", "cook", "scene.json", "--threads", text)
        for text in ("5-1", "x", "1-", "1-2-3", "1-99999999", ""):
            self.fail_with(2, "--frames", "cook", "scene.json", "-f", text)
        self.fail_with(2, "write 1-5", "cook", "scene.json", "-f", "5-1")
        self.fail_with(2, "neither threads nor tbb", "cook", "scene.json", "--scheduler", "openmp")
        self.fail_with(2, "--format", "cook", "scene.json", "--format", "fbx")
        self.fail_with(2, "--format", "cook", "scene.json", "--format", "../x.geo")
        for size in ("10x10", "100", "99999x100", "100x100x", "axb"):
            self.fail_with(2, "--size", "preview", "a.geo", "-o", "x.png", "--size", size)

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w") as full:
            import subprocess
            from command_runner import COMMAND
            done = subprocess.run([COMMAND, "nodes", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be written", done.stderr)


class Nodes(CommandTest):
    def test_list_and_one(self):
        self.assertIn("spray_solver", self.succeed("nodes").stdout)
        text = self.succeed("nodes", "spray_solver").stdout
        for part in ("rate", "1/s", "start_frame", "default", "gravity[3]", "m/s^2"):
            self.assertIn(part, text)
        self.fail_with(2, "spray_solver", "nodes", "spray_solvr")

    def test_json_has_everything_of_the_tables(self):
        nodes = json.loads(self.succeed("nodes", "--json").stdout)["nodes"]
        self.assertIn("shape", [node["name"] for node in nodes])
        for node in nodes:
            self.assertTrue({"name", "label", "menu", "help", "inputs", "outputs", "parms"} <= set(node), node["name"])
            for parm in node["parms"]:
                self.assertTrue({"name", "label", "type", "size", "default", "unit", "tooltip"} <= set(parm), parm)
        one = json.loads(self.succeed("nodes", "shape", "--json").stdout)["nodes"]
        self.assertEqual([node["name"] for node in one], ["shape"])


class InfoAndConvert(CommandTest):
    def make_geometry(self, name="in.geo"):
        scene = {"meniscus": 1, "nodes": [{"name": "box", "type": "shape", "parms": {"kind": "box", "size": [1, 2, 3]}}],
                 "output": "box"}
        self.write_scene(scene, "box.json")
        self.succeed("cook", "box.json", "-f", "1", "-o", "made", "--format", "geo", "-q")
        (self.folder / "made/box.0001.geo").rename(self.folder / name)

    def test_info_as_json(self):
        self.make_geometry()
        info = json.loads(self.succeed("info", "in.geo", "--json").stdout)
        self.assertEqual(set(info), {"points", "vertices", "primitives", "attributes", "groups", "bounds"})
        self.assertEqual(info["vertices"], 4 * info["primitives"]["polygon"])
        self.assertIn({"owner": "point", "name": "P", "type": "f32", "size": 3}, info["attributes"])
        self.assertEqual(info["bounds"], [[-0.5, -1, -1.5], [0.5, 1, 1.5]])
        text = self.succeed("info", "in.geo").stdout
        self.assertIn("polygon", text)
        self.assertIn("f32[3]", text)

    def test_info_of_nothing(self):
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-f", "1", "-o", "made", "--format", "geo", "-q")
        info = json.loads(self.succeed("info", "made/moved.0001.geo", "--json").stdout)
        self.assertEqual((info["points"], info["bounds"]), (0, None))
        self.assertIn("empty", self.succeed("info", "made/moved.0001.geo").stdout)

    def test_convert_there_and_back(self):
        self.make_geometry()
        for ending in ("bgeo", "bgeo.gz", "bgeo.sc", "geo"):
            self.succeed("convert", "in.geo", f"out.{ending}")
            self.succeed("convert", f"out.{ending}", "back.geo")
            self.assertEqual(json.loads((self.folder / "in.geo").read_text()), json.loads((self.folder / "back.geo").read_text()))

    def test_bad_files_give_a_sentence(self):
        self.fail_with(1, "missing.geo", "info", "missing.geo")
        self.fail_with(1, "missing.geo", "convert", "missing.geo", "out.geo")
        self.fail_with(2, ".bgeo.sc", "convert", "in.fbx", "out.geo")
        self.fail_with(2, ".bgeo.sc", "convert", "in.geo", "out.fbx")
        self.fail_with(2, "--ascii", "convert", "in.geo", "out.geo", "--ascii")
        self.make_geometry()
        whole = (self.folder / "in.geo").read_bytes()
        (self.folder / "cut.geo").write_bytes(whole[:len(whole) // 2])
        self.fail_with(1, "cut.geo", "info", "cut.geo")
        (self.folder / "empty.bgeo").write_bytes(b"")
        self.fail_with(1, "empty.bgeo", "info", "empty.bgeo")
        self.fail_with(1, "out", "convert", "in.geo", "no/such/folder/out.geo")
        (self.folder / "folder.geo").mkdir()
        self.fail_with(1, "folder.geo", "info", "folder.geo")
        self.fail_with(1, "folder.geo", "convert", "in.geo", "folder.geo")
        self.assertEqual(sorted(p.name for p in self.folder.glob(".*part")), [])


class Doctor(CommandTest):
    def test_it_examines_every_node(self):
        self.write_scene(spray())
        text = self.succeed("doctor", "scene.json").stdout
        for part in ("Drops for tests", "frames 1 to 12", "nozzle (shape)", "spray (spray_solver)", "terminal speed", "memory",
                     "disk"):
            self.assertIn(part, text)
        faster = self.succeed("doctor", "scene.json", "--set", "spray.radius=0.01", "-f", "3-7").stdout
        self.assertIn("frames 3 to 7", faster)
        self.assertNotEqual(text, faster)

    def test_it_tells_the_time_by_cooking_the_beginning(self):
        self.write_scene(spray())
        self.assertRegex(self.succeed("doctor", "scene.json").stdout, r"time +[0-9.e-]+ s a frame.* in all, by 11 frames")
        probe = json.loads(self.succeed("doctor", "scene.json", "--json", "--probe", "0.5").stdout)["probe"]
        self.assertGreater(probe["frames"], 0)
        self.assertGreater(probe["seconds_per_frame"], 0)
        self.assertLessEqual(probe["seconds_low"], probe["seconds_high"])
        self.assertNotIn("in all, by", self.succeed("doctor", "scene.json", "--probe", "0").stdout)
        geo = {"meniscus": 1, "frames": [1, 4], "nodes": [{"name": "g", "type": "file", "parms": {"path": "nozzle.$F4.bgeo"}}], "output": "g"}
        self.succeed("cook", "scene.json", "--node", "nozzle", "--format", "bgeo", "-f", "1-2", "-q")
        self.write_scene(geo, "files.json")
        self.assertRegex(self.succeed("doctor", "files.json").stdout, r"frame 3 fails: .*nozzle\.0003\.bgeo")

    def test_bad_scenes(self):
        self.fail_with(2, "missing.json", "doctor", "missing.json")
        self.write_scene(spray())
        self.fail_with(2, "did you mean 'spray'", "doctor", "scene.json", "--node", "spry")
        self.fail_with(2, "--probe", "doctor", "scene.json", "--probe", "soon")
        self.fail_with(2, "radius", "doctor", "scene.json", "--set", "spray.radus=1")


if __name__ == "__main__":
    unittest.main(verbosity=1)
