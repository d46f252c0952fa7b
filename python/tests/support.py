"""Common parts of the tests: paths, and throw-away stores."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

PYTHON = Path(__file__).parent.parent
REPOSITORY = PYTHON.parent
FAKE = PYTHON / "tests" / "fake_store.py"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target")

try:
    import hermes_sessions  # noqa: F401
except ImportError:
    sys.path.insert(0, str(PYTHON / "src"))

from hermes_sessions.binary import VARIABLE, find_binary


def peer_folder() -> Path:
    """Returns the folder in which ``scripts/peers`` unpacked hermes-agent 0.14.0."""
    folder = Path(os.environ.get("HERMES_PEERS") or TARGET / "peers") / "0.14.0"
    if not (folder / "hermes_state.py").is_file():
        raise AssertionError(f"{folder} holds no hermes-agent 0.14.0; run scripts/peers, or set HERMES_TEST_SKIP=peers")
    return folder


def is_skipped(name: str) -> bool:
    """Returns whether ``HERMES_TEST_SKIP`` leaves out the tests that need this."""
    return name in os.environ.get("HERMES_TEST_SKIP", "").split(",")


class StoreTest(unittest.TestCase):
    """A test on the real program, with a folder of its own."""

    def setUp(self) -> None:
        find_binary()
        folder = tempfile.TemporaryDirectory(prefix="hermes-sessions-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "state.db"


class FakeTest(unittest.TestCase):
    """A test on the double, which misbehaves as planned."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="hermes-sessions-fake-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        patch = mock.patch.dict(os.environ, {VARIABLE: str(FAKE)})
        patch.start()
        self.addCleanup(patch.stop)

    def plan(self, **plan: object) -> None:
        (self.folder / "plan").write_text(json.dumps(plan))

    def starts(self) -> list[int]:
        return [int(line) for line in (self.folder / "starts").read_text().split()]


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Sets these environment variables."""
    with mock.patch.dict(os.environ, values):
        yield
