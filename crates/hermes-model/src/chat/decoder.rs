//! Answers from bytes.

use super::calls::{Calls, TooMany, older_form, pieces};
use super::details::Details;
use super::events::EventReader;
use super::think::{self, ThinkTags};
use super::value::{parsed, some_text, text};
use crate::answer::{Answer, Finish, Piece};
use crate::error::{RawAnswer, from_answer, from_value, looks_like_error};
use crate::{ErrorKind, ModelError, Tokens};
use hermes_session::Json;
use serde_json::Value;

/// Maximum size of an answer that is not streamed, in bytes.
const MAX_WHOLE: usize = 64 << 20;

/// Reads the body of an answer, in whatever pieces it arrives.
///
/// A stream of events, one JSON object although a stream was asked for, and a web page are distinguished by their first
/// character: content types of servers and proxies are often wrong.
#[derive(Debug, Default)]
pub struct Decoder {
    body: Body,
    said: Said,
}

#[derive(Debug, Default)]
enum Body {
    /// Nothing but white space so far.
    #[default]
    Blank,
    Events(EventReader),
    /// One JSON object, or a web page.
    Whole(Vec<u8>),
}

type OnPiece<'a> = &'a mut (dyn FnMut(Piece<'_>) + Send);

impl Decoder {
    /// Reads bytes, and passes on the pieces of the answer that they complete.
    ///
    /// # Errors
    /// If the server reports an error, or sends something else than an answer. The pieces passed on so far are void then.
    pub fn push(&mut self, bytes: &[u8], on_piece: OnPiece<'_>) -> Result<(), ModelError> {
        let bytes = match self.body {
            Body::Blank => {
                let is_blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(byte);
                let start = bytes.iter().position(|byte| !is_blank(byte)).unwrap_or(bytes.len());
                let bytes = &bytes[start..];
                match bytes.first() {
                    None => return Ok(()),
                    Some(b'{' | b'[' | b'<') => self.body = Body::Whole(Vec::new()),
                    Some(_) => self.body = Body::Events(EventReader::default()),
                }
                bytes
            }
            _ => bytes,
        };
        match &mut self.body {
            Body::Blank => Ok(()),
            Body::Events(reader) => reader.push(bytes, |data, is_error| self.said.event(data, is_error, on_piece)),
            Body::Whole(whole) if whole.len() + bytes.len() > MAX_WHOLE => {
                Err(ModelError::new(ErrorKind::GarbledStream, "an answer is larger than 64 MiB"))
            }
            Body::Whole(whole) => {
                whole.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Returns whether the server said that the answer ends here.
    pub const fn is_done(&self) -> bool {
        self.said.is_done
    }

    /// Returns whether the model has stopped. Only the usage may still come.
    pub const fn has_stopped(&self) -> bool {
        self.said.is_done || self.said.finish.is_some()
    }

    /// Returns the answer at the end of the body.
    ///
    /// # Errors
    /// [`ErrorKind::CutStream`] if the model had not stopped; others as [`push`](Self::push).
    pub fn finish(mut self, on_piece: OnPiece<'_>) -> Result<Answer, ModelError> {
        match std::mem::take(&mut self.body) {
            Body::Blank => {}
            Body::Events(reader) => reader.finish(|data, is_error| self.said.event(data, is_error, on_piece))?,
            Body::Whole(whole) => self.said.whole(&whole, on_piece)?,
        }
        self.said.end_text(on_piece);
        if !self.has_stopped() {
            return Err(ModelError::new(ErrorKind::CutStream, "it ended before the model had stopped"));
        }
        let usual = if self.said.calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        let finish = self.said.finish.take().unwrap_or(usual);
        Ok(self.said.into_answer(finish))
    }

    /// Returns the answer so far, of which the user does not want the rest.
    pub fn interrupted(mut self, on_piece: OnPiece<'_>) -> Answer {
        self.said.end_text(on_piece);
        self.said.into_answer(Finish::Interrupted)
    }
}

/// The answer so far.
#[derive(Debug, Default)]
struct Said {
    id: String,
    model: Option<String>,
    tags: ThinkTags,
    text: String,
    reasoning: String,
    has_reasoning_content: bool,
    details: Details,
    calls: Calls,
    tokens: Option<Tokens>,
    finish: Option<Finish>,
    is_done: bool,
}

impl Said {
    fn event(&mut self, data: &[u8], is_error: bool, on_piece: OnPiece<'_>) -> Result<(), ModelError> {
        let data = data.trim_ascii();
        if self.is_done || data.is_empty() {
            return Ok(());
        }
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        let outcome = match parsed(data) {
            Some(value) if is_error || looks_like_error(&value) => Err(from_value(&value, 200)),
            Some(value) => self.chunk(&value, on_piece),
            None if is_error => Err(ModelError::new(ErrorKind::ServerFault, String::from_utf8_lossy(data))),
            None => Err(ModelError::new(ErrorKind::GarbledStream, "an event is not JSON")),
        };
        match outcome {
            // The answer is complete; what fails or is cut off is the report of the usage.
            Err(_) if self.finish.is_some() => {
                self.is_done = true;
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Takes an answer that came as one object.
    fn whole(&mut self, body: &[u8], on_piece: OnPiece<'_>) -> Result<(), ModelError> {
        let error = || from_answer(RawAnswer { status: 200, body, retry_after: None });
        let value = match parsed(body) {
            Some(value) => value,
            None if body.starts_with(b"<") => return Err(error()),
            None => return Err(ModelError::new(ErrorKind::CutStream, "the JSON of the answer is not complete")),
        };
        if looks_like_error(&value) {
            return Err(error());
        }
        if !value.get("choices").is_some_and(Value::is_array) {
            return Err(ModelError::new(ErrorKind::GarbledStream, "the JSON has no choices"));
        }
        self.chunk(&value, on_piece)?;
        // It is complete, whether or not it says why it stopped.
        self.is_done = true;
        Ok(())
    }

    fn chunk(&mut self, value: &Value, on_piece: OnPiece<'_>) -> Result<(), ModelError> {
        if self.id.is_empty() {
            self.id.push_str(text(value, "id").unwrap_or_default());
        }
        if self.model.is_none() {
            self.model = some_text(value, "model").map(str::to_owned);
        }
        if let Some(tokens) = value.get("usage").and_then(Tokens::from_wire) {
            self.tokens = Some(tokens);
        }
        let choices = value.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.iter().find(is_first) else { return Ok(()) };
        let reason = some_text(choice, "finish_reason");
        // A router says so when the provider behind it fails in the middle.
        if looks_like_error(choice) || reason == Some("error") {
            return Err(from_value(choice, 200));
        }
        if let Some(delta) =
            [choice.get("delta"), choice.get("message")].into_iter().flatten().find(|it| it.is_object())
        {
            self.delta(delta, on_piece)?;
        }
        if let Some(reason) = reason {
            self.finish = Some(Finish::from_wire(reason));
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, on_piece: OnPiece<'_>) -> Result<(), ModelError> {
        let details = delta.get("reasoning_details");
        if let Some(details) = details {
            self.details.push(details);
        }
        self.has_reasoning_content |= delta.get("reasoning_content").is_some_and(Value::is_string);
        // Several fields may hold the same text; one of them counts.
        match some_text(delta, "reasoning_content").or_else(|| some_text(delta, "reasoning")) {
            Some(reasoning) => self.think(reasoning, on_piece),
            None => self.think(&details.map(Details::text).unwrap_or_default(), on_piece),
        }
        match delta.get("content") {
            Some(Value::String(text)) => self.write(text, on_piece),
            Some(Value::Array(parts)) => self.parts(parts, on_piece),
            _ => {}
        }
        if let Some(refusal) = some_text(delta, "refusal") {
            self.write(refusal, on_piece);
        }
        for piece in pieces(delta).iter().chain(older_form(delta)) {
            let begun = self.calls.push(piece);
            let begun = begun.map_err(|TooMany| ModelError::new(ErrorKind::GarbledStream, "too many tool calls"))?;
            if let Some(name) = begun {
                on_piece(Piece::Call(name));
            }
        }
        Ok(())
    }

    /// Takes content as a list of parts, as Mistral sends it.
    fn parts(&mut self, parts: &[Value], on_piece: OnPiece<'_>) {
        for part in parts {
            match part.get("thinking") {
                Some(Value::String(reasoning)) => self.think(reasoning, on_piece),
                Some(Value::Array(inner)) => {
                    for reasoning in inner.iter().filter_map(|part| text(part, "text")) {
                        self.think(reasoning, on_piece);
                    }
                }
                _ => self.write(text(part, "text").unwrap_or_default(), on_piece),
            }
        }
    }

    fn think(&mut self, reasoning: &str, on_piece: OnPiece<'_>) {
        if !reasoning.is_empty() {
            self.reasoning.push_str(reasoning);
            on_piece(Piece::Reasoning(reasoning));
        }
    }

    fn write(&mut self, content: &str, on_piece: OnPiece<'_>) {
        if content.is_empty() {
            return;
        }
        let Self { tags, text, reasoning, .. } = self;
        tags.push(content, &mut |piece| keep(piece, text, reasoning, on_piece));
    }

    fn end_text(&mut self, on_piece: OnPiece<'_>) {
        let Self { tags, text, reasoning, .. } = self;
        tags.finish(&mut |piece| keep(piece, text, reasoning, on_piece));
    }

    fn into_answer(self, finish: Finish) -> Answer {
        let is_cut = matches!(finish, Finish::Length | Finish::Interrupted | Finish::Filtered);
        let reasoning = (!self.reasoning.is_empty()).then_some(self.reasoning);
        Answer {
            text: self.text,
            reasoning_content: self.has_reasoning_content.then(|| reasoning.clone().unwrap_or_default()),
            reasoning,
            reasoning_details: self.details.finish().map(|details| Json::from_value(&details)),
            calls: self.calls.finish(is_cut, &self.id),
            finish,
            tokens: self.tokens,
            model: self.model,
        }
    }
}

fn keep(piece: think::Piece<'_>, text: &mut String, reasoning: &mut String, on_piece: OnPiece<'_>) {
    match piece {
        think::Piece::Text(piece) => {
            text.push_str(piece);
            on_piece(Piece::Text(piece));
        }
        think::Piece::Reasoning(piece) => {
            reasoning.push_str(piece);
            on_piece(Piece::Reasoning(piece));
        }
    }
}
