# SPDX-License-Identifier: Apache-2.0
"""Inside Blender: every node type from its table, presets, the same bits as the command, wrong input."""
import ctypes
import json
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy  # noqa: E402
import inside  # noqa: E402
import meniscus_blender  # noqa: E402
from meniscus_blender import (bake_operators, border, cache, fill_mesh, network_scene, node_tree, parm_properties,  # noqa: E402
                              playback, results, setups, versions)
from meniscus_blender.native import meniscus  # noqa: E402


def flat(values):
    return list(border.flat_array("f", values))


class Case(unittest.TestCase):
    def setUp(self):
        self.scene = inside.fresh()


class Tables(Case):
    def test_every_node_type_is_there_and_its_defaults_are_the_tables(self):
        tree = bpy.data.node_groups.new("All", node_tree.TREE)
        for table in meniscus.node_types().values():
            node = tree.nodes.new(node_tree.class_name(table.name))
            self.assertEqual([socket.name for socket in node.inputs], [entry["label"] for entry in table.inputs])
            self.assertEqual([socket.name for socket in node.outputs], [entry["label"] for entry in table.outputs])
            for parm in table.parms.values():
                self.assertEqual(parm_properties.value_of(node, parm), parm.default, f"{table.name}.{parm.name}")
                rna = node.bl_rna.properties[parm_properties.property_name(parm)]
                self.assertEqual(rna.description, parm.tooltip.rstrip("."))
                self.assertIn(parm.unit, rna.name)
                if parm.items:
                    self.assertEqual([(item.identifier, item.name) for item in rna.enum_items],
                                     list(zip(parm.items, parm.item_labels)))
                if parm.type in ("float", "int"):
                    for limit, low_or_high in zip(parm.range, ("hard_min", "hard_max")):
                        if limit is not None and abs(limit) < 2 ** 31:
                            self.assertAlmostEqual(getattr(rna, low_or_high), limit, delta=abs(limit) * 1e-6)
        # With nothing changed, the scene says nothing but names and types.
        entries = network_scene.plan_of(tree, self.scene, everything=True).scene["nodes"]
        self.assertEqual({entry["type"] for entry in entries}, set(meniscus.node_types()))
        self.assertFalse([entry for entry in entries if entry.get("parms")])

    def test_numbers_keep_the_decimals_they_were_typed_with(self):
        for number in (0.072, 1e-4, 0.00025, 9.81, 13534, 1.0 / 3.0, 123456.7, 0.1):
            kept = ctypes.c_float(number).value
            self.assertEqual(ctypes.c_float(parm_properties.shortest(kept)).value, kept)
        self.assertEqual(parm_properties.shortest(ctypes.c_float(0.07274).value), 0.07274)

    def test_disable_when_follows_the_table(self):
        tree = bpy.data.node_groups.new("One", node_tree.TREE)
        node = tree.nodes.new(node_tree.class_name("shape"))
        radius, size = node.table.parms["radius"], node.table.parms["size"]
        self.assertFalse(parm_properties.is_disabled(node, radius))
        self.assertTrue(parm_properties.is_disabled(node, size))
        node.p_kind = "box"
        self.assertTrue(parm_properties.is_disabled(node, radius))
        self.assertFalse(parm_properties.is_disabled(node, size))

    def test_an_input_for_many_grows(self):
        tree = bpy.data.node_groups.new("Many", node_tree.TREE)
        merge = tree.nodes.new(node_tree.class_name("merge"))
        for i in range(3):
            shape = tree.nodes.new(node_tree.class_name("shape"))
            network_scene.connect(tree, shape, 0, merge, i)
        result = tree.nodes.new(node_tree.RESULT)
        tree.links.new(merge.outputs[0], result.inputs[0])
        merge.update()
        self.assertEqual(len(merge.inputs), 4)
        scene = inside.scene_text(tree)
        self.assertEqual(scene["nodes"][0]["inputs"], ["shape", "shape_001", "shape_002"])


