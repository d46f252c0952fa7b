//! `hermes sessions search`

mod folding;

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

/// Returns three conversations about one topic, one of which continued in a second session, and one created by a tool.
fn talks() -> Home {
    let home = Home::empty();
    home.talk(
        "cron_1",
        "cron",
        None,
        LONG_AGO,
        &[(Role::User, "Report every failing login of the day, and why it failed")],
    )
    .talk(
        "20250305_091523_a1b2c3",
        "cli",
        Some("Flaky login test"),
        ago(26.0 * HOUR),
        &[
            (Role::User, "The login test fails about every tenth run."),
            (Role::Assistant, "The token in src/login.rs lives for five milliseconds."),
            (Role::User, "Thanks!"),
        ],
    )
    .talk(
        "20250304_150000_b0b0b0b0",
        "telegram",
        Some("大别山徒步计划"),
        ago(2.5 * HOUR),
        &[(Role::User, "周末想去大别山徒步，两天一夜 🧥"), (Role::Assistant, "好的，第一天住山上客栈。")],
    )
    .talk("tool_1", "tool", Some("made by a tool"), ago(MINUTE), &[(Role::User, "a tool's own login")]);
    home
}

/// Returns the session ids of the hits, in order.
fn found(home: &Home, args: &[&str]) -> Vec<String> {
    let output = home.hermes(&[&["sessions", "search", "--json"], args].concat()).stdout();
    let json: Value = serde_json::from_str(&output).unwrap();
    json["hits"].as_array().unwrap().iter().map(|hit| hit["session_id"].as_str().unwrap().to_owned()).collect()
}

const LOGIN: &str = "20250305_091523_a1b2c3";

#[test]
fn hits_stand_under_their_conversations() {
    assert_snapshot!(talks().see(&["sessions", "search", "--newest", "login"]), @r#"
    1 Flaky login test  yesterday · cli · 20250305_091523_a1b2c3
      ◆ Hermes  yesterday   #3  The token in src/>>>login<<<.rs lives for five
                                milliseconds.
      ● You     yesterday   #2  The >>>login<<< test fails about every tenth run.

    2 (no title)  2025-03-05 · cron · cron_1
      ● You     2025-03-05  #1  Report every failing >>>login<<< of the day, and why
                                it failed

    3 hits in 2 conversations
    --- stderr
    note: open a hit by its number: hermes sessions show 20250305_091523_a1b2c3 --around 3
    --- exit 0
    "#);
}

#[test]
fn words_need_no_quotes_and_punctuation_breaks_nothing() {
    let home = talks();
    assert_snapshot!(home.see(&["sessions", "search", "src/login.rs", "milliseconds."]), @r#"
    1 Flaky login test  yesterday · cli · 20250305_091523_a1b2c3
      ◆ Hermes  yesterday  #3  The token in >>>src/login.rs<<< lives for five
                               >>>milliseconds.<<<

    1 hit in 1 conversation
    --- stderr
    note: open a hit by its number: hermes sessions show 20250305_091523_a1b2c3 --around 3
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "大别山"]), @r#"
    1 大别山徒步计划  2h ago · telegram · 20250304_150000_b0b0b0b0
      ● You  2h ago  #5  周末想去>>>大别山<<<徒步，两天一夜 🧥

    1 hit in 1 conversation
    --- stderr
    note: open a hit by its number: hermes sessions show 20250304_150000_b0b0b0b0 --around 5
    --- exit 0
    "#);
    home.talk(
        "p",
        "cli",
        None,
        LONG_AGO,
        &[(Role::User, "don't: C++ v1.2.3 (50%) in ~/.hermes, error: 404 for a@b.c")],
    );
    for query in
        ["don't", "C++", "v1.2.3", "50%", "~/.hermes", "error: 404", "a@b.c", "\"404 for\"", "c+", "'", "(50%)"]
    {
        assert_eq!(found(&home, &["--exact", query]), ["p"], "{query}");
    }
}

