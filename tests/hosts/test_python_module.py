#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module: networks in code, cancel, progress, errors, scenes, wedges, installing."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT / "plugin/python"))
import meniscus  # noqa: E402


def spray_network(**options):
    net = meniscus.Network(**options)
    nozzle = net.add("shape", "nozzle", kind="grid", size=(0.1, 0, 0.1))
    net.output = net.add("spray_solver", "spray", inputs=[nozzle], rate=10000, seed=3)
    return net


class Tables(unittest.TestCase):
    def test_types_come_from_the_tables(self):
        types = meniscus.node_types()
        self.assertIn("spray_solver", types)
        shape = meniscus.node_type("shape")
        self.assertEqual((shape.kind, shape.parms["kind"].items[0]), ("cook", "sphere"))
        self.assertEqual(shape.parms["radius"].size, 3)
        with self.assertRaisesRegex(meniscus.NotFoundError, "shape"):
            meniscus.node_type("shap")

    def test_every_type_is_made_with_the_defaults_of_the_table(self):
        """The table as the command prints it, and what a fresh node really holds."""
        command = os.environ.get("MENISCUS", str(ROOT / "build/release/bin/meniscus"))
        printed = json.loads(subprocess.run([command, "nodes", "--json"], check=True, capture_output=True, text=True).stdout)["nodes"]
        self.assertEqual([entry["name"] for entry in printed], list(meniscus.node_types()))
        net = meniscus.Network()
        for entry in printed:
            node = net.add(entry["name"])
            self.assertEqual([parm["name"] for parm in entry["parms"]], list(node.table.parms))
            for parm in entry["parms"]:
                held = node.value(parm["name"], 1)
                self.assertEqual(list(held) if isinstance(held, tuple) else held, parm["default"], f"{entry['name']}.{parm['name']}")

    def test_every_parameter_is_documented(self):
        net = meniscus.Network()
        for name, table in meniscus.node_types().items():
            node = net.add(name)
            for parm in table.parms.values():
                self.assertIn(parm.tooltip, parm.doc)
                self.assertIn(parm.name, table.doc)
                self.assertIn(parm.name, dir(node))
            self.assertEqual(type(node).__doc__, table.doc)


