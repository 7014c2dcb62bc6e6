#!/usr/bin/env hython
# SPDX-License-Identifier: Apache-2.0
"""Ten minutes with Houdini: does the package load, and does everything behave as we believe it does?

    HOUDINI_DSO_ERROR=2 hython scripts/houdini_check.py [--meniscus build/release/bin/meniscus] > houdini_check.txt

Prints one page: a line for each check, "ok" or "FAIL" with what was found, and what can only be seen by hand. Send the page back.
Written without Houdini; tests run it against a double of `hou`, so what it proves here is that the script itself works."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import hou

PREFIX = "meniscus::"
BY_HAND = """
By hand, five minutes:
 - Play the asset Mercury, press Esc in the middle, go back: the frames made so far are there, and the next frame goes on.
 - The domain's box is drawn around a selected solver with Use Domain on; middle mouse on the solver shows its report.
 - Tab > Meniscus lists the nodes with their icons; F1 on a node opens its help.
 - Performance Monitor while playing with an animated collider: each node above the solver cooks once a frame.
 - hotl -l otls/meniscus_mercury.1.0.hda /tmp/m.hda && hotl -t /tmp/t /tmp/m.hda && diff -r: the differences, please."""


class Page:
    """The checks, numbered as they come, so that documents can name a line."""

    def __init__(self):
        self.failures = []
        self.count = 0

    def check(self, what, passed, found=""):
        self.count += 1
        print("%-4s %3d %s%s" % ("ok" if passed else "FAIL", self.count, what, "" if passed else ": %s" % (found,)))
        if not passed:
            self.failures.append(what)

    def run(self, what, function, *arguments):
        """A check that an exception fails, without ending the page."""
        try:
            function(*arguments)
        except Exception as error:  # whatever Houdini raises belongs on the page
            self.check(what, False, "%s: %s" % (type(error).__name__, error))


def operator(name):
    return "%s%s::1.0" % (PREFIX, name)


def positions(node, output=0):
    """What is shown, to the bit."""
    return node.geometry(output).pointFloatAttribValues("P")


def our_types():
    return {name: kind for name, kind in hou.sopNodeTypeCategory().nodeTypes().items() if name.startswith(PREFIX)}


def check_types(page, container):
    types = our_types()
    assets = sorted(name for name, kind in types.items() if kind.definition())
    page.check("operators are there (%d, and %d assets)" % (len(types) - len(assets), len(assets)), len(types) > len(assets) > 0, sorted(types))
    for name in sorted(types):
        def make(name=name):
            node = container.createNode(name)
            for parm in node.parms():
                parm.eval()
            inside = {child.type().name() for child in node.allSubChildren()}
            page.check("create %s" % name, all(one == "output" or one in types for one in inside), inside - set(types))
            node.destroy()
        page.run("create %s" % name, make)
    return assets


def drop(container):
    """A ball of water of 2 mm, coarse: a frame takes a moment."""
    ball, fill, liquid = (container.createNode(operator(kind), kind) for kind in ("shape", "fill", "mpm_solver"))
    fill.setInput(0, ball)
    liquid.setInput(0, fill)
    ball.parmTuple("radius").set((0.003, 0.002, 0.002))
    fill.parm("dx").set(0.0005)
    liquid.parm("dx").set(0.0005)
    liquid.parm("time_scale").set(0.05)
    return ball, fill, liquid


SCENE = {"meniscus": 1, "fps": 25, "frames": [1, 10], "output": "mpm_solver", "nodes": [
    {"name": "shape", "type": "shape", "parms": {"radius": [0.003, 0.002, 0.002]}},
    {"name": "fill", "type": "fill", "parms": {"dx": 0.0005}, "inputs": ["shape"]},
    {"name": "mpm_solver", "type": "mpm_solver", "parms": {"dx": 0.0005, "time_scale": 0.05}, "inputs": ["fill"]}]}


def check_frames(page, liquid, count):
    """Forwards at 25 frames a second, where frames 30, 58 and 59 are the first that time times rate misses, backwards, reset."""
    seen = {}
    for frame in range(1, count + 1):
        hou.setFrame(frame)
        seen[frame] = positions(liquid)
    twice = [frame for frame in range(1, count) if seen[frame] == seen[frame + 1]]
    page.check("no frame is shown twice at 25 frames a second", not twice, twice)
    hou.setFrame(10)
    page.check("going back gives the same frame", positions(liquid) == seen[10])
    liquid.parm("reset_simulation").pressButton()
    page.check("the same again after Reset Simulation", positions(liquid) == seen[10])
    return seen


def check_edits(page, ball, liquid, seen):
    """An edit above a simulation, while parked on a later frame, starts it again."""
    hou.setFrame(10)
    ball.parmTuple("radius").set((0.002, 0.002, 0.002))
    page.check("an edit above is noticed", positions(liquid) != seen[10])
    ball.parmTuple("radius").set((0.003, 0.002, 0.002))
    page.check("and taken back", positions(liquid) == seen[10])


def check_outputs(page, container, liquid):
    giver = container.createNode(operator("solver_output"), "giver")
    giver.setInput(0, liquid)
    page.check("Solver Output gives the surface", len(giver.geometry().prims()) > 0, giver.errors())
    wired = container.createNode(operator("merge"), "wired")
    wired.setInput(0, liquid, 1)
    wired.cook(force=True)
    page.check("a wire from the second output gives the same", positions(wired) == positions(giver), wired.errors())


def check_tetrahedra(page, container, ball):
    tets = container.createNode(operator("tetrahedralize"), "tets")
    tets.setInput(0, ball)
    tets.parm("size").set(0.001)
    volumes = [prim.intrinsicValue("measuredvolume") for prim in tets.geometry().prims()[:50]]
    page.check("tetrahedra have the sign that Houdini calls positive", volumes and min(volumes) > 0, volumes[:3])


def check_command(page, command, seen):
    """The frames of the command, read back by Houdini, are those of the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        scene = os.path.join(folder, "scene.json")
        with open(scene, "w") as file:
            json.dump(SCENE, file)
        subprocess.run([command, "cook", scene, "-o", os.path.join(folder, "out")], check=True, capture_output=True)
        found = sorted(name for name in os.listdir(os.path.join(folder, "out")) if name.endswith((".bgeo.sc", ".bgeo")) and "0010" in name)
        page.check("the command writes frame 10", len(found) == 1, found)
        geometry = hou.Geometry()
        geometry.loadFromFile(os.path.join(folder, "out", found[0]))
        page.check("the plugin gives the command's bytes", geometry.pointFloatAttribValues("P") == seen[10])


