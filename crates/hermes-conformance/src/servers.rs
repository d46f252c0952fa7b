//! Throw-away database servers from the programs that are installed here: on a free port, in a folder that goes away, never as root.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The user that servers run as if we are root, who may not: `nobody`.
const NOBODY: u32 = 65_534;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names a server whose tests are left out, if `HERMES_TEST_SKIP` does.
///
/// Without that a missing server is a failure: a test that did not run has shown nothing.
pub fn is_skipped(server: &str) -> bool {
    let is_skipped = std::env::var("HERMES_TEST_SKIP").is_ok_and(|names| names.split(',').any(|name| name == server));
    if is_skipped {
        #[expect(clippy::print_stdout, reason = "who reads the output should know that nothing was tested")]
        {
            println!("skipped: HERMES_TEST_SKIP names {server}");
        }
    }
    is_skipped
}

/// A PostgreSQL server with a superuser `hermes`, whom it believes without a password from this machine, and a database of that name.
pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
    settings: Vec<String>,
    server: Option<Child>,
}

impl Postgres {
    /// Makes and starts one, with settings such as `fsync=on` beside those that make it quick.
    ///
    /// # Panics
    /// If there is none to be had here; the message says what to install.
    pub fn start(settings: &[&str]) -> Self {
        let programs = programs().unwrap_or_else(|| {
            panic!("PostgreSQL is not installed: install the package postgresql-15, or set HERMES_TEST_SKIP=postgres")
        });
        let folder = tempfile::Builder::new().prefix("hermes-postgres").tempdir().unwrap();
        if is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let quick = ["fsync=off", "max_connections=200", "unix_socket_directories=", "log_min_messages=fatal"];
        let settings = quick.iter().chain(settings).map(ToString::to_string).collect();
        let mut server = Self { folder, programs, port: free_port(), settings, server: None };
        server.run("initdb", &["-D", "data", "-U", "hermes", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        server.launch();
        server.run("createdb", &["-h", "127.0.0.1", "-p", &server.port.to_string(), "-U", "hermes", "hermes"]);
        server
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("postgresql://hermes@127.0.0.1:{}/hermes", self.port)
    }

    /// Its port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Where its data is.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Ends every process of it at once, as if the machine had failed, and starts it again.
    pub fn crash(&mut self) {
        self.stop("immediate");
        self.launch();
    }

    /// Stops it, in the way that `pg_ctl` calls so, and leaves it off.
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
        self.server = Some(command.spawn().unwrap());
        let start = Instant::now();
        let port = self.port.to_string();
        while !self.command("pg_isready").args(["-q", "-h", "127.0.0.1", "-p", &port]).status().unwrap().success() {
            let is_alive = self.server.as_mut().is_some_and(|server| server.try_wait().unwrap().is_none());
            assert!(is_alive && start.elapsed() < PATIENCE, "the server does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Runs a program of the server's to its end.
    ///
    /// # Panics
    /// If it fails.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = self.command(program);
        let output = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs statements as the superuser; what they print.
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
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("TZ", "UTC").env("LC_ALL", "C").env_remove("PGPASSWORD");
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop("immediate");
    }
}

/// The folder with the programs of the newest server.
fn programs() -> Option<PathBuf> {
    let is_whole = |folder: &Path| ["initdb", "postgres", "pg_ctl"].iter().all(|program| folder.join(program).exists());
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| Some((version.file_name().to_str()?.parse().ok()?, version.path().join("bin"))))
        .filter(|(_, folder)| is_whole(folder))
        .collect();
    folders.sort_unstable();
    let on_path =
        std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    folders.pop().map(|(_, folder)| folder).or_else(|| on_path.into_iter().find(|folder| is_whole(folder)))
}

/// A port that nobody listens on at the moment.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn is_root() -> bool {
    // A folder of our own tells who we are.
    tempfile::tempdir().and_then(|folder| fs::metadata(folder.path())).is_ok_and(|facts| facts.uid() == 0)
}
