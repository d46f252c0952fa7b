//! What a message is found by, and the vocabulary.

use crate::connection::quoted;
use crate::error::Failure;
use crate::transaction::Transaction;
use crate::tsvector::TsVector;
use deadpool_postgres::Object;
use hermes_session::{MessageBody, MessageId, SessionId};
use hermes_sql::search::lexemes::Indexed;
use hermes_sql::server::{Epoch, Knowledge, Words};
use std::collections::HashSet;

/// What a message is found by.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// How many words it has.
    length: i32,
    /// How much of it the index takes: words with places (0), words (1), nothing (2).
    form: i16,
    /// The words in the form of a tsvector.
    words: Option<String>,
    /// The same, each once, for the vocabulary.
    terms: Vec<String>,
}

impl Words for Written {
    fn of(body: &MessageBody) -> Self {
        let Indexed { form, length, words, terms } = Indexed::of_body::<TsVector>(body);
        Self { length: i32::try_from(length).unwrap_or(i32::MAX), form: form.code(), words, terms }
    }
}

/// Puts the words of messages into the index, in place of others that they had.
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

/// The words that this process knows to be in the vocabulary. None is ever taken out of it.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary(Knowledge<HashSet<Box<str>>>);

/// How many words are remembered; beyond that it starts anew.
const MOST: usize = 200_000;

/// Words that were put into the vocabulary, and stay there once something that came after them is on disk.
#[derive(Debug)]
pub(crate) struct Learned {
    terms: Vec<Box<str>>,
    epoch: Epoch,
}

impl Vocabulary {
    /// Sees that words are in the vocabulary, before any message that has them, on the connection that the message will be written on.
    ///
    /// It does not wait for the disk: what comes later in the log is not there without it. Until something is, a server that fails forgets them, so
    /// they are told to be known with [`remember`](Self::remember), and not before.
    pub(crate) async fn learn(&self, client: &Object, schema: &str, words: &[Written]) -> Result<Learned, Failure> {
        let epoch = self.0.meet(Object::metrics(client).created);
        let mut new: Vec<&str> = self.0.read(|known| {
            let terms = words.iter().flat_map(|words| &words.terms).map(String::as_str);
            terms.filter(|term| !known.contains(*term)).collect()
        });
        if new.is_empty() {
            return Ok(Learned { terms: Vec::new(), epoch });
        }
        // In one order, so that two that learn the same words wait for each other and not both.
        new.sort_unstable();
        new.dedup();
        let sql = format!(
            "INSERT INTO {}.hx_term (term) SELECT t FROM unnest($1::text[]) AS t, \
             (SELECT set_config('synchronous_commit', 'off', true)) s ORDER BY t ON CONFLICT DO NOTHING",
            quoted(schema)
        );
        let statement = client.prepare_cached(&sql).await?;
        client.execute(&statement, &[&new]).await?;
        Ok(Learned { terms: new.into_iter().map(Box::from).collect(), epoch })
    }

    /// Takes it that words are in the vocabulary: something was committed after them.
    pub(crate) fn remember(&self, learned: Learned) {
        self.0.note(learned.epoch, |known| {
            if known.len() + learned.terms.len() > MOST {
                known.clear();
            }
            known.extend(learned.terms);
        });
    }
}
