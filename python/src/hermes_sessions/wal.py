"""Write-ahead logging for the agent's *other* SQLite files.

The agent imports this helper for files of its own (the kanban board, the response store), with a connection that it
opened itself. The session store does not use it.
"""

from __future__ import annotations

import logging
import sqlite3
import threading

from .init_error import WAL_MARKERS

_log = logging.getLogger("hermes_sessions")
_guard = threading.Lock()
_warned: set[str] = set()


def apply_wal_with_fallback(conn: sqlite3.Connection, *, db_label: str = "state.db") -> str:
    """Requests write-ahead logging; falls back to the rollback journal where the file system does not support it.

    Returns the journal mode in effect: ``"wal"`` or ``"delete"``, or ``"memory"`` for a database without a file. Warns
    once for each label. Any other error, such as a locked file, is passed to the caller.
    """
    try:
        return _journal_mode(conn, "WAL")
    except sqlite3.OperationalError as error:
        if not any(marker in str(error).lower() for marker in WAL_MARKERS):
            raise
        with _guard:
            is_new = db_label not in _warned
            _warned.add(db_label)
        if is_new:
            _log.warning(
                "%s: write-ahead logging does not work here (%s); the rollback journal is used", db_label, error
            )
        return _journal_mode(conn, "DELETE")


def _journal_mode(conn: sqlite3.Connection, mode: str) -> str:
    row = conn.execute(f"PRAGMA journal_mode={mode}").fetchone()
    return str(row[0]).lower()
