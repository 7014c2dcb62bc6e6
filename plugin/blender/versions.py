# SPDX-License-Identifier: Apache-2.0
"""Where Blender's versions differ in ways that more than one file meets. What was run is 3.4; the rest follows the public
change logs of the Python API (docs/blender.md has the list)."""
import bpy

# 4.0 made one node of the glossy and the anisotropic one, under the latter's name.
GLOSSY = "ShaderNodeBsdfGlossy" if hasattr(bpy.types, "ShaderNodeBsdfGlossy") else "ShaderNodeBsdfAnisotropic"


def shader_tree(owner):
    """The node tree of a material or world; from 5.0 on they always have one, and use_nodes is on its way out."""
    if owner.node_tree is None:
        owner.use_nodes = True
    return owner.node_tree


def curves_of(data):
    """The F-curves that animate a data-block: from the action itself, or, from 5.0 on, from the slot that it uses."""
    animation = data.animation_data
    action = animation.action if animation is not None else None
    if action is None:
        return []
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    bags = (strip.channelbag(animation.action_slot) for layer in action.layers for strip in layer.strips)
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]
