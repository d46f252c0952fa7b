//! Puts the sample conversations into a store, through the same calls an agent makes.

mod texts;

use super::Named;
use hermes_session::{
    EndReason, Json, Maintenance, MessageBody, NewChild, NewMessage, NewSession, Request, Role, SessionId, Source,
    StoreError, Timestamp, Title,
};
use hermes_terminal::time::Now;
use std::hash::{BuildHasher as _, Hasher as _};
use texts::{BRANCH, CODING, COMPRESSED, CONTINUED, OTHERS, Sample, Turn};

/// Seconds between two messages.
const PACE: f64 = 25.0;

/// The samples that the tour shows.
pub(super) struct Stored {
    pub(super) coding: Named,
    pub(super) compressed: Named,
}

/// Stores every sample, dated back from now.
pub(super) async fn store(store: &dyn Maintenance, now: &Now) -> Result<Stored, StoreError> {
    let writer = Writer { store, now };
    for sample in OTHERS {
        writer.conversation(sample).await?;
    }
    let coding = writer.conversation(&CODING).await?;
    writer.branch(&coding).await?;
    let compressed = writer.compressed().await?;
    Ok(Stored { coding, compressed })
}

struct Writer<'a> {
    store: &'a dyn Maintenance,
    now: &'a Now,
}

impl Writer<'_> {
    async fn conversation(&self, sample: &Sample) -> Result<Named, StoreError> {
        let at = self.now.at.plus(-sample.seconds_ago);
        let id = self.new_id(at, sample.source);
        let session = NewSession {
            model: Some(sample.model.into()),
            user_id: sample.user.map(Into::into),
            ..NewSession::new(id.clone(), Source::parse(sample.source)?)
        };
        self.store.create(&session, &Request::at(at)).await?;
        let end = self.say(&id, sample.turns, at).await?;
        let title = match sample.title {
            Some(title) => self.store.allocate_title(&id, &Title::parse(title)?, &Request::at(end)).await?.to_string(),
            None => id.to_string(),
        };
        if let Some(reason) = sample.ended {
            self.store.end(&id, &EndReason::parse(reason)?, &Request::at(end.plus(PACE))).await?;
        }
        Ok(Named { id, title })
    }

    /// Stores a branch: another attempt that starts where the first one stopped.
    async fn branch(&self, parent: &Named) -> Result<(), StoreError> {
        let at = self.now.at.plus(-BRANCH.seconds_ago);
        let child = NewChild::new(self.new_id(at, BRANCH.source));
        self.store.branch(&parent.id, &child, &Request::at(at)).await?;
        self.say(&child.id, BRANCH.turns, at).await?;
        if let Some(title) = BRANCH.title {
            self.store.allocate_title(&child.id, &Title::parse(title)?, &Request::at(at)).await?;
        }
        Ok(())
    }

    /// Stores a conversation that grew too long for its context and continued in a second session.
    async fn compressed(&self) -> Result<Named, StoreError> {
        let first = self.conversation(&COMPRESSED).await?;
        let at = self.now.at.plus(-CONTINUED.seconds_ago);
        let child = NewChild::new(self.new_id(at, CONTINUED.source));
        let (kept, new) = CONTINUED.turns.split_at(texts::KEPT_TURNS);
        let kept = messages(kept, at);
        let begin = kept.last().and_then(|message| message.timestamp).unwrap_or(at);
        let title = self.store.split(&first.id, &child, &kept, &Request::at(at)).await?;
        self.say(&child.id, new, begin.plus(PACE)).await?;
        Ok(Named { title: title.map_or_else(|| child.id.to_string(), |title| title.to_string()), id: child.id })
    }

    /// Appends messages from `at` on. Returns the time of the last one.
    async fn say(&self, id: &SessionId, turns: &[Turn], at: Timestamp) -> Result<Timestamp, StoreError> {
        let messages = messages(turns, at);
        let end = messages.last().and_then(|message| message.timestamp).unwrap_or(at);
        self.store.append(id, &messages, &Request::at(end)).await?;
        Ok(end)
    }

    fn new_id(&self, at: Timestamp, source: &str) -> SessionId {
        // Each hasher starts with different keys, which is random enough for a sample.
        let random = std::hash::RandomState::new().build_hasher().finish();
        let at = at.to_calendar().unwrap_or_default().to_zoned(self.now.zone.clone());
        if source == "cli" { SessionId::terminal(&at, random) } else { SessionId::gateway(&at, random) }
    }
}

fn messages(turns: &[Turn], start: Timestamp) -> Vec<NewMessage> {
    let mut messages: Vec<NewMessage> = Vec::new();
    let mut push = |body: MessageBody| {
        let at = start.plus(PACE * messages.len() as f64);
        messages.push(NewMessage::from(body).said_at(at));
    };
    for (number, turn) in turns.iter().enumerate() {
        match *turn {
            Turn::User(text) => push(MessageBody::new(Role::User, text)),
            Turn::Agent(text) => push(MessageBody::new(Role::Assistant, text)),
            Turn::Call { says, tool, arguments, result } => {
                let call_id = format!("call_{number}");
                let call = serde_json::json!([{
                    "id": call_id,
                    "type": "function",
                    "function": { "name": tool, "arguments": arguments },
                }]);
                push(MessageBody {
                    tool_calls: Some(Json::from_value(&call)),
                    finish_reason: Some("tool_calls".into()),
                    ..MessageBody::new(Role::Assistant, says)
                });
                push(MessageBody {
                    tool_call_id: Some(call_id),
                    tool_name: Some(tool.into()),
                    ..MessageBody::new(Role::Tool, result)
                });
            }
        }
    }
    messages
}
