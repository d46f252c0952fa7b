//! How a session is resumed: by the agent, which is another program of the name `hermes`, or by what `HERMES_RESUME` says.

use crate::context::Context;
use crate::error::{CliError, Kind};
use hermes_config::{Environment, Flags, env};
use hermes_session::{Invalid, SessionId};
use hermes_store::StoreUrl;
use hermes_terminal::shell::shell_word;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

const AGENT: &str = "hermes";
/// The agent's name for its store.
const FILE: &str = "state.db";

/// The command that resumes a session, to be typed. What must not be printed is left out, and told.
pub(super) fn command(context: &Context, id: &SessionId) -> Result<String, CliError> {
    let id = shell_word(id.as_str());
    let given = context.environment().text(env::HERMES_RESUME)?;
    let command = given.map_or_else(|| format!("{AGENT} --resume {id}"), |given| format!("{given} {id}"));
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

/// Something that the agent is told by its environment.
struct Variable {
    name: &'static str,
    value: OsString,
    is_secret: bool,
}

/// Where sessions are, if the command line said so: the agent does not know these arguments, but the folder of a file of the usual name and,
/// where it runs on our stores, a URL. What the environment or a file says reaches it by itself.
fn place(flags: &Flags, environment: &Environment) -> Result<Vec<Variable>, Invalid> {
    let variable = |name, value: OsString| Variable { name, value, is_secret: false };
    let home = flags.home.as_ref().map(|home| variable(env::HERMES_HOME, home.into()));
    let Some(given) = &flags.url else { return Ok(home.into_iter().collect()) };
    let url = StoreUrl::parse(given.reveal(), environment.user_home())?;
    // A URL in the environment would count for more than the folder.
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

/// Resumes a session in the place of this process.
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
            let mut agent = Command::new(agent(context, id)?);
            agent.arg("--resume").arg(id.as_str());
            agent
        }
    };
    let place = place(context.flags(), context.environment()).map_err(CliError::usage)?;
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

/// The agent's program.
fn agent(context: &Context, id: &SessionId) -> Result<PathBuf, CliError> {
    let folders = context.environment().raw("PATH").unwrap_or_default();
    // If this program does not know its own path, the first `hermes` in PATH is taken.
    let own = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    first_other(folders, own.as_deref()).ok_or_else(|| {
        let text = format!("no agent is here to resume {id}: no `{AGENT}` but this one is in PATH");
        let hint =
            format!("set {} to a command that resumes, such as `/opt/agent/hermes --resume`", env::HERMES_RESUME);
        CliError::new(Kind::User, text, hint)
    })
}

/// The first program of the agent's name that is not this one.
fn first_other(folders: &OsStr, own: Option<&Path>) -> Option<PathBuf> {
    std::env::split_paths(folders)
        .map(|folder| folder.join(AGENT))
        .find(|program| program.is_file() && is_executable(program) && program.canonicalize().ok().as_deref() != own)
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    program.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use hermes_config::Secret;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

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

    #[test]
    fn the_agent_is_another_program_of_that_name() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let place = folder.path().join(name);
            std::fs::create_dir_all(&place).unwrap();
            place
        };
        let program = |name: &str, mode: u32| {
            let file = place(name).join(AGENT);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        let own = program("own", 0o755).canonicalize().unwrap();
        symlink(&own, place("link").join(AGENT)).unwrap();
        std::fs::create_dir_all(place("folder").join(AGENT)).unwrap();
        program("text", 0o644);
        let other = program("other", 0o755);
        let names = ["none", "own", "link", "folder", "text"];
        let path = |more: &[&str]| {
            std::env::join_paths(names.iter().chain(more).map(|name| folder.path().join(name))).unwrap()
        };
        assert_eq!(first_other(&path(&[]), Some(&own)), None);
        assert_eq!(first_other(&path(&["other"]), Some(&own)), Some(other));
    }
}
