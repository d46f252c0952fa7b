//! The service: dispatches a method's name to its function.

use crate::args::Args;
use crate::call::{Answer, Call, yes};
use crate::fail::{ErrorType, Fail};
use crate::request_line::RequestLine;
use crate::{
    conversation, export, handoff, listing, maintenance, messages, meta, recall, search, sessions, titles, topics,
};
use hermes_session::json::ObjectWriter;
use hermes_session::{Store, StoreError, Timestamp};
use jiff::tz::TimeZone;
use std::sync::Arc;

/// The version of the protocol.
pub const PROTOCOL: i64 = 1;

/// Returns the current time. The program supplies the clock.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A store that is served to a program in another language.
#[derive(Clone)]
pub struct Service {
    store: Arc<dyn Store>,
    clock: Clock,
    zone: TimeZone,
    version: String,
}

impl Service {
    /// Creates a service for `store`. Times for people are in `zone`; `version` is that of the program.
    pub fn new(store: Arc<dyn Store>, clock: Clock, zone: TimeZone, version: impl Into<String>) -> Self {
        Self { store, clock, zone, version: version.into() }
    }

    /// Returns the first line, which describes the store, without the newline.
    ///
    /// # Errors
    /// If the status of the store can't be read.
    pub async fn hello(&self) -> Result<String, StoreError> {
        Ok(hello(&maintenance::info(&*self.store, PROTOCOL, &self.version).await?))
    }

    /// Runs a call.
    pub(crate) async fn answer(&self, line: &RequestLine) -> Answer {
        let call = Call { store: &*self.store, args: Args(line), now: (self.clock)() };
        let call = &call;
        match line.method.signature.name {
            "close" => Ok("null".into()),
            "create_session" | "ensure_session" => sessions::create(call).await,
            "end_session" => sessions::end(call).await,
            "reopen_session" => sessions::reopen(call).await,
            "update_system_prompt" => sessions::update_system_prompt(call).await,
            "update_session_meta" => sessions::update_meta(call).await,
            "update_token_counts" => sessions::update_token_counts(call).await,
            "get_session" => sessions::get(call).await,
            "resolve_session_id" => sessions::resolve(call).await,
            "get_compression_tip" => sessions::tip(call).await,
            "resolve_resume_session_id" => sessions::resume(call).await,
            "sanitize_title" => titles::sanitize(call),
            "set_session_title" => titles::set(call).await,
            "get_session_title" => titles::get(call).await,
            "get_session_by_title" => titles::session_of(call).await,
            "resolve_session_by_title" => titles::resolve(call).await,
            "get_next_title_in_lineage" => titles::next(call).await,
            "append_message" => messages::append(call).await,
            "append_messages" => messages::append_all(call).await,
            "replace_messages" => messages::replace(call).await,
            "get_messages" => messages::get(call).await,
            "clear_messages" => messages::clear(call).await,
            "get_messages_as_conversation" => conversation::get(call).await,
            "search_messages" => search::messages(call).await,
            "search" => search::search(call).await,
            "session_search" => recall::session_search(call, &self.zone).await,
            "list_sessions_rich" => listing::rich(call).await,
            "search_sessions" => listing::sessions(call).await,
            "session_count" => listing::session_count(call).await,
            "message_count" => listing::message_count(call).await,
            "export_session" => export::session(call).await,
            "export_all" => export::all(call).await,
            "delete_session" => maintenance::delete(call).await,
            "prune_sessions" => maintenance::prune(call).await,
            "vacuum" => maintenance::vacuum(call).await,
            "optimize" => maintenance::optimize(call).await,
            "verify" => maintenance::verify(call).await,
            "status" => maintenance::status(call).await,
            "get_meta" => meta::get(call).await,
            "set_meta" => meta::set(call).await,
            "ping" => yes(true),
            "info" => Ok(maintenance::info(&*self.store, PROTOCOL, &self.version).await?),
            "prune_empty_ghost_sessions" => maintenance::prune_ghosts(call).await,
            "finalize_orphaned_compression_sessions" => maintenance::end_orphans(call).await,
            "maybe_auto_prune_and_vacuum" => maintenance::auto_prune(call).await,
            "request_handoff" => handoff::request(call).await,
            "claim_handoff" => handoff::claim(call).await,
            "complete_handoff" => handoff::complete(call).await,
            "fail_handoff" => handoff::fail(call).await,
            "get_handoff_state" => handoff::state(call).await,
            "list_pending_handoffs" => handoff::pending(call).await,
            "apply_telegram_topic_migration" => topics::migrate(call).await,
            "enable_telegram_topic_mode" => topics::enable(call).await,
            "disable_telegram_topic_mode" => topics::disable(call).await,
            "is_telegram_topic_mode_enabled" => topics::is_enabled(call).await,
            "bind_telegram_topic" => topics::bind(call).await,
            "get_telegram_topic_binding" => topics::binding(call).await,
            "is_telegram_session_linked_to_topic" => topics::is_linked(call).await,
            "list_unlinked_telegram_sessions_for_user" => topics::unlinked(call).await,
            // Unreachable: a test calls every method of the table.
            name => Err(Fail::new(ErrorType::Operational, format!("{name} is not served"))),
        }
    }
}

fn hello(about: &str) -> String {
    let mut out = ObjectWriter::new();
    out.raw("hello", about);
    out.finish()
}

/// Returns the first and only line of a program whose store can't be opened.
pub fn hello_of_failure(error: ErrorType, text: &str) -> String {
    let mut out = ObjectWriter::new();
    out.text("e", Some(error.name())).text("t", Some(text));
    hello(&out.finish())
}
