//! Data stored beside the sessions: values, topics of chats, pins and tags, and foreign data that other stores have no
//! place for.

use super::checkpoint;
use super::report::{FindingKind, TransferReport};
use crate::{PinAndTags, SessionId, Store, StoreError, pins_and_tags};

/// Values read, or pins and tags written, at once.
const PAGE: u32 = 100;

/// Keys of values that describe their own store and have no meaning in another one.
const OWN: [&str; 2] = [checkpoint::KEY, "telegram_dm_topic_schema_version"];

/// Copies the values that the target does not have. Existing ones stay unchanged.
pub(super) async fn values(
    from: &dyn Store,
    to: &dyn Store,
    is_rehearsal: bool,
    report: &mut TransferReport,
) -> Result<(), StoreError> {
    let mut after: Option<String> = None;
    loop {
        let page = from.meta_page(after.as_deref(), PAGE).await?;
        for (key, value) in page.iter().filter(|(key, _)| !OWN.contains(&key.as_str())) {
            match to.meta(key).await? {
                Some(there) if there == *value => continue,
                Some(_) => {
                    report.find(FindingKind::Value, None, format!("the value {key} already exists with other content"));
                    continue;
                }
                None => {}
            }
            let kept = if is_rehearsal { Ok(()) } else { to.set_meta(key, Some(value)).await };
            match kept {
                Ok(()) => report.values += 1,
                Err(StoreError::Invalid(why)) => {
                    report.find(FindingKind::Value, None, format!("the value {key} can't be stored: {why}"));
                }
                Err(error) => return Err(error),
            }
        }
        match page.into_iter().next_back() {
            Some((last, _)) => after = Some(last),
            None => return Ok(()),
        }
    }
}

/// Copies topics of chats, after all sessions were copied.
pub(super) async fn topics(
    from: &dyn Store,
    to: &dyn Store,
    is_rehearsal: bool,
    report: &mut TransferReport,
) -> Result<(), StoreError> {
    let topics = from.topics().await?;
    for row in &topics.unreadable {
        report.find(FindingKind::Topic, None, format!("{} {} can't be read: {}", row.table, row.id, row.why));
    }
    if is_rehearsal {
        report.topics += (topics.modes.len() + topics.bindings.len()) as u64;
        return Ok(());
    }
    let imported = to.import_topics(&topics).await?;
    report.topics += imported.taken;
    for left in imported.left {
        let what = match left.thread_id {
            Some(thread) => format!("thread {thread} of chat {} is left out: {}", left.chat_id, left.why),
            None => format!("chat {} is left out: {}", left.chat_id, left.why),
        };
        report.find(FindingKind::Topic, None, what);
    }
    Ok(())
}

/// Copies pins and tags, after all sessions were copied. Those of a session that was not copied are left out.
pub(super) async fn pins_and_tags(
    from: &dyn Store,
    to: &dyn Store,
    is_rehearsal: bool,
    report: &mut TransferReport,
) -> Result<(), StoreError> {
    let all: Vec<(SessionId, PinAndTags)> = pins_and_tags::all(from).await?.into_iter().collect();
    if is_rehearsal {
        let there = pins_and_tags::all(to).await?;
        let is_missing = |(id, pins_and_tags): &&(SessionId, PinAndTags)| {
            !there.get(id).is_some_and(|there| there.hold(pins_and_tags))
        };
        report.pins_and_tags += all.iter().filter(is_missing).count() as u64;
        return Ok(());
    }
    for some in all.chunks(PAGE as usize) {
        report.pins_and_tags += to.import_pins_and_tags(some).await?;
    }
    Ok(())
}

/// Reports the data that is left behind.
pub(super) async fn foreign(from: &dyn Store, report: &mut TransferReport) -> Result<(), StoreError> {
    for foreign in from.foreign().await? {
        let (table, rows) = (foreign.table, foreign.rows);
        let what = match foreign.column {
            Some(column) => format!("{table}.{column} is not copied (rows with a value: {rows})"),
            None => format!("the table {table} is not copied (rows: {rows})"),
        };
        report.find(FindingKind::Foreign, None, what);
    }
    Ok(())
}
