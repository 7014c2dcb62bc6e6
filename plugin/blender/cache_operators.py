# SPDX-License-Identifier: Apache-2.0
"""What an artist does with a cache: open its folder, free it, find one that was moved, bring it beside the file, take the
whole simulation away."""
import os
from pathlib import Path

import bpy

from . import bake_operators, cache, node_tree, results
from .bake_operators import Asking, find_tree

DEPTH = 3  # folders below the chosen one that are searched


class Mine:
    """Operators on one network's cache, while nothing runs."""

    tree: bpy.props.StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    @classmethod
    def poll(cls, context):
        return not bake_operators.is_running()

    def found(self, context):
        tree = find_tree(context, self.tree)
        if tree is None:
            self.report({"ERROR"}, "There is no Meniscus network here.")
        return tree


class MENISCUS_OT_open_cache(bpy.types.Operator):
    """Open the folder of the frames"""
    bl_idname, bl_label = "meniscus.open_cache", "Open Folder"

    tree: Mine.__annotations__["tree"]

    def execute(self, context):
        tree = find_tree(context, self.tree)
        folder = cache.find(tree)[0] if tree is not None else None
        if folder is None:
            self.report({"ERROR"}, "There is no cache yet; simulate first.")
            return {"CANCELLED"}
        bpy.ops.wm.path_open(filepath=str(folder))
        return {"FINISHED"}


class MENISCUS_OT_free(bpy.types.Operator, Mine, Asking):
    """Delete the frames of this network from the disk"""
    bl_idname, bl_label, bl_options = "meniscus.free", "Free Cache", {"REGISTER"}

    tree: Mine.__annotations__["tree"]
    _asked = ""

    def invoke(self, context, event):
        return self.ask(context, find_tree(context, self.tree))

    def draw(self, context):
        self.layout.label(text=f"Delete {self._asked} from the disk? This cannot be undone.", icon="ERROR")

    def execute(self, context):
        tree = self.found(context)
        if tree is None:
            return {"CANCELLED"}
        try:
            folder, _ = cache.find(tree)
            if folder is not None:
                cache.free(folder)
        except OSError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        cache.remember(tree, "")
        bake_operators.clear_messages(tree)
        results.show_all(context.scene.frame_current, tree)
        return {"FINISHED"}


class MENISCUS_OT_find_cache(bpy.types.Operator, Mine):
    """Show the add-on where the frames of this network are now"""
    bl_idname, bl_label, bl_options = "meniscus.find_cache", "Find Frames", {"REGISTER", "UNDO"}

    tree: Mine.__annotations__["tree"]
    directory: bpy.props.StringProperty(subtype="DIR_PATH")

    def invoke(self, context, event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        tree = self.found(context)
        if tree is None:
            return {"CANCELLED"}
        start = Path(bpy.path.abspath(self.directory))
        folder = next((path for path in _folders(start) if cache.read_bake(path).get("fingerprint") == tree.fingerprint), None)
        if folder is None:
            self.report({"ERROR"}, f"The frames of '{tree.name}' are not in {start}, nor in its folders.")
            return {"CANCELLED"}
        place = str(folder.parent)
        tree.cache_folder = bpy.path.relpath(place) if bpy.data.filepath else place
        tree.cache_name = folder.name
        results.show_all(context.scene.frame_current, tree)
        return {"FINISHED"}


def _folders(start):
    """A folder and those below it, nearest first."""
    level = [start]
    for _ in range(DEPTH + 1):
        yield from level
        level = [Path(entry.path) for folder in level if folder.is_dir() for entry in sorted(os.scandir(folder), key=lambda one: one.name)
                 if entry.is_dir(follow_symlinks=False)]


class MENISCUS_OT_use_cache(bpy.types.Operator, Mine):
    """Show the frames that are in the folder although this file remembers others"""
    bl_idname, bl_label, bl_options = "meniscus.use_cache", "Use These Frames", {"REGISTER", "UNDO"}

    tree: Mine.__annotations__["tree"]

    def execute(self, context):
        tree = self.found(context)
        bake = cache.read_bake(cache.folder_of(tree)) if tree is not None else {}
        if not bake:
            self.report({"ERROR"}, "There are no frames in the cache's folder.")
            return {"CANCELLED"}
        cache.remember(tree, bake["fingerprint"])
        results.show_all(context.scene.frame_current, tree)
        return {"FINISHED"}


class MENISCUS_OT_bring_cache(bpy.types.Operator, Mine):
    """Copy the frames, which are still where they were, to the cache folder of this file"""
    bl_idname, bl_label = "meniscus.bring_cache", "Copy Frames Here"

    tree: Mine.__annotations__["tree"]

    def execute(self, context):
        tree = self.found(context)
        if tree is None:
            return {"CANCELLED"}
        folder, sentence = cache.find(tree)
        try:
            if folder is None:
                raise OSError(sentence or "There are no frames yet; simulate first.")
            if folder != cache.folder_of(tree):
                cache.bring(folder, cache.folder_of(tree), keep=True)
                cache.set_owner(cache.folder_of(tree))
        except OSError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        results.show_all(context.scene.frame_current, tree)
        return {"FINISHED"}


class MENISCUS_OT_remove(bpy.types.Operator, Mine, Asking):
    """Take away the network, its result objects and its frames; the object that it was made from is as it was"""
    bl_idname, bl_label, bl_options = "meniscus.remove", "Remove Simulation", {"REGISTER", "UNDO"}

    tree: Mine.__annotations__["tree"]
    _asked = ""

    def invoke(self, context, event):
        return self.ask(context, find_tree(context, self.tree))

    def draw(self, context):
        self.layout.label(text=f"Remove the simulation and delete {self._asked} from the disk?", icon="ERROR")

    def execute(self, context):
        tree = self.found(context)
        if tree is None:
            return {"CANCELLED"}
        folder, _ = cache.find(tree)
        try:
            if folder is not None and folder == cache.folder_of(tree):
                cache.free(folder)
        except OSError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for thing in results.objects_of(tree):
            bpy.data.objects.remove(thing)
        for node in tree.nodes:
            for thing in node.meshes() if node.bl_idname == node_tree.OBJECT else ():
                results.show_source(thing)
        bpy.data.node_groups.remove(tree)
        return {"FINISHED"}


class MENISCUS_OT_edit_network(bpy.types.Operator):
    """Show the network in a node editor"""
    bl_idname, bl_label = "meniscus.edit_network", "Edit Network"

    tree: Mine.__annotations__["tree"]

    def execute(self, context):
        tree = find_tree(context, self.tree)
        areas = list(context.screen.areas)
        area = next((one for one in areas if one.type == "NODE_EDITOR"), None)
        if area is None:  # the timeline is what artists can spare
            area = next((one for one in areas if one.type == "DOPESHEET_EDITOR"), None)
        if area is None and context.area is not None:
            before = set(areas)
            bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.45)
            area = next((one for one in context.screen.areas if one not in before), None)
        if tree is None or area is None:
            self.report({"ERROR"}, "There is no network, or no room for a node editor.")
            return {"CANCELLED"}
        area.type = "NODE_EDITOR"
        area.spaces.active.tree_type = node_tree.TREE
        area.spaces.active.node_tree = tree
        return {"FINISHED"}


_CLASSES = (MENISCUS_OT_open_cache, MENISCUS_OT_free, MENISCUS_OT_find_cache, MENISCUS_OT_use_cache, MENISCUS_OT_bring_cache,
            MENISCUS_OT_remove, MENISCUS_OT_edit_network)


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
