//! Locations of the store, and the errors if it is missing or unusable.

use super::*;
use insta::assert_snapshot;

const LIST: [&str; 2] = ["sessions", "list"];

#[test]
fn a_missing_store_is_not_created() {
    let home = Home::empty();
    assert_snapshot!(home.see(&LIST), @r#"
    --- stderr
    error: there is no session store at [HOME]/state.db
    hint: `hermes demo` creates one with samples; --home, --url and HERMES_HOME choose another one
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--url", "sqlite:other.db"]), @r#"
    --- stderr
    error: there is no session store at [HOME]/other.db
    hint: `hermes demo` creates one with samples; --home, --url and HERMES_HOME choose another one
    --- exit 1
    "#);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn every_way_to_name_the_place_leads_there() {
    let home = several();
    let expect = home.see(&LIST);
    let file = home.database().display().to_string();
    let elsewhere = Home::empty();
    let nowhere = || elsewhere.hermes(&LIST);
    assert_eq!(elsewhere.see(&["sessions", "list", "--url", &file]), expect);
    assert_eq!(elsewhere.see(&["--url", &format!("sqlite://{file}"), "sessions", "list"]), expect);
    assert_eq!(elsewhere.see(&["sessions", "list", "--home", &home.path().display().to_string()]), expect);
    assert_eq!(nowhere().env("HERMES_SESSIONDB_URL", &format!(" sqlite:{file}\n")).see(), expect);
    assert_eq!(nowhere().env("HERMES_HOME", &format!(" {} ", home.path().display())).see(), expect);
    assert_eq!(
        nowhere().env("HOME", &home.path().display().to_string()).env("HERMES_SESSIONDB_URL", "~/state.db").see(),
        expect
    );
    elsewhere.config(&format!("sessiondb:\n  sqlite:\n    db_path: {file}\n"));
    assert_eq!(nowhere().see(), expect);
    elsewhere.config("sessiondb:\n  sqlite:\n    db_path: '{{ env.PLACE }}/state.db'\n");
    assert_eq!(nowhere().env("PLACE", &home.path().display().to_string()).see(), expect);
}

#[test]
fn a_bad_url_is_reported() {
    let home = Home::empty();
    assert_snapshot!(home.see(&["sessions", "list", "--url", "oracle://ada:hunter2@db"]), @r#"
    --- stderr
    error: store URL has an unknown scheme "oracle"
    hint: use sqlite:, postgresql:// or mysql:// (the URL is from the command line)
    --- exit 2
    "#);
    assert_snapshot!(home.hermes(&LIST).env("HERMES_SESSIONDB_URL", "sqlite://state.db").see(), @r#"
    --- stderr
    error: store URL of SQLite has a relative path after //
    hint: use sqlite:PATH for a relative path, sqlite:///PATH for an absolute one (the URL is from $HERMES_SESSIONDB_URL)
    --- exit 1
    "#);
}

#[test]
fn a_server_that_cannot_be_used_is_reported_and_passwords_are_hidden() {
    let home = Home::empty();
    assert_snapshot!(home.see(&["sessions", "list", "--url", "postgresql://ada:hunter2@db/hermes?sslpassword=x"]), @r#"
    --- stderr
    warning: others on this machine can see the password in --url
    hint: set HERMES_SESSIONDB_URL instead
    error: store URL can't be read: unknown option `sslpassword`
    hint: write postgresql://user@host:port/database, with %3F for a ? and %40 for an @ in the password
    --- exit 1
    "#);
    assert_snapshot!(home.hermes(&LIST).env("HERMES_SESSIONDB_URL", "mysql:///hermes?password=hunter2").see(), @r#"
    --- stderr
    error: store URL names no server
    hint: write it as scheme://user@host:port/database (the URL is from $HERMES_SESSIONDB_URL)
    --- exit 1
    "#);
    home.config("sessiondb: {provider: mysql, mysql: {host: 'ada:hunter2@db', database: hermes}}");
    assert_snapshot!(home.see(&LIST), @r#"
    --- stderr
    error: sessiondb.mysql.host is ***, set by [HOME]/config.yaml (sessiondb.mysql.host)
    hint: give the name or the address of a server, or the path of its socket
    --- exit 1
    "#);
    home.config("sessiondb: {provider: mysql, mysql: {host: db}}");
    assert_snapshot!(home.see(&LIST), @r#"
    --- stderr
    error: sessiondb.mysql.database is missing, which sessiondb.provider requires ([HOME]/config.yaml (sessiondb.provider))
    hint: set sessiondb.mysql.database in config.yaml, or give the store with --url
    --- exit 1
    "#);
    home.config("sessiondb: {provider: postgresql}");
    assert_snapshot!(home.see(&LIST), @r#"
    --- stderr
    error: sessiondb.postgresql.dsn is missing, which sessiondb.provider requires ([HOME]/config.yaml (sessiondb.provider))
    hint: set sessiondb.postgresql.dsn in config.yaml, or give the store with --url
    --- exit 1
    "#);
}

#[test]
fn a_broken_config_is_reported_with_its_line() {
    let home = Home::with_store();
    home.config("model: x\nsessiondb:\n  sqlite: {db_path: 'a\n");
    let seen = home.see(&LIST);
    assert!(seen.contains("error: [HOME]/config.yaml:3: ") && seen.ends_with("--- exit 1"), "{seen}");
    home.config("sessiondb: {sqlite: {wait_seconds: -5}}");
    assert_snapshot!(home.see(&LIST), @r#"
    --- stderr
    error: sessiondb.sqlite.wait_seconds is -5, set by [HOME]/config.yaml (sessiondb.sqlite.wait_seconds)
    hint: give the seconds as a number of 0 or more
    --- exit 1
    "#);
    home.config("sessiondb: {provider: oracle}");
    assert_snapshot!(home.see(&LIST), @r#"
    --- stderr
    error: sessiondb.provider is "oracle", set by [HOME]/config.yaml (sessiondb.provider)
    hint: use sqlite, postgresql or mysql
    --- exit 1
    "#);
}

#[test]
fn no_home_at_all() {
    // Without HOME, the entry of the account is used. The tests can't remove it, so only the name is checked.
    let home = Home::empty();
    let seen = home.hermes(&LIST).without_env("HERMES_HOME").see();
    assert!(seen.contains("there is no session store at /nonexistent/.hermes/state.db"), "{seen}");
}

#[test]
fn a_file_that_is_no_store_is_the_stores_matter() {
    let home = Home::empty();
    std::fs::write(home.database(), "this is no database, but it is long enough to be looked at as if it were one")
        .unwrap();
    let seen = home.see(&LIST);
    assert!(seen.contains("error: ") && seen.contains("hint: ") && seen.ends_with("--- exit 3"), "{seen}");
    std::fs::remove_file(home.database()).unwrap();
    std::fs::create_dir(home.database()).unwrap();
    let seen = home.see(&LIST);
    assert!(seen.contains("error: ") && seen.contains("hint: ") && seen.ends_with("--- exit 3"), "{seen}");
}

#[test]
fn a_place_that_cannot_be_written_is_reported() {
    let home = Home::empty();
    let seen = home.see(&["demo", "--url", "/proc/state.db"]);
    assert!(seen.contains("error: ") && seen.contains("hint: ") && seen.ends_with("--- exit 3"), "{seen}");
    let seen = home.see(&["demo", "--keep-in", "/proc/demo"]);
    assert!(seen.contains("error: could not make a folder") && seen.ends_with("--- exit 1"), "{seen}");
}

#[test]
fn a_text_file_is_not_called_damaged() {
    let home = Home::empty();
    std::fs::write(home.path().join("passwd"), "root:x:0:0:root:/root:/bin/sh\n".repeat(40)).unwrap();
    assert_snapshot!(home.see(&["sessions", "list", "--url", "passwd"]), @r#"
    --- stderr
    error: passwd is not a SQLite database
    hint: give the path of an agent's state.db; if this was one, `hermes sessions repair FILE` saves what can be read of it
    --- exit 3
    "#);
    for command in [&["sessions", "verify"][..], &["sessions", "backup", "copy.db"], &["sessions", "rename", "a", "b"]]
    {
        let seen = home.see(&[command, &["--url", "passwd"]].concat());
        assert!(seen.contains("passwd is not a SQLite database\n") && !seen.contains("damaged"), "{seen}");
    }
}
