//! The contract for a provider of a server: each call is one transaction.

mod conversations;
mod gateway;
mod maintenance;
mod sessions;

/// Implements the contract for a store that has a `database` and `notices`, in a crate that has a `database`, `indexes`, `search`, `backup` and the like:
/// each call is a job of the function that is called as it is.
#[macro_export]
macro_rules! server_store {
    ($store:ty) => {
        $crate::server_sessions!($store);
        $crate::server_conversations!($store);
        $crate::server_gateway!($store);
        $crate::server_maintenance!($store);
    };
}
