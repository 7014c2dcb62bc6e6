# SPDX-License-Identifier: Apache-2.0
"""The folder of a tree's frames. Everything in it is found by relative names, so that it can be moved or made elsewhere,
by `meniscus cook` too.

    scene.json                what was simulated
    bake.json                 which frames, of which results, by which scene and inputs
    inputs/                   objects of Blender
    skin.0001.bgeo.sc         a frame of the node skin; skin.0001.vdb its volumes, which Blender reads by itself
    *.checkpoint              where a stopped simulation goes on"""
import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import bpy

from . import scene_pieces
from .native import meniscus

ENDING = ".bgeo.sc"


def folder_of(tree):
    """Where the tree's cache is. A file that was never saved has it in Blender's temporary folder."""
    name = re.sub(r'[/\\:*?"<>|\0]', "_", tree.name)
    setting = tree.cache_folder or "//meniscus_cache"
    if setting.startswith("//") and not bpy.data.filepath:
        return Path(bpy.app.tempdir) / "meniscus_cache" / name
    return Path(bpy.path.abspath(setting, library=tree.library)) / name


def is_temporary(tree):
    return not bpy.data.filepath and (tree.cache_folder or "//").startswith("//")


def frame_path(folder, stem, frame, ending=ENDING):
    return Path(folder) / f"{stem}.{frame:04d}{ending}"


def frames_of(folder, stem, ending=ENDING):
    """Frames that are there, in order."""
    pattern = re.compile(re.escape(stem) + r"\.(-?\d+)" + re.escape(ending) + "$")
    try:
        found = (pattern.match(name) for name in os.listdir(folder))
    except OSError:
        return []
    return sorted(int(match.group(1)) for match in found if match)


def frame_to_show(folder, stem, frame):
    """The frame itself, else the one before it, else the first; None when there is none."""
    if frame_path(folder, stem, frame).is_file():
        return frame
    frames = frames_of(folder, stem)
    return max((one for one in frames if one <= frame), default=frames[0] if frames else None)


def save_frame(folder, stem, frame, geo):
    """Writes a frame, and its volumes once more as .vdb. Whole or not at all. Returns the kinds of things in it."""
    geo.save(str(frame_path(folder, stem, frame)))
    if geo.kind_count("volume"):
        volumes = geo.copy()
        volumes.keep(["volume"])
        for attribute in volumes.attributes():
            if attribute.name != "P":
                volumes.remove_attribute(attribute.name, attribute.owner)
        for owner in ("point", "vertex", "primitive"):
            for group in volumes.groups(owner):
                volumes.remove_group(group, owner)
        volumes.save(str(frame_path(folder, stem, frame, ".vdb")))
    return kinds_of(geo)


def kinds_of(geo):
    """Which of "mesh", "points" and "volume" a geometry needs to be shown."""
    kinds = set()
    if any(geo.kind_count(kind) for kind in ("polygon", "polyline", "tetrahedron")):
        kinds.add("mesh")
    if geo.kind_count("volume"):
        kinds.add("volume")
    if geo.point_count and geo.primitive_count == 0:
        kinds.add("points")
    elif "mesh" in kinds or "volume" in kinds:
        used = len(set(geo.vertex_points.tolist()))
        if used < geo.point_count:
            kinds.add("points")
    return kinds


# ---- what a cache holds ----

def fingerprint(folder, text):
    """One word for a scene and the files that it reads."""
    digest = hashlib.sha256(text.encode())
    for path in sorted((Path(folder) / "inputs").glob("*")):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def read_bake(folder):
    """bake.json, or {} when there is none that can be read."""
    try:
        bake = json.loads((Path(folder) / "bake.json").read_text(encoding="utf-8"))
        return bake if isinstance(bake, dict) and isinstance(bake.get("stems"), list) else {}
    except (OSError, ValueError):
        return {}


def write_bake(folder, text, stems, first, last):
    folder = Path(folder)
    bake = {"meniscus_bake": 1, "fingerprint": fingerprint(folder, text), "stems": stems, "frames": [first, last]}
    for name, content in (("scene.json", text), ("bake.json", json.dumps(bake, indent=1))):
        partial = folder / (name + ".part")
        partial.write_text(content, encoding="utf-8")
        os.replace(partial, folder / name)


def clear(folder, from_frame=None):
    """Removes frames and checkpoints of an earlier bake, from a frame on or all; whatever else lies there stays."""
    folder, bake = Path(folder), read_bake(folder)
    for stem in bake.get("stems", ()):
        for ending in (ENDING, ".vdb"):
            for frame in frames_of(folder, str(stem), ending):
                if from_frame is None or frame >= from_frame:
                    frame_path(folder, str(stem), frame, ending).unlink(missing_ok=True)
    if bake and from_frame is None:
        for path in folder.glob("*.checkpoint"):
            path.unlink(missing_ok=True)
        shutil.rmtree(folder / "inputs", ignore_errors=True)
        for name in ("bake.json", "scene.json"):
            (folder / name).unlink(missing_ok=True)


def move(old, new):
    """Takes a cache along, unless there is one already."""
    if old.is_dir() and not new.exists():
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(str(old), str(new))
        return True
    return False


def load_frame(folder, stem, frame):
    """The geometry to show at a frame, or None."""
    shown = frame_to_show(folder, stem, frame)
    return None if shown is None else meniscus.Geometry.read(str(frame_path(folder, stem, shown)))


_scenes = {}  # path -> (when it was written, contents)


def scene_of(folder):
    """The scene that the frames were made by, or None."""
    path = Path(folder) / "scene.json"
    try:
        written = path.stat().st_mtime_ns
        if _scenes.get(path, (None,))[0] != written:
            _scenes[path] = written, json.loads(path.read_text(encoding="utf-8"))
        return _scenes[path][1]
    except (OSError, ValueError):
        return None


def speed(folder, stem, frame):
    """Simulated seconds per second on screen of what a stem shows."""
    scene = scene_of(folder)
    names = [entry["name"] for entry in scene["nodes"]] if scene else []
    name = stem if stem in names else stem.rpartition("_")[0]
    return scene_pieces.time_scale(scene, name, meniscus.node_types(), frame) if name in names else 1.0
