# SPDX-License-Identifier: Apache-2.0
"""Inside Blender with a window: what goes wrong stands on its node and in the panel; every node type draws. Leaves a screenshot
of all of them."""
import os
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy  # noqa: E402
import inside  # noqa: E402
from meniscus_blender import bake_operators, node_tree  # noqa: E402

SHOT = Path(sys.argv[sys.argv.index("--") + 1])


def window():
    return bpy.context.window_manager.windows[0]


def area_of(kind):
    return next(area for area in window().screen.areas if area.type == kind)


def region_of(area, kind="WINDOW"):
    return next(region for region in area.regions if region.type == kind)


def override(area):
    return bpy.context.temp_override(window=window(), screen=window().screen, area=area, region=region_of(area))


def steps():
    window().workspace = bpy.data.workspaces["Layout"]
    area = area_of("VIEW_3D")
    area.type = "NODE_EDITOR"
    area.spaces.active.tree_type = node_tree.TREE
    area.spaces.active.show_region_ui = True
    yield 0.5

    # What goes wrong is said where the artist looks: in the panel, and on the node, which turns red.
    bad = bpy.data.node_groups.new("Wrong", node_tree.TREE)
    shape, fill, out = (bad.nodes.new(name) for name in (node_tree.class_name("shape"), node_tree.class_name("fill"), node_tree.RESULT))
    shape.p_kind = "grid"  # open: it cannot be filled
    bad.links.new(shape.outputs[0], fill.inputs[0])
    bad.links.new(fill.outputs[0], out.inputs[0])
    editor = area_of("NODE_EDITOR")
    editor.spaces.active.node_tree = bad
    with override(editor):
        bpy.ops.meniscus.bake("INVOKE_DEFAULT", True, tree=bad.name)
    began = time.monotonic()
    while bake_operators.is_running():
        assert time.monotonic() - began < 100, "the job does not end"
        yield 0.1
    yield 0.3
    assert fill.is_error and fill.message and bad.is_error and bad.message, (fill.message, bad.message)

    # Every node type, in the editor: a picture for the docs, and a proof that all of them draw.
    every = bpy.data.node_groups.new("Every Node Type", node_tree.TREE)
    for name in (node_tree.OBJECT, *map(node_tree.class_name, node_tree.node_classes), node_tree.RESULT):
        node = every.nodes.new(name)
        node.width, node.select = 200, False
    editor.spaces.active.node_tree = every
    editor.spaces.active.show_region_ui = False
    yield 0.5
    with override(editor):
        bpy.ops.screen.screen_full_area()
    yield 0.8
    heights = [0] * 7  # of columns; a node has its size once it is drawn
    for node in sorted(every.nodes, key=lambda one: -one.dimensions.y):
        assert node.dimensions.y > 20, f"{node.bl_idname} is not drawn"
        column = heights.index(min(heights))
        node.location = (column * 230, -heights[column])
        heights[column] += node.dimensions.y + 30
    area_of("NODE_EDITOR").tag_redraw()
    yield 0.5
    with override(area_of("NODE_EDITOR")):
        bpy.ops.node.view_all()
    yield 0.5
    with override(area_of("NODE_EDITOR")):  # nearer than that
        place = region_of(area_of("NODE_EDITOR")).view2d.view_to_region
        (left, top), (right, bottom) = place(-60, 90, clip=False), place(230 * len(heights) + 150, -max(heights) - 90, clip=False)
        bpy.ops.view2d.zoom_border(xmin=left, xmax=right, ymin=bottom, ymax=top)
    yield 0.5
    with override(area_of("NODE_EDITOR")):
        bpy.ops.screen.screenshot(filepath=str(SHOT))
    yield 0.3


_script = steps()


def advance():
    try:
        return next(_script)
    except StopIteration:
        (inside.HERE / "editor.passed").write_text("passed")
        print("Ran the editor's steps", flush=True)
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(0)


(inside.HERE / "editor.passed").unlink(missing_ok=True)
bpy.context.preferences.view.show_splash = False
bpy.context.preferences.view.smooth_view = 0
bpy.context.preferences.system.use_region_overlap = False
bpy.app.timers.register(advance, first_interval=2.0)
