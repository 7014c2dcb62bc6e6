# SPDX-License-Identifier: Apache-2.0
"""The folder of a tree's frames. Everything in it is found by relative names, so that it can be moved or made elsewhere,
by `meniscus cook` too.

    scene.json                what was simulated
    bake.json                 which frames, of which results, by which scene and inputs, for which .blend file
    inputs/                   objects of Blender
    branch/                   the state that frames with other settings go on from, where there are any
    skin.0001.bgeo.sc         a frame of the node skin; skin.0001.vdb its volumes, which Blender reads by itself
    *.checkpoint              where a stopped simulation goes on

A folder belongs to one network of one file. Its name is made once, with a random part, and stays when the network is
renamed; a network that is simulated in a copy of the file gets a folder of its own. The network remembers the fingerprint
of what it simulated, and frames are shown only when their folder has the same."""
import hashlib
import json
import os
import re
import secrets
import shutil
from pathlib import Path

import bpy

from . import border, node_tree, scene_pieces
from .native import meniscus

ENDING = ".bgeo.sc"
DEFAULT = "//meniscus_cache"


# ---- where it is ----

def _plain(name):
    return re.sub(r'[/\\:*?"<>|\0]', "_", name)


_made = {}  # cache_name -> fingerprint of what this Blender has simulated: undo takes it from the tree


def remember(tree, word):
    tree.fingerprint = _made[tree.cache_name] = word


def _setting(tree):
    return tree.cache_folder or DEFAULT


def _made_name(tree):
    """A folder's name for the tree of this file: the same each time, so that what a farm simulates is found by the file, which
    it does not save."""
    token = hashlib.sha256(f"{os.path.basename(bpy.data.filepath)}\0{tree.name}".encode()).hexdigest()[:6]
    return f"{_plain(tree.name)[:80]} {token}"


def temporary_of(tree):
    """Where the cache of a file that was never saved is: Blender deletes that folder when it ends."""
    return Path(bpy.app.tempdir) / "meniscus_cache" / (tree.cache_name or _made_name(tree))


def _beside(tree, name):
    return Path(bpy.path.abspath(_setting(tree), library=tree.library)) / name


def folder_of(tree):
    """Where the tree's cache belongs."""
    return temporary_of(tree) if is_temporary(tree) else _beside(tree, tree.cache_name or _made_name(tree))


def is_temporary(tree):
    return not bpy.data.filepath and _setting(tree).startswith("//") and tree.library is None


def find(tree):
    """(the folder that has the tree's frames, or None; a sentence when there should be frames and are none to show). They must
    have been made by this file, or be what the tree remembers: of a copy of the file, or after the file was renamed."""
    foreign = None
    belongs = folder_of(tree)
    places = [belongs, temporary_of(tree)]
    if not is_temporary(tree):
        places.append(_beside(tree, _made_name(tree)))
    if tree.cache_seen:
        places.append(Path(tree.cache_seen))
    for folder in places:
        bake = read_bake(folder)
        if not bake:
            continue
        word = bake.get("fingerprint")
        if word and word in (tree.fingerprint, _made.get(tree.cache_name)) or _owner(folder) == _this_file(tree):
            return folder, ""
        foreign = foreign or folder
    if foreign is not None:
        return None, (f"Simulate again, or find the right folder: the frames in {foreign} are of another simulation than this "
                      "file remembers.")
    if tree.fingerprint:
        return None, f"Find the frames, or simulate again: they should be in {belongs}, and are not."
    return None, ""


def _this_file(tree):
    path = tree.library.filepath if tree.library is not None else bpy.data.filepath
    return Path(os.path.normpath(bpy.path.abspath(path))) if path else Path("/")


def _owner(folder):
    """The .blend file that a cache was made for, or None."""
    name = read_bake(folder).get("blend")
    return Path(os.path.normpath(Path(folder) / name)) if isinstance(name, str) and name else None


def _is_others(folder, tree):
    """Whether a folder is in use by another file, or by another network of this one."""
    if any(other != tree and other.library is None and other.cache_name and folder_of(other) == folder
           for other in node_tree.trees()):
        return True
    owner = _owner(folder)
    return owner is not None and owner != _this_file(tree) and owner.is_file()


