"""``AsyncSessionDB``: the methods of ``SessionDB`` as coroutines.

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

    async def create_session(self, session_id: str, source: str, **kwargs: Any) -> str:
        """Creates a session and returns its id. An existing session of that id is not changed.

        By name: ``model``, ``model_config``, ``system_prompt``, ``user_id``, ``parent_session_id``. Raises
        ``sqlite3.IntegrityError`` if the parent does not exist.
        """
        return await self._run(SessionDB.create_session, session_id, source, **kwargs)

    async def ensure_session(
        self,
        session_id: str,
        source: str = "unknown",
        model: str | None = None,
        **kwargs: Any,
    ) -> str:
        """Creates a session if there is none of that id. Takes the arguments of :meth:`create_session`."""
        return await self._run(SessionDB.ensure_session, session_id, source, model, **kwargs)

    async def end_session(self, session_id: str, end_reason: str) -> None:
        """Ends an active session. The first reason is kept; an unknown id is not an error."""
        await self._run(SessionDB.end_session, session_id, end_reason)

    async def reopen_session(self, session_id: str) -> None:
        """Makes an ended session active again; an unknown id is not an error."""
        await self._run(SessionDB.reopen_session, session_id)

    async def update_system_prompt(self, session_id: str, system_prompt: str) -> None:
        """Replaces the system prompt."""
        await self._run(SessionDB.update_system_prompt, session_id, system_prompt)

    async def update_session_meta(
        self,
        session_id: str,
        model_config_json: str | None,
        model: str | None = None,
    ) -> None:
        """Replaces the model settings, given as JSON text; a model of ``None`` leaves the model unchanged.

        The agent's editor adapter did this by bypassing the API.
        """
        await self._run(SessionDB.update_session_meta, session_id, model_config_json, model)

    async def update_token_counts(
        self,
        session_id: str,
        input_tokens: int = 0,
        output_tokens: int = 0,
        model: str | None = None,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        reasoning_tokens: int = 0,
        estimated_cost_usd: float | None = None,
        actual_cost_usd: float | None = None,
        cost_status: str | None = None,
        cost_source: str | None = None,
        pricing_version: str | None = None,
        billing_provider: str | None = None,
        billing_base_url: str | None = None,
        billing_mode: str | None = None,
        api_call_count: int = 0,
        absolute: bool = False,
    ) -> None:
        """Adds to the counters of a session, or sets them if ``absolute``; creates the session if it does not exist."""
        await self._run(
            SessionDB.update_token_counts,
            session_id,
            input_tokens,
            output_tokens,
            model,
            cache_read_tokens,
            cache_write_tokens,
            reasoning_tokens,
            estimated_cost_usd,
            actual_cost_usd,
            cost_status,
            cost_source,
            pricing_version,
            billing_provider,
            billing_base_url,
            billing_mode,
            api_call_count,
            absolute,
        )

    async def get_session(self, session_id: str) -> Row | None:
        """Returns all columns of a session, or ``None``."""
        return await self._run(SessionDB.get_session, session_id)

    async def resolve_session_id(self, session_id_or_prefix: str) -> str | None:
        """Returns the id itself if it exists, or the only one that begins with it; else ``None``."""
        return await self._run(SessionDB.resolve_session_id, session_id_or_prefix)

    async def get_compression_tip(self, session_id: str) -> str | None:
        """Returns the newest continuation of a compressed session; the id itself if there is none."""
        return await self._run(SessionDB.get_compression_tip, session_id)

    async def resolve_resume_session_id(self, session_id: str) -> str:
        """Returns the session in which a resumed conversation continues: this one if it has messages, else a
        descendant that has.
        """
        return await self._run(SessionDB.resolve_resume_session_id, session_id)

    @staticmethod
    def sanitize_title(title: str | None) -> str | None:
        """Returns the title as it would be stored, or ``None`` if nothing visible is left. Raises ``ValueError`` if
        it is too long.
        """
        return SessionDB.sanitize_title(title)

    async def set_session_title(self, session_id: str, title: str) -> bool:
        """Sets a title, or clears it if nothing visible is left of it. Returns whether the session exists.

        Raises ``ValueError`` if the title is too long or another session has it.
        """
        return await self._run(SessionDB.set_session_title, session_id, title)

    async def get_session_title(self, session_id: str) -> str | None:
        """Returns the title of a session, if it has one."""
        return await self._run(SessionDB.get_session_title, session_id)

    async def get_session_by_title(self, title: str) -> Row | None:
        """Returns the session with exactly this title."""
        return await self._run(SessionDB.get_session_by_title, title)

    async def resolve_session_by_title(self, title: str) -> str | None:
        """Returns the id of the newest session among this title and its numbered successors (``plan``, ``plan #2``)."""
        return await self._run(SessionDB.resolve_session_by_title, title)

    async def get_next_title_in_lineage(self, base_title: str) -> str:
        """Returns the next free title after this one: ``plan`` → ``plan #2`` → ``plan #3``."""
        return await self._run(SessionDB.get_next_title_in_lineage, base_title)

    async def append_message(
        self,
        session_id: str,
        role: str,
        content: Any = None,
        tool_name: str | None = None,
        tool_calls: Any = None,
        tool_call_id: str | None = None,
        token_count: int | None = None,
        finish_reason: str | None = None,
        reasoning: str | None = None,
        reasoning_content: str | None = None,
        reasoning_details: Any = None,
        codex_reasoning_items: Any = None,
        codex_message_items: Any = None,
    ) -> int:
        """Appends a message and returns its id. It is on disk when this returns.

        Raises ``sqlite3.IntegrityError`` for an unknown session.
        """
        return await self._run(
            SessionDB.append_message,
            session_id,
            role,
            content,
            tool_name,
            tool_calls,
            tool_call_id,
            token_count,
            finish_reason,
            reasoning,
            reasoning_content,
            reasoning_details,
            codex_reasoning_items,
            codex_message_items,
        )

    async def append_messages(self, session_id: str, messages: Iterable[Mapping[str, Any]]) -> list[int]:
        """Appends several messages, all or none, and returns their ids in order. The agent's store has no such call."""
        return await self._run(SessionDB.append_messages, session_id, messages)

    async def replace_messages(self, session_id: str, messages: list[dict[str, Any]]) -> None:
        """Replaces all messages of the session by these. If it fails, the old ones are still there."""
        await self._run(SessionDB.replace_messages, session_id, messages)

    async def clear_messages(self, session_id: str) -> None:
        """Removes all messages of a session and sets its two message counters to 0."""
        await self._run(SessionDB.clear_messages, session_id)

    async def get_messages(self, session_id: str) -> list[Row]:
        """Returns all messages of a session with all columns, in the order in which they were appended."""
        return await self._run(SessionDB.get_messages, session_id)

    async def get_messages_as_conversation(
        self,
        session_id: str,
        include_ancestors: bool = False,
    ) -> list[dict[str, Any]]:
        """Returns the messages in the form for a model's client, of this session or of its ancestors and itself."""
        return await self._run(SessionDB.get_messages_as_conversation, session_id, include_ancestors)

    async def search_messages(
        self,
        query: str,
        source_filter: list[str] | None = None,
        exclude_sources: list[str] | None = None,
        role_filter: list[str] | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> list[dict[str, Any]]:
        """Returns the messages that match, best first, each with a marked excerpt and its neighbours.

        If nothing matches the whole query, returns those that contain any of the words, each with ``"relaxed": True``.
        ``source_filter=[]`` matches nothing; ``exclude_sources=[]`` and ``role_filter=[]`` exclude nothing.
        """
        return await self._run(
            SessionDB.search_messages,
            query,
            source_filter,
            exclude_sources,
            role_filter,
            limit,
            offset,
        )

    async def search(
        self,
        query: str,
        source_filter: list[str] | None = None,
        exclude_sources: list[str] | None = None,
        role_filter: list[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        order: str = "best",
        relax: bool = True,
        since: float | None = None,
        before: float | None = None,
        user_id: str | None = None,
        sessions: list[str] | None = None,
        title: str | None = None,
        model: str | None = None,
        timeout: float = 2.0,
    ) -> dict[str, Any]:
        """Runs our own search. Returns the ``hits``, each with its conversation, title and score, and how complete
        the answer is. ``title`` and ``model`` are pieces, whatever their case.
        """
        return await self._run(
            SessionDB.search,
            query,
            source_filter,
            exclude_sources,
            role_filter,
            limit,
            offset,
            order,
            relax,
            since,
            before,
            user_id,
            sessions,
            title,
            model,
            timeout,
        )

    async def session_search(
        self,
        query: str | None = None,
        role_filter: str | list[str] | None = None,
        limit: int = 3,
        current_session_id: str | None = None,
        *,
        scope: str | dict[str, Any],
        budget: int = 100000,
    ) -> dict[str, Any]:
        """Returns up to five conversations about a topic, each as the part around its matches, without a model.

        ``scope`` limits whose: ``"all"``, or ``{"source": …}``, ``{"user_id": …}``, both, or ``{"sessions": […]}``. The
        conversation of ``current_session_id`` and those it originates from are left out. Without a query, returns the
        most recently active conversations.
        """
        return await self._run(
            SessionDB.session_search,
            query,
            role_filter,
            limit,
            current_session_id,
            scope=scope,
            budget=budget,
        )

    async def search_sessions(self, source: str | None = None, limit: int = 20, offset: int = 0) -> list[Row]:
        """Returns sessions by their last activity, newest first, including continuations and delegates."""
        return await self._run(SessionDB.search_sessions, source, limit, offset)

    async def list_sessions_rich(
        self,
        source: str | None = None,
        exclude_sources: list[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        include_children: bool = False,
        project_compression_tips: bool = True,
        order_by_last_active: bool = False,
    ) -> list[Row]:
        """Returns conversations for a list: all columns, ``last_active`` and a ``preview`` of the first question.

        A compressed conversation is one row: its first session, with identity, counts, title, activity and preview of
        its last.
        """
        return await self._run(
            SessionDB.list_sessions_rich,
            source,
            exclude_sources,
            limit,
            offset,
            include_children,
            project_compression_tips,
            order_by_last_active,
        )

    async def session_count(self, source: str | None = None) -> int:
        """Returns the number of sessions, of one source or of all."""
        return await self._run(SessionDB.session_count, source)

    async def message_count(self, session_id: str | None = None) -> int:
        """Returns the number of messages, of one session or of all."""
        return await self._run(SessionDB.message_count, session_id)

    async def sessions_since(self, cutoff: float, source: str | None = None) -> list[Row]:
        """Returns all sessions that started at this time or later, newest first, of one source or of all."""
        return await self._run(SessionDB.sessions_since, cutoff, source)

    async def messages_since(self, cutoff: float, source: str | None = None) -> list[Row]:
        """Yields all messages of the sessions that started at this time or later, session by session."""
        return await self._run(lambda db: list(db.messages_since(cutoff, source)))

    async def usage_by_day(self, cutoff: float) -> list[dict[str, Any]]:
        """Returns sums of tokens, costs, sessions and calls for each day (UTC) on which sessions started, oldest
        first.
        """
        return await self._run(SessionDB.usage_by_day, cutoff)

    async def usage_by_model(self, cutoff: float, by_provider: bool = False) -> list[dict[str, Any]]:
        """Returns these sums for each model, or for each model of each provider; most tokens first."""
        return await self._run(SessionDB.usage_by_model, cutoff, by_provider)

    async def usage_totals(self, cutoff: float, only_with_model: bool = False) -> dict[str, Any]:
        """Returns these sums over all sessions, and the number of models."""
        return await self._run(SessionDB.usage_totals, cutoff, only_with_model)

    async def latest_descendant(self, session_id: str) -> tuple[str | None, list[str]]:
        """Follows the newest child of each session down to one without children. Returns that id, and the path to
        it.

        Takes an id or a unique prefix of one; returns ``(None, [])`` if there is no such session.
        """
        return await self._run(SessionDB.latest_descendant, session_id)

    async def export_session(self, session_id: str) -> dict[str, Any] | None:
        """Returns a session with its ``messages``, or ``None``."""
        return await self._run(SessionDB.export_session, session_id)

    async def export_all(self, source: str | None = None) -> list[dict[str, Any]]:
        """Returns every session, of one source or of all, with its ``messages``."""
        return await self._run(SessionDB.export_all, source)

    async def delete_session(self, session_id: str, sessions_dir: Folder = None) -> bool:
        """Deletes a session with its messages, and its transcript files if their folder is given. Returns whether it
        existed.

        Its children stay, as sessions without a parent.
        """
        return await self._run(SessionDB.delete_session, session_id, sessions_dir)

    async def prune_sessions(
        self,
        older_than_days: float = 90,
        source: str | None = None,
        sessions_dir: Folder = None,
    ) -> int:
        """Deletes ended sessions that were last active more than this many days ago, and returns how many."""
        return await self._run(SessionDB.prune_sessions, older_than_days, source, sessions_dir)

    async def prune_empty_ghost_sessions(self, sessions_dir: Folder = None) -> int:
        """Deletes ended terminal sessions without title and messages that are over a day old, and returns how many."""
        return await self._run(SessionDB.prune_empty_ghost_sessions, sessions_dir)

    async def finalize_orphaned_compression_sessions(self) -> int:
        """Ends continuations that were never used and are over a week old, and returns how many."""
        return await self._run(SessionDB.finalize_orphaned_compression_sessions)

    async def maybe_auto_prune_and_vacuum(
        self,
        retention_days: int = 90,
        min_interval_hours: int = 24,
        vacuum: bool = True,
        sessions_dir: Folder = None,
    ) -> dict[str, Any]:
        """Prunes if the last run is long enough ago: ``{"skipped", "pruned", "vacuumed"}``.

        Never raises: a failure is reported under ``"error"``, because the agent calls this while it starts.
        """
        return await self._run(
            SessionDB.maybe_auto_prune_and_vacuum,
            retention_days,
            min_interval_hours,
            vacuum,
            sessions_dir,
        )

    async def vacuum(self) -> None:
        """Gives free space back to the file system."""
        await self._run(SessionDB.vacuum)

    async def optimize(self) -> Any:
        """Optimizes the search index."""
        return await self._run(SessionDB.optimize)

    async def verify(self) -> Any:
        """Checks the store and returns the findings."""
        return await self._run(SessionDB.verify)

    async def status(self) -> Any:
        """Returns a summary of the store: provider, size, counts, health."""
        return await self._run(SessionDB.status)

    async def get_meta(self, key: str) -> str | None:
        """Returns the value of a key, or ``None``."""
        return await self._run(SessionDB.get_meta, key)

    async def set_meta(self, key: str, value: str) -> None:
        """Sets the value of a key."""
        await self._run(SessionDB.set_meta, key, value)

    async def request_handoff(self, session_id: str, platform: str) -> bool:
        """Requests a handoff. Returns false if the session is unknown or a handoff is in progress."""
        return await self._run(SessionDB.request_handoff, session_id, platform)

    async def claim_handoff(self, session_id: str) -> bool:
        """Claims a pending handoff. Of concurrent callers exactly one gets true."""
        return await self._run(SessionDB.claim_handoff, session_id)

    async def complete_handoff(self, session_id: str) -> None:
        """Marks the handoff as completed."""
        await self._run(SessionDB.complete_handoff, session_id)

    async def fail_handoff(self, session_id: str, error: str) -> None:
        """Marks the handoff as failed; the first 500 characters of the error are kept."""
        await self._run(SessionDB.fail_handoff, session_id, error)

    async def get_handoff_state(self, session_id: str) -> dict[str, Any] | None:
        """Returns ``{"state", "platform", "error"}`` of a session, all ``None`` if no handoff was requested;
        ``None`` if it is unknown.
        """
        return await self._run(SessionDB.get_handoff_state, session_id)

    async def list_pending_handoffs(self) -> list[Row]:
        """Returns the sessions with an unclaimed handoff."""
        return await self._run(SessionDB.list_pending_handoffs)

    async def apply_telegram_topic_migration(self) -> None:
        """Creates the tables of the topic mode, which do not exist before it is requested."""
        await self._run(SessionDB.apply_telegram_topic_migration)

    async def enable_telegram_topic_mode(
        self,
        *,
        chat_id: str,
        user_id: str,
        has_topics_enabled: bool | None = None,
        allows_users_to_create_topics: bool | None = None,
    ) -> None:
        """Turns the topic mode of a chat on."""
        await self._run(
            SessionDB.enable_telegram_topic_mode,
            chat_id=chat_id,
            user_id=user_id,
            has_topics_enabled=has_topics_enabled,
            allows_users_to_create_topics=allows_users_to_create_topics,
        )

    async def disable_telegram_topic_mode(self, *, chat_id: str, clear_bindings: bool = True) -> None:
        """Turns the topic mode of a chat off and, by default, forgets which session each topic shows."""
        await self._run(SessionDB.disable_telegram_topic_mode, chat_id=chat_id, clear_bindings=clear_bindings)

    async def is_telegram_topic_mode_enabled(self, *, chat_id: str, user_id: str) -> bool:
        """Returns whether the topic mode is on for this chat and this user."""
        return await self._run(SessionDB.is_telegram_topic_mode_enabled, chat_id=chat_id, user_id=user_id)

    async def get_telegram_topic_binding(self, *, chat_id: str, thread_id: str) -> Row | None:
        """Returns the session that a topic shows and the other columns of its binding, or ``None``."""
        return await self._run(SessionDB.get_telegram_topic_binding, chat_id=chat_id, thread_id=thread_id)

    async def bind_telegram_topic(
        self,
        *,
        chat_id: str,
        thread_id: str,
        user_id: str,
        session_key: str,
        session_id: str,
        managed_mode: str = "auto",
    ) -> None:
        """Makes a topic show a session. Raises ``ValueError`` if another topic shows it already."""
        await self._run(
            SessionDB.bind_telegram_topic,
            chat_id=chat_id,
            thread_id=thread_id,
            user_id=user_id,
            session_key=session_key,
            session_id=session_id,
            managed_mode=managed_mode,
        )

    async def is_telegram_session_linked_to_topic(self, *, session_id: str) -> bool:
        """Returns whether a topic shows this session."""
        return await self._run(SessionDB.is_telegram_session_linked_to_topic, session_id=session_id)

    async def list_unlinked_telegram_sessions_for_user(
        self,
        *,
        chat_id: str,
        user_id: str,
        limit: int = 10,
    ) -> list[Row]:
        """Returns the sessions of a user that no topic shows, most recently active first."""
        return await self._run(
            SessionDB.list_unlinked_telegram_sessions_for_user,
            chat_id=chat_id,
            user_id=user_id,
            limit=limit,
        )
