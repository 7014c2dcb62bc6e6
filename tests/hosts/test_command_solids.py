#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solids, heat and melting from the command: bad materials are sentences or sane results that keep the last good frame;
heat comes from volumes and from colliders of their own temperature; the surface comes in two parts for shading."""
import json
import unittest

from command_runner import CommandTest


def block(*more, inputs=(), material=None, **parms):
    """A block of soft wax on the floor."""
    wax = {"preset": "custom", "young": 1e4, "poisson": 0.3, "viscosity": 0.05, "sigma": 0.03, "melting_point": 330,
           "latent_heat": 1000, "heat_capacity": 1000, "conductivity": 5, "temperature": 300, **(material or {})}
    return {"meniscus": 1, "fps": 24, "frames": [1, 3],
            "nodes": [{"name": "cube", "type": "shape",
                       "parms": {"kind": "box", "size": [0.02, 0.02, 0.02], "center": [0, 0.0101, 0]}},
                      {"name": "tets", "type": "tetrahedralize", "inputs": ["cube"], "parms": {"size": 0.007}},
                      {"name": "wax", "type": "tet_material", "inputs": ["tets"], "parms": wax},
                      *more,
                      {"name": "state", "type": "tet_solver", "inputs": ["wax", *inputs],
                       "parms": {"density": 1000, "heat": 1, "use_domain": 1, "domain_center": [0, 0.5, 0],
                                 "domain_size": [1, 1, 1], **parms}}],
            "output": "state"}


class Solids(CommandTest):
    def cook(self, scene, *words):
        self.write_scene(scene)
        done = self.succeed("cook", "scene.json", "-o", "out", "--threads", "1", "--report", "report", *words)
        rows = [json.loads(line) for line in (self.folder / "report").read_text().splitlines()]
        return done, rows

    def info(self, node, frame):
        return json.loads(self.succeed("info", f"out/{node}.{frame:04d}.bgeo.sc", "--json").stdout)

    def test_materials_that_cannot_be(self):
        for parm, value in (("poisson", 0.5), ("poisson", 0.7), ("young", -1), ("yield", -5), ("melting_range", -5),
                            ("temperature", -3), ("preset", "adamant"), ("strength", -1), ("creep", -1)):
            self.write_scene(block(material={parm: value}))
            self.fail_with(2, f"'wax': {parm} is", "cook", "scene.json", "-o", "out")
        for parm, value, part in (("density", 0, "density of 0"), ("heat_capacity", 0, "heat capacity"),
                                  ("reference_temperature", 0, "reference temperature of 0"),
                                  ("melting_range", 900, "above absolute zero"), ("group", "none", "there is no group 'none'")):
            self.write_scene(block(material={parm: value}))
            self.fail_with(1, part, "cook", "scene.json", "-o", "out")

    def test_a_region_without_tetrahedra_is_said(self):
        far = [{"name": "elsewhere", "type": "shape", "parms": {"kind": "box", "size": [0.02, 0.02, 0.02], "center": [1, 0, 0]}},
               {"name": "region", "type": "collider", "inputs": ["elsewhere"], "parms": {"dx": 0.004}}]
        scene = block(*far)
        scene["nodes"][2]["inputs"] = ["tets", "region"]
        done, _ = self.cook(scene, "-f", "1-2")
        self.assertIn("No tetrahedron gets this material", done.stderr)

    def test_no_modulus_is_a_liquid_and_absolute_zero_is_cold(self):
        self.cook(block(material={"young": 0, "melting_point": 0}), "-f", "1-2")
        _, rows = self.cook(block(air_temperature=0, air_transfer=1e4), "-f", "1-2")
        self.assertLess(rows[-1]["heat_in"], 0)
        self.assertGreater(rows[-1]["thermal_energy"], 0)

    def test_what_would_boil_is_kept_and_said(self):
        done, rows = self.cook(block(air_temperature=99999, air_transfer=1e6), "-f", "1-2")
        self.assertIn("There is no vapour", done.stderr)
        # 8 g, at most 990 K, 1000 J/(kg K) and the latent heat
        self.assertLess(rows[-1]["thermal_energy"], 0.0081 * (990 * 1000 + 1000))
        # a keyed source that would heat by 4000 K in a frame
        flame = {"name": "flame", "type": "field",
                 "parms": {"field": "heat", "value": {"keys": [[1, 0], [2, 1e9]]}, "center": [0, 0.01, 0],
                           "size": [0.1, 0.1, 0.1], "dx": 0.004}}
        done, rows = self.cook(block(flame, inputs=[None, None, None, "flame"], material={"heat_capacity": 10}), "-f", "1-2")
        self.assertIn("There is no vapour", done.stderr)
        self.assertLess(rows[-1]["thermal_energy"], 0.0081 * (990 * 10 + 1000))

    def test_expansion_has_an_end_in_cold_and_heat(self):
        for air, least, most in ((0, 0.46, 1), (99999, 1, 1.8)):
            _, rows = self.cook(block(material={"expansion": 0.005, "melting_point": 0}, air_temperature=air,
                                      air_transfer=1e4), "-f", "1-3")
            self.assertGreater(rows[-1]["volume"], least * 8e-6)
            self.assertLess(rows[-1]["volume"], most * 8e-6)

    def test_a_solid_that_is_mirrored_has_no_rest_shape(self):
        scene = block()
        scene["nodes"].insert(2, {"name": "mirror", "type": "transform", "inputs": ["tets"],
                                  "parms": {"scale": [-1, 1, 1]}})
        scene["nodes"][3]["inputs"] = ["mirror"]
        self.write_scene(scene)
        self.fail_with(1, "flat or inverted in the attribute rest", "cook", "scene.json", "-o", "out")

    def test_a_solid_that_a_keyframe_crushes(self):
        press = [{"name": "stamp", "type": "shape",
                  "parms": {"kind": "box", "size": [0.06, 0.02, 0.06],
                            "center": {"keys": [[1, [0, 0.0305, 0]], [2, [0, 0.0305, 0]], [3, [0, 0.005, 0]]]}}},
                 {"name": "hard", "type": "collider", "inputs": ["stamp"], "parms": {"dx": 0.002}}]
        self.write_scene(block(*press, inputs=["hard"], heat=0))
        done = self.run_command("cook", "scene.json", "-o", "out", "--threads", "1")
        self.assertIn(done.returncode, (0, 1))
        self.assertGreaterEqual(len(self.frames("out")), 2)
        if done.returncode == 1:
            self.assertIn("tet_solver 'state'", done.stderr)

    def test_heat_comes_from_a_volume(self):
        flame = {"name": "flame", "type": "field",
                 "parms": {"field": "heat", "value": 1e7, "center": [0, 0.01, 0], "size": [0.1, 0.1, 0.1], "dx": 0.004}}
        _, rows = self.cook(block(flame, inputs=[None, None, None, "flame"], air_transfer=0, collider_transfer=0),
                            "-f", "1-2")
        # 1e7 W/m^3 in 8 cm^3 for a 24th of a second
        self.assertAlmostEqual(rows[-1]["heat_in"], 1e7 * 8e-6 / 24, delta=0.03 * 1e7 * 8e-6 / 24)

    def test_a_collider_has_its_own_temperature(self):
        def gained(temperature):
            plate = [{"name": "slab", "type": "shape",
                      "parms": {"kind": "box", "size": [0.06, 0.01, 0.06], "center": [0, -0.005, 0]}},
                     {"name": "hot", "type": "collider", "inputs": ["slab"],
                      "parms": {"dx": 0.002, "temperature": temperature}}]
            _, rows = self.cook(block(*plate, inputs=["hot"], air_transfer=0, collider_temperature=300,
                                      collider_transfer=1000, use_domain=0), "-f", "1-3")
            return rows[-1]["heat_in"]
        self.assertGreater(gained(600), 10 * abs(gained(-1)) + 0.1)

    def test_the_surface_comes_in_two_parts(self):
        scene = block(air_temperature=900, air_transfer=5000, collider_transfer=0)
        scene["nodes"] += [{"name": name, "type": "transform", "inputs": [f"state:{output}"]}
                           for output, name in ((1, "all"), (2, "hard"), (3, "wet"))]
        self.cook(scene, "--node", "all", "--node", "hard", "--node", "wet")
        points, triangles = ({a["name"] for a in self.info("all", 2)["attributes"] if a["owner"] == owner}
                             for owner in ("point", "primitive"))
        self.assertLessEqual({"temperature", "solid", "stress", "plastic_strain", "damage"}, points)  # blend for shading
        self.assertLessEqual({"material", "solid", "stress", "plastic_strain", "damage"}, triangles)
        for frame in (1, 2, 3):
            whole, hard, wet = (self.info(node, frame)["primitives"].get("polygon", 0) for node in ("all", "hard", "wet"))
            # What is solid is closed: beside its part of the whole it has the triangles where it lies in melt.
            self.assertLessEqual(wet, whole)
            (self.assertEqual if wet == 0 else self.assertGreater)(hard + wet, whole)
            self.assertGreater(hard if frame == 1 else wet, 0)

    def test_killed_in_mid_melt_and_gone_on_with(self):
        scene = block(air_temperature=900, air_transfer=3000)
        scene["frames"] = [1, 6]
        scene["nodes"] += [{"name": name, "type": "transform", "inputs": [f"state:{output}"]}
                           for output, name in ((0, "tetrahedra"), (2, "hard"), (3, "wet"))]
        nodes = ["--node", "tetrahedra", "--node", "hard", "--node", "wet"]
        self.cook(scene, *nodes)
        for frame in range(2, 7):
            self.assertGreater(min(self.info(part, frame)["primitives"].get("polygon", 0) for part in ("hard", "wet")), 0)
        self.check_kills(self.frames("out"), 3, 2, *nodes)

    def test_a_broken_plate_is_the_same_with_any_number_of_threads(self):
        points = []
        for folder, limits in (("bears", {}), ("whole", {"strength": 200, "toughness": 1})):
            scene = block(material={"young": 1e5, "melting_point": 0, **limits}, heat=0)
            scene["nodes"][0]["parms"]["center"] = [0, 0.03, 0]  # it falls for 2 cm, and breaks in frame 3
            scene["frames"] = [1, 3]
            self.write_scene(scene)
            self.succeed("cook", "scene.json", "-o", folder, "-q", "--threads", "1", "--report", f"{folder}.json")
            rows = [json.loads(line) for line in (self.folder / f"{folder}.json").read_text().splitlines()]
            points.append([row["points"] for row in rows[-3:]])
        self.assertEqual(points[0][0], points[1][0])
        self.assertGreater(points[1][2], points[0][2] + 10)  # the sides of cracks have points of their own
        frames = self.frames("whole")
        self.check_threads(frames)


if __name__ == "__main__":
    unittest.main()
