# SPDX-License-Identifier: Apache-2.0
"""Frames from the cache as the scene's frame changes; caches that follow their file when it is saved."""
import atexit
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from . import bake_operators, cache, node_tree, results


@persistent
def on_frame(scene, depsgraph=None):
    is_playing = results.is_playing()
    results.show_all(scene.frame_current, ahead=_next(scene) if is_playing else None)
    if is_playing and not bpy.app.timers.is_registered(_when_stopped):
        bpy.app.timers.register(_when_stopped, first_interval=0.3)


def _next(scene):
    """The frame that playback shows after this one."""
    first, last = scene.frame_start, scene.frame_end
    if scene.use_preview_range:
        first, last = scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_current + 1 if scene.frame_current < last else first


def _when_stopped():
    """What playback leaves out for speed comes back when it ends."""
    if results.is_playing():
        return 0.3
    results.forget_ahead()
    results.show_all(bpy.context.scene.frame_current)
    return None


@persistent
def on_load(*_):
    for tree in node_tree.trees():
        if tree.library is not None:
            continue  # linked from another file, and not ours to change
        bake_operators.clear_messages(tree)  # of a job that is no more
        for node in tree.nodes:
            if getattr(node, "table", None) is not None:
                node_tree.complete(node)
    for scene in bpy.data.scenes:
        results.lock_interface(scene)
    results.show_all(bpy.context.scene.frame_current)


@persistent
def on_undo(*_):
    # Undo brings back the nodes and objects of the step before; meshes show what the cache has now.
    scene = bpy.context.scene
    for tree in node_tree.trees():
        results.restore(tree, scene)
    results.show_all(scene.frame_current)


@persistent
def before_load(*_):
    results.forget_ahead()
    bake_operators.stop_job()
    bring_pending()


# ---- saving ----

_before = {}  # cache_name of a tree -> where its frames were before the file was saved
_pending = {}  # a cache that is being written -> where it goes once that is done


@persistent
def before_save(*_):
    _before.clear()
    for tree in node_tree.trees():
        if tree.library is not None:
            continue
        tree.use_fake_user = True  # Blender leaves out what nothing uses, and a network uses, it is not used
        folder, _ = cache.find(tree)
        if bake_operators.is_running(tree):
            folder = Path(bake_operators.job.folder)
        if folder is not None:
            _before[tree.cache_name] = folder
            tree.cache_seen = str(folder)


@persistent
def after_save(*_):
    for tree in node_tree.trees():
        old = _before.get(tree.cache_name) if tree.library is None else None
        if old is None or old == cache.folder_of(tree):
            continue
        if bake_operators.is_running(tree):
            _pending[old] = cache.folder_of(tree)
        elif _is_in_temp(old):
            bring_saved(tree, old)
        else:  # saved into another folder: the frames are shown from where they are
            tree.set_message(f"The frames are still in {old}. Copy Frames Here brings them along.")
    _before.clear()


def _is_in_temp(folder):
    return Path(bpy.app.tempdir) in Path(folder).parents


def bring_saved(tree, old=None):
    """The frames of a file that was saved in the meantime, out of Blender's temporary folder."""
    new = cache.folder_of(tree)
    old = Path(old or cache.temporary_of(tree))
    _pending.pop(old, None)
    if old == new or not old.is_dir() or not _is_in_temp(old):
        return
    try:
        cache.bring(old, new)
        cache.set_owner(new)
        tree.cache_seen = str(new)
    except OSError as error:
        bake_operators.say(tree, f"The frames could not be moved beside the file and will be gone when Blender ends: {error}")


def bring_pending():
    """The same without Blender's data, when it is about to end."""
    for old, new in list(_pending.items()):
        _pending.pop(old)
        try:
            if old.is_dir():
                cache.bring(old, new)
        except OSError as error:
            print(f"Meniscus: the frames in {old} could not be moved to {new}: {error}")


def _leave():
    bake_operators.stop_job(10)
    bring_pending()


atexit.register(_leave)

_HANDLERS = {"frame_change_post": on_frame, "load_post": on_load, "load_pre": before_load, "undo_post": on_undo,
             "redo_post": on_undo, "save_pre": before_save, "save_post": after_save}


def register():
    for name, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    bake_operators.stop_job()
    bring_pending()
    results.forget_ahead()
    for name, handler in _HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
