"""Export, deletion, maintenance and the small key-value table."""

from __future__ import annotations

import os
from typing import Any

from .base import Calls, folder

Folder = str | os.PathLike[str] | None


class UpkeepCalls(Calls):
    """The calls that export, delete and maintain."""

    def export_session(self, session_id: str) -> dict[str, Any] | None:
        """Returns a session with its ``messages``, or ``None``."""
        exported: dict[str, Any] | None = self._read("export_session", session_id)
        return exported

    def export_all(self, source: str | None = None) -> list[dict[str, Any]]:
        """Returns every session, of one source or of all, with its ``messages``."""
        exported: list[dict[str, Any]] = self._read("export_all", source)
        return exported

    def delete_session(self, session_id: str, sessions_dir: Folder = None) -> bool:
        """Deletes a session with its messages, and its transcript files if their folder is given. Returns whether it
        existed.

        Its children stay, as sessions without a parent.
        """
        return bool(self._write("delete_session", session_id, sessions_dir=folder(sessions_dir)))

    def prune_sessions(
        self, older_than_days: float = 90, source: str | None = None, sessions_dir: Folder = None
    ) -> int:
        """Deletes ended sessions that were last active more than this many days ago, and returns how many."""
        return int(self._write("prune_sessions", older_than_days, source, sessions_dir=folder(sessions_dir)))

    def prune_empty_ghost_sessions(self, sessions_dir: Folder = None) -> int:
        """Deletes ended terminal sessions without title and messages that are over a day old, and returns how many."""
        return int(self._write("prune_empty_ghost_sessions", sessions_dir=folder(sessions_dir)))

    def finalize_orphaned_compression_sessions(self) -> int:
        """Ends continuations that were never used and are over a week old, and returns how many."""
        return int(self._write("finalize_orphaned_compression_sessions"))

    def maybe_auto_prune_and_vacuum(
        self,
        retention_days: int = 90,
        min_interval_hours: int = 24,
        vacuum: bool = True,
        sessions_dir: Folder = None,
    ) -> dict[str, Any]:
        """Prunes if the last run is long enough ago: ``{"skipped", "pruned", "vacuumed"}``.

        Never raises: a failure is reported under ``"error"``, because the agent calls this while it starts.
        """
        try:
            result: dict[str, Any] = self._write(
                "maybe_auto_prune_and_vacuum",
                retention_days,
                min_interval_hours,
                vacuum,
                sessions_dir=folder(sessions_dir),
            )
        except Exception as error:
            return {"skipped": False, "pruned": 0, "vacuumed": False, "error": str(error)}
        return result

    def vacuum(self) -> None:
        """Gives free space back to the file system."""
        self._write("vacuum")

    def optimize(self) -> Any:
        """Optimizes the search index."""
        return self._write("optimize")

    def verify(self) -> Any:
        """Checks the store and returns the findings."""
        return self._read("verify")

    def status(self) -> Any:
        """Returns a summary of the store: provider, size, counts, health."""
        return self._read("status")

    def get_meta(self, key: str) -> str | None:
        """Returns the value of a key, or ``None``."""
        value: str | None = self._read("get_meta", key)
        return value

    def set_meta(self, key: str, value: str) -> None:
        """Sets the value of a key."""
        self._write("set_meta", key, value)
