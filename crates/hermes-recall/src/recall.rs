//! The recall search: conversations about a topic, each with the passage around its matches.

use crate::conversation::{Conversation, conversations, known_to};
use crate::request::{RecallRequest, left_out};
use crate::summary::{Summarised, Summarising, summaries};
use crate::transcript;
use crate::window::Window;
use hermes_session::search::matching::Matcher;
use hermes_session::search::{Hit, Query, SearchFilter, SearchRequest, Served, Way, relax};
use hermes_session::{
    ConversationStore, ListRequest, MessageId, PageRequest, Role, Scope, SessionFilter, SessionId, SessionSummary,
    StoreError, Timestamp,
};
use std::ops::Range;

/// Number of hits that are read before the search is repeated for other conversations.
const HITS: u32 = 60;
/// Maximum number of matches shown per conversation.
const MATCHES: usize = 20;
/// Minimum characters of budget per match; a small window shows fewer matches.
const MATCH: usize = 200;

/// The answer to a recall request.
#[derive(Debug, Clone, PartialEq)]
pub enum Recall {
    /// The query was blank: the most recently active conversations.
    Recent(Vec<SessionSummary>),
    /// The conversations that match, best first.
    Found {
        /// The conversations.
        results: Vec<Recalled>,
        /// How the answer was found.
        served: Answered,
    },
}

/// How an answer was found, as far as the scope allows reporting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// By index, or by scanning messages.
    pub way: Way,
    /// Whether nothing matched the whole query, and the matches have some of its words.
    pub is_relaxed: bool,
    /// Whether time ran out before the search was complete.
    pub is_partial: bool,
    /// Number of messages that were not indexed yet. It covers messages of everybody, so it is `None` within a limited
    /// scope.
    pub unindexed: Option<u64>,
}

impl Answered {
    fn new(served: Served, scope: &Scope) -> Self {
        let Served { way, is_relaxed, is_partial, unindexed, .. } = served;
        Self { way, is_relaxed, is_partial, unindexed: (!scope.is_bounded()).then_some(unindexed) }
    }
}

/// A conversation that matched.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The conversation.
    pub conversation: Conversation,
    /// The matches, best first.
    pub matches: Vec<Match>,
    /// The part of the conversation around the matches.
    pub window: Window,
    /// The summary by a model, if one was requested.
    pub summary: Summarised,
}

impl Recalled {
    /// Returns the answer: the summary, or else the window.
    pub fn text(&self) -> &str {
        match &self.summary {
            Summarised::Yes(text) => text,
            Summarised::No | Summarised::Failed(_) => &self.window.text,
        }
    }
}

/// A matching message.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The message.
    pub message: MessageId,
    /// Its session.
    pub session: SessionId,
    /// The role of its author.
    pub role: Role,
    /// When it was said.
    pub said_at: Timestamp,
    /// The passage with the match, with delimiters around matches.
    pub snippet: String,
}

/// Searches the conversations within a scope.
///
/// Hits are grouped by conversation. The best `limit` conversations are returned, each with the part around its
/// matches. The conversation of [`RecallRequest::current`] and those it originates from are left out if they are within
/// the scope, and so are [`HIDDEN`](crate::HIDDEN) sources. Nothing outside the scope is read.
///
/// # Errors
/// If the store fails. An empty result is not an error.
pub async fn session_search(
    store: &dyn ConversationStore,
    scope: &Scope,
    request: &RecallRequest,
    summarising: Option<Summarising<'_>>,
) -> Result<Recall, StoreError> {
    let known = match &request.current {
        Some(current) => known_to(store, scope, current).await?,
        None => Vec::new(),
    };
    let query = Query::parse(&request.query);
    if query.is_empty() {
        return recent(store, scope, request, &known).await.map(Recall::Recent);
    }
    let Found { conversations, served } = found(store, scope, request, &query, known).await?;
    let words = if served.is_relaxed { relax::words(&query) } else { Vec::new() };
    let matcher = Matcher::new(&query);
    let marks = |text: &str| -> Vec<Range<usize>> {
        if served.is_relaxed { relax::marks(text, &words) } else { matcher.marks(text) }
    };
    let budget = request.characters();
    let mut results = Vec::with_capacity(conversations.len());
    for (conversation, hits) in conversations {
        let places: Vec<(SessionId, MessageId)> = hits.iter().map(|hit| (hit.session.clone(), hit.message)).collect();
        let read = transcript::read(store, &conversation, &places, budget).await?;
        let window = Window::new(&read, budget, marks);
        let matches = hits.into_iter().map(Match::from).collect();
        results.push(Recalled { conversation, matches, window, summary: Summarised::No });
    }
    let windows: Vec<(&Conversation, &Window)> =
        results.iter().map(|result| (&result.conversation, &result.window)).collect();
    let summaries = summaries(summarising, &request.query, &windows).await;
    for (result, summary) in results.iter_mut().zip(summaries) {
        result.summary = summary;
    }
    Ok(Recall::Found { results, served: Answered::new(served, scope) })
}

impl From<Hit> for Match {
    fn from(hit: Hit) -> Self {
        let Hit { message, session, role, said_at, snippet, .. } = hit;
        Self { message, session, role, said_at, snippet }
    }
}

