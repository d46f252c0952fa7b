//! A throw-away MariaDB server, or MySQL where that is installed.

use super::{await_start, command_in, folder, free_port, output_of, path};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use tempfile::TempDir;

/// A MariaDB server with a user `hermes` with all privileges, who needs no password on this machine, and a database of
/// that name.
pub struct Mariadb {
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    server: Option<Child>,
}

impl Mariadb {
    /// Creates and starts a server, with settings such as `innodb_flush_log_at_trx_commit=1` in addition to those that
    /// make it fast.
    ///
    /// # Panics
    /// If none is installed; the message says what to install.
    pub fn start(settings: &[&str]) -> Self {
        let quick = [
            "innodb_flush_log_at_trx_commit=0",
            "innodb_buffer_pool_size=64M",
            "innodb_log_file_size=48M",
            "max_connections=200",
            "skip-log-bin",
            "skip-name-resolve",
        ];
        let settings = quick.iter().chain(settings).map(|setting| format!("--{setting}")).collect();
        let mut server = Self { folder: folder("hermes-mariadb"), port: free_port(), settings, server: None };
        let users = "CREATE USER IF NOT EXISTS hermes@'127.0.0.1';\n\
                     GRANT ALL PRIVILEGES ON *.* TO hermes@'127.0.0.1' WITH GRANT OPTION;\n\
                     CREATE DATABASE IF NOT EXISTS hermes;\n";
        fs::write(server.folder.path().join("users.sql"), users).unwrap();
        server.install();
        server.launch();
        server
    }

    /// Returns its URL.
    pub fn url(&self) -> String {
        self.url_of("hermes")
    }

    /// Returns the URL of one of its databases.
    pub fn url_of(&self, database: &str) -> String {
        format!("mysql://hermes@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns its port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns its data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns its socket, which is beside its data.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Kills it, as in a crash of the machine, and starts it again.
    pub fn crash(&mut self) {
        self.stop("immediate");
        self.launch();
    }

    /// Stops it and does not restart it: `immediate` kills it, any other mode lets it finish its work.
    pub fn stop(&mut self, mode: &str) {
        if let Some(mut server) = self.server.take() {
            // It finishes its work, then answers and exits.
            let is_asked = mode != "immediate" && self.client("SHUTDOWN").status().is_ok_and(|it| it.success());
            if !is_asked {
                _ = server.kill();
            }
            _ = server.wait();
        }
    }

    /// Starts it again.
    pub fn launch(&mut self) {
        let here = self.folder.path().display();
        let mut command = self.command(&program(&SERVERS).unwrap());
        command.args(["--no-defaults", "--bind-address=127.0.0.1", &format!("--port={}", self.port)]);
        command.args([&format!("--datadir={here}/data"), &format!("--socket={here}/socket")]);
        command.args([&format!("--tmpdir={here}"), &format!("--pid-file={here}/pid")]);
        command.args([&format!("--init-file={here}/users.sql")]).args(&self.settings);
        let log = self.folder.path().join("log");
        let mut server = command.stderr(fs::File::create(&log).unwrap()).spawn().unwrap();
        await_start(&mut server, &log, || self.client("SELECT 1").status().unwrap().success());
        self.server = Some(server);
    }

    /// Adds settings for its next start.
    pub fn set(&mut self, settings: &[&str]) {
        self.settings.extend(settings.iter().map(|setting| format!("--{setting}")));
    }

    /// Runs statements as `hermes`, in the database of that name, and returns their output.
    ///
    /// # Panics
    /// If one fails.
    pub fn sql(&self, statements: &str) -> String {
        output_of(&mut self.client(statements))
    }

    /// Returns a client command that runs statements and prints only their results.
    pub fn client(&self, statements: &str) -> Command {
        let mut command = self.command(&program(&["mariadb", "mysql"]).unwrap());
        command.args(["--no-defaults", "--protocol=tcp", "-h", "127.0.0.1", "-P", &self.port.to_string()]);
        command.args(["-u", "hermes", "--default-character-set=utf8mb4", "-N", "-B", "-r", "-e", statements, "hermes"]);
        command.env_remove("MYSQL_PWD");
        command
    }

    /// Creates the system tables of the server.
    fn install(&self) {
        let data = format!("--datadir={}", self.data().display());
        let missing = "MariaDB is not installed: install the package mariadb-server, or set HERMES_TEST_SKIP=mysql";
        let server = program(&SERVERS).unwrap_or_else(|| panic!("{missing}"));
        let (program, options) = match program(&["mariadb-install-db"]) {
            Some(install) => (install, ["--auth-root-authentication-method=normal", "--skip-test-db"].as_slice()),
            // MySQL's server does it itself.
            None => (server, ["--initialize-insecure"].as_slice()),
        };
        // In a shared folder, a starting server would remove the temporary files of another one.
        let room = format!("--tmpdir={}", self.folder.path().display());
        let mut command = self.command(&program);
        output_of(
            command.args(["--no-defaults", &data, &room]).args(options).arg("--innodb_flush_log_at_trx_commit=0"),
        );
    }

    fn command(&self, program: &Path) -> Command {
        command_in(self.folder.path(), program)
    }
}

impl Drop for Mariadb {
    fn drop(&mut self) {
        self.stop("immediate");
    }
}

/// Names of the server program.
const SERVERS: [&str; 2] = ["mariadbd", "mysqld"];

/// Returns the first of these programs that is installed.
fn program(names: &[&str]) -> Option<PathBuf> {
    // Debian keeps servers in folders that are not in the `PATH` of most users.
    let folders: Vec<PathBuf> = path().into_iter().chain(["/usr/sbin", "/usr/libexec"].map(PathBuf::from)).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|program| program.exists()))
}
