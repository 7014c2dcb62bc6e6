#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Geometry in the Python module: elements, attributes, buffers that are not copies, groups, files, meshes as a host shows them."""
import gc
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT / "plugin/python"))
import meniscus  # noqa: E402
from test_python_module import spray_network  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None


def rows(values):
    return values.tolist()


class Geometries(unittest.TestCase):
    def make(self):
        geo = meniscus.Geometry()
        geo.add_points([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
        geo.add_primitives("polygon", [[0, 1, 2, 3]])
        return geo

    def test_elements(self):
        geo = self.make()
        self.assertEqual((geo.point_count, geo.vertex_count, geo.primitive_count), (4, 4, 1))
        self.assertEqual(geo.primitive(0), ("polygon", [0, 1, 2, 3]))
        self.assertEqual(rows(geo.primitive_starts), [0, 4])
        self.assertEqual(geo.bounds, ((0, 0, 0), (1, 1, 0)))
        self.assertIsNone(meniscus.Geometry().bounds)
        self.assertEqual(geo.kind_count("polygon"), 1)
        with self.assertRaises(meniscus.ArgumentError):
            geo.primitive(1)
        with self.assertRaises(meniscus.Error):
            geo.add_primitives("polygon", [[0, 1, 99]])
        with self.assertRaises(meniscus.Error):
            geo.add_primitives("polygon", [[0, 1]])

    def test_attributes(self):
        geo = self.make()
        self.assertEqual(rows(geo["P"]), [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
        geo["temperature"] = [1.5, 2.5, 3.5, 4.5]
        geo.set("id", [5, 6, 7, 8])
        geo.set("Cd", [(1.0, 0, 0)], owner="primitive", hint="color")
        geo.set("name", ["a", "b", "a", "ü"])
        geo.set("count", 7, owner="detail", type="i64")
        self.assertEqual(rows(geo["temperature"]), [1.5, 2.5, 3.5, 4.5])
        self.assertEqual(geo["name"], ["a", "b", "a", "ü"])
        found = geo.attribute("Cd")
        self.assertEqual((found.owner, found.type, found.size, found.hint, len(found)), ("primitive", "f32", 3, "color", 1))
        self.assertEqual((geo.attribute("id").type, geo.attribute("count").type), ("i32", "i64"))
        self.assertEqual([a.name for a in geo.attributes("point")], ["P", "temperature", "id", "name"])
        self.assertIn("Cd", geo)
        geo.remove_attribute("id")
        self.assertNotIn("id", geo)
        with self.assertRaisesRegex(meniscus.NotFoundError, "temperature"):
            geo["temprature"]
        for name, values in (("P", [1, 2]), ("temperature", ["a"] * 4), ("new", [1.0] * 3)):
            with self.assertRaises(meniscus.ArgumentError):
                geo.set(name, values)
        with self.assertRaises(meniscus.Error):
            geo.remove_attribute("P")

    def test_buffers_are_not_copies(self):
        geo = self.make()
        writable = geo.write("P")
        if numpy is not None:
            self.assertIsInstance(writable, numpy.ndarray)
            self.assertFalse(writable.flags.owndata)
            writable[0] = (9, 9, 9)
        else:
            self.assertIsInstance(writable, memoryview)
            for k in range(3):
                writable[0, k] = 9
        self.assertEqual(geo.bounds[1], (9, 9, 9))
        with self.assertRaises(BufferError):
            geo.add_points(1)
        with self.assertRaises(BufferError):
            geo.copy()
        again = geo.write("P")
        del writable
        with self.assertRaises(BufferError):
            geo.add_points(1)
        del again
        self.assertEqual(geo.add_points(1), 4)

    def test_buffers_to_read_cannot_be_written(self):
        values = self.make()["P"]
        with self.assertRaises((TypeError, ValueError)):
            values[0, 0] = 1

    def test_buffers_outlive_everything(self):
        net = spray_network()
        geo = net.cook(frame=10)
        positions, points = geo["P"], geo.vertex_points
        before = rows(positions)
        self.assertGreater(len(before), 1000)
        del geo, net
        gc.collect()
        fill = [spray_network().cook(frame=10) for _ in range(3)]
        self.assertEqual(rows(positions), before)
        self.assertEqual(rows(points), [])
        del fill

    def test_buffers_show_what_was_there(self):
        geo = self.make()
        first = geo["P"]
        before = rows(first)
        geo["P"] = [(7, 7, 7)] * 4
        self.assertEqual(rows(first), before)
        self.assertEqual(rows(geo["P"]), [[7, 7, 7]] * 4)
        reader = None
        writable = geo.write("P")
        reader = geo["P"]
        geo2 = geo
        del writable
        geo2["P"] = [(8, 8, 8)] * 4
        self.assertEqual(rows(reader), [[7, 7, 7]] * 4)

    def test_copies_are_apart(self):
        geo = self.make()
        other = geo.copy()
        other["P"] = [(3, 3, 3)] * 4
        self.assertEqual(geo.bounds, ((0, 0, 0), (1, 1, 0)))

    def test_groups(self):
        geo = self.make()
        geo.set_group("edge", [0, 3])
        geo.set_group("faces", [0], owner="primitive")
        self.assertEqual(rows(geo.group("edge")), [1, 0, 0, 1])
        self.assertEqual((geo.groups(), geo.groups("primitive")), (["edge", "faces"], ["faces"]))
        geo.remove_group("edge")
        self.assertEqual(geo.groups("point"), [])
        with self.assertRaises(meniscus.NotFoundError):
            geo.group("edge")
        with self.assertRaises(meniscus.ArgumentError):
            geo.set_group("edge", [4])

    def test_files_append_transform_preview(self):
        geo = self.make()
        geo.append(self.make())
        geo.transform([[2, 0, 0, 1], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]])
        self.assertEqual((geo.point_count, geo.bounds), (8, ((1, 0, 0), (3, 2, 0))))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "quad.bgeo.sc"
            geo.save(path)
            self.assertEqual(meniscus.Geometry.read(path).hash, geo.hash)
            geo.preview(Path(folder) / "quad.png", (64, 48))
            self.assertEqual((Path(folder) / "quad.png").read_bytes()[:4], b"\x89PNG")
            with self.assertRaises(meniscus.Error):
                geo.save(Path(folder) / "no/such/quad.geo")
            with self.assertRaises(meniscus.NotFoundError):
                meniscus.Geometry.read(Path(folder) / "nothing.geo")
            (Path(folder) / "bad.geo").write_text("{]")
            with self.assertRaises(meniscus.FormatError):
                meniscus.Geometry.read(Path(folder) / "bad.geo")


class Values(unittest.TestCase):
    """What is refused is a meniscus.Error, and leaves the value as it was."""

    def test_refused_values(self):
        net = meniscus.Network()
        ball = net.add("shape", "ball", kind="sphere", radius=3)
        for name, wrong in (("radius", (1, 1, float("nan"))), ("radius", (1, 1, -1)), ("radius", {}), ("radius", None),
                            ("radius", (1, 2)), ("radius", {1: None}), ("radius", {1: "x"}), ("radius", object()),
                            ("kind", {1: "sphere", 24: "box"}), ("kind", None), ("kind", 99)):
            with self.subTest(f"{name} = {wrong!r}"), self.assertRaises(meniscus.Error):
                ball[name] = wrong
            self.assertEqual((ball.radius, ball.kind, ball.keys("radius")), ((3, 3, 3), "sphere", []))
        for wrong in ("x", None, object()):
            with self.assertRaises(meniscus.Error):
                ball.cook(wrong)

    def test_words_for_things(self):
        net = meniscus.Network()
        net.add("shape", "ball")
        self.assertIn("ball", repr(net))
        with self.assertRaises(meniscus.Error):
            import pickle
            pickle.dumps(meniscus.Geometry())

    def test_reports(self):
        net = meniscus.Network()
        ball = net.add("shape", "ball", kind="sphere", radius=0.01)
        fill = net.add("fill", "fill", inputs=[ball], dx=0.002)
        liquid = net.add("mpm_solver", "liquid", inputs=[fill], dx=0.002)
        liquid.cook(2)
        report = liquid.report(2)
        self.assertEqual((report["frame"], report["node"]), (2, "liquid"))
        self.assertGreater(report["mass"], 0)
        self.assertGreater(report["seconds"]["total"], 0)
        self.assertIsNone(ball.report())


class Notebooks(unittest.TestCase):
    def test_geometry_is_a_picture_and_a_network_a_table(self):
        net = meniscus.Network()
        net.title = "Drops <and> more"
        ball = net.add("shape", "ball", kind="box", center={1: (0, 0, 0), 2: (1, 0, 0)})
        net.add("transform", "moved", inputs=[ball])
        picture = ball.cook(1)._repr_png_()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIsNone(meniscus.Geometry()._repr_png_())
        text = net._repr_html_()
        for part in ("Drops &lt;and&gt; more", "kind &#x27;box&#x27;", "center animated", "0: ball"):
            self.assertIn(part, text)


class Kinds(unittest.TestCase):
    def test_keep_drops_everything_else(self):
        net = meniscus.Network()
        ball = net.add("shape", "ball")
        geo = net.add("collider", "collider", inputs=[ball], dx=0.001).cook()
        self.assertTrue(geo.kind_count("polygon") and geo.kind_count("volume"))
        volumes = geo.copy()
        volumes.keep(["volume"])
        self.assertEqual(volumes.kind_count("volume"), geo.kind_count("volume"))
        self.assertEqual((volumes.kind_count("polygon"), volumes.point_count), (0, volumes.kind_count("volume")))


class ShownMeshes(unittest.TestCase):
    def test_faces_edges_and_picks(self):
        geo = meniscus.Geometry()
        geo.add_points([(9, 9, 9)] + [(i, i * i, 0) for i in range(7)])  # the first belongs to nothing
        geo.add_primitives("polygon", [(1, 2, 3), (3, 2, 4, 5)])
        geo.add_primitives("polyline", [(5, 6, 7), (4, 5)])
        geo.set("heat", [i / 4 for i in range(8)])
        shown = geo.shown_mesh()
        self.assertEqual((shown.vertex_count, shown.face_count, shown.line_count), (7, 2, 3))
        self.assertEqual(shown.picks.tolist(), [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual(shown.positions.tolist()[3:6], [1, 1, 0])
        self.assertEqual((shown.corners.tolist(), shown.starts.tolist(), shown.totals.tolist()), ([0, 1, 2, 2, 1, 3, 4], [0, 3], [3, 4]))
        edges = [tuple(shown.edges[i:i + 2]) for i in range(0, len(shown.edges), 2)]
        self.assertEqual(edges[:3], [(4, 5), (5, 6), (3, 4)])
        self.assertEqual(len({tuple(sorted(edge)) for edge in edges}), len(edges), "each once, lines and faces together")
        for start, total in zip(shown.starts, shown.totals):
            for k in range(total):
                ends = {shown.corners[start + k], shown.corners[start + (k + 1) % total]}
                self.assertEqual(set(edges[shown.corner_edges[start + k]]), ends)
        self.assertEqual(shown.pick(geo.attribute("heat"), 2).tolist(), [i / 2 for i in range(1, 8)])
        self.assertTrue(shown.is_sound)
        moved = geo.copy()
        moved.transform([[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        self.assertEqual(moved.shown_mesh().topology, shown.topology)
        moved.add_primitives("polygon", [(1, 1, 2)])
        self.assertFalse(moved.shown_mesh().is_sound)
        self.assertNotEqual(moved.shown_mesh().topology, shown.topology)

    def test_a_file_is_read_on_a_thread(self):
        net = meniscus.Network()
        geo = net.add("shape", "ball").cook()
        move = [[2, 0, 0, 1], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]
        with tempfile.TemporaryDirectory(prefix="meniscus-test-") as folder:
            path = os.path.join(folder, "ball.bgeo.sc")
            geo.save(path)
            reads = [meniscus.FrameRead(path, move) for _ in range(8)]
            del reads[4:]  # nobody wants these
            read, shown = reads[0].take()
            for other in reads[1:]:
                self.assertEqual(other.take()[0].hash, read.hash)
            moved = geo.copy()
            moved.transform(move)
            self.assertEqual(read["P"].tolist(), moved["P"].tolist())
            self.assertEqual(shown.positions.tolist(), moved.shown_mesh().positions.tolist())
            with self.assertRaisesRegex(meniscus.NotFoundError, "nothing.bgeo"):
                meniscus.FrameRead(os.path.join(folder, "nothing.bgeo.sc"), move).take()
            with self.assertRaisesRegex(meniscus.ArgumentError, "four rows"):
                meniscus.FrameRead(path, [1, 2])
            once = meniscus.FrameRead(path, move)
            once.take()
            with self.assertRaisesRegex(meniscus.ArgumentError, "taken before"):
                once.take()

    def test_tetrahedra_by_their_skin_and_nothing(self):
        geo = meniscus.Geometry()
        geo.add_points([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)])
        geo.add_primitives("tetrahedron", [(0, 1, 2, 3), (4, 1, 3, 2)])
        shown = geo.shown_mesh()
        self.assertEqual((shown.face_count, shown.edge_count, shown.picks), (6, 9, None))
        empty = meniscus.Geometry().shown_mesh()
        self.assertEqual((empty.vertex_count, empty.face_count, empty.edge_count), (0, 0, 0))


if __name__ == "__main__":
    unittest.main(verbosity=1)
