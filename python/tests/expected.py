"""The expected answers of our store where they differ from the agent's: computed from the agent's own rows, in plain
Python.

A named difference accepts an answer of ours only if it equals the one computed here.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from random_calls import Call

Row = dict[str, Any]


def sessions(db: Any) -> list[Row]:
    """Returns all sessions of a store."""
    rows: list[Row] = db.search_sessions(limit=1000)
    return rows


# Ids and titles: exact matches.


def id_of(db: Any, asked: str) -> str | None:
    """Returns the session of that id, or the only one whose id begins with it."""
    ids = [row["id"] for row in sessions(db)]
    begun = [asked] if asked in ids else [name for name in ids if name.startswith(asked)]
    return begun[0] if len(begun) == 1 else None


def folds_ids(db: Any, asked: str) -> bool:
    """Returns whether an id begins with this text only if case is ignored."""
    folded = [row["id"] for row in sessions(db) if row["id"].lower().startswith(asked.lower())]
    return any(not name.startswith(asked) for name in folded)


def _number(title: str | None, base: str) -> int | None:
    """Returns the number of a title in the lineage of another; the title itself is the first."""
    if title == base:
        return 1
    found = re.fullmatch(re.escape(base) + r" #([0-9]{1,15})", title or "")
    return int(found[1]) if found else None


def titled(db: Any, title: str) -> str | None:
    """Returns the session with the highest number of a title; if there is none, the one with the title itself."""
    rows = [(_number(row["title"], title), row["title"] != title, row["id"]) for row in sessions(db)]
    ranked = sorted((number, is_numbered, name) for number, is_numbered, name in rows if number is not None)
    return ranked[-1][-1] if ranked else None


def next_title(db: Any, title: str) -> str:
    """Returns the title without its number if the lineage has no title yet, else with the highest number plus one."""
    base = re.sub(r"(?<=.) #[0-9]{1,15}$", "", title)
    numbers = [_number(row["title"], base) for row in sessions(db)]
    highest = max((number for number in numbers if number is not None), default=None)
    return base if highest is None else f"{base} #{highest + 1}"


def folds_titles(db: Any, title: str) -> bool:
    """Returns whether a title of the lineage exists only if case is ignored."""
    base = re.sub(r"(?<=.) #[0-9]{1,15}$", "", title)
    others = [row["title"] for row in sessions(db) if row["title"]]
    return any(other.lower().startswith(base.lower()) and not other.startswith(base) for other in others)


# Search: a term is found where Ctrl-F would find it.

_Test = Callable[[list[str]], bool]


def _has(term: str) -> _Test:
    return lambda lines: any(_folded(term) in line for line in lines)


def _begins(word: str) -> _Test:
    return lambda lines: any(re.search(rf"(?<!\w){re.escape(_folded(word))}", line) for line in lines)


def _all(*tests: _Test) -> _Test:
    return lambda lines: all(test(lines) for test in tests)


def _any(*tests: _Test) -> _Test:
    return lambda lines: any(test(lines) for test in tests)


def _not(test: _Test) -> _Test:
    return lambda lines: not test(lines)


def _nothing(lines: list[str]) -> bool:
    return False


# Queries that are not listed here are a single term.
_MEANT: dict[str, _Test] = {
    "": _nothing,
    "  ": _nothing,
    "beta alpha": _all(_has("beta"), _has("alpha")),
    "alpha OR retry": _any(_has("alpha"), _has("retry")),
    "Gamma NOT beta": _all(_has("gamma"), _not(_has("beta"))),
    '"alpha beta"': _has("alpha beta"),
    "alph*": _begins("alph"),
    "error: 404": _all(_has("error:"), _has("404")),
    '"error: 404"': _has("error: 404"),
    "AND alpha": _all(_has("AND"), _has("alpha")),
    "NOT alpha": _all(_has("NOT"), _has("alpha")),
    "(alpha OR beta) retry": _all(_any(_has("alpha"), _has("beta")), _has("retry")),
    "计划 alpha": _all(_has("计划"), _has("alpha")),
}
# The agent's interpretation of queries that it changes: it drops parentheses and operators without operands, and
# matches any of several short Chinese words.
_TAKEN_FOR: dict[str, _Test] = {
    "AND alpha": _has("alpha"),
    "NOT alpha": _has("alpha"),
    "(alpha OR beta) retry": _any(_has("alpha"), _all(_has("beta"), _has("retry"))),
    "计划 alpha": _any(_has("计划"), _has("alpha")),
}


def hits(db: Any, call: Call) -> list[Row]:
    """Returns the rows of a search without their excerpts, by id."""
    query = call.args[0]
    if any(character.isspace() for character in query) and query not in _MEANT:
        raise AssertionError(f"what {query!r} means is not told")
    return _found(db, call, _MEANT.get(query, _has(query)))


def is_taken_for(db: Any, call: Call, found: list[Row]) -> bool:
    """Returns whether the agent found only what its interpretation of a query matches."""
    query = call.args[0]
    meant = _TAKEN_FOR.get(query) or _MEANT.get(query, _has(query))
    return {row["id"] for row in found} <= {row["id"] for row in _found(db, call, meant)}


def has_a_word(query: str, row: Row) -> bool:
    """Returns whether a message has one of the words of a query, at least their first three letters or one Chinese
    character.
    """
    words = [word for word in re.findall(r"\w+", _folded(query)) if word not in ("and", "or", "not")]
    starts = [word[:3] for word in words if word.isascii()] + [c for word in words if not word.isascii() for c in word]
    return any(start in line for start in starts for line in _lines(row))


def _found(db: Any, call: Call, meant: _Test) -> list[Row]:
    sources, without, roles = (call.kwargs.get(name) for name in ("source_filter", "exclude_sources", "role_filter"))
    found = []
    for session in sessions(db):
        if (sources is not None and session["source"] not in sources) or session["source"] in (without or []):
            continue
        messages = db.get_messages(session["id"])
        for at, row in enumerate(messages):
            if (not roles or row["role"] in roles) and meant(list(_lines(row))):
                found.append(_hit(session, row, messages[max(0, at - 1) : at + 2]))
    return sorted(found, key=lambda row: int(row["id"]))


def is_excerpt(snippet: str, row: Row) -> bool:
    """Returns whether an excerpt is a part of the text of a message, with marks in it."""
    said = " ".join(_lines(row)).replace(" ", "")
    plain = snippet.replace(">>>", "").replace("<<<", "").removeprefix("...").removesuffix("...")
    return _folded(plain).replace(" ", "") in said


def _hit(session: Row, row: Row, beside: list[Row]) -> Row:
    return {
        "id": row["id"],
        "session_id": session["id"],
        "role": row["role"],
        "snippet": None,
        "timestamp": row["timestamp"],
        "tool_name": row["tool_name"],
        "source": session["source"],
        "model": session["model"],
        "session_started": session["started_at"],
        "context": [{"role": other["role"], "content": _shown(other["content"])} for other in beside],
    }


def _shown(content: Any) -> str:
    if isinstance(content, list):
        texts = [part["text"] for part in content if part.get("type") == "text"]
        return (" ".join(texts).strip() or "[multimodal content]")[:200]
    return content[:200] if isinstance(content, str) else ""


def _lines(row: Row) -> Iterator[str]:
    """Yields the searched text of a message: content, name of the tool, tool calls, each on separate lines."""
    for text in (row["content"], row["tool_name"]):
        yield from map(_folded, _texts(text))
    yield from map(_folded, _texts(row["tool_calls"], with_numbers=True))


def _texts(value: Any, with_numbers: bool = False, with_keys: bool = False) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.splitlines()
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, with_numbers, with_keys)
    elif isinstance(value, dict):
        for key, item in value.items():
            if with_keys:
                yield key
            if key == "arguments" and with_numbers:
                yield from _texts(json.loads(item), True, True)
            elif key != "type" or with_keys:
                yield from _texts(item, with_numbers, with_keys)
    elif with_numbers and value is not None:
        yield str(value)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(character for character in plain if not unicodedata.combining(character)).split())
