"""The errors of the package.

The process names the class of an error; the package raises that class, so that handlers written for the agent's own
store keep working: ``sqlite3.IntegrityError``, ``sqlite3.OperationalError`` and ``sqlite3.DatabaseError`` for the three
of the database, the built-in class of that name for the others. The module ``sqlite3`` is imported for its exception
classes only: a file of the store is never opened in this process.
"""

from __future__ import annotations

import sqlite3

CLASSES: dict[str, type[Exception]] = {
    "ValueError": ValueError,
    "TypeError": TypeError,
    "KeyError": KeyError,
    "IntegrityError": sqlite3.IntegrityError,
    "OperationalError": sqlite3.OperationalError,
    "DatabaseError": sqlite3.DatabaseError,
    "PermissionError": PermissionError,
    "FileNotFoundError": FileNotFoundError,
    "TimeoutError": TimeoutError,
}


class StoreUnavailable(sqlite3.OperationalError):
    """The process that keeps the store can't be started, or dies repeatedly."""


class StoreClosed(sqlite3.ProgrammingError):
    """A call on a handle that is closed."""


def from_answer(name: str, text: str) -> Exception:
    """Returns the exception for an answer ``{"e": name, "t": text}``.

    A name that this version doesn't know becomes a ``sqlite3.DatabaseError`` that contains it.
    """
    known = CLASSES.get(name)
    return known(text) if known else sqlite3.DatabaseError(f"{name}: {text}")
