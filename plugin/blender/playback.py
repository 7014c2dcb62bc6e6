# SPDX-License-Identifier: Apache-2.0
"""Frames from the cache as the scene's frame changes; caches that follow a file when it is first saved."""
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from . import bake_operators, cache, node_tree, results


@persistent
def on_frame(scene, depsgraph=None):
    results.show_all(scene.frame_current)


@persistent
def on_load(*_):
    for tree in node_tree.trees():
        if tree.library is not None:
            continue  # linked from another file, and not ours to change
        bake_operators.clear_messages(tree)  # of a job that is no more
        for node in tree.nodes:
            if getattr(node, "table", None) is not None:
                node_tree.complete(node)
    results.show_all(bpy.context.scene.frame_current)


@persistent
def on_undo(*_):
    # Undo brings back the nodes and objects of the step before; meshes show what the cache has now.
    results.show_all(bpy.context.scene.frame_current)


@persistent
def before_load(*_):
    bake_operators.stop_job()


_unsaved = {}  # name of a tree -> its temporary cache


@persistent
def before_save(*_):
    for tree in node_tree.trees():
        tree.use_fake_user = True  # Blender leaves out what nothing uses, and a network uses, it is not used
    _unsaved.clear()
    _unsaved.update({tree.name: cache.folder_of(tree) for tree in node_tree.trees() if cache.is_temporary(tree)})


@persistent
def after_save(*_):
    for tree in node_tree.trees():
        old, new = _unsaved.get(tree.name), cache.folder_of(tree)
        if old is not None and old != new and not bake_operators.is_running(tree.name):
            cache.move(Path(old), new)
    _unsaved.clear()


_HANDLERS = {"frame_change_post": on_frame, "load_post": on_load, "load_pre": before_load, "undo_post": on_undo,
             "redo_post": on_undo, "save_pre": before_save, "save_post": after_save}


def register():
    for name, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    bake_operators.stop_job()
    for name, handler in _HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
