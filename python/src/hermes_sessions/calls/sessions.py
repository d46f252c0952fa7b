"""Sessions: create, end, reopen, count and look up."""

from __future__ import annotations

from typing import Any

from .base import Calls, Row


class SessionCalls(Calls):
    """The calls about a single session."""

    def create_session(self, session_id: str, source: str, **kwargs: Any) -> str:
        """Creates a session and returns its id. An existing session of that id is not changed.

        By name: ``model``, ``model_config``, ``system_prompt``, ``user_id``, ``parent_session_id``. Raises
        ``sqlite3.IntegrityError`` if the parent does not exist.
        """
        return str(self._write("create_session", session_id, source, **_details(**kwargs)))

    def ensure_session(self, session_id: str, source: str = "unknown", model: str | None = None, **kwargs: Any) -> str:
        """Creates a session if there is none of that id. Takes the arguments of :meth:`create_session`."""
        return str(self._write("ensure_session", session_id, source, **_details(model=model, **kwargs)))

    def end_session(self, session_id: str, end_reason: str) -> None:
        """Ends an active session. The first reason is kept; an unknown id is not an error."""
        self._write("end_session", session_id, end_reason)

    def reopen_session(self, session_id: str) -> None:
        """Makes an ended session active again; an unknown id is not an error."""
        self._write("reopen_session", session_id)

    def update_system_prompt(self, session_id: str, system_prompt: str) -> None:
        """Replaces the system prompt."""
        self._write("update_system_prompt", session_id, system_prompt)

    def update_session_meta(self, session_id: str, model_config_json: str | None, model: str | None = None) -> None:
        """Replaces the model settings, given as JSON text; a model of ``None`` leaves the model unchanged.

        The agent's editor adapter did this by bypassing the API.
        """
        self._write("update_session_meta", session_id, model_config_json, model)

    def update_token_counts(
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
        self._write(
            "update_token_counts",
            session_id,
            input_tokens,
            output_tokens,
            model,
            cache_read_tokens,
            cache_write_tokens,
            reasoning_tokens,
            estimated_cost_usd=estimated_cost_usd,
            actual_cost_usd=actual_cost_usd,
            cost_status=cost_status,
            cost_source=cost_source,
            pricing_version=pricing_version,
            billing_provider=billing_provider,
            billing_base_url=billing_base_url,
            billing_mode=billing_mode,
            api_call_count=api_call_count,
            absolute=absolute,
        )

    def get_session(self, session_id: str) -> Row | None:
        """Returns all columns of a session, or ``None``."""
        row: Row | None = self._read("get_session", session_id)
        return row

    def resolve_session_id(self, session_id_or_prefix: str) -> str | None:
        """Returns the id itself if it exists, or the only one that begins with it; else ``None``."""
        found: str | None = self._read("resolve_session_id", session_id_or_prefix)
        return found

    def get_compression_tip(self, session_id: str) -> str | None:
        """Returns the newest continuation of a compressed session; the id itself if there is none."""
        tip: str | None = self._read("get_compression_tip", session_id)
        return tip

    def resolve_resume_session_id(self, session_id: str) -> str:
        """Returns the session in which a resumed conversation continues: this one if it has messages, else a
        descendant that has.
        """
        resumed: str = self._read("resolve_resume_session_id", session_id)
        return resumed


def _details(
    model: str | None = None,
    model_config: dict[str, Any] | None = None,
    system_prompt: str | None = None,
    user_id: str | None = None,
    parent_session_id: str | None = None,
) -> dict[str, Any]:
    """Returns the named arguments of a new session; Python itself refuses any other name."""
    return dict(
        model=model,
        model_config=model_config,
        system_prompt=system_prompt,
        user_id=user_id,
        parent_session_id=parent_session_id,
    )
