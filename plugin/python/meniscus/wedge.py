# SPDX-License-Identifier: Apache-2.0
"""Wedges from Python: the verbs of `meniscus wedge` (docs/farm.md), each in a process of its own.

    wedge = meniscus.Wedge("out").start("drop.json", vary={"drop.sigma": [0.01, 0.03, 0.07]}, local=4)
    for member in wedge.status()["members"]:
        print(member["name"], member["state"], member["error"])"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from . import errors


def _text(value):
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


class Wedge:
    """The wedge in a folder, whether it is there yet or not."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __repr__(self):
        return f"Wedge({str(self.folder)!r})"

    def _run(self, *words, good=(0,)):
        # Where this module is, whatever the program has done to its path.
        path = os.pathsep.join([str(Path(__file__).resolve().parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run([sys.executable, "-m", "meniscus", "wedge", *map(str, words)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
        if done.returncode in good:
            return done.stdout
        sentence = (done.stderr.strip() or "The command failed.").splitlines()
        sentence = next((line for line in reversed(sentence) if line.startswith("meniscus wedge: ")), sentence[-1])
        kind = {2: errors.SceneError, 130: errors.Cancelled}.get(done.returncode, errors.Error)
        raise kind(sentence.removeprefix("meniscus wedge: "))

    def start(self, scene, vary=None, csv=None, local=1, slurm=False, plan=False, **options):
        """Plans members and cooks them, `local` at a time; with `slurm` it hands them to Slurm and returns; with `plan` it only plans.
        `vary` maps "node.parm" to a list of values or
        to a text such as "0.01:0.07:7". Options are those of the command: frames="1-48", retries=1, time_limit=3600, preview=True,
        set=["drop.dx=0.001"]. Members that fail raise nothing: status() has their sentences."""
        words = [scene, "-o", self.folder, "-q"]
        for path, values in (vary or {}).items():
            words += ["--vary", f"{path}={values if isinstance(values, str) else ','.join(map(_text, values))}"]
        words += ["--csv", csv] if csv else []
        words += ["--plan"] if plan else self._where(local, slurm)
        for name, value in options.items():
            option = "--" + name.replace("_", "-")
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [option] if one is True else [option, one] if one not in (None, False) else []
        self._run(*words, good=(0,) if slurm else (0, 1))
        self.status()  # a wedge that could not be planned has none
        return self

    @staticmethod
    def _where(local, slurm):
        return ["--slurm"] if slurm else ["--local", local]

    def run(self, local=1, slurm=False):
        """Cooks what waits or was stopped."""
        self._run("run", self.folder, *self._where(local, slurm), "-q", good=(0,) if slurm else (0, 1))
        return self

    def retry(self, *names, local=1, slurm=False, time_limit=None):
        """Cooks again what failed or was cancelled, or these members; each resumes where it stopped."""
        limit = [] if time_limit is None else ["--time-limit", time_limit]
        self._run("retry", self.folder, *names, *self._where(local, slurm), *limit, "-q", good=(0,) if slurm else (0, 1))
        return self

    def wait(self, seconds=None, interval=1.0):
        """Waits until no member waits or runs, wherever they are cooked, at most so many seconds, and returns the table."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            table = self.status()
            if not any(member["state"] in ("waiting", "running", "cooked") for member in table["members"]):
                return table
            if end is not None and time.monotonic() >= end:
                raise errors.Error(f"The members of {self.folder} are not done after {seconds:g} s.")
            time.sleep(interval)

    def commands(self, scheduler):
        """The command lines that hand what waits to "slurm", "hqueue", "deadline" or "opencue"."""
        return self._run("run", self.folder, "--print", scheduler)

    def cancel(self, *names):
        """Stops all members, or these; their checkpoints stay."""
        self._run("cancel", self.folder, *names)
        return self

    def status(self):
        """The table: {"members": [{"name", "parameters", "state", "seconds", "frames", "error", "report"}, ...], ...}"""
        return json.loads(self._run("status", self.folder, "--json"))

    def collect(self):
        """Writes wedge.json and wedge.csv anew and returns the table."""
        self._run("collect", self.folder, "-q")
        return json.loads((self.folder / "wedge.json").read_text())
