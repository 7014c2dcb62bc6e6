# SPDX-License-Identifier: Apache-2.0
"""Inside Blender with a window, by simulated mouse and keys (--enable-event-simulate): the one-click path, an interface
that stays alive while it runs, Esc, Stop, undo and redo; leaves a screenshot of the node tree and the panels."""
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy  # noqa: E402
import inside  # noqa: E402
from meniscus_blender import bake_operators, cache, node_tree, results  # noqa: E402

SHOT = Path(sys.argv[sys.argv.index("--") + 1])
ticks = 0


def window():
    return bpy.context.window_manager.windows[0]


def area_of(kind):
    return next(area for area in window().screen.areas if area.type == kind)


def region_of(area, kind):
    return next(region for region in area.regions if region.type == kind)


def override(area, region="WINDOW"):
    return bpy.context.temp_override(window=window(), screen=window().screen, area=area, region=region_of(area, region))


def press(key, x, y):
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type=key, value=value, x=x, y=y)


def move(x, y):
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)


def click(x, y):
    move(x, y)
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)


def middle(area):
    region = region_of(area, "WINDOW")
    return region.x + region.width // 2, region.y + region.height // 2


def choose_tab(area):
    """Clicks down the tabs of the sidebar until ours is shown."""
    region = region_of(area, "UI")
    for below in range(10, region.height - 10, 14):
        if getattr(region, "active_panel_category", "") == "Meniscus":
            return
        click(region.x + region.width - 8, region.y + region.height - below)
        yield 0.12


def beat():
    """Runs as long as the interface does."""
    global ticks
    ticks += 1
    return 0.02


def steps():
    window().workspace = bpy.data.workspaces["Layout"]
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 60
    # A 3D view on the left, a node editor on the right.
    for kind in ("OUTLINER", "PROPERTIES", "DOPESHEET_EDITOR"):
        with override(area_of(kind)):
            bpy.ops.screen.area_close()
        yield 0.2
    with override(area_of("VIEW_3D")):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=0.47)
    yield 0.3
    editor = max((area for area in window().screen.areas if area.type == "VIEW_3D"), key=lambda area: area.x)
    editor.type = "NODE_EDITOR"
    editor.spaces.active.tree_type = node_tree.TREE
    view = area_of("VIEW_3D")
    view.spaces.active.show_region_ui = True
    editor.spaces.active.show_region_ui = True
    yield 0.5
    with override(view):
        bpy.ops.mesh.primitive_uv_sphere_add(location=(0, 0, 1.3))
        ball = bpy.context.object
        bpy.ops.ed.undo_push(message="A ball")
    ball_name = ball.name
    yield from choose_tab(view)
    yield from choose_tab(editor)
    quick = ball.meniscus_quick
    quick.setup, quick.cells = "mercury", 10

    # Simulate, as the button does.
    move(*middle(view))
    yield 0.2
    with override(view):
        bpy.ops.meniscus.quick("INVOKE_DEFAULT", True)
    assert bake_operators.is_running(), "the job does not run"
    tree = node_tree.trees()[0]
    tree_name, folder = tree.name, cache.folder_of(tree)
    editor.spaces.active.node_tree = tree
    before, began = ticks, time.monotonic()
    while bake_operators.job.done_frames < 4 and not bake_operators.job.is_done:
        assert time.monotonic() - began < 500, "no frames"
        yield 0.1
    waited = time.monotonic() - began
    alive = ticks - before
    print(f"note: the interface took {alive} turns in {waited:.1f} s of simulation", flush=True)
    assert alive > 4, "the interface stood still"  # at the very least a turn for each frame
    with override(editor):
        for node in tree.nodes:
            node.select = node.name in ("liquid", "skin")
        bpy.ops.node.view_selected()
    scene.frame_set(3)
    yield 0.8
    with override(view):
        bpy.ops.view3d.view_all(use_all_regions=False)
    yield 0.8
    assert bake_operators.is_running(), "it ended before it could be stopped"
    with override(view):
        bpy.ops.screen.screenshot(filepath=str(SHOT))

    # Esc is Blender's: it ends what plays, and the simulation goes on.
    x, y = middle(view)
    move(x, y)
    yield 0.3
    press("SPACE", x, y)
    yield 0.8
    assert window().screen.is_animation_playing, "Space did not start the playback"
    asked = time.monotonic()
    while window().screen.is_animation_playing:
        assert time.monotonic() - asked < 30, "Esc did not end the playback"
        move(x + 3, y)
        press("ESC", x, y)
        yield 0.5
    assert bake_operators.is_running(), "Esc stopped the simulation"

    # Stop stops within a substep and keeps the frames.
    bpy.ops.meniscus.stop()
    asked = time.monotonic()
    while not bake_operators.job.is_done:
        assert time.monotonic() - asked < 200, "Stop did not stop it"
        yield 0.05
    print(f"note: Stop stopped it after {time.monotonic() - asked:.2f} s", flush=True)
    yield 0.6
    tree = bpy.data.node_groups[tree_name]
    assert bake_operators.job.cancelled and "Stopped" in tree.message, tree.message
    kept = cache.frames_of(folder, "skin")
    assert len(kept) >= 4, kept
    assert [thing for thing in bpy.data.objects if thing.meniscus.role == "mesh"], "nothing is shown"

    # One undo takes network and result back; redo brings them again, and they play.
    with override(view):
        bpy.ops.ed.undo()
    yield 0.3
    assert tree_name not in bpy.data.node_groups, "one undo left the network"
    ball = bpy.data.objects[ball_name]
    assert not ball.hide_render and ball.display_type == "TEXTURED", "undo left the ball hidden"
    assert not [thing for thing in bpy.data.objects if thing.meniscus.role], "undo left a result"
    with override(area_of("VIEW_3D")):
        bpy.ops.ed.redo()
    yield 0.3
    tree = bpy.data.node_groups[tree_name]
    assert tree.nodes["liquid"].p_density == 13534, "redo lost a value"
    bpy.context.scene.frame_set(2)
    shown = results.objects_of(tree)
    assert shown and len(shown[0].data.vertices) > 0, "redo shows nothing"

    # Undo in the middle of a simulation: the network goes, the job stops, nothing falls over.
    with override(area_of("VIEW_3D")):
        bpy.ops.meniscus.bake("INVOKE_DEFAULT", True, tree=tree_name, resume=True)
    assert bake_operators.is_running()
    yield 0.3
    with override(area_of("VIEW_3D")):
        bpy.ops.ed.undo()
        bpy.ops.ed.undo()
        assert tree_name not in bpy.data.node_groups
    began = time.monotonic()
    while bake_operators.is_running():
        assert time.monotonic() - began < 200, "the job outlived its network"
        yield 0.1
    yield 0.5


_script = steps()


def advance():
    try:
        return next(_script)
    except StopIteration:
        (inside.HERE / "window.passed").write_text("passed")
        print("Ran the window's steps", flush=True)
    except Exception:
        traceback.print_exc()
        sys.stdout.flush()
    sys.stdout.flush()
    bake_operators.stop_job()
    import os
    os._exit(0)


(inside.HERE / "window.passed").unlink(missing_ok=True)
bpy.context.preferences.view.show_splash = False
bpy.context.preferences.system.use_region_overlap = False
bpy.app.timers.register(beat, first_interval=0.1)
bpy.app.timers.register(advance, first_interval=2.0)
