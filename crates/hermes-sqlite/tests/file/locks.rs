use crate::fixture::{File, at, id, new, shown, user};
use hermes_session::{MessageRequest, SessionStore as _, StoreError};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_writer_waits_to_its_deadline_and_says_so() {
    let file = File::new();
    drop(file.open());
    let store = file.try_open(Duration::from_millis(300)).unwrap();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let foreign = file.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    let (a, b, messages, request) = (id("a"), new("b"), [user("x")], at(2.0));
    let (one, two) = tokio::join!(store.append(&a, &messages, &request), store.create(&b, &request));
    for error in [one.unwrap_err(), two.unwrap_err()] {
        assert!(matches!(error, StoreError::Busy { waited, .. } if waited >= Duration::from_millis(290)), "{error:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(3), "both waited at the same time");
    // Readers never wait for a writer.
    assert_eq!(shown(&store).await, "a()");
    foreign.execute_batch("ROLLBACK").unwrap();
    store.append(&id("a"), &[user("x")], &at(2.0)).await.unwrap();
    assert_eq!(store.messages(&id("a"), &MessageRequest::first(9)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_lock_that_is_given_back_costs_only_time() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let foreign = file.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let holder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1_500));
        foreign.execute_batch("COMMIT").unwrap();
    });
    store.append(&id("a"), &[user("x")], &at(2.0)).await.unwrap();
    holder.join().unwrap();
}

#[test]
fn opening_waits_too() {
    let file = File::new();
    let foreign = file.foreign();
    foreign.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(file.try_open(Duration::from_millis(200)), Err(StoreError::Busy { .. })));
    let opener = std::thread::scope(|scope| {
        let opener = scope.spawn(|| file.try_open(Duration::from_secs(30)).map(drop));
        std::thread::sleep(Duration::from_millis(1_200));
        foreign.execute_batch("ROLLBACK").unwrap();
        opener.join().unwrap()
    });
    opener.unwrap();
}
