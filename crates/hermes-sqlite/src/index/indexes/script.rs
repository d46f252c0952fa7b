//! Characters that need the trigram index: those of scripts without spaces, as the agent defines them.

/// The agent's ranges. A query with such a character uses the trigram index.
const RANGES: [(char, char); 7] = [
    ('\u{3000}', '\u{303f}'),
    ('\u{3040}', '\u{309f}'),
    ('\u{30a0}', '\u{30ff}'),
    ('\u{3400}', '\u{4dbf}'),
    ('\u{4e00}', '\u{9fff}'),
    ('\u{ac00}', '\u{d7af}'),
    ('\u{20000}', '\u{2a6df}'),
];

/// Returns whether a text has a character in [`RANGES`].
pub(super) fn needs_trigrams(text: &str) -> bool {
    // The UTF-8 form of each starts with a byte from 0xe3 on, and most texts have no such byte.
    text.bytes().any(|byte| byte >= 0xe3)
        && text.chars().any(|character| RANGES.iter().any(|(from, to)| (*from..=*to).contains(&character)))
}

/// Returns a GLOB pattern for texts with a character in [`RANGES`].
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