class Networks(unittest.TestCase):
    def test_parameters(self):
        net = meniscus.Network()
        ball = net.add("shape", "ball", kind="sphere", radius=(2, 1, 1))
        self.assertEqual((ball.name, ball.kind, ball.radius), ("ball", "sphere", (2, 1, 1)))
        ball.kind = "torus"
        ball["center"] = [1, 2, 3]
        ball.radius = 0.5
        ball.divisions = "8 9 10"
        self.assertEqual((ball.kind, ball["center"], ball.radius, ball.divisions),
                         ("torus", (1, 2, 3), (0.5, 0.5, 0.5), (8, 9, 10)))
        ball.reset_parm("kind")
        self.assertEqual(ball.kind, "sphere")
        with self.assertRaises(meniscus.NotFoundError) as caught:
            ball["radus"] = 1
        self.assertIn("did you mean 'radius'", str(caught.exception))
        with self.assertRaises(AttributeError):
            ball.radus = 1
        with self.assertRaises(AttributeError):
            ball.no_such_thing
        for bad in (-1, float("nan"), (1, 2)):
            with self.assertRaises(meniscus.ArgumentError):
                ball.radius = bad
        with self.assertRaisesRegex(meniscus.Error, "sphere"):
            ball.kind = "cone"

    def test_animation(self):
        net = meniscus.Network()
        ball = net.add("shape", center={1: (0, 0, 0), 11: (10, 0, 0)})
        self.assertEqual(ball.value("center", 6), (5, 0, 0))
        self.assertEqual(ball.keys("center"), [(1, (0, 0, 0)), (11, (10, 0, 0))])
        self.assertAlmostEqual(ball.cook(6).bounds[0][0] + ball.cook(6).bounds[1][0], 10, places=5)
        ball.animate("center", None)
        self.assertEqual((ball.keys("center"), ball.center), ([], (0, 0, 0)))

    def test_connections_and_nodes(self):
        net = meniscus.Network()
        a, b = net.add("shape"), net.add("shape", kind="box")
        both = net.add("merge", inputs=[a, None, b])
        self.assertEqual([node.name for node in net.nodes], ["shape1", "shape2", "merge1"])
        self.assertEqual(both.inputs, [(a, 0), None, (b, 0)])
        self.assertEqual(net["shape1"], a)
        self.assertIn("shape2", net)
        count = both.cook().point_count
        self.assertEqual(count, a.cook().point_count + b.cook().point_count)
        both.connect(None, 2)
        self.assertEqual(both.cook().point_count, a.cook().point_count)
        with self.assertRaisesRegex(meniscus.Error, "loop"):
            net.add("merge", "m", inputs=[both]).network["merge1"].connect("m", 1)
        with self.assertRaisesRegex(meniscus.NotFoundError, "did you mean 'shape1'"):
            net["shape"]
        with self.assertRaises(meniscus.ArgumentError):
            both.connect(meniscus.Network().add("shape"))
        b.remove()
        self.assertNotIn("shape2", net)
        with self.assertRaises(meniscus.Error):
            net.add("shape", "x", radius=-1)
        self.assertNotIn("x", net)

    def test_cooks_only_what_changed(self):
        net = meniscus.Network()
        ball = net.add("shape")
        moved = net.add("transform", inputs=[ball], translate=(1, 0, 0))
        moved.cook()
        moved.cook()
        self.assertEqual((ball.cook_count, moved.cook_count), (1, 1))
        moved.translate = (2, 0, 0)
        moved.cook()
        self.assertEqual((ball.cook_count, moved.cook_count), (1, 2))

    def test_scenes_there_and_back(self):
        net = spray_network()
        net.title, net.fps, net.frames = "A title", 30, (5, 9)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scene.json"
            net.save(path)
            again = meniscus.Network.load(path)
            self.assertEqual((again.title, again.fps, again.frames), ("A title", 30, (5, 9)))
            self.assertEqual(again.to_text(), net.to_text())
            self.assertEqual(again.cook(frame=6).hash, net.cook(frame=6).hash)
            with self.assertRaisesRegex(meniscus.Error, "nowhere.json"):
                meniscus.Network.load(Path(folder) / "nowhere.json")
        with self.assertRaisesRegex(meniscus.SceneError, "mine:1"):
            meniscus.Network.from_text("{", name="mine")

    def test_same_bits_for_any_threads_and_scheduler(self):
        hashes = {spray_network(threads=threads, scheduler=scheduler).cook(frame=6).hash
                  for threads, scheduler in ((1, "threads"), (3, "threads"), (0, "tbb"), (2, "tbb"))}
        self.assertEqual(len(hashes), 1)
        for options in ({"threads": -1}, {"scheduler": "pool"}):
            with self.assertRaises(meniscus.ArgumentError):
                meniscus.Network(**options)


class Errors(unittest.TestCase):
    def test_the_sentence_names_the_node(self):
        net = meniscus.Network()
        lost = net.add("file", "lost", path="/nowhere/at/all.bgeo")
        with self.assertRaises(meniscus.NotFoundError) as caught:
            lost.cook()
        self.assertIn("'lost'", str(caught.exception))
        self.assertEqual(caught.exception.status, "MN_ERROR_NOT_FOUND")
        self.assertEqual(lost.error, str(caught.exception))
        self.assertIsInstance(caught.exception, meniscus.Error)
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(OSError):
            meniscus.Geometry().save(Path(folder) / "no/such/folder.geo")

    def test_required_input(self):
        with self.assertRaisesRegex(meniscus.InputError, "not connected"):
            meniscus.Network().add("transform").cook()

    def test_bad_arguments(self):
        net = spray_network()
        with self.assertRaises(meniscus.ArgumentError):
            net["spray"].cook(frame=float("nan"))
        with self.assertRaises(meniscus.Error):
            net["spray"].cook(frame=1, output=7)
        with self.assertRaises(meniscus.ArgumentError):
            meniscus.Network().cook()
        with self.assertRaises(meniscus.ArgumentError):
            net.add("shape", "a\0b")
        ball = net.add("shape")
        for wrong in ("x", b"x", (0, 1, "x"), ["1", 2, 3]):
            with self.assertRaises((TypeError, meniscus.ArgumentError)):
                ball.center = wrong
            with self.assertRaises((TypeError, meniscus.ArgumentError)):
                meniscus.Geometry().add_points([wrong])
        with self.assertRaisesRegex(meniscus.Error, "did you mean"):
            net.add("shpe")


