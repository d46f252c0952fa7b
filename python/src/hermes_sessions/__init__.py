"""A session store for the Hermes agent, kept by a program of its own: a drop-in for the agent's ``SessionDB``.

The store is SQLite (the agent's own file), PostgreSQL or MySQL, as ``sessiondb.*`` in the agent's ``config.yaml`` says.
Use :class:`SessionDB` or :class:`AsyncSessionDB` directly, or let the agent use them: ``hermes-sessions run hermes …``,
or :func:`install` before the agent is imported.
"""

from __future__ import annotations

from .async_session_db import AsyncSessionDB
from .errors import StoreClosed, StoreUnavailable
from .init_error import format_session_db_unavailable, get_last_init_error
from .install import install, uninstall
from .provider import SessionDBProvider
from .session_db import DEFAULT_DB_PATH, SCHEMA_VERSION, SessionDB
from .wal import apply_wal_with_fallback

__all__ = [
    "DEFAULT_DB_PATH",
    "SCHEMA_VERSION",
    "AsyncSessionDB",
    "SessionDB",
    "SessionDBProvider",
    "StoreClosed",
    "StoreUnavailable",
    "apply_wal_with_fallback",
    "format_session_db_unavailable",
    "get_last_init_error",
    "install",
    "uninstall",
]
