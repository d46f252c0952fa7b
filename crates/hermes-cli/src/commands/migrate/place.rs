//! Where a migration comes from and where it goes.

use crate::context::{Access, Context, OpenStore};
use crate::error::{CliError, Kind};
use hermes_config::Settings;
use hermes_store::StoreUrl;
use std::path::{Path, PathBuf};

/// Both ends of a migration.
pub(super) struct Ends {
    pub(super) from: StoreUrl,
    pub(super) to: StoreUrl,
    settings: Settings,
}

/// A store, and the folder that it needs as long as it is open.
pub(super) struct Target {
    pub(super) store: OpenStore,
    _folder: Option<tempfile::TempDir>,
}

impl Ends {
    /// Reads what the command line says.
    pub(super) fn read(context: &Context, from: &str, to: &str) -> Result<Self, CliError> {
        let settings = context.settings()?;
        let ends = Self {
            from: read_end(context, &settings, "--from", from)?,
            to: read_end(context, &settings, "--to", to)?,
            settings,
        };
        if is_same(&ends.from, &ends.to) {
            let text = format!("--from and --to name the same store, {}", ends.from);
            return Err(CliError::new(Kind::User, text, "name another store to copy to"));
        }
        Ok(ends)
    }

    /// Opens the source such that nothing in it can change.
    pub(super) async fn open_source(&self, context: &Context) -> Result<OpenStore, CliError> {
        context.open_quietly(&self.settings, &self.from, Access::Read).await
    }

    /// Opens the target, or makes it. Where only looking is asked for, an empty one elsewhere stands for one that is not there.
    pub(super) async fn open_target(&self, context: &Context, is_rehearsal: bool) -> Result<Target, CliError> {
        let is_there = self.to.file().is_none_or(|path| path.try_exists().unwrap_or(true));
        if !is_rehearsal {
            let store = context.open(&self.settings, &self.to, Access::Create).await?;
            return Ok(Target { store, _folder: None });
        }
        if is_there {
            let store = context.open_quietly(&self.settings, &self.to, Access::Read).await?;
            return Ok(Target { store, _folder: None });
        }
        let folder = tempfile::tempdir().map_err(|error| {
            CliError::new(Kind::User, format!("could not make a temporary folder: {error}"), "see TMPDIR")
        })?;
        let elsewhere = StoreUrl::Sqlite(folder.path().join("state.db"));
        Ok(Target { store: context.open_elsewhere(&elsewhere).await?, _folder: Some(folder) })
    }
}

/// Reads `config`, `env:NAME`, a URL or a path.
pub(in crate::commands) fn read_end(
    context: &Context,
    settings: &Settings,
    flag: &str,
    text: &str,
) -> Result<StoreUrl, CliError> {
    let usage = |invalid: hermes_session::Invalid| {
        let hint = format!("{} ({flag})", invalid.hint);
        CliError::new(Kind::Usage, invalid, hint)
    };
    let text = text.trim();
    if text == "config" {
        return context.configured_url(settings);
    }
    if let Some(name) = text.strip_prefix("env:") {
        let value = context.environment.raw(name).and_then(|value| value.to_str()).map(str::trim);
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            let text = format!("the variable {name} that {flag} names is not set, or is no text");
            return Err(CliError::new(Kind::User, text, format!("set {name} to the URL of a store")));
        };
        return StoreUrl::parse(value, context.environment.user_home()).map_err(|invalid| {
            let hint = format!("{} (the URL is from ${name})", invalid.hint);
            CliError::new(Kind::User, invalid, hint)
        });
    }
    let url = StoreUrl::parse(text, context.environment.user_home()).map_err(usage)?;
    if url.holds_password() {
        let hint = format!("put the URL into a variable and give {flag} env:NAME");
        context.ui.warn(&format!("others on this machine can see the password in {flag}"), &hint);
    }
    Ok(url)
}

/// Whether two URLs name one store, as far as they tell.
fn is_same(one: &StoreUrl, other: &StoreUrl) -> bool {
    let real = |path: &Path| -> PathBuf {
        path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
    };
    match (one.file(), other.file()) {
        (Some(one), Some(other)) => real(one) == real(other),
        (None, None) => place_of(one) == place_of(other),
        _ => false,
    }
}

/// A server's URL, whichever of the two names of its scheme it has.
fn place_of(url: &StoreUrl) -> Option<(u8, &str)> {
    let (kind, server) = match url {
        StoreUrl::Postgresql(server) => (0, server),
        StoreUrl::Mysql(server) => (1, server),
        StoreUrl::Sqlite(_) => return None,
    };
    server.reveal().split_once("://").map(|(_, place)| (kind, place))
}
