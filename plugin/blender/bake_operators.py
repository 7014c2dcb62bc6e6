# SPDX-License-Identifier: Apache-2.0
"""Simulate, stop and go on: operators around the one running job. An operator starts it and is done; a timer of Blender's
looks at the job, shows its frames and says how it ended. So there is one undo step, and Esc keeps its meaning."""
import atexit
import shutil
import sys

import bpy

from . import bake_job, border, cache, network_scene, node_tree, object_files, preferences, results
from .bake_job import TICK
from .native import meniscus

job = None  # the running BakeJob
job_key = ""  # the cache_name of its tree: a reference would be made invalid by undo, and a name by renaming
NEVER = -2 ** 31
FEW = 3  # frames that are replaced without asking


def running_tree():
    """The network of the job, or None when undo or the artist has taken it away."""
    return next((tree for tree in node_tree.trees() if job_key and tree.cache_name == job_key and tree.library is None), None)


def is_running(tree=None):
    """Whether a job runs; for a tree: whether it is that one's."""
    return job is not None and not job.is_done and (tree is None or tree.cache_name == job_key)


def stop_job(seconds=30):
    """Stops and waits; for loading another file and for leaving."""
    if job is not None and not job.is_done:
        job.cancel()
        job.wait(seconds)
        cache.settle_inputs(job.folder, job.is_committed)


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
        for tree in sorted(trees, key=lambda one: one.made_for != active):
            if tree.made_for == active or any(node.bl_idname == node_tree.OBJECT and active in node.meshes() for node in tree.nodes):
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


def _staged(context, tree, plan, folder, last):
    """Writes the objects beside those of the cache; returns what they are."""
    staged = cache.stage_inputs(folder)
    object_files.write_all(plan.sources, context.scene, context.evaluated_depsgraph_get, tree.scale, staged, plan.first_input, last)
    return cache.digests(staged)


def _continued(tree, plan, folder, inputs, from_frame):
    """(the cache that a job goes on with, or None when there is none yet; whether it has other settings, so that this is a
    branch). Refuses one that does not fit."""
    there, sentence = cache.find(tree)
    if there is None and sentence:
        raise network_scene.TreeError(sentence)
    if there is None:
        return None, False
    before = cache.read_bake(there)
    branches = not cache.goes_on(before, plan.scene, inputs)
    if branches and from_frame is None:
        raise network_scene.TreeError("The network or its objects have changed since the cache was made, so its frames do not "
                                      "fit any more; simulate anew, or use From Frame to keep those before a frame.")
    if branches:
        _check_branch(cache.scene_of(there), plan.scene, before, from_frame)
    last = cache.branch_of(before)
    if last is not None and from_frame is not None and from_frame <= last:
        raise network_scene.TreeError(f"Choose frame {last + 1} or a later one, or simulate anew: frames up to {last} were made by "
                                      "other settings.")
    if there != folder:
        for path in there.iterdir():  # a cache that was left elsewhere: its frames come along
            if path.is_file() and path.suffix != ".part":
                cache.copy_file(path, folder / path.name)
            elif path.name == "branch":
                shutil.copytree(path, folder / path.name, dirs_exist_ok=True)
    return before, branches


def _check_branch(old, new, bake, frame):
    """Whether a scene can go on from a frame of another: it must have the same nodes, and the frame before it."""
    nodes = lambda scene: [(entry["name"], entry["type"], entry.get("inputs", [])) for entry in scene["nodes"]]  # noqa: E731
    if old is None or nodes(old) != nodes(new) or old.get("fps") != new.get("fps"):
        raise network_scene.TreeError("Simulate anew: nodes, connections or the frame rate have changed since the cache was made, so no "
                                      "frame of it can be continued.")
    if frame <= bake["frames"][0]:
        raise network_scene.TreeError(f"Choose a frame after {bake['frames'][0]}, or simulate anew: settings have changed, and there is "
                                      "no frame before this one to continue.")


def start(context, tree, resume=False, from_frame=None):
    """A job for the tree, not yet running; what was there stays until commit(). Raises meniscus.Error, OSError or
    network_scene.TreeError, with everything as it was."""
    scene = context.scene
    clear_messages(tree)
    plan = network_scene.plan_of(tree, scene)
    first, last = tree.frame_range(scene)
    stems = [result.stem for result in plan.results]
    folder = cache.claim(tree)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise network_scene.TreeError(f"Choose another cache folder: {folder} cannot be made ({error.strerror or error}).") from None
    try:
        inputs = _staged(context, tree, plan, folder, last)
        before, branches = _continued(tree, plan, folder, inputs, from_frame) if resume or from_frame is not None else (None, False)
        cache.swap_inputs(folder)
        branch = (*cache.old_scene(folder), from_frame - 1) if branches else None
    except BaseException:
        cache.settle_inputs(folder, False)
        raise
    if before is not None and from_frame is not None and branch is None:
        cache.clear(folder, from_frame)
    frames = range(first, last + 1)
    skip = [frame for frame in frames if before is not None and all(cache.frame_path(folder, stem, frame).is_file() for stem in stems)
            and (branch is None or frame < from_frame)]
    chosen = preferences.get()
    made = bake_job.BakeJob(plan, folder, frames, skip, before is not None, before is None or branch is not None, chosen.threads,
                            chosen.cache_memory << 20, None if branch is None else (branch[0], str(branch[1]), branch[2]))
    made.inputs, made.stems, made.before, made.is_committed = inputs, stems, before, False
    made.branch = None if branch is None else branch[2]
    if before is not None and branch is None:
        commit(tree, made)
    return made


