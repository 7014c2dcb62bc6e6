# SPDX-License-Identifier: Apache-2.0
"""A double of the few calls of Houdini's module `hou` that scripts/houdini_check.py makes, over our own Python module. Not
Houdini: it shows that the script runs and that its checks can fail, and nothing about Houdini."""
import json
import os
import re
import tempfile
from pathlib import Path

import meniscus

SOURCE = Path(os.environ["MENISCUS_SOURCE"])
FAULTS = os.environ.get("HOU_DOUBLE_FAULT", "").split(",")  # what this Houdini does wrong, for tests of the checks

_state = {"frame": 1, "fps": 24, "nodes": {}, "simulates": True}


def applicationVersionString():
    return "double"


def setFrame(frame):
    _state["frame"] = frame - 1 if "frames" in FAULTS and frame == 10 else frame


def setSimulationEnabled(on):
    _state["simulates"] = on


def setFps(fps):
    _state["fps"] = fps
    _network.fps = fps


class Geometry:
    def __init__(self, geometry=None):
        self._geometry = geometry

    later = 0  # seconds since the whole frame

    def loadFromFile(self, path):
        self._geometry = meniscus.Geometry.read(path)

    def findPrimAttrib(self, name):
        return name  # what Render Geometry adds is tested with the shim

    def pointFloatAttribValues(self, name):
        values = [float(x) for point in self._geometry[name].tolist() for x in point]
        if self.later and name == "P":
            values = [x + self.later * float(v) for x, v in zip(values, (v for point in self._geometry["v"].tolist() for v in point))]
        return tuple(values)

    def prims(self):
        return [_Prim(self._geometry, i) for i in range(len(self._geometry.primitive_starts) - 1)]


