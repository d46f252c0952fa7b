//! Checks of the store itself: whether it can be reached, its kind, and its content.

use super::place;
use crate::context::{Access, Context, OpenStore};
use crate::error::CliError;
use crate::program::called;
use crate::reports::{Degree, Fix, Item};
use hermes_app::workspace::must_exist;
use hermes_config::Settings;
use hermes_session::{Check, IndexHealth, Report, Severity, StoreError, StoreStatus};
use hermes_store::StoreUrl;
use hermes_terminal::figures::plural;
use hermes_terminal::shell::shell_word;
use std::path::Path;
use std::time::Duration;

/// Maximum wait for a server or for the holder of a lock.
const WAIT: Duration = Duration::from_secs(5);
/// The largest backlog that search scans without a noticeable delay, in messages.
const MAX_UNNOTICED_BACKLOG: u64 = 1_000;

/// Checks a store without changing it.
pub(super) async fn look(context: &Context, settings: &Settings, url: &StoreUrl, items: &mut Vec<Item>) {
    let mut is_adopted = None;
    if let Some(path) = url.file() {
        if let Err(error) = must_exist(path) {
            items.push(unusable(&error.into(), url));
            return;
        }
        let found = std::fs::symlink_metadata(path);
        let is_file = found.as_ref().is_ok_and(std::fs::Metadata::is_file);
        let facts = is_file.then(|| hermes_sqlite::facts(path));
        if facts.as_ref().is_some_and(|facts| facts.bytes == 0 && facts.log_bytes == 0) {
            items.push(empty(path));
            return;
        }
        is_adopted = facts.as_ref().and_then(|facts| facts.is_adopted);
        // The checks of files must not be applied to a folder, or through a link.
        items.extend(facts.iter().flat_map(|facts| place::file(path, facts)));
    }
    let store = match open(context, settings, url).await {
        Ok(store) => store,
        Err(error) => {
            items.push(unusable(&error, url));
            return;
        }
    };
    match store.status().await {
        Ok(status) => {
            let Item { what, .. } = named(&status);
            items.push(Item::fine("store", what));
            items.extend(store.notices().iter().map(|notice| noticed(notice, url)));
            items.push(indexes(&status));
        }
        Err(error) => items.push(unusable(&error.into(), url)),
    }
    match context.ui.wait("checking the store", store.verify()).await {
        Ok(report) => items.extend(verified(&report, url)),
        Err(error) => items.push(unusable(&error.into(), url)),
    }
    if is_adopted == Some(false) {
        without_upkeep(items, &context.place());
    }
}

/// Replaces the fixes that are upkeep: a file that is not adopted gets none.
fn without_upkeep(items: &mut [Item], place: &str) {
    for item in items.iter_mut().filter(|item| item.fix == Some(Fix::Upkeep)) {
        item.fix = None;
        item.remedy = Some(match item.name {
            "log" => "stop every agent; the last one to close the file shortens the WAL".to_owned(),
            _ => called(&format!("`hermes sessiondb adopt{place}` makes searches faster")).into_owned(),
        });
    }
}

async fn open(context: &Context, settings: &Settings, url: &StoreUrl) -> Result<OpenStore, CliError> {
    let mut options = context.workspace.open_options_of(settings)?;
    options.wait = options.wait.min(WAIT);
    options.postgresql.connect_timeout = options.postgresql.connect_timeout.min(WAIT);
    options.mysql.connect_timeout = options.mysql.connect_timeout.min(WAIT);
    context.open_with(url, Access::Read, options).await
}

/// Returns the finding for a notice of a store that was opened for reading.
fn noticed(notice: &str, url: &StoreUrl) -> Item {
    if matches!(url, StoreUrl::Sqlite(_)) {
        return Item::new("revision", Degree::Warning, notice).remedy("install the newest hermes");
    }
    let (what, remedy) = notice.rsplit_once("; ").unwrap_or((notice, "check the server's settings"));
    Item::new("server", Degree::Warning, what).remedy(remedy)
}

fn named(status: &StoreStatus) -> Item {
    Item::fine(
        "store",
        format!("{} {}, schema {}, {}", status.provider, status.version, status.schema_version, status.location),
    )
}

