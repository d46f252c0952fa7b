//! `hermes doctor`, on set-ups with one defect each.

use super::*;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;

const DOCTOR: [&str; 2] = ["doctor", "--json"];

/// Returns a home that only its owner can access, with a store that is not empty.
fn sound() -> Home {
    let home = Home::empty();
    home.talk(
        "20250305_091523_a1b2c3",
        "cli",
        Some("A title"),
        LONG_AGO,
        &[(Role::User, "hello 大别山"), (Role::Assistant, "yes")],
    );
    home.write(async |store| while hermes_session::Maintenance::upkeep(store).await.unwrap() {});
    mode(home.path(), 0o700);
    home
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn look(home: &Home, args: &[&str]) -> Value {
    serde_json::from_str(&home.hermes(args).stdout()).unwrap()
}

/// Returns the findings that are not fine, as `name degree`, with their texts.
fn found(json: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    json["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["degree"] != "fine")
        .map(|item| {
            let said = format!("{} -> {}", text(&item["what"]), text(&item["remedy"]));
            (format!("{} {}", text(&item["name"]), text(&item["degree"])), said)
        })
        .collect()
}

/// Asserts that the only finding has this name and degree, and a text that contains `part`.
#[track_caller]
fn finds(home: &Home, name: &str, part: &str) {
    let found = found(&look(home, &DOCTOR));
    let is_it = |(found, said): &(String, String)| found == name && said.contains(part);
    assert!(found.iter().any(is_it), "{name}, {part:?}: {found:?}");
}

/// Runs `--fix`, and asserts that no finding remains.
#[track_caller]
fn fixes_everything(home: &Home) {
    let json = look(home, &["doctor", "--fix", "--json"]);
    assert_eq!(found(&json), [], "{json}");
    let mended = json["mended"].as_array().unwrap();
    assert!(!mended.is_empty() && mended.iter().all(|mended| mended["failed"].is_null()), "{json}");
}

#[test]
fn a_sound_set_up() {
    let home = sound();
    let before = std::fs::read(home.database()).unwrap();
    let told = home.see(&["doctor"]);
    assert!(told.ends_with("No problems found.\n--- exit 0") && told.contains("✓ permissions"), "{told}");
    assert_eq!(found(&look(&home, &DOCTOR)), []);
    assert_eq!(std::fs::read(home.database()).unwrap(), before, "it changes nothing");
    assert_eq!(look(&home, &["doctor", "--fix", "--json"])["mended"], Value::Array(Vec::new()));
}

#[test]
fn homes_and_settings() {
    // 1: no store.
    let home = Home::empty();
    mode(home.path(), 0o700);
    finds(&home, "store problem", "there is no session store at");
    let told = home.hermes(&["doctor", "--home", "nowhere"]).see();
    assert!(told.contains("✗ home") && told.contains("--- exit 3"), "{told}");
    // 2: a home that others can read.
    let home = sound();
    mode(home.path(), 0o755);
    finds(&home, "home warning", "is accessible to other users (mode 755) -> chmod 700 ");
    fixes_everything(&home);
    // 3: an invalid configuration file.
    home.config("sessiondb: [\n");
    finds(&home, "config problem", "config.yaml:");
    assert!(home.see(&["doctor"]).contains("--- exit 1"));
    // 4: invalid values and unknown keys.
    home.config("sessiondb: {sqlite: {wait_seconds: soon, dbpath: x}}\nsearch: {timeout_ms: 0}\n");
    finds(&home, "config problem", "sessiondb.sqlite.wait_seconds is \"soon\"");
    finds(&home, "config problem", "search.timeout_ms is 0");
    finds(
        &home,
        "config warning",
        "unknown setting sessiondb.sqlite.dbpath; nothing reads it -> did you mean sessiondb.sqlite.db_path?",
    );
    // 5: an unreachable server, with a password that others can read.
    home.config(
        "sessiondb: {provider: postgresql, postgresql: {dsn: 'postgresql://ada:hunter2@127.0.0.1:1/hermes'}}\n",
    );
    mode(&home.path().join("config.yaml"), 0o644);
    finds(&home, "store problem", "127.0.0.1:1");
    finds(&home, "config warning", "may hold a password and is accessible to other users (mode 644) -> chmod 600 ");
    assert!(!home.see(&["doctor"]).contains("hunter2"));
}

#[test]
fn files_and_places() {
    // 6: a file that others can read.
    let home = sound();
    mode(&home.database(), 0o644);
    finds(&home, "permissions warning", "is accessible to other users (mode 644) -> chmod 600 ");
    fixes_everything(&home);
    // 6, continued: the WAL holds message text too.
    let writer = home.foreign();
    writer.execute("UPDATE sessions SET title = title", []).unwrap();
    mode(&home.path().join("state.db-wal"), 0o640);
    finds(&home, "permissions warning", "state.db-wal is accessible to other users (mode 640) -> chmod 600 ");
    fixes_everything(&home);
    drop(writer);
    // 7: an unfinished copy.
    let part = home.path().join("state.db.backup-v11.part-4294967294");
    std::fs::write(&part, "").unwrap();
    std::fs::File::open(&part).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    finds(&home, "leftovers note", "is left over from an interrupted copy -> rm -r ");
    fixes_everything(&home);
    // 8: a file that is a link.
    std::fs::rename(home.database(), home.path().join("real.db")).unwrap();
    std::os::unix::fs::symlink(home.path().join("real.db"), home.database()).unwrap();
    assert!(!found(&look(&home, &DOCTOR)).iter().any(|(name, _)| name.starts_with("store problem")));
    std::fs::remove_file(home.database()).unwrap();
    std::os::unix::fs::symlink(home.path().join("gone.db"), home.database()).unwrap();
    finds(&home, "store problem", "is a link to");
    std::fs::remove_file(home.database()).unwrap();
    // 8, continued: a folder, whose mode is not that of a file, and an empty file.
    std::fs::create_dir(home.database()).unwrap();
    finds(&home, "store problem", "is a folder");
    assert!(!found(&look(&home, &DOCTOR)).iter().any(|(name, _)| name.starts_with("permissions")));
    std::fs::remove_dir(home.database()).unwrap();
    std::fs::write(home.database(), "").unwrap();
    finds(
        &home,
        "store problem",
        "is empty: an agent is just creating it, or its content was lost -> check again in a moment",
    );
    // 9: a file that is not a database.
    std::fs::write(home.database(), "Dear reader, ".repeat(100)).unwrap();
    mode(&home.database(), 0o600);
    finds(&home, "store problem", "hermes sessions repair ");
    std::fs::remove_file(home.database()).unwrap();
    // 10: a file of a newer hermes.
    std::fs::rename(home.path().join("real.db"), home.database()).unwrap();
    home.damage("PRAGMA user_version = 99");
    finds(
        &home,
        "revision warning",
        "a newer hermes (revision 99) has written the store; this one only reads it -> install the newest hermes",
    );
    home.damage("UPDATE hx_state SET value = '99' WHERE key = 'reads_from'");
    finds(&home, "store problem", "was written by a newer hermes (revision 99) -> install the newest hermes");
}

#[test]
fn what_is_inside() {
    // 11: a missing index.
    let home = sound();
    home.damage("DROP TABLE messages_fts");
    finds(&home, "lag warning", "the search indexes are broken");
    fixes_everything(&home);
    // 12: messages missing from an index.
    home.damage("DELETE FROM messages_fts_trigram_docsize");
    finds(&home, "indexes warning", " -> hermes sessions optimize --rebuild");
    fixes_everything(&home);
    // 13: a backlog.
    let home = sound();
    home.damage("INSERT INTO hx_pending VALUES (1, 2)");
    let told = found(&look(&home, &DOCTOR));
    assert!(told.iter().any(|(name, _)| name.starts_with("lag ") || name.starts_with("indexes ")), "{told:?}");
    // 14: wrong counters.
    let home = sound();
    home.damage("UPDATE sessions SET message_count = 40");
    finds(&home, "counters warning", "has message_count 40, not 2");
    assert!(home.see(&["doctor"]).contains("--- exit 0"));
    fixes_everything(&home);
    // 15: messages without a session.
    home.damage("PRAGMA foreign_keys = OFF; INSERT INTO messages (session_id, role, content, timestamp) VALUES ('nobody', 'user', 'x', 1.0)");
    finds(&home, "relations problem", "nobody");
    assert!(home.see(&["doctor"]).contains("--- exit 3"));
    // 16: a damaged page of a table.
    let home = sound();
    let page: usize = {
        let sql = "SELECT pageno FROM dbstat WHERE name = 'messages' LIMIT 1";
        home.foreign().query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap() as usize
    };
    let mut bytes = std::fs::read(home.database()).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xa5);
    std::fs::write(home.database(), bytes).unwrap();
    finds(&home, "file problem", "stop every agent, then: hermes sessions repair ");
}

/// A write to a damaged file may overwrite data that could be saved.
#[test]
fn a_damaged_file_is_not_written_to() {
    let home = sound();
    home.damage(
        "UPDATE sessions SET message_count = 40; DELETE FROM messages_fts_docsize; \
         INSERT INTO sessions (id, source, started_at) VALUES (NULL, 'cli', 1.0)",
    );
    let page: u32 = {
        let sql = "SELECT pageno FROM dbstat WHERE name = 'messages' LIMIT 1";
        home.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let mut bytes = std::fs::read(home.database()).unwrap();
    bytes[(page as usize - 1) * 4096..page as usize * 4096].fill(0xa5);
    std::fs::write(home.database(), &bytes).unwrap();
    mode(&home.database(), 0o644);
    let json = look(&home, &["doctor", "--fix", "--json"]);
    let mended: Vec<&str> = json["mended"].as_array().unwrap().iter().filter_map(|did| did["what"].as_str()).collect();
    assert!(
        !mended.is_empty()
            && mended.iter().all(|did| did.starts_with("changed the mode of ") && did.ends_with(" to 600")),
        "{json}"
    );
    assert!(found(&json).iter().any(|(name, _)| name == "file problem"), "{json}");
    let relations = found(&json).into_iter().find(|(name, _)| name == "relations problem").expect("relations");
    assert!(relations.1.contains("hermes sessions repair ") && !relations.1.contains("backup"), "{relations:?}");
    assert_eq!(std::fs::read(home.database()).unwrap(), bytes);
    assert!(!home.see(&["doctor"]).contains('⚒'), "{}", home.see(&["doctor"]));
}

/// Suggested commands refer to the store that was checked.
#[test]
fn remedies_name_the_place() {
    let home = sound();
    home.damage("UPDATE sessions SET message_count = 40; DROP TABLE messages_fts");
    let place = home.path().display().to_string();
    let json = look(&home, &["doctor", "--json", "--home", &place]);
    for remedy in ["hermes doctor --fix", "hermes sessions optimize --rebuild"] {
        let told = found(&json);
        assert!(told.iter().any(|(_, said)| said.ends_with(&format!("{remedy} --home {place}"))), "{remedy}: {told:?}");
    }
}
