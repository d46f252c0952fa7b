//! Answers of the calls about turns, undone messages and routes.
//!
//! The fields of an answer in a fixed order, each as its length in bytes, a colon and its text; `-` for a missing one.

use super::Answer;
use hermes_session::live::{Fence, OpenedTurn, Origin, Route, RouteKey, Switched, Turn, TurnId, TurnKind, Undone};
use hermes_session::{MessageId, SessionId, Timestamp};

/// Text of fields, to be appended to.
#[derive(Default)]
struct Written(String);

impl Written {
    fn field(self, value: &str) -> Self {
        self.optional(Some(value))
    }

    fn optional(mut self, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.0.push_str(&format!("{}:{value}", value.len())),
            None => self.0.push('-'),
        }
        self
    }

    fn number(self, value: impl Into<i64>) -> Self {
        self.optional_number(Some(value.into()))
    }

    fn optional_number(self, value: Option<i64>) -> Self {
        self.optional(value.map(|value| value.to_string()).as_deref())
    }

    /// Appends the time as the bits of its double, because an answer is returned exactly as it was.
    fn time(self, at: Timestamp) -> Self {
        self.field(&format!("{:x}", at.seconds().to_bits()))
    }
}

/// Text of fields, to be read from its start. Each method returns `None` for text that is no such field.
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    fn optional(&mut self) -> Option<Option<&'a str>> {
        if let Some(rest) = self.0.strip_prefix('-') {
            self.0 = rest;
            return Some(None);
        }
        let (length, rest) = self.0.split_once(':')?;
        let (value, rest) = rest.split_at_checked(length.parse().ok()?)?;
        self.0 = rest;
        Some(Some(value))
    }

    fn field(&mut self) -> Option<&'a str> {
        self.optional()?
    }

    fn text(&mut self) -> Option<Option<String>> {
        Some(self.optional()?.map(ToOwned::to_owned))
    }

    fn number(&mut self) -> Option<i64> {
        self.optional_number()?
    }

    fn optional_number(&mut self) -> Option<Option<i64>> {
        self.optional()?.map(str::parse).transpose().ok()
    }

    fn session(&mut self) -> Option<SessionId> {
        self.field().map(SessionId::from_stored)
    }

    fn time(&mut self) -> Option<Timestamp> {
        Timestamp::from_seconds(f64::from_bits(u64::from_str_radix(self.field()?, 16).ok()?)).ok()
    }

    fn turn(&mut self) -> Option<Turn> {
        Some(Turn {
            id: TurnId(self.number()?),
            conversation: self.session()?,
            session: self.session()?,
            kind: TurnKind::from_stored(self.field()?)?,
            route: self.optional()?.map_or(Some(None), |key| RouteKey::from_stored(key).map(Some))?,
            fence: self.optional_number()?.map(Fence),
            attempts: self.number()?.try_into().ok()?,
            opened_at: self.time()?,
            opened_by: self.text()??,
        })
    }

    fn route(&mut self) -> Option<Route> {
        Some(Route {
            key: RouteKey::from_stored(self.field()?)?,
            session: self.session()?,
            generation: self.number()?,
            origin: Origin { session_key: self.text()??, source: self.text()?, display_name: self.text()? },
            created_at: self.time()?,
            touched_at: self.time()?,
            suspended: bool::recall(self.field()?)?,
            notice: self.text()?,
            last_prompt_tokens: self.optional_number()?,
        })
    }

    /// Returns the answer if nothing is left of the text.
    fn end<T>(&self, answer: T) -> Option<T> {
        self.0.is_empty().then_some(answer)
    }
}

fn turn(written: Written, turn: &Turn) -> Written {
    written
        .number(turn.id.0)
        .field(turn.conversation.as_str())
        .field(turn.session.as_str())
        .field(turn.kind.as_str())
        .optional(turn.route.as_ref().map(RouteKey::to_stored).as_deref())
        .optional_number(turn.fence.map(|fence| fence.0))
        .number(turn.attempts)
        .time(turn.opened_at)
        .field(&turn.opened_by)
}

fn route(written: Written, route: &Route) -> Written {
    written
        .field(&route.key.to_stored())
        .field(route.session.as_str())
        .number(route.generation)
        .field(&route.origin.session_key)
        .optional(route.origin.source.as_deref())
        .optional(route.origin.display_name.as_deref())
        .time(route.created_at)
        .time(route.touched_at)
        .field(&route.suspended.keep())
        .optional(route.notice.as_deref())
        .optional_number(route.last_prompt_tokens)
}

impl Answer for Turn {
    fn keep(&self) -> String {
        turn(Written::default(), self).0
    }
    fn recall(text: &str) -> Option<Self> {
        let mut fields = Fields(text);
        let turn = fields.turn()?;
        fields.end(turn)
    }
}

impl Answer for OpenedTurn {
    fn keep(&self) -> String {
        turn(Written::default(), &self.turn)
            .field(&self.messages.keep())
            .optional_number(self.interrupted.map(|turn| turn.0))
            .optional(self.notice.as_deref())
            .0
    }
    fn recall(text: &str) -> Option<Self> {
        let mut fields = Fields(text);
        let opened = Self {
            turn: fields.turn()?,
            messages: Vec::recall(fields.field()?)?,
            interrupted: fields.optional_number()?.map(TurnId),
            notice: fields.text()?,
        };
        fields.end(opened)
    }
    fn first_message(&self) -> Option<MessageId> {
        self.messages.first_message()
    }
}

impl Answer for Undone {
    fn keep(&self) -> String {
        format!("{} {}", self.batch, self.messages)
    }
    fn recall(text: &str) -> Option<Self> {
        let (batch, messages) = text.split_once(' ')?;
        Some(Self { batch: batch.parse().ok()?, messages: messages.parse().ok()? })
    }
}