/// Returns the finding for an empty file, which an agent takes for a new store.
fn empty(path: &Path) -> Item {
    Item::new(
        "store",
        Degree::Problem,
        format!("{} is empty: an agent is just creating it, or its content was lost", path.display()),
    )
    .remedy("check again in a moment; if it should hold conversations, run: hermes sessions restore-backup FILE")
}

/// Returns the finding for a store that can't be opened or read, with its remedy.
fn unusable(error: &CliError, url: &StoreUrl) -> Item {
    let item = Item::new("store", Degree::Problem, error.text());
    match (error.of_store(), url.file()) {
        (Some(StoreError::Corrupt { .. }), Some(_)) => item.remedy(repair(url)),
        _ => item.remedy(error.hints().first().cloned().unwrap_or_default()),
    }
}

fn repair(url: &StoreUrl) -> String {
    let path = url.file().map(|path| path.display().to_string()).unwrap_or_default();
    format!("stop every agent, then: hermes sessions repair {}", shell_word(&path))
}

fn indexes(status: &StoreStatus) -> Item {
    match &status.indexes {
        IndexHealth::Whole => Item::fine("lag", "every message is in the search indexes"),
        IndexHealth::Behind { messages } => {
            let degree = if *messages <= MAX_UNNOTICED_BACKLOG { Degree::Note } else { Degree::Warning };
            let what =
                format!("{} are not in the search indexes yet; search scans them", plural(*messages, "messages"));
            Item::new("lag", degree, what).fixed_by(Fix::Upkeep)
        }
        IndexHealth::Broken { why } => Item::new(
            "lag",
            Degree::Warning,
            format!("the search indexes are broken: {why}; search scans what they lack"),
        )
        .fixed_by(Fix::Rebuild),
    }
}

/// Returns a finding for each check of a verification.
fn verified(report: &Report, url: &StoreUrl) -> Vec<Item> {
    // `backup` refuses such a file, because it verifies the copy.
    let is_damaged = report.checks.iter().any(|check| check.name == "file" && check.problems > 0);
    report.checks.iter().map(|check| judged(check, url, is_damaged)).collect()
}

fn judged(check: &Check, url: &StoreUrl, is_damaged: bool) -> Item {
    if check.problems == 0 {
        let facts = plural(check.looked_at, check.things);
        let notes = if check.notes > 0 {
            format!(", {} (see {})", plural(check.notes, "notes"), called("`hermes sessions verify`"))
        } else {
            String::new()
        };
        return Item::fine(check.name, format!("{facts}{notes}"));
    }
    let first = check.findings.iter().find(|finding| finding.severity == Severity::Problem);
    let first = first.map(|finding| format!("{} {}", finding.object, finding.what)).unwrap_or_default();
    let what = match check.problems {
        1 => first,
        many => format!("{first}, and {} more (see {})", many - 1, called("`hermes sessions verify`")),
    };
    match check.name {
        "file" => Item::new("file", Degree::Problem, what).remedy(repair(url)),
        "indexes" | "index backlog" => Item::new(check.name, Degree::Warning, what).fixed_by(Fix::Rebuild),
        // Missing objects of the indexes are restored by a rebuild.
        "schema"
            if check.findings.iter().all(|finding| {
                finding.severity == Severity::Note
                    || finding.object.contains("messages_fts")
                    || finding.object.contains("hx_")
            }) =>
        {
            Item::new("schema", Degree::Warning, what).fixed_by(Fix::Rebuild)
        }
        "side tables" => Item::new("side tables", Degree::Warning, what).fixed_by(Fix::Upkeep),
        // All messages are there; only the counts in lists are wrong.
        "counters" => Item::new("counters", Degree::Warning, what).fixed_by(Fix::Recount),
        name if is_damaged => Item::new(name, Degree::Problem, what).remedy(repair(url)),
        name => Item::new(name, Degree::Problem, what)
            .remedy("`hermes sessions backup FILE` keeps a copy; `hermes sessions verify` lists every problem"),
    }
}
