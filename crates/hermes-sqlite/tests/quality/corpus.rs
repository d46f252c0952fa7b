//! Three thousand messages in many scripts, always the same, with many near matches.

use hermes_session::{Content, Json, MessageBody, NewMessage, Role, search_text};
use serde_json::{Value, json};

/// Number of messages.
const SIZE: usize = 3_000;

/// Items of one kind: those that queries ask for, and near misses.
pub(crate) struct Pool {
    pub(crate) name: &'static str,
    pub(crate) items: &'static [&'static str],
    near: &'static [&'static str],
}

const fn pool(name: &'static str, items: &'static [&'static str], near: &'static [&'static str]) -> Pool {
    Pool { name, items, near }
}

/// The items that messages are made of.
pub(crate) const POOLS: &[Pool] = &[
    pool(
        "word",
        &[
            "server", "crash", "deploy", "backup", "token", "budget", "garden", "recipe", "violin", "harbour",
            "kernel", "lemon",
        ],
        &[
            "serve", "crass", "employ", "back", "taken", "budge", "warden", "receipt", "viola", "labour", "kern",
            "melon",
        ],
    ),
    pool(
        "apostrophe",
        &["don't", "it's", "o'clock", "we'll", "rock'n'roll"],
        &["dont", "its", "oclock", "well", "don t", "it s"],
    ),
    pool(
        "path",
        &["src/main.rs", "/etc/nginx/nginx.conf", "C:\\Users\\anna", "docs/search-syntax.md", "../lib/util.py"],
        &["src/mainrs", "src main rs", "/etc/nginx.conf", "C:/Users/anna", "docs/search.md", "lib/utils.py"],
    ),
    pool(
        "mail",
        &["anna@example.com", "bob.k@mail.example.org", "ops+alerts@example.net"],
        &["anna at example.com", "anna@example.org", "bobk@mail.example.org", "ops@example.net"],
    ),
    pool(
        "url",
        &["https://example.com/a?b=c&d=1", "http://localhost:8080/health", "ftp://files.example.org/x.tar.gz"],
        &["https://example.com/a", "localhost 8080", "http://localhost:808", "ftp files example"],
    ),
    pool(
        "colon",
        &["error: 404", "warning: unused", "note: see", "key: value", "10:30"],
        &["error 404", "warnings unused", "notes see", "keyvalue", "10 30"],
    ),
    pool("plus", &["C++", "C#", "F#", "g++-13", "a+b"], &["C", "C-", "F", "g-13", "a-b"]),
    pool("version", &["v1.2.3", "2.0.0-rc.1", "0.14.0", "1.85"], &["v1.2.4", "2.0.0rc1", "0.140", "1.8 5"]),
    pool("flag", &["rm -rf", "--no-verify", "-vv", "ls -la"], &["rm rf", "no verify", "vv", "ls la"]),
    pool(
        "sign",
        &["50%", "$9.99", "€20", "#42", "~/notes", "a=b", "x < y", "R&D"],
        &["50", "$999", "20€", "42", "notes", "a==b", "x y", "R and D"],
    ),
    pool(
        "camel",
        &["parseHttpRequest", "getUserById", "fooBarBaz", "XMLHttpRequest"],
        &["parse http request", "getUserByName", "foo barbaz", "XMLRequest"],
    ),
    pool(
        "snake",
        &["snake_case_name", "max_retry_count", "__init__", "user_id"],
        &["snakecasename", "max retry count", "init", "userid"],
    ),
    pool("kebab", &["well-known", "search-as-you-type", "e-mail"], &["well known", "search as you type", "email"]),
    pool(
        "hash",
        &["9f86d081884c7d659a2f", "deadbeefcafe", "a94a8fe5ccb19ba61c4c"],
        &["9f86d0818", "deadbeef cafe", "a94a8ff5ccb1"],
    ),
    pool("number", &["1741166123", "3.14159", "65535", "1e10"], &["174116612", "3.15159", "65 535", "1e1"]),
    pool(
        "code",
        &["std::io::Error", "foo()", "arr[0]", "x->y", "Vec<String>", "a && b", "{\"k\": 1}"],
        &["std io Error", "foo", "arr 0", "x-y", "Vec String", "a b", "k 1"],
    ),
    pool(
        "han",
        &["大别山项目", "广西桂林", "数据库", "机器学习模型", "人工智能", "北京大学"],
        &["大山别", "桂林", "数据", "机器模型", "人工", "北京", "大学生"],
    ),
    pool(
        "kana",
        &["ひらがな", "カタカナ", "データベース", "ありがとう", "東京タワー"],
        &["ひらかな", "カタナ", "データ", "ありか", "東京"],
    ),
    pool("narrow kana", &["ｶﾀｶﾅ", "ﾃﾞｰﾀ", "ﾊﾟﾝﾀﾞ"], &["ｶﾀﾅ", "ﾃｰﾀ", "ハンタ"]),
    pool("hangul", &["한국어", "데이터베이스", "안녕하세요", "서울특별시"], &["한글", "데이터", "안녕", "서울"]),
    pool(
        "hangul apart",
        &["\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8} one", "\u{1109}\u{1165}\u{110b}\u{116e}\u{11af} two"],
        &["\u{1112}\u{1161}\u{11ab} one", "\u{1109}\u{1165} two"],
    ),
    pool("thai", &["ภาษาไทย", "สวัสดีครับ", "ฐานข้อมูล"], &["ภาษา", "สวัสดี", "ข้อมูล"]),
    pool("indic", &["हिन्दी", "नमस्ते दुनिया", "தமிழ்"], &["हिन्द", "नमस्त", "தமிழர்"]),
    pool("far han", &["𠮷野家", "𰻞𰻞麺", "𡃁仔", "\u{f900}雅"], &["吉野家", "麺", "仔", "雅"]),
    pool(
        "cyrillic",
        &["привет", "сервер", "база данных", "ёлка", "йод"],
        &["приветы", "севрер", "база", "елка", "иод"],
    ),
    pool("cyrillic apart", &["и\u{306}огурт", "се\u{301}рвер"], &["иогурт", "сер вер"]),
    pool("greek", &["σίσυφος", "ΑΘΉΝΑ"], &["σισυφοι", "αθηναι"]),
    pool(
        "accents",
        &["café", "naïve", "résumé", "El Niño", "Ångström", "coöperate"],
        &["cafe9", "native", "resum", "El Nin", "Angst", "co operate"],
    ),
    pool("vietnamese", &["Tiếng Việt", "phở bò", "Hà Nội"], &["Tieng Vit", "pho ba", "Ha Noj"]),
    pool("sharp s", &["Straße", "Größe", "weiß"], &["Strase", "Grose", "weis"]),
    pool("wide", &["ＦＵＬＬ", "ｗｉｄｔｈ１２", "ＡＢＣ"], &["ＦＵＬ", "ｗｉｄｔ", "ＡＢ"]),
    pool("emoji", &["🚀", "👩\u{200d}💻", "⚠\u{fe0f}", "👍🏽", "\u{1fae8}", "🫠"], &["🛸", "👩", "⚡", "👎", "🫥"]),
    pool("right to left", &["שלום עולם", "مرحبا بالعالم"], &["שלו", "مرحب"]),
    pool(
        "mixed",
        &["使用python编写", "GPT模型", "用Rust写的", "iPhone15発売"],
        &["使用pytho编写", "GP模型", "用Rus写", "iPhone14"],
    ),
    pool(
        "long",
        &["Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft"],
        &["Donaudampfschifffahrtsgesellschaft"],
    ),
    pool("after nul", &["before\0behind", "x\0名古屋城"], &["beforebehind", "x名古屋"]),
    pool(
        "data",
        &["iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg"],
        &["iVBORw0KGgoAAAANSUhEUg"],
    ),
];

const FILLER: &[&str] = &[
    "and", "then", "the", "we", "looked", "at", "it", "again", "because", "of", "this", "morning", "plan", "for",
    "next", "week", "with", "some", "notes",
];

/// How a message is stored.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Form {
    Plain,
    /// In the arguments of a tool call.
    Call,
    /// In a part of structured content.
    Part,
    /// The result of a tool.
    Result,
}

/// A message.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) form: Form,
}