#[test]
fn a_query_may_begin_with_a_dash_behind_two_of_them() {
    let home = Home::empty();
    home.talk("s", "cli", Some("cleaning"), LONG_AGO, &[(Role::User, "never run rm -rf /"), (Role::User, "rm --help")]);
    assert_snapshot!(home.see(&["sessions", "search", "--exact", "--", "-rf"]), @r#"
    1 cleaning  2025-03-05 · cli · s
      ● You  2025-03-05  #1  never run rm >>>-rf<<< /

    1 hit in 1 conversation
    --- stderr
    note: open a hit by its number: hermes sessions show s --around 1
    --- exit 0
    "#);
    assert_eq!(found(&home, &["--", "rm", "--help"]), ["s"]);
    assert_snapshot!(home.see(&["sessions", "search", "-rf"]), @r#"
    --- stderr
    error: unexpected argument '-r' found

      tip: to pass '-r' as a value, use '-- -r'

    Usage: hermes sessions search [OPTIONS] <QUERY>...

    For more information, try '--help'.
    --- exit 2
    "#);
}

#[test]
fn the_messages_beside_a_hit_are_shown_on_demand() {
    assert_snapshot!(talks().see(&["sessions", "search", "--context", "milliseconds"]), @r#"
    1 Flaky login test  yesterday · cli · 20250305_091523_a1b2c3
      ● You                    The login test fails about every tenth run.
      ◆ Hermes  yesterday  #3  The token in src/login.rs lives for five
                               >>>milliseconds<<<.
      ● You                    Thanks!

    1 hit in 1 conversation
    --- stderr
    note: open a hit by its number: hermes sessions show 20250305_091523_a1b2c3 --around 3
    --- exit 0
    "#);
}

#[test]
fn a_narrow_terminal_gets_short_lines() {
    let run = |columns| {
        let home = talks();
        home.hermes(&["sessions", "search", "--context", "--newest", "login"]).env("COLUMNS", columns).see()
    };
    assert_snapshot!(run("40"), @r#"
    1 Flaky login test
      yesterday · cli
      20250305_091523_a1b2c3
      ● You
        The login test fails about every te…
      ◆ Hermes · yesterday · #3
        The token in src/>>>login<<<.rs
        lives for five milliseconds.
      ● You
        Thanks!
      ● You · yesterday · #2
        The >>>login<<< test fails about
        every tenth run.
      ◆ Hermes
        The token in src/login.rs lives for…

    2 (no title)  2025-03-05 · cron · cron_1
      ● You · 2025-03-05 · #1
        Report every failing >>>login<<< of
        the day, and why it failed

    3 hits in 2 conversations
    --- stderr
    note: open a hit by its number: hermes sessions show 20250305_091523_a1b2c3 --around 3
    --- exit 0
    "#);
    assert_snapshot!(run("200"), @r#"
    1 Flaky login test  yesterday · cli · 20250305_091523_a1b2c3
      ● You                     The login test fails about every tenth run.
      ◆ Hermes  yesterday   #3  The token in src/>>>login<<<.rs lives for five milliseconds.
      ● You                     Thanks!
      ● You     yesterday   #2  The >>>login<<< test fails about every tenth run.
      ◆ Hermes                  The token in src/login.rs lives for five milliseconds.

    2 (no title)  2025-03-05 · cron · cron_1
      ● You     2025-03-05  #1  Report every failing >>>login<<< of the day, and why it failed

    3 hits in 2 conversations
    --- stderr
    note: open a hit by its number: hermes sessions show 20250305_091523_a1b2c3 --around 3
    --- exit 0
    "#);
}

#[test]
fn sources_and_roles_are_chosen() {
    let home = talks();
    assert_eq!(found(&home, &["login", "--source", "cron", "--source", "tool", "--newest"]), ["tool_1", "cron_1"]);
    assert_eq!(found(&home, &["login", "--exclude-source", "cli"]), ["cron_1"]);
    assert_eq!(found(&home, &["login", "--role", "assistant"]), [LOGIN]);
    assert_eq!(found(&home, &["login", "--role", "user", "--role", "assistant"]).len(), 3);
}

#[test]
fn times_are_chosen() {
    let home = talks();
    assert_eq!(found(&home, &["login", "--since", "2d"]).len(), 2);
    assert_eq!(found(&home, &["login", "--until", "2025-03-05"]), ["cron_1"]);
    assert_eq!(found(&home, &["login", "--since", "2025-03-05T09:15", "--until", "2025-03-05T09:15"]), ["cron_1"]);
    assert_eq!(found(&home, &["login", "--until", "2025-03-05T09:14"]), [""; 0]);
    assert_snapshot!(home.see(&["sessions", "search", "x", "--since", "soon"]), @r#"
    --- stderr
    error: --since "soon" is not a time
    hint: give a day (2026-01-31, today, yesterday), a time (2026-01-31T10:00) or how long ago (30m, 2h, 3d, 1w)
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "x", "--since", "2026-01-02", "--until", "2026-01-01"]), @r#"
    --- stderr
    error: --since is later than --until
    hint: swap them
    --- exit 2
    "#);
}

#[test]
fn one_conversation_is_chosen_as_show_chooses_it() {
    let home = Home::empty();
    home.talk("first", "cli", Some("long work"), ago(3.0 * DAY), &[(Role::User, "begin the work")]);
    home.talk("other", "tool", None, ago(4.0 * DAY), &[(Role::User, "other work")]);
    home.write(async |store| {
        let at = Request::at(Timestamp::from_seconds(ago(5.0 * MINUTE)).unwrap());
        let child = hermes_session::NewChild::new(SessionId::parse("second").unwrap());
        let said = [NewMessage::new(Role::User, "more work")];
        store.split(&SessionId::parse("first").unwrap(), &child, &said, &at).await.unwrap();
    });
    for name in ["first", "second", "sec", "long work", "long work #2", "@last"] {
        assert_eq!(found(&home, &["work", "--session", name, "--newest"]), ["second", "first"], "{name}");
    }
    assert_eq!(found(&home, &["work", "--session", "other"]), ["other"]);
    assert_snapshot!(home.see(&["sessions", "search", "begin"]), @r#"
    1 long work #2  3d ago · cli · second
      ● You  3d ago  #1  >>>begin<<< the work

    1 hit in 1 conversation
    --- stderr
    note: open a hit by its number: hermes sessions show second --around 1
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "x", "--session", "nobody"]), @r#"
    --- stderr
    error: no session matches "nobody"
    hint: `hermes sessions list` lists conversations, `hermes sessions search` finds messages
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "x", "--session", ""]), @r#"
    --- stderr
    error: --session is empty
    hint: give an id, the start of one, a title, @last, or the number of a row such as @3
    --- exit 2
    "#);
}

#[test]
fn users_titles_and_models_are_chosen() {
    let home = talks();
    home.damage("UPDATE sessions SET user_id = 'lucía', model = 'model-y' WHERE id = 'cron_1'");
    assert_eq!(found(&home, &["login", "--user", "lucía"]), ["cron_1"]);
    assert_eq!(found(&home, &["login", "--model", "model-y"]), ["cron_1"]);
    assert_eq!(found(&home, &["login", "--model", "EL-Y"]), ["cron_1"], "a part, whatever its case");
    assert_eq!(found(&home, &["login", "--model", "model%"]), [""; 0]);
    assert_eq!(found(&home, &["login", "--title", "FLAKY"]).len(), 2);
    assert_eq!(found(&home, &["login", "--user", "nobody"]), [""; 0]);
}

#[test]
fn what_has_some_of_the_words_is_shown_and_told() {
    let home = talks();
    assert_snapshot!(home.see(&["sessions", "search", "milliseconds", "umbrella"]), @r#"
    1 Flaky login test  yesterday · cli · 20250305_091523_a1b2c3
      ◆ Hermes  yesterday  #3  The token in src/login.rs lives for five
                               >>>milliseconds<<<.

    1 hit in 1 conversation
    --- stderr
    note: no message has all of this; these have some of the words (--exact leaves them out)
    note: open a hit by its number: hermes sessions show 20250305_091523_a1b2c3 --around 3
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "--exact", "milliseconds", "umbrella"]), @r#"
    --- stderr
    error: no message matches "milliseconds umbrella"
    hint: without --exact, messages with some of the words are found as well
    --- exit 1
    "#);
}

