"""Reports that parts of the agent read with their own SQL, bypassing the API: here they are ordinary calls.

They are built on the public calls, so they work on every provider.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from .base import Calls, Row
from .messages import MessageCalls
from .search import SearchCalls
from .sessions import SessionCalls

_PAGE = 500
_SUMS = ("input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens")


class UsageCalls(SessionCalls, MessageCalls, SearchCalls, Calls):
    """Reports over many sessions."""

    def sessions_since(self, cutoff: float, source: str | None = None) -> list[Row]:
        """Returns all sessions that started at this time or later, newest first, of one source or of all."""
        found: dict[str, Row] = {}

        def take(offset: int) -> bool:
            page = self.search_sessions(source, limit=_PAGE, offset=offset)
            found.update((row["id"], row) for row in page if row["started_at"] >= cutoff)
            return len(page) == _PAGE and page[-1]["last_active"] >= cutoff

        offset = 0
        while take(offset):
            offset += _PAGE
        if offset:
            # A session that became active meanwhile moved to the front of the list, before the page that was being
            # read.
            take(0)
        return sorted(found.values(), key=lambda row: float(row["started_at"]), reverse=True)

    def messages_since(self, cutoff: float, source: str | None = None) -> Iterator[Row]:
        """Yields all messages of the sessions that started at this time or later, session by session."""
        for session in self.sessions_since(cutoff, source):
            yield from self.get_messages(session["id"])

    def usage_by_day(self, cutoff: float) -> list[dict[str, Any]]:
        """Returns sums of tokens, costs, sessions and calls for each day (UTC) on which sessions started, oldest
        first.
        """
        days: dict[str, list[Row]] = {}
        for row in self.sessions_since(cutoff):
            days.setdefault(time.strftime("%Y-%m-%d", time.gmtime(row["started_at"])), []).append(row)
        return [{"day": day, **_sums(rows)} for day, rows in sorted(days.items())]

    def usage_by_model(self, cutoff: float, by_provider: bool = False) -> list[dict[str, Any]]:
        """Returns these sums for each model, or for each model of each provider; most tokens first."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.sessions_since(cutoff):
            if row["model"]:
                group = (row["model"], row["billing_provider"]) if by_provider else (row["model"],)
                groups.setdefault(group, []).append(row)
        names = ("model", "billing_provider")
        reports = [{**dict(zip(names, group)), **_sums(rows), **_habits(rows)} for group, rows in groups.items()]
        return sorted(reports, key=lambda r: (r["input_tokens"] or 0) + (r["output_tokens"] or 0), reverse=True)

    def usage_totals(self, cutoff: float, only_with_model: bool = False) -> dict[str, Any]:
        """Returns these sums over all sessions, and the number of models."""
        rows = [row for row in self.sessions_since(cutoff) if row["model"] or not only_with_model]
        return {"distinct_models": len({row["model"] for row in rows if row["model"]}), **_sums(rows)}

    def latest_descendant(self, session_id: str) -> tuple[str | None, list[str]]:
        """Follows the newest child of each session down to one without children. Returns that id, and the path to
        it.

        Takes an id or a unique prefix of one; returns ``(None, [])`` if there is no such session.
        """
        start = self.resolve_session_id(session_id)
        if not start or not self.get_session(start):
            return None, []
        children: dict[str, list[Row]] = {}
        for row in self.sessions_since(float("-inf")):
            if row["parent_session_id"]:
                children.setdefault(row["parent_session_id"], []).append(row)
        path = [start]
        while unseen := [row["id"] for row in children.get(path[-1], []) if row["id"] not in path]:
            path.append(unseen[0])
        return path[-1], path


def _sums(rows: list[Row]) -> dict[str, Any]:
    report: dict[str, Any] = {name: _sum(rows, name) for name in _SUMS}
    report["estimated_cost"] = _sum(rows, "estimated_cost_usd") or 0
    report["actual_cost"] = _sum(rows, "actual_cost_usd") or 0
    report["sessions"] = len(rows)
    report["api_calls"] = (_sum(rows, "api_call_count") or 0) if rows else None
    return report


def _habits(rows: list[Row]) -> dict[str, Any]:
    pairs = [(row["input_tokens"], row["output_tokens"]) for row in rows]
    totals = [given + made for given, made in pairs if given is not None and made is not None]
    return {
        "tool_calls": _sum(rows, "tool_call_count"),
        "last_used_at": max(row["started_at"] for row in rows),
        "avg_tokens_per_session": sum(totals) / len(totals) if totals else None,
    }


def _sum(rows: list[Row], name: str) -> Any:
    values = [row[name] for row in rows if row[name] is not None]
    return sum(values) if values else None
