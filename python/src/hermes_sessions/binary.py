"""The location of the program that keeps the store."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import StoreUnavailable

VARIABLE = "HERMES_SESSIONS_BINARY"
_NAME = "hermes.exe" if os.name == "nt" else "hermes"
_BUNDLED = Path(__file__).parent / "bin" / _NAME


def find_binary() -> Path:
    """Returns the program: the value of ``HERMES_SESSIONS_BINARY``, else the one in the wheel.

    Raises :class:`StoreUnavailable` if neither exists. A ``hermes`` on the search path is never used: that name belongs
    to the Python agent.
    """
    named = os.environ.get(VARIABLE, "").strip()
    found = Path(named) if named else _BUNDLED
    if not found.is_file():
        cause = f"{VARIABLE} names {found}, which is not a file" if named else f"{found} is missing"
        raise StoreUnavailable(f"{cause}; install the wheel of hermes-sessions for this platform, or set {VARIABLE}")
    return found
