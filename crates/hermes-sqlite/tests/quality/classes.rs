//! Classes of queries, each with the meaning of its queries: terms that are literals, without case and accents.

use crate::corpus::{Form, POOLS, Said};
use hermes_session::search::fold::fold;

/// A query, and the conditions on a matching message.
pub(crate) struct Asked {
    pub(crate) text: String,
    /// The message contains one of each of these.
    wanted: Vec<Vec<String>>,
    /// The message contains none of these.
    unwanted: Vec<String>,
}

impl Asked {
    fn new(text: impl Into<String>, wanted: &[&[&str]], unwanted: &[&str]) -> Self {
        let folded = |list: &[&str]| list.iter().map(|term| fold(term).into_owned()).collect();
        Self { text: text.into(), wanted: wanted.iter().map(|any| folded(any)).collect(), unwanted: folded(unwanted) }
    }

    /// Makes a query of one term.
    fn term(text: &str) -> Self {
        Self::new(text, &[&[text]], &[])
    }

    /// Makes a query of a literal between quotes.
    fn quoted(text: &str) -> Self {
        Self::new(format!("\"{text}\""), &[&[text]], &[])
    }

    /// Makes a query of all the words of a text.
    fn words(text: &str) -> Self {
        let words: Vec<[&str; 1]> = text.split(' ').map(|word| [word]).collect();
        Self::new(text, &words.iter().map(|word| &word[..]).collect::<Vec<_>>(), &[])
    }

    /// Returns whether a folded text matches.
    pub(crate) fn means(&self, folded: &str) -> bool {
        self.wanted.iter().all(|any| any.iter().any(|term| folded.contains(term)))
            && !self.unwanted.iter().any(|term| folded.contains(term))
    }
}

/// A class of queries.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) asked: Vec<Asked>,
}

fn items(name: &str) -> &'static [&'static str] {
    POOLS.iter().find(|pool| pool.name == name).unwrap().items
}

/// Returns the characters of a text from one position to another.
fn cut(text: &str, from: usize, to: usize) -> String {
    text.chars().skip(from).take(to - from).collect()
}

fn each(name: &'static str, pool: &str, ask: impl Fn(&str) -> Asked) -> Class {
    Class { name, asked: items(pool).iter().map(|item| ask(item)).collect() }
}

fn listed(name: &'static str, asked: Vec<Asked>) -> Class {
    Class { name, asked }
}

