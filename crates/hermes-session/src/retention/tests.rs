use super::*;
use crate::{EndReason, Relation, Usage};
use proptest::prelude::*;

const NOW: f64 = 1_000.0 * SECONDS_PER_DAY;

fn at(days: f64) -> Timestamp {
    Timestamp::from_seconds(days * SECONDS_PER_DAY).unwrap()
}

/// Returns a session that was last active on that day and has ended since.
fn row(id: &str, conversation: &str, day: f64) -> SessionSummary {
    SessionSummary {
        id: SessionId::parse(id).unwrap(),
        conversation: SessionId::parse(conversation).unwrap(),
        segments: 1,
        source: Source::parse("cli").unwrap(),
        user_id: None,
        model: None,
        parent_session_id: None,
        relation: if id == conversation { Relation::Root } else { Relation::Continuation },
        started_at: at(0.0),
        ended_at: Some(at(day)),
        end_reason: Some(EndReason::compression()),
        message_count: 2,
        messages: 2,
        tool_calls: 0,
        tool_call_count: 0,
        usage: Usage::default(),
        title: None,
        last_active: at(day),
        preview: String::new(),
        pinned_at: None,
        tags: Vec::new(),
        is_archived: false,
    }
}

fn active(row: SessionSummary) -> SessionSummary {
    SessionSummary { ended_at: None, end_reason: None, ..row }
}

fn from(row: SessionSummary, source: &str) -> SessionSummary {
    SessionSummary { source: Source::parse(source).unwrap(), ..row }
}

#[track_caller]
fn check(days: f64, source: Option<&str>, rows: &[SessionSummary], expect: &[&str]) {
    let source = source.map(|source| Source::parse(source).unwrap());
    let policy = RetentionPolicy::new(days, source).unwrap();
    let selected = select(&policy, Timestamp::from_seconds(NOW).unwrap(), rows);
    let told: Vec<String> = selected
        .iter()
        .map(|candidate| {
            let members: Vec<&str> = candidate.members.iter().map(SessionId::as_str).collect();
            format!("{}: {} ({})", candidate.conversation, members.join(" "), candidate.messages)
        })
        .collect();
    assert_eq!(told, expect);
}

#[test]
fn a_conversation_goes_as_a_whole() {
    let rows = [row("c", "r", 50.0), row("r", "r", 10.0), row("other", "other", 990.0)];
    check(90.0, None, &rows, &["r: c r (4)"]);
    check(1.0, None, &rows, &["r: c r (4)", "other: other (2)"]);
}

#[test]
fn what_has_not_ended_stays_and_is_counted() {
    let rows = [row("r", "r", 10.0), active(row("c", "r", 50.0)), row("x", "x", 1.0), active(row("y", "y", 990.0))];
    let policy = RetentionPolicy::new(90.0, None).unwrap();
    let mut tally = Tally::new(&policy);
    rows.iter().for_each(|row| tally.add(row));
    let plan = tally.select(&policy, Timestamp::from_seconds(NOW).unwrap());
    assert_eq!((plan.candidates.len(), plan.not_ended), (1, 1), "one of them is not old enough");
}

#[test]
fn what_is_pinned_stays_and_is_counted() {
    let pinned = |row: SessionSummary| SessionSummary { pinned_at: Some(row.started_at), ..row };
    let rows =
        [pinned(row("c", "r", 50.0)), pinned(row("r", "r", 10.0)), row("x", "x", 1.0), pinned(row("y", "y", 990.0))];
    check(90.0, None, &rows, &["x: x (2)"]);
    let policy = RetentionPolicy::new(90.0, None).unwrap();
    let mut tally = Tally::new(&policy);
    rows.iter().for_each(|row| tally.add(row));
    let plan = tally.select(&policy, Timestamp::from_seconds(NOW).unwrap());
    assert_eq!((plan.candidates.len(), plan.pinned), (1, 1), "one of them is not old enough");
}

#[test]
fn the_newest_activity_tells_the_age() {
    check(90.0, None, &[row("r", "r", 10.0), row("c", "r", 999.0)], &[]);
    check(90.0, None, &[row("r", "r", 910.0)], &[]);
    check(89.999, None, &[row("r", "r", 910.0)], &["r: r (2)"]);
}

