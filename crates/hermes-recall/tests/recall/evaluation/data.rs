//! The conversations and the questions about them.

use hermes_session::{MessageBody, NewMessage, Role, Timestamp};

const FILES: [&str; 2] = [include_str!("../data/english.txt"), include_str!("../data/others.txt")];

/// Tool results between the messages; no question is about them.
const REPORTS: [&str; 6] = [
    "step {n}: compiled 214 units, 0 warnings, cache hit rate 0.93, artefacts unchanged since the run before",
    "GET /health 200 {n} ms; GET /metrics 200 {n} ms; worker pool idle, queue empty, nothing to collect",
    "lint: 0 problems in {n} files; formatter: nothing to do; types: no issue found in the modules that changed",
    "synchronised {n} entries of the calendar, none in conflict; contacts unchanged; mail: nothing new",
    "weather: dry, light wind from the west, {n} percent clouds; tides and moon are of no interest here",
    "disk usage {n} percent, inodes fine, temperature normal, no pending updates, uptime as it was",
];
/// Number of tool results between two messages.
const BETWEEN: usize = 8;

pub(super) struct Said {
    role: Role,
    tool: Option<String>,
    pub(super) text: String,
}

impl Said {
    pub(super) fn message(&self, at: Timestamp) -> NewMessage {
        let body =
            MessageBody { tool_name: self.tool.clone(), ..MessageBody::new(self.role.clone(), self.text.as_str()) };
        NewMessage::from(body).said_at(at)
    }

    pub(super) fn role(&self) -> &str {
        self.role.as_str()
    }

    pub(super) fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }
}

pub(super) struct Conversation {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) started: f64,
    pub(super) messages: Vec<Said>,
    pub(super) questions: Vec<Question>,
}

pub(super) struct Question {
    pub(super) about: String,
    pub(super) language: String,
    pub(super) text: String,
    pub(super) evidence: String,
}

pub(super) fn conversations() -> Vec<Conversation> {
    let mut all: Vec<Conversation> = Vec::new();
    let (mut language, mut report) = (String::new(), 0);
    for line in FILES.iter().flat_map(|file| file.lines()) {
        let (kind, rest) = line.split_at(1);
        let fields: Vec<&str> = rest.split(" | ").map(str::trim).collect();
        match (kind, fields.as_slice()) {
            ("#", [id, title, tongue, day]) => {
                let day: jiff::civil::Date = day.parse().unwrap();
                let started =
                    day.at(9, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp().as_second() as f64;
                language = (*tongue).to_owned();
                let (id, title) = ((*id).to_owned(), (*title).to_owned());
                all.push(Conversation { id, title, started, messages: Vec::new(), questions: Vec::new() });
            }
            ("?", [about, text, evidence]) => all.last_mut().unwrap().questions.push(Question {
                about: (*about).to_owned(),
                language: language.clone(),
                text: (*text).to_owned(),
                evidence: (*evidence).to_owned(),
            }),
            ("U" | "A" | "T", _) => {
                let messages = &mut all.last_mut().unwrap().messages;
                let (head, text) = rest.split_once(": ").unwrap();
                let role = match kind {
                    "U" => Role::User,
                    "A" => Role::Assistant,
                    _ => Role::Tool,
                };
                let tool = (kind == "T").then(|| head.trim_start_matches(':').to_owned());
                messages.push(Said { role, tool, text: text.replace("\\n", "\n") });
                for _ in 0..BETWEEN {
                    report += 1;
                    let text = REPORTS[report % REPORTS.len()].replace("{n}", &(report * 37 % 1_000).to_string());
                    messages.push(Said { role: Role::Tool, tool: Some("report".into()), text });
                }
            }
            other => panic!("{other:?}"),
        }
    }
    for conversation in &all {
        for question in &conversation.questions {
            let has = conversation.messages.iter().any(|message| message.text.contains(&question.evidence));
            assert!(has, "{}: {} is nowhere", conversation.id, question.evidence);
        }
    }
    all
}
