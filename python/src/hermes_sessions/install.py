"""Makes an unmodified agent use our store: ``import hermes_state`` gives it :mod:`hermes_sessions.state`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from .patches import PATCHES

NAME = "hermes_state"


def install() -> ModuleType:
    """Replaces ``hermes_state`` by our module and returns it. Repeating it is not an error.

    The few functions of the agent that bypass the store's API are replaced when their module is imported, or now if it
    already was (:mod:`hermes_sessions.patches` lists them).
    """
    from . import state

    sys.modules[NAME] = state
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name in PATCHES:
        module = sys.modules.get(name)
        if module is not None:
            _patch(module)
    return state


def uninstall() -> None:
    """Removes our module again. Modules that were patched or imported by then stay so."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    if getattr(sys.modules.get(NAME), "__name__", NAME) != NAME:
        del sys.modules[NAME]


def _patch(module: ModuleType) -> None:
    if not getattr(module, "__hermes_sessions__", False):
        PATCHES[module.__name__](module)
        module.__hermes_sessions__ = True  # type: ignore[attr-defined]


class _Finder(MetaPathFinder):
    """Finds the agent's modules that need a patch, and applies it after they are loaded."""

    def __init__(self) -> None:
        self._asking: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in PATCHES or fullname in self._asking:
            return None
        self._asking.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking.discard(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """Loads a module as its own loader does, then patches it."""

    def __init__(self, inner: Loader) -> None:
        self._inner = inner

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        _patch(module)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)
