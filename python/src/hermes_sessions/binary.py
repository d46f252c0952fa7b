"""Where the program is that keeps the store."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import StoreUnavailable

VARIABLE = "HERMES_SESSIONS_BINARY"
_NAME = "hermes.exe" if os.name == "nt" else "hermes"
_BUNDLED = Path(__file__).parent / "bin" / _NAME


def find_binary() -> Path:
    """The program: what ``HERMES_SESSIONS_BINARY`` names, else the one that the wheel brought.

    Raises :class:`StoreUnavailable` if neither is there. A ``hermes`` on the search path is never taken: that name
    belongs to the Python agent.
    """
    named = os.environ.get(VARIABLE, "").strip()
    found = Path(named) if named else _BUNDLED
    if not found.is_file():
        cause = f"{VARIABLE} names {found}, which is no file" if named else f"{found} is missing"
        raise StoreUnavailable(f"{cause}; install the wheel of hermes-sessions for this platform, or set {VARIABLE}")
    return found
