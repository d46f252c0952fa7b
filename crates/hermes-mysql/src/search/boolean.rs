//! Conditions in the syntax of boolean mode, bound as values and never part of a statement.

use crate::spelling;
use hermes_search::wanted::Wanted;

/// A word that no message has: no lexeme begins with this letter.
const NOWHERE: &str = "z000";

/// Returns the text for `MATCH (words) AGAINST (… IN BOOLEAN MODE)`. Consecutive words become a conjunction, because
/// the index has no positions.
pub(super) fn printed(wanted: &Wanted) -> String {
    let mut text = "+".to_owned();
    push(wanted, &mut text);
    text
}

fn push(wanted: &Wanted, out: &mut String) {
    match wanted {
        Wanted::Lexeme(lexeme) => out.push_str(&spelling::word(lexeme)),
        Wanted::Beginning(beginning) => {
            out.push_str(&spelling::beginning(beginning));
            out.push('*');
        }
        Wanted::All(parts) | Wanted::Row(parts) => push_list(parts, "+", out),
        Wanted::Any(parts) => push_list(parts, "", out),
    }
}

fn push_list(parts: &[Wanted], sign: &str, out: &mut String) {
    match parts {
        [] => out.push_str(NOWHERE),
        [part] => push(part, out),
        parts => {
            let mut joint = '(';
            for part in parts {
                out.push(joint);
                out.push_str(sign);
                push(part, out);
                joint = ' ';
            }
            out.push(')');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_grouped() {
        let row = Wanted::Row(vec![Wanted::word("out"), Wanted::Beginning("wo".into())]);
        let any = Wanted::Any(vec![Wanted::Lexeme("s'".into()), Wanted::Lexeme("p大别".into())]);
        assert_eq!(printed(&Wanted::All(vec![row, any])), "+(+(+(vout gout) +vo*) +(s_013 p_hlz_g8b))");
        assert_eq!(printed(&Wanted::Any(Vec::new())), "+z000");
        assert_eq!(printed(&Wanted::Any(vec![Wanted::any_data()])), "+x___");
    }
}
