//! Owners of conversations and accounts.

use hermes_session::live::{Lease, Resource, Turn};
use schemars::JsonSchema;
use serde::Serialize;

/// The processes that hold something of the store.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Owners<'a> {
    /// The leases, ordered by kind and session or account. Expired ones stay until somebody takes them.
    pub owners: Vec<Owner<'a>>,
}

/// A lease with its holder.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Owner<'a> {
    /// `conversation`, `account` (of a platform: one gateway receives and delivers its messages) or `hold` (a process
    /// that prevents the reset of a conversation).
    pub kind: &'static str,
    /// The session in which the conversation continues; `null` for an account.
    pub id: Option<&'a str>,
    /// The first session of the conversation; `null` for an account.
    pub conversation: Option<&'a str>,
    /// The title of the conversation.
    pub title: Option<&'a str>,
    /// The platform and a hash of the account's secret; `null` for a conversation or a hold.
    pub account: Option<&'a str>,
    /// The name of the hold; `null` for a conversation or an account.
    pub hold: Option<&'a str>,
    /// What the holder calls itself.
    pub label: &'a str,
    /// The machine or container of the holder.
    pub host: &'a str,
    /// Its process id there.
    pub process: i64,
    /// When the process started, as its machine counts time.
    pub born: &'a str,
    /// Whether the process has ended; `null` if that can't be seen from here.
    pub gone: Option<bool>,
    /// Whether the holder must not be disturbed.
    pub busy: bool,
    /// The open turn of the conversation; `null` if there is none.
    pub turn: Option<OpenTurn<'a>>,
    /// When the holder got it.
    pub taken_at: f64,
    /// When it expires, unless the holder renews it.
    pub until: f64,
    /// Whether it has expired, so that anybody may take it.
    pub expired: bool,
}

/// An open turn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenTurn<'a> {
    /// Its id.
    pub id: i64,
    /// `person`, `handoff`, `memory` or `hook`.
    pub kind: &'static str,
    /// The session that its messages are appended to.
    pub session: &'a str,
    /// When it was opened.
    pub opened_at: f64,
    /// What opened it.
    pub opened_by: &'a str,
    /// How often it was started: 1, and one more for each process that resumed it.
    pub attempts: u32,
}

impl<'a> From<&'a Turn> for OpenTurn<'a> {
    fn from(turn: &'a Turn) -> Self {
        Self {
            id: turn.id.0,
            kind: turn.kind.as_str(),
            session: turn.session.as_str(),
            opened_at: turn.opened_at.seconds(),
            opened_by: &turn.opened_by,
            attempts: turn.attempts,
        }
    }
}

/// Facts about a lease that are not stored with it.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The session in which the conversation continues.
    pub session: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// Whether the process of the holder has ended.
    pub is_gone: Option<bool>,
    /// Whether the lease has expired.
    pub is_expired: bool,
    /// The open turn of the conversation.
    pub turn: Option<&'a Turn>,
}

impl<'a> Owner<'a> {
    /// Returns a lease with the facts about it.
    pub fn new(lease: &'a Lease, around: Around<'a>) -> Self {
        let (kind, account, hold) = match &lease.resource {
            Resource::Conversation(_) => ("conversation", None, None),
            Resource::Account(account) => ("account", Some(account.as_str()), None),
            Resource::Hold { name, .. } => ("hold", None, Some(name.as_str())),
        };
        Self {
            kind,
            id: around.session,
            conversation: lease.resource.session().map(hermes_session::SessionId::as_str),
            title: around.title,
            account,
            hold,
            label: &lease.holder.label,
            host: &lease.holder.host,
            process: lease.holder.process,
            born: &lease.holder.born,
            gone: around.is_gone,
            busy: lease.busy,
            turn: around.turn.map(OpenTurn::from),
            taken_at: lease.taken_at.seconds(),
            until: lease.until.seconds(),
            expired: around.is_expired,
        }
    }
}
