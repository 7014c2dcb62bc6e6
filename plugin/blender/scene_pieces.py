# SPDX-License-Identifier: Apache-2.0
"""What a scene is made of, for pictures: which nodes are liquid and which solid, of what material, and how fast their time
runs. Reads the scene's JSON and the tables; knows nothing of Blender.

    python3 scene_pieces.py SCENE      prints it"""
import json
import math
import sys


def _entries(scene):
    return {entry["name"]: entry for entry in scene["nodes"]}


def _source(text):
    name, _, output = text.partition(":")
    return name, int(output or 0)


def above(scene, name):
    """The node and all that it gets something from, nearest first."""
    entries, order, queue = _entries(scene), [], [name]
    while queue:
        at = queue.pop(0)
        if at in entries and at not in order:
            order.append(at)
            queue.extend(_source(text)[0] for text in entries[at].get("inputs", ()) if text)
    return order


def simulation_of(scene, name, types):
    """The nearest simulating node at or above a node, or None."""
    entries = _entries(scene)
    for at in above(scene, name):
        table = types.get(entries[at]["type"])
        if table is not None and table.kind == "sim":
            return at
    return None


def value_at(value, frame):
    """A number of a scene at a frame: keys are linear between, constant outside."""
    if not isinstance(value, dict):
        return value
    keys = value["keys"]
    if frame <= keys[0][0]:
        return keys[0][1]
    for (a, one), (b, two) in zip(keys, keys[1:]):
        if frame <= b:
            return one + (two - one) * (frame - a) / (b - a)
    return keys[-1][1]


def parm(scene, name, parm_name, types, frame=1):
    entry = _entries(scene)[name]
    table = types[entry["type"]]
    if parm_name not in table.parms:
        return None
    return value_at(entry.get("parms", {}).get(parm_name, table.parms[parm_name].default), frame)


def time_scale(scene, name, types, frame=1):
    """Simulated seconds per second on screen for what a node shows: velocities are per simulated second."""
    simulation = simulation_of(scene, name, types)
    scale = parm(scene, simulation, "time_scale", types, frame) if simulation is not None else None
    return 1.0 if scale is None else float(scale)


def material_of(scene, name, types, materials):
    """The preset nearest to the density and surface tension of the simulation above a node; water when it says nothing."""
    simulation = simulation_of(scene, name, types)
    chosen = parm(scene, simulation, "material", types) if simulation is not None else None
    if chosen in materials:
        return chosen
    values = {} if simulation is None else {key: parm(scene, simulation, key, types) for key in ("density", "sigma", "viscosity")}
    if not values.get("density") or not values.get("sigma"):
        return "water"

    def distance(entry):
        return sum(weight * math.log(max(values[key] or entry[key], 1e-9) / entry[key]) ** 2
                   for key, weight in (("density", 4), ("sigma", 8), ("viscosity", 0.2)))

    return min(materials, key=lambda one: distance(materials[one]))


def pieces(scene, types, materials):
    """What to draw: [{"node", "output", "stem", "kind": "liquid" or "solid", "material"}]. The parts of a merge are drawn by
    themselves, and what colliders are made of is drawn too."""
    entries, found, solids = _entries(scene), [], []
    output = scene.get("output") or scene["nodes"][-1]["name"]
    queue = [_source(output)]
    while queue:
        name, number = queue.pop(0)
        if entries[name]["type"] == "merge":
            queue.extend(_source(text) for text in entries[name].get("inputs", ()) if text)
        else:
            found.append((name, number))
    for name in above(scene, output.partition(":")[0]):
        if entries[name]["type"] == "collider":
            solids.extend(_source(text) for text in entries[name].get("inputs", ()) if text)
    while any(entries[name]["type"] == "merge" for name, _ in solids):
        merge = next(one for one in solids if entries[one[0]]["type"] == "merge")
        solids.remove(merge)
        solids.extend(_source(text) for text in entries[merge[0]].get("inputs", ()) if text)
    drawn, looks = [], scene.get("render", {}).get("looks", {})
    for name, number in found + [one for one in solids if one not in found]:
        liquid = simulation_of(scene, name, types) is not None
        drawn.append({"node": name, "output": number, "stem": name if number == 0 else f"{name}_{number}",
                      "kind": "liquid" if liquid else "solid",
                      "material": material_of(scene, name, types, materials) if liquid else "", "look": looks.get(name, "")})
    if not any(piece["kind"] == "liquid" for piece in drawn):
        for piece in drawn:
            piece.update(kind="liquid", material="water")
    for piece in drawn:
        if piece["look"] in materials:
            piece.update(material=piece["look"], look="")
    unique = {piece["stem"]: piece for piece in drawn}
    return list(unique.values())


def side(scene):
    """Where the scene's camera stands as seen from its target, in degrees right of +z and above; [30, 18] without one."""
    view = scene.get("camera", {})
    if "position" not in view or "target" not in view:
        return [30.0, 18.0]
    x, y, z = (a - b for a, b in zip(view["position"], view["target"]))
    return [math.degrees(math.atan2(x, z)), min(max(math.degrees(math.atan2(y, math.hypot(x, z))), -89.0), 89.0)]


if __name__ == "__main__":
    import meniscus
    network = meniscus.Network.load(sys.argv[1])
    text = json.loads(network.to_text())
    print(json.dumps({"frames": network.frames, "fps": network.fps, "render": text.get("render"), "side": side(text),
                      "pieces": pieces(text, meniscus.node_types(), meniscus.materials())}))
