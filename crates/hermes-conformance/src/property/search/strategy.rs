//! Generation of messages and queries.

use crate::fixture::{json, structured};
use hermes_session::search::fold::fold;
use hermes_session::{Content, MessageBody, NewMessage, Role, search_text};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json as value};
use std::fmt;

/// Pieces from which texts are composed. There are few, so that many texts are nearly the same.
const PIECES: &[&[&str]] = &[
    &[
        "foo",
        "Bar",
        "fooBar",
        "error",
        "main",
        "rs",
        "a",
        "i",
        "type",
        "text",
        "x1",
        "v1.2.3",
        "404",
        "nword",
        "İI",
        "k\u{212a}",
    ],
    &[" ", " ", " ", " ", "\n", "\t", "  ", "\u{a0}", "\u{3000}", "\r\n", "\u{2028}"],
    &[
        "-", "_", ".", "/", "'", "’", "\\", "\"", ":", "@", "+", "*", "(", ")", ",", "—", "\0", "\u{ad}", "\u{200d}",
        "…", "%", "$", "\u{1}",
    ],
    &[
        "é",
        "É",
        "e\u{301}",
        "ñ",
        "ß",
        "ẞ",
        "ø",
        "ệ",
        "e\u{323}\u{302}",
        "việt",
        "ﬁ",
        "Ａ",
        "ｂ",
        "Σ",
        "ς",
        "ǆ",
        "ŀ",
        "ſ",
        "o\u{308}\u{304}",
    ],
    &["й", "и\u{306}", "Й", "а\u{301}", "Ж", "ё", "привет", "שׁ", "ع", "ა", "α\u{345}"],
    &["大", "别", "山", "项目", "大别山", "𠀀", "𠮷", "\u{f900}", "、", "。", "「", "々", "名古屋"],
    &["か", "が", "か\u{3099}", "ｶ", "ﾞ", "ｶﾞ", "ー", "･", "ぱ", "ﾊﾟ", "カ"],
    &["ไ", "ท", "ที่", "ไทย", "\u{e34}", "ກ", "हि", "न्", "दी", "ြ"],
    &["한", "\u{1112}\u{1161}\u{11ab}", "국", "하", "\u{11ab}", "ㄱ", "ﾡ"],
    &["🚀", "👩\u{200d}💻", "⚠\u{fe0f}", "⚠", "🥰", "🫠", "👍🏽", "\u{1fae8}", "①", "²", "\u{e000}"],
    &["\\n", "\\u540d", "{\"a\": \"b\"}", "null", "true", "[1, 2]", "\"type\": \"text\"", "\u{0}json:", "\\t", "u540d"],
    &["0", "1", "12", "123", "deadbeef", "0xff", "1e5", "٣"],
    &["abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789"],
];

/// Messages, and queries about them.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The messages.
    pub said: Vec<Said>,
    asked: Vec<Asked>,
    /// Number of hits on a page.
    pub limit: u32,
}

/// A message, described by its parts.
#[derive(Debug, Clone)]
pub struct Said {
    /// Determines its session and time.
    pub place: usize,
    /// Its text.
    pub text: String,
    form: Form,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Plain,
    Parts,
    Map,
    Arguments,
    Object,
    Result,
    Data,
}

impl Said {
    /// Returns the message.
    pub fn message(&self) -> NewMessage {
        let text = self.text.as_str();
        let empty = MessageBody::empty;
        let content = |json: Value| Some(structured(&json.to_string()));
        let calls = |json: Value| Some(self::json(&json.to_string()));
        let body = match self.form {
            Form::Plain => MessageBody { content: Some(Content::from(text)), ..empty(Role::User) },
            Form::Parts => MessageBody {
                content: content(
                    value!([{"type": "text", "text": text}, {"type": "image", "url": "data:image/png;base64,AAAA"}, {"type": "text", "text": "foo"}]),
                ),
                ..empty(Role::User)
            },
            Form::Map => MessageBody { content: content(value!({"foo": text, "n": 12})), ..empty(Role::User) },
            Form::Arguments => MessageBody {
                content: Some(Content::from("foo")),
                tool_calls: calls(
                    value!([{"id": "x1", "type": "function", "function": {"name": "main", "arguments": value!({"a": text, "n": 12}).to_string()}}]),
                ),
                ..empty(Role::Assistant)
            },
            Form::Object => MessageBody {
                tool_calls: calls(value!([{"type": "tool_use", "name": "foo", "input": {text: [text, 12]}}])),
                ..empty(Role::Assistant)
            },
            Form::Result => MessageBody {
                content: Some(Content::from(text)),
                tool_name: Some("foo_bar".to_owned()),
                ..empty(Role::Tool)
            },
            Form::Data => MessageBody {
                content: Some(Content::from(format!("{}{text}", "iVBORw0KGgo/".repeat(25)))),
                ..empty(Role::Tool)
            },
        };
        body.into()
    }
}

