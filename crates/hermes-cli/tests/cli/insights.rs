//! `hermes insights`

use super::*;
use serde_json::Value;

/// Insights over the maximum span.
const INSIGHTS: [&str; 3] = ["insights", "--days", "36500"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&INSIGHTS[..], more].concat()
}

/// Returns a home with two sources, tools, skills, a price, and names that contain HTML and control characters.
fn used() -> Home {
    let home = several();
    let calls = r#"[{"id": "1", "function": {"name": "<b>tool</b>", "arguments": "{}"}},
        {"id": "2", "function": {"name": "skill_view", "arguments": "{\"name\": \"pdf\"}"}}]"#;
    let calls = hermes_session::Json::parse(calls).unwrap();
    home.add("cron_job1", MessageBody { tool_calls: Some(calls), ..MessageBody::empty(Role::Assistant) });
    home.damage(
        "UPDATE sessions SET input_tokens = 1000, output_tokens = 234, estimated_cost_usd = 1.25, cost_status = 'estimated' WHERE id = 'cron_job1';
         UPDATE sessions SET title = '<script>' || char(27) || '[31m' WHERE id = 'cron_job1'",
    );
    home
}

#[test]
fn a_person_sees_every_section() {
    let home = used();
    let shown = home.hermes(&with(&[])).stdout();
    for piece in [
        "Insights: last 36,500 days",
        "conversations     4",
        "cost              $1.25",
        "Model",
        "Platform",
        "cron",
        "<b>tool</b>     1  50.0%",
        "Skill  Loads  Edits",
        "Activity",
        "peak hours",
        "Notable conversations",
        "Highest cost      $1.25",
        "cron_job1  <script>␛[31m",
    ] {
        assert!(shown.contains(piece), "{piece:?} in\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
    for columns in [40, 80, 200] {
        let shown = home.hermes(&with(&[])).env("COLUMNS", &columns.to_string()).stdout();
        let widest = shown.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= columns, "{columns}:\n{shown}");
    }
    let cron = home.hermes(&with(&["--source", "cron"])).stdout();
    assert!(cron.contains("last 36,500 days, cron") && cron.contains("conversations     1"), "{cron}");
    // Sessions created by tools count only if their source is requested, as in a list.
    let tool = home.hermes(&with(&["--source", "tool"])).stdout();
    assert!(tool.contains("conversations     1") && !shown.contains("made by a tool"), "{tool}");
}

#[test]
fn json_has_every_number() {
    let home = used();
    let json: Value = serde_json::from_str(&home.hermes(&with(&["--json"])).stdout()).unwrap();
    assert_eq!((&json["schema"], &json["days"], &json["empty"]), (&1.into(), &36_500.into(), &false.into()));
    let overview = &json["overview"];
    assert_eq!((&overview["conversations"], &overview["sessions"]), (&4.into(), &4.into()));
    assert_eq!((&overview["total_tokens"], &overview["cost_usd"]), (&1_234.into(), &1.25.into()));
    assert_eq!(overview["tool_calls"], 2);
    assert_eq!(
        (&overview["models_with_cost"], &overview["models_without_cost"]),
        (&serde_json::json!(["model-x"]), &serde_json::json!([]))
    );
    let platforms: Vec<&str> =
        json["platforms"].as_array().unwrap().iter().map(|row| row["platform"].as_str().unwrap()).collect();
    assert_eq!(platforms, ["cli", "cron", "discord", "telegram"]);
    assert_eq!(json["tools"][0], serde_json::json!({"tool": "<b>tool</b>", "count": 1, "percentage": 50.0}));
    assert_eq!(json["skills"]["summary"]["total_skill_loads"], 1);
    assert_eq!(json["skills"]["top_skills"][0]["skill"], "pdf");
    let activity = &json["activity"];
    assert_eq!((activity["by_day"].as_array().unwrap().len(), activity["by_hour"].as_array().unwrap().len()), (7, 24));
    let sum = |list: &Value| list.as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum(&activity["by_day"]), sum(&activity["by_hour"]), sum(&activity["by_date"])), (4, 4, 4));
    let top = json["top_sessions"].as_array().unwrap();
    let cost = top.iter().find(|row| row["label"] == "cost").unwrap();
    assert_eq!((&cost["session_id"], &cost["value"]), (&"cron_job1".into(), &1.25.into()));
}

#[test]
fn a_page_is_written_whole_and_for_its_owner() {
    let home = used();
    let run = home.see(&with(&["--html", "page.html"]));
    assert!(run.starts_with("Wrote [HOME]/page.html (") && run.ends_with("--- exit 0"), "{run}");
    let path = home.path().join("page.html");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("&lt;b&gt;tool&lt;/b&gt;") && page.contains("&lt;script&gt;␛[31m"), "{page}");
    assert!(!page.contains("<script") && !page.contains("<b>") && page.matches("<svg class=\"chart\"").count() == 3);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let sent = home.hermes(&with(&["--html", "-"])).stdout();
    let end = page.len() - 200;
    assert!(sent.starts_with(&page[..200]) && sent.ends_with(&page[end..]), "{sent}");
    // An existing file is not replaced without confirmation, and the store never.
    let again = home.see(&with(&["--html", "page.html"]));
    assert!(again.contains("Overwrite it?") && again.ends_with("--- exit 1"), "{again}");
    assert!(home.see(&with(&["--html", "page.html", "--yes"])).ends_with("--- exit 0"));
    let store = home.see(&with(&["--html", "state.db", "--yes"]));
    assert!(store.contains("belongs to the store itself") && store.ends_with("--- exit 1"), "{store}");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let home = used();
    for (args, text, code) in [
        (&["insights", "--days", "0"][..], "error: --days 0 is out of range\nhint: give 1 to 36500", 2),
        (&["insights", "--days", "-3"], "error: --days -3 is out of range", 2),
        (&["insights", "--days", "x"], "invalid value 'x'", 2),
        (&["insights", "--source", ""], "error: source is empty", 2),
        (&["insights", "--json", "--html", "x"], "cannot be used with", 2),
        (&["insights", "--html", "no/such/x.html"], "is in a folder that does not exist", 1),
        (&["insights", "--url", "sqlite:nowhere.db"], "there is no session store at", 1),
    ] {
        let seen = home.see(args);
        assert!(seen.contains(text) && seen.ends_with(&format!("--- exit {code}")), "{args:?}:\n{seen}");
    }
}

#[test]
fn an_empty_span_says_so() {
    let home = Home::with_store();
    insta::assert_snapshot!(home.see(&["insights", "--days", "7", "--source", "cron"]), @r#"
    No sessions found in the last 7 days (source: cron).
    A longer span may have some: `hermes insights --days 365`.
    --- stderr
    note: no session has the source "cron"; sources in this store: none
    --- exit 0
    "#);
    let seen = several().see(&["insights", "--days", "36500", "--source", "CLI"]);
    assert!(seen.contains("note: no session has the source \"CLI\"; sources in this store: cli, cron, "), "{seen}");
    let json: Value = serde_json::from_str(&home.hermes(&["insights", "--json"]).stdout()).unwrap();
    assert_eq!((&json["empty"], &json["overview"]["conversations"]), (&true.into(), &0.into()));
    assert!(home.see(&["insights", "--html", "x.html"]).ends_with("--- exit 0"));
    assert!(
        std::fs::read_to_string(home.path().join("x.html")).unwrap().contains("No sessions found in the last 30 days")
    );
}
