# SPDX-License-Identifier: Apache-2.0
"""Packages of the npm registry that tests read our files with, installed by tests/npm/package-lock.json into the build
folder. Where they cannot be had, tests skip with a sentence."""
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("MENISCUS_BUILD", ROOT / "build/release"))
SOURCE = ROOT / "tests/npm"


def _install(folder):
    lock = (SOURCE / "package-lock.json").read_bytes()
    stamp = folder / "installed"
    if stamp.is_file() and stamp.read_bytes() == lock:
        return ""
    shutil.rmtree(folder / "node_modules", ignore_errors=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(SOURCE / name, folder / name)
    try:
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, capture_output=True,
                              text=True, timeout=240)
    except subprocess.TimeoutExpired:
        return "npm did not answer within four minutes"
    if done.returncode != 0:
        return f"npm cannot install the packages: {done.stderr.strip()[-300:]}"
    stamp.write_bytes(lock)
    return ""


def run(script, *words):
    """A script of tests/npm, done."""
    return subprocess.run(["node", str(SOURCE / script), *map(str, words)], cwd=BUILD / "npm", capture_output=True, text=True,
                          timeout=120)


def require():
    """Installs what is missing; ends the test as skipped, with the reason, where that is not possible."""
    reason = next((f"{program} is missing" for program in ("node", "npm") if not shutil.which(program)), "")
    if not reason:
        folder = BUILD / "npm"
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "lock", "w") as lock:  # two tests may start together
            fcntl.flock(lock, fcntl.LOCK_EX)
            reason = _install(folder)
    if reason:
        print(f"skipped: {reason}; install nodejs and npm, and let npm reach its registry")
        sys.exit(77)
