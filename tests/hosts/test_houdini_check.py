#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/houdini_check.py against a double of `hou`: every check passes there, and those of a Houdini that does something wrong fail."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ["MENISCUS_SOURCE"])


def run(fault="", assets="catenoid"):
    environment = dict(os.environ, HOU_DOUBLE_FAULT=fault,
                       PYTHONPATH=os.pathsep.join([str(SOURCE / "tests/hosts/hou_double"), str(SOURCE / "plugin/python"), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run([sys.executable, str(SOURCE / "scripts/houdini_check.py"), "--meniscus", os.environ["MENISCUS"], "--assets", assets, "--frames",
                           "10"],
                          capture_output=True, text=True, env=environment)


class Check(unittest.TestCase):
    def test_all_is_well_in_the_double(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"[6-9]\d checks, 0 failures")
        for line in ("no frame is shown twice", "an edit above is noticed", "Solver Output gives the surface", "the command's bytes",
                     "sign that Houdini calls positive", "saved, loaded", "C2 the verb gives", "C7 pack comes in", "C6 points move", "C6 a simulation starts from a frame of another", "C10 a group field", "C4 a new one is not made",
                     "I8 material soap_film", "I6 the work item 'members'", "C1 meniscus::catenoid::1.0 gives its surface", "cook meniscus::catenoid::1.0"):
            self.assertRegex(done.stdout, rf"(?m)^ok .*{line}")

    def test_a_frame_that_shows_another_is_found(self):
        done = run("frames", assets="none")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^FAIL .*no frame is shown twice.*9")

    def test_a_second_output_that_fails_is_one_line_on_the_page(self):
        done = run("second output", assets="none")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^FAIL .*outputs: RuntimeError: Invalid input")
        self.assertRegex(done.stdout, r"(?m)^ok .*saved, loaded")

    def test_what_a_houdini_does_otherwise_is_found(self):
        done = run("verbs,inputs,playbar,initial", assets="none")
        self.assertEqual(done.returncode, 1)
        for line in ("C2 fill is a verb", "C7 sphere comes in", "C4 a new one is not made", "C6 a simulation starts"):
            self.assertRegex(done.stdout, rf"(?m)^FAIL .*{line}")


if __name__ == "__main__":
    unittest.main()
