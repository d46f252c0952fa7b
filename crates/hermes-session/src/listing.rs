//! Lists of sessions: filter, order, page, and result.

mod recorded;

pub use recorded::{Field, Recorded};

use crate::search::fold;
use crate::{EndReason, Invalid, Relation, Scope, SessionId, Source, Tag, Timestamp, Usage};

/// Unit of a row in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// A conversation: its compressed chain is one row; delegates are not shown.
    #[default]
    Conversations,
    /// A single session.
    Sessions,
}

/// Order of rows. Ties break by id, in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest activity first.
    #[default]
    Active,
    /// Newest start first.
    Started,
    /// Most messages first, as [`SessionSummary::messages`] counts them.
    Messages,
    /// Highest cost first, as computed by [`Usage::cost`]; an unknown cost counts as zero.
    Cost,
    /// By id, ascending: in this order no row is missed or repeated while others write.
    Id,
    /// Pinned conversations first, then the others; both by newest activity. In the view of sessions, the pin of the
    /// session's conversation counts.
    PinnedFirst,
}

impl Order {
    /// Returns the sort key of a row: seconds, messages or dollars; 0 in the order by id.
    pub fn key(self, row: &SessionSummary) -> f64 {
        match self {
            Self::Active | Self::PinnedFirst => row.last_active.seconds(),
            Self::Started => row.started_at.seconds(),
            Self::Messages => row.messages as f64,
            Self::Cost => row.usage.cost().filter(|cost| cost.is_finite()).unwrap_or(0.0),
            Self::Id => 0.0,
        }
    }
}

/// Selects conversations by whether they are archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Archived {
    /// In the view of conversations only those that are not archived, in the view of sessions all.
    #[default]
    Unlisted,
    /// All conversations.
    Included,
    /// Only archived conversations, and their sessions.
    Only,
}

impl Archived {
    /// Returns whether a row is shown in a view.
    pub const fn admits(self, view: View, is_archived: bool) -> bool {
        match (self, view) {
            (Self::Unlisted, View::Conversations) => !is_archived,
            (Self::Only, _) => is_archived,
            (Self::Unlisted, View::Sessions) | (Self::Included, _) => true,
        }
    }
}

/// Filter for sessions. In the view of conversations each condition applies to the values of the row
/// ([`SessionSummary`]).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionFilter {
    /// Only these sources; an empty list matches nothing.
    pub sources: Option<Vec<Source>>,
    /// None of these sources.
    pub exclude_sources: Vec<Source>,
    /// Only sessions of this user.
    pub user_id: Option<String>,
    /// Only sessions last active at or after this time.
    pub active_since: Option<Timestamp>,
    /// Only sessions last active before this time.
    pub active_before: Option<Timestamp>,
    /// Only sessions with this text in the name of their model, ignoring case and accents.
    pub model: Option<String>,
    /// Only sessions with this text in their title, ignoring case and accents ([`fold::contains`]).
    pub title: Option<String>,
    /// Only the conversations of these sessions; an empty list matches nothing.
    pub conversations: Option<Vec<SessionId>>,
    /// Only conversations within this scope, and their sessions.
    pub scope: Scope,
    /// Only conversations that are pinned, or only those that are not.
    pub pinned: Option<bool>,
    /// Only conversations that have all of these tags.
    pub tags: Vec<Tag>,
    /// Which conversations are admitted by whether they are archived.
    pub archived: Archived,
    /// Only sessions whose value of this column of newer agents matches.
    pub recorded: Vec<Recorded>,
}

