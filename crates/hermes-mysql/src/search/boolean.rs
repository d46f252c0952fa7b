//! Conditions in the syntax of boolean mode, bound as values and never part of a statement.

use crate::spelling;
use hermes_search::lexemes;
use hermes_search::wanted::Wanted;
use std::cmp::Reverse;

/// A word that no message has: no lexeme begins with this letter.
const NOWHERE: &str = "z000";

/// Returns the text for `MATCH (words) AGAINST (… IN BOOLEAN MODE)`. Consecutive words become a conjunction, because
/// the index has no positions.
///
/// InnoDB stops at the first single word of a conjunction that no message has, but evaluates each list in parentheses
/// completely. So single words come first, the longest of them before the others: it is likely to be the rarest.
pub(super) fn printed(wanted: &Wanted) -> String {
    let mut text = String::new();
    match wanted {
        Wanted::All(_) | Wanted::Row(_) => {
            for (place, part) in conjuncts(wanted).into_iter().enumerate() {
                text.push_str(if place > 0 { " +" } else { "+" });
                push(part, &mut text);
            }
        }
        other => {
            text.push('+');
            push(other, &mut text);
        }
    }
    if text.is_empty() { format!("+{NOWHERE}") } else { text }
}

/// Returns the parts of a conjunction and of the conjunctions in it, in the order in which they are asked for.
fn conjuncts(wanted: &Wanted) -> Vec<&Wanted> {
    fn collect<'w>(wanted: &'w Wanted, parts: &mut Vec<&'w Wanted>) {
        match wanted {
            Wanted::All(some) | Wanted::Row(some) => some.iter().for_each(|part| collect(part, parts)),
            part if parts.contains(&part) => {}
            part => parts.push(part),
        }
    }
    let mut parts = Vec::new();
    collect(wanted, &mut parts);
    parts.sort_by_key(|part| match part {
        Wanted::Lexeme(lexeme) => (0, Reverse(lexeme.len())),
        Wanted::Any(some) if some.is_empty() => (0, Reverse(usize::MAX)),
        Wanted::Any(_) => (1, Reverse(0)),
        Wanted::Beginning(beginning) => (2, Reverse(beginning.len())),
        Wanted::All(_) | Wanted::Row(_) => (3, Reverse(0)),
    });
    parts
}

/// Returns the condition for messages that meet one without a word outside the vocabulary, or `None` if no message can;
/// and the condition for every word outside the vocabulary that occurs in it, or `None` if there is none. Each message
/// that meets the original condition meets one of the two.
pub(super) fn apart(wanted: &Wanted) -> (Option<Wanted>, Option<Wanted>) {
    let mut data = Vec::new();
    let rest = without_data(wanted, &mut data);
    (rest, (!data.is_empty()).then_some(Wanted::Any(data)))
}

fn without_data(wanted: &Wanted, data: &mut Vec<Wanted>) -> Option<Wanted> {
    let all = |parts: &[Wanted], data: &mut Vec<Wanted>| {
        // Each part is looked at, for its data.
        let parts: Vec<Option<Wanted>> = parts.iter().map(|part| without_data(part, data)).collect();
        parts.into_iter().collect::<Option<Vec<_>>>()
    };
    match wanted {
        Wanted::Lexeme(lexeme) | Wanted::Beginning(lexeme) if lexemes::is_data(lexeme) => {
            if !data.contains(wanted) {
                data.push(wanted.clone());
            }
            None
        }
        Wanted::Lexeme(_) | Wanted::Beginning(_) => Some(wanted.clone()),
        Wanted::All(parts) => all(parts, data).map(Wanted::All),
        Wanted::Row(parts) => all(parts, data).map(Wanted::Row),
        Wanted::Any(parts) => {
            let mut parts: Vec<Wanted> = parts.iter().filter_map(|part| without_data(part, data)).collect();
            if parts.len() > 1 { Some(Wanted::Any(parts)) } else { parts.pop() }
        }
    }
}

fn push(wanted: &Wanted, out: &mut String) {
    match wanted {
        Wanted::Lexeme(lexeme) => out.push_str(&spelling::word(lexeme)),
        Wanted::Beginning(beginning) => {
            out.push_str(&spelling::beginning(beginning));
            out.push('*');
        }
        Wanted::All(_) | Wanted::Row(_) => push_list(&conjuncts(wanted), "+", out),
        Wanted::Any(_) => {
            let mut choices = Vec::new();
            collect_choices(wanted, &mut choices);
            push_list(&choices, "", out);
        }
    }
}

/// Collects the alternatives, and those of alternatives among them, each once.
fn collect_choices<'w>(wanted: &'w Wanted, choices: &mut Vec<&'w Wanted>) {
    match wanted {
        Wanted::Any(some) => some.iter().for_each(|choice| collect_choices(choice, choices)),
        choice if choices.contains(&choice) => {}
        choice => choices.push(choice),
    }
}

fn push_list(parts: &[&Wanted], sign: &str, out: &mut String) {
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
        assert_eq!(printed(&Wanted::All(vec![row, any])), "+(vout gout) +(s_013 p_hlz_g8b) +vo*");
        assert_eq!(printed(&Wanted::Any(Vec::new())), "+z000");
        assert_eq!(printed(&Wanted::Any(vec![Wanted::any_data()])), "+x___");
    }
    #[test]
    fn single_words_come_first_and_each_condition_once() {
        let words = ["a", "longer", "a"].map(Wanted::term).to_vec();
        let any = Wanted::Any(vec![Wanted::Any(vec![Wanted::term("b"), Wanted::term("c")]), Wanted::term("b")]);
        let all = Wanted::All(vec![any, Wanted::All(words)]);
        assert_eq!(printed(&all), "+vlonger +va__ +(vb__ vc__)");
        assert_eq!(printed(&Wanted::All(vec![Wanted::term("a"), Wanted::Any(Vec::new())])), "+z000 +va__");
        assert_eq!(printed(&Wanted::All(Vec::new())), "+z000");
    }

    #[test]
    fn a_message_with_a_word_outside_the_vocabulary_meets_the_second_condition() {
        let row = Wanted::Row(vec![Wanted::word("out"), Wanted::prefix("wo")]);
        let (rest, data) = apart(&Wanted::All(vec![row, Wanted::terms(&["x".to_owned()])]));
        assert_eq!(rest.map(|rest| printed(&rest)).as_deref(), Some("+vout +vx__ +vwo*"));
        assert_eq!(data.map(|data| printed(&data)).as_deref(), Some("+(gout gwo* x___)"));
        // Words of the vocabulary that no message has leave nothing but data.
        assert_eq!(apart(&Wanted::All(vec![Wanted::term("a"), Wanted::terms(&[])])).0, None);
        assert_eq!(apart(&Wanted::term("a")), (Some(Wanted::term("a")), None));
    }
}
