//! Live data on its way from one store to another.

use super::State;
use hermes_session::MessageId;
use hermes_session::live::{Carried, InboxId, InboxItem, LiveKind, LiveRecord, Outbound, OutboundId, Route, Turn};

const NO_SESSION: Carried = Carried::Left("its session does not exist");

impl State {
    /// Returns all live data, in order.
    pub(super) fn live_records(&self) -> Vec<LiveRecord> {
        let mut records: Vec<LiveRecord> = Vec::new();
        records.extend(self.routes.values().map(|route| LiveRecord::Route(Box::new(route.clone()))));
        records.extend(self.aliases.iter().filter_map(|(old, key)| {
            let parse = hermes_session::live::RouteKey::from_stored;
            Some(LiveRecord::Alias { old: parse(old)?, key: Box::new(parse(key)?) })
        }));
        records.extend(
            self.cursors
                .iter()
                .map(|(account, value)| LiveRecord::Cursor { account: account.clone(), value: value.clone() }),
        );
        records.extend(self.open_turns().map(|turn| LiveRecord::Turn(Box::new(turn))));
        records.extend(self.inbox.values().map(|item| LiveRecord::Inbox(Box::new(item.clone()))));
        records.extend(self.outbox.values().map(|part| LiveRecord::Outbound(Box::new(part.clone()))));
        records.extend(
            self.causes.iter().map(|(session, cause)| LiveRecord::Cause { session: session.clone(), cause: *cause }),
        );
        records
    }

    /// Stores a record of another store.
    pub(super) fn import_live(&mut self, record: &LiveRecord) -> Carried {
        match record {
            LiveRecord::Route(route) => self.import_route(route),
            LiveRecord::Alias { old, key } => {
                let (old, key) = (old.to_stored(), key.to_stored());
                if self.routes.contains_key(&old) || self.aliases.contains_key(&old) {
                    return Carried::Known;
                }
                if !self.routes.contains_key(&key) {
                    return Carried::Left("its route does not exist");
                }
                self.aliases.insert(old, key);
                Carried::Stored
            }
            LiveRecord::Cursor { account, value } => {
                if self.cursors.contains_key(account) {
                    return Carried::Known;
                }
                self.cursors.insert(account.clone(), value.clone());
                Carried::Stored
            }
            LiveRecord::Turn(turn) => self.import_turn(turn),
            LiveRecord::Inbox(item) => self.import_inbox(item),
            LiveRecord::Outbound(part) => self.import_outbound(part),
            LiveRecord::Cause { session, cause } => {
                if self.causes.contains_key(session) {
                    return Carried::Known;
                }
                if !self.sessions.contains_key(session) {
                    return NO_SESSION;
                }
                self.causes.insert(session.clone(), *cause);
                Carried::Stored
            }
        }
    }

    fn import_route(&mut self, route: &Route) -> Carried {
        let key = route.key.to_stored();
        if self.routes.contains_key(&key) || self.aliases.contains_key(&key) {
            return Carried::Known;
        }
        if !self.sessions.contains_key(&route.session) {
            return NO_SESSION;
        }
        self.routes.insert(key, route.clone());
        Carried::Stored
    }

    fn import_turn(&mut self, turn: &Turn) -> Carried {
        let Ok(conversation) = self.root_of(&turn.session) else { return NO_SESSION };
        if let Some(open) = self.turn_of(&conversation) {
            return if open.id == turn.id { Carried::Known } else { Carried::Left("its conversation is in a turn") };
        }
        if turn.id.0 <= self.last_turn {
            return Carried::Left("its number was used");
        }
        self.last_turn = turn.id.0;
        self.turns.insert(turn.id, Turn { conversation, fence: None, ..turn.clone() });
        Carried::Stored
    }

    fn import_inbox(&mut self, item: &InboxItem) -> Carried {
        let is_known = |known: &InboxItem| {
            known.account == item.account
                && known.inbound.chat == item.inbound.chat
                && known.inbound.message_id == item.inbound.message_id
        };
        if self.inbox.values().any(is_known) {
            return Carried::Known;
        }
        let has_turn = item.turn.is_some_and(|turn| self.turns.contains_key(&turn));
        let has_message = item.stored_message.is_some_and(|message| self.has_message(message));
        let item = item.clone().carried(has_turn, has_message);
        self.last_inbox_id += 1;
        let id = InboxId(self.last_inbox_id);
        self.inbox.insert(id, InboxItem { id, ..item });
        Carried::Stored
    }

    fn import_outbound(&mut self, part: &Outbound) -> Carried {
        let identity = |part: &Outbound| LiveRecord::Outbound(Box::new(part.clone())).identity();
        if self.outbox.values().any(|known| identity(known) == identity(part)) {
            return Carried::Known;
        }
        let has_turn = part.turn.is_some_and(|turn| self.turns.contains_key(&turn));
        let has_session = part.session.as_ref().is_some_and(|session| self.sessions.contains_key(session));
        self.last_outbound_id += 1;
        let id = OutboundId(self.last_outbound_id);
        self.outbox.insert(id, Outbound { id, ..part.clone().carried(has_turn, has_session) });
        Carried::Stored
    }

    fn has_message(&self, id: MessageId) -> bool {
        self.transcripts.values().flatten().any(|message| message.id == id)
    }
}

/// Returns the position of a record among all records.
pub(super) fn position(record: &LiveRecord) -> (LiveKind, i64, String) {
    let (number, key) = match record {
        LiveRecord::Turn(turn) => (turn.id.0, String::new()),
        LiveRecord::Inbox(item) => (item.id.0, String::new()),
        LiveRecord::Outbound(part) => (part.id.0, String::new()),
        other => (0, other.identity().1.concat()),
    };
    (record.kind(), number, key)
}
