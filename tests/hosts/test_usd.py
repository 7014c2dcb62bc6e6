#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--format usd: every kind of geometry, read back by an independent reader (tinyusdz) number by number; the stage over
the frames of a cook, composed by OpenUSD itself; and what cannot be written."""
import ast
import json
import math
import re
import struct
import sys
import unittest

import npm_packages
from command_runner import ROOT, CommandTest, spray

sys.path.insert(0, str(ROOT / "plugin/python"))
import meniscus  # noqa: E402

PROPERTY = re.compile(r"^\s*(?:uniform )?([\w:]+(?:\[\])?) ([\w:]+)(?:\.timeSamples = \{\s*(-?[\d.e+]+): (.*?),\n\s*\}| = (.*?))"
                      r"(?: \((.*?)\n\s*\))?$", re.M | re.S)
SAMPLES = re.compile(r"\.timeSamples = \{\s*-?\d+: (.*?),\n\s*\}", re.S)
PRIM = re.compile(r'^\s*def (\w+) "(\w+)"', re.M)


def f32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def parse(text):
    """{prim: {"": type, attribute: (type, value, metadata)}} of the text of a layer."""
    found = {}
    starts = [(match.start(), match[1], match[2]) for match in PRIM.finditer(text)] + [(len(text), "", "")]
    for (begin, kind, name), (end, _, _) in zip(starts, starts[1:]):
        prim = found[name] = {"": kind}
        for match in PROPERTY.finditer(text[begin:end]):
            value = (match[4] or match[5] or "").strip()
            try:
                value = ast.literal_eval(re.sub(r"\b(nan|inf)\b", r"float('\1')", value)) if value else None
            except (ValueError, SyntaxError):
                pass  # an asset, a path
            prim[match[2]] = (match[1], value, match[6] or "")
    return found


class Usd(CommandTest):
    def read(self, path, plain=False):
        """What the reader makes of a file. `plain`: with values in place of samples, since this reader knows no samples of
        four integers and of some other types."""
        if plain:
            plain = self.folder / f"plain_{path.name}"
            plain.write_text(SAMPLES.sub(r" = \1", path.read_text()))
            path = plain
        done = npm_packages.run("read_usd.mjs", path)
        self.assertEqual(done.returncode, 0, f"{path.name}: {done.stderr}")
        result = json.loads(done.stdout)
        return parse(result["text"]), result["meshes"]

    def test_a_mesh_with_every_kind_of_attribute_reads_back(self):
        geo = meniscus.Geometry()
        points = [(0.1, 0.2, 0.3), (1.7, 0, 0), (1, 1e-7, -3), (0, 1, 1), (9, 9, 9)]
        geo.add_points(points)
        geo.add_primitives("polygon", [(0, 1, 2), (0, 2, 3, 1)])
        geo.set("v", [(i, -i / 3, 0) for i in range(5)], size=3, hint="vector")
        geo.set("Cd", [(0, 0.5, 1)] * 5, size=3, hint="color")
        geo.set("age", [0.1 * i for i in range(5)])
        geo.set("id", [7, 2**40, 1, 2, 3], type="i64")
        geo.set("cell", [(i, i + 1, i + 2) for i in range(5)], type="i32", size=3)
        geo.set("exact", [1 / 3, 2 / 3], owner="primitive", type="f64")
        geo.set("shop_materialpath", ['wa"ter', "ice"], owner="primitive")
        geo.set("uv", [(i / 7, 0.5) for i in range(7)], owner="vertex", size=2, hint="texture")
        geo.set("count", [3], owner="detail", type="i32")
        geo.set_group("wet", [0], owner="primitive")
        path = self.folder / "thing.0012.usda"
        geo.save(path)
        prims, _ = self.read(path, plain=True)
        mesh = prims["mesh"]
        self.assertEqual((prims["thing"][""], mesh[""], prims["points"][""]), ("Xform", "Mesh", "Points"))
        self.assertEqual(mesh["subdivisionScheme"][1], "none")
        self.assertEqual(mesh["faceVertexCounts"][1], [3, 4])
        self.assertEqual(mesh["faceVertexIndices"][1], [0, 1, 2, 0, 2, 3, 1])
        self.assertEqual([tuple(map(f32, one)) for one in mesh["points"][1]],
                         [tuple(map(f32, one)) for one in points[:4]])
        self.assertEqual([tuple(map(f32, one)) for one in mesh["velocities"][1]],
                         [tuple(map(f32, (i, -i / 3, 0))) for i in range(4)])
        self.assertEqual(mesh["primvars:displayColor"][:2], ("color3f[]", [(0, 0.5, 1)] * 4))
        self.assertEqual([f32(x) for x in mesh["primvars:age"][1]], [f32(0.1 * i) for i in range(4)])
        self.assertEqual(mesh["primvars:id"][:2], ("int64[]", [7, 2**40, 1, 2]))
        self.assertEqual(mesh["primvars:cell"][:2], ("int3[]", [(i, i + 1, i + 2) for i in range(4)]))
        self.assertEqual(mesh["primvars:exact"][:2], ("double[]", [1 / 3, 2 / 3]))
        self.assertEqual(mesh["primvars:shop_materialpath:indices"][1], [0, 1])
        self.assertEqual(mesh["primvars:shop_materialpath"][1], ['wa"ter', "ice", ""])
        self.assertEqual(mesh["primvars:st"][0], "texCoord2f[]")
        self.assertEqual([f32(x) for x, _ in mesh["primvars:st"][1]], [f32(i / 7) for i in range(7)])
        self.assertEqual(mesh["primvars:group_wet"][1], [1, 0])
        self.assertEqual(prims["thing"]["primvars:count"][1], [3])
        for name, word in (("primvars:age", "vertex"), ("primvars:exact", "uniform"), ("primvars:st", "faceVarying")):
            self.assertIn(f'interpolation = "{word}"', path.read_text().split(f"{name} (")[1].split(")")[0])
        self.assertEqual(prims["points"]["points"][1], [(9, 9, 9)])
        self.assertEqual(prims["points"]["ids"][:2], ("int64[]", [3]))

    def test_normals_are_of_unit_length_and_smooth_where_it_moves(self):
        self.write_scene({"meniscus": 1, "nodes": [{"name": "ball", "type": "shape", "parms": {"kind": "sphere"}},
                                                   {"name": "box", "type": "shape", "parms": {"kind": "box"}}], "output": "ball"})
        self.succeed("cook", "scene.json", "-o", "x", "--format", "usd", "--node", "ball", "--node", "box", "-q")
        for name in ("ball", "box"):
            prims, meshes = self.read(self.folder / f"x/{name}.0001.usda")
            mesh = prims["mesh"]
            self.assertEqual([one["path"] for one in meshes], [f"/{name}/mesh"], "the reader's stage shows it too")
            seen = meshes[0]["points"]  # a point by corner where normals differ
            self.assertEqual(set(zip(seen[::3], seen[1::3], seen[2::3])), {tuple(map(f32, one)) for one in mesh["points"][1]})
            corners, normals, points = mesh["faceVertexIndices"][1], mesh["normals"][1], mesh["points"][1]
            self.assertEqual(len(normals), len(corners), "what stands still has normals by corner")
            for corner, normal in zip(corners, normals):
                self.assertAlmostEqual(math.hypot(*normal), 1, places=6)
                self.assertGreater(sum(a * b for a, b in zip(points[corner], normal)), 0, "outward")
        flat = {tuple(round(x, 5) + 0.0 for x in normal) for normal in normals}
        self.assertEqual(len(flat), 6, "a box keeps its edges")

    def test_tetrahedra_threads_and_points_have_their_schemas(self):
        geo = meniscus.Geometry()
        geo.add_points([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (2, 0, 0), (3, 0, 0)])
        geo.add_primitives("tetrahedron", [(0, 1, 2, 3), (4, 1, 3, 2)])
        geo.add_primitives("polyline", [(1, 5), (5, 6, 1)])
        geo.add_points([(7, 7, 7)])
        geo.set("pscale", [0.25] * 8)
        path = self.folder / "all.0003.usda"
        geo.save(path)
        prims, _ = self.read(path, plain=True)
        tets, curves, points = prims["tets"], prims["curves"], prims["points"]
        self.assertEqual((tets[""], curves[""], points[""]), ("TetMesh", "BasisCurves", "Points"))
        self.assertEqual(tets["tetVertexIndices"][1], [(0, 1, 2, 3), (4, 1, 3, 2)])
        self.assertEqual(len(tets["surfaceFaceVertexIndices"][1]), 6, "the shared face is inside")
        self.assertEqual(len(tets["points"][1]), 5)
        self.assertEqual(curves["type"][1], "linear")
        self.assertEqual(curves["curveVertexCounts"][1], [2, 3])
        self.assertEqual(curves["points"][1], [(1, 0, 0), (2, 0, 0), (2, 0, 0), (3, 0, 0), (1, 0, 0)])
        self.assertEqual(curves["widths"][1], [0.5] * 5)
        self.assertEqual(points["widths"][1], [0.5])
        self.assertEqual(points["extent"][1], [(6.75, 6.75, 6.75), (7.25, 7.25, 7.25)])

    def test_volumes_lie_beside_as_vdb(self):
        self.write_scene({"meniscus": 1, "nodes": [{"name": "ball", "type": "shape", "parms": {"kind": "sphere", "radius": 0.5}},
                                                   {"name": "level", "type": "collider", "inputs": ["ball"]}], "output": "level"})
        self.succeed("cook", "scene.json", "-o", "x", "--format", "usd", "-q")
        prims, _ = self.read(self.folder / "x/level.0001.usda")
        field = next(prim for prim in prims.values() if prim[""] == "OpenVDBAsset")
        self.assertEqual(field["filePath"][1], "@./level.0001.vdb@")
        info = json.loads(self.succeed("info", "x/level.0001.vdb", "--json").stdout)
        self.assertEqual(info["primitives"]["volume"], sum(prim[""] == "OpenVDBAsset" for prim in prims.values()))

    def test_a_stage_shows_all_frames(self):
        scene = spray(frames=[1, 4], spray_rate=2000)
        scene["fps"] = 25
        scene["camera"] = {"position": [0, 1, 3], "target": [0, 1, 0], "fov": 40}
        scene["render"] = {"looks": {"moved": "mercury", "spray": "water"}, "size": [1600, 800], "aperture": 0.02}
        self.write_scene(scene)
        self.succeed("cook", "scene.json", "-o", "x", "--format", "usd", "-q")
        prims, _ = self.read(self.folder / "x/scene.usda")
        text = (self.folder / "x/scene.usda").read_text()
        for line in ("metersPerUnit = 1", 'upAxis = "Y"', "timeCodesPerSecond = 25", "startTimeCode = 1", "endTimeCode = 4",
                     "double2[] active = [(1, 0), (2, 1), (3, 2), (4, 3)]", "asset manifestAssetPath = @./moved.topology.usda@",
                     "rel material:binding = </scene/materials/mercury>"):
            self.assertIn(line, text)
        for asset in re.findall(r"@\./([^@]+)@", text):
            self.assertTrue((self.folder / "x" / asset).is_file(), asset)
        camera = prims["camera"]
        fov = 2 * math.degrees(math.atan(camera["verticalAperture"][1] / 2 / camera["focalLength"][1]))
        self.assertAlmostEqual(fov, 40, places=4)
        self.assertAlmostEqual(camera["horizontalAperture"][1], 2 * camera["verticalAperture"][1], places=6)
        self.assertEqual(camera["xformOp:transform"][1][3], (0, 1, 3, 1))
        topology, _ = self.read(self.folder / "x/moved.topology.usda")
        frame, _ = self.read(self.folder / "x/moved.0004.usda")
        self.assertEqual(set(frame["points"]) - {"extent"}, set(topology["points"]) - {"extent"})
        cooked = meniscus.Network.load(str(self.folder / "scene.json"))
        there = cooked.output.cook(4)["P"].tolist()
        self.assertEqual([tuple(map(f32, one)) for one in frame["points"]["points"][1]], [tuple(one) for one in there])

    def test_openusd_composes_the_stage_at_every_frame(self):
        """Surfaces whose points and faces change in number, threads and points, through the value clips."""
        counts = {1: 3, 2: 5, 3: 4}
        kept = {}
        for frame, count in counts.items():
            ring = [(math.cos(i), 0.1 * i, math.sin(i) + frame) for i in range(count)]
            geo = meniscus.Geometry()
            geo.add_points(ring + [(5, 5, frame), (6, 5, frame), (7, 7, 7)])
            geo.add_primitives("polygon", [(0, i, i + 1) for i in range(1, count - 1)])
            geo.add_primitives("polyline", [(count, count + 1)])
            geo.set("v", [(frame, 0, 0)] * (count + 3), size=3, hint="vector")
            geo.set("Cd", [(0.25, 0.5, frame / 4)] * (count + 3), size=3, hint="color")
            geo.set("swirl", [(i / 8, i, 0) for i in range(count + 3)], size=3, hint="vector")
            geo.save(self.folder / f"g.{frame:04d}.bgeo")
            kept[frame] = ring
        self.write_scene({"meniscus": 1, "frames": [1, 3], "output": "g",
                          "nodes": [{"name": "g", "type": "file", "parms": {"path": "g.$F4.bgeo"}}]})
        self.succeed("cook", "scene.json", "-o", "x", "--format", "usd", "-q")
        done = npm_packages.run("compose_usd.cjs", self.folder / "x", 3, 1, 2, 2.5, 1.25)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["errors"], [])
        for time, stage in zip((3, 1, 2, 2, 1), result["drawn"]):  # held, not blended
            mesh, curves, points = (stage[f"/scene/g/{name}"] for name in ("mesh", "curves", "points"))
            self.assertEqual((mesh["type"], curves["type"], points["type"]), ("mesh", "basisCurves", "points"))
            self.assertEqual(mesh["points"], [f32(x) for point in kept[time] for x in point])
            self.assertEqual(mesh["indices"], [x for i in range(1, counts[time] - 1) for x in (0, i, i + 1)])
            self.assertEqual(mesh["primvars"]["displayColor"], {"values": [0.25, 0.5, time / 4] * counts[time], "interpolation": "vertex"})
            self.assertEqual(mesh["primvars"]["swirl"]["values"], [x for i in range(counts[time]) for x in (i / 8, i, 0)])
            self.assertEqual(curves["points"], [5, 5, time, 6, 5, time])
            self.assertEqual(points["points"], [7, 7, 7])

    def test_going_on_gives_the_same_files(self):
        self.write_scene(spray(frames=[1, 6], spray_rate=2000))
        self.succeed("cook", "scene.json", "-o", "whole", "--format", "usd", "-q")
        self.succeed("cook", "scene.json", "-o", "x", "--format", "usd", "-q", "-f", "1-3")
        self.succeed("cook", "scene.json", "-o", "x", "--format", "usd", "-q", "--resume", "--threads", "2")
        self.assertEqual(self.frames("x", "*.usda"), self.frames("whole", "*.usda"))

    def test_members_of_a_wedge_have_stages(self):
        self.write_scene(spray(frames=[1, 2], spray_rate=500))
        self.succeed("wedge", "scene.json", "--vary", "spray.speed=1,2", "-o", "w", "--format", "usd", "-q")
        self.assertEqual(len(list((self.folder / "w").glob("*/scene.usda"))), 2)
        self.succeed("report", "w", "-q")

    def test_what_comes_later_is_declared_and_empty_frames_are_fine(self):
        self.write_scene(spray(frames=[-1, 2], spray_rate=300))
        self.succeed("cook", "scene.json", "-o", "x", "--format", "usd", "-q")
        first, last = (self.read(self.folder / f"x/moved.{frame}.usda")[0] for frame in ("-001", "0002"))
        self.assertNotIn("points", first)
        self.assertIn("points", last)
        self.assertIn("points", self.read(self.folder / "x/moved.topology.usda")[0])
        self.read(self.folder / "x/scene.usda")

    def test_what_it_is_not_for_has_a_sentence(self):
        self.write_scene(spray(frames=[1, 1]))
        self.fail_with(2, "--preview reads the frames back", "cook", "scene.json", "--format", "usd", "--preview")
        self.succeed("cook", "scene.json", "-o", "x", "--format", "usd", "-q")
        self.fail_with(1, "written, not read", "info", "x/moved.0001.usda")
        (self.folder / "y/scene.usda").mkdir(parents=True)
        self.fail_with(1, "a folder", "cook", "scene.json", "-o", "y", "--format", "usd", "-q")

    def test_looks_agree_with_the_material_presets(self):
        presets = json.loads((ROOT / "presets/materials.json").read_text())["materials"]
        source = (ROOT / "plugin/headless/cook_stage.c").read_text()
        rows = {match[1]: [float(x) for x in re.findall(r"[\d.]+", match[2])]
                for match in re.finditer(r'\{"(\w+)", (\{.*?\}.*?)\},', source)}
        for preset in presets:
            look, row = preset["look"], rows[preset["name"]]
            if look["kind"] == "metal":
                self.assertEqual(row[:3], look["reflectance"])
            else:
                self.assertEqual(row[-1], look["ior"])


if __name__ == "__main__":
    npm_packages.require()
    unittest.main()
