"""The use of the session store by a real agent, as JSON: run on its own store and on ours, for comparison.

``python agent_story.py own|ours`` with ``HERMES_HOME`` set to an empty home (with or without a ``config.yaml``). Runs
in the Python environment in which hermes-agent is installed.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

IS_OURS = sys.argv[1] == "ours"
HOME = Path(os.environ["HERMES_HOME"])
if IS_OURS:
    import hermes_sessions

    hermes_sessions.install()

from hermes_state import SessionDB

steps: list[dict[str, Any]] = []


def tell(step: str, result: Any) -> None:
    steps.append({"step": step, "result": result})


def hermes(*arguments: str) -> None:
    """Runs a command of the agent, as a person types it."""
    command = [sys.executable, "-m", "hermes_sessions", "run", "hermes"] if IS_OURS else [_script("hermes")]
    run = subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=HOME, timeout=120)
    tell("hermes " + " ".join(arguments), {"code": run.returncode, "out": run.stdout, "err": run.stderr})


def _script(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def fill() -> None:
    """Creates conversations as the agent does: plain, compressed, branched, delegated, of several platforms."""
    db = SessionDB()
    tools = [
        {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "src/main.rs"}'}}
    ]
    skill = [{"id": "c2", "type": "function", "function": {"name": "skill_view", "arguments": '{"name": "deploy"}'}}]

    db.create_session(
        "20260101_090000_aaaaaa", "cli", model="sonnet", model_config={"temperature": 0.5}, system_prompt="Be brief."
    )
    db.append_message(
        "20260101_090000_aaaaaa", "user", "Why is the login slow since the deployment on Friday afternoon?"
    )
    db.append_message(
        "20260101_090000_aaaaaa",
        "assistant",
        None,
        tool_calls=tools,
        finish_reason="tool_calls",
        reasoning="Look first",
    )
    db.append_message("20260101_090000_aaaaaa", "tool", "fn main() {}", tool_name="read_file", tool_call_id="c1")
    db.append_message(
        "20260101_090000_aaaaaa", "assistant", "The pool has one connection.", token_count=9, finish_reason="stop"
    )
    db.update_token_counts(
        "20260101_090000_aaaaaa", 1200, 340, estimated_cost_usd=0.012, billing_provider="anthropic", api_call_count=2
    )
    db.set_session_title("20260101_090000_aaaaaa", "Slow login")

    db.create_session("20260102_100000_bbbbbb", "telegram", user_id="77")
    db.append_message("20260102_100000_bbbbbb", "user", "大别山徒步计划，三天两夜")
    db.append_message("20260102_100000_bbbbbb", "assistant", "第一天从罗田出发。")
    db.update_token_counts("20260102_100000_bbbbbb", 50, 20, model="haiku")

    db.create_session("20260103_110000_cccccc", "cli", model="sonnet")
    for number in range(6):
        db.append_message("20260103_110000_cccccc", "user", f"Part {number} of the migration to the billing queue")
        db.append_message("20260103_110000_cccccc", "assistant", f"Done with part {number}.", tool_calls=skill)
    db.set_session_title("20260103_110000_cccccc", "Billing queue")
    db.end_session("20260103_110000_cccccc", "compression")
    db.create_session("20260103_120000_dddddd", "cli", model="sonnet", parent_session_id="20260103_110000_cccccc")
    db.set_session_title("20260103_120000_dddddd", db.get_next_title_in_lineage("Billing queue"))
    db.append_message("20260103_120000_dddddd", "user", "Go on with the retries")
    db.append_message("20260103_120000_dddddd", "assistant", [{"type": "text", "text": "Retries are bounded now."}])

    db.create_session("20260104_130000_eeeeee", "tool", parent_session_id="20260101_090000_aaaaaa")
    db.append_message("20260104_130000_eeeeee", "user", "delegated: measure the login")
    db.end_session("20260104_130000_eeeeee", "cli_close")
    db.create_session("20260105_140000_ffffff", "discord")
    db.append_message("20260105_140000_ffffff", "user", "An old question that may go")
    db.end_session("20260105_140000_ffffff", "cli_close")
    tell("facts", {"sessions": db.session_count(), "messages": db.message_count(), "export": db.export_all()})
    db.close()


def commands() -> None:
    """Runs the agent's commands on sessions."""
    hermes("sessions", "list")
    hermes("sessions", "list", "--source", "telegram")
    hermes("sessions", "list", "--limit", "2")
    hermes("sessions", "stats")
    hermes("sessions", "export", "-")
    hermes("sessions", "export", "--session-id", "20260101_09", "-")
    hermes("sessions", "export", "--session-id", "nobody", "-")
    hermes("insights", "--days", "7")
    hermes("sessions", "rename", "20260102_10", "Weekend", "in", "the", "hills")
    hermes("sessions", "rename", "20260102_10", "Slow login")
    hermes("sessions", "rename", "nobody", "x")
    hermes("sessions", "list")
    hermes("sessions", "delete", "--yes", "20260102_10")
    hermes("sessions", "delete", "--yes", "20260102_10")
    hermes("sessions", "prune", "--yes", "--older-than", "0", "--source", "discord")
    hermes("sessions", "prune", "--yes", "--older-than", "30")
    hermes("sessions", "list", "--limit", "50")
    hermes("sessions", "stats")


