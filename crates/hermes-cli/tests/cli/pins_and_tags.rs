//! `hermes sessions pin`, `unpin` and `tag`, and their effects on other commands.

use super::*;
use hermes_session::EndReason;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn sessions(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions"], args].concat())
}

fn json(home: &Home, args: &[&str]) -> Value {
    serde_json::from_str(&home.hermes(&[&["sessions"], args].concat()).stdout()).unwrap()
}

/// Returns a home with a pin and tags.
fn marked() -> Home {
    let home = several();
    sessions(&home, &["pin", "cron_job1"]);
    sessions(&home, &["tag", "cron_job1", "大别山徒步计划", "--add", "Work"]);
    sessions(&home, &["tag", "20250304", "--add", "to-do"]);
    home
}

#[test]
fn pinned_conversations_come_first() {
    let home = several();
    assert_snapshot!(sessions(&home, &["pin", "20250303", "cron_job1"]), @r#"
    Pinned 20250303_101500_f1f2f3f4
    Pinned Größe 👨‍👩‍👧 ❤️
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["list"]), @r#"
    #  Title                   Last active  Source    Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  * كيف أحضّر كبسة الدجا…  3d ago       discord      1  20250303_101500_f1f2f3f4
    2  * Größe 👨‍👩‍👧 ❤️           2025-03-05   cron         1  cron_job1
    3  refactoring auth        2h ago       cli          2  20250305_091523_a1b2c3
    4  大别山徒步计划          yesterday    telegram     1  20250304_150000_b0b0b0
    --- exit 0
    "#);
    assert_snapshot!(home.hermes(&["sessions", "list"]).env("COLUMNS", "40").see(), @r#"
    1 * كيف أحضّر كبسة الدجاج لستة أشخاص؟
      3d ago · discord · 1 message
      20250303_101500_f1f2f3f4
    2 * Größe 👨‍👩‍👧 ❤️
      2025-03-05 · cron · 1 message
      cron_job1
    3 refactoring auth
      2h ago · cli · 2 messages
      20250305_091523_a1b2c3
    4 大别山徒步计划
      yesterday · telegram · 1 message
      20250304_150000_b0b0b0
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["list", "--pinned", "--order", "started"]), @r#"
    #  Title                    Last active  Source   Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  * كيف أحضّر كبسة الدجاج…  3d ago       discord     1  20250303_101500_f1f2f3f4
    2  * Größe 👨‍👩‍👧 ❤️            2025-03-05   cron        1  cron_job1
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["unpin", "@2", "20250305"]), @r#"
    Unpinned Größe 👨‍👩‍👧 ❤️
    refactoring auth was not pinned
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["pin", "@1"]), @r#"
    20250303_101500_f1f2f3f4 was pinned already
    --- exit 0
    "#);
}

