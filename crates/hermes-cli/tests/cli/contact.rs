//! First contact with a file, and detaching from it: links, files beside it, and interrupted work.

use super::*;
use serde_json::Value;

/// Returns a home with an agent's file that was never adopted.
pub(super) fn foreign_home() -> Home {
    let home = Home::empty();
    home.damage(&old_schema::schema(10));
    home.damage(old_schema::ROWS);
    home
}

fn json_of(home: &Home, args: &[&str]) -> Value {
    let seen = home.see(args);
    let line = seen.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{args:?}: {seen}"));
    serde_json::from_str(line).unwrap()
}

fn ours(home: &Home) -> i64 {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_*'";
    home.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn adoption_and_detach_count_the_same_objects() {
    let home = foreign_home();
    let added = json_of(&home, &["sessiondb", "adopt", "--json"])["added"].as_array().unwrap().len();
    let removed = json_of(&home, &["sessiondb", "detach", "--yes", "--json"])["objects"].as_u64().unwrap();
    assert_eq!(removed, added as u64);
    let home = foreign_home();
    let seen = home.see(&["sessions", "rename", "new", "stones"]);
    assert!(seen.contains(&format!("adopted this file: {added} tables, indexes and triggers of ours")), "{seen}");
}

#[test]
fn adopt_and_detach_follow_a_link() {
    let (home, linked) = (foreign_home(), Home::empty());
    std::os::unix::fs::symlink(home.database(), linked.database()).unwrap();
    let seen = linked.see(&["sessiondb", "adopt"]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    assert!(ours(&home) > 0);
    let seen = linked.see(&["sessiondb", "detach", "--yes"]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    assert_eq!(ours(&home), 0);
    assert!(linked.database().is_symlink());
    for name in ["state.db.queue", "state.db.open"] {
        assert!(!home.path().join(name).exists() && !linked.path().join(name).exists(), "{name}");
    }
}

#[test]
fn detach_removes_only_our_files() {
    let home = foreign_home();
    let foreign = ["state.db.open", "state.db.queue", "state.db.notes", "state.db.queue.txt"];
    for name in foreign {
        std::fs::write(home.path().join(name), "a text of somebody else's").unwrap();
    }
    assert!(home.see(&["sessiondb", "adopt"]).ends_with("--- exit 0"));
    let seen = home.see(&["sessiondb", "detach", "--yes"]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    for name in foreign {
        assert_eq!(std::fs::read_to_string(home.path().join(name)).unwrap(), "a text of somebody else's", "{name}");
    }
}

/// A run that was killed while it wrote the file leaves a partial file, which the next run removes.
#[test]
fn detach_removes_the_part_that_a_killed_run_left() {
    let home = foreign_home();
    assert!(home.see(&["sessions", "delete", "new", "--yes"]).ends_with("--- exit 0"));
    let part = home.path().join("state.db.detached-20261118_082035.jsonl.part-28020");
    let other = home.path().join("state.db.detached-20261118_082035.jsonl.part-two");
    for path in [&part, &other] {
        std::fs::write(path, "{\"id\": ").unwrap();
    }
    assert!(home.see(&["sessiondb", "detach", "--yes"]).ends_with("--- exit 0"));
    assert!(!part.exists() && other.exists());
}

/// If the marker can't be written, there is one more warning. The report, the error and the exit code are unchanged.
#[test]
fn verify_reports_where_no_marker_can_be_written() {
    let verify = |damage: &str, is_blocked: bool, more: &[&str]| {
        let home = several();
        home.damage(damage);
        if is_blocked {
            std::fs::create_dir(home.path().join("state.db.damaged")).unwrap();
        }
        home.see(&[&["sessions", "verify"], more].concat())
    };
    let is_other = |line: &&str| !line.contains("state.db.damaged");
    let without = |seen: &str| seen.lines().filter(is_other).map(str::to_owned).collect::<Vec<_>>();
    let lost = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 4 WHERE name = 'messages'";
    for more in [&[][..], &["--json"]] {
        let (free, blocked) = (verify(lost, false, more), verify(lost, true, more));
        assert!(blocked.contains("state.db.damaged can't be written"), "{blocked}");
        assert!(!free.contains("can't be written"), "{free}");
        assert_eq!(without(&blocked), without(&free));
        assert!(blocked.contains("error: the store has ") && blocked.contains("hint: stop every agent"), "{blocked}");
        assert!(blocked.ends_with("--- exit 3"), "{blocked}");
    }
    let (free, blocked) = (verify("", false, &[]), verify("", true, &[]));
    let report = |seen: &str| seen.split("---").next().unwrap().to_owned();
    assert!(blocked.contains("The store is sound.") && blocked.ends_with("--- exit 0"), "{blocked}");
    assert_eq!(report(&blocked), report(&free));
}

const MESSAGES: usize = 6_000;

/// Starts a command, and kills it once a session is hidden in `state`.
#[track_caller]
fn kill_when(home: &Home, args: &[&str], state: &str) {
    let mut running = home.hermes(args).command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let foreign = home.foreign();
    let sql = format!("SELECT count(*) FROM hx_hidden WHERE state = '{state}'");
    while foreign.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap_or(0) == 0 {
        assert!(running.try_wait().unwrap().is_none(), "{args:?} ended before it was killed");
    }
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(foreign.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0, "{args:?} was done");
}

fn line(id: &str) -> String {
    let message = |number| format!(r#"{{"role": "user", "content": "pebble {number}", "timestamp": {number}.5}}"#);
    let messages: Vec<String> = (0..MESSAGES).map(message).collect();
    format!(r#"{{"id": "{id}", "source": "cli", "started_at": 5.0, "messages": [{}]}}"#, messages.join(", "))
}

/// A killed import or restore is settled before anything is removed.
#[test]
fn detach_settles_an_import_and_a_restore_that_were_killed() {
    let home = Home::with_store();
    std::fs::write(home.path().join("binned.jsonl"), line("binned")).unwrap();
    std::fs::write(home.path().join("coming.jsonl"), line("coming")).unwrap();
    assert!(home.see(&["sessions", "import", "binned.jsonl"]).ends_with("--- exit 0"));
    assert!(home.see(&["sessions", "delete", "binned", "--yes"]).ends_with("--- exit 0"));
    kill_when(&home, &["sessions", "import", "coming.jsonl"], "coming");
    kill_when(&home, &["sessions", "restore", "binned"], "restoring");
    let seen = home.see(&["sessiondb", "detach", "--yes"]);
    assert!(seen.contains("1 conversation in the trash") && seen.ends_with("--- exit 0"), "{seen}");
    assert_eq!(ours(&home), 0);
    let foreign = home.foreign();
    let number = |sql: &str| foreign.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM sessions WHERE id IN ('binned', 'coming')"), 0);
    assert_eq!(number("SELECT count(*) FROM messages WHERE session_id IN ('binned', 'coming')"), 0);
    assert_eq!(foreign.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    let names = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let kept: Vec<String> = names.filter(|name| name.starts_with("state.db.detached-")).collect();
    for args in
        [["sessions", "import", &kept[0]], ["sessions", "import", "coming.jsonl"], ["sessions", "restore", "binned"]]
    {
        let seen = home.see(&args);
        assert!(seen.ends_with("--- exit 0"), "{args:?}: {seen}");
    }
    for id in ["binned", "coming"] {
        let sql = format!("SELECT count(*) FROM messages WHERE session_id = '{id}'");
        assert_eq!(number(&sql), MESSAGES as i64, "{id}");
    }
}