def search_tool() -> None:
    """Runs the agent's search tool, with a summariser that only returns its input."""
    from tools import session_search_tool

    async def summary(text: str, query: str, meta: dict[str, Any]) -> str:
        return f"{len(text)} characters about {query} in {meta.get('id')}"

    session_search_tool._summarize_session = summary
    for query in ("login", "migration billing", "大别山", "retries OR pool", '"part 3"', "nothing like this", ""):
        tell(f"session_search {query!r}", json.loads(session_search_tool.session_search(query, limit=5)))
    found = session_search_tool.session_search(
        "login", role_filter="assistant", current_session_id="20260101_090000_aaaaaa"
    )
    tell("session_search by role", json.loads(found))


def gateway() -> None:
    """Runs the gateway's session store: a chat that is written to, rewritten, reset and switched."""
    from gateway.config import GatewayConfig, Platform
    from gateway.session import SessionSource, SessionStore

    store = SessionStore(HOME / "sessions", GatewayConfig())
    chat = SessionSource(
        platform=Platform.TELEGRAM, chat_id="42", chat_name="Ada", chat_type="dm", user_id="77", user_name="ada"
    )
    entry = store.get_or_create_session(chat)
    for message in (
        {"role": "user", "content": "Good morning", "timestamp": "ignored"},
        {"role": "assistant", "content": "Good morning, Ada", "reasoning": "polite"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "a picture"}, {"type": "image_url", "image_url": {"url": "data:"}}],
        },
    ):
        store.append_to_transcript(entry.session_id, message)
    db = SessionDB()
    tell("gateway appended", db.get_messages_as_conversation(entry.session_id))
    store.rewrite_transcript(
        entry.session_id, [{"role": "user", "content": "Good morning"}, {"role": "assistant", "content": "Hello"}]
    )
    tell("gateway rewrote", [store.load_transcript(entry.session_id), db.get_messages(entry.session_id)])
    fresh = store.reset_session(entry.session_key)
    assert fresh is not None
    tell("gateway reset", [db.get_session(entry.session_id), db.get_session(fresh.session_id)])
    store.switch_session(entry.session_key, entry.session_id)
    tell(
        "gateway switched",
        [db.get_session(entry.session_id), db.get_session(fresh.session_id), store.has_any_sessions()],
    )
    db.close()


def behind_the_api() -> None:
    """Runs the parts of the agent that read or write its database directly."""
    import cli
    from acp_adapter import session as editor

    db = SessionDB()
    db.end_session("20260101_090000_aaaaaa", "cli_close")
    shell = object.__new__(cli.HermesCLI)
    said: list[str] = []
    shell._resumed, shell._session_db, shell.session_id = True, db, "20260101_090000_aaaaaa"
    shell._console_print, shell.conversation_history = lambda text: said.append(str(text)), []
    tell("resume", [shell._preload_resumed_session(), said, db.get_session(shell.session_id)])

    manager = editor.SessionManager(agent_factory=lambda: None)
    agent = SimpleNamespace(provider=" openai ", base_url="", api_mode=None)
    for cwd in ("/one", "/two"):
        state = SimpleNamespace(
            session_id="editor-1", model="gpt", cwd=cwd, agent=agent, history=[{"role": "user", "content": cwd}]
        )
        manager._persist(state)
        tell(f"editor saved {cwd}", [db.get_session("editor-1"), db.get_messages("editor-1")])

    from hermes_cli import web_server

    tell(
        "latest descendant",
        [web_server._session_latest_descendant(sid) for sid in ("20260103_110000_cccccc", "nobody")],
    )
    tell("usage page", asyncio.run(web_server.get_usage_analytics(days=30)))
    tell("models page", asyncio.run(web_server.get_models_analytics(days=30)))
    db.close()


if __name__ == "__main__":
    fill()
    search_tool()
    gateway()
    behind_the_api()
    commands()
    json.dump({"finished": time.time(), "steps": steps}, sys.stdout)
