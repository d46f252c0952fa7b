//! Upkeep, verification, backup, statistics, retention, import.

use super::SqliteStore;
use crate::calls::{
    carry, deletion, extra, import, insights, maintenance, meta, pins_and_tags, recount, statistics, trash,
};
use crate::care::fresh::Decides;
use crate::care::{backup, fresh, optimize, verify};
use crate::index::indexes;
use crate::open::notice::Notice;
use crate::open::{damage, foreign};
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::extra::Table;
use hermes_session::import::{ImportPiece, Imported, LeftOut, TableRow, checked_link};
use hermes_session::live::{Carried, LiveRecord};
use hermes_session::retention::{Pruned, RetentionPolicy};
use hermes_session::{
    BackupReport, Foreign, Insights, InsightsRequest, Maintenance, Optimizing, PinAndTags, Relation, Report, Room,
    SessionId, Statistics, StoreError, StoreStatus, Timestamp,
};
use std::path::Path;

#[async_trait]
impl Maintenance for SqliteStore {
    async fn upkeep(&self) -> Result<bool, StoreError> {
        if self.workers.is_deferred() {
            // The file has not been adopted, so it holds nothing of ours to maintain.
            return Ok(false);
        }
        self.workers.write("run background work", maintenance::upkeep).await
    }

    async fn optimize(&self) -> Result<Optimizing, StoreError> {
        self.keep_copy_before_optimizing().await?;
        self.workers.write("optimize the store", optimize::step).await
    }

    async fn rebuild_indexes(&self) -> Result<(), StoreError> {
        self.workers.write("start rebuilding the indexes", indexes::start_rebuild).await
    }

    async fn verify(&self) -> Result<Report, StoreError> {
        let path = self.path.clone();
        let report = self.workers.read_file("verify the store", move |database| verify::run(database, &path)).await?;
        self.notices.add(damage::settle(&self.path, &report).into_iter().collect());
        Ok(report)
    }

    async fn recount(&self, id: &SessionId) -> Result<bool, StoreError> {
        // Most counters are right, and reading a long session blocks no writer.
        let asked = id.clone();
        let is_wrong = self.workers.read("count messages", move |database| recount::wrong(database, &asked)).await?;
        if is_wrong.is_none() {
            return Ok(false);
        }
        let id = id.clone();
        self.workers.write("recount messages", move |database| recount::recount(database, &id)).await
    }

    async fn backup(&self, target: &Path) -> Result<BackupReport, StoreError> {
        let (path, target) = (self.path.clone(), target.to_owned());
        self.workers.read_file("back up the store", move |database| backup::run(database, &path, &target)).await
    }

    fn notices(&self) -> Vec<String> {
        self.notices.lock().clone()
    }

    async fn statistics(&self) -> Result<Statistics, StoreError> {
        let work = |database: &Database| fresh::read(database, Decides::ByPlaceAndTime, statistics::statistics);
        self.workers.read("compute statistics", work).await
    }

    async fn insights(&self, request: &InsightsRequest) -> Result<Insights, StoreError> {
        let request = request.clone();
        let work = move |database: &Database| {
            fresh::read(database, Decides::ByPlaceAndTime, |database| insights::insights(database, &request))
        };
        self.workers.read("compute insights", work).await
    }

    async fn room(&self) -> Result<Room, StoreError> {
        let path = self.path.clone();
        self.workers.read_file("measure disk usage", move |database| statistics::room(database, &path)).await
    }

    async fn status(&self) -> Result<StoreStatus, StoreError> {
        let path = self.path.clone();
        self.workers.read_file("read the status", move |database| maintenance::status(database, &path)).await
    }

    async fn prune(
        &self,
        conversations: &[SessionId],
        policy: &RetentionPolicy,
        now: Timestamp,
    ) -> Result<Pruned, StoreError> {
        let (conversations, policy) = (conversations.to_vec(), policy.clone());
        let work = move |database: &Database| deletion::prune(database, &conversations, &policy, now);
        let (pruned, is_over) = self.workers.write("prune conversations", work).await?;
        if !is_over {
            self.finish_deletions().await;
        }
        Ok(pruned)
    }

    async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError> {
        let pieces = pieces.to_vec();
        let (outcomes, added) =
            self.workers.write("import sessions", move |database| import::take(database, &pieces)).await?;
        if !added.is_empty() {
            self.notices.add(vec![Notice::ColumnsAdded(added)]);
        }
        Ok(outcomes)
    }

    async fn lacking(&self, columns: &[(Table, String)]) -> Result<Vec<(Table, String)>, StoreError> {
        let columns = columns.to_vec();
        self.workers.read("look at the columns", move |database| Ok(extra::lacking(database, &columns))).await
    }

    async fn link(&self, child: &SessionId, parent: &SessionId, relation: Relation) -> Result<bool, StoreError> {
        let (child, parent) = checked_link(child, parent, relation)?;
        self.workers.write("link a session", move |database| import::link(database, &child, &parent, relation)).await
    }

    async fn import_pins_and_tags(&self, pins_and_tags: &[(SessionId, PinAndTags)]) -> Result<u64, StoreError> {
        let pins_and_tags = pins_and_tags.to_vec();
        self.workers
            .write("import pins and tags", move |database| pins_and_tags::import(database, &pins_and_tags))
            .await
    }

    async fn import_rows(&self, session: &SessionId, rows: &[TableRow]) -> Result<Vec<LeftOut>, StoreError> {
        let (session, rows) = (session.clone(), rows.to_vec());
        self.workers
            .write("import rows of other tables", move |database| trash::import_rows(database, &session, &rows))
            .await
    }

    async fn live_records(&self, after: Option<&LiveRecord>, limit: u32) -> Result<Vec<LiveRecord>, StoreError> {
        let after = after.cloned();
        self.workers.read("read live data", move |database| carry::list(database, after.as_ref(), limit)).await
    }

    async fn import_live(&self, records: &[LiveRecord]) -> Result<Vec<Carried>, StoreError> {
        let records = records.to_vec();
        self.workers.write("import live data", move |database| carry::import(database, &records)).await
    }

    async fn meta_page(&self, after: Option<&str>, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        let after = after.map(str::to_owned);
        self.workers.read("read values", move |database| meta::page(database, after.as_deref(), limit)).await
    }

    async fn foreign(&self) -> Result<Vec<Foreign>, StoreError> {
        self.workers.read("look for foreign data", foreign::read).await
    }
}
