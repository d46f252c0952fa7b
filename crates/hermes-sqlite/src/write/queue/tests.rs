use super::*;
use std::sync::atomic::Ordering;

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(20)
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("state.db");
    (folder, store)
}

#[test]
fn a_timeout_names_the_holder_of_the_queue() {
    let (_folder, store) = folder();
    let (mut one, mut two) = (Queue::of(&store), Queue::of(&store));
    one.enter("append messages", soon()).unwrap();
    let name = std::fs::read_to_string("/proc/self/comm").unwrap();
    let late = two.enter("set a title", soon()).unwrap_err().holder.unwrap();
    let who = format!("process {} ({}), which began to append messages 0.", std::process::id(), name.trim());
    assert!(late.starts_with(&who), "{late}");
    one.wait_for_foreign_writer(true);
    let late = two.enter("set a title", soon()).unwrap_err().holder.unwrap();
    assert!(late.contains("is itself waiting for a program outside the writers' queue"), "{late}");
    one.leave();
    two.enter("set a title", Instant::now() + Duration::from_secs(60)).unwrap();
}

#[test]
fn whoever_waits_goes_before_whoever_had_the_last_turn() {
    let (_folder, store) = folder();
    let (some_day, had_turn) = (Instant::now() + Duration::from_secs(60), std::sync::atomic::AtomicBool::new(false));
    let mut one = Queue::of(&store);
    one.yield_time = Duration::from_secs(60);
    for round in 0..20 {
        one.enter("write", some_day).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Its slot ends when it is dropped, and not before it was recorded.
                let mut other = Queue::of(&store);
                other.enter("write", some_day).unwrap();
                had_turn.store(true, Ordering::Relaxed);
            });
            let (file, last) = (one.file.clone().unwrap(), one.last.unwrap());
            while !state::is_somebody_next(&file, last, Moment::now()) {
                std::thread::yield_now();
            }
            one.leave();
            one.enter("write", some_day).unwrap();
            assert!(had_turn.swap(false, Ordering::Relaxed), "round {round}");
            one.leave();
        });
    }
}

#[test]
fn a_writer_that_gave_up_is_yielded_to_once() {
    let (_folder, store) = folder();
    let (mut one, mut two) = (Queue::of(&store), Queue::of(&store));
    one.enter("write", soon()).unwrap();
    two.enter("write", soon()).unwrap_err();
    one.leave();
    drop(two);
    one.enter("write", Instant::now() + Duration::from_secs(60)).unwrap();
    let (file, last) = (one.file.clone().unwrap(), one.last.unwrap());
    assert!(!state::is_somebody_next(&file, last, Moment::now()));
}

#[test]
fn the_file_is_made_for_the_first_slot_for_its_owner_alone() {
    let (_folder, store) = folder();
    let mut queue = Queue::of(&store);
    assert!(!queue.path.exists());
    queue.enter("write", soon()).unwrap();
    assert_eq!(std::fs::metadata(&queue.path).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn the_use_of_all_counts_together() {
    let (_folder, store) = folder();
    let (mut one, mut two) = (Queue::of(&store), Queue::of(&store));
    let use_for = |queue: &mut Queue, milliseconds: u64| {
        queue.enter("write", soon()).unwrap();
        let start = Moment(Moment::now().0 - milliseconds * 1_000_000);
        queue.used(start, Some(1), Some(1));
        let rest = queue.rest();
        queue.leave();
        rest.is_some()
    };
    assert!(!use_for(&mut one, 100));
    assert!(use_for(&mut two, 100), "what the other used counts");
    assert!(!use_for(&mut one, 100), "what was made up for is over");
}

#[test]
fn one_of_them_folds_the_log() {
    let (_folder, store) = folder();
    let (mut one, mut two) = (Queue::of(&store), Queue::of(&store));
    let claims = |queue: &mut Queue, span| {
        queue.enter("write", soon()).unwrap();
        let ours = queue.claim_fold(span);
        queue.leave();
        ours
    };
    let long = Duration::from_secs(60);
    assert!(claims(&mut one, long));
    assert!(!claims(&mut two, long));
    assert!(claims(&mut two, Duration::ZERO));
}

#[test]
fn a_lock_file_that_was_removed_does_not_part_the_members() {
    let (_folder, store) = folder();
    let (mut one, mut two) = (Queue::of(&store), Queue::of(&store));
    one.enter("write", soon()).unwrap();
    one.leave();
    std::fs::remove_file(&one.path).unwrap();
    two.enter("write", soon()).unwrap();
    assert!(one.enter("write", soon()).is_err());
}

#[test]
fn without_the_file_there_is_no_queue() {
    let store = PathBuf::from("/nowhere/at/all/state.db");
    let (mut one, mut two) = (Queue::of(&store), Queue::of(&store));
    one.enter("write", soon()).unwrap();
    two.enter("write", soon()).unwrap();
    one.used(Moment(Moment::now().0 - 600_000_000), None, None);
    assert!(one.rest().is_some(), "for its own part");
}

#[test]
fn a_slot_that_does_not_end_is_passed_by_writers_alone() {
    let (_folder, store) = folder();
    let (mut one, mut two) = (Queue::of(&store), Queue::of(&store));
    let some_day = Instant::now() + Duration::from_secs(60);
    two.stuck = Duration::from_millis(20);
    one.enter("append messages", soon()).unwrap();
    two.enter_or_pass("set a title", some_day).unwrap();
    let other = two.other().unwrap();
    assert!(other.starts_with(&format!("process {} (", std::process::id())), "{other}");
    two.leave();
    assert!(two.enter("prepare the store", soon()).is_err(), "only those who can go by SQLite's lock");
    // A holder that waits for a foreign writer is not passed by others.
    one.wait_for_foreign_writer(true);
    assert!(two.enter_or_pass("set a title", soon() + Duration::from_millis(100)).is_err());
    one.leave();
    two.enter_or_pass("set a title", some_day).unwrap();
    assert_eq!(two.other().as_deref(), Some(FOREIGN_WRITER), "in the queue again");
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let (folder, store) = folder();
    let mut queue = Queue::of(&store);
    let other = folder.path().join("other");
    type Make = fn(&Path, &Path) -> std::io::Result<()>;
    let copy: Make = |other, name| std::fs::copy(other, name).map(drop);
    let table: [(usize, Make); 5] = [
        (1, |other, name| std::os::unix::fs::symlink(other, name)),
        (1, |other, name| std::fs::hard_link(other, name)),
        (1, copy),
        (12, copy),
        (20, copy),
    ];
    for (length, make) in table {
        let text = "somebody's ".repeat(length);
        std::fs::write(&other, &text).unwrap();
        make(&other, &queue.path).unwrap();
        queue.enter("write", soon()).unwrap();
        queue.leave();
        assert_eq!(std::fs::read_to_string(&queue.path).unwrap(), text);
        remove(&store);
        assert_eq!(std::fs::read_to_string(&queue.path).unwrap(), text);
        std::fs::remove_file(&queue.path).unwrap();
    }
}

#[test]
fn the_file_is_removed_whatever_was_written_so_far() {
    let (_folder, store) = folder();
    let mut queue = Queue::of(&store);
    // An empty file, then one with only the time of a waiting process, then a whole record.
    File::create(&queue.path).unwrap();
    remove(&store);
    assert!(!queue.path.exists());
    state::come(&queue.open().unwrap(), Moment::now());
    remove(&store);
    assert!(!queue.path.exists());
    queue.enter("write", soon()).unwrap();
    queue.leave();
    assert!(queue.file.is_some());
    remove(&store);
    assert!(!queue.path.exists());
}
