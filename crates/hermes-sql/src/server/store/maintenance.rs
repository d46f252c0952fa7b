//! Upkeep, verification, backup, statistics, retention, import.

/// Implements `Maintenance` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_maintenance {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use crate::indexes::Written;
            use crate::{backup, foreign};
            use async_trait::async_trait;
            use hermes_session::extra::Table;
            use hermes_session::import::{ImportPiece, Imported, LeftOut, TableRow, checked_link};
            use hermes_session::live::{Carried, LiveRecord};
            use hermes_session::retention::{Pruned, RetentionPolicy};
            use hermes_session::{
                BackupReport, Foreign, Insights, InsightsRequest, Maintenance, Optimizing, PinAndTags, Relation,
                Report, Room, SessionId, Statistics, StoreError, StoreStatus, Timestamp,
            };
            use std::path::Path;
            use $crate::job;
            use $crate::server::{
                Words as _, carry, changes, deletion, import, insights, maintenance, messages, meta, pins_and_tags,
                statistics, verify,
            };

            #[async_trait]
            impl Maintenance for $store {
                async fn upkeep(&self) -> Result<bool, StoreError> {
                    let is_done = self.optimize().await? == Optimizing::Done;
                    let has_old =
                        job!(&self.database, Purpose::write_much(&[]), "forget old changes", |transaction| {
                            changes::prune(transaction)
                        })?;
                    if is_done {
                        self.database.tidy().await;
                    }
                    Ok(!is_done || has_old)
                }

                async fn optimize(&self) -> Result<Optimizing, StoreError> {
                    const OP: &str = "read messages again";
                    let next = job!(&self.database, Purpose::Read, OP, |transaction| maintenance::next(transaction))?;
                    let Some(next) = next else { return Ok(Optimizing::Done) };
                    // The cached vocabulary may be what the rebuild has to correct.
                    self.database.vocabulary.forget();
                    job!(&self.database, Purpose::write_much(&next.words), OP, |transaction| {
                        maintenance::rebuild_step(transaction, &next)
                    })
                }

                async fn rebuild_indexes(&self) -> Result<(), StoreError> {
                    job!(&self.database, Purpose::write(&[]), "start rebuilding the indexes", |transaction| {
                        maintenance::rebuild(transaction)
                    })
                }

                async fn verify(&self) -> Result<Report, StoreError> {
                    job!(&self.database, Purpose::ReadAll, "verify the store", |transaction| verify::verify(
                        transaction
                    ))
                }

                async fn recount(&self, id: &SessionId) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "recount messages", |transaction| {
                        messages::recount(transaction, id)
                    })
                }

                async fn backup(&self, target: &Path) -> Result<BackupReport, StoreError> {
                    backup::write(self, target).await
                }

                fn notices(&self) -> Vec<String> {
                    self.notices.clone()
                }

                async fn statistics(&self) -> Result<Statistics, StoreError> {
                    job!(&self.database, Purpose::ReadBehind, "compute statistics", |transaction| {
                        statistics::statistics(transaction)
                    })
                }

                async fn insights(&self, request: &InsightsRequest) -> Result<Insights, StoreError> {
                    job!(&self.database, Purpose::ReadBehind, "compute insights", |transaction| {
                        insights::insights(transaction, request)
                    })
                }

                async fn room(&self) -> Result<Room, StoreError> {
                    job!(&self.database, Purpose::ReadBehind, "measure disk usage", |transaction| {
                        crate::statistics::room(transaction)
                    })
                }

                async fn status(&self) -> Result<StoreStatus, StoreError> {
                    job!(&self.database, Purpose::Read, "read the status", |transaction| {
                        crate::maintenance::status(transaction, &self.database)
                    })
                }

                async fn prune(
                    &self,
                    conversations: &[SessionId],
                    policy: &RetentionPolicy,
                    now: Timestamp,
                ) -> Result<Pruned, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "prune conversations", |transaction| {
                        deletion::prune(transaction, conversations, policy, now)
                    })
                }

                async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError> {
                    let messages = pieces.iter().flat_map(|piece| &piece.messages);
                    let words: Vec<Written> = messages.map(|message| Written::of(&message.body)).collect();
                    job!(&self.database, Purpose::write_much(&words), "import sessions", |transaction| import::take(
                        transaction,
                        pieces,
                        &words
                    ))
                }

                async fn lacking(&self, _: &[(Table, String)]) -> Result<Vec<(Table, String)>, StoreError> {
                    // Columns outside the model are stored by name, so none is lacking.
                    Ok(Vec::new())
                }

                async fn link(
                    &self,
                    child: &SessionId,
                    parent: &SessionId,
                    relation: Relation,
                ) -> Result<bool, StoreError> {
                    let (child, parent) = checked_link(child, parent, relation)?;
                    job!(&self.database, Purpose::write_much(&[]), "link sessions", |transaction| import::link(
                        transaction,
                        &child,
                        &parent,
                        relation
                    ))
                }

                async fn import_rows(
                    &self,
                    session: &SessionId,
                    rows: &[TableRow],
                ) -> Result<Vec<LeftOut>, StoreError> {
                    job!(&self.database, Purpose::Read, "import rows of other tables", |transaction| import::rows(
                        transaction,
                        session,
                        rows
                    ))
                }

                async fn import_pins_and_tags(
                    &self,
                    pins_and_tags: &[(SessionId, PinAndTags)],
                ) -> Result<u64, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "import pins and tags", |transaction| {
                        pins_and_tags::import(transaction, pins_and_tags)
                    })
                }

                async fn live_records(
                    &self,
                    after: Option<&LiveRecord>,
                    limit: u32,
                ) -> Result<Vec<LiveRecord>, StoreError> {
                    job!(&self.database, Purpose::Read, "read live data", |transaction| carry::list(
                        transaction,
                        after,
                        limit
                    ))
                }

                async fn import_live(&self, records: &[LiveRecord]) -> Result<Vec<Carried>, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "import live data", |transaction| carry::import(
                        transaction,
                        records
                    ))
                }

                async fn meta_page(
                    &self,
                    after: Option<&str>,
                    limit: u32,
                ) -> Result<Vec<(String, String)>, StoreError> {
                    job!(&self.database, Purpose::Read, "read values", |transaction| meta::page(
                        transaction,
                        after,
                        limit
                    ))
                }

                async fn foreign(&self) -> Result<Vec<Foreign>, StoreError> {
                    job!(&self.database, Purpose::Read, "look for foreign data", |transaction| foreign::read(
                        transaction
                    ))
                }
            }
        };
    };
}
