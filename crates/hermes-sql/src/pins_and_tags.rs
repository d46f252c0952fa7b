//! Filters by pins and tags as SQL conditions, the same on every provider.

use hermes_session::{SessionFilter, Tag};

/// Returns the conditions that a conversation has the pin and tags a filter asks for, each preceded by `AND`; empty if
/// it asks for none.
///
/// `root` is an expression for the first session of the conversation. `bind` adds a value and returns its placeholder;
/// it is called in the order of the placeholders in the text.
pub fn condition(filter: &SessionFilter, root: &str, bind: impl FnMut(&str) -> String) -> String {
    // A subselect on the few pinned sessions, so that the others need not be visited.
    let mut sql = match filter.pinned {
        None => String::new(),
        Some(true) => format!(" AND {root} IN (SELECT mp.session_id FROM hx_pin mp)"),
        Some(false) => format!(" AND {root} NOT IN (SELECT mp.session_id FROM hx_pin mp)"),
    };
    sql += &conversation_has(&filter.tags, root, bind);
    sql
}

/// Returns the conditions that the conversation starting with the session `root` has all of these tags, each preceded
/// by `AND`.
pub fn conversation_has(tags: &[Tag], root: &str, mut bind: impl FnMut(&str) -> String) -> String {
    let each = tags.iter().map(|tag| {
        let tag = bind(tag.as_str());
        format!(" AND {root} IN (SELECT mt.session_id FROM hx_tag mt WHERE mt.tag = {tag})")
    });
    each.collect()
}

/// Returns the conditions that the conversation of `session` has all of these tags, each preceded by `AND`.
///
/// The subselect starts from the tag, so that a statement can begin with the few sessions that have it.
pub fn session_has(tags: &[Tag], session: &str, mut bind: impl FnMut(&str) -> String) -> String {
    let each = tags.iter().map(|tag| {
        let tag = bind(tag.as_str());
        format!(
            " AND {session} IN (SELECT mh.session_id FROM hx_tag mt JOIN hx_session mh ON mh.root = mt.session_id WHERE mt.tag = {tag})"
        )
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::Tag;

    #[test]
    fn each_tag_is_asked_for() {
        let tags = ["b", "a"].map(Tag::from_stored).to_vec();
        let mut values = Vec::new();
        let filter = SessionFilter { pinned: Some(true), tags, ..SessionFilter::default() };
        let sql = condition(&filter, "h.root", |value| {
            values.push(value.to_owned());
            format!("${}", values.len())
        });
        assert_eq!(
            sql,
            " AND h.root IN (SELECT mp.session_id FROM hx_pin mp) \
             AND h.root IN (SELECT mt.session_id FROM hx_tag mt WHERE mt.tag = $1) \
             AND h.root IN (SELECT mt.session_id FROM hx_tag mt WHERE mt.tag = $2)"
        );
        assert_eq!(values, ["b", "a"]);
        assert_eq!(condition(&SessionFilter::default(), "h.root", |_| String::new()), "");
    }
}