impl SessionFilter {
    /// Returns whether a row matches, as far as the row can tell. The caller also checks that its conversation is one
    /// of [`SessionFilter::conversations`] and within the scope.
    pub fn admits(&self, row: &SessionSummary) -> bool {
        self.sources.as_ref().is_none_or(|sources| sources.contains(&row.source))
            && !self.exclude_sources.contains(&row.source)
            && self.user_id.as_deref().is_none_or(|user| row.user_id.as_deref() == Some(user))
            && self.active_since.is_none_or(|since| row.last_active >= since)
            && self.active_before.is_none_or(|before| row.last_active < before)
            && self.pinned.is_none_or(|pinned| row.pinned_at.is_some() == pinned)
            && self.tags.iter().all(|tag| row.tags.contains(tag))
            && self.admits_tip(row.model.as_deref(), row.title.as_deref())
    }

    /// Returns whether the filter has a condition on pins or tags.
    pub const fn asks_for_pins_or_tags(&self) -> bool {
        self.pinned.is_some() || !self.tags.is_empty()
    }

    /// Returns whether the filter has a condition on model or title, which a conversation takes from its tip.
    pub const fn asks_of_tip(&self) -> bool {
        self.model.is_some() || self.title.is_some()
    }

    /// Returns whether a row with this model and title passes these two conditions.
    pub fn admits_tip(&self, model: Option<&str>, title: Option<&str>) -> bool {
        let has = |text: Option<&str>, piece: &str| text.is_some_and(|text| fold::contains(text, piece));
        self.model.as_deref().is_none_or(|piece| has(model, piece))
            && self.title.as_deref().is_none_or(|piece| has(title, piece))
    }
}

/// Maximum number of rows in a page.
pub const MAX_PAGE: u32 = 10_000;

/// Number of rows, and number of rows to skip first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    limit: u32,
    offset: u64,
}

impl PageRequest {
    /// Requests the first `limit` rows; a page has at most [`MAX_PAGE`].
    pub fn first(limit: u32) -> Self {
        Self { limit: limit.min(MAX_PAGE), offset: 0 }
    }

    /// Validates numbers from outside. Negative ones are rejected.
    pub fn new(limit: i64, offset: i64) -> Result<Self, Invalid> {
        let natural = |what, number: i64| {
            u64::try_from(number).map_err(|_| Invalid::new(what, format!("{number} is negative"), "give 0 or more"))
        };
        let limit = natural("limit", limit)?.min(u64::from(MAX_PAGE)) as u32;
        Ok(Self { limit, offset: natural("offset", offset)? })
    }

    /// Returns the maximum number of rows.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns the number of rows to skip.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the rest of this page after `passed` skipped rows and `taken` returned rows.
    pub const fn rest(&self, passed: u64, taken: u32) -> Self {
        Self { limit: self.limit.saturating_sub(taken), offset: self.offset.saturating_sub(passed) }
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self::first(20)
    }
}

/// Cursor: the position of a row in a list. The next page starts after it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListCursor {
    /// Sort key of the last row seen ([`Order::key`]).
    pub key: f64,
    /// The id of the last row seen (in the view of conversations: [`SessionSummary::conversation`]).
    pub id: SessionId,
    /// Whether the last row seen is pinned. Counts in [`Order::PinnedFirst`] only, and is `false` in every other order.
    pub is_pinned: bool,
}

impl ListCursor {
    /// Returns the cursor of an unpinned row with this key and id.
    pub const fn new(key: f64, id: SessionId) -> Self {
        Self { key, id, is_pinned: false }
    }
}

/// Request for a list of sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListRequest {
    /// Unit of a row.
    pub view: View,
    /// Filter.
    pub filter: SessionFilter,
    /// Order of the rows.
    pub order: Order,
    /// Size and offset of the page.
    pub page: PageRequest,
    /// Cursor at the end of the previous page.
    pub after: Option<ListCursor>,
}

