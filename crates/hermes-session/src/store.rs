//! The contract that every store fulfils, whatever database is underneath.
//!
//! A provider answers literally; everything that can be composed of these calls is a function of this crate, written
//! once. Each method names its cases in `hermes-conformance`. A provider implements each trait in a file of the same
//! name.

mod changes;
mod conversations;
mod gateway;
mod leases;
mod mail;
mod maintenance;
mod routes;
mod sessions;
mod turns;

pub use changes::ChangeStore;
pub use conversations::ConversationStore;
pub use gateway::GatewayStore;
pub use leases::LeaseStore;
pub use mail::MailStore;
pub use maintenance::Maintenance;
pub use routes::RouteStore;
pub use sessions::SessionStore;
pub use turns::TurnStore;

/// The complete contract.
pub trait Store: GatewayStore + Maintenance + LeaseStore + TurnStore + MailStore + RouteStore + ChangeStore {}

impl<T: GatewayStore + Maintenance + LeaseStore + TurnStore + MailStore + RouteStore + ChangeStore> Store for T {}
