//! Texts of the samples.

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

const LARGE: &str = "anthropic/claude-sonnet-4.5";
const SMALL: &str = "openai/gpt-5-mini";

/// A conversation, or a part of one.
pub(super) struct Sample {
    pub(super) title: Option<&'static str>,
    pub(super) source: &'static str,
    pub(super) user: Option<&'static str>,
    pub(super) model: &'static str,
    /// How long ago it started.
    pub(super) seconds_ago: f64,
    pub(super) ended: Option<&'static str>,
    pub(super) turns: &'static [Turn],
}

#[derive(Clone, Copy)]
pub(super) enum Turn {
    User(&'static str),
    Agent(&'static str),
    /// A call of a tool, and its result.
    Call {
        says: &'static str,
        tool: &'static str,
        arguments: &'static str,
        result: &'static str,
    },
}

use Turn::{Agent, Call, User};

pub(super) const CODING: Sample = Sample {
    title: Some("Flaky login test"),
    source: "cli",
    user: None,
    model: LARGE,
    seconds_ago: 26.0 * HOUR,
    ended: None,
    turns: &[
        User("The login test fails about every tenth run. Can you find out why?"),
        Call {
            says: "I'll run it until it fails.",
            tool: "terminal",
            arguments: r#"{"command": "for i in $(seq 30); do cargo test -q login || break; done", "timeout": 120}"#,
            result: "test login::accepts_a_fresh_token ... ok\n(17 times)\n\n\
                     thread 'login::accepts_a_fresh_token' panicked at tests/login.rs:41:\n\
                     assertion failed: token.expires_at > now\n\
                     test result: FAILED. 0 passed; 1 failed",
        },
        Call {
            says: "",
            tool: "read_file",
            arguments: r#"{"path": "tests/login.rs", "offset": 30, "limit": 20}"#,
            result: "38      let token = issue(&user, Duration::from_millis(5));\n\
                     39      let answer = login(&token).await;\n\
                     40      let now = SystemTime::now();\n\
                     41      assert!(token.expires_at > now);",
        },
        Agent(
            "The token lives for five milliseconds, and the test looks at the clock *after* the login. On a busy machine \
             the login takes longer than that.\n\n\
             Two ways out:\n\
             1. give the token an hour; or\n\
             2. hand the clock to `issue` and `login`, so that no test depends on the machine.",
        ),
        User("Take the first one for now."),
        Call {
            says: "",
            tool: "patch",
            arguments: r#"{"path": "tests/login.rs", "old": "Duration::from_millis(5)", "new": "Duration::from_secs(3600)"}"#,
            result: "1 replacement",
        },
        Agent("Done: 200 runs, no failure."),
    ],
};

pub(super) const BRANCH: Sample = Sample {
    title: Some("Login with a fake clock"),
    source: "cli",
    user: None,
    model: LARGE,
    seconds_ago: 2.2 * HOUR,
    ended: None,
    turns: &[
        User("Let's try the second way after all, in a branch."),
        Agent("`issue` and `login` now take a `&dyn Clock`. The test moves the clock by itself and takes 2 ms."),
    ],
};

pub(super) const COMPRESSED: Sample = Sample {
    title: Some("Billing on a new queue"),
    source: "cli",
    user: None,
    model: LARGE,
    seconds_ago: 3.3 * DAY,
    ended: None,
    turns: &[
        User("We want billing off the old queue before the end of the month. Where do we start?"),
        Call {
            says: "Let me see who uses it.",
            tool: "search_files",
            arguments: r#"{"pattern": "OldQueue::", "path": "services"}"#,
            result: "services/billing/src/worker.rs: 14 matches\nservices/billing/src/retry.rs: 3 matches\n\
                     services/mail/src/send.rs: 1 match",
        },
        Agent("Three files. I'd start with `retry.rs`: it is small, and the new queue retries by itself."),
        User("Good. Do retry.rs first, keep the old path behind a flag."),
        Agent("`retry.rs` is moved; the flag is `billing.new_queue`, off by default."),
    ],
};

/// Number of turns below that were carried over when the context was compressed.
pub(super) const KEPT_TURNS: usize = 2;

pub(super) const CONTINUED: Sample = Sample {
    title: None,
    source: "cli",
    user: None,
    model: LARGE,
    seconds_ago: 40.0 * MINUTE,
    ended: None,
    turns: &[
        User(
            "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below.\n\n\
             ## Goal\nMove billing off the old queue.\n\n## Completed\nretry.rs, behind billing.new_queue.\n\n\
             ## Remaining\nworker.rs (14 places), then mail.\n\n--- END OF CONTEXT SUMMARY ---",
        ),
        Agent("Ready to go on with `worker.rs`."),
        User("Go ahead with worker.rs. What about messages that are in the old queue when we switch?"),
        Call {
            says: "",
            tool: "terminal",
            arguments: r#"{"command": "rg -c OldQueue:: services/billing/src/worker.rs"}"#,
            result: "14",
        },
        Agent(
            "All 14 places are moved. For what is still in the old queue: the worker reads both until the old one has been \
             empty for an hour, then it says so in the log and stops reading it. Nothing is sent twice, because the \
             invoice number is the key in both.\n\nNext is `mail/src/send.rs`, one place.",
        ),
    ],
};

pub(super) const OTHERS: &[Sample] = &[
    Sample {
        title: Some("大别山徒步计划"),
        source: "telegram",
        user: Some("1029384756"),
        model: SMALL,
        seconds_ago: 6.0 * MINUTE,
        ended: None,
        turns: &[
            User("周末想去大别山徒步，两天一夜，帮我排个路线，别太累。"),
            Call {
                says: "我先查一下天气。",
                tool: "web_search",
                arguments: r#"{"query": "大别山 周末 天气 徒步路线"}"#,
                result: "周六 多云 12–19℃\n周日 晴 10–21℃",
            },
            Agent(
                "第一天：天堂寨景区 → 哲人峰，约 9 公里，住山上客栈。\n\
                 第二天：白马大峡谷慢慢走下来，约 7 公里，下午三点前能到停车场。\n\
                 早晚温差大，记得带一件薄羽绒服 🧥。",
            ),
        ],
    },
    Sample {
        title: Some("週報の下書き"),
        source: "discord",
        user: Some("kenji"),
        model: SMALL,
        seconds_ago: 5.1 * HOUR,
        ended: None,
        turns: &[
            User("今週やったことを週報にまとめてください。検索の高速化と、ログイン障害の対応です。"),
            Agent(
                "【今週の成果】\n・検索インデックスを見直し、平均応答を 480 ms から 90 ms に短縮。\n\
                 ・ログイン障害（火曜日）：証明書の期限切れが原因。自動更新を追加済み。",
            ),
        ],
    },
    Sample {
        title: Some("وصفة الكبسة"),
        source: "telegram",
        user: Some("5647382910"),
        model: SMALL,
        seconds_ago: 2.4 * DAY,
        ended: Some("session_reset"),
        turns: &[
            User("كيف أحضّر كبسة الدجاج لستة أشخاص؟"),
            Agent(
                "تحتاج إلى دجاجة كاملة وأربعة أكواب من الأرز. انقع الأرز نصف ساعة، ثم اطبخه في مرق الدجاج على نار هادئة.",
            ),
        ],
    },
    Sample {
        title: Some("¿Qué regalo? 🎂 Größe & Farbe 👨\u{200d}👩\u{200d}👧"),
        source: "discord",
        user: Some("lucía"),
        model: SMALL,
        seconds_ago: 4.6 * DAY,
        ended: Some("session_reset"),
        turns: &[
            User("Mañana es el cumpleaños de mi sobrina alemana. ¿Cómo pregunto por la talla sin que se note?"),
            Agent("Pregunta a su madre: «Welche Größe trägt sie gerade, und welche Farbe mag sie am liebsten?» 😉"),
        ],
    },
    Sample {
        title: None,
        source: "cron",
        user: None,
        model: SMALL,
        seconds_ago: 12.0 * DAY,
        ended: Some("cron_complete"),
        turns: &[
            User("Write the weekly report about open pull requests and send it to the team."),
            Agent("11 open, 3 of them older than two weeks: #482, #490 and #497. The report is sent."),
        ],
    },
];
