# SPDX-License-Identifier: Apache-2.0
"""Inside Blender: what artists do with files, caches and objects, and what must not happen to their work then."""
import json
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy  # noqa: E402
import inside  # noqa: E402
from meniscus_blender import border, bake_operators, cache, node_tree, object_files, overlaps, quick, results, timeline  # noqa: E402
from meniscus_blender.native import meniscus  # noqa: E402

HERE = inside.HERE / "trial"


def frames(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.bgeo.sc"))}


def span(thing):
    heights = [(thing.matrix_world @ vertex.co).z for vertex in thing.data.vertices]
    return (round(min(heights), 4), round(max(heights), 4)) if heights else None


def simulate(thing, **settings):
    """Clicks the button for an object. Returns its network."""
    for name, value in {"cells": 6, **settings}.items():
        setattr(thing.meniscus_quick, name, value)
    for other in bpy.context.selected_objects:
        other.select_set(False)
    bpy.context.view_layer.objects.active = thing
    thing.select_set(True)
    bpy.ops.meniscus.quick()
    return quick.tree_of(thing)


def shown(tree):
    return results.objects_of(tree)[0]


class Case(unittest.TestCase):
    def setUp(self):
        self.scene = inside.fresh()
        shutil.rmtree(HERE, ignore_errors=True)
        HERE.mkdir()

    def save(self, name):
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(HERE / name))

    def open(self, name):
        bpy.ops.wm.open_mainfile(filepath=str(HERE / name))
        self.scene = bpy.context.scene


