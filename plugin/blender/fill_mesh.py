# SPDX-License-Identifier: Apache-2.0
"""Geometry of Meniscus into Blender's meshes: polygons, polylines as edges, tetrahedra by their skin, points as vertices
with a radius; `v` as the attribute `velocity`, which Cycles reads for motion blur, and whatever else the points carry."""
import math
from array import array
from itertools import compress

import bpy

from . import border
from .native import meniscus

POLYLINE, POLYGON, TETRAHEDRON, VOLUME = range(len(meniscus.KINDS))
# Names that Blender keeps for itself or that are set by other ways.
SKIP = {"P", "N", "v", "pscale"}
# Faces that meet at more than this, in degrees, have an edge between them.
SHARP = 55


def _attribute(mesh, name, kind, field, numbers):
    attribute = mesh.attributes.new(name, kind, "POINT")
    # Blender may have given another name; and it moves attributes when one is added: look it up again.
    mesh.attributes[attribute.name].data.foreach_set(field, numbers)


def _picked(flat, size, picks):
    if picks is None:
        return flat
    out = array(flat.typecode)
    for i in picks:
        out.extend(flat[size * i:size * i + size])
    return out


def set_attributes(mesh, geo, picks=None, speed=1.0):
    """Point attributes of `geo` onto the vertices; `picks` says which points they are, None: all in order. `speed` is
    simulated seconds per second on screen: motion blur is about the latter."""
    for attribute in geo.attributes("point"):
        name, size = attribute.name, attribute.size
        if attribute.type == "string" or name.startswith("."):
            continue
        whole = attribute.type in ("i32", "i64")
        if name == "v" and size == 3:
            numbers = _picked(border.flat_array("f", attribute.values), 3, picks)
            numbers = numbers if speed == 1.0 else array("f", (number * speed for number in numbers))
            _attribute(mesh, "velocity", "FLOAT_VECTOR", "vector", numbers)
        elif name in SKIP or name in mesh.attributes:
            continue
        elif whole and size == 1:
            numbers = attribute.values if attribute.type == "i32" else array("i", (int(n) & 0x7fffffff for n in attribute.values))
            _attribute(mesh, name, "INT", "value", _picked(border.flat_array("i", numbers), 1, picks))
        elif size == 1:
            _attribute(mesh, name, "FLOAT", "value", _picked(border.flat_array("f", attribute.values), 1, picks))
        elif size == 3 and attribute.hint == "color":
            numbers = _picked(border.flat_array("f", attribute.values), 3, picks)
            colors = array("f", bytes(16 * (len(numbers) // 3)))
            for channel in range(3):
                colors[channel::4] = numbers[channel::3]
            colors[3::4] = array("f", [1.0]) * (len(numbers) // 3)
            _attribute(mesh, name, "FLOAT_COLOR", "color", colors)
        elif size == 3 and not whole:
            _attribute(mesh, name, "FLOAT_VECTOR", "vector", _picked(border.flat_array("f", attribute.values), 3, picks))


def _skin(tetrahedra, positions):
    """Triangles that belong to one tetrahedron only, facing out."""
    seen = {}
    for points in tetrahedra:
        for i in range(4):
            face = points[:i] + points[i + 1:]
            key = tuple(sorted(face))
            if key in seen:
                seen[key] = None
            else:
                seen[key] = (face, points[i])
    triangles = []
    for entry in seen.values():
        if entry is None:
            continue
        (a, b, c), inside = entry
        pa, pb, pc, pi = (positions[3 * p:3 * p + 3] for p in (a, b, c, inside))
        u, v, w = ([q[k] - pa[k] for k in range(3)] for q in (pb, pc, pi))
        volume = (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] + (u[0] * v[1] - u[1] * v[0]) * w[2]
        triangles.append((a, c, b) if volume > 0 else (a, b, c))
    return triangles


def _corners(geo, positions):
    """Corners and their starts of everything that has faces, and edges of polylines."""
    kinds, starts = geo.primitive_kinds.tolist(), geo.primitive_starts.tolist()
    corners = border.flat_array("i", geo.vertex_points)
    if all(kind == POLYGON for kind in kinds):
        return corners, array("i", starts[:-1]), array("i", (b - a for a, b in zip(starts, starts[1:]))), []
    out, totals, edges, tetrahedra = array("i"), array("i"), [], []
    for i, kind in enumerate(kinds):
        row = corners[starts[i]:starts[i + 1]]
        if kind == POLYGON and len(row) > 2:
            out.extend(row)
            totals.append(len(row))
        elif kind == POLYLINE:
            edges.extend(zip(row, row[1:]))
        elif kind == TETRAHEDRON:
            tetrahedra.append(tuple(row))
    for triangle in _skin(tetrahedra, positions):
        out.extend(triangle)
        totals.append(3)
    first, begins = 0, array("i")
    for total in totals:
        begins.append(first)
        first += total
    return out, begins, totals, edges


def _loose(geo):
    """Points that no primitive uses; None for all of them."""
    if geo.primitive_count == 0:
        return None
    used = bytearray(geo.point_count)
    for point in geo.vertex_points.tolist():
        used[point] = 1
    return list(compress(range(geo.point_count), (not one for one in used)))


def _sharpen(mesh):
    """Where a liquid ends on a solid it has an edge: normals averaged across it would show as a saw."""
    if hasattr(mesh, "use_auto_smooth"):  # until Blender 4.1
        mesh.use_auto_smooth, mesh.auto_smooth_angle = True, math.radians(SHARP)
    else:
        mesh.set_sharp_from_angle(angle=math.radians(SHARP))


def fill(mesh, geo, scale, smooth=True, speed=1.0):
    """Replaces the mesh by what has faces and edges in `geo`, which is in metres and y-up."""
    moved = geo.copy()
    moved.transform(border.rows(border.to_blender(scale)))
    positions = border.flat_array("f", moved["P"])
    corners, begins, totals, edges = _corners(moved, positions)
    picks = None
    loose = _loose(moved)
    if loose is None or loose:  # points of their own are shown by fill_points
        gone = set(range(moved.point_count)) if loose is None else set(loose)
        picks = [i for i in range(moved.point_count) if i not in gone]
        number = {point: i for i, point in enumerate(picks)}
        corners = array("i", (number[point] for point in corners))
        edges = [(number[a], number[b]) for a, b in edges]
        positions = _picked(positions, 3, picks)
    mesh.clear_geometry()
    mesh.vertices.add(len(positions) // 3)
    mesh.vertices.foreach_set("co", positions)
    if edges:
        mesh.edges.add(len(edges))
        mesh.edges.foreach_set("vertices", array("i", (point for edge in edges for point in edge)))
    if len(begins):
        mesh.loops.add(len(corners))
        mesh.loops.foreach_set("vertex_index", corners)
        mesh.polygons.add(len(begins))
        mesh.polygons.foreach_set("loop_start", begins)
        if bpy.app.version < (4, 1):  # later versions see the total in the next face's start
            mesh.polygons.foreach_set("loop_total", totals)
        mesh.polygons.foreach_set("use_smooth", [smooth] * len(begins))
    set_attributes(mesh, moved, picks, speed)
    mesh.update(calc_edges=True)
    mesh.validate()  # files can hold polygons that Blender must not see
    if smooth:
        _sharpen(mesh)


def fill_points(mesh, geo, scale, speed=1.0):
    """Replaces the mesh by the points of `geo` that belong to nothing, with `radius` from pscale."""
    moved = geo.copy()
    moved.transform(border.rows(border.to_blender(scale)))
    loose = _loose(moved)
    positions = _picked(border.flat_array("f", moved["P"]), 3, loose)
    mesh.clear_geometry()
    mesh.vertices.add(len(positions) // 3)
    mesh.vertices.foreach_set("co", positions)
    set_attributes(mesh, moved, loose, speed)
    if "pscale" in moved and moved.attribute("pscale").owner == "point":
        sizes = _picked(border.flat_array("f", moved["pscale"]), 1, loose)
        radii = sizes if scale == 1.0 else array("f", (size / scale for size in sizes))
        _attribute(mesh, "radius", "FLOAT", "value", radii)
    mesh.update()
