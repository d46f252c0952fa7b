//! `hermes sessiondb detach`

mod kept;

use super::*;
use hermes_conformance::agent::{self, Absent, Agent};
use hermes_session::{NewChild, Relation};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Instant;

/// The queries that the agent answers before and after.
const QUERIES: [&str; 6] = ["hello", "word3 text7", "大别山", "项目", "\"text11 hello\"", "written"];

/// Returns the installed releases of the agent; empty if the tests were told to skip them.
fn releases() -> Vec<(&'static str, PathBuf)> {
    let found = |version| match agent::release(version) {
        Ok(folder) => Some((version, folder)),
        Err(Absent::Unwanted) => None,
        Err(why) => panic!("{why}"),
    };
    ["0.14.0", "0.19.0"].into_iter().filter_map(found).collect()
}

fn ask(agent: &mut Agent, method: &str, arguments: Value) -> Value {
    agent.call(method, &arguments).unwrap_or_else(|error| panic!("{method}: {error}"))
}

/// Returns every object of a file.
fn objects(home: &Home) -> Vec<[Option<String>; 4]> {
    let file = home.foreign();
    let mut statement = file.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2, 3").unwrap();
    let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Returns the objects of a file that was never adopted.
fn untouched(release: &Path) -> Vec<[Option<String>; 4]> {
    let home = Home::empty();
    ask(&mut Agent::open(release, home.path()), "create_session", json!({"session_id": "a", "source": "cli"}));
    objects(&home)
}

/// Returns what the agent reads from a file: hits, the list, every transcript.
fn agents_answers(release: &Path, home: &Home) -> Value {
    let mut agent = Agent::open(release, home.path());
    let hits = QUERIES.map(|query| {
        let hits = ask(&mut agent, "search_messages", json!({"query": query, "limit": 100_000}));
        let mut ids: Vec<i64> = hits.as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()).collect();
        ids.sort_unstable();
        ids
    });
    let list = ask(&mut agent, "list_sessions_rich", json!({"limit": 1_000}));
    let list: Vec<Value> =
        list.as_array().unwrap().iter().map(|row| json!([row["id"], row["title"], row["message_count"]])).collect();
    let ids = agent.say(&json!({"do": "query", "sql": "SELECT id FROM sessions ORDER BY id"}));
    let transcripts: Vec<Value> = ids["value"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| ask(&mut agent, "get_messages_as_conversation", json!({"session_id": row[0]})))
        .collect();
    json!({"hits": hits, "list": list, "transcripts": transcripts})
}

/// A file of the agent's that was used by us: written, marked, searched, with a conversation in the trash, and
/// optimized if that is asked for.
fn used(release: &Path, sessions: usize, is_optimized: bool) -> Home {
    let home = Home::empty();
    let mut agent = Agent::open(release, home.path());
    for session in 0..sessions {
        let id = format!("s{session}");
        ask(&mut agent, "create_session", json!({"session_id": id, "source": "cli"}));
        for message in 0..30 {
            let role = if message % 2 == 0 { "user" } else { "assistant" };
            let content = format!("word{session} text{message} hello {} 大别山项目", "more to be indexed ".repeat(8));
            ask(&mut agent, "append_message", json!({"session_id": id, "role": role, "content": content}));
        }
    }
    ask(&mut agent, "close", json!({}));
    drop(agent);
    for args in [
        ["sessions", "rename", "s1", "one"].as_slice(),
        &["sessions", "pin", "s2"],
        &["sessions", "tag", "s3", "--add", "red"],
        &["sessions", "delete", "s4", "--yes"],
        &["sessions", "search", "hello"],
    ] {
        let seen = home.see(args);
        assert!(seen.ends_with("--- exit 0"), "{args:?}: {seen}");
    }
    home.write(async |store| {
        let id = SessionId::parse("s5").unwrap();
        let messages: Vec<NewMessage> =
            (0..40).map(|number| NewMessage::new(Role::User, format!("written by us {number} 汉字汉"))).collect();
        let at = Request::at(Timestamp::from_seconds(2_000_000_000.0).unwrap());
        store.append(&id, &messages, &at).await.unwrap();
    });
    if is_optimized {
        assert!(home.see(&["sessions", "optimize"]).ends_with("--- exit 0"));
    }
    home
}

