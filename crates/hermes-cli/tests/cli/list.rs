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
    3  (no title)        كيف أحضّر كبسة الدجاج لستة أشخاص؟         3d ago       discord      1  20250303_101500_f1f2f3f4
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
    3  (no title)        كيف أحضّر كبسة الدجاج لس…  3d ago       discord      1  20250303_101500_f1f2f3f4
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
    assert_eq!(ids(&["--limit", "0"]).len(), 4, "0 is no limit, as in browse");
    assert_eq!(ids(&["--limit", "0", "--offset", "1"]).len(), 3);
    assert_eq!(ids(&["--order", "started"]).first().map(String::as_str), Some("20250305_091523_a1b2c3"));
}

#[test]
fn a_compressed_conversation_is_one_row_and_its_sessions_are_listed_on_request() {
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
    {"schema": 1, "sessions": [{"id": "s1", "conversation": "s1", "segments": 1, "source": "cli", "user_id": null, "model": "model-x", "parent_session_id": null, "relation": "root", "started_at": 1741166123.25, "ended_at": null, "end_reason": null, "message_count": 2, "tool_call_count": 0, "title": "a \"title\"", "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0, "api_call_count": 0, "estimated_cost_usd": null, "actual_cost_usd": null, "cost_status": null, "cost_source": null, "pricing_version": null, "billing_provider": null, "billing_base_url": null, "billing_mode": null, "last_active": 1741166124.25, "preview": "hi 大", "pinned_at": null, "tags": [], "archived": false}], "unreadable": [], "more": false}
    --- exit 0
    "#);
}

#[test]
fn an_empty_store_is_reported_and_fine() {
    let home = Home::with_store();
    assert_snapshot!(home.see(&["sessions", "list"]), @r#"
    No sessions found.
    Sessions appear here after the first conversation with an agent.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--source", "cli"]), @r#"
    No sessions found.
    No session has the source "cli"; sources in this store: none.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--json"]), @r#"
    {"schema": 1, "sessions": [], "unreadable": [], "more": false}
    --- exit 0
    "#);
}

#[test]
fn an_offset_behind_the_last_row_is_told_with_the_number_of_rows() {
    let home = several();
    let list = |args: &[&str]| home.see(&[&["sessions", "list", "--offset", "1000"], args].concat());
    assert_eq!(list(&[]), "No conversations after the first 1,000 (the store has 4).\n--- exit 0");
    assert_eq!(list(&["--source", "cron"]), "No conversations after the first 1,000 (1 match).\n--- exit 0");
}

#[test]
fn a_tag_that_no_conversation_has_is_named_with_those_that_are_there() {
    let home = several();
    home.see(&["sessions", "tag", "cron_job1", "--add", "work"]);
    assert_snapshot!(home.see(&["sessions", "list", "--tag", "wrk"]), @r#"
    No sessions found.
    No conversation has the tag "wrk"; tags in this store: work.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "report", "--tag", "wrk"]), @r#"
    --- stderr
    error: no message matches "report"
    hint: no conversation has the tag "wrk"; tags in this store: work
    --- exit 1
    "#);
}

#[test]
fn options_that_match_nothing_tell_what_there_is() {
    let home = several();
    assert_snapshot!(home.see(&["sessions", "list", "--source", "CLI"]), @r#"
    No sessions found.
    No session has the source "CLI"; sources in this store: cli, cron, discord, telegram, tool.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--source", "cli,telegram"]), @r#"
    No sessions found.
    No session has the source "cli,telegram"; sources in this store: cli, cron, discord, telegram, tool.
    Repeat the option for several sources: --source cli --source telegram.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--model", "sonnet"]), @r#"
    No sessions found.
    No session has a model with "sonnet" in its name; models in this store: model-x.
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "list", "--source", "cli", "--title", "absent"]), @r#"
    No sessions found.
    Sources in this store: cli, cron, discord, telegram, tool.
    Other options may find some: see `hermes sessions list --help`.
    --- exit 0
    "#);
}

#[test]
fn a_limit_of_0_is_no_limit() {
    let home = unequal();
    for order in ["active", "started", "messages", "cost"] {
        assert_eq!(ids(&home, &["--limit", "0", "--order", order]), ids(&home, &["--order", order]), "{order}");
    }
    let seen = home.see(&["sessions", "list", "--limit", "0"]);
    assert!(seen.contains("4  session 0") && !seen.contains("there are more"), "{seen}");
    // More rows than the store returns at once.
    home.damage(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
         INSERT INTO sessions (id, source, started_at) SELECT 'many' || i, 'cli', i FROM n",
    );
    let all: std::collections::BTreeSet<String> = ids(&home, &["--limit", "0"]).into_iter().collect();
    assert_eq!(all.len(), 10_004);
    assert_eq!(ids(&home, &["--limit", "0", "--offset", "4"]).len(), 10_000);
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

/// Returns the ids that a list with these options has in JSON.
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
    assert_eq!(ids(&home, &["--model", "MODEL-Y"]), ["cron_job1"]);
    assert_eq!(ids(&home, &["--model", "model"]).len(), 4);
    assert_eq!(ids(&home, &["--model", "model_"]), [""; 0]);
    assert_eq!(ids(&home, &["--since", "1d"]), ["20250305_091523_a1b2c3"]);
    assert_eq!(ids(&home, &["--since", "2025-03-05", "--until", "2025-03-05"]), ["cron_job1"]);
    assert_eq!(ids(&home, &["--until", "2d", "--model", "model-x"]), ["20250303_101500_f1f2f3f4"]);
    assert_snapshot!(home.see(&["sessions", "list", "--since", "soon"]), @r#"
    --- stderr
    error: --since "soon" is not a time
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

/// Returns sessions whose order by messages and by cost differs from that by time.
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
      $12.50 · 2025-03-07 · cli
      1 message
      s2
    2 session 3
      $3.00 · 2025-03-08 · cli
      2 messages
      s3
    3 session 0
      $0.0042 · 2025-03-05 · cli
      2 messages
      s0
    4 session 1
      — · 2025-03-06 · cli
      5 messages
      s1
    --- exit 0
    "#);
}

#[test]
fn the_next_page_is_reported_and_the_last_is_known() {
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
fn help_lists_the_options() {
    assert_snapshot!(Home::empty().see(&["sessions", "list", "--help"]), @r#"
    List conversations: pinned ones first, then by last activity

    Rows are numbered for later commands: `hermes sessions show @3`. Each terminal
    has its own numbers. In a terminal without a list, commands that only read take
    the newest list of another terminal and say so; commands that change something
    refuse. At a terminal, they also refuse the numbers of a list whose output went
    to a file or a pipe. A star marks pinned conversations. With another --order, or
    with --all, they are sorted like all others.

    Usage: hermes sessions list [OPTIONS]

    Options:
      -s, --source <SOURCE>
              Only conversations from this source, such as cli or telegram; may be
              repeated

          --exclude-source <SOURCE>
              Leave out this source; may be repeated

          --since <TIME>
              Only conversations active at or after TIME: 2026-01-31,
              2026-01-31T10:00, today, yesterday, 2h, 3d

          --until <TIME>
              Only conversations last active at or before TIME

          --model <MODEL>
              Only conversations on a model with MODEL in its name; ignores case

          --title <TEXT>
              Only conversations with TEXT in the title; ignores case and accents

          --pinned
              Only pinned conversations

          --tag <TAG>
              Only conversations with this tag; if repeated, with all of the tags

          --archived
              Only archived conversations

          --cwd <DIR>
              Only conversations that ran in DIR or below it

          --branch <NAME>
              Only conversations that ran on this Git branch

          --all
              List every session separately, including compressed sessions and
              delegates

          --order <ORDER>
              Sort order

              Possible values:
              - active:   Newest activity first
              - started:  Newest start first
              - messages: Most messages first
              - cost:     Highest cost first
              
              [default: active]

      -n, --limit <N>
              Show at most N rows; 0 for all
              
              [default: 20]

          --offset <N>
              Skip the first N rows
              
              [default: 0]

      -j, --json
              Print one JSON object

      -v, --verbose...
              Log to stderr: -v for info, -vv for debug, -vvv for trace [default:
              $HERMES_LOG]

          --color <WHEN>
              Use colours: auto (at a terminal), always or never [default: auto]

          --quiet
              Print no notes, no progress and no confirmation of what was done;
              errors and warnings are printed

      -h, --help
              Print help (see a summary with '-h')

    Store options:
          --home <DIR>
              Folder of state.db and config.yaml [default: $HERMES_HOME, or
              ~/.hermes]

          --url <URL>
              Store to use: sqlite:PATH, postgresql://…, mysql://… or a path
              [default: $HERMES_SESSIONDB_URL, or config.yaml]

          --read-only
              Open the store read-only; commands that change it fail
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
        // Only lines with ids may be too wide, because ids are never cut.
        assert!(wide.iter().all(|line| line.contains("iii") || line.contains("2025")), "{columns}: {wide:#?}");
    }
}
