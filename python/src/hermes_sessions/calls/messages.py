"""Messages: append, replace and read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..values import plain
from .base import Calls, Row

_FIELDS = (
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "token_count",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "timestamp",
)


class MessageCalls(Calls):
    """The calls about the messages of a session."""

    def append_message(
        self,
        session_id: str,
        role: str,
        content: Any = None,
        tool_name: str | None = None,
        tool_calls: Any = None,
        tool_call_id: str | None = None,
        token_count: int | None = None,
        finish_reason: str | None = None,
        reasoning: str | None = None,
        reasoning_content: str | None = None,
        reasoning_details: Any = None,
        codex_reasoning_items: Any = None,
        codex_message_items: Any = None,
    ) -> int:
        """Appends a message and returns its id. It is on disk when this returns.

        Raises ``sqlite3.IntegrityError`` for an unknown session.
        """
        appended: int = self._write(
            "append_message",
            session_id,
            role,
            content=_content(content),
            tool_name=tool_name,
            tool_calls=tool_calls,
            tool_call_id=tool_call_id,
            token_count=token_count,
            finish_reason=finish_reason,
            reasoning=reasoning,
            reasoning_content=reasoning_content,
            reasoning_details=reasoning_details,
            codex_reasoning_items=codex_reasoning_items,
            codex_message_items=codex_message_items,
        )
        return appended

    def append_messages(self, session_id: str, messages: Iterable[Mapping[str, Any]]) -> list[int]:
        """Appends several messages, all or none, and returns their ids in order. The agent's store has no such call."""
        ids: list[int] = self._write("append_messages", session_id, [_message(message) for message in messages])
        return ids

    def replace_messages(self, session_id: str, messages: list[dict[str, Any]]) -> None:
        """Replaces all messages of the session by these. If it fails, the old ones are still there."""
        self._write("replace_messages", session_id, [_message(message) for message in messages])

    def clear_messages(self, session_id: str) -> None:
        """Removes all messages of a session and sets its two message counters to 0."""
        self._write("clear_messages", session_id)

    def get_messages(self, session_id: str) -> list[Row]:
        """Returns all messages of a session with all columns, in the order in which they were appended."""
        rows: list[Row] = self._read("get_messages", session_id)
        return rows

    def get_messages_as_conversation(self, session_id: str, include_ancestors: bool = False) -> list[dict[str, Any]]:
        """Returns the messages in the form for a model's client, of this session or of its ancestors and itself."""
        messages: list[dict[str, Any]] = self._read("get_messages_as_conversation", session_id, include_ancestors)
        return messages


def _content(content: Any) -> Any:
    return content if content is None or isinstance(content, str) else plain(content)


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys of a message that a store keeps: other keys of a caller's message may be of any type."""
    if not isinstance(message, Mapping):
        raise TypeError(f"a message is a mapping, not {type(message).__name__}")
    kept = {name: message[name] for name in _FIELDS if name in message}
    if "content" in kept:
        kept["content"] = _content(kept["content"])
    return kept
