# SPDX-License-Identifier: Apache-2.0
"""A node tree as a scene of Meniscus, and a scene as a node tree.

The scene holds the whole simulation: `meniscus cook` on it gives the frames that Blender bakes, byte for byte. Objects of
Blender are in it as files with paths relative to the scene, so that its folder can be moved."""
import json
import math
import re
from dataclasses import dataclass, field

import bpy
from mathutils import Vector

from . import border, node_tree, object_files, parm_properties, versions
from .native import meniscus


@dataclass
class Result:
    """A result node: what it shows, and how its files are called."""
    node: str  # of Blender
    source: str  # of the scene
    output: int

    @property
    def stem(self):
        return self.source if self.output == 0 else f"{self.source}_{self.output}"


@dataclass
class Plan:
    """A tree, written down: nothing in it belongs to Blender's data."""
    scene: dict
    results: list
    names: dict  # of the scene -> of Blender
    sources: list = field(default_factory=list)  # of object_files: the only ones that do
    first_input: int = 1  # the first frame that inputs are wanted at

    @property
    def text(self):
        return text_of(self.scene)


def text_of(scene):
    return json.dumps(scene, indent=1)


class TreeError(Exception):
    """Something is missing in the tree; `node` is the name of the node to look at, or ""."""

    def __init__(self, sentence, node=""):
        super().__init__(sentence)
        self.node = node


def _scene_names(nodes):
    """Blender's names without dots and spaces, each different."""
    names, taken = {}, set()
    for node in nodes:
        base = re.sub(r"[^A-Za-z0-9_]", "_", node.name)
        base = base if re.match(r"[A-Za-z_]", base) else "_" + base
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        names[node.name] = name
    return names


def _source_of(socket):
    """(node, output number) that feeds a socket, through reroutes and muted nodes; None when nothing does."""
    seen = 0
    while socket.is_linked and seen < 1000:
        link = socket.links[0]
        node, seen = link.from_node, seen + 1
        if link.is_muted:
            return None
        if node.bl_idname == "NodeReroute":
            socket = node.inputs[0]
        elif node.mute:
            through = next((one for one in node.inputs if one.is_linked), None)
            if through is None:
                return None
            socket = through
        else:
            return node, list(node.outputs).index(link.from_socket)
    return None


# ---- animation ----

def _sampled(node, parm, curves, first, last):
    """Keys at whole frames where the curve is not straight; None when the parameter is not animated."""
    path = f'nodes["{bpy.utils.escape_identifier(node.name)}"].{parm_properties.property_name(parm)}'
    mine = {curve.array_index: curve for curve in curves if curve.data_path == path}
    if not mine or parm.type not in ("float", "int", "toggle") or parm.name == "start_frame":
        return None
    value = parm_properties.value_of(node, parm)
    still = value if isinstance(value, list) else [value]
    low, high = (limit for limit in parm.range) if parm.type != "toggle" else (0, 1)

    def at(frame):
        numbers = []
        for i in range(parm.size):
            number = mine[i].evaluate(frame) if i in mine else still[i]
            number = number if low is None else max(low, number)
            numbers.append(parm_properties.scene_number(parm, number if high is None else min(high, number)))
        return numbers[0] if parm.size == 1 else numbers

    values = [at(frame) for frame in range(first, last + 1)]
    keys = [[first + i, one] for i, one in enumerate(values)
            if i in (0, len(values) - 1) or not values[i - 1] == one == values[i + 1]]
    return {"keys": keys}


# ---- tree to scene ----

def _parms(node, curves, first, last):
    out = {}
    for parm in node.table.parms.values():
        keys = _sampled(node, parm, curves, first, last)
        value = keys if keys is not None else parm_properties.value_of(node, parm)
        if value != parm.default:
            out[parm.name] = value
    return out


# Node types that make liquid of the shape that they get: it keeps the velocity of the shape.
MATTER = ("fill", "film_source", "jet_source", "tetrahedralize")


def _matter_time_scale(node):
    """When an object becomes liquid: the time scale of the simulation that it goes to. None when it stays a solid."""
    stack, matter, seen = [node], False, set()
    while stack:
        at = stack.pop()
        for socket in at.outputs:
            for link in socket.links:
                target = link.to_node
                table = getattr(target, "table", None)
                if target.name in seen:
                    continue
                seen.add(target.name)
                if table is not None and table.kind == "sim":
                    if matter and "time_scale" in table.parms:
                        return parm_properties.shortest(target.p_time_scale)
                    continue
                matter = matter or (table is not None and table.name in MATTER)
                stack.append(target)
    return 1.0 if matter else None


