# SPDX-License-Identifier: Apache-2.0
"""The one-click path: objects, a preset, Simulate. What it makes is an ordinary network, there to be changed: the next click
changes in it what has changed in the panel, and leaves what the artist has set."""
import json
import math
import os

import bpy

from . import bake_operators, looks, network_scene, node_tree, overlaps, parm_properties, results, setups
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
    """Settings of the one-click path, of each object"""
    setup: bpy.props.EnumProperty(name="Preset", items=_setup_items, update=_take_defaults, description="What to make of the object")
    material: bpy.props.EnumProperty(name="Material", items=_material_items, default="water",
                                     description="Density, viscosity and surface tension, measured")
    size: bpy.props.FloatProperty(
        name="Real Size", default=0.004, min=1e-6, max=1000, precision=5, subtype="DISTANCE", unit="LENGTH",
        description="How long the object's longest side is in the simulation, whatever its size in Blender. Surface tension "
                    "rules below a few millimetres")
    cells: bpy.props.IntProperty(name="Resolution", default=16, min=6, max=400, soft_max=64,
                                 description="Cells across the object. Twice as many take about 16 times as long")
    slow_motion: bpy.props.FloatProperty(name="Slow Motion", default=40, min=0.01, max=1e6, soft_min=1, soft_max=1000,
                                         description="How many times slower than life. A drop of water of 4 mm oscillates 43 times a second")
    contact_angle: bpy.props.FloatProperty(
        name="Contact Angle", default=90, min=0, max=180, precision=1,
        description="How the liquid meets what it rests on, in degrees through the liquid: water on clean glass 20, on plastic 90, "
                    "on a lotus leaf 160; mercury on glass 140. Paint contact_angle on colliders to vary it")
    velocity: bpy.props.FloatVectorProperty(
        name="Initial Velocity", size=3, default=(0, 0, 0), precision=3, subtype="XYZ",
        description="Metres per second at the real size, added to the motion that the object has. A drop of rain of 2 mm falls at 6.5")
    use_ground: bpy.props.BoolProperty(name="Ground at z = 0", default=True, description="A floor under the object")
    colliders: bpy.props.PointerProperty(name="Colliders", type=bpy.types.Collection,
                                         description="Meshes that the liquid meets, moving or still, open or closed")
    collider_kind: bpy.props.EnumProperty(name="Walls", items=[
        ("auto", "Automatic", "Closed meshes are solid; planes, open and very thin ones are walls"),
        ("solid", "Solid", "The meshes are closed, and their inside is blocked"),
        ("shell", "Walls", "Every face is a wall of the thickness given; the inside of a closed mesh can hold liquid")])
    thickness: bpy.props.FloatProperty(
        name="Thickness", default=0.0, min=0.0, max=1000, precision=5, subtype="DISTANCE", unit="LENGTH",
        description="How thick walls are in the simulation, in metres at the real size; 0 takes two cells")


def setup_of(quick):
    return _setups[quick.setup]


def size_of(thing):
    """The longest side of an object's box in the world."""
    return max(thing.dimensions) if max(thing.dimensions) > 0 else 0.0


def settings_of(thing):
    """The settings that belong to an object: its own, or for a result those of what it was made from."""
    tree = thing.meniscus.tree
    source = tree.made_for if thing.meniscus.role and tree is not None else None
    return (source or thing).meniscus_quick


def tree_of(thing):
    """The network that was made for the object by a click, or None."""
    return next((tree for tree in node_tree.trees() if tree.made_for == thing and tree.library is None), None)


def liquids(tree):
    """The objects that a click has made a network for."""
    return [thing for node in tree.nodes if node.bl_idname == node_tree.OBJECT and node.hides for thing in node.meshes()]


def chosen(context):
    """(the object whose settings count, all objects to be simulated). A result stands for what it was made from."""
    active = context.object
    tree = active.meniscus.tree if active is not None and active.meniscus.role else None
    if tree is not None and tree.made_for is not None:
        return tree.made_for, liquids(tree) or [tree.made_for]
    if active is None or active.type not in node_tree.MESHABLE or active.meniscus.role:
        return None, []
    solids = set(active.meniscus_quick.colliders.all_objects) if active.meniscus_quick.colliders is not None else set()
    others = [thing for thing in context.selected_objects if thing != active and thing.type in node_tree.MESHABLE
              and not thing.meniscus.role and thing not in solids]
    return active, [active, *sorted(others, key=lambda thing: thing.name)]


