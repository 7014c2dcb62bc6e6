# SPDX-License-Identifier: Apache-2.0
"""What is registered, in order; imported only once the native library is there."""
import bpy

from . import (bake_operators, cache_operators, frame_objects, menus, node_tree, panels, playback, quick, results, scene_operators, timeline)

_MODULES = (node_tree, menus, results, quick, bake_operators, cache_operators, frame_objects, scene_operators, panels, playback,
            timeline)


def register():
    for module in _MODULES:
        module.register()


def unregister():
    let_go = _forget_trees()
    for module in reversed(_MODULES):
        module.unregister()
    for thing, tree in let_go:
        thing["meniscus"]["tree"] = tree


def _forget_trees():
    """Takes the trees out of what Blender has evaluated; returns which object had which.

    Blender copies a tree that an object points to for evaluation, and leaves the copy's nodes with the types that are unregistered
    here: freeing it then, as the next file is loaded, ended Blender."""
    let_go = [(thing, thing.meniscus.tree) for thing in getattr(bpy.data, "objects", ())  # none while Blender starts or ends
              if thing.library is None and thing.meniscus.tree is not None]
    if not let_go:
        return let_go
    for thing, _ in let_go:
        thing.meniscus.tree = None
    # Blender looks anew at who points to whom when objects come or go, not when a pointer changes.
    passing = bpy.data.objects.new("Meniscus", None)
    for scene in bpy.data.scenes:
        scene.collection.objects.link(passing)
        for layer in scene.view_layers:
            layer.update()
    bpy.data.objects.remove(passing)
    return let_go
