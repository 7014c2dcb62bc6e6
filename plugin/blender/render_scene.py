# SPDX-License-Identifier: Apache-2.0
"""Renders cooked frames of a scene in Cycles; scripts/render.sh calls it:

    blender -b --factory-startup --python render_scene.py -- SCENE CACHE OUT [--frames A-B] [--size WxH] [--samples N]
                                                            [--stills A,B,...] [--material NAME] [--save FILE.blend]

The camera is the scene's (its "camera" block) or frames the liquid over all frames."""
import argparse
import itertools
import json
import math
import os
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import bpy  # noqa: E402
from mathutils import Vector  # noqa: E402
import meniscus_blender  # noqa: E402,F401
from meniscus_blender import border, cache, fill_mesh, looks, results, scene_pieces, studio  # noqa: E402
from meniscus_blender.native import meniscus  # noqa: E402


def parse(words):
    parser = argparse.ArgumentParser(prog="render_scene.py")
    parser.add_argument("scene", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--frames", required=True)
    parser.add_argument("--stills", default="")
    parser.add_argument("--size", default="960x540")
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--material", default="")
    parser.add_argument("--save", default="")
    options = parser.parse_args(words)
    first, _, last = options.frames.partition("-")
    options.first, options.last = int(first), int(last or first)
    options.stills = [int(one) for one in options.stills.split(",") if one]
    options.size = tuple(int(one) for one in options.size.split("x"))
    return options


def load(options, piece, frame):
    path = cache.frame_path(options.cache, piece["stem"], frame)
    return meniscus.Geometry.read(str(path)) if path.is_file() else None


def bounds_over_time(options, pieces):
    """The box around the liquid over the frames to be drawn, a dozen of them; of the points' middle, stray drops aside."""
    step = max(1, (options.last - options.first) // 12)
    frames = sorted({*range(options.first, options.last + 1, step), options.last})
    samples = []
    for piece in pieces:
        if piece["kind"] != "liquid":
            continue
        for frame in frames:
            geo = load(options, piece, frame)
            if geo is None or geo.point_count == 0:
                continue
            positions = border.flat_array("f", geo["P"])
            stride = max(1, len(positions) // 3 // 4000)
            samples.extend(tuple(positions[i:i + 3]) for i in range(0, len(positions) - 2, 3 * stride))
    samples = [one for one in samples if all(map(math.isfinite, one))]
    if not samples:
        return None
    low, high = [], []
    for axis in range(3):
        ordered = sorted(one[axis] for one in samples)
        cut = len(ordered) // 60
        low.append(ordered[cut])
        high.append(ordered[-1 - cut])
    return low, high


def ground_height(options, pieces, box):
    """Where a table stands: under all solids, or under the liquid where there are none."""
    heights = []
    for piece in pieces:
        geo = load(options, piece, options.first) if piece["kind"] == "solid" else None
        if geo is not None and geo.point_count:
            heights.append(min(border.flat_array("f", geo["P"])[1::3]))
    return min(heights, default=box[0][1])


def make_object(scene, name, role):
    mesh = bpy.data.meshes.new(name)
    thing = bpy.data.objects.new(name, mesh)
    if role == "points":
        modifier = thing.modifiers.new("Meniscus Points", "NODES")
        modifier.node_group = results.points_group()
    scene.collection.objects.link(thing)
    return thing


def main(words):
    options = parse(words)
    network = meniscus.Network.load(str(options.scene))
    text = json.loads(network.to_text())
    types = meniscus.node_types()
    pieces = scene_pieces.pieces(text, types, meniscus.materials())
    if options.material:
        meniscus.material(options.material)  # or a sentence with those there are
        for piece in pieces:
            piece["material"] = options.material if piece["kind"] == "liquid" else ""
    box = bounds_over_time(options, pieces)
    if box is None:
        raise meniscus.InputError(f"There is nothing to draw in {options.cache} at frames {options.first} to {options.last}.")
    radius = max(0.5 * math.dist(*box), 1e-9)
    scale = radius  # one unit of the picture is this many metres
    center = border.to_blender(scale) @ Vector([0.5 * (a + b) for a, b in zip(*box)])

    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    scene = bpy.context.scene
    wishes = text.get("render", {})
    studio.settings(scene, options.size, options.samples, network.fps, wishes.get("shutter", 0.5))
    view = text.get("camera", {})
    here = {key: border.to_blender(scale) @ Vector(view[key]) for key in ("position", "target") if key in view}
    corners = [border.to_blender(scale) @ Vector(corner) for corner in itertools.product(*zip(*box))]
    studio.camera(scene, center, corners, here.get("position"), here.get("target"), view.get("fov"), wishes.get("aperture", 0.0))
    bpy.context.view_layer.update()
    studio.set_up(scene, wishes.get("studio", "bright"), center, ground_height(options, pieces, box) / scale)

    things = []
    for piece in pieces:
        material = looks.material(piece["material"], scale) if piece["material"] else looks.solid(piece["look"] or "stone")
        for role in ("mesh", "points"):
            thing = make_object(scene, f"{piece['stem']} {role}", role)
            thing.data.materials.append(material)
            results.set_points_material(thing, material)
            things.append((piece, role, thing))
    options.out.mkdir(parents=True, exist_ok=True)
    if options.stills:
        scene.render.image_settings.file_format, scene.render.image_settings.quality = "JPEG", 90
    for frame in options.stills or range(options.first, options.last + 1):
        scene.frame_set(frame)
        show(options, text, types, things, scale, frame)
        if options.save and frame == options.first:
            bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(options.save), copy=True)
        name = f"still.{frame:04d}.jpg" if options.stills else f"frame.{frame:04d}.png"
        scene.render.filepath = str(options.out.resolve() / name)
        bpy.ops.render.render(write_still=True)
        print(f"meniscus: rendered frame {frame}", flush=True)


def show(options, text, types, things, scale, frame):
    for piece, role, thing in things:
        geo = load(options, piece, frame)
        kinds = cache.kinds_of(geo) if geo is not None else set()
        if role not in kinds:
            thing.data.clear_geometry()
            continue
        speed = scene_pieces.time_scale(text, piece["node"], types, frame)
        geo, layout = fill_mesh.lay_out(geo, scale)
        if role == "mesh":
            fill_mesh.fill(thing.data, geo, layout, smooth=piece["kind"] == "liquid" or _is_round(geo), speed=speed)
        else:
            fill_mesh.fill_points(thing.data, geo, scale, speed)


def _is_round(geo):
    """Shapes with few faces, like boxes, have sharp edges."""
    return geo.primitive_count > 100


if __name__ == "__main__":
    code = 0
    try:
        main(sys.argv[sys.argv.index("--") + 1:])
    except SystemExit as error:
        code = error.code or 0
    except meniscus.Error as error:
        print(f"meniscus: {error}", file=sys.stderr)
        code = 1
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender's own exit code says nothing about scripts
