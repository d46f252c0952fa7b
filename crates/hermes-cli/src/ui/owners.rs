//! View of the owners of conversations and accounts.

use super::stacked::{Entry, table_or_entries};
use anstyle::{AnsiColor, Style};
use hermes_app::owners::{Owner, Presence};
use hermes_session::live::Resource;
use hermes_terminal::table::{Column, Table};
use hermes_terminal::time::Now;
use hermes_terminal::transcript::NO_TITLE;
use hermes_terminal::{Line, Visible};

/// Minimum width of a title or a holder in a table, in columns.
const LEAST_TEXT: usize = 12;

/// Number of characters of a host that are shown: enough to tell a few machines apart.
const HOST_CHARACTERS: usize = 8;

const EXPIRED: &str = "expired";

/// Returns who holds what.
pub(crate) fn owners(owners: &[Owner], now: &Now, columns: usize) -> Vec<Line> {
    if owners.is_empty() {
        return vec![Line::plain_text("Nobody holds a conversation.")];
    }
    let column = |head, style, least| Column { head, style, least, is_number: false };
    let table = Table {
        columns: vec![
            column("What", Style::new(), Some(LEAST_TEXT)),
            column("Held by", Style::new().fg_color(Some(AnsiColor::Cyan.into())), Some(LEAST_TEXT)),
            column("Since", Style::new(), None),
            column("Expires", Style::new(), None),
            column("Turn", Style::new(), None),
            column("Process", Style::new(), None),
            column("ID", Style::new().dimmed(), None),
        ],
        rows: owners.iter().map(|owner| cells(owner, now)).collect(),
    };
    table_or_entries(&table, owners.iter().map(|owner| narrow(owner, now)), columns)
}

fn cells(owner: &Owner, now: &Now) -> Vec<Visible> {
    vec![
        what(owner).into(),
        owner.lease.holder.label.as_str().into(),
        now.relative(owner.lease.taken_at).into(),
        expiry(owner, now).into(),
        owner.turn.as_ref().map_or("—", |turn| turn.kind.as_str()).into(),
        process(owner).into(),
        id(owner).into(),
    ]
}

/// Returns an owner for the narrow layout.
fn narrow<'a>(owner: &'a Owner, now: &Now) -> Entry<'a> {
    let turn = owner.turn.as_ref().map(|turn| format!("in a turn ({})", turn.kind.as_str()));
    let facts = [
        Some(format!("held by {}", owner.lease.holder.label)),
        Some(format!("since {}", now.relative(owner.lease.taken_at))),
        Some(match now.remaining(owner.lease.until) {
            Some(left) => format!("expires in {left}"),
            None => EXPIRED.to_owned(),
        }),
        turn,
        Some(format!("process {}", process(owner))),
    ];
    Entry {
        head: Visible::default(),
        name: what(owner).into(),
        facts: facts.into_iter().flatten().collect(),
        id: id(owner),
    }
}

/// Returns the name of the thing that is held.
fn what(owner: &Owner) -> String {
    let title = owner.title.as_deref().unwrap_or(NO_TITLE);
    match &owner.lease.resource {
        Resource::Conversation(_) => title.to_owned(),
        Resource::Account(_) => "account".to_owned(),
        Resource::Hold { name, .. } => format!("hold {name} on {title}"),
    }
}

/// Returns the session in which the conversation continues, or the account.
fn id(owner: &Owner) -> &str {
    match (&owner.lease.resource, &owner.session) {
        (Resource::Account(account), _) => account.as_str(),
        (_, Some(session)) => session.as_str(),
        (Resource::Conversation(root) | Resource::Hold { session: root, .. }, None) => root.as_str(),
    }
}

fn expiry(owner: &Owner, now: &Now) -> String {
    now.remaining(owner.lease.until).map_or_else(|| EXPIRED.to_owned(), |left| format!("in {left}"))
}

/// Returns the process, and where it is unless it runs on this machine.
fn process(owner: &Owner) -> String {
    let holder = &owner.lease.holder;
    match owner.presence {
        Presence::Running => holder.process.to_string(),
        Presence::Gone => format!("{} (gone)", holder.process),
        Presence::Unknown => {
            format!("{} on {}", holder.process, holder.host.chars().take(HOST_CHARACTERS).collect::<String>())
        }
    }
}
