# SPDX-License-Identifier: Apache-2.0
"""Inside Blender: saving and loading, caches that move, stopping in the middle and going on."""
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy  # noqa: E402
import inside  # noqa: E402
from meniscus_blender import bake_operators, cache, network_scene, results  # noqa: E402


def frames(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.bgeo.sc"))}


def shape_of(thing):
    return [tuple(vertex.co) for vertex in thing.data.vertices]


class Files(unittest.TestCase):
    def setUp(self):
        self.scene = inside.fresh()
        shutil.rmtree(inside.HERE / "files", ignore_errors=True)
        (inside.HERE / "files").mkdir()
        self.path = inside.HERE / "files" / "drop.blend"

    def test_save_and_reload(self):
        tree = inside.drop_tree(material="mercury")
        tree.nodes["liquid"].p_gravity = (0, -1.62, 0)
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name), {"FINISHED"}, tree.message)
        temporary = cache.folder_of(tree)
        made = frames(temporary)
        self.assertEqual(len(made), 3)
        bpy.ops.wm.save_as_mainfile(filepath=str(self.path))
        # The cache came along from the temporary folder.
        self.assertFalse(temporary.exists())
        self.assertEqual(cache.folder_of(tree), inside.HERE / "files" / "meniscus_cache" / tree.cache_name)
        self.assertEqual(frames(cache.folder_of(tree)), made)
        text = network_scene.plan_of(tree, self.scene).text
        name = tree.name
        self.scene.frame_set(3)
        seen = shape_of(results.objects_of(tree)[0])
        inside.fresh()
        bpy.ops.wm.open_mainfile(filepath=str(self.path))
        tree, scene = bpy.data.node_groups[name], bpy.context.scene
        self.assertEqual(network_scene.plan_of(tree, scene).text, text)
        self.assertEqual(tree.message, "")
        scene.frame_set(3)
        self.assertEqual(shape_of(results.objects_of(tree)[0]), seen)
        # The whole folder can be moved, and the network renamed with its cache left behind.
        shutil.move(inside.HERE / "files", inside.HERE / "moved")
        try:
            bpy.ops.wm.open_mainfile(filepath=str(inside.HERE / "moved" / "drop.blend"))
            tree = bpy.data.node_groups[name]
            bpy.context.scene.frame_set(3)
            self.assertEqual(shape_of(results.objects_of(tree)[0]), seen)
        finally:
            shutil.rmtree(inside.HERE / "moved")

    def test_switched_off_before_a_new_file(self):
        name = inside.drop_tree().name
        bpy.ops.meniscus.bake(tree=name)
        thing = results.objects_of(bpy.data.node_groups[name])[0]
        self.scene.frame_set(3)
        seen = shape_of(thing)
        try:
            bpy.ops.preferences.addon_disable(module="meniscus_blender")
            self.assertEqual(shape_of(thing), seen)
            bpy.ops.preferences.addon_enable(module="meniscus_blender")
            self.assertEqual(results.objects_of(bpy.data.node_groups[name]), [thing])
            bpy.ops.preferences.addon_disable(module="meniscus_blender")
            bpy.ops.wm.read_homefile(use_empty=True)  # freed what had lost its types, and ended Blender
        finally:
            bpy.ops.preferences.addon_enable(module="meniscus_blender")

    def test_frames_outside_the_cache(self):
        tree = inside.drop_tree()
        bpy.ops.meniscus.bake(tree=tree.name)
        thing = results.objects_of(tree)[0]
        self.scene.frame_set(3)
        last = shape_of(thing)
        self.scene.frame_set(100)
        self.assertEqual(shape_of(thing), last)
        self.scene.frame_set(1)
        first = shape_of(thing)
        self.scene.frame_set(-5)
        self.assertEqual(shape_of(thing), first)
        bpy.ops.meniscus.free(tree=tree.name)
        self.assertEqual(shape_of(thing), [])
        self.assertFalse(cache.folder_of(tree).exists())


