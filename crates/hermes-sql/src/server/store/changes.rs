//! The feed of changes.

/// Implements `ChangeStore` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_changes {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use async_trait::async_trait;
            use hermes_session::live::{ChangeMark, Changes};
            use hermes_session::{ChangeStore, StoreError};
            use $crate::job;
            use $crate::server::changes;

            #[async_trait]
            impl ChangeStore for $store {
                async fn changes(&self, after: Option<&ChangeMark>) -> Result<Changes, StoreError> {
                    job!(&self.database, Purpose::Read, "read changes", |transaction| changes::read(transaction, after))
                }
            }
        };
    };
}
