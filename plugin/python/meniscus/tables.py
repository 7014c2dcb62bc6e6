# SPDX-License-Identifier: Apache-2.0
"""Node types: what the library's tables say about them."""
import ctypes
import json
import textwrap

from . import errors
from .context import decode, default
from .library import lib


class Parm:
    """A parameter of a node type: name, label, type, size, default, range, soft_range, unit, items and their
    item_labels, folder, disable_when ("" for never), tooltip."""

    def __init__(self, table):
        self.name, self.label, self.type, self.size = table["name"], table["label"], table["type"], int(table["size"])
        self.default = table["default"]
        self.range = tuple(table.get("range", (None, None)))
        self.soft_range = tuple(table.get("soft_range", (None, None)))
        self.unit, self.folder, self.tooltip = table["unit"], table["folder"], table["tooltip"]
        self.disable_when = table.get("disable_when", "")
        self.of_dx = table.get("of_dx", 0)  # times the network's dx until it is set; 0: it does not follow
        self.items = tuple(item["token"] for item in table.get("items", ()))
        self.item_labels = tuple(item["label"] for item in table.get("items", ()))

    def __repr__(self):
        return f"<meniscus.Parm {self.name} {self.type}[{self.size}]>"

    @property
    def doc(self):
        """What it is, in one paragraph."""
        facts = [self.type if self.size == 1 else f"{self.size} {self.type}s"]
        if self.unit:
            facts.append(self.unit)
        low, high = self.range
        if low is not None and high is not None:
            facts.append(f"{low:g} to {high:g}")
        elif low is not None:
            facts.append(f"at least {low:g}")
        elif high is not None:
            facts.append(f"at most {high:g}")
        if self.items:
            facts.append("one of " + ", ".join(self.items))
        facts.append(f"default {self.default!r}")
        return f"{self.tooltip} ({'; '.join(facts)})"


class NodeType:
    """A node type: name, label, menu, kind ("cook" or "sim"), help, inputs, outputs and parms (by name)."""

    def __init__(self, table):
        self.name, self.label, self.menu, self.kind = table["name"], table["label"], table["menu"], table["kind"]
        self.help = table["help"]
        self.inputs, self.outputs = tuple(table["inputs"]), tuple(table["outputs"])
        self.parms = {parm["name"]: Parm(parm) for parm in table["parms"]}
        self.__doc__ = self.doc

    def __repr__(self):
        return f"<meniscus.NodeType {self.name}>"

    @property
    def doc(self):
        """The whole table as text."""
        lines = [self.help, ""]
        for i, entry in enumerate(self.inputs):
            lines.append(f"input {i}: {entry['label']}: {entry['expects']}{'' if entry['required'] else ' (optional)'}")
        for i, entry in enumerate(self.outputs):
            lines.append(f"output {i}: {entry['label']}: {entry['gives']}")
        lines.append("")
        for parm in self.parms.values():
            lines.extend(textwrap.wrap(f"{parm.name}: {parm.doc}", 110, subsequent_indent="    "))
        return "\n".join(lines)


def _read_tables():
    context = default()
    text = ctypes.c_void_p()
    context.call("mn_node_types_json", context.pointer, None, ctypes.byref(text))
    try:
        tables = json.loads(decode(ctypes.string_at(text.value)))
    finally:
        lib.mn_scene_free_text(context.pointer, text.value)
    return {table["name"]: NodeType(table) for table in tables["nodes"]}


_types = None


def node_types():
    """All node types by name."""
    global _types
    if _types is None:
        _types = _read_tables()
    return dict(_types)


def node_type(name):
    """One node type."""
    types = node_types()
    if name not in types:
        raise errors.NotFoundError(f"there is no node type {name!r}; there are {', '.join(types) or 'none'}")
    return types[name]
