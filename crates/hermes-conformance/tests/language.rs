//! Keeps the worst patterns of wording out of doc comments and of texts that users read. CONTRIBUTING.md, "Language".

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

use std::path::{Path, PathBuf};

/// Starts of doc comments that stand for a noun nobody can look up, each with a better start.
const DOC_STARTS: [(&str, &str); 5] = [
    ("What ", "name the thing (\"The …\"), or start with a verb (\"Returns …\")"),
    ("Who ", "name the subject (\"A caller that …\")"),
    ("Whoever ", "name the subject (\"A caller that …\")"),
    ("So long", "name the duration (\"Timeout of …\", \"Maximum wait for …\")"),
    ("The same,", "name what is the same (\"As [`x`], but …\")"),
];

/// Words to avoid in texts that users read, each with a better word.
const WORDS: [(&str, &str); 7] = [
    ("nobody", "name the program or the user (\"no other process\")"),
    ("somebody", "name the program or the user (\"another process\")"),
    ("whoever", "name the program or the user (\"the next command that …\")"),
    ("mend", "fix, repair"),
    ("mends", "fixes, repairs"),
    ("anew", "again; of derived data: rebuild, recompute"),
    ("tells what", "shows, reports, lists"),
];

/// "X is no Y": write "X is not a Y". The exceptions are plain English.
const IS_NO: [&str; 2] = ["is no", "are no"];
const AFTER_IS_NO: [&str; 3] = ["longer", "more", "other"];

/// Places where a pattern is allowed, each with the reason.
const ALLOWED: [(&str, &str, &str); 3] = [
    ("crates/hermes-session/src/search/relax/stop_words.rs", "somebody", "a list of words, not a text"),
    ("crates/hermes-mcp/src/server.rs", "somebody", "a person, in the instructions to a model"),
    ("crates/hermes-mcp/src/tools.rs", "somebody", "a person, in the description of a tool"),
];

/// Crates whose texts only developers read.
const INTERNAL: [&str; 2] = ["crates/hermes-conformance/", "crates/hermes-bench/"];

/// A piece of a source file, with the number of its first line.
#[derive(Debug, PartialEq)]
enum Piece {
    /// The text of a doc comment of one line.
    Doc(usize, String),
    /// The content of a string literal.
    Text(usize, String),
}

/// Splits a source file into its doc comments and string literals. Other comments and code are left out.
fn pieces(source: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < source.len() {
        let rest = &source[at..];
        let length = if rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            let comment = &rest[..length];
            let doc = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"));
            pieces.extend(doc.map(|doc| Piece::Doc(line, doc.trim().to_owned())));
            length
        } else if let Some((length, text)) = literal(rest) {
            pieces.push(Piece::Text(line, text.to_owned()));
            length
        } else if let Some(quote) = rest.strip_prefix('\'') {
            // A character such as '"', not a lifetime.
            let escape = usize::from(quote.starts_with('\\'));
            let end = quote.char_indices().nth(1 + escape).filter(|(_, character)| *character == '\'');
            end.map_or(1, |(end, _)| end + 2)
        } else {
            rest.chars().next().unwrap().len_utf8()
        };
        line += rest[..length].matches('\n').count();
        at += length;
    }
    pieces
}

/// Returns the length and the content of the string literal that a text begins with.
fn literal(rest: &str) -> Option<(usize, &str)> {
    if let Some(raw) = rest.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let content = raw[hashes..].strip_prefix('"')?;
        let end = content.find(&format!("\"{}", "#".repeat(hashes)))?;
        return Some((1 + hashes + 1 + end + 1 + hashes, &content[..end]));
    }
    let content = rest.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = content.find(|character| {
        let is_end = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    })?;
    Some((end + 2, &content[..end]))
}

