//! `hermes config`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

#[test]
fn every_setting_names_its_origin() {
    let home = Home::empty();
    home.config("sessions:\n  auto_prune: true\nsessiondb:\n  sqlite:\n    wait_seconds: 2.5\n  mysql:\n    password: hunter2\nmodel: other\n");
    assert_snapshot!(home.hermes(&["config", "show"]).env("NO_COLOR", "1").env("COLUMNS", "200").see(), @r#"
    home                                    [HOME]  ($HERMES_HOME)
    color                                   never  ($NO_COLOR)
    sessiondb.provider                      sqlite  (the default)
    sessiondb.sqlite.db_path                [HOME]/state.db  (the default)
    sessiondb.sqlite.synchronous            full  (the default)
    sessiondb.sqlite.wait_seconds           2.5  ([HOME]/config.yaml)
    sessiondb.sqlite.read_only              false  (the default)
    sessiondb.postgresql.pool_size          10  (the default)
    sessiondb.postgresql.max_overflow       5  (the default)
    sessiondb.postgresql.statement_timeout  30000  (the default)
    sessiondb.mysql.port                    3306  (the default)
    sessiondb.mysql.password                ***  ([HOME]/config.yaml)
    sessiondb.mysql.pool_size               10  (the default)
    sessions.auto_prune                     true  ([HOME]/config.yaml)
    sessions.retention_days                 90  (the default)
    sessions.vacuum_after_prune             true  (the default)
    sessions.min_interval_hours             24  (the default)
    sessions.trash_days                     30  (the default)
    display.resume_display                  full  (the default)
    search.timeout_ms                       2000  (the default)
    --- exit 0
    "#);
}

#[test]
fn colours_are_shown_in_the_words_of_the_option() {
    let home = Home::empty();
    let row = |args: &[&str], name: &str| {
        let seen = home.hermes(&[&["config", "show"], args].concat()).env(name, "1").stdout();
        seen.lines()
            .find(|line| line.starts_with("color "))
            .unwrap()
            .split_whitespace()
            .skip(1)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(row(&[], "X"), "auto (the default)");
    assert_eq!(row(&[], "NO_COLOR"), "never ($NO_COLOR)");
    assert!(row(&["--color", "never"], "FORCE_COLOR").eq("never (the command line)"));
}

#[test]
fn passwords_are_not_shown() {
    let home = Home::empty();
    home.config("sessiondb:\n  provider: postgresql\n  postgresql:\n    dsn: postgresql://ada:hunter2@db/hermes\n    replica_dsn: 'not a url hunter2'\n  mysql:\n    password: hunter2\n");
    for args in [&["config", "show"][..], &["config", "show", "--json"]] {
        let seen = home.hermes(args).env("HERMES_SESSIONDB_URL", "mysql://ada:hunter2@db/x").see();
        assert!(seen.contains("ada:***@db") && !seen.contains("hunter2"), "{seen}");
    }
}

#[test]
fn the_same_for_programs() {
    let home = Home::empty();
    let json: Value =
        serde_json::from_str(&home.hermes(&["config", "show", "--json", "--url", "x.db"]).stdout()).unwrap();
    let of = |key: &str| json["settings"].as_array().unwrap().iter().find(|row| row["key"] == key).unwrap().clone();
    assert_eq!(json["schema"], 1);
    assert_eq!(
        of("sessiondb.url"),
        serde_json::json!({"key": "sessiondb.url", "value": "sqlite:x.db", "origin": "flag"})
    );
    assert_eq!(
        (&of("home")["origin"], &of("home")["variable"]),
        (&Value::from("environment"), &Value::from("HERMES_HOME"))
    );
    assert_eq!(of("sessions.auto_prune")["origin"], "default");
}

#[test]
fn a_setting_that_cannot_be_used_is_marked_and_the_others_are_shown() {
    let home = Home::empty();
    home.config("sessions:\n  retention_days: -3\n  trash_days: 7\n");
    assert_snapshot!(home.hermes(&["config", "show"]).env("COLUMNS", "200").see(), @r"
    home                                    [HOME]  ($HERMES_HOME)
    color                                   auto  (the default)
    sessiondb.provider                      sqlite  (the default)
    sessiondb.sqlite.db_path                [HOME]/state.db  (the default)
    sessiondb.sqlite.synchronous            full  (the default)
    sessiondb.sqlite.wait_seconds           60  (the default)
    sessiondb.sqlite.read_only              false  (the default)
    sessiondb.postgresql.pool_size          10  (the default)
    sessiondb.postgresql.max_overflow       5  (the default)
    sessiondb.postgresql.statement_timeout  30000  (the default)
    sessiondb.mysql.port                    3306  (the default)
    sessiondb.mysql.pool_size               10  (the default)
    sessions.auto_prune                     false  (the default)
    sessions.retention_days                 -3  ([HOME]/config.yaml)  ✗ can't be used: give a whole number of 0 or more
    sessions.vacuum_after_prune             true  (the default)
    sessions.min_interval_hours             24  (the default)
    sessions.trash_days                     7  ([HOME]/config.yaml)
    display.resume_display                  full  (the default)
    search.timeout_ms                       2000  (the default)
    --- stderr
    error: sessions.retention_days is -3, set by [HOME]/config.yaml (sessions.retention_days)
    hint: give a whole number of 0 or more
    --- exit 1
    ");
    let output = home.hermes(&["config", "show", "--json"]).output();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |key: &str| json["settings"].as_array().unwrap().iter().find(|row| row["key"] == key).unwrap().clone();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(of("sessions.retention_days")["error"], "can't be used: give a whole number of 0 or more");
    assert_eq!((&of("sessions.trash_days")["value"], &of("sessions.trash_days")["error"]), (&"7".into(), &Value::Null));
}

#[test]
fn several_settings_that_cannot_be_used_are_all_marked() {
    let home = Home::empty();
    home.config(
        "sessiondb:\n  provider: mysql\n  sqlite: {wait_seconds: soon}\n  mysql: {host: h, database: '{{ env.NOT_SET }}', password: [hunter2]}\n",
    );
    let seen = home.hermes(&["config", "show"]).env("COLUMNS", "200").see();
    let marked: Vec<&str> = seen.lines().filter(|line| line.contains('✗') || line.contains("error:")).collect();
    assert_snapshot!(marked.join("\n"), @r#"
    sessiondb.sqlite.wait_seconds           "soon"  ([HOME]/config.yaml)  ✗ can't be used: give the seconds as a number of 0 or more
    sessiondb.mysql.database                {{ env.NOT_SET }}  ([HOME]/config.yaml)  ✗ NOT_SET is not set
    sessiondb.mysql.password                ***  ([HOME]/config.yaml)  ✗ can't be used: give a text; put it in quotes if it looks like a number
    error: 3 settings can't be used
    hint: correct those that are marked with ✗
    "#);
    assert!(!seen.contains("hunter2") && seen.ends_with("--- exit 1"), "{seen}");
}

#[test]
fn a_file_that_is_not_yaml_is_an_error() {
    let home = Home::empty();
    home.config("sessions: [\n");
    let seen = home.see(&["config", "show"]);
    assert!(seen.starts_with("--- stderr\nerror: [HOME]/config.yaml:") && seen.ends_with("--- exit 1"), "{seen}");
}