class NeverLose(Case):
    def test_saving_while_it_simulates_keeps_the_frames(self):
        tree = inside.drop_tree()
        job = bake_operators.start(bpy.context, tree)
        bake_operators.job, bake_operators.job_key = job, tree.cache_name
        job.start()
        job.wait()
        self.assertTrue(job.is_held)
        self.save("x.blend")  # in the middle
        bake_operators._look()
        while bake_operators._look() is not None:
            time.sleep(0.02)
        self.assertEqual(tree.message, "3 frames done")
        folder = cache.folder_of(tree)
        self.assertIn(HERE, folder.parents)
        self.assertEqual(len(frames(folder)), 3)
        self.scene.frame_set(3)
        self.assertGreater(len(shown(tree).data.vertices), 0)

    def test_two_files_in_one_folder_keep_their_own_frames(self):
        first = simulate(inside.sphere(name="Sphere", location=(0, 0, 1.1)))
        self.save("a.blend")
        self.scene.frame_set(3)
        height = span(shown(first))
        self.scene = inside.fresh()
        simulate(inside.sphere(name="Sphere", location=(0, 0, 5), radius=0.5))
        self.save("b.blend")
        self.open("a.blend")
        self.scene.frame_set(3)
        self.assertEqual(span(shown(node_tree.trees()[0])), height)

    def test_a_copy_of_a_file_does_not_overwrite_its_frames(self):
        tree = simulate(inside.sphere())
        self.save("shot_v1.blend")
        before = frames(cache.folder_of(tree))
        self.save("shot_v2.blend")
        self.scene.frame_set(3)
        self.assertIsNotNone(span(shown(tree)))  # the copy shows them,
        old = cache.folder_of(tree)
        tree = simulate(tree.made_for, material="mercury")
        self.assertNotEqual(cache.folder_of(tree), old)  # and simulates beside them
        self.assertEqual(frames(old), before)

    def test_an_unsaved_simulation_saved_beside_another_keeps_its_frames(self):
        simulate(inside.sphere(name="Sphere", location=(0, 0, 9)))
        self.save("a.blend")
        self.scene = inside.fresh()
        tree = simulate(inside.sphere(name="Sphere", location=(0, 0, 1.1)))
        self.scene.frame_set(3)
        height = span(shown(tree))
        self.save("b.blend")
        self.scene.frame_set(2)
        self.scene.frame_set(3)
        self.assertEqual(span(shown(tree)), height)

    def test_a_refused_simulation_leaves_everything(self):
        ball = inside.sphere()
        tree = simulate(ball)
        folder, result = cache.folder_of(tree), shown(tree).name
        before, inputs = frames(folder), cache.digests(folder / "inputs")
        ball.scale.x = -1  # mirrored: refused when the object is read
        bpy.context.view_layer.update()
        for call in (lambda: bpy.ops.meniscus.bake(tree=tree.name), bpy.ops.meniscus.quick):
            with self.assertRaises(RuntimeError):
                call()
            self.assertEqual((frames(folder), cache.digests(folder / "inputs")), (before, inputs))
            self.assertIn(result, bpy.data.objects)
        ball.scale.x = 1
        bpy.context.view_layer.update()
        tree.nodes["fill"].p_max_particles = 10  # refused when the first frame is cooked
        with self.assertRaises(RuntimeError):
            bpy.ops.meniscus.bake(tree=tree.name)
        self.assertEqual((frames(folder), cache.digests(folder / "inputs")), (before, inputs))
        self.scene.frame_set(3)
        self.assertIsNotNone(span(bpy.data.objects[result]))

    def test_a_refused_first_click_leaves_the_object_as_it_was(self):
        ball = inside.sphere()
        ball.scale.x = -1
        bpy.context.view_layer.update()
        with self.assertRaises(RuntimeError):
            simulate(ball)
        self.assertEqual((ball.hide_render, ball.display_type, node_tree.trees()), (False, "TEXTURED", []))
        self.assertIn("mirrored", ball.meniscus.message)

    def test_a_renamed_network_keeps_its_frames(self):
        tree = simulate(inside.sphere())
        tree.name = "Another name"
        self.scene.frame_set(3)
        self.assertIsNotNone(span(shown(tree)))

    def test_a_missing_cache_says_so_and_is_found_again(self):
        tree = simulate(inside.sphere())
        self.save("a.blend")
        self.scene.frame_set(3)
        height = span(shown(tree))
        name = tree.name
        (HERE / "elsewhere").mkdir()
        shutil.move(HERE / "meniscus_cache", HERE / "elsewhere" / "taken")
        self.open("a.blend")
        tree = bpy.data.node_groups[name]
        self.scene.frame_set(3)
        self.assertIn("Find the frames", shown(tree).meniscus.message)
        with self.assertRaises(RuntimeError):
            bpy.ops.meniscus.find_cache(tree=name, directory=str(HERE / "meniscus_blender"))
        self.assertEqual(bpy.ops.meniscus.find_cache(tree=name, directory=str(HERE / "elsewhere")), {"FINISHED"})
        self.assertEqual((shown(tree).meniscus.message, span(shown(tree))), ("", height))

    def test_saving_into_another_folder_still_shows_the_frames_and_can_bring_them(self):
        tree = simulate(inside.sphere())
        self.save("a/x.blend")
        self.scene.frame_set(3)
        height = span(shown(tree))
        self.save("b/x.blend")
        self.scene.frame_set(2)
        self.scene.frame_set(3)
        self.assertEqual(span(shown(tree)), height)
        self.assertIn("still in", tree.message)
        self.assertEqual(bpy.ops.meniscus.bring_cache(tree=tree.name), {"FINISHED"})
        shutil.rmtree(HERE / "a")
        self.open("b/x.blend")
        self.scene.frame_set(3)
        self.assertEqual(span(shown(node_tree.trees()[0])), height)

    def test_frames_of_another_simulation_are_not_shown(self):
        tree = simulate(inside.sphere())
        self.save("a.blend")
        bake = json.loads((cache.folder_of(tree) / "bake.json").read_text())
        bake.update(fingerprint="another", blend="")
        (cache.folder_of(tree) / "bake.json").write_text(json.dumps(bake))
        self.scene.frame_set(3)
        self.assertIsNone(span(shown(tree)))
        self.assertIn("another simulation", shown(tree).meniscus.message)
        self.assertEqual(bpy.ops.meniscus.use_cache(tree=tree.name), {"FINISHED"})
        self.assertIsNotNone(span(shown(tree)))

    def test_a_second_click_keeps_network_and_result(self):
        ball = inside.sphere("Twice")
        tree = simulate(ball)
        result = shown(tree)
        result.modifiers.new("Mine", "SMOOTH")
        mine = bpy.data.materials.new("Mine")
        result.data.materials[0] = mine
        folder = bpy.data.collections.new("Kept")
        self.scene.collection.children.link(folder)
        folder.objects.link(result)
        tree.nodes["liquid"].p_sigma = 0.5
        again = simulate(ball, cells=7)
        self.assertEqual((again, shown(again)), (tree, result))
        self.assertEqual([modifier.name for modifier in result.modifiers], ["Mine"])
        self.assertEqual((result.data.materials[0], result.name in folder.objects), (mine, True))
        self.assertAlmostEqual(tree.nodes["liquid"].p_sigma, 0.5)
        self.assertAlmostEqual(tree.nodes["liquid"].p_dx, 0.004 / 7, delta=1e-6)
        again = simulate(ball, setup="mercury", cells=6)  # another preset: other nodes, the same result object
        self.assertEqual((again, shown(again)), (tree, result))
        self.assertEqual(len([path for path in cache.folder_of(tree).parent.iterdir() if path.name.startswith("Twice")]), 1)

    def test_a_result_locks_the_interface_while_it_renders(self):
        self.assertFalse(self.scene.render.use_lock_interface)
        simulate(inside.sphere())
        self.assertTrue(self.scene.render.use_lock_interface)

    def test_remove_takes_everything_and_shows_the_source(self):
        ball = inside.sphere()
        tree = simulate(ball)
        folder = cache.folder_of(tree)
        self.assertTrue(ball.hide_render)
        bpy.ops.meniscus.remove(tree=tree.name)
        self.assertFalse(folder.exists())
        self.assertEqual((node_tree.trees(), ball.hide_render, ball.display_type), ([], False, "TEXTURED"))
        self.assertEqual([thing.name for thing in bpy.data.objects if thing.meniscus.role], [])