impl Answer for Switched {
    fn keep(&self) -> String {
        let written = Written::default();
        let written = match self {
            Self::Done { route: there, ended } => {
                route(written.field("done").optional(ended.as_ref().map(SessionId::as_str)), there)
            }
            Self::Moved(Some(there)) => route(written.field("moved"), there),
            Self::Moved(None) => written.field("none"),
        };
        written.0
    }
    fn recall(text: &str) -> Option<Self> {
        let mut fields = Fields(text);
        let switched = match fields.field()? {
            "done" => {
                let ended = fields.optional()?.map(SessionId::from_stored);
                Self::Done { route: Box::new(fields.route()?), ended }
            }
            "moved" => Self::Moved(Some(Box::new(fields.route()?))),
            "none" => Self::Moved(None),
            _ => return None,
        };
        fields.end(switched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Debug;

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![Just(String::new()), "[-:0-9 é大\n\"']{0,12}"]
    }

    fn session() -> impl Strategy<Value = SessionId> {
        text().prop_map(SessionId::from_stored)
    }

    fn time() -> impl Strategy<Value = Timestamp> {
        prop_oneof![Just(-0.0), Just(f64::MIN_POSITIVE), Just(f64::MAX), -2e9..2e9]
            .prop_map(|seconds| Timestamp::from_seconds(seconds).unwrap())
    }

    fn maybe<T: Debug>(some: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
        proptest::option::of(some)
    }

    fn key() -> impl Strategy<Value = RouteKey> {
        let texts = (text(), text(), text(), text(), maybe(text()), maybe(text()));
        texts.prop_map(|(platform, account, chat_type, chat, thread, participant)| RouteKey {
            platform,
            account,
            chat_type,
            chat,
            thread,
            participant,
        })
    }

    fn turn() -> impl Strategy<Value = Turn> {
        let kinds = prop_oneof![Just(TurnKind::Person), Just(TurnKind::Handoff), Just(TurnKind::Hook)];
        let fields = (
            any::<i64>(),
            session(),
            session(),
            kinds,
            maybe(key()),
            maybe(any::<i64>()),
            any::<u32>(),
            time(),
            text(),
        );
        fields.prop_map(|(id, conversation, session, kind, route, fence, attempts, opened_at, opened_by)| Turn {
            id: TurnId(id),
            conversation,
            session,
            kind,
            route,
            fence: fence.map(Fence),
            attempts,
            opened_at,
            opened_by,
        })
    }

    fn opened() -> impl Strategy<Value = OpenedTurn> {
        let messages = proptest::collection::vec(any::<i64>().prop_map(MessageId), 0..4);
        (turn(), messages, maybe(any::<i64>()), maybe(text())).prop_map(|(turn, messages, interrupted, notice)| {
            OpenedTurn { turn, messages, interrupted: interrupted.map(TurnId), notice }
        })
    }

    fn route() -> impl Strategy<Value = Box<Route>> {
        let origin = (text(), maybe(text()), maybe(text())).prop_map(|(session_key, source, display_name)| Origin {
            session_key,
            source,
            display_name,
        });
        let fields =
            (key(), session(), any::<i64>(), origin, time(), time(), any::<bool>(), maybe(text()), maybe(any::<i64>()));
        fields.prop_map(
            |(key, session, generation, origin, created_at, touched_at, suspended, notice, last_prompt_tokens)| {
                Box::new(Route {
                    key,
                    session,
                    generation,
                    origin,
                    created_at,
                    touched_at,
                    suspended,
                    notice,
                    last_prompt_tokens,
                })
            },
        )
    }

    fn switched() -> impl Strategy<Value = Switched> {
        prop_oneof![
            (route(), maybe(session())).prop_map(|(route, ended)| Switched::Done { route, ended }),
            maybe(route()).prop_map(Switched::Moved),
        ]
    }

    /// Asserts that the answer is read back, and that no part of its text is taken for an answer.
    fn assert_read_back<T: Answer + PartialEq + Debug>(answer: &T) {
        let text = answer.keep();
        assert_eq!(T::recall(&text).as_ref(), Some(answer));
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert_eq!(T::recall(&text[..end]), None, "{:?}", &text[..end]);
        }
        assert_eq!(T::recall(&format!("{text}1:x")), None);
    }

    proptest! {
        #[test]
        fn answers_are_read_back(opened in opened(), switched in switched()) {
            assert_read_back(&opened);
            assert_read_back(&opened.turn);
            assert_read_back(&switched);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[-:0-9a-zé ]{0,40}") {
            OpenedTurn::recall(&text);
            Switched::recall(&text);
            Undone::recall(&text);
        }
    }

    #[test]
    fn numbers_of_an_undo_are_read_back() {
        for undone in [Undone { batch: 1, messages: 2 }, Undone { batch: i64::MAX, messages: u64::MAX }] {
            assert_eq!(Undone::recall(&undone.keep()), Some(undone));
        }
        assert_eq!((Undone::recall(""), Undone::recall("1"), Undone::recall("1 x")), (None, None, None));
    }

    #[test]
    fn the_key_of_an_opened_turn_lives_as_long_as_its_messages() {
        let text = "1:71:a1:a6:person--1:11:01:x7:11 12 ---";
        assert_eq!(OpenedTurn::recall(text), None);
        let opened = OpenedTurn::recall("1:71:a1:a6:person--1:11:01:x5:11 12--").unwrap();
        assert_eq!(opened.first_message(), Some(MessageId(11)));
    }
}
