use super::*;
use hermes_session::MessageId;
use hermes_session::search::fold::fold;
use hermes_session::search::matching::Matcher;
use hermes_session::search::rank::{self, Found};
use hermes_session::search::{Query, relax, tokens};
use std::collections::BTreeSet;

/// What a store knows about the messages, in memory.
struct Memory {
    /// Folded texts, with the conversation of each and how many words it has.
    messages: Vec<(u32, String, u32)>,
    /// The numbers of the messages that have a word.
    vocabulary: BTreeMap<String, BTreeSet<usize>>,
    ids: Vec<String>,
    average: f64,
}

impl Memory {
    fn new() -> Self {
        let (mut messages, mut ids) = (Vec::new(), Vec::new());
        let mut vocabulary = BTreeMap::<String, BTreeSet<usize>>::new();
        for conversation in conversations() {
            for (_, text) in &conversation.messages {
                let folded = fold(text).into_owned();
                let mut length = 0;
                for range in tokens::words(&folded) {
                    vocabulary.entry(folded[range].to_owned()).or_default().insert(messages.len());
                    length += 1;
                }
                messages.push((ids.len() as u32, folded, length));
            }
            ids.push(conversation.id);
        }
        let average = messages.iter().map(|(_, _, length)| f64::from(*length)).sum::<f64>() / messages.len() as f64;
        Self { messages, vocabulary, ids, average }
    }

    /// The numbers of the messages that have a word of a relaxed query.
    fn having(&self, word: &relax::Word) -> BTreeSet<usize> {
        if word.is_piece {
            return (0..self.messages.len()).filter(|number| self.messages[*number].1.contains(&word.word)).collect();
        }
        let forms = self.vocabulary.range(word.prefix.clone()..).take_while(|(form, _)| form.starts_with(&word.prefix));
        let taken = forms.filter(|(form, _)| word.takes(form)).flat_map(|(_, numbers)| numbers);
        let also = word.also.iter().filter_map(|form| self.vocabulary.get(*form)).flatten();
        taken.chain(also).copied().collect()
    }

    fn found(&self, words: &[relax::Word]) -> (Vec<Found>, Vec<f64>) {
        let mut bits = BTreeMap::<usize, u64>::new();
        let mut weights = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let having = self.having(word);
            weights.push(rank::weight(having.len() as u64, self.messages.len() as u64));
            having.into_iter().for_each(|number| *bits.entry(number).or_default() |= 1 << at);
        }
        let found = bits.into_iter().map(|(number, words)| {
            let (conversation, _, length) = &self.messages[number];
            Found { message: MessageId(number as i64), conversation: *conversation, words, length: *length }
        });
        (found.collect(), weights)
    }

    /// The conversations of an answer, and whether the query was relaxed.
    fn answer(&self, question: &str) -> (Vec<String>, bool) {
        let query = Query::parse(question);
        let matcher = Matcher::new(&query);
        let id = |conversation: u32| self.ids[conversation as usize].clone();
        let exact = self.messages.iter().rev().filter(|(_, text, _)| matcher.tier(text).is_some());
        let exact: Vec<String> = exact.map(|(conversation, ..)| id(*conversation)).collect();
        if !exact.is_empty() {
            return (exact, false);
        }
        let (found, weights) = self.found(&relax::words(&query));
        let order = rank::relaxed(&found, &weights, self.average);
        (order.into_iter().map(|(message, _)| id(self.messages[message.0 as usize].0)).collect(), true)
    }
}

fn report(part: &str, tallies: &Tallies) {
    for (language, tally) in tallies {
        println!("{part} {language:4} {tally}");
    }
}

fn tallies(is_held_out: bool) -> Tallies {
    let memory = Memory::new();
    let questions: Vec<Question> =
        questions().into_iter().filter(|question| question.is_held_out == is_held_out).collect();
    let show = !is_held_out && std::env::var_os("HERMES_QUESTIONS").is_some();
    tally(&questions, |question| {
        let (answer, is_relaxed) = memory.answer(&question.text);
        let place = place(question, answer.clone());
        if show {
            let words = relax::words(&Query::parse(&question.text));
            let (found, weights) = memory.found(&words);
            let words: Vec<String> = words.into_iter().map(|word| word.word).collect();
            let found: Vec<_> = found.iter().map(|f| (f.message.0, f.conversation, f.words, f.length)).collect();
            let target = memory.ids.iter().position(|id| *id == question.conversation);
            println!(
                "DUMP {}",
                serde_json::json!([
                    question.text,
                    target,
                    words,
                    weights,
                    found,
                    is_relaxed,
                    memory.average,
                    question.language
                ])
            );
        }
        if show && !place.is_some_and(|place| place < 3) {
            let words: Vec<String> =
                relax::words(&Query::parse(&question.text)).into_iter().map(|word| word.word).collect();
            let mut first: Vec<&String> = Vec::new();
            answer.iter().for_each(|id| {
                if first.len() < 4 && !first.contains(&id) {
                    first.push(id)
                }
            });
            println!("{place:?} {} ({}) {words:?} {first:?} {is_relaxed}", question.text, question.conversation);
        }
        answer
    })
}

#[test]
fn most_questions_are_answered_by_the_first_three_conversations() {
    let tallies = tallies(false);
    report("tuned", &tallies);
    assert!(tallies["all"].share_in_three() >= 0.85);
}
