//! Words of SQL, and SQL in Rust files.

/// Words that distinguish a literal with SQL from one with English, in capitals as in all our SQL.
const VERBS: [&str; 14] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "WHERE", "FROM", "JOIN", "ORDER", "VALUES",
    "SET", "LIMIT",
];

/// Returns the literals of a Rust file that are SQL, or a part of it. Comments, names and English are left out.
pub(crate) fn sql_of_rust(text: &str) -> Vec<String> {
    let is_sql = |literal: &String| {
        let is_loud = |word: &String| word.len() > 1 && !word.chars().any(char::is_lowercase);
        words_as_written(literal).iter().any(|word| VERBS.contains(&word.as_str()) || is_loud(word) && is_word(word))
    };
    literals(text).into_iter().filter(is_sql).collect()
}

/// Returns a file of SQL without its comments.
pub(crate) fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("--").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the words of a statement in capitals. Signs are words of one letter, quoted texts and names are `'`, and
/// format arguments are `{}`.
pub(crate) fn words(sql: &str) -> Vec<String> {
    words_as_written(sql).iter().map(|word| word.to_uppercase()).collect()
}

fn is_word(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
}

fn words_as_written(sql: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = sql.chars().peekable();
    while let Some(first) = rest.next() {
        match first {
            _ if first.is_whitespace() => {}
            '\'' | '`' | '"' => {
                while rest.next().is_some_and(|next| next != first) {}
                words.push("'".to_owned());
            }
            '{' => {
                while rest.next().is_some_and(|next| next != '}') {}
                words.push("{}".to_owned());
            }
            _ if first.is_alphanumeric() || "_@".contains(first) => {
                let mut word = String::from(first);
                while let Some(next) = rest.next_if(|next| next.is_alphanumeric() || "_@".contains(*next)) {
                    word.push(next);
                }
                words.push(word);
            }
            sign => words.push(sign.to_string()),
        }
    }
    words
}

/// Returns every string literal of a Rust file, as the program sees it, except for escapes of single letters.
fn literals(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let at = |place: usize| letters.get(place).copied().unwrap_or('\0');
    let (mut found, mut place) = (Vec::new(), 0);
    while place < letters.len() {
        match (at(place), at(place + 1)) {
            ('/', '/') => place = end_of(&letters, place, "\n"),
            ('/', '*') => place = end_of(&letters, place, "*/"),
            // A character literal; otherwise a lifetime.
            ('\'', '\\') => place = end_of(&letters, place + 3, "'"),
            ('\'', _) if at(place + 2) == '\'' => place += 3,
            ('r', '"' | '#') if !is_within_a_name(at(place.wrapping_sub(1))) => {
                let hashes = letters[place + 1..].iter().take_while(|letter| **letter == '#').count();
                let start = place + 2 + hashes;
                if at(start - 1) == '"' {
                    let close = format!("\"{}", "#".repeat(hashes));
                    let end = end_of(&letters, start, &close);
                    found.push(letters[start..end - close.len()].iter().collect());
                    place = end;
                } else {
                    place += 1;
                }
            }
            ('"', _) => {
                let mut literal = String::new();
                place += 1;
                while place < letters.len() && at(place) != '"' {
                    match (at(place), at(place + 1)) {
                        ('\\', '\n') => {
                            place += 1;
                            while at(place).is_whitespace() {
                                place += 1;
                            }
                        }
                        ('\\', escaped) => {
                            literal.push(if escaped == 'n' { '\n' } else { escaped });
                            place += 2;
                        }
                        (plain, _) => {
                            literal.push(plain);
                            place += 1;
                        }
                    }
                }
                place += 1;
                found.push(literal);
            }
            _ => place += 1,
        }
    }
    found
}

fn is_within_a_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the position after the next `close`.
fn end_of(letters: &[char], from: usize, close: &str) -> usize {
    let close: Vec<char> = close.chars().collect();
    let found = letters.get(from..).into_iter().flat_map(|rest| rest.windows(close.len())).position(|at| at == close);
    found.map_or(letters.len(), |found| from + found + close.len())
}

#[test]
fn sql_is_found_in_rust() {
    let text = r##"
        //! RETURNING in a comment /* "SELECT 1"
        /* "SELECT 2" */
        fn f<'a>(letter: char) -> &'a str { if letter == '"' || letter == '\'' { "SELECT 3 \
            FROM t" } else { r#"DELETE "x""# } }
        const SAID: &str = "it is returning"; const PIECE: &str = " LEFT JOIN {x} ON 'a \"b' = `c`";
    "##;
    assert_eq!(sql_of_rust(text), ["SELECT 3 FROM t", "DELETE \"x\"", " LEFT JOIN {x} ON 'a \"b' = `c`"]);
    assert_eq!(
        words(" left JOIN {x} ON 'a \"b' = `c`.d_1(?)"),
        ["LEFT", "JOIN", "{}", "ON", "'", "=", "'", ".", "D_1", "(", "?", ")"]
    );
    assert_eq!(without_comments("a -- b\nc"), "a \nc");
}
