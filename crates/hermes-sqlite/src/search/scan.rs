//! Reads messages that no index covers, and notes which of them match.
//!
//! A scan of a whole file goes from the newest message to the oldest and stops when a page is full. It is read by several
//! threads, because one needs longer than a person likes to wait: half of its time is SQLite copying pages.

use super::length::tokens;
use super::rows::columns;
use crate::error::Failure;
use crate::index::vocabulary;
use crate::open::connection;
use crate::write::database::Database;
use hermes_search::engine::optional_terms;
use hermes_search::sieve::Sieve;
use hermes_session::search::fold::{fold, fold_with};
use hermes_session::search::matching::{Matcher, Scratch, Tier};
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::relax::{Prepared, Word};
use hermes_session::search_text::{self, Columns};
use hermes_sql::stored;
use rusqlite::Connection;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Maximum number of threads that read one file at the same time.
const MAX_THREADS: usize = 4;
/// Number of ids that are read before other threads are asked to help. They often fill a page.
const ALONE: i64 = 512;
/// Number of ids that a thread reads at once, at least.
const CHUNK: i64 = 1_024;
/// Maximum number of chunks of a file, however far apart its ids are.
const MAX_CHUNKS: i64 = 4_096;

/// A query and its words, prepared for many messages.
pub(super) struct Sought {
    matcher: Matcher,
    sieve: Sieve,
    /// The alternatives of the query, at most 64.
    choices: Vec<Matcher>,
    /// The words of the relaxed query, if they are asked for.
    words: Option<(Prepared, Sieve)>,
}

/// A message that matches, or has words of the relaxed query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) id: i64,
    /// How it matches the query; `None` if it only has words.
    pub(super) tier: Option<Tier>,
    /// If it matches in whole words, the alternatives that it has so, one bit each; if it does not match, the words.
    pub(super) bits: u64,
    /// The number of its tokens, as the index stores it once the message is indexed.
    pub(super) length: u32,
}

impl Sought {
    /// Prepares a query, and the words of its relaxed form.
    pub(super) fn new(query: &Query, words: &[Word]) -> Self {
        let choice = |term: &Term| Matcher::of(&Node::Term(term.clone()));
        Self {
            matcher: Matcher::new(query),
            sieve: Sieve::of_query(query),
            choices: optional_terms(query).into_iter().take(64).map(choice).collect(),
            words: (!words.is_empty()).then(|| (Prepared::new(words), Sieve::of_words(words))),
        }
    }