def _object_node(node, name, plan):
    meshes = node.meshes()
    if not meshes:
        raise TreeError(f"The node '{node.name}' has no object; choose one that is a mesh.", node.name)
    moving = node.motion == "MOVING" or (node.motion == "AUTO" and any(map(object_files.is_moving, meshes)))
    plan.sources.append(object_files.Source(name, meshes, moving, _matter_time_scale(node) if moving else None, node.faces))
    path = f"inputs/{name}.$F4.bgeo.sc" if moving else f"inputs/{name}.bgeo.sc"
    return {"name": name, "type": "file", "parms": {"path": path}}


def _inputs(node, names):
    inputs = []
    for socket in node.inputs:
        source = _source_of(socket)
        if source is None:
            inputs.append(None)
            continue
        feeding, output = source
        if feeding.name not in names:
            raise TreeError(f"'{feeding.name}' is of a kind that this version of Meniscus does not have.", feeding.name)
        inputs.append(names[feeding.name] + (f":{output}" if output else ""))
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs


def _wanted(results):
    """Nodes that a result gets something from: others are not cooked, and may be half-made."""
    found, stack = {}, list(results)
    while stack:
        node = stack.pop()
        for socket in node.inputs:
            source = _source_of(socket)
            if source is not None and source[0].name not in found:
                found[source[0].name] = source[0]
                stack.append(source[0])
    return found


def _scene_nodes(tree, wanted):
    """The nodes that go into a scene: those that are wanted, None for all."""
    return [node for node in tree.nodes if (getattr(node, "table", None) is not None or node.bl_idname == node_tree.OBJECT)
            and (wanted is None or node.name in wanted)]


def plan_of(tree, scene, everything=False):
    """What a tree asks for at the frames of a scene. `everything`: also nodes that no result needs."""
    first, last = tree.frame_range(scene)
    results = [node for node in tree.nodes if node.bl_idname == node_tree.RESULT and not node.mute]
    linked = [node for node in results if _source_of(node.inputs[0]) is not None]
    if not everything and not linked:
        raise TreeError("Nothing is connected to a Result node; add one and connect what should be simulated.",
                        results[0].name if results else "")
    wanted = _wanted(linked)
    nodes = _scene_nodes(tree, None if everything else wanted)
    names = _scene_names(nodes)
    plan = Plan({}, [], {scene_name: name for name, scene_name in names.items()}, first_input=first)
    for node in nodes:
        if getattr(node, "table", None) is not None and node.table.kind == "sim":
            plan.first_input = min(plan.first_input, node.p_start_frame)
    curves = versions.curves_of(tree)
    entries = []
    for node in nodes:
        name = names[node.name]
        if node.bl_idname == node_tree.OBJECT:
            entries.append(_object_node(node, name, plan))
            continue
        entry = {"name": name, "type": node.table.name}
        inputs, parms = _inputs(node, names), _parms(node, curves, plan.first_input, last)
        if inputs:
            entry["inputs"] = inputs
        if parms:
            entry["parms"] = parms
        entries.append(entry)
    for node in linked:
        source, output = _source_of(node.inputs[0])
        if source.name not in names:
            raise TreeError(f"'{source.name}' is of a kind that this version of Meniscus does not have.", source.name)
        plan.results.append(Result(node.name, names[source.name], output))
    plan.scene = {"meniscus": 1, "title": tree.name, "fps": scene.render.fps / scene.render.fps_base,
                  "frames": [first, last], "nodes": entries}
    if plan.results:
        plan.scene["output"] = plan.results[0].source
    return plan


def stem_of(tree, result_node):
    """How the files of a Result node are called, or None when nothing is connected."""
    source = _source_of(result_node.inputs[0])
    if source is None:
        return None
    wanted = _wanted([node for node in tree.nodes if node.bl_idname == node_tree.RESULT and not node.mute])
    names = _scene_names(_scene_nodes(tree, wanted))
    return Result(result_node.name, names[source[0].name], source[1]).stem if source[0].name in names else None


