use super::*;
use crate::lexemes::tests::{Plain, read};
use crate::lexemes::{Form, Indexed};
use hermes_session::search::matching::Matcher;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeMap;

fn term(text: &str, is_prefix: bool) -> Term {
    Term { text: text.to_owned(), is_prefix }
}

/// Prints a condition in short form: `w` for a word, `w*` for a prefix, `*w` for a suffix, `*w*` for a piece.
fn shown(ask: &Ask) -> String {
    let list = |asks: &[Ask], joint: &str| asks.iter().map(shown).collect::<Vec<_>>().join(joint);
    match ask {
        Ask::Unknown => "?".into(),
        Ask::All(parts) => format!("({})", list(parts, " & ")),
        Ask::Any(parts) => format!("({})", list(parts, " | ")),
        Ask::Row(parts) => format!("<{}>", list(parts, " ")),
        Ask::Word(word) => word.clone(),
        Ask::Prefix(word) => format!("{word}*"),
        Ask::Ending(word) => format!("*{word}"),
        Ask::Piece(word) => format!("*{word}*"),
        Ask::Pair(pair) => format!("[{pair}]"),
        Ask::Character(character) => format!("[{character}*]"),
        Ask::Sign(sign) => format!("[{sign}]"),
    }
}

#[track_caller]
fn check(query: &str, words: &str, pieces: &str) {
    let query = Query::parse(query);
    let asks = [Tier::Words, Tier::Pieces].map(|tier| shown(&Ask::of_query(&query, tier)));
    assert_eq!(asks, [words, pieces], "{query:?}");
}

#[test]
fn one_word() {
    check("Disk", "disk", "*disk*");
    check("disk*", "disk*", "*disk*");
    check("disk.", "disk", "*disk");
    check(".disk", "disk", "disk*");
    check(".disk*", "disk*", "disk*");
    check("C++", "(c & [+])", "(*c & [+])");
}

#[test]
fn several_words() {
    check("src/main.rs", "<src main rs>", "<*src main rs*>");
    check("src/main.rs.", "<src main rs>", "<*src main rs>");
    check("it's", "<it s>", "*it");
    check("\"out of memory\"", "<out of memory>", "<*out of memory*>");
    check("\"out of mem\"*", "<out of mem*>", "<*out of mem*>");
    check("\"(not found)\"", "<not found>", "<not found>");
    check("\"not found)\"", "<not found>", "<*not found>");
    check("a.implementation", "<a implementation>", "<*a implementation*>");
    check("implementation.a", "<implementation a>", "*implementation");
}

#[test]
fn scripts_without_blanks() {
    check("大别山", "([大别] & [别山])", "([大别] & [别山])");
    check("大", "[大*]", "[大*]");
    check("n3编", "([n3] & [3编] & n3)", "([n3] & [3编])");
    check("\"ok, 大别 done, b\"", "([大别] & <ok done b>)", "([大别] & done)");
    check("ж大", "([大*] & ж)", "[大*]");
}

#[test]
fn signs() {
    check("🚀", "[🚀]", "[🚀]");
    check("\"->\"", "([>] & [-])", "([>] & [-])");
    check("\u{301}", "?", "?");
}

#[test]
fn trees() {
    check("a NOT b", "a", "*a*");
    check("NOT b", "(not & b)", "(*not* & *b*)");
    check("a OR NOT b", "?", "?");
    check("(aa OR bbb) c", "((aa | bbb) & c)", "(*c* & (*aa* | *bbb*))");
    check("a bbb cc", "(a & bbb & cc)", "(*bbb* & *cc* & *a*)");
}

