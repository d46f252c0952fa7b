//! A scope as an SQL condition, the same on every provider.

use hermes_session::{Scope, SessionId};

/// Returns an expression for the first session of the conversation of `session`, for [`condition`].
pub fn root_of(session: &str) -> String {
    format!("(SELECT sc.root FROM hx_session sc WHERE sc.session_id = {session})")
}

/// Returns the conditions that a conversation is within a scope, each preceded by `AND`; empty if all are.
///
/// `root` is an expression for the first session of the conversation. `exact` turns a column into a form that compares
/// byte by byte. `bind` adds a value and returns its placeholder; it is called in the order of the placeholders in the
/// text.
pub fn condition(
    scope: &Scope,
    root: &str,
    exact: impl Fn(&str) -> String,
    mut bind: impl FnMut(&str) -> String,
) -> String {
    let mut first = |conditions: &[(&str, &str)]| {
        let conditions: String =
            conditions.iter().map(|(column, value)| format!(" AND {} = {}", exact(column), bind(value))).collect();
        format!(" AND EXISTS (SELECT 1 FROM sessions sr WHERE sr.id = {root}{conditions})")
    };
    match scope {
        Scope::All => String::new(),
        Scope::Source(source) => first(&[("sr.source", source.as_str())]),
        Scope::User { user_id, source: None } => first(&[("sr.user_id", user_id)]),
        Scope::User { user_id, source: Some(source) } => {
            first(&[("sr.user_id", user_id), ("sr.source", source.as_str())])
        }
        Scope::Chat(sessions) => part_of(sessions, root, bind),
    }
}

/// Returns the condition that a conversation contains one of these sessions, preceded by `AND`.
pub fn part_of(sessions: &[SessionId], root: &str, mut bind: impl FnMut(&str) -> String) -> String {
    let Some(last) = sessions.last() else { return " AND 1 = 0".to_owned() };
    // Padded to a power of two, so that a server sees few distinct statements.
    let count = sessions.len().next_power_of_two();
    let all = sessions.iter().chain(std::iter::repeat(last)).take(count);
    let places: Vec<String> = all.map(|session| bind(session.as_str())).collect();
    format!(" AND {root} IN (SELECT so.root FROM hx_session so WHERE so.session_id IN ({}))", places.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::Source;

    fn printed(scope: &Scope) -> (String, Vec<String>) {
        let mut values = Vec::new();
        let sql = condition(scope, "h.root", ToOwned::to_owned, |value| {
            values.push(value.to_owned());
            format!("${}", values.len())
        });
        (sql, values)
    }

    #[test]
    fn values_stand_in_the_order_of_the_text() {
        let telegram = Source::parse("telegram").unwrap();
        let (sql, values) = printed(&Scope::User { user_id: "7".into(), source: Some(telegram) });
        assert_eq!(
            sql,
            " AND EXISTS (SELECT 1 FROM sessions sr WHERE sr.id = h.root AND sr.user_id = $1 AND sr.source = $2)"
        );
        assert_eq!(values, ["7", "telegram"]);
    }

    #[test]
    fn a_chat_without_sessions_has_no_conversations() {
        assert_eq!(printed(&Scope::Chat(Vec::new())).0, " AND 1 = 0");
        assert_eq!(printed(&Scope::All).0, "");
        let ids = ["a", "b", "c"].map(|id| SessionId::parse(id).unwrap());
        assert_eq!(printed(&Scope::Chat(ids.to_vec())).1, ["a", "b", "c", "c"]);
    }
}