#[test]
fn more_hits_come_with_the_command_that_shows_them() {
    let home = talks();
    let first = ["sessions", "search", "--limit", "2", "--newest", "login"];
    assert_snapshot!(home.see(&first), @r#"
    1 Flaky login test  yesterday · cli · 20250305_091523_a1b2c3
      ◆ Hermes  yesterday  #3  The token in src/>>>login<<<.rs lives for five
                               milliseconds.
      ● You     yesterday  #2  The >>>login<<< test fails about every tenth run.

    2 hits shown, from 1 conversation; there are more
    --- stderr
    note: open a hit by its number: hermes sessions show 20250305_091523_a1b2c3 --around 3
    note: there are more: hermes sessions search --limit 2 --offset 2 --newest login
    --- exit 0
    "#);
    assert_snapshot!(home.see(&[&first[..], &["--offset", "2"]].concat()), @r#"
    1 (no title)  2025-03-05 · cron · cron_1
      ● You  2025-03-05  #1  Report every failing >>>login<<< of the day, and why it
                             failed

    1 of 3 hits in 1 conversation
    --- stderr
    note: open a hit by its number: hermes sessions show cron_1 --around 1
    --- exit 0
    "#);
    assert_snapshot!(home.see(&[&first[..], &["--offset", "9"]].concat()), @r#"
    --- stderr
    error: no hits after the first 9
    hint: a smaller --offset shows what there is
    --- exit 1
    "#);
    let middle = home.see(&["sessions", "search", "login", "--limit", "1", "--offset", "1"]);
    assert!(middle.contains("there are more: hermes sessions search --limit 1 --offset 2 login\n"), "{middle}");
    let next = |args: &[&str]| {
        let output = home.hermes(&[&["sessions", "search", "--json", "login", "--limit", "1"], args].concat()).stdout();
        serde_json::from_str::<Value>(&output).unwrap()["next_offset"].as_u64()
    };
    assert_eq!([next(&[]), next(&["--offset", "1"]), next(&["--offset", "2"])], [Some(1), Some(2), None]);
    let place = home.path().display().to_string();
    let told = home.hermes(&["sessions", "--home", &place, "search", "login", "--limit", "1"]).see();
    assert!(told.contains("hermes sessions search --home [HOME] --limit 1 --offset 1 login"), "{told}");
}

#[test]
fn options_that_match_nothing_tell_what_there_is() {
    let home = talks();
    assert_snapshot!(home.see(&["sessions", "search", "login", "--role", "bot"]), @r#"
    --- stderr
    error: no message in this store has the role "bot"
    hint: --role takes user, assistant, tool or system
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "login", "--role", "system"]), @r#"
    --- stderr
    error: no message matches "login"
    hint: --role takes user, assistant, tool or system
    hint: other options may find some: see `hermes sessions search --help`
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "login", "--source", "CLI"]), @r#"
    --- stderr
    error: no message matches "login"
    hint: no session has the source "CLI"; sources in this store: cli, cron, telegram, tool
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "login", "--source", "cli,telegram"]), @r#"
    --- stderr
    error: no message matches "login"
    hint: no session has the source "cli,telegram"; sources in this store: cli, cron, telegram, tool
    hint: repeat the option for several sources: --source cli --source telegram
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "login", "--model", "sonnet"]), @r#"
    --- stderr
    error: no message matches "login"
    hint: no session has a model with "sonnet" in its name; models in this store: model-x
    --- exit 1
    "#);
    home.add("cron_1", MessageBody::new(Role::Other("bot".into()), "a login of a bot"));
    assert_eq!(found(&home, &["login", "--role", "bot"]), ["cron_1"], "a role that the store has");
}

