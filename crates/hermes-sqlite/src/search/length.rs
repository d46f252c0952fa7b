//! The length of a message that is not indexed yet.

use hermes_session::search::fold::is_accent;
use hermes_session::search::tokens::is_word;

/// Returns how many tokens `messages_fts` makes of a text: runs of letters and digits, including combining accents.
///
/// This must equal the count in the index, so that a message keeps its rank if it is indexed between two pages.
pub(super) fn tokens(text: &str) -> u32 {
    let (mut starts, mut is_inside, mut rest) = (0_u32, false, text);
    loop {
        // Nearly all text is ASCII, for which there is no table to look at.
        let ascii = rest.bytes().position(|byte| {
            let is_word = byte.is_ascii_alphanumeric();
            starts += u32::from(is_word && !is_inside);
            if byte.is_ascii() {
                is_inside = is_word;
            }
            !byte.is_ascii()
        });
        let Some(at) = ascii else { return starts };
        let mut characters = rest[at..].chars();
        if let Some(character) = characters.next() {
            let is_word = is_word(character);
            starts += u32::from(is_word && !is_inside);
            is_inside = is_word || (is_inside && is_accent(character));
        }
        rest = characters.as_str();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_as_the_index_counts_them() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE VIRTUAL TABLE t USING fts5(x)").unwrap();
        for text in [
            "",
            " ",
            "don't",
            "大别山 项目",
            "e\u{301}t\u{e9} \u{301}x",
            "a\u{301}\u{302}b",
            "a\0b",
            "हिन्दी",
            "v1.2.3_x 🚀 🥰",
            "\u{1112}\u{1161}\u{11ab}",
            "caf\\u00e9 {\"a\": [1, 2]}",
            "ไทย\u{e34} и\u{306}од ① ²",
        ] {
            connection.execute("DELETE FROM t", []).unwrap();
            connection.execute("INSERT INTO t VALUES (?)", [text]).unwrap();
            let size: Vec<u8> = connection.query_row("SELECT sz FROM t_docsize", [], |row| row.get(0)).unwrap();
            assert_eq!(vec![tokens(text) as u8], size, "{text:?}");
        }
    }
}
