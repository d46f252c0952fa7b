//! `hermes sessions stats`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

const STATS: [&str; 2] = ["sessions", "stats"];

/// Several sources, models and costs; sizes that depend on nothing but what is there are left out.
fn used() -> Home {
    let home = several();
    home.talk("20250301_000000_abcdef", "discord", None, LONG_AGO, &[(Role::User, "x")]);
    home.damage(
        "UPDATE sessions SET model = 'anthropic/claude-sonnet-4.5', input_tokens = 1234567, output_tokens = 45678,
             cache_read_tokens = 9000000, estimated_cost_usd = 12.5 WHERE id LIKE '2025%';
         UPDATE sessions SET model = NULL, input_tokens = 12 WHERE id = 'tool_1';
         UPDATE sessions SET ended_at = 1741170000.0, end_reason = 'cron_complete' WHERE id = 'cron_job1';
         UPDATE sessions SET started_at = 1741166123.0 WHERE id LIKE '%';
         UPDATE messages SET timestamp = 1741170000.0",
    );
    home
}

/// The sizes, which change with the version of SQLite, and the temporary folder.
fn see(run: Run<'_>) -> String {
    let seen = run.see();
    let sizes = |line: &str| match line.find(" KiB") {
        Some(at) => {
            let start = line[..at].rfind(' ').map_or(0, |space| space + 1);
            format!("{}[SIZE]", line[..start].trim_end())
        }
        None => line.to_owned(),
    };
    seen.lines().map(sizes).collect::<Vec<_>>().join("\n")
}

#[test]
fn everything_at_80_columns() {
    assert_snapshot!(see(used().hermes(&STATS)), @r#"
    store          [HOME]/state.db
    conversations  6
    sessions       6
      open         5
      ended        1
    messages       7
    oldest         2025-03-05 09:15
    newest         2025-03-05 10:20

    Source    Conversations  Sessions  Messages
    ───────────────────────────────────────────
    discord               2         2         2  ██████████████████████████████
    cli                   1         1         2  ██████████████████████████████
    cron                  1         1         1  ███████████████
    telegram              1         1         1  ███████████████
    tool                  1         1         1  ███████████████

    Model                        Sessions  Input  Output  Cached    Cost
    ────────────────────────────────────────────────────────────────────
    anthropic/claude-sonnet-4.5         4   4.9M  182.7k   36.0M  $50.00  ██████████
    (no model)                          1     12       0       0       —
    model-x                             1      0       0       0       —

    Disk usage       Size
    ─────────────────────
    messages[SIZE]
    indexes[SIZE]
    free          0 bytes
    store[SIZE]
    --- exit 0
    "#);
}

#[test]
fn a_narrow_terminal_gets_less_and_nothing_is_wider() {
    let home = used();
    for columns in [20, 40, 200] {
        let shown = home.hermes(&STATS).env("COLUMNS", &columns.to_string()).stdout();
        let widest = shown.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
        assert!(columns == 20 || widest <= columns, "{columns}:\n{shown}");
    }
    assert_snapshot!(see(home.hermes(&STATS).env("COLUMNS", "40")), @r#"
    store          [HOME]/state.db
    conversations  6
    sessions       6
      open         5
      ended        1
    messages       7
    oldest         2025-03-05 09:15
    newest         2025-03-05 10:20

    Source    Convs  Sessions  Messages
    ───────────────────────────────────
    discord       2         2         2
    cli           1         1         2
    cron          1         1         1
    telegram      1         1         1
    tool          1         1         1

    Model                     Tokens    Cost
    ────────────────────────────────────────
    anthropic/claude-sonnet…   41.1M  $50.00
    (no model)                    12       —
    model-x                        0       —

    Disk usage       Size
    ─────────────────────
    messages[SIZE]
    indexes[SIZE]
    free          0 bytes
    store[SIZE]
    --- exit 0
    "#);
}

#[test]
fn json_has_every_number() {
    let home = used();
    let json: Value = serde_json::from_str(&home.hermes(&[&STATS[..], &["--json"]].concat()).stdout()).unwrap();
    assert_eq!(
        (&json["schema"], &json["conversations"], &json["sessions"], &json["messages"]),
        (&1.into(), &6.into(), &6.into(), &7.into())
    );
    assert_eq!((&json["open"], &json["ended"]), (&5.into(), &1.into()));
    assert_eq!(json["oldest"], 1_741_166_123.0);
    assert_eq!(
        json["sources"][2],
        serde_json::json!({"source": "discord", "conversations": 2, "sessions": 2, "messages": 2})
    );
    let models = json["models"].as_array().unwrap();
    let names: Vec<Option<&str>> = models.iter().map(|model| model["model"].as_str()).collect();
    assert_eq!(names, [None, Some("anthropic/claude-sonnet-4.5"), Some("model-x")]);
    assert_eq!((&models[1]["input_tokens"], &models[1]["cost_usd"]), (&(4 * 1_234_567).into(), &50.0.into()));
    assert_eq!((&models[0]["input_tokens"], &models[0]["cost_usd"]), (&12.into(), &Value::Null));
    let size = |name: &str| json["bytes"][name].as_u64().unwrap();
    assert_eq!(size("messages") + size("indexes") + size("free"), size("store"));
    assert!(size("store") > 100_000 && size("log") < 10_000_000);
}

#[test]
fn a_store_that_holds_nothing_and_one_that_is_not_there() {
    assert_snapshot!(Home::with_store().see(&STATS), @r#"
    store          [HOME]/state.db
    conversations  0
    sessions       0
      open         0
      ended        0
    messages       0
    --- exit 0
    "#);
    let seen = Home::empty().see(&STATS);
    assert!(seen.contains("there is no session store at") && seen.ends_with("--- exit 1"), "{seen}");
}

#[test]
fn many_models_are_cut_for_people() {
    let home = Home::with_store();
    for number in 0..18 {
        home.talk(&format!("s{number}"), "cli", None, LONG_AGO, &[]);
        home.damage(&format!(
            "UPDATE sessions SET model = 'm{number}', input_tokens = {number} WHERE id = 's{number}'"
        ));
    }
    let shown = home.hermes(&STATS).stdout();
    assert!(
        shown.contains("… and 3 more (--json lists all)") && shown.contains("m17 ") && !shown.contains("m2 "),
        "{shown}"
    );
}
