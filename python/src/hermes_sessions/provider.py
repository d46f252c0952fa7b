"""``SessionDBProvider``: the store behind the interface that the RFC "Pluggable SessionDB Provider" proposes.

The RFC represents "no value" by an empty string, takes one source or role where the agent takes a list, and passes JSON
as text. This class translates; where it returns more than the RFC requires (a bool instead of nothing), that stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .binary import find_binary
from .calls.base import Row, names
from .errors import StoreUnavailable
from .session_db import SessionDB


class SessionDBProvider:
    """A provider in the sense of the RFC. ``initialize()`` opens the store, ``shutdown()`` closes it."""

    def __init__(self) -> None:
        self._db: SessionDB | None = None

    @property
    def name(self) -> str:
        """The provider of the store: ``sqlite``, ``postgresql`` or ``mysql``; ``hermes-sessions`` until it is open."""
        return str(self._db.info()["provider"]) if self._db else "hermes-sessions"

    def is_available(self) -> bool:
        """Returns whether the program that keeps the store is installed. No process is started and no server is
        contacted.
        """
        try:
            find_binary()
        except StoreUnavailable:
            return False
        return True

    def initialize(self, **kwargs: Any) -> None:
        """Opens the store: ``db_path`` or ``dsn`` if given, else the configured one. Opening it again is not an
        error.
        """
        if self._db is None:
            self._db = SessionDB(kwargs.get("dsn") or kwargs.get("db_path"))

    def shutdown(self) -> None:
        """Closes the store."""
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def create_session(
        self,
        session_id: str,
        source: str,
        *,
        user_id: str = "",
        model: str = "",
        model_config: str | dict[str, Any] = "",
        system_prompt: str = "",
        parent_session_id: str = "",
    ) -> str:
        """Creates a session and returns its id."""
        settings = json.loads(model_config) if isinstance(model_config, str) and model_config else model_config
        return self._open.create_session(
            session_id,
            source,
            user_id=user_id or None,
            model=model or None,
            model_config=settings or None,
            system_prompt=system_prompt or None,
            parent_session_id=parent_session_id or None,
        )

    def ensure_session(self, session_id: str, source: str, model: str = "", **kwargs: Any) -> None:
        """Creates a session if there is none of that id."""
        self._open.ensure_session(session_id, source, model or None, **{k: v or None for k, v in kwargs.items()})

    def search_messages(
        self,
        query: str,
        *,
        source_filter: str | Iterable[str] = "",
        exclude_sources: list[str] | None = None,
        role_filter: str | Iterable[str] = "",
        limit: int = 20,
        offset: int = 0,
    ) -> list[dict[str, Any]]:
        """Returns the messages that match, best first."""
        sources, roles = names(source_filter or None), names(role_filter or None)
        return self._open.search_messages(query, sources, exclude_sources, roles, limit, offset)

    def search_sessions(self, source: str = "", limit: int = 50, offset: int = 0) -> list[Row]:
        """Returns sessions by their last activity."""
        return self._open.search_sessions(source or None, limit, offset)

    def list_sessions_rich(
        self,
        source: str = "",
        exclude_sources: list[str] | None = None,
        limit: int = 50,
        offset: int = 0,
        include_children: bool = False,
        project_compression_tips: bool = True,
        order_by_last_active: bool = False,
    ) -> list[Row]:
        """Returns conversations for a list."""
        return self._open.list_sessions_rich(
            source or None,
            exclude_sources,
            limit,
            offset,
            include_children,
            project_compression_tips,
            order_by_last_active,
        )

    def get_messages_as_conversation(self, session_id: str, include_ancestors: bool = True) -> list[dict[str, Any]]:
        """Returns the messages in the form for a model's client, by default of the whole chain."""
        return self._open.get_messages_as_conversation(session_id, include_ancestors)

    def session_count(self, source: str = "") -> int:
        """Returns the number of sessions."""
        return self._open.session_count(source or None)

    def message_count(self, session_id: str = "") -> int:
        """Returns the number of messages."""
        return self._open.message_count(session_id or None)

    def export_all(self, source: str = "") -> list[dict[str, Any]]:
        """Returns every session with its messages."""
        return self._open.export_all(source or None)

    def __getattr__(self, name: str) -> Any:
        """Returns the calls that are the same in the RFC and in the agent's store, and those that only the store
        has.
        """
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._open, name)

    @property
    def _open(self) -> SessionDB:
        if self._db is None:
            raise StoreUnavailable("the session store is not open; call initialize() first")
        return self._db
