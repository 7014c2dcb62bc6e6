#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wedges on a real Slurm: a job array with commands after the cooks, members preempted and requeued, daemons killed and restarted, a full
disk: nothing is lost, nothing is cooked twice, and the bytes are those of cooks that were never stopped."""
import json
import signal
import subprocess
import sys
import time
import unittest

from command_runner import spray
from slurm_cluster import Cluster, SlurmTest, reason_not_to

FRAMES = 60
SCENE = spray(frames=[1, FRAMES], spray_rate=30000)


class Slurm(SlurmTest):
    def setUp(self):
        super().setUp()
        self.write_scene(SCENE)

    def send_at_once(self, cluster, job):
        """A requeued job waits two minutes by itself; on a slow machine they may be over."""
        self.assertRegex(cluster.show(job), r"JobState=(PENDING|RUNNING|COMPLETING|COMPLETED) ")
        cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now", good=(0, 1))

    def test_a_farm(self):
        with Cluster(self.folder / "cluster") as cluster:
            self.submit(cluster, "--vary", "spray.speed=1,2,3", "--then", "ls moved.*.bgeo.sc | wc -l > count; echo x >> runs")
            show = cluster.run("scontrol", "show", "job", cluster.queue()[0][0])
            self.assertIn("mem=512M", show)  # of doctor's estimate, which is small
            self.assertIn("TimeLimit=00:16:00", show)
            # Somebody with more right to the nodes takes one: its member makes room and leaves a checkpoint.
            self.wait_for_frames(cluster, "spray.speed=1", 5)
            running = {one[1]: one[0] for one in cluster.queue() if one[2] == "RUNNING"}
            urgent = cluster.run("sbatch", "--parsable", "--partition=urgent", "--nodelist=n1", "--mem=1000M", "--output=/dev/null",
                                 "--wrap", "sleep 8").strip()
            name = cluster.wait(lambda: next((n for n, m in self.status().items() if m["state"] == "stopped"), ""), "nobody makes room")
            job = running[str(int(name[-1]) - 1)]
            cluster.wait(lambda: [job, "PENDING"] in [[one[0], one[2]] for one in cluster.queue()], "it is not queued again")
            self.assertIn("Restarts=1", cluster.show(job))
            self.assertTrue((self.folder / "w" / name / "spray.checkpoint").exists())
            self.assertLess(self.status()[name]["frames"], FRAMES)
            self.assertGreater(self.status()[name]["frames"], 0)
            # Meanwhile the controller and a node's daemon are killed, when the controller has written down that it queued the job again.
            cluster.wait_until_saved(job)
            cluster.stop("slurmctld", signal.SIGKILL)
            cluster.stop("slurmd.n2", signal.SIGKILL)
            time.sleep(1)
            cluster.start_controller()
            cluster.start_node("n2")
            cluster.wait(lambda: all(one[0] != urgent for one in cluster.queue()), "the urgent job does not end")
            self.send_at_once(cluster, job)
            self.wait_for_end(cluster)
            self.assertRegex(cluster.show(job), r"(?s)JobState=COMPLETED .*Restarts=1 ")
            table = json.loads((self.folder / "w/wedge.json").read_text())  # by the job that collects
            self.assertEqual([m["state"] for m in table["members"]], ["done"] * 3, table)
            for member in table["members"]:
                self.check(member["name"])
                folder = self.folder / "w" / member["name"]
                self.assertEqual((folder / "count").read_text().strip(), str(FRAMES))
                self.assertEqual((folder / "runs").read_text().split(), ["x"])
                for frame in range(1, FRAMES + 1):
                    self.assertEqual((folder / "log.txt").read_text().count(f"\nframe {frame}:"), 1, "it was cooked twice")
            # Submitted again there is nothing to do; one more is one more.
            self.assertIn("no member waits", self.submit(cluster, "--vary", "spray.speed=1").stderr)
            self.submit(cluster, "--vary", "spray.speed=4", "--time-limit", 600)
            self.assertIn("TimeLimit=00:38:00", cluster.run("scontrol", "show", "job", cluster.queue()[0][0]))
            self.wait_for_frames(cluster, "spray.speed=4", 3)
            done = self.run_command("wedge", "cancel", "w", env=cluster.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.wait_for_end(cluster)
            self.assertEqual(self.status()["spray.speed=4"]["state"], "cancelled")
            done = self.run_command("wedge", "retry", "w", "--slurm", env=cluster.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.wait_for_end(cluster)
            self.check("spray.speed=4")
            self.full_disk(cluster)

    def full_disk(self, cluster):
        (self.folder / "d").mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", self.folder / "d"], capture_output=True).returncode != 0:
            return  # not in this container
        try:
            done = self.run_command("wedge", "scene.json", "-o", "d/w", "--threads", "1", "--slurm", "--vary", "spray.speed=3",
                                    env=cluster.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            cluster.wait(lambda: "No space left" in (self.folder / "d/w/spray.speed=3/log.txt").read_text()
                         if (self.folder / "d/w/spray.speed=3/log.txt").exists() else False, "the disk does not fill")
            subprocess.run(["mount", "-o", "remount,size=500m", self.folder / "d"], check=True)
            self.wait_for_end(cluster)
            self.check("spray.speed=3", "d/w")
        finally:
            subprocess.run(["umount", "-l", self.folder / "d"])


if __name__ == "__main__":
    if reason_not_to():
        print(f"skipped: {reason_not_to()}")
        sys.exit(77)
    unittest.main()
