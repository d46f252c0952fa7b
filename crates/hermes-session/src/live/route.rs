//! Routes: which session the messages of a chat belong to.

use super::mail::check_id;
use crate::{EndReason, Invalid, NewSession, SessionId, Timestamp};

/// A place that messages come from. The stored form prefixes each value with its length, so that different places never
/// share one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteKey {
    /// The platform.
    pub platform: String,
    /// The account on the platform.
    pub account: String,
    /// `dm`, `group`, `channel`, `thread` or another kind.
    pub chat_type: String,
    /// The chat, by the platform's id.
    pub chat: String,
    /// The thread in it.
    pub thread: Option<String>,
    /// The person, where each has a session of their own.
    pub participant: Option<String>,
}

impl RouteKey {
    /// Returns the stored form: each value with its length in bytes before it, `-` for a missing one.
    pub fn to_stored(&self) -> String {
        let always = [&self.platform, &self.account, &self.chat_type, &self.chat].map(Some);
        let all = always.into_iter().chain([self.thread.as_ref(), self.participant.as_ref()]);
        all.map(|value| value.map_or_else(|| "-".to_owned(), |text| format!("{}:{text}", text.len()))).collect()
    }

    /// Parses the stored form; `None` if it is not one.
    pub fn from_stored(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut next = || -> Option<Option<String>> {
            if let Some(after) = rest.strip_prefix('-') {
                rest = after;
                return Some(None);
            }
            let (length, after) = rest.split_once(':')?;
            let (value, after) = after.split_at_checked(length.parse().ok()?)?;
            rest = after;
            Some(Some(value.to_owned()))
        };
        let (platform, account, chat_type, chat) = (next()??, next()??, next()??, next()??);
        let (thread, participant) = (next()?, next()?);
        rest.is_empty().then_some(Self { platform, account, chat_type, chat, thread, participant })
    }

    /// Rejects a value that is empty, over-long or contains a NUL. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        let always = [&self.platform, &self.account, &self.chat_type, &self.chat];
        let all = always.into_iter().chain(&self.thread).chain(&self.participant);
        all.into_iter().try_for_each(|text| check_id("route", text))
    }
}

/// Data about the place of a route, for people, mirrors and the agent's own gateway.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The key of the place in the agent's form, such as `agent:main:telegram:dm:123`.
    pub session_key: String,
    /// The source of the first message, as JSON in the agent's form.
    pub source: Option<String>,
    /// Name of the place for people.
    pub display_name: Option<String>,
}

impl Origin {
    /// Rejects a value with a NUL and an over-long key. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        let texts = [Some(&self.session_key), self.source.as_ref(), self.display_name.as_ref()];
        if texts.into_iter().flatten().any(|text| text.contains('\0')) || self.session_key.len() > 2_048 {
            return Err(Invalid::new("route", "has an unusable origin", "use texts without a NUL"));
        }
        Ok(())
    }
}

/// A route as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The place.
    pub key: RouteKey,
    /// The session that its messages belong to.
    pub session: SessionId,
    /// Number of switches so far, from 1.
    pub generation: i64,
    /// Data about the place.
    pub origin: Origin,
    /// Time when it was created.
    pub created_at: Timestamp,
    /// Time of the last switch or turn.
    pub touched_at: Timestamp,
    /// Whether the next message starts a new session.
    pub suspended: bool,
    /// Notice that the next turn delivers.
    pub notice: Option<String>,
    /// Prompt tokens of the last call to the model.
    pub last_prompt_tokens: Option<i64>,
}

/// Cause of a reset, stored beside the end reason `session_reset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResetCause {
    /// Nobody wrote for the configured time.
    Idle,
    /// The daily hour passed.
    Daily,
    /// The route was suspended.
    Suspended,
}

impl ResetCause {
    /// Returns the stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Daily => "daily",
            Self::Suspended => "suspended",
        }
    }

    /// Returns the cause for a stored word; `None` for an unknown word.
    pub fn from_stored(word: &str) -> Option<Self> {
        [Self::Idle, Self::Daily, Self::Suspended].into_iter().find(|cause| cause.as_str() == word)
    }
}

/// How a route's session ends when the route leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Termination {
    /// End reason.
    pub reason: EndReason,
    /// Cause of a reset.
    pub cause: Option<ResetCause>,
}

/// The session that a route leads to after a switch.
#[derive(Debug, Clone, PartialEq)]
pub enum SwitchTo {
    /// A session that the switch creates.
    New(Box<NewSession>),
    /// A session that exists; it is reopened if it had ended.
    Existing(SessionId),
}

impl SwitchTo {
    /// Returns the id of the session.
    pub fn session(&self) -> &SessionId {
        match self {
            Self::New(new) => &new.id,
            Self::Existing(id) => id,
        }
    }
}

