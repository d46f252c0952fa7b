use super::*;
use std::path::Path;

const NO_VARIABLES: [(&str, &str); 0] = [];

fn settings(variables: &[(&str, &str)], yaml: &str) -> Result<Settings, ConfigError> {
    with_flags(&Flags::default(), variables, yaml)
}

fn with_flags(flags: &Flags, variables: &[(&str, &str)], yaml: &str) -> Result<Settings, ConfigError> {
    let environment = Environment::new(variables.iter().copied(), Some(Path::new("/home/ada")));
    resolve(flags, &environment, Some(&ConfigFile::new("/h/config.yaml", yaml)))
}

#[track_caller]
fn refused(variables: &[(&str, &str)], yaml: &str, expect: &str, hint: &str) {
    let error = settings(variables, yaml).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.hint().as_str()), (expect, hint));
}

#[test]
fn nothing_given_is_the_default() {
    let environment = Environment::new(NO_VARIABLES, Some(Path::new("/home/ada")));
    let settings = resolve(&Flags::default(), &environment, None).unwrap();
    assert_eq!(settings.home, Setting::default_value("/home/ada/.hermes".into()));
    assert_eq!(settings.store().unwrap().value, StoreLocation::Sqlite("/home/ada/.hermes/state.db".into()));
    assert_eq!(settings.sessiondb.sqlite.wait_seconds, Setting::default_value(Duration::from_secs(60)));
    assert_eq!(settings.sessiondb.sqlite.synchronous.value, Synchronous::Full);
    assert_eq!(settings.sessions.retention_days.value, 90);
    assert!(!settings.sessions.auto_prune.value && settings.sessions.vacuum_after_prune.value);
    assert_eq!(settings.search.timeout_ms.value, 2000);
    assert!(matches!(resolve(&Flags::default(), &Environment::default(), None), Err(ConfigError::NoHome)));
}

#[test]
fn flag_then_environment_then_file_then_default() {
    let flags = Flags { url: Some(Secret::new("flag.db")), ..Flags::default() };
    let variables = [("HERMES_SESSIONDB_URL", " env.db "), ("HERMES_HOME", "/h")];
    let yaml = "sessiondb:\n  sqlite:\n    db_path: file.db\n";
    let file = Origin::File { path: "/h/config.yaml".into(), key: "sessiondb.sqlite.db_path" };
    let url = |text: &str| StoreLocation::Url(Secret::new(text));
    let table = [
        (&flags, &variables[..], yaml, url("flag.db"), Origin::Flag),
        (&Flags::default(), &variables[..], yaml, url("env.db"), Origin::Environment("HERMES_SESSIONDB_URL")),
        (&Flags::default(), &variables[1..], yaml, StoreLocation::Sqlite("/h/file.db".into()), file),
        (&Flags::default(), &variables[1..], "", StoreLocation::Sqlite("/h/state.db".into()), Origin::Default),
    ];
    for (flags, variables, yaml, value, origin) in table {
        assert_eq!(with_flags(flags, variables, yaml).unwrap().store().unwrap(), Setting { value, origin });
    }
}

#[test]
fn read_only_comes_from_the_flag_or_the_file() {
    let yaml = "sessiondb: {sqlite: {read_only: '{{ env.LOOK }}'}}";
    let read_only = |flags: &Flags, yaml: &str| {
        let settings = with_flags(flags, &[("HERMES_HOME", "/h"), ("LOOK", "true")], yaml).unwrap();
        settings.sessiondb.sqlite.read_only
    };
    let file = Origin::File { path: "/h/config.yaml".into(), key: "sessiondb.sqlite.read_only" };
    let flag = Flags { read_only: true, ..Flags::default() };
    assert_eq!(read_only(&Flags::default(), ""), Setting::default_value(false));
    assert_eq!(read_only(&Flags::default(), yaml), Setting { value: true, origin: file });
    assert_eq!(read_only(&flag, yaml), Setting { value: true, origin: Origin::Flag });
    let no = "sessiondb: {sqlite: {read_only: false}}";
    assert_eq!(read_only(&flag, no), Setting { value: true, origin: Origin::Flag });
}