    /// Compares a message, given as its content, tool name and tool calls. Returns `None` if it neither matches nor has
    /// words.
    fn look(&self, id: i64, columns: &[Option<Cow<'_, str>>; 3], buffers: &mut Buffers) -> Option<Seen> {
        let (tier, bits) = self.compare(columns, self.words.as_ref(), buffers);
        if tier.is_none() && bits == 0 {
            return None;
        }
        let length = columns.iter().flatten().map(|text| tokens(text)).fold(0, u32::saturating_add);
        Some(Seen { id, tier, bits, length: length.min(vocabulary::MAX_LENGTH) })
    }

    fn compare(
        &self,
        [content, tool, calls]: &[Option<Cow<'_, str>>; 3],
        words: Option<&(Prepared, Sieve)>,
        buffers: &mut Buffers,
    ) -> (Option<Tier>, u64) {
        let (content, tool, calls) = (content.as_deref(), tool.as_deref(), calls.as_deref());
        let structured = content.and_then(|content| content.strip_prefix(stored::MARK));
        let has_json = structured.is_some() || calls.is_some_and(|calls| !calls.is_empty());
        buffers.rough.clear();
        let (rough, is_sure) = match content {
            Some(content) if !has_json && tool.is_none() => (content, true),
            _ => {
                let columns = Columns { content, structured, tool_name: tool, tool_calls: calls };
                let is_sure = search_text::rough(columns, &mut buffers.rough);
                (&*buffers.rough, is_sure)
            }
        };
        let folded = fold_with(rough, &mut buffers.folded);
        if !has_json {
            let tier = self.matcher.tier_of_folded(rough, folded, &mut buffers.scratch);
            return (tier, self.bits(tier, words, rough, folded));
        }
        let may_match = !is_sure || self.sieve.admits(folded);
        let may_have_words = words.is_some_and(|(_, sieve)| !is_sure || sieve.admits(folded));
        if !may_match && !may_have_words {
            return (None, 0);
        }
        let text = vocabulary::decoded(content, tool, calls);
        let tier = may_match.then(|| self.matcher.tier_with(&text, &mut buffers.scratch)).flatten();
        let words = words.filter(|_| may_have_words);
        (tier, if tier.is_some() || words.is_some() { self.bits(tier, words, &text, &fold(&text)) } else { 0 })
    }

    fn bits(&self, tier: Option<Tier>, words: Option<&(Prepared, Sieve)>, text: &str, folded: &str) -> u64 {
        match tier {
            None => words.map_or(0, |(words, _)| words.bits(folded)),
            Some(Tier::Pieces) => 0,
            Some(Tier::Words) => {
                let has = |matcher: &Matcher| u64::from(matcher.tier(text) == Some(Tier::Words));
                self.choices.iter().rev().fold(0, |bits, matcher| bits << 1 | has(matcher))
            }
        }
    }
}

/// Buffers that are reused from message to message.
#[derive(Default)]
struct Buffers {
    rough: String,
    folded: String,
    scratch: Scratch,
}

/// Returns the messages that match, at most `limit`, compared one by one until `end`.
pub(super) fn matching(
    database: &Database,
    sought: &Sought,
    ids: impl Iterator<Item = i64>,
    limit: usize,
    end: Instant,
) -> Result<Vec<(i64, u32)>, Failure> {
    let (mut found, mut buffers) = (Vec::new(), Buffers::default());
    each(database, ids, end, |id, columns| {
        // Their lengths do not matter: they are read one by one.
        found.extend(sought.compare(columns, None, &mut buffers).0.map(|_| (id, 0)));
        found.len() < limit
    })?;
    Ok(found)
}

/// Compares messages one by one, in the order of `ids`, until `end`.
pub(super) fn some(
    database: &Database,
    sought: &Sought,
    ids: impl Iterator<Item = i64>,
    end: Instant,
) -> Result<Vec<Seen>, Failure> {
    let (mut all, mut buffers) = (Vec::new(), Buffers::default());
    each(database, ids, end, |id, columns| {
        all.extend(sought.look(id, columns, &mut buffers));
        true
    })?;
    Ok(all)
}

/// Passes the columns of messages to `visit`, until it returns `false` or time runs out.
fn each(
    database: &Database,
    ids: impl Iterator<Item = i64>,
    end: Instant,
    mut visit: impl FnMut(i64, &[Option<Cow<'_, str>>; 3]) -> bool,
) -> Result<(), Failure> {
    let said = database.shape().was_said();
    let sql = format!("SELECT content, tool_name, tool_calls FROM messages WHERE id = ? AND {said}");
    let mut statement = database.prepare_cached(&sql)?;
    for id in ids {
        if Instant::now() > end {
            break;
        }
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else { continue };
        if !visit(id, &columns(row, 0)?) {
            break;
        }
    }
    Ok(())
}

/// A scan of a whole file, from the newest message to the oldest.
#[derive(Debug)]
pub(super) struct Scan {
    /// Id at which it starts.
    pub(super) newest: i64,
    /// The messages found so far, newest first.
    pub(super) seen: Vec<Seen>,
    /// How many of them match.
    matches: usize,
    /// All messages with a higher id, up to `newest`, were read.
    pub(super) rest: i64,
    /// The lowest id of the file.
    oldest: i64,
    /// Whether time ran out.
    pub(super) is_late: bool,
}

impl Scan {
    /// Starts a scan of the messages up to `newest`. Reads nothing yet.
    pub(super) fn new(database: &Database, newest: i64) -> Result<Self, Failure> {
        let oldest: Option<i64> =
            database.prepare_cached("SELECT min(id) FROM messages")?.query_row([], |row| row.get(0))?;
        Ok(Self {
            newest,
            seen: Vec::new(),
            matches: 0,
            rest: newest,
            oldest: oldest.unwrap_or(i64::MAX),
            is_late: false,
        })
    }

    /// Returns whether there is nothing more to read.
    pub(super) fn is_over(&self) -> bool {
        self.is_late || self.rest < self.oldest
    }

    /// Reads on until `wanted` more messages match, or all are read, or time runs out.
    pub(super) fn read_on(
        &mut self,
        database: &Database,
        sought: &Sought,
        wanted: usize,
        end: Instant,
    ) -> Result<(), Failure> {
        let wanted = wanted.saturating_add(self.matches);
        let sql = statement(database);
        if self.rest == self.newest {
            let low = self.rest.saturating_sub(ALONE).max(self.oldest - 1);
            let chunk = read(database, &sql, sought, (low, self.rest), &Watch::new(end))?;
            self.take(low, chunk);
        }
        if self.is_over() || self.matches >= wanted {
            return Ok(());
        }
        let span = self.rest.saturating_sub(self.oldest).saturating_add(1);
        let step = CHUNK.max(span / MAX_CHUNKS + 1);
        let (top, oldest, chunks) = (self.rest, self.oldest, (span - 1) / step + 1);
        let bounds = |number: i64| {
            let high = top - number * step;
            (high.saturating_sub(step).max(oldest - 1), high)
        };
        let watch = Watch::new(end);
        let (sender, receiver) = mpsc::channel();
        let helpers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS) - 1;
        let path = database.path().map(PathBuf::from).filter(|_| chunks > 1);
        // Chunks that were read before the ones that precede them.
        let mut early: BTreeMap<i64, Chunk> = BTreeMap::new();
        let (mut failure, mut next) = (None, 0);
        std::thread::scope(|scope| {
            for path in path.iter().flat_map(|path| std::iter::repeat_n(path, helpers)) {
                let (sender, watch, sql, bounds) = (sender.clone(), &watch, &sql, &bounds);
                scope.spawn(move || help(path, sql, sought, watch, chunks, bounds, &sender));
            }
            drop(sender);
            while let Some(number) = watch.next(chunks) {
                match read(database, &sql, sought, bounds(number), &watch) {
                    Ok(chunk) => _ = early.insert(number, chunk),
                    Err(error) => failure = Some(error),
                }
                early.extend(receiver.try_iter());
                while let Some(chunk) = early.remove(&next) {
                    self.take(bounds(next).0, chunk);
                    next += 1;
                }
                if failure.is_some() || self.matches >= wanted || Instant::now() > end {
                    watch.stop();
                }
            }
            early.extend(receiver.iter());
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        // A chunk is missing if its thread failed, and read here. Chunks after a gap that the stop left are read again
        // by the next call.
        while next < chunks && self.matches < wanted && !self.is_late {
            let chunk = match early.remove(&next) {
                Some(chunk) => chunk,
                None => read(database, &sql, sought, bounds(next), &Watch::new(end))?,
            };
            self.take(bounds(next).0, chunk);
            next += 1;
        }
        if self.is_late {
            // Matches that the other threads found before the deadline are kept as well.
            early.into_values().for_each(|chunk| self.seen.extend(chunk.seen));
        }
        Ok(())
    }

    fn take(&mut self, low: i64, chunk: Chunk) {
        self.matches += chunk.seen.iter().filter(|seen| seen.tier.is_some()).count();
        self.seen.extend(chunk.seen);
        self.is_late |= chunk.is_late;
        self.rest = low;
    }
}

/// The messages found in one chunk, newest first.
struct Chunk {
    seen: Vec<Seen>,
    is_late: bool,
}

/// Coordinates the threads of a scan.
struct Watch {
    end: Instant,
    next: AtomicI64,
    is_stopped: AtomicBool,
}

impl Watch {
    fn new(end: Instant) -> Self {
        Self { end, next: AtomicI64::new(0), is_stopped: AtomicBool::new(false) }
    }

    /// Returns the next chunk to read.
    fn next(&self, chunks: i64) -> Option<i64> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        (next < chunks && !self.is_stopped.load(Ordering::Relaxed)).then_some(next)
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

fn statement(database: &Database) -> String {
    format!(
        "SELECT content, tool_name, tool_calls, id FROM messages WHERE id > ? AND id <= ? AND {} ORDER BY id DESC",
        database.shape().was_said()
    )
}

/// Reads chunks on a connection of its own until none is left. A file that can't be opened once more, and damage, are left
/// to the thread that asked.
fn help(
    path: &Path,
    sql: &str,
    sought: &Sought,
    watch: &Watch,
    chunks: i64,
    bounds: impl Fn(i64) -> (i64, i64),
    found: &mpsc::Sender<(i64, Chunk)>,
) {
    let Ok(connection) = connection::open_to_scan(path) else { return };
    while let Some(number) = watch.next(chunks) {
        match read(&connection, sql, sought, bounds(number), watch) {
            // The receiver lives until this thread has ended.
            Ok(chunk) => _ = found.send((number, chunk)),
            Err(error) => {
                tracing::debug!(code = error.code(), "a scan goes on without this thread");
                return;
            }
        }
    }
}

/// Reads the messages above the first and up to the second id.
fn read(
    connection: &Connection,
    sql: &str,
    sought: &Sought,
    (low, high): (i64, i64),
    watch: &Watch,
) -> Result<Chunk, Failure> {
    let (mut buffers, mut seen) = (Buffers::default(), Vec::new());
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([low, high])?;
    while let Some(row) = rows.next()? {
        if Instant::now() > watch.end {
            return Ok(Chunk { seen, is_late: true });
        }
        seen.extend(sought.look(row.get(3)?, &columns(row, 0)?, &mut buffers));
    }
    Ok(Chunk { seen, is_late: false })
}
