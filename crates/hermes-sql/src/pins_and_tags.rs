//! Filters by pins and tags as conditions of a statement, the same on every provider.

use hermes_session::{SessionFilter, Tag};

/// Returns the conditions that a conversation has the pin and tags that a filter asks for, each with an `AND` before it; empty if it asks
/// for none.
///
/// `root` tells the first session of the conversation. `bind` keeps a value and tells how the statement names it; it is called in the order in
/// which the names stand in the text.
pub fn condition(filter: &SessionFilter, root: &str, bind: impl FnMut(&str) -> String) -> String {
    // A list of the few that are pinned, so that the rest need not be looked at.
    let mut sql = match filter.pinned {
        None => String::new(),
        Some(true) => format!(" AND {root} IN (SELECT mp.session_id FROM hx_pin mp)"),
        Some(false) => format!(" AND {root} NOT IN (SELECT mp.session_id FROM hx_pin mp)"),
    };
    sql += &conversation_has(&filter.tags, root, bind);
    sql
}

/// Returns the conditions that the conversation which starts with the session `root` has all of these tags, each with an `AND` before it.
pub fn conversation_has(tags: &[Tag], root: &str, mut bind: impl FnMut(&str) -> String) -> String {
    let each = tags.iter().map(|tag| {
        let tag = bind(tag.as_str());
        format!(" AND {root} IN (SELECT mt.session_id FROM hx_tag mt WHERE mt.tag = {tag})")
    });
    each.collect()
}

/// Returns the conditions that the conversation of `session` has all of these tags, each with an `AND` before it.
///
/// The tag comes first, so that a statement can start from the few sessions that have it.
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