#[test]
fn pages_by_their_places_neither_skip_nor_repeat_while_others_write() {
    let home = Home::empty();
    let said: Vec<String> = (0..7).map(|number| format!("needle {}", "hay ".repeat(number))).collect();
    let said: Vec<(Role, &str)> = said.iter().map(|text| (Role::User, text.as_str())).collect();
    home.talk("s1", "cli", None, LONG_AGO, &said);
    let search = ["sessions", "search", "needle", "--json", "--limit", "2"];
    let (mut ids, mut place) = (Vec::new(), None::<String>);
    for number in 0.. {
        let after: Vec<&str> = place.iter().flat_map(|place| ["--after", place]).collect();
        let json: Value = serde_json::from_str(&home.hermes(&[&search[..], &after].concat()).stdout()).unwrap();
        ids.extend(json["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()));
        place = json["next"].as_str().map(str::to_owned);
        assert_eq!(json["next_offset"].is_u64(), number == 0, "{json}");
        if place.is_none() {
            break;
        }
        // A hit that ranks first is added in between.
        home.talk(&format!("n{number}"), "cli", None, LONG_AGO, &[(Role::User, "needle")]);
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7]);

    let json: Value = serde_json::from_str(&home.hermes(&search).stdout()).unwrap();
    let place = json["next"].as_str().unwrap();
    let told = home.see(&["sessions", "search", "needle", "--limit", "2", "--after", place]);
    assert!(told.contains("there are more: hermes sessions search --limit 2 --after 1ew."), "{told}");
    assert_snapshot!(home.see(&["sessions", "search", "hay", "--after", place]), @r#"
    --- stderr
    error: the place belongs to another search
    hint: give the same words and order as before
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "needle", "--after", "7"]), @r#"
    --- stderr
    error: the place is not a cursor of a search
    hint: pass `next` of the previous page unchanged
    --- exit 2
    "#);
}

