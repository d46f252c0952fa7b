"""Two helpers on query text that the agent's own tests and plugins call.

The store does not need them: it parses a query itself and accepts any text. They behave like the agent's, so that
callers get what they expect.
"""

from __future__ import annotations

import re

_QUOTED = re.compile(r'"[^"]*"')
_SYNTAX = re.compile(r'[+{}()"^]')
_STARS = re.compile(r"\*+")
_LOOSE_STAR = re.compile(r"(^|\s)\*")
_LEADING = re.compile(r"^(?:AND|OR|NOT)\b\s*", re.IGNORECASE)
_TRAILING = re.compile(r"\s+(?:AND|OR|NOT)\s*$", re.IGNORECASE)
_COMPOUND = re.compile(r"\b(\w+(?:[._-]\w+)+)\b")
_HELD = re.compile("\x00Q([0-9]+)\x00")
_CJK = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\u3000-\u303f\u3040-\u309f\u30a0-\u30ff\uac00-\ud7af]"
)


def sanitize_fts5_query(query: str) -> str:
    """Returns the query without the characters that SQLite's query language rejects: phrases stay, compound words
    are quoted.
    """
    phrases: list[str] = []

    def hold(match: re.Match[str]) -> str:
        phrases.append(match.group(0))
        return f"\x00Q{len(phrases) - 1}\x00"

    text = _SYNTAX.sub(" ", _QUOTED.sub(hold, query))
    text = _LOOSE_STAR.sub(r"\1", _STARS.sub("*", text))
    text = _TRAILING.sub("", _LEADING.sub("", text.strip()).strip())
    text = _COMPOUND.sub(r'"\1"', text)
    return _HELD.sub(lambda match: phrases[int(match.group(1))], text).strip()


def contains_cjk(text: str) -> bool:
    """Returns whether the text contains Chinese, Japanese or Korean characters or their punctuation."""
    return _CJK.search(text) is not None
