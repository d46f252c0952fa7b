"""A real agent behaves on our store as on its own: the same story, on both, step by step."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from differences import STORY
from servers import Mariadb, Postgres, Server
from support import PYTHON, is_skipped

_TIMES = {"started_at", "ended_at", "timestamp", "last_active", "last_used_at", "session_started", "updated_at"}
_GENERATED = re.compile(r"\b20\d{6}_\d{6}_[0-9a-f]{8}\b")


def told(who: str, home: Path, **environment: str) -> list[dict[str, Any]]:
    """Runs the story on one store."""
    variables = {**os.environ, "HERMES_HOME": str(home), "HOME": str(home), "COLUMNS": "200", **environment}
    command = [sys.executable, str(PYTHON / "tests" / "agent_story.py"), who]
    run = subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True, timeout=500)
    if run.returncode:
        raise AssertionError(run.stderr)
    story: list[dict[str, Any]] = json.loads(run.stdout)["steps"]
    return [{**step, "result": Plain().of(step["result"])} for step in _same_ids(story)]


def _same_ids(story: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Replaces the random ids of the agent by numbers in the order in which they appear."""
    text = json.dumps(story)
    for number, drawn in enumerate(dict.fromkeys(_GENERATED.findall(text))):
        text = text.replace(drawn, f"drawn-{number}")
    renamed: list[dict[str, Any]] = json.loads(text)
    return renamed


class Plain:
    """Removes what differs from run to run: times, and how long ago something was."""

    def of(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self.of(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if name in _TIMES and isinstance(value, float):
            assert 1.6e9 < value < 1e11, (name, value)
            return "a time"
        if name == "when":
            return "a date"
        if name == "out":
            return self._printed(value)
        return value

    def _printed(self, text: str) -> Any:
        lines = text.splitlines()
        if lines and all(line.startswith("{") for line in lines):
            return [self.of(json.loads(line)) for line in lines]
        text = re.sub(r"Database size: .*\n", "", text)
        text = re.sub(r"just now *|\d+[mhd] ago *", "ago ", text)
        # Which session ran longest depends on milliseconds.
        text = re.sub(r"(Longest session ).*", r"\1…", text)
        return re.sub(r"\d\d:\d\d(:\d\d)?|\d+(\.\d+)?[smh]\b|[A-Z][a-z]{2} \d\d(, \d{4})?", "…", text)


@unittest.skipIf(is_skipped("peers"), "HERMES_TEST_SKIP names peers")
class Agent(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as home:
            cls.theirs = told("own", Path(home))

    def compare(self, ours: list[dict[str, Any]], provider: str) -> None:
        self.assertEqual([step["step"] for step in ours], [step["step"] for step in self.theirs])
        for their, our in zip(self.theirs, ours):
            expected = STORY.get(their["step"])
            with self.subTest(step=their["step"], provider=provider):
                wanted = expected.adjust(copy.deepcopy(their["result"])) if expected else their["result"]
                self.assertEqual(our["result"], wanted)

    def test_on_our_file(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            self.compare(told("ours", Path(home)), "sqlite")

    @unittest.skipIf(is_skipped("postgres"), "HERMES_TEST_SKIP names postgres")
    def test_on_a_postgresql_that_its_config_names(self) -> None:
        self._on(Postgres(), "postgresql")

    @unittest.skipIf(is_skipped("mysql"), "HERMES_TEST_SKIP names mysql")
    def test_on_a_mariadb_that_its_config_names(self) -> None:
        self._on(Mariadb(), "mysql")

    def _on(self, server: Server, provider: str) -> None:
        with server, tempfile.TemporaryDirectory() as home:
            (Path(home) / "config.yaml").write_text(server.config)
            self.compare(told("ours", Path(home)), provider)
            self.assertFalse((Path(home) / "state.db").exists(), "nothing may be written beside the server")


if __name__ == "__main__":
    unittest.main()
