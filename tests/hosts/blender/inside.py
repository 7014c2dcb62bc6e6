# SPDX-License-Identifier: Apache-2.0
"""What the cases that run inside Blender share."""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

import bpy

HERE = Path.cwd()  # the home of the test
COMMAND = os.environ["MENISCUS"]


def fresh():
    """An empty file, with the add-on."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 3
    return scene


def sphere(name="Ball", location=(0, 0, 1.2), radius=1.0):
    bpy.ops.mesh.primitive_uv_sphere_add(location=location, radius=radius, segments=24, ring_count=16)
    thing = bpy.context.object
    thing.name = name
    return thing


def drop_tree(cells=8, **quick):
    """A network for a sphere by the first preset, not yet simulated."""
    from meniscus_blender import quick as path
    thing = quick.pop("thing", None) or sphere()
    settings = thing.meniscus_quick
    settings.setup = quick.pop("setup", "water_drop")
    settings.cells = cells
    for name, value in quick.items():
        setattr(settings, name, value)
    return path.build(bpy.context, thing, settings)


def cook_by_command(scene_path, out, *words):
    done = subprocess.run([COMMAND, "cook", str(scene_path), "-o", str(out), "--quiet", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def scene_text(tree):
    from meniscus_blender import network_scene
    return json.loads(network_scene.plan_of(tree, bpy.context.scene).text)


def main(name):
    """Runs the cases of the calling script; a file says that they passed, since Blender's exit code does not."""
    verdict = HERE / f"{name}.passed"
    verdict.unlink(missing_ok=True)
    words = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    program = unittest.main(module="__main__", argv=[name, *words], exit=False, verbosity=1)
    if program.result.wasSuccessful():
        verdict.write_text("passed")
    sys.stdout.flush()
