//! `hermes sessions archive` and `unarchive`, and the filters of `list` on what newer agents record.

use super::*;
use hermes_conformance::agent::{Absent, Agent, release};
use hermes_session::{NewChild, Relation};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn sessions(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions"], args].concat())
}

fn json(home: &Home, args: &[&str]) -> Value {
    serde_json::from_str(&home.hermes(&[&["sessions"], args].concat()).stdout()).unwrap()
}

fn ids(home: &Home, args: &[&str]) -> Vec<String> {
    let page = json(home, &[&["list", "--json"], args].concat());
    page["sessions"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

/// Returns an installed release of the agent; `None` if the tests were told to skip it.
fn agent(version: &str) -> Option<PathBuf> {
    match release(version) {
        Ok(folder) => Some(folder),
        Err(Absent::Unwanted) => None,
        Err(why) => panic!("{why}"),
    }
}

fn call(agent: &mut Agent, method: &str, arguments: Value) -> Value {
    agent.call(method, &arguments).unwrap_or_else(|error| panic!("{method}: {error}"))
}

#[test]
fn archived_conversations_leave_the_list_and_come_back() {
    let home = several();
    assert_snapshot!(sessions(&home, &["archive", "20250303", "cron_job1"]), @r#"
    Archived 20250303_101500_f1f2f3f4
    Archived Größe 👨‍👩‍👧 ❤️
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["list"]), @r#"
    #  Title             Last active  Source    Msgs  ID
    ────────────────────────────────────────────────────────────────────────
    1  refactoring auth  2h ago       cli          2  20250305_091523_a1b2c3
    2  大别山徒步计划    yesterday    telegram     1  20250304_150000_b0b0b0
    --- stderr
    note: 2 archived conversations are not listed; --archived lists them
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["list", "--archived"]), @r#"
    #  Title                    Last active  Source   Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  كيف أحضّر كبسة الدجاج ل…  3d ago       discord     1  20250303_101500_f1f2f3f4
    2  Größe 👨‍👩‍👧 ❤️              2025-03-05   cron        1  cron_job1
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["archive", "cron_job1"]), @r#"
    Größe 👨‍👩‍👧 ❤️ was archived already
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["search", "report", "--source", "cron"]), @r#"
    1 Größe 👨‍👩‍👧 ❤️  2025-03-05 · cron · archived · cron_job1
      ● You  2025-03-05  #5  Run the daily >>>report<<< second line

    1 hit in 1 conversation
    --- stderr
    note: open a hit by its number: hermes sessions show cron_job1 --around 5
    --- exit 0
    "#);
    assert!(sessions(&home, &["show", "cron_job1"]).contains("archived    yes\n"));
    assert!(!sessions(&home, &["show", "20250305"]).contains("archived"));
    assert_snapshot!(sessions(&home, &["unarchive", "@1", "20250305"]), @r#"
    Unarchived Größe 👨‍👩‍👧 ❤️
    refactoring auth was not archived
    --- exit 0
    "#);
    assert_eq!(ids(&home, &["--archived"]), ["20250303_101500_f1f2f3f4"]);
    assert_snapshot!(sessions(&home, &["archive", "20250305", "nobody"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    assert_eq!(ids(&home, &["--archived"]).len(), 1, "nothing is changed unless all are found");
}

#[test]
fn a_list_without_rows_says_that_some_are_archived() {
    let home = several();
    sessions(&home, &["archive", "cron_job1"]);
    assert_snapshot!(sessions(&home, &["list", "--source", "cron"]), @r#"
    No sessions found.
    Sources in this store: cli, cron, discord, telegram, tool.
    Other options may find some: see `hermes sessions list --help`.
    --- stderr
    note: 1 archived conversation is not listed; --archived lists it
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["list", "--source", "discord"]), @r#"
    #  Title                    Last active  Source   Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  كيف أحضّر كبسة الدجاج ل…  3d ago       discord     1  20250303_101500_f1f2f3f4
    --- exit 0
    "#);
    let more = sessions(&home, &["list", "--limit", "1"]);
    assert!(more.contains("there are more") && !more.contains("archived"), "{more}");
    assert!(!sessions(&home, &["list", "--all"]).contains("archived"));
}

#[test]
fn programs_read_who_is_archived() {
    let home = several();
    assert_eq!(
        json(&home, &["archive", "cron_job1", "--json"]),
        json!({"schema": 1, "sessions": [{"id": "cron_job1", "title": "Größe 👨\u{200d}👩\u{200d}👧 ❤️", "archived": true, "changed": true}]})
    );
    assert_eq!(json(&home, &["archive", "cron_job1", "--json"])["sessions"][0]["changed"], false);
    assert_eq!(json(&home, &["list", "--json", "--archived"])["sessions"][0]["archived"], true);
    assert_eq!(json(&home, &["list", "--json"])["sessions"][0]["archived"], false);
    assert_eq!(json(&home, &["search", "report", "--json"])["hits"][0]["archived"], true);
    assert_eq!(json(&home, &["show", "cron_job1", "--json"])["session"]["archived"], true);
    assert_eq!(json(&home, &["unarchive", "cron_job1", "--json"])["sessions"][0]["archived"], false);
}

#[test]
fn naming_any_session_archives_the_conversation() {
    let home = several();
    home.write(async |store| {
        let id = |text: &str| SessionId::parse(text).unwrap();
        let now = || Request::at(Timestamp::from_seconds(ago(HOUR)).unwrap());
        store.split(&id("cron_job1"), &NewChild::new(id("next")), &[], &now()).await.unwrap();
        let helper = NewSession::new(id("helper"), Source::parse("cron").unwrap());
        store.create(&helper.child_of(id("next"), Relation::Delegate), &now()).await.unwrap();
    });
    sessions(&home, &["archive", "helper"]);
    assert_eq!(ids(&home, &["--archived"]), ["next"]);
    assert!(sessions(&home, &["show", "cron_job1"]).contains("archived    yes\n"));
}

/// In a file of an agent that knows archiving, its own column is used, and the agent agrees with us.
#[test]
fn the_agents_own_column_is_used_where_it_is() {
    let Some(newest) = agent("0.19.0") else { return };
    let home = Home::empty();
    let mut theirs = Agent::open(&newest, home.path());
    for (id, parent) in [("root", None), ("next", Some("root")), ("other", None)] {
        let arguments = json!({"session_id": id, "source": "cli", "parent_session_id": parent});
        call(&mut theirs, "create_session", arguments);
        call(&mut theirs, "append_message", json!({"session_id": id, "role": "user", "content": "a wallaby"}));
        if id == "root" {
            call(&mut theirs, "end_session", json!({"session_id": id, "end_reason": "compression"}));
        }
    }
    let listed = |theirs: &mut Agent| {
        let rows = call(theirs, "list_sessions_rich", json!({}));
        let mut ids: Vec<String> =
            rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(listed(&mut theirs), ["next", "other"]);
    sessions(&home, &["archive", "next"]);
    assert_eq!(listed(&mut theirs), ["other"]);
    assert_eq!(ids(&home, &["--archived"]), ["next"]);
    call(&mut theirs, "set_session_archived", json!({"session_id": "next", "archived": false}));
    assert_eq!(ids(&home, &["--archived"]), [""; 0]);
    call(&mut theirs, "set_session_archived", json!({"session_id": "other", "archived": true}));
    assert_eq!(ids(&home, &["--archived"]), ["other"]);
    sessions(&home, &["unarchive", "other"]);
    assert_eq!(listed(&mut theirs), ["next", "other"]);
    let beside = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_archived*'";
    assert_eq!(home.foreign().query_row(beside, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

/// An agent that does not know archiving sees nothing of it, and its table stays as it was. A newer agent that upgrades
/// the file learns it.
#[test]
fn an_older_agent_sees_nothing_of_it_and_a_newer_one_takes_it_over() {
    let (Some(old), Some(newest)) = (agent("0.14.0"), agent("0.19.0")) else { return };
    let home = Home::empty();
    let mut theirs = Agent::open(&old, home.path());
    for id in ["kept", "away"] {
        call(&mut theirs, "create_session", json!({"session_id": id, "source": "cli"}));
        call(&mut theirs, "append_message", json!({"session_id": id, "role": "user", "content": "a wallaby"}));
    }
    let schema = "SELECT sql FROM sqlite_schema WHERE name = 'sessions'";
    let before: String = home.foreign().query_row(schema, [], |row| row.get(0)).unwrap();
    sessions(&home, &["archive", "away"]);
    assert_eq!(ids(&home, &[]), ["kept"]);
    assert_eq!(home.foreign().query_row(schema, [], |row| row.get::<_, String>(0)).unwrap(), before);
    assert_eq!(call(&mut theirs, "list_sessions_rich", json!({})).as_array().unwrap().len(), 2);
    theirs.say(&json!({"do": "close"}));
    // The rpc has the answers of agent 0.14, which hides nothing.
    let mut served = rpc::Served::start(&home, &[]);
    served.line();
    let answer = served.call(r#"{"i": 1, "m": "list_sessions_rich", "a": []}"#).to_string();
    assert!(answer.contains("\"away\"") && answer.contains("\"kept\""), "{answer}");
    served.stdin = None;
    served.end();

    let mut theirs = Agent::open(&newest, home.path());
    assert_eq!(ids(&home, &["--archived"]), ["away"]);
    // The next write moves it to the agent's column.
    sessions(&home, &["rename", "kept", "a title"]);
    let rows = call(&mut theirs, "list_sessions_rich", json!({}));
    assert_eq!(rows.as_array().unwrap().len(), 1, "{rows}");
    call(&mut theirs, "set_session_archived", json!({"session_id": "away", "archived": false}));
    assert_eq!(ids(&home, &["--archived"]), [""; 0]);
}

/// Archiving that only we know survives `detach` and comes back with an import, also for a conversation in the trash.
#[test]
fn detach_keeps_it() {
    let home = several();
    sessions(&home, &["archive", "cron_job1", "20250303"]);
    sessions(&home, &["delete", "20250303", "--yes"]);
    let seen = home.see(&["sessiondb", "detach", "--yes"]);
    assert!(seen.contains("1 conversation in the trash, 1 session archived"), "{seen}");
    assert!(ids(&home, &[]).contains(&"cron_job1".to_owned()));
    let kept = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept = kept.into_iter().find(|path| path.to_string_lossy().contains(".detached-")).unwrap();
    let seen = sessions(&home, &["import", kept.to_str().unwrap()]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    assert_eq!(ids(&home, &["--archived"]), ["cron_job1"]);
    sessions(&home, &["restore", "20250303"]);
    assert_eq!(ids(&home, &["--archived"]), ["20250303_101500_f1f2f3f4", "cron_job1"]);
}

/// Returns a home whose sessions have a working directory, some of them a branch.
fn recorded() -> Home {
    let home = Home::with_store();
    let line = |id: &str, columns: &str| {
        format!(
            "{{\"format\": \"hermes-sessions/1\", \"id\": \"{id}\", \"source\": \"cli\", \"started_at\": {}{columns}, \"messages\": []}}\n",
            ago(HOUR)
        )
    };
    let folder = home.path().to_str().unwrap();
    let text = line("above", &format!(", \"cwd\": \"{folder}\", \"git_branch\": \"main\""))
        + &line("below", &format!(", \"cwd\": \"{folder}/a/b\", \"git_branch\": \"fix\""))
        + &line("beside", &format!(", \"cwd\": \"{folder}-2\", \"git_branch\": \"main\""));
    std::fs::write(home.path().join("in.jsonl"), text).unwrap();
    sessions(&home, &["import", home.path().join("in.jsonl").to_str().unwrap()]);
    home
}

#[test]
fn lists_are_limited_to_a_folder_and_a_branch() {
    let home = recorded();
    let folder = home.path().to_str().unwrap().to_owned();
    let sorted = |args: &[&str]| {
        let mut found = ids(&home, args);
        found.sort();
        found
    };
    assert_eq!(sorted(&["--cwd", &folder]), ["above", "below"]);
    assert_eq!(sorted(&["--cwd", &format!("{folder}/a/../a/b/")]), ["below"]);
    assert_eq!(sorted(&["--branch", "main"]), ["above", "beside"]);
    assert_eq!(sorted(&["--branch", "main", "--cwd", &folder]), ["above"]);
    assert_eq!(sorted(&["--cwd", "a"]), ["below"], "relative to the folder of the process");
    let next = sessions(&home, &["list", "--branch", "main", "--limit", "1"]);
    assert!(next.contains("sessions list --branch main --limit 1 --offset 1"), "{next}");
    assert!(sessions(&home, &["list", "--branch", "none"]).starts_with("No sessions found."));
}

#[test]
fn a_store_that_records_no_folder_says_so() {
    let home = several();
    assert_snapshot!(sessions(&home, &["list", "--cwd", "/work"]), @r#"
    --- stderr
    error: working directory is not recorded in this store: no session has a value in sessions.cwd
    hint: agents before 0.16 do not record it; list without this filter
    --- exit 1
    "#);
    assert_snapshot!(sessions(&home, &["list", "--branch", "main", "--json"]), @r#"
    --- stderr
    error: Git branch is not recorded in this store: no session has a value in sessions.git_branch
    hint: agents before 0.18 do not record it; list without this filter
    --- exit 1
    "#);
}
