//! A throw-away PostgreSQL server.

use super::{await_start, command_in, folder, free_port, output_of, path};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use tempfile::TempDir;

/// A PostgreSQL server with a superuser `hermes`, who needs no password on this machine, and a database of that name.
pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
    settings: Vec<String>,
    server: Option<Child>,
}

impl Postgres {
    /// Creates and starts a server, with settings such as `fsync=on` in addition to those that make it fast.
    ///
    /// # Panics
    /// If none is installed; the message says what to install.
    pub fn start(settings: &[&str]) -> Self {
        let programs = programs().unwrap_or_else(|| {
            panic!("PostgreSQL is not installed: install the package postgresql-15, or set HERMES_TEST_SKIP=postgres")
        });
        let folder = folder("hermes-postgres");
        let quick = ["fsync=off", "max_connections=200", "unix_socket_directories=", "log_min_messages=fatal"];
        let settings = quick.iter().chain(settings).map(ToString::to_string).collect();
        let mut server = Self { folder, programs, port: free_port(), settings, server: None };
        server.run("initdb", &["-D", "data", "-U", "hermes", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        server.launch();
        server.run("createdb", &["-h", "127.0.0.1", "-p", &server.port.to_string(), "-U", "hermes", "hermes"]);
        server
    }

    /// Returns its URL.
    pub fn url(&self) -> String {
        format!("postgresql://hermes@127.0.0.1:{}/hermes", self.port)
    }

    /// Returns its port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns its data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Kills all its processes at once, as in a crash of the machine, and starts it again.
    pub fn crash(&mut self) {
        self.stop("immediate");
        self.launch();
    }

    /// Kills one of its processes, upon which it terminates all others and restarts itself, and waits until it has.
    pub fn crash_within(&self) {
        let pid = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
        let before = self.sql(pid);
        output_of(Command::new("kill").args(["-9", before.trim()]));
        let port = self.port.to_string();
        let url = ["-h", "127.0.0.1", "-p", &port, "-U", "hermes", "-d", "hermes", "-qAtc", pid];
        // It may still answer, or not at all, before the restarted one answers.
        loop {
            let told = self.command("psql").args(url).stdout(std::process::Stdio::piped()).output().unwrap();
            if told.status.success() && !told.stdout.trim_ascii().is_empty() && told.stdout != before.as_bytes() {
                return;
            }
        }
    }

    /// Stops it in a mode of `pg_ctl`, and does not restart it.
    pub fn stop(&mut self, mode: &str) {
        if let Some(mut server) = self.server.take() {
            _ = self.command("pg_ctl").args(["-D", "data", "-m", mode, "-w", "stop"]).status();
            _ = server.kill();
            _ = server.wait();
        }
    }

    /// Starts it again.
    pub fn launch(&mut self) {
        let mut command = self.command("postgres");
        command.args(["-D", "data", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let mut server = command.spawn().unwrap();
        let port = self.port.to_string();
        let is_ready =
            || self.command("pg_isready").args(["-q", "-h", "127.0.0.1", "-p", &port]).status().unwrap().success();
        await_start(&mut server, &self.folder.path().join("log"), is_ready);
        self.server = Some(server);
    }

    /// Runs a program of the server to its end.
    ///
    /// # Panics
    /// If it fails.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        output_of(self.command(program).args(arguments))
    }

    /// Runs statements as the superuser and returns their output.
    ///
    /// # Panics
    /// If one fails.
    pub fn sql(&self, statements: &str) -> String {
        let port = self.port.to_string();
        self.run(
            "psql",
            &[
                "-h",
                "127.0.0.1",
                "-p",
                &port,
                "-U",
                "hermes",
                "-d",
                "hermes",
                "-v",
                "ON_ERROR_STOP=1",
                "-qAtc",
                statements,
            ],
        )
    }

    fn command(&self, program: &str) -> Command {
        let mut command = command_in(self.folder.path(), &self.programs.join(program));
        command.env_remove("PGPASSWORD");
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop("immediate");
    }
}

/// Returns the folder with the programs of the newest server.
fn programs() -> Option<PathBuf> {
    let is_whole = |folder: &Path| ["initdb", "postgres", "pg_ctl"].iter().all(|program| folder.join(program).exists());
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| Some((version.file_name().to_str()?.parse().ok()?, version.path().join("bin"))))
        .filter(|(_, folder)| is_whole(folder))
        .collect();
    folders.sort_unstable();
    folders.pop().map(|(_, folder)| folder).or_else(|| path().into_iter().find(|folder| is_whole(folder)))
}
