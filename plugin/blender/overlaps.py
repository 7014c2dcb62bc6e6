# SPDX-License-Identifier: Apache-2.0
"""Whether what becomes liquid starts inside something solid: it would be thrown out at once, and nobody would know why."""
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from . import node_tree

SLACK = 0.02  # of an object's longest side: a drop may touch what it rests on


def _tree(thing, depsgraph):
    """The faces of an object in the world, or None when it has none."""
    evaluated = thing.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        if mesh is None or not mesh.polygons:
            return None
        corners = [evaluated.matrix_world @ vertex.co for vertex in mesh.vertices]
        return BVHTree.FromPolygons(corners, [tuple(polygon.vertices) for polygon in mesh.polygons])
    finally:
        evaluated.to_mesh_clear()


def bounds(thing):
    """(low, high) of an object's box in the world."""
    corners = [thing.matrix_world @ Vector(corner) for corner in thing.bound_box]
    return [min(one[k] for one in corners) for k in range(3)], [max(one[k] for one in corners) for k in range(3)]


def depth_in_ground(thing, level=0.0):
    """How far an object starts below the ground, in Blender's units; 0 when it does not."""
    low, high = bounds(thing)
    depth = level - low[2]
    return depth if depth > SLACK * max(h - l for l, h in zip(low, high)) else 0.0


def _boxes_meet(one, two, slack):
    (a, b), (c, d) = bounds(one), bounds(two)
    return all(a[k] < d[k] - slack and c[k] < b[k] - slack for k in range(3))


def sentence(context, tree):
    """What the artist should know about how the objects of a network lie, or ""."""
    depsgraph = context.evaluated_depsgraph_get()
    liquids = [thing for node in tree.nodes if node.bl_idname == node_tree.OBJECT and node.hides for thing in node.meshes()]
    solids = [thing for node in tree.nodes if node.bl_idname == node_tree.OBJECT and not node.hides for thing in node.meshes()]
    said = []
    if tree.nodes.get("floor") is not None:
        for thing in liquids:
            depth = depth_in_ground(thing)
            if depth:
                said.append(f"Lift '{thing.name}' by {depth:.3g}: it starts inside the ground.")
    for thing in liquids:
        for solid in solids:
            slack = SLACK * max(thing.dimensions)
            if not _boxes_meet(thing, solid, slack):
                continue
            one, two = _tree(thing, depsgraph), _tree(solid, depsgraph)
            if one is not None and two is not None and one.overlap(two):
                said.append(f"Move '{thing.name}' apart from '{solid.name}': it starts inside it.")
    return " ".join(said)
