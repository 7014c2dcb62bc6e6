#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house, read off the sources: who may include whom, licences, formatting, citations, no leftovers."""
import json
import importlib.util
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("MENISCUS_SOURCE", Path(__file__).resolve().parents[2]))
CODE = (".c", ".h", ".cpp", ".hpp")


def sources(*folders, endings=CODE):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in endings and path.is_file():
                yield path


def includes(path):
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.M)


class Layering(unittest.TestCase):
    """Arrows point one way: plugin -> nodes -> core."""

    def test_core_knows_no_host_no_file_and_no_json(self):
        forbidden = re.compile(r"^(\.\./)*(plugin|nodes)/|cjson|openvdb|tbb/|blosc|zlib|png\.h|fcntl\.h|sys/stat\.h", re.I)
        for path in sources("core"):
            for name in includes(path):
                self.assertIsNone(forbidden.search(name), f"{path.relative_to(ROOT)} includes {name}")

    def test_nodes_include_core_headers_and_node_h_only(self):
        rooms = "|".join(sorted(p.name for p in (ROOT / "core").iterdir() if p.is_dir() and p.name != "include"))
        private = r"(state|internal|_state)\.h$"
        allowed = re.compile(r"^(meniscus/[a-z0-9_]+\.h|nodes/[a-z0-9_]+\.h|(" + rooms + r")/([a-z0-9_]+/)?[a-z0-9_]+\.h|(assert|float|inttypes|limits|math|stdarg|"
                             r"stdbool|stddef|stdint|stdio|stdlib|string)\.h)$")
        for path in sources("nodes"):
            for name in includes(path):
                self.assertIsNotNone(allowed.match(name), f"{path.relative_to(ROOT)} includes {name}")
                self.assertNotRegex(name, private, f"{path.relative_to(ROOT)} looks into a solver's state")

    def test_hosts_never_include_a_solver(self):
        rooms = "mpm|tet|codim|film|flow|elastic|contact|heat|spray"
        solvers = re.compile(rf"^meniscus/({rooms}|meniscus)\.h$|^({rooms})/|^core/")
        for path in sources("plugin"):
            if path.name == "meniscus_host.h":  # for programs outside
                continue
            for name in includes(path):
                self.assertIsNone(solvers.search(name), f"{path.relative_to(ROOT)} includes {name}")

    def test_nodes_read_parameters_that_exist(self):
        command = os.environ.get("MENISCUS", str(ROOT / "build/release/bin/meniscus"))
        done = subprocess.run([command, "nodes", "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        types = {node["name"]: {parm["name"] for parm in node["parms"]} for node in json.loads(done.stdout)["nodes"]}
        every = set.union(*types.values())
        read = re.compile(r'mn_cook_(?:float|int|toggle|vec3|menu|string|vector|has|is)\w*\(cook, "([^"]*)"')
        seen = 0
        for path in sources("nodes", endings=(".c",)):
            for name in read.findall(path.read_text()):
                seen += 1
                self.assertIn(name, types.get(path.stem, every), f"{path.relative_to(ROOT)} reads a parameter that its table does not have")
        self.assertGreater(seen, 20)

    def test_the_headers_know_the_version(self):
        project = re.search(r"project\(meniscus VERSION (\d+)\.(\d+)\.(\d+)", (ROOT / "CMakeLists.txt").read_text()).groups()
        header = (ROOT / "core/include/meniscus/context.h").read_text()
        self.assertEqual(tuple(re.search(rf"MN_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH")), project)

    def test_the_page_for_c_programmers_names_every_public_header(self):
        headers = {path.name for path in (ROOT / "core/include/meniscus").glob("*.h")}
        named = set(re.findall(r"`(?:\w+/)?(\w+\.h)`", (ROOT / "docs/c.md").read_text()))
        self.assertEqual(headers - named - {"meniscus.h"}, set())
        self.assertLessEqual(len(headers), 20, "ten for what all share and one for each solver: is the new one needed outside the library?")

    def test_the_readme_quotes_the_first_program(self):
        quoted = re.search(r"```c\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
        self.assertIn(quoted, (ROOT / "examples/c/01_drop.c").read_text())

    def test_core_takes_elementary_functions_of_its_own(self):
        call = re.compile(r"(?<![\w.])(exp|expm1|log|log2|log10|log1p|pow|cbrt|hypot|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|erf|erfc|exp2)f?\(")
        for path in sources("core"):
            if path.name in ("elementary.c", "elementary.h"):
                continue
            text = re.sub(r'"(\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', " ", path.read_text(), flags=re.S)
            found = call.search(text)
            self.assertIsNone(found, f"{path.relative_to(ROOT)}: {found and found.group(0)}): the C library's differs from machine to machine; "
                                     "take mn_... of base/elementary.h (mn_ln for log)")

    def test_core_and_nodes_do_not_print_or_end_the_process(self):
        call = re.compile(r"(?<![A-Za-z_])(printf|fprintf|puts|putchar|perror|exit|abort|_Exit)\s*\(")
        for path in sources("core", "nodes"):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0]
                if "format(printf" not in code:
                    self.assertIsNone(call.search(code), f"{path.relative_to(ROOT)}:{number}: {line.strip()}")

    def test_core_has_no_writable_globals(self):
        variable = re.compile(r"^(static\s+)?(?!typedef|extern|enum|struct\s+\w+\s*\{|return|#)"
                              r"[A-Za-z_][\w\s\*]*\s\**\w+(\[[^\]]*\])*\s*(=[^=].*)?;$")
        for path in sources("core", endings=(".c",)):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if "const" in line or "(" in line or line.startswith((" ", "/", "}")):
                    continue
                self.assertIsNone(variable.match(line), f"{path.relative_to(ROOT)}:{number}: {line.strip()}")


class Rooms(unittest.TestCase):
    """docs/images/house.svg is drawn from the includes; arrows point to the own row or downwards."""

    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("house", ROOT / "scripts/house.py")
        cls.house = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.house)

    def test_no_room_includes_one_above_it(self):
        row = {room: i for i, (_, rooms) in enumerate(self.house.ROWS) for room in rooms}
        arrows = self.house.arrows()
        self.assertGreater(len(arrows), 50)
        self.assertEqual([arrow for arrow in arrows if row[arrow[1]] > row[arrow[0]]], [])

    def test_every_room_is_in_the_picture(self):
        drawn = set(self.house.rooms())
        for folder in ("core", "plugin"):
            for room in (ROOT / folder).iterdir():
                if room.name not in ("include", "blender", "__pycache__") and any(room.rglob("*.[ch]")):
                    self.assertIn(f"{folder}/{room.name}", drawn)

    def test_the_picture_is_of_today(self):
        self.assertEqual((ROOT / "docs/images/house.svg").read_text(), self.house.draw(), "run scripts/house.py")


class Sources(unittest.TestCase):
    def test_every_file_has_its_licence_line(self):
        for path in sources("core", "nodes", "plugin", "tests", endings=CODE + (".py",)):
            self.assertIn("SPDX-License-Identifier: Apache-2.0", path.read_text()[:200], path.relative_to(ROOT))

    def test_nothing_is_left_behind(self):
        leftover = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|#if 0")
        for path in sources("core", "nodes", "plugin"):
            found = leftover.search(path.read_text())
            self.assertIsNone(found, f"{path.relative_to(ROOT)}: {found and found.group(0)}")

    def test_every_cited_key_is_in_the_bibliography(self):
        known = set(re.findall(r"^@\w+\{([^,\s]+),", (ROOT / "docs/references.bib").read_text(), re.M))
        cited = re.compile(r"\[([a-z]+(?:18|19|20)\d\d[a-z]?)\]")
        texts = list(sources("core", "nodes", "plugin", "tests", endings=CODE + (".py",)))
        texts += sorted((ROOT / "docs").rglob("*.md"))
        for path in texts:
            for key in cited.findall(path.read_text()):
                self.assertIn(key, known, f"{path.relative_to(ROOT)} cites [{key}]")

    def test_tables_of_thresholds_are_of_today(self):
        row = re.compile(r"^\| `(\w+)` \| `([\w/]+\.c)` \| (-?[\d.]+) \|", re.M)
        for page, least in (("mls", 25), ("film", 8), ("tet", 8)):
            rows = row.findall((ROOT / f"docs/theory/{page}.md").read_text())
            self.assertGreaterEqual(len(rows), least, page)
            for name, file, value in rows:
                found = re.search(rf"\b{name} = (-?[\d.]+)[,;]", (ROOT / "core" / file).read_text())
                self.assertIsNotNone(found, f"{page}.md: {file} has no {name}")
                self.assertEqual(float(found.group(1)), float(value), f"{page}.md: {name} of {file}")

    def test_formatting(self):
        tool = shutil.which("clang-format-14") or shutil.which("clang-format")
        self.assertIsNotNone(tool, "clang-format is missing; scripts/build.sh installs it")
        files = [str(path) for path in sources("core", "nodes", "plugin", "tests")]
        done = subprocess.run([tool, "--dry-run", "--Werror", *files], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[:2000])

    def test_sentences_are_plain_english(self):
        """Habits that make an artist stop, in what a program says: see the glossary in CONTRIBUTING."""
        literals = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
        habits = re.compile(r"^Of |(?<![Tt]here) is no (?!longer|more)|hangs? together|for ever|\bswings?\b|goes? on with")
        for path in sources("core", "nodes", "plugin"):
            code = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
            for literal in literals.findall(code):
                sentence = re.sub(r'"\s*"', "", literal)[1:-1]
                self.assertNotRegex(sentence, habits, path.relative_to(ROOT))

    def test_what_the_thread_sanitizer_leaves_out_exists(self):
        tests = {"_".join(path.relative_to(ROOT / "tests/unit").with_suffix("").parts) for path in (ROOT / "tests/unit").rglob("test_*.c")}
        listed = [line for line in (ROOT / "tests/support/serial_tests.txt").read_text().splitlines() if not line.startswith("#")]
        self.assertEqual([name for name in listed if name not in tests], [])

    def test_names_say_what_a_file_computes(self):
        for path in sources("core", "nodes", "plugin", endings=CODE + (".py",)):
            self.assertNotRegex(path.stem, r"^(utils?|helpers?|misc|common)$", path.relative_to(ROOT))

    def test_the_product_does_not_need_the_shared_folder(self):
        for path in sources("core", "nodes", "plugin", "scripts", endings=CODE + (".py", ".sh")):
            self.assertNotIn("../shared", path.read_text(), path.relative_to(ROOT))


if __name__ == "__main__":
    unittest.main(verbosity=1)
