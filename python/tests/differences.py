"""Intended differences between the answers of our store and the agent's own: each has a name and a reason.

The comparison of random calls and of the agent's story allows no other exceptions. ``docs/differences.md`` shows the
table to people; a test keeps the two in step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import expected
from compare import Answer, same_value
from random_calls import Call


@dataclass(frozen=True)
class Difference:
    """An intended difference, and how it shows.

    After the calls of ``before``, ``call`` is made on both stores; ``theirs`` and ``ours`` check the two answers. For
    random calls, ``explains`` returns whether the difference accounts for two answers, given the agent's own store;
    ``avoids`` returns whether a call is left out because the content of the two stores would differ from there on.
    """

    name: str
    reason: str
    before: tuple[Call, ...]
    call: Call
    theirs: Callable[[Any], bool]
    ours: Callable[[Any], bool]
    explains: Callable[[Call, Answer, Answer, Any], bool] | None = None
    avoids: Callable[[Call, Any], bool] | None = None


def _new(name: str, source: str = "cli", **more: Any) -> Call:
    return Call("create_session", (name, source), more)


def _say(name: str, content: Any, role: str = "user", **more: Any) -> Call:
    return Call("append_message", (name, role, content), more)


def _end(name: str, reason: str) -> Call:
    return Call("end_session", (name, reason))


def _row(db: Any, name: str) -> dict[str, Any] | None:
    row: dict[str, Any] | None = db.get_session(name)
    return row


def _has_relatives(db: Any, name: str) -> bool:
    rows = db.search_sessions(limit=1000)
    return any(name in (row["id"], row["parent_session_id"]) and row["parent_session_id"] for row in rows)


def _has_children(db: Any) -> bool:
    return any(row["parent_session_id"] for row in db.search_sessions(limit=1000))


def _is_creation(call: Call) -> bool:
    return call.method in ("create_session", "ensure_session")


def _is_late(call: Call, db: Any) -> bool:
    row = _row(db, call.args[0]) if _is_creation(call) else None
    return row is not None and row["source"] == "unknown"


def _is_own_parent(call: Call, db: Any) -> bool:
    return _is_creation(call) and call.kwargs.get("parent_session_id") == call.args[0]


def _is_second_continuation(call: Call, db: Any) -> bool:
    parent = call.kwargs.get("parent_session_id")
    row = _row(db, parent) if _is_creation(call) and parent else None
    return (
        row is not None
        and row["end_reason"] == "compression"
        and any(other["parent_session_id"] == parent for other in db.search_sessions(limit=1000))
    )


def _is_unclaimed(call: Call, db: Any) -> bool:
    if call.method not in ("complete_handoff", "fail_handoff"):
        return False
    state = db.get_handoff_state(call.args[0])
    return state is not None and state["state"] != "running"


def _orders_by_family(call: Call, db: Any) -> bool:
    return bool(call.kwargs.get("order_by_last_active")) and _has_children(db)


def _reopens_a_parent(call: Call, db: Any) -> bool:
    return call.method == "reopen_session" and _has_relatives(db, call.args[0])


def _folded_case(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    if call.method != "resolve_session_id" or not expected.folds_ids(db, call.args[0]):
        return False
    return _is_value(ours, expected.id_of(db, call.args[0]))


def _is_title_of_other_case(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    return _is_expected_title(call, ours, db) and expected.folds_titles(db, call.args[0])


def _is_other_number(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    return _is_expected_title(call, ours, db) and not expected.folds_titles(db, call.args[0])


def _is_expected_title(call: Call, ours: Answer, db: Any) -> bool:
    if call.method == "get_next_title_in_lineage":
        return _is_value(ours, expected.next_title(db, call.args[0]))
    return call.method == "resolve_session_by_title" and _is_value(ours, expected.titled(db, call.args[0]))


def _is_value(ours: Answer, value: Any) -> bool:
    return not ours.error and same_value(value, ours.value)


def _is_other_queue(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    def by_id(rows: Any) -> Any:
        return sorted(rows, key=lambda row: str(row["id"]))

    is_list = call.method == "list_pending_handoffs" and not theirs.failure and not ours.failure
    return is_list and same_value(by_id(theirs.value), by_id(ours.value))


def _is_plain(query: str) -> bool:
    """Returns whether a query means the same in both languages: words of letters, and operators between them."""
    words = query.replace('"', " ").replace("*", " ").split()
    return all(word.isascii() and word.isalpha() for word in words) and words[0] not in ("AND", "OR", "NOT")


def _are_the_hits(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    """Returns whether we found exactly the messages that the query means, and the agent only those of its own
    interpretation.
    """
    if call.method != "search_messages" or theirs.error or ours.error:
        return False
    are_ours = same_value(expected.hits(db, call), _only_hits(ours.value)) and all(
        expected.is_excerpt(hit["snippet"], _message(db, hit)) for hit in ours.value
    )
    return are_ours and expected.is_taken_for(db, call, theirs.value)


def _message(db: Any, hit: dict[str, Any]) -> dict[str, Any]:
    return next(row for row in db.get_messages(hit["session_id"]) if row["id"] == hit["id"])


def _is_other_language(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    return _are_the_hits(call, theirs, ours, db) and not _is_plain(call.args[0])


def _only_hits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(({**row, "snippet": None} for row in rows), key=lambda row: int(row["id"]))


def _is_other_rank(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    return _are_the_hits(call, theirs, ours, db) and same_value(_only_hits(theirs.value), _only_hits(ours.value))


def _finds_more(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    return _are_the_hits(call, theirs, ours, db) and len(theirs.value) < len(ours.value)


def _is_other_preview(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    """Returns whether two lists differ only in a preview that the agent lacks."""
    if (
        call.method not in ("list_sessions_rich", "list_unlinked_telegram_sessions_for_user")
        or theirs.failure
        or ours.failure
        or len(theirs.value) != len(ours.value)
    ):
        return False
    level = [{**our, "preview": ""} if their["preview"] == "" else our for their, our in zip(theirs.value, ours.value)]
    return same_value(theirs.value, level)


def _is_relaxed(call: Call, theirs: Answer, ours: Answer, db: Any) -> bool:
    """Returns whether nothing matches the whole query, and each message that we found has one of the words."""
    if call.method != "search_messages" or theirs.error or ours.error:
        return False
    return (
        bool(ours.value)
        and not expected.hits(db, call)
        and expected.is_taken_for(db, call, theirs.value)
        and all(hit["relaxed"] is True and expected.has_a_word(call.args[0], _message(db, hit)) for hit in ours.value)
    )


def _fails(kind: str) -> Callable[[Any], bool]:
    return lambda answer: isinstance(answer, Exception) and type(answer).__name__ == kind


def _is(value: Any) -> Callable[[Any], bool]:
    return lambda answer: bool(answer == value)


def _order(*wanted: str) -> Callable[[Any], bool]:
    return lambda rows: [row["id"] for row in rows] == list(wanted)


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "empty-meta-key",
        "A key in `state_meta` is 1 to 255 bytes long; an empty one is refused on every provider. The agent stores it.",
        (),
        Call("set_meta", ("", "x")),
        _is(None),
        _fails("ValueError"),
    ),
    Difference(
        "no-empty-names",
        "A session without id or source can't be found again, so it is refused. The agent drops or duplicates it silently.",
        (),
        _new("", "cli"),
        _is(""),
        _fails("ValueError"),
    ),
    Difference(
        "own-parent",
        "A session that is its own parent is refused. In the agent no list shows it, and the recursive listing never ends.",
        (),
        _new("a", parent_session_id="a"),
        _is("a"),
        _fails("ValueError"),
        avoids=_is_own_parent,
    ),
    Difference(
        "late-create-fills-in",
        "Counting tokens creates a session of source `unknown`; a later `create_session` adds the other values. The agent drops them.",
        (Call("update_token_counts", ("a", 5)), _new("a", "telegram", system_prompt="Be brief.")),
        Call("get_session", ("a",)),
        lambda row: (row["source"], row["system_prompt"]) == ("unknown", None),
        lambda row: (row["source"], row["system_prompt"]) == ("telegram", "Be brief."),
        avoids=_is_late,
    ),
    Difference(
        "absolute-keeps-cost",
        "Setting counters without a cost keeps the cost; the agent sets it to 0.",
        (
            Call("update_token_counts", ("a",), {"estimated_cost_usd": 0.5}),
            Call("update_token_counts", ("a", 9), {"absolute": True}),
        ),
        Call("get_session", ("a",)),
        lambda row: row["estimated_cost_usd"] == 0.0,
        lambda row: row["estimated_cost_usd"] == 0.5,
    ),
    Difference(
        "handoff-is-guarded",
        "Only a requested handoff can be completed, and only a pending or running one can fail, so a late timeout can't overwrite a success.",
        (_new("a"), Call("complete_handoff", ("a",))),
        Call("get_handoff_state", ("a",)),
        lambda state: state["state"] == "completed",
        lambda state: state["state"] is None,
        avoids=_is_unclaimed,
    ),
    Difference(
        "handoffs-queue-by-request",
        "Pending handoffs are listed in the order of their requests; the agent sorts them by the age of the session.",
        (_new("a"), _new("b"), Call("request_handoff", ("b", "telegram")), Call("request_handoff", ("a", "telegram"))),
        Call("list_pending_handoffs"),
        _order("a", "b"),
        _order("b", "a"),
        explains=_is_other_queue,
    ),
    Difference(
        "negative-days",
        "A negative age would delete every ended session, even one from the future. It is refused as a mistake.",
        (),
        Call("prune_sessions", (-1,)),
        _is(0),
        _fails("ValueError"),
    ),
    Difference(
        "prefix-keeps-case",
        "An id is found by its exact prefix; the agent folds ASCII case and reports ids that differ only in case as ambiguous.",
        (_new("Gateway-7"),),
        Call("resolve_session_id", ("gate",)),
        _is("Gateway-7"),
        _is(None),
        explains=_folded_case,
    ),
    Difference(
        "titles-keep-case",
        "`Plan` and `plan` are two titles, each numbered separately; the agent mixes them.",
        (_new("a"), Call("set_session_title", ("a", "plan #7"))),
        Call("get_next_title_in_lineage", ("Plan",)),
        _is("Plan #8"),
        _is("Plan"),
        explains=_is_title_of_other_case,
    ),
    Difference(
        "numbered-title-is-a-number",
        "A title resolves to the highest number of its lineage; the agent takes the newest title with that prefix, number or not, and counts on from a title without one.",
        (
            _new("a"),
            _new("b"),
            Call("set_session_title", ("a", "plan #2")),
            Call("set_session_title", ("b", "plan #notes")),
        ),
        Call("resolve_session_by_title", ("plan",)),
        _is("b"),
        _is("a"),
        explains=_is_other_number,
    ),
    Difference(
        "relations-are-kept",
        "A continuation remains one when its parent is reopened; the agent loses the chain.",
        (_new("a"), _end("a", "compression"), _new("b", parent_session_id="a"), Call("reopen_session", ("a",))),
        Call("get_compression_tip", ("a",)),
        _is("a"),
        _is("b"),
        avoids=_reopens_a_parent,
    ),
    Difference(
        "one-continuation",
        "The first child of a compressed session continues it; a later one is a separate conversation. In the agent the latest child takes its place.",
        (_new("a"), _end("a", "compression"), _new("b", parent_session_id="a"), _new("c", parent_session_id="a")),
        Call("get_compression_tip", ("a",)),
        _is("c"),
        _is("b"),
        avoids=_is_second_continuation,
    ),
    Difference(
        "activity-of-the-conversation",
        "The last activity of a conversation includes that of its delegates; the agent considers only continuations.",
        (_new("a"), _new("b"), _new("c", "tool", parent_session_id="a"), _say("c", "at work")),
        Call("list_sessions_rich", (), {"order_by_last_active": True}),
        _order("b", "a"),
        _order("a", "b"),
        avoids=_orders_by_family,
    ),
    Difference(
        "preview-of-structured-content",
        "A first question with a picture has a preview; in the agent's list it is blank.",
        (_new("a"), _say("a", [{"type": "text", "text": "what is this?"}, {"type": "image_url"}])),
        Call("list_sessions_rich"),
        lambda rows: rows[0]["preview"] == "",
        lambda rows: rows[0]["preview"] == "what is this? [image]",
        explains=_is_other_preview,
    ),
    Difference(
        "search-language",
        "Every text is a valid query: punctuation, stray operators and any script are found as written (search-syntax.md). The agent finds nothing for most of them.",
        (_new("a"), _say("a", "look at src/main.rs")),
        Call("search_messages", ("src/main.rs",)),
        _is([]),
        lambda hits: len(hits) == 1,
        explains=_is_other_language,
    ),
    Difference(
        "search-rank-and-excerpt",
        "The same messages are found, but ranked by our own score, and the excerpt lacks the blanks that the agent's index adds.",
        (_new("a"), _say("a", "alpha")),
        Call("search_messages", ("alpha",)),
        lambda hits: hits[0]["snippet"] == ">>>alpha<<<  ",
        lambda hits: hits[0]["snippet"] == ">>>alpha<<<",
        explains=_is_other_rank,
    ),
    Difference(
        "search-finds-more",
        "Text inside words, in structured content and in tool arguments is found as a person wrote it; the agent's index holds JSON escapes there.",
        (_new("a"), _say("a", [{"type": "text", "text": "naïve"}])),
        Call("search_messages", ("naive",)),
        _is([]),
        lambda hits: len(hits) == 1,
        explains=_finds_more,
    ),
    Difference(
        "search-relaxes",
        "A query that no message matches as a whole finds the messages with any of its words, each hit with `relaxed: true`. The agent finds nothing.",
        (_new("a"), _say("a", "the alpha release")),
        Call("search_messages", ("alpha postponed",)),
        _is([]),
        lambda hits: [hit["relaxed"] for hit in hits] == [True],
        explains=_is_relaxed,
    ),
    Difference(
        "surrogates-are-kept",
        "A lone surrogate (half a character) in a text is kept; the agent loses the message.",
        (_new("a"),),
        _say("a", "\ud800"),
        _fails("UnicodeEncodeError"),
        _is(1),
    ),
    Difference(
        "surrogates-in-titles-and-queries",
        "A lone surrogate in a title or a query is stored and searched as U+FFFD. The agent raises an error or finds nothing.",
        (_new("a"),),
        Call("set_session_title", ("a", "half \ud800")),
        _fails("UnicodeEncodeError"),
        _is(True),
    ),
    Difference(
        "marked-text-stays-text",
        "A text that begins with the prefix of structured content is returned unchanged; the agent returns a list.",
        (_new("a"), _say("a", "\0json:[1]")),
        Call("get_messages", ("a",)),
        lambda rows: rows[0]["content"] == [1],
        lambda rows: rows[0]["content"] == "\0json:[1]",
    ),
    Difference(
        "bytes-are-refused",
        "Content is text or JSON. Bytes that are not text are refused; in the agent one such message breaks every list.",
        (_new("a"),),
        _say("a", b"\xff"),
        _is(1),
        _fails("ValueError"),
    ),
)


@dataclass(frozen=True)
class Told:
    """A step of the agent's story whose result differs on our store: converts the agent's own result."""

    name: str
    adjust: Callable[[Any], Any]


def _recent(result: dict[str, Any]) -> dict[str, Any]:
    rows = {row["session_id"]: row for row in result["results"]}
    order = ("20260105_140000_ffffff", "20260101_090000_aaaaaa", "20260103_120000_dddddd", "20260102_100000_bbbbbb")
    return {**result, "results": [rows[name] for name in order]}


STORY: dict[str, Told] = {
    "session_search ''": Told("activity-of-the-conversation", _recent),
}


def explained(call: Call, theirs: Answer, ours: Answer, db: Any) -> str | None:
    """Returns the name of the difference that accounts for two answers to a random call, given the agent's own
    store.
    """
    for difference in DIFFERENCES:
        if difference.explains and difference.explains(call, theirs, ours, db):
            return difference.name
    return None


def is_avoided(call: Call, db: Any) -> bool:
    """Returns whether a random call is left out, because the content of the two stores would differ after it."""
    return any(difference.avoids(call, db) for difference in DIFFERENCES if difference.avoids)
