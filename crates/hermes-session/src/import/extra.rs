//! Reads the state of a message and the columns of newer agents from a line.

use super::fields::{Fields, strange};
use super::line::lose;
use crate::export::{MESSAGE_KEYS, SESSION_KEYS};
use crate::extra::{Table, column_of};
use crate::{Extra, Invalid, Json, MessageState, Scalar};

/// Keys of a session's line that stand for modelled columns.
const SESSION: [&str; 32] = [
    "id",
    "source",
    "user_id",
    "model",
    "model_config",
    "system_prompt",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "billing_provider",
    "billing_base_url",
    "billing_mode",
    "estimated_cost_usd",
    "actual_cost_usd",
    "cost_status",
    "cost_source",
    "pricing_version",
    "title",
    "api_call_count",
    "handoff_state",
    "handoff_platform",
    "handoff_error",
    "archived",
    "relation",
];

/// Keys of a message that stand for modelled columns.
const MESSAGE: [&str; 16] = [
    "id",
    "session_id",
    "timestamp",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "token_count",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "active",
];

/// Returns the state of a message: `state` in our own lines, `active` and `compacted` in the agent's.
pub(super) fn state(fields: &Fields<'_>) -> Result<MessageState, Invalid> {
    match fields.text("state")? {
        Some(name) => MessageState::from_name(&name).ok_or_else(|| strange("state", &name)),
        None => {
            let compacted = fields.raw("compacted").map(|value| i64::from(!matches!(value, "0" | "false")));
            let active = match fields.raw("active") {
                Some("false") => Some(0),
                Some("true") => Some(1),
                _ => fields.integer("active")?,
            };
            Ok(MessageState::from_columns(active, compacted))
        }
    }
}

/// Returns the columns of newer agents that a line holds. From the agent's own lines it takes only columns that the
/// agent is known to have, because these lines also hold keys that are not columns.
pub(super) fn read(fields: &Fields<'_>, table: Table, is_ours: bool, lost: &mut Vec<String>) -> Extra {
    let (modelled, keys): (&[&str], &[&str]) = match table {
        Table::Sessions => (&SESSION, &SESSION_KEYS),
        Table::Messages => (&MESSAGE, &MESSAGE_KEYS),
    };
    let is_inactive = table == Table::Messages && state(fields).is_ok_and(|state| !state.is_active());
    let mut extra = Extra::new();
    let mut take = |key: &str, value: &str| {
        let quoted = Json::of_spelled(&format!("\"{key}\"")).to_plain_string();
        match (quoted, Scalar::read(value)) {
            (Some(column), Ok(value)) => extra.set(table, &column, value),
            (_, Err(why)) => lose(lost, format!("{key} is not imported: {why}")),
            (None, Ok(_)) => lose(lost, format!("{key} is not imported: its name is not text")),
        }
    };
    for (key, value) in fields.members() {
        let is_column = is_ours || column_of(table, key).is_some();
        // The state implies it already. Only an active message can carry a separate `compacted` flag.
        let is_told = key == "compacted" && is_inactive;
        if is_column && !is_told && !modelled.contains(&key) && !keys.contains(&key) {
            take(key, value);
        }
    }
    if let Some(apart) = fields.raw("columns").filter(|_| is_ours) {
        match Fields::of("columns", apart) {
            Ok(apart) => apart.members().for_each(|(key, value)| take(key, value)),
            Err(why) => lose(lost, why.to_string()),
        }
    }
    extra
}
