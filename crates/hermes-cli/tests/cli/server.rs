//! Commands on servers, and migrations between servers and files.

use super::import::{rich, rows};
use super::migrate::long_work;
use super::*;
use hermes_conformance::servers::{Mariadb, Postgres, is_skipped};
use std::time::{Duration, Instant};

/// A temporary server.
enum Server {
    Postgresql(Postgres),
    Mysql(Mariadb),
}

impl Server {
    /// Starts PostgreSQL. Returns `None` if it is not tested here.
    fn postgresql() -> Option<Self> {
        (!is_skipped("postgres")).then(|| Self::Postgresql(Postgres::start(&[])))
    }

    /// Starts MariaDB. Returns `None` if it is not tested here.
    fn mysql() -> Option<Self> {
        (!is_skipped("mysql")).then(|| Self::Mysql(Mariadb::start(&[])))
    }

    /// Returns the URL of a store with this name: a schema, or a database.
    fn store(&self, name: &str) -> String {
        match self {
            Self::Postgresql(server) => format!("{}?schema={name}", server.url()),
            Self::Mysql(server) => {
                server.sql(&format!("CREATE DATABASE IF NOT EXISTS {name}"));
                server.url_of(name)
            }
        }
    }

    /// Returns the number of messages in a store, and a checksum of their content.
    fn sum(&self, name: &str) -> String {
        match self {
            Self::Postgresql(server) => {
                server.sql(&format!("SELECT count(*), sum(hashtext(content)::int8) FROM {name}.messages"))
            }
            Self::Mysql(server) => server.sql(&format!("SELECT count(*), sum(crc32(content)) FROM {name}.messages")),
        }
    }
}

