# SPDX-License-Identifier: Apache-2.0
"""Meshes of the Blender scene as geometry files that the network reads: one file, or one per frame with velocity."""
from array import array
from pathlib import Path

from mathutils import Vector
from mathutils.geometry import normal as geometry_normal

from . import border
from .native import meniscus

# Modifiers that give the same mesh at every frame when nothing is animated.
STILL_MODIFIERS = {"ARRAY", "BEVEL", "DECIMATE", "EDGE_SPLIT", "MIRROR", "MULTIRES", "REMESH", "SCREW", "SKIN", "SOLIDIFY",
                   "SUBSURF", "TRIANGULATE", "WELD", "WIREFRAME", "SMOOTH", "CORRECTIVE_SMOOTH", "LAPLACIANSMOOTH", "CAST"}


def _animated(data):
    animation = getattr(data, "animation_data", None)
    return animation is not None and bool(animation.action or animation.drivers or animation.nla_tracks)


def is_moving(thing):
    """Whether an object may be another one at another frame."""
    data = thing.data
    body = thing.rigid_body
    if body is not None and (body.type == "ACTIVE" or body.kinematic):
        return True
    if _animated(thing) or _animated(data) or _animated(getattr(data, "shape_keys", None)) or thing.constraints:
        return True
    if any(modifier.type not in STILL_MODIFIERS for modifier in thing.modifiers):
        return True
    return thing.parent is not None and is_moving(thing.parent)


def _append_mesh(geo, mesh):
    count, first = len(mesh.vertices), geo.point_count
    positions, corners = array("f", bytes(12 * count)), array("i", bytes(4 * len(mesh.loops)))
    starts, totals = (array("i", bytes(4 * len(mesh.polygons))) for _ in range(2))
    mesh.vertices.foreach_get("co", positions)
    mesh.loops.foreach_get("vertex_index", corners)
    mesh.polygons.foreach_get("loop_start", starts)
    mesh.polygons.foreach_get("loop_total", totals)
    geo.add_points(count)
    target = geo.write("P")
    memoryview(target).cast("B")[12 * first:] = memoryview(positions).cast("B")
    del target
    if len(totals):
        # Blender and Meniscus both count corners against the clock, seen from outside.
        geo.add_primitives("polygon", ([first + corner for corner in corners[start:start + total]]
                                       for start, total in zip(starts, totals)))


# Blender's own, which mean nothing to a solver.
OWN_ATTRIBUTES = {"position", "velocity", "radius", "material_index", "id", "shade_smooth", "sharp_face"}


def painted(mesh):
    """Numbers painted on the points, such as contact_angle: name -> values."""
    found = {}
    for attribute in mesh.attributes:
        if attribute.domain != "POINT" or attribute.data_type != "FLOAT" or attribute.name in OWN_ATTRIBUTES \
                or attribute.name.startswith("."):
            continue
        values = array("f", bytes(4 * len(attribute.data)))
        attribute.data.foreach_get("value", values)
        found[attribute.name] = values
    return found


DOWN = -0.5  # the upward part of the normal of a face that looks down


def _facing_down(geo):
    """Only the polygons that look down; all of them when none does."""
    keep = bytearray(geo.primitive_count)
    positions = border.flat_array("f", geo["P"])
    corners, starts = geo.vertex_points.tolist(), geo.primitive_starts.tolist()
    for i in range(len(keep)):
        points = [Vector(positions[3 * corner:3 * corner + 3]) for corner in corners[starts[i]:starts[i + 1]]]
        keep[i] = len(points) > 2 and geometry_normal(points)[1] < DOWN  # y is up here
    if any(keep) and not all(keep):
        geo.keep_primitives(list(keep))


def take(meshes, depsgraph, scale, faces="ALL"):
    """The evaluated meshes as one geometry, in metres and y-up."""
    whole, numbers = meniscus.Geometry(), {}
    for thing in meshes:
        evaluated = thing.evaluated_get(depsgraph)
        mesh = evaluated.to_mesh()
        if mesh is None:
            continue
        geo = meniscus.Geometry()
        try:
            _append_mesh(geo, mesh)
            for name, values in painted(mesh).items():
                numbers.setdefault(name, []).append((whole.point_count, values))
        finally:
            evaluated.to_mesh_clear()
        geo.transform(border.rows(border.to_meniscus(scale) @ evaluated.matrix_world))
        if evaluated.matrix_world.determinant() < 0:
            raise meniscus.InputError(f"The object '{thing.name}' is mirrored (negative scale); apply its scale first.")
        if faces == "DOWN":
            _facing_down(geo)
        whole.append(geo)
    for name, pieces in numbers.items():
        values = array("f", bytes(4 * whole.point_count))
        for first, piece in pieces:
            values[first:first + len(piece)] = piece
        whole.set(name, values.tolist(), type="f32")
    return whole


def _velocity(before, after, seconds):
    return [(b - a) / seconds for a, b in zip(border.flat_array("f", before), border.flat_array("f", after))]


class Moving:
    """Frames of moving meshes, each with its velocity: that of a solid between the frames around it, that of matter towards the
    frame after it, which is how it leaves; per second on screen, or, for matter, per simulated second."""

    def __init__(self, scene, depsgraph_of, scale):
        self.scene, self.depsgraph_of, self.scale = scene, depsgraph_of, scale
        self.fps = scene.render.fps / scene.render.fps_base

    def write(self, jobs, first, last):
        """`jobs` is a list of (source, path with {frame}); frames first to last are visited once for all of them."""
        kept = {}

        def at(frame):
            if frame not in kept:
                self.scene.frame_set(frame)
                depsgraph = self.depsgraph_of()
                kept[frame] = [take(source.meshes, depsgraph, self.scale, source.faces) for source, _ in jobs]
            return kept[frame]

        for frame in range(first, last + 1):
            around = at(frame - 1), at(frame), at(frame + 1)
            for (source, path), before, geo, after in zip(jobs, *around):
                if before.point_count == geo.point_count == after.point_count and geo.point_count:
                    geo = geo.copy()
                    step = _velocity(geo["P"], after["P"], source.time_scale / self.fps) if source.time_scale is not None \
                        else _velocity(before["P"], after["P"], 2.0 / self.fps)
                    geo.set("v", step, type="f32", size=3, hint="vector")
                geo.save(path.format(frame=frame))
            kept.pop(frame - 1, None)


class Source:
    """Meshes that a network reads under a name. `time_scale` is set for what becomes liquid: simulated seconds per second on
    screen, by which its velocity is seen in the simulation."""

    def __init__(self, name, meshes, moves, time_scale=None, faces="ALL"):
        self.name, self.meshes, self.moves, self.time_scale, self.faces = name, meshes, moves, time_scale, faces


def write_all(sources, scene, depsgraph_of, scale, inputs, first, last):
    """Writes every source into the folder `inputs`. The scene is back at its frame afterwards."""
    inputs = Path(inputs)
    inputs.mkdir(parents=True, exist_ok=True)
    current, subframe = scene.frame_current, scene.frame_subframe
    moving = [(source, str(inputs / (source.name + ".{frame:04d}.bgeo.sc"))) for source in sources if source.moves]
    still = [source for source in sources if not source.moves]
    try:
        if moving:
            Moving(scene, depsgraph_of, scale).write(moving, first, last)
        if moving and still:
            scene.frame_set(first)
        for source in still:
            take(source.meshes, depsgraph_of(), scale, source.faces).save(str(inputs / f"{source.name}.bgeo.sc"))
    finally:
        if moving:
            scene.frame_set(current, subframe=subframe)
