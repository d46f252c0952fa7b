//! All column lists, each defined once. The decoders read the columns in this order.

/// Columns of a session, from the alias `s`.
pub const SESSION: &str = "s.id, s.source, s.user_id, s.model, s.model_config, s.system_prompt, s.parent_session_id, \
     s.started_at, s.ended_at, s.end_reason, s.message_count, s.tool_call_count, s.input_tokens, s.output_tokens, \
     s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, s.api_call_count, s.estimated_cost_usd, \
     s.actual_cost_usd, s.cost_status, s.cost_source, s.pricing_version, s.billing_provider, s.billing_base_url, \
     s.billing_mode, s.title, s.handoff_state, s.handoff_platform, s.handoff_error";

/// Counters and costs of a session, from the alias `s`.
pub const USAGE: &str = "s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, \
     s.api_call_count, s.estimated_cost_usd, s.actual_cost_usd, s.cost_status, s.cost_source, s.pricing_version, \
     s.billing_provider, s.billing_base_url, s.billing_mode";

/// Columns of a message.
pub const MESSAGE: &str = "id, session_id, timestamp, role, content, tool_call_id, tool_calls, tool_name, token_count, \
     finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items";

/// Columns of [`MESSAGE`], with NULL for those that a copy of a message may lack.
pub const COMPARED: &str = "id, session_id, timestamp, role, content, tool_call_id, tool_calls, tool_name, NULL, NULL, NULL, NULL, \
     NULL, NULL, NULL";

/// Columns of a row of a list. Aliases: `r` is the first session of the row, `t` its current session (may be missing),
/// `h` the side row of `r`. In the view of single sessions `r` and `t` are the same.
pub const SUMMARY: &str = "coalesce(t.id, r.id), h.root, r.source, r.user_id, t.model, r.parent_session_id, h.relation, r.started_at, \
     t.ended_at, t.end_reason, t.message_count, t.tool_call_count, r.input_tokens, r.output_tokens, r.cache_read_tokens, \
     r.cache_write_tokens, r.reasoning_tokens, r.api_call_count, r.estimated_cost_usd, r.actual_cost_usd, r.cost_status, \
     r.cost_source, r.pricing_version, r.billing_provider, r.billing_base_url, r.billing_mode, t.title";