class Motion(Case):
    def test_a_thrown_drop_flies(self):
        ball = inside.sphere(location=(0, 0, 5))
        ball.keyframe_insert("location", frame=1)
        ball.location = (3, 0, 5)
        ball.keyframe_insert("location", frame=4)
        for curve in ball.animation_data.action.fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
        self.scene.frame_end = 4
        self.scene.frame_set(1)
        self.scene.use_gravity = False
        tree = simulate(ball, slow_motion=40)
        self.scene.frame_set(4)
        middle = [(min(one) + max(one)) / 2 for one in zip(*((shown(tree).matrix_world @ v.co) for v in shown(tree).data.vertices))]
        self.assertAlmostEqual(middle[0], 3, delta=0.1)

    def test_the_ground_is_under_the_object(self):
        ball = inside.sphere(location=(20, 0, 1.02))
        self.scene.frame_end = 14
        tree = simulate(ball, slow_motion=10)
        self.scene.frame_set(14)
        self.assertGreater(span(shown(tree))[0], -0.2)

    def test_a_rigid_body_moves(self):
        bpy.ops.mesh.primitive_cube_add(location=(0, 0, 8))
        cube = bpy.context.object
        self.assertFalse(object_files.is_moving(cube))
        bpy.ops.rigidbody.object_add()
        self.assertTrue(object_files.is_moving(cube))
        solids = bpy.data.collections.new("Solids")
        solids.objects.link(cube)
        tree = simulate(inside.sphere(), colliders=solids)
        self.assertTrue((cache.folder_of(tree) / "inputs" / "ground.0002.bgeo.sc").is_file())

    def test_a_linked_result_plays(self):
        tree = simulate(inside.sphere())
        self.save("a.blend")
        self.scene.frame_set(3)
        name, height, count = shown(tree).name, span(shown(tree)), len(shown(tree).data.polygons)
        self.scene = inside.fresh()
        with bpy.data.libraries.load(str(HERE / "a.blend"), link=True) as (there, here):
            here.objects = [name]
        linked = bpy.data.objects[name]
        self.scene.collection.objects.link(linked)
        for path in ("b/other.blend", None):
            self.scene.frame_set(2)
            self.scene.frame_set(3)
            self.assertEqual((span(linked), len(linked.data.polygons)), (height, count))
            self.assertIn("velocity", linked.data.attributes)
            if path:
                self.save(path)
                self.open(path)
                linked = bpy.data.objects[name]


