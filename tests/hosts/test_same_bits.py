#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same bits on every machine, in every host, and from one commit to the next.

    test_same_bits.py             as a test
    test_same_bits.py --update    writes tests/golden/hashes.json anew: a change of bits is a decision, and the commit says why

Every scene in tests/golden is cooked: its frames have the hashes that are kept there; an emulated processor without AVX2 and
fused multiply-add (Debian's qemu-user) gives the same frames and the same checkpoint; so does a host that has set another
rounding mode and traps, and a process forked off one that has cooked.
"""
import hashlib
import json
import shutil
import subprocess
import sys
import unittest

from command_runner import COMMAND, ROOT, CommandTest

GOLDEN = ROOT / "tests/golden"
HASHES = GOLDEN / "hashes.json"
SCENES = sorted(path.stem for path in GOLDEN.glob("*.json") if path != HASHES)
EMULATOR = shutil.which("qemu-x86_64")

# A program of Python in a host that rounds up and traps; prints the hash of each frame.
HOST = """
import ctypes, ctypes.util, sys
sys.path.insert(0, {module!r})
import meniscus
UPWARD, DIVBYZERO_INVALID_OVERFLOW = 0x800, 0x0d
libm = ctypes.CDLL(ctypes.util.find_library("m"))
network = meniscus.Network.load({scene!r})
node = network["state"]
hostile = {hostile}
for frame in (1, 2, 3):
    if hostile:
        libm.fesetround(UPWARD)
        libm.feclearexcept(0x3d)
        libm.feenableexcept(DIVBYZERO_INVALID_OVERFLOW)
    geometry = node.cook(frame=frame)
    if hostile:
        kept = libm.fegetround() == UPWARD and libm.fegetexcept() == DIVBYZERO_INVALID_OVERFLOW
        libm.fedisableexcept(0x3d)
        libm.fesetround(0)
        assert kept, "the mode of the host is not what it was"
    print(geometry.hash)
"""

FORK = """
import os, sys
sys.path.insert(0, {module!r})
import meniscus
def cook():
    network = meniscus.Network.load({scene!r}, threads=3)
    return network["state"].cook(frame=2).hash
before = cook()
child = os.fork()
if child == 0:
    os._exit(0 if cook() == before else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


class SameBits(CommandTest):
    def cook(self, scene, folder, *before):
        done = subprocess.run([*before, COMMAND, "cook", GOLDEN / f"{scene}.json", "-o", self.folder / folder, "--format", "bgeo", "-q"],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, f"{scene}: {done.stderr}")
        return self.frames(folder, "*.bgeo"), self.frames(folder, "*.checkpoint")

    def test_frames_are_those_of_the_commit_before(self):
        known = json.loads(HASHES.read_text())
        for scene in SCENES:
            with self.subTest(scene=scene):
                frames, _ = self.cook(scene, scene)
                now = {name: digest(data) for name, data in frames.items()}
                self.assertEqual(now, known.get(scene), "other bits than before; if that is meant: tests/hosts/test_same_bits.py --update")

    @unittest.skipUnless(EMULATOR, "qemu-user is not installed")
    def test_an_old_processor_agrees(self):
        for scene in SCENES:
            with self.subTest(scene=scene):
                native = self.cook(scene, f"{scene}_native")
                old = self.cook(scene, f"{scene}_old", EMULATOR, "-cpu", "Nehalem")
                for kind, ours, theirs in zip(("frames", "checkpoint"), native, old):
                    differ = [name for name in ours if ours[name] != theirs.get(name)]
                    self.assertEqual(differ, [], f"{scene}: {kind} differ")

    def python(self, text):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_modes_of_a_host_change_nothing(self):
        for scene in SCENES:
            with self.subTest(scene=scene):
                words = {"module": str(ROOT / "plugin/python"), "scene": str(GOLDEN / f"{scene}.json")}
                plain = self.python(HOST.format(hostile=False, **words))
                self.assertEqual(self.python(HOST.format(hostile=True, **words)), plain)
                self.assertEqual(len(plain.split()), 3)

    def test_a_forked_process_cooks(self):
        self.python(FORK.format(module=str(ROOT / "plugin/python"), scene=str(GOLDEN / "mpm.json")))


def update():
    test = SameBits()
    test.setUp()
    hashes = {scene: {name: digest(data) for name, data in test.cook(scene, scene)[0].items()} for scene in SCENES}
    HASHES.write_text(json.dumps(hashes, indent=1) + "\n")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main(verbosity=1)
