# SPDX-License-Identifier: Apache-2.0
"""Packs the Python module with its library as a wheel, without any packaging tool:

    make_wheel.py OUT_FOLDER VERSION LIBRARY PRESETS MODULE_FOLDER [STUBS]

A wheel is a zip with the files as they are installed, and some that describe them (PEP 427). Beside it goes what makes
`pip install OUT_FOLDER` take it as it is (wheel_backend.py)."""
import base64
import hashlib
import shutil
import sys
import zipfile
from pathlib import Path

METADATA = """Metadata-Version: 2.1
Name: meniscus
Version: {version}
Summary: Surface-tension solvers as networks of nodes
License: Apache-2.0
Requires-Python: >=3.9
"""
WHEEL = """Wheel-Version: 1.0
Generator: meniscus
Root-Is-Purelib: false
Tag: {tag}
"""
ENTRY_POINTS = """[console_scripts]
meniscus = meniscus.__main__:main
"""
PROJECT = """[build-system]
requires = []
build-backend = "wheel_backend"
backend-path = ["{folder}"]
"""
TAG = "py3-none-linux_x86_64"
MOMENT = (2020, 1, 1, 0, 0, 0)  # the same files give the same wheel


def main(out, version, library, presets, module, stubs=""):
    module = Path(module)
    contents = {f"meniscus/{path.name}": path.read_bytes() for path in sorted(module.iterdir())
                if path.suffix == ".py" or path.name == "py.typed"}
    contents[f"meniscus/{Path(library).name}"] = Path(library).read_bytes()
    contents[f"meniscus/presets/{Path(presets).name}"] = Path(presets).read_bytes()
    if stubs:
        contents["meniscus/network.pyi"] = Path(stubs).read_bytes()
    described = f"meniscus-{version}.dist-info"
    contents[f"{described}/METADATA"] = METADATA.format(version=version).encode()
    contents[f"{described}/WHEEL"] = WHEEL.format(tag=TAG).encode()
    contents[f"{described}/entry_points.txt"] = ENTRY_POINTS.encode()
    rows = []
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    rows.append(f"{described}/RECORD,,")
    contents[f"{described}/RECORD"] = ("\n".join(rows) + "\n").encode()
    path = Path(out) / f"meniscus-{version}-{TAG}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in contents.items():
            wheel.writestr(zipfile.ZipInfo(name, MOMENT), data, zipfile.ZIP_DEFLATED)
    shutil.copyfile(Path(__file__).resolve().parent / "wheel_backend.py", path.parent / "wheel_backend.py")
    (path.parent / "pyproject.toml").write_text(PROJECT.format(folder="."))
    (path.parent.parent / "pyproject.toml").write_text(PROJECT.format(folder=path.parent.name))
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