/// Returns every class.
pub(crate) fn classes(said: &[Said]) -> Vec<Class> {
    let term = Asked::term;
    let pieces = |list: &[&str]| list.iter().copied().map(Asked::term).collect::<Vec<_>>();
    let words = |list: &[&str]| list.iter().copied().map(Asked::words).collect::<Vec<_>>();
    let quoted = |list: &[&str]| list.iter().copied().map(Asked::quoted).collect::<Vec<_>>();
    let call = said.iter().filter(|said| said.form == Form::Call).count();
    assert!(call > 100, "calls are among the messages");
    let mut classes = vec![
        each("a word", "word", term),
        each("a word in capitals", "word", |item| term(&item.to_uppercase())),
        each("two words", "word", |item| Asked::words(&format!("{item} morning"))),
        listed("three words", words(&["server the plan", "crash next week", "lemon and again"])),
        each("the beginning of a word", "word", |item| term(&cut(item, 0, 4))),
        each("the middle of a word", "word", |item| term(&cut(item, 1, 4))),
        each("the end of a word", "word", |item| term(&cut(item, 2, 9))),
        each("a prefix with a star", "word", |item| {
            Asked::new(format!("{}*", cut(item, 0, 4)), &[&[&cut(item, 0, 4)]], &[])
        }),
        each("an apostrophe", "apostrophe", term),
        each("a sign behind a word", "word", |item| Asked::new(format!("{item},"), &[&[&format!("{item},")]], &[])),
        listed("a list with commas", words(&["server, the", "budget, the", "crash, and", "lemon, it", "token, with"])),
        each("a path", "path", term),
        listed(
            "a piece of a path",
            pieces(&["main.rs", "nginx/nginx", "Users\\anna", "c/main", "search-syntax", "../lib"]),
        ),
        each("an e-mail address", "mail", term),
        listed("a piece of an address", pieces(&["@example.com", "bob.k@", "+alerts@", "example.net"])),
        each("a URL", "url", term),
        listed("a piece of a URL", pieces(&["?b=c&d", "localhost:8080", ":8080/health", "//files", ".tar.gz"])),
        each("a message of an error", "colon", Asked::words),
        each("one between quotes", "colon", Asked::quoted),
        each("C++ and its like", "plus", term),
        each("a version", "version", term),
        each("a flag of a command", "flag", Asked::words),
        each("signs and prices", "sign", Asked::words),
        each("camelCase", "camel", term),
        listed("a part of camelCase", pieces(&["HttpReq", "UserBy", "BarBaz", "http", "ById", "XMLH"])),
        each("snake_case", "snake", term),
        listed("a part of snake_case", pieces(&["case_name", "_retry_", "retry", "init__", "r_i"])),
        each("words with hyphens", "kebab", term),
        each("a digest", "hash", term),
        each("the beginning of a digest", "hash", |item| term(&cut(item, 0, 7))),
        each("the middle of a digest", "hash", |item| term(&cut(item, 3, 9))),
        each("a number", "number", term),
        listed(
            "a piece of code",
            items("code").iter().filter(|item| !item.contains('"')).map(|item| Asked::quoted(item)).collect(),
        ),
        each("Han, one character", "han", |item| term(&cut(item, 1, 2))),
        each("Han, two characters", "han", |item| term(&cut(item, 0, 2))),
        each("Han, three and more", "han", |item| term(&cut(item, 0, 5))),
        each("Han with a star", "han", |item| Asked::new(format!("{}*", cut(item, 0, 3)), &[&[&cut(item, 0, 3)]], &[])),
        listed("Han, two terms", words(&["大别 项目", "广西 server", "数据 人工", "大 的"])),
        each("Han and a short Latin word", "han", |item| Asked::words(&format!("{} at", cut(item, 0, 3)))),
        listed(
            "Han, AND, OR and NOT",
            vec![
                Asked::new("北京 AND 大学", &[&["北京"], &["大学"]], &[]),
                Asked::new("北京 NOT 大学", &[&["北京"]], &["大学"]),
                Asked::new("北京 OR 桂林", &[&["北京", "桂林"]], &[]),
            ],
        ),
        each("Latin beside Han", "mixed", term),
        listed("Latin within Han", pieces(&["python", "GPT", "Rust", "iphone15", "用Rust", "thon编"])),
        each("kana", "kana", |item| term(&cut(item, 0, 3))),
        each("kana of half width", "narrow kana", term),
        listed("kana of full width for half", pieces(&["カタカナ", "デー", "パンダ", "ンダ"])),
        each("Hangul", "hangul", |item| term(&cut(item, 0, 2))),
        listed(
            "Hangul taken apart",
            pieces(&["한국", "서울", "울", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}어"]),
        ),
        each("Thai", "thai", |item| term(&cut(item, 2, 7))),
        each("Indic scripts", "indic", Asked::words),
        each("Han of later planes", "far han", |item| term(&cut(item, 0, 2))),
        each("Cyrillic", "cyrillic", |item| Asked::words(&item.to_uppercase())),
        listed("Cyrillic taken apart", pieces(&["йогурт", "сервер", "йог", "и\u{306}од"])),
        each("Greek", "greek", |item| term(&item.to_lowercase())),
        listed("accents left out", words(&["cafe", "naive", "resume", "El Nino", "angstrom", "cooperate", "nin"])),
        each("accents as written", "accents", Asked::words),
        listed("Vietnamese without accents", words(&["tieng viet", "pho bo", "ha noi", "viet"])),
        listed("ß", pieces(&["strasse", "STRASSE", "grosse", "weiß", "traß"])),
        listed("full width", pieces(&["full", "width12", "abc", "ｆｕｌｌ"])),
        each("emoji", "emoji", term),
        each("right to left", "right to left", Asked::words),
        listed(
            "a phrase",
            quoted(&["looked at", "for next week", "this morning", "El Niño", "база данных", "rm -rf", "line one"]),
        ),
        listed(
            "one of two",
            vec![
                Asked::new("server OR violin", &[&["server", "violin"]], &[]),
                Asked::new("café OR 大别山", &[&["cafe", "大别山"]], &[]),
                Asked::new("lemon OR C++", &[&["lemon", "c++"]], &[]),
            ],
        ),
        listed(
            "one without another",
            vec![
                Asked::new("server NOT the", &[&["server"]], &["the"]),
                Asked::new("plan NOT week", &[&["plan"]], &["week"]),
                Asked::new("café NOT don't", &[&["cafe"]], &["don't"]),
            ],
        ),
        listed(
            "groups",
            vec![
                Asked::new("(server OR violin) (plan OR week)", &[&["server", "violin"], &["plan", "week"]], &[]),
                Asked::new("(lemon OR 数据) NOT (the OR of)", &[&["lemon", "数据"]], &["the", "of"]),
            ],
        ),
        listed("the name of a tool", pieces(&["browser_click", "write_note", "r_click"])),
        each("behind a NUL", "after nul", |item| term(item.split('\0').next_back().unwrap())),
        listed("a long word", pieces(&["donaudampf", "betriebswerkbau", "beamtengesellschaft"])),
        listed("a piece of Base64", pieces(&["iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAY", "SJAAAADUlEQ", "kJggg"])),
    ];
    classes.extend([
        listed("in tool calls, other scripts", {
            let mut asked = Vec::new();
            for pool in ["han", "thai", "cyrillic", "emoji", "accents"] {
                asked.extend(items(pool).iter().map(|item| Asked::words(&format!("write_note {item}"))));
            }
            asked
        }),
        listed(
            "in tool calls, behind line breaks",
            words(&["write_note server", "write_note notes", "write_note ploy"]),
        ),
    ]);
    classes
}
