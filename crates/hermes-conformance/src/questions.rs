//! Natural questions about a year of conversations, and how many of them a search answers.
//!
//! People who ask have forgotten the exact words. The measure is whether the conversation with the evidence is among
//! the first ones of the answer. A third of the questions is *held out*: nothing was tuned on them. People and places
//! are made up.
//!
//! Each line of `data/conversations.jsonl` is a conversation, each line of `data/questions.jsonl` a question with the
//! messages that answer it.

use hermes_session::search::{Query, SearchRequest};
use hermes_session::{
    ConversationStore, NewMessage, NewSession, PageRequest, Request, Role, SessionId, Source, StoreError, Timestamp,
    Title,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

const CONVERSATIONS: &str = include_str!("../data/conversations.jsonl");
const QUESTIONS: &str = include_str!("../data/questions.jsonl");

/// Number of hits that are read to find the first conversations of an answer.
const HITS: u32 = 100;

/// A conversation of the year.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its source.
    pub source: String,
    /// When it started.
    pub started: f64,
    /// Its messages: role and text.
    pub messages: Vec<(Role, String)>,
}

/// A question about one of the conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question as asked.
    pub text: String,
    /// The language of the question and of the conversation.
    pub language: String,
    /// The conversation that holds the evidence.
    pub conversation: String,
    /// The messages that hold the evidence, counted from 1.
    pub messages: Vec<usize>,
    /// Whether nothing was tuned on it.
    pub is_held_out: bool,
}

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Returns the conversations, oldest first.
pub fn conversations() -> Vec<Conversation> {
    let message = |message: &Value| (Role::parse(&text(&message["role"])).unwrap(), text(&message["text"]));
    let conversation = |value: Value| Conversation {
        id: text(&value["id"]),
        title: text(&value["title"]),
        source: text(&value["source"]),
        started: value["started"].as_f64().unwrap(),
        messages: value["messages"].as_array().unwrap().iter().map(message).collect(),
    };
    lines(CONVERSATIONS).map(conversation).collect()
}

/// Returns the questions.
pub fn questions() -> Vec<Question> {
    let number = |number: &Value| usize::try_from(number.as_u64().unwrap()).unwrap();
    let question = |value: Value| Question {
        text: text(&value["question"]),
        language: text(&value["language"]),
        conversation: text(&value["conversation"]),
        messages: value["messages"].as_array().unwrap().iter().map(number).collect(),
        is_held_out: value["held_out"].as_bool().unwrap(),
    };
    lines(QUESTIONS).map(question).collect()
}

/// Number of questions answered by the first conversation, by one of the first three, by one of the first five.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of questions.
    pub asked: usize,
    /// Questions whose evidence is in the first conversation of the answer.
    pub in_first: usize,
    /// Questions whose evidence is in one of the first three.
    pub in_three: usize,
    /// Questions whose evidence is in one of the first five.
    pub in_five: usize,
}

impl Tally {
    /// Counts a question by the index of its conversation in the answer, from 0.
    pub fn count(&mut self, place: Option<usize>) {
        let within = |places: usize| usize::from(place.is_some_and(|place| place < places));
        self.asked += 1;
        self.in_first += within(1);
        self.in_three += within(3);
        self.in_five += within(5);
    }

    /// Returns the share of questions that one of the first three conversations answers.
    pub fn share_in_three(&self) -> f64 {
        self.in_three as f64 / self.asked.max(1) as f64
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |count: usize| count as f64 / self.asked.max(1) as f64;
        let (first, three, five) = (share(self.in_first), share(self.in_three), share(self.in_five));
        write!(formatter, "{:4} asked, {first:.3} in the first, {three:.3} in three, {five:.3} in five", self.asked)
    }
}

/// The tally of each language, and of all together as `all`.
pub type Tallies = BTreeMap<String, Tally>;

/// Tallies answers. `answer` returns the ids of the conversations for a question, in the order of the answer, possibly
/// repeated.
pub fn tally(questions: &[Question], mut answer: impl FnMut(&Question) -> Vec<String>) -> Tallies {
    let mut tallies = Tallies::new();
    for question in questions {
        count(&mut tallies, question, answer(question));
    }
    tallies
}

fn count(tallies: &mut Tallies, question: &Question, answer: Vec<String>) {
    let place = place(question, answer);
    for name in [question.language.as_str(), "all"] {
        tallies.entry(name.to_owned()).or_default().count(place);
    }
}

/// Returns the index of the right conversation among those of an answer.
pub fn place(question: &Question, answer: impl IntoIterator<Item = String>) -> Option<usize> {
    let mut seen: Vec<String> = Vec::new();
    for conversation in answer {
        if conversation == question.conversation {
            return Some(seen.len());
        }
        if !seen.contains(&conversation) {
            seen.push(conversation);
        }
    }
    None
}

/// Fills a store with the conversations, with a minute between messages.
pub async fn fill(store: &dyn ConversationStore) -> Result<(), StoreError> {
    for conversation in conversations() {
        let started = Timestamp::from_seconds(conversation.started).unwrap();
        let id = SessionId::parse(&conversation.id).unwrap();
        let session = NewSession::new(id.clone(), Source::parse(&conversation.source).unwrap());
        store.create(&session, &Request::at(started)).await?;
        store.set_title(&id, Some(&Title::parse(&conversation.title).unwrap()), &Request::at(started)).await?;
        let said = |(number, (role, text)): (usize, &(Role, String))| {
            NewMessage::new(role.clone(), text.as_str()).said_at(started.plus(60.0 * number as f64))
        };
        let messages: Vec<NewMessage> = conversation.messages.iter().enumerate().map(said).collect();
        store.append(&id, &messages, &Request::at(started)).await?;
    }
    Ok(())
}

/// Asks the questions on a store that [`fill`] filled.
pub async fn ask(store: &dyn ConversationStore, questions: &[Question]) -> Result<Tallies, StoreError> {
    let mut tallies = Tallies::new();
    for question in questions {
        let request = SearchRequest::new(Query::parse(&question.text));
        let answer = store.search(&SearchRequest { page: PageRequest::first(HITS), ..request }).await?;
        let conversations = answer.hits.iter().map(|hit| hit.conversation.as_str().to_owned());
        count(&mut tallies, question, conversations.collect());
    }
    Ok(tallies)
}

#[cfg(test)]
mod tests;