def camera_of(scene, scale):
    """The scene's camera as scenes write it, or None."""
    camera = scene.camera
    if camera is None or camera.type != "CAMERA" or camera.data.type != "PERSP":
        return None
    world = border.to_meniscus(scale) @ camera.matrix_world
    forward = (world.to_3x3() @ Vector((0, 0, -1))).normalized()
    position, render = world.translation, scene.render
    width, height = render.resolution_x * render.pixel_aspect_x, render.resolution_y * render.pixel_aspect_y
    across = camera.data.sensor_fit == "HORIZONTAL" or (camera.data.sensor_fit == "AUTO" and width >= height)
    half = math.tan(0.5 * camera.data.angle) * (height / width if across else 1.0)
    reach = camera.data.dof.focus_distance * scale or scale
    return {"position": [parm_properties.shortest(one) for one in position],
            "target": [parm_properties.shortest(one) for one in position + forward * reach],
            "fov": round(math.degrees(2 * math.atan(half)), 4)}


# ---- scene to tree ----

def _place(entries):
    """Columns by distance from the sources, rows in order."""
    depth = {}

    def of(name, guard=0):
        if name not in depth:
            entry = next((one for one in entries if one["name"] == name), None)
            sources = [text.split(":")[0] for text in (entry or {}).get("inputs", ()) if text]
            depth[name] = 0 if guard > 500 else max((of(one, guard + 1) + 1 for one in sources), default=0)
        return depth[name]

    rows, places = {}, {}
    for entry in entries:
        column = of(entry["name"])
        places[entry["name"]] = (column * 280, -340 * rows.setdefault(column, 0))
        rows[column] += 1
    return places


def _animate(tree, node, parm, keys):
    path = parm_properties.property_name(parm)
    for frame, value in keys:
        parm_properties.set_value(node, parm, value)
        node.keyframe_insert(path, frame=frame)
    for curve in versions.curves_of(tree):
        if curve.data_path.endswith(f'["{bpy.utils.escape_identifier(node.name)}"].{path}'):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"


def fill_tree(tree, scene_dict):
    """Adds the nodes of a scene to a tree; the scene's output gets a Result node. Returns {name: node}."""
    entries, made = scene_dict["nodes"], {}
    places = _place(entries)
    for entry in entries:
        if entry["type"] == "$object":
            node = tree.nodes.new(node_tree.OBJECT)
        else:
            node = tree.nodes.new(node_tree.class_name(entry["type"]))
            for parm in node.table.parms.values():  # what follows the scene's grid spacing; tree.dx changes all of them
                if parm.of_dx and scene_dict.get("dx"):
                    parm_properties.set_value(node, parm, scene_dict["dx"] * parm.of_dx)
            for name, value in entry.get("parms", {}).items():
                parm = node.table.parms[name]
                if isinstance(value, dict):
                    _animate(tree, node, parm, value["keys"])
                else:
                    parm_properties.set_value(node, parm, value)
        node.name = entry["name"]
        node.location = places[entry["name"]]
        made[entry["name"]] = node
    for entry in entries:
        for i, source in enumerate(entry.get("inputs", ())):
            if source:
                name, _, output = source.partition(":")
                connect(tree, made[name], int(output or 0), made[entry["name"]], i)
    if scene_dict.get("output"):
        name, _, output = scene_dict["output"].partition(":")
        result = tree.nodes.new(node_tree.RESULT)
        result.location = (max(x for x, _ in places.values()) + 280, places[name][1])
        tree.links.new(made[name].outputs[int(output or 0)], result.inputs[0])
        made["$result"] = result
    return made


def connect(tree, source, output, target, number):
    """Connects, making room when the input takes many."""
    while len(target.inputs) <= number and target.table.inputs and target.table.inputs[-1]["many"]:
        target.inputs.new(node_tree.SOCKET, target.table.inputs[-1]["label"])
    tree.links.new(source.outputs[output], target.inputs[number])


def read_scene(path):
    """A scene file, checked by the library's reader, whose sentences name file, line and parameter. Relative paths of
    its file parameters become absolute."""
    network = meniscus.Network.load(path)
    scene_dict = json.loads(network.to_text())
    for entry in scene_dict["nodes"]:
        table = meniscus.node_type(entry["type"])
        for name, value in entry.get("parms", {}).items():
            if table.parms[name].type == "file" and value and not value.startswith("/") and network.folder:
                entry["parms"][name] = f"{network.folder}/{value}"
    return scene_dict
