"""The store that a handle refers to.

- Nothing, or the ``state.db`` of the agent's own home: the configured store. ``sessiondb.*`` in the agent's
  ``config.yaml`` defines it, and the process reads it, so there is one reader of that file.
- A URL (``postgresql://…``, ``mysql://…``, ``sqlite:…``): that store.
- Any other path: that SQLite file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

_URL_VARIABLE = "HERMES_SESSIONDB_URL"
_SCHEMES = ("sqlite:", "postgresql://", "postgres://", "mysql://", "mariadb://")


@dataclass(frozen=True)
class Target:
    """A store as passed to the process: its argument, and changes to its environment."""

    argument: str
    environment: tuple[tuple[str, str], ...] = ()


def home() -> Path:
    """Returns the agent's home: ``HERMES_HOME`` without surrounding white space, else ``~/.hermes``."""
    named = os.environ.get("HERMES_HOME", "").strip()
    return Path(named) if named else Path.home() / ".hermes"


def configured(folder: Path) -> Target:
    """Returns the store that the ``config.yaml`` of this home defines; without one, its ``state.db``."""
    return Target("config", (("HERMES_HOME", os.path.abspath(folder)),))


def is_url(path: str | os.PathLike[str]) -> TypeGuard[str]:
    """Returns whether this is the URL of a store and not a path."""
    return isinstance(path, str) and path.startswith(_SCHEMES)


def target_of(path: str | os.PathLike[str]) -> Target:
    """Returns the store for a path or a URL."""
    if is_url(path):
        # In the environment, not among the arguments, which every user of the machine can read.
        return Target("config", ((_URL_VARIABLE, path),))
    whole = os.path.abspath(path)
    if whole == os.path.abspath(home() / "state.db"):
        return configured(home())
    return Target(whole)
