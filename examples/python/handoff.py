#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a scene to what lighting picks up: cook it with another liquid, check the numbers, write a USD stage from the cached
frames, and make the page that the supervisor looks at.

    python3 examples/python/handoff.py examples/cube_to_sphere/scene.json out [LAST_FRAME]"""
import json
import subprocess
import sys
from pathlib import Path

import meniscus

LOST = 0.02  # of the volume; with more, somebody should look before it is lit


def command(*words):
    """The `meniscus` command: it can be killed and resumed, and leaves whole frames or none."""
    subprocess.run([sys.executable, "-m", "meniscus", *map(str, words), "--quiet"], check=True)


def main(scene, out, last=None):
    out = Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)

    # 1. The shot's scene with our liquid, kept beside its frames.
    net = meniscus.Network.load(scene)
    first, end = net.frames
    last = min(end, int(last or end))
    solver = next(node for node in net.nodes if node.table.kind == "sim")
    meniscus.set_material(solver, "ethanol")
    net.save(out / "shot.json")

    # 2. Cook it.
    command("cook", out / "shot.json", "-o", out, "-f", f"{first}-{last}", "--report", out / "report.jsonl", "--preview", "--resume")

    # 3. Do the numbers hold?
    lines = [json.loads(line) for line in (out / "report.jsonl").read_text().splitlines()]
    volume = [line["volume"] for line in lines if line.get("volume")]
    lost = max((abs(v / volume[0] - 1) for v in volume), default=0)

    # 4. A stage from the cached frames, without simulating again: a scene with one node that reads them.
    name = net.output.name
    told = json.loads(net.to_text())
    cached = {"meniscus": 1, "fps": net.fps, "frames": [first, last], "output": name,
              "nodes": [{"name": name, "type": "file", "parms": {"path": str(out / f"{name}.$F4.bgeo.sc")}}]}
    if "camera" in told:
        cached["camera"] = told["camera"]
    cached["render"] = {"looks": {name: "ethanol"}}
    (out / "cached.json").write_text(json.dumps(cached, indent=1))
    command("cook", out / "cached.json", "-o", out / "usd", "--format", "usd")

    # 5. One page for whoever has to say yes.
    command("report", out, "--title", f"{net.title or name}, with ethanol")
    print(f"{out}/usd/scene.usda for lighting, {out}/report.html to look at; the volume changed by {lost:.2%}")
    return 0 if lost <= LOST else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
