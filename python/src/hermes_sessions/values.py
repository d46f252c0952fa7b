"""The encoding of Python values on the pipe.

A line is JSON. Values that JSON lacks are written as an object with a single key that begins with ``$``: ``{"$f":
"nan"}`` for NaN and the infinities, ``{"$b": "..."}`` for bytes in base64. A caller's own object of that shape is
wrapped as ``{"$o": {...}}``, so that the encoding is unambiguous. Lone surrogates are written as JSON escapes.

Nearly every line needs none of this. So both directions first try the plain, fast way and only walk through a value
when the line shows that it may contain such an object.
"""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Mapping
from typing import Any

_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def dump_line(message: Mapping[str, Any]) -> bytes:
    """Returns one line for the process, with its newline.

    Raises ``TypeError`` for values that JSON can't hold and ``ValueError`` for circular references.
    """
    try:
        text = _dump(message)
        if "$" in text and '"$' in text:
            raise _NeedsWalk
    except (_NeedsWalk, ValueError):
        # ValueError: a NaN or an infinity, or a circular reference, which fails again below.
        text = _dump(_wrap(message, set()))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), allow_nan=False, separators=(",", ":")).encode() + b"\n"


def load_line(line: bytes) -> dict[str, Any]:
    """Returns the message in a line of the process."""
    message: dict[str, Any] = json.loads(line.decode())
    # Searching for one character is ten times as fast as for two.
    if b"$" in line and b'"$' in line:
        message = {key: _unwrap(value) for key, value in message.items()}
    return message


def plain(value: Any) -> Any:
    """Returns the value if JSON can hold it, else its ``str``, as the agent does with odd message content."""
    try:
        json.dumps(value, default=_marks)
    except (TypeError, ValueError, RecursionError):
        return str(value)
    return value


class _NeedsWalk(Exception):
    """The line may contain an object that could be mistaken for an encoded value."""


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_special)


def _special(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise _NeedsWalk
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _marks(value: Any) -> Any:
    return None if isinstance(value, (bytes, bytearray, memoryview)) else _special(value)


def _wrap(value: Any, inside: set[int]) -> Any:
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return {"$f": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$b": base64.b64encode(bytes(value)).decode("ascii")}
    if not isinstance(value, (dict, list, tuple)):
        return value
    if id(value) in inside:
        raise ValueError("Circular reference detected")
    inside.add(id(value))
    try:
        if isinstance(value, (list, tuple)):
            return [_wrap(item, inside) for item in value]
        walked = {key: _wrap(item, inside) for key, item in value.items()}
    finally:
        inside.discard(id(value))
    return {"$o": walked} if _is_special(walked) else walked


def _unwrap(value: Any) -> Any:
    if isinstance(value, list):
        return [_unwrap(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _is_special(value):
        [(mark, held)] = value.items()
        if mark == "$f":
            return _FLOATS[held]
        if mark == "$b":
            return base64.b64decode(held)
        if mark == "$o":
            return {key: _unwrap(item) for key, item in held.items()}
    return {key: _unwrap(item) for key, item in value.items()}


def _is_special(value: dict[Any, Any]) -> bool:
    if len(value) != 1:
        return False
    [key] = value
    return isinstance(key, str) and key.startswith("$")
