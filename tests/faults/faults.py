#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks by seed on the command, its files, its solvers and what they stand on.

  faults.py [--seconds N] [--seed N] [--only NAME]... [--solver TYPE]... [--walk] [--keep DIR]

  inject   one call of malloc, write, fsync, rename, open or pthread_create fails (fault_injection.c), then --resume
  kill     the process is killed at a random moment, time and again, then --resume
  ends     pairs of parameters at the ends of their ranges, as the tables of the nodes give them
  mutate   files of every format with their structure changed: read, written as another, drawn
  scene    scenes with their structure changed

What is asked: no signal, no exit code but 0, 1, 2 and 130, a sentence whenever it is not 0, no number that is not finite in
what comes out, memory and processor time within limits, and after faults and kills the same bytes as a run that met none. A
case that takes longer than its limit is counted as slow, not as wrong, unless nothing was told.

Solvers are found in the tables (`meniscus nodes --json`): every type of the kind sim. A new one joins by itself: its inputs
are fed with each kind of source until it cooks. Faults and kills also meet the scenes of tests/golden. The seed is printed; the same seed and version give the same cases. --walk
injects into every call, one after the other, instead of a few by chance."""
import argparse
import collections
import concurrent.futures
import copy
import gzip
import json
import math
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
COMMAND = os.environ.get("MENISCUS", str(ROOT / "build/release/bin/meniscus"))
LIBRARY = os.environ.get("MENISCUS_FAULTS", str(ROOT / "build/release/lib/libmeniscus_faults.so"))
FORMATS = ("geo", "bgeo", "bgeo.gz", "bgeo.sc", "ply", "obj", "vdb")
CPU_SECONDS, MEMORY = 8, 3 << 30

SPHERE = {"type": "shape", "parms": {"kind": "sphere", "radius": [0.01, 0.01, 0.01], "divisions": [12, 8, 1]}}
# What a solver may want at its first inputs, in the order in which they are tried.
SOURCES = {
    "points": [SPHERE, {"type": "fill", "parms": {"dx": 0.003}}],
    "film": [{"type": "film_source", "parms": {"kind": "disc", "radius": 0.01, "spacing": 0.002}}],
    "tets": [SPHERE, {"type": "tetrahedralize", "parms": {"size": 0.006}}],
    "polygons": [SPHERE],
    "solid": [SPHERE, {"type": "collider", "parms": {"dx": 0.003}}],
    "sheet": [{"type": "shape", "parms": {"kind": "grid", "size": [0.02, 0, 0.02], "divisions": [6, 6, 6]}}],
}


class Failure(Exception):
    pass


def tables():
    text = subprocess.run([COMMAND, "nodes", "--json"], capture_output=True, text=True, check=True).stdout
    return {node["name"]: node for node in json.loads(text)["nodes"]}


def scene_of(source, solver=None, place=0, parms=None, frames=3):
    """A source, and a solver fed with it at one of its inputs."""
    nodes = []
    for i, node in enumerate(copy.deepcopy(SOURCES[source])):
        nodes.append(dict(node, name=f"a{i}", inputs=[f"a{i - 1}"] if i else []))
    if solver:
        nodes.append({"name": "s", "type": solver, "inputs": [None] * place + [nodes[-1]["name"]], "parms": parms or {}})
    return {"meniscus": 1, "frames": [1, frames], "nodes": nodes, "output": nodes[-1]["name"]}


class Attack:
    def __init__(self, options):
        self.options = options
        self.dice = random.Random(options.seed)
        self.folder = Path(tempfile.mkdtemp(prefix="meniscus-faults-"))
        self.count = collections.Counter()
        self.failures = []
        self.tables = tables()
        self.number = 0

    # ---- running ----

    def place(self):
        self.number += 1
        path = self.folder / str(self.number)
        path.mkdir()
        return path

    def run(self, folder, *words, environment=None, cpu=CPU_SECONDS, **options):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, errors="replace", cwd=folder,
                              preexec_fn=limit, env=dict(os.environ, GOMP_SPINCOUNT="0", **(environment or {})),
                              timeout=60 * cpu, **options)

    def judge(self, done, what, finite=None):
        """Counts a case; false when there is nothing more to ask of it."""
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            self.count["slow"] += 1
            return False
        if done.returncode not in (0, 1, 2, 130):
            raise Failure(f"{what}: exit code {done.returncode}: {done.stderr[-400:]}")
        if "Sanitizer" in done.stderr or "terminate called" in done.stderr:
            raise Failure(f"{what}: {done.stderr[-400:]}")
        if done.returncode not in (0, 130) and not done.stderr.strip():
            raise Failure(f"{what}: exit code {done.returncode} without a sentence")
        self.count["refused" if done.returncode else "passed"] += 1
        for path in finite or ():
            self.check_finite(path, what)
        return done.returncode == 0

    def check_finite(self, path, what):
        told = self.run(path.parent, "info", path.name, "--json")
        if told.returncode != 0:
            raise Failure(f"{what}: {path.name} cannot be read: {told.stderr}")
        for corner in json.loads(told.stdout).get("bounds") or []:
            if not all(isinstance(x, (int, float)) and math.isfinite(x) for x in corner):
                raise Failure(f"{what}: {path.name} has the bounds {corner}")

    def keep(self, folder, text):
        self.failures.append(text)
        print(f"FAILED {text}", flush=True)
        if self.options.keep:
            shutil.copytree(folder, Path(self.options.keep) / folder.name, dirs_exist_ok=True)

    # ---- solvers ----

    def solvers(self):
        """A small scene that cooks, for every simulating type."""
        found = {}
        for name, table in self.tables.items():
            if table["kind"] != "sim" or (self.options.solver and name not in self.options.solver):
                continue
            for source in SOURCES:
                for place in range(min(2, max(1, len(table["inputs"])))):
                    scene = scene_of(source, name, place, self.sizes(table))
                    folder = self.place()
                    (folder / "scene.json").write_text(json.dumps(scene))
                    done = self.run(folder, "cook", "scene.json", "-o", "x", "-q", "--format", "geo", "--threads", 1, cpu=4)
                    path = folder / "x/s.0003.geo"
                    if done.returncode != 0 or not path.exists():
                        continue
                    told = json.loads(self.run(folder, "info", path, "--json").stdout)
                    if told["points"] + sum(told["primitives"].values()) > 0:
                        found.setdefault(name, []).append(scene)
                        break
                # A short round has one scene of each; a long one all that cook.
                if name in found and not self.options.walk:
                    break
            if name not in found:
                print(f"note: no source was found for {name}")
        return found

    @staticmethod
    def sizes(table):
        """What makes a small scene: coarse where the table has a resolution, and little time to a frame."""
        wanted = {"dx": 0.003, "spacing": 0.002, "size": 0.006, "time_scale": 0.02, "domain_size": [0.05, 0.05, 0.05]}
        ranges = {parm["name"]: parm for parm in table["parms"]}
        return {name: value for name, value in wanted.items() if name in ranges}

    def golden(self):
        """The scenes of tests/golden, one for every kind of simulation: coupled, melting and others that no table tells of."""
        paths = [path for path in sorted((ROOT / "tests/golden").glob("*.json")) if path.stem != "hashes"]
        if self.options.solver:
            paths = [path for path in paths if path.stem in self.options.solver]
        elif not self.options.walk:
            paths = self.dice.sample(paths, 2)
        return {path.stem: [json.loads(path.read_text())] for path in paths}

    # ---- inject ----

    def injections(self, scenes):
        kinds = ("malloc", "write", "fsync", "rename", "open", "pthread_create")
        cases = []
        for name, variants in {**scenes, **self.staged}.items():
            for scene in variants[:1]:
                threads = {kind: 1 for kind in kinds}
                threads["pthread_create"] = 3
                counts = self.reference(name, scene)
                for kind in kinds:
                    most = counts.get((kind, threads[kind]), 0)
                    numbers = list(range(1, most + 1))
                    if not self.options.walk:
                        numbers = self.dice.sample(numbers, min(len(numbers), 12 if kind == "malloc" else 3))
                    cases += [(name, scene, kind, n, threads[kind], more) for n in numbers
                              for more in (("", "+") if kind == "pthread_create" else ("",))]
        self.dice.shuffle(cases)
        return [lambda case=case: self.inject(*case) for case in cases]

    def reference(self, name, scene):
        """The frames of a cook that nothing happens to, and how many calls it makes."""
        counts = {}
        for threads in (1, 3):
            folder = self.place()
            (folder / "scene.json").write_text(json.dumps(scene))
            done = self.run(folder, "cook", "scene.json", "-o", "x", "-q", "--threads", threads,
                            environment={"LD_PRELOAD": LIBRARY, "MENISCUS_FAULT_COUNTS": str(folder / "counts")})
            if done.returncode != 0:
                raise Failure(f"{name}: the scene does not cook: {done.stderr}")
            for line in (folder / "counts").read_text().splitlines():
                kind, number = line.split()
                counts[kind, threads] = int(number)
            self.whole[name] = self.frames(folder)
        if not counts["malloc", 1]:
            raise Failure(f"{name}: {LIBRARY} sees no call: it is not in the place of libc's functions")
        return counts

    whole = {}

    @staticmethod
    def frames(folder):
        return {path.name: path.read_bytes() for path in sorted((folder / "x").glob("*.bgeo.sc"))}

    def inject(self, name, scene, kind, number, threads, more):
        what = f"inject {name}: {kind} {number}{more} with {threads} threads"
        folder = self.place()
        (folder / "scene.json").write_text(json.dumps(scene))
        words = ["cook", "scene.json", "-o", "x", "-q", "--threads", threads]
        done = self.run(folder, *words, environment={"LD_PRELOAD": LIBRARY, "MENISCUS_FAULT": f"{kind}:{number}{more}"})
        try:
            self.judge(done, what)
            self.resume(folder, name, what)
        except Failure as failure:
            self.keep(folder, str(failure))
        shutil.rmtree(folder, ignore_errors=True)

    def resume(self, folder, name, what):
        for frame, data in self.frames(folder).items():
            if data != self.whole[name][frame]:
                raise Failure(f"{what}: {frame} is not what it should be")
        done = self.run(folder, "cook", "scene.json", "-o", "x", "-q", "--resume")
        if done.returncode != 0:
            raise Failure(f"{what}: --resume: {done.returncode}: {done.stderr[-400:]}")
        if self.frames(folder) != self.whole[name]:
            raise Failure(f"{what}: after --resume the frames are others")

    # ---- kill ----

    def kills(self, scenes):
        scenes = {**scenes, **self.staged}
        for name, variants in scenes.items():
            folder = self.place()
            (folder / "scene.json").write_text(json.dumps(variants[0]))
            self.run(folder, "cook", "scene.json", "-o", "x", "-q")
            self.whole[name] = self.frames(folder)
        return [lambda name=name, scene=variants[0]: self.kill(name, scene) for name, variants in scenes.items()]

    def kill(self, name, scene):
        folder = self.place()
        (folder / "scene.json").write_text(json.dumps(scene))
        words = [COMMAND, "cook", "scene.json", "-o", "x", "--resume"]
        try:
            for _ in range(4):
                process = subprocess.Popen([*words, "--threads", str(self.dice.randint(1, 3))], cwd=folder,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(0.3 * self.dice.random() ** 3)
                process.kill()
                self.count["killed"] += process.wait() == -signal.SIGKILL
            self.resume(folder, name, f"kill {name}")
        except Failure as failure:
            self.keep(folder, str(failure))
        shutil.rmtree(folder, ignore_errors=True)

    # ---- ends ----

    def ends(self, scenes):
        cases = []
        for name, variants in scenes.items():
            numeric = [parm for parm in self.tables[name]["parms"] if "range" in parm or parm["type"] in ("menu", "toggle")]
            for _ in range(400 if self.options.walk else 6):
                if len(numeric) > 1:
                    cases.append((name, self.dice.choice(variants), self.dice.sample(numeric, 2)))
        self.dice.shuffle(cases)
        return [lambda case=case: self.end(*case) for case in cases]

    def value_at_an_end(self, parm):
        if parm["type"] == "toggle":
            return self.dice.random() < 0.5
        if parm["type"] == "menu":
            return self.dice.choice(parm["items"])["token"]
        low, high = parm["range"]
        value = self.dice.choice([low, high, 0.5 * (low + high), math.copysign(math.sqrt(abs(low * high)), high)])
        value = min(max(value, low), high)
        size = parm.get("size", 1)
        value = round(value) if parm["type"] == "int" else value
        return [value] * size if size > 1 else value

    def end(self, name, scene, parms):
        scene = copy.deepcopy(scene)
        node = next(node for node in scene["nodes"] if node["name"] == "s")
        for parm in parms:
            node["parms"][parm["name"]] = self.value_at_an_end(parm)
        what = f"ends {name}: {({parm['name']: node['parms'][parm['name']] for parm in parms})}"
        folder = self.place()
        (folder / "scene.json").write_text(json.dumps(scene))
        try:
            done = self.run(folder, "cook", "scene.json", "-o", "x", "-q", "--format", "geo", "--threads", 1, cpu=4)
            self.judge(done, what, finite=sorted((folder / "x").glob("s.*.geo"))[-1:])
        except Failure as failure:
            self.keep(folder, str(failure))
        shutil.rmtree(folder, ignore_errors=True)

    # ---- mutate ----

    def mutations(self, scenes):
        samples = self.samples(scenes)
        rounds = 200 if self.options.walk else 2
        cases = [(path, self.dice.randrange(1 << 30)) for path in samples for _ in range(rounds)]
        self.dice.shuffle(cases)
        return [lambda case=case: self.mutate(*case) for case in cases]

    def samples(self, scenes):
        """A file of every format that can hold it, of sources and of what solvers give."""
        folder = self.place()
        all_scenes = [scene_of(source) for source in SOURCES] + [variants[0] for variants in scenes.values()]
        paths = []
        for i, scene in enumerate(all_scenes):
            for ending in FORMATS:
                (folder / "scene.json").write_text(json.dumps(scene))
                done = self.run(folder, "cook", "scene.json", "-o", f"{i}", "-q", "-f", "1-1", "--format", ending)
                if done.returncode == 0:
                    paths += (folder / str(i)).glob(f"*.0001.{ending}")
        return paths

    def mutate(self, path, seed):
        dice = random.Random(seed)
        folder = self.place()
        ending = path.name.split(".", 2)[2]
        target = folder / f"in.{ending}"
        target.write_bytes(mutated(path.read_bytes(), ending, dice))
        what = f"mutate {ending} with {seed}"
        try:
            other = dice.choice([e for e in FORMATS if e != ending])
            for words in (["info", target.name], ["convert", target.name, f"out.{other}"],
                          ["preview", target.name, "-o", "x.png", "--size", "64x48"]):
                done = self.run(folder, *words)
                if not self.judge(done, f"{what}: {words[0]}"):
                    break
        except Failure as failure:
            self.keep(folder, str(failure))
        shutil.rmtree(folder, ignore_errors=True)

    # ---- scene ----

    def scenes(self, scenes):
        rounds = 200 if self.options.walk else 3
        cases = [(scene, self.dice.randrange(1 << 30)) for variants in scenes.values() for scene in variants[:1]
                 for _ in range(rounds)]
        return [lambda case=case: self.change_scene(*case) for case in cases]

    def change_scene(self, scene, seed):
        dice = random.Random(seed)
        folder = self.place()
        tree = copy.deepcopy(scene)
        for _ in range(dice.randint(1, 3)):
            tree = mutated_tree(tree, dice)
        (folder / "scene.json").write_text(json.dumps(tree))
        try:
            for words in (["cook", "scene.json", "-o", "x", "-q", "-f", "1-2", "--threads", 1], ["doctor", "scene.json"]):
                self.judge(self.run(folder, *words, cpu=4), f"scene with {seed}: {words[0]}")
        except Failure as failure:
            self.keep(folder, str(failure))
        shutil.rmtree(folder, ignore_errors=True)

    # ---- all ----

    def go(self):
        began = time.monotonic()
        print(f"seed {self.options.seed}")
        scenes, self.staged = self.solvers(), self.golden()
        print("solvers: " + ", ".join(f"{name} ({len(variants)})" for name, variants in scenes.items()))
        kinds = {"inject": self.injections, "kill": self.kills, "ends": self.ends, "mutate": self.mutations,
                 "scene": self.scenes}
        cases = {}
        for name, make in kinds.items():
            if not self.options.only or name in self.options.only:
                cases[name] = collections.deque(make(scenes))
        # A case of each kind in turn, two at a time, until they or the time are at their end.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            while any(cases.values()):
                batch = [queue.popleft() for queue in cases.values() if queue]
                list(pool.map(lambda case: case(), batch))
                if time.monotonic() - began > self.options.seconds:
                    break
        left = sum(len(queue) for queue in cases.values())
        shutil.rmtree(self.folder, ignore_errors=True)
        told = ", ".join(f"{number} {word}" for word, number in sorted(self.count.items()))
        print(f"{told}; {left} cases left, {len(self.failures)} failures, {time.monotonic() - began:.0f} s")
        return 1 if self.failures else 0


# ---- mutators ----

NUMBERS = [0, -1, 1, 2, 255, 256, 65535, 65536, 2 ** 31 - 1, 2 ** 31, -2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63 - 1, -2 ** 63, 1e-300, 1e39,
           1e300, -1e300, 0.5]


def mutated(data, ending, dice):
    """The file with its structure changed where we know it, and its bytes elsewhere."""
    if ending == "geo" and dice.random() < 0.8:
        try:
            return json.dumps(mutated_tree(json.loads(data), dice)).encode()
        except ValueError:
            pass
    if ending == "bgeo.gz" and dice.random() < 0.8:
        return gzip.compress(mutated_bytes(gzip.decompress(data), dice), 1)
    if ending == "obj" or (ending == "ply" and dice.random() < 0.5):
        return mutated_lines(data, dice)
    return mutated_bytes(data, dice)


def mutated_tree(tree, dice):
    """One node of a JSON tree replaced, dropped, doubled or swapped; more likely near the root."""
    if not isinstance(tree, (list, dict)) or not tree or dice.random() < 0.08:
        return dice.choice([dice.choice(NUMBERS), None, True, "", "x" * dice.choice([1, 300, 70000]), [], {}, [tree], "\0\u2028"])
    tree = copy.copy(tree)
    keys = list(range(len(tree))) if isinstance(tree, list) else list(tree)
    key = dice.choice(keys)
    way = dice.random()
    if way < 0.7:
        tree[key] = mutated_tree(tree[key], dice)
    elif way < 0.8:
        del tree[key]
    elif way < 0.9 and isinstance(tree, list):
        tree[key:key] = [tree[dice.choice(keys)]] * dice.choice([1, 2, 100])
    else:
        other = dice.choice(keys)
        tree[key], tree[other] = tree[other], tree[key]
    return tree


def mutated_bytes(data, dice):
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 5])):
        if not data:
            break
        at = dice.randrange(min(len(data), dice.choice([64, 1024, len(data)])) or 1)
        way = dice.random()
        if way < 0.3:
            data[at] = dice.randrange(256)
        elif way < 0.6:  # a count, a size or an offset
            number = dice.choice(NUMBERS)
            form = dice.choice("<>") + dice.choice("bhiqfd")
            try:
                packed = struct.pack(form, number if form[1] in "fd" else int(number))
            except (struct.error, OverflowError):
                packed = b"\xff" * struct.calcsize(form)
            data[at:at + len(packed)] = packed
        elif way < 0.75:
            del data[at:]
        elif way < 0.85:
            del data[at:at + dice.choice([1, 4, 8, 64])]
        else:
            start = dice.randrange(len(data))
            data[at:at] = data[start:start + dice.choice([1, 4, 64, 4096])]
    return bytes(data)


def mutated_lines(data, dice):
    lines = data.split(b"\n")
    for _ in range(dice.choice([1, 2, 5])):
        at = dice.randrange(len(lines))
        words = lines[at].split(b" ")
        way = dice.random()
        if way < 0.5:
            words[dice.randrange(len(words))] = dice.choice([b"", b"nan", b"-inf", b"1e999", b"0", b"-1", b"4294967296", b"99999999999999999999",
                                                             b"1/2/3", b"x" * 70000, b"\xff\xfe"])
            lines[at] = b" ".join(words)
        elif way < 0.7:
            del lines[at:at + dice.choice([1, 10])]
            lines = lines or [b""]
        else:
            lines[at:at] = [lines[dice.randrange(len(lines))]] * dice.choice([1, 50])
    return b"\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=40, help="stop after this long")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MENISCUS_TEST_SEED", time.time_ns() % 10 ** 6)))
    parser.add_argument("--only", action="append", help="inject, kill, ends, mutate or scene; may be given many times")
    parser.add_argument("--solver", action="append", help="this node type or scene of tests/golden; may be given many times")
    parser.add_argument("--walk", action="store_true", help="every call, and many more cases of all kinds")
    parser.add_argument("--keep", help="copy what failed into this folder")
    options = parser.parse_args()
    if not Path(COMMAND).exists():
        print("skipped: the command is not built")
        return 77
    if not Path(LIBRARY).exists() and (not options.only or "inject" in options.only):
        print("note: without libmeniscus_faults.so nothing is injected")
        options.only = [kind for kind in options.only or ["kill", "ends", "mutate", "scene"] if kind != "inject"]
    return Attack(options).go()


if __name__ == "__main__":
    sys.exit(main())