class Presets(Case):
    def test_materials_are_the_shared_ones(self):
        wanted = {"water", "mercury", "gallium", "ethanol", "glycerol", "honey", "soap_solution", "molten_lead"}
        self.assertLessEqual(wanted, set(meniscus.materials()))
        for entry in meniscus.materials().values():
            self.assertTrue(entry["source"])

    def test_every_setup_whose_nodes_are_here_is_offered(self):
        for name, setup in setups.read_all().items():
            types = {entry["type"] for entry in setup["nodes"]} - set(setups.PLACES)
            if types <= set(meniscus.node_types()):
                self.assertEqual(setups.lacks(setup), [], name)

    def same_as_the_command(self, tree, name):
        """Every frame of the cache, byte for byte."""
        folder, out = cache.folder_of(tree), inside.HERE / f"by_command_{name}"
        shutil.rmtree(out, ignore_errors=True)
        inside.cook_by_command(folder / "scene.json", out)
        ours = {path.name: path.read_bytes() for path in folder.glob("*.bgeo.sc")}
        theirs = {path.name: path.read_bytes() for path in out.glob("*.bgeo.sc")}
        self.assertEqual(len(ours), 3)
        if setups.read_all()[name]["result"].endswith(":1"):  # the command writes first outputs: the second by its network
            node = meniscus.Network.load(str(folder / "scene.json"))[setups.read_all()[name]["result"].partition(":")[0]]
            for path in folder.glob("*.bgeo.sc"):
                frame = int(path.name.split(".")[1])
                self.assertEqual(meniscus.Geometry.read(str(path)).hash, node.cook(frame=frame, output=1).hash, path.name)
            return
        self.assertEqual(set(ours), set(theirs), name)
        self.assertEqual([file for file in ours if ours[file] != theirs[file]], [], name)

    def test_a_water_bell_leaves_a_disc(self):
        """Its sheet starts at the disc's rim and goes out and down, as the preset says."""
        self.scene.frame_end = 6
        bpy.ops.mesh.primitive_cylinder_add(radius=1, depth=0.2, location=(0, 0, 3))
        disc, quick = bpy.context.object, bpy.context.object.meniscus_quick
        quick.setup, quick.cells = "water_bell", 6
        self.assertEqual(bpy.ops.meniscus.quick(), {"FINISHED"})
        tree = node_tree.trees()[0]
        self.assertEqual((tree.is_error, tree.made_for), (False, disc))
        (shown,) = results.objects_of(tree)
        sizes = []
        for frame in (3, 6):
            self.scene.frame_set(frame)
            points = [shown.matrix_world @ vertex.co for vertex in shown.data.vertices]
            sizes.append(max((point.x ** 2 + point.y ** 2) ** 0.5 for point in points))
            self.assertLess(max(point.z for point in points), 3.6)
        self.assertGreater(sizes[0], 1.0)  # beyond the disc
        self.assertGreater(sizes[1], sizes[0])

    def test_every_setup_cooks(self):
        for name in setups.available():
            with self.subTest(name):
                self.setUp()
                thing = None
                if name == "wire_film":  # of a thing with few edges
                    bpy.ops.mesh.primitive_cube_add(size=2, location=(0, 0, 1.2))
                    thing = bpy.context.object
                tree = inside.drop_tree(setup=name, cells=8, thing=thing)
                self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name), {"FINISHED"}, tree.message)
                self.assertFalse(tree.is_error, tree.message)
                shown = results.objects_of(tree)
                self.assertTrue(shown)
                self.same_as_the_command(tree, name)
                self.scene.frame_set(3)
                for thing in shown:
                    if name == "foam" and thing.meniscus.role == "points":
                        continue  # drops come off walls that burst, and none has in three frames
                    if thing.type == "MESH":
                        self.assertGreater(len(thing.data.vertices), 0, thing.name)
                        self.assertIn("velocity", thing.data.attributes)
                        self.assertFalse(thing.data.copy().validate(verbose=True), "Blender finds nothing to mend")
                        self.assertTrue(all(polygon.use_smooth for polygon in thing.data.polygons))
                    if thing.meniscus.role == "points":
                        self.assertIn("radius", thing.data.attributes)


