#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--format glb: the Khronos validator finds nothing to say about any kind of output, and the numbers read back."""
import json
import math
import struct
import sys
import unittest

import npm_packages
from command_runner import ROOT, CommandTest, spray

sys.path.insert(0, str(ROOT / "plugin/python"))
import meniscus  # noqa: E402

SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def read(path):
    """[{semantic or "indices": [tuple, ...], "mode": n}, ...] of a .glb."""
    data = path.read_bytes()
    magic, version, length, size, kind = struct.unpack("<4sIII4s", data[:20])
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    text, binary = json.loads(data[20:20 + size]), data[20 + size + 8:]

    def column(number):
        accessor = text["accessors"][number]
        view, n = text["bufferViews"][accessor["bufferView"]], SIZES[accessor["type"]]
        code = "I" if accessor["componentType"] == 5125 else "f"
        flat = struct.unpack_from(f"<{accessor['count'] * n}{code}", binary, view["byteOffset"])
        return list(zip(*[iter(flat)] * n))

    parts = [part for mesh in text.get("meshes", []) for part in mesh["primitives"]]
    return [{"mode": part["mode"], "indices": [i for i, in column(part["indices"])] if "indices" in part else None,
             **{name: column(number) for name, number in part["attributes"].items()}} for part in parts]


def area(part):
    """Of the triangles as seen from above, y down."""
    x = part["POSITION"]
    sides = zip(*[iter(part["indices"])] * 3)
    return sum((x[b][2] - x[a][2]) * (x[c][0] - x[a][0]) - (x[b][0] - x[a][0]) * (x[c][2] - x[a][2]) for a, b, c in sides) / 2


class Gltf(CommandTest):
    def validate(self, path):
        done = npm_packages.run("validate_gltf.mjs", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        issues = json.loads(done.stdout)["issues"]
        self.assertEqual((issues["numErrors"], issues["numWarnings"]), (0, 0), issues["messages"])

    def save(self, geo, name="x.0001.glb"):
        path = self.folder / name
        geo.save(path)
        self.validate(path)
        return read(path)

    def test_polygons_lines_and_points(self):
        geo = meniscus.Geometry()
        # An arrowhead, whose fourth corner points inward: a fan from the first would turn one triangle over.
        geo.add_points([(0, 0, 0), (0, 0, 2), (0.5, 0, 0.5), (2, 0, 0), (5, 5, 5), (6, 5, 5), (7, 7, 7)])
        geo.add_primitives("polygon", [(0, 1, 2, 3)])
        geo.add_primitives("polyline", [(4, 5)])
        geo.set("Cd", [(i / 7, 0, 2) for i in range(7)], size=3, hint="color")
        surface, lines, points = self.save(geo)
        self.assertEqual([part["mode"] for part in (surface, lines, points)], [4, 1, 0])
        self.assertAlmostEqual(abs(area(surface)), 1, places=6)
        self.assertEqual(len(surface["indices"]), 6)
        for normal in surface["NORMAL"]:
            self.assertAlmostEqual(math.hypot(*normal), 1, places=6)
            self.assertAlmostEqual(normal[1], 1, places=6)
        self.assertEqual(lines["POSITION"], [(5, 5, 5), (6, 5, 5)])
        self.assertEqual(points["POSITION"], [(7, 7, 7)])
        self.assertEqual(points["COLOR_0"][0], (struct.unpack("f", struct.pack("f", 6 / 7))[0], 0, 1, 1))

    def test_corners_of_their_own_and_tetrahedra(self):
        geo = meniscus.Geometry()
        geo.add_points([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        geo.add_primitives("polygon", [(0, 1, 2), (0, 2, 3)])
        geo.set("uv", [(i / 6, 0.25) for i in range(6)], owner="vertex", size=2, hint="texture")
        surface, points = self.save(geo)[0], geo.point_count
        self.assertEqual((len(surface["POSITION"]), points), (6, 4))
        self.assertEqual(surface["TEXCOORD_0"][3], (0.5, 0.75))
        solid = meniscus.Geometry()
        solid.add_points([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        solid.add_primitives("tetrahedron", [(0, 1, 2, 3)])
        part, = self.save(solid)
        self.assertEqual(len(part["indices"]), 12)
        inside = (0.25, 0.25, 0.25)
        for x, n in zip(part["POSITION"], part["NORMAL"]):
            self.assertGreater(sum((a - b) * c for a, b, c in zip(x, inside, n)), 0, "outward")

    def test_a_liquid_shares_its_vertices(self):
        self.write_scene({"meniscus": 1, "nodes": [
            {"name": "ball", "type": "shape", "parms": {"kind": "sphere", "radius": 0.01}},
            {"name": "fill", "type": "fill", "inputs": ["ball"], "parms": {"dx": 0.002}},
            {"name": "skin", "type": "surface", "inputs": ["fill"], "parms": {"dx": 0.001}}], "output": "skin"})
        self.succeed("cook", "scene.json", "-o", "x", "--format", "glb", "-q")
        self.succeed("cook", "scene.json", "-o", "y", "-q")
        self.validate(self.folder / "x/skin.0001.glb")
        part, = read(self.folder / "x/skin.0001.glb")
        geo = meniscus.Geometry.read(self.folder / "y/skin.0001.bgeo.sc")
        self.assertEqual(len(part["POSITION"]), geo.point_count)
        self.assertEqual(set(part["POSITION"]), {tuple(one) for one in geo["P"].tolist()})

    def test_empty_frames_and_points_that_are_not_finite(self):
        self.assertEqual(self.save(meniscus.Geometry()), [])
        geo = meniscus.Geometry()
        geo.add_points([(math.nan, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, math.inf, 0)])
        geo.add_primitives("polygon", [(0, 1, 2), (1, 2, 3)])
        part, = self.save(geo)
        self.assertEqual(len(part["indices"]), 3)

    def test_what_it_cannot_hold_has_a_sentence(self):
        self.write_scene({"meniscus": 1, "nodes": [{"name": "ball", "type": "shape", "parms": {"kind": "sphere"}},
                                                   {"name": "level", "type": "collider", "inputs": ["ball"]}], "output": "level"})
        self.fail_with(1, "cannot hold a volume", "cook", "scene.json", "-o", "x", "--format", "glb", "-q")
        self.assertEqual(self.frames("x", "*.glb"), {})
        self.write_scene(spray(frames=[1, 2], spray_rate=1000))
        self.fail_with(2, "--preview reads the frames back", "cook", "scene.json", "--format", "glb", "--preview")
        done = self.succeed("cook", "scene.json", "-o", "y", "--format", "glb")
        self.assertIn("other attributes are left out", done.stderr)
        self.validate(self.folder / "y/moved.0002.glb")
        self.fail_with(1, "written, not read", "convert", "y/moved.0002.glb", "a.ply")


if __name__ == "__main__":
    npm_packages.require()
    unittest.main()