class CancelAndProgress(unittest.TestCase):
    def test_progress_is_called(self):
        calls = []
        net = spray_network(progress=lambda fraction, what: calls.append((fraction, what)))
        net.cook(frame=40)
        self.assertTrue(calls)
        self.assertTrue(all(0 <= fraction <= 1 and what for fraction, what in calls))

    def test_false_from_progress_cancels_and_frames_stay(self):
        net = spray_network(progress=lambda fraction, what: False)
        with self.assertRaises(meniscus.Cancelled):
            net.cook(frame=100000)
        net.progress = None
        self.assertEqual(net.cook(frame=5).hash, spray_network().cook(frame=5).hash)

    def test_what_progress_raises_comes_out(self):
        class Mine(Exception):
            pass

        def progress(fraction, what):
            raise Mine("stop")

        net = spray_network(progress=progress)
        with self.assertRaises(Mine):
            net.cook(frame=100000)
        with self.assertRaises(KeyboardInterrupt):
            net.progress = lambda fraction, what: (_ for _ in ()).throw(KeyboardInterrupt)
            net.cook(frame=100000)

    def test_cancel_from_another_thread(self):
        started = threading.Event()
        net = spray_network(progress=lambda fraction, what: started.set())
        net.cancel()  # nothing runs: nothing happens
        caught = []

        def cook():
            try:
                net.cook(frame=1000000)
            except meniscus.Error as error:
                caught.append(error)

        thread = threading.Thread(target=cook)
        thread.start()
        self.assertTrue(started.wait(60))
        net.cancel()
        thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertIsInstance(caught[0], meniscus.Cancelled)
        net.cook(frame=3)

    def test_a_callback_may_not_use_the_network(self):
        refused = []

        def progress(fraction, what):
            try:
                net.cook(frame=1)
            except meniscus.Error as error:
                refused.append(str(error))
            return False

        net = spray_network(progress=progress)
        with self.assertRaises(meniscus.Cancelled):
            net.cook(frame=100000)
        self.assertIn("is cooking", refused[0])


INTERRUPTED = """
import sys
import meniscus
net = meniscus.Network({options})
ball = net.add("shape", "ball", kind="sphere", radius=0.01)
fill = net.add("fill", "fill", inputs=[ball], dx=0.002)
liquid = net.add("mpm_solver", "liquid", inputs=[fill], dx=0.002)
print("cooking", flush=True)
try:
    liquid.cook(100000)
except KeyboardInterrupt:
    print("interrupted", liquid.cook(1).point_count, flush=True)
"""


class Interrupt(unittest.TestCase):
    def test_ctrl_c_stops_a_cook(self):
        for options in ("", "progress=lambda fraction, what: None", "scheduler='tbb'"):
            with self.subTest(options):
                process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(options=options)], stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True,
                                           env=dict(os.environ, PYTHONPATH=str(ROOT / "plugin/python")))
                self.assertEqual(process.stdout.readline().strip(), "cooking")
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
                out, errors = process.communicate(timeout=60)
                self.assertIn("interrupted", out)
                self.assertNotEqual(out.split()[-1], "0")  # the network is whole
                self.assertEqual(process.returncode, 0, errors)


class CookJobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="meniscus-job-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def job(self, frames, **options):
        net = spray_network()
        return meniscus.CookJob(net.to_text(), self.folder, [("spray", 0, "spray")], frames, **options)

    def test_it_writes_what_a_cook_gives(self):
        job = self.job([1, 2, 3])
        self.assertEqual(job.wait(60), job.ENDED)
        self.assertEqual((job.status, job.look()[1], job.kinds(0)), ("MN_OK", 3, {"points"}))
        for frame in (1, 3):
            there = meniscus.Geometry.read(str(self.folder / f"spray.{frame:04d}.bgeo.sc"))
            self.assertEqual(there.hash, spray_network().cook(frame=frame).hash)

    def test_held_it_writes_nothing_before_it_is_released(self):
        job = self.job([2, 3], hold=True)
        self.assertEqual(job.wait(60), job.HELD)
        self.assertEqual(list(self.folder.iterdir()), [])
        job.release()
        self.assertEqual(job.wait(60), job.ENDED)
        self.assertEqual(len(list(self.folder.glob("*.bgeo.sc"))), 2)

    def test_cancel_and_failure(self):
        job = self.job(range(1, 100000))
        job.cancel()
        self.assertEqual((job.wait(60), job.status), (job.ENDED, "MN_ERROR_CANCELLED"))
        held = self.job([1], hold=True)
        held.wait(60)
        held.cancel()
        self.assertEqual((held.wait(60), held.status), (held.ENDED, "MN_ERROR_CANCELLED"))
        bad = meniscus.CookJob('{"meniscus": 1, "nodes": [{"name": "f", "type": "file", "parms": {"path": "none.geo"}}]}', self.folder,
                               [("f", 0, "f")], [1])
        self.assertEqual(bad.wait(60), bad.ENDED)
        self.assertIn("none.geo", bad.message)
        self.assertEqual([(node, is_error) for node, _, is_error in bad.notes()], [("f", True)])
        del job, held, bad


