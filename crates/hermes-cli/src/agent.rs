//! Finds the Python agent's program. Its name is `hermes`, as one of the names of this program.

use hermes_config::Environment;
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The name of the agent's program.
pub(crate) const NAME: &str = "hermes";

/// The agent in a text that says it is not installed.
pub(crate) const ABSENT: &str = "the Python agent, which is not in PATH";

/// Arguments with which people start the agent, as in `hermes --resume ID`.
pub(crate) const ARGUMENTS: [&str; 5] = ["chat", "--continue", "-c", "--resume", "-r"];

/// Returns the path of the agent's program: the first one in `PATH` that is not this program.
pub(crate) fn program(environment: &Environment) -> Option<PathBuf> {
    programs(environment).find(|(_, is_own)| !is_own).map(|(path, _)| path)
}

/// Returns whether the shell runs the agent for `hermes`: the first program of that name in `PATH` is not this one.
pub(crate) fn is_first(environment: &Environment) -> bool {
    programs(environment).next().is_none_or(|(_, is_own)| !is_own)
}

/// Returns the programs called `hermes` in `PATH`, each with whether it is this one.
fn programs(environment: &Environment) -> impl Iterator<Item = (PathBuf, bool)> {
    // Without its own path, this program takes none for itself.
    let own = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    in_folders(environment.raw("PATH").unwrap_or_default(), own)
}

fn in_folders(folders: &OsStr, own: Option<PathBuf>) -> impl Iterator<Item = (PathBuf, bool)> {
    // Relative folders depend on where the shell is; an empty one is an unset variable.
    let folders: Vec<PathBuf> = std::env::split_paths(folders).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().map(|folder| folder.join(NAME)).filter(|path| path.is_file() && is_executable(path)).map(
        move |path| {
            let is_own = own.as_deref().is_some_and(|own| is_own(&path, own));
            (path, is_own)
        },
    )
}

/// Returns whether a program is this one, or its other binary in the same folder. The agent's program is a script.
fn is_own(path: &Path, own: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    path == own || (path.parent() == own.parent() && !is_script(&path))
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
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
        let program = |name: &str, mode: u32, text: &str| {
            let file = place(name).join(NAME);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        let own = program("own", 0o755, "ELF").canonicalize().unwrap();
        symlink(&own, place("link").join(NAME)).unwrap();
        std::fs::create_dir_all(place("folder").join(NAME)).unwrap();
        program("text", 0o644, "#!");
        let other = program("other", 0o755, "#!/usr/bin/python3");
        let found = |names: &[&str], own: &Path| -> Vec<(PathBuf, bool)> {
            let path = std::env::join_paths(names.iter().map(|name| folder.path().join(name))).unwrap();
            in_folders(&path, Some(own.to_owned())).collect()
        };
        let link = folder.path().join("link").join(NAME);
        assert_eq!(found(&["none", "folder", "text", "link", "other"], &own), [(link, true), (other.clone(), false)]);
        // `hermes-sessions` beside the agent, and beside the other binary of this program.
        let root = folder.path().canonicalize().unwrap();
        let beside = |name: &str| root.join(name).join("hermes-sessions");
        assert_eq!(found(&["other"], &beside("other")), [(other, false)]);
        assert_eq!(found(&["own"], &beside("own")), [(own, true)]);
    }
}
