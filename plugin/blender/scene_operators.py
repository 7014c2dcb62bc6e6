# SPDX-License-Identifier: Apache-2.0
"""Scenes of Meniscus in and out of Blender, and materials onto nodes."""
import json
import os

import bpy

from . import bake_operators, looks, network_scene, node_tree, object_files, overlaps, parm_properties, quick, scene_pieces
from .native import meniscus


SEEN = 4.0  # units that an imported scene is wide: a drop of 4 mm at its own size is nothing to look at


def _seen(path, scene_dict):
    """(metres per unit, material) for a scene: it is as wide as one works with, by the shapes that it starts from."""
    types = meniscus.node_types()
    widest, network = 0.0, meniscus.Network.load(path)
    for entry in scene_dict["nodes"]:
        if entry["type"] != "shape":
            continue
        try:
            low, high = network[entry["name"]].cook(network.frames[0]).bounds
        except (meniscus.Error, TypeError):
            continue
        widest = max(widest, *(b - a for a, b in zip(low, high)))
    output = (scene_dict.get("output") or "").partition(":")[0]
    material = scene_pieces.material_of(scene_dict, output, types, meniscus.materials()) if output else None
    return float(f"{widest / SEEN:.1g}") if widest > 0 else 1.0, material


class MENISCUS_OT_import_scene(bpy.types.Operator):
    """Make a network from a Meniscus scene"""
    bl_idname, bl_label, bl_options = "meniscus.import_scene", "Import Meniscus Scene", {"REGISTER", "UNDO"}

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})

    def invoke(self, context, event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        try:
            scene_dict = network_scene.read_scene(self.filepath)
        except meniscus.Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        scale, material = _seen(self.filepath, scene_dict)
        name = scene_dict.get("title") or os.path.splitext(os.path.basename(self.filepath))[0]
        tree = bpy.data.node_groups.new(name, node_tree.TREE)
        made = network_scene.fill_tree(tree, scene_dict)
        tree.scale = scale
        if made.get("$result") is not None and material:
            made["$result"].material = looks.material(material, scale)
        tree.use_scene_range = False
        tree.frame_start, tree.frame_end = scene_dict.get("frames", (1, 1))
        space = context.space_data
        if space is not None and space.type == "NODE_EDITOR":
            space.tree_type, space.node_tree = node_tree.TREE, tree
        return {"FINISHED"}


class MENISCUS_OT_export_scene(bpy.types.Operator):
    """Write the network as a Meniscus scene, with its objects beside it, for `meniscus cook`"""
    bl_idname, bl_label = "meniscus.export_scene", "Export Meniscus Scene"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")
    tree: bpy.props.StringProperty(options={"SKIP_SAVE"})

    def invoke(self, context, event):
        self.filepath = self.filepath or "scene.json"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        tree = bake_operators.find_tree(context, self.tree)
        if tree is None:
            self.report({"ERROR"}, "There is no Meniscus network here.")
            return {"CANCELLED"}
        folder = os.path.dirname(bpy.path.abspath(self.filepath))
        try:
            plan = network_scene.plan_of(tree, context.scene, everything=True)
            view = network_scene.camera_of(context.scene, tree.scale)
            if view is not None:
                plan.scene["camera"] = view
            meniscus.Network.from_text(plan.text, name=self.filepath)  # says what is wrong with it
            object_files.write_all(plan.sources, context.scene, context.evaluated_depsgraph_get, tree.scale,
                                   os.path.join(folder, "inputs"), plan.first_input, plan.scene["frames"][1])
            with open(bpy.path.abspath(self.filepath), "w", encoding="utf-8") as file:
                file.write(json.dumps(plan.scene, indent=1))
        except (meniscus.Error, network_scene.TreeError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class MENISCUS_OT_material(bpy.types.Operator):
    """Give the active node the density, viscosity and surface tension of a material"""
    bl_idname, bl_label, bl_options = "meniscus.material", "Material", {"REGISTER", "UNDO"}

    material: bpy.props.EnumProperty(name="Material", items=quick._material_items)

    @classmethod
    def poll(cls, context):
        node = getattr(context, "active_node", None)
        table = getattr(node, "table", None)
        return table is not None and "sigma" in table.parms

    def execute(self, context):
        node, values = context.active_node, meniscus.material(self.material)
        for name in ("density", "viscosity", "sigma"):
            if name in node.table.parms:
                parm_properties.set_value(node, node.table.parms[name], values[name])
        return {"FINISHED"}


class MENISCUS_OT_take_selected(bpy.types.Operator):
    """Take the selected objects"""
    bl_idname, bl_label, bl_options = "meniscus.take_selected", "Take Selected", {"REGISTER", "UNDO"}

    node: bpy.props.StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    def execute(self, context):
        tree = bake_operators.find_tree(context)
        node = tree.nodes.get(self.node) if tree is not None else None
        things = [thing for thing in context.selected_objects if thing.type in node_tree.MESHABLE and not thing.meniscus.role]
        if node is None or not things:
            self.report({"ERROR"}, "Select the objects in the 3D view first.")
            return {"CANCELLED"}
        node.take(things)
        return {"FINISHED"}


class MENISCUS_OT_select_holes(bpy.types.Operator):
    """Show the open edges of the objects that are filled, in edit mode"""
    bl_idname, bl_label, bl_options = "meniscus.select_holes", "Select Holes", {"REGISTER", "UNDO"}

    tree: bpy.props.StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    def execute(self, context):
        tree = bake_operators.find_tree(context, self.tree)
        things = quick.liquids(tree) if tree is not None else []
        thing = next((one for one in things if one.type == "MESH" and one.name in context.view_layer.objects), None)
        if thing is None:
            self.report({"ERROR"}, "The object that is filled is not a mesh of this scene.")
            return {"CANCELLED"}
        if context.object is not None and context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.selected_objects:
            other.select_set(False)
        context.view_layer.objects.active = thing
        thing.select_set(True)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_mode(type="EDGE")
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.mesh.select_non_manifold()
        return {"FINISHED"}


class MENISCUS_OT_lift(bpy.types.Operator):
    """Lift the objects that start in the ground onto it"""
    bl_idname, bl_label, bl_options = "meniscus.lift", "Lift onto Ground", {"REGISTER", "UNDO"}

    tree: bpy.props.StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    def execute(self, context):
        tree = bake_operators.find_tree(context, self.tree)
        for thing in quick.liquids(tree) if tree is not None else ():
            thing.location.z += overlaps.depth_in_ground(thing)
        context.view_layer.update()
        if tree is not None:
            tree.notes = overlaps.sentence(context, tree)
        return {"FINISHED"}


def _draw_import(self, context):
    self.layout.operator(MENISCUS_OT_import_scene.bl_idname, text="Meniscus Scene (.json)")


_CLASSES = (MENISCUS_OT_import_scene, MENISCUS_OT_export_scene, MENISCUS_OT_material, MENISCUS_OT_take_selected,
            MENISCUS_OT_select_holes, MENISCUS_OT_lift)


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.TOPBAR_MT_file_import.append(_draw_import)


def unregister():
    bpy.types.TOPBAR_MT_file_import.remove(_draw_import)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
