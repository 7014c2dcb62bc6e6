# SPDX-License-Identifier: Apache-2.0
"""Materials with measured values: presets/materials.json, the same for every host."""
import json
from pathlib import Path

from . import errors

NAME = "materials.json"
#: Properties of a material that are parameters of nodes, where a node has them.
PARMS = ("density", "viscosity", "sigma")

_materials = None


def _candidates():
    here = Path(__file__).resolve().parent
    yield here / "presets" / NAME  # as the Blender add-on carries it
    for folder in here.parents:  # as installed, and in the source tree
        yield folder / "share" / "meniscus" / "presets" / NAME
        yield folder / "presets" / NAME


def materials():
    """All materials by name, each a dict: label, temperature, density, viscosity, sigma, look, source. SI units."""
    global _materials
    if _materials is None:
        path = next((path for path in _candidates() if path.is_file()), None)
        if path is None:
            raise errors.NotFoundError("presets/materials.json was not found beside the Python module; install it anew")
        _materials = {entry["name"]: entry for entry in json.loads(path.read_text(encoding="utf-8"))["materials"]}
    return {name: dict(entry) for name, entry in _materials.items()}


def material(name):
    """One material."""
    found = materials()
    if name not in found:
        raise errors.NotFoundError(f"there is no material {name!r}; there are {', '.join(found)}")
    return found[name]


def set_material(node, name):
    """Gives a node the density, viscosity and surface tension of a material, those of them that it has."""
    values = material(name)
    if "material" in node.table.parms:
        node["material"] = "custom"  # the numbers count, and can be changed
    for parm in PARMS:
        if parm in node.table.parms:
            node[parm] = values[parm]
