//! Every method: its signature, and its order relative to other calls.

use crate::scheduler::Lane;
use crate::signature::Signature;
use std::collections::HashMap;
use std::sync::LazyLock;

use Lane::{Change, Free, Look, Sessions};

/// A method of the table.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) signature: Signature,
    pub(crate) lane: Lane,
}

const ONE: Lane = Sessions(&["session_id"]);

/// The methods of the agent's `SessionDB` 0.14.0. Its `**kwargs` are written out.
const THEIRS: &[(&str, Lane)] = &[
    ("close()", Free),
    // Sessions
    (
        "create_session(session_id, source, *, model=None, model_config=None, system_prompt=None, user_id=None, parent_session_id=None)",
        Sessions(&["session_id", "parent_session_id"]),
    ),
    (
        "ensure_session(session_id, source='unknown', model=None, *, model_config=None, system_prompt=None, user_id=None, parent_session_id=None)",
        Sessions(&["session_id", "parent_session_id"]),
    ),
    ("end_session(session_id, end_reason)", ONE),
    ("reopen_session(session_id)", ONE),
    ("update_system_prompt(session_id, system_prompt)", ONE),
    (
        "update_token_counts(session_id, input_tokens=0, output_tokens=0, model=None, cache_read_tokens=0, cache_write_tokens=0, reasoning_tokens=0, \
         estimated_cost_usd=None, actual_cost_usd=None, cost_status=None, cost_source=None, pricing_version=None, billing_provider=None, \
         billing_base_url=None, billing_mode=None, api_call_count=0, absolute=False)",
        ONE,
    ),
    ("get_session(session_id)", ONE),
    ("resolve_session_id(session_id_or_prefix)", Look),
    // Titles
    ("sanitize_title(title)", Free),
    ("set_session_title(session_id, title)", Change),
    ("get_session_title(session_id)", ONE),
    ("get_session_by_title(title)", Look),
    ("resolve_session_by_title(title)", Look),
    ("get_next_title_in_lineage(base_title)", Look),
    // Lineage
    ("get_compression_tip(session_id)", Look),
    ("resolve_resume_session_id(session_id)", Look),
    // Messages
    (
        "append_message(session_id, role, content=None, tool_name=None, tool_calls=None, tool_call_id=None, token_count=None, finish_reason=None, \
         reasoning=None, reasoning_content=None, reasoning_details=None, codex_reasoning_items=None, codex_message_items=None)",
        ONE,
    ),
    ("replace_messages(session_id, messages)", ONE),
    ("get_messages(session_id)", ONE),
    ("clear_messages(session_id)", ONE),
    ("get_messages_as_conversation(session_id, include_ancestors=False)", ONE),
    // Search and lists
    ("search_messages(query, source_filter=None, exclude_sources=None, role_filter=None, limit=20, offset=0)", Look),
    (
        "list_sessions_rich(source=None, exclude_sources=None, limit=20, offset=0, include_children=False, project_compression_tips=True, \
         order_by_last_active=False)",
        Look,
    ),
    ("search_sessions(source=None, limit=20, offset=0)", Look),
    ("session_count(source=None)", Look),
    ("message_count(session_id=None)", ONE),
    // Export
    ("export_session(session_id)", ONE),
    ("export_all(source=None)", Look),
    // Maintenance
    ("delete_session(session_id, sessions_dir=None)", Change),
    ("prune_sessions(older_than_days=90, source=None, sessions_dir=None)", Change),
    ("prune_empty_ghost_sessions(sessions_dir=None)", Change),
    ("finalize_orphaned_compression_sessions()", Change),
    ("maybe_auto_prune_and_vacuum(retention_days=90, min_interval_hours=24, vacuum=True, sessions_dir=None)", Change),
    ("vacuum()", Free),
    // Stored values
    ("get_meta(key)", Look),
    ("set_meta(key, value)", Change),
    // Handoffs
    ("request_handoff(session_id, platform)", ONE),
    ("claim_handoff(session_id)", ONE),
    ("complete_handoff(session_id)", ONE),
    ("fail_handoff(session_id, error)", ONE),
    ("get_handoff_state(session_id)", ONE),
    ("list_pending_handoffs()", Look),
    // Topics of a chat
    ("apply_telegram_topic_migration()", Change),
    (
        "enable_telegram_topic_mode(*, chat_id, user_id, has_topics_enabled=None, allows_users_to_create_topics=None)",
        Change,
    ),
    ("disable_telegram_topic_mode(*, chat_id, clear_bindings=True)", Change),
    ("is_telegram_topic_mode_enabled(*, chat_id, user_id)", Look),
    ("bind_telegram_topic(*, chat_id, thread_id, user_id, session_key, session_id, managed_mode='auto')", Change),
    ("get_telegram_topic_binding(*, chat_id, thread_id)", Look),
    ("is_telegram_session_linked_to_topic(*, session_id)", Look),
    ("list_unlinked_telegram_sessions_for_user(*, chat_id, user_id, limit=10)", Look),
];

/// Our methods, which the agent does not have.
const OURS: &[(&str, Lane)] = &[
    ("append_messages(session_id, messages)", ONE),
    ("update_session_meta(session_id, model_config_json, model=None)", ONE),
    (
        "search(query, source_filter=None, exclude_sources=None, role_filter=None, limit=20, offset=0, order='best', relax=True, since=None, \
         before=None, user_id=None, sessions=None, title=None, model=None, timeout=2.0)",
        Look,
    ),
    ("session_search(query=None, role_filter=None, limit=3, current_session_id=None, *, scope, budget=100000)", Look),
    ("optimize()", Free),
    ("verify()", Look),
    ("status()", Look),
    ("ping()", Free),
    ("info()", Free),
];

static METHODS: LazyLock<HashMap<&'static str, Method>> = LazyLock::new(|| {
    let all = THEIRS.iter().chain(OURS);
    all.map(|(text, lane)| Method { signature: Signature::parse(text), lane: *lane })
        .map(|method| (method.signature.name, method))
        .collect()
});

/// Returns the method of this name.
pub(crate) fn method(name: &str) -> Option<&'static Method> {
    METHODS.get(name)
}

/// Returns every method as a Python signature, `name(a, b=1, *, c=None)`: the agent's, then ours.
pub fn signatures() -> (Vec<&'static str>, Vec<&'static str>) {
    let texts = |table: &[(&'static str, Lane)]| table.iter().map(|(text, _)| *text).collect();
    (texts(THEIRS), texts(OURS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_lanes_name_parameters() {
        assert_eq!(METHODS.len(), THEIRS.len() + OURS.len());
        for method in METHODS.values() {
            if let Sessions(names) = method.lane {
                assert!(names.iter().all(|name| method.signature.place(name).is_some()), "{}", method.signature.name);
            }
        }
    }
}
