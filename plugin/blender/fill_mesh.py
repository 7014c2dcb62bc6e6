# SPDX-License-Identifier: Apache-2.0
"""Geometry of Meniscus into Blender's meshes: polygons, polylines as edges, tetrahedra by their skin, points as vertices
with a radius; `v` as the attribute `velocity`, which Cycles reads for motion blur, and whatever else the points carry.

Playback runs through here at every frame. With numpy, which Blender brings, no number is touched by Python; without it the
same is done by slower loops."""
import math
from array import array
from itertools import compress

import bpy

from . import border
from .native import meniscus

try:
    import numpy
except ImportError:
    numpy = None

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
    if numpy is not None:
        return numpy.ascontiguousarray(numpy.asarray(flat).reshape(-1, size)[picks]).ravel()
    out = array(flat.typecode)
    for i in picks:
        out.extend(flat[size * i:size * i + size])
    return out


def _whole(attribute):
    """Whole numbers as Blender keeps them, in 32 bits."""
    if attribute.type == "i32":
        return border.flat_array("i", attribute.values)
    if numpy is not None:
        return (numpy.asarray(attribute.values) & 0x7fffffff).astype(numpy.int32)
    return array("i", (int(number) & 0x7fffffff for number in attribute.values))


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
            numbers = border.scaled(numbers, speed)
            _attribute(mesh, "velocity", "FLOAT_VECTOR", "vector", numbers)
        elif name in SKIP or name in mesh.attributes:
            continue
        elif whole and size == 1:
            _attribute(mesh, name, "INT", "value", _picked(_whole(attribute), 1, picks))
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
    corners = border.flat_array("i", geo.vertex_points)
    if numpy is not None and geo.kind_count("polygon") == geo.primitive_count:
        starts = numpy.asarray(geo.primitive_starts).astype(numpy.int32)
        return corners, starts[:-1], numpy.diff(starts), []
    kinds, starts = geo.primitive_kinds.tolist(), geo.primitive_starts.tolist()
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
    if numpy is not None:
        mark = numpy.ones(geo.point_count, bool)
        mark[numpy.asarray(geo.vertex_points)] = False
        return numpy.flatnonzero(mark)
    used = bytearray(geo.point_count)
    for point in geo.vertex_points.tolist():
        used[point] = 1
    return list(compress(range(geo.point_count), (not one for one in used)))


def _renumbered(count, loose, corners, edges):
    """(the points that are left without the loose ones, corners and edges by their places there)"""
    if numpy is not None:
        mark = numpy.zeros(count, bool) if loose is None else numpy.ones(count, bool)
        if loose is not None:
            mark[loose] = False
        places = numpy.cumsum(mark, dtype=numpy.int32) - 1
        corners = places[numpy.asarray(corners)] if len(corners) else corners
        return numpy.flatnonzero(mark), corners, [(int(places[a]), int(places[b])) for a, b in edges]
    gone = set(range(count)) if loose is None else set(loose)
    picks = [i for i in range(count) if i not in gone]
    number = {point: i for i, point in enumerate(picks)}
    return picks, array("i", (number[point] for point in corners)), [(number[a], number[b]) for a, b in edges]


def _is_sound(corners, begins, totals):
    """Whether all faces have three or four corners and none twice. Blender's own check takes as long as all the rest."""
    if numpy is None:
        return False
    corners, begins, totals = (numpy.asarray(one) for one in (corners, begins, totals))
    for count in (3, 4):
        rows = corners[begins[totals == count][:, None] + numpy.arange(count)]
        if any((rows[:, a] == rows[:, b]).any() for a in range(count) for b in range(a)):
            return False
    return bool(numpy.isin(totals, (3, 4)).all())


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
    if loose is None or len(loose):  # points of their own are shown by fill_points
        picks, corners, edges = _renumbered(moved.point_count, loose, corners, edges)
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
        mesh.polygons.foreach_set("use_smooth", array("b", [smooth]) * len(begins) if numpy is None
                                  else numpy.full(len(begins), smooth))
    set_attributes(mesh, moved, picks, speed)
    mesh.update(calc_edges=True)
    if not _is_sound(corners, begins, totals):
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
        _attribute(mesh, "radius", "FLOAT", "value", border.scaled(sizes, 1 / scale))
    mesh.update()
