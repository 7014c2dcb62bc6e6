# SPDX-License-Identifier: Apache-2.0
"""A parameter of the tables as a Blender property, and back: its value as a scene writes it."""
import re
import zlib
from ctypes import c_float

import bpy

PREFIX = "p_"  # Blender's nodes have names, types and sizes of their own
LARGEST_FLOAT, LARGEST_INT = 3.0e38, 2 ** 31 - 1


def property_name(parm):
    return PREFIX + parm.name


def shortest(number):
    """Blender keeps floats in single precision: the decimal that an artist typed for this one. 0.072, and not the
    0.07199999690055847 next to it, so that a scene from Blender gives the bits of the same scene written by hand."""
    for digits in range(1, 10):
        value = float(f"{number:.{digits}g}")
        if c_float(value).value == number:
            return value
    return float(number)


def title(parm):
    """The label with its unit."""
    return f"{parm.label} ({parm.unit})" if parm.unit else parm.label


def _limits(parm):
    largest = LARGEST_INT if parm.type == "int" else LARGEST_FLOAT
    cast = int if parm.type == "int" else float
    low, high = (limit if limit is not None else sign * largest for limit, sign in zip(parm.range, (-1, 1)))
    soft_low, soft_high = (limit if limit is not None else hard for limit, hard in zip(parm.soft_range, (low, high)))
    clamp = lambda value: cast(min(max(value, -largest), largest))  # noqa: E731
    return {"min": clamp(low), "max": clamp(high), "soft_min": clamp(soft_low), "soft_max": clamp(soft_high)}


def _decimals(parm):
    """How many decimals a field shows: lengths of drops and viscosities are small numbers."""
    most = parm.soft_range[1]
    return 3 if most is None or most > 2 else 4 if most > 1 else 5 if most > 0.2 else 6


def blender_property(parm, update=None):
    """The annotation for a parameter."""
    shared = {"name": title(parm), "description": parm.tooltip.rstrip("."), "update": update}
    still = {"options": set()}  # cannot be animated
    default = parm.default
    if parm.type == "toggle":
        return bpy.props.BoolProperty(default=default, **shared)
    if parm.type == "menu":
        # Files keep the number: one that belongs to the token outlives new items in the table.
        items = [(token, label, "", zlib.crc32(token.encode()) & 0x7fffffff) for token, label in zip(parm.items, parm.item_labels)]
        return bpy.props.EnumProperty(items=items, default=default, **still, **shared)
    if parm.type in ("string", "file"):
        subtype = "FILE_PATH" if parm.type == "file" else "NONE"
        return bpy.props.StringProperty(default=default, subtype=subtype, **still, **shared)
    if parm.name == "start_frame":
        shared.update(still)
    shared.update(_limits(parm))
    if parm.type == "int":
        if parm.size == 1:
            return bpy.props.IntProperty(default=int(default), **shared)
        return bpy.props.IntVectorProperty(default=[int(one) for one in default], size=parm.size, **shared)
    if parm.size == 1:
        return bpy.props.FloatProperty(default=default, precision=_decimals(parm), **shared)
    return bpy.props.FloatVectorProperty(default=default, size=parm.size, precision=_decimals(parm), **shared)


def scene_number(parm, number):
    if parm.type == "int":
        return int(round(number))
    if parm.type == "toggle":
        return bool(number)
    return shortest(number)


def value_of(node, parm):
    """The value as scenes write it."""
    value = getattr(node, property_name(parm))
    if parm.type in ("menu", "string", "toggle"):
        return value
    if parm.type == "file":
        return bpy.path.abspath(value) if value.startswith("//") else value
    if parm.size == 1:
        return scene_number(parm, value)
    return [scene_number(parm, one) for one in value]


def set_value(node, parm, value):
    """From a scene's value; a single number fills all components."""
    if parm.type in ("float", "int") and parm.size > 1 and not isinstance(value, (list, tuple)):
        value = [value] * parm.size
    if parm.type == "int":
        value = [int(one) for one in value] if parm.size > 1 else int(value)
    setattr(node, property_name(parm), value)


# ---- disable-when ----

_CONDITION = re.compile(r"(\w+)\s*(==|!=|<=|>=|<|>)\s*(\S+)")


def _holds(node, name, operator, wanted):
    value = getattr(node, PREFIX + name, None)
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, str):
        try:
            value, wanted = float(value), float(wanted)
        except (TypeError, ValueError):
            return False
    if operator == "==":
        return value == wanted
    if operator == "!=":
        return value != wanted
    if isinstance(value, str):
        return False
    return {"<": value < wanted, ">": value > wanted, "<=": value <= wanted, ">=": value >= wanted}[operator]


def is_disabled(node, parm):
    """Houdini's syntax, as in the tables: any of the braces holds when all conditions inside it do."""
    for block in re.findall(r"\{([^}]*)\}", parm.disable_when):
        conditions = _CONDITION.findall(block)
        if conditions and all(_holds(node, *condition) for condition in conditions):
            return True
    return False


def draw(layout, node, parm):
    row = layout.row(align=True)
    row.enabled = not is_disabled(node, parm)
    name = property_name(parm)
    if parm.type in ("float", "int") and parm.size > 1:
        column = row.column(align=True)
        column.label(text=title(parm))
        column.row(align=True).prop(node, name, text="")
    elif parm.type == "toggle":
        row.prop(node, name)
    elif parm.type in ("menu", "string", "file"):
        split = row.split(factor=0.4)
        split.label(text=title(parm))
        split.prop(node, name, text="")
    else:
        row.prop(node, name)