class OneClick(Case):
    def test_a_sphere_becomes_a_rendered_droplet(self):
        ball = inside.sphere()
        quick = ball.meniscus_quick
        quick.setup, quick.cells = "mercury", 8
        self.assertEqual(bpy.ops.meniscus.quick(), {"FINISHED"})
        # A second click replaces what the first one made.
        bpy.context.view_layer.objects.active = ball
        quick.setup, quick.cells = "water_drop", 8
        self.assertEqual(bpy.ops.meniscus.quick(), {"FINISHED"})
        self.assertEqual([tree.name for tree in node_tree.trees()], ["Ball Water Drop"])
        shown = [thing for thing in bpy.data.objects if thing.meniscus.role]
        self.assertEqual([thing.meniscus.role for thing in shown], ["mesh"])
        self.assertTrue(ball.hide_render)
        self.assertIn("Water", shown[0].data.materials[0].name)
        self.assertGreater(self.levels(shown[0]), 30)

    def levels(self, thing):
        """Renders the droplet in Cycles; how many levels of grey are in the picture."""
        from meniscus_blender import studio
        scene, center = self.scene, thing.matrix_world @ thing.location.__class__((0, 0, 1.2))
        studio.settings(scene, (64, 48), 4, 24)
        studio.background(scene)
        studio.lights(scene, center, 1.0)
        studio.camera(scene, center, [thing.matrix_world @ vertex.co for vertex in thing.data.vertices])
        scene.render.filepath = str(inside.HERE / "droplet.png")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        return len({round(value, 2) for value in list(image.pixels)[0::4]})


class Bits(Case):
    def test_frames_are_those_of_the_command(self):
        tree = inside.drop_tree(cells=8)
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name), {"FINISHED"}, tree.message)
        folder = cache.folder_of(tree)
        out = inside.HERE / "by_command"
        shutil.rmtree(out, ignore_errors=True)
        inside.cook_by_command(folder / "scene.json", out)
        for frame in (1, 2, 3):
            ours, theirs = cache.frame_path(folder, "skin", frame), cache.frame_path(out, "skin", frame)
            self.assertEqual(ours.read_bytes(), theirs.read_bytes(), f"frame {frame}")
        # What the artist sees is that file, turned to z-up and brought to the object's size.
        self.scene.frame_set(3)
        mesh = results.objects_of(tree)[0].data
        geo = meniscus.Geometry.read(str(cache.frame_path(out, "skin", 3)))
        scale = tree.scale
        self.assertEqual(len(mesh.vertices), geo.point_count)
        for vertex, (x, y, z) in zip(mesh.vertices, geo["P"].tolist()):
            for got, wanted in zip(vertex.co, (x / scale, -z / scale, y / scale)):
                self.assertAlmostEqual(got, wanted, delta=3e-7 * max(1.0, abs(wanted)))
        # Velocities are on screen: those of the file, slowed down with the simulation.
        velocity, slow = mesh.attributes["velocity"].data, tree.nodes["liquid"].p_time_scale
        for i in range(0, geo.point_count, 97):
            x, y, z = geo["v"].tolist()[i]
            for got, wanted in zip(velocity[i].vector, (x * slow / scale, -z * slow / scale, y * slow / scale)):
                self.assertAlmostEqual(got, wanted, delta=1e-6 * max(1.0, abs(wanted)))
        self.assertEqual([len(polygon.vertices) for polygon in mesh.polygons],
                         [b - a for a, b in zip(geo.primitive_starts, geo.primitive_starts[1:])])

    def test_an_example_scene_goes_in_and_out(self):
        for example in ("drops_colliding", "fountain", "rain_on_torus"):
            path = Path(__file__).parents[3] / "examples" / example / "scene.json"
            before = json.loads(path.read_text())
            self.assertEqual(bpy.ops.meniscus.import_scene(filepath=str(path)), {"FINISHED"})
            tree = bpy.data.node_groups[before["title"]]
            after = network_scene.plan_of(tree, self.scene, everything=True).scene
            one = meniscus.Network.load(str(path))
            two = meniscus.Network.from_text(json.dumps(dict(after, output=before["output"])))
            for node in one.nodes:
                twin = two[node.name]
                self.assertEqual(twin.table.name, node.table.name)
                self.assertEqual([pair and (pair[0].name, pair[1]) for pair in twin.inputs],
                                 [pair and (pair[0].name, pair[1]) for pair in node.inputs])
                for parm in node.table.parms.values():
                    for frame in (1, 7, 30, 60):
                        if frame <= before["frames"][1]:
                            got, wanted = twin.value(parm.name, frame), node.value(parm.name, frame)
                            if isinstance(wanted, (str, bool)):
                                self.assertEqual(got, wanted)
                                continue
                            pairs = zip(got, wanted) if isinstance(wanted, tuple) else [(got, wanted)]
                            for g, w in pairs:
                                self.assertAlmostEqual(g, w, delta=1e-6 * max(1e-3, abs(w)), msg=f"{node.name}.{parm.name}")


    def test_an_exported_scene_has_the_camera_and_cooks_elsewhere(self):
        tree = inside.drop_tree(cells=8)
        bpy.ops.object.camera_add(location=(0, -8, 2), rotation=(1.5707963, 0, 0))
        self.scene.camera = bpy.context.object
        folder = inside.HERE / "exported"
        folder.mkdir(exist_ok=True)
        self.assertEqual(bpy.ops.meniscus.export_scene(filepath=str(folder / "scene.json"), tree=tree.name), {"FINISHED"})
        view = json.loads((folder / "scene.json").read_text())["camera"]
        for got, wanted in zip(view["position"], (0, 2 * tree.scale, 8 * tree.scale)):  # z is up in Blender, y here
            self.assertAlmostEqual(got, wanted, delta=1e-8)
        self.assertLess(view["target"][2], view["position"][2])
        inside.cook_by_command(folder / "scene.json", folder / "out", "-f", "1-1")