class _Prim:
    def __init__(self, geometry, index):
        self._geometry, self._index = geometry, index

    def intrinsicValue(self, name):
        assert name == "measuredvolume"
        places = self._geometry["P"].tolist()
        corners = [places[point] for point in self._geometry.primitive(self._index)[1]]
        a, b, c = ([float(corner[k]) - float(corners[0][k]) for k in range(3)] for corner in corners[1:])
        return (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6


class _Parm:
    def __init__(self, node, name):
        self._node, self._name = node, name

    def eval(self):
        return self._node._value(self._name)

    def set(self, value):
        self._node._set(self._name, value)

    def pressButton(self):
        self._node._inner.reset()


class _Type:
    def __init__(self, name, asset):
        self._name, self._asset = name, asset

    def name(self):
        return self._name

    def definition(self):
        return self._asset


_EXTRA = ("checkpoint", "checkpoint_every", "initial_state")  # of Houdini alone


class _Node:
    """A node of one of our types, or an asset, which is a network of its own."""

    def __init__(self, name, type_name):
        own = type_name in ("box", "sphere", "pack", "volume")  # Houdini's: some shape stands for all of them
        type_name = "meniscus::shape::1.0" if own else type_name
        self._name, self._type, self._wire, self._error = name, _types[type_name], None, ""
        short = type_name.split("::")[1]
        self._is_giver = short == "solver_output"
        self._is_own, self._warning, self._made, self._extra = own, "", set(), {}
        if short == "render_geometry":
            short = "merge"
        self._simulates = short.endswith("_solver")
        asset = self._type.definition()
        if asset:
            self._network = meniscus.Network.load(str(asset))
            self._inner = self._network.output
        elif self._is_giver:
            self._output = 2
        else:
            self._inner = _network.add(short, name=name)

    def type(self):
        return self._type

    def path(self):
        return "/obj/meniscus_check/" + self._name

    def allSubChildren(self):
        if not self._type.definition():
            return []
        scene = json.loads(self._type.definition().read_text())
        return [type("Child", (), {"type": lambda self, name=node["type"]: _types["meniscus::%s::1.0" % name]})() for node in scene["nodes"]]

    def parms(self):
        if self._is_giver or self._type.definition():
            return []
        kind = meniscus.node_types().get(self._type.name().split("::")[1])
        return [_Parm(self, name) for name in kind.parms] if kind else []

    def parm(self, name):
        return _Parm(self, name)

    parmTuple = parm

    def _value(self, name):
        return self._extra.get(name, "") if name in _EXTRA else self._inner[name]

    def _set(self, name, value):
        if name in _EXTRA:
            self._extra[name] = value
        else:
            self._inner[name] = value

    def _shift(self, frame):
        """By how many frames an initial state is ahead; a state is a file with its frame here."""
        if self._extra.get("checkpoint"):
            Path(self._extra["checkpoint"]).write_text(str(frame))
        start = self._extra.get("initial_state")
        return int(Path(start).read_text()) - 1 if start and "initial" not in FAULTS else 0

    def setInput(self, index, source, output=0):
        if self._is_giver:
            self._wire = source
        elif not self._is_own:
            self._inner.connect(source._inner, index, output)

    def geometry(self, output=0):
        if self._is_giver:
            return self._wire.geometry(1)
        if "second output" in FAULTS and output == 0 and self._inner.name == "wired":
            raise RuntimeError("Invalid input.")
        if self._type.definition():
            return Geometry(self._inner.cook(_state["frame"]))
        frame = int(_state["frame"])
        self._warning = ""
        if self._simulates:
            if not _state["simulates"] and frame not in self._made and "playbar" not in FAULTS:
                self._warning = "Simulation is off on the playbar."
                frame = max(self._made, default=1)
            self._made.add(frame)
        made = Geometry(self._inner.cook(frame + (self._shift(frame) if self._simulates else 0), output))
        if self._simulates and _state["frame"] != frame and not self._warning:
            made.later = (_state["frame"] - frame) / _state["fps"] * self._inner["time_scale"]
        return made

    def cook(self, force=False):
        self._error = ""
        try:
            self.geometry()
        except meniscus.Error as error:
            self._error = str(error)

    def warnings(self):
        if "inputs" in FAULTS and self._type.name() == "meniscus::merge::1.0":
            return ("1 primitives of type 'Sphere' are left out.",)
        return (self._warning,) if self._warning else ()

    def errors(self):
        return (self._error,) if self._error else ()

    def destroy(self):
        if not self._type.definition() and not self._is_giver:
            self._inner.remove()
        _state["nodes"].pop(self.path(), None)


class _Container:
    def createNode(self, type_name, name=None):
        if type_name == "geo":
            return self
        made = _Node(name or "node%d" % len(_state["nodes"]), type_name)
        _state["nodes"][made.path()] = made
        return made


class hipFile:
    @staticmethod
    def save(path):
        _network.save(path)

    @staticmethod
    def load(path, suppress_save_prompt=False):
        global _network
        _network = meniscus.Network.load(path)
        for node in _state["nodes"].values():
            if not node._type.definition() and not node._is_giver:
                node._inner = _network[node._name]


class _TextParm:
    def __init__(self, text):
        self._text = text

    def unexpandedString(self):
        return self._text

    def eval(self):
        return 6


class _TextNode:
    """A node of an asset for TOPs or LOPs, as its text has it: nothing is cooked."""

    def __init__(self, text):
        self._text = text

    def node(self, name):
        return _TextNode(re.search(rf'filename="hdaroot/{name}.parm"(.*?)\n--HOU', self._text, re.S).group(1))

    def parm(self, name):
        found = re.search(rf"^{name}\t.*", self._text, re.M)
        return _TextParm(found.group(0) if found else "")

    def stage(self):
        layer = (SOURCE / "plugin/houdini/usd/meniscus_materials.usda").read_text()
        return type("Stage", (), {"GetPrimAtPath": lambda self, path: type("Prim", (), {
            "IsValid": lambda self: f'def Material "{path.rsplit("/", 1)[1]}"' in layer})()})()

    def errors(self):
        return ()


class _Manager:
    def createNode(self, type_name):
        if type_name == "topnet":
            return self
        folder = f"meniscus_{type_name.split('::')[1]}.1.0.hda"
        return _TextNode(next((SOURCE / "plugin/houdini/assets").glob(f"{folder}/*/Contents.dir/Contents.mime")).read_text())


class _Verb:
    def __init__(self, name):
        self._name, self._parms = name, {}

    def setParms(self, parms):
        self._parms = parms

    def execute(self, made, inputs):
        network = meniscus.Network()
        node = network.add(self._name)
        for name, value in self._parms.items():
            node[name] = value
        with tempfile.TemporaryDirectory() as folder:
            for i, geometry in enumerate(inputs):
                path = os.path.join(folder, f"{i}.bgeo")
                geometry._geometry.save(path)
                file = network.add("file")
                file["path"] = path
                node.connect(file, i)
            made._geometry = node.cook(1)


def _verb(name):
    short = name.split("::")[1]
    return None if short.endswith("_solver") or "verbs" in FAULTS else _Verb(short)


def node(path):
    if path in ("/stage", "/tasks"):
        return _Manager()
    return _container if path == "/obj" else _state["nodes"][path]


def sopNodeTypeCategory():
    return type("Category", (), {"nodeTypes": lambda self: dict(_types), "nodeVerb": lambda self, name: _verb(name)})()


def _find_types():
    types = {name: _Type(name, None) for name in ("meniscus::%s::1.0" % kind for kind in [*meniscus.node_types(), "solver_output", "render_geometry"])}
    for scene in sorted(SOURCE.glob("examples/*/scene.json")):
        asset = json.loads(scene.read_text()).get("asset")
        if asset:
            name = "meniscus::%s::1.0" % asset["name"]
            types[name] = _Type(name, scene)
    return types


_network = meniscus.Network()
_container = _Container()
_types = _find_types()
