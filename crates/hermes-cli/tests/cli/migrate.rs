//! `hermes sessiondb migrate`

use super::import::{rich, rows};
use super::*;
use insta::assert_snapshot;
use serde_json::Value;
use std::time::{Duration, Instant};

fn migrate<'a>(from: &'a Home, to: &Home, more: &[&str]) -> Run<'a> {
    let (source, target) = (from.database(), to.database());
    let args = ["sessiondb", "migrate", "--from", source.to_str().unwrap(), "--to", target.to_str().unwrap()];
    from.hermes(&[&args[..], more].concat())
}

/// Returns the output of a migration, without values that change from run to run.
fn seen(from: &Home, to: &Home, more: &[&str]) -> String {
    let target = to.path().display().to_string();
    let line = |line: &str| match (line.split_once(" in "), line.split_once("sha256      ")) {
        (Some((start, _)), _) if line.starts_with("Migrated") => format!("{start} in [TIME]"),
        (_, Some(_)) => "sha256      [HASH]".to_owned(),
        _ => line.replace(&target, "[TARGET]"),
    };
    migrate(from, to, more).see().lines().map(line).collect::<Vec<_>>().join("\n")
}

fn json_of(from: &Home, to: &Home, more: &[&str]) -> Value {
    let output = migrate(from, to, &[more, &["--json"]].concat()).stdout();
    serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}"))
}

fn sound(home: &Home) {
    let seen = home.see(&["sessions", "verify"]);
    assert!(seen.contains("The store is sound."), "{seen}");
}

/// Returns the bytes of the file.
fn bytes(home: &Home) -> Vec<u8> {
    std::fs::read(home.database()).unwrap()
}

