"""The places where the agent bypasses the store's API to read or write its database, and their replacements.

| module of the agent | what | instead |
|---|---|---|
| ``cli`` | resuming clears the end of a session with SQL | ``reopen_session`` |
| ``acp_adapter.session`` | saving an editor's session updates model and settings with SQL | ``update_session_meta`` |
| ``agent.insights`` | the report reads sessions and messages with SQL | ``sessions_since``, ``messages_since`` |
| ``hermes_cli.web_server`` | two analytics pages sum with SQL; a refresh reads every session | ``usage_*``, ``latest_descendant`` |

Each patch looks for the code it replaces, and does not change a module without it: another release of the agent then
works as far as it uses the API.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .session_db import SessionDB

_log = logging.getLogger("hermes_sessions")


def _patch_cli(module: ModuleType) -> None:
    shell = module.HermesCLI
    preload, init_agent = shell._preload_resumed_session, shell._init_agent

    @functools.wraps(preload)
    def preload_and_reopen(self: Any) -> bool:
        is_loaded: bool = preload(self)
        if is_loaded:
            _reopen(self)
        return is_loaded

    @functools.wraps(init_agent)
    def init_agent_and_reopen(self: Any, **kwargs: Any) -> bool:
        is_resuming = self.agent is None and self._resumed and not self.conversation_history
        is_ready: bool = init_agent(self, **kwargs)
        if is_resuming:
            _reopen(self)
        return is_ready

    shell._preload_resumed_session = preload_and_reopen
    shell._init_agent = init_agent_and_reopen


def _reopen(shell: Any) -> None:
    if isinstance(shell._session_db, SessionDB):
        try:
            shell._session_db.reopen_session(shell.session_id)
        except Exception:
            # The agent itself continues without it here.
            _log.warning("session %s could not be opened again", shell.session_id, exc_info=True)


def _patch_editor(module: ModuleType) -> None:
    manager = module.SessionManager
    persist = manager._persist

    @functools.wraps(persist)
    def persist_and_update(self: Any, state: Any) -> None:
        db = self._get_db()
        was_there = isinstance(db, SessionDB) and db.get_session(state.session_id) is not None
        persist(self, state)
        if was_there:
            try:
                model = str(state.model) if state.model else None
                db.update_session_meta(state.session_id, json.dumps(_settings(state)), model)
            except Exception:
                _log.warning("the settings of session %s could not be kept", state.session_id, exc_info=True)

    manager._persist = persist_and_update


def _settings(state: Any) -> dict[str, Any]:
    settings = {"cwd": state.cwd}
    for name in ("provider", "base_url", "api_mode"):
        value = getattr(state.agent, name, None)
        if isinstance(value, str) and value.strip():
            settings[name] = value.strip()
    return settings


def _patch_insights(module: ModuleType) -> None:
    from . import insights

    engine = module.InsightsEngine
    init = engine.__init__

    @functools.wraps(init)
    def init_without_connection(self: Any, db: Any) -> None:
        if isinstance(db, SessionDB):
            self.db = db
            self._conn = None
        else:
            init(self, db)

    engine.__init__ = init_without_connection
    for name, ours in insights.READERS.items():
        setattr(engine, name, _for_our_store(getattr(engine, name), ours))


def _for_our_store(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def choose(self: Any, cutoff: float, source: str | None = None) -> Any:
        if isinstance(self.db, SessionDB):
            return ours(self.db, cutoff, source)
        return theirs(self, cutoff, source)

    return choose


def _patch_web(module: ModuleType) -> None:
    module._session_latest_descendant = _latest_descendant  # type: ignore[attr-defined]
    # The web framework already holds these two function objects, so they keep their identity and get another body.
    module.get_usage_analytics.__code__ = _usage_page.__code__
    module.get_models_analytics.__code__ = _models_page.__code__


def _latest_descendant(session_id: str) -> tuple[str | None, list[str]]:
    with SessionDB() as db:
        return db.latest_descendant(session_id)


async def _usage_page(days: int = 30) -> Any:
    from hermes_sessions import insights

    return insights.usage_page(days)


async def _models_page(days: int = 30) -> Any:
    from hermes_sessions import insights

    return insights.models_page(days)


def _careful(patch: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def apply(module: ModuleType) -> None:
        try:
            patch(module)
        except (AttributeError, TypeError, ValueError) as error:
            _log.warning("%s is not as expected (%s); it is left as it is", module.__name__, error)

    return apply


PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "cli": _careful(_patch_cli),
    "acp_adapter.session": _careful(_patch_editor),
    "agent.insights": _careful(_patch_insights),
    "hermes_cli.web_server": _careful(_patch_web),
}
