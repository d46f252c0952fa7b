//! The name that this program was called by: `hermes-sessions`, `hermes`, or the name of a link to it.
//!
//! Texts in the sources name commands as `hermes sessions list`. [`called`] puts the name of the program into a text
//! before it is printed, so that a person can run the command as it stands.

use hermes_config::{Environment, env};
use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

/// The name of the program in the texts of the sources.
pub(crate) const IN_SOURCES: &str = "hermes";

/// First words of a command after the name of the program. A test compares them with the command line.
const FIRST_WORDS: [&str; 14] = [
    "browse",
    "completions",
    "config",
    "demo",
    "doctor",
    "help",
    "insights",
    "list",
    "man",
    "mcp",
    "search",
    "sessiondb",
    "sessions",
    "show",
];

static NAME: OnceLock<String> = OnceLock::new();

/// Sets the name of this process, once: `HERMES_CALLED_AS`, else the file name of its first argument, else `binary`.
pub(crate) fn set_name(environment: &Environment, binary: &str) {
    let first = std::env::args_os().next();
    let file = first.as_deref().and_then(|path| Path::new(path).file_name()?.to_str());
    let passed_on = environment.text(env::HERMES_CALLED_AS).ok().flatten();
    let name = [passed_on, file].into_iter().flatten().find(|name| is_plain(name)).unwrap_or(binary);
    NAME.get_or_init(|| name.strip_suffix(".exe").unwrap_or(name).to_owned());
}

/// Returns whether a name can be printed as the first word of a command as it is.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 64 && name.bytes().all(is_plain)
}

/// Returns the name that this program was called by.
pub(crate) fn name() -> &'static str {
    NAME.get().map_or(IN_SOURCES, String::as_str)
}

/// Returns a text in which commands start with the name of this program.
pub(crate) fn called(text: &str) -> Cow<'_, str> {
    renamed(text, name())
}

/// Replaces the first word of each command. Quoted parts are left as they are: they were typed or stored by a person.
fn renamed<'t>(text: &'t str, name: &str) -> Cow<'t, str> {
    if name == IN_SOURCES {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut quote = None;
    let mut before = None;
    while let Some(char) = rest.chars().next() {
        let is_start =
            before.is_none_or(|before: char| !before.is_alphanumeric() && !matches!(before, '-' | '_' | '/'));
        match quote {
            Some(open) if char == open => quote = None,
            // A command in `"$(…)"` is not a quoted text.
            None if is_start
                && matches!(char, '\'' | '"')
                && !rest[1..].starts_with('$')
                && rest[1..].contains(char) =>
            {
                quote = Some(char);
            }
            None if is_start && is_command(rest) => {
                out.push_str(name);
                rest = &rest[IN_SOURCES.len()..];
                before = Some('s');
                continue;
            }
            _ => {}
        }
        out.push(char);
        rest = &rest[char.len_utf8()..];
        before = Some(char);
    }
    out.into()
}

/// Returns whether a text starts with the name of the program and a word that can follow it.
fn is_command(text: &str) -> bool {
    let Some(word) = text.strip_prefix(IN_SOURCES).and_then(|rest| rest.strip_prefix(' ')) else { return false };
    let end = word.find(|char: char| !char.is_ascii_lowercase()).unwrap_or(word.len());
    word.starts_with("--") || FIRST_WORDS.contains(&&word[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_start_with_the_name_of_the_program() {
        for (text, expect) in [
            ("run `hermes sessions list` first", "run `hs sessions list` first"),
            ("hermes doctor --fix", "hs doctor --fix"),
            ("eval \"$(hermes completions bash)\"", "eval \"$(hs completions bash)\""),
            ("gunzip -c FILE | hermes sessions import -", "gunzip -c FILE | hs sessions import -"),
            ("what hermes added; hermes's own tables", "what hermes added; hermes's own tables"),
            ("/usr/bin/hermes sessions list", "/usr/bin/hermes sessions list"),
            ("hermes sessions rename x 'use hermes sessions'", "hs sessions rename x 'use hermes sessions'"),
            ("it can't: hermes --home x sessions, don't", "it can't: hs --home x sessions, don't"),
            ("hermes sessionsx", "hermes sessionsx"),
            ("“会話” hermes config show", "“会話” hs config show"),
        ] {
            assert_eq!(renamed(text, "hs"), expect);
            assert_eq!(renamed(text, IN_SOURCES), text);
        }
    }

    #[test]
    fn every_command_of_the_command_line_is_known() {
        let command = crate::args::command();
        for word in command.get_subcommands().map(clap::Command::get_name).filter(|name| !name.starts_with("__")) {
            assert!(FIRST_WORDS.contains(&word), "{word} is not in FIRST_WORDS");
        }
    }

    #[test]
    fn only_plain_words_are_names() {
        for (name, expect) in
            [("hermes-sessions", true), ("hs2.exe", true), ("", false), ("a b", false), ("$(x)", false)]
        {
            assert_eq!(is_plain(name), expect, "{name}");
        }
    }
}
