# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Blender add-on share: the add-on as an artist gets it, installed from its zip into a home of the
test's own, and Blender without and with a window."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("MENISCUS_BUILD", ROOT / "build/release"))
COMMAND = os.environ.get("MENISCUS", str(BUILD / "bin/meniscus"))
CASES = ROOT / "tests/hosts/blender"
ZIP = BUILD / "blender/meniscus_blender.zip"

INSTALL = """
import bpy, sys
bpy.ops.preferences.addon_install(filepath=sys.argv[-1], overwrite=True)
bpy.ops.preferences.addon_enable(module="meniscus_blender")
bpy.ops.wm.save_userpref()
"""


def skip_without(*programs):
    """Ends the test as skipped, with the reason, when a program is missing or the add-on is not built."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (scripts/build.sh --hosts installs it)")
        sys.exit(77)
    if not ZIP.is_file():
        print("skipped: the add-on is not built (target blender_addon)")
        sys.exit(77)


class Home:
    """A home folder in which the add-on is installed and enabled."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="meniscus-blender-")
        self.folder = Path(self._folder.name)
        self.environment = dict(os.environ, HOME=str(self.folder), XDG_CONFIG_HOME=str(self.folder / ".config"),
                                MENISCUS=COMMAND, LIBGL_ALWAYS_SOFTWARE="1")
        self.environment.pop("MENISCUS_LIBRARY", None)  # the add-on brings its own
        script = self.folder / "install.py"
        script.write_text(INSTALL)
        done = self.blender("--factory-startup", "--python", script, "--", ZIP)
        if "Error" in done.stdout + done.stderr:
            raise RuntimeError(done.stdout + done.stderr)

    def blender(self, *words, timeout=600, **options):
        return subprocess.run(["blender", "-b", *map(str, words)], capture_output=True, text=True, timeout=timeout,
                              env=self.environment, cwd=self.folder, **options)

    def window(self, *words, timeout=850):
        """With a window, on a screen that nobody sees."""
        return subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1280x800x24", "blender", "--enable-event-simulate",
                               "--window-geometry", "0", "0", "1280", "800", *map(str, words)], capture_output=True, text=True, timeout=timeout,
                              env=self.environment, cwd=self.folder)

    def cases(self, name, *words, window=False, timeout=600):
        """Runs tests/hosts/blender/NAME.py inside Blender. Returns its exit code after printing what it says when bad."""
        run = self.window if window else self.blender
        done = run("--python-exit-code", "3", "--python", CASES / f"{name}.py", "--", *words, timeout=timeout)
        verdict = self.folder / f"{name}.passed"
        passed = verdict.is_file()
        text = done.stdout + done.stderr
        print(text if not passed else "\n".join(line for line in text.splitlines() if line.startswith(("Ran ", "note:"))))
        return 0 if passed else 1
