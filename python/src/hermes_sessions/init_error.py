"""The reason why the store could not be opened, for the agent's messages to its user."""

from __future__ import annotations

import threading

# Causes that point at a file system on which SQLite's shared memory does not work.
WAL_MARKERS = ("locking protocol", "not authorized", "disk i/o error")
_HINT = " (state.db may be on NFS/SMB/FUSE — see https://www.sqlite.org/wal.html)"

_guard = threading.Lock()
_last: str | None = None


def get_last_init_error() -> str | None:
    """Returns the latest failure to open a store in this process, as ``Class: text``.

    A later success does not erase it: the two may be of different threads.
    """
    with _guard:
        return _last


def _set_last_init_error(message: str | None) -> None:
    """Records a failure; ``None`` erases it, which tests need."""
    global _last
    with _guard:
        _last = message


def format_session_db_unavailable(prefix: str = "Session database not available") -> str:
    """Returns a sentence for the user with the cause, if there is one, and a hint about network file systems if the
    cause suggests one.
    """
    cause = get_last_init_error()
    if not cause:
        return f"{prefix}."
    hint = _HINT if any(marker in cause.lower() for marker in WAL_MARKERS) else ""
    return f"{prefix}: {cause}{hint}."
