//! Lines of a file for data of live clients that only our tables hold: routes, cursors, causes of resets, undone messages.

use super::message_object;
use crate::SessionId;
use crate::json::ObjectWriter;
use crate::live::{LiveRecord, Route, UndoneMessage};

/// Value of `format` on a line with data of live clients.
pub const LIVE_FORMAT: &str = "hermes-live/1";

/// Returns the line of a record; `None` for turns and mail, which are work in progress.
pub fn live_line(record: &LiveRecord) -> Option<String> {
    let mut object = ObjectWriter::new();
    object.text("format", Some(LIVE_FORMAT));
    match record {
        LiveRecord::Route(stored) => route(&mut object, stored),
        LiveRecord::Alias { old, key } => {
            object.text("alias", Some(&old.to_stored())).text("route", Some(&key.to_stored()));
        }
        LiveRecord::Cursor { account, value } => {
            object.text("account", Some(account.as_str())).text("cursor", Some(value));
        }
        LiveRecord::Cause { session, cause } => {
            object.text("session", Some(session.as_str())).text("cause", Some(cause.as_str()));
        }
        LiveRecord::Turn(_) | LiveRecord::Inbox(_) | LiveRecord::Outbound(_) => return None,
    }
    Some(object.finish() + "\n")
}

fn route(object: &mut ObjectWriter, route: &Route) {
    object
        .text("route", Some(&route.key.to_stored()))
        .text("session", Some(route.session.as_str()))
        .integer("generation", Some(route.generation))
        .text("session_key", Some(&route.origin.session_key))
        .text("source", route.origin.source.as_deref())
        .text("display_name", route.origin.display_name.as_deref())
        .double("created_at", Some(route.created_at.seconds()))
        .double("touched_at", Some(route.touched_at.seconds()))
        .integer("suspended", Some(route.suspended.into()))
        .text("notice", route.notice.as_deref())
        .integer("last_prompt_tokens", route.last_prompt_tokens);
}

/// Returns the line of an undone message, which the store has nowhere else.
pub fn undone_line(session: &SessionId, undone: &UndoneMessage) -> String {
    let mut object = ObjectWriter::new();
    object
        .text("format", Some(LIVE_FORMAT))
        .text("session", Some(session.as_str()))
        .integer("batch", undone.batch)
        .double("undone_at", undone.undone_at.map(|at| at.seconds()))
        .raw("undone", &message_object(&undone.message));
    object.finish() + "\n"
}