/// Sees that nothing of ours is in a file, and that it is sound.
#[track_caller]
fn check(home: &Home, expect: &[[Option<String>; 4]], before: &Value, release: &Path) {
    assert_eq!(objects(home), expect);
    let file = home.foreign();
    let number = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("PRAGMA user_version"), 0);
    assert_eq!(file.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    for table in ["messages_fts", "messages_fts_trigram"] {
        file.execute_batch(&format!("INSERT INTO {table}({table}) VALUES ('integrity-check')")).unwrap();
        assert_eq!(number(&format!("SELECT count(*) FROM {table}_docsize")), number("SELECT count(*) FROM messages"));
    }
    drop(file);
    for name in ["state.db.queue", "state.db.open"] {
        assert!(!home.path().join(name).exists(), "{name}");
    }
    assert_eq!(agents_answers(release, home), *before);
}

/// The files that keep what only we held.
fn kept(home: &Home) -> Vec<String> {
    let names = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut kept: Vec<String> =
        names.filter(|name| name.starts_with("state.db.detached-") && name.ends_with(".jsonl")).collect();
    kept.sort();
    kept
}

/// Returns the data that only our tables hold: the trash, pins and tags.
fn held(home: &Home) -> Vec<String> {
    let list = home.see(&["sessions", "list", "--all", "--json"]);
    let rows = list.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let rows: Vec<Value> = rows.flat_map(|row| row["sessions"].as_array().cloned().unwrap_or(vec![row])).collect();
    let marked = rows
        .iter()
        .filter(|row| !row["pinned_at"].is_null() || row["tags"].as_array().is_some_and(|tags| !tags.is_empty()));
    let mut held: Vec<String> =
        marked.map(|row| json!([row["id"], row["pinned_at"], row["tags"]]).to_string()).collect();
    held.sort();
    held.push(home.see(&["sessions", "trash", "list", "--json"]));
    held
}

#[test]
fn nothing_of_ours_is_left_and_the_agent_finds_what_it_found() {
    for (version, release) in releases() {
        let expect = untouched(&release);
        for is_optimized in [false, true] {
            let home = used(&release, 8, is_optimized);
            let (before, ours, with_ours) = (agents_answers(&release, &home), held(&home), objects(&home).len());
            let seen = home.see(&["sessiondb", "detach", "--yes"]);
            assert!(seen.contains("1 conversation in the trash, 1 pin, 1 tag in [HOME]/state.db.detached-"), "{seen}");
            check(&home, &expect, &before, &release);
            let layout = if is_optimized { "optimized" } else { "used" };
            report(&format!(
                "{version}, {layout}: {} objects without us, {with_ours} with us, {} after detach",
                expect.len(),
                objects(&home).len()
            ));
            // The file is a foreign one again, and the next change brings us back.
            assert!(
                home.see(&["sessiondb", "detach", "--yes"]).contains("the file has no tables of hermes"),
                "{version}"
            );
            let file = kept(&home).remove(0);
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(home.path().join(&file)).unwrap().permissions().mode() & 0o777, 0o600);
            for _ in 0..2 {
                // The second time everything is there already.
                let seen = home.see(&["sessions", "import", &file]);
                assert!(seen.ends_with("--- exit 0") && !seen.contains("not imported"), "{seen}");
                assert!(seen.matches("adopted this file").count() <= 1, "{seen}");
                assert_eq!(held(&home), ours);
            }
            assert!(home.see(&["sessions", "restore", "s4"]).ends_with("--- exit 0"));
            assert!(home.see(&["sessions", "show", "s4"]).contains("word4 text29"));
            // A conversation that was restored since stays where it is.
            let seen = home.see(&["sessions", "import", &file]);
            assert!(seen.contains("it already exists here, so it was not moved to the trash"), "{seen}");
            assert!(seen.ends_with("--- exit 1"), "{seen}");
            assert!(home.see(&["sessions", "show", "s4"]).contains("word4 text29"));
        }
    }
}

/// How often the command is killed: a few times, or as often as `HERMES_TORTURE` says.
fn rounds() -> u32 {
    std::env::var("HERMES_TORTURE").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2)
}

