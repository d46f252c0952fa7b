//! Puts messages in the order that providers accept: no empty ones, and roles that alternate.

use super::pairing::Entry;
use super::{BRIDGE, CONTINUE, OPENING, is_blank};
use crate::message::is_image_url;
use crate::{AssistantMessage, Part, Quirks, Reasoning, ReturnedReasoning};

/// The list so far: instructions, then messages of the user and of the model in turn.
#[derive(Default)]
pub(super) struct List {
    entries: Vec<Entry>,
}

impl List {
    pub(super) fn push(&mut self, entry: Entry, quirks: &Quirks) {
        match entry {
            Entry::System(text) if is_blank(&text) => {}
            Entry::System(text) => self.instruct(text),
            Entry::User(parts) => self.ask(cleaned(parts, quirks)),
            Entry::Assistant(message, results) => {
                let text = if is_blank(&message.text) { String::new() } else { message.text };
                let reasoning = returned(message.reasoning, quirks.reasoning);
                self.answer(AssistantMessage { text, calls: message.calls, reasoning }, results);
            }
        }
    }

    /// Returns the list, which ends with the user or with results.
    pub(super) fn finish(mut self) -> Vec<Entry> {
        let is_open = match self.entries.last() {
            Some(Entry::User(_)) => true,
            Some(Entry::Assistant(message, _)) => !message.calls.is_empty(),
            Some(Entry::System(_)) | None => false,
        };
        if !is_open {
            self.ask(vec![Part::Text(CONTINUE.to_owned())]);
        }
        self.entries
    }

    fn instruct(&mut self, text: String) {
        match self.entries.last_mut() {
            None => self.entries.push(Entry::System(text)),
            Some(Entry::System(before)) => append(before, &text),
            // Providers take instructions at the start alone, and moving them there would change what came before.
            Some(_) => self.ask(vec![Part::Text(text)]),
        }
    }

    fn ask(&mut self, parts: Vec<Part>) {
        if parts.is_empty() {
            return;
        }
        match self.entries.last_mut() {
            Some(Entry::User(before)) => {
                for part in parts {
                    add(before, part);
                }
                return;
            }
            Some(Entry::Assistant(message, _)) if !message.calls.is_empty() => {
                let bridge = AssistantMessage { text: BRIDGE.to_owned(), ..AssistantMessage::default() };
                self.entries.push(Entry::Assistant(bridge, Vec::new()));
            }
            _ => {}
        }
        self.entries.push(Entry::User(parts));
    }

    fn answer(&mut self, message: AssistantMessage, results: Vec<Option<String>>) {
        if message.text.is_empty() && message.calls.is_empty() {
            return;
        }
        match self.entries.last_mut() {
            None | Some(Entry::System(_)) => self.ask(vec![Part::Text(OPENING.to_owned())]),
            Some(Entry::Assistant(before, results_before)) if before.calls.is_empty() => {
                append(&mut before.text, &message.text);
                before.calls = message.calls;
                // Of two, the later one is what the calls follow from.
                before.reasoning.text = message.reasoning.text.or(before.reasoning.text.take());
                before.reasoning.details = message.reasoning.details.or(before.reasoning.details.take());
                *results_before = results;
                return;
            }
            Some(_) => {}
        }
        self.entries.push(Entry::Assistant(message, results));
    }
}

/// Returns the parts that say something, with neighbouring texts joined.
fn cleaned(parts: Vec<Part>, quirks: &Quirks) -> Vec<Part> {
    let mut cleaned = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Text(text) if is_blank(&text) => {}
            Part::Image(image) if !quirks.images || !is_image_url(&image.url) => {
                add(&mut cleaned, Part::Text("[image]".to_owned()));
            }
            part => add(&mut cleaned, part),
        }
    }
    cleaned
}

fn add(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (Some(Part::Text(before)), Part::Text(text)) => append(before, &text),
        (_, part) => parts.push(part),
    }
}

fn append(before: &mut String, text: &str) {
    if !before.is_empty() && !text.is_empty() {
        before.push_str("\n\n");
    }
    before.push_str(text);
}

/// Returns the reasoning that the provider wants back.
fn returned(reasoning: Reasoning, wanted: ReturnedReasoning) -> Reasoning {
    match wanted {
        ReturnedReasoning::None => Reasoning::default(),
        ReturnedReasoning::Content => Reasoning { text: reasoning.text, details: None },
        ReturnedReasoning::Details => Reasoning { text: None, details: reasoning.details },
    }
}
