//! Index data of messages, and the vocabulary.

use crate::connection::quoted;
use crate::error::Failure;
use crate::transaction::{Transaction, changed_alone};
use crate::tsvector::TsVector;
use deadpool_postgres::Object;
use futures_util::future::join;
use hermes_search::lexemes::Indexed;
use hermes_session::{MessageBody, MessageId, SessionId};
use hermes_sql::server::{Epoch, Knowledge, Words};
use std::collections::HashSet;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

/// Index data of a message.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// Number of words.
    length: i32,
    /// How much of it is indexed: words with positions (0), words (1), nothing (2).
    form: i16,
    /// Words in the format of a tsvector.
    words: Option<String>,
    /// Words for the vocabulary, without duplicates.
    terms: Vec<String>,
}

impl Words for Written {
    fn of(body: &MessageBody) -> Self {
        let Indexed { form, length, words, terms } = Indexed::of_body::<TsVector>(body);
        Self { length: i32::try_from(length).unwrap_or(i32::MAX), form: form.code(), words, terms }
    }

    fn terms(&self) -> &[String] {
        &self.terms
    }
}

/// Writes the words of messages to the index, replacing older ones.
pub(crate) async fn add<'m>(
    transaction: &Transaction,
    messages: impl Iterator<Item = (&'m SessionId, MessageId, &'m Written)>,
) -> Result<(), Failure> {
    let (mut sessions, mut ids, mut lengths, mut forms, mut vectors) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (session, id, words) in messages {
        sessions.push(session.as_str());
        ids.push(id.0);
        lengths.push(words.length);
        forms.push(words.form);
        vectors.push(words.words.as_deref());
    }
    transaction
        .change(
            "INSERT INTO hx_search (session_id, message_id, length, form, words) \
             SELECT u.session, u.id, u.length, u.form, u.words::tsvector \
             FROM unnest($1::text[], $2::int8[], $3::int4[], $4::int2[], $5::text[]) AS u(session, id, length, form, words) \
             ON CONFLICT (message_id) DO UPDATE SET session_id = excluded.session_id, length = excluded.length, \
             form = excluded.form, words = excluded.words",
            &[&sessions, &ids, &lengths, &forms, &vectors],
        )
        .await
        .map(drop)
}

/// Words that this process knows to be in the vocabulary. Words are never removed from it.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary(Knowledge<HashSet<Box<str>>>);

/// Maximum number of cached words. Beyond it the cache is cleared.
const MAX_REMEMBERED_TERMS: usize = 200_000;

/// Words that were added to the vocabulary. They are durable once a later commit is on disk.
#[derive(Debug)]
pub(crate) struct Learned {
    terms: Vec<Box<str>>,
    epoch: Epoch,
    /// Whether other words were assumed to be known in this epoch.
    rests_on_known: bool,
}

/// Returns the name of the answering server, and how many of the words in `$1` its vocabulary lacks.
///
/// The name differs after each start of the server and each creation of the vocabulary. The words may have been added
/// on another server than the one that answers, because a pooler keeps its clients when it loses its server.
const QUESTION: &str = "SELECT concat(extract(epoch FROM pg_postmaster_start_time()), ' ', to_regclass('hx_term')::oid), \
     (SELECT count(*) FROM unnest($1) t WHERE NOT EXISTS (SELECT 1 FROM hx_term h WHERE h.term = t))";

impl Learned {
    /// Begins a transaction with `prelude` and runs [`QUESTION`] in it, in one round trip. Returns the server and how
    /// many words it lacks.
    ///
    /// # Errors
    /// Fails if either fails. A transaction may be open then.
    pub(crate) async fn begin_and_ask(&self, client: &Client, prelude: &str) -> Result<(String, i64), Failure> {
        let terms: [(&(dyn ToSql + Sync), Type); 1] = [(&self.terms, Type::TEXT_ARRAY)];
        // Both are sent at once. The statement is not prepared before: another server may answer by then, and no search
        // path is set yet.
        let (begun, answer) = join(client.batch_execute(prelude), client.query_typed_one(QUESTION, &terms)).await;
        begun?;
        let row = answer?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }
}