#[test]
fn the_home_is_trimmed_and_its_tilde_is_no_home() {
    for (value, expect) in [(" /x y \n", "/x y"), ("~/h", "~/h"), ("  ", "/home/ada/.hermes")] {
        assert_eq!(settings(&[("HERMES_HOME", value)], "").unwrap().home.value, Path::new(expect), "{value:?}");
    }
    let flags = Flags { home: Some("/flag".into()), ..Flags::default() };
    assert_eq!(with_flags(&flags, &[("HERMES_HOME", "/env")], "").unwrap().home.value, Path::new("/flag"));
}

#[test]
fn paths_in_the_file_belong_to_a_home() {
    for (value, expect) in [("~/a.db", "/home/ada/a.db"), ("/a.db", "/a.db"), ("a/b.db", "/h/a/b.db")] {
        let yaml = format!("sessiondb: {{sqlite: {{db_path: '{value}'}}}}");
        let settings = settings(&[("HERMES_HOME", "/h")], &yaml).unwrap();
        assert_eq!(settings.sessiondb.sqlite.db_path.value, Path::new(expect));
    }
}

#[test]
fn other_peoples_keys_are_left_alone() {
    let yaml = "model: {default: x, weird: .inf}\n1: 2\nterminal: '{{ env.NOT_SET }}'\nsessions: {auto_prune: yes}\n\
                mcp_servers: {a: {env: {K: '{{ env.NOT_SET }}'}}}\nmodel: again\nsessiondb:\n";
    assert!(settings(&[], yaml).unwrap().sessions.auto_prune.value);
    assert!(settings(&[], "").is_ok() && settings(&[], "# only a comment\n").is_ok());
}

#[test]
fn variables_stand_in_any_value() {
    let yaml = "sessiondb:\n  provider: '{{ env.KIND }}'\n  sqlite: {wait_seconds: '{{env.WAIT}}'}\n  \
                postgresql: {dsn: 'postgresql://a:{{ env.PW }}@h/d'}\nsessions: {auto_prune: '{{ env.PRUNE }}'}";
    let settings =
        settings(&[("KIND", "postgresql"), ("WAIT", "1.5"), ("PW", "s3{{cret"), ("PRUNE", "on")], yaml).unwrap();
    assert_eq!(settings.sessiondb.sqlite.wait_seconds.value, Duration::from_millis(1500));
    assert!(settings.sessions.auto_prune.value);
    let StoreLocation::Url(url) = settings.store().unwrap().value else { panic!("a URL") };
    assert_eq!(url.reveal(), "postgresql://a:s3{{cret@h/d");
    assert!(!format!("{settings:?}").contains("s3{{cret"));
}

#[test]
fn a_variable_that_is_not_set_is_an_error_where_it_is_needed() {
    let yaml = "sessiondb: {provider: KIND, postgresql: {dsn: '{{ env.DSN }}'}}";
    assert!(settings(&[], &yaml.replace("KIND", "sqlite")).unwrap().sessiondb.postgresql.dsn.is_none());
    refused(
        &[],
        &yaml.replace("KIND", "postgresql"),
        "sessiondb.postgresql.dsn uses {{ env.DSN }}, which is not set (/h/config.yaml (sessiondb.postgresql.dsn))",
        "set DSN, or write the value into the file",
    );
}

#[test]
fn a_wrong_value_is_named_with_its_place() {
    let at = |key: &str| format!("set by /h/config.yaml ({key})");
    let table = [
        ("sessiondb: {provider: oracle}", "sessiondb.provider", "\"oracle\"", "use sqlite, postgresql or mysql"),
        ("sessiondb: {provider: 5}", "sessiondb.provider", "5", "use sqlite, postgresql or mysql"),
        (
            "sessiondb: {sqlite: {wait_seconds: -1}}",
            "sessiondb.sqlite.wait_seconds",
            "-1",
            "give the seconds as a number of 0 or more",
        ),
        (
            "sessiondb: {sqlite: {synchronous: off}}",
            "sessiondb.sqlite.synchronous",
            "false",
            "use full, extra or normal",
        ),
        ("sessions: {retention_days: 2.5}", "sessions.retention_days", "2.5", "give a whole number of 0 or more"),
        ("sessions: {auto_prune: maybe}", "sessions.auto_prune", "\"maybe\"", "give true or false"),
        ("search: {timeout_ms: []}", "search.timeout_ms", "a list", "give a whole number of 1 or more"),
        (
            "sessiondb: {mysql: {password: 12345}}",
            "sessiondb.mysql.password",
            "***",
            "give a text; put it in quotes if it looks like a number",
        ),
    ];
    for (yaml, key, value, hint) in table {
        refused(&[], yaml, &format!("{key} is {value}, {}", at(key)), hint);
    }
}

