//! The same queries to three stores with the same messages: each finds what the matcher finds in the texts.

use hermes_conformance::servers::{Mariadb, Postgres, is_skipped};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::search::matching::Matcher;
use hermes_session::search::{Query, SearchRequest};
use hermes_session::{
    MessageId, NewMessage, NewSession, PageRequest, Request, Role, SessionId, Source, Store, Timestamp,
};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const MESSAGES: usize = 240;
const QUESTIONS: usize = 600;

/// Pieces of messages: words, scripts with and without blanks, signs, paths, and texts too long for a word.
const PIECES: [&str; 40] = [
    "the",
    "of",
    "a",
    "to",
    "is",
    "I",
    "session",
    "sessions",
    "Docker",
    "weekly",
    "café",
    "Ärger",
    "größer",
    "naïve",
    "сессия",
    "сообщение",
    "λόγος",
    "大别山",
    "使用数据库",
    "連接池",
    "データベース",
    "ひらがな",
    "데이터베이스",
    "ภาษาไทย",
    "🚀",
    "⚠️",
    "C++",
    "f(x) => y",
    "src/main.rs",
    "a@b.example",
    "v1.2.3",
    "don't",
    "error: 404",
    "50%",
    "x_y",
    "--force",
    "\\d+",
    "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetzesentwurf",
    "достопримечательностями",
    "{\"key\": [1, 2]}",
];

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn text(&mut self, number: usize) -> String {
        let mut text = format!("no{number}");
        for _ in 0..self.below(14) {
            text.push_str(["", " ", " ", " ", ", ", "\n"][self.below(6)]);
            text.push_str(PIECES[self.below(PIECES.len())]);
        }
        if number % 40 == 7 {
            text += &format!(" {}", format!("iVBORw0KGgo{number}/").repeat(24));
        }
        text
    }

    /// Returns a random piece of a text.
    fn cut(&mut self, text: &str, most: usize) -> String {
        let characters: Vec<char> = text.chars().collect();
        let start = self.below(characters.len());
        let end = (start + 1 + self.below(most)).min(characters.len());
        characters[start..end].iter().filter(|character| **character != '"').collect()
    }

    fn question(&mut self, texts: &[String]) -> String {
        let text = texts[self.below(texts.len())].clone();
        let words: Vec<&str> = text.split_whitespace().collect();
        let word = words[self.below(words.len())].replace(['"', '(', ')'], "");
        let other = PIECES[self.below(PIECES.len())];
        match self.below(12) {
            0 => word,
            1 => format!("{word} {other}"),
            2 => format!("{word} OR \"{}\"", other.replace('"', "")),
            3 => format!("{word} NOT {other}"),
            4 => format!("\"{}\"", self.cut(&text, 30)),
            5 => format!("\"{}\"", self.cut(&text, 6)),
            6 => format!("{}*", word.chars().take(1 + self.below(6)).collect::<String>()),
            7 => self.cut(&text, 2),
            8 => self.cut(&text, 4),
            9 => format!("({word} OR {other}) {}", self.cut(&text, 3)),
            10 => format!("\"\" NOT {other}"),
            _ => other.to_owned(),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_stores_find_the_same() {
    if is_skipped("mysql") || is_skipped("postgres") {
        return;
    }
    let (mariadb, postgres, folder) = (Mariadb::start(&[]), Postgres::start(&[]), tempfile::tempdir().unwrap());
    let mysql = MysqlStore::open(&mariadb.url(), &MysqlOptions::default()).await.unwrap();
    let postgres_store = PostgresStore::open(&postgres.url(), &PostgresOptions::default()).await.unwrap();
    let sqlite = SqliteStore::open(&folder.path().join("state.db"), &SqliteOptions::default()).unwrap();
    let stores: [(&str, Arc<dyn Store>); 3] =
        [("mysql", Arc::new(mysql)), ("postgres", Arc::new(postgres_store)), ("sqlite", Arc::new(sqlite))];
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let texts: Vec<String> = (0..MESSAGES).map(|number| dice.text(number)).collect();
    let id = SessionId::parse("s".to_owned()).unwrap();
    let request = Request::at(Timestamp::from_seconds(1_700_000_000.0).unwrap());
    let said: Vec<NewMessage> = texts.iter().map(|text| NewMessage::new(Role::User, text.as_str())).collect();
    let mut ids: Vec<Vec<MessageId>> = Vec::new();
    for (_, store) in &stores {
        let session = NewSession::new(id.clone(), Source::parse("cli".to_owned()).unwrap());
        store.create(&session, &request).await.unwrap();
        ids.push(store.append(&id, &said, &request).await.unwrap());
    }
    let mut asked = BTreeSet::new();
    let mut hits = 0;
    while asked.len() < QUESTIONS {
        let question = dice.question(&texts);
        if !asked.insert(question.clone()) {
            continue;
        }
        let query = Query::parse(&question);
        let matcher = Matcher::new(&query);
        let expect: Vec<usize> = (0..MESSAGES).filter(|place| matcher.tier(&texts[*place]).is_some()).collect();
        hits += expect.len();
        for ((name, store), ids) in stores.iter().zip(&ids) {
            let request = SearchRequest {
                relax: false,
                timeout: Duration::from_secs(60),
                page: PageRequest::first(MESSAGES as u32),
                ..SearchRequest::new(query.clone())
            };
            let answer = store.search(&request).await.unwrap();
            assert!(!answer.served.is_partial, "{name}: {question}");
            let mut found: Vec<usize> =
                answer.hits.iter().map(|hit| ids.iter().position(|id| *id == hit.message).unwrap()).collect();
            found.sort_unstable();
            assert_eq!(found, expect, "{name}: {question}");
        }
    }
    assert!(hits > QUESTIONS * 10, "most questions have answers: {hits}");
}
