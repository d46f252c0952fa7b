"""Random sequences of calls on a session store, as callers make them: with few sessions, so that calls interact."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call of a method of ``SessionDB``."""

    method: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def on(self, db: Any) -> Any:
        return getattr(db, self.method)(*self.args, **self.kwargs)

    def __str__(self) -> str:
        given = [repr(value) for value in self.args] + [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"{self.method}({', '.join(given)})"


IDS = (
    "20260101_090000_a1b2c3",
    "20260101_090000_a1b2d4",
    "20260102_10",
    "Gateway-7",
    "gateway-7",
    "x_y",
    "x%y",
    "cron_1",
)
SOURCES = ("cli", "telegram", "tool", "discord")
REASONS = ("compression", "branched", "cli_close", "session_reset")
TITLES = (
    "plan",
    "plan #2",
    "plan #7",
    "Plan",
    "大别山",
    "50% off",
    "a_b",
    "a  b",
    "  ",
    "x" * 101,
    "fresh",
    "fresh #3",
    "plan #12",
    "plan #notes",
    "PLAN #3",
)
WORDS = (
    "alpha",
    "beta",
    "Gamma",
    "delta-wave",
    "naïve",
    "retry",
    "src/main.rs",
    "大别山项目",
    "计划",
    "error: 404",
    "don't",
)
TOOL_CALLS = (
    [],
    [{"id": "1", "function": {"name": "read_file", "arguments": "{}"}}],
    [{"id": "1"}, {"id": "2"}],
    {"id": "3"},
)
QUERIES = (
    "alpha",
    "beta alpha",
    "alpha OR retry",
    "Gamma NOT beta",
    '"alpha beta"',
    "alph*",
    "naive",
    "大别山项目",
    "大别山",
    "计划",
)
QUERIES += (
    "",
    "  ",
    "delta-wave",
    "src/main.rs",
    "don't",
    "nothing",
    "error: 404",
    "AND alpha",
    "(alpha OR beta) retry",
    "lph",
    "NOT alpha",
    '"error: 404"',
    "read_file",
    "计划 alpha",
)
KEYS = ("last_seen", "goal:x_y", "theme")


class Draw:
    """Generates one call after the other."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._kinds = [kind for kind, weight in _KINDS for _ in range(weight)]

    def calls(self, count: int) -> Iterator[Call]:
        for name in self._dice.sample(IDS, 5):
            yield Call("create_session", (name, self.one(SOURCES)))
        for _ in range(count - 5):
            yield self._dice.choice(self._kinds)(self)

    def id(self) -> str:
        return self._dice.choice(IDS) if self.chance(0.95) else "nobody"

    def one(self, values: Any) -> Any:
        return self._dice.choice(values)

    def maybe(self, values: Any) -> Any:
        return self.one(values) if self.chance(0.3) else None

    def chance(self, share: float) -> bool:
        return self._dice.random() < share

    def number(self, below: int) -> int:
        return self._dice.randrange(below)

    def text(self) -> str:
        return " ".join(self._dice.choice(WORDS) for _ in range(1 + self.number(8)))

    def content(self) -> Any:
        kind = self.number(12)
        if kind < 8:
            return self.text()
        return (None, "", [{"type": "text", "text": self.text()}, {"type": "image_url"}], {"text": self.text()})[
            kind - 8
        ]

    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": self.one(("user", "assistant", "tool", "system")), "content": self.content()}
        for name, value in (
            ("tool_calls", self.one(TOOL_CALLS)),
            ("tool_name", "read_file"),
            ("tool_call_id", "c1"),
            ("token_count", self.number(99)),
            ("finish_reason", self.one(("stop", ""))),
            ("reasoning", self.one(("because", ""))),
            ("reasoning_content", self.one(("so", ""))),
            ("reasoning_details", [{"type": "summary", "n": 1.5}]),
            ("codex_reasoning_items", [{"id": "r", "é": "大"}]),
            ("codex_message_items", [{"id": "m"}]),
        ):
            if self.chance(0.12):
                message[name] = value
        return message


def _create(draw: Draw) -> Call:
    more: dict[str, Any] = {
        "model": draw.maybe(("sonnet", "haiku")),
        "model_config": draw.maybe(({}, {"t": 0.5, "é": [1]})),
        "system_prompt": draw.maybe(("Be brief.", "")),
        "user_id": draw.maybe(("77", "78")),
        "parent_session_id": draw.id() if draw.chance(0.4) else None,
    }
    given = {name: value for name, value in more.items() if value is not None}
    return Call(draw.one(("create_session", "create_session", "ensure_session")), (draw.id(), draw.one(SOURCES)), given)


def _usage(draw: Draw) -> Call:
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens", "api_call_count")
    given: dict[str, Any] = {name: draw.number(1000) for name in names if draw.chance(0.5)}
    for name, values in (
        ("model", ("opus",)),
        ("estimated_cost_usd", (0.25, 0.1)),
        ("actual_cost_usd", (0.5,)),
        ("cost_status", ("estimated", "final")),
        ("billing_provider", ("anthropic", "openai", "")),
        ("billing_mode", ("api",)),
    ):
        if draw.chance(0.25):
            given[name] = draw.one(values)
    if draw.chance(0.15):
        given.update(absolute=True, estimated_cost_usd=0.75)
    return Call("update_token_counts", (draw.id(),), given)


def _append(draw: Draw) -> Call:
    message = draw.message()
    return Call("append_message", (draw.id(), message.pop("role"), message.pop("content")), message)


def _replace(draw: Draw) -> Call:
    return Call("replace_messages", (draw.id(), [draw.message() for _ in range(draw.number(5))]))


def _search(draw: Draw) -> Call:
    more: dict[str, Any] = {
        "source_filter": draw.maybe((["cli"], ["cli", "tool"], [])),
        "exclude_sources": draw.maybe((["tool"], [])),
        "role_filter": draw.maybe((["user"], ["user", "assistant"], [])),
    }
    given = {name: value for name, value in more.items() if value is not None}
    return Call("search_messages", (draw.one(QUERIES),), {**given, "limit": 1000})


def _list(draw: Draw) -> Call:
    flags = ("include_children", "project_compression_tips", "order_by_last_active")
    given: dict[str, Any] = {name: draw.chance(0.5) for name in flags if draw.chance(0.3)}
    if draw.chance(0.2):
        given["source"] = draw.one(SOURCES)
    if draw.chance(0.2):
        given["exclude_sources"] = ["tool"]
    if draw.chance(0.3):
        given.update(limit=draw.number(4), offset=draw.number(3))
    return Call("list_sessions_rich", (), given)


def _telegram(draw: Draw) -> Call:
    chat: dict[str, Any] = {"chat_id": draw.one(("1", "2"))}
    user = {"user_id": draw.one(("77", "78"))}
    topic = {"thread_id": draw.one(("10", "11"))}
    bound = {**chat, **topic, **user, "session_key": "k", "session_id": draw.id()}
    return draw.one(
        (
            Call("apply_telegram_topic_migration"),
            Call("enable_telegram_topic_mode", (), {**chat, **user, "has_topics_enabled": True}),
            Call("disable_telegram_topic_mode", (), {**chat, "clear_bindings": draw.chance(0.5)}),
            Call("is_telegram_topic_mode_enabled", (), {**chat, **user}),
            Call("bind_telegram_topic", (), bound),
            Call("get_telegram_topic_binding", (), {**chat, **topic}),
            Call("is_telegram_session_linked_to_topic", (), {"session_id": draw.id()}),
            Call("list_unlinked_telegram_sessions_for_user", (), {**chat, **user}),
        )
    )


def _handoff(draw: Draw) -> Call:
    names = ("request_handoff", "claim_handoff", "complete_handoff", "fail_handoff", "get_handoff_state")
    name = draw.one((*names, "list_pending_handoffs"))
    if name == "list_pending_handoffs":
        return Call(name)
    more = {"request_handoff": (draw.one(("telegram", "discord")),), "fail_handoff": ("no gateway" * 60,)}
    return Call(name, (draw.id(), *more.get(name, ())))


def _of_session(name: str) -> Callable[[Draw], Call]:
    return lambda draw: Call(name, (draw.id(),))


def _with(name: str, values: Any) -> Callable[[Draw], Call]:
    return lambda draw: Call(name, (draw.one(values),))


_KINDS: list[tuple[Callable[[Draw], Call], int]] = [
    (_create, 14),
    (_append, 22),
    (_replace, 4),
    (_usage, 5),
    (_search, 7),
    (_list, 7),
    (_telegram, 4),
    (_handoff, 5),
    (lambda draw: Call("end_session", (draw.id(), draw.one(REASONS))), 5),
    (_of_session("reopen_session"), 2),
    (lambda draw: Call("update_system_prompt", (draw.id(), draw.one(("You are kind.", None)))), 1),
    (_of_session("get_session"), 4),
    (_with("resolve_session_id", (*IDS, "2026", "20260101_090000_a1b2c", "X_", "x", "zzz", "GATEWAY-7")), 4),
    (lambda draw: Call("set_session_title", (draw.id(), draw.one(TITLES))), 6),
    (_of_session("get_session_title"), 2),
    (_with("get_session_by_title", TITLES), 2),
    (_with("resolve_session_by_title", TITLES), 3),
    (_with("get_next_title_in_lineage", TITLES[:6] + TITLES[10:]), 3),
    (_with("sanitize_title", TITLES), 1),
    (_of_session("get_compression_tip"), 3),
    (_of_session("resolve_resume_session_id"), 3),
    (_of_session("get_messages"), 5),
    (lambda draw: Call("get_messages_as_conversation", (draw.id(),), {"include_ancestors": draw.chance(0.5)}), 6),
    (_of_session("clear_messages"), 1),
    (
        lambda draw: Call(
            "search_sessions", (draw.maybe(SOURCES),), {"limit": 1 + draw.number(9), "offset": draw.number(3)}
        ),
        3,
    ),
    (lambda draw: Call("session_count", (draw.maybe(SOURCES),)), 2),
    (lambda draw: Call("message_count", (draw.maybe(IDS),)), 2),
    (_of_session("export_session"), 2),
    (lambda draw: Call("export_all", (draw.maybe(SOURCES),)), 1),
    (_of_session("delete_session"), 2),
    (lambda draw: Call("prune_sessions", (draw.one((0, 90, 0.5)), draw.maybe(SOURCES))), 1),
    (lambda draw: Call("prune_empty_ghost_sessions"), 1),
    (lambda draw: Call("finalize_orphaned_compression_sessions"), 1),
    (lambda draw: Call("maybe_auto_prune_and_vacuum", (), {"vacuum": False}), 1),
    (lambda draw: Call("get_meta", (draw.one(KEYS),)), 2),
    (lambda draw: Call("set_meta", (draw.one(KEYS), draw.one(("1", "", "大")))), 2),
]
