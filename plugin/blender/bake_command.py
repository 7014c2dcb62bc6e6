# SPDX-License-Identifier: Apache-2.0
"""Simulates the networks of a file without a window:

    blender -b FILE.blend --python bake_command.py -- [--tree NAME] [-f A-B] [--resume] [--from-frame N]

One line per frame goes to stdout. Exit codes are those of the `meniscus` command: 0 done, 1 it failed, 2 wrong usage,
130 stopped by a signal, which leaves whole frames and a checkpoint for --resume."""
import argparse
import importlib
import os
import re
import signal
import sys
import time
import traceback


def frames_of(text):
    """"1-48" or "7" as (first, last)."""
    match = re.fullmatch(r"(-?\d+)(?:-(-?\d+))?", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not A-B, such as 1-48")
    first, last = int(match.group(1)), int(match.group(2) or match.group(1))
    if last < first:
        raise argparse.ArgumentTypeError(f"{text} ends before it begins; write {last}-{first}")
    return first, last


def parse(words):
    parser = argparse.ArgumentParser(prog="bake_command.py", description="Simulates the Meniscus networks of a Blender file.")
    parser.add_argument("--tree", action="append", help="only this network; may be given several times")
    parser.add_argument("-f", "--frames", type=frames_of, metavar="A-B",
                        help="these instead of the frames of the file; others of the same simulation stay")
    parser.add_argument("--resume", action="store_true", help="keep the frames that are there")
    parser.add_argument("--from-frame", type=int, help="make this frame and all after it again")
    return parser.parse_args(words)


def bake(addon, tree, options):
    """One network; returns an exit code."""
    import bpy
    operators = addon["bake_operators"]
    native = addon["native"].meniscus
    if options.frames:
        tree.use_scene_range, (tree.frame_start, tree.frame_end) = False, options.frames
    try:
        job = operators.start(bpy.context, tree, options.resume, options.from_frame)
    except (native.Error, addon["network_scene"].TreeError, OSError) as error:
        print(f"meniscus: {tree.name}: {error}", file=sys.stderr, flush=True)
        return 1
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job.cancel())
    began = time.monotonic()

    def line(running, i):
        print(f"{tree.name}: frame {running.frames[i]} done, {i + 1} of {len(running.frames)}, {time.monotonic() - began:.1f} s",
              flush=True)

    operators.wait_for(tree, job, line)
    level, sentence = operators.finish(bpy.context.scene, tree, job)
    print(f"meniscus: {tree.name}: {sentence}", file=sys.stderr if level != "INFO" else sys.stdout, flush=True)
    return 130 if job.cancelled else 1 if job.sentence else 0


def main(words):
    import addon_utils
    options = parse(words)
    name = os.path.basename(os.path.dirname(os.path.abspath(__file__)))
    module = next((one for one in sys.modules if one == name or one.endswith("." + name)), name)
    if not addon_utils.check(module)[1] and addon_utils.enable(module) is None:
        print("meniscus: the add-on cannot be enabled; install it first (scripts/install_blender.sh)", file=sys.stderr)
        return 2
    addon = {part: importlib.import_module(f"{module}.{part}") for part in ("bake_operators", "network_scene", "native", "node_tree")}
    trees = addon["node_tree"].trees()
    for wanted in options.tree or ():
        if wanted not in [tree.name for tree in trees]:
            print(f"meniscus: there is no network '{wanted}'; there are {', '.join(tree.name for tree in trees) or 'none'}",
                  file=sys.stderr)
            return 2
    chosen = [tree for tree in trees if options.tree is None or tree.name in options.tree]
    if not chosen:
        print("meniscus: the file has no Meniscus network", file=sys.stderr)
        return 2
    for tree in chosen:
        code = bake(addon, tree, options)
        if code:
            return code
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else [])
    except SystemExit as error:
        code = error.code or 0
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender's own exit code says nothing about scripts
