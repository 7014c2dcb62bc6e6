#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same scene in three hosts: the command, the Python module and the Houdini shim (driven through the double) give the
same bits for every one-click preset and every digital asset. (Blender's frames are compared with the command's in
blender/nodes.py, preset by preset.)"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("MENISCUS_BUILD", SOURCE / "build/release"))
COMMAND = os.environ.get("MENISCUS", str(BUILD / "bin/meniscus"))
SHIM = BUILD / "bin/hosts_test_houdini_shim"  # the double's own program cooks a scene when it is given one
sys.path.insert(0, str(SOURCE / "plugin/python"))
import meniscus  # noqa: E402


def preset_scene(setup, cells=6, frames=2):
    """A one-click preset around a small sphere, as the Blender panel makes it, without Blender, and a tenth as fast."""
    material, size = meniscus.material(setup["material"]), setup["size"]
    numbers = {"dx": size / cells, "size": size, "gravity": [0, -9.81, 0], "contact_angle": setup.get("contact_angle", 90),
               "time_scale": 0.1 / setup["slow_motion"], "start": 1, "velocity": [0, 0, 0], "integrator": "semi_implicit",
               "collider_kind": "auto", "thickness": 0, "domain_center": [0, 50 * size, 0], "domain_size": [100 * size] * 3,
               "middle": [0, 0.6 * size, 0], "place": [0, 0, 0], "sheet_size": [5 * size, 0, 5 * size],
               "pond_center": [0, -0.25 * size, 0], "pond_size": [3 * size, 1.5 * size, 3 * size], **{key: material[key] for key in ("density", "viscosity", "sigma")}}

    def value(given):
        if isinstance(given, str) and given.startswith("$"):
            name, _, factor = given[1:].partition("*")
            return numbers[name] * float(factor) if factor else numbers[name]
        return given

    nodes = []
    for entry in setup["nodes"]:
        node = {"name": entry["name"], "type": entry["type"], "inputs": entry.get("inputs", []),
                "parms": {name: value(given) for name, given in entry.get("parms", {}).items()}}
        if node["type"] == "$object":
            node.update(type="shape", parms={"kind": "sphere", "radius": [size / 2] * 3, "center": [0, 0.6 * size, 0]})
            if setup["label"] == "Film in a Wire Frame":  # of a thing with few edges
                node["parms"] = {"kind": "box", "size": [size] * 3, "center": [0, 0.6 * size, 0]}
        if node["type"] == "$colliders":
            node.update(type="shape", parms={"kind": "box", "size": [4 * size, size, 4 * size], "center": [0, -size / 2, 0]})
        nodes.append(node)
    return {"meniscus": 1, "title": setup["label"], "frames": [1, frames], "nodes": nodes, "output": setup["result"].partition(":")[0]}


class SameBits(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)

    def by_command(self, scene, name, frame):
        out = self.folder / "out"
        done = subprocess.run([COMMAND, "cook", str(scene), "-o", str(out), "--quiet", "-f", f"{frame}-{frame}", "--format", "bgeo.sc"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return meniscus.Geometry.read(str(out / f"{name}.{frame:04d}.bgeo.sc")).hash

    def by_shim(self, scene, name, outputs, frame):
        done = subprocess.run([str(SHIM), str(scene), name, str(outputs), str(frame)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(line) for line in done.stdout.split()]

    def compare(self, scene, frame):
        name, network = json.loads(scene.read_text())["output"], meniscus.Network.load(scene)
        cooked = [network[name].cook(frame=frame, output=output) for output in range(len(network[name].table.outputs))]
        self.assertGreater(cooked[0].point_count, 0)
        # Saved and loaded again, in Python's own words, nothing is lost.
        again = self.folder / "again.json"
        network.save(again)
        self.assertEqual(meniscus.Network.load(again).to_text(), network.to_text())
        self.assertEqual(self.by_command(scene, name, frame), cooked[0].hash, "command and Python module")
        if SHIM.is_file():  # where there is a Houdini there is no double
            self.assertEqual(self.by_shim(scene, name, len(cooked), frame), [geometry.hash for geometry in cooked],
                             "Houdini shim and Python module")

    def test_every_preset(self):
        for path in sorted((SOURCE / "plugin/blender/setups").glob("*.json")):
            with self.subTest(path.stem):
                scene = self.folder / f"{path.stem}.json"
                scene.write_text(json.dumps(preset_scene(json.loads(path.read_text()))))
                self.compare(scene, 2)

    def test_every_asset_at_its_first_frame(self):
        for path in sorted(SOURCE.glob("examples/*/scene.json")):
            scene = json.loads(path.read_text())
            if "asset" in scene:
                with self.subTest(scene["asset"]["name"]):
                    self.compare(path, scene["frames"][0])


if __name__ == "__main__":
    unittest.main(verbosity=1)
