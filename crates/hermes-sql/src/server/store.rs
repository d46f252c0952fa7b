//! The contract for a provider of a server: each call is one transaction.

mod changes;
mod conversations;
mod gateway;
mod leases;
mod mail;
mod maintenance;
mod routes;
mod sessions;
mod turns;

/// Implements the contract for a store with the fields `database` and `notices`, in a crate with modules such as
/// `database`, `indexes`, `search` and `backup`. Each call runs the function of the same name as a job.
#[macro_export]
macro_rules! server_store {
    ($store:ty) => {
        $crate::server_sessions!($store);
        $crate::server_conversations!($store);
        $crate::server_gateway!($store);
        $crate::server_leases!($store);
        $crate::server_turns!($store);
        $crate::server_mail!($store);
        $crate::server_routes!($store);
        $crate::server_changes!($store);
        $crate::server_maintenance!($store);
    };
}
