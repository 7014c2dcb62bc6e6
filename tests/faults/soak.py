#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long runs of every small scene in tests/golden and tests/faults/soak, by their reports.

  soak.py [MINUTES [NAME...]]

Each scene cooks for so many minutes of processor time with its frames stretched to a million, its output thrown away as it comes. From the
lines of its report: memory that is held and that the process took at most, in the last quarter against the second one, processor time of a
step likewise, and how far mass strays between frames in which no particle was born or lost. Exit code 1 when what is held grew by more than a
tenth and 1 MB for as many elements, the process by more than a tenth and 8 MB, or a step became twice as slow for as many elements."""
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
COMMAND = os.environ.get("MENISCUS", str(ROOT / "build/release/bin/meniscus"))


def processor_seconds(process):
    """What it has used so far; it may have ended and wait to be asked for its code."""
    ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def cook(scene, seconds, folder):
    """Lines of the report, by node."""
    tree = json.loads(scene.read_text())
    tree["frames"] = [tree.get("frames", [1, 1])[0], 1000000]
    (folder / "scene.json").write_text(json.dumps(tree))
    process = subprocess.Popen([COMMAND, "cook", "scene.json", "-o", "x", "-q", "--threads", "1", "--report", "report.jsonl"], cwd=folder,
                               stderr=subprocess.PIPE, text=True)
    while processor_seconds(process.pid) < seconds and process.poll() is None:
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

    def size(line):
        return max(1, line.get("particles", line.get("points", 1)))

    def step(line):
        return line["seconds"]["total"] / max(1, line.get("substeps", 1)) / size(line)

    memory, held = ([max(line[key] for line in part) for part in (early, late)] for key in ("peak_rss_mb", "held_mb"))
    more = max(1, max(map(size, late)) / max(map(size, early)))  # elements
    speed = [median(part, step) for part in (early, late)]
    drift = 0.0
    for a, b in zip(lines, lines[1:]):
        if a.get("mass") and a.get("particles") == b.get("particles"):
            drift = max(drift, abs(b.get("mass", 0) / a["mass"] - 1))
    ratio = speed[1] / speed[0] if speed[0] > 0 else 1
    good = held[1] <= 1.1 * more * held[0] + 1 and memory[1] <= 1.1 * more * memory[0] + 8 and (ratio < 2 or quarter < 10)
    print(f"{name:10} {node:12} {len(lines):6} frames, held {held[0]:.2f} to {held[1]:.2f} MB, process {memory[0]:.0f} to {memory[1]:.0f} MB, "
          f"a step {ratio:.2f} times what it was, {size(early[0])} to {size(late[-1])} elements, mass of a frame to {drift:.1e}"
          f"{'' if good else '  NOT FLAT'}", flush=True)
    return good


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    wanted, good = sys.argv[2:], True
    for scene in sorted(path for folder in ("golden", "faults/soak") for path in (ROOT / "tests" / folder).glob("*.json")):
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
