# SPDX-License-Identifier: Apache-2.0
"""Setups: small networks around one object, for the one-click path. setups/*.json hold them as scenes in which

    "$object"     as a type stands for the chosen object, "$colliders" for what it falls on,
    "$dx*0.5"     as a value stands for one of the numbers that the panel gives.

A setup is offered when this build has its node types; nothing else decides."""
import json
import math
import re
from pathlib import Path

from .native import meniscus

FOLDER = Path(__file__).resolve().parent / "setups"
PLACES = ("$object", "$colliders")


def read_all():
    """Every setup by name, in the order that they want to be listed in."""
    setups = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    return dict(sorted(setups.items(), key=lambda item: (item[1].get("order", 100), item[0])))


def lacks(setup):
    """What of a setup's node types and parameters this build does not have."""
    missing = []
    for entry in setup["nodes"]:
        if entry["type"] in PLACES:
            continue
        table = meniscus.node_types().get(entry["type"])
        if table is None:
            missing.append(entry["type"])
        else:
            missing.extend(f"{entry['type']}.{parm}" for parm in entry.get("parms", {}) if parm not in table.parms)
    return missing


def available():
    return {name: setup for name, setup in read_all().items() if not lacks(setup)}


def _value(text, numbers):
    """"$dx*0.5" -> a number, "$gravity" -> three."""
    match = re.fullmatch(r"\$(\w+)(?:\*([-+.0-9e]+))?", text)
    if match is None:
        return text
    value, factor = numbers[match.group(1)], float(match.group(2) or 1)
    if isinstance(value, (list, tuple)):
        return [one * factor for one in value]
    return value if factor == 1 else value * factor


def _resolve(value, numbers):
    if isinstance(value, str):
        return _value(value, numbers)
    if isinstance(value, list):
        return [_resolve(one, numbers) for one in value]
    if isinstance(value, dict):
        return {key: _resolve(one, numbers) for key, one in value.items()}
    return value


def asks_for(setup, name):
    """Whether a setup uses one of the panel's numbers."""
    return f'"${name}' in json.dumps(setup)


def _tidy(number):
    return float(f"{number:.4g}")


def _integrator(values, dx):
    """Explicit steps are limited by rho dx^2 / mu, the others by the capillary waves of a cell: thick liquids want the latter."""
    thick = values["density"] * dx ** 2 / max(values["viscosity"], 1e-12)
    wave = math.sqrt(values["density"] * dx ** 3 / (2 * math.pi * values["sigma"]))
    return "semi_implicit" if thick < wave else "explicit"


def numbers_of(material, size, cells, slow_motion, contact_angle, gravity, start):
    """What a setup may ask for; SI units, y up."""
    values = meniscus.material(material)
    return {"dx": _tidy(size / cells), "size": _tidy(size), "density": values["density"], "viscosity": values["viscosity"],
            "sigma": values["sigma"], "contact_angle": contact_angle, "time_scale": _tidy(1.0 / slow_motion), "gravity": list(gravity), "start": start,
            "domain_center": [0, _tidy(50 * size), 0], "domain_size": [_tidy(100 * size)] * 3,  # its floor is y = 0
            "integrator": _integrator(values, size / cells), "velocity": [0, 0, 0], "collider_kind": "auto", "thickness": 0,
            **places_of((0, 0, 0), size)}


def places_of(middle, size):
    """What depends on where the object is: the ground below it, a sheet and a pond around that."""
    x, y, z = (_tidy(one) for one in middle)
    return {"middle": [x, y, z], "place": [x, 0, z], "sheet_size": [_tidy(5 * size), 0, _tidy(5 * size)],
            "pond_center": [x, _tidy(-0.25 * size), z], "pond_size": [_tidy(6 * size), _tidy(1.5 * size), _tidy(6 * size)]}


def _ground(numbers):
    """A slab whose top is y = 0, under the object."""
    width, depth = _tidy(16 * numbers["size"]), _tidy(12 * numbers["dx"])
    x, _, z = numbers.get("place", (0, 0, 0))
    return {"kind": "box", "size": [width, depth, width], "center": [x, -0.5 * depth, z]}


def _solids(entry, numbers, mode):
    """What "$colliders" stands for; the last node has the entry's name."""
    name = entry["name"]
    floor = {"name": "floor", "type": "shape", "parms": _ground(numbers)}
    if mode == "ground":
        return [floor], "floor"
    if mode == "objects":
        return [{"name": name, "type": "$object"}], name
    return [{"name": name, "type": "$object"}, floor, {"name": "solids", "type": "merge", "inputs": [name, "floor"]}], "solids"


def scene_of(setup, numbers, colliders):
    """The setup as a scene. `colliders` is "objects" (the artist's), "ground" (a slab below y = 0), "both" or "none"."""
    nodes, gone, renamed = [], set(), {}
    for entry in setup["nodes"]:
        made = {"name": entry["name"], "type": entry["type"]}
        if entry["type"] == "$colliders":
            if colliders == "none":
                gone.add(entry["name"])
                continue
            solids, renamed[entry["name"]] = _solids(entry, numbers, colliders)
            nodes.extend(solids)
            continue
        if entry.get("inputs"):
            made["inputs"] = [None if source in gone else renamed.get(source, source) for source in entry["inputs"]]
            if any(entry["inputs"]) and not any(made["inputs"]):
                gone.add(entry["name"])  # a collider of nothing
                continue
        made["parms"] = {name: _resolve(value, numbers) for name, value in entry.get("parms", {}).items()}
        nodes.append(made)
    return {"meniscus": 1, "title": setup["label"], "nodes": nodes, "output": setup["result"]}