/// A query, described by the positions that it is cut out of.
#[derive(Debug, Clone)]
struct Asked {
    terms: Vec<(Cut, &'static str)>,
}

/// A piece of a message.
#[derive(Debug, Clone)]
struct Cut {
    message: prop::sample::Index,
    start: prop::sample::Index,
    length: usize,
    change: Change,
    is_quoted: bool,
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Nothing,
    Upper,
    Lower,
    Folded,
    /// With other text before and after it.
    Foreign,
}

impl Scene {
    /// Returns the queries as typed.
    pub fn questions(&self) -> Vec<String> {
        let texts: Vec<String> =
            self.said.iter().map(|said| search_text::of_body(&said.message().body).into_owned()).collect();
        self.asked
            .iter()
            .map(|asked| {
                let mut question = String::new();
                for (cut, joint) in &asked.terms {
                    question.push_str(&cut.of(&texts));
                    question.push_str(joint);
                }
                question
            })
            .collect()
    }
}

impl Cut {
    fn of(&self, texts: &[String]) -> String {
        let text: Vec<char> = self.message.get(texts).chars().collect();
        let start = if text.is_empty() { 0 } else { self.start.index(text.len()) };
        let piece: String = text[start..].iter().take(self.length).collect();
        let piece = match self.change {
            Change::Nothing => piece,
            Change::Upper => piece.to_uppercase(),
            Change::Lower => piece.to_lowercase(),
            Change::Folded => fold(&piece).into_owned(),
            Change::Foreign => format!("f{piece}e"),
        };
        if self.is_quoted { format!("\"{piece}\"") } else { piece }
    }
}

/// Generates scenes.
pub fn scene() -> impl Strategy<Value = Scene> {
    let said = prop::collection::vec((text(), form()), 2..14).prop_map(|all| {
        let said = |(place, (text, form))| Said { place, text, form };
        all.into_iter().enumerate().map(said).collect::<Vec<_>>()
    });
    (said, prop::collection::vec(asked(), 1..10), 1..5_u32).prop_map(|(said, asked, limit)| Scene {
        said,
        asked,
        limit,
    })
}

fn text() -> impl Strategy<Value = String> {
    let group = (0..PIECES.len()).prop_flat_map(|group| select(PIECES[group]));
    let piece = prop_oneof![
        30 => group.prop_map(str::to_owned),
        10 => select(PIECES[0]).prop_map(str::to_owned),
        10 => select(PIECES[1]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![
        12 => Just(Form::Plain),
        2 => Just(Form::Parts),
        1 => Just(Form::Map),
        3 => Just(Form::Arguments),
        1 => Just(Form::Object),
        2 => Just(Form::Result),
        1 => Just(Form::Data),
    ]
}

fn asked() -> impl Strategy<Value = Asked> {
    let joint = prop_oneof![
        8 => Just(" "),
        2 => Just(" OR "),
        2 => Just(" NOT "),
        2 => Just("* "),
        1 => Just(" AND "),
        1 => Just(" ("),
        1 => Just(") "),
        1 => Just(""),
        1 => Just(" NOT ("),
    ];
    prop::collection::vec((cut(), joint), 1..4).prop_map(|terms| Asked { terms })
}

fn cut() -> impl Strategy<Value = Cut> {
    let length = prop_oneof![6 => 1..4_usize, 6 => 2..9_usize, 1 => 10..80_usize];
    let change = prop_oneof![
        6 => Just(Change::Nothing),
        1 => Just(Change::Upper),
        1 => Just(Change::Lower),
        2 => Just(Change::Folded),
        1 => Just(Change::Foreign),
    ];
    (any::<prop::sample::Index>(), any::<prop::sample::Index>(), length, change, prop::bool::weighted(0.4))
        .prop_map(|(message, start, length, change, is_quoted)| Cut { message, start, length, change, is_quoted })
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for said in &self.said {
            writeln!(f, "  {} {:?} {:?}", said.place, said.form, said.text)?;
        }
        self.questions().iter().try_for_each(|question| writeln!(f, "  asked {question:?}"))
    }
}