/// Conversations with their hits.
struct Found {
    conversations: Vec<(Conversation, Vec<Hit>)>,
    served: Served,
}

/// Searches until there are enough conversations. One with many hits does not crowd out others: the search is repeated
/// without it.
async fn found(
    store: &dyn ConversationStore,
    scope: &Scope,
    request: &RecallRequest,
    query: &Query,
    mut known: Vec<SessionId>,
) -> Result<Found, StoreError> {
    let limit = request.conversations();
    let most = (request.characters() / MATCH).min(MATCHES);
    let mut conversations_found: Vec<(Conversation, Vec<Hit>)> = Vec::new();
    let mut served: Option<Served> = None;
    loop {
        let filter = SearchFilter {
            exclude_sources: left_out(request.filter.sources.as_deref(), &request.filter.exclude_sources),
            exclude_sessions: request.filter.exclude_sessions.iter().chain(&known).cloned().collect(),
            scope: scope.clone(),
            ..request.filter.clone()
        };
        let search = SearchRequest {
            filter,
            page: PageRequest::first(HITS),
            // If the first search matched the whole query, partial matches are not added to it.
            relax: served.is_none_or(|served: Served| served.is_relaxed),
            with_neighbours: false,
            timeout: request.timeout,
            ..SearchRequest::new(query.clone())
        };
        let answer = store.search(&search).await?;
        let so_far = served.get_or_insert(answer.served);
        so_far.is_partial |= answer.served.is_partial;
        let mut groups: Vec<(SessionId, Vec<Hit>)> = Vec::new();
        for hit in answer.hits {
            match groups.iter_mut().find(|(conversation, _)| *conversation == hit.conversation) {
                Some((_, hits)) if hits.len() >= most => {}
                Some((_, hits)) => hits.push(hit),
                None => groups.push((hit.conversation.clone(), vec![hit])),
            }
        }
        groups.truncate(limit - conversations_found.len());
        let asked: Vec<SessionId> = groups.iter().map(|(_, hits)| hits[0].session.clone()).collect();
        let is_any = !asked.is_empty();
        let mut there = if is_any { conversations(store, scope, asked).await? } else { Vec::new() };
        for (_, mut hits) in groups {
            let is_its = |one: &Conversation| one.members().any(|session| session.id == hits[0].session);
            if let Some(place) = there.iter().position(is_its) {
                let conversation = there.swap_remove(place);
                known.extend(conversation.members().map(|session| session.id.clone()));
                if hits.len() < most && answer.next.is_some() && !so_far.is_partial {
                    // Hits of other conversations may have left no room on the page for more hits of this one.
                    let all = store.search(&within(&search, &conversation, most, so_far.is_relaxed)).await?;
                    so_far.is_partial |= all.served.is_partial;
                    hits = if all.hits.len() > hits.len() { all.hits } else { hits };
                }
                conversations_found.push((conversation, hits));
            } else {
                // It was deleted meanwhile.
                known.push(hits[0].session.clone());
            }
        }
        let is_enough = conversations_found.len() >= limit || answer.next.is_none() || !is_any;
        if is_enough || so_far.is_partial {
            return Ok(Found { conversations: conversations_found, served: *so_far });
        }
    }
}

/// Returns the same search, limited to the sessions of one conversation.
fn within(search: &SearchRequest, conversation: &Conversation, most: usize, relax: bool) -> SearchRequest {
    let is_asked = |id: &SessionId| search.filter.sessions.as_ref().is_none_or(|asked| asked.contains(id));
    let members = conversation.members().map(|session| session.id.clone()).filter(is_asked).collect();
    let filter = SearchFilter { sessions: Some(members), ..search.filter.clone() };
    SearchRequest { filter, page: PageRequest::first(most as u32), relax, ..search.clone() }
}

/// Returns the most recently active conversations, without those that have no messages.
async fn recent(
    store: &dyn ConversationStore,
    scope: &Scope,
    request: &RecallRequest,
    known: &[SessionId],
) -> Result<Vec<SessionSummary>, StoreError> {
    let limit = request.conversations();
    let filter = SessionFilter {
        sources: request.filter.sources.clone(),
        exclude_sources: left_out(request.filter.sources.as_deref(), &request.filter.exclude_sources),
        user_id: request.filter.user_id.clone(),
        active_since: request.filter.since,
        active_before: request.filter.before,
        model: request.filter.model.clone(),
        title: request.filter.title.clone(),
        conversations: request.filter.sessions.clone(),
        scope: scope.clone(),
        ..SessionFilter::default()
    };
    let page = PageRequest::first(2 * limit as u32 + 10);
    let mut ask = ListRequest { filter, page, ..ListRequest::default() };
    let mut rows = Vec::new();
    loop {
        let listing = store.list(&ask).await?;
        let is_meant = |row: &SessionSummary| {
            !known.contains(&row.id)
                && !known.contains(&row.conversation)
                && (row.message_count > 0 || row.segments > 1)
        };
        rows.extend(listing.rows.into_iter().filter(is_meant));
        if rows.len() >= limit || listing.next.is_none() {
            rows.truncate(limit);
            return Ok(rows);
        }
        ask.after = listing.next;
    }
}
