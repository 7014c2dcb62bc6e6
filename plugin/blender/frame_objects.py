# SPDX-License-Identifier: Apache-2.0
"""Frames as plain objects of Blender: one mesh for each, shown at its own frame by keys, and volumes as Blender's own sequences.
Such a file plays and renders where the add-on is not installed."""
import bpy

from . import bake_operators, cache, fill_mesh, results
from .cache_operators import Mine
from .native import meniscus


def _key_visible(thing, frame, last):
    """Visible at one frame, and after it when it is the last."""
    for when, hidden in ((frame - 1, True), (frame, False), (frame + 1, not last)):
        if last and when > frame:
            continue
        thing.hide_render = thing.hide_viewport = hidden
        for path in ("hide_render", "hide_viewport"):
            thing.keyframe_insert(path, frame=when)


def _mesh(source, folder, frame, collection):
    shown = source.meniscus
    _, start = cache.read_frame(folder, shown.stem, frame, shown.tree.scale)
    geo, layout = start().take()
    mesh = bpy.data.meshes.new(f"{source.name} {frame:04d}")
    speed = cache.speed(folder, shown.stem, frame)
    if shown.role == "mesh":
        fill_mesh.fill(mesh, geo, layout, shown.smooth, speed)
    else:
        fill_mesh.fill_points(mesh, geo, shown.tree.scale, speed)
    for material in source.data.materials:
        mesh.materials.append(material)
    thing = source.copy()  # with its modifiers
    thing.meniscus.role = ""
    thing.name, thing.data = mesh.name, mesh
    collection.objects.link(thing)
    return thing


def _volume(source, folder, frames, collection):
    """Blender plays .vdb files itself: a sequence from the first on."""
    data = source.data.copy()
    thing = source.copy()
    thing.meniscus.role = ""
    thing.data = data
    data.filepath = str(cache.frame_path(folder, source.meniscus.stem, frames[0], ".vdb"))
    data.is_sequence, data.frame_start, data.frame_duration, data.frame_offset = True, frames[0], len(frames), frames[0] - 1
    data.sequence_mode = "EXTEND"
    collection.objects.link(thing)
    return thing


def make(tree, scene):
    """Objects for all cached frames, in a collection of their own. Returns it."""
    folder, sentence = cache.find(tree)
    if folder is None:
        raise meniscus.FileError(sentence or "There are no frames yet; simulate first.")
    collection = bpy.data.collections.new(f"{tree.name} frames")
    scene.collection.children.link(collection)
    for source in results.objects_of(tree):
        stem = source.meniscus.stem
        if source.meniscus.role == "volume":
            frames = cache.frames_of(folder, stem, ".vdb")
            if frames:
                _volume(source, folder, frames, collection)
        else:
            frames = cache.frames_of(folder, stem)
            for frame in frames:
                _key_visible(_mesh(source, folder, frame, collection), frame, frame == frames[-1])
        source.hide_render = True
        source.hide_viewport = True
    return collection


class MENISCUS_OT_make_objects(bpy.types.Operator, Mine):
    """Turn all cached frames into plain objects, one for each frame, for machines without this add-on. The .blend file grows by them"""
    bl_idname, bl_label, bl_options = "meniscus.make_objects", "Frames to Objects", {"REGISTER", "UNDO"}

    tree: Mine.__annotations__["tree"]

    def execute(self, context):
        tree = self.found(context)
        if tree is None:
            return {"CANCELLED"}
        try:
            collection = make(tree, context.scene)
        except meniscus.Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.scene.frame_set(context.scene.frame_current)
        bake_operators.redraw()
        self.report({"INFO"}, f"{len(collection.objects)} objects in '{collection.name}'")
        return {"FINISHED"}


def register():
    bpy.utils.register_class(MENISCUS_OT_make_objects)


def unregister():
    bpy.utils.unregister_class(MENISCUS_OT_make_objects)
