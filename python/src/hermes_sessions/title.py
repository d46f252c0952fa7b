"""Titles are cleaned here exactly as in the store, because the agent does it without a store at hand."""

from __future__ import annotations

import re
import unicodedata

MAX_TITLE_LENGTH = 100

_JOINER = "\u200d"
# Tab, line feed, carriage return and U+0085 are white space and become spaces; every other control character is
# removed.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffc]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
_MODIFIERS = re.compile("[\ufe0f\U0001f3fb-\U0001f3ff]")
_PICTOGRAPH = re.compile("[\U0001f000-\U0001faff\u2190-\u2bff\xa9\xae\u203c\u3030]")


def sanitize_title(title: str | None) -> str | None:
    """Returns the title as it is stored: one line, no invisible characters, accents composed; ``None`` if nothing is
    left.

    Joiners stay inside an emoji. Raises ``ValueError`` if more than 100 characters are left.
    """
    if not title:
        return None
    visible = _INVISIBLE.sub("", _drop_joiners(_SURROGATE.sub("\ufffd", title)))
    cleaned = _SPACE.sub(" ", unicodedata.normalize("NFC", visible)).strip()
    if len(cleaned) > MAX_TITLE_LENGTH:
        raise ValueError(f"Title too long ({len(cleaned)} chars, max {MAX_TITLE_LENGTH})")
    return cleaned or None


def _drop_joiners(text: str) -> str:
    if _JOINER not in text:
        return text
    return "".join(c for at, c in enumerate(text) if c != _JOINER or _is_inside_emoji(text, at))


def _is_inside_emoji(text: str, at: int) -> bool:
    before = next((c for c in reversed(text[:at]) if not _MODIFIERS.match(c)), "")
    return bool(_PICTOGRAPH.match(before)) and bool(_PICTOGRAPH.match(text[at + 1 : at + 2]))