impl ListRequest {
    /// Splits a list in [`Order::PinnedFirst`] into the pinned rows and the others, each in [`Order::Active`].
    /// A part is `None` if the filter or the cursor excludes it. Both parts have the page of the whole list.
    pub fn pinned_parts(&self) -> [Option<Self>; 2] {
        [true, false].map(|is_pinned| {
            let is_behind = self.after.as_ref().is_some_and(|after| !after.is_pinned);
            if self.filter.pinned == Some(!is_pinned) || (is_pinned && is_behind) {
                return None;
            }
            Some(Self {
                order: Order::Active,
                filter: SessionFilter { pinned: Some(is_pinned), ..self.filter.clone() },
                after: self.after.clone().filter(|after| after.is_pinned == is_pinned),
                ..self.clone()
            })
        })
    }
}

/// A row of a list: a session or a conversation, without its system prompt.
///
/// For a conversation, `id`, `title`, `ended_at`, `end_reason`, `model` and the counts of messages and tool calls are
/// those of its tip; `source`, `user_id`, `parent_session_id`, `relation` and `started_at` those of its first session;
/// `preview` that of the first session or, if that has none, of the tip. `last_active` is the latest and `usage` the
/// sum over all its sessions, delegates included.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// The session; for a conversation its tip.
    pub id: SessionId,
    /// First session of the conversation.
    pub conversation: SessionId,
    /// Number of sessions in the row, delegates included; 1 in the view of sessions.
    pub segments: u64,
    /// Source.
    pub source: Source,
    /// User.
    pub user_id: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Parent session.
    pub parent_session_id: Option<SessionId>,
    /// Relation to the parent.
    pub relation: Relation,
    /// Start time.
    pub started_at: Timestamp,
    /// End time.
    pub ended_at: Option<Timestamp>,
    /// End reason.
    pub end_reason: Option<EndReason>,
    /// Stored message counter of the session `id`. An agent may include messages that it compacted or undid.
    pub message_count: i64,
    /// Stored tool call counter of the session `id`.
    pub tool_call_count: i64,
    /// Number of messages in the transcripts of all sessions of the row. Compacted and undone messages do not count.
    pub messages: i64,
    /// Sum of the tool call counters of all sessions of the row.
    pub tool_calls: i64,
    /// Usage of all sessions of the row.
    pub usage: Usage,
    /// Title.
    pub title: Option<String>,
    /// Time of the newest message; the start if that is later or there is no message.
    pub last_active: Timestamp,
    /// Beginning of the first user message that is not blank; empty if there is none.
    pub preview: String,
    /// Time when its conversation was pinned; `None` if it is not.
    pub pinned_at: Option<Timestamp>,
    /// Tags of its conversation, sorted by their bytes.
    pub tags: Vec<Tag>,
    /// Whether its conversation is archived: its first session is.
    pub is_archived: bool,
}

/// A row that exists but can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its table.
    pub table: &'static str,
    /// Its id, as far as it can be read.
    pub id: String,
    /// Reason.
    pub why: String,
}

/// A page of a list. A row that can't be read is reported separately and hides no other row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// The rows.
    pub rows: Vec<SessionSummary>,
    /// The rows that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Cursor for the next page; `None` after the last one.
    pub next: Option<ListCursor>,
}

/// Totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Conversations, as many as a list without a limit would show.
    pub conversations: u64,
    /// Sessions.
    pub sessions: u64,
    /// Messages in those sessions.
    pub messages: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_are_refused() {
        assert_eq!(PageRequest::new(-1, 0).unwrap_err().to_string(), "limit -1 is negative");
        assert_eq!(PageRequest::new(0, -7).unwrap_err().to_string(), "offset -7 is negative");
        assert_eq!(PageRequest::new(i64::MAX, 0).unwrap().limit(), MAX_PAGE);
    }

    fn row() -> SessionSummary {
        let at = |seconds| Timestamp::from_seconds(seconds).unwrap();
        let (id, at_pin) = (SessionId::parse("s").unwrap(), Some(at(9.0)));
        SessionSummary {
            id: id.clone(),
            conversation: id,
            segments: 1,
            source: Source::parse("cli").unwrap(),
            user_id: Some("u".into()),
            model: Some("big".into()),
            parent_session_id: None,
            relation: Relation::Root,
            started_at: at(2.0),
            ended_at: None,
            end_reason: None,
            message_count: 7,
            messages: 7,
            tool_calls: 0,
            tool_call_count: 0,
            usage: Usage { estimated_cost_usd: Some(0.5), ..Usage::default() },
            title: Some("Großes Café".into()),
            last_active: at(5.0),
            preview: String::new(),
            pinned_at: at_pin,
            tags: vec![Tag::from_stored("home"), Tag::from_stored("work")],
            is_archived: false,
        }
    }

    #[test]
    fn a_filter_asks_for_what_a_row_shows() {
        let at = Some(row().last_active);
        let plain = SessionFilter::default;
        let model = |text: &str| SessionFilter { model: Some(text.into()), ..plain() };
        let tags = |texts: &[&str]| SessionFilter {
            tags: texts.iter().map(|text| Tag::from_stored(*text)).collect(),
            ..plain()
        };
        let title = |text: &str| SessionFilter { title: Some(text.into()), ..plain() };
        let table = [
            (plain(), true),
            (SessionFilter { sources: Some(vec![]), ..plain() }, false),
            (SessionFilter { exclude_sources: vec![row().source], ..plain() }, false),
            (SessionFilter { user_id: Some("U".into()), ..plain() }, false),
            (SessionFilter { active_before: at, ..plain() }, false),
            (SessionFilter { active_since: at, ..plain() }, true),
            (model("big"), true),
            (model("BI"), true),
            (model(""), true),
            (model("bigger"), false),
            (model("b%g"), false),
            (model("b_g"), false),
            (title("GROSSES CAFE"), true),
            (title("e\u{301}"), true),
            (title(""), true),
            (title("tea"), false),
            (SessionFilter { pinned: Some(true), ..plain() }, true),
            (SessionFilter { pinned: Some(false), ..plain() }, false),
            (tags(&["work", "home"]), true),
            (tags(&["work", "Work"]), false),
        ];
        for (filter, expect) in table {
            assert_eq!(filter.admits(&row()), expect, "{filter:?}");
        }
        let untitled = SessionSummary { title: None, model: None, ..row() };
        assert!(!title("").admits(&untitled) && !model("").admits(&untitled));
    }

    #[test]
    fn each_order_has_its_key() {
        let orders = [Order::Active, Order::Started, Order::Messages, Order::Cost, Order::Id, Order::PinnedFirst];
        assert_eq!(orders.map(|order| order.key(&row())), [5.0, 2.0, 7.0, 0.5, 0.0, 5.0]);
        let odd = Usage { estimated_cost_usd: Some(f64::NAN), ..Usage::default() };
        assert_eq!(Order::Cost.key(&SessionSummary { usage: odd, ..row() }), 0.0);
    }

    #[test]
    fn pinned_rows_are_a_part_of_their_own() {
        let cursor = |is_pinned| Some(ListCursor { is_pinned, ..ListCursor::new(5.0, row().id) });
        let parts = |pinned, after: Option<ListCursor>| {
            let filter = SessionFilter { pinned, ..SessionFilter::default() };
            let request = ListRequest { order: Order::PinnedFirst, filter, after, ..ListRequest::default() };
            request.pinned_parts().map(|part| part.map(|part| (part.filter.pinned, part.order, part.after)))
        };
        let part = |is_pinned, after| Some((Some(is_pinned), Order::Active, after));
        assert_eq!(parts(None, None), [part(true, None), part(false, None)]);
        assert_eq!(parts(None, cursor(true)), [part(true, cursor(true)), part(false, None)]);
        assert_eq!(parts(None, cursor(false)), [None, part(false, cursor(false))]);
        assert_eq!(parts(Some(true), None), [part(true, None), None]);
        assert_eq!(parts(Some(false), cursor(true)), [None, part(false, None)]);
    }
}
