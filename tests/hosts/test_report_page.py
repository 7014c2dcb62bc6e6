#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`meniscus report` in a real browser: the page loads without errors and without the network, its plots have the numbers of
the report, clicks and keys do what they should, and a wedge is a table with pictures and plots over each other."""
import json
import math
import re
import shutil
import unittest

import browser
from command_runner import CommandTest

DROP = {"meniscus": 1, "title": "A drop", "fps": 240, "frames": [1, 6], "nodes": [
    {"name": "ball", "type": "shape", "parms": {"kind": "ellipsoid", "radius": [0.0012, 0.0008, 0.0008]}},
    {"name": "fill", "type": "fill", "inputs": ["ball"], "parms": {"dx": 0.0004}},
    {"name": "drop", "type": "mpm_solver", "inputs": ["fill"], "parms": {"dx": 0.0004, "gravity": [0, 0, 0]}},
    {"name": "skin", "type": "surface", "inputs": ["drop"], "parms": {"dx": 0.0003}}], "output": "skin"}


class ReportPage(CommandTest):
    def open(self, path, **options):
        page = browser.Page(self.folder / path, **options)
        self.addCleanup(page.close)
        return page

    def lines(self, path):
        return [json.loads(line) for line in (self.folder / path).read_text().splitlines()]

    def check_series(self, page, key, name, expected):
        """A line of a plot has these numbers, and is drawn where they belong."""
        chart = f"document.querySelector('figure[data-key=\"{key}\"]').chart"
        one = f"{chart}.series.find(one => one.name === '{name}')"
        self.assertEqual(page.value(f"({one}.own || {one}.y)"), expected)
        drawn = re.findall(r"[ML]([-\d.]+) ([-\d.]+)", page.value(f"{one}.path.getAttribute('d')"))
        places = page.value(f"{one}.x.map((x, i) => [{chart}.px(x), {chart}.py({one}.y[i])])")
        for (x, y), place in zip(drawn, places):
            self.assertAlmostEqual(float(x), place[0], delta=0.01)
            self.assertAlmostEqual(float(y), place[1], delta=0.01)
        self.assertGreaterEqual(len(drawn), len(expected))

    def test_a_cook(self):
        self.write_scene(DROP)
        self.succeed("cook", "scene.json", "-o", "x", "--report", "x/report.jsonl", "-q")
        lines = self.lines("x/report.jsonl")
        for line in lines[1:]:
            self.assertEqual(sum(line["limited_by"].values()), line["substeps"])
        self.succeed("report", "x", "-q", "--title", "A </script> drop")
        page = self.open("x/report.html")
        self.assertEqual(page.errors, [])
        self.assertEqual(page.value("document.querySelector('h1').textContent"), "A </script> drop")
        # plots
        for key, name, field in (("volume", "volume", "volume"), ("mass", "mass", "mass"), ("energy", "kinetic", "kinetic_energy"),
                                 ("max_speed", "speed", "max_speed"), ("memory", "memory", "peak_rss_mb")):
            self.check_series(page, key, name, [line[field] for line in lines])
        drift = [math.dist(line["momentum"], lines[0]["momentum"]) for line in lines]
        found = page.value("document.querySelector('figure[data-key=momentum]').chart.series[0].y")
        for a, b in zip(found, drift):
            self.assertAlmostEqual(a, b, delta=1e-12 * max(drift))
        phase = next(iter(set(lines[-1]["seconds"]) - {"total"}))
        self.check_series(page, "seconds", phase, [line["seconds"].get(phase, 0) for line in lines])
        limit = next(iter(lines[-1]["limited_by"]))
        self.check_series(page, "limits", limit, [line.get("limited_by", {}).get(limit, 0) for line in lines])
        # pictures were drawn, and clicks and keys go through them
        self.assertEqual(page.value("document.querySelectorAll('.sheet img').length"), 6)
        self.assertTrue(page.value("[...document.images].every(one => one.alt && one.naturalWidth > 0)"))
        self.assertEqual(page.value("Frame.now"), 6)
        page.click(".sheet button:nth-child(2)")
        self.assertEqual(page.value("[Frame.now, document.querySelector('output').textContent]"), [2, "frame 2"])
        page.key("ArrowRight")
        self.assertEqual(page.value("Frame.now"), 3)
        page.key("Home")
        self.assertEqual(page.value("Frame.now"), 1)
        self.assertIn(" at 1", page.value("document.querySelector('figure[data-key=volume] figcaption').textContent"))
        page.click("figure[data-key=volume] svg")
        self.assertIn(page.value("Frame.now"), (3, 4))
        page.click(".play")
        now = page.value("Frame.now")
        page.wait_for(f"Frame.now !== {now}")
        page.click(".play")
        self.assertEqual(page.value("document.querySelector('.play').getAttribute('aria-pressed')"), "false")
        # 3D
        seen = "(() => { const v = window.viewer, g = v.gl, p = new Uint8Array(4 * v.canvas.width * v.canvas.height); g.readPixels(0, 0, v.canvas.width, v.canvas.height, g.RGBA, g.UNSIGNED_BYTE, p); let n = 0; for (let i = 0; i < p.length; i += 4) n += p[i] !== p[0] || p[i + 1] !== p[1]; return n / (p.length / 4); })()"
        covered = page.value(seen)
        self.assertTrue(0.02 < covered < 0.8, covered)
        before = page.value("window.viewer.yaw")
        page.drag("canvas", (80, 0))
        self.assertAlmostEqual(page.value("window.viewer.yaw") - before, 0.8, places=6)
        page.value("document.querySelector('canvas').focus()")
        page.key("ArrowLeft")
        self.assertAlmostEqual(page.value("window.viewer.yaw") - before, 0.7, places=6)
        # names for those who cannot see it, a table of all numbers, and paper
        self.assertIn("Volume over frames 1 to 6", page.value("document.querySelector('figure[data-key=volume] svg').getAttribute('aria-label')"))
        self.assertTrue(page.value("[...document.querySelectorAll('button, select, input')].every(one => one.textContent.trim() || one.getAttribute('aria-label'))"))
        self.assertEqual(page.value("document.querySelectorAll('#numbers tbody tr').length"), len(lines))
        self.assertGreater(page.pages_on_paper(), 0)
        self.assertEqual(page.errors, [])

    def test_notes_and_folders_without_a_report(self):
        scene = json.loads(json.dumps(DROP))
        scene["frames"] = [1, 2]
        self.write_scene(scene)
        self.succeed("cook", "scene.json", "-o", "x", "-q")
        (self.folder / "x/notes.jsonl").write_text('{"frame": 2, "kind": "warning", "node": "drop", "text": "It is <b>thin</b>."}\n'
                                                   '{"frame": 2, "kind": "error", "node": "", "text": "It broke."}\n{"frame": 2, "ki')
        self.succeed("report", "x", "-q", "--no-pictures", "-o", "page.html")
        page = self.open("page.html")
        self.assertEqual(page.value("[...document.querySelectorAll('#notes li')].map(one => one.textContent)"),
                         ["Warning, frame 2: drop: It is <b>thin</b>.", "Error, frame 2: It broke."])
        self.assertIn("--report", page.value("document.querySelector('#plots').textContent"))
        self.assertTrue(page.value("document.querySelector('#pictures').hidden"))
        self.assertEqual(page.errors, [])

    def test_a_cook_keeps_its_warnings(self):
        scene = json.loads(json.dumps(DROP))
        scene["nodes"][0]["parms"] = {"kind": "sphere", "radius": [0.001, 0.002, 0.001]}
        scene["output"] = "ball"
        self.write_scene(scene)
        done = self.succeed("cook", "scene.json", "-o", "x", "-f", "1")
        self.assertIn("warning: ball:", done.stderr)
        note, = self.lines("x/notes.jsonl")
        self.assertEqual((note["kind"], note["node"], note["frame"]), ("warning", "ball", 1))
        scene["nodes"][0]["parms"]["radius"] = 0.001
        self.write_scene(scene)
        self.succeed("cook", "scene.json", "-o", "x", "-f", "1")
        self.assertFalse((self.folder / "x/notes.jsonl").exists(), "those of the cook before are gone")

    def test_a_wedge(self):
        self.write_scene(DROP)
        self.succeed("cook", "scene.json", "-o", "wedge/calm", "--report", "wedge/calm/report.jsonl", "-q", "-f", "1-4")
        shutil.copytree(self.folder / "wedge/calm", self.folder / "wedge/wild")
        members = [{"name": "calm", "seed": 1, "parameters": {"drop.sigma": 0.5}, "state": "done", "tries": 1, "seconds": 9.5, "frames": 4, "error": ""},
                   {"name": "wild", "seed": 2, "parameters": {"drop.sigma": 0.07}, "state": "done", "tries": 1, "seconds": 20.25, "frames": 4, "error": ""},
                   {"name": "lost", "seed": 3, "parameters": {"drop.sigma": 9}, "state": "failed", "tries": 3, "seconds": 1, "frames": 0, "error": "It came apart."}]
        (self.folder / "wedge/wedge.json").write_text(json.dumps({"meniscus_wedge": 1, "members": members}))
        self.succeed("report", "wedge", "-q")
        page = self.open("wedge/report.html")
        self.assertEqual(page.errors, [])
        names = "[...document.querySelectorAll('#members tbody tr')].map(one => one.cells[0].textContent)"
        self.assertEqual(page.value(names), ["calm", "wild", "lost"])
        page.click("#members th:nth-child(2) button")
        self.assertEqual(page.value(names), ["wild", "calm", "lost"])
        page.click("#members th:nth-child(2) button")
        self.assertEqual(page.value(names), ["lost", "calm", "wild"])
        self.assertEqual(page.value("document.querySelector('#members th:nth-child(2)').getAttribute('aria-sort')"), "descending")
        self.assertEqual(page.value("document.querySelectorAll('.thumbs img').length"), 2)
        lines = self.lines("wedge/calm/report.jsonl")
        self.assertEqual(page.value("document.querySelector('figure[data-key=volume]').chart.series.map(one => [one.name, one.y])"),
                         [["calm", [line["volume"] for line in lines]], ["wild", [line["volume"] for line in lines]]])
        page.click(".thumbs button:nth-child(2)")
        self.assertEqual(page.value("document.querySelectorAll('figure[data-key=volume] .faint').length"), 1)
        self.assertEqual(page.value("document.querySelector('tr.chosen').cells[0].textContent"), "wild")
        self.assertEqual(page.value("document.querySelector('#view select').value"), "wild")
        self.assertIn("Error, lost: It came apart.", page.value("document.querySelector('#notes').textContent"))
        self.assertEqual(page.errors, [])

    def test_bad_folders_have_a_sentence(self):
        self.fail_with(2, "which folder", "report")
        self.fail_with(1, "The folder nowhere cannot be opened", "report", "nowhere")
        (self.folder / "empty").mkdir()
        self.fail_with(1, "holds no frames", "report", "empty")
        self.assertEqual(list((self.folder / "empty").iterdir()), [])
        (self.folder / "empty/wedge.json").write_text('{"members": [{"name": "../x"}]}')
        self.fail_with(1, "needs a name", "report", "empty")
        (self.folder / "empty/wedge.json").write_text("{")
        self.fail_with(2, "wedge.json", "report", "empty")
        # Damaged frames and half a line leave a page of the rest.
        (self.folder / "bad").mkdir()
        (self.folder / "bad/skin.0001.bgeo.sc").write_bytes(b"scf1 not really")
        (self.folder / "bad/report.jsonl").write_text('{"frame": 1, "node": "a", "volume": 2}\n[1]\n{"frame": 2, "no')
        done = self.succeed("report", "bad")
        self.assertIn("no pictures of skin", done.stderr)
        self.assertIn('"volume": 2', (self.folder / "bad/report.html").read_text())


if __name__ == "__main__":
    browser.require()
    unittest.main()
