//! Index data of messages, and the vocabulary.

use crate::bulk::Bulk;
use crate::error::Failure;
use crate::spelling::{self, Plain};
use crate::transaction::Transaction;
use hermes_search::lexemes::{Form, Indexed};
use hermes_session::{MessageBody, MessageId, SessionId};
use hermes_sql::server::{Epoch, Fields as _, Knowledge, Sql as _, Words, among};
use hermes_sql::values;
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

/// Greatest `innodb_ft_min_token_size` and least `innodb_ft_max_token_size` with which the index keeps every word.
pub(crate) const SHORTEST: u64 = spelling::SHORTEST as u64;
pub(crate) const LONGEST: u64 = spelling::LONGEST as u64;

/// Index data of a message.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// Number of words.
    length: i32,
    /// How much of it is indexed.
    form: Form,
    /// Words in the format of the index.
    words: Option<String>,
    /// Words for the vocabulary, without duplicates.
    terms: Vec<String>,
}

impl Words for Written {
    fn of(body: &MessageBody) -> Self {
        let Indexed { form, length, words, terms } = Indexed::of_body::<Plain>(body);
        Self { length: i32::try_from(length).unwrap_or(i32::MAX), form, words, terms }
    }

    fn terms(&self) -> &[String] {
        &self.terms
    }
}

/// Writes the words of messages to the index, replacing older ones, and adds new words to the vocabulary.
pub(crate) async fn add<'m>(
    transaction: &Transaction,
    messages: impl Iterator<Item = (&'m SessionId, MessageId, &'m Written)>,
) -> Result<(), Failure> {
    const MESSAGES: Bulk = Bulk {
        head: "INSERT INTO hx_search (message_id, session_id, length, form, words) VALUES",
        tail: "ON DUPLICATE KEY UPDATE session_id = VALUES(session_id), length = VALUES(length), form = VALUES(form), words = VALUES(words)",
    };
    let messages: Vec<_> = messages.collect();
    if messages.is_empty() {
        return Ok(());
    }
    // With these settings the index would drop words, which would never be found. Such a message is stored as unlisted
    // and scanned until it is indexed again.
    let fits = fits(transaction).await?;
    if fits {
        let terms = messages.iter().flat_map(|(.., written)| &written.terms);
        let unknown = transaction.vocabulary().unknown(transaction.epoch(), terms);
        learn(transaction, unknown).await?;
    }
    let row = |(session, id, written): (&SessionId, MessageId, &Written)| {
        let (form, words) = if fits { (written.form, written.words.as_deref()) } else { (Form::Unlisted, None) };
        let words = words.map(|words| format!("{} {words}", spelling::witness(id.0)));
        vec![id.0.into(), session.as_str().into(), written.length.into(), form.code().into(), words.into()]
    };
    let rows: Vec<_> = messages.into_iter().map(row).collect();
    MESSAGES.add(transaction, rows).await.map(drop)
}

/// Returns whether the server's index keeps all words. It drops those that are too short or too long for its settings.
pub(crate) async fn fits(transaction: &Transaction) -> Result<bool, Failure> {
    if let Some(fits) = transaction.vocabulary().0.read(transaction.epoch(), |known| known.fits) {
        return Ok(fits);
    }
    let row = transaction.one("SELECT @@innodb_ft_min_token_size, @@innodb_ft_max_token_size", values![]).await?;
    let fits = row.try_get::<i64>(0)? <= SHORTEST.cast_signed() && row.try_get::<i64>(1)? >= LONGEST.cast_signed();
    transaction.vocabulary().0.note(transaction.epoch(), |known| known.fits = Some(fits));
    Ok(fits)
}

/// Ensures that words are in the vocabulary when the transaction commits.
async fn learn(transaction: &Transaction, mut new: BTreeSet<&str>) -> Result<(), Failure> {
    /// Number of words looked up at once.
    const LOT: usize = 512;
    const TERMS: Bulk = Bulk {
        head: "INSERT INTO hx_term (term) VALUES",
        // A concurrent transaction may add the same word. The second one waits for the first, and then changes nothing.
        tail: "ON DUPLICATE KEY UPDATE term = VALUES(term)",
    };
    let asked: Vec<&str> = new.iter().copied().collect();
    for lot in asked.chunks(LOT) {
        let (condition, values) = among("term", 1, lot.iter().copied());
        for row in transaction.rows(&format!("SELECT term FROM hx_term WHERE {condition}"), values).await? {
            new.remove(row.try_get::<String>(0)?.as_str());
        }
    }
    // Sorted, so that two transactions with the same words wait for each other instead of deadlocking.
    let rows: Vec<_> = new.into_iter().map(|term| vec![term.into()]).collect();
    TERMS.add(transaction, rows).await?;
    if !asked.is_empty() {
        transaction.learned(asked.into_iter().map(Box::from).collect()).await;
    }
    Ok(())
}

