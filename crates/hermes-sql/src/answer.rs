//! Answers stored beside idempotency keys, so that a repeated request gets the same answer.

mod live;

use hermes_session::gateway::{Claim, Claimed};
use hermes_session::live::Fence;
use hermes_session::{Deleted, Ensured, MessageId, Restored, Tag, Title};

/// An answer that can be stored beside its idempotency key.
pub trait Answer: Sized {
    /// Encodes the answer as text.
    fn keep(&self) -> String;
    /// Decodes an answer from its text. Returns `None` if the text is not a valid answer.
    fn recall(text: &str) -> Option<Self>;
    /// Returns the first message that the change created, if any. The key is valid as long as that message exists.
    fn first_message(&self) -> Option<MessageId> {
        None
    }
}

impl Answer for () {
    fn keep(&self) -> String {
        String::new()
    }
    fn recall(_text: &str) -> Option<Self> {
        Some(())
    }
}

impl Answer for bool {
    fn keep(&self) -> String {
        self.to_string()
    }
    fn recall(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Answer for Ensured {
    fn keep(&self) -> String {
        format!("{self:?}")
    }
    fn recall(text: &str) -> Option<Self> {
        [Self::Created, Self::Filled, Self::Existed].into_iter().find(|ensured| ensured.keep() == text)
    }
}

impl Answer for Title {
    fn keep(&self) -> String {
        self.as_str().to_owned()
    }
    fn recall(text: &str) -> Option<Self> {
        Self::clean(text).ok().flatten()
    }
}

impl Answer for Option<Title> {
    fn keep(&self) -> String {
        self.as_ref().map(Title::keep).unwrap_or_default()
    }
    fn recall(text: &str) -> Option<Self> {
        Some(Title::recall(text))
    }
}

impl Answer for Option<Claimed> {
    fn keep(&self) -> String {
        let Some(Claimed { claim, fence }) = self else { return String::new() };
        let fence = fence.map(|Fence(token)| format!(" {token}")).unwrap_or_default();
        format!("{}{fence}", claim.0)
    }
    fn recall(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(None);
        }
        let (claim, fence) = text.split_once(' ').map_or((text, None), |(claim, fence)| (claim, Some(fence)));
        let fence = fence.map(|token| token.parse().map(Fence)).transpose().ok()?;
        Some(Some(Claimed { claim: Claim(claim.parse().ok()?), fence }))
    }
}

impl Answer for Deleted {
    fn keep(&self) -> String {
        format!("{} {}", self.sessions, self.messages)
    }
    fn recall(text: &str) -> Option<Self> {
        let (sessions, messages) = text.split_once(' ')?;
        Some(Self { sessions: sessions.parse().ok()?, messages: messages.parse().ok()? })
    }
}

impl Answer for Restored {
    fn keep(&self) -> String {
        self.to_text()
    }
    fn recall(text: &str) -> Option<Self> {
        Self::from_text(text)
    }
}

impl Answer for Vec<MessageId> {
    fn keep(&self) -> String {
        self.iter().map(MessageId::to_string).collect::<Vec<_>>().join(" ")
    }
    fn recall(text: &str) -> Option<Self> {
        text.split_ascii_whitespace().map(|id| id.parse().ok().map(MessageId)).collect()
    }
    fn first_message(&self) -> Option<MessageId> {
        self.first().copied()
    }
}

/// Joined with commas, which no tag contains.
impl Answer for Vec<Tag> {
    fn keep(&self) -> String {
        self.iter().map(Tag::as_str).collect::<Vec<_>>().join(",")
    }
    fn recall(text: &str) -> Option<Self> {
        Some(text.split(',').filter(|tag| !tag.is_empty()).map(Tag::from_stored).collect())
    }
}
