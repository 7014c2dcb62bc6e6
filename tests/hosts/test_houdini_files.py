#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Houdini reads as text, seen by a reader of its own: assets against the scenes they come from, help, shelf, icons."""
import email
import filecmp
import json
import os
import re
import subprocess
import tempfile
import types
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import npm_packages

SOURCE = Path(os.environ["MENISCUS_SOURCE"])
TOOL = Path(os.environ["MENISCUS_BUILD"]) / "bin" / "meniscus_houdini_files"
COMMAND = os.environ["MENISCUS"]
SCENES = sorted(SOURCE.glob("examples/*/scene.json"))


def load(path):
    return json.loads(path.read_text())


def words(text):
    """DialogScript as nested lists: braces are lists, strings lose their quotes."""
    stack = [[]]
    text = re.sub(r'\[ ("(?:[^"\\]|\\.)*") (?:python|hscript-expr) \]', r"\1", text)  # an expression: its text
    for match in re.finditer(r'#[^\n]*|"((?:[^"\\]|\\.)*)"|([{}])|([^\s{}"]+)', text):
        if match.group(0).startswith("#"):
            continue
        if match.group(2) == "{":
            stack.append([])
        elif match.group(2) == "}":
            done = stack.pop()
            stack[-1].append(done)
        else:
            quoted = match.group(1)
            stack[-1].append(json.loads(match.group(0)) if quoted is not None else match.group(3))
    assert len(stack) == 1, "braces do not match"
    return stack[0]


def pairs(block):
    """[key, value, key, value...] -> list of (key, value); a key may come again."""
    found = []
    i = 0
    while i < len(block):
        found.append((block[i], block[i + 1]))
        i += 2
    return found


def dialog_parms(text):
    parms = {}
    (body,) = words(text)
    for key, value in pairs(body):
        if key == "group":
            for inner, parm in pairs(value):
                if inner == "parm":
                    fields = dict(pairs(parm))
                    parms[fields["name"]] = fields
    return parms


def parm_lines(text):
    """name<tab>[ n<tab>locks=0 ]<tab>(<tab>values<tab>) -> name: (has channel, [values])"""
    found = {}
    lines = text.strip().split("\n")
    assert lines[0] == "{" and lines[1] == "version 0.8" and lines[-1] == "}", lines[:2]
    for line in lines[2:-1]:
        name, flags, values = re.fullmatch(r"(\w+)\t\[ (\d+)\tlocks=0 \]\t\(\t(.*)\)", line).groups()
        if flags == "8":
            found[name] = (True, re.findall(r"\[ (\w+)\t(?:[^\]]*) \]", values))
        else:
            found[name] = (False, values.rstrip("\t").split("\t"))
    return found


RENDER = ["usd_path", "render_material", "material_path"]  # what every asset shows of Render Geometry


def shown_by(scene):
    """(node, where its wire starts) of each piece that an asset shows: the inputs of a last merge, or the output itself."""
    nodes = {node["name"]: node for node in scene["nodes"]}
    last = nodes[scene["output"]]
    links = [link for link in last["inputs"] if link] if last["type"] == "merge" else [last["name"]]
    return {source_name(link) + "_render": (link.partition(":")[0], source_name(link)) for link in links}


def solver_above(types, scene, name):
    nodes = {node["name"]: node for node in scene["nodes"]}
    if is_sim(types, nodes[name]):
        return name
    found = (solver_above(types, scene, link.partition(":")[0]) for link in nodes[name].get("inputs", []) if link)
    return next((one for one in found if one), None)


def is_sim(types, node):
    return types[node["type"]]["kind"] == "sim"


def source_name(link):
    """Where a wire starts inside an asset: at the node, or at the one that gives another of its outputs."""
    source, _, output = link.partition(":")
    return f"{source}_output{int(output) + 1}" if int(output or 0) > 0 else source


