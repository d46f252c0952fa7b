//! The application layer on real SQLite files.

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod migrate;
mod opening;
#[cfg(target_os = "linux")]
mod owners;
mod resolving;
mod retention;
mod trash;

use hermes_app::{Access, OpenStore, Workspace};
use hermes_config::{Environment, Flags};
use hermes_session::{EndReason, NewMessage, NewSession, Request, Role, SessionId, Source, Store, Timestamp, Title};
use std::path::Path;
use tempfile::TempDir;

const DAY: f64 = 86_400.0;
/// The current time of the tests.
const NOW: f64 = 1_800_000_000.0;

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_seconds(seconds).unwrap()
}

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

/// A temporary home folder for one test.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    fn workspace(&self) -> Workspace {
        self.workspace_with(Flags::default())
    }

    fn workspace_with(&self, flags: Flags) -> Workspace {
        let flags = Flags { home: Some(self.path().to_owned()), ..flags };
        let state = self.path().join("xdg");
        Workspace::new(flags, Environment::new([("XDG_STATE_HOME", state)], None))
    }

    async fn store(&self) -> OpenStore {
        self.workspace().open(Access::Create).await.unwrap().store
    }
}

/// Stores a session with one message that ended long ago.
async fn ended(store: &dyn Store, name: &str, title: Option<&str>) {
    let new = NewSession::new(id(name), Source::parse("cli").unwrap());
    let request = Request::at(at(NOW - 400.0 * DAY));
    store.create(&new, &request).await.unwrap();
    let message = NewMessage::new(Role::User, "hello");
    store.append(&new.id, &[message], &request).await.unwrap();
    if let Some(title) = title {
        store.set_title(&new.id, Some(&Title::parse(title).unwrap()), &request).await.unwrap();
    }
    store.end(&new.id, &EndReason::parse("cli_close").unwrap(), &request).await.unwrap();
}
