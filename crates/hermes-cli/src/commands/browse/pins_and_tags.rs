//! Pins and tags conversations for the picker.

use super::desk::Desk;
use super::event::{Event, Notice};
use super::work::{log_failure, refused};
use crate::clock;
use crate::error::CliError;
use hermes_session::{Request, SessionId, Tag};

/// Pins or unpins conversations one by one. The first failure ends it; the event reports those that were changed.
pub(super) async fn pinned(desk: &Desk, ids: Vec<SessionId>, is_pinned: bool) -> Event {
    let (mut done, mut failed) = (Vec::new(), None);
    for id in ids {
        let pinned = async {
            let store = desk.for_writing().await?;
            store.set_pinned(&id, is_pinned, &Request::at(clock::now().at)).await?;
            Ok::<(), CliError>(())
        };
        match pinned.await {
            Ok(()) => done.push(id),
            Err(error) => {
                failed = Some(failure("pin", &error));
                break;
            }
        }
    }
    Event::Pinned { ids: done, is_pinned, failed }
}

/// Changes the tags of conversations one by one. The first failure ends it; the event reports those that were changed.
pub(super) async fn tagged(desk: &Desk, ids: Vec<SessionId>, add: &[Tag], remove: &[Tag]) -> Event {
    let (mut tags, mut failed) = (Vec::new(), None);
    for id in ids {
        let tagged = async {
            let store = desk.for_writing().await?;
            Ok::<_, CliError>(store.change_tags(&id, add, remove, &Request::at(clock::now().at)).await?)
        };
        match tagged.await {
            Ok(now) => tags.push((id, now)),
            Err(error) => {
                failed = Some(failure("tag", &error));
                break;
            }
        }
    }
    Event::Tagged { tags, failed }
}

fn failure(work: &'static str, error: &CliError) -> Notice {
    log_failure(work, error);
    refused(error)
}
