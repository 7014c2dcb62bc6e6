#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wedge that is larger than Slurm's queue and than its arrays may be: a sentence, and the rest follows by itself."""
import sys
import unittest

from command_runner import spray
from slurm_cluster import Cluster, SlurmTest, reason_not_to


class FullQueue(SlurmTest):
    def test_the_rest_follows(self):
        """Seven jobs at most, arrays of three: what does not fit is submitted by the job that collects, and nothing is cooked twice."""
        self.write_scene(spray(frames=[1, 3], spray_rate=2000))
        with Cluster(self.folder / "cluster", "MaxJobCount=8\nMaxArraySize=3\nMinJobAge=2") as cluster:
            said = self.submit(cluster, "--vary", "spray.speed=1:7:7").stderr
            self.assertIn("3 members are in Slurm's queue", said)  # and two jobs that collect
            self.assertRegex(said, "no room for the other [23] members: it takes 8 jobs")
            # While it is full, a sentence and nothing lost.
            done = self.run_command("wedge", "scene.json", "-o", "v", "--threads", "1", "--slurm", "--vary", "spray.speed=1:9:9",
                                    env=cluster.environment)
            self.assertIn(done.returncode, (0, 1), done.stderr)  # 0 when the first ones are forgotten already
            if done.returncode == 1:
                self.assertIn("Slurm's queue is full", done.stderr)
                self.assertEqual({m["state"] for m in self.status("v").values()}, {"waiting"})
            cluster.wait(lambda: all(m["state"] == "done" for m in self.status().values()), "the rest is not submitted")
            for name, member in self.status().items():
                self.assertEqual(member["tries"], 1)
                self.check(name)


if __name__ == "__main__":
    if reason_not_to():
        print(f"skipped: {reason_not_to()}")
        sys.exit(77)
    unittest.main()
