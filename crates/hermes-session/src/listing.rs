//! Asking for many sessions at once: which, in what order, which page, and what comes back.

use crate::search::fold::fold;
use crate::{EndReason, Invalid, Relation, Scope, SessionId, Source, Tag, Timestamp, Usage};

/// What one row of a list stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// A conversation: its compressed chain as one row, delegates not shown.
    #[default]
    Conversations,
    /// Every session by itself.
    Sessions,
}

/// In what order rows come. Ties break by id, in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest activity first.
    #[default]
    Active,
    /// Newest start first.
    Started,
    /// Most messages first, as [`SessionSummary::messages`] counts them.
    Messages,
    /// Highest cost first, as [`Usage::cost`] tells it; what is unknown costs nothing.
    Cost,
    /// By id, smallest first: the order in which nothing is missed or repeated while others write.
    Id,
    /// Pinned conversations first, then the others; both by newest activity. In the view of sessions, the pin of a session's
    /// conversation counts.
    PinnedFirst,
}

impl Order {
    /// What a row is placed by: seconds, messages or dollars; nothing in the order by id.
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

/// Which sessions count. Of a conversation, each part is asked of what its row shows ([`SessionSummary`]).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionFilter {
    /// Only these sources; an empty list admits none.
    pub sources: Option<Vec<Source>>,
    /// None of these.
    pub exclude_sources: Vec<Source>,
    /// Only this user's.
    pub user_id: Option<String>,
    /// Only those active at this time or later.
    pub active_since: Option<Timestamp>,
    /// Only those not active at this time or later.
    pub active_before: Option<Timestamp>,
    /// Only those on this model.
    pub model: Option<String>,
    /// Only those with this in their titles, caseless and accents aside ([`fold`](crate::search::fold::fold)).
    pub title: Option<String>,
    /// Only the conversations that these sessions are part of; an empty list admits none.
    pub conversations: Option<Vec<SessionId>>,
    /// Only conversations within this scope, and their sessions.
    pub scope: Scope,
    /// Only conversations that are pinned, or only those that are not.
    pub pinned: Option<bool>,
    /// Only conversations that have all of these tags.
    pub tags: Vec<Tag>,
}

impl SessionFilter {
    /// Whether a row is meant, as far as it tells: its conversation has to be one of [`SessionFilter::conversations`] and within the scope
    /// besides.
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

    /// Returns whether the filter asks for pins or tags.
    pub const fn asks_for_pins_or_tags(&self) -> bool {
        self.pinned.is_some() || !self.tags.is_empty()
    }

    /// Whether it asks for a model or a title, which a conversation has from its tip.
    pub const fn asks_of_tip(&self) -> bool {
        self.model.is_some() || self.title.is_some()
    }

    /// Whether a row with this model and this title is meant, the rest aside.
    pub fn admits_tip(&self, model: Option<&str>, title: Option<&str>) -> bool {
        let has = |piece: &str| title.is_some_and(|title| fold(title).contains(fold(piece).as_ref()));
        self.model.as_deref().is_none_or(|asked| model == Some(asked)) && self.title.as_deref().is_none_or(has)
    }
}

/// The largest page.
pub const MAX_PAGE: u32 = 10_000;

/// How many rows, and how many to pass over first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    limit: u32,
    offset: u64,
}

impl PageRequest {
    /// The first `limit` rows; at most [`MAX_PAGE`] come in one page.
    pub fn first(limit: u32) -> Self {
        Self { limit: limit.min(MAX_PAGE), offset: 0 }
    }

    /// Takes numbers from outside; negative ones are refused.
    pub fn new(limit: i64, offset: i64) -> Result<Self, Invalid> {
        let natural = |what, number: i64| {
            u64::try_from(number).map_err(|_| Invalid::new(what, format!("{number} is negative"), "give 0 or more"))
        };
        let limit = natural("limit", limit)?.min(u64::from(MAX_PAGE)) as u32;
        Ok(Self { limit, offset: natural("offset", offset)? })
    }