/// Facts that this process has cached about the vocabulary and the index.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary(Knowledge<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Words in the vocabulary. Words are never removed from it.
    terms: HashSet<Box<str>>,
    /// Whether the server's index keeps all words; `None` if not asked yet.
    fits: Option<bool>,
    /// Whether the index is known to have lost nothing since the server started.
    is_whole: bool,
    /// Whether a search had to look for lost messages.
    is_unsure: bool,
    /// When a comparison of the index with the table was last started.
    looked: Option<Instant>,
}

/// Minimum time between two comparisons.
const PAUSE: Duration = Duration::from_secs(60);

/// Maximum number of cached words. Beyond it the cache is cleared.
const MAX_REMEMBERED_TERMS: usize = 200_000;

impl Vocabulary {
    /// Registers a server, see [`Knowledge`]. The server reports its uptime, not its start time, so each newer
    /// connection begins a new epoch.
    pub(crate) fn meet(&self, server: &str, made: Instant) -> Epoch {
        self.0.meet(server, Some(made))
    }

    /// Forgets all cached facts.
    pub(crate) fn forget(&self) {
        self.0.forget();
    }

    /// Returns those of the words that may be missing in the vocabulary, in order.
    fn unknown<'t>(&self, epoch: Epoch, terms: impl Iterator<Item = &'t String>) -> BTreeSet<&'t str> {
        self.0.read(epoch, |known| terms.map(String::as_str).filter(|term| !known.terms.contains(*term)).collect())
    }

    /// Caches words that were committed to the vocabulary.
    pub(crate) fn remember(&self, epoch: Epoch, terms: Vec<Box<str>>) {
        self.0.note(epoch, |known| {
            if known.terms.len() + terms.len() > MAX_REMEMBERED_TERMS {
                known.terms.clear();
            }
            known.terms.extend(terms);
        });
    }

    /// Returns whether the index is known to have lost nothing.
    pub(crate) fn is_whole(&self, epoch: Epoch) -> bool {
        self.0.read(epoch, |known| known.is_whole)
    }

    /// Records that the index has lost nothing, valid until there is a new connection.
    pub(crate) fn note_whole(&self, epoch: Epoch) {
        self.0.note(epoch, |known| known.is_whole = true);
    }

    /// Records that a search had to look for lost messages.
    pub(crate) fn note_unsure(&self, epoch: Epoch) {
        self.0.note(epoch, |known| known.is_unsure = true);
    }

    /// Returns whether to start a comparison now: a search had to look for lost messages, and no comparison was started
    /// lately.
    pub(crate) fn should_look(&self, epoch: Epoch) -> bool {
        let mut should = false;
        self.0.note(epoch, |known| {
            should = known.is_unsure && known.looked.is_none_or(|at| at.elapsed() > PAUSE);
            if should {
                (known.is_unsure, known.looked) = (false, Some(Instant::now()));
            }
        });
        should
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_remembered_is_known_until_there_is_too_much() {
        let vocabulary = Vocabulary::default();
        let epoch = vocabulary.meet("a", Instant::now());
        let terms: Vec<String> = ["b", "a", "b", "c"].map(String::from).to_vec();
        let unknown = || vocabulary.unknown(epoch, terms.iter()).into_iter().collect::<Vec<_>>();
        assert_eq!(unknown(), ["a", "b", "c"]);
        vocabulary.remember(epoch, vec!["b".into(), "x".into()]);
        assert_eq!(unknown(), ["a", "c"]);
        vocabulary.remember(epoch, (0..MAX_REMEMBERED_TERMS).map(|number| number.to_string().into()).collect());
        assert_eq!(unknown(), ["a", "b", "c"], "too many were known");
    }

    #[test]
    fn one_is_told_to_look_after_a_search_had_to() {
        let vocabulary = Vocabulary::default();
        let epoch = vocabulary.meet("a", Instant::now());
        assert!(!vocabulary.should_look(epoch), "nobody had to");
        vocabulary.note_unsure(epoch);
        assert!(vocabulary.should_look(epoch));
        vocabulary.note_unsure(epoch);
        assert!(!vocabulary.should_look(epoch), "somebody is at it");
    }
}
