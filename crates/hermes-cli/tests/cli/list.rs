//! `hermes sessions list`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

#[test]
fn newest_activity_first_at_80_columns() {
    assert_snapshot!(several().see(&["sessions", "list"]), @r#"
    #  Title                   Last active  Source    Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth        2h ago       cli          2  20250305_091523_a1b2c3
    2  大别山徒步计划          yesterday    telegram     1  20250304_150000_b0b0b0
    3  كيف أحضّر كبسة الدجاج…   3d ago       discord      1  20250303_101500_f1f2f3f4
    4  Größe 👨‍👩‍👧 ❤️             2025-03-05   cron         1  cron_job1
    --- exit 0
    "#);
}

#[test]
fn a_wide_terminal_shows_previews() {
    assert_snapshot!(several().hermes(&["sessions", "list"]).env("COLUMNS", "200").see(), @r#"
    #  Title             Preview                                  Last active  Source    Msgs  ID
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth  Help me refactor the auth module please  2h ago       cli          2  20250305_091523_a1b2c3
    2  大别山徒步计划    周末想去大别山徒步，两天一夜             yesterday    telegram     1  20250304_150000_b0b0b0
    3  —                 كيف أحضّر كبسة الدجاج لستة أشخاص؟         3d ago       discord      1  20250303_101500_f1f2f3f4
    4  Größe 👨‍👩‍👧 ❤️       Run the daily report second line         2025-03-05   cron         1  cron_job1
    --- exit 0
    "#);
}

#[test]
fn previews_shrink_before_anything_else_does() {
    assert_snapshot!(several().hermes(&["sessions", "list"]).env("COLUMNS", "100").see(), @r#"
    #  Title             Preview                   Last active  Source    Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth  Help me refactor the au…  2h ago       cli          2  20250305_091523_a1b2c3
    2  大别山徒步计划    周末想去大别山徒步，两…   yesterday    telegram     1  20250304_150000_b0b0b0
    3  —                 كيف أحضّر كبسة الدجاج لس…  3d ago       discord      1  20250303_101500_f1f2f3f4
    4  Größe 👨‍👩‍👧 ❤️       Run the daily report se…  2025-03-05   cron         1  cron_job1
    --- exit 0
    "#);
}

#[test]
fn a_narrow_terminal_gets_short_lines_and_whole_ids() {
    assert_snapshot!(several().hermes(&["sessions", "list"]).env("COLUMNS", "40").see(), @r#"
    1 refactoring auth
      2h ago · cli · 2 messages
      20250305_091523_a1b2c3
    2 大别山徒步计划
      yesterday · telegram · 1 message
      20250304_150000_b0b0b0
    3 كيف أحضّر كبسة الدجاج لستة أشخاص؟
      3d ago · discord · 1 message
      20250303_101500_f1f2f3f4
    4 Größe 👨‍👩‍👧 ❤️
      2025-03-05 · cron · 1 message
      cron_job1
    --- exit 0
    "#);
}

#[test]
fn sources_are_chosen_and_left_out() {
    let home = several();
    let ids = |args: &[&str]| {
        let json: Value =
            serde_json::from_str(&home.hermes(&[&["sessions", "list", "--json"], args].concat()).stdout()).unwrap();
        json["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--source", "cli", "--source", "tool"]), ["tool_1", "20250305_091523_a1b2c3"]);
    assert_eq!(
        ids(&["--exclude-source", "cli", "--exclude-source", "cron"]),
        ["20250304_150000_b0b0b0", "20250303_101500_f1f2f3f4"]
    );
    assert_eq!(ids(&["--limit", "1", "--offset", "1"]), ["20250304_150000_b0b0b0"]);
    assert_eq!(ids(&["--limit", "0"]), [""; 0]);
    assert_eq!(ids(&["--order", "started"]).first().map(String::as_str), Some("20250305_091523_a1b2c3"));
}

#[test]
fn a_compressed_conversation_is_one_row_and_its_sessions_are_there_for_who_asks() {
    let home = Home::empty();
    home.talk("first", "cli", Some("long work"), ago(3.0 * DAY), &[(Role::User, "begin")]);
    home.write(async |store| {
        let at = Request::at(Timestamp::from_seconds(ago(5.0 * MINUTE)).unwrap());
        let child = hermes_session::NewChild::new(SessionId::parse("second").unwrap());
        let said = [NewMessage::new(Role::User, "go on")];
        store.split(&SessionId::parse("first").unwrap(), &child, &said, &at).await.unwrap();
    });
    assert_snapshot!(home.see(&["sessions", "list"]), @r#"
    #  Title         Preview  Last active  Source  Msgs  ID
    ───────────────────────────────────────────────────────────
    1  long work #2  begin    5m ago       cli        2  second
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--all"]), @r#"
    #  Title         Preview  Last active  Source  Msgs  ID
    ───────────────────────────────────────────────────────────
    1  long work #2  go on    5m ago       cli        1  second
    2  long work     begin    3d ago       cli        1  first
    --- exit 0
    "#);
}

#[test]
fn json_has_the_columns_of_the_table() {
    let home = Home::empty();
    home.talk("s1", "cli", Some("a \"title\""), LONG_AGO + 0.25, &[(Role::User, "hi 大"), (Role::Assistant, "ho")]);
    assert_snapshot!(home.see(&["sessions", "list", "--json"]), @r#"
    {"schema": 1, "sessions": [{"id": "s1", "conversation": "s1", "segments": 1, "source": "cli", "user_id": null, "model": "model-x", "parent_session_id": null, "relation": "root", "started_at": 1741166123.25, "ended_at": null, "end_reason": null, "message_count": 2, "tool_call_count": 0, "title": "a \"title\"", "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0, "api_call_count": 0, "estimated_cost_usd": null, "actual_cost_usd": null, "cost_status": null, "cost_source": null, "pricing_version": null, "billing_provider": null, "billing_base_url": null, "billing_mode": null, "last_active": 1741166124.25, "preview": "hi 大", "pinned_at": null, "tags": []}], "unreadable": [], "more": false}
    --- exit 0
    "#);
}

#[test]
fn an_empty_store_is_told_and_fine() {
    let home = Home::with_store();
    assert_snapshot!(home.see(&["sessions", "list"]), @r#"
    No sessions found.
    Sessions appear here once an agent has talked to somebody.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--source", "cli"]), @r#"
    No sessions found.
    Other options may find some: see `hermes sessions list --help`.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--json"]), @r#"
    {"schema": 1, "sessions": [], "unreadable": [], "more": false}
    --- exit 0
    "#);
}

#[test]
fn negative_numbers_are_usage() {
    let home = Home::with_store();
    assert_snapshot!(home.see(&["sessions", "list", "--limit", "-1"]), @r#"
    --- stderr
    error: limit -1 is negative
    hint: give 0 or more
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--offset", "-5"]), @r#"
    --- stderr
    error: offset -5 is negative
    hint: give 0 or more
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--source", ""]), @r#"
    --- stderr
    error: source is empty
    hint: use a short tag such as cli, telegram or cron
    --- exit 2
    "#);
}

#[test]
fn a_row_that_cannot_be_read_hides_no_other() {
    let home = several();
    home.damage("UPDATE sessions SET started_at = 'soon' WHERE id = '20250304_150000_b0b0b0'");
    assert_snapshot!(home.see(&["sessions", "list"]), @r#"
    #  Title                    Last active  Source   Msgs  ID
    ────────────────────────────────────────────────────────────────────────────────
    1  refactoring auth         2h ago       cli         2  20250305_091523_a1b2c3
    2  كيف أحضّر كبسة الدجاج ل…  3d ago       discord     1  20250303_101500_f1f2f3f4
    3  Größe 👨‍👩‍👧 ❤️              2025-03-05   cron        1  cron_job1
    --- stderr
    warning: sessions "20250304_150000_b0b0b0" can't be read: started_at is not a time
    hint: the other rows are complete; the row is left as it is
    --- exit 0
    "#);
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "list", "--json"]).stdout()).unwrap();
    assert_eq!(json["unreadable"].as_array().unwrap().len(), 1);
}

/// The ids that a list with these options has, as a program gets them.
fn ids(home: &Home, options: &[&str]) -> Vec<String> {
    let seen = home.hermes(&[&["sessions", "list", "--json"], options].concat()).stdout();
    let json: Value = serde_json::from_str(&seen).unwrap();
    json["sessions"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn titles_models_and_times_are_chosen() {
    let home = several();
    home.damage("UPDATE sessions SET model = 'model-y' WHERE id = 'cron_job1'");
    assert_eq!(ids(&home, &["--title", "GROSSE"]), ["cron_job1"]);
    assert_eq!(ids(&home, &["--title", "大别"]), ["20250304_150000_b0b0b0"]);
    assert_eq!(ids(&home, &["--model", "model-y"]), ["cron_job1"]);
    assert_eq!(ids(&home, &["--model", "model"]), [""; 0]);
    assert_eq!(ids(&home, &["--since", "1d"]), ["20250305_091523_a1b2c3"]);
    assert_eq!(ids(&home, &["--since", "2025-03-05", "--until", "2025-03-05"]), ["cron_job1"]);
    assert_eq!(ids(&home, &["--until", "2d", "--model", "model-x"]), ["20250303_101500_f1f2f3f4"]);
    assert_snapshot!(home.see(&["sessions", "list", "--since", "soon"]), @r#"
    --- stderr
    error: --since "soon" is no time
    hint: give a day (2026-01-31, today, yesterday), a time (2026-01-31T10:00) or how long ago (30m, 2h, 3d, 1w)
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--since", "1d", "--until", "2d"]), @r#"
    --- stderr
    error: --since is later than --until
    hint: swap them
    --- exit 2
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--order", "size"]), @r#"
    --- stderr
    error: invalid value 'size' for '--order <ORDER>'
      [possible values: active, started, messages, cost]

    For more information, try '--help'.
    --- exit 2
    "#);
}

/// Sessions whose messages and costs have another order than their times.
fn unequal() -> Home {
    let home = Home::empty();
    for (number, (messages, cost)) in
        [(2, Some(0.0042)), (5, None), (1, Some(12.5)), (2, Some(3.0))].into_iter().enumerate()
    {
        let said = vec![(Role::User, "word"); messages];
        let id = format!("s{number}");
        home.talk(&id, "cli", Some(&format!("session {number}")), LONG_AGO + number as f64 * DAY, &said);
        if let Some(cost) = cost {
            home.damage(&format!("UPDATE sessions SET estimated_cost_usd = {cost} WHERE id = '{id}'"));
        }
    }
    home
}

#[test]
fn every_order() {
    let home = unequal();
    let order = |name| ids(&home, &["--order", name]).join(" ");
    assert_eq!(
        ["active", "started", "messages", "cost"].map(order),
        ["s3 s2 s1 s0", "s3 s2 s1 s0", "s1 s3 s0 s2", "s2 s3 s0 s1"]
    );
    for order in ["messages", "cost"] {
        let pages =
            ["0", "1", "2", "3"].map(|offset| ids(&home, &["--order", order, "--limit", "1", "--offset", offset]));
        assert_eq!(pages.concat(), ids(&home, &["--order", order]));
    }
    assert_snapshot!(home.see(&["sessions", "list", "--order", "cost", "--limit", "3"]), @r#"
    #  Title      Preview  Last active  Source  Msgs     Cost  ID
    ─────────────────────────────────────────────────────────────
    1  session 2  word     2025-03-07   cli        1   $12.50  s2
    2  session 3  word     2025-03-08   cli        2    $3.00  s3
    3  session 0  word     2025-03-05   cli        2  $0.0042  s0
    --- stderr
    note: there are more: hermes sessions list --order cost --limit 3 --offset 3
    --- exit 0
    "#);
    assert_snapshot!(home.hermes(&["sessions", "list", "--order", "cost"]).env("COLUMNS", "30").see(), @r#"
    1 session 2
      $12.50 · 2025-03-07 · cli ·…
      s2
    2 session 3
      $3.00 · 2025-03-08 · cli ·…
      s3
    3 session 0
      $0.0042 · 2025-03-05 · cli…
      s0
    4 session 1
      — · 2025-03-06 · cli · 5 me…
      s1
    --- exit 0
    "#);
}

#[test]
fn the_next_page_is_told_and_the_last_is_known() {
    let home = unequal();
    let seen = home.see(&["sessions", "list", "--title", "SESS ion", "--limit", "2"]);
    assert!(seen.starts_with("No sessions found."), "{seen}");
    assert_snapshot!(home.see(&["sessions", "list", "--title", "SESSION ", "--model", "model-x", "--limit", "2", "--url", "./state.db"]), @r#"
    #  Title      Preview  Last active  Source  Msgs  ID
    ────────────────────────────────────────────────────
    1  session 3  word     2025-03-08   cli        2  s3
    2  session 2  word     2025-03-07   cli        1  s2
    --- stderr
    note: there are more: hermes sessions list --url ./state.db --model model-x --title 'SESSION ' --limit 2 --offset 2
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--limit", "2", "--offset", "2"]), @r#"
    #  Title      Preview  Last active  Source  Msgs  ID
    ────────────────────────────────────────────────────
    3  session 1  word     2025-03-06   cli        5  s1
    4  session 0  word     2025-03-05   cli        2  s0
    --- exit 0
    "#);
    let more = |options: &[&str]| {
        let seen = home.hermes(&[&["sessions", "list", "--json"], options].concat()).stdout();
        serde_json::from_str::<Value>(&seen).unwrap()["more"].as_bool().unwrap()
    };
    assert_eq!((more(&["--limit", "3"]), more(&["--limit", "4"]), more(&["--limit", "0"])), (true, false, false));
}

#[test]
fn what_can_be_typed() {
    assert_snapshot!(Home::empty().see(&["sessions", "list", "--help"]), @r#"
    Lists conversations, the pinned ones first, then the one used last

    A row can be named by its number afterwards: `hermes sessions show @3`. With
    another order, or with --all, pinned ones stand where that puts them. A star
    stands before their titles.

    Usage: hermes sessions list [OPTIONS]

    Options:
          --source <SOURCE>
              Only this source, such as cli or telegram; may be given several times

          --exclude-source <SOURCE>
              Not this source; may be given several times

          --since <TIME>
              Only what was active then or later: 2026-01-31, 2026-01-31T10:00,
              today, yesterday, 2h, 3d

          --until <TIME>
              Only what was active last then or before

          --model <MODEL>
              Only sessions with this model

          --title <PIECE>
              Only sessions with this in their titles, whatever its case and accents

          --pinned
              Only what is pinned

          --tag <TAG>
              Only what has this tag; may be given several times, for all of them

          --all
              Every session by itself: also those that were compressed, and
              delegates

          --order <ORDER>
              What comes first

              Possible values:
              - active:   The newest activity
              - started:  The newest start
              - messages: The most messages
              - cost:     The highest cost
              
              [default: active]

          --limit <N>
              How many rows at most
              
              [default: 20]

          --offset <N>
              How many rows to pass over first
              
              [default: 0]

          --json
              Prints one JSON object

      -v, --verbose...
              Log to stderr what the store does: -v for info, -vv for debug, -vvv
              for trace [default: $HERMES_LOG]

      -h, --help
              Print help (see a summary with '-h')

    Where sessions are:
          --home <DIR>
              The folder of state.db and config.yaml [default: $HERMES_HOME, or
              ~/.hermes]

          --url <URL>
              The store: sqlite:PATH, postgresql://…, mysql://…, or a path [default:
              $HERMES_SESSIONDB_URL, or what config.yaml says]

          --read-only
              Do not write to the store: commands that would change it refuse
    --- exit 0
    "#);
}

#[test]
fn no_width_is_too_small_for_long_and_wide_names() {
    let home = several();
    let long = "宽".repeat(60);
    home.talk(&"i".repeat(255), "a-source-that-has-a-long-name", Some(&long), ago(MINUTE), &[(Role::User, &long)]);
    for columns in ["20", "40", "80", "200"] {
        let shown = home.hermes(&["sessions", "list"]).env("COLUMNS", columns).stdout();
        let most: usize = columns.parse().unwrap();
        let too_wide = |line: &&str| unicode_width::UnicodeWidthStr::width(*line) > most;
        let wide: Vec<&str> = shown.lines().filter(too_wide).collect();
        // Only an id is never cut.
        assert!(wide.iter().all(|line| line.contains("iii") || line.contains("2025")), "{columns}: {wide:#?}");
    }
}
