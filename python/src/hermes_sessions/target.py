"""Which store a handle means.

- Nothing, or the ``state.db`` of the agent's own home: the configured store. ``sessiondb.*`` in the agent's
  ``config.yaml`` says which, and the process reads it, so there is one reader of that file.
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
    """A store as the process is told of it: its argument, and what is different in its environment."""

    argument: str
    environment: tuple[tuple[str, str], ...] = ()


def home() -> Path:
    """The agent's home: ``HERMES_HOME`` without the white space around it, else ``~/.hermes``."""
    named = os.environ.get("HERMES_HOME", "").strip()
    return Path(named) if named else Path.home() / ".hermes"


def configured(folder: Path) -> Target:
    """The store that the ``config.yaml`` of this home names; without one, its ``state.db``."""
    return Target("config", (("HERMES_HOME", os.path.abspath(folder)),))


def is_url(path: str | os.PathLike[str]) -> TypeGuard[str]:
    """Whether this is a store's URL and not a path."""
    return isinstance(path, str) and path.startswith(_SCHEMES)


def target_of(path: str | os.PathLike[str]) -> Target:
    """The store that a path or a URL means."""
    if is_url(path):
        # In the environment, not among the arguments: those can be read by every user of the machine.
        return Target("config", ((_URL_VARIABLE, path),))
    whole = os.path.abspath(path)
    if whole == os.path.abspath(home() / "state.db"):
        return configured(home())
    return Target(whole)