class Shown(Case):
    def result(self, type_name, **parms):
        """A tree: shape -> type -> result."""
        tree = bpy.data.node_groups.new("Shown", node_tree.TREE)
        shape, node = tree.nodes.new(node_tree.class_name("shape")), tree.nodes.new(node_tree.class_name(type_name))
        out = tree.nodes.new(node_tree.RESULT)
        tree.links.new(shape.outputs[0], node.inputs[0])
        tree.links.new(node.outputs[0], out.inputs[0])
        for name, value in parms.items():
            setattr(node, "p_" + name, value)
        return tree

    def roles(self, tree):
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name), {"FINISHED"}, tree.message)
        return {thing.meniscus.role: thing for thing in results.objects_of(tree)}

    def test_points_have_their_radius(self):
        things = self.roles(self.result("fill", dx=0.002))
        self.assertEqual(set(things), {"points"})
        mesh = things["points"].data
        self.assertGreater(mesh.attributes["radius"].data[0].value, 0)
        evaluated = things["points"].evaluated_get(bpy.context.evaluated_depsgraph_get())
        self.assertEqual([modifier.type for modifier in evaluated.modifiers], ["NODES"])

    def test_volumes_are_files_that_blender_reads(self):
        things = self.roles(self.result("collider", dx=0.001))
        self.assertEqual(set(things), {"mesh", "volume"})
        volume = things["volume"].data
        self.assertTrue(volume.grids.load(), volume.grids.error_message)
        self.assertIn("surface", [grid.name for grid in volume.grids])
        x, y, z = things["volume"].matrix_world @ type(things["volume"].location)((0, 1, 0))
        self.assertEqual((round(x, 6), round(y, 6), round(z, 6)), (0, 0, 1))

    def test_tetrahedra_show_a_closed_skin_that_faces_out(self):
        things = self.roles(self.result("tetrahedralize"))
        mesh = things["mesh"].data
        edges = {}
        for polygon in mesh.polygons:
            corners = list(polygon.vertices)
            for a, b in zip(corners, corners[1:] + corners[:1]):
                edges[a, b] = edges.get((a, b), 0) + 1
        self.assertTrue(edges and all(count == 1 and (b, a) in edges for (a, b), count in edges.items()))
        volume = sum(polygon.center.dot(polygon.normal) * polygon.area for polygon in mesh.polygons) / 3
        self.assertGreater(volume, 0)

    def test_a_foot_on_a_solid_has_an_edge_and_the_rest_is_smooth(self):
        geo = meniscus.Geometry()
        geo.add_points([(0, 0, 0), (1, 0, 0), (1, 0, -1), (0, 0, -1), (0, 1, 0.2), (1, 1, 0.2), (0, 2, 0.1), (1, 2, 0.1)])
        geo.add_primitives("polygon", [[0, 1, 2, 3], [1, 0, 4, 5], [5, 4, 6, 7]])  # its foot, and its side in two
        mesh = bpy.data.meshes.new("drop")
        fill_mesh.fill(mesh, *fill_mesh.lay_out(geo, 1.0))
        if hasattr(mesh, "calc_normals_split"):
            mesh.calc_normals_split()
        normal = {(polygon.index, mesh.loops[i].vertex_index): mesh.loops[i].normal.copy()
                  for polygon in mesh.polygons for i in polygon.loop_indices}
        self.assertGreater(normal[0, 0].angle(normal[1, 0]), 1.0)
        self.assertLess(normal[1, 4].angle(normal[2, 4]), 1e-3)

    def test_lines_are_edges(self):
        geo = meniscus.Geometry()
        geo.add_points([(0, 0, 0), (1, 0, 0), (1, 1, 0), (5, 5, 5)])
        geo.add_primitives("polyline", [[0, 1, 2]])
        mesh = bpy.data.meshes.new("lines")
        fill_mesh.fill(mesh, *fill_mesh.lay_out(geo, 1.0))
        self.assertEqual((len(mesh.vertices), len(mesh.edges), len(mesh.polygons)), (3, 2, 0))
        fill_mesh.fill_points(mesh, fill_mesh.lay_out(geo, 1.0)[0], 1.0)
        self.assertEqual([tuple(vertex.co) for vertex in mesh.vertices], [(5, -5, 5)])


