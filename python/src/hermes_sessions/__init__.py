"""A session store for the Hermes agent, kept by a separate program: a drop-in for the agent's ``SessionDB``.

The store is SQLite (the agent's own file), PostgreSQL or MySQL, according to ``sessiondb.*`` in the agent's
``config.yaml``. Use :class:`SessionDB` or :class:`AsyncSessionDB` directly, or let the agent use them:
``hermes-sessions run hermes …``, or :func:`install` before the agent is imported.
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
