//! `hermes config`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

#[test]
fn every_setting_tells_who_set_it() {
    let home = Home::empty();
    home.config("sessions:\n  auto_prune: true\nsessiondb:\n  sqlite:\n    wait_seconds: 2.5\n  mysql:\n    password: hunter2\nmodel: other\n");
    assert_snapshot!(home.hermes(&["config", "show"]).env("NO_COLOR", "1").see(), @r#"
    home                                    [HOME]  ($HERMES_HOME)
    color                                   false  ($NO_COLOR)
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
fn a_value_that_cannot_be_is_told() {
    let home = Home::empty();
    home.config("sessions:\n  retention_days: -3\n");
    assert_snapshot!(home.see(&["config", "show"]), @r#"
    --- stderr
    error: sessions.retention_days is -3, set by [HOME]/config.yaml (sessions.retention_days)
    hint: give a whole number of 0 or more
    --- exit 1
    "#);
}