#[test]
fn one_active_session_keeps_all() {
    check(0.0, None, &[row("r", "r", 10.0), active(row("d", "r", 5.0)), row("x", "x", 1.0)], &["x: x (2)"]);
}

#[test]
fn the_first_session_tells_the_source() {
    let rows = [from(row("r", "r", 1.0), "cron"), row("c", "r", 2.0), row("x", "x", 3.0)];
    check(90.0, Some("cron"), &rows, &["r: c r (4)"]);
    check(90.0, Some("cli"), &rows, &["x: x (2)"]);
    check(90.0, Some("slack"), &rows, &[]);
}

#[test]
fn a_conversation_without_its_first_session_stays() {
    check(90.0, None, &[row("c", "r", 1.0)], &[]);
}

#[test]
fn the_longest_inactive_comes_first_then_the_smaller_id() {
    check(
        90.0,
        None,
        &[row("b", "b", 5.0), row("c", "c", 1.0), row("a", "a", 5.0)],
        &["c: c (2)", "a: a (2)", "b: b (2)"],
    );
}

#[test]
fn the_future_is_not_old() {
    check(0.0, None, &[row("r", "r", 2_000.0), row("now", "now", 1_000.0)], &[]);
}

#[test]
fn any_number_of_days_is_safe() {
    check(f64::MAX, None, &[row("r", "r", 1.0)], &[]);
    for (days, text) in [
        (-1.0, "days -1 is negative"),
        (-0.001, "days -0.001 is negative"),
        (f64::NAN, "days NaN is not a finite number"),
        (f64::INFINITY, "days inf is not a finite number"),
    ] {
        assert_eq!(RetentionPolicy::new(days, None).unwrap_err().to_string(), text);
    }
}

#[test]
fn odd_counters_and_repeated_rows_do_no_harm() {
    let odd = SessionSummary { message_count: -5, ..row("c", "r", 1.0) };
    check(1.0, None, &[row("r", "r", 1.0), odd, row("r", "r", 1.0)], &["r: c r (2)"]);
}

proptest! {
    #[test]
    fn what_is_selected_is_whole_ended_and_old(
        facts in prop::collection::vec((0..6_u8, 0..1_100_u16, prop::bool::weighted(0.8)), 0..20),
        days in 0..1_100_u16,
    ) {
        let rows: Vec<SessionSummary> = facts
            .iter()
            .enumerate()
            .map(|(n, (conversation, day, has_ended))| {
                let conversation = usize::from(*conversation).min(n);
                let row = row(&format!("s{n}"), &format!("s{conversation}"), f64::from(*day));
                if *has_ended { row } else { active(row) }
            })
            .collect();
        let policy = RetentionPolicy::new(f64::from(days), None).unwrap();
        let now = Timestamp::from_seconds(NOW).unwrap();
        let selected = select(&policy, now, &rows);
        let mut reversed = rows.clone();
        reversed.reverse();
        prop_assert_eq!(&select(&policy, now, &reversed), &selected, "the order of the rows does not count");
        prop_assert!(selected.is_sorted_by_key(|candidate| (candidate.last_active, candidate.conversation.clone())));
        for candidate in &selected {
            let own: Vec<&SessionSummary> = rows.iter().filter(|row| row.conversation == candidate.conversation).collect();
            prop_assert_eq!(own.len(), candidate.members.len());
            for row in own {
                prop_assert!(candidate.members.contains(&row.id) && row.ended_at.is_some());
                prop_assert!(now.since(row.last_active) > f64::from(days) * SECONDS_PER_DAY);
            }
        }
        for row in rows.iter().filter(|row| row.id == row.conversation) {
            let own = || rows.iter().filter(|other| other.conversation == row.id);
            let may_go = own().all(|row| row.ended_at.is_some())
                && own().all(|row| now.since(row.last_active) > f64::from(days) * SECONDS_PER_DAY);
            prop_assert_eq!(selected.iter().any(|candidate| candidate.conversation == row.id), may_go);
        }
    }
}
