"""The names that callers import from the agent's ``hermes_state``. ``install()`` replaces that module by this one.

``DEFAULT_DB_PATH`` may be replaced here, as tests of callers do: a ``SessionDB()`` created later uses it.
"""

from __future__ import annotations

from .init_error import WAL_MARKERS as _WAL_INCOMPAT_MARKERS
from .init_error import _set_last_init_error, format_session_db_unavailable, get_last_init_error
from .session_db import DEFAULT_DB_PATH, SCHEMA_VERSION, SessionDB
from .wal import apply_wal_with_fallback

__all__ = [
    "DEFAULT_DB_PATH",
    "SCHEMA_VERSION",
    "SessionDB",
    "_WAL_INCOMPAT_MARKERS",
    "_set_last_init_error",
    "apply_wal_with_fallback",
    "format_session_db_unavailable",
    "get_last_init_error",
]
