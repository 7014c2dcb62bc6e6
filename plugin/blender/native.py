# SPDX-License-Identifier: Apache-2.0
"""Loads the native library from a copy outside the add-on's folder.

A loaded library cannot be deleted or replaced on Windows, and replacing one under a running program ends it anywhere.
So each build is copied once, under a name that has its contents in it, and the copy is loaded: updating the add-on then
never touches a file in use."""
import hashlib
import os
import shutil
from pathlib import Path

import bpy

NAME = "libmeniscus_plugin.so"
KEEP = 3  # copies, the newest first


def copied(source, folder):
    """The path of a copy of `source` in `folder` named after its contents; made when it is not there."""
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    copy = folder / f"{source.stem}-{digest}{source.suffix}"
    if not copy.is_file():
        partial = copy.with_name(f"{copy.name}.{os.getpid()}")
        shutil.copyfile(source, partial)
        os.replace(partial, copy)
    copies = sorted(folder.glob(f"{source.stem}-*{source.suffix}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in copies[KEEP:]:
        try:
            if old != copy:
                old.unlink()
        except OSError:
            pass  # another Blender has it loaded
    return copy


def load():
    """The `meniscus` Python module that the add-on carries."""
    source = Path(__file__).resolve().parent / NAME
    chosen = None
    if "MENISCUS_LIBRARY" not in os.environ and source.is_file():
        folder = Path(bpy.utils.user_resource("DATAFILES", path="meniscus", create=True) or bpy.app.tempdir)
        chosen = str(copied(source, folder))
        os.environ["MENISCUS_LIBRARY"] = chosen
    try:
        from . import meniscus
    finally:
        if chosen is not None:
            del os.environ["MENISCUS_LIBRARY"]
    return meniscus


meniscus = load()