def check_files(page, liquid, seen):
    path = liquid.path()
    with tempfile.TemporaryDirectory() as folder:
        hip = os.path.join(folder, "meniscus_check.hip")
        hou.hipFile.save(hip)
        hou.hipFile.load(hip, suppress_save_prompt=True)
    hou.setFrame(10)
    page.check("saved, loaded, and the same again", positions(hou.node(path)) == seen[10])


def check_assets(page, container, assets):
    for name in assets:
        def cook(name=name):
            hou.setFrame(2)
            node = container.createNode(name)
            node.cook(force=True)
            count = len(positions(node)) if not node.errors() else 0
            page.check("cook %s" % name, count > 0, node.errors())
            node.destroy()
        page.run("cook %s" % name, cook)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--meniscus", help="the command, to compare its frames with the plugin's")
    words.add_argument("--assets", default="", help="only these, by a part of their name; all without it")
    words.add_argument("--frames", type=int, default=60, help="how many are played, at least 10")
    words = words.parse_args()
    page = Page()
    print("Houdini %s" % hou.applicationVersionString())
    hou.setFps(25)
    container = hou.node("/obj").createNode("geo", "meniscus_check")
    assets = check_types(page, container)
    ball, _, liquid = drop(container)
    seen = check_frames(page, liquid, words.frames)
    page.run("edits", check_edits, page, ball, liquid, seen)
    page.run("outputs", check_outputs, page, container, liquid)
    page.run("tetrahedra", check_tetrahedra, page, container, ball)
    if words.meniscus:
        page.run("command", check_command, page, words.meniscus, seen)
    check_assets(page, container, [name for name in assets if words.assets in name])
    page.run("files", check_files, page, liquid, seen)
    print("%d checks, %d failures" % (page.count, len(page.failures)))
    print(BY_HAND)
    return 1 if page.failures else 0


if __name__ == "__main__":
    sys.exit(main())