class Installing(unittest.TestCase):
    def test_a_wheel_holds_everything(self):
        import zipfile
        wheels = list((Path(os.environ.get("MENISCUS_BUILD", ROOT / "build/release")) / "python").glob("*.whl"))
        if not wheels:
            self.skipTest("the wheel is not built (target python_wheel)")
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(wheels[0]) as wheel:
                self.assertIsNone(wheel.testzip())
                wheel.extractall(folder)  # which is what installing a wheel is
            environment = {key: value for key, value in os.environ.items() if not key.startswith("MENISCUS")}
            environment["PYTHONPATH"] = folder
            code = "import meniscus; print(meniscus.__version__, meniscus.__file__, len(meniscus.materials()))"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            version, file, count = done.stdout.split()
            self.assertEqual((version, Path(file).parent.parent), (meniscus.__version__, Path(folder)))
            self.assertGreater(int(count), 5)
            done = subprocess.run([sys.executable, "-m", "meniscus", "--version"], capture_output=True, text=True,
                                  env=environment, cwd=folder)
            self.assertEqual((done.returncode, done.stdout), (0, f"meniscus {meniscus.__version__}\n"))
            done = subprocess.run([sys.executable, "-m", "meniscus", "cook"], capture_output=True, text=True, env=environment,
                                  cwd=folder)
            self.assertEqual(done.returncode, 2, done.stderr)


    def test_pip_installs_from_the_build_folder(self):
        build = Path(os.environ.get("MENISCUS_BUILD", ROOT / "build/release"))
        if not (build / "pyproject.toml").is_file():
            self.skipTest("the wheel is not built (target python_wheel)")
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
            self.skipTest("pip is missing; install python3-pip")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", "--disable-pip-version-check",
                                   "--no-warn-script-location", "--root-user-action=ignore", "--target", folder, "."],
                                  capture_output=True, text=True, cwd=build)
            self.assertEqual(done.returncode, 0, done.stderr)
            environment = {key: value for key, value in os.environ.items() if not key.startswith("MENISCUS")}
            environment["PYTHONPATH"] = folder
            done = subprocess.run([str(Path(folder) / "bin/meniscus"), "--version"], capture_output=True, text=True, env=environment)
            self.assertEqual((done.returncode, done.stdout), (0, f"meniscus {meniscus.__version__}\n"), done.stderr)

    def test_stubs_have_every_parameter_of_every_node_type(self):
        import ast
        import keyword
        sys.path.insert(0, str(ROOT / "plugin/python"))
        import make_stubs
        tree = ast.parse(make_stubs.stubs(meniscus))
        classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
        for name, table in meniscus.node_types().items():
            members = {one.name for one in classes[name].body if isinstance(one, ast.FunctionDef)}
            wanted = {parm for parm in table.parms if not keyword.iskeyword(parm) and not hasattr(meniscus.Node, parm)}
            self.assertEqual(members, wanted, name)
        told = {one.name for one in classes["Network"].body if isinstance(one, ast.FunctionDef)}
        self.assertLessEqual({one for one in vars(meniscus.Network) if not one.startswith("_")}, told)
        overloads = [one for one in classes["Network"].body if isinstance(one, ast.FunctionDef) and one.name == "add"]
        self.assertEqual(len(overloads), len(meniscus.node_types()) + 1)


