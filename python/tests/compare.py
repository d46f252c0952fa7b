"""Runs a call on two stores and compares the answers."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from random_calls import Call
from support import peer_folder

_TIMES = {
    "started_at",
    "ended_at",
    "timestamp",
    "last_active",
    "session_started",
    "linked_at",
    "updated_at",
    "activated_at",
    "capability_checked_at",
}
# Maximum difference of times, in seconds. The two stores are called one after the other; on a busy machine that may
# take a while.
_APART = 120.0


@dataclass(frozen=True)
class Answer:
    """The result of a call: a value, or an exception."""

    value: Any = None
    error: BaseException | None = None

    @property
    def failure(self) -> str | None:
        """The class of the exception, if there was one."""
        return type(self.error).__name__ if self.error else None

    def __str__(self) -> str:
        return f"{self.failure}: {self.error}" if self.error else repr(self.value)


def answer(call: Call, db: Any) -> Answer:
    """Returns the result of a call."""
    try:
        return Answer(call.on(db))
    except Exception as error:
        return Answer(error=error)


def same(theirs: Answer, ours: Answer) -> bool:
    """Returns whether two answers are equal, apart from the times at which they were given."""
    if theirs.error or ours.error:
        return (theirs.failure, str(theirs.error)) == (ours.failure, str(ours.error))
    return same_value(theirs.value, ours.value)


def same_value(theirs: Any, ours: Any, name: str = "") -> bool:
    """Returns whether two values are equal in type and value; times may differ a little."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return list(theirs) == list(ours) and all(same_value(theirs[key], ours[key], key) for key in theirs)
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(theirs) == len(ours) and all(same_value(*pair) for pair in zip(theirs, ours))
    if name in _TIMES and isinstance(theirs, float) and isinstance(ours, float):
        return abs(theirs - ours) < _APART
    return type(theirs) is type(ours) and bool(theirs == ours)


def apart(theirs: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Returns where two values differ, for people."""
    if isinstance(theirs, dict) and isinstance(ours, dict) and list(theirs) == list(ours):
        for key in theirs:
            if not same_value(theirs[key], ours[key], key):
                yield from apart(theirs[key], ours[key], f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and _ids(theirs) == _ids(ours):
        for at, pair in enumerate(zip(theirs, ours)):
            yield from apart(*pair, f"{path}[{at}]")
    elif isinstance(theirs, list) and isinstance(ours, list):
        yield f"{path}: {_ids(theirs)} | {_ids(ours)}"
    else:
        yield f"{path}: {theirs!r} | {ours!r}"


def _ids(values: list[Any]) -> list[Any]:
    return [value.get("id") if isinstance(value, dict) else value for value in values]


def peer() -> ModuleType:
    """Returns the agent's own module, under another name, because ``hermes_state`` may be ours."""
    name = "peer_hermes_state"
    if name not in sys.modules:
        folder = peer_folder()
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        spec = importlib.util.spec_from_file_location(name, folder / "hermes_state.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