def _collider_mode(quick):
    solids = quick.colliders is not None and any(thing.type in node_tree.MESHABLE for thing in quick.colliders.all_objects)
    return {(True, True): "both", (True, False): "objects", (False, True): "ground", (False, False): "none"}[
        solids, quick.use_ground]


def scene_for(context, thing, quick):
    """(the scene of a click, metres per unit). Raises meniscus.Error with a sentence."""
    length = size_of(thing)
    if not length > 0:
        raise meniscus.InputError(f"The object '{thing.name}' has no size.")
    scene, setup, scale = context.scene, _setups[quick.setup], quick.size / length
    pull = scene.gravity if scene.use_gravity else (0, 0, 0)
    gravity = [round(value, 6) + 0.0 for value in (pull[0], pull[2], -pull[1])]
    x, y, z = quick.velocity
    east, north, up = thing.matrix_world.translation
    middle = (east, up, -north)
    numbers = setups.numbers_of(quick.material, quick.size, quick.cells, quick.slow_motion, round(quick.contact_angle, 4),
                                gravity, scene.frame_start)
    numbers.update(velocity=[parm_properties.shortest(one) + 0.0 for one in (x, z, -y)],
                   **setups.places_of([one * scale for one in middle], quick.size), collider_kind=quick.collider_kind, thickness=parm_properties.shortest(quick.thickness))
    numbers["domain_center"] = [numbers["place"][0], numbers["domain_center"][1], numbers["place"][2]]
    return setups.scene_of(setup, numbers, _collider_mode(quick)), scale


SPEED = 4e5  # particles that are taken through a step in a second, on one thread of a common machine
ROOM = 600  # bytes in memory per particle


def estimate(context, thing, quick):
    """What a run will take, roughly, in two lines, before anything is read."""
    setup, length = setup_of(quick), size_of(thing)
    if not length > 0:
        return []
    if "cost" in setup:
        return _estimate_by_cost(context, setup, quick)
    sides = [side / length * quick.size for side in thing.dimensions]
    dx, values = quick.size / quick.cells, meniscus.material(quick.material)
    particles = 8 * 0.55 * sides[0] * sides[1] * sides[2] / dx ** 3
    # Steps follow sound, which is as stiff as surface tension and the fall ask for.
    fall = 2 * 9.81 * quick.size * max(1.0, thing.matrix_world.translation.z / length)
    wave = math.sqrt(100 * (fall + 4 * values["sigma"] / (values["density"] * quick.size)))
    frame = context.scene.render.fps_base / context.scene.render.fps / quick.slow_motion
    seconds = max(1.0, frame * wave / (0.4 * dx)) * particles / (SPEED * max(1, (os.cpu_count() or 2) / 2))
    frames = context.scene.frame_end - context.scene.frame_start + 1
    return [f"About {_rounded(particles):,} particles",
            f"{bake_operators.duration(max(1.0, seconds * frames))}, {max(1.0, particles * ROOM / 1e6):.0f} MB"]


def _estimate_by_cost(context, setup, quick):
    """From what a frame took at a few cells, where no count of particles says it."""
    cost, frames = setup["cost"], context.scene.frame_end - context.scene.frame_start + 1
    finer = quick.cells / cost["cells"]
    seconds = cost["seconds"] * finer ** cost["power"] * max(setup["slow_motion"] / quick.slow_motion, 0.05) * frames
    return ["A rough guess:", f"{bake_operators.duration(max(1.0, seconds))}, {max(1.0, cost['megabytes'] * finer ** cost['growth']):.0f} MB"]


def _rounded(number):
    return int(float(f"{number:.1g}"))


def _same_shape(one, two):
    """Whether two scenes have the same nodes and connections."""
    strip = lambda scene: [(entry["name"], entry["type"], entry.get("inputs", [])) for entry in scene["nodes"]]  # noqa: E731
    return strip(one) == strip(two)


def _update(tree, before, after):
    """Sets what differs between two scenes of the panel; whatever else was changed in the network stays."""
    old = {entry["name"]: entry for entry in before["nodes"]}
    for entry in after["nodes"]:
        node, parms, past = tree.nodes.get(entry["name"]), entry.get("parms", {}), old[entry["name"]].get("parms", {})
        for name in set(parms) | set(past) if getattr(node, "table", None) is not None else ():
            parm = node.table.parms[name]
            if parms.get(name, parm.default) != past.get(name, parm.default):
                parm_properties.set_value(node, parm, parms.get(name, parm.default))


