#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long runs of every small scene in tests/golden, by their reports.

  soak.py [MINUTES [NAME...]]

Each scene cooks for so many minutes with its frames stretched to a million, its output thrown away as it comes. From the lines of its report:
memory of the last quarter against the second one, processor time of a step likewise, and how far mass strays between frames in which no
particle was born or lost. A cook keeps frames and states of up to 128 MB, which is no leak: exit code 1 when memory grew by more than a tenth
and that, or a step became twice as slow for as many elements."""
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
CACHE = 134  # MB, that a cook keeps in any case (CACHE_BYTES in cook_frames.c)
COMMAND = os.environ.get("MENISCUS", str(ROOT / "build/release/bin/meniscus"))


def cook(scene, seconds, folder):
    """Lines of the report, by node."""
    tree = json.loads(scene.read_text())
    tree["frames"] = [tree.get("frames", [1, 1])[0], 1000000]
    (folder / "scene.json").write_text(json.dumps(tree))
    process = subprocess.Popen([COMMAND, "cook", "scene.json", "-o", "x", "-q", "--threads", "1", "--report", "report.jsonl"], cwd=folder,
                               stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        time.sleep(1)
        for old in sorted((folder / "x").glob("*.bgeo.sc"))[:-3]:
            old.unlink()
    early = process.poll()
    if early is None:
        process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=120)[1].strip()
    nodes = {}
    for line in (folder / "report.jsonl").read_text().splitlines() if (folder / "report.jsonl").exists() else []:
        line = json.loads(line)
        nodes.setdefault(line["node"], []).append(line)
    return nodes, said if early else ""


def judge(name, node, lines):
    quarter = max(1, len(lines) // 4)
    early, late = lines[quarter:2 * quarter] or lines, lines[-quarter:]

    def median(part, of):
        return statistics.median(map(of, part))

    def step(line):
        return line["seconds"]["total"] / max(1, line.get("substeps", 1)) / max(1, line.get("particles", 1))

    memory = [max(line.get("peak_rss_mb", 0) for line in part) for part in (early, late)]
    speed = [median(part, step) for part in (early, late)]
    drift = 0.0
    for a, b in zip(lines, lines[1:]):
        if a.get("mass") and a.get("particles") == b.get("particles"):
            drift = max(drift, abs(b.get("mass", 0) / a["mass"] - 1))
    ratio = speed[1] / speed[0] if speed[0] > 0 else 1
    good = memory[1] <= 1.1 * memory[0] + CACHE and (ratio < 2 or quarter < 10)
    print(f"{name:10} {node:12} {len(lines):6} frames, memory {memory[0]:.0f} to {memory[1]:.0f} MB, a step {ratio:.2f} times what it was, "
          f"mass of a frame to {drift:.1e}{'' if good else '  NOT FLAT'}", flush=True)
    return good


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    wanted, good = sys.argv[2:], True
    for scene in sorted((ROOT / "tests/golden").glob("*.json")):
        if scene.stem == "hashes" or (wanted and not any(part in scene.stem for part in wanted)):
            continue
        with tempfile.TemporaryDirectory(prefix="meniscus-soak-") as folder:
            nodes, said = cook(scene, 60 * minutes, Path(folder))
            for node, lines in nodes.items():
                good &= judge(scene.stem, node, lines)
            if said:
                print(f"{scene.stem:10} ended by itself: {said.splitlines()[-1]}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
