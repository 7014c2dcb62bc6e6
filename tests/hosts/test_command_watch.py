#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watch DIR: a cook or a wedge from its files, on a real terminal and off it."""
import os
import pty
import select
import struct
import fcntl
import subprocess
import termios
import time
import unittest

from command_runner import COMMAND, CommandTest, spray


class Watch(CommandTest):
    def watch(self, *words, rows=12, columns=100, until=lambda text: False, seconds=60):
        """All that it writes on a terminal of this size, until it ends or `until` says so (then Ctrl-C ends it)."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen([COMMAND, "watch", "--interval", "0.1", *words], stdout=follower, stderr=follower, stdin=follower,
                                   cwd=self.folder, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(follower)
        text, end, asked = "", time.time() + seconds, False
        while time.time() < end:
            if select.select([leader], [], [], 0.1)[0]:
                try:
                    text += os.read(leader, 65536).decode()
                except OSError:
                    break
            if until(text) and not asked:
                os.write(leader, b"\x03")
                asked = True
        code = process.wait(10)
        os.close(leader)
        return code, text

    def test_a_wedge(self):
        self.write_scene(spray(frames=[1, 40], spray_rate=12000))
        pool = subprocess.Popen([COMMAND, "wedge", "scene.json", "--vary", "spray.speed=1,2,3,4", "-o", "w", "-q", "--local", "2",
                                 "--threads", "1"], cwd=self.folder)
        while not (self.folder / "w/plan.json").exists():
            time.sleep(0.02)
        code, text = self.watch("w")
        pool.wait(60)
        self.assertEqual(code, 0, text)
        self.assertIn("running   spray.speed=1", text)
        self.assertIn("s a frame", text)
        self.assertIn("4 members: 4 done", text.split("\x1b[H")[-1])
        for screen in text.split("\x1b[H"):
            lines = screen.replace("\x1b[2J", "").replace("\x1b[J", "").replace("\x1b[K", "").split("\r\n")
            self.assertLessEqual(len(lines), 12)
            self.assertTrue(all(len(line) < 100 for line in lines), lines)

    def test_a_failure_and_many_on_a_small_screen(self):
        self.write_scene(spray(frames=[1, 2], spray_rate=100))
        self.succeed("wedge", "scene.json", "--vary", "spray.speed=0:10:50", "-o", "w", "--plan", "-q")
        for i in range(20):
            name = f"spray.speed={round(i * 10 / 49, 11 if i else 0):.12g}"
            (self.folder / "w" / name).mkdir(exist_ok=True)
        folder = next((self.folder / "w").glob("spray.speed=*"))
        (folder / "state.json").write_text('{"state": "failed", "tries": 3, "seconds": 1, "error": "It tore\\u001b[31m apart."}')
        said = self.succeed("watch", "w").stdout
        self.assertIn("failed", said)
        self.assertIn("apart.", said)
        code, text = self.watch("w", rows=6, columns=60, until=lambda text: "failed" in text)
        self.assertIn(code, (0, 130))

    def test_a_cook(self):
        self.write_scene(spray(frames=[1, 8]))
        self.succeed("cook", "scene.json", "-o", "out", "--report", "out/report.jsonl", "-f", "1-5", "-q")
        said = self.succeed("watch", "out").stdout
        self.assertIn("5/8", said)
        self.assertIn("moved", said)
        self.assertIn("MB", said)
        self.succeed("cook", "scene.json", "-o", "out", "--report", "out/report.jsonl", "-q", "--resume")
        code, text = self.watch("out")
        self.assertEqual(code, 0)
        self.assertIn("8/8", text)

    def test_what_cannot_be(self):
        self.fail_with(1, "no such folder", "watch", "nowhere")
        self.fail_with(1, "neither a wedge nor a cook", "watch", ".")
        self.fail_with(2, "which folder", "watch")


if __name__ == "__main__":
    unittest.main()