def _is_whole(tree, scene):
    """Whether the nodes of a scene are all still in the tree."""
    return all(getattr(getattr(tree.nodes.get(entry["name"]), "table", None), "name", "$object") == entry["type"]
               for entry in scene["nodes"]) and all(tree.nodes.get(entry["name"]) is not None for entry in scene["nodes"])


def network_for(context, things, quick):
    """The network for objects by the settings of the first: the one that is there, changed, or a new one. Returns (tree,
    whether it is new)."""
    thing = things[0]
    scene, scale = scene_for(context, thing, quick)
    label = f"{thing.name} {setup_of(quick)['label']}"
    tree = tree_of(thing)
    is_new = tree is None
    if is_new:
        tree = bpy.data.node_groups.new(label, node_tree.TREE)
        tree.made_for = thing
    before = json.loads(tree.made_with) if tree.made_with else None
    if before is not None and _same_shape(before, scene) and _is_whole(tree, scene):
        _update(tree, before, scene)
    else:
        tree.nodes.clear()
        network_scene.fill_tree(tree, scene)
    if before is not None and tree.name.startswith(f"{thing.name} {before['title']}"):
        tree.name = label
    tree.scale, tree.made_with = scale, json.dumps(scene)
    setup = setup_of(quick)
    for entry in setup["nodes"]:
        node = tree.nodes.get(entry["name"])
        if node is None or node.bl_idname != node_tree.OBJECT:
            continue
        if entry["type"] == "$object":
            node.take(things)
            node.hides, node.faces = setup.get("hides", True), setup.get("faces", "ALL")
        else:
            node.source, node.collection = "COLLECTION", quick.colliders
    result = next(node for node in tree.nodes if node.bl_idname == node_tree.RESULT)
    if result.material is None or result.material.name.startswith("Meniscus "):
        result.material = looks.material(quick.material, scale)
    return tree, is_new


def build(context, thing, quick):
    """A network for one object, for scripts."""
    return network_for(context, [thing], quick)[0]


class MENISCUS_OT_quick(bpy.types.Operator, bake_operators.Asking):
    """Simulate the selected objects together, by the active one's preset. The network and result of an earlier click are used again"""
    bl_idname, bl_label, bl_options = "meniscus.quick", "Simulate", {"REGISTER", "UNDO"}

    wait: bpy.props.BoolProperty(options={"SKIP_SAVE", "HIDDEN"}, description="Block until it is done, for scripts")
    _asked = ""

    def invoke(self, context, event):
        thing, _ = chosen(context)
        return self.ask(context, tree_of(thing) if thing is not None else None)

    def draw(self, context):
        self.layout.label(text=f"Replace the {self._asked} of the last simulation?", icon="QUESTION")

    def execute(self, context):
        thing, things = chosen(context)
        if thing is None:
            self.report({"ERROR"}, "Choose an object that has a surface (a mesh, curve, text or metaball), then press Simulate.")
            return {"CANCELLED"}
        if bake_operators.is_running():
            self.report({"ERROR"}, "Stop the simulation that runs first.")
            return {"CANCELLED"}
        try:
            tree, is_new = network_for(context, things, thing.meniscus_quick)
        except meniscus.Error as error:
            thing.meniscus.message = str(error)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        thing.meniscus.message = ""
        sentence = overlaps.sentence(context, tree)
        if bake_operators.run(self, context, tree, wait=self.wait):
            tree.notes = sentence
            return {"FINISHED"}
        if is_new and not tree.fingerprint:  # refused before anything came of it
            thing.meniscus.message = tree.message
            if not any(getattr(node, "is_error", False) for node in tree.nodes):
                bpy.data.node_groups.remove(tree)
                return {"CANCELLED"}
        return {"FINISHED"}  # what was made is there to be looked at, and one undo takes it back


_CLASSES = (MeniscusQuick, MENISCUS_OT_quick)


def register():
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.meniscus_quick = bpy.props.PointerProperty(type=MeniscusQuick)


def unregister():
    del bpy.types.Object.meniscus_quick
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