def claim(tree):
    """The folder to simulate into. Its name is made here, and made anew when another file or network has this one."""
    if not tree.cache_name or _is_others(folder_of(tree), tree):
        tree.cache_name = _made_name(tree)
        if is_temporary(tree) or _is_others(folder_of(tree), tree):
            tree.cache_name = f"{_plain(tree.name)[:80]} {secrets.token_hex(3)}"
    return folder_of(tree)


# ---- frames ----

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


def load_frame(folder, stem, frame):
    """The geometry to show at a frame, or None."""
    shown = frame_to_show(folder, stem, frame)
    return None if shown is None else meniscus.Geometry.read(str(frame_path(folder, stem, shown)))


def read_frame(folder, stem, frame, scale):
    """(a word for the file to show at a frame and where it goes, a function that begins to read it), or (None, None): one that is
    read ahead is used if it is still the same."""
    shown = frame_to_show(folder, stem, frame)
    if shown is None:
        return None, None
    path = frame_path(folder, stem, shown)
    status = path.stat()
    return (path, status.st_mtime_ns, status.st_size, scale), \
        lambda: meniscus.FrameRead(str(path), border.rows(border.to_blender(scale)))


def kinds_of(geo):
    """Which of "mesh", "points" and "volume" a geometry needs to be shown."""
    kinds = set()
    if any(geo.kind_count(kind) for kind in ("polygon", "polyline", "tetrahedron")):
        kinds.add("mesh")
    if geo.kind_count("volume"):
        kinds.add("volume")
    if geo.point_count and (geo.primitive_count == 0 or len(set(geo.vertex_points.tolist())) < geo.point_count):
        kinds.add("points")
    return kinds


# ---- what a cache holds ----

