# SPDX-License-Identifier: Apache-2.0
"""Frames that are cached, as a line along the foot of the timeline."""
import bpy

from . import bake_operators, cache, node_tree

COLOR, HEIGHT = (*node_tree.COLOR[:3], 0.9), 4  # pixels
_handler = None
_known = {}  # folder -> (when it changed, ranges)


def ranges_of(tree):
    """Cached frames of a network as [(first, last)]."""
    folder, _ = cache.find(tree)
    if folder is None:
        return []
    try:
        stamp = folder.stat().st_mtime_ns
    except OSError:
        return []
    if _known.get(folder, (None,))[0] != stamp:
        frames = sorted({frame for stem in cache.read_bake(folder).get("stems", ()) for frame in cache.frames_of(folder, stem)})
        ranges = []
        for frame in frames:
            if ranges and ranges[-1][1] == frame - 1:
                ranges[-1][1] = frame
            else:
                ranges.append([frame, frame])
        _known[folder] = stamp, ranges
    return _known[folder][1]


def _draw():
    import gpu
    from gpu_extras.batch import batch_for_shader
    context = bpy.context
    tree = bake_operators.find_tree(context) or (node_tree.trees() or [None])[0]
    if tree is None or context.space_data.mode != "TIMELINE":
        return
    place = context.region.view2d.view_to_region
    corners = []
    for first, last in ranges_of(tree):
        left, right = place(first, 0, clip=False)[0], place(last + 1, 0, clip=False)[0]
        corners += [(left, 0), (right, 0), (right, HEIGHT), (left, 0), (right, HEIGHT), (left, HEIGHT)]
    if not corners:
        return
    name = "2D_UNIFORM_COLOR" if bpy.app.version < (4, 0) else "UNIFORM_COLOR"
    shader = gpu.shader.from_builtin(name)
    shader.bind()
    shader.uniform_float("color", COLOR)
    batch_for_shader(shader, "TRIS", {"pos": corners}).draw(shader)


def register():
    global _handler
    if not bpy.app.background:
        _handler = bpy.types.SpaceDopeSheetEditor.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")


def unregister():
    global _handler
    if _handler is not None:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handler, "WINDOW")
        _handler = None