class Examples(unittest.TestCase):
    def test_the_handoff_gives_a_stage_and_a_page(self):
        scene = {"meniscus": 1, "title": "Small", "fps": 240, "frames": [1, 9], "nodes": [
            {"name": "ball", "type": "shape", "parms": {"kind": "ellipsoid", "radius": [0.0012, 0.0008, 0.0008]}},
            {"name": "fill", "type": "fill", "inputs": ["ball"], "parms": {"dx": 0.0004}},
            {"name": "drop", "type": "mpm_solver", "inputs": ["fill"], "parms": {"dx": 0.0004, "gravity": [0, 0, 0]}},
            {"name": "skin", "type": "surface", "inputs": ["drop"], "parms": {"dx": 0.0003}}], "output": "skin"}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scene.json"
            path.write_text(json.dumps(scene))
            environment = dict(os.environ, PYTHONPATH=str(ROOT / "plugin/python"))
            done = subprocess.run([sys.executable, str(ROOT / "examples/python/handoff.py"), str(path), str(Path(folder) / "out"), "3"],
                                  capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            made = {one.relative_to(folder).as_posix() for one in Path(folder).rglob("*")}
            self.assertLessEqual({"out/usd/scene.usda", "out/usd/skin.0003.usda", "out/report.html", "out/shot.json"}, made)
            self.assertIn("</scene/materials/ethanol>", (Path(folder) / "out/usd/scene.usda").read_text())


class Finding(unittest.TestCase):
    def test_a_wrong_library_is_said(self):
        code = f"import sys; sys.path.insert(0, {str(ROOT / 'plugin/python')!r}); import meniscus"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env=dict(os.environ, MENISCUS_LIBRARY="/nowhere/libmeniscus_plugin.so"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("MENISCUS_LIBRARY", done.stderr)


class Materials(unittest.TestCase):
    def test_all_have_values_and_a_source(self):
        found = meniscus.materials()
        for name in ("water", "mercury", "gallium", "ethanol", "glycerol", "honey", "soap_solution", "molten_lead"):
            entry = found[name]
            self.assertTrue(500 < entry["density"] < 14000 and 0 < entry["viscosity"] < 100 and 0.01 < entry["sigma"] < 1, name)
            self.assertTrue(entry["source"])
        with self.assertRaises(meniscus.NotFoundError):
            meniscus.material("watr")

    def test_a_node_takes_what_it_has(self):
        net = meniscus.Network()
        drop, ball = net.add("mpm_solver", "drop"), net.add("shape", "ball")
        meniscus.set_material(drop, "mercury")
        self.assertEqual((drop.density, drop.sigma, drop.viscosity), (13534, 0.4855, 0.001526))
        meniscus.set_material(ball, "mercury")


class Checkpoints(unittest.TestCase):
    def test_going_on_gives_the_same_geometry(self):
        one = spray_network()
        wanted = [one.cook(frame=frame).hash for frame in range(1, 9)]
        with tempfile.TemporaryDirectory() as folder:
            two = spray_network()
            self.assertIsNone(two.load_checkpoint("spray", folder))
            two.cook(frame=5)
            two.save_checkpoint("spray", folder)
            three = spray_network()
            self.assertEqual(three.load_checkpoint("spray", folder), 5)
            self.assertEqual([three.cook(frame=frame).hash for frame in (5, 6, 7, 8)], wanted[4:])
            self.assertLess(three["spray"].cook_count, 5)
            other = spray_network()
            other["spray"].rate = 77
            with self.assertRaises(meniscus.UnsupportedError):
                other.load_checkpoint("spray", folder)


class Wedges(unittest.TestCase):
    def test_the_verbs(self):
        with tempfile.TemporaryDirectory(prefix="meniscus-test-") as folder:
            scene = Path(folder) / "scene.json"
            scene.write_text(json.dumps({
                "meniscus": 1, "frames": [1, 2], "output": "spray",
                "nodes": [{"name": "nozzle", "type": "shape", "parms": {"kind": "grid"}},
                          {"name": "spray", "type": "spray_solver", "inputs": ["nozzle"], "parms": {"rate": 1000}}]}))
            wedge = meniscus.Wedge(Path(folder) / "w")
            with self.assertRaisesRegex(meniscus.SceneError, "spead"):
                wedge.start(scene, vary={"spray.spead": [1, 2]})
            wedge.start(scene, vary={"spray.speed": [1, 2]}, plan=True)
            wedge.cancel("spray.speed=2").run()
            self.assertEqual([m["state"] for m in wedge.status()["members"]], ["done", "cancelled"])
            wedge.retry().start(scene, vary={"spray.speed": "3:4:2"}, local=2)
            self.assertEqual({m["state"] for m in wedge.wait(60)["members"]}, {"done"})
            wedge.start(scene, vary={"spray.speed": [5]}, plan=True)
            self.assertIn("--array=0-0", wedge.commands("slurm"))
            with self.assertRaisesRegex(meniscus.Error, "not done after 0 s"):
                wedge.wait(0)
            with unittest.mock.patch.dict(os.environ, PATH="/nowhere"), self.assertRaisesRegex(meniscus.Error, "no sbatch"):
                wedge.run(slurm=True)
            wedge.run()
            table = wedge.collect()
            self.assertEqual([(m["parameters"]["spray.speed"], m["state"]) for m in table["members"]],
                             [(speed, "done") for speed in (1, 2, 3, 4, 5)])
            with self.assertRaises(meniscus.Error):
                meniscus.Wedge(folder).status()


if __name__ == "__main__":
    unittest.main(verbosity=1)
