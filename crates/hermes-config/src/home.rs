//! The home folder `$HERMES_HOME`, and the expansion of `~`.

use crate::{ConfigError, Environment, Flags, Origin, Setting, env};
use std::path::{Path, PathBuf};

/// Returns the folder of `state.db` and `config.yaml`: the flag, `$HERMES_HOME` (trimmed, `~` not expanded), or
/// `~/.hermes`.
///
/// # Errors
/// If none of these is given and the person has no home folder.
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

/// Returns the folder for our own state that is not part of a store: `hermes-sessions` in `$XDG_STATE_HOME`, or in
/// `~/.local/state`. Returns `None` if the person has no home folder. A relative `$XDG_STATE_HOME` does not count.
pub fn state_folder(environment: &Environment) -> Option<PathBuf> {
    let named = environment.path(env::XDG_STATE_HOME).filter(|path| path.is_absolute());
    let of_home = || environment.user_home().filter(|home| home.is_dir()).map(|home| home.join(".local/state"));
    Some(named.or_else(of_home)?.join("hermes-sessions"))
}

/// Returns a path with a leading `~` or `~/` replaced by the person's home folder; any other path unchanged.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_kept_in_the_folder_of_the_person() {
        let folder = |variable: &str, home: &str| {
            state_folder(&Environment::new([(env::XDG_STATE_HOME, variable)], Some(Path::new(home))))
        };
        assert_eq!(folder("/state", "/"), Some("/state/hermes-sessions".into()));
        for not_absolute in ["", "state"] {
            assert_eq!(folder(not_absolute, "/"), Some("/.local/state/hermes-sessions".into()));
        }
        assert_eq!(folder("", "/nonexistent"), None, "a home folder is not made");
    }
}