impl Vocabulary {
    /// Adds words to the vocabulary, before any message that has them. `bound` limits each statement, in milliseconds.
    ///
    /// It does not wait for the disk, because a later commit in the log makes it durable too. Until then a crash of the
    /// server loses the words, so they are cached only by [`remember`](Self::remember) after such a commit.
    pub(crate) async fn learn(
        &self,
        client: &Object,
        schema: &str,
        words: &[Written],
        bound: u128,
    ) -> Result<Learned, Failure> {
        let epoch = self.0.epoch();
        let mut new: Vec<&str> = self.0.read(epoch, |known| {
            let terms = words.iter().flat_map(|words| &words.terms).map(String::as_str);
            terms.filter(|term| !known.contains(*term)).collect()
        });
        let rests_on_known = new.len() < words.iter().map(|words| words.terms.len()).sum();
        // Sorted, so that two transactions with the same words wait for each other instead of deadlocking.
        new.sort_unstable();
        new.dedup();
        if !new.is_empty() {
            let insert = format!(
                "INSERT INTO {}.hx_term (term) SELECT t FROM unnest($1) t ORDER BY t COLLATE \"C\" ON CONFLICT DO NOTHING",
                quoted(schema)
            );
            let settings = format!("statement_timeout = {bound}; SET LOCAL synchronous_commit = off");
            changed_alone(client, &settings, &insert, &[(&new, Type::TEXT_ARRAY)]).await?;
        }
        Ok(Learned { terms: new.into_iter().map(Box::from).collect(), epoch, rests_on_known })
    }

    /// Returns whether all words are in the vocabulary of the server that [`begin_and_ask`](Learned::begin_and_ask)
    /// reached, within the transaction that writes messages with them. If not, or if it is unknown, they must be added
    /// again.
    pub(crate) fn confirm(&self, learned: &mut Learned, server: &str, lacking: i64) -> bool {
        let epoch = self.0.meet(server, None);
        let is_sure = lacking == 0 && (epoch == learned.epoch || !learned.rests_on_known);
        learned.epoch = epoch;
        is_sure
    }

    /// Caches words that are durable, because something was committed after them.
    pub(crate) fn remember(&self, learned: Learned) {
        self.0.note(learned.epoch, |known| {
            if known.len() + learned.terms.len() > MAX_REMEMBERED_TERMS {
                known.clear();
            }
            known.extend(learned.terms);
        });
    }

    /// Forgets all cached words.
    pub(crate) fn forget(&self) {
        self.0.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(vocabulary: &Vocabulary, rests_on_known: bool) -> Learned {
        Learned { terms: vec!["a".into()], epoch: vocabulary.0.epoch(), rests_on_known }
    }

    #[test]
    fn what_was_known_of_another_server_is_learned_again() {
        let vocabulary = Vocabulary::default();
        let mut first = learned(&vocabulary, false);
        assert!(vocabulary.confirm(&mut first, "one", 0), "everything was learned");
        vocabulary.remember(first);
        assert!(vocabulary.0.read(vocabulary.0.epoch(), |known| known.contains("a")));
        assert!(vocabulary.confirm(&mut learned(&vocabulary, true), "one", 0));
        assert!(!vocabulary.confirm(&mut learned(&vocabulary, true), "one", 1), "it was forgotten before it was used");
        let mut other = learned(&vocabulary, true);
        assert!(!vocabulary.confirm(&mut other, "two", 0), "something was taken for known");
        assert!(vocabulary.0.read(vocabulary.0.epoch(), HashSet::is_empty));
        assert!(vocabulary.confirm(&mut learned(&vocabulary, false), "one", 0), "nothing was");
    }
}
