#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which unit tests the thread sanitizer can leave out: those whose loops run on one thread, or on several in shorter tests as well.
Run from the root of the project; it builds the unit tests in build/loops, runs them and writes tests/support/serial_tests.txt. A test that
is not in the list is run, so a new one is until this is run again."""
import json
import os
import re
import resource
import subprocess
import tempfile
from pathlib import Path

BUILD = Path("build/loops").resolve()
HEAD = """# Unit tests that the thread sanitizer leaves out: their loops run on one thread, or on several in shorter tests too.
# Written by tests/support/parallel_loops.py.
"""
CHEAP = 0.1  # s of processor time: a test below it that runs anything in parallel stays


def build():
    wrap = BUILD.parent / "parallel_loops.o"
    wrap.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-O1", "-fPIE", "-Icore", "-Icore/include", "-c", "tests/support/parallel_loops.c", "-o", wrap], check=True)
    subprocess.run(["cmake", "--preset", "release", "-B", BUILD, f"-DCMAKE_EXE_LINKER_FLAGS=-Wl,--wrap=mn_pool_run {wrap}"],
                   check=True, stdout=subprocess.DEVNULL)
    programs = [path.name for path in Path("tests/unit").iterdir() if path.is_dir()]
    subprocess.run(["cmake", "--build", BUILD, "--target", *(f"unit_{name}" for name in programs)], check=True)


def run_tests(folder):
    """Seconds of every test."""
    listed = subprocess.run(["ctest", "--test-dir", BUILD, "-L", "unit", "--show-only=json-v1"], check=True, capture_output=True).stdout
    seconds = {}
    for test in json.loads(listed)["tests"]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(test["command"], check=True, capture_output=True, cwd=BUILD, env={**os.environ, "LOOPS": folder})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds[test["name"]] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds


def functions(program):
    """Name and file of the functions of a program by their addresses."""
    found, file = {}, ""
    for line in subprocess.run(["readelf", "-sW", program], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) > 7 and words[3] == "FILE":
            file = words[7]
        elif len(words) > 7 and words[3] == "FUNC":
            found[int(words[1], 16)] = f"{file if words[4] == 'LOCAL' else ''}:{words[7]}"
    return found


def read_loops(folder):
    """The loops of every test. Those with versions for several processors have no name, only a place in their program."""
    loops, tables = {}, {}
    for path in Path(folder).iterdir():
        name = path.stem
        program = (BUILD / "tests" / name).resolve()
        table = tables.setdefault(program, functions(program))
        for address in path.read_text().split():
            loops.setdefault(name, set()).add(table.get(int(address, 16), f"{program.name}:{address}"))
    return loops


def with_own_threads():
    """Tests that start threads themselves or hand in a scheduler."""
    starts = re.compile(r"thread_scheduler\.h|pthread_create|\.scheduler\b|mn_tbb")
    for path in Path("tests/unit").rglob("test_*.c"):
        if starts.search(path.read_text()):
            yield "_".join(path.relative_to("tests/unit").with_suffix("").parts)


def choose(seconds, loops):
    """The tests that together run every loop, cheap ones first."""
    kept = set(with_own_threads()) | {name for name in loops if seconds[name] < CHEAP}
    left = set().union(*loops.values()) - set().union(*(loops.get(name, set()) for name in kept))
    while left:
        best = max(loops, key=lambda name: len(loops[name] & left) / seconds[name])
        kept.add(best)
        left -= loops[best]
    return kept


def main():
    build()
    with tempfile.TemporaryDirectory() as folder:
        seconds = run_tests(folder)
        kept = choose(seconds, read_loops(folder))
    left_out = sorted(set(seconds) - kept)
    Path("tests/support/serial_tests.txt").write_text(HEAD + "".join(f"{name}\n" for name in left_out))
    print(f"{len(kept)} tests of {sum(seconds[name] for name in kept):.0f} s stay, {len(left_out)} of "
          f"{sum(seconds[name] for name in left_out):.0f} s go")


if __name__ == "__main__":
    main()
