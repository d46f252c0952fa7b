"""Search, listings and counts."""

from __future__ import annotations

from typing import Any

from .. import query
from .base import Calls, Row, names


class SearchCalls(Calls):
    """The calls that find messages and list sessions."""

    def search_messages(
        self,
        query: str,
        source_filter: list[str] | None = None,
        exclude_sources: list[str] | None = None,
        role_filter: list[str] | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> list[dict[str, Any]]:
        """Returns the messages that match, best first, each with a marked excerpt and its neighbours.

        If nothing matches the whole query, returns those that contain any of the words, each with ``"relaxed": True``.
        ``source_filter=[]`` matches nothing; ``exclude_sources=[]`` and ``role_filter=[]`` exclude nothing.
        """
        hits: list[dict[str, Any]] = self._read(
            "search_messages",
            query,
            names(source_filter),
            names(exclude_sources),
            names(role_filter),
            limit,
            offset,
        )
        return hits

    def search(
        self,
        query: str,
        source_filter: list[str] | None = None,
        exclude_sources: list[str] | None = None,
        role_filter: list[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        order: str = "best",
        relax: bool = True,
        since: float | None = None,
        before: float | None = None,
        user_id: str | None = None,
        sessions: list[str] | None = None,
        title: str | None = None,
        model: str | None = None,
        timeout: float = 2.0,
    ) -> dict[str, Any]:
        """Runs our own search. Returns the ``hits``, each with its conversation, title and score, and how complete
        the answer is. ``title`` and ``model`` are pieces, whatever their case.
        """
        found: dict[str, Any] = self._read(
            "search",
            query,
            names(source_filter),
            names(exclude_sources),
            names(role_filter),
            limit,
            offset,
            order,
            relax,
            since=since,
            before=before,
            user_id=user_id,
            sessions=names(sessions),
            title=title,
            model=model,
            timeout=timeout,
        )
        return found

    def session_search(
        self,
        query: str | None = None,
        role_filter: str | list[str] | None = None,
        limit: int = 3,
        current_session_id: str | None = None,
        *,
        scope: str | dict[str, Any],
        budget: int = 100_000,
    ) -> dict[str, Any]:
        """Returns up to five conversations about a topic, each as the part around its matches, without a model.

        ``scope`` limits whose: ``"all"``, or ``{"source": …}``, ``{"user_id": …}``, both, or ``{"sessions": […]}``. The
        conversation of ``current_session_id`` and those it originates from are left out. Without a query, returns the
        most recently active conversations.
        """
        found: dict[str, Any] = self._read(
            "session_search",
            query,
            role_filter if isinstance(role_filter, str) else names(role_filter),
            limit,
            current_session_id,
            scope=scope,
            budget=budget,
        )
        return found

    def search_sessions(self, source: str | None = None, limit: int = 20, offset: int = 0) -> list[Row]:
        """Returns sessions by their last activity, newest first, including continuations and delegates."""
        rows: list[Row] = self._read("search_sessions", source, limit, offset)
        return rows

    def list_sessions_rich(
        self,
        source: str | None = None,
        exclude_sources: list[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        include_children: bool = False,
        project_compression_tips: bool = True,
        order_by_last_active: bool = False,
    ) -> list[Row]:
        """Returns conversations for a list: all columns, ``last_active`` and a ``preview`` of the first question.

        A compressed conversation is one row: its first session, with identity, counts, title, activity and preview of
        its last.
        """
        rows: list[Row] = self._read(
            "list_sessions_rich",
            source,
            names(exclude_sources),
            limit,
            offset,
            include_children,
            project_compression_tips,
            order_by_last_active,
        )
        return rows

    def session_count(self, source: str | None = None) -> int:
        """Returns the number of sessions, of one source or of all."""
        return int(self._read("session_count", source))

    def message_count(self, session_id: str | None = None) -> int:
        """Returns the number of messages, of one session or of all."""
        return int(self._read("message_count", session_id))

    @staticmethod
    def _sanitize_fts5_query(query_text: str) -> str:
        return query.sanitize_fts5_query(query_text)

    @staticmethod
    def _contains_cjk(text: str) -> bool:
        return query.contains_cjk(text)
