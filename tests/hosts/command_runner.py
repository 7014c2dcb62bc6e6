# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, small scenes, reading pictures."""
import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
COMMAND = os.environ.get("MENISCUS", str(ROOT / "build/release/bin/meniscus"))

# Drops from a moving nozzle, some bouncing about, some dying: every random stream and the state are in play.
SPRAY = {
    "meniscus": 1,
    "title": "Drops for tests",
    "fps": 24,
    "frames": [1, 12],
    "nodes": [
        {"name": "nozzle", "type": "shape",
         "parms": {"kind": "grid", "size": [0.1, 0, 0.1], "center": {"keys": [[1, [0, 0, 0]], [30, [0.5, 0.2, 0]]]}}},
        {"name": "spray", "type": "spray_solver", "inputs": ["nozzle"],
         "parms": {"rate": 40000, "speed": 2, "spread": 30, "radius": 0.001, "life": 0.6, "min_substeps": 3, "seed": 7}},
        {"name": "moved", "type": "transform", "inputs": ["spray"], "parms": {"translate": [0, 1, 0]}},
    ],
    "output": "moved",
}


def spray(**changes):
    """The scene above; keys are node_parm=value or frames=..."""
    scene = json.loads(json.dumps(SPRAY))
    for key, value in changes.items():
        if key in scene:
            scene[key] = value
            continue
        name, parm = key.split("_", 1)
        node = next(node for node in scene["nodes"] if node["name"] == name)
        node["parms"][parm] = value
    return scene


class CommandTest(unittest.TestCase):
    """A test with a folder of its own that is the working folder of the commands it runs."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="meniscus-test-")
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)

    def write_scene(self, scene, name="scene.json"):
        path = self.folder / name
        path.write_text(scene if isinstance(scene, str) else json.dumps(scene, indent=1))
        return path

    def run_command(self, *words, **options):
        return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=300,
                              **options)

    def succeed(self, *words, **options):
        done = self.run_command(*words, **options)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return done

    def fail_with(self, code, part, *words, **options):
        """The command ends with this code and a sentence that holds `part`, and nothing that looks like a crash."""
        done = self.run_command(*words, **options)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        self.assertIn(part, done.stderr)
        self.assertNotIn("Sanitizer", done.stderr)
        return done

    def frames(self, folder, pattern="*.bgeo.sc"):
        """Name and bytes of every file."""
        return {path.name: path.read_bytes() for path in sorted((self.folder / folder).glob(pattern))}

    def digests(self, folder, pattern="*.bgeo.sc"):
        """The same by a hash of the bytes: two that differ are told apart in a readable sentence, and at once."""
        return {name: hashlib.sha256(data).hexdigest()[:16] for name, data in self.frames(folder, pattern).items()}

    def check_threads(self, whole, *words):
        """The scene gives these frames on any number of threads."""
        for threads in ("2", "8"):
            self.succeed("cook", "scene.json", "-o", threads, *words, "-q", "--threads", threads)
            self.assertEqual(self.frames(threads), whole)

    def check_kills(self, whole, times, most_frames, *words):
        """Killed after up to so many frames, time and again, no file is half written; and gone on with it gives these frames."""
        dice = random.Random(5)
        killed = 0
        for _ in range(times):
            process = subprocess.Popen([COMMAND, "cook", "scene.json", "-o", "x", *words, "--resume"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)
            lines = dice.randint(1, most_frames)
            for line in process.stderr:
                lines -= line.startswith("frame ")
                if lines <= 0:
                    break
            process.kill()
            process.stderr.close()
            code = process.wait(60)
            self.assertIn(code, (0, -signal.SIGKILL))
            killed += code != 0
            for name, data in self.frames("x").items():
                self.assertEqual(data, whole[name], f"{name} is not whole")
        self.assertGreater(killed, 0, "the scene is too short for this test")
        self.succeed("cook", "scene.json", "-o", "x", *words, "-q", "--resume", "--threads", "2")
        self.assertEqual(self.frames("x"), whole)


class Picture:
    """A PNG of 8-bit RGB or RGBA, unpacked with nothing but zlib."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
        at, body = 8, b""
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            chunk = data[at + 8:at + 8 + size]
            assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + chunk), "damaged chunk"
            if kind == b"IHDR":
                self.width, self.height, depth, color = struct.unpack(">IIBB", chunk[:10])
                assert depth == 8 and color in (2, 6)
                self.channels = 3 if color == 2 else 4
            body += chunk if kind == b"IDAT" else b""
            at += 12 + size
        assert kind == b"IEND", "not whole"
        self.rows = self._unfilter(zlib.decompress(body))

    def _unfilter(self, raw):
        n, stride, rows = self.channels, self.width * self.channels, []
        before = bytearray(stride)
        for y in range(self.height):
            method, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
            for i in range(stride if method else 0):
                left, up, corner = (row[i - n] if i >= n else 0), before[i], (before[i - n] if i >= n else 0)
                if method == 1:
                    add = left
                elif method == 2:
                    add = up
                elif method == 3:
                    add = (left + up) // 2
                else:
                    guess = left + up - corner
                    add = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
                row[i] = (row[i] + add) & 255
            rows.append(bytes(row))
            before = row
        return rows

    def pixel(self, x, y):
        return tuple(self.rows[y][x * self.channels:(x + 1) * self.channels])

    def alpha(self):
        """Rows of coverage."""
        return [row[3::4] for row in self.rows]
