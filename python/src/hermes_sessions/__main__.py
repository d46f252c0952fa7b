"""``hermes-sessions``: runs the agent with our store, or the program of the store itself.

- ``hermes-sessions run hermes …`` runs a console script of this Python environment, unchanged, with our store installed,
  also in the Python processes that it starts.
- ``hermes-sessions …`` runs the store's own program, whose name belongs to the agent here: ``hermes-sessions sessiondb
  migrate …``, ``hermes-sessions sessions list``.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from .binary import find_binary
from .errors import StoreUnavailable
from .install import install

VARIABLE = "HERMES_SESSIONS_INSTALL"
_USAGE = """usage: hermes-sessions run SCRIPT [ARGUMENT…]   run a console script (hermes, hermes-acp, …) on our store
       hermes-sessions ARGUMENT…                run the store's own program"""


def main() -> int:
    """Runs the command. Returns its exit code unless another program replaces this process."""
    arguments = sys.argv[1:]
    if not arguments:
        print(_USAGE, file=sys.stderr)
        return 2
    if arguments[0] == "run":
        return run(arguments[1:])
    try:
        binary = str(find_binary())
    except StoreUnavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    # Commands that the program prints start with the name of this script.
    os.environ["HERMES_CALLED_AS"] = "hermes-sessions"
    os.execv(binary, [binary, *arguments])


def run(arguments: list[str]) -> int:
    """Runs a console script of this environment with our store installed."""
    if not arguments:
        print(_USAGE, file=sys.stderr)
        return 2
    script = _script(arguments[0])
    if script is None:
        print(
            f"error: this Python environment has no script {arguments[0]!r}; install hermes-agent into it",
            file=sys.stderr,
        )
        return 1
    # The start file of the package checks this at the start of Python, so that child processes use our store as well.
    os.environ[VARIABLE] = "1"
    install()
    beside = Path(sys.executable).parent / script.name
    sys.argv = [str(beside) if beside.is_file() else script.name, *arguments[1:]]
    code = script.load()()
    return code if isinstance(code, int) else 0


def _script(name: str) -> EntryPoint | None:
    return next(iter(entry_points(group="console_scripts", name=name)), None)


if __name__ == "__main__":
    sys.exit(main())