#[test]
fn a_broken_file_tells_the_line_and_no_secret() {
    let error = settings(&[], "a: 1\npassword: hunter2\nb: [1, 2\nc: }\n").unwrap_err();
    assert!(matches!(&error, ConfigError::Broken { line: 3 | 4, .. }), "{error}");
    assert!(error.to_string().starts_with("/h/config.yaml:"), "{error}");
    assert!(!error.to_string().contains("hunter2") && !error.to_string().contains('\n'), "{error}");
    let error = settings(&[], "sessiondb:\n  sqlite:\n    db_path: {{ env.X }}/a\n").unwrap_err();
    assert_eq!(error.hint(), "put a value with {{ env.NAME }} in quotes", "{error}");
    refused(
        &[],
        "- a\n- b\n",
        "/h/config.yaml:1: the file is not a map of keys to values",
        "correct the file; it is YAML, indented with spaces",
    );
}

#[test]
fn server_providers_need_their_keys() {
    let error = settings(&[], "sessiondb: {provider: mysql, mysql: {host: db}}").unwrap().store().unwrap_err();
    assert_eq!(
        error.to_string(),
        "sessiondb.mysql.database is missing, which sessiondb.provider requires (/h/config.yaml (sessiondb.provider))"
    );
    let yaml =
        "sessiondb: {provider: mysql, mysql: {host: db, port: 3307, database: hermes, user: ada, password: 'p@s/s'}}";
    let StoreLocation::Url(url) = settings(&[], yaml).unwrap().store().unwrap().value else { panic!("a URL") };
    assert_eq!(url.reveal(), "mysql://ada:p%40s%2Fs@db:3307/hermes");
}

#[test]
fn the_keys_of_mysql_make_a_url() {
    for (keys, expect) in [
        ("host: db, database: hermes", "mysql://db:3306/hermes"),
        ("host: db, database: 'a b?c', user: 'a:b@c'", "mysql://a%3Ab%40c@db:3306/a%20b%3Fc"),
        ("host: db, database: d, user: ä, password: '%?#'", "mysql://%C3%A4:%25%3F%23@db:3306/d"),
        ("host: db, database: d, password: x", "mysql://:x@db:3306/d"),
        ("host: '::1', database: d", "mysql://[::1]:3306/d"),
        ("host: '[::1]', database: d", "mysql://[::1]:3306/d"),
        ("host: /run/a b.sock, database: d, user: ada", "mysql://ada@localhost:3306/d?socket=%2Frun%2Fa%20b.sock"),
    ] {
        let yaml = format!("sessiondb: {{provider: mariadb, mysql: {{{keys}}}}}");
        let StoreLocation::Url(url) = settings(&[], &yaml).unwrap().store().unwrap().value else { panic!("{keys}") };
        assert_eq!(url.reveal(), expect, "{keys}");
    }
    // A text that would end the host part of the URL is refused.
    for host in ["db/x", "ada@db", "db?ssl-mode=DISABLED", "a b", "db:3306", ""] {
        let yaml = format!("sessiondb: {{provider: mysql, mysql: {{host: '{host}', database: d}}}}");
        let error = settings(&[], &yaml).unwrap().store().unwrap_err();
        assert!(matches!(error, ConfigError::Value { key: "sessiondb.mysql.host", .. }), "{host}: {error}");
    }
}

#[test]
fn a_file_that_is_not_there_is_nothing() {
    let home = tempfile::tempdir().unwrap();
    assert!(ConfigFile::read(home.path()).unwrap().is_none());
    std::fs::create_dir(home.path().join("config.yaml")).unwrap();
    let error = ConfigFile::read(home.path()).err().unwrap();
    assert!(matches!(error, ConfigError::Unreadable { .. }) && !error.hint().is_empty());
}
