//! Answers to searches.

use hermes_session::search::matching::Tier;
use hermes_session::search::{self, Way};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of a search. If nothing is found, the object is printed all the same and the exit code is 1; if time ran
/// out before anything was found, it is 3.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchAnswer<'a> {
    /// The query as it was typed, its words joined by blanks.
    pub query: &'a str,
    /// How the answer was found.
    pub served: Served,
    /// The hits, in the order of the search: all of the page, however many are from one conversation.
    pub hits: Vec<Hit<'a>>,
    /// The `--offset` of the next page; `null` if this is the last one, or was requested with `--after`.
    pub next_offset: Option<u64>,
    /// The `--after` of the next page of the same search; `null` if this is the last one. Pages that are requested with
    /// it neither skip nor repeat a hit while others write.
    pub next: Option<&'a str>,
}

/// How an answer was found.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Served {
    /// `index`, or `scan` where messages had to be scanned.
    pub way: &'static str,
    /// Whether nothing matched the whole query, and the hits have some of its words; never with `--exact`.
    pub relaxed: bool,
    /// Whether time ran out, so that there may be more hits.
    pub partial: bool,
    /// How many messages were not indexed yet; they were scanned.
    pub unindexed: u64,
}

impl Served {
    /// Returns the word for a way.
    pub const fn way(way: Way) -> &'static str {
        match way {
            Way::Index => "index",
            Way::Scan => "scan",
        }
    }
}

impl From<&search::Served> for Served {
    fn from(served: &search::Served) -> Self {
        Self {
            way: Self::way(served.way),
            relaxed: served.is_relaxed,
            partial: served.is_partial,
            unindexed: served.unindexed,
        }
    }
}

/// A message that was found. The snippet has no delimiters around matches: a `>>>` in the message could not be
/// distinguished from them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hit<'a> {
    /// The message.
    pub id: i64,
    /// Its session.
    pub session_id: &'a str,
    /// The session in which the conversation continues today; `list` names the conversation by it.
    pub conversation_id: &'a str,
    /// The role of its author.
    pub role: &'a str,
    /// When it was written.
    pub timestamp: f64,
    /// The tool, if it is a result of one.
    pub tool_name: Option<&'a str>,
    /// The source of the session.
    pub source: &'a str,
    /// The model.
    pub model: Option<&'a str>,
    /// The title of the conversation, or else of the session.
    pub title: Option<&'a str>,
    /// When the session started.
    pub started_at: f64,
    /// `words` if whole words matched, else `pieces` (parts of words).
    pub tier: &'static str,
    /// The score, to be compared within this answer only.
    pub score: f64,
    /// The passage with the match, with `…` where text was left out.
    pub snippet: String,
    /// The matches in the snippet: `[start, end]` in characters (code points) from 0.
    pub marks: Vec<[usize; 2]>,
    /// The message before it in its session.
    pub before: Option<Neighbour<'a>>,
    /// The message after it in its session.
    pub after: Option<Neighbour<'a>>,
    /// Whether its conversation is archived.
    pub archived: bool,
}

/// A message beside a hit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Neighbour<'a> {
    /// The role of its author.
    pub role: &'a str,
    /// The beginning of its text.
    pub text: &'a str,
}

impl<'a> Hit<'a> {
    /// Returns a hit with the text of its snippet and the matches in it, in characters.
    pub fn new(hit: &'a search::Hit, snippet: String, marks: Vec<[usize; 2]>) -> Self {
        let neighbour = |one: &'a search::Neighbour| Neighbour { role: one.role.as_str(), text: &one.text };
        let tier = match hit.tier {
            Tier::Words => "words",
            Tier::Pieces => "pieces",
        };
        Self {
            id: hit.message.0,
            session_id: hit.session.as_str(),
            conversation_id: hit.conversation.as_str(),
            role: hit.role.as_str(),
            timestamp: hit.said_at.seconds(),
            tool_name: hit.tool_name.as_deref(),
            source: hit.source.as_str(),
            model: hit.model.as_deref(),
            title: hit.title.as_deref(),
            started_at: hit.started_at.seconds(),
            tier,
            score: hit.score,
            snippet,
            marks,
            before: hit.before.as_ref().map(neighbour),
            after: hit.after.as_ref().map(neighbour),
            archived: hit.is_archived,
        }
    }
}
