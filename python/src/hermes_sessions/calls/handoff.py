"""Handoffs of a session from the terminal to a chat platform."""

from __future__ import annotations

from typing import Any

from .base import Calls, Row


class HandoffCalls(Calls):
    """A handoff is requested by the terminal, claimed by one gateway, then completed or failed."""

    def request_handoff(self, session_id: str, platform: str) -> bool:
        """Requests a handoff. Returns false if the session is unknown or a handoff is in progress."""
        return bool(self._write("request_handoff", session_id, platform))

    def claim_handoff(self, session_id: str) -> bool:
        """Claims a pending handoff. Of concurrent callers exactly one gets true."""
        return bool(self._write("claim_handoff", session_id))

    def complete_handoff(self, session_id: str) -> None:
        """Marks the handoff as completed."""
        self._write("complete_handoff", session_id)

    def fail_handoff(self, session_id: str, error: str) -> None:
        """Marks the handoff as failed; the first 500 characters of the error are kept."""
        self._write("fail_handoff", session_id, error)

    def get_handoff_state(self, session_id: str) -> dict[str, Any] | None:
        """Returns ``{"state", "platform", "error"}`` of a session, all ``None`` if no handoff was requested;
        ``None`` if it is unknown.
        """
        state: dict[str, Any] | None = self._read("get_handoff_state", session_id)
        return state

    def list_pending_handoffs(self) -> list[Row]:
        """Returns the sessions with an unclaimed handoff."""
        rows: list[Row] = self._read("list_pending_handoffs")
        return rows
