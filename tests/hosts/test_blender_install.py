#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the README promises, word for word, for somebody who has never had Blender open: the one install command in a home
that is empty, then a sphere, the Simulate button and a rendered droplet; without a window, and with one."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import blender_runner
from command_runner import Picture

blender_runner.skip_without("blender", "xvfb-run")
ROOT = blender_runner.ROOT

ARTIST = """
import sys, traceback
import bpy

def work():
    assert "meniscus_blender" in bpy.context.preferences.addons, "the add-on is not switched on"
    for thing in list(bpy.data.objects):
        if thing.type == "MESH":
            bpy.data.objects.remove(thing)          # Blender's cube
    bpy.ops.mesh.primitive_uv_sphere_add(location=(0, 0, 1.3))
    bpy.ops.object.shade_smooth()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    bpy.context.object.meniscus_quick.cells = 10    # the default preset is Water Drop
    assert bpy.ops.meniscus.quick() == {"FINISHED"}

def finish():
    scene = bpy.context.scene
    shown = [thing for thing in bpy.data.objects if thing.meniscus.role == "mesh"]
    assert len(shown) == 1, "no droplet"
    scene.frame_set(6)
    assert len(shown[0].data.vertices) > 100
    bpy.ops.mesh.primitive_plane_add(size=40)       # something to lie on, as an artist would have
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = SAMPLES, False
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = WIDTH, HEIGHT, 100
    scene.render.film_transparent = False
    camera = scene.camera                           # the file's own, moved nearer
    camera.location = (5.2, -5.6, 3.2)
    camera.rotation_euler = (1.31, 0, 0.75)
    scene.render.filepath = PICTURE
    bpy.ops.render.render(write_still=True)
    print("rendered", flush=True)
"""
WITHOUT_WINDOW = ARTIST + """
work()
finish()
"""
WITH_WINDOW = ARTIST + """
from meniscus_blender import bake_operators
state = {"begun": False}
def step():
    try:
        if not state["begun"]:
            area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
            region = next(region for region in area.regions if region.type == "WINDOW")
            window = bpy.context.window_manager.windows[0]
            with bpy.context.temp_override(window=window, area=area, region=region):
                work()
            state["begun"] = True
            return 0.2
        if bake_operators.is_running():
            return 0.2
        finish()
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    import os
    os._exit(0)
bpy.app.timers.register(step, first_interval=2.0)
"""


class Install(unittest.TestCase):
    """One home for all: installed once, as an artist does."""

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory(prefix="meniscus-home-")
        cls.home = Path(cls._folder.name)
        cls.environment = {name: value for name, value in os.environ.items() if not name.startswith(("MENISCUS", "XDG_", "BLENDER"))}
        cls.environment.update(HOME=str(cls.home), LIBGL_ALWAYS_SOFTWARE="1")
        cls.done = subprocess.run([str(ROOT / "scripts/install_blender.sh")], capture_output=True, text=True, cwd=cls.home,
                                  env=cls.environment, timeout=600)

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    def setUp(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)

    def script(self, text, name, size=(160, 100), samples=8):
        width, height = (int(one) for one in os.environ.get("MENISCUS_DROPLET_SIZE", "{}x{}".format(*size)).split("x"))
        picture, path = self.home / f"{name}.png", self.home / f"{name}.py"
        path.write_text(f"PICTURE, WIDTH, HEIGHT, SAMPLES = {str(picture)!r}, {width}, {height}, {samples}\n" + text)
        return path, picture, (width, height)

    def look(self, done, picture, size):
        self.assertIn("rendered", done.stdout, done.stdout + done.stderr)
        keep = os.environ.get("MENISCUS_SCREENSHOTS")
        if keep:
            shutil.copyfile(picture, Path(keep) / picture.name)
        seen = Picture(picture)
        self.assertEqual((seen.width, seen.height), size)
        # The droplet is in the middle: light and dark stand side by side there, which floor and sky do not do.
        rows, columns = (range(side // 3, 2 * side // 3) for side in (seen.height, seen.width))
        levels = [[sum(seen.pixel(x, y)[:3]) for x in columns] for y in rows]
        steps = [abs(a - b) for row in levels for a, b in zip(row, row[1:])]
        self.assertGreater(max(steps), 60, "nothing in the middle")

    def test_the_command_is_the_readmes(self):
        self.assertIn("scripts/install_blender.sh", (ROOT / "README.md").read_text())
        self.assertIn("meniscus: installed", self.done.stdout)

    def test_a_sphere_becomes_a_rendered_droplet(self):
        path, picture, size = self.script(WITHOUT_WINDOW, "droplet")
        done = subprocess.run(["blender", "-b", "--python-exit-code", "3", "--python", str(path)], capture_output=True, text=True,
                              cwd=self.home, env=self.environment, timeout=600)
        self.look(done, picture, size)

    def test_the_same_with_a_window(self):
        path, picture, size = self.script(WITH_WINDOW, "droplet_window")
        done = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1280x800x24", "blender", "--python", str(path)], capture_output=True,
                              text=True, cwd=self.home, env=self.environment, timeout=600)
        self.look(done, picture, size)


class Extension(unittest.TestCase):
    """What Blender 4.2 and later ask of a package, by its documentation; they have not been run."""

    def test_the_manifest_has_what_is_asked_for(self):
        import re
        import tomllib
        import zipfile
        with zipfile.ZipFile(blender_runner.ZIP) as package:
            names = package.namelist()
            roots = {name.split("/")[0] for name in names}
            self.assertEqual(roots, {"meniscus_blender"})  # one folder: the manifest is looked for in it
            manifest = tomllib.loads(package.read("meniscus_blender/blender_manifest.toml").decode())
            self.assertIn("meniscus_blender/__init__.py", names)
            self.assertIn("meniscus_blender/LICENSE", names)
        self.assertEqual((manifest["schema_version"], manifest["type"]), ("1.0.0", "add-on"))
        self.assertRegex(manifest["id"], r"^[a-z][a-z0-9_]*$")
        self.assertRegex(manifest["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(manifest["blender_version_min"], r"^4\.\d+\.\d+$")
        self.assertTrue(0 < len(manifest["tagline"]) <= 64 and re.search(r"[\w)]$", manifest["tagline"]))  # no full stop
        self.assertTrue(all(one.startswith("SPDX:") for one in manifest["license"]))
        self.assertLessEqual(set(manifest["platforms"]), {"linux-x64", "windows-x64", "macos-arm64", "macos-x64"})
        for permission, reason in manifest["permissions"].items():
            self.assertIn(permission, ("files", "network", "clipboard", "camera", "microphone"))
            self.assertTrue(0 < len(reason) <= 64 and not reason.endswith("."), reason)
        self.assertTrue(manifest["maintainer"] and manifest["name"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
