#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scene's dx: nodes follow it in proportion until their own is set, in every host; and a scene that follows gives the bytes of one that
sets the same values itself."""
import json
import os
import re
import subprocess
import sys
import unittest

from command_runner import ROOT, CommandTest

sys.path.insert(0, str(ROOT / "plugin/python"))
import meniscus  # noqa: E402

BUILD = os.environ.get("MENISCUS_BUILD", str(ROOT / "build/release"))


def drop(dx=None, own=None):
    """A drop on a table; `dx` of the scene, `own` of the nodes by name."""
    own = own or {}
    nodes = [{"name": "ball", "type": "shape", "parms": {"kind": "sphere", "radius": 0.004}},
             {"name": "table", "type": "shape", "parms": {"kind": "box", "size": [0.03, 0.002, 0.03], "center": [0, -0.005, 0]}},
             {"name": "fill", "type": "fill", "inputs": ["ball"]},
             {"name": "ground", "type": "collider", "inputs": ["table"]},
             {"name": "liquid", "type": "mpm_solver", "inputs": ["fill", "ground"], "parms": {"time_scale": 0.02}},
             {"name": "skin", "type": "surface", "inputs": ["liquid"]}]
    for node in nodes:
        if node["name"] in own:
            node.setdefault("parms", {})["dx"] = own[node["name"]]
    scene = {"meniscus": 1, "frames": [1, 3], "nodes": nodes, "output": "skin"}
    return scene if dx is None else {**scene, "dx": dx}


class NetworkDx(CommandTest):
    def test_nodes_follow_until_they_are_told_otherwise(self):
        self.write_scene(drop(0.001))
        self.write_scene(drop(own={"fill": 0.001, "ground": 0.001, "liquid": 0.001, "skin": 0.0005}), "told.json")
        for scene in ("scene", "told"):
            self.succeed("cook", f"{scene}.json", "-o", scene, "-q")
        self.assertEqual(self.digests("scene"), self.digests("told"))
        # Another dx by the command, and one node of its own.
        self.succeed("cook", "scene.json", "-o", "coarse", "-q", "--set", "dx=0.002", "--set", "skin.dx=0.0005")
        self.write_scene(drop(own={"fill": 0.002, "ground": 0.002, "liquid": 0.002, "skin": 0.0005}), "told.json")
        self.succeed("cook", "told.json", "-o", "coarse_told", "-q")
        self.assertEqual(self.digests("coarse"), self.digests("coarse_told"))

    def test_python_and_what_is_written(self):
        network = meniscus.Network.from_text(json.dumps(drop(0.001, own={"skin": 0.0005})))
        self.assertEqual(network.dx, 0.001)
        self.assertEqual((network["fill"].dx, network["liquid"].dx, network["skin"].dx), (0.001, 0.001, 0.0005))
        network.dx = 0.002
        self.assertEqual((network["fill"].dx, network["skin"].dx), (0.002, 0.0005))
        written = json.loads(network.to_text())
        self.assertEqual(written["dx"], 0.002)
        parms = {node["name"]: node.get("parms", {}) for node in written["nodes"]}
        self.assertNotIn("dx", parms["fill"])
        self.assertEqual(parms["skin"]["dx"], 0.0005, "set to its default: it does not follow")
        network["skin"].dx = {1: 0.0004, 3: 0.0005}
        self.assertAlmostEqual(network["skin"].dx, 0.0004)
        network.dx = 0
        self.assertEqual(network["fill"].dx, 0.001, "its own default again")
        for wrong in (-1, float("nan"), 1e9):
            with self.assertRaisesRegex(meniscus.Error, "between"):
                network.dx = wrong
        self.assertEqual(network.dx, 0)

    def test_it_is_refused_and_varied_with_a_sentence(self):
        self.write_scene(drop(-1))
        self.fail_with(2, ": dx is -1 m but must be between", "cook", "scene.json")
        self.write_scene(drop("fine"))
        self.fail_with(2, '"dx" must be a number', "cook", "scene.json")
        self.write_scene(drop(0.001))
        self.fail_with(2, "is not a number", "cook", "scene.json", "--set", "dx=fine")
        self.succeed("wedge", "scene.json", "--vary", "dx=0.001,0.002", "--plan", "-q", "-o", "w")
        self.assertEqual(sorted(m["name"] for m in json.loads((self.folder / "w/plan.json").read_text())["members"]), ["dx=0.001", "dx=0.002"])

    def test_a_dx_that_nothing_follows_is_warned_about(self):
        every = {name: 0.001 for name in ("fill", "ground", "liquid", "skin")}
        own = "dx does nothing: every length that could follow it has a value of its own. Set fill.dx"
        self.write_scene(drop(own=every))
        self.write_scene(drop(0.002, own=every), "both.json")
        for words in (("cook", "scene.json", "-f", "1-1", "-o", "x", "--set", "dx=0.002"), ("cook", "both.json", "-f", "1-1", "-o", "y"),
                      ("wedge", "scene.json", "--vary", "dx=0.001,0.002", "--plan", "-o", "w")):
            said = self.succeed(*words).stderr
            self.assertEqual(said.count(own), 1, said)
        self.write_scene({"meniscus": 1, "nodes": [{"name": "ball", "type": "shape"}], "output": "ball"})
        self.assertIn("no node has a length that follows it", self.succeed("cook", "scene.json", "-o", "z", "--set", "dx=0.002").stderr)
        said = []
        network = meniscus.Network.from_text(json.dumps(drop(own=every)), log=lambda level, sentence: said.append((level, sentence)))
        network.dx = 0.002
        self.assertEqual([level for level, sentence in said if own in sentence], ["warning"])
        self.write_scene(drop(0.001, own={"skin": 0.0005}))
        self.assertNotIn("does nothing", self.succeed("cook", "scene.json", "-f", "1-1", "-o", "v", "--set", "dx=0.002").stderr)

    def test_a_value_that_the_material_gives_is_warned_about(self):
        scene = drop(0.001)
        scene["nodes"][4]["parms"]["material"] = "mercury"
        self.write_scene(scene)
        for words in (("cook", "scene.json", "-f", "1-1", "-o", "x", "--set", "liquid.sigma=0.02"),
                      ("wedge", "scene.json", "--vary", "liquid.sigma=0.02,0.03", "--plan", "-o", "w")):
            said = self.succeed(*words).stderr
            self.assertEqual(said.count("liquid.sigma does nothing while liquid.material is mercury, which gives it"), 1, said)
        said = self.succeed("cook", "scene.json", "-f", "1-1", "-o", "y", "--set", "liquid.material=custom", "--set", "liquid.sigma=0.02").stderr
        self.assertNotIn("does nothing", said)

    def test_tables_say_which_parameters_follow(self):
        following = {(node["name"], parm["name"]): parm["of_dx"]
                     for node in json.loads(self.succeed("nodes", "--json").stdout)["nodes"] for parm in node["parms"] if "of_dx" in parm}
        self.assertEqual(following[("surface", "dx")], 0.5)
        self.assertEqual({following[(name, "dx")] for name in ("fill", "collider", "mpm_solver", "flow_solver")}, {1})
        self.assertEqual(meniscus.node_type("surface").parms["dx"].of_dx, 0.5)

    def test_assets_of_houdini_have_one_dx(self):
        scene = drop(0.001)
        scene["asset"] = {"name": "one_dx", "label": "One dx", "parms": [{"parm": "liquid.dx"}]}
        self.write_scene(scene)
        done = subprocess.run([f"{BUILD}/bin/meniscus_houdini_files", "out", "scene.json"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = "".join(path.read_text() for path in sorted((self.folder / "out").rglob("*Contents*")) if path.is_file())
        self.assertEqual(len(re.findall(r'ch\(\\"\.\./dx\\"\) ', text)), 3, "fill, ground, liquid")
        self.assertEqual(len(re.findall(r'ch\(\\"\.\./dx\\"\)\*0\.5 ', text)), 1, "skin")


if __name__ == "__main__":
    unittest.main()
