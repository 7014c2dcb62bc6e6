# SPDX-License-Identifier: Apache-2.0
"""Writes type stubs of the module's networks from the node tables of a library:

    MENISCUS_LIBRARY=libmeniscus_plugin.so make_stubs.py MODULE_FOLDER OUT_FILE

A class for each node type with a typed property for each parameter, and an overload of Network.add() for each, so that editors
complete names, show what a parameter means and mark a wrong one. The rest of network.py is taken from the module itself."""
import inspect
import keyword
import sys
from pathlib import Path

HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Made from the node tables by make_stubs.py.
import os
from typing import Any, Callable, Dict, Iterable, List, Literal, Mapping, Optional, Sequence, Tuple, Union, overload

from .geometry import Geometry
from .tables import NodeType

_Keys = Mapping[float, Any]
_Numbers = Union[float, Sequence[float], str, _Keys]
_Input = Optional[Union["Node", str, Tuple["Node", int]]]
'''
# What cannot be seen from the code.
RETURNS = {"name": "str", "value": "Any", "keys": "List[Tuple[float, Any]]", "connect": "Node", "inputs": "List[Optional[Tuple[Node, int]]]",
           "cook": "Geometry", "report": "Optional[Dict[str, Any]]", "error": "str", "warnings": "List[str]", "cook_count": "int",
           "load": "Network", "from_text": "Network", "to_text": "str", "fps": "float", "dx": "float", "frames": "Tuple[int, int]", "title": "str",
           "folder": "str", "output": "Optional[Node]", "add": "Node", "nodes": "List[Node]", "load_checkpoint": "Optional[int]"}


def type_of(parm):
    """(what it gives, what it takes)"""
    if parm.type == "menu":
        one = f"Literal[{', '.join(repr(item) for item in parm.items)}]"
        return one, one
    if parm.type in ("string", "file"):
        return "str", "Union[str, os.PathLike[str]]"
    if parm.type == "toggle":
        return "bool", "Union[bool, _Keys]"
    scalar = "int" if parm.type == "int" else "float"
    if parm.size == 1:
        return scalar, f"Union[{scalar}, _Keys]"
    return f"Tuple[{', '.join([scalar] * parm.size)}]", "_Numbers"


def quoted(text):
    return '"""' + text.replace("\\", "\\\\").replace('"', "'") + '"""'


def own_members(owner):
    """Of a class of the module: its methods and properties as stubs."""
    for name, member in vars(owner).items():
        doc = inspect.getdoc(member) if not isinstance(member, (classmethod, staticmethod)) else inspect.getdoc(member.__func__)
        if isinstance(member, property):
            if name.startswith("_"):
                continue
            yield f"    @property\n    def {name}(self) -> {RETURNS.get(name, 'Any')}: {quoted(doc or '')}\n"
            if member.fset:
                yield f"    @{name}.setter\n    def {name}(self, value: Any) -> None: ...\n"
        elif inspect.isfunction(member) or isinstance(member, classmethod):
            special = name in ("__getitem__", "__setitem__", "__init__")
            if (name.startswith("_") and not special) or name == "add":
                continue
            function = member.__func__ if isinstance(member, classmethod) else member
            words = []
            for parameter in inspect.signature(function).parameters.values():
                if parameter.name.startswith("_"):
                    continue
                plain = parameter.name in ("self", "cls")
                star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
                words.append(star + parameter.name + ("" if plain else ": Any") + ("" if parameter.default is parameter.empty else " = ..."))
            doc = "" if name.startswith("__") else doc
            result = "None" if name in ("__init__", "__setitem__") else RETURNS.get(name, "Any")
            yield ("    @classmethod\n" if isinstance(member, classmethod) else "") + f"    def {name}({', '.join(words)}) -> {result}: {quoted(doc) if doc else '...'}\n"


def node_class(table, reserved):
    lines = [f"class {table.name}(Node):", f"    {quoted(table.help)}"]
    for parm in table.parms.values():
        if parm.name in reserved or keyword.iskeyword(parm.name):
            continue  # node["name"] reaches it
        gives, takes = type_of(parm)
        lines += ["    @property", f"    def {parm.name}(self) -> {gives}: {quoted(parm.doc)}", f"    @{parm.name}.setter",
                  f"    def {parm.name}(self, value: {takes}) -> None: ..."]
    return "\n".join(lines) + "\n"


def overload(table):
    words = "".join(f", {parm.name}: {type_of(parm)[1]} = ..." for parm in table.parms.values()
                    if parm.name not in ("type", "name", "inputs", "self") and not keyword.iskeyword(parm.name))
    return (f"    @overload\n    def add(self, type: Literal[{table.name!r}], name: Optional[str] = ..., inputs: Iterable[_Input] = ...{words})"
            f" -> {table.name}: ...\n")


def stubs(meniscus):
    types = meniscus.node_types()
    reserved = set(dir(meniscus.Node))
    text = [HEAD, "\nclass Node:\n    table: Optional[NodeType]\n    network: Network\n", *own_members(meniscus.Node), "\n"]
    for table in types.values():
        text += ["\n", node_class(table, reserved)]
    text += ["\n\nclass Network:\n", *own_members(meniscus.Network)]
    text += [overload(table) for table in types.values()]
    text.append("    @overload\n    def add(self, type: str, name: Optional[str] = ..., inputs: Iterable[_Input] = ..., **parms: Any) -> Node: ...\n")
    return "".join(text)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(sys.argv[1]).resolve().parent))
    import meniscus as module
    Path(sys.argv[2]).write_text(stubs(module))
