"""Handing a session over from the terminal to a chat platform."""

from __future__ import annotations

from typing import Any

from .base import Calls, Row


class HandoffCalls(Calls):
    """Requested by the terminal, claimed by one gateway, then completed or failed."""

    def request_handoff(self, session_id: str, platform: str) -> bool:
        """Asks for a handoff. False if the session is unknown or one is under way."""
        return bool(self._write("request_handoff", session_id, platform))

    def claim_handoff(self, session_id: str) -> bool:
        """Takes a pending handoff; of several that try, one gets true."""
        return bool(self._write("claim_handoff", session_id))

    def complete_handoff(self, session_id: str) -> None:
        """The handoff is done."""
        self._write("complete_handoff", session_id)

    def fail_handoff(self, session_id: str, error: str) -> None:
        """The handoff failed; the first 500 characters of the error are kept."""
        self._write("fail_handoff", session_id, error)

    def get_handoff_state(self, session_id: str) -> dict[str, Any] | None:
        """``{"state", "platform", "error"}`` of a session, all ``None`` if none was asked for; ``None`` if it is unknown."""
        state: dict[str, Any] | None = self._read("get_handoff_state", session_id)
        return state

    def list_pending_handoffs(self) -> list[Row]:
        """The sessions whose handoff nobody has claimed yet."""
        rows: list[Row] = self._read("list_pending_handoffs")
        return rows