#[test]
fn long_questions_are_asked_in_part() {
    let long = |count: usize, joint: &str| (0..count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(joint);
    let count = |text: &str| shown(&Ask::of_query(&Query::parse(text), Tier::Words)).split(['&', '|', ' ']).count();
    assert!(count(&format!("\"{}\"", long(1_000, " "))) <= 40);
    assert!(count(&long(1_000, " ")) <= 100);
    let any = |count| Ask::of_query(&Query::parse(&long(count, " OR ")), Tier::Words);
    assert!(any(MAX_CHOICES + 1) == Ask::Unknown && any(MAX_CHOICES) != Ask::Unknown);
    let run: String = ('一'..='鿿').collect();
    assert!(count(&run) <= 80);
}

/// A message as it is listed in an index.
pub(crate) struct Listed {
    lexemes: BTreeMap<String, Vec<usize>>,
    form: Form,
}

impl Listed {
    pub(crate) fn new(indexed: &Indexed) -> Self {
        Self { lexemes: read(indexed.words.as_deref().unwrap()), form: indexed.form }
    }

    pub(crate) fn holds(&self, wanted: &Wanted) -> bool {
        match wanted {
            Wanted::All(parts) => parts.iter().all(|part| self.holds(part)),
            Wanted::Any(parts) => parts.iter().any(|part| self.holds(part)),
            Wanted::Row(parts) if self.form == Form::Words => parts.iter().all(|part| self.holds(part)),
            Wanted::Row(parts) => {
                let rows: Vec<Vec<usize>> = parts.iter().map(|part| self.places(part)).collect();
                rows[0].iter().any(|first| rows.iter().enumerate().all(|(n, places)| places.contains(&(first + n))))
            }
            Wanted::Lexeme(lexeme) => self.lexemes.contains_key(lexeme),
            Wanted::Beginning(beginning) => self.lexemes.keys().any(|lexeme| lexeme.starts_with(beginning)),
        }
    }

    fn places(&self, wanted: &Wanted) -> Vec<usize> {
        let of = |admits: &dyn Fn(&str) -> bool| {
            self.lexemes.iter().filter(|(lexeme, _)| admits(lexeme)).flat_map(|(_, places)| places.clone()).collect()
        };
        match wanted {
            Wanted::Lexeme(wanted) => of(&|lexeme| lexeme == wanted),
            Wanted::Beginning(wanted) => of(&|lexeme| lexeme.starts_with(wanted)),
            Wanted::Any(parts) => parts.iter().flat_map(|part| self.places(part)).collect(),
            other => panic!("{other:?} in a row"),
        }
    }
}

/// Asserts that if a term matches a text, its condition holds for the lexemes of the text.
#[track_caller]
fn is_asked_for(text: &str, term: &Term) {
    let indexed = Indexed::of_text::<Plain>(text);
    let listed = Listed::new(&indexed);
    let node = Node::Term(term.clone());
    let Some(best) = Matcher::of(&node).tier(text) else { return };
    let terms = |ask: &Ask| {
        let admits = |term: &&String| match ask {
            Ask::Ending(end) => term.ends_with(end),
            Ask::Piece(piece) => term.contains(piece),
            other => panic!("{other:?} is looked up"),
        };
        Some(indexed.terms.iter().filter(admits).cloned().collect())
    };
    for tier in [Tier::Words, Tier::Pieces].into_iter().filter(|tier| *tier >= best) {
        let ask = Ask::of_node(&node, tier);
        if let Some(wanted) = ask.wanted(&terms) {
            assert!(listed.holds(&wanted), "{term:?} in {text:?} ({tier:?}): {wanted:?} of {:?}", listed.lexemes);
            assert!(listed.holds(&wanted.without_rows()), "{term:?} in {text:?}");
        }
    }
}

#[test]
fn what_a_person_sees_is_asked_for() {
    let long = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft";
    let data = (0..40).map(|n| format!("iVBORw0KGg{n:02}/")).collect::<String>();
    let text = format!("看 {long}! 使用python3编写ж字 f(x) {data} end.");
    for piece in [
        "",
        "Donau",
        "betriebs",
        "schaft! 使",
        "t! 使用p",
        "n3编",
        "写ж",
        "f(x) iVBOR",
        "KGg38/iVBORw0KGg39/",
        "Gg39/ e",
        "/ end.",
        ".",
        "(x)",
        long,
        "iVBORw0KGg17",
        "g17/iVB",
    ] {
        for is_prefix in [false, true] {
            assert!(text.contains(piece));
            is_asked_for(&text, &term(piece, is_prefix));
        }
    }
}

const PIECES: &[&str] = &[
    "foo",
    "Bar",
    "fooBar",
    "a",
    "i",
    "x1",
    "v1.2.3",
    "404",
    "nword",
    "İI",
    "k\u{212a}",
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "-",
    "_",
    ".",
    "/",
    "'",
    "’",
    "\\",
    "\"",
    "+",
    "—",
    "\0",
    "\u{ad}",
    "\u{200d}",
    "%",
    "é",
    "e\u{301}",
    "ß",
    "ø",
    "ệ",
    "ﬁ",
    "Ａ",
    "Σ",
    "ς",
    "ǆ",
    "o\u{308}\u{304}",
    "й",
    "и\u{306}",
    "а\u{301}",
    "Ж",
    "שׁ",
    "ع",
    "α\u{345}",
    "大",
    "别",
    "山",
    "项目",
    "𠀀",
    "𠮷",
    "\u{f900}",
    "、",
    "々",
    "か",
    "が",
    "か\u{3099}",
    "ｶ",
    "ﾞ",
    "ﾊﾟ",
    "ไ",
    "ที่",
    "\u{e34}",
    "हि",
    "न्",
    "한",
    "\u{1112}\u{1161}\u{11ab}",
    "\u{11ab}",
    "ㄱ",
    "ﾡ",
    "🚀",
    "👩\u{200d}💻",
    "⚠\u{fe0f}",
    "🥰",
    "①",
    "²",
    "\u{e000}",
    "٣",
    "deadbeef",
    "\u{10ffff}",
    "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789",
    "iVBORw0KGgo/iVBORw0KGgo+iVBORw0KGgoAAAA_iVBORw0KGgoAAAA-iVBORw0KGgoAAAAiVBORw0KGgoAAAAiVBORw0KGgoAAAA=iVBORw0KGgo/iVBORw0KGgo",
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        20 => select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => ("[a-z大 ]", 1..300_usize).prop_map(|(piece, times)| piece.repeat(times)),
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn whatever_matches_is_asked_for(
        text in text(),
        cuts in prop::collection::vec((any::<Index>(), 1..40_usize, any::<bool>(), 0..4_u8), 1..8),
    ) {
        let characters: Vec<char> = text.chars().collect();
        for (start, length, is_prefix, change) in cuts {
            let start = if characters.is_empty() { 0 } else { start.index(characters.len()) };
            let piece: String = characters[start..].iter().take(length).collect();
            let piece = match change {
                0 => piece,
                1 => piece.to_uppercase(),
                2 => piece.to_lowercase(),
                _ => fold(&piece).into_owned(),
            };
            is_asked_for(&text, &term(&piece, is_prefix));
        }
    }
}
