//! Data of live clients: who owns a conversation, the open turn, messages from and to platforms, routes, undone
//! messages, and changes to follow.
//!
//! Types and pure transitions. The calls are in the contract: [`LeaseStore`](crate::LeaseStore),
//! [`TurnStore`](crate::TurnStore), [`MailStore`](crate::MailStore), [`RouteStore`](crate::RouteStore) and
//! [`ChangeStore`](crate::ChangeStore).

pub mod carry;
pub mod changes;
pub mod lease;
pub mod mail;
pub mod route;
pub mod turn;
pub mod undo;

pub use carry::{Carried, LiveKind, LiveRecord};
pub use changes::{ChangeMark, Changed, Changes, Kinds};
pub use lease::{Acquired, Fence, Grant, Holder, Lease, MAX_HOLD_NAME, Renewed, Resource, Take, Terms};
pub use mail::{
    Account, Inbound, InboxId, InboxItem, InboxState, MAX_CURSOR, MAX_PAYLOAD, NewOutbound, NewPart, Outbound,
    OutboundId, OutboundState, Received, Settled,
};
pub use route::{Origin, ResetCause, Route, RouteKey, RoutePatch, Switch, SwitchTo, Switched, Termination};
pub use turn::{NewTurn, OpenedTurn, Said, Turn, TurnClose, TurnId, TurnKind};
pub use undo::{Undone, UndoneMessage};
