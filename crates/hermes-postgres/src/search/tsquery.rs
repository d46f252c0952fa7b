//! Conditions as a `tsquery`, bound as a value and never part of a statement.

use crate::tsvector::push_quoted;
use bytes::BytesMut;
use hermes_search::wanted::Wanted;
use std::error::Error;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};

/// A `tsquery`. The server parses it once; a text converted within a statement would be parsed again for each row.
#[derive(Debug)]
pub(super) struct TsQuery(String);

impl TsQuery {
    pub(super) fn new(wanted: &Wanted) -> Self {
        Self(printed(wanted))
    }
}

impl ToSql for TsQuery {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::TSQUERY
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

/// Returns the text of a `tsquery`.
pub(super) fn printed(wanted: &Wanted) -> String {
    let mut text = String::new();
    push(wanted, &mut text);
    text
}

fn push(wanted: &Wanted, out: &mut String) {
    match wanted {
        Wanted::Lexeme(lexeme) => push_lexeme(lexeme, out),
        Wanted::Beginning(beginning) => {
            push_lexeme(beginning, out);
            out.push_str(":*");
        }
        Wanted::All(parts) => push_list(parts, " & ", out),
        Wanted::Any(parts) => push_list(parts, " | ", out),
        Wanted::Row(parts) => push_list(parts, " <-> ", out),
    }
}

fn push_list(parts: &[Wanted], joint: &str, out: &mut String) {
    if parts.is_empty() {
        // No message has this lexeme: every lexeme begins with a letter.
        return out.push_str("'0'");
    }
    out.push('(');
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            out.push_str(joint);
        }
        push(part, out);
    }
    out.push(')');
}

fn push_lexeme(lexeme: &str, out: &mut String) {
    let mut characters = lexeme.chars();
    if let Some(letter) = characters.next() {
        push_quoted(letter, characters.as_str(), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexemes_are_quoted_and_lists_are_grouped() {
        let lexeme = |text: &str| Wanted::Lexeme(text.into());
        let row = Wanted::Row(vec![Wanted::word("out"), Wanted::Beginning("wo".into())]);
        let wanted = Wanted::All(vec![row, Wanted::Any(vec![lexeme("s'"), lexeme("s\\"), lexeme("p大别")])]);
        assert_eq!(printed(&wanted), r"((('wout' | 'dout') <-> 'wo':*) & ('s''' | 's\\' | 'p大别'))");
        assert_eq!(printed(&Wanted::Any(Vec::new())), "'0'");
    }
}
