#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wedge: every member is a cook of its own that can be stopped, killed and gone on with; names and seeds do not depend on order."""
import csv
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from command_runner import COMMAND, CommandTest, spray

SMALL = spray(frames=[1, 6], spray_rate=2000)
LONG = spray(frames=[1, 40], spray_rate=12000)


class WedgeTest(CommandTest):
    def table(self, folder="w"):
        return json.loads((self.folder / folder / "wedge.json").read_text())

    def status(self, folder="w"):
        return {m["name"]: m for m in json.loads(self.succeed("wedge", "status", folder, "--json").stdout)["members"]}

    def plan(self, *words, folder="w"):
        self.succeed("wedge", "scene.json", *words, "-o", folder, "--plan", "-q")
        return {m["name"]: m for m in json.loads((self.folder / folder / "plan.json").read_text())["members"]}

    def start(self, *words):
        return subprocess.Popen([COMMAND, "wedge", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                cwd=self.folder)

    def wait_for(self, what, seconds=60):
        for _ in range(int(seconds * 20)):
            found = what()
            if found:
                return found
            time.sleep(0.05)
        self.fail("it took too long")

    def check_member(self, name, settings, *words, folder="w"):
        """Its frames are those of a cook of its own."""
        self.succeed("cook", "scene.json", "-o", "alone", "-q", *words, *(w for s in settings for w in ("--set", s)))
        self.assertEqual(self.digests(f"{folder}/{name}"), self.digests("alone"))


class Cooked(WedgeTest):
    def test_forty_members(self):
        self.write_scene(SMALL)
        self.succeed("wedge", "scene.json", "--vary", "spray.speed=1:4:10", "--vary", "spray.spread=0,10,20,30", "--local", 4, "-o", "w",
                     "-q", "--threads", 1)
        members = self.table()["members"]
        self.assertEqual(len(members), 40)
        for member in members:
            self.assertEqual((member["state"], member["frames"], member["tries"], member["error"]), ("done", 6, 1, ""))
            self.assertEqual(member["report"]["spray"]["frame"], 6)
        with open(self.folder / "w/wedge.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["name"] for row in rows], [member["name"] for member in members])
        self.assertEqual([float(row["spray.particles"]) for row in rows],
                         [member["report"]["spray"]["particles"] for member in members])
        self.check_member("spray.speed=2,spray.spread=20", ["spray.speed=2", "spray.spread=20"])
        before = {path: path.stat().st_mtime_ns for path in (self.folder / "w").glob("*/*.bgeo.sc")}
        # More of them later: only those are cooked.
        self.succeed("wedge", "scene.json", "--vary", "spray.speed=1,5", "--vary", "spray.spread=0", "-o", "w", "-q", "--threads", 1)
        self.assertEqual([m["name"] for m in self.table()["members"][40:]], ["spray.speed=5,spray.spread=0"])
        self.assertEqual({path: path.stat().st_mtime_ns for path in before}, before)

    def test_one_that_fails_is_tried_again_and_the_rest_goes_on(self):
        scene = spray(frames=[1, 3], spray_rate=2000)
        scene["nodes"][0] = {"name": "nozzle", "type": "file", "parms": {"path": "good.obj"}}
        self.write_scene(scene)
        self.succeed("cook", self.write_scene(spray(frames=[1, 1]), "grid.json"), "--node", "nozzle", "--format", "obj", "-o", ".", "-q")
        (self.folder / "nozzle.0001.obj").rename(self.folder / "good.obj")
        done = self.run_command("wedge", "scene.json", "--vary", "nozzle.path=good.obj,later.obj", "--retries", 1, "--retry-wait", 0, "-o",
                                "w", "-q")
        self.assertEqual(done.returncode, 1)
        members = self.status()
        good, bad = members["nozzle.path=good.obj"], members["nozzle.path=later.obj"]
        self.assertEqual((good["state"], good["tries"]), ("done", 1))
        self.assertEqual((bad["state"], bad["tries"], bad["frames"]), ("failed", 2, 0))
        self.assertIn("later.obj", bad["error"])
        # It stays failed until somebody says otherwise.
        self.run_command("wedge", "run", "w", "-q")
        self.assertEqual(self.status()["nozzle.path=later.obj"]["tries"], 2)
        shutil.copy(self.folder / "good.obj", self.folder / "later.obj")
        self.succeed("wedge", "retry", "w", "-q")
        self.assertEqual({m["state"] for m in self.status().values()}, {"done"})
        self.assertEqual(self.digests("w/nozzle.path=later.obj"), self.digests("w/nozzle.path=good.obj"))

    def test_a_command_after_each(self):
        self.write_scene(SMALL)
        self.succeed("wedge", "scene.json", "--vary", "spray.speed=1,2", "--then", "ls moved.*.bgeo.sc | wc -l > count; pwd > where",
                     "-o", "w", "-q")
        self.assertEqual((self.folder / "w/spray.speed=2/count").read_text().strip(), "6")
        done = self.run_command("wedge", "scene.json", "--vary", "spray.speed=3", "--then", "echo no light; exit 3", "--retries", 0, "-o",
                                "w", "-q")
        self.assertEqual(done.returncode, 1)
        member = self.status()["spray.speed=3"]
        self.assertEqual((member["state"], member["frames"], member["error"]), ("failed", 6, "no light"))


class Stopped(WedgeTest):
    def setUp(self):
        super().setUp()
        self.write_scene(LONG)
        self.words = ["scene.json", "--vary", "spray.speed=1,2,3", "-o", "w", "-q", "--local", 2, "--threads", 1]

    def frames_of(self, name="spray.speed=1"):
        return len(list((self.folder / "w" / name).glob("*.bgeo.sc")))

    def finish(self):
        self.wait_for(lambda: not any(m["state"] == "running" for m in self.status().values()))
        self.succeed("wedge", "run", "w", "-q", "--local", 2)
        for speed in (1, 3):
            self.check_member(f"spray.speed={speed}", [f"spray.speed={speed}"])

    def test_killed_and_gone_on_with(self):
        pool = self.start(*self.words)
        self.wait_for(lambda: self.frames_of() >= 3)
        pool.kill()
        pool.wait()
        self.wait_for(lambda: not any(m["state"] == "running" for m in self.status().values()))
        first = self.status()["spray.speed=1"]
        self.assertEqual(first["state"], "stopped")
        self.assertLess(first["frames"], 40)
        self.assertTrue((self.folder / "w/spray.speed=1/spray.checkpoint").exists())
        self.finish()

    def test_everything_killed_at_once(self):
        pool = self.start(*self.words)
        self.wait_for(lambda: self.frames_of() >= 3)
        family = subprocess.run(["pgrep", "-g", str(os.getpgid(pool.pid)), "-f", f"{COMMAND} (cook|wedge)"], capture_output=True, text=True)
        mine = [int(p) for p in family.stdout.split() if os.readlink(f"/proc/{p}/cwd") == str(self.folder)]
        for process in mine:
            os.kill(process, signal.SIGKILL)
        pool.wait()
        self.assertEqual(self.status()["spray.speed=1"]["state"], "stopped")
        self.finish()

    def test_sigterm_leaves_checkpoints(self):
        pool = self.start(*self.words)
        self.wait_for(lambda: self.frames_of() >= 3)
        pool.terminate()
        self.assertEqual(pool.wait(60), 130)
        self.assertEqual({m["state"] for m in self.table()["members"]}, {"stopped", "waiting"})
        self.assertTrue((self.folder / "w/spray.speed=1/spray.checkpoint").exists())
        self.finish()

    def test_a_command_that_is_replaced_meanwhile_goes_on(self):
        """As by an upgrade at night: the members are cooked by the version that began."""
        mine = self.folder / "mine"
        shutil.copy(COMMAND, mine)
        pool = subprocess.Popen([mine, "wedge", *map(str, self.words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        self.wait_for(lambda: self.frames_of() >= 2)
        mine.unlink()
        mine.write_text("something else")
        self.assertEqual(pool.wait(120), 0)
        self.assertEqual({(m["state"], m["tries"]) for m in self.status().values()}, {("done", 1)})

    def test_clocks_that_differ_do_not_matter(self):
        pool = self.start(*self.words)
        self.wait_for(lambda: self.frames_of() >= 3)
        pool.terminate()
        pool.wait(60)
        for days, name in ((1000, "spray.speed=1"), (-1000, "spray.speed=2")):
            for path in (self.folder / "w" / name).iterdir():
                os.utime(path, (time.time() + days * 86400,) * 2)
        self.assertIn("stopped", self.succeed("watch", "w", "--once").stdout)
        self.finish()

    def test_cancel_and_retry(self):
        self.write_scene(dict(LONG, frames=[1, 150]))
        pool = self.start(*self.words)
        self.wait_for(lambda: self.frames_of() >= 2)
        self.succeed("wedge", "cancel", "w")
        self.assertEqual(pool.wait(60), 1)
        self.assertEqual({m["state"] for m in self.table()["members"]}, {"cancelled"})
        self.run_command("wedge", "retry", "w", "spray.speed=2", "-q")
        self.check_member("spray.speed=2", ["spray.speed=2"])

    def test_a_time_limit_and_one_that_does_not_listen(self):
        self.words[2] = "spray.speed=1"
        done = self.run_command("wedge", *self.words, "--time-limit", 0.3)
        self.assertEqual(done.returncode, 1)
        member = self.status()["spray.speed=1"]
        self.assertEqual((member["state"], member["tries"]), ("failed", 1))
        self.assertIn("time limit of 0:00", member["error"])
        self.succeed("wedge", "retry", "w", "--time-limit", 0, "-q")
        self.check_member("spray.speed=1", ["spray.speed=1"])

    def test_two_pools_share_a_wedge(self):
        self.plan(*self.words[1:3], "--threads", "1")
        pools = [self.start("run", "w", "-q") for _ in range(2)]
        self.assertEqual([pool.wait(120) for pool in pools], [0, 0])
        self.assertEqual({(m["state"], m["tries"]) for m in self.status().values()}, {("done", 1)})


class Planned(WedgeTest):
    def setUp(self):
        super().setUp()
        self.write_scene(SMALL)

    def test_names_and_seeds_do_not_depend_on_order(self):
        a = self.plan("--vary", "spray.speed=1,2.0", "--vary", "spray.spread=random:0:90", "--samples", 5, "--seed", 3,
                      "--vary", "spray.seed=seed", folder="a")
        b = self.plan("--vary", "spray.seed=seed", "--vary", "spray.spread=random:0:90", "--vary", "spray.speed=2,1,1.00",
                      "--samples", 5, "--seed", 3, folder="b")
        self.assertEqual(a, b)
        self.assertEqual(len(a), 10)
        self.assertEqual(len({m["parameters"]["spray.seed"] for m in a.values()}), 10)
        more = self.plan("--vary", "spray.speed=1,2", "--vary", "spray.spread=random:0:90", "--samples", 9, "--seed", 3,
                         "--vary", "spray.seed=seed", folder="a")
        self.assertEqual(len(more), 18)
        self.assertEqual({name: more[name] for name in a}, a)
        other = self.plan("--vary", "spray.spread=random:0:90", "--samples", 5, "--seed", 4, folder="c")
        self.assertFalse({m["parameters"]["spray.spread"] for m in other.values()} &
                         {m["parameters"]["spray.spread"] for m in a.values()})

    def test_ranges(self):
        plan = self.plan("--vary", "spray.speed=log:0.01:100:5", "--vary", "nozzle.size=0.1 0 0.1,0.2 0 0.2")
        self.assertEqual(sorted({float(m["parameters"]["spray.speed"]) for m in plan.values()}), [0.01, 0.1, 1, 10, 100])
        self.assertIn("nozzle.size=0.1_0_0.1,spray.speed=0.01", plan)

    def test_a_table(self):
        (self.folder / "t.csv").write_text('name,spray.speed,nozzle.size\r\na,1,"0.1,0,0.1"\r\nb,2,\r\n')
        plan = self.plan("--csv", "t.csv")
        self.assertEqual({n: m["parameters"] for n, m in plan.items()},
                         {"a": {"nozzle.size": "0.1,0,0.1", "spray.speed": "1"}, "b": {"spray.speed": "2"}})

    def test_ten_thousand(self):
        begun = time.time()
        self.assertEqual(len(self.plan("--vary", "spray.speed=0:10:100", "--vary", "spray.spread=0:90:100")), 10000)
        self.succeed("wedge", "status", "w")
        self.assertLess(time.time() - begun, 60)
        self.assertEqual(len(self.table()["members"]), 10000)

    def test_what_cannot_be(self):
        words = ["wedge", "scene.json", "-o", "w", "--vary"]
        self.fail_with(2, "speed", *words, "spray.sped=1,2")
        self.fail_with(2, "spray", *words, "spary.speed=1,2")
        self.fail_with(2, "spray.spread=900", *words, "spray.spread=10,900")
        self.fail_with(2, "above 0", *words, "spray.speed=log:0:1:3")
        self.fail_with(2, "varied twice", *words, "spray.speed=1,2", "--vary", "spray.speed=3")
        self.fail_with(2, "members", *words, "spray.speed=0:1:2000", "--vary", "spray.spread=0:90:2000")
        self.fail_with(2, "missing", *words, "spray.speed=1,,2")
        self.fail_with(2, "nothing is varied", "wedge", "scene.json", "-o", "w")
        self.fail_with(2, "which folder", "wedge", "scene.json", "--vary", "spray.speed=1")
        self.assertFalse((self.folder / "w").exists())
        self.fail_with(1, "no wedge", "wedge", "status", "nowhere")
        (self.folder / "t.csv").write_text("name,spray.speed\n../up,1\n")
        self.fail_with(2, "cannot be that of a folder", "wedge", "scene.json", "-o", "w", "--csv", "t.csv")
        (self.folder / "t.csv").write_text("spray.speed,spray.spread\n1\n")
        self.fail_with(2, "t.csv:2:", "wedge", "scene.json", "-o", "w", "--csv", "t.csv")
        self.plan("--vary", "spray.speed=1,2")
        self.fail_with(2, "did you mean 'spray.speed=2'", "wedge", "retry", "w", "spray.spee=2")
        self.fail_with(2, "other frames", "wedge", "scene.json", "-o", "w", "--vary", "spray.speed=3", "-f", "1-2")
        self.write_scene(spray(frames=[1, 6], spray_rate=2001))
        self.fail_with(2, "another scene", "wedge", "scene.json", "-o", "w", "--vary", "spray.speed=3")
        (self.folder / "w/plan.json").write_text("{")
        self.fail_with(2, "plan.json", "wedge", "run", "w")

    def test_schedulers(self):
        words = ["wedge", "scene.json", "-o", "w", "--vary", "spray.speed=1,2", "-q"]
        self.fail_with(1, "There is no sbatch", *words, "--slurm", env={**os.environ, "PATH": "/nowhere"})
        fake = self.folder / "sbatch"
        fake.write_text("#!/bin/sh\necho 'sbatch: error: Batch job submission failed: Job violates accounting policy' >&2\nexit 1\n")
        fake.chmod(0o755)
        done = self.fail_with(1, "submission failed", *words, "--slurm", env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertIn("wedge run w --slurm", done.stderr)
        self.assertEqual({m["state"] for m in self.status().values()}, {"waiting"})
        for scheduler, part in (("slurm", "--array=0-1"), ("hqueue", "newjob"), ("deadline", "-frames 0-1"), ("opencue", "range='0-1'")):
            said = self.succeed("wedge", "run", "w", "--print", scheduler).stdout
            self.assertIn(part, said)
            self.assertEqual("Not run" in said, scheduler != "slurm")
            # Limits of doctor's: memory at least 512 MB, time at least a quarter of an hour.
            for limit in {"slurm": ("--mem=512M", "--time=16"), "hqueue": ("MENISCUS_MEMORY=512M ", "timeout -k 60 16m "),
                          "deadline": ("MENISCUS_MEMORY=512M ", "-prop TaskTimeoutMinutes=16 "),
                          "opencue": ("memory='512m'", "timeout=16")}[scheduler]:
                self.assertIn(limit, said)
            if "<<'END'" in said:
                compile(said.split("<<'END'\n")[1].split("\nEND")[0], scheduler, "exec")
        self.fail_with(2, "none of slurm", "wedge", "run", "w", "--print", "lsf")
        # What HQueue would run for the second member runs.
        said = self.succeed("wedge", "run", "w", "--print", "hqueue").stdout
        line = said.split('r\"\"\"')[1].split('\"\"\"')[0] + "0"
        self.assertEqual(subprocess.run(["bash", "-c", line], cwd=self.folder, capture_output=True).returncode, 0)
        self.assertEqual(self.status()["spray.speed=1"]["state"], "done")
        self.succeed("wedge", "retry", "w", "spray.speed=1", "--plan")
        shutil.rmtree(self.folder / "w/spray.speed=1")
        lists = sorted((self.folder / "w/farm").glob("*.list"), key=lambda path: int(path.stem))[:-1]
        self.succeed("wedge", "member", "w", "--list", lists[-1], "--index", 1)
        self.assertEqual({n: m["state"] for n, m in self.status().items()}, {"spray.speed=1": "waiting", "spray.speed=2": "done"})
        self.fail_with(2, "no member", "wedge", "member", "w", "--list", lists[-1], "--index", 2)

    def test_a_disk_that_goes_away_is_waited_for(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("it takes root to mount a disk")
        self.write_scene(LONG)
        script = """mkdir d store; mount -t tmpfs none store; mount --bind store d
            "$0" wedge scene.json --vary spray.speed=1 -o d/w --threads 1 --retry-wait 0 2> said &
            pool=$!; until ls d/w/*/moved.0003.* 2> /dev/null; do sleep 0.05; done
            umount -l d; sleep 2; kill -0 $pool || exit 9; mount --bind store d; wait $pool || exit 8
            mkdir kept; cp d/w/spray.speed=1/*.bgeo.sc kept"""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, COMMAND], cwd=self.folder, capture_output=True, text=True, timeout=120)
        said = (self.folder / "said").read_text()
        self.assertEqual(done.returncode, 0, done.stderr + said)
        self.assertIn("Waiting for the disk", said)
        self.succeed("cook", "scene.json", "-o", "alone", "-q", "--set", "spray.speed=1")
        self.assertEqual(self.digests("kept"), self.digests("alone"))

    def test_a_full_disk_is_waited_for(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("it takes root to mount a small disk")
        self.write_scene(LONG)
        script = """mkdir d; mount -t tmpfs -o size=1m none d
            "$0" wedge scene.json --vary spray.speed=1 -o d/w --threads 1 --retry-wait 0 2> said &
            pool=$!; sleep 2; kill -0 $pool || exit 9; mount -o remount,size=500m d; wait $pool || exit 8
            mkdir kept; cp d/w/spray.speed=1/*.bgeo.sc d/w/wedge.json kept"""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, COMMAND], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + (self.folder / "said").read_text())
        self.succeed("cook", "scene.json", "-o", "alone", "-q", "--set", "spray.speed=1")
        self.assertEqual(self.digests("kept"), self.digests("alone"))


if __name__ == "__main__":
    unittest.main()