/// Returns the patterns that a text for users contains, each with the better word.
fn found(text: &str) -> Vec<(&'static str, &'static str)> {
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphabetic() && character != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let joined = format!(" {} ", words.join(" "));
    let mut found: Vec<_> = WORDS.into_iter().filter(|(pattern, _)| joined.contains(&format!(" {pattern} "))).collect();
    for pattern in IS_NO {
        let (verb, no) = pattern.split_once(' ').unwrap();
        let is_bad = |(at, pair): (usize, &[String])| {
            let is_there = at > 0 && words[at - 1] == "there";
            let is_fine = words.get(at + 2).is_none_or(|next| AFTER_IS_NO.contains(&next.as_str()));
            pair[0] == verb && pair[1] == no && !is_there && !is_fine
        };
        if words.windows(2).enumerate().any(is_bad) {
            found.push((pattern, "\"is not a …\", \"are not …\""));
        }
    }
    found
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the paths of all Rust sources, from the root of the workspace, in order.
fn sources() -> Vec<String> {
    let (root, mut files, mut folders) = (workspace(), Vec::new(), vec![workspace().join("crates")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files.sort_unstable();
    files
}

/// Returns the part of a file that is shipped: without unit tests.
fn shipped<'a>(path: &str, source: &'a str) -> &'a str {
    let is_internal = INTERNAL.iter().any(|internal| path.starts_with(internal));
    if is_internal || path.contains("/tests/") || path.contains("/examples/") || path.ends_with("/tests.rs") {
        return "";
    }
    source.split("#[cfg(test)]\nmod tests {").next().unwrap()
}

/// Returns whether doc comments of a file are the help of a command: `args.rs`, and the file of each command.
fn is_help(path: &str) -> bool {
    let command = path.strip_prefix("crates/hermes-cli/src/commands/");
    path == "crates/hermes-cli/src/args.rs" || command.is_some_and(|command| !command.contains('/'))
}

#[test]
fn doc_comments_and_texts_use_plain_words() {
    let mut wrong = Vec::new();
    let files = sources();
    assert!(files.len() > 300, "the sources were found");
    for path in files {
        let source = std::fs::read_to_string(workspace().join(&path)).unwrap();
        let shipped_lines = shipped(&path, &source).lines().count();
        for piece in pieces(&source) {
            let (line, text, is_doc) = match &piece {
                Piece::Doc(line, text) => (*line, text, true),
                Piece::Text(line, text) => (*line, text, false),
            };
            if is_doc {
                let starts = DOC_STARTS.iter().filter(|(start, _)| text.starts_with(start));
                wrong.extend(starts.map(|(start, better)| format!("{path}:{line}: \"{start}…\": {better}")));
            }
            if line <= shipped_lines && (!is_doc || is_help(&path)) {
                let is_allowed =
                    |pattern: &str| ALLOWED.iter().any(|(file, allowed, _)| *file == path && *allowed == pattern);
                let bad = found(text).into_iter().filter(|(pattern, _)| !is_allowed(pattern));
                wrong.extend(bad.map(|(pattern, better)| format!("{path}:{line}: \"{pattern}\": {better}: {text}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} places to reword:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn patterns_are_found_as_they_are_meant() {
    for bad in ["foo is no time", "{} is no setting", "Nobody is here", "made\n  anew", "the tags are no list"] {
        assert_eq!(found(bad).len(), 1, "{bad}");
    }
    for good in ["there is no session", "is no longer there", "amend", "renewed", "tells", "the answer is no"] {
        assert_eq!(found(good), [], "{good}");
    }
    let source = "/// What \"a\"\nfn f<'a>() { g('\"', \"x \\\" y\", r#\"z \" // w\"#) } // \"no\"\n//! Who";
    let (doc, text) = (|line, text: &str| Piece::Doc(line, text.into()), |text: &str| Piece::Text(2, text.into()));
    assert_eq!(pieces(source), [doc(1, "What \"a\""), text("x \\\" y"), text("z \" // w"), doc(3, "Who")]);
}
