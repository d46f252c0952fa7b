//! Statements that every SQL server understands, written with `?`.

/// Adds to the counters of a session: messages, tool calls, id.
pub const ADD_COUNTS: &str = "UPDATE sessions SET message_count = coalesce(message_count, 0) + ?, \
     tool_call_count = coalesce(tool_call_count, 0) + ? WHERE id = ?";

/// Sets the counters of a session: messages, tool calls, id.
pub const SET_COUNTS: &str = "UPDATE sessions SET message_count = ?, tool_call_count = ? WHERE id = ?";

/// Inserts a session. Values in the order of the columns.
pub const INSERT_SESSION: &str = "INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt, \
     parent_session_id, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

/// Inserts an imported session without its parent, title, counts and usage. Values in the order of the columns.
pub const IMPORT_SESSION: &str = "INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt, started_at, \
     ended_at, end_reason, handoff_state, handoff_platform, handoff_error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Inserts a message. Values in the order of the columns; without an id it gets the next one.
pub const INSERT_MESSAGE: &str = "INSERT INTO messages (id, session_id, timestamp, role, content, tool_call_id, tool_calls, \
     tool_name, token_count, finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, \
     codex_message_items) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Copies the messages of one session to another: new session, old session. Further conditions and the order follow.
pub const COPY_MESSAGES: &str = "INSERT INTO messages (session_id, timestamp, role, content, tool_call_id, tool_calls, \
     tool_name, token_count, finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, \
     codex_message_items) SELECT ?, timestamp, role, content, tool_call_id, tool_calls, tool_name, token_count, \
     finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items \
     FROM messages WHERE session_id = ?";

/// Removes a session's messages. Further conditions may follow.
pub const DELETE_MESSAGES: &str = "DELETE FROM messages WHERE session_id = ?";

/// Ends a session that is active: time, reason, id.
pub const END_SESSION: &str = "UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL";

/// Makes an ended session active.
pub const REOPEN_SESSION: &str = "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ? AND (ended_at IS NOT NULL OR end_reason IS NOT NULL)";

/// Sets a title: title, id.
pub const SET_TITLE: &str = "UPDATE sessions SET title = ? WHERE id = ?";

/// Selects the other session that has a title: title, own id.
pub const TITLE_HOLDER: &str = "SELECT id FROM sessions WHERE title = ? AND id <> ?";

/// Sets every counter and cost: in the order of [`crate::columns::USAGE`], then the model to fill in, then the id.
pub const SET_USAGE: &str = "UPDATE sessions SET input_tokens = ?, output_tokens = ?, cache_read_tokens = ?, \
     cache_write_tokens = ?, reasoning_tokens = ?, api_call_count = ?, estimated_cost_usd = ?, actual_cost_usd = ?, \
     cost_status = ?, cost_source = ?, pricing_version = ?, billing_provider = ?, billing_base_url = ?, billing_mode = ?, \
     model = coalesce(model, ?) WHERE id = ?";

/// Selects a value stored beside the sessions: key.
pub const META: &str = "SELECT value FROM state_meta WHERE key = ?";

/// Stores a request: key, session, first message, fingerprint, answer.
pub const REMEMBER_REQUEST: &str =
    "INSERT INTO hx_request (request_key, session_id, message_id, fingerprint, answer) VALUES (?, ?, ?, ?, ?)";

/// Selects a stored request: fingerprint, answer, and whether the messages it created still exist.
pub const REQUEST: &str = "SELECT fingerprint, answer, \
     message_id IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = message_id AND m.session_id = hx_request.session_id) FROM hx_request WHERE request_key = ?";

/// Deletes a stored request.
pub const FORGET_REQUEST: &str = "DELETE FROM hx_request WHERE request_key = ?";
