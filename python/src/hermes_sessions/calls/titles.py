"""Titles: set, find, and number along a lineage."""

from __future__ import annotations

from ..title import MAX_TITLE_LENGTH, sanitize_title
from .base import Calls, Row


class TitleCalls(Calls):
    """The calls about titles, which are unique among sessions."""

    MAX_TITLE_LENGTH = MAX_TITLE_LENGTH

    @staticmethod
    def sanitize_title(title: str | None) -> str | None:
        """Returns the title as it would be stored, or ``None`` if nothing visible is left. Raises ``ValueError`` if
        it is too long.
        """
        return sanitize_title(title)

    def set_session_title(self, session_id: str, title: str) -> bool:
        """Sets a title, or clears it if nothing visible is left of it. Returns whether the session exists.

        Raises ``ValueError`` if the title is too long or another session has it.
        """
        return bool(self._write("set_session_title", session_id, title))

    def get_session_title(self, session_id: str) -> str | None:
        """Returns the title of a session, if it has one."""
        title: str | None = self._read("get_session_title", session_id)
        return title

    def get_session_by_title(self, title: str) -> Row | None:
        """Returns the session with exactly this title."""
        row: Row | None = self._read("get_session_by_title", title)
        return row

    def resolve_session_by_title(self, title: str) -> str | None:
        """Returns the id of the newest session among this title and its numbered successors (``plan``, ``plan #2``)."""
        found: str | None = self._read("resolve_session_by_title", title)
        return found

    def get_next_title_in_lineage(self, base_title: str) -> str:
        """Returns the next free title after this one: ``plan`` → ``plan #2`` → ``plan #3``."""
        return str(self._read("get_next_title_in_lineage", base_title))
