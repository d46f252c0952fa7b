//! Resumes a session: with the agent, which is another program named `hermes`, or with the command in `HERMES_RESUME`.

use crate::agent;
use crate::context::Context;
use crate::error::{CliError, Kind};
use hermes_config::{Environment, Flags, env};
use hermes_session::{Invalid, SessionId};
use hermes_store::StoreUrl;
use hermes_terminal::shell::shell_word;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the agent's store file.
const FILE: &str = "state.db";

/// Returns the shell command that resumes a session. Secrets are left out, and a warning says so; a note says that the
/// agent is missing.
pub(super) fn command(context: &Context, id: &SessionId) -> Result<String, CliError> {
    let id = shell_word(id.as_str());
    let given = context.environment().text(env::HERMES_RESUME)?;
    let is_of_agent = given.is_none();
    let command = given.map_or_else(|| format!("{} --resume {id}", typed(context)), |given| format!("{given} {id}"));
    if is_of_agent && agent::program(context.environment()).is_none() {
        let setting = env::HERMES_RESUME;
        context.ui.note(&format!("this is a command of {}; {setting} sets another one", agent::ABSENT));
    }
    let place = place(context.flags(), context.environment()).map_err(CliError::usage)?;
    let mut words = Vec::new();
    for Variable { name, value, is_secret } in place {
        if is_secret {
            let hint = format!("set {name} to the URL before you run it, or let --run do that");
            context.ui.warn("the command lacks the URL of the store, which holds a password", &hint);
        } else {
            words.push(format!("{name}={}", shell_word(&value.to_string_lossy())));
        }
    }
    words.push(command);
    Ok(words.join(" "))
}

/// Returns the agent's program as it is typed: with its path if `hermes` runs this program.
fn typed(context: &Context) -> String {
    match agent::program(context.environment()) {
        Some(path) if !agent::is_first(context.environment()) => shell_word(&path.display().to_string()),
        _ => agent::NAME.to_owned(),
    }
}

/// An environment variable for the agent.
struct Variable {
    name: &'static str,
    value: OsString,
    is_secret: bool,
}

/// Returns the variables that tell the agent the location of the store, if the command line set it. The agent does not
/// know our arguments. It knows the folder of a file with the usual name and, if it runs on our stores, a URL. It reads
/// the environment and the configuration file itself.
fn place(flags: &Flags, environment: &Environment) -> Result<Vec<Variable>, Invalid> {
    let variable = |name, value: OsString| Variable { name, value, is_secret: false };
    let home = flags.home.as_ref().map(|home| variable(env::HERMES_HOME, home.into()));
    let Some(given) = &flags.url else { return Ok(home.into_iter().collect()) };
    let url = StoreUrl::parse(given.reveal(), environment.user_home())?;
    // A URL in the environment would take precedence over the folder.
    let is_folder_enough = home.is_none() && environment.raw(env::HERMES_SESSIONDB_URL).is_none();
    let url = match url.file().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.to_owned())) {
        Some(file) if is_folder_enough && file.ends_with(FILE) => {
            let folder = file.parent().unwrap_or(Path::new("/"));
            variable(env::HERMES_HOME, folder.into())
        }
        Some(file) => {
            let mut value = OsString::from("sqlite:");
            value.push(file);
            variable(env::HERMES_SESSIONDB_URL, value)
        }
        None => {
            Variable { is_secret: url.holds_password(), ..variable(env::HERMES_SESSIONDB_URL, given.reveal().into()) }
        }
    };
    Ok(home.into_iter().chain([url]).collect())
}

/// Resumes a session, replacing this process.
///
/// # Errors
/// If there is no agent, or it can't be run.
pub(super) fn run(context: &Context, id: &SessionId) -> Result<(), CliError> {
    let mut command = match context.environment().text(env::HERMES_RESUME)? {
        Some(given) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("{given} \"$1\"")).arg("sh").arg(id.as_str());
            shell
        }
        None => {
            let mut agent = Command::new(found(context, id)?);
            agent.arg("--resume").arg(id.as_str());
            agent
        }
    };
    let place = place(context.flags(), context.environment()).map_err(CliError::usage)?;
    command.env_remove(env::HERMES_CALLED_AS);
    command.envs(place.into_iter().map(|variable| (variable.name, variable.value)));
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| {
        let text = format!("could not run {program}: {error}");
        CliError::new(Kind::User, text, format!("set {} to a command that is there", env::HERMES_RESUME))
    };
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let error = command.exec();
        Err(failed(error))
    }
    #[cfg(not(unix))]
    {
        let status = command.status();
        status.map(|_| ()).map_err(failed)
    }
}

/// Returns the path of the agent's program.
fn found(context: &Context, id: &SessionId) -> Result<PathBuf, CliError> {
    agent::program(context.environment()).ok_or_else(|| {
        // If there is no agent, the first program of its name can only be this one.
        let is_own = !agent::is_first(context.environment());
        let own = if is_own { format!(" (the only {} there is this program)", agent::NAME) } else { String::new() };
        let text = format!("can't resume {id}: the Python agent is not in PATH{own}");
        let hint =
            format!("set {} to a command that resumes, such as `/opt/agent/hermes --resume`", env::HERMES_RESUME);
        CliError::new(Kind::User, text, hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_config::Secret;

    #[test]
    fn where_the_store_is_reaches_the_agent_and_no_secret_the_screen() {
        let check = |variables: &[(&str, &str)], home: Option<&str>, url: &str, expect: &[(&str, &str, bool)]| {
            let flags = Flags { home: home.map(PathBuf::from), url: Some(Secret::new(url)), ..Flags::default() };
            let environment = Environment::new::<&str, &str>(variables.iter().copied(), Some(Path::new("/home/me")));
            let seen = place(&flags, &environment).unwrap();
            let seen: Vec<_> =
                seen.iter().map(|seen| (seen.name, seen.value.to_str().unwrap(), seen.is_secret)).collect();
            assert_eq!(seen, expect, "{url}");
        };
        check(&[], None, "~/x/state.db", &[("HERMES_HOME", "/home/me/x", false)]);
        check(&[], None, "sqlite:/x/other.db", &[("HERMES_SESSIONDB_URL", "sqlite:/x/other.db", false)]);
        let url = ("HERMES_SESSIONDB_URL", "sqlite:/x/state.db", false);
        check(&[], Some("/home"), "sqlite:/x/state.db", &[("HERMES_HOME", "/home", false), url]);
        check(&[("HERMES_SESSIONDB_URL", "mysql://host/db")], None, "/x/state.db", &[url]);
        for (url, is_secret) in [("postgresql://me@host/db", false), ("mysql://me:secret@host/db", true)] {
            check(&[], None, url, &[("HERMES_SESSIONDB_URL", url, is_secret)]);
        }
    }
}
