#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""meniscus preview and cook --preview: pictures by their properties, never against a golden file."""
import unittest

from command_runner import CommandTest, Picture, spray

SMALL = ("--size", "160x120", "--samples", "2")


def scene_of(*shapes):
    nodes = [{"name": f"s{i}", "type": "shape", "parms": parms} for i, parms in enumerate(shapes)]
    nodes.append({"name": "all", "type": "merge", "inputs": [node["name"] for node in nodes]})
    return {"meniscus": 1, "nodes": nodes, "output": "all"}


class Pictures(CommandTest):
    def cook(self, scene, name="all", ending="bgeo.sc"):
        self.write_scene(scene)
        self.succeed("cook", "scene.json", "-f", "1", "-o", ".", "--format", ending, "-q")
        return f"{name}.0001.{ending}"

    def draw(self, *words):
        self.succeed("preview", *words, "-o", "out.png")
        return Picture(self.folder / "out.png")

    def test_size_and_background(self):
        path = self.cook(scene_of({"kind": "sphere", "radius": [1, 1, 1]}))
        picture = self.draw(path, "--size", "200x100")
        self.assertEqual((picture.width, picture.height, picture.channels), (200, 100, 3))
        self.assertNotEqual(picture.pixel(100, 50), picture.pixel(2, 2))

    def test_symmetric_scene_symmetric_coverage(self):
        path = self.cook(scene_of({"kind": "torus", "radius": [1, 0.3, 1], "rotate": [90, 0, 0]}))
        picture = self.draw(path, *SMALL, "--azimuth", "0", "--elevation", "0", "--transparent", "--no-ground")
        rows = picture.alpha()
        covered = sum(map(sum, rows)) / 255
        self.assertGreater(covered, 2000)
        self.assertLess(rows[60][80], 255, "the hole of the ring")
        for row in rows:
            for a, b in zip(row, reversed(row)):
                self.assertLessEqual(abs(a - b), 64, "more than one sample of four")
        for above, below in zip(rows, reversed(rows)):
            self.assertLessEqual(abs(sum(above) - sum(below)), 4 * 64)

    def test_same_bytes_for_any_threads_and_scheduler(self):
        path = self.cook(scene_of({"kind": "torus", "radius": [1, 0.3, 1]}, {"kind": "box", "size": [0.5, 2, 0.5]}))
        first = None
        for words in (["--threads", "1"], ["--threads", "2"], ["--threads", "3"], ["--threads", "8"],
                      ["--threads", "3", "--scheduler", "tbb"]):
            self.succeed("preview", path, "-o", "out.png", *SMALL, *words)
            data = (self.folder / "out.png").read_bytes()
            first = first or data
            self.assertEqual(data, first, words)

    def test_files_of_one_frame_are_seen_together(self):
        self.write_scene(scene_of({"center": [-1, 0, 0], "radius": [0.5, 0, 0]}, {"center": [1, 0, 0], "radius": [0.5, 0, 0]}))
        self.succeed("cook", "scene.json", "-f", "1", "--node", "s0", "--node", "s1", "-o", ".", "-q")
        words = (*SMALL, "--azimuth", "0", "--transparent", "--no-ground")
        both = self.draw("s0.0001.bgeo.sc", "s1.0001.bgeo.sc", *words).alpha()
        self.assertGreater(sum(row[40] for row in both), 0)
        self.assertGreater(sum(row[120] for row in both), 0)
        self.assertEqual(sum(row[80] for row in both), 0)

    def test_frames_become_a_sheet_or_a_picture_each(self):
        self.write_scene(spray(frames=[1, 5]))
        self.succeed("cook", "scene.json", "-o", "x", "-q")
        files = [f"x/moved.{i:04d}.bgeo.sc" for i in range(1, 6)]
        sheet = self.draw(*files, *SMALL, "--columns", "5")
        self.assertEqual((sheet.width, sheet.height), (5 * 86 - 6, 60))
        self.succeed("preview", *files, *SMALL, "-o", "each.$F4.png")
        for i in range(1, 6):
            self.assertEqual(Picture(self.folder / f"each.{i:04d}.png").width, 160)

    def test_cook_with_preview(self):
        self.write_scene(spray(frames=[2, 3]))
        self.succeed("cook", "scene.json", "-o", "x", "--preview", "-q")
        self.assertEqual(sorted(self.frames("x", "*.png")), ["moved.0002.png", "moved.0003.png", "moved.png"])
        self.assertEqual(Picture(self.folder / "x/moved.0003.png").width, 960)

    def test_things_that_cannot_be_seen(self):
        self.write_scene(spray())
        self.succeed("cook", "scene.json", "-f", "1", "-o", ".", "-q")
        self.fail_with(1, "nothing to see", "preview", "moved.0001.bgeo.sc", "-o", "x.png")
        self.fail_with(1, "missing.geo", "preview", "missing.geo", "-o", "x.png")
        self.assertFalse((self.folder / "x.png").exists())
        path = self.cook(scene_of({"kind": "sphere"}))
        self.fail_with(1, "no/such", "preview", path, "-o", "no/such/x.png", *SMALL)
        (self.folder / "x.png").mkdir()
        self.fail_with(1, "x.png", "preview", path, "-o", "x.png", *SMALL)

    def test_points_that_are_not_finite_are_left_out_with_a_note(self):
        (self.folder / "bad.geo").write_text(
            '["fileversion","18.0.0","hasindex",false,"pointcount",4,"vertexcount",0,"primitivecount",0,"info",{},'
            '"topology",["pointref",["indices",[]]],"attributes",["pointattributes",[[["scope","public","type","numeric",'
            '"name","P","options",{}],["size",3,"storage","fpreal32","defaults",["size",1,"storage","fpreal64","values",[0]],'
            '"values",["size",3,"storage","fpreal32","tuples",[[0,0,0],[1,0,0],[0,1,0],[0,1e999,0]]]]]]],"primitives",[]]')
        done = self.run_command("preview", "bad.geo", "-o", "x.png", *SMALL)
        if done.returncode == 0:
            self.assertIn("left out", done.stderr)
        else:
            self.assertEqual(done.returncode, 1)
            self.assertIn("bad.geo", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
