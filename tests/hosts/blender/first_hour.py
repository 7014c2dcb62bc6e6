# SPDX-License-Identifier: Apache-2.0
"""Inside Blender with a window: the artist's hour of docs/first_hour.md, step by step, with its pictures."""
import os
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy  # noqa: E402
import inside  # noqa: E402
from meniscus_blender import bake_operators, cache, node_tree, results  # noqa: E402

SHOT = Path(sys.argv[sys.argv.index("--") + 1])  # the last picture; the others lie beside it


def window():
    return bpy.context.window_manager.windows[0]


def area_of(kind):
    return next(area for area in window().screen.areas if area.type == kind)


def region_of(area, kind="WINDOW"):
    return next(region for region in area.regions if region.type == kind)


def override(area, region="WINDOW"):
    return bpy.context.temp_override(window=window(), screen=window().screen, area=area, region=region_of(area, region))


def click(x, y):
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)


def choose_tab(area):
    region = region_of(area, "UI")
    for below in range(10, region.height - 10, 14):
        if getattr(region, "active_panel_category", "") == "Meniscus":
            return
        click(region.x + region.width - 8, region.y + region.height - below)
        yield 0.12


def shoot(name):
    with override(area_of("VIEW_3D")):
        bpy.ops.screen.screenshot(filepath=str(SHOT.with_name(name)))


def until_done(seconds=900):  # a guard against hanging, on however busy a machine
    began = time.monotonic()
    while bake_operators.is_running():
        assert time.monotonic() - began < seconds, "the simulation does not end"
        yield 0.2
    yield 0.5


def steps():
    window().workspace = bpy.data.workspaces["Layout"]
    scene, view = bpy.context.scene, area_of("VIEW_3D")
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    scene.frame_end = 24
    with override(view):
        bpy.ops.mesh.primitive_uv_sphere_add(location=(0, 0, 1.6))
    ball = bpy.context.object
    view.spaces.active.show_region_ui = True
    yield 0.5
    yield from choose_tab(view)
    ball.meniscus_quick.cells = 10
    with override(view):
        bpy.ops.view3d.view_selected()
    yield 0.5
    shoot("first_hour_1.png")

    # One click, on the ground that is there.
    with override(view):
        bpy.ops.meniscus.quick("INVOKE_DEFAULT", True)
    yield from until_done()
    tree = node_tree.trees()[0]
    assert tree.message == "24 frames done", tree.message
    assert results.objects_of(tree)

    # A floor of one's own, and a collider that moves.
    solids = bpy.data.collections.new("Solids")
    scene.collection.children.link(solids)
    with override(view):
        bpy.ops.mesh.primitive_plane_add(size=7, location=(0, 0, 0))
        floor = bpy.context.object
        bpy.ops.mesh.primitive_cylinder_add(radius=0.35, depth=2, location=(-2.6, 0, 1.0))
        stick = bpy.context.object
    for thing in (floor, stick):
        for collection in list(thing.users_collection):
            collection.objects.unlink(thing)
        solids.objects.link(thing)
    for frame, x in ((1, -2.6), (24, 0.6)):
        stick.location.x = x
        stick.keyframe_insert("location", frame=frame)
    ball.meniscus_quick.colliders = solids
    ball.meniscus_quick.use_ground = False
    window().view_layer.objects.active = ball
    for thing in scene.objects:
        thing.select_set(thing == ball)
    with override(view):
        bpy.ops.meniscus.quick()
    yield from until_done()
    assert tree.message == "24 frames done" and not tree.is_error, tree.message
    scene.frame_set(20)
    with override(view):
        bpy.ops.view3d.view_all(use_all_regions=False)
    yield 0.8
    shoot("first_hour_2.png")

    # A picture, with a Blender that has no denoiser.
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 24, False
    scene.render.resolution_x, scene.render.resolution_y = 480, 300
    scene.render.filepath = str(SHOT)
    scene.camera.location, scene.camera.rotation_euler = (5.5, -5.5, 3.2), (1.24, 0, 0.785)
    bpy.ops.render.render(write_still=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(inside.HERE / "first_hour.blend"))
    assert cache.find(tree)[0] == cache.folder_of(tree)
    yield 0.2


_script = steps()


def advance():
    try:
        return next(_script)
    except StopIteration:
        (inside.HERE / "first_hour.passed").write_text("passed")
        print("Ran the first hour", flush=True)
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    bake_operators.stop_job()
    os._exit(0)


(inside.HERE / "first_hour.passed").unlink(missing_ok=True)
bpy.context.preferences.view.show_splash = False
bpy.context.preferences.view.smooth_view = 0
bpy.context.preferences.system.use_region_overlap = False
bpy.app.timers.register(advance, first_interval=2.0)
