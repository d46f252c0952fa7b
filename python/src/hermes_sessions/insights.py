"""The agent's reports over many sessions, read through the store's calls instead of SQL."""

from __future__ import annotations

import importlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from .session_db import SessionDB

_SKILL_TOOLS = {"skill_view": "view_count", "skill_manage": "manage_count"}


def tool_usage(db: SessionDB, cutoff: float, source: str | None) -> list[dict[str, Any]]:
    """Returns how often each tool was used, most used first.

    A use shows twice, in the assistant's call and in the tool's result, but not always in both: for each tool the
    higher of the two counts is taken.
    """
    answers: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for message in db.messages_since(cutoff, source):
        if message["role"] == "tool" and message["tool_name"] is not None:
            answers[message["tool_name"]] += 1
        for function in _functions(message):
            if function.get("name"):
                calls[function["name"]] += 1
    return [{"tool_name": name, "count": count} for name, count in (answers | calls).most_common()]


def skill_usage(db: SessionDB, cutoff: float, source: str | None) -> list[dict[str, Any]]:
    """Returns how often each skill was read and changed, and when last."""
    skills: dict[str, dict[str, Any]] = {}
    for message in db.messages_since(cutoff, source):
        for function in _functions(message):
            counter = _SKILL_TOOLS.get(function.get("name") or "")
            name = _arguments(function).get("name")
            if counter is None or not isinstance(name, str) or not name.strip():
                continue
            blank = {"skill": name, "view_count": 0, "manage_count": 0, "last_used_at": None}
            skill = skills.setdefault(name, blank)
            skill[counter] += 1
            skill["last_used_at"] = max(filter(None, (skill["last_used_at"], message["timestamp"])), default=None)
    return list(skills.values())


def message_stats(db: SessionDB, cutoff: float, source: str | None) -> dict[str, Any]:
    """Returns the number of messages, in total and of the three roles. Without any, the three are ``None``, like an
    SQL sum of no rows.
    """
    roles = Counter(message["role"] for message in db.messages_since(cutoff, source))
    total = sum(roles.values())
    counts = {f"{role}_messages": roles[role] if total else None for role in ("user", "assistant", "tool")}
    return {"total_messages": total, **counts}


def sessions(db: SessionDB, cutoff: float, source: str | None) -> list[dict[str, Any]]:
    """Returns the sessions of the report, newest first."""
    return db.sessions_since(cutoff, source)


# The methods of the agent's report that read, by name.
READERS: dict[str, Callable[[SessionDB, float, str | None], Any]] = {
    "_get_sessions": sessions,
    "_get_tool_usage": tool_usage,
    "_get_skill_usage": skill_usage,
    "_get_message_stats": message_stats,
}


def usage_page(days: int) -> dict[str, Any]:
    """Returns the answer of the dashboard's page on usage."""
    cutoff = time.time() - days * 86400
    report = importlib.import_module("agent.insights").InsightsEngine
    with SessionDB() as db:
        totals = db.usage_totals(cutoff)
        by_model = db.usage_by_model(cutoff)
        return {
            "daily": db.usage_by_day(cutoff),
            "by_model": [_pick(row, _BY_MODEL) for row in by_model],
            "totals": _totals(totals),
            "period_days": days,
            "skills": report(db).generate(days=days).get("skills"),
        }


def models_page(days: int) -> dict[str, Any]:
    """Returns the answer of the dashboard's page on models."""
    cutoff = time.time() - days * 86400
    with SessionDB() as db:
        totals = db.usage_totals(cutoff, only_with_model=True)
        rows = db.usage_by_model(cutoff, by_provider=True)
    models = []
    for row in rows:
        provider = row["billing_provider"] or ""
        page_row = {"model": row["model"], "provider": provider, **_pick(row, _ON_MODELS_PAGE)}
        models.append({**page_row, "capabilities": _capabilities(provider, row["model"])})
    return {
        "models": models,
        "totals": {"distinct_models": totals["distinct_models"], **_totals(totals)},
        "period_days": days,
    }


_BY_MODEL = ("model", "input_tokens", "output_tokens", "estimated_cost", "sessions", "api_calls")
_ON_MODELS_PAGE = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "reasoning_tokens",
    "estimated_cost",
    "actual_cost",
    "sessions",
    "api_calls",
    "tool_calls",
    "last_used_at",
    "avg_tokens_per_session",
)
_CAPABILITIES = (
    "supports_tools",
    "supports_vision",
    "supports_reasoning",
    "context_window",
    "max_output_tokens",
    "model_family",
)


def _totals(sums: dict[str, Any]) -> dict[str, Any]:
    return {
        "total_input": sums["input_tokens"],
        "total_output": sums["output_tokens"],
        "total_cache_read": sums["cache_read_tokens"],
        "total_reasoning": sums["reasoning_tokens"],
        "total_estimated_cost": sums["estimated_cost"],
        "total_actual_cost": sums["actual_cost"],
        "total_sessions": sums["sessions"],
        "total_api_calls": sums["api_calls"],
    }


def _capabilities(provider: str, model: str) -> dict[str, Any]:
    try:
        known = importlib.import_module("agent.models_dev").get_model_capabilities(provider=provider, model=model)
        return {name: getattr(known, name) for name in _CAPABILITIES} if known is not None else {}
    except Exception:
        # A page without capabilities is better than none, as in the agent.
        return {}


def _pick(row: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in wanted}


def _functions(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    calls = message["tool_calls"] if message["role"] == "assistant" else None
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield function


def _arguments(function: dict[str, Any]) -> dict[str, Any]:
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {}
    return arguments if isinstance(arguments, dict) else {}