class WhatArtistsHave(Case):
    def test_settings_belong_to_the_object(self):
        one, two = inside.sphere("One"), inside.sphere("Two", location=(5, 0, 1.2))
        one.meniscus_quick.setup, two.meniscus_quick.setup = "mercury", "soap_bubble"
        self.assertEqual((one.meniscus_quick.setup, one.meniscus_quick.material), ("mercury", "mercury"))

    def test_selected_objects_are_one_simulation(self):
        one, two = inside.sphere("One", location=(-1.5, 0, 1.2)), inside.sphere("Two", location=(1.5, 0, 1.2))
        for name, value in {"cells": 6}.items():
            setattr(one.meniscus_quick, name, value)
        bpy.context.view_layer.objects.active = one
        one.select_set(True)
        two.select_set(True)
        bpy.ops.meniscus.quick()
        tree = quick.tree_of(one)
        self.scene.frame_set(1)
        sides = {round((shown(tree).matrix_world @ vertex.co).x / 1.5) for vertex in shown(tree).data.vertices}
        self.assertTrue({-1, 1} <= sides)
        self.assertTrue(one.hide_render and two.hide_render)

    def test_an_object_in_the_ground_is_named(self):
        bpy.ops.mesh.primitive_cube_add(location=(0, 0, 0))
        cube = bpy.context.object
        tree = quick.build(bpy.context, cube, cube.meniscus_quick)
        self.assertEqual(overlaps.sentence(bpy.context, tree), "Lift 'Cube' by 1: it starts inside the ground.")
        cube.location.z = 1.0
        bpy.context.view_layer.update()
        self.assertEqual(overlaps.sentence(bpy.context, tree), "")

    def test_floors_that_artists_make_are_taken(self):
        """A plane, and a plane with Solidify that is much thinner than a cell."""
        for solidify in (False, True):
            self.setUp()
            bpy.ops.mesh.primitive_plane_add(size=8, location=(0, 0, 0))
            plane = bpy.context.object
            if solidify:
                plane.modifiers.new("Solid", "SOLIDIFY").thickness = 0.05
            floors = bpy.data.collections.new("Floors")
            floors.objects.link(plane)
            self.scene.frame_end = 12
            tree = simulate(inside.sphere(location=(0, 0, 1.5)), colliders=floors, use_ground=False, slow_motion=10)
            self.assertFalse(tree.is_error, tree.message)
            self.scene.frame_set(12)
            self.assertGreater(span(shown(tree))[0], -0.3)

    def test_suzanne_is_filled_with_a_note(self):
        bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 2))
        tree = simulate(bpy.context.object, cells=12)
        self.assertFalse(tree.is_error, tree.message)
        self.assertIn("holes", tree.nodes["fill"].message)
        self.assertGreater(len(shown(tree).data.vertices), 500)

    def test_thick_liquids_choose_their_integrator(self):
        ball = inside.sphere()
        ball.meniscus_quick.setup = "honey"
        self.assertEqual(quick.build(bpy.context, ball, ball.meniscus_quick).nodes["liquid"].p_integrator, "semi_implicit")
        ball.meniscus_quick.setup = "water_drop"
        self.assertEqual(quick.build(bpy.context, ball, ball.meniscus_quick).nodes["liquid"].p_integrator, "explicit")

    def test_mercury_weighs_mercury(self):
        tree = simulate(inside.sphere(), setup="mercury")
        scene = json.loads((cache.folder_of(tree) / "scene.json").read_text())
        net = meniscus.Network.from_text(json.dumps(scene))
        net.folder = str(cache.folder_of(tree))
        points = net["liquid"].cook(1)
        self.assertAlmostEqual(sum(points["mass"].tolist()) / (4 / 3 * 3.14159 * 0.002 ** 3 * 13534), 1, delta=0.06)

    def test_a_tiny_real_size_is_not_clamped(self):
        ball = inside.sphere(radius=1e4, location=(0, 0, 2e4))
        tree = quick.build(bpy.context, ball, ball.meniscus_quick)
        self.assertAlmostEqual(tree.scale, 2e-7, delta=1e-12)

    def test_ground_and_colliders_together(self):
        bpy.ops.mesh.primitive_cube_add(location=(3, 0, 1))
        solids = bpy.data.collections.new("Solids")
        solids.objects.link(bpy.context.object)
        tree = simulate(inside.sphere(), colliders=solids)
        self.assertFalse(tree.is_error, tree.message)
        self.assertIn("floor", tree.nodes)
        tree = simulate(tree.made_for, colliders=bpy.data.collections.new("Empty"))
        self.assertFalse(tree.is_error, tree.message)


class Farm(Case):
    def test_frames_as_objects_play_without_the_add_on(self):
        tree = simulate(inside.sphere())
        self.scene.frame_set(3)
        wanted = span(shown(tree))
        self.assertEqual(bpy.ops.meniscus.make_objects(tree=tree.name), {"FINISHED"})
        self.save("farm.blend")
        look = ("import bpy\n"
                "for frame in (1, 3):\n"
                "    bpy.context.scene.frame_set(frame)\n"
                "    for thing in bpy.data.objects:\n"
                "        if thing.type == 'MESH' and not thing.hide_render and 'skin' in thing.name:\n"
                "            heights = [(thing.matrix_world @ vertex.co).z for vertex in thing.data.vertices]\n"
                "            print('seen', frame, thing.name[-4:], round(min(heights), 4), round(max(heights), 4), "
                "'velocity' in thing.data.attributes)\n")
        done = subprocess.run([bpy.app.binary_path, "-b", "--factory-startup", str(HERE / "farm.blend"), "--python-expr", look],
                              capture_output=True, text=True)
        seen = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("seen")]
        self.assertEqual([line[:2] for line in seen], [["1", "0001"], ["3", "0003"]], done.stdout + done.stderr)
        self.assertEqual(seen[1][2:], [str(wanted[0]), str(wanted[1]), "True"])


