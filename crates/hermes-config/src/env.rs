//! Every environment variable the program looks at, each named once.

use crate::ConfigError;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The folder that holds `state.db` and `config.yaml`.
pub const HERMES_HOME: &str = "HERMES_HOME";
/// The store, as a URL.
pub const HERMES_SESSIONDB_URL: &str = "HERMES_SESSIONDB_URL";
/// Any value but an empty one turns colours off.
pub const NO_COLOR: &str = "NO_COLOR";
/// Any value but an empty one or 0 turns colours on, also where output is no terminal.
pub const FORCE_COLOR: &str = "FORCE_COLOR";
/// The token that clients of `hermes mcp --http` send.
pub const HERMES_MCP_TOKEN: &str = "HERMES_MCP_TOKEN";
/// Command that resumes a session in place of the agent's `hermes --resume`; the id is appended to it.
pub const HERMES_RESUME: &str = "HERMES_RESUME";
/// The name that commands printed for a person start with, set by a script that runs this program under its own name.
pub const HERMES_CALLED_AS: &str = "HERMES_CALLED_AS";
/// Log filter for stderr: a level, or `target=level` pairs.
pub const HERMES_LOG: &str = "HERMES_LOG";
/// The folder for state of programs that is worth keeping, such as numbered lists.
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// The program that shows long output page by page.
pub const PAGER: &str = "PAGER";
/// The width of the terminal, where it can't be queried.
pub const COLUMNS: &str = "COLUMNS";
/// The height of the terminal, where it can't be queried.
pub const LINES: &str = "LINES";

/// A snapshot of the environment, passed to the code that needs it.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    user_home: Option<PathBuf>,
}

impl Environment {
    /// Returns the environment of this process.
    pub fn of_process() -> Self {
        Self { variables: std::env::vars_os().collect(), user_home: std::env::home_dir() }
    }

    /// Returns an environment of these variables, with the home folder of the person.
    pub fn new<N: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (N, V)>,
        user_home: Option<&Path>,
    ) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, user_home: user_home.map(Path::to_owned) }
    }

    /// Returns the environment without a variable.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.variables.remove(OsStr::new(name));
        self
    }

    /// Returns the home folder of the person, for `~`.
    pub fn user_home(&self) -> Option<&Path> {
        self.user_home.as_deref()
    }

    /// Returns a variable's text without surrounding white space. A blank one counts as not set.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn text(&self, name: &'static str) -> Result<Option<&str>, ConfigError> {
        match self.raw(name) {
            None => Ok(None),
            Some(value) => value
                .to_str()
                .map(|text| Some(text.trim()).filter(|text| !text.is_empty()))
                .ok_or(ConfigError::NotText { name }),
        }
    }

    /// Returns a variable as a path: trimmed if it is UTF-8, otherwise unchanged.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.raw(name)?;
        let trimmed = value.to_str().map_or(value, |text| OsStr::new(text.trim()));
        Some(PathBuf::from(trimmed)).filter(|path| !path.as_os_str().is_empty())
    }

    /// Returns a variable exactly as it is set, even if it is empty.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }
}

impl std::fmt::Debug for Environment {
    /// Prints names only: any value may be a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
