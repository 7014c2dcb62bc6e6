# SPDX-License-Identifier: Apache-2.0
"""Simulate, stop, go on, free: operators around the one running job."""
import atexit
import sys

import bpy

from . import bake_job, cache, network_scene, node_tree, object_files, preferences, results
from .native import meniscus

job = None  # the running BakeJob
job_tree = ""  # the name of its tree; never a reference, which undo would make invalid
TICK = 0.2  # seconds between looks at the job


def is_running(tree_name=None):
    return job is not None and not job.is_done and tree_name in (None, job_tree)


def stop_job(seconds=30):
    """Stops and waits; for loading another file and for leaving."""
    if job is not None:
        job.cancel()
        job.wait(seconds)


atexit.register(stop_job, 10)


def find_tree(context, name=""):
    """The tree that is meant: by name, in the node editor, of the active object, or the only one."""
    if name:
        tree = bpy.data.node_groups.get(name)
        return tree if tree is not None and tree.bl_idname == node_tree.TREE else None
    space = context.space_data
    if space is not None and space.type == "NODE_EDITOR" and space.tree_type == node_tree.TREE and space.edit_tree:
        return space.edit_tree
    active = context.object
    if active is not None and active.meniscus.tree is not None:
        return active.meniscus.tree
    trees = node_tree.trees()
    if active is not None:
        for tree in trees:
            if any(node.bl_idname == node_tree.OBJECT and active in node.meshes() for node in tree.nodes):
                return tree
    return trees[0] if len(trees) == 1 else None


# ---- starting ----

def clear_messages(tree):
    tree.set_message("")
    for node in tree.nodes:
        if hasattr(node, "set_message"):
            node.set_message("")


def say(tree, sentence, node_name=""):
    """An error where the artist looks: on the tree, which the panels show, and on the node."""
    tree.set_message(sentence, True)
    node = tree.nodes.get(node_name)
    if node is not None and hasattr(node, "set_message"):
        node.set_message(sentence, True)


def start(context, tree, resume=False, from_frame=None):
    """A job for the tree, not yet running. Raises meniscus.Error, OSError or network_scene.TreeError."""
    scene = context.scene
    clear_messages(tree)
    plan = network_scene.plan_of(tree, scene)
    folder = cache.folder_of(tree)
    first, last = tree.frame_range(scene)
    stems = [result.stem for result in plan.results]
    going_on = resume or from_frame is not None
    if not going_on:
        cache.clear(folder)
    folder.mkdir(parents=True, exist_ok=True)
    object_files.write_all(plan.sources, scene, context.evaluated_depsgraph_get, tree.scale, folder, plan.first_input, last)
    if going_on:
        before = cache.read_bake(folder)
        # A longer range is the same simulation.
        scene_before = dict(plan.scene, frames=before.get("frames", plan.scene["frames"]))
        if before and before.get("fingerprint") not in (cache.fingerprint(folder, plan.text),
                                                        cache.fingerprint(folder, network_scene.text_of(scene_before))):
            raise network_scene.TreeError("The network or its objects have changed since the cache was made, so its frames "
                                          "do not fit any more; simulate anew.")
        if from_frame is not None:
            cache.clear(folder, from_frame)
    cache.write_bake(folder, plan.text, stems, first, last)
    frames = range(first, last + 1)
    skip = [frame for frame in frames if going_on and all(cache.frame_path(folder, stem, frame).is_file() for stem in stems)]
    chosen = preferences.get()
    return bake_job.BakeJob(plan, folder, frames, skip, going_on, chosen.threads, chosen.cache_memory << 20), plan


# ---- while it runs ----

def show_progress(tree, running):
    left = running.seconds_left
    rest = f", {_duration(left)} left" if left is not None else ""
    tree.set_message(f"Frame {running.frame} of {running.frames[-1]}, {running.progress * 100:.0f} %{rest}")


def _duration(seconds):
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_frames(context, tree, running):
    """Objects for what has come so far, at the scene's frame."""
    for result in running.results:
        if running.kinds[result.stem]:
            results.ensure(tree, tree.nodes.get(result.node), result.stem, running.kinds[result.stem], context.scene.collection)
    results.show_all(context.scene.frame_current, tree)


def finish(context, tree, running, names):
    """Says how it ended. Returns (report level, sentence)."""
    for name, warning in running.warnings.items():
        node = tree.nodes.get(names.get(name, ""))
        if node is not None:
            node.set_message(warning)
    for name, error in running.errors.items():
        node = tree.nodes.get(names.get(name, ""))
        if node is not None:
            node.set_message(error, True)
    # Frames that were there already may hold kinds that this run has not seen.
    for result in running.results:
        folder = running.folder
        if not running.kinds[result.stem]:
            geo = cache.load_frame(folder, result.stem, running.frames[0])
            running.kinds[result.stem] |= cache.kinds_of(geo) if geo is not None else set()
    show_frames(context, tree, running)
    if running.sentence:
        tree.set_message(running.sentence, True)
        return "ERROR", running.sentence
    if running.cancelled:
        sentence = f"Stopped; {running.done_frames} of {len(running.frames)} frames are done. Resume goes on from there."
        tree.set_message(sentence)
        return "WARNING", sentence
    sentence = f"{len(running.frames)} frames done"
    tree.set_message(sentence)
    return "INFO", sentence


