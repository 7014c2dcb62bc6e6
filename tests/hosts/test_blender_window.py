#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Blender add-on with a window (Xvfb): one click, an interface that stays alive, Esc, undo, a screenshot."""
import os
import shutil
import sys
from pathlib import Path

import blender_runner

blender_runner.skip_without("blender", "xvfb-run")
home = blender_runner.Home()
shot = home.folder / "window.png"
code = home.cases("window", shot, window=True)
if code == 0 and shot.stat().st_size < 10000:
    print("the screenshot is empty")
    code = 1
keep = os.environ.get("MENISCUS_SCREENSHOT")
if keep and shot.is_file():
    shutil.copyfile(shot, Path(keep))
sys.exit(code)