/// Runs a command on a store of the server. Returns its output. Panics on errors and on exit codes other than 0.
fn done(home: &Home, url: &str, args: &[&str]) -> String {
    let output = home.hermes(args).env("HERMES_SESSIONDB_URL", url).output();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_works_on_postgresql() {
    let Some(server) = Server::postgresql() else { return };
    let status = every_command_works(&server);
    assert!(status.contains("postgresql 1") && status.contains("11 in work"), "{status}");
    assert!(status.contains("in use, at most 15"), "{status}");
    // Without the extension, doctor reports it and does not create it.
    let Server::Postgresql(postgres) = &server else { return };
    postgres.sql("DROP EXTENSION pg_trgm CASCADE");
    let told = done(&Home::empty(), &server.store("work"), &["doctor", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let missing = told["items"].as_array().unwrap().iter().find(|item| item["name"] == "server").unwrap();
    assert_eq!(missing["degree"], "warning", "{told}");
    assert_eq!(missing["remedy"], "have an administrator run CREATE EXTENSION pg_trgm in the database", "{told}");
    assert_eq!(postgres.sql("SELECT count(*) FROM pg_extension WHERE extname = 'pg_trgm'").trim(), "0");
}

#[test]
fn every_command_works_on_mysql() {
    let Some(server) = Server::mysql() else { return };
    let status = every_command_works(&server);
    assert!(status.contains("mysql ") && status.contains("MariaDB") && status.contains("11 in work"), "{status}");
    assert!(status.contains("in use, at most 10"), "{status}");
}

/// Runs every command that changes or shows something. Returns the final status.
fn every_command_works(server: &Server) -> String {
    let (home, url) = (Home::empty(), server.store("work"));
    let run = |args: &[&str]| done(&home, &url, args);
    let toured = run(&["demo", "--url", &url]);
    assert!(toured.contains("大别山徒步计划"), "{toured}");
    let listed = run(&["sessions", "list"]);
    assert!(listed.contains("大别山徒步计划") && listed.contains("Flaky login test"), "{listed}");
    assert!(run(&["sessions", "search", "大别山"]).contains(">>>大别山<<<"));
    assert!(run(&["sessions", "search", "placemen"]).contains(">>>placemen<<<"), "pieces of words");
    assert!(run(&["sessions", "show", "Flaky login test"]).contains("200 runs"));
    assert!(run(&["sessions", "show", "@last", "--recap"]).contains("Previous Conversation"));
    assert!(run(&["sessions", "stats"]).contains("telegram"));
    run(&["sessions", "rename", "Flaky login test", "Steady login test"]);
    run(&["sessions", "export", "all.jsonl"]);
    assert!(run(&["sessions", "import", "all.jsonl"]).contains("9"), "all are there");
    assert!(run(&["sessions", "verify"]).contains("The store is sound."));
    run(&["sessions", "backup", "copy.jsonl"]);
    assert_eq!(
        std::fs::read(home.path().join("copy.jsonl")).unwrap(),
        std::fs::read(home.path().join("all.jsonl")).unwrap()
    );
    run(&["sessions", "optimize", "--rebuild"]);
    run(&["sessions", "delete", "Steady login test", "--yes"]);
    assert!(run(&["sessions", "trash", "list"]).contains("Steady login test"));
    run(&["sessions", "restore", "Steady login test"]);
    assert!(run(&["sessions", "list", "--all"]).contains("Steady login test"));
    run(&["sessions", "delete", "Steady login test", "--yes"]);
    assert!(run(&["sessions", "erase", "Steady login test", "--yes"]).contains("Erased Steady login test"));
    assert!(run(&["sessions", "trash", "list"]).contains("The trash is empty."));
    run(&["sessions", "prune", "--older-than", "0d", "--yes"]);
    assert!(run(&["sessions", "verify"]).contains("The store is sound."));
    assert!(run(&["config", "show"]).contains(url.split('?').next().unwrap()));
    let examined: serde_json::Value = serde_json::from_str(&run(&["doctor", "--json"])).unwrap();
    let store: Vec<&serde_json::Value> =
        examined["items"].as_array().unwrap().iter().filter(|item| item["name"] != "home").collect();
    assert!(store.iter().any(|item| item["name"] == "relations"), "{examined}");
    // The test server is configured without durability, which doctor reports.
    assert!(store.iter().all(|item| item["degree"] == "fine" || item["name"] == "server"), "{examined}");
    run(&["sessiondb", "status"])
}

#[test]
fn an_unreachable_server_is_reported_without_a_fallback() {
    let home = Home::with_store();
    for scheme in ["postgresql", "mysql"] {
        let url = format!("{scheme}://ada:hunter2@127.0.0.1:1/hermes");
        let seen = home.hermes(&["sessions", "list"]).env("HERMES_SESSIONDB_URL", &url).see();
        assert!(seen.contains(&format!("error: {scheme}://ada@127.0.0.1:1/hermes can't be used:")), "{seen}");
        assert!(seen.contains("hint: check that the server is running") && seen.ends_with("--- exit 3"), "{seen}");
        assert!(!seen.contains("hunter2"), "{seen}");
    }
}

#[test]
fn mysql_settings_select_the_server_and_its_refusals_are_reported() {
    let Some(Server::Mysql(server)) = Server::mysql() else { return };
    server.sql("CREATE USER ada@'127.0.0.1' IDENTIFIED BY 'ri:ght@'; GRANT ALL ON hermes.* TO ada@'127.0.0.1'");
    let home = Home::with_store();
    assert!(home.see(&["sessions", "export", "all.jsonl"]).ends_with("--- exit 0"));
    let see = |database: &str, password: &str, args: &[&str]| {
        home.config(&format!(
            "sessiondb:\n  provider: mysql\n  mysql:\n    host: 127.0.0.1\n    port: {}\n    database: {database}\n    \
             user: ada\n    password: '{{{{ env.PASSWORD }}}}'\n    pool_size: 3\n",
            server.port()
        ));
        let seen = home.hermes(args).env("PASSWORD", password).see();
        assert!(!seen.contains(password), "{seen}");
        seen
    };
    let status = ["sessiondb", "status"];
    let seen = see("hermes", "hunter2", &status);
    assert!(seen.contains("can't be used: Access denied for user 'ada'") && seen.ends_with("--- exit 3"), "{seen}");
    assert!(seen.contains("hint: check the user and the password in sessiondb.mysql"), "{seen}");
    let seen = see("nowhere", "ri:ght@", &status);
    assert!(seen.contains("can't be used: ") && seen.contains("nowhere") && seen.ends_with("--- exit 3"), "{seen}");
    let seen = see("hermes", "ri:ght@", &status);
    assert!(seen.contains("has no session store in the database hermes") && seen.ends_with("--- exit 3"), "{seen}");
    let seen = see("hermes", "ri:ght@", &["sessions", "import", "all.jsonl"]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    let seen = see("hermes", "ri:ght@", &status);
    assert!(seen.contains("11 in hermes") && seen.contains("at most 3") && seen.ends_with("--- exit 0"), "{seen}");
    assert!(see("hermes", "ri:ght@", &["config", "show"]).contains("sessiondb.mysql.password                ***"));
}

#[test]
fn unsuitable_mysql_settings_are_reported() {
    if is_skipped("mysql") {
        return;
    }
    let server =
        Mariadb::start(&["innodb_flush_log_at_trx_commit=2", "max_allowed_packet=1M", "innodb_ft_min_token_size=9"]);
    let home = Home::with_store();
    assert!(home.see(&["sessions", "export", "all.jsonl"]).ends_with("--- exit 0"));
    let seen = home.hermes(&["sessions", "import", "all.jsonl"]).env("HERMES_SESSIONDB_URL", &server.url()).see();
    for setting in ["innodb_flush_log_at_trx_commit is 2", "max_allowed_packet", "innodb_ft_min_token_size"] {
        assert!(seen.contains(setting) && seen.ends_with("--- exit 0"), "{setting}: {seen}");
    }
}

#[test]
fn there_and_back_every_byte_is_the_same() {
    let (postgresql, mysql) = (Server::postgresql(), Server::mysql());
    let (from, back) = (rich(), Home::empty());
    from.write(async |store| store.set_meta("goal:first", Some("a\0b")).await.unwrap());
    let path = |home: &Home| home.database().to_str().unwrap().to_owned();
    // Covers every pair of providers: the file, PostgreSQL, MySQL, PostgreSQL, the file, MySQL, the file.
    let stations: Vec<Option<String>> = vec![
        Some(path(&from)),
        postgresql.as_ref().map(|server| server.store("one")),
        mysql.as_ref().map(|server| server.store("two")),
        postgresql.as_ref().map(|server| server.store("three")),
        Some(from.path().join("four.db").to_str().unwrap().to_owned()),
        mysql.as_ref().map(|server| server.store("five")),
        Some(path(&back)),
    ];
    let stations: Vec<String> = stations.into_iter().flatten().collect();
    let mut hashes = Vec::new();
    for way in stations.windows(2) {
        let seen = from.see(&["sessiondb", "migrate", "--from", &way[0], "--to", &way[1]]);
        let proof = "proof       4 of 4 sessions with 5 messages are the same";
        assert!(seen.contains(proof) && seen.ends_with("exit 0"), "{way:?}: {seen}");
        hashes.extend(seen.lines().find(|line| line.starts_with("sha256")).map(str::to_owned));
    }
    assert_eq!(rows(&back), rows(&from));
    assert_eq!(hashes.len(), stations.len() - 1);
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:?}");
}

#[test]
fn killed_on_the_way_to_postgresql_it_loses_and_doubles_nothing() {
    let Some(server) = Server::postgresql() else { return };
    killed_on_the_way(&server);
}

#[test]
fn killed_on_the_way_to_mysql_it_loses_and_doubles_nothing() {
    let Some(server) = Server::mysql() else { return };
    killed_on_the_way(&server);
}

fn killed_on_the_way(server: &Server) {
    let from = long_work();
    let source = from.database();
    let to = |name: &str, more: &[&str]| {
        let url = server.store(name);
        let args = ["sessiondb", "migrate", "--from", source.to_str().unwrap(), "--to", &url];
        from.hermes(&[&args[..], more].concat())
    };
    let start = Instant::now();
    assert!(to("trial", &[]).output().status.success());
    let whole = start.elapsed();
    let (mut killed, mut seed) = (0, 11_u64);
    while killed < 20 {
        let mut run = to("work", &["--resume"]);
        let mut child = run.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The process is killed at a random moment.
        std::thread::sleep(whole.mul_f64((seed >> 33) as f64 / (1_u64 << 31) as f64).max(Duration::from_millis(1)));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
    }
    let seen = to("work", &["--resume"]).see();
    assert!(seen.contains("254 of 254 sessions") && seen.ends_with("exit 0"), "{seen}");
    assert_eq!(server.sum("work"), server.sum("trial"));
    let verified = from.see(&["sessions", "verify", "--url", &server.store("work")]);
    assert!(verified.contains("The store is sound."), "{verified}");
}