def commit(tree, made):
    """From here on the cache is the job's. Frames of a simulation before it go, unless they are the same simulation's."""
    first, last = made.frames[0], made.frames[-1]
    before = made.before or cache.read_bake(made.folder)
    same = cache.goes_on(before, made.plan.scene, made.inputs)
    branch = cache.branch_of(before) if same else made.branch
    if same:
        first, last = min(first, before["frames"][0]), max(last, before["frames"][1])
        made.inputs = {**before["inputs"], **made.inputs}
    elif made.branch is not None:
        first = min(first, before["frames"][0])
        cache.clear(made.folder, made.branch + 1)
        cache.settle_branch(made.folder)
    else:
        cache.clear(made.folder)
    cache.settle_inputs(made.folder, True)
    cache.remember(tree, cache.write_bake(made.folder, made.plan, made.inputs, made.stems, (first, last),
                                          before["fingerprint"] if same else None, branch))
    tree.cache_seen = made.folder
    made.is_committed = True
    for node in tree.nodes:
        if node.bl_idname == node_tree.OBJECT and node.hides:
            for thing in node.meshes():
                results.hide_source(thing)


# ---- while it runs ----

def show_progress(tree, running):
    left = running.seconds_left
    rest = f", {duration(left)} left" if left is not None else ""
    tree.set_message(f"Frame {running.frame} of {running.frames[-1]}, {running.progress * 100:.0f} %{rest}")


def duration(seconds):
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_frames(scene, tree, running):
    """Objects for what has come so far, at the scene's frame."""
    for result in running.results:
        kinds = running.kinds_of(result.stem)
        if kinds:
            results.ensure(tree, tree.nodes.get(result.node), result.stem, kinds, scene)
    results.show_all(scene.frame_current, tree)


def finish(scene, tree, running):
    """Says how it ended. Returns (report level, sentence)."""
    names = running.plan.names
    for notes, is_error in ((running.warnings, False), (running.errors, True)):
        for name, sentence in notes.items():
            node = tree.nodes.get(names.get(name, ""))
            if node is not None:
                node.set_message(border.in_blender(sentence, tree.scale), is_error)
    if not running.is_committed:
        cache.settle_inputs(running.folder, False)
    else:
        for result in running.results:  # frames that were there already may hold kinds that this run has not seen
            if not running.kinds_of(result.stem):
                geo = cache.load_frame(running.folder, result.stem, running.frames[0])
                if geo is not None:
                    results.ensure(tree, tree.nodes.get(result.node), result.stem, cache.kinds_of(geo), scene)
        show_frames(scene, tree, running)
    count = running.done_frames
    if running.sentence:
        sentence = border.in_blender(running.sentence, tree.scale)
        tree.set_message(sentence, True)
        return "ERROR", sentence
    if running.cancelled:
        sentence = f"Stopped; {count} of {len(running.frames)} frames are done. Resume goes on from there."
        tree.set_message(sentence)
        return "WARNING", sentence
    sentence = f"{len(running.frames)} frames done" if len(running.frames) != 1 else "1 frame done"
    tree.set_message(sentence)
    return "INFO", sentence


def wait_for(tree, running, line=None):
    """Blocks until a job is done; for background mode and scripts. `line` is called after each frame."""
    shown = 0
    running.start()
    while not running.wait(TICK) or shown < running.done_frames:
        if running.is_held:
            commit(tree, running)
            running.release()
        while line is not None and shown < running.done_frames:
            line(running, shown)
            shown += 1
        shown = max(shown, running.done_frames) if line is None else shown


class Watch:
    """What the timer knows. Nothing of it belongs to Blender's data but the name of the scene."""
    scene, shown = "", 0


def _scene():
    return bpy.data.scenes.get(Watch.scene) or bpy.context.scene


def _status(text):
    for window in bpy.context.window_manager.windows:
        window.workspace.status_text_set(text)