#[test]
fn everything_goes_over_row_by_row() {
    let (from, to) = (rich(), Home::empty());
    from.write(async |store| store.set_meta("goal:first", Some("x")).await.unwrap());
    let before = bytes(&from);
    assert_snapshot!(seen(&from, &to, &["--dry-run"]), @r#"
    Would migrate 4 sessions, 5 messages. Nothing was written.
    from        sqlite:[HOME]/state.db
    to          sqlite:[TARGET]/state.db
    beside      1 value, 0 rows about topics
    --- exit 0
    "#);
    assert!(!to.database().exists());
    assert_snapshot!(seen(&from, &to, &[]), @r#"
    Migrated 4 sessions, 5 messages, 5 FTS entries in [TIME]
    from        sqlite:[HOME]/state.db
    to          sqlite:[TARGET]/state.db
    beside      1 value, 0 rows about topics
    proof       4 of 4 sessions with 5 messages are the same
    sha256      [HASH]
    searches    1 of 1 find the same messages
    --- exit 0
    "#);
    assert_eq!(rows(&to), rows(&from));
    assert!(bytes(&from) == before, "the source stays as it is");
    assert_snapshot!(seen(&from, &to, &[]), @r#"
    Migrated 0 sessions, 0 messages, 5 FTS entries in [TIME]
    from        sqlite:[HOME]/state.db
    to          sqlite:[TARGET]/state.db
    skipped     4 sessions, already in the target
    proof       4 of 4 sessions with 5 messages are the same
    sha256      [HASH]
    searches    1 of 1 find the same messages
    --- exit 0
    "#);
    assert_eq!(rows(&to), rows(&from));
    sound(&to);
    // Migrates back.
    let back = Home::empty();
    let json = json_of(&to, &back, &[]);
    assert_eq!((&json["proof"]["holds"], &json["values"]), (&true.into(), &1.into()));
    assert_eq!(rows(&back), rows(&from));
}

#[test]
fn a_session_that_is_there_with_other_content_stays() {
    let (from, to) = (several(), Home::empty());
    migrate(&from, &to, &[]).output();
    to.damage("UPDATE sessions SET title = 'mine' WHERE id = 'cron_job1'");
    let before = rows(&to);
    assert_snapshot!(seen(&from, &to, &[]), @r#"
    Migrated 0 sessions, 0 messages, 6 FTS entries in [TIME]
    from        sqlite:[HOME]/state.db
    to          sqlite:[TARGET]/state.db
    skipped     4 sessions, already in the target
    conflicts   1 session, already in the target with other content
    proof       4 of 4 sessions with 5 messages are the same
    sha256      [HASH]
    searches    12 of 12 find the same messages
    --- stderr
    session cron_job1: title differs
    error: 1 session is in the target with other content
    hint: existing sessions are not changed; to copy them from the source, delete them in the target and run it again
    --- exit 1
    "#);
    assert_eq!(rows(&to), before);
    // The proof finds differences in content and titles.
    to.damage("UPDATE sessions SET title = NULL WHERE id = 'cron_job1'; UPDATE messages SET content = 'Sire.' WHERE content = 'Sure.'");
    let seen = seen(&from, &to, &[]);
    assert!(seen.contains("session 20250305_091523_a1b2c3: message 2 differs"), "{seen}");
    assert!(seen.contains("error: 1 session is not the same in both stores") && seen.ends_with("--- exit 3"), "{seen}");
}

#[test]
fn other_data_is_refused_unless_it_is_meant() {
    let (from, to) = (several(), compressed());
    let before = bytes(&to);
    assert_snapshot!(seen(&from, &to, &[]), @r#"
    --- stderr
    error: sqlite:[TARGET]/state.db holds 2 sessions that the source does not have, such as first
    hint: use an empty store, or pass --merge to add to this one; --dry-run --merge shows what would happen
    --- exit 1
    "#);
    assert_eq!(rows(&to).len(), 4);
    assert!(bytes(&to) == before);
    let json = json_of(&from, &to, &["--merge"]);
    assert_eq!((&json["sessions"], &json["proof"]["holds"]), (&5.into(), &true.into()), "{json}");
    assert_eq!(json["proof"]["renumbered"], 3, "{json}");
    sound(&to);
}

#[test]
fn wrong_arguments_are_reported() {
    let home = several();
    let run = |args: &[&str]| home.see(&[&["sessiondb", "migrate"], args].concat());
    assert_snapshot!(run(&["--from", "config", "--to", "./state.db"]), @r#"
    --- stderr
    error: --from and --to name the same store, sqlite:[HOME]/state.db
    hint: name another store to copy to
    --- exit 1
    "#);
    assert_snapshot!(run(&["--from", "env:NOBODY", "--to", "x.db"]), @r#"
    --- stderr
    error: the variable NOBODY that --from names is not set, or is not UTF-8
    hint: set NOBODY to the URL of a store
    --- exit 1
    "#);
    assert_snapshot!(run(&["--from", "oracle://ada:pw@h", "--to", "x.db"]), @r#"
    --- stderr
    error: store URL has an unknown scheme "oracle"
    hint: use sqlite:, postgresql:// or mysql:// (--from)
    --- exit 2
    "#);
    assert_snapshot!(run(&["--from", "nowhere.db", "--to", "x.db"]), @r#"
    --- stderr
    error: there is no session store at [HOME]/nowhere.db
    hint: `hermes demo` creates one with samples; --home, --url and HERMES_HOME choose another one
    --- exit 1
    "#);
    assert_snapshot!(run(&["--from", "mysql://ada:hunter2@db/hermes", "--to", "mariadb://ada:hunter2@db/hermes"]), @r#"
    --- stderr
    warning: others on this machine can see the password in --from
    hint: put the URL into a variable and give --from env:NAME
    warning: others on this machine can see the password in --to
    hint: put the URL into a variable and give --to env:NAME
    error: --from and --to name the same store, mysql://ada:***@db/hermes
    hint: name another store to copy to
    --- exit 1
    "#);
    let seen = run(&["--from", "config", "--to", "x.db", "--batch", "0"]);
    assert!(seen.contains("0 is not in 1..=100000") && seen.ends_with("--- exit 2"), "{seen}");
    let seen = run(&["--from", "config"]);
    assert!(seen.contains("--to <URL>") && seen.ends_with("--- exit 2"), "{seen}");
    assert!(!home.path().join("x.db").exists());
    let named = home.hermes(&["sessiondb", "migrate", "--from", "env:STORE", "--to", "x.db", "--json"]);
    let json: Value = serde_json::from_str(&named.env("STORE", "sqlite:state.db").stdout()).unwrap();
    assert_eq!(json["from"], "sqlite:state.db");
}

/// Returns a store with the leftovers of foreign writers and damage.
fn ugly() -> Home {
    let home = rich();
    home.talk("circle a", "cli", Some(&"题".repeat(100)), LONG_AGO, &[(Role::User, "round and round")]);
    home.talk("circle b", "cli", None, LONG_AGO, &[]);
    home.talk("odd", "cli", None, LONG_AGO, &[(Role::User, "plain")]);
    let child = "INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES";
    home.damage(&format!(
        "PRAGMA foreign_keys = OFF;
         UPDATE sessions SET parent_session_id = 'circle b' WHERE id = 'circle a';
         UPDATE sessions SET parent_session_id = 'circle a' WHERE id = 'circle b';
         UPDATE hx_session SET relation = 'delegate' WHERE session_id IN ('circle a', 'circle b');
         {child} ('orphan', 'cli', 'nowhere', 5.5);
         UPDATE sessions SET estimated_cost_usd = 9e999, model = 'a' || char(0) || 'b' WHERE id = 'odd';
         UPDATE sessions SET handoff_state = 'failed', handoff_platform = 'telegram', handoff_error = 'x' WHERE id = 'odd';
         INSERT INTO sessions (id, source, started_at) VALUES ('no start', 'cli', 'soon');
         INSERT INTO sessions (id, source, started_at) VALUES ('', 'cli', 1.0);
         INSERT INTO messages (id, session_id, role, content, timestamp) VALUES
             (-5, 'odd', 'user', 'before all', 1.0),
             (9007199254740993, 'odd', 'user', char(0) || 'json:\"\\ud800 lone\"', 2.0),
             (9007199254740999, 'odd', 'user', x'ff00', 3.0);
         INSERT INTO messages (session_id, role, tool_calls, timestamp) VALUES ('empty', 'assistant', '{{broken', 4.0);
         INSERT INTO messages (session_id, role, content, timestamp)
             VALUES ('empty', 'tool', '大别山 ' || hex(zeroblob(1000000)), 5.0);
         CREATE TABLE session_model_usage (session_id TEXT, model TEXT);
         INSERT INTO session_model_usage VALUES ('odd', 'm')"
    ));
    home
}

#[test]
fn data_that_cannot_be_copied_is_reported_and_the_rest_is_compared() {
    let (from, to) = (ugly(), Home::empty());
    let before = bytes(&from);
    let json = json_of(&from, &to, &[]);
    let mut found: Vec<String> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            let text = |key: &str| finding[key].as_str().unwrap_or("-").to_owned();
            format!("{} | {} | {}", text("kind"), text("session_id"), text("what"))
        })
        .collect();
    found.sort();
    assert_snapshot!(found.join("\n"), @r#"
    column | empty | tool_calls could not be read: JSON is broken at byte 1: a key in quotes is missing
    column | odd | estimated_cost_usd is inf, which is left out
    column | odd | model holds a NUL character, which was replaced by �
    column | orphan | its parent nowhere did not exist when it was first seen, so it has no parent in the copy
    foreign | - | the table session_model_usage is not copied (rows: 1)
    parent | circle a | its parent circle b is left out: parent session comes from the session itself
    unreadable |  | no store accepts it: session id is empty
    unreadable | - | sessions no start can't be read: started_at is not a time
    "#);
    let proof = &json["proof"];
    assert_eq!((&proof["holds"], &proof["mismatch_count"]), (&true.into(), &0.into()), "{json}");
    assert_eq!(proof["sha256_from"], proof["sha256_to"]);
    assert_eq!((&proof["unlinked"], &proof["renumbered"]), (&1.into(), &2.into()), "{proof}");
    assert!(bytes(&from) == before);
    let kept: (Option<f64>, String, String) = to
        .foreign()
        .query_row("SELECT estimated_cost_usd, model, handoff_error FROM sessions WHERE id = 'odd'", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(kept, (None, "a\u{fffd}b".into(), "x".into()));
    // Rows that no store accepts are left to the user.
    let seen = seen(&from, &to, &[]);
    assert!(seen.contains("of the source could not be copied") && seen.ends_with("--- exit 1"), "{seen}");
    // Wrong counters were carried over unchanged.
    let verified = to.see(&["sessions", "verify"]);
    let problems: Vec<&str> = verified.lines().filter(|line| line.starts_with('✗')).collect();
    assert!(problems.len() == 1 && problems[0].contains("counters"), "{verified}");
}

/// Returns a store that takes a while to migrate.
pub(super) fn long_work() -> Home {
    let home = rich();
    home.damage(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
         INSERT INTO sessions (id, source, started_at, message_count) SELECT printf('s%04d', i), 'cli', 1000.0 + i, 2 FROM n;
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
         INSERT INTO messages (session_id, role, content, timestamp)
             SELECT printf('s%04d', i / 2 + 1), 'user', 'word' || i || ' ' || hex(randomblob(100)), 1000.0 + i FROM n;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
         INSERT INTO messages (session_id, role, content, timestamp) SELECT 'first', 'user', 'more ' || i, 2000.0 + i FROM n;
         UPDATE sessions SET message_count = 601 WHERE id = 'first'",
    );
    home
}

#[test]
fn killed_again_and_again_it_loses_and_doubles_nothing() {
    let (from, to, trial) = (long_work(), Home::empty(), Home::empty());
    let start = Instant::now();
    assert!(migrate(&from, &trial, &[]).output().status.success());
    let whole = start.elapsed();
    let (mut killed, mut seed) = (0, 7_u64);
    while killed < 20 {
        let mut run = migrate(&from, &to, &["--resume"]);
        let mut child = run.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The process is killed at a random moment.
        std::thread::sleep(whole.mul_f64((seed >> 33) as f64 / (1_u64 << 31) as f64).max(Duration::from_millis(1)));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
    }
    assert!(migrate(&from, &to, &["--resume"]).output().status.success());
    assert_eq!(rows(&to), rows(&from));
    let json = json_of(&from, &to, &[]);
    assert_eq!((&json["sessions"], &json["skipped"], &json["found"]), (&0.into(), &254.into(), &0.into()), "{json}");
    assert_eq!(json["proof"]["renumbered"], 0);
    sound(&to);
}

#[test]
#[cfg(target_os = "linux")]
fn a_signal_ends_it_between_two_steps() {
    use rustix::process::{Pid, Signal, kill_process};
    let (from, to) = (long_work(), Home::with_store());
    let holder = to.foreign();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut run = migrate(&from, &to, &[]);
    let child = run.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    stop::wait_until_it_listens(&child);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    holder.execute_batch("COMMIT").unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("error: stopped before everything was copied and compared\n"), "{errors}");
    assert!(errors.contains("--resume to continue"), "{errors}");
    assert!(migrate(&from, &to, &["--resume"]).output().status.success());
    assert_eq!(rows(&to), rows(&from));
}

#[test]
fn a_file_that_was_not_adopted_is_read_as_it_is() {
    let (from, to) = (compressed(), Home::empty());
    // As the agent leaves it: our revision is not set.
    from.damage("PRAGMA user_version = 0; UPDATE sessions SET end_reason = 'compression' WHERE id = 'first'; PRAGMA wal_checkpoint(TRUNCATE)");
    let before = bytes(&from);
    let json = json_of(&from, &to, &[]);
    assert_eq!((&json["sessions"], &json["proof"]["holds"]), (&2.into(), &true.into()), "{json}");
    assert!(bytes(&from) == before);
    let relation: String = to
        .foreign()
        .query_row("SELECT relation FROM hx_session WHERE session_id = 'second'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(relation, "continuation");
}

#[test]
fn a_source_that_goes_on_is_caught_up_with() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let (from, to, is_over) = (several(), Home::empty(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut said = 0;
            while !is_over.load(Ordering::Relaxed) {
                said += 1;
                let text = format!("one more, number {said}");
                from.add("cron_job1", MessageBody::new(Role::User, text.as_str()));
                from.talk(&format!("new{said}"), "cli", None, LONG_AGO, &[(Role::User, &text)]);
            }
        });
        for _ in 0..3 {
            // Whether both sides become equal depends on the writer; no other failure may occur.
            let output = migrate(&from, &to, &["--json"]).output();
            let told: Value = serde_json::from_slice(&output.stdout).unwrap();
            let behind = |mismatch: &Value| mismatch["behind"] == true;
            assert!(told["proof"]["mismatches"].as_array().unwrap().iter().all(behind), "{told}");
            assert_eq!(told["conflicts"].as_array().unwrap().len(), 0, "{told}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let json = json_of(&from, &to, &[]);
    assert_eq!((&json["proof"]["holds"], &json["found"]), (&true.into(), &0.into()), "{json}");
    assert_eq!(rows(&to).len(), rows(&from).len());
    sound(&to);
}

/// New messages that an append can't add are counted, and a dry run reports the same as the run itself.
#[test]
fn new_messages_that_can_not_be_added_are_counted_also_by_a_dry_run() {
    let (from, to) = (several(), Home::empty());
    assert_eq!(json_of(&from, &to, &[])["proof"]["holds"], true);
    from.damage(
        "ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
         ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0",
    );
    for text in ["first", "second", "third"] {
        from.add("cron_job1", MessageBody::new(Role::User, text));
    }
    from.damage("UPDATE messages SET active = 0, compacted = 1 WHERE content IN ('first', 'second')");
    for more in [&["--dry-run"][..], &[]] {
        let seen = migrate(&from, &to, more).see();
        assert!(
            seen.contains("session cron_job1: the target has an earlier state of it, and 2 of its new messages"),
            "{seen}"
        );
        assert!(seen.ends_with("--- exit 1"), "{more:?}: {seen}");
    }
}