#[test]
fn nothing_found_is_told_by_the_exit_code_as_well() {
    let home = talks();
    assert_snapshot!(home.see(&["sessions", "search", "umbrella"]), @r#"
    --- stderr
    error: no message matches "umbrella"
    hint: try another word, or only the beginning of it
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "umbrella", "--source", "cli"]), @r#"
    --- stderr
    error: no message matches "umbrella"
    hint: sources in this store: cli, cron, telegram, tool
    hint: other options may find some: see `hermes sessions search --help`
    --- exit 1
    "#);
    let output = home.hermes(&["sessions", "search", "umbrella", "--json"]).output();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["hits"].as_array().unwrap().len(), &json["next_offset"]), (0, &Value::Null));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_blank_query_is_usage() {
    let home = talks();
    assert_snapshot!(home.see(&["sessions", "search", " ", ""]), @r#"
    --- stderr
    error: QUERY is blank
    hint: give a word, several words, or a "phrase" in quotes
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "search"]), @r#"
    --- stderr
    error: the following required arguments were not provided:
      <QUERY>...

    Usage: hermes sessions search <QUERY>...

    For more information, try '--help'.
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "x", "--limit", "-1"]), @r#"
    --- stderr
    error: limit -1 is negative
    hint: give 0 or more
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "x", "--role", ""]), @r#"
    --- stderr
    error: role is empty or holds a NUL
    hint: use user, assistant, tool or system
    --- exit 2
    "#);
}

