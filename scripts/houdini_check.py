#!/usr/bin/env hython
# SPDX-License-Identifier: Apache-2.0
"""Ten minutes with Houdini: does the package load, and does everything behave as we believe it does?

    HOUDINI_DSO_ERROR=2 hython scripts/houdini_check.py [--meniscus build/release/bin/meniscus] > houdini_check.txt

Prints one page: a line for each check, "ok" or "FAIL" with what was found, and what can only be seen by hand. Send the page back.
Written without Houdini; tests run it against a double of `hou`, so what it proves here is that the script itself works."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import hou

PREFIX = "meniscus::"
BY_HAND = """
By hand, five minutes:
 - Play the asset Mercury, press Esc in the middle, go back: the frames made so far are there, and the next frame goes on.
 - The domain's box is drawn around a selected solver with Use Domain on; middle mouse on the solver shows its report.
 - Connect a collider to a solver: its wire is dashed. The arrow behind a Group field picks in the viewport and writes numbers.
 - Tab > Meniscus lists the nodes with their icons; F1 on a node opens its help.
 - Performance Monitor while playing with an animated collider: each node above the solver cooks once a frame.
 - Render an asset in Karma: SOP Import, Material Library of Meniscus, the soap film's colours follow its thickness, motion blur is as long as the way.
 - Switch Simulation off on the playbar: frames that were made play, a new one is not made and says so."""


class Page:
    """The checks, numbered as they come; those that docs/houdini.md speaks of have its letter and number in front."""

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
    page.check("A2 no frame is shown twice at 25 frames a second", not twice, twice)
    hou.setFrame(10)
    page.check("going back gives the same frame", positions(liquid) == seen[10])
    liquid.parm("reset_simulation").pressButton()
    page.check("the same again after Reset Simulation", positions(liquid) == seen[10])
    return seen


def check_edits(page, ball, liquid, seen):
    """An edit above a simulation, while parked on a later frame, starts it again."""
    hou.setFrame(10)
    ball.parmTuple("radius").set((0.002, 0.002, 0.002))
    page.check("B5 an edit above is noticed", positions(liquid) != seen[10])
    ball.parmTuple("radius").set((0.003, 0.002, 0.002))
    page.check("and taken back", positions(liquid) == seen[10])


def check_outputs(page, container, liquid):
    giver = container.createNode(operator("solver_output"), "giver")
    giver.setInput(0, liquid)
    page.check("B4 Solver Output gives the surface", len(giver.geometry().prims()) > 0, giver.errors())
    wired = container.createNode(operator("merge"), "wired")
    wired.setInput(0, liquid, 1)
    wired.cook(force=True)
    page.check("B4 a wire from the second output gives the same", positions(wired) == positions(giver), wired.errors())


def check_verbs(page, fill, ball):
    """A node without memory as compiled blocks run it."""
    verb = hou.sopNodeTypeCategory().nodeVerb(operator("fill"))
    page.check("C2 fill is a verb", verb is not None, verb)
    page.check("C2 a simulation is none", hou.sopNodeTypeCategory().nodeVerb(operator("mpm_solver")) is None)
    verb.setParms({"dx": 0.0005})
    made = hou.Geometry()
    verb.execute(made, [ball.geometry()])
    page.check("C2 the verb gives the node's bytes", made.pointFloatAttribValues("P") == positions(fill))


def check_inputs(page, container):
    """What artists feed: primitive spheres, packed geometry, dense volumes."""
    for kind in ("sphere", "pack", "volume"):
        def feed(kind=kind):
            source = container.createNode(kind)
            if kind == "pack":
                source.setInput(0, container.createNode("box"))
            merge = container.createNode(operator("merge"))
            merge.setInput(0, source)
            merge.cook(force=True)
            found = len(merge.geometry().prims())
            page.check("C7 %s comes in" % kind, found > 0 and not merge.warnings() and not merge.errors(), (found, merge.warnings(), merge.errors()))
        page.run("C7 %s comes in" % kind, feed)


def check_groups(page, container, ball):
    """What a group field names is all that moves."""
    move = container.createNode(operator("transform"), "part")
    move.setInput(0, ball)
    move.parmTuple("translate").set((0, 1, 0))
    move.parm("group").set("0-1")
    heights = positions(move)[1::3]
    raised = sum(y > 0.5 for y in heights)
    page.check("C10 a group field takes what it names", 3 <= raised <= 6 and raised < len(heights), (raised, len(heights)))
    move.destroy()


def check_initial_state(page, container, fill, liquid, seen):
    """Another solver starts with the state of frame 5."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "liquid.state")
        liquid.parm("checkpoint").set(path)
        liquid.parm("checkpoint_every").set(1)
        liquid.parm("reset_simulation").pressButton()
        for frame in range(1, 6):
            hou.setFrame(frame)
            positions(liquid)
        liquid.parm("checkpoint").set("")
        other = container.createNode(operator("mpm_solver"), "other")
        other.setInput(0, fill)
        for name in ("dx", "time_scale"):
            other.parm(name).set(liquid.parm(name).eval())
        other.parm("initial_state").set(path)
        hou.setFrame(1)
        page.check("C6 a simulation starts from a frame of another", positions(other) == seen[5], other.errors())
        hou.setFrame(3)
        page.check("C6 and goes on as that one did", positions(other) == seen[7], other.errors())
        other.destroy()