#[test]
fn killed_anywhere_it_goes_on() {
    for (version, release) in releases() {
        let expect = untouched(&release);
        for is_optimized in [false, true] {
            let home = used(&release, 12, is_optimized);
            let (before, ours) = (agents_answers(&release, &home), held(&home));
            let copy = || {
                let copy = Home::empty();
                std::fs::copy(home.database(), copy.database()).unwrap();
                copy
            };
            let whole = copy();
            let start = Instant::now();
            assert!(whole.see(&["sessiondb", "detach", "--yes"]).ends_with("--- exit 0"));
            let (takes, mut killed, mut halfway) = (start.elapsed(), 0, 0);
            check(&whole, &expect, &before, &release);
            for round in 0..rounds() {
                let home = copy();
                let mut command = home.hermes(&["sessiondb", "detach", "--yes"]).command;
                let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                // Anywhere on its way: there is no state to wait for.
                std::thread::sleep(takes.mul_f64(f64::from(round + 1) / f64::from(rounds() + 1)));
                running.kill().unwrap();
                killed += u32::from(!running.wait().unwrap().success());
                let is_ours = objects(&home).iter().any(|object| object[1].as_deref().unwrap().starts_with("hx_"));
                halfway += u32::from(is_ours);
                if is_ours {
                    // Whoever comes next can go on with it, we and the agent.
                    assert_eq!(agents_answers(&release, &home), before, "{version}, round {round}");
                    let seen = home.see(&["sessions", "search", "hello"]);
                    assert!(seen.ends_with("--- exit 0"), "{seen}");
                }
                let seen = home.see(&["sessiondb", "detach", "--yes"]);
                assert!(seen.ends_with("--- exit 0"), "{seen}");
                check(&home, &expect, &before, &release);
                for file in kept(&home) {
                    let seen = home.see(&["sessions", "import", &file]);
                    assert!(seen.ends_with("--- exit 0"), "{seen}");
                }
                assert_eq!(held(&home), ours, "{version}, round {round}");
            }
            let layout = if is_optimized { "optimized" } else { "used" };
            report(&format!(
                "{version}, {layout}: {killed} of {} killed, {halfway} of them with objects of ours, each ended by the next run; a run takes {takes:.1?}",
                rounds()
            ));
        }
    }
}

/// Prints a line that is seen also when the test passes.
fn report(line: &str) {
    use std::io::Write as _;
    _ = writeln!(std::io::stderr().lock(), "detach: {line}");
}

#[test]
fn a_store_of_ours_becomes_one_of_the_agents() {
    for (version, release) in releases().into_iter().filter(|(version, _)| *version == "0.14.0") {
        let home = several();
        assert!(home.see(&["sessiondb", "detach", "--yes"]).ends_with("--- exit 0"), "{version}");
        assert_eq!(objects(&home), untouched(&release));
    }
}

