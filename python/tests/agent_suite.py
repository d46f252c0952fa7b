"""A plugin of pytest that runs the session tests of the agent's own source distribution on our ``SessionDB``.

``hermes_state`` is our module for the time of the run. Each test is put in a class by what its source uses, helpers and fixtures included:

======  =====================================================================================================
black   public methods of ``SessionDB`` alone; the file itself may be opened with ``sqlite3``
grey    besides, ``db._conn`` or ``db._lock`` as a plain handle for SQL, which a second connection to the file serves
white   private helpers, patches, source text: what a store behind a process boundary has not
integ   other modules of the agent, which need its dependencies
======  =====================================================================================================

A drop-in owes black and grey. The results go to the file that ``HERMES_AGENT_SUITE_REPORT`` names.
"""

from __future__ import annotations

import ast
import json
import os
import sqlite3
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hermes_sessions import state

_HANDLES = {"_conn", "_lock"}
_PATCHES = {"monkeypatch", "patch", "MagicMock", "Mock", "getsource"}
_INNER_NAMES = {"SCHEMA_SQL", "FTS_SQL", "FTS_TRIGRAM_SQL", "apply_wal_with_fallback"}
_ALLOWED_MODULES = {"hermes_state", "pytest", *sys.stdlib_module_names}


# The alias.


class _SessionDB(state.SessionDB):
    """Our store, with a separate connection to the same file for tests that write SQL."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._side: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        super().__init__(*args, **kwargs)

    @property
    def _conn(self) -> sqlite3.Connection:
        if self._side is None:
            self._side = sqlite3.connect(self.db_path, isolation_level=None, check_same_thread=False, timeout=30)
            self._side.row_factory = sqlite3.Row
            self._side.execute("PRAGMA foreign_keys=ON")
        return self._side

    def close(self) -> None:
        super().close()
        if self._side is not None:
            self._side.close()
            self._side = None


class _Absent:
    """Placeholder for a name of the agent's module that we lack, so that a test file which imports it can be loaded."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"hermes_sessions has no {self._name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"hermes_sessions has no {self._name}")


def _absent(name: str) -> _Absent:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Absent(name)


def _put_in_place() -> None:
    module = types.ModuleType("hermes_state")
    names = {name: value for name, value in vars(state).items() if not name.startswith("__")}
    module.__dict__.update(names, SessionDB=_SessionDB, __getattr__=_absent)
    sys.modules["hermes_state"] = module


# The classes.


class _File:
    """The functions of a test file, and the names that each uses."""

    def __init__(self, path: Path) -> None:
        self._functions: dict[tuple[str, str], ast.AST] = {}
        self._imports: dict[str, str] = {}
        self._always: list[tuple[str, str]] = []
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    self._add(node.name, inner)
            else:
                self._add("", node)
                self._imports.update((name, module) for name, module in _imported(node))

    def _add(self, owner: str, node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._functions[owner, node.name] = node
            if any(isinstance(decorator, ast.Call) and _is_autouse(decorator) for decorator in node.decorator_list):
                self._always.append((owner, node.name))

    def kind(self, owner: str, name: str) -> str:
        """Returns the class of a test."""
        starts = [(owner, name), *(start for start in self._always if start[0] in ("", owner))]
        uses = {use for start in starts for use in self._uses(start, set())}
        for use, kind in (("agent", "integ"), ("inner", "white"), ("handle", "grey")):
            if use in uses:
                return kind
        return "black"

    def _uses(self, key: tuple[str, str], seen: set[tuple[str, str]]) -> Iterator[str]:
        owner, name = key
        if key not in self._functions:
            key = ("", name)
        if key in seen or key not in self._functions:
            return
        seen.add(key)
        function = self._functions[key]
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                # A fixture of this file, or one of pytest.
                yield from self._uses((owner, node.arg), seen)
                if node.arg == "monkeypatch":
                    yield "inner"
            elif isinstance(node, ast.Attribute):
                if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                    yield from self._uses((owner, node.attr), seen)
                else:
                    yield from _use_of(node.attr, is_attribute=True)
            elif isinstance(node, ast.Name):
                yield from _use_of(node.id, is_attribute=False)
                yield from self._uses(("", node.id), seen)
                yield from _use_of_module(self._imports.get(node.id, ""))
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for imported, module in _imported(node):
                    yield from _use_of(imported, is_attribute=module == "hermes_state")
                    yield from _use_of_module(module)


def _use_of(name: str, *, is_attribute: bool) -> Iterator[str]:
    if is_attribute and name in _HANDLES:
        yield "handle"
    elif name in _PATCHES or name in _INNER_NAMES:
        yield "inner"
    elif is_attribute and name.startswith("_") and not name.startswith("__"):
        yield "inner"


def _use_of_module(module: str) -> Iterator[str]:
    if module and module.split(".")[0] not in _ALLOWED_MODULES:
        yield "agent"


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yields the names that an import defines, each with its module."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname or alias.name).split(".")[0], alias.name
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            yield alias.name, node.module


def _is_autouse(decorator: ast.Call) -> bool:
    return any(word.arg == "autouse" and getattr(word.value, "value", False) for word in decorator.keywords)


# The plugin.

_kinds: dict[str, str] = {}
_results: dict[str, str] = {}


def pytest_configure(config: Any) -> None:
    _put_in_place()


def pytest_collection_modifyitems(items: list[Any]) -> None:
    files: dict[Path, _File] = {}
    for item in items:
        file = files.setdefault(item.path, _File(item.path)) if item.path not in files else files[item.path]
        _kinds[item.nodeid] = file.kind(item.cls.__name__ if item.cls else "", item.originalname)


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed:
        _results[report.nodeid] = "failed"
    elif report.skipped:
        _results.setdefault(report.nodeid, "skipped")
    elif report.when == "call":
        _results.setdefault(report.nodeid, "passed")


def pytest_sessionfinish() -> None:
    rows = {name: [kind, _results.get(name, "not run")] for name, kind in _kinds.items()}
    Path(os.environ["HERMES_AGENT_SUITE_REPORT"]).write_text(json.dumps(rows))
