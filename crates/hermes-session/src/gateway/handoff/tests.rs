use super::*;

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_seconds(seconds).unwrap()
}

fn none() -> Handoff {
    let columns = HandoffColumns { state: None, platform: None, error: None };
    Handoff::from_stored(SessionId::from_stored("s".to_owned()), columns, None)
}

fn to(platform: &str) -> HandoffRequest {
    HandoffRequest::to(platform)
}

fn gateway() -> Holder {
    Holder { host: "h".into(), process: 1, born: "b".into(), label: "gateway".into() }
}

const LEASE: Duration = Duration::from_secs(10);

#[test]
fn each_step_follows_from_the_one_before() {
    assert_eq!(none().claimed(LEASE, None, at(0.0)), None);
    assert_eq!(none().ended(None, &HandoffEnd::Completed, at(0.0)), None);
    let asked = none().requested(&to("telegram"), at(1.0)).unwrap();
    assert_eq!(asked.clone().requested(&to("slack"), at(2.0)), None);
    let taken = asked.claimed(LEASE, None, at(3.0)).unwrap();
    assert_eq!((taken.lease_until, taken.claims), (Some(at(13.0)), 1));
    assert!(!taken.is_waiting(at(12.9)) && taken.is_waiting(at(13.0)));
    let again = taken.clone().claimed(LEASE, None, at(13.0)).unwrap();
    assert_eq!(again.clone().ended(Some(Claim(1)), &HandoffEnd::Completed, at(14.0)), None);
    let done = again.ended(Some(Claim(2)), &HandoffEnd::Completed, at(14.0)).unwrap();
    assert_eq!((done.state, done.requested_at), (Some(HandoffState::Completed), Some(at(1.0))));
    assert_eq!(done.clone().ended(None, &HandoffEnd::Failed("late".into()), at(15.0)), None);
    assert_eq!(done.requested(&to("slack"), at(20.0)).unwrap().platform.as_deref(), Some("slack"));
    let failed = taken.ended(None, &HandoffEnd::Failed("é".repeat(600)), at(4.0)).unwrap();
    assert_eq!(failed.error.as_deref().map(|error| error.chars().count()), Some(500));
    assert!(failed.ended(None, &HandoffEnd::Completed, at(5.0)).is_some());
}

#[test]
fn a_request_expires_unless_it_is_claimed() {
    let request = HandoffRequest { expires: Some(Duration::from_secs(60)), ..to("telegram") };
    let asked = none().requested(&request, at(0.0)).unwrap();
    assert!(asked.is_waiting(at(59.9)) && !asked.is_waiting(at(60.0)));
    assert_eq!(asked.clone().expired(at(59.9)), None);
    assert_eq!(asked.clone().claimed(LEASE, None, at(60.0)), None);
    let failed = asked.clone().expired(at(60.0)).unwrap();
    assert_eq!((failed.state, failed.error.as_deref()), (Some(HandoffState::Failed), Some(TIMED_OUT)));
    assert!(asked.clone().requested(&request, at(60.0)).is_some());
    let taken = asked.claimed(LEASE, None, at(59.0)).unwrap();
    assert!(!taken.is_expired(at(99.0)) && taken.is_waiting(at(99.0)));
}

#[test]
fn a_waiting_caller_can_not_end_the_handoff_of_a_worker() {
    let asked = none().requested(&to("telegram"), at(0.0)).unwrap();
    let taken = asked.clone().claimed(LEASE, Some(&gateway()), at(1.0)).unwrap();
    let why = HandoffEnd::Failed("withdrawn".into());
    for end in [&why, &HandoffEnd::Completed] {
        assert_eq!(taken.clone().ended(None, end, at(10.9)), None);
    }
    assert!(asked.ended(None, &why, at(1.0)).is_some());
    assert!(taken.clone().ended(None, &why, at(11.0)).is_some());
    assert!(taken.ended(Some(Claim(1)), &why, at(2.0)).is_some());
}

#[test]
fn the_progress_of_a_lost_worker_stays() {
    let asked = none().requested(&to("telegram"), at(0.0)).unwrap();
    let taken = asked.claimed(LEASE, Some(&gateway()), at(1.0)).unwrap();
    let step = |thread: Option<&str>, turn| HandoffProgress {
        lease: LEASE,
        thread: thread.map(Into::into),
        turn,
        synthetic_from: None,
    };
    assert_eq!(taken.clone().advanced(Claim(2), &step(Some("7"), None), at(5.0)), None);
    let opened = taken.advanced(Claim(1), &step(Some("7"), None), at(5.0)).unwrap();
    assert_eq!((opened.thread.as_deref(), opened.lease_until), (Some("7"), Some(at(15.0))));
    let further = opened.advanced(Claim(1), &step(None, Some(TurnId(3))), at(6.0)).unwrap();
    let next = further.claimed(LEASE, Some(&gateway()), at(16.0)).unwrap();
    assert_eq!((next.thread.as_deref(), next.turn), (Some("7"), Some(TurnId(3))));
}

#[test]
fn values_stored_beside_count_for_their_state_alone() {
    let taken = none().requested(&to("x"), at(1.0)).unwrap().claimed(Duration::ZERO, None, at(2.0)).unwrap();
    let (columns, beside) = taken.to_stored();
    let same = Handoff::from_stored(taken.session.clone(), columns.clone(), Some(beside.clone()));
    assert_eq!(same, taken);
    // An agent requested it again meanwhile.
    let columns = HandoffColumns { state: Some("pending".into()), ..columns };
    let other = Handoff::from_stored(taken.session, columns, Some(beside));
    assert_eq!((other.requested_at, other.lease_until, other.claims), (None, None, 1));
    assert!(other.is_waiting(at(0.0)));
}
