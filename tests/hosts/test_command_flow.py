#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ponds and smoke by the command: input that cannot work gets a sentence or a sane result, threads give the same bytes, and a cook that
is stopped goes on as if it had not been."""
import json
import shutil
import unittest

from command_runner import CommandTest


def pond(parms=None, solid=None, source=None, frames=2):
    """A dish of 24 x 24 x 24 mm with cells of 2 mm."""
    nodes = []
    for name, shape in (("rock", solid), ("spring", source)):
        if shape:
            nodes += [{"name": name, "type": "shape", "parms": shape},
                      {"name": name + "_solid", "type": "collider", "inputs": [name], "parms": {"dx": 0.001}}]
    flow = {"fluid": "liquid", "dx": 0.002, "domain_center": [0, 0.012, 0], "domain_size": [0.024, 0.024, 0.024], "level": 0.0113,
            "time_scale": 0.1}
    nodes.append({"name": "pond", "type": "flow_solver",
                  "inputs": ["spring_solid" if source else None, "rock_solid" if solid else None], "parms": {**flow, **(parms or {})}})
    return {"meniscus": 1, "frames": [1, frames], "nodes": nodes, "output": "pond"}


def moving_smoke(parms, end):
    """Smoke whose source goes from the middle of the box to there within six frames, and takes it along."""
    scene = pond({"fluid": "smoke", "emit": "always", "inherit_velocity": 1, **parms}, source=box([0.008, 0.008, 0.008]), frames=6)
    scene["nodes"][0]["parms"]["center"] = {"keys": [[1, [0, 0.018, 0]], [6, end]]}
    return scene


def box(size, center=(0, 0.012, 0)):
    return {"kind": "box", "size": list(size), "center": list(center)}


class Flow(CommandTest):
    def cook(self, scene, out="out", *words):
        self.write_scene(scene)
        done = self.succeed("cook", "scene.json", "-o", out, "--report", "report.json", *words)
        lines = [json.loads(line) for line in (self.folder / "report.json").read_text().splitlines()]
        for line in lines:
            for value in (line.get(key, 0) for key in ("max_speed", "volume", "kinetic_energy")):
                self.assertTrue(0 <= value < 1e3, line)
        return done.stderr, lines

    def test_solids_thinner_than_a_cell_are_told(self):
        said, _ = self.cook(pond(solid=box([0.03, 0.03, 0.0003])))
        self.assertIn("thinner than a cell", said)
        self.assertIn("0.002 m", said)

    def test_a_pool_that_is_all_solid_holds_no_liquid(self):
        said, lines = self.cook(pond(solid=box([0.06, 0.06, 0.06])))
        self.assertIn("holds no liquid", said)
        self.assertLess(lines[-1]["volume"], 1e-12)

    def test_a_box_that_is_all_solid_has_no_room_for_smoke(self):
        said, lines = self.cook(pond({"fluid": "smoke"}, solid=box([0.06, 0.06, 0.06]), source=box([0.008, 0.008, 0.008])))
        self.assertIn("leave no room for smoke", said)
        self.assertEqual(lines[-1]["kinetic_energy"], 0)

    def test_negative_depth_holds_no_liquid(self):
        said, lines = self.cook(pond({"level": -0.05}))
        self.assertIn("raise level", said)
        self.assertEqual(lines[-1]["volume"], 0)

    def test_a_source_outside_of_the_box_gives_nothing(self):
        away = box([0.01, 0.01, 0.01], (1, 1, 1))
        for parms in ({"fluid": "smoke"}, {"emit": "always"}):
            said, lines = self.cook(pond(parms, source=away))
            self.assertIn("outside of the box", said)
        self.assertAlmostEqual(lines[-1]["volume"] / lines[0]["volume"], 1, delta=1e-9)

    def test_a_source_that_leaves_the_box_leaves_a_sane_flow(self):
        _, lines = self.cook(moving_smoke({"time_scale": 1}, [0.2, 0.018, 0]))  # at 1 m/s
        self.assertLess(max(line["max_speed"] for line in lines), 10)

    def test_polygons_end_straight_at_the_walls(self):
        ball = {"kind": "sphere", "radius": [0.004, 0.004, 0.004], "center": [0.006, 0.016, 0]}
        self.cook(pond({"output": "polygons", "time_scale": 1}, source=ball), "out", "--format", "obj")
        lines = (self.folder / "out" / "pond.0002.obj").read_text().splitlines()
        points = [[float(word) for word in line.split()[1:4]] for line in lines if line.startswith("v ")]
        self.assertGreater(len(points), 300)
        sides = 0
        for x, y, z in points:
            for wet in (x, z):  # none between the last centres and the wall
                self.assertTrue(abs(abs(wet) - 0.012) < 1e-7 or abs(wet) < 0.01101, (x, y, z))
                sides += abs(abs(wet) - 0.012) < 1e-7
            self.assertTrue(abs(y) < 1e-7 or y > 0.00099, (x, y, z))
        self.assertGreater(sides, 100)

    def test_inflow_into_a_sealed_box_fills_it_and_no_more(self):
        _, lines = self.cook(pond({"emit": "always"}, source=box([0.02, 0.02, 0.02]), frames=3))
        self.assertLess(lines[-1]["volume"], 1.02 * 0.024**3)
        self.assertGreater(lines[-1]["volume"], 0.5 * 0.024**3)

    def test_a_tunnel_that_is_blocked_is_told(self):
        tunnel = {"fluid": "smoke", "boundary": "tunnel", "stream": [0.1, 0, 0]}
        self.write_scene(pond(tunnel, solid=box([0.006, 0.06, 0.06])))
        self.fail_with(1, "block the tunnel", "cook", "scene.json", "-o", "out")
        self.cook(pond(tunnel, solid=box([0.006, 0.014, 0.06])))  # with a gap above and below

    def test_smoke_of_a_cfl_of_fifty_is_sane(self):
        _, lines = self.cook(moving_smoke({"cfl": 50, "time_scale": 4}, [0, 0.004, 0]))
        self.assertLess(lines[-1]["max_speed"], 5)

    def test_a_flow_that_runs_away_is_told_why(self):
        ball = {"kind": "sphere", "radius": [0.005, 0.005, 0.005], "center": [0, 0.018, 0]}
        self.write_scene(pond({"cfl": 50, "surface_tension_limit": 10, "time_scale": 1, "max_substeps": 50}, source=ball, frames=9))
        self.fail_with(1, "lower cfl and surface_tension_limit", "cook", "scene.json", "-o", "out")

    def test_a_cfl_of_fifty_is_sane(self):
        ball = {"kind": "sphere", "radius": [0.005, 0.005, 0.005], "center": [0, 0.018, 0]}
        _, lines = self.cook(pond({"cfl": 50, "surface_tension_limit": 10}, source=ball, frames=4))
        self.assertLess(lines[-1]["max_speed"], 5)
        self.assertAlmostEqual(lines[-1]["volume"] / lines[0]["volume"], 1, delta=0.05)

    def test_the_doctor_tells_the_shortest_ripple(self):
        self.write_scene(pond({"dx": 0.003}))
        said = self.succeed("doctor", "scene.json").stdout
        self.assertRegex(said, r"shortest ripple\s+30(\.0*)? mm")

    def test_threads_and_a_stop_give_the_same_bytes(self):
        ball = {"kind": "sphere", "radius": [0.004, 0.004, 0.004], "center": [0, 0.016, 0]}
        self.write_scene(pond(source=ball, frames=4))
        self.succeed("cook", "scene.json", "-o", "whole", "-q", "--threads", "1")
        self.check_threads(self.frames("whole"))
        self.succeed("cook", "scene.json", "-o", "parts", "-q", "-f", "1-2")
        self.succeed("cook", "scene.json", "-o", "parts", "-q", "--resume")
        self.assertEqual(self.digests("parts"), self.digests("whole"))

    def test_killed_at_any_time_a_liquid_and_smoke_go_on(self):
        ball = {"kind": "sphere", "radius": [0.004, 0.004, 0.004], "center": [0, 0.016, 0]}
        for name, scene in (("liquid", pond(source=ball, frames=8)), ("smoke", moving_smoke({}, [0, 0.004, 0]))):
            shutil.rmtree(self.folder / "x", ignore_errors=True)
            self.write_scene(scene)
            self.succeed("cook", "scene.json", "-o", name, "-q")
            self.check_kills(self.frames(name), 4, 2)


if __name__ == "__main__":
    unittest.main()