    /// How many rows at most.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// How many rows to pass over.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the rest of this page after `passed` rows of its offset and `taken` of its rows.
    pub const fn rest(&self, passed: u64, taken: u32) -> Self {
        Self { limit: self.limit.saturating_sub(taken), offset: self.offset.saturating_sub(passed) }
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self::first(20)
    }
}

/// The place of a row in a list; the next page starts after it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListCursor {
    /// What the list is ordered by ([`Order::key`]), of the last row seen.
    pub key: f64,
    /// The id of the last row seen (in the view of conversations: [`SessionSummary::conversation`]).
    pub id: SessionId,
    /// Whether the last row seen is pinned. Counts in [`Order::PinnedFirst`] only, and is `false` in every other order.
    pub is_pinned: bool,
}

impl ListCursor {
    /// Returns the place of a row with this key and this id that is not pinned.
    pub const fn new(key: f64, id: SessionId) -> Self {
        Self { key, id, is_pinned: false }
    }
}

/// A question for a list of sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListRequest {
    /// What a row stands for.
    pub view: View,
    /// Which sessions.
    pub filter: SessionFilter,
    /// In what order.
    pub order: Order,
    /// How many.
    pub page: PageRequest,
    /// Where the page before ended.
    pub after: Option<ListCursor>,
}

impl ListRequest {
    /// Splits a list in [`Order::PinnedFirst`] into the pinned rows and the others, each in [`Order::Active`].
    ///
    /// A part is `None` if the filter or the cursor leaves it out. Both have the page of the whole list.
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
/// For a conversation, `id`, `title`, `ended_at`, `end_reason`, `model` and the counts of messages and tool calls
/// are its tip's; `source`, `user_id`, `parent_session_id`, `relation` and `started_at` its first session's; `preview`
/// the first session's or, if that has none, the tip's; `last_active` is the newest and `usage` the sum over all
/// its sessions, delegates included.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// The session; for a conversation its tip.
    pub id: SessionId,
    /// The session that the conversation starts with.
    pub conversation: SessionId,
    /// How many sessions the row stands for, delegates included; 1 in the view of sessions.
    pub segments: u64,
    /// Where it comes from.
    pub source: Source,
    /// Whose it is.
    pub user_id: Option<String>,
    /// The model it runs on.
    pub model: Option<String>,
    /// The session it comes from.
    pub parent_session_id: Option<SessionId>,
    /// What it is to that session.
    pub relation: Relation,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// The counter of messages of the session it stands at, as stored: an agent may count messages there that it compacted or undid.
    pub message_count: i64,
    /// The counter of tool calls of that session, as stored.
    pub tool_call_count: i64,
    /// How many messages are in the transcripts of the sessions that the row stands for. Compacted and undone ones do not count.
    pub messages: i64,
    /// How many tool calls those sessions count together.
    pub tool_calls: i64,
    /// What was used by the sessions that the row stands for.
    pub usage: Usage,
    /// Its title.
    pub title: Option<String>,
    /// The time of the newest message, or the start if that is later or there is none.
    pub last_active: Timestamp,
    /// The start of the first thing the person said that is not blank; empty if there is none.
    pub preview: String,
    /// When its conversation was pinned; nothing if it is not.
    pub pinned_at: Option<Timestamp>,
    /// The tags of its conversation, in the order of their bytes.
    pub tags: Vec<Tag>,
}

/// A row that is there but can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its table.
    pub table: &'static str,
    /// Its id as far as it can be told.
    pub id: String,
    /// What is wrong with it.
    pub why: String,
}

/// A page of a list. A row that can't be read is told apart and hides no other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// The rows.
    pub rows: Vec<SessionSummary>,
    /// The rows that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Where the next page starts; nothing after the last one.
    pub next: Option<ListCursor>,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Conversations: what a list without limit would show.
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
            (model("Big"), false),
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