def check_between(page, liquid, seen):
    hou.setFrame(10.5)
    page.check("C6 points move between frames", positions(liquid) not in (seen[10], seen[9]))
    hou.setFrame(10)
    page.check("C6 and the whole frame is itself", positions(liquid) == seen[10])


def check_playbar(page, liquid, seen, last):
    """Enable Simulation off: what was made is shown, and nothing is made."""
    hou.setSimulationEnabled(False)
    try:
        hou.setFrame(10)
        page.check("C4 a frame that was made is shown", positions(liquid) == seen[10] and not liquid.warnings(), liquid.warnings())
        hou.setFrame(last + 5)
        liquid.cook(force=True)
        page.check("C4 a new one is not made, and it says so", any("playbar" in one for one in liquid.warnings()), liquid.warnings())
    finally:
        hou.setSimulationEnabled(True)
        hou.setFrame(10)


def check_stage(page):
    """The material library for Solaris, which holds a node of Houdini's own."""
    library = hou.node("/stage").createNode(operator("material_library"))
    for name in ("water", "mercury", "milk", "soap_film"):
        page.check("I8 material %s is in the stage" % name, library.stage().GetPrimAtPath("/meniscus/materials/" + name).IsValid(), library.errors())


def check_tops(page):
    wedge = hou.node("/tasks").createNode("topnet").createNode(operator("wedge"))
    for name in ("plan", "members", "collect"):
        text = wedge.node(name).parm("pdg_command").unexpandedString()
        page.check("I6 the work item '%s' has its command" % name, "wedge" in text and "folder" in text, text)
    page.check("I6 as many members as asked for", wedge.node("members").parm("itemcount").eval() == wedge.parm("count").eval())


def check_hotl(page, assets):
    """Each asset as one file and back: what Houdini writes otherwise is listed."""
    hotl = shutil.which("hotl") or os.path.join(os.environ.get("HFS", ""), "bin", "hotl")
    if not os.path.exists(hotl):
        print("     hotl is not there; its round trip is left out")
        return
    for name in assets:
        path = hou.sopNodeTypeCategory().nodeTypes()[name].definition().libraryFilePath()
        with tempfile.TemporaryDirectory() as folder:
            whole, back = os.path.join(folder, "whole.hda"), os.path.join(folder, "back")
            subprocess.run([hotl, "-l", path, whole], check=True, capture_output=True)
            subprocess.run([hotl, "-t", back, whole], check=True, capture_output=True)
            other = []
            for root, _, files in os.walk(path):
                for file in files:
                    one, twin = os.path.join(root, file), os.path.join(back, os.path.relpath(os.path.join(root, file), path))
                    if not os.path.exists(twin) or open(twin, "rb").read() != open(one, "rb").read():
                        other.append(os.path.relpath(one, path))
            page.check("B3 %s comes back from hotl as it was" % name, not other, other)


def check_tetrahedra(page, container, ball):
    tets = container.createNode(operator("tetrahedralize"), "tets")
    tets.setInput(0, ball)
    tets.parm("size").set(0.001)
    volumes = [prim.intrinsicValue("measuredvolume") for prim in tets.geometry().prims()[:50]]
    page.check("B11 tetrahedra have the sign that Houdini calls positive", volumes and min(volumes) > 0, volumes[:3])


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
        page.check("E1 the plugin gives the command's bytes", geometry.pointFloatAttribValues("P") == seen[10])


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
            page.check("I8 %s is ready to render" % name, node.geometry().findPrimAttrib("path") is not None)
            page.check("C1 %s gives its surface by the second output" % name, len(positions(node, 1)) > 0, node.errors())
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
    ball, fill, liquid = drop(container)
    seen = check_frames(page, liquid, words.frames)
    page.run("edits", check_edits, page, ball, liquid, seen)
    page.run("outputs", check_outputs, page, container, liquid)
    page.run("verbs", check_verbs, page, fill, ball)
    page.run("inputs", check_inputs, page, container)
    page.run("groups", check_groups, page, container, ball)
    page.run("initial state", check_initial_state, page, container, fill, liquid, seen)
    page.run("between frames", check_between, page, liquid, seen)
    page.run("playbar", check_playbar, page, liquid, seen, words.frames)
    page.run("stage", check_stage, page)
    page.run("tops", check_tops, page)
    page.run("tetrahedra", check_tetrahedra, page, container, ball)
    if words.meniscus:
        page.run("command", check_command, page, words.meniscus, seen)
    check_assets(page, container, [name for name in assets if words.assets in name])
    page.run("hotl", check_hotl, page, [name for name in assets if words.assets in name])
    page.run("files", check_files, page, liquid, seen)
    print("%d checks, %d failures" % (page.count, len(page.failures)))
    print(BY_HAND)
    return 1 if page.failures else 0


if __name__ == "__main__":
    sys.exit(main())