impl Said {
    pub(crate) fn message(&self) -> NewMessage {
        self.body().into()
    }

    /// Returns the text that is searched.
    pub(crate) fn searched(&self) -> String {
        search_text::of_body(&self.body()).into_owned()
    }

    fn body(&self) -> MessageBody {
        let json = |value: Option<Value>| value.map(|value| Json::parse(&value.to_string()).unwrap());
        let role = match self.form {
            Form::Plain | Form::Part => Role::User,
            Form::Call => Role::Assistant,
            Form::Result => Role::Tool,
        };
        let content = match self.content() {
            Some(Value::String(text)) => Some(Content::from(text.as_str())),
            other => json(other).map(Content::from_json),
        };
        MessageBody {
            content,
            tool_calls: json(self.calls()),
            tool_name: self.tool().map(str::to_owned),
            ..MessageBody::empty(role)
        }
    }

    pub(crate) fn content(&self) -> Option<Value> {
        match self.form {
            Form::Plain | Form::Result => Some(json!(self.text)),
            Form::Part => Some(json!([{"type": "text", "text": self.text}])),
            Form::Call => None,
        }
    }

    pub(crate) fn calls(&self) -> Option<Value> {
        let arguments = json!({"input": self.text, "depth": 3}).to_string();
        (self.form == Form::Call)
            .then(|| json!([{"id": "call_1", "type": "function", "function": {"name": "write_note", "arguments": arguments}}]))
    }

