"""Telegram topics: the session that a topic of a private chat shows."""

from __future__ import annotations

from .base import Calls, Row


class TelegramCalls(Calls):
    """All arguments are passed by name; ids may be numbers or text."""

    def apply_telegram_topic_migration(self) -> None:
        """Creates the tables of the topic mode, which do not exist before it is requested."""
        self._write("apply_telegram_topic_migration")

    def enable_telegram_topic_mode(
        self,
        *,
        chat_id: str,
        user_id: str,
        has_topics_enabled: bool | None = None,
        allows_users_to_create_topics: bool | None = None,
    ) -> None:
        """Turns the topic mode of a chat on."""
        self._write(
            "enable_telegram_topic_mode",
            chat_id=str(chat_id),
            user_id=str(user_id),
            has_topics_enabled=has_topics_enabled,
            allows_users_to_create_topics=allows_users_to_create_topics,
        )

    def disable_telegram_topic_mode(self, *, chat_id: str, clear_bindings: bool = True) -> None:
        """Turns the topic mode of a chat off and, by default, forgets which session each topic shows."""
        self._write("disable_telegram_topic_mode", chat_id=str(chat_id), clear_bindings=clear_bindings)

    def is_telegram_topic_mode_enabled(self, *, chat_id: str, user_id: str) -> bool:
        """Returns whether the topic mode is on for this chat and this user."""
        return bool(self._read("is_telegram_topic_mode_enabled", chat_id=str(chat_id), user_id=str(user_id)))

    def get_telegram_topic_binding(self, *, chat_id: str, thread_id: str) -> Row | None:
        """Returns the session that a topic shows and the other columns of its binding, or ``None``."""
        row: Row | None = self._read("get_telegram_topic_binding", chat_id=str(chat_id), thread_id=str(thread_id))
        return row

    def bind_telegram_topic(
        self,
        *,
        chat_id: str,
        thread_id: str,
        user_id: str,
        session_key: str,
        session_id: str,
        managed_mode: str = "auto",
    ) -> None:
        """Makes a topic show a session. Raises ``ValueError`` if another topic shows it already."""
        self._write(
            "bind_telegram_topic",
            chat_id=str(chat_id),
            thread_id=str(thread_id),
            user_id=str(user_id),
            session_key=session_key,
            session_id=session_id,
            managed_mode=managed_mode,
        )

    def is_telegram_session_linked_to_topic(self, *, session_id: str) -> bool:
        """Returns whether a topic shows this session."""
        return bool(self._read("is_telegram_session_linked_to_topic", session_id=session_id))

    def list_unlinked_telegram_sessions_for_user(self, *, chat_id: str, user_id: str, limit: int = 10) -> list[Row]:
        """Returns the sessions of a user that no topic shows, most recently active first."""
        rows: list[Row] = self._read(
            "list_unlinked_telegram_sessions_for_user", chat_id=str(chat_id), user_id=str(user_id), limit=limit
        )
        return rows
