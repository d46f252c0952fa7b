//! Compares what was acknowledged to each writer with the content of the file.

use crate::fixture::{File, all_messages};
use crate::peer::Peer;
use crate::process::{Acknowledged, text};
use crate::views::their_hits;
use hermes_session::Maintenance as _;
use hermes_sqlite::SqliteStore;

/// The sessions that every writer appends to, in turn. More than one, because the agent's search reads a whole session
/// for the context of each hit.
pub(crate) const SHARED: [&str; 4] = ["shared-0", "shared-1", "shared-2", "shared-3"];

/// Returns the session of a writer's `number`th append.
pub(crate) fn place(number: usize) -> &'static str {
    SHARED[number % SHARED.len()]
}

/// A writer of texts ([`text`]) into the shared sessions, and its acknowledged appends.
pub(crate) struct Writer {
    pub(crate) name: String,
    pub(crate) acknowledged: Vec<Acknowledged>,
    /// Whether it was killed. If so, one more message may exist whose acknowledgement it could not print any more.
    pub(crate) killed: bool,
}

impl Writer {
    pub(crate) fn new(name: impl Into<String>, acknowledged: Vec<Acknowledged>) -> Self {
        Self { name: name.into(), acknowledged, killed: false }
    }

    pub(crate) fn killed(name: impl Into<String>, acknowledged: Vec<Acknowledged>) -> Self {
        Self { killed: true, ..Self::new(name, acknowledged) }
    }
}

/// Checks that every acknowledged message exists exactly once and in its writer's order, that nothing else exists, that
/// the counter is the number of messages, and that each message is found by its words: by the agent's search, and by
/// MATCH in both indexes. Returns how many of each writer's messages were found.
pub(crate) async fn settle(file: &File, store: &SqliteStore, peer: &mut Peer, writers: &[Writer]) -> Vec<String> {
    // The backlog would be indexed in the background a moment later.
    while store.upkeep().await.unwrap() {}
    let mut stored = Vec::new();
    for session in SHARED {
        stored.extend(all_messages(store, session).await);
    }
    stored.sort_by_key(|message| message.id);
    let look = file.look();
    let count = |sql: &str, query: &str| -> i64 { look.query_row(sql, [query], |row| row.get(0)).unwrap() };
    let mut lines = Vec::new();
    let mut explained = 0;
    for Writer { name, acknowledged, killed } in writers {
        let own: Vec<Acknowledged> = stored
            .iter()
            .map(|message| Acknowledged {
                id: message.id.0,
                session: message.session_id.as_str().to_owned(),
                text: message.body.plain_text().into_owned(),
            })
            .filter(|append| append.text.starts_with(&format!("{name} ")))
            .collect();
        assert_eq!(own[..acknowledged.len().min(own.len())], acknowledged[..], "{name}");
        for (number, append) in own.iter().enumerate() {
            assert_eq!((append.session.as_str(), &append.text), (place(number), &text(name, number)));
        }
        let more = own.len() - acknowledged.len();
        assert!(more <= usize::from(*killed), "{more} messages of {name} that were not acknowledged");
        let ids: Vec<i64> = own.iter().map(|append| append.id).collect();
        assert_eq!(their_hits(peer, name), ids, "the agent's search for {name}");
        let words = count("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH ?", name);
        let trigrams = count(
            "SELECT count(*) FROM messages_fts_trigram WHERE messages_fts_trigram MATCH ?",
            &format!("\"{name} number\""),
        );
        // A compact trigram index leaves out messages that do not need it.
        let expect = if file.is_compact() { 0 } else { own.len() as i64 };
        assert_eq!((words, trigrams), (own.len() as i64, expect), "{name} in the indexes");
        if let Some(last) = own.len().checked_sub(1) {
            assert_eq!(their_hits(peer, &format!("{name}x{last}")), [own[last].id]);
        }
        lines.push(format!("{name} wrote {} found {}", acknowledged.len(), own.len()));
        explained += own.len();
    }
    assert_eq!(stored.len(), explained, "messages that nobody wrote");
    file.check();
    file.check_counters();
    lines
}