class Motion(Case):
    def test_a_moving_object_brings_its_velocity(self):
        ball = inside.sphere(location=(0, 0, 0))
        ball.keyframe_insert("location", frame=1)
        ball.location = (0, 0, 24)
        ball.keyframe_insert("location", frame=25)
        for curve in ball.animation_data.action.fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
            curve.extrapolation = "LINEAR"
        tree = bpy.data.node_groups.new("Moving", node_tree.TREE)
        node, out = tree.nodes.new(node_tree.OBJECT), tree.nodes.new(node_tree.RESULT)
        node.object, tree.scale = ball, 0.5
        tree.links.new(node.outputs[0], out.inputs[0])
        self.scene.frame_set(2)
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name), {"FINISHED"}, tree.message)
        self.assertEqual(self.scene.frame_current, 2)
        geo = meniscus.Geometry.read(str(cache.frame_path(cache.folder_of(tree), "object", 3)))
        x, y, z = geo["v"].tolist()[0]  # up by a unit, half a metre, per frame
        self.assertAlmostEqual(y, 12.0, delta=1e-4)
        self.assertAlmostEqual(x, 0, delta=1e-4)
        (_, low, _), (_, high, _) = geo.bounds
        self.assertAlmostEqual((low + high) / 2, 1.0, delta=1e-5)

    def test_a_parameter_with_keys_is_animated_in_the_scene(self):
        tree = bpy.data.node_groups.new("Keys", node_tree.TREE)
        shape, out = tree.nodes.new(node_tree.class_name("shape")), tree.nodes.new(node_tree.RESULT)
        tree.links.new(shape.outputs[0], out.inputs[0])
        for frame, height in ((1, 0.0), (3, 1.0)):
            shape.p_center = (0, height, 0)
            shape.keyframe_insert("p_center", frame=frame)
        keys = inside.scene_text(tree)["nodes"][0]["parms"]["center"]["keys"]
        self.assertEqual((keys[0], keys[-1]), ([1, [0, 0, 0]], [3, [0, 1, 0]]))
        self.assertEqual(len(keys), 3)

    def test_what_is_painted_goes_along(self):
        ball = inside.sphere()
        paint = ball.data.attributes.new("contact_angle", "FLOAT", "POINT")
        paint.data.foreach_set("value", [110.0] * len(ball.data.vertices))
        from meniscus_blender import object_files
        geo = object_files.take([ball], bpy.context.evaluated_depsgraph_get(), 1.0)
        self.assertEqual(set(flat(geo["contact_angle"])), {110.0})


