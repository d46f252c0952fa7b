//! Words that occur in messages, with a sign that does not: something is found nevertheless.

use crate::corpus::{Dice, corpus};
use crate::peer::Peer;
use crate::{filled, fuzz, given, question};
use hermes_session::search::fold::{fold, is_accent};
use hermes_session::search::{SearchRequest, tokens};
use hermes_session::{
    ConversationStore as _, ListRequest, MessageRequest, PageRequest, SessionStore as _, View, search_text,
};
use hermes_sqlite::SqliteStore;
use std::collections::BTreeMap;
use std::time::Duration;

/// Number of words of a given store to query.
const WORDS: usize = 10_000;

const SIGNS: [&str; 36] = [
    "'", ":", ",", ";", "/", "\\", "@", "#", "$", "%", "&", "=", "<", ">", "?", "!", "[", "]", "|", "~", "`", ".", "-",
    "\"", "(", ")", "*", "^", "+", "{", "}", "_", "…", "—", "？", "。",
];

/// Signs to put around a word.
const AROUND: [(&str, &str); 10] = [
    ("\"", "\""),
    ("'", "'"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("<", ">"),
    ("**", "**"),
    ("`", "`"),
    ("“", "”"),
    ("¿", "?"),
];

/// Adds a sign to one end of a word, or signs around it.
fn astray(word: &str, dice: &mut Dice) -> String {
    match dice.roll(4) {
        0 => format!("{}{word}", dice.pick(&SIGNS)),
        1 => {
            let (before, behind) = dice.pick(&AROUND);
            format!("{before}{word}{behind}")
        }
        _ => format!("{word}{}", dice.pick(&SIGNS)),
    }
}

/// Returns the distinct words of all messages, as they are written.
async fn words(store: &SqliteStore) -> Vec<String> {
    let mut words = BTreeMap::new();
    let all = ListRequest { view: View::Sessions, page: PageRequest::first(u32::MAX), ..ListRequest::default() };
    for session in store.list(&all).await.unwrap().rows {
        for message in store.messages(&session.id, &MessageRequest::first(u32::MAX)).await.unwrap() {
            let text = search_text::of_body(&message.body);
            let runs = text.split(|character| !tokens::is_word(character) && !is_accent(character));
            for word in runs.filter(|run| run.contains(tokens::is_word)) {
                words.entry(fold(word).into_owned()).or_insert_with(|| word.to_owned());
            }
        }
    }
    words.into_values().collect()
}

/// Counts of answers by kind.
#[derive(Debug, Default)]
struct Answers {
    exact: usize,
    relaxed: usize,
    partial: usize,
    empty: Vec<String>,
}

impl Answers {
    async fn ask(&mut self, store: &SqliteStore, text: &str) {
        let page = PageRequest::first(1);
        let request = SearchRequest { page, timeout: Duration::from_secs(100), ..question(text) };
        let answer = store.search(&request).await.unwrap_or_else(|error| panic!("{text:?}: {error}"));
        self.partial += usize::from(answer.served.is_partial);
        match (answer.hits.is_empty(), answer.served.is_relaxed) {
            (true, _) => self.empty.push(text.to_owned()),
            (false, true) => self.relaxed += 1,
            (false, false) => self.exact += 1,
        }
    }

    /// Prints the results, and fails if any answer was empty.
    fn tell(&self, asked: usize, words: usize) {
        let Self { exact, relaxed, partial, empty } = self;
        println!(
            "{asked} questions of one of {words} words with a stray sign: {exact} found as they are, {relaxed} by their words, {} empty, {partial} partial",
            empty.len()
        );
        assert_eq!(empty, &[""; 0], "nothing was found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stray_sign_never_empties_an_answer() {
    let said = corpus();
    let filled = filled(&said).await;
    let mut peer = Peer::filled(&said);
    let words = words(&filled.store).await;
    assert!(words.len() > 300, "{} words", words.len());
    let (mut dice, count) = (Dice::new(7), fuzz().min(WORDS));
    let (mut answers, mut theirs) = (Answers::default(), 0);
    for n in 0..count {
        let text = astray(&words[n % words.len()], &mut dice);
        answers.ask(&filled.store, &text).await;
        theirs += usize::from(peer.as_mut().is_some_and(|peer| !peer.finds_any(&text)));
    }
    match peer {
        Some(_) => println!("the agent finds nothing for {theirs} of {count}"),
        None => println!("peer not there"),
    }
    answers.tell(count, words.len());
}

/// Runs the queries with that many different words of a given store.
#[tokio::test(flavor = "multi_thread")]
async fn nor_in_a_given_store() {
    let Some(store) = given() else { return };
    let mut words = words(&store).await;
    let (mut dice, mut answers, all) = (Dice::new(8), Answers::default(), words.len());
    let count = all.min(WORDS);
    for n in 0..count {
        let chosen = n + dice.roll(all - n);
        words.swap(n, chosen);
        answers.ask(&store, &astray(&words[n], &mut dice)).await;
    }
    answers.tell(count, all);
}