#[test]
fn a_store_that_is_not_there_is_not_an_empty_list() {
    assert_snapshot!(Home::empty().see(&["sessions", "search", "x"]), @r#"
    --- stderr
    error: there is no session store at [HOME]/state.db
    hint: `hermes demo` creates one with samples; --home, --url and HERMES_HOME choose another one
    --- exit 1
    "#);
    let home = Home::empty();
    std::fs::write(home.database(), "this is no database, however long it is; not at all").unwrap();
    let seen = home.see(&["sessions", "search", "x"]);
    assert!(seen.starts_with("--- stderr\nerror: ") && seen.ends_with("--- exit 3"), "{seen}");
}

#[test]
fn a_time_for_searches_that_is_none_is_told() {
    let home = talks();
    home.config("search: {timeout_ms: soon}");
    assert_snapshot!(home.see(&["sessions", "search", "login"]), @r#"
    --- stderr
    error: search.timeout_ms is "soon", set by [HOME]/config.yaml (search.timeout_ms)
    hint: give a whole number of 1 or more
    --- exit 1
    "#);
}

/// Returns a store with many unindexed messages. Only the oldest of them has a certain word.
fn without_index(many: u32) -> Home {
    let home = talks();
    home.damage(&format!(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('cron_1', 'user', 'one needle', 5);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {many})
         INSERT INTO messages (session_id, role, content, timestamp) SELECT 'cron_1', 'user', 'filler ' || i, 5 FROM n;
         DROP TABLE messages_fts"
    ));
    home
}

#[test]
fn messages_without_an_index_are_found_and_it_is_told_that_they_had_to_be_looked_through() {
    let seen = without_index(1_500).see(&["sessions", "search", "needle"]);
    assert!(seen.contains("one >>>needle<<<"), "{seen}");
    assert!(seen.contains("note: looked through 1,508 messages that are not indexed yet\n"), "{seen}");
}

#[test]
fn a_search_that_had_to_stop_is_no_answer() {
    let home = without_index(30_000);
    home.config("search: {timeout_ms: 1}");
    assert_snapshot!(home.see(&["sessions", "search", "needle"]), @r#"
    --- stderr
    error: found nothing that matches "needle" within 0.001 s
    hint: narrow the search with --since or --source, or raise search.timeout_ms in config.yaml
    --- exit 3
    "#);
}

#[test]
fn json_has_the_columns_of_the_table() {
    let home = Home::empty();
    let said = [(Role::User, "before"), (Role::Assistant, "the 大 login >>>x<<<"), (Role::User, "after")];
    home.talk("s1", "cli", Some("a \"title\""), LONG_AGO + 0.25, &said);
    let output = home.hermes(&["sessions", "search", "--json", "login"]).stdout();
    let mut json: Value = serde_json::from_str(&output).unwrap();
    let score = json["hits"][0]["score"].take();
    let unindexed = json["served"]["unindexed"].take();
    assert!(score.as_f64().is_some_and(f64::is_finite) && unindexed.is_u64(), "{output}");
    assert_snapshot!(json.to_string(), @r#"
    {"schema":1,"query":"login","served":{"way":"index","relaxed":false,"partial":false,"unindexed":null},"hits":[{"id":2,"session_id":"s1","conversation_id":"s1","role":"assistant","timestamp":1741166124.25,"tool_name":null,"source":"cli","model":"model-x","title":"a \"title\"","started_at":1741166123.25,"tier":"words","score":null,"snippet":"the 大 login >>>x<<<","marks":[[6,11]],"before":{"role":"user","text":"before"},"after":{"role":"user","text":"after"},"archived":false}],"next_offset":null,"next":null}
    "#);
    let characters: Vec<char> = json["hits"][0]["snippet"].as_str().unwrap().chars().collect();
    let mark = json["hits"][0]["marks"][0].as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as usize);
    let [start, end] = mark.collect::<Vec<_>>()[..] else { panic!("{output}") };
    assert_eq!(characters[start..end].iter().collect::<String>(), "login");
}
