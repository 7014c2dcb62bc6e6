# SPDX-License-Identifier: Apache-2.0
"""Geometry of Meniscus into Blender's meshes: polygons, polylines as edges, tetrahedra by their skin, points as vertices
with a radius; `v` as the attribute `velocity`, which Cycles reads for motion blur, and whatever else the points carry.

Playback runs through here at every frame. The library lays the mesh out as Blender wants it, so that no number is touched by
Python, with numpy or without."""
import math
from array import array
from itertools import compress

import bpy

from . import border

try:
    import numpy
except ImportError:
    numpy = None

# Names that Blender keeps for itself or that are set by other ways.
SKIP = {"P", "N", "v", "pscale"}
OWN = ("position", "material_index", "sharp_face", "crease")
STAMP = "meniscus_topology"
# Faces that meet at more than this, in degrees, have an edge between them.
SHARP = 55


def _attribute(mesh, name, kind, field, numbers):
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.data_type != kind or attribute.domain != "POINT":
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


def _numbers(attribute, shown, picks, factor=1.0):
    """The values of a float attribute at the vertices, times a factor."""
    if shown is not None and attribute.type == "f32":
        return shown.pick(attribute, factor)
    return border.scaled(_picked(border.flat_array("f", attribute.values), attribute.size, picks), factor)


def set_attributes(mesh, geo, shown=None, speed=1.0, picks=None):
    """Point attributes of `geo` onto the vertices of its shown mesh, or of the points `picks`, None: all in order. `speed` is
    simulated seconds per second on screen: motion blur is about the latter."""
    own = set(OWN) | {one.name for one in mesh.attributes if one.domain != "POINT"}
    picks = picks if shown is None else shown.picks
    for attribute in geo.attributes("point"):
        name, size = attribute.name, attribute.size
        if attribute.type == "string" or name.startswith("."):
            continue
        whole = attribute.type in ("i32", "i64")
        if name == "v" and size == 3:
            _attribute(mesh, "velocity", "FLOAT_VECTOR", "vector", _numbers(attribute, shown, picks, speed))
        elif name in SKIP or name in own:
            continue
        elif whole and size == 1:
            _attribute(mesh, name, "INT", "value", _picked(_whole(attribute), 1, picks))
        elif size == 1:
            _attribute(mesh, name, "FLOAT", "value", _numbers(attribute, shown, picks))
        elif size == 3 and attribute.hint == "color":
            numbers = array("f", _numbers(attribute, shown, picks))
            colors = array("f", bytes(16 * (len(numbers) // 3)))
            for channel in range(3):
                colors[channel::4] = numbers[channel::3]
            colors[3::4] = array("f", [1.0]) * (len(numbers) // 3)
            _attribute(mesh, name, "FLOAT_COLOR", "color", colors)
        elif size == 3 and not whole:
            _attribute(mesh, name, "FLOAT_VECTOR", "vector", _numbers(attribute, shown, picks))


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


def _sharpen(mesh, sharp):
    """Where a liquid ends on a solid it has an edge: normals averaged across it would show as a saw."""
    if hasattr(mesh, "use_auto_smooth"):  # until Blender 4.1
        mesh.use_auto_smooth, mesh.auto_smooth_angle = sharp, math.radians(SHARP)
    elif sharp:
        mesh.set_sharp_from_angle(angle=math.radians(SHARP))


def _replace(mesh, shown, smooth):
    """Other faces and edges than the mesh had."""
    mesh.clear_geometry()
    mesh.vertices.add(shown.vertex_count)
    mesh.vertices.foreach_set("co", shown.positions)
    edges = shown.edge_count if shown.is_sound else shown.line_count
    if edges:
        mesh.edges.add(edges)
        mesh.edges.foreach_set("vertices", shown.edges if edges == shown.edge_count else shown.edges[:2 * edges])
    if shown.face_count:
        mesh.loops.add(len(shown.corners))
        mesh.loops.foreach_set("vertex_index", shown.corners)
        if shown.is_sound:  # Blender would take longer to find them than for all the rest
            mesh.loops.foreach_set("edge_index", shown.corner_edges)
        mesh.polygons.add(shown.face_count)
        mesh.polygons.foreach_set("loop_start", shown.starts)
        if bpy.app.version < (4, 1):  # later versions see the total in the next face's start
            mesh.polygons.foreach_set("loop_total", shown.totals)
        if bpy.app.version < (4, 1) or not smooth:  # a flag in each face: Blender looks at every one; later faces are smooth by themselves
            mesh.polygons.foreach_set("use_smooth", array("b", [smooth]) * shown.face_count)


def lay_out(geo, scale):
    """(geometry, its layout) in Blender's axes and units of one that is in metres and y-up."""
    moved = geo.copy()
    moved.transform(border.rows(border.to_blender(scale)))
    return moved, moved.shown_mesh()


def fill(mesh, geo, shown, smooth=True, speed=1.0, sharp=True):
    """Replaces the mesh by what has faces and edges in `geo`, which is in Blender's axes and units and laid out as `shown`. Points of
    their own are shown by fill_points(). `sharp` keeps edges at contact lines, which takes Blender as long as all the rest."""
    # Faces that are as they were stay, as in films, cloth and tetrahedra between remeshings.
    stamp = f"{shown.topology:x} {int(smooth)}"
    same = mesh.get(STAMP) == stamp and len(mesh.vertices) == shown.vertex_count and len(mesh.polygons) == shown.face_count
    if same:
        mesh.vertices.foreach_set("co", shown.positions)
    else:
        _replace(mesh, shown, smooth)
    set_attributes(mesh, geo, shown, speed)
    mesh.update(calc_edges=not same and not shown.is_sound, calc_edges_loose=not same)
    if not same and not shown.is_sound:
        mesh.validate()  # files can hold polygons that Blender must not see
    mesh[STAMP] = stamp if shown.is_sound else ""
    _sharpen(mesh, smooth and sharp)


def fill_points(mesh, geo, scale, speed=1.0):
    """Replaces the mesh by the points of `geo`, which is in Blender's axes and units, that belong to nothing, with `radius` from
    pscale, which no transform touches."""
    loose = _loose(geo)
    positions = _picked(border.flat_array("f", geo["P"]), 3, loose)
    mesh.clear_geometry()
    mesh.vertices.add(len(positions) // 3)
    mesh.vertices.foreach_set("co", positions)
    set_attributes(mesh, geo, speed=speed, picks=loose)
    if "pscale" in geo and geo.attribute("pscale").owner == "point":
        sizes = _picked(border.flat_array("f", geo["pscale"]), 1, loose)
        _attribute(mesh, "radius", "FLOAT", "value", border.scaled(sizes, 1 / scale))
    mesh.update()
