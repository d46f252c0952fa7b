//! How a session is resumed: by the agent, which is another program of the name `hermes`, or by what `HERMES_RESUME` says.

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::shell::shell_word;
use hermes_config::env;
use hermes_session::SessionId;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

const AGENT: &str = "hermes";

/// The command that resumes a session, to be typed.
pub(super) fn command(context: &Context, id: &SessionId) -> Result<String, CliError> {
    let id = shell_word(id.as_str());
    let given = context.environment.text(env::HERMES_RESUME)?;
    let home = context.flags.home.as_ref();
    let home = home.map(|home| format!("{}={} ", env::HERMES_HOME, shell_word(&home.display().to_string())));
    let command = given.map_or_else(|| format!("{AGENT} --resume {id}"), |given| format!("{given} {id}"));
    Ok(format!("{}{command}", home.unwrap_or_default()))
}

/// Resumes a session in the place of this process.
///
/// # Errors
/// If there is no agent, or it can't be run.
pub(super) fn run(context: &Context, id: &SessionId) -> Result<(), CliError> {
    let mut command = match context.environment.text(env::HERMES_RESUME)? {
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
    if let Some(home) = &context.flags.home {
        command.env(env::HERMES_HOME, home);
    }
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
    let folders = context.environment.raw("PATH").unwrap_or_default();
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
    use std::os::unix::fs::{PermissionsExt as _, symlink};

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
