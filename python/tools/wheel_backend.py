"""Builds the wheel: the package, the program and a start file, with the standard library alone.

A PEP 517 build backend, so that ``pip wheel python`` works. The program is taken from the path in
``HERMES_SESSIONS_BINARY``; ``scripts/wheel`` builds it and sets the variable. The wheel is for any Python 3 on one
platform: ``py3-none-<platform>``.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = "hermes_sessions"
# Everything in the archive has the earliest time that a zip can hold, so the same input gives the same bytes.
WHEN = (1980, 1, 1, 0, 0, 0)
# Read by Python at its start: child processes of an agent with our store get it too.
START_FILE = 'import os; os.environ.get("HERMES_SESSIONS_INSTALL") and __import__("hermes_sessions").install()\n'


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Writes the wheel into a folder and returns its name."""
    binary = Path(os.environ.get("HERMES_SESSIONS_BINARY", "").strip() or ROOT / "src" / PACKAGE / "bin" / _program())
    if not binary.is_file():
        sys.exit(f"error: {binary} is missing; run scripts/wheel, or set HERMES_SESSIONS_BINARY to the program")
    project = _project()
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    tag = f"py3-none-{platform_tag(binary.read_bytes())}"
    info = f"{stem}.dist-info"
    name = f"{stem}-{tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        record: list[str] = []

        def add(path: str, data: bytes, mode: int = 0o644) -> None:
            entry = zipfile.ZipInfo(path, WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")

        for path in _sources():
            add(path.relative_to(ROOT / "src").as_posix(), path.read_bytes())
        add(f"{PACKAGE}/bin/{_program()}", binary.read_bytes(), 0o755)
        add(f"{PACKAGE}.pth", START_FILE.encode())
        add(f"{info}/METADATA", _metadata(project).encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: {PACKAGE}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        add(f"{info}/entry_points.txt", f"[console_scripts]\nhermes-sessions = {project['script']}\n".encode())
        licence = ROOT.parent / "LICENSE"
        add(f"{info}/licenses/LICENSE", licence.read_bytes())
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", WHEN), "\n".join([*record, f"{info}/RECORD,,", ""]))
    return name


def platform_tag(binary: bytes) -> str:
    """Returns the platform that a program runs on: for glibc, the oldest version that has every symbol it needs."""
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    wanted = [tuple(map(int, version.split(b"."))) for version in re.findall(rb"GLIBC_(2\.\d+)", binary)]
    if not platform.startswith("linux") or not wanted:
        return platform
    major, minor = max(wanted)
    return platform.replace("linux", f"manylinux_{major}_{minor}", 1)


def _sources() -> Iterator[Path]:
    for path in sorted((ROOT / "src" / PACKAGE).rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            yield path


def _project() -> dict[str, str]:
    """Returns the few values of ``pyproject.toml`` that are needed; Python 3.10 has no TOML parser."""
    text = (ROOT / "pyproject.toml").read_text()

    def value(key: str) -> str:
        found = re.search(rf'^{key} = "(.*)"$', text, re.MULTILINE)
        if not found:
            sys.exit(f"error: pyproject.toml has no {key}")
        return found.group(1)

    keys = {"name", "version", "description", "license", "requires-python"}
    return {**{key: value(key) for key in keys}, "script": value("hermes-sessions")}


def _metadata(project: dict[str, str]) -> str:
    head = {
        "Metadata-Version": "2.4",
        "Name": project["name"],
        "Version": project["version"],
        "Summary": project["description"],
        "License-Expression": project["license"],
        "License-File": "LICENSE",
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    lines = "".join(f"{key}: {value}\n" for key, value in head.items())
    return f"{lines}\n{(ROOT / 'README.md').read_text()}"


def _program() -> str:
    return "hermes.exe" if os.name == "nt" else "hermes"
