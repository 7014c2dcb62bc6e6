#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cook --from DIR@48: the frames after a branch are those of one cook whose parameter has keys there."""
import json
import shutil
import signal
import subprocess
import unittest

from command_runner import COMMAND, CommandTest, spray

DROP = {
    "meniscus": 1, "frames": [1, 8], "output": "skin",
    "nodes": [{"name": "ball", "type": "shape", "parms": {"kind": "sphere", "radius": [0.01, 0.006, 0.01]}},
              {"name": "fill", "type": "fill", "inputs": ["ball"], "parms": {"dx": 0.002}},
              {"name": "drop", "type": "mpm_solver", "inputs": ["fill"],
               "parms": {"dx": 0.002, "sigma": 0.072, "gravity": [0, 0, 0], "time_scale": 0.2}},
              {"name": "skin", "type": "transform", "inputs": ["drop"], "parms": {"translate": [0, 1, 0]}}]}


class Branch(CommandTest):
    def check(self, scene, frame, setting, keys):
        """A branch at a frame gives the bytes of a cook with keys; `keys` sets them in the scene."""
        self.write_scene(scene)
        self.succeed("cook", "scene.json", "-o", "a", "-q")
        self.succeed("cook", "--from", f"a@{frame}", "--set", setting, "-o", "b", "-q")
        keyed = json.loads(json.dumps(scene))
        node, parm = setting.split("=")[0].split(".")
        next(n for n in keyed["nodes"] if n["name"] == node)["parms"][parm] = {"keys": keys}
        self.write_scene(keyed, "keyed.json")
        self.succeed("cook", "keyed.json", "-o", "c", "-q")
        branch, whole, old = self.digests("b"), self.digests("c"), self.digests("a")
        self.assertEqual(list(branch), list(whole)[frame:])
        self.assertEqual(branch, {name: whole[name] for name in branch})
        self.assertNotEqual(branch, {name: old[name] for name in branch})

    def test_a_solver(self):
        self.check(DROP, 4, "drop.sigma=0.03", [[4, 0.072], [5, 0.03]])
        origin = json.loads((self.folder / "b/.skin.origin").read_text())
        self.assertEqual(origin["from"]["cook"], str((self.folder / "a").resolve()))
        self.assertEqual((origin["from"]["frame"], origin["from"]["settings"]), (4, ["drop.sigma=0.03"]))

    def test_an_animated_parameter(self):
        self.check(spray(spray_speed={"keys": [[1, 1], [5, 2], [30, 4]]}), 5, "spray.speed=3", [[1, 1], [5, 2], [6, 3]])

    def test_a_branch_of_a_branch_and_kept_states(self):
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-o", "a", "-q", "--checkpoint-every", 3)
        self.assertEqual(sorted(path.name for path in (self.folder / "a/checkpoints").iterdir()), ["0003", "0006", "0009", "0012"])
        done = self.succeed("cook", "--from", "a@6", "--set", "spray.speed=3", "-o", "b")
        self.assertNotIn("simulating it again", done.stderr)
        self.succeed("cook", "--from", "b@9", "--set", "spray.speed=1", "-o", "c", "-q")
        self.write_scene(spray(spray_speed={"keys": [[6, 2], [7, 3], [9, 3], [10, 1]]}), "keyed.json")
        self.succeed("cook", "keyed.json", "-o", "d", "-q", "-f", "10-12")
        self.assertEqual(self.digests("c"), self.digests("d"))
        # Without kept states the frame is simulated again, and it is the same.
        shutil.rmtree(self.folder / "a/checkpoints")
        done = self.succeed("cook", "--from", "a@6", "--set", "spray.speed=3", "-o", "e")
        self.assertIn("simulating it again from the beginning", done.stderr)
        self.assertEqual(self.digests("e"), self.digests("b"))

    def test_killed_and_resumed(self):
        self.write_scene(spray(frames=[1, 60], spray_rate=20000))
        self.succeed("cook", "scene.json", "-o", "a", "-q", "-f", "1-10")
        words = ["cook", "--from", "a@10", "--set", "spray.speed=4", "-o"]
        self.succeed(*words, "whole", "-q")
        process = subprocess.Popen([COMMAND, *words, "b"], stderr=subprocess.PIPE, text=True, cwd=self.folder)
        for _ in range(8):
            process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        process.stderr.close()
        process.wait()
        self.assertLess(len(self.digests("b")), 50)
        self.succeed(*words, "b", "-q", "--resume")
        self.assertEqual(self.digests("b"), self.digests("whole"))

    def test_what_cannot_have_keys(self):
        scene = spray()
        self.write_scene(scene)
        menus = [(p["name"], p["items"]) for p in json.loads(self.succeed("nodes", "spray_solver", "--json").stdout)["nodes"][0]["parms"]
                 if p["type"] == "menu"]
        self.succeed("cook", "scene.json", "-o", "a", "-q")
        if not menus:
            self.skipTest("spray_solver has no menu")
        token = menus[0][1][-1]
        token = token["token"] if isinstance(token, dict) else token
        self.succeed("cook", "--from", "a@12", "--set", f"spray.{menus[0][0]}={token}", "-o", "b", "-q", "-f", "13-15")
        self.assertEqual(len(self.digests("b")), 3)

    def test_what_cannot_be(self):
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-o", "a", "-q")
        self.fail_with(2, "no cook in nowhere", "cook", "--from", "nowhere@3", "-o", "b")
        self.fail_with(2, "FOLDER@FRAME", "cook", "--from", "a", "-o", "b")
        self.fail_with(2, "whole number", "cook", "--from", "a@x", "-o", "b")
        self.fail_with(2, "leave out", "cook", "scene.json", "--from", "a@3", "-o", "b")
        self.fail_with(2, "folder of its own", "cook", "--from", "a@3", "-o", "./a")
        self.fail_with(2, "frames after it", "cook", "--from", "a@3", "-o", "b", "-f", "1-5")
        self.fail_with(2, "frames after it", "cook", "--from", "a@12", "-o", "b")
        self.fail_with(2, "start frame", "cook", "--from", "a@3", "-o", "b", "--set", "spray.start_frame=2")
        self.fail_with(2, "did you mean", "cook", "--from", "a@3", "-o", "b", "--set", "spray.sped=2")
        (self.folder / "a/.moved.scene").write_text("{")
        self.fail_with(2, ".moved.scene", "cook", "--from", "a@3", "-o", "b")


if __name__ == "__main__":
    unittest.main()
