# SPDX-License-Identifier: Apache-2.0
"""Inside Blender with a window: an animation rendered with motion blur, as Ctrl-F12 does, while the view is orbited without a pause. It crashed
when frames were filled in on the render's thread while the view drew them."""
import math
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy  # noqa: E402
import inside  # noqa: E402
from mathutils import Quaternion  # noqa: E402
from meniscus_blender import bake_operators  # noqa: E402

SHOT = Path(sys.argv[sys.argv.index("--") + 1])
LAST = 16
turns, done = 0, []


def orbit():
    """Turns the view and has it drawn, over and over."""
    global turns
    turns += 1
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.spaces.active.region_3d.view_rotation = Quaternion((0.3, 0.2, 1), 0.1 * turns)
                area.tag_redraw()
    return 0.02


def steps():
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    tree = inside.drop_tree(cells=6)
    bpy.ops.meniscus.bake(tree=tree.name)
    began = time.monotonic()
    while bake_operators.is_running():
        assert time.monotonic() - began < 300, "it does not simulate"
        yield 0.2
    yield 0.5
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.camera.location, scene.camera.rotation_euler = (0, -8, 1.5), (math.radians(88), 0, 0)
    render = scene.render
    render.engine, render.resolution_x, render.resolution_y, render.resolution_percentage = "CYCLES", 96, 72, 100
    scene.cycles.samples, scene.cycles.use_denoising = 1, False
    render.use_motion_blur = True
    render.filepath = str(inside.HERE / "window_render_")
    assert render.use_lock_interface, "the interface is not locked while it renders"
    bpy.app.handlers.render_complete.append(lambda *_: done.append("complete"))
    bpy.app.handlers.render_cancel.append(lambda *_: done.append("cancelled"))
    yield 0.5
    bpy.app.timers.register(orbit)
    window = bpy.context.window_manager.windows[0]
    area = next(one for one in window.screen.areas if one.type == "VIEW_3D")
    before = turns
    with bpy.context.temp_override(window=window, area=area, region=next(one for one in area.regions if one.type == "WINDOW")):
        bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    began = time.monotonic()
    while not done:
        assert time.monotonic() - began < 500, "it does not end"
        yield 0.2
    assert done == ["complete"], done
    frames = sorted(inside.HERE.glob("window_render_*.png"))
    assert len(frames) == LAST, frames
    assert turns > before, "the view stood still"
    print(f"note: {turns - before} turns of the view during {LAST} frames", flush=True)  # the interface is locked: few
    SHOT.write_bytes(frames[-1].read_bytes())


_script = steps()


def advance():
    try:
        return next(_script)
    except StopIteration:
        (inside.HERE / "window_render.passed").write_text("passed")
        print("Ran the render in the window", flush=True)
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    import os
    os._exit(0)


(inside.HERE / "window_render.passed").unlink(missing_ok=True)
bpy.context.preferences.view.show_splash = False
bpy.app.timers.register(advance, first_interval=2.0)
