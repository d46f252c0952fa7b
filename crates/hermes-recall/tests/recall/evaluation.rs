//! Evaluates whether the evidence is in the answer: questions about conversations, compared with the Python agent's own
//! search.
//!
//! `cargo test --release -p hermes-recall --test recall evaluation -- --nocapture` prints the tables. Conversations,
//! people and places are made up. In `data/`, a conversation begins with `# id | title | language | day`. Lines with
//! `U`, `A` and `T` are messages of the user, the assistant and tools. A line with `?` holds the topic of a question,
//! the question, and the evidence that the answer must contain literally. Between the messages there are tool results
//! that no question is about, so that a conversation is much longer than a small window.

mod data;
mod peer;

use crate::{Place, id};
use data::{Conversation, Question, conversations};
use hermes_recall::{DEFAULT_BUDGET, RecallRequest};
use hermes_session::{
    ConversationStore as _, Maintenance as _, NewMessage, NewSession, Request, SessionStore as _, Source, Timestamp,
    Title,
};
use peer::Peer;
use std::collections::BTreeMap;

/// Minimum results, with a margin: the share of questions whose evidence is in the first window, in the first three, in
/// the first five.
const GUARD: [f64; 3] = [0.87, 0.94, 0.95];
/// Minimum results with windows of [`SMALL`] characters.
const GUARD_SMALL: [f64; 3] = [0.75, 0.80, 0.80];
/// A window that is smaller than every conversation.
const SMALL: usize = 2_000;
/// Numbers of conversations in an answer.
const LIMITS: [usize; 3] = [1, 3, 5];

/// Number of questions, and for how many of them the evidence was in the first windows.
#[derive(Default, Clone, Copy)]
struct Tally {
    asked: usize,
    answered: [usize; 3],
}

impl Tally {
    /// Counts a question by the index of the first text that contains its evidence.
    fn count(&mut self, place: Option<usize>) {
        self.asked += 1;
        for (answered, limit) in self.answered.iter_mut().zip(LIMITS) {
            *answered += usize::from(place.is_some_and(|place| place < limit));
        }
    }

    fn shares(&self) -> [f64; 3] {
        self.answered.map(|answered| answered as f64 / self.asked.max(1) as f64)
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [one, three, five] = self.shares();
        write!(f, "{one:.3} {three:.3} {five:.3}")
    }
}

/// Tallies by the topic and by the language of questions.
type Tallies = BTreeMap<String, Tally>;

fn count(tallies: &mut Tallies, question: &Question, texts: &[String]) -> bool {
    let place = texts.iter().position(|text| text.contains(&question.evidence));
    for name in ["all".to_owned(), format!("about {}", question.about), format!("in {}", question.language)] {
        tallies.entry(name).or_default().count(place);
    }
    place.is_some()
}

async fn fill(place: &Place, conversations: &[Conversation]) {
    for conversation in conversations {
        let at = |minutes: f64| Timestamp::from_seconds(conversation.started).unwrap().plus(60.0 * minutes);
        let session = NewSession::new(id(&conversation.id), Source::parse("cli").unwrap());
        place.store.create(&session, &Request::at(at(0.0))).await.unwrap();
        let title = Title::parse(&conversation.title).unwrap();
        place.store.set_title(&id(&conversation.id), Some(&title), &Request::at(at(0.0))).await.unwrap();
        let said = conversation.messages.iter().enumerate();
        let said: Vec<NewMessage> = said.map(|(place, message)| message.message(at(place as f64))).collect();
        place.store.append(&id(&conversation.id), &said, &Request::at(at(0.0))).await.unwrap();
    }
    while place.store.upkeep().await.unwrap() {}
}

#[tokio::test]
async fn the_evidence_is_in_the_windows() {
    let conversations = conversations();
    let questions: Vec<&Question> = conversations.iter().flat_map(|conversation| &conversation.questions).collect();
    assert!(questions.len() >= 150, "{} questions", questions.len());
    let place = Place::new();
    fill(&place, &conversations).await;
    let mut peer = Peer::filled(&conversations);
    let (mut ours, mut small, mut theirs) = (Tallies::new(), Tallies::new(), Tallies::new());
    let mut missed = Vec::new();
    for question in &questions {
        let texts = async |budget| {
            let request = RecallRequest { limit: 5, budget, ..RecallRequest::new(question.text.as_str()) };
            let results = place.recall(&request).await;
            results.into_iter().map(|result| result.window.text).collect::<Vec<_>>()
        };
        if !count(&mut ours, question, &texts(DEFAULT_BUDGET).await) {
            missed.push(&question.text);
        }
        count(&mut small, question, &texts(SMALL).await);
        if let Some(peer) = &mut peer {
            count(&mut theirs, question, &peer.texts(&question.text));
        }
    }
    print(&conversations, &ours, &small, &theirs, &missed);
    for (tallies, guard) in [(&ours, GUARD), (&small, GUARD_SMALL)] {
        for (share, least) in tallies["all"].shares().into_iter().zip(guard) {
            assert!(share >= least, "{share:.3} is less than {least}");
        }
    }
}

#[expect(clippy::print_stdout, reason = "the figures are what this test is for")]
fn print(conversations: &[Conversation], ours: &Tallies, small: &Tallies, theirs: &Tallies, missed: &[&String]) {
    let size: usize =
        conversations.iter().flat_map(|one| &one.messages).map(|message| message.text.chars().count()).sum();
    println!("{} conversations of {} characters on average", conversations.len(), size / conversations.len());
    println!(
        "{:<16} {:>5}  {:<18} {:<18} {:<18}",
        "evidence in N =", "asked", "ours: 1, 3, 5", "in 2,000 chars", "the agent's"
    );
    for (name, tally) in ours {
        let their = theirs.get(name).map_or("not there".to_owned(), Tally::to_string);
        println!(
            "{name:<16} {:>5}  {:<18} {:<18} {their:<18}",
            tally.asked,
            tally.to_string(),
            small[name].to_string()
        );
    }
    println!("missed: {missed:#?}");
}