#[test]
fn relations_are_written_where_the_agent_looks() {
    let home = Home::with_store();
    home.write(async |store| {
        let at = |seconds| Request::at(Timestamp::from_seconds(seconds).unwrap());
        let id = |text: &str| SessionId::parse(text).unwrap();
        let new = |text: &str| NewSession::new(id(text), Source::parse("cli").unwrap());
        store.create(&new("root"), &at(1.0)).await.unwrap();
        store.branch(&id("root"), &NewChild::new(id("marked")), &at(2.0)).await.unwrap();
        store.create(&new("branch").child_of(id("root"), Relation::Branch), &at(3.0)).await.unwrap();
        store.create(&new("odd").child_of(id("root"), Relation::Branch), &at(4.0)).await.unwrap();
        store.create(&new("delegate").child_of(id("root"), Relation::Delegate), &at(5.0)).await.unwrap();
    });
    home.damage("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = 'root';
        UPDATE sessions SET model_config = '{\"a\":1}' WHERE id = 'branch'; UPDATE sessions SET model_config = '[1]' WHERE id = 'odd'");
    let seen = home.see(&["sessiondb", "detach", "--yes"]);
    assert!(
        seen.contains("1 session saved in model_config") && seen.contains("not a JSON object") && seen.contains("odd"),
        "{seen}"
    );
    let settings = |id: &str| -> Option<String> {
        home.foreign().query_row("SELECT model_config FROM sessions WHERE id = ?", [id], |row| row.get(0)).unwrap()
    };
    assert_eq!(settings("branch").as_deref(), Some("{\"a\":1, \"_branched_from\": \"root\"}"));
    assert_eq!((settings("odd").as_deref(), settings("delegate")), (Some("[1]"), None));
    assert_eq!(settings("marked").as_deref(), Some("{\"_branched_from\": \"root\"}"));
}

#[test]
fn a_process_of_ours_keeps_it_and_the_agents_does_not() {
    let home = several();
    home.write(async |_store| {
        let seen = home.see(&["sessiondb", "detach", "--yes"]);
        assert!(seen.contains("[HOME]/state.db is in use: process ") && seen.ends_with("--- exit 1"), "{seen}");
    });
    assert_snapshot!(home.see(&["sessiondb", "detach"]), @r#"
    --- stderr
    error: confirmation needed, but stdin or stderr is not a terminal: Remove everything that hermes added to this store?
    hint: pass --yes to confirm
    --- exit 1
    "#);
    let agent = home.foreign();
    agent.query_row("SELECT count(*) FROM sessions", [], |_| Ok(())).unwrap();
    assert!(home.see(&["sessiondb", "detach", "--yes"]).ends_with("--- exit 0"));
    assert_eq!(agent.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

/// Rows that a process of ours still has to work on.
#[test]
fn work_that_waits_for_a_process_of_ours_keeps_the_store_attached() {
    const INBOX: &str = "hx_inbox (account, chat, message_id, payload, state, attempts, received_at) \
        SELECT 't:1', 'c', value, 'p', 'waiting', 0, 1.0";
    const OUTBOX: &str = "hx_outbox (account, destination, part, parts, body, nonce, state, attempts, doubtful, created_at) \
        SELECT 't:1', 'c', 0, 1, 'b', value, 'waiting', 0, 0, 1.0";
    const TURN: &str =
        "hx_turn (session_id, kind, attempts, opened_at, opened_by) SELECT 'tool_1', 'person', 1, 1.0, 't'";
    for (table, rows, count, what) in [
        ("hx_inbox", INBOX, 1, "1 message waits in the inbox"),
        ("hx_outbox", OUTBOX, 2, "2 messages wait in the outbox"),
        ("hx_turn", TURN, 1, "1 turn is open"),
    ] {
        let home = several();
        home.see(&["sessiondb", "adopt"]);
        home.damage(&format!("INSERT INTO {rows} FROM json_each('[1, 2]') LIMIT {count}"));
        let before = objects(&home);
        let seen = home.see(&["sessiondb", "detach", "--yes"]);
        assert!(seen.contains(&format!("[HOME]/state.db can't be detached yet: {what}\n")), "{seen}");
        assert!(seen.ends_with("--- exit 1"), "{seen}");
        assert_eq!((objects(&home), kept(&home).len()), (before, 0), "nothing was changed");
        home.damage(&format!("DELETE FROM {table}"));
        assert!(home.see(&["sessiondb", "detach", "--yes"]).ends_with("--- exit 0"));
    }
}

#[test]
fn what_is_discarded_is_not_kept() {
    let home = several();
    home.see(&["sessions", "delete", "tool_1", "--yes"]);
    let seen = home.see(&["sessiondb", "detach", "--yes", "--discard", "--json"]);
    let answer: Value = serde_json::from_str(seen.lines().next().unwrap()).unwrap();
    assert_eq!((&answer["trashed"], &answer["kept"], &answer["was_ours"]), (&json!(1), &Value::Null, &json!(true)));
    assert!(kept(&home).is_empty());
}

/// Rows of other tables that went to the trash with a session are kept in the file, and an import takes them back to
/// the trash.
#[test]
fn rows_of_other_tables_in_the_trash_are_kept() {
    let home = several();
    let tables = "CREATE TABLE session_model_usage (id INTEGER PRIMARY KEY, \
            session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL, cost REAL, raw BLOB);
         CREATE TABLE \"odd \"\"one\" (session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE, note);";
    home.damage(tables);
    home.damage(
        "INSERT INTO session_model_usage VALUES (7, 'tool_1', 'm', 0.1, x'00ff'), (8, 'tool_1', '模型 😀', NULL, NULL);
         INSERT INTO session_model_usage (session_id, model) SELECT id, 'm' FROM sessions WHERE id <> 'tool_1';
         INSERT INTO \"odd \"\"one\" VALUES ('tool_1', 'twice'), ('tool_1', 'twice')",
    );
    let all = || {
        let sql = "SELECT id, session_id, model, quote(cost), quote(raw) FROM session_model_usage \
             UNION ALL SELECT rowid, session_id, note, '', '' FROM \"odd \"\"one\" ORDER BY 2, 1";
        let foreign = home.foreign();
        let mut statement = foreign.prepare(sql).unwrap();
        let read = |row: &rusqlite::Row<'_>| {
            Ok(format!(
                "{} {} {} {} {}",
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, String>(3)?,
                row.get::<_, String>(4)?
            ))
        };
        statement.query_map([], read).unwrap().map(Result::unwrap).collect::<Vec<String>>()
    };
    let before = all();
    assert_eq!(before.iter().filter(|row| row.contains("tool_1")).count(), 4);
    assert!(home_ran(&home, &["sessions", "delete", "tool_1", "--yes"]));

    let seen = home.see(&["sessiondb", "detach", "--yes", "--json"]);
    let answer: Value = serde_json::from_str(seen.lines().next().unwrap()).unwrap();
    let rows = json!([{"table": "odd \"one", "rows": 2}, {"table": "session_model_usage", "rows": 2}]);
    assert_eq!((&answer["rows"], &answer["trashed"]), (&rows, &json!(1)));

    // Meanwhile the agent has used one of their numbers.
    home.damage("INSERT INTO session_model_usage (id, session_id, model) SELECT 7, min(session_id), 'new' FROM session_model_usage");
    let file = kept(&home)[0].clone();
    let seen = home.see(&["sessions", "import", &file, "--json"]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    assert!(all().iter().all(|row| !row.contains("tool_1")));
    // A second import finds them in the trash.
    assert!(home_ran(&home, &["sessions", "import", &file]));
    assert!(home_ran(&home, &["sessions", "restore", "tool_1"]));
    let ours = |rows: &[String]| {
        let rows = rows.iter().filter(|row| row.contains("tool_1"));
        rows.map(|row| row.split_once(' ').unwrap().1.to_owned()).collect::<BTreeSet<_>>()
    };
    assert_eq!(ours(&all()), ours(&before));
    assert_eq!(all().iter().filter(|row| row.contains("tool_1")).count(), 4);
    assert!(home_ran(&home, &["sessions", "delete", "tool_1", "--yes"]));
    let seen = home.see(&["sessiondb", "detach", "--yes"]);
    assert!(seen.contains("1 conversation in the trash, 2 rows of odd \"one, 2 rows of session_model_usage"), "{seen}");

    // A store without one of the tables reports the rows that it has no place for; another one lacks a column.
    let other = Home::empty();
    assert!(home_ran(&other, &["sessiondb", "adopt"]) || home_ran(&other, &["sessions", "import", "/dev/null"]));
    other.damage(
        "CREATE TABLE session_model_usage (session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL, cost REAL)",
    );
    let file = home.path().join(&file);
    let seen = other.see(&["sessions", "import", file.to_str().unwrap()]);
    assert!(seen.contains("2 rows of odd \"one could not be inserted here"), "{seen}");
    assert!(seen.contains("2 rows of session_model_usage lost the column raw, which the table lacks here"), "{seen}");
}

#[test]
fn a_damaged_store_is_refused() {
    let home = several();
    home.damage("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 4 WHERE name = 'messages'");
    let before = std::fs::read(home.database()).unwrap();
    let seen = home.see(&["sessiondb", "detach", "--yes"]);
    assert!(!seen.ends_with("--- exit 0"), "{seen}");
    assert_eq!(std::fs::read(home.database()).unwrap(), before);
}

/// A file of schema 1 to 10 stays at 11, as the agent 0.14.0 itself would have brought it there.
#[test]
fn an_old_file_stays_at_schema_11_as_the_agent_would_have_made_it() {
    let Some((_, release)) = releases().into_iter().find(|(version, _)| *version == "0.14.0") else { return };
    for version in [1, 4, 6, 8, 10] {
        let old = || {
            let home = Home::empty();
            home.damage(&old_schema::schema(version));
            home.damage(old_schema::ROWS);
            home
        };
        let (theirs, ours) = (old(), old());
        drop(Agent::open(&release, theirs.path()));
        assert!(home_ran(&ours, &["sessions", "rename", "new", "stones"]));
        assert!(home_ran(&ours, &["sessiondb", "detach", "--yes"]));
        assert_eq!(objects(&ours), objects(&theirs), "schema {version}");
        let number = |sql: &str| ours.foreign().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((number("PRAGMA user_version"), number("SELECT version FROM schema_version")), (0, 11));
    }
}

fn home_ran(home: &Home, args: &[&str]) -> bool {
    home.see(args).ends_with("--- exit 0")
}