class Small(Case):
    def test_places_in_sentences_are_blenders(self):
        self.assertEqual(border.in_blender("at (0.002, 0.004, -0.006) on polygon 0 (3 edges)", 0.002),
                         "at (1, 3, 2) on polygon 0 (3 edges)")

    def test_one_spacing_for_all_nodes(self):
        tree = inside.drop_tree(cells=8)
        skin = tree.nodes["skin"].p_dx / tree.nodes["liquid"].p_dx
        tree.dx = tree.dx / 2
        self.assertAlmostEqual(tree.nodes["liquid"].p_dx, 0.00025, delta=1e-8)
        self.assertAlmostEqual(tree.nodes["fill"].p_dx, 0.00025, delta=1e-8)
        self.assertAlmostEqual(tree.nodes["skin"].p_dx / tree.nodes["liquid"].p_dx, skin, delta=1e-5)

    def test_a_tap_on_a_sphere_pours_down(self):
        ball = inside.sphere(location=(0, 0, 3))
        ball.meniscus_quick.setup = "tap"
        tree = quick.build(bpy.context, ball, ball.meniscus_quick)
        self.assertEqual(tree.nodes["nozzle"].faces, "DOWN")
        geo = object_files.take([ball], bpy.context.evaluated_depsgraph_get(), 1.0, "DOWN")
        self.assertTrue(0 < geo.primitive_count < len(ball.data.polygons) / 2)
        self.assertLess(geo.bounds[1][1], 3)

    def test_an_imported_scene_can_be_seen(self):
        path = Path(__file__).parents[3] / "examples" / "drops_colliding" / "scene.json"
        bpy.ops.meniscus.import_scene(filepath=str(path))
        tree = node_tree.trees()[0]
        self.assertTrue(1e-4 < tree.scale < 0.01)
        result = next(node for node in tree.nodes if node.bl_idname == node_tree.RESULT)
        self.assertIsNotNone(result.material)

    def test_an_estimate_stands_in_the_panel(self):
        ball = inside.sphere()
        particles, cost = quick.estimate(bpy.context, ball, ball.meniscus_quick)
        self.assertIn("particles", particles)
        self.assertIn(" MB", cost)

    def test_every_preset_tells_what_it_takes(self):
        ball, costs = inside.sphere(), {}
        for name in quick._setups:
            ball.meniscus_quick.setup = name
            lines = quick.estimate(bpy.context, ball, ball.meniscus_quick)
            self.assertEqual(len(lines), 2, name)
            self.assertRegex(lines[1], r"^[\d.]+ (s|min|h), \d+ MB$", name)
            ball.meniscus_quick.cells *= 8
            costs[name] = lines[1], quick.estimate(bpy.context, ball, ball.meniscus_quick)[1]
        self.assertTrue(all(few != many for name, (few, many) in costs.items() if name != "spray"), costs)

    def test_buttons_for_trouble(self):
        bpy.ops.mesh.primitive_cube_add(location=(0, 0, 0))
        cube = bpy.context.object
        tree = quick.build(bpy.context, cube, cube.meniscus_quick)
        bpy.ops.meniscus.lift(tree=tree.name)
        self.assertAlmostEqual(cube.location.z, 1.0, delta=1e-5)
        self.assertEqual(tree.notes, "")
        bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 5))
        monkey = bpy.context.object
        tree = quick.build(bpy.context, monkey, monkey.meniscus_quick)
        self.assertEqual(bpy.ops.meniscus.select_holes(tree=tree.name), {"FINISHED"})
        bpy.ops.object.mode_set(mode="OBJECT")
        self.assertEqual(len([edge for edge in monkey.data.edges if edge.select]), 42)

    def test_a_folder_that_cannot_be_made_is_a_sentence(self):
        tree = inside.drop_tree()
        tree.cache_folder = "/proc/nope"
        with self.assertRaises(RuntimeError) as caught:
            bpy.ops.meniscus.bake(tree=tree.name)
        self.assertIn("Choose another cache folder", str(caught.exception))

    def test_cached_frames_are_ranges(self):
        tree = simulate(inside.sphere())
        self.assertEqual(timeline.ranges_of(tree), [[1, 3]])


inside.main("trial")
