"""``SessionDB``: the agent's class of that name, over our store."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from . import target
from .calls.handoff import HandoffCalls
from .calls.telegram import TelegramCalls
from .calls.titles import TitleCalls
from .calls.upkeep import UpkeepCalls
from .calls.usage import UsageCalls
from .client import acquire
from .init_error import _set_last_init_error

SCHEMA_VERSION = 11
DEFAULT_DB_PATH: Path = target.home() / "state.db"

# Like the agent's, the default is fixed when the module is loaded; changing HERMES_HOME later does not affect it.
_CONFIGURED_PATH = DEFAULT_DB_PATH
_CONFIGURED = target.configured(DEFAULT_DB_PATH.parent)

# Attributes by which callers bypass the API of the agent's store, and their replacements.
_BEHIND = {
    "_conn": "the store is in another process and may be a server. Use reopen_session, update_session_meta, "
    "sessions_since, messages_since, usage_by_day, usage_by_model, usage_totals or latest_descendant",
    "_lock": "every call is atomic and safe in threads by itself; leave the lock out",
    "_execute_write": "every call that writes is a transaction; append_messages takes a whole batch",
}


class SessionDB(UsageCalls, TitleCalls, UpkeepCalls, HandoffCalls, TelegramCalls):
    """A handle on a session store. It has every public method of the agent's class, with its signature.

    All handles on one store in a Python process share one store process. A handle may be used from many threads
    concurrently, and in a forked child. A write that returned is on disk. If the store process dies it is restarted,
    and unacknowledged requests are repeated and applied once.
    """

    def __init__(self, db_path: str | os.PathLike[str] | None = None) -> None:
        """Opens a store: without an argument the configured one, else a path of a SQLite file or a URL.

        Raises the reason if the store can't be opened; :func:`get_last_init_error` returns it again.
        """
        self._client = None
        self.db_path: Path | str = _default_path()
        if db_path:
            self.db_path = db_path if target.is_url(db_path) else Path(db_path)
        try:
            client = acquire(_CONFIGURED if self.db_path == _CONFIGURED_PATH else target.target_of(self.db_path))
            try:
                self._hello: Mapping[str, Any] = client.start()
            except BaseException:
                client.release()
                raise
        except Exception as error:
            _set_last_init_error(f"{type(error).__name__}: {error}")
            raise
        self._client = client

    def close(self) -> None:
        """Closes the handle; closing it again is not an error. Closing the last handle of a store ends its process."""
        client, self._client = self._client, None
        if client is not None:
            client.release()

    def info(self) -> dict[str, Any]:
        """Returns the greeting of the process: version, provider, location without password, schema version."""
        return dict(self._hello)

    def ping(self) -> Any:
        """Checks that the process responds; starts it if it is not running."""
        return self._read("ping")

    def call(self, method: str, /, *args: Any, request_key: str | None = None, **kwargs: Any) -> Any:
        """Makes any call of the protocol, by name. A request is applied once per idempotency key, however often it
        is sent.

        A caller that may be restarted between the call and its answer passes a key of its own. Without one the package
        creates a key, which covers the death of the store process.
        """
        return self._ask(method, args, kwargs, is_write=True, request_key=request_key)

    def __enter__(self) -> SessionDB:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __getattr__(self, name: str) -> NoReturn:
        instead = _BEHIND.get(name)
        if instead:
            raise AttributeError(f"SessionDB of hermes_sessions has no {name}: {instead}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _default_path() -> Path:
    # Tests of callers replace the constant in the module that they know.
    path: Path = getattr(sys.modules.get(f"{__package__}.state"), "DEFAULT_DB_PATH", DEFAULT_DB_PATH)
    return path
