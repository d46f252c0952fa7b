"""Writes ``async_session_db.py`` from the methods of ``SessionDB``, so that the two can't diverge.

``python3 tools/async_methods.py`` writes the file; with ``--check`` it only checks that the file is up to date.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "hermes_sessions"
FILES = ("sessions", "titles", "messages", "search", "usage", "upkeep", "handoff", "telegram")

HEAD = '''"""``AsyncSessionDB``: the methods of ``SessionDB`` as coroutines.

Written by ``tools/async_methods.py``; change the synchronous methods and run it again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from .calls.base import Row
from .calls.upkeep import Folder
from .session_db import SessionDB

T = TypeVar("T")
_THREADS = 32


class AsyncSessionDB:
    """A session store for coroutines. Calls that are awaited together are under way together.

    ``await AsyncSessionDB.open()`` or ``async with AsyncSessionDB() as db``; the first call opens the store otherwise.
    """

    def __init__(self, db_path: str | os.PathLike[str] | None = None) -> None:
        """Names the store as ``SessionDB`` does. It is opened by the first call, not here: opening may take a while."""
        self._db_path = db_path
        self._db: SessionDB | None = None
        self._opening = asyncio.Lock()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="hermes-sessions")

    @classmethod
    async def open(cls, db_path: str | os.PathLike[str] | None = None) -> AsyncSessionDB:
        """Opens a store. Raises what keeps it from being opened."""
        db = cls(db_path)
        await db._store()
        return db

    async def close(self) -> None:
        """Closes the store; closing it again is no error."""
        db, self._db = self._db, None
        if db is not None:
            await asyncio.get_running_loop().run_in_executor(self._threads, db.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> AsyncSessionDB:
        await self._store()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _store(self) -> SessionDB:
        async with self._opening:
            if self._db is None:
                loop = asyncio.get_running_loop()
                self._db = await loop.run_in_executor(self._threads, SessionDB, self._db_path)
            return self._db

    async def _run(self, method: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        db = await self._store()
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(method, db, *args, **kwargs))

    async def call(self, method: str, /, *args: Any, request_key: str | None = None, **kwargs: Any) -> Any:
        """Any call of the protocol, by name, as ``SessionDB.call``."""
        return await self._run(SessionDB.call, method, *args, request_key=request_key, **kwargs)

    async def ping(self) -> Any:
        """Asks the process whether it is there; starts it if it is not."""
        return await self._run(SessionDB.ping)

    async def info(self) -> dict[str, Any]:
        """What the process says about itself."""
        return await self._run(SessionDB.info)
'''


def methods() -> Iterator[tuple[ast.FunctionDef, bool]]:
    """Yields every public method of the call classes, and whether it is static."""
    for name in FILES:
        tree = ast.parse((PACKAGE / "calls" / f"{name}.py").read_text())
        for class_ in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            for node in class_.body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    yield node, bool(node.decorator_list)


def _long(before: str, items: list[str], after: str) -> str:
    """Returns one line if it fits, else a line for each item."""
    line = f"{before}{', '.join(items)}{after}"
    if len(line) <= 120:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    return f"{before}\n" + "".join(f"{indent}    {item},\n" for item in items) + f"{indent}{after}"


def coroutine(node: ast.FunctionDef, is_static: bool) -> str:
    doc = ast.get_docstring(node, clean=False)
    result = ast.unparse(node.returns) if node.returns else "None"
    arguments = node.args
    given = [argument.arg for argument in arguments.args[0 if is_static else 1 :]]
    given += [f"{argument.arg}={argument.arg}" for argument in arguments.kwonlyargs]
    given += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    signature = _signature(arguments)
    if is_static:
        head = f"    @staticmethod\n    def {node.name}({', '.join(signature)}) -> {result}:\n"
        return f'{head}        """{doc}"""\n        return SessionDB.{node.name}({", ".join(given)})\n'
    body = _long("        return await self._run(", [f"SessionDB.{node.name}", *given], ")")
    if result.startswith("Iterator["):
        result = result.replace("Iterator[", "list[", 1)
        body = f"        return await self._run(lambda db: list(db.{node.name}({', '.join(given)})))"
    if result == "None":
        body = body.replace("return ", "", 1)
    head = _long(f"    async def {node.name}(", signature, f") -> {result}:")
    return f'{head}\n        """{doc}"""\n{body}\n'


def _signature(arguments: ast.arguments) -> list[str]:
    """Returns the text of each parameter."""
    first = len(arguments.args) - len(arguments.defaults)
    texts = []
    for at, argument in enumerate(arguments.args):
        default = arguments.defaults[at - first] if at >= first else None
        texts.append(_parameter(argument, default))
    if arguments.kwonlyargs:
        texts.append("*")
        texts += [_parameter(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        texts.append(f"**{_parameter(arguments.kwarg, None)}")
    return texts


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = ast.unparse(argument)
    if default is None:
        return text
    value = ast.unparse(default).replace("'", '"')
    return f"{text} = {value}" if argument.annotation else f"{text}={value}"


def text() -> str:
    return HEAD + "".join("\n" + coroutine(node, is_static) for node, is_static in methods())


if __name__ == "__main__":
    path = PACKAGE / "async_session_db.py"
    if "--check" not in sys.argv:
        path.write_text(text())
    elif path.read_text() != text():
        sys.exit(f"{path.name} is not what tools/async_methods.py writes; run it")
