# SPDX-License-Identifier: Apache-2.0
"""The one-click path: an object, a preset, Simulate. What it makes is an ordinary network, there to be changed."""
import bpy

from . import looks, network_scene, node_tree, results, setups
from .native import meniscus

_setups = setups.available()
_setup_items = [(name, setup["label"], setup["help"], i) for i, (name, setup) in enumerate(_setups.items())]
_material_items = [(name, entry["label"], f"{entry['density']:g} kg/m^3, {entry['viscosity']:g} Pa s, {entry['sigma']:g} N/m at "
                    f"{entry['temperature']:g} C. {entry['source']}", i)
                   for i, (name, entry) in enumerate(meniscus.materials().items())]


def _take_defaults(self, context):
    setup = _setups[self.setup]
    self.material, self.size, self.cells = setup["material"], setup["size"], setup["cells"]
    self.slow_motion, self.use_ground = setup["slow_motion"], setup["ground"]
    self.contact_angle = setup.get("contact_angle", 90)


class MeniscusQuick(bpy.types.PropertyGroup):
    """Settings of the one-click path"""
    setup: bpy.props.EnumProperty(name="Preset", items=_setup_items, update=_take_defaults, description="What to make of the object")
    material: bpy.props.EnumProperty(name="Material", items=_material_items, default="water",
                                     description="Density, viscosity and surface tension, measured")
    size: bpy.props.FloatProperty(
        name="Real Size (m)", default=0.004, min=1e-6, max=1000, precision=5,
        description="How long the object's longest side is in the simulation, whatever its size in Blender. Surface tension "
                    "rules below a few millimetres")
    cells: bpy.props.IntProperty(name="Resolution", default=16, min=6, max=400, soft_max=64,
                                 description="Cells across the object. Twice as many take about 16 times as long")
    slow_motion: bpy.props.FloatProperty(name="Slow Motion", default=40, min=0.01, max=1e6, soft_min=1, soft_max=1000,
                                         description="How many times slower than life. A drop of water of 4 mm swings 43 times a second")
    contact_angle: bpy.props.FloatProperty(
        name="Contact Angle", default=90, min=0, max=180, precision=1,
        description="How the liquid meets what it rests on, in degrees through the liquid: water on clean glass 20, on plastic 90, "
                    "on a lotus leaf 160; mercury on glass 140. Paint contact_angle on colliders to vary it")
    use_ground: bpy.props.BoolProperty(name="Ground at z = 0", default=True, description="Something to fall on, when no colliders are chosen")
    colliders: bpy.props.PointerProperty(name="Colliders", type=bpy.types.Collection,
                                         description="Meshes that the liquid meets, moving or still")


def setup_of(quick):
    return _setups[quick.setup]


def size_of(thing):
    """The longest side of an object's box in the world."""
    return max(thing.dimensions) if max(thing.dimensions) > 0 else 0.0


def fresh_tree(thing, name):
    """An empty network for the object; what the last click made for it goes, results and all."""
    for tree in node_tree.trees():
        if tree.made_for == thing:
            for shown in results.objects_of(tree):
                bpy.data.objects.remove(shown)
            bpy.data.node_groups.remove(tree)
    tree = bpy.data.node_groups.new(name, node_tree.TREE)
    tree.made_for = thing
    return tree


def build(context, thing, quick):
    """A network for the object. Raises meniscus.Error with a sentence."""
    if thing is None or thing.type not in node_tree.MESHABLE:
        raise meniscus.InputError("Choose an object that has a surface (a mesh, curve, text or metaball), then press Simulate.")
    if thing.meniscus.role:
        raise meniscus.InputError("This object shows a result; choose the one that it was made from, or press Simulate below.")
    length = size_of(thing)
    if not length > 0:
        raise meniscus.InputError(f"The object '{thing.name}' has no size.")
    scene, setup, scale = context.scene, _setups[quick.setup], quick.size / length
    pull = scene.gravity if scene.use_gravity else (0, 0, 0)
    gravity = [round(value, 6) + 0.0 for value in (pull[0], pull[2], -pull[1])]
    numbers = setups.numbers_of(quick.material, quick.size, quick.cells, quick.slow_motion, round(quick.contact_angle, 4),
                                gravity, scene.frame_start)
    colliders = "objects" if quick.colliders is not None else "ground" if quick.use_ground else "none"
    tree = fresh_tree(thing, f"{thing.name} {setup['label']}")
    tree.scale = scale
    made = network_scene.fill_tree(tree, setups.scene_of(setup, numbers, colliders))
    for entry in setup["nodes"]:
        node = made.get(entry["name"])
        if node is None or node.bl_idname != node_tree.OBJECT:
            continue
        if entry["type"] == "$object":
            node.object = thing
        else:
            node.source, node.collection = "COLLECTION", quick.colliders
    made["$result"].material = looks.material(quick.material, scale)
    return tree


class MENISCUS_OT_quick(bpy.types.Operator):
    """Make a network for the active object by the preset, in place of the one made by the last click, and simulate it"""
    bl_idname, bl_label, bl_options = "meniscus.quick", "Simulate", {"REGISTER", "UNDO"}

    def execute(self, context):
        thing = context.object
        try:
            tree = build(context, thing, context.scene.meniscus_quick)
        except meniscus.Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        thing.hide_render, thing.display_type = True, "WIRE"
        call = "EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT"
        try:
            bpy.ops.meniscus.bake(call, tree=tree.name)
        except RuntimeError as error:  # what the operator reported
            self.report({"ERROR"}, str(error).removeprefix("Error: ").strip())
        return {"FINISHED"}


_CLASSES = (MeniscusQuick, MENISCUS_OT_quick)


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.meniscus_quick = bpy.props.PointerProperty(type=MeniscusQuick)


def unregister():
    del bpy.types.Scene.meniscus_quick
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
