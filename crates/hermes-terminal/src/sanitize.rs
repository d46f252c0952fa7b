//! Makes stored text harmless: only visible characters reach the terminal.

use std::fmt;

/// Columns between two tab stops.
const TAB: usize = 4;

/// Text of one line that is safe to print. Stored and typed text reaches the terminal only through this type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visible(String);

impl Visible {
    /// Returns the whole text on one line: line breaks and tabs become spaces, other invisible characters are shown.
    pub fn line(text: &str) -> Self {
        let flat = text.replace("\r\n", " ").replace(['\n', '\t'], " ");
        Self(shown(&flat))
    }

    /// Returns the text line by line, with tabs expanded to tab stops.
    pub fn lines(text: &str) -> Vec<Self> {
        text.split('\n').map(|line| Self(shown(&without_tabs(line.strip_suffix('\r').unwrap_or(line))))).collect()
    }

    /// Returns a text that is a part of safe text, or made of such parts.
    ///
    /// Parts of safe text are safe: no rule below depends on the characters that follow.
    pub(crate) fn of_parts(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Visible {
    fn from(text: &str) -> Self {
        Self::line(text)
    }
}

impl From<String> for Visible {
    fn from(text: String) -> Self {
        Self::line(&text)
    }
}

/// Returns JSON text with every character that could control a terminal escaped. The value stays the same.
pub(crate) fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut units = [0; 2];
    for (character, verdict) in judged(json) {
        match verdict {
            // In JSON a line break can only stand between values.
            _ if character == '\n' => out.push(character),
            Verdict::Fine => out.push(character),
            Verdict::Picture | Verdict::Number => {
                for unit in character.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out
}

/// Returns a text of several lines for a document, with invisible characters shown, except tabs and line breaks.
pub(crate) fn shown_lines(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(shown).collect::<Vec<_>>().join("\t");
    text.split('\n').map(|text| line(text.strip_suffix('\r').unwrap_or(text))).collect::<Vec<_>>().join("\n")
}

fn without_tabs(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for (index, part) in line.split('\t').enumerate() {
        if index > 0 {
            let column = crate::layout::width_of(&out);
            out.extend(std::iter::repeat_n(' ', TAB - column % TAB));
        }
        out.push_str(part);
    }
    out
}

fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (character, verdict) in judged(text) {
        match verdict {
            Verdict::Fine => out.push(character),
            Verdict::Picture => out.push(picture(character)),
            Verdict::Number => out.push_str(&format!("<U+{:04X}>", u32::from(character))),
        }
    }
    out
}

/// How a character is printed.
enum Verdict {
    /// As it is.
    Fine,
    /// As the picture that Unicode has of it.
    Picture,
    /// As its code point.
    Number,
}

fn judged(text: &str) -> impl Iterator<Item = (char, Verdict)> {
    let mut before = None;
    let mut in_flag = false;
    text.chars().map(move |character| {
        in_flag = character == '\u{1f3f4}' || (in_flag && matches!(character, '\u{e0020}'..='\u{e007f}'));
        let verdict = match character {
            '\0'..='\u{1f}' | '\u{7f}' => Verdict::Picture,
            // The tag characters that spell the region of a flag.
            '\u{e0020}'..='\u{e007f}' if in_flag => Verdict::Fine,
            // Persian, Indic scripts and emoji need joiners. After ASCII they only hide something.
            '\u{200c}' | '\u{200d}' if before.is_some_and(|before: char| !before.is_ascii()) => Verdict::Fine,
            _ if is_invisible(character) => Verdict::Number,
            _ => Verdict::Fine,
        };
        before = Some(character);
        (character, verdict)
    })
}

fn picture(control: char) -> char {
    match control {
        '\u{7f}' => '\u{2421}',
        _ => char::from_u32(0x2400 + u32::from(control)).unwrap_or('\u{fffd}'),
    }
}

/// Returns whether a character is invisible or reorders others: C1, bidi, separators, format characters, fillers.
const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{70f}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(Visible::line(text).as_str(), expect);
        assert_eq!(Visible::line(expect).as_str(), expect, "what is visible stays");
    }

    #[test]
    fn controls_are_shown_not_sent() {
        check("\u{1b}[31mred\u{7}\0\u{7f}", "␛[31mred␇␀␡");
        check("a\u{9b}2Jb\u{85}", "a<U+009B>2Jb<U+0085>");
        check("over\rwrite", "over␍write");
        check("\u{202e}evil\u{2066}\u{200f}\u{61c}", "<U+202E>evil<U+2066><U+200F><U+061C>");
        check("a\u{2028}b\u{200b}\u{feff}\u{ad}", "a<U+2028>b<U+200B><U+FEFF><U+00AD>");
        check("x\u{e0041}\u{e0042}", "x<U+E0041><U+E0042>");
    }

    #[test]
    fn text_of_every_language_stays() {
        for text in [
            "crème brûlée — ¿qué? „Größe“",
            "大别山 日本語テスト 한국어",
            "مرحبا بالعالم",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🏴\u{e0067}\u{e0062}\u{e007f}",
        ] {
            check(text, text);
        }
        check("in\u{200d}visible", "in<U+200D>visible");
    }

    #[test]
    fn lines_stay_lines_and_tabs_keep_their_columns() {
        let lines: Vec<String> = Visible::lines("a\tb\r\n\t大\tc\n").iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["a   b", "    大  c", ""]);
        check("a\r\nb\tc\nd", "a b c d");
    }

    #[test]
    fn json_keeps_its_value_and_sends_nothing() {
        let value = serde_json::json!({"k": "\u{1b}[0m\u{9b}\u{7f}\u{202e}\u{e0041}大\u{2028}"});
        let text = escaped_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(
            text.chars()
                .all(|character| character == '\n'
                    || Visible::line(&text.replace('\n', "")).as_str().contains(character))
        );
        assert!(text.contains("大") && text.contains("\\u009b"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