#[test]
fn pages_follow_one_another_across_the_last_pin() {
    let home = several();
    sessions(&home, &["pin", "20250303", "cron_job1"]);
    let page = |limit: &str, offset: &str| {
        let page = json(&home, &["list", "--json", "--limit", limit, "--offset", offset]);
        let ids: Vec<&str> =
            page["sessions"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        format!("{} {}", ids.join(" "), page["more"])
    };
    let all = "20250303_101500_f1f2f3f4 cron_job1 20250305_091523_a1b2c3 20250304_150000_b0b0b0";
    let ids: Vec<&str> = all.split(' ').collect();
    for limit in 1..=5 {
        for offset in 0..=5 {
            let expect = &ids[offset.min(4)..(offset + limit).min(4)];
            let expect = format!("{} {}", expect.join(" "), offset + limit < 4);
            assert_eq!(page(&limit.to_string(), &offset.to_string()), expect, "{limit} behind {offset}");
        }
    }
    assert_snapshot!(sessions(&home, &["list", "--limit", "2"]), @r#"
    #  Title                    Last active  Source   Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  * كيف أحضّر كبسة الدجاج…  3d ago       discord     1  20250303_101500_f1f2f3f4
    2  * Größe 👨‍👩‍👧 ❤️            2025-03-05   cron        1  cron_job1
    --- stderr
    note: there are more: hermes sessions list --limit 2 --offset 2
    --- exit 0
    "#);
    assert_eq!(page("0", "0"), format!("{all} false"));
}

#[test]
fn tags_are_added_shown_and_removed() {
    let home = several();
    assert_snapshot!(sessions(&home, &["tag"]), @r#"
    No conversation has a tag.
    `hermes sessions tag SESSION --add TAG` gives a conversation one.
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["tag", "cron_job1", "20250304", "--add", "Work", "--add", "to-do"]), @r#"
    cron_job1  to-do, work
    20250304_150000_b0b0b0  to-do, work
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["tag", "cron_job1", "--remove", "WORK", "--add", "大"]), @r#"
    cron_job1  to-do, 大
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["tag", "cron_job1", "20250305"]), @r#"
    cron_job1  to-do, 大
    20250305_091523_a1b2c3  (no tags)
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["tag"]), @r#"
    Tag    Conversations
    ────────────────────
    to-do              2
    work               1
    大                 1
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["list", "--tag", "work"]), @r#"
    #  Title           Tags      Last active  Source    Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  大别山徒步计划  to-do,…   yesterday    telegram     1  20250304_150000_b0b0b0
    --- exit 0
    "#);
    assert_snapshot!(home.hermes(&["sessions", "list"]).env("COLUMNS", "140").see(), @r#"
    #  Title             Preview                                  Tags         Last active  Source    Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth  Help me refactor the auth module please               2h ago       cli          2  20250305_091523_a1b2c3
    2  大别山徒步计划    周末想去大别山徒步，两天一夜             to-do, work  yesterday    telegram     1  20250304_150000_b0b0b0
    3  (no title)        كيف أحضّر كبسة الدجاج لستة أشخاص؟                      3d ago       discord      1  20250303_101500_f1f2f3f4
    4  Größe 👨‍👩‍👧 ❤️       Run the daily report second line         to-do, 大    2025-03-05   cron         1  cron_job1
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["list", "--tag", "work", "--tag", "大"]), @r#"
    No sessions found.
    Tags in this store: to-do, work, 大.
    Other options may find some: see `hermes sessions list --help`.
    --- exit 0
    "#);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let home = several();
    assert_snapshot!(sessions(&home, &["tag", "cron_job1", "--add", "Two words"]), @r#"
    --- stderr
    error: tag "Two words" has a blank or a comma in it
    hint: a tag is a single word without a comma, such as work or to-do
    --- exit 2
    "#);
    assert_snapshot!(sessions(&home, &["tag", "--add", "work"]), @r#"
    --- stderr
    error: no SESSION is given to be tagged
    hint: give an id, the start of one, a title, @last, or the number of a row such as @3
    --- exit 2
    "#);
    assert_snapshot!(sessions(&home, &["tag", "cron_job1", "nobody", "--add", "work"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    assert_snapshot!(sessions(&home, &["pin", "cron_job1", "nobody"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    assert_snapshot!(sessions(&home, &["list", "--tag", ""]), @r#"
    --- stderr
    error: tag is empty
    hint: give at least one visible character
    --- exit 2
    "#);
    let tables =
        home.foreign().query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'hx_pin'", [], |row| row.get(0));
    assert_eq!(tables, Ok(0_i64));
}

#[test]
fn the_same_for_programs() {
    let home = several();
    let id = "20250304_150000_b0b0b0";
    let pinned = json(&home, &["pin", "--json", "20250304"]);
    assert_eq!(
        pinned,
        json!({"schema": 1, "sessions": [{"id": id, "title": "大别山徒步计划", "pinned": true, "changed": true}]})
    );
    let tagged = json(&home, &["tag", "--json", "20250304", "--add", "b", "--add", "A"]);
    assert_eq!(tagged, json!({"schema": 1, "sessions": [{"id": id, "tags": ["a", "b"]}]}));
    assert_eq!(
        json(&home, &["tag", "--json"]),
        json!({"schema": 1, "tags": [{"tag": "a", "conversations": 1}, {"tag": "b", "conversations": 1}]})
    );
    let rows = json(&home, &["list", "--json"]);
    assert!(rows["sessions"][0]["pinned_at"].is_f64() && rows["sessions"][1]["pinned_at"].is_null());
    assert_eq!((&rows["sessions"][0]["tags"], &rows["sessions"][1]["tags"]), (&json!(["a", "b"]), &json!([])));
}

#[test]
fn a_search_stays_within_a_tag() {
    let home = marked();
    let found = json(&home, &["search", "--json", "--tag", "work", "徒步", "OR", "report", "OR", "auth"]);
    let mut ids: Vec<&str> =
        found["hits"].as_array().unwrap().iter().map(|hit| hit["session_id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["20250304_150000_b0b0b0", "cron_job1"]);
    assert_snapshot!(sessions(&home, &["search", "--tag", "to-do", "report"]), @r#"
    --- stderr
    error: no message matches "report"
    hint: tags in this store: to-do, work
    hint: other options may find some: see `hermes sessions search --help`
    --- exit 1
    "#);
    let both = json(&home, &["search", "--json", "--tag", "work", "--session", "cron_job1", "徒步", "OR", "report"]);
    assert_eq!(both["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn pruning_tells_what_it_keeps() {
    let home = marked();
    home.write(async |store| {
        let now = Request::at(Timestamp::from_seconds(ago(HOUR)).unwrap());
        let id = SessionId::parse("cron_job1").unwrap();
        store.end(&id, &EndReason::parse("cron_complete").unwrap(), &now).await.unwrap();
    });
    assert_snapshot!(sessions(&home, &["prune", "--dry-run"]), @r#"
    No ended conversation is old enough to delete.
    1 conversation stays because it is pinned.
    --- exit 0
    "#);
    assert_snapshot!(sessions(&home, &["prune", "--yes"]), @r#"
    No ended conversation is old enough to delete.
    1 conversation stays because it is pinned.
    --- exit 0
    "#);
    assert_eq!(json(&home, &["prune", "--yes", "--json"])["pinned"], 1);
    assert!(sessions(&home, &["unpin", "cron_job1"]).starts_with("Unpinned"));
    assert_snapshot!(sessions(&home, &["prune", "--yes"]), @r#"
    Deleted 1 conversation for good (1 session, 1 message).
    --- exit 0
    "#);
}

#[test]
fn an_export_and_an_import_keep_them() {
    let home = marked();
    sessions(&home, &["export", "all.jsonl"]);
    let other = Home::with_store();
    let file = home.path().join("all.jsonl");
    assert!(sessions(&other, &["import", file.to_str().unwrap()]).contains("5 sessions"));
    assert_eq!(json(&other, &["tag", "--json"]), json(&home, &["tag", "--json"]));
    assert_eq!(json(&other, &["list", "--pinned", "--json"]), json(&home, &["list", "--pinned", "--json"]));
}

#[test]
fn tags_are_completed() {
    let home = marked();
    let complete = |words: &[&str]| home.hermes(&[&["__complete", "--"], words].concat()).stdout();
    assert_snapshot!(complete(&["sessions", "list", "--tag", ""]), @r#"
    to-do	1 conversation
    work	2 conversations
    "#);
    assert_snapshot!(complete(&["sessions", "tag", "cron_job1", "--remove", "t"]), @r#"
    to-do	1 conversation
    "#);
}