/// A change of a route, compared with its generation.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    /// The place.
    pub key: RouteKey,
    /// The generation that the caller saw; `None` if it saw no route.
    pub expected: Option<i64>,
    /// The session from now on.
    pub to: SwitchTo,
    /// End of the session until now, if it is another one and has not ended.
    pub end: Option<Termination>,
    /// Data about the place; `None` keeps that of the route.
    pub origin: Option<Origin>,
    /// Notice for the next turn.
    pub notice: Option<String>,
}

impl Switch {
    /// Rejects unusable values. Providers call this first, and go on with [`Switch::checked`].
    pub fn check(&self) -> Result<(), Invalid> {
        self.key.check()?;
        check_notice(self.notice.as_deref())?;
        self.origin.as_ref().map_or(Ok(()), Origin::check)
    }

    /// Returns the switch with its new session in the stored form, or the first reason why it is invalid.
    pub fn checked(self) -> Result<Self, Invalid> {
        self.check()?;
        let to = match self.to {
            SwitchTo::New(new) => SwitchTo::New(Box::new(new.checked()?)),
            existing @ SwitchTo::Existing(_) => existing,
        };
        Ok(Self { to, ..self })
    }
}

fn check_notice(notice: Option<&str>) -> Result<(), Invalid> {
    if notice.is_some_and(|notice| notice.contains('\0')) {
        return Err(Invalid::new("notice", "contains a NUL character", "remove it"));
    }
    Ok(())
}

/// Answer to a switch.
#[derive(Debug, Clone, PartialEq)]
pub enum Switched {
    /// The route leads there now.
    Done {
        /// The route.
        route: Box<Route>,
        /// The session that this call ended.
        ended: Option<SessionId>,
    },
    /// The route is not at the expected generation.
    Moved(Option<Box<Route>>),
}

/// A change of a route's attributes. `None` leaves a value unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoutePatch {
    /// Whether the next message starts a new session.
    pub suspended: Option<bool>,
    /// Notice that the next turn delivers.
    pub notice: Option<Option<String>>,
    /// Prompt tokens of the last call to the model.
    pub last_prompt_tokens: Option<Option<i64>>,
}

impl RoutePatch {
    /// Rejects a notice with a NUL. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        check_notice(self.notice.as_ref().and_then(Option::as_deref))
    }
}

impl Route {
    /// Returns the route after a switch. `before` is the route of the place, if it had one: its key, which may not be
    /// the one that the switch names, and the data about the place stay.
    pub fn switched(before: Option<Self>, switch: &Switch, now: Timestamp) -> Self {
        let origin = switch.origin.clone().or_else(|| before.as_ref().map(|route| route.origin.clone()));
        Self {
            generation: before.as_ref().map_or(1, |route| route.generation.saturating_add(1)),
            created_at: before.as_ref().map_or(now, |route| route.created_at),
            key: before.map_or_else(|| switch.key.clone(), |route| route.key),
            session: switch.to.session().clone(),
            origin: origin.unwrap_or_default(),
            touched_at: now,
            suspended: false,
            notice: switch.notice.clone(),
            last_prompt_tokens: None,
        }
    }

    /// Returns the route with changed attributes.
    #[must_use]
    pub fn patched(self, patch: &RoutePatch) -> Self {
        Self {
            suspended: patch.suspended.unwrap_or(self.suspended),
            notice: patch.notice.clone().unwrap_or(self.notice),
            last_prompt_tokens: patch.last_prompt_tokens.unwrap_or(self.last_prompt_tokens),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(chat: &str, thread: Option<&str>, participant: Option<&str>) -> RouteKey {
        RouteKey {
            platform: "telegram".into(),
            account: "12:ab".into(),
            chat_type: "group".into(),
            chat: chat.into(),
            thread: thread.map(Into::into),
            participant: participant.map(Into::into),
        }
    }

    #[test]
    fn a_user_and_a_topic_of_the_same_number_are_two_places() {
        let (topic, user) = (key("-100", Some("9"), None), key("-100", None, Some("9")));
        assert_ne!(topic.to_stored(), user.to_stored());
        assert_eq!(topic.to_stored(), "8:telegram5:12:ab5:group4:-1001:9-");
        for key in [topic, user, key("!r:s", Some("大"), Some("@u:s")), key("-", Some("-"), Some("1:x"))] {
            assert_eq!(RouteKey::from_stored(&key.to_stored()), Some(key));
        }
    }

    #[test]
    fn text_that_is_no_key_is_refused() {
        for text in ["", "8:telegram", "x", "1:a1:b1:c1:d--x", "1:a1:b1:c1:d-", "9:é1:b1:c1:d--", "-1:b1:c1:d--"] {
            assert_eq!(RouteKey::from_stored(text), None, "{text}");
        }
    }
}
