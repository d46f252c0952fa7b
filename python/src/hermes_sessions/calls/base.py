"""The base of every call: sending it to the store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..client import Client
from ..errors import StoreClosed

Row = dict[str, Any]


class Calls:
    """Sends calls to the store of a handle. A named argument of ``None`` is left out: every such default is
    ``None``.
    """

    _client: Client | None

    def _read(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        return self._ask(method, args, kwargs, is_write=False)

    def _write(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        return self._ask(method, args, kwargs, is_write=True)

    def _ask(
        self,
        method: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        *,
        is_write: bool,
        request_key: str | None = None,
    ) -> Any:
        client = self._client
        if client is None:
            raise StoreClosed(f"{method}: the session store is closed; open a new SessionDB")
        given = {name: value for name, value in kwargs.items() if value is not None}
        return client.call(method, args, given, is_write=is_write, request_key=request_key)


def names(value: str | Iterable[str] | None) -> list[str] | None:
    """Returns a list of names; a single name becomes a list of one."""
    if value is None:
        return None
    return [value] if isinstance(value, str) else list(value)


def folder(value: str | os.PathLike[str] | None) -> str | None:
    """Returns an absolute folder for the process, whose working directory may differ from ours by now."""
    return None if value is None else os.path.abspath(value)