def equal(text, value):
    if isinstance(value, bool):
        return text == ('"on"' if value else '"off"')
    if isinstance(value, (int, float)):
        return float(text) == value
    return json.loads(text) == value


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name) / "package"
        subprocess.run([TOOL, cls.root, *SCENES], check=True)
        cls.types = {t["name"]: t for t in json.loads(subprocess.run([COMMAND, "nodes", "--json"], check=True, capture_output=True,
                                                                     text=True).stdout)["nodes"]}
        cls.assets = {}
        for path in SCENES:
            scene = load(path)
            if "asset" in scene:
                cls.assets[scene["asset"]["name"]] = scene

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def inner(self, name):
        library = self.root / "otls" / f"meniscus_{name}.1.0.hda"
        encoded = f"meniscus::Sop/{name}::1.0".replace("_", "__").replace("/", "_1").replace(":", "_8")
        return library, library / encoded

    def parts(self, name):
        message = email.message_from_string((self.inner(name)[1] / "Contents.dir" / "Contents.mime").read_text())
        self.assertTrue(message.is_multipart())
        return {part.get_filename(): part.get_payload() for part in message.get_payload()}

    def test_there_are_assets(self):
        wanted = {"drop_impact", "mercury", "dripping_tap", "contact_angle_plate", "water_bell", "fluid_polygon", "fluid_chain", "catenoid",
                  "bursting_bubble"}
        self.assertLessEqual(wanted, set(self.assets))

    def test_committed_assets_are_the_generated_ones(self):
        def compare(comparison):
            self.assertEqual(comparison.left_only + comparison.right_only, [], comparison.left)
            for file in comparison.common_files:
                left, right = Path(comparison.left) / file, Path(comparison.right) / file
                self.assertEqual(left.read_bytes(), right.read_bytes(), f"{left} differs; run meniscus_houdini_files")
            for sub in comparison.subdirs.values():
                compare(sub)
        compare(filecmp.dircmp(SOURCE / "otls", self.root / "otls", ignore=["README.md"]))

    def test_folders_hold_what_their_lists_say(self):
        for name in self.assets:
            library, inner = self.inner(name)
            self.assertEqual((library / "houdini.hdalibrary").read_bytes(), b"")
            listed = [line.split("\t") for line in (library / "Sections.list").read_text().split("\n")[1:] if line]
            self.assertIn([inner.name, f"meniscus::Sop/{name}::1.0"], listed)
            for file, _ in listed:
                self.assertTrue((library / file).exists(), file)
            for file, section in (line.split("\t") for line in (inner / "Sections.list").read_text().split("\n")[1:] if line):
                self.assertTrue((inner / ("Contents.dir" if section == "Contents.gz" else file)).exists(), file)
            index = dict(re.findall(r"^(\w+): *(.*)$", (library / "INDEX__SECTION").read_text(), re.M))
            self.assertEqual(index["Operator"], f"meniscus::{name}::1.0")
            self.assertEqual(index["Table"], "Sop")
            self.assertEqual(index["Label"], self.assets[name]["asset"].get("label", name))

    def controls(self, scene):
        """What Houdini adds to an asset with simulations inside."""
        sims = [node for node in scene["nodes"] if is_sim(self.types, node)]
        if not sims:
            return RENDER
        own = ["reset_simulation", "simulate", "cache_memory", "checkpoint", "checkpoint_every", "initial_state", "subframes", "show_guides"]
        starts = {node.get("parms", {}).get("start_frame", 1) for node in sims}
        promoted = self.promoted(scene)
        free = "start_frame" not in promoted.values() and not any(parm == "start_frame" for _, parm in promoted)
        return own + (["start_frame"] if free and len(starts) == 1 else []) + RENDER

    def promoted(self, scene):
        """(node, parameter) -> name in the asset."""
        found = {}
        for entry in scene["asset"].get("parms", []):
            node, parm = entry["parm"].split(".")
            found[node, parm] = entry.get("name", parm)
        return found

    def test_dialogs_show_the_promoted_parameters_with_the_scenes_values(self):
        for name, scene in self.assets.items():
            shown = dialog_parms((self.inner(name)[1] / "DialogScript").read_text())
            promoted = self.promoted(scene)
            own = self.controls(scene)
            self.assertEqual(list(shown), list(dict.fromkeys(promoted.values())) + own)
            if own != RENDER:
                sims = [node["name"] for node in scene["nodes"] if is_sim(self.types, node)]
                text = (self.inner(name)[1] / "DialogScript").read_text()
                for sim in sims:
                    self.assertIn(f"'{sim}', ", text)
            nodes = {node["name"]: node for node in scene["nodes"]}
            for (node, parm), label in promoted.items():
                table = {p["name"]: p for p in self.types[nodes[node]["type"]]["parms"]}[parm]
                value = nodes[node].get("parms", {}).get(parm, table["default"])
                if isinstance(value, dict):
                    continue
                if table["type"] == "menu":
                    value = [item["token"] for item in table["items"]].index(value)
                values = value if isinstance(value, list) else [value]
                got = shown[label]["default"]
                self.assertEqual([str(v) for v in got] if table["type"] in ("string", "file") else [float(v) for v in got],
                                 values if table["type"] in ("string", "file") else [float(v) for v in values], f"{name}.{label}")

    def test_promoted_parameters_are_usable(self):
        """Each has a label, a sentence, and a slider that its default lies on."""
        for name in self.assets:
            shown = dialog_parms((self.inner(name)[1] / "DialogScript").read_text())
            self.assertGreaterEqual(len(shown), 4, name)
            for label, fields in shown.items():
                self.assertTrue(fields["label"][0].isupper(), f"{name}.{label}")
                self.assertRegex(fields["help"], r"^[A-Z0-9].*\.$", f"{name}.{label}")
                if label != "reset_simulation" and fields["type"] in ("float", "integer", "vector", "intvector"):
                    low, high = (float(one.rstrip("!")) for one in fields["range"])
                    self.assertLess(low, high)
                    for one in fields["default"]:
                        self.assertTrue(low <= float(one) <= high, f"{name}.{label}: {one} is off its slider {low} to {high}")

    def test_contents_are_the_scene(self):
        for name, scene in self.assets.items():
            parts = self.parts(name)
            self.assertEqual(parts["node_type"].strip(), "Sop")
            self.assertIn(f"type = meniscus::{name}::1.0", parts["hdaroot.init"])
            order = parts["hdaroot.order"].split()
            others = {source_name(link): link for node in scene["nodes"] for link in node.get("inputs", []) if link and ":" in link}
            renders = shown_by(scene)
            simulated = [name for name, (node, _) in renders.items() if solver_above(self.types, scene, node)]
            extra = {"asset_output"} | ({"surface_output"} if simulated else set()) | ({"surface_merge"} if len(simulated) > 1 else set())
            shown = scene["output"]
            if any(node["name"] == shown and node["type"] == "tet_solver" for node in scene["nodes"]):
                # Its solver is shown by its tetrahedra, so the surface is another of its outputs.
                others[f"{shown}_output2"] = f"{shown}:1"
                simulated = [f"{shown}_output2"]
            self.assertEqual(set(order[1:]), {node["name"] for node in scene["nodes"]} | set(others) | set(renders) | extra)
            self.check_shown(name, scene, parts, renders, simulated)
            for giver, link in others.items():
                source, _, output = link.partition(":")
                self.assertIn("type = meniscus::solver_output::1.0", parts[f"hdaroot/{giver}.init"])
                self.assertIn(f"0 \t{source} 0 1\n", parts[f"hdaroot/{giver}.def"])
                self.assertEqual(parm_lines(parts[f"hdaroot/{giver}.parm"]), {"output": (False, [str(int(output) + 1)])})
            self.assertEqual(int(order[0]), len(order) - 1)
            self.assertIn("display on render on", parts["hdaroot/asset_output.def"])
            for node in scene["nodes"]:
                self.check_node(name, scene, node, parts)

    def check_shown(self, name, scene, parts, renders, simulated):
        """What is shown passes through Render Geometry, and the second output is what was simulated."""
        merged = len(renders) > 1 or next(iter(renders)) != scene["output"] + "_render"
        self.assertIn(f'0 \t{scene["output"] if merged else next(iter(renders))} 0 1', parts["hdaroot/asset_output.def"])
        for render, (node, source) in renders.items():
            self.assertIn("type = meniscus::render_geometry::1.0", parts[f"hdaroot/{render}.init"])
            self.assertIn(f"0 \t{source} 0 1\n", parts[f"hdaroot/{render}.def"])
            values = parm_lines(parts[f"hdaroot/{render}.parm"])
            behind = f"/{node}" if merged else ""
            self.assertEqual(values["usd_path"], (False, [f'"`chs(\\"../usd_path\\")`{behind}"']))
            solver = solver_above(self.types, scene, node)
            self.assertEqual(values["render_material"], (True, ["render_material"]) if solver else (False, ['"none"']), f"{name}: {render}")
            if solver:
                self.assertIn('ch(\\"../render_material\\")', parts[f"hdaroot/{render}.chn"])
                self.assertIn(f'ch(\\"../{solver}/time_scale\\")', parts[f"hdaroot/{render}.chn"])
        index = (self.inner(name)[0] / "INDEX__SECTION").read_text()
        self.assertEqual("Outputs:      2\n" in index, bool(simulated))
        if simulated:
            wired = "surface_merge" if len(simulated) > 1 else simulated[0]
            self.assertIn(f"0 \t{wired} 0 1\n", parts["hdaroot/surface_output.def"])
            self.assertEqual(parm_lines(parts["hdaroot/surface_output.parm"]), {"outputidx": (False, ["1"])})
        looks = {"mercury": 2, "melting_figure": 0, "catenoid": 4, "wire_cube": 4, "drop_impact": 1, "water_bell": 1}
        if name in looks:
            shown = dialog_parms((self.inner(name)[1] / "DialogScript").read_text())
            self.assertEqual(shown["render_material"]["default"], [str(looks[name])], name)

    def test_what_is_not_of_scenes(self):
        """The assets for TOPs and LOPs: their lists, their wires, and that every parameter they follow is their own."""
        wanted = {"wedge": ("Top", ["plan", "members", "wait", "collect", "output0"]), "material_library": ("Lop", ["materials", "output0"])}
        for name, (table, order) in wanted.items():
            library = SOURCE / "plugin/houdini/assets" / f"meniscus_{name}.1.0.hda"
            index = dict(re.findall(r"^(\w+): *(.*)$", (library / "INDEX__SECTION").read_text(), re.M))
            self.assertEqual((index["Operator"], index["Table"]), (f"meniscus::{name}::1.0", table))
            listed = [line.split("\t") for line in (library / "Sections.list").read_text().split("\n")[1:] if line]
            inner = library / listed[-1][0]
            self.assertEqual(listed[-1][1], f"meniscus::{table}/{name}::1.0")
            for file, section in (line.split("\t") for line in (inner / "Sections.list").read_text().split("\n")[1:] if line):
                self.assertTrue((inner / ("Contents.dir" if section == "Contents.gz" else file)).exists(), file)
            message = email.message_from_string((inner / "Contents.dir/Contents.mime").read_text())
            parts = {part.get_filename(): part.get_payload() for part in message.get_payload()}
            self.assertEqual(parts["node_type"].strip(), table)
            self.assertEqual(parts["hdaroot.order"].split(), [str(len(order)), *order])
            shown = dialog_parms((inner / "DialogScript").read_text())
            text = "".join(parts.values())
            self.assertLessEqual(set(re.findall(r'chs?\(\\"\.\./(\w+)\\"\)', text)), set(shown))
            card = (inner / "Help").read_text()
            self.assertEqual(set(re.findall(r"#id: (\w+)", card)), set(shown))
            for before, after in zip(order, order[1:]):
                self.assertIn(f"0 \t{before} 0 1\n", parts[f"hdaroot/{after}.def"])
            xml.parse(SOURCE / "plugin/houdini/icons" / f"meniscus_{name}.svg")

    def test_the_commands_of_the_wedge_cook_it(self):
        """What the work items of the TOP asset run, with its parameters filled in, by a shell."""
        library = next((SOURCE / "plugin/houdini/assets").glob("meniscus_wedge*"))
        message = email.message_from_string(next(library.glob("*/Contents.dir/Contents.mime")).read_text())
        parts = {part.get_filename(): part.get_payload() for part in message.get_payload()}
        scene = Path(self.folder.name) / "wedge.json"
        scene.write_text(json.dumps({"meniscus": 1, "frames": [1, 2], "output": "spray", "nodes": [
            {"name": "ball", "type": "shape"}, {"name": "spray", "type": "spray_solver", "inputs": ["ball"], "parms": {"rate": 100}}]}))
        out = Path(self.folder.name) / "wedge out"
        values = {"command": COMMAND, "scene": scene, "vary": "spray.rate=100,200", "frames": "1-2", "folder": out}
        def run(node, index):
            line = json.loads('"' + re.search(r'pdg_command\t\[ 0\tlocks=0 \]\t\(\t"(.*)"\t\)', parts[f"hdaroot/{node}.parm"]).group(1) + '"')
            line = re.sub(r'`chs\("\.\./(\w+)"\)`', lambda match: str(values[match.group(1)]), line).replace("`@pdg_index`", str(index))
            subprocess.run(["sh", "-c", line], check=True, capture_output=True)
        run("plan", 0)
        for member in (1, 0):
            run("members", member)
        run("collect", 0)
        states = [member["state"] for member in json.loads((out / "wedge.json").read_text())["members"]]
        self.assertEqual(states, ["done", "done"])

    def test_materials_are_connected(self):
        """The layer of materials: each has a surface for MaterialX and one for viewports, and what is connected exists. Where tinyusdz is installed, it reads it too."""
        layer = SOURCE / "plugin/houdini/usd/meniscus_materials.usda"
        text, path, prims, links = layer.read_text(), [], {}, []
        for line in text.split("\n"):
            match = re.match(r'\s*def (\w+) "(\w+)"', line)
            if match:
                path.append(match.group(2))
                prims["/" + "/".join(path)] = (match.group(1), set())
            elif line.strip() == "}":
                path.pop()
            else:
                match = re.match(r"\s*(?:uniform )?\w+ ([\w:]+)(\.connect = <([^>]+)>)?", line)
                if match and path:
                    prims["/" + "/".join(path)][1].add(match.group(1))
                    links += [match.group(3)] if match.group(3) else []
        materials = {name.rsplit("/", 1)[1] for name, (kind, _) in prims.items() if kind == "Material"}
        self.assertEqual(materials, {"water", "mercury", "milk", "soap_film"})
        self.assertLessEqual(materials, {item for item in re.findall(r'\{"(\w+)", "', (SOURCE / "plugin/houdini/render_geometry.c").read_text())})
        for name, (kind, properties) in prims.items():
            if kind == "Material":
                self.assertEqual(properties, {"outputs:mtlx:surface", "outputs:surface"}, name)
        for link in links:
            prim, _, output = link.partition(".")
            self.assertIn(output, prims[prim][1], link)
        if (npm_packages.BUILD / "npm/installed").is_file():
            done = npm_packages.run("read_usd.mjs", layer)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("thin_film_thickness.connect = </meniscus/materials/soap_film/nanometres.outputs:out>", json.loads(done.stdout)["text"])

    def check_node(self, name, scene, node, parts):
        path = f'hdaroot/{node["name"]}'
        self.assertIn(f'type = meniscus::{node["type"]}::1.0', parts[path + ".init"])
        wires = re.search(r"\ninputs\n{\n(.*?)}\n", parts[path + ".def"], re.S).group(1)
        got = [(int(i), source, int(output)) for i, source, output in re.findall(r"(\d+) \t(\w+) (\d+) 1\n", wires)]
        wanted = []
        for i, link in enumerate(node.get("inputs", [])):
            if link is not None:
                last = node["type"] == "merge" and node["name"] == scene["output"]
                wanted.append((i, source_name(link) + ("_render" if last else ""), 0))
        self.assertEqual(got, wanted, f"{name}: {node['name']}")
        values = parm_lines(parts[path + ".parm"])
        table = self.types[node["type"]]["parms"]
        channels = parts.get(path + ".chn", "")
        promoted = self.promoted(scene)
        if is_sim(self.types, node):
            for own in ("simulate", "cache_memory", "checkpoint_every", "subframes", "show_guides"):
                self.assertEqual(values.pop(own), (True, [own]))
                self.assertIn(f'ch(\\"../{own}\\")', channels)
            for own in ("checkpoint", "initial_state"):
                self.assertIn(f'chs(\\"../{own}\\")', values.pop(own)[1][0])
            if "start_frame" in self.controls(scene):
                promoted[node["name"], "start_frame"] = "start_frame"
        for parm in table:
            value = node.get("parms", {}).get(parm["name"], parm["default"])
            as_asset = promoted.get((node["name"], parm["name"]))
            if not as_asset and value == parm["default"]:
                self.assertNotIn(parm["name"], values)
                continue
            has_channel, got = values.pop(parm["name"])
            if as_asset and parm["type"] in ("string", "file"):
                self.assertEqual(got, [f'"`chs(\\"../{as_asset}\\")`"'])
            elif as_asset:
                self.assertTrue(has_channel)
                for i in range(parm["size"]):
                    suffix = "" if parm["size"] == 1 else "xyz"[i] if parm["size"] == 3 else str(i + 1)
                    self.assertIn(f"channel {parm['name']}{suffix} {{", channels)
                    self.assertIn(f'ch(\\"../{as_asset}{suffix}\\")', channels)
            elif isinstance(value, dict):
                self.assertTrue(has_channel)
                self.assertIn(f"channel {parm['name']}", channels)
            else:
                self.assertFalse(has_channel)
                wanted = value if isinstance(value, list) else [value]
                self.assertTrue(all(equal(g, w) for g, w in zip(got, wanted, strict=True)), f"{name}: {parm['name']} {got} {wanted}")
        self.assertEqual(values, {}, f"{name}: {node['name']} has parameters of its own")

    def test_help_is_complete(self):
        for name in [*self.types, *self.assets]:
            card = (self.root / "help/nodes/sop" / f"meniscus--{name}-1.0.txt").read_text()
            self.assertIn("#type: node\n#context: sop\n", card)
            self.assertIn(f"#internal: meniscus::{name}\n", card)
            wanted = {p["name"] for p in self.types[name]["parms"]} if name in self.types else set(self.promoted(self.assets[name]).values())
            if name in self.types and self.types[name]["kind"] == "sim":
                wanted |= {"reset_simulation", "simulate", "cache_memory", "checkpoint", "checkpoint_every", "initial_state", "subframes", "show_guides"}
            if name in self.assets:
                wanted |= set(self.controls(self.assets[name]))
            sentences = dict(re.findall(r"#id: (\w+)\n\n    (.+)\n", card))
            self.assertEqual(set(sentences), wanted, name)
            for parm, sentence in sentences.items():
                self.assertRegex(sentence, r"^[A-Z0-9].*\w.*\.$", f"{name}.{parm} has no sentence")
            for section in ("inputs", "outputs") if name in self.types else ():
                for entry in self.types[name][section]:
                    self.assertIn(f"\n{entry['label']}:\n    ", card, f"{name}: {section}")
            self.assertNotRegex(card, r"(?m)^ +$")

    def test_every_node_and_asset_has_an_icon_and_a_tool(self):
        shelf = xml.parse(self.root / "toolbar" / "meniscus.shelf").getroot()
        tools = {tool.get("name"): tool for tool in shelf.findall("tool")}
        members = [member.get("name") for member in shelf.find("toolshelf").findall("memberTool")]
        for name in [*self.types, *self.assets]:
            self.assertIn(f"meniscus::{name}::1.0", tools[f"meniscus_{name}"].find("script").text)
            self.assertIn(f"meniscus_{name}", members)
            icon = xml.parse(SOURCE / "plugin/houdini/icons" / f"meniscus_{name}.svg").getroot()
            self.assertEqual((icon.tag, icon.get("viewBox")), ("{http://www.w3.org/2000/svg}svg", "0 0 64 64"))

    def test_handles_move_parameters_that_are_there(self):
        bound = {}

        class Template:
            def __init__(self, name, label, category):
                self.name = name

            def bindFactory(self, factory):
                factory("name", None)

            def bindIcon(self, icon):
                assert (SOURCE / "plugin/houdini/icons" / f"{icon}.svg").is_file()

            def bindHandleStatic(self, kind, name, pairs):
                assert kind == "xform" and name not in bound.setdefault(self.name, {})
                bound[self.name][name] = pairs

        hou = types.SimpleNamespace(ViewerStateTemplate=Template, sopNodeTypeCategory=lambda: None)
        for path in (self.root / "viewer_states").glob("*.py"):
            code = compile(path.read_text().replace("import hou\n", "") + "\ncreateViewerStateTemplate()\n", path.name, "exec")
            exec(code, {"hou": hou})
        self.assertIn("meniscus::shape::1.0", bound)
        self.assertEqual(set(bound["meniscus::mpm_solver::1.0"]), {"domain", "pin"})
        for operator, handles in bound.items():
            parms = {f"{p['name']}{axis}" for p in self.types[operator.split("::")[1]]["parms"] if p["size"] == 3 for axis in "xyz"}
            for pairs in handles.values():
                self.assertLessEqual({parm for parm, _ in pairs}, parms, operator)
                self.assertLessEqual({to for _, to in pairs}, {"tx", "ty", "tz", "sx", "sy", "sz"})

    def test_the_install_target_lays_out_one_folder_for_packages(self):
        build, prefix = os.environ["MENISCUS_BUILD"], Path(self.folder.name) / "prefix"
        subprocess.run(["cmake", "--build", build, "--target", "houdini_package"], check=True, capture_output=True)
        subprocess.run(["cmake", "--install", build, "--component", "houdini", "--prefix", str(prefix)], check=True, capture_output=True)
        packages = prefix / "houdini"  # to be copied into $HOUDINI_USER_PREF_DIR/packages
        package = load(packages / "meniscus.json")
        self.assertIs(package["load_package_once"], True)
        root = Path(package["hpath"].replace("$HOUDINI_PACKAGE_PATH", str(packages)))
        low, high = re.fullmatch(r"houdini_version >= '([\d.]+)' and houdini_version < '([\d.]+)'", package["enable"]).groups()
        for version in (20.5, 21.0, 22.0):
            self.assertTrue(float(low) <= version < float(high), version)
        for name in [*self.types, *self.assets]:
            self.assertTrue((root / "config/Icons" / f"meniscus_{name}.svg").is_file(), name)
            self.assertTrue((root / "help/nodes/sop" / f"meniscus--{name}-1.0.txt").is_file(), name)
        for name in self.assets:
            self.assertTrue((root / "otls" / f"meniscus_{name}.1.0.hda/INDEX__SECTION").is_file(), name)
        self.assertTrue((root / "toolbar/meniscus.shelf").is_file())
        for path in ("otls/meniscus_wedge.1.0.hda/INDEX__SECTION", "otls/meniscus_material_library.1.0.hda/INDEX__SECTION", "usd/meniscus_materials.usda"):
            self.assertTrue((root / path).is_file(), path)
        self.assertEqual(package["env"], [{"MENISCUS_HOUDINI": package["hpath"]}])

    def test_a_scene_that_is_wrong_gives_a_sentence(self):
        broken = Path(self.folder.name) / "broken.json"
        broken.write_text('{"meniscus": 1, "nodes": [], "asset": {"name": "empty"}}')
        result = subprocess.run([TOOL, Path(self.folder.name) / "other", broken], capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no \"output\"", result.stderr)


if __name__ == "__main__":
    unittest.main()
