//! `hermes demo`

use super::*;
use insta::assert_snapshot;

fn with_filters(check: impl FnOnce()) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{8}_\d{6}_[0-9a-f]{8}", "[GATEWAY ID]");
    settings.add_filter(r"\d{8}_\d{6}_[0-9a-f]{6}", "[ID]");
    settings.add_filter(r"hermes-demo-\w+", "hermes-demo-[RANDOM]");
    settings.add_filter(r"alias hermes=\S+", "alias hermes=[PROGRAM]");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d", "[TIME]");
    settings.add_filter(r"\d{4}-\d\d-\d\d", "[DATE]");
    settings.add_filter(r"(?m)^([●◆↳] \w+)  \d\d:\d\d$", "$1  [MINUTE]");
    // A conversation from 26 hours ago may span two days.
    settings.add_filter(r"\n\n── \[DATE\]\n\n", "\n\n");
    settings.bind(check);
}

#[test]
fn the_tour_at_80_columns() {
    let home = Home::empty();
    with_filters(|| {
        assert_snapshot!(home.see(&["demo"]), @r#"
        Sample conversations are in [HOME]/hermes-demo-[RANDOM]

        $ hermes sessions list
        #  Title                   Last active  Source    Msgs  ID
        ────────────────────────────────────────────────────────────────────────────────
        1  大别山徒步计划          4m ago       telegram     4  [GATEWAY ID]
        2  Billing on a new queu…  37m ago      cli         12  [ID]
        3  Login with a fake clo…  2h ago       cli         12  [ID]
        4  週報の下書き            5h ago       discord      2  [GATEWAY ID]
        5  Flaky login test        yesterday    cli         10  [ID]
        6  وصفة الكبسة             2d ago       telegram     2  [GATEWAY ID]
        7  ¿Qué regalo? 🎂 Größe…  4d ago       discord      2  [GATEWAY ID]
        8  Write the weekly repo…  [DATE]   cron         2  [GATEWAY ID]

        $ hermes sessions search billing.new_queue
        1 Billing on a new queue #2  3d ago · cli · [ID]
          ◆ Hermes  3d ago   #40  `retry.rs` is moved; the flag is
                                  `>>>billing.new_queue<<<`, off by default.
          ● You     40m ago  #41  …off the old queue. ## Completed retry.rs, behind
                                  >>>billing.new_queue<<<. ## Remaining worker.rs (14
                                  places), then mail. --- END OF CONTEXT SUMMARY ---

        2 hits in 1 conversation

        $ hermes sessions search '羽绒服'
        1 大别山徒步计划  6m ago · telegram · [GATEWAY ID]
          ◆ Hermes  4m ago  #4  第一天：天堂寨景区 → 哲人峰，约 9 公里，住山上客栈。 第
                                二天：白马大峡谷慢慢走下来，约 7 公里，下午三点前能到停
                                车场。 早晚温差大，记得带一件薄>>>羽绒服<<< 🧥。

        1 hit in 1 conversation

        $ hermes sessions show 'Flaky login test'
        Flaky login test
        id          [ID]
        source      cli
        model       anthropic/claude-sonnet-4.5
        started     [TIME]
        ended       [TIME] (branched)
        messages    10 (3 tool calls)

        ● You  [MINUTE]
          The login test fails about every tenth run. Can you find out why?

        ◆ Hermes  [MINUTE]
          I'll run it until it fails.
          ⚙ terminal for i in $(seq 30); do cargo test -q login || break; done (+1)

        ↳ terminal  [MINUTE]
          test login::accepts_a_fresh_token ... ok
          (17 times)
          … (--full shows the rest)

        ◆ Hermes  [MINUTE]
          ⚙ read_file tests/login.rs (+2)

        ↳ read_file  [MINUTE]
          38      let token = issue(&user, Duration::from_millis(5));
          39      let answer = login(&token).await;
          40      let now = SystemTime::now();
          … (--full shows the rest)

        ◆ Hermes  [MINUTE]
          The token lives for five milliseconds, and the test looks at the clock *after*
          the login. On a busy machine the login takes longer than that.

          Two ways out:
          1. give the token an hour; or
          2. hand the clock to `issue` and `login`, so that no test depends on the
             machine.

        ● You  [MINUTE]
          Take the first one for now.

        ◆ Hermes  [MINUTE]
          ⚙ patch tests/login.rs (+2)

        ↳ patch  [MINUTE]
          1 replacement

        ◆ Hermes  [MINUTE]
          Done: 200 runs, no failure.

        $ hermes sessions show --recap 'Billing on a new queue #2'
        ╭─────────────────────────── Previous Conversation ────────────────────────────╮
        │   ◆ Hermes: Ready to go on with `worker.rs`.                                 │
        │   ● You: Go ahead with worker.rs. What about messages that are in the old    │
        │          queue when we switch?                                               │
        │   ◆ Hermes: [1 tool call: terminal]                                          │
        │   ◆ Hermes: All 14 places are moved. For what is still in the old queue: the │
        │             worker reads both until the old one has been empty for an hour,  │
        │             then it says so in the log and stops reading it. Nothing is sent │
        │             twice, because the invoice number is the key in both.            │
        │                                                                              │
        │             Next is `mail/src/send.rs`, one place.                           │
        │                                                                              │
        ╰──────────────────────────────────────────────────────────────────────────────╯

        What to try next
          alias hermes=[PROGRAM]
          hermes sessions list --source telegram --home [HOME]/hermes-demo-[RANDOM]
          hermes sessions browse --home [HOME]/hermes-demo-[RANDOM]
          hermes sessions search 'token OR 期限' --since 7d --home [HOME]/hermes-demo-[RANDOM]
          hermes sessions show @last --home [HOME]/hermes-demo-[RANDOM]
          hermes sessions show --full 'Flaky login test' --home [HOME]/hermes-demo-[RANDOM]
          hermes sessions list --all --json --home [HOME]/hermes-demo-[RANDOM]

        The folder stays until you remove it:
          rm -r [HOME]/hermes-demo-[RANDOM]
        --- exit 0
        "#)
    });
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in ["60", "80", "120"] {
        let home = Home::empty();
        let folder = home.path().join("kept");
        let shown = home.hermes(&["demo", "--keep-in", "kept"]).env("COLUMNS", columns).stdout();
        let tour = shown.split_once("What to try next").unwrap().0.replace(&folder.display().to_string(), "");
        // Commands to type are not cut.
        let shown = tour.lines().filter(|line| !line.starts_with("$ "));
        let widest = shown.map(unicode_width::UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{columns}: {widest}\n{tour}");
    }
}

#[test]
#[cfg(unix)]
fn the_samples_are_for_the_owner_alone_and_can_be_used_at_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::empty();
    let shown = home.hermes(&["demo"]).stdout();
    let folder = shown.lines().next().unwrap().rsplit(' ').next().unwrap();
    assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(std::fs::metadata(format!("{folder}/state.db")).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = home.hermes(&["sessions", "list", "--source", "telegram"]).env("HERMES_HOME", folder).see();
    assert!(listed.contains("大别山徒步计划") && listed.ends_with("--- exit 0"), "{listed}");
}

#[test]
fn the_samples_go_where_they_are_told_and_nowhere_else() {
    let home = Home::with_store();
    let before = home.see(&["sessions", "list"]);
    home.hermes(&["demo", "--keep-in", "kept"]).env("HERMES_SESSIONDB_URL", "elsewhere.db").see();
    assert_eq!(home.see(&["sessions", "list"]), before);
    assert!(home.path().join("kept/state.db").exists() && !home.path().join("elsewhere.db").exists());

    let twice = |_| home.see(&["demo", "--url", "state.db"]);
    assert!([0, 1].map(twice).iter().all(|seen| seen.ends_with("--- exit 0")));
    assert!(home.see(&["sessions", "list", "--limit", "3"]).contains("大别山徒步计划 #2"));
}

#[test]
fn what_the_demo_does_not_do() {
    let home = Home::with_store();
    assert_snapshot!(home.see(&["demo", "--keep-in", "."]), @r#"
    --- stderr
    error: [HOME]/state.db already exists
    hint: name another folder, or add the samples to that store with --url [HOME]/state.db
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["demo", "--keep-in", "state.db"]), @r#"
    --- stderr
    error: could not make a folder for the samples: File exists (os error 17)
    hint: name a folder you may write to with --keep-in
    --- exit 1
    "#);
    assert_snapshot!(home.see(&["demo", "--home", "."]), @r#"
    --- stderr
    error: the demo leaves your home folder alone, so it takes no --home
    hint: --keep-in DIR puts the samples into a folder of your choice
    --- exit 2
    "#);
    assert!(home.see(&["demo", "--keep-in", "x", "--url", "y"]).ends_with("--- exit 2"));
}
