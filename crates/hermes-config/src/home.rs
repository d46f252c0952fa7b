//! Where everything lives: `$HERMES_HOME`, and what `~` means.

use crate::{ConfigError, Environment, Flags, Origin, Setting, env};
use std::path::{Path, PathBuf};

/// The folder of `state.db` and `config.yaml`: the flag, `$HERMES_HOME` (trimmed, `~` not expanded), or `~/.hermes`.
///
/// # Errors
/// If nothing is given and the person has no home folder.
pub fn home(flags: &Flags, environment: &Environment) -> Result<Setting<PathBuf>, ConfigError> {
    if let Some(home) = &flags.home {
        return Ok(Setting { value: home.clone(), origin: Origin::Flag });
    }
    if let Some(value) = environment.path(env::HERMES_HOME) {
        return Ok(Setting { value, origin: Origin::Environment(env::HERMES_HOME) });
    }
    let user_home = environment.user_home().ok_or(ConfigError::NoHome)?;
    Ok(Setting::default_value(user_home.join(".hermes")))
}

/// A path with a leading `~` or `~/` made the person's home folder; any other path as it is.
pub fn expand_tilde(path: &str, user_home: Option<&Path>) -> PathBuf {
    let below = match path.strip_prefix('~') {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix('/'),
        None => None,
    };
    match (below, user_home) {
        (Some(""), Some(user_home)) => user_home.to_owned(),
        (Some(below), Some(user_home)) => user_home.join(below.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}