class Stopping(unittest.TestCase):
    def setUp(self):
        self.scene = inside.fresh()
        self.scene.frame_end = 8

    def test_cancel_in_the_middle_and_resume_give_the_same_frames(self):
        tree = inside.drop_tree(cells=10)
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name), {"FINISHED"}, tree.message)
        folder = cache.folder_of(tree)
        whole = frames(folder)
        self.assertEqual(len(whole), 8)

        cache.free(folder)
        job = bake_operators.start(bpy.context, tree)
        job.start()
        while job.done_frames < 3 and not job.look():
            if job.is_held:
                bake_operators.commit(tree, job)
                job.release()
            time.sleep(0.002)
        job.cancel()
        asked = time.monotonic()
        self.assertTrue(job.wait(60))
        print(f"note: stopped after {time.monotonic() - asked:.3f} s in frame {job.frame}")
        self.assertTrue(job.cancelled)
        self.assertEqual(job.sentence, "")
        level, sentence = bake_operators.finish(self.scene, tree, job)
        self.assertEqual(level, "WARNING")
        kept = frames(folder)
        self.assertTrue(3 <= len(kept) < 8, len(kept))
        self.assertEqual(kept, {name: whole[name] for name in kept})

        steps = self.resume(tree)
        self.assertEqual(frames(folder), whole)
        self.assertLess(steps, 8)  # it went on; it did not start again

        # A longer range is the same simulation, and a frame can be made again.
        self.scene.frame_end = 9
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name, resume=True), {"FINISHED"}, tree.message)
        self.assertEqual({name: data for name, data in frames(folder).items() if name in whole}, whole)
        self.assertEqual(len(frames(folder)), 9)
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name, from_frame=6), {"FINISHED"}, tree.message)
        self.assertEqual({name: data for name, data in frames(folder).items() if name in whole}, whole)

        # With another parameter the frames do not fit any more.
        tree.nodes["liquid"].p_sigma = 0.03
        with self.assertRaises(RuntimeError) as caught:
            bpy.ops.meniscus.bake(tree=tree.name, resume=True)
        self.assertIn("changed", str(caught.exception))

    def resume(self, tree):
        """Goes on; returns how many frames were made."""
        job = bake_operators.start(bpy.context, tree, resume=True)
        made = len(job.frames) - len(job.skip)
        bake_operators.wait_for(tree, job)
        self.assertEqual((job.sentence, job.cancelled), ("", False))
        bake_operators.finish(self.scene, tree, job)
        return made


class Branching(unittest.TestCase):
    """Other settings from a frame on; what lies before it stays."""

    def setUp(self):
        self.scene = inside.fresh()
        self.scene.frame_end = 6

    def again(self, tree, frame):
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name, from_frame=frame), {"FINISHED"}, tree.message)
        return list(frames(cache.folder_of(tree)).values())

    def refused(self, tree, frame, words):
        before = frames(cache.folder_of(tree))
        with self.assertRaises(RuntimeError):
            bpy.ops.meniscus.bake(tree=tree.name, from_frame=frame)
        self.assertIn(words, tree.message)
        self.assertEqual(frames(cache.folder_of(tree)), before)

    def test_other_settings_from_a_frame_on(self):
        tree = inside.drop_tree(cells=8)
        tree.nodes["liquid"].p_material = "custom"
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name), {"FINISHED"}, tree.message)
        folder = cache.folder_of(tree)
        plain = list(frames(folder).values())
        scene = inside.HERE / "branch_scene"
        shutil.rmtree(scene, ignore_errors=True)
        shutil.copytree(folder, scene)

        tree.nodes["liquid"].p_sigma = 0.5
        self.refused(tree, 1, "Choose a frame after 1")
        branched = self.again(tree, 4)
        self.assertEqual(branched[:3], plain[:3])
        for i in range(3, 6):
            self.assertNotEqual(branched[i], plain[i])
        # The bytes are those that the command gives for the same branch.
        command = lambda *words: subprocess.run([inside.COMMAND, "cook", *map(str, words), "-q"], check=True, capture_output=True, text=True)  # noqa: E731
        command(scene / "scene.json", "-f", "1-3", "-o", inside.HERE / "branch_old")
        command("--from", f"{inside.HERE / 'branch_old'}@3", "--set", "liquid.sigma=0.5", "-f", "4-6", "-o", inside.HERE / "branch_new")
        made = [path.read_bytes() for path in sorted((inside.HERE / "branch_new").glob("*.bgeo.sc"))]
        self.assertEqual(branched[3:], made)

        # The branch is a simulation of its own: made again from its frames, after stopping, and not before it.
        self.assertEqual(self.again(tree, 5), branched)
        self.refused(tree, 2, "Choose frame 4 or a later one")
        for path in folder.glob("*.checkpoint"):
            path.unlink()
        for path in sorted(folder.glob("*.bgeo.sc"))[3:]:
            path.unlink()
        self.assertEqual(bpy.ops.meniscus.bake(tree=tree.name, resume=True), {"FINISHED"}, tree.message)
        self.assertEqual(list(frames(folder).values()), branched)

        tree.nodes["liquid"].p_sigma = 0.01
        twice = self.again(tree, 6)
        self.assertEqual(twice[:5], branched[:5])
        self.assertNotEqual(twice[5], branched[5])

        # Other connections cannot go on from it.
        tree.links.remove(tree.nodes["liquid"].inputs[1].links[0])
        self.refused(tree, 6, "Simulate anew: nodes, connections")


inside.main("cache_cases")
