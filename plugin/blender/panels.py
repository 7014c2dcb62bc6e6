# SPDX-License-Identifier: Apache-2.0
"""Panels: the one-click path in the 3D view, and the cache of a network there and in the node editor."""
import bpy

from . import bake_operators, cache, node_tree, quick as quick_path
from .preferences import wrap
from .setups import asks_for


def draw_message(layout, text, error):
    if not text:
        return
    box = layout.box().column(align=True)
    box.alert = error
    region = bpy.context.region
    scale = bpy.context.preferences.system.ui_scale
    letters = int((region.width / scale - 80) / 6.5) if region is not None else 40
    for i, line in enumerate(wrap(text, max(16, letters))):
        box.label(text=line, icon=("ERROR" if error else "INFO") if i == 0 else "BLANK1")


def _draw_frames(layout, tree):
    """Where the frames are, when they are not where they should be."""
    folder, sentence = cache.find(tree)
    if sentence:
        draw_message(layout, sentence, True)
        row = layout.row(align=True)
        row.operator("meniscus.find_cache", icon="VIEWZOOM").tree = tree.name
        if cache.read_bake(cache.folder_of(tree)):
            row.operator("meniscus.use_cache", icon="CHECKMARK").tree = tree.name
    elif folder is not None and folder != cache.folder_of(tree) and not cache.is_temporary(tree):
        layout.operator("meniscus.bring_cache", icon="FILE_PARENT").tree = tree.name


def draw_bake(layout, context, tree):
    """Frames, cache, Simulate and what it says."""
    running = bake_operators.is_running(tree)
    column = layout.column()
    column.enabled = not running
    column.prop(tree, "use_scene_range")
    if not tree.use_scene_range:
        row = column.row(align=True)
        row.prop(tree, "frame_start")
        row.prop(tree, "frame_end")
    if node_tree.spacing_of(tree) > 0:
        column.prop(tree, "dx")
    column.prop(tree, "scale")
    column.prop(tree, "cache_folder")
    if cache.is_temporary(tree):
        column.label(text="Save to keep the cache.", icon="INFO")
    if running:
        job = bake_operators.job
        if hasattr(layout, "progress"):  # Blender 4.0 and later
            layout.progress(text=f"{job.progress * 100:.0f} %", factor=job.progress)
        draw_message(layout, tree.message, False)
        draw_message(layout, tree.notes, False)
        layout.operator("meniscus.stop", icon="CANCEL")
        return
    layout.operator("meniscus.bake", icon="PLAY").tree = tree.name
    row = layout.row(align=True)
    going_on = row.operator("meniscus.bake", text="Resume", icon="FF")
    going_on.tree, going_on.resume = tree.name, True
    again = row.operator("meniscus.bake", text=f"From {context.scene.frame_current}", icon="FILE_REFRESH")
    again.tree, again.from_frame = tree.name, context.scene.frame_current
    row = layout.row(align=True)
    row.operator("meniscus.open_cache", text="Folder", icon="FILE_FOLDER").tree = tree.name
    row.operator("meniscus.free", text="Free", icon="TRASH").tree = tree.name
    row.operator("meniscus.remove", text="Remove", icon="X").tree = tree.name
    layout.operator("meniscus.make_objects", icon="OUTLINER_COLLECTION").tree = tree.name
    _draw_frames(layout, tree)
    draw_message(layout, tree.message, tree.is_error)
    draw_message(layout, tree.notes, False)
    if "ground" in tree.notes:
        layout.operator("meniscus.lift", icon="TRIA_UP").tree = tree.name
    for node in tree.nodes:
        text = getattr(node, "message", "")
        if text and text != tree.message:
            draw_message(layout, f"{node.name}: {text}", node.is_error)
        if "open edges" in text:
            layout.operator("meniscus.select_holes", icon="EDGESEL").tree = tree.name


class MENISCUS_PT_quick(bpy.types.Panel):
    bl_label, bl_idname = "Meniscus", "MENISCUS_PT_quick"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Meniscus"

    def draw(self, context):
        layout = self.layout
        thing, things = quick_path.chosen(context)
        if thing is None:
            layout.label(text="Select an object.", icon="INFO")
            return
        others = f" + {len(things) - 1}" if len(things) > 1 else ""
        layout.label(text=thing.name + others, icon="OBJECT_DATA")
        quick = thing.meniscus_quick
        layout.prop(quick, "setup", text="")
        column = layout.column()
        setup = quick_path.setup_of(quick)
        if asks_for(setup, "density") or asks_for(setup, "sigma"):
            column.prop(quick, "material", text="")
        column.prop(quick, "size")
        column.prop(quick, "cells")
        column.prop(quick, "slow_motion")
        if asks_for(setup, "contact_angle"):
            column.prop(quick, "contact_angle")
        if asks_for(setup, "velocity"):
            column.label(text="Initial Velocity (m/s)")
            column.row(align=True).prop(quick, "velocity", text="")
        if asks_for(setup, "colliders"):
            column.label(text="Colliders")
            column.prop(quick, "use_ground")
            column.prop(quick, "colliders", text="")
            if quick.colliders is not None:
                column.prop(quick, "collider_kind", text="")
                if quick.collider_kind != "solid":
                    column.prop(quick, "thickness")
        estimate = layout.column(align=True)
        for i, line in enumerate(quick_path.estimate(context, thing, quick)):
            estimate.label(text=line, icon="TIME" if i == 0 else "BLANK1")
        row = layout.row()
        row.scale_y = 1.6
        row.enabled = not bake_operators.is_running()
        row.operator("meniscus.quick", text="Simulate", icon="PLAY")
        draw_message(layout, thing.meniscus.message, True)
        if context.object is not thing:
            draw_message(layout, context.object.meniscus.message, True)


class MENISCUS_PT_network(bpy.types.Panel):
    bl_label, bl_idname = "Network", "MENISCUS_PT_network"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Meniscus"

    @classmethod
    def poll(cls, context):
        return bake_operators.find_tree(context) is not None

    def draw(self, context):
        tree = bake_operators.find_tree(context)
        row = self.layout.row(align=True)
        row.label(text=tree.name, icon="NODETREE")
        row.operator("meniscus.edit_network", text="Edit").tree = tree.name
        draw_bake(self.layout, context, tree)


class MENISCUS_PT_tree(bpy.types.Panel):
    bl_label, bl_idname = "Simulation", "MENISCUS_PT_tree"
    bl_space_type, bl_region_type, bl_category = "NODE_EDITOR", "UI", "Meniscus"

    @classmethod
    def poll(cls, context):
        space = context.space_data
        return space.tree_type == node_tree.TREE

    def draw(self, context):
        tree = context.space_data.edit_tree
        if tree is not None:
            draw_bake(self.layout, context, tree)
        row = self.layout.row(align=True)
        row.operator("meniscus.import_scene", text="Import", icon="IMPORT")
        row.operator("meniscus.export_scene", text="Export", icon="EXPORT")
        if getattr(context, "active_node", None) is not None:
            self.layout.operator_menu_enum("meniscus.material", "material")


_CLASSES = (MENISCUS_PT_quick, MENISCUS_PT_network, MENISCUS_PT_tree)


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