class MENISCUS_OT_bake(bpy.types.Operator):
    """Simulate the network into its cache. Esc stops; frames that are done stay"""
    bl_idname, bl_label, bl_options = "meniscus.bake", "Simulate", {"REGISTER", "UNDO"}

    tree: bpy.props.StringProperty(name="Network", options={"SKIP_SAVE"})
    resume: bpy.props.BoolProperty(name="Resume", options={"SKIP_SAVE"}, description="Keep the frames that are there")
    from_frame: bpy.props.IntProperty(name="From Frame", default=-2 ** 31, options={"SKIP_SAVE"})

    _timer = None

    def _begin(self, context):
        """The job, or None after saying why there is none."""
        global job, job_tree
        if is_running():
            self.report({"ERROR"}, f"'{job_tree}' is being simulated; stop it first.")
            return None
        tree = find_tree(context, self.tree)
        if tree is None:
            self.report({"ERROR"}, "There is no Meniscus network here; choose an object and a preset, or add nodes.")
            return None
        if tree.library is not None:
            self.report({"ERROR"}, f"'{tree.name}' is linked from another file; make it local first.")
            return None
        try:
            started, plan = start(context, tree, self.resume, None if self.from_frame == -2 ** 31 else self.from_frame)
        except network_scene.TreeError as error:
            say(tree, str(error), error.node)
            self.report({"ERROR"}, str(error))
            return None
        except (meniscus.Error, OSError) as error:
            say(tree, str(error))
            self.report({"ERROR"}, str(error))
            return None
        self._names, job, job_tree = plan.names, started, tree.name
        return started

    def _end(self, context):
        tree = bpy.data.node_groups.get(job_tree)
        if tree is None:
            return {"CANCELLED"}  # undo or the artist has taken the network away
        level, sentence = finish(context, tree, job, self._names)
        self.report({level}, sentence)
        return {"CANCELLED"} if level == "ERROR" and job.done_frames == 0 else {"FINISHED"}

    def execute(self, context):
        """Without a window, or from a script: blocks until done, with a line per frame on the terminal."""
        running = self._begin(context)
        if running is None:
            return {"CANCELLED"}
        running.start()
        last = None
        try:
            while not running.wait(TICK):
                if running.done_frames != last and bpy.app.background:
                    last = running.done_frames
                    print(f"meniscus: frame {running.frame}, {running.progress * 100:.0f} %", flush=True)
        except KeyboardInterrupt:
            running.cancel()
            running.wait()
        return self._end(context)

    def invoke(self, context, event):
        running = self._begin(context)
        if running is None:
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(TICK, window=context.window)
        self._shown = 0
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            job.cancel()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if not job.is_started:  # not in invoke(): see BakeJob.start
            job.start()
        tree = bpy.data.node_groups.get(job_tree)
        if tree is None:
            job.cancel()
        if job.is_done:
            context.window_manager.event_timer_remove(self._timer)
            context.workspace.status_text_set(None)
            redraw(context)
            return self._end(context)
        if tree is not None:
            before = tree.message
            show_progress(tree, job)
            if tree.message != before:
                context.workspace.status_text_set(f"Meniscus: {tree.message}   (Esc stops)")
                redraw(context)
            fresh = job.frames[self._shown:job.done_frames]
            if fresh and (self._shown == 0 or context.scene.frame_current in fresh):
                show_frames(context, tree, job)
            self._shown += len(fresh)
        return {"PASS_THROUGH"}


def redraw(context):
    """The panels only: drawing a whole view ten times a second would slow down what is watched."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("NODE_EDITOR", "VIEW_3D"):
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()


class MENISCUS_OT_stop(bpy.types.Operator):
    """Stop the simulation; frames that are done stay"""
    bl_idname, bl_label = "meniscus.stop", "Stop"

    @classmethod
    def poll(cls, context):
        return is_running()

    def execute(self, context):
        job.cancel()
        return {"FINISHED"}


class MENISCUS_OT_free(bpy.types.Operator):
    """Delete the frames of this network from the disk"""
    bl_idname, bl_label, bl_options = "meniscus.free", "Free Cache", {"REGISTER"}

    tree: bpy.props.StringProperty(options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        return not is_running()

    def execute(self, context):
        tree = find_tree(context, self.tree)
        if tree is None:
            self.report({"ERROR"}, "There is no Meniscus network here.")
            return {"CANCELLED"}
        try:
            cache.clear(cache.folder_of(tree))
        except OSError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        clear_messages(tree)
        results.show_all(context.scene.frame_current, tree)
        return {"FINISHED"}


def wait_for_job(progress=None):
    """For scripts: blocks until the running job is done."""
    while job is not None and not job.wait(TICK):
        if progress is not None:
            progress(job)
    sys.stdout.flush()


_CLASSES = (MENISCUS_OT_bake, MENISCUS_OT_stop, MENISCUS_OT_free)


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
