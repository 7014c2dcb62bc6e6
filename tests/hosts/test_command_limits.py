#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files and parameters that would take far more memory or time than they look like end in a sentence with numbers and advice,
soon and in little memory."""
import json
import resource
import subprocess
import unittest

from command_runner import COMMAND, CommandTest

MOST_SECONDS = 20  # of processor time, for what should take less than one


def chain(*nodes, frames=(1, 1), **more):
    """A scene of nodes, (type, parms, inputs...) each; inputs are places in the list. The last one is the output."""
    scene = {"meniscus": 1, "frames": list(frames), "nodes": [], "output": f"n{len(nodes) - 1}", **more}
    for i, (kind, parms, *inputs) in enumerate(nodes):
        scene["nodes"].append({"name": f"n{i}", "type": kind, "parms": parms,
                               "inputs": [None if at is None else f"n{at}" for at in inputs]})
    return scene


BALL = ("shape", {"kind": "sphere", "radius": [0.002] * 3})


class Limits(CommandTest):
    def run_command(self, *words, **options):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        return super().run_command(*words, preexec_fn=limit, **options)

    def refuse(self, scene, *parts, code=1):
        self.write_scene(scene)
        done = self.run_command("cook", "scene.json", "-o", "x", "-q")
        self.assertEqual(done.returncode, code, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    # ---- memory ----

    def test_a_limit_by_hand(self):
        self.write_scene(chain(BALL, ("fill", {"dx": 0.0001}, 0)))
        self.succeed("cook", "scene.json", "-o", "x", "-q", "--memory", "1G")
        done = self.fail_with(1, "beyond the limit of 5 MB", "cook", "scene.json", "-o", "x", "-q", "--memory", "5M")
        self.assertIn("--memory", done.stderr)
        self.assertIn("MENISCUS_MEMORY", done.stderr)
        for text in ("", "much", "-1G", "1X", "0", "1e99", "nan"):
            self.fail_with(2, "--memory", "cook", "scene.json", "--memory", text)

    def test_the_environment(self):
        self.write_scene(chain(BALL, ("fill", {"dx": 0.0001}, 0)))
        for value, code in (("5M", 1), ("2GB", 0), ("nonsense", 0)):
            done = subprocess.run([COMMAND, "cook", "scene.json", "-o", "x", "-q"], cwd=self.folder, text=True,
                                  capture_output=True, env={"MENISCUS_MEMORY": value})
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual("warning: MENISCUS_MEMORY" in done.stderr, value == "nonsense")

    def constant_pages(self, count, name="bomb.geo"):
        """All points in one place, told once in a page of 4096."""
        pages = (count + 4095) // 4096
        values = ["size", 3, "storage", "fpreal32", "pagesize", 4096, "packing", [3], "constantpageflags", [[1] * pages],
                  "rawpagedata", [1, 2, 3] * pages]
        attribute = [["scope", "public", "type", "numeric", "name", "P", "options", {}],
                     ["size", 3, "storage", "fpreal32", "values", values]]
        (self.folder / name).write_text(json.dumps(
            ["fileversion", "19.5.752", "hasindex", False, "pointcount", count, "vertexcount", 0, "primitivecount", 0,
             "info", {}, "topology", ["pointref", ["indices", []]], "attributes", ["pointattributes", [attribute]],
             "primitives", []]))

    def test_constant_pages(self):
        self.constant_pages(1000000)
        self.assertEqual(json.loads(self.succeed("info", "bomb.geo", "--json").stdout)["points"], 1000000)
        self.constant_pages(60000000)
        for words in (["info", "bomb.geo"], ["convert", "bomb.geo", "x.bgeo"], ["preview", "bomb.geo", "-o", "x.png"]):
            self.fail_with(1, "far more than a file of this size", *words)
        self.succeed("info", "bomb.geo", "--memory", "2G")

    def test_particles_too_large_for_the_cells(self):
        self.refuse(chain(BALL, ("fill", {"dx": 0.0005, "density": 1000}, 0),
                          ("mls_solver", {"dx": 0.0005, "density": 1e-9}, None, None, None, None, 1)), "density", "kg")

    def test_film_too_thick_for_its_spacing(self):
        self.refuse(chain(("film_source", {"kind": "disc", "radius": 0.01, "spacing": 0.001, "thickness": 1000}),
                          ("mls_solver", {"time_scale": 0.05}, 0), frames=(1, 2)), "1e+03 m thick", "0.001 m apart")

    def test_edges_too_short_for_the_body(self):
        self.refuse(chain(("shape", {"kind": "sphere", "radius": [0.01] * 3, "divisions": [8, 6, 1]}),
                          ("tetrahedralize", {"size": 0.005}, 0), ("tet_remesh", {"max_edge": 1e-6}, 1)),
                    "max_tets allows 2e+07", "max_edge above")

    # ---- time ----

    def test_cells_far_smaller_than_the_particles(self):
        for dx in (1e-9, 1e-6, 1e-4):
            self.refuse(chain(BALL, ("fill", {"dx": 0.001}, 0), ("mpm_solver", {"dx": dx}, 1)), "use dx 0.0009", "m wide")

    def test_particles_of_another_spacing_do_not_overlap(self):
        """A lattice that does not fit the cells has more in some of them: that is no liquid in liquid."""
        for dx, holes in ((0.0004, False), (0.00035, False), (0.0001, True)):
            self.write_scene(chain(BALL, ("fill", {"dx": 0.0005}, 0), ("mpm_solver", {"dx": dx, "sigma": 0.07}, 1)))
            said = self.succeed("cook", "scene.json", "-o", f"x{dx}", "-q").stderr
            self.assertNotIn("where other liquid is", said)
            self.assertEqual("particles in a cell, so the liquid has holes" in said, holes)
        two = chain(BALL, ("fill", {"dx": 0.0005}, 0), ("merge", {}, 1, 1), ("mpm_solver", {"dx": 0.0005, "sigma": 0.07}, 2))
        self.write_scene(two)
        self.assertIn("where other liquid is", self.run_command("cook", "scene.json", "-o", "y", "-q").stderr)

    def test_tetrahedra_are_counted_before_they_are_made(self):
        self.refuse(chain(("shape", {"kind": "box", "size": [1, 1, 1]}),
                          ("tetrahedralize", {"size": 0.002, "max_tets": 20000}, 0)), "max_tets allows 2e+04", "size above")

    def test_the_smoothest_surface(self):
        self.write_scene(chain(("shape", {"kind": "sphere", "radius": [0.01] * 3}), ("fill", {"dx": 0.002}, 0),
                               ("surface", {"dx": 0.002, "smooth": 100}, 1)))
        self.succeed("cook", "scene.json", "-o", "x", "-q", "--format", "geo")
        info = json.loads(self.succeed("info", "x/n2.0001.geo", "--json").stdout)
        self.assertGreater(info["points"], 100)

    # ---- physics that would blow up ----

    def test_a_liquid_too_soft_for_its_surface_tension(self):
        ball = ("shape", {"kind": "ellipsoid", "radius": [0.2, 0.12, 0.12]})
        parms = {"dx": 1 / 24, "sigma": 500, "bulk_modulus": 50000, "gravity": [0, 0, 0], "integrator": "implicit",
                 "max_dt": 0.01}
        self.refuse(chain(ball, ("fill", {"dx": 1 / 24}, 0), ("mpm_solver", parms, 1), frames=(1, 2), fps=100),
                    "presses on the liquid", "bulk_modulus above")
        self.write_scene(chain(ball, ("fill", {"dx": 1 / 24}, 0), ("mpm_solver", dict(parms, bulk_modulus=500000), 1),
                               frames=(1, 2), fps=100))
        self.succeed("cook", "scene.json", "-o", "x", "-q")

    # ---- numbers ----

    def test_positions_beyond_a_float(self):
        for parm in ("center", "radius", "size", "rotate"):
            for value in (1e39, 1e300):
                self.refuse(chain(("shape", {"kind": "sphere", parm: [value] * 3})), parm, code=2)
        for parm in ("translate", "scale", "pivot", "rotate"):
            self.refuse(chain(BALL, ("transform", {parm: [1e39] * 3}, 0)), parm, code=2)
        grown = [BALL] + [("transform", {"scale": [1e9] * 3}, i) for i in range(5)]
        self.refuse(chain(*grown), "too far out for its coordinates")

    def test_a_number_of_many_digits(self):
        self.write_scene('{"meniscus": 1, "fps": 24' + "0" * 100000 + ', "nodes": []}')
        self.fail_with(2, "a number has more than 400 characters", "cook", "scene.json")

    def test_a_volume_that_moves_too_fast_is_not_called_a_film(self):
        self.write_scene(chain(BALL, ("fill", {"dx": 0.0005, "velocity": [1e6, 0, 0]}, 0),
                               ("mls_solver", {"dx": 0.0005}, None, None, None, None, 1), frames=(1, 2)))
        done = self.run_command("cook", "scene.json", "-o", "x", "-q")
        self.assertNotIn("film", done.stderr.lower())


if __name__ == "__main__":
    unittest.main(verbosity=1)
