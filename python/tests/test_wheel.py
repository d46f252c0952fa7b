"""The wheel is valid: its record is correct, it contains the program, and it can be installed and uninstalled."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from support import PYTHON, REPOSITORY

sys.path.insert(0, str(PYTHON / "tools"))
import wheel_backend

from hermes_sessions.binary import VARIABLE, find_binary


class Wheel(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # A small program replaces the real one, so that packing takes no time.
        self.program = self.folder / "program"
        self.program.write_text('#!/bin/sh\n# GLIBC_2.17 GLIBC_2.34\necho "$HERMES_CALLED_AS asked for: $*"\n')
        before = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = str(self.program)
        self.addCleanup(lambda: os.environ.update({VARIABLE: before}) if before else os.environ.pop(VARIABLE))
        self.wheel = self.folder / wheel_backend.build_wheel(str(self.folder))

    def test_the_record_is_right(self) -> None:
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            [record] = [name for name in names if name.endswith("/RECORD")]
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(names))
            for path, digest, size in rows:
                if path == record:
                    continue
                data = archive.read(path)
                wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, size), (f"sha256={wanted}", str(len(data))), path)
            for wanted in (
                "hermes_sessions/bin/hermes",
                "hermes_sessions/py.typed",
                "hermes_sessions/calls/messages.py",
            ):
                self.assertIn(wanted, names)

    def test_its_name_says_what_it_runs_on(self) -> None:
        self.assertRegex(self.wheel.name, r"^hermes_sessions-[\d.]+-py3-none-\w+\.whl$")
        if sys.platform == "linux":
            self.assertIn("-manylinux_2_34_", self.wheel.name)

    def test_its_version_is_the_programs(self) -> None:
        workspace = (REPOSITORY / "Cargo.toml").read_text()
        [version] = re.findall(r'^version = "(.+)"$', workspace, re.MULTILINE)[:1]
        self.assertIn(f"hermes_sessions-{version}-", self.wheel.name)

    def test_the_same_input_gives_the_same_bytes(self) -> None:
        first = self.wheel.read_bytes()
        wheel_backend.build_wheel(str(self.folder))
        self.assertEqual(self.wheel.read_bytes(), first)

    def test_it_is_installed_with_its_script_and_program(self) -> None:
        place = self.folder / "place"
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        python = place / "bin" / "python"
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--no-index", self.wheel], check=True)
        clean = {name: value for name, value in os.environ.items() if name not in (VARIABLE, "PYTHONPATH")}

        def run(*command: str | Path, **more: str) -> str:
            done = subprocess.run(command, env={**clean, **more}, capture_output=True, text=True, cwd=self.folder)
            return done.stdout + done.stderr

        self.assertEqual(run(place / "bin" / "hermes-sessions", "sessiondb", "status"), "hermes-sessions asked for: sessiondb status\n")
        self.assertFalse((place / "bin" / "hermes").exists(), "that name is the agent's")
        self.assertIn("has no script 'hermes'", run(place / "bin" / "hermes-sessions", "run", "hermes"))
        ask = "import hermes_state; print(hermes_state.__name__)"
        self.assertEqual(run(python, "-c", ask, HERMES_SESSIONS_INSTALL="1"), "hermes_sessions.state\n")
        self.assertIn("ModuleNotFoundError", run(python, "-c", ask))
        subprocess.run([*pip, "uninstall", "--yes", "hermes-sessions"], check=True)
        self.assertEqual(list(place.glob("lib/*/site-packages/hermes_sessions*")), [])

    def test_without_a_program_the_error_says_what_to_do(self) -> None:
        os.environ[VARIABLE] = str(self.folder / "nothing")
        with self.assertRaisesRegex(Exception, "is not a file; install the wheel"):
            find_binary()


if __name__ == "__main__":
    unittest.main()
