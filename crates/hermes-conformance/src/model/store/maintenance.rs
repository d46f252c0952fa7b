//! Upkeep, verification, backup, statistics, retention, import.

use super::super::{ModelStore, carry};
use async_trait::async_trait;
use hermes_session::extra::Table;
use hermes_session::import::{ImportPiece, Imported, LeftOut, TableRow, checked_link, count_left_out};
use hermes_session::live::{Carried, LiveRecord};
use hermes_session::retention::{Pruned, RetentionPolicy};
use hermes_session::{
    BackupReport, Foreign, IndexHealth, Insights, InsightsRequest, Maintenance, Optimizing, PinAndTags, Relation,
    Report, Room, SessionId, Statistics, StoreError, StoreStatus, Timestamp,
};
use std::path::Path;

#[async_trait]
impl Maintenance for ModelStore {
    async fn upkeep(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn optimize(&self) -> Result<Optimizing, StoreError> {
        Ok(Optimizing::Done)
    }

    async fn rebuild_indexes(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn verify(&self) -> Result<Report, StoreError> {
        Ok(self.state().verify())
    }

    async fn recount(&self, id: &SessionId) -> Result<bool, StoreError> {
        self.state().recount(id)
    }

    async fn backup(&self, target: &Path) -> Result<BackupReport, StoreError> {
        self.export_to(target).await
    }

    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    async fn statistics(&self) -> Result<Statistics, StoreError> {
        Ok(self.state().statistics())
    }

    async fn insights(&self, request: &InsightsRequest) -> Result<Insights, StoreError> {
        Ok(self.state().insights(request))
    }

    async fn room(&self) -> Result<Room, StoreError> {
        Ok(Room::default())
    }

    async fn status(&self) -> Result<StoreStatus, StoreError> {
        Ok(StoreStatus {
            provider: "model",
            version: env!("CARGO_PKG_VERSION").to_owned(),
            location: "memory".to_owned(),
            schema_version: 11,
            schema: None,
            bytes: 0,
            free_bytes: 0,
            indexes: IndexHealth::Whole,
            pool: None,
        })
    }

    async fn prune(
        &self,
        conversations: &[SessionId],
        policy: &RetentionPolicy,
        now: Timestamp,
    ) -> Result<Pruned, StoreError> {
        self.state().prune(conversations, policy, now)
    }

    async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError> {
        let mut state = self.state();
        Ok(pieces.iter().map(|piece| state.import(piece)).collect())
    }

    async fn lacking(&self, _: &[(Table, String)]) -> Result<Vec<(Table, String)>, StoreError> {
        Ok(Vec::new())
    }

    async fn link(&self, child: &SessionId, parent: &SessionId, relation: Relation) -> Result<bool, StoreError> {
        let (child, parent) = checked_link(child, parent, relation)?;
        self.state().link(&child, &parent, relation)
    }

    async fn import_rows(&self, session: &SessionId, rows: &[TableRow]) -> Result<Vec<LeftOut>, StoreError> {
        match self.state().sessions.contains_key(session) {
            true => Ok(count_left_out(rows.iter().map(|row| (row.table.clone(), None)))),
            false => Err(StoreError::no_session(session)),
        }
    }

    async fn import_pins_and_tags(&self, pins_and_tags: &[(SessionId, PinAndTags)]) -> Result<u64, StoreError> {
        let mut state = self.state();
        let mut changed = 0;
        for (id, outside) in pins_and_tags {
            let has = state.pins_and_tags_of(id);
            let joined = has.joined(outside);
            if state.sessions.contains_key(id) && joined != has {
                state.pins_and_tags.insert(id.clone(), joined);
                changed += 1;
            }
        }
        Ok(changed)
    }

    async fn live_records(&self, after: Option<&LiveRecord>, limit: u32) -> Result<Vec<LiveRecord>, StoreError> {
        let after = after.map(carry::position);
        let mut records = self.state().live_records();
        records.retain(|record| after.as_ref().is_none_or(|after| carry::position(record) > *after));
        records.truncate(limit as usize);
        Ok(records)
    }

    async fn import_live(&self, records: &[LiveRecord]) -> Result<Vec<Carried>, StoreError> {
        let mut state = self.state();
        Ok(records.iter().map(|record| state.import_live(record)).collect())
    }

    async fn meta_page(&self, after: Option<&str>, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        let state = self.state();
        let behind = state.meta.iter().filter(|(key, _)| after.is_none_or(|after| key.as_str() > after));
        Ok(behind.take(limit as usize).map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    async fn foreign(&self) -> Result<Vec<Foreign>, StoreError> {
        Ok(Vec::new())
    }
}
