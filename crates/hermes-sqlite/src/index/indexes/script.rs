//! Which characters need the index of trigrams: those of scripts without spaces, as the agent tells them.

/// The agent's ranges: with such a character in it, a query goes to the index of trigrams.
const RANGES: [(char, char); 7] = [
    ('\u{3000}', '\u{303f}'),
    ('\u{3040}', '\u{309f}'),
    ('\u{30a0}', '\u{30ff}'),
    ('\u{3400}', '\u{4dbf}'),
    ('\u{4e00}', '\u{9fff}'),
    ('\u{ac00}', '\u{d7af}'),
    ('\u{20000}', '\u{2a6df}'),
];

/// Whether a text has a character of [`RANGES`].
pub(super) fn needs_trigrams(text: &str) -> bool {
    // All of them begin with one of these bytes, and most texts have none of those.
    text.bytes().any(|byte| byte >= 0xe3)
        && text.chars().any(|character| RANGES.iter().any(|(from, to)| (*from..=*to).contains(&character)))
}

/// The same as a pattern for GLOB.
pub(super) fn pattern() -> String {
    let class: String = RANGES.iter().map(|(from, to)| format!("{from}-{to}")).collect();
    format!("*[{class}]*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_and_sqlite_agree_on_every_character() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let mut glob = connection.prepare("SELECT ?1 GLOB ?2").unwrap();
        let pattern = pattern();
        let edges = RANGES.iter().flat_map(|(from, to)| [*from as u32 - 1, *from as u32, *to as u32, *to as u32 + 1]);
        for code in edges.chain((1..0x3_0000).step_by(37)) {
            let Some(character) = char::from_u32(code) else { continue };
            let text = format!("a{character}b");
            let sqlite: bool = glob.query_row([&text, &pattern], |row| row.get(0)).unwrap();
            assert_eq!(needs_trigrams(&text), sqlite, "U+{code:04X}");
        }
    }
}