class Versions(Case):
    """What later versions of Blender have otherwise, with stand-ins for their side of it."""

    def test_curves_of_a_slotted_action(self):
        class Thing:
            def __init__(self, **values):
                self.__dict__.update(values)

        bags = {"mine": Thing(fcurves=["a", "b"]), "other": Thing(fcurves=["c"])}
        strips = [Thing(channelbag=bags.get), Thing(channelbag=lambda slot: None)]
        action = Thing(layers=[Thing(strips=strips)])  # 5.0: no fcurves of its own
        data = Thing(animation_data=Thing(action=action, action_slot="mine"))
        self.assertEqual(versions.curves_of(data), ["a", "b"])
        self.assertEqual(versions.curves_of(Thing(animation_data=None)), [])
        self.assertEqual(versions.curves_of(Thing(animation_data=Thing(action=None))), [])

    def test_a_material_that_always_has_nodes(self):
        class Always:
            node_tree = "tree"

            @property
            def use_nodes(self):
                raise AttributeError("gone in a later version")

            @use_nodes.setter
            def use_nodes(self, value):
                raise AttributeError("gone in a later version")

        self.assertEqual(versions.shader_tree(Always()), "tree")


class WrongInput(Case):
    def refuse(self, part, **words):
        with self.assertRaises(RuntimeError) as caught:
            bpy.ops.meniscus.bake(**words)
        self.assertIn(part, str(caught.exception))

    def test_nothing_to_simulate(self):
        self.refuse("no Meniscus network")
        tree = bpy.data.node_groups.new("Empty", node_tree.TREE)
        self.refuse("Result", tree=tree.name)
        self.assertTrue(tree.is_error)

    def test_no_object(self):
        tree = inside.drop_tree()
        tree.nodes["drop"].object = None
        self.refuse("no object", tree=tree.name)
        self.assertTrue(tree.nodes["drop"].is_error)

    def test_the_error_is_on_the_node(self):
        tree = inside.drop_tree()
        ball = tree.nodes["drop"].object
        while len(ball.data.polygons) > 3:  # an open shell cannot be filled
            import bmesh
            shell = bmesh.new()
            shell.from_mesh(ball.data)
            shell.faces.ensure_lookup_table()
            bmesh.ops.delete(shell, geom=shell.faces[3:], context="FACES")
            shell.to_mesh(ball.data)
            shell.free()
        self.refuse("fill 'fill'", tree=tree.name)
        self.assertTrue(tree.nodes["fill"].is_error and tree.nodes["fill"].message)
        self.assertTrue(tree.is_error)
        self.assertFalse(tree.nodes["liquid"].is_error)
        # Changing a parameter of the node takes the message away.
        tree.nodes["fill"].p_dx = 0.001
        self.assertEqual(tree.nodes["fill"].message, "")

    def test_quick_without_a_mesh(self):
        for thing in list(bpy.data.objects):
            bpy.data.objects.remove(thing)
        with self.assertRaises(RuntimeError) as caught:
            bpy.ops.meniscus.quick()
        self.assertIn("Choose an object", str(caught.exception))

    def test_a_mirrored_object_is_refused(self):
        tree = inside.drop_tree()
        tree.nodes["drop"].object.scale = (-1, 1, 1)
        bpy.context.view_layer.update()
        self.refuse("mirrored", tree=tree.name)

    def test_a_damaged_frame_does_not_stop_playback(self):
        tree = inside.drop_tree()
        bpy.ops.meniscus.bake(tree=tree.name)
        path = cache.frame_path(cache.folder_of(tree), "skin", 2)
        path.write_bytes(path.read_bytes()[:100])
        self.scene.frame_set(2)
        self.assertTrue(results.objects_of(tree)[0].meniscus.message)
        self.scene.frame_set(3)
        self.assertEqual(results.objects_of(tree)[0].meniscus.message, "")

    def test_frames_are_read_ahead_while_it_plays(self):
        tree = inside.drop_tree()
        bpy.ops.meniscus.bake(tree=tree.name)
        thing, folder = results.objects_of(tree)[0], cache.folder_of(tree)
        shown = {}
        for frame in (1, 2, 3):
            self.scene.frame_set(frame)
            shown[frame] = [tuple(vertex.co) for vertex in thing.data.vertices]
        self.assertEqual(results._ahead, {}, "nothing is read ahead while it does not play")
        before, begun = results.is_playing, []
        start = meniscus.FrameRead
        try:
            results.is_playing = lambda: True
            meniscus.FrameRead = lambda path, rows: begun.append(path[-len("0001.bgeo.sc"):-len(".bgeo.sc")]) or start(path, rows)
            self.scene.frame_set(1)
            self.scene.frame_set(2)
            self.assertEqual(begun, ["0001", "0002", "0003"], "each frame once")
            self.assertEqual([tuple(vertex.co) for vertex in thing.data.vertices], shown[2])
            # What is written anew meanwhile is read anew.
            third = cache.frame_path(folder, "skin", 3)
            good = third.read_bytes()
            third.write_bytes(cache.frame_path(folder, "skin", 1).read_bytes())
            self.scene.frame_set(3)
            self.assertEqual([tuple(vertex.co) for vertex in thing.data.vertices], shown[1])
            third.write_bytes(good[:100])
            self.scene.frame_set(2)
            self.scene.frame_set(3)
            self.assertTrue(thing.meniscus.message, "a damaged frame says so when it is its turn")
        finally:
            results.is_playing, meniscus.FrameRead = before, start
            results.forget_ahead()
            if bpy.app.timers.is_registered(playback._when_stopped):
                bpy.app.timers.unregister(playback._when_stopped)

    def test_a_bad_scene_names_its_line(self):
        path = inside.HERE / "bad.json"
        path.write_text('{"meniscus": 1, "nodes": [\n{"name": "a", "type": "shap"}]}')
        with self.assertRaises(RuntimeError) as caught:
            bpy.ops.meniscus.import_scene(filepath=str(path))
        self.assertIn("bad.json:2", str(caught.exception))
        self.assertIn("shape", str(caught.exception))


class Registration(Case):
    def test_off_and_on_again(self):
        import addon_utils
        tree = inside.drop_tree()
        sigma = tree.nodes["liquid"].p_sigma
        addon_utils.disable("meniscus_blender")
        self.assertIsNotNone(addon_utils.enable("meniscus_blender"))
        tree = next(tree for tree in bpy.data.node_groups if "Water" in tree.name)
        self.assertEqual(tree.nodes["liquid"].p_sigma, sigma)
        self.assertEqual(meniscus_blender.preferences.failure, "")

    def test_the_library_is_loaded_from_a_copy(self):
        loaded = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libmeniscus_plugin" in line]
        self.assertTrue(loaded)
        own = str(Path(meniscus_blender.__file__).parent)
        self.assertFalse([path for path in loaded if path.startswith(own)])


inside.main("nodes")