def digests(folder):
    """The files of a folder: name -> a word for its contents."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:32] for path in sorted(Path(folder).glob("*"))}


def essence(scene):
    """What of a scene decides about its frames, as text: neither its title nor how far it goes."""
    return json.dumps({key: value for key, value in scene.items() if key not in ("title", "frames", "output")}, sort_keys=True)


def fingerprint(scene, inputs):
    """One word for a simulation: its scene and the contents of the files that it reads."""
    return hashlib.sha256((essence(scene) + json.dumps(inputs, sort_keys=True)).encode()).hexdigest()[:32]


def goes_on(bake, scene, inputs):
    """Whether a scene with these inputs continues the cache: the same scene, and the same inputs as far as the cache has
    them (a longer range has more)."""
    before = bake.get("inputs")
    return bake.get("essence") == hashlib.sha256(essence(scene).encode()).hexdigest()[:32] and isinstance(before, dict) \
        and all(before.get(name, word) == word for name, word in inputs.items())


def read_bake(folder):
    """bake.json, or {} when there is none that can be read."""
    bake = _read_json(Path(folder) / "bake.json")
    return bake if isinstance(bake, dict) and isinstance(bake.get("stems"), list) else {}


def write_bake(folder, plan, inputs, stems, frames, word=None, branch=None):
    """scene.json and bake.json. `word` is the fingerprint of the cache that is continued, `branch` the last frame that other
    settings have made, None when there is none. Returns the fingerprint."""
    folder, scene = Path(folder), plan.scene
    word = word or fingerprint(scene, inputs)
    blend = os.path.relpath(bpy.data.filepath, folder) if bpy.data.filepath else ""
    bake = {"meniscus_bake": 2, "fingerprint": word, "essence": hashlib.sha256(essence(scene).encode()).hexdigest()[:32],
            "stems": stems, "frames": list(frames), "blend": blend, "inputs": inputs}
    if branch is not None:
        bake["branch"] = branch
    for name, content in (("scene.json", plan.text), ("bake.json", json.dumps(bake, indent=1))):
        _write_text(folder / name, content)
    return word


def set_owner(folder):
    """The cache belongs to the file as it is called now."""
    bake = read_bake(folder)
    if bake:
        bake["blend"] = os.path.relpath(bpy.data.filepath, folder) if bpy.data.filepath else ""
        _write_text(Path(folder) / "bake.json", json.dumps(bake, indent=1))


def _write_text(path, content):
    partial = path.with_name(path.name + ".part")
    partial.write_text(content, encoding="utf-8")
    os.replace(partial, path)


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
        shutil.rmtree(folder / "branch", ignore_errors=True)
        for name in ("bake.json", "scene.json"):
            (folder / name).unlink(missing_ok=True)


def free(folder):
    """Removes all of a cache, and its folder when nothing else lies in it."""
    folder = Path(folder)
    if not read_bake(folder):
        return
    clear(folder)
    shutil.rmtree(folder / "inputs", ignore_errors=True)
    try:
        folder.rmdir()
    except OSError:
        pass  # somebody else's files


def size_of(tree):
    """(frames, bytes) on disk."""
    folder, _ = find(tree)
    bake = read_bake(folder) if folder is not None else {}
    count = max((len(frames_of(folder, stem)) for stem in bake.get("stems", ())), default=0)
    total = 0
    if bake:
        with os.scandir(folder) as entries:
            total = sum(entry.stat().st_size for entry in entries if entry.is_file())
    return count, total


def bring(old, new, keep=False):
    """A cache into another folder, where there must be none. `keep`: copies."""
    old, new = Path(old), Path(new)
    if new.exists() and any(new.iterdir()):
        raise OSError(f"The folder {new} is in use; choose another cache folder.")
    new.parent.mkdir(parents=True, exist_ok=True)
    if new.exists():
        new.rmdir()
    if keep:
        shutil.copytree(old, new)
    else:
        shutil.move(str(old), str(new))


def copy_file(source, target):
    """A file, whole or not at all."""
    partial = Path(target).with_name(Path(target).name + ".part")
    shutil.copyfile(source, partial)
    os.replace(partial, target)


# ---- inputs, which must not be lost when a simulation is refused ----

def stage_inputs(folder):
    """An empty folder for new inputs beside the old ones."""
    staged = Path(folder) / "inputs.new"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    return staged


def swap_inputs(folder):
    """The new inputs take the place of the old ones, which are kept until settle_inputs()."""
    folder = Path(folder)
    shutil.rmtree(folder / "inputs.old", ignore_errors=True)
    if (folder / "inputs").is_dir():
        os.replace(folder / "inputs", folder / "inputs.old")
    os.replace(folder / "inputs.new", folder / "inputs")


def settle_inputs(folder, good):
    """Forgets the old inputs, or brings them back."""
    folder = Path(folder)
    if not good and not (folder / "inputs.new").is_dir():  # they have taken their place
        shutil.rmtree(folder / "inputs", ignore_errors=True)
        if (folder / "inputs.old").is_dir():
            os.replace(folder / "inputs.old", folder / "inputs")
    for name in ("inputs.new", "inputs.old", "branch.new", "branch.old"):
        shutil.rmtree(folder / name, ignore_errors=True)
    try:
        folder.rmdir()  # nothing came of it
    except OSError:
        pass


# ---- branches: frames up to one by other settings than those after it ----

def old_scene(folder):
    """(the text of the scene that the frames were made by, a folder with its inputs until settle_inputs()), or None."""
    folder = Path(folder)
    try:
        text = (folder / "scene.json").read_text(encoding="utf-8")
    except OSError:
        return None
    place = folder / "branch.old"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    if (folder / "inputs.old").is_dir():
        shutil.copytree(folder / "inputs.old", place / "inputs")
    return text, place


def settle_branch(folder):
    """The state that a job has begun with becomes the one that frames go on from."""
    folder = Path(folder)
    shutil.rmtree(folder / "branch", ignore_errors=True)
    os.replace(folder / "branch.new", folder / "branch")


def branch_of(bake):
    """The last frame that other settings have made, or None."""
    return bake.get("branch") if isinstance(bake.get("branch"), int) else None


# ---- files that are read at every frame ----

_texts = {}  # path -> (when it was written and how long it is, contents)


def _read_json(path):
    """The contents of a file that seldom changes, or None when it cannot be read."""
    try:
        status = path.stat()
        stamp = status.st_mtime_ns, status.st_size
        if _texts.get(path, (None,))[0] != stamp:
            _texts[path] = stamp, json.loads(path.read_text(encoding="utf-8"))
        return _texts[path][1]
    except (OSError, ValueError):
        return None


def scene_of(folder):
    """The scene that the frames were made by, or None."""
    return _read_json(Path(folder) / "scene.json")


def speed(folder, stem, frame):
    """Simulated seconds per second on screen of what a stem shows."""
    scene = scene_of(folder)
    names = [entry["name"] for entry in scene["nodes"]] if scene else []
    name = stem if stem in names else stem.rpartition("_")[0]
    return scene_pieces.time_scale(scene, name, meniscus.node_types(), frame) if name in names else 1.0