    pub(crate) fn tool(&self) -> Option<&'static str> {
        (self.form == Form::Result).then_some("browser_click")
    }
}

/// Pseudo-random numbers, the same every time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.roll(list.len())]
    }
}

/// Plausible lines in which items touch each other.
const LINES: &[&str] = &[
    "I don't know; it's 10:30 o'clock already!",
    "(see src/main.rs:12, docs/search-syntax.md#not, and \"the quoted plan\")",
    "error: 404, warning: unused variable `user_id` in parseHttpRequest(req)",
    "大别山项目的进展：使用python编写的数据库，由anna@example.com维护。",
    "東京タワーでデータベースの勉強会がありました。ﾃﾞｰﾀは５０％です",
    "안녕하세요, 한국어 데이터베이스입니다. 서울특별시에서 만나요",
    "ภาษาไทยง่ายมาก สวัสดีครับ ฐานข้อมูลใหญ่",
    "Привет! Сервер упал, база данных в порядке; йод, ёлка",
    "ship it 🚀🚀 👩\u{200d}💻 says ⚠\u{fe0f} careful 👍🏽",
    "The café's naïve résumé: El Niño, Ångström & Straße. Tiếng Việt?",
    "git commit 9f86d081884c7d659a2f -m \"fix R&D\" --no-verify && rm -rf ~/notes",
    "C++20 and C# beat F# (v1.2.3-beta) by 50%",
    "Vec<String> is not Vec<&str>; std::io::Error::other(\"x\")",
    "line one\nline two\twith a tab\r\nline three",
    "前\0後 before\0behind x\0名古屋城を見た",
];

/// Returns the messages.
pub(crate) fn corpus() -> Vec<Said> {
    let mut dice = Dice::new(20_250_305);
    let mut said: Vec<Said> = LINES.iter().map(|line| Said { text: (*line).to_owned(), form: Form::Plain }).collect();
    while said.len() < SIZE {
        let mut text = String::new();
        for _ in 0..3 + dice.roll(6) {
            let (pool, start) = (dice.pick(POOLS), dice.roll(FILLER.len()));
            let things = if dice.roll(2) == 0 { pool.items } else { pool.near };
            for word in FILLER.iter().cycle().skip(start).take(dice.roll(4)) {
                text.push_str(word);
                text.push(' ');
            }
            text.push_str(dice.pick::<&str>(things));
            text.push_str(dice.pick::<&str>(&[
                " ", " ", " ", ", ", ", ", ", ", ", ", "\n", ". ", "! ", "? ", " (", ") ", "—", "; ", "\t",
            ]));
        }
        // The agent's store can't tell structured content from text that begins like it; no message does.
        let form = match dice.roll(12) {
            0 => Form::Call,
            1 => Form::Part,
            2 => Form::Result,
            _ => Form::Plain,
        };
        said.push(Said { text, form });
    }
    said
}