def redraw():
    """The panels only: drawing a whole view ten times a second would slow down what is watched."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("NODE_EDITOR", "VIEW_3D"):
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()


def rendering():
    """Whether a render reads the scene now: nothing of it may change then."""
    return hasattr(bpy.app, "is_job_running") and bpy.app.is_job_running("RENDER")


def _tick():
    if job is None:
        return None
    if rendering():
        return TICK  # it must not see objects change; the job goes on by itself
    try:
        return _look()
    except Exception as error:  # a timer that dies in silence would leave the artist waiting
        print(f"Meniscus: {type(error).__name__}: {error}", file=sys.stderr)
        raise


def _look():
    tree = running_tree()
    if tree is None:
        job.cancel()
    job.start()
    if job.look():
        _status(None)
        if tree is not None:
            level, sentence = finish(_scene(), tree, job)
            print(f"Meniscus: {tree.name}: {sentence}")
            from . import playback
            playback.bring_saved(tree)
        elif not job.is_committed:
            cache.settle_inputs(job.folder, False)
        redraw()
        return None
    if tree is None:
        return TICK
    if job.is_held:
        commit(tree, job)
        job.release()
    before = tree.message
    show_progress(tree, job)
    if tree.message != before:
        _status(f"Meniscus: {tree.message}")
        redraw()
    fresh = job.frames[Watch.shown:job.done_frames]
    if fresh and (Watch.shown == 0 or _scene().frame_current in fresh):
        show_frames(_scene(), tree, job)
    Watch.shown += len(fresh)
    return TICK


def run(operator, context, tree, resume=False, from_frame=None, wait=False):
    """Starts the job of an operator. Returns True, or False after saying why there is none."""
    global job, job_key
    if is_running():
        there = running_tree()
        operator.report({"ERROR"}, f"Stop the simulation of '{there.name if there else job_key}' first.")
        return False
    if tree.library is not None:
        operator.report({"ERROR"}, f"'{tree.name}' is linked from another file; make it local first.")
        return False
    try:
        job = start(context, tree, resume, from_frame)
    except (meniscus.Error, network_scene.TreeError, OSError) as error:
        say(tree, str(error), getattr(error, "node", ""))
        operator.report({"ERROR"}, preferences.short(str(error)))
        return False
    job_key = tree.cache_name
    Watch.scene, Watch.shown = context.scene.name, 0
    if not (wait or bpy.app.background):
        bpy.app.timers.register(_tick, first_interval=0.01, persistent=True)
        return True
    line = (lambda running, i: print(f"meniscus: frame {running.frames[i]}, {running.progress * 100:.0f} %", flush=True)) \
        if bpy.app.background else None
    try:
        wait_for(tree, job, line)
    except KeyboardInterrupt:
        job.cancel()
        job.wait()
    level, sentence = finish(context.scene, tree, job)
    operator.report({level}, preferences.short(sentence, 400))
    return level != "ERROR" or job.done_frames > 0


class Asking:
    """What operators share that replace or delete frames: they ask when that is more than a few."""

    def question(self, context, tree):
        count, size = cache.size_of(tree) if tree is not None else (0, 0)
        return f"{count} frames ({size / 1e6:.0f} MB)" if count > FEW else ""

    def ask(self, context, tree):
        self._asked = self.question(context, tree)
        if not self._asked:
            return self.execute(context)
        return context.window_manager.invoke_props_dialog(self, width=360)


class MENISCUS_OT_bake(bpy.types.Operator, Asking):
    """Simulate the network into its cache"""
    bl_idname, bl_label, bl_options = "meniscus.bake", "Simulate", {"REGISTER", "UNDO"}

    tree: bpy.props.StringProperty(name="Network", options={"SKIP_SAVE", "HIDDEN"})
    resume: bpy.props.BoolProperty(name="Resume", options={"SKIP_SAVE", "HIDDEN"}, description="Keep the frames that are there")
    from_frame: bpy.props.IntProperty(name="From Frame", default=NEVER, options={"SKIP_SAVE", "HIDDEN"})
    wait: bpy.props.BoolProperty(options={"SKIP_SAVE", "HIDDEN"}, description="Block until it is done, for scripts")

    _asked = ""

    def invoke(self, context, event):
        if self.resume or self.from_frame != NEVER or is_running():
            return self.execute(context)
        return self.ask(context, find_tree(context, self.tree))

    def draw(self, context):
        self.layout.label(text=f"Replace the {self._asked} of this network?", icon="QUESTION")

    def execute(self, context):
        tree = find_tree(context, self.tree)
        if tree is None:
            self.report({"ERROR"}, "There is no Meniscus network here; choose an object and a preset, or add nodes.")
            return {"CANCELLED"}
        started = run(self, context, tree, self.resume, None if self.from_frame == NEVER else self.from_frame, self.wait)
        return {"FINISHED"} if started else {"CANCELLED"}


class MENISCUS_OT_stop(bpy.types.Operator):
    """Stop the simulation; frames that are done stay"""
    bl_idname, bl_label = "meniscus.stop", "Stop"

    @classmethod
    def poll(cls, context):
        return is_running()

    def execute(self, context):
        job.cancel()
        return {"FINISHED"}


def wait_for_job(progress=None):
    """For scripts: blocks until the running job is done."""
    tree = running_tree()
    if job is not None and tree is not None and not job.is_done:
        wait_for(tree, job, None if progress is None else lambda running, _: progress(running))
        finish(_scene(), tree, job)
    sys.stdout.flush()


_CLASSES = (MENISCUS_OT_bake, MENISCUS_OT_stop)


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
