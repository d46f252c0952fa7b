use super::*;
use crate::SqliteOptions;
use crate::open::connection::{open_read_only, open_writer};
use hermes_session::PageRequest;
use std::time::Duration;

/// Makes a file with two messages that are indexed and two that are not.
fn file() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = open_writer(&folder.path().join("state.db"), &SqliteOptions::default()).unwrap().writer.unwrap();
    database.execute_batch("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0)").unwrap();
    ["the quick fox", "a lazy fox"].into_iter().for_each(|text| say(&database, text));
    while indexes::fill(&database).unwrap() {}
    ["another fox", "no animal"].into_iter().for_each(|text| say(&database, text));
    (folder, database)
}

fn say(database: &Database, text: &str) {
    let sql = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', ?, 2.0)";
    database.execute(sql, [text]).unwrap();
}

fn found(answer: &SearchAnswer) -> Vec<i64> {
    answer.hits.iter().map(|hit| hit.message.0).collect()
}

#[test]
fn what_the_indexes_named_is_shown_when_time_runs_out_in_the_rest() {
    let (_folder, database) = file();
    let facts = Facts::of(&database).unwrap();
    assert_eq!(facts.coverage.unknown(), Some(&[3, 4][..]));
    for query in ["fox", "foxes"] {
        let request = SearchRequest { timeout: Duration::ZERO, ..SearchRequest::new(Query::parse(query)) };
        // There is time to query the indexes, but none to compare the backlog.
        let mut file = File::new(&database, &request, &facts, Instant::now()).unwrap();
        file.end = Instant::now();
        std::thread::sleep(Duration::from_millis(1));
        let later = Instant::now() + Duration::from_millis(200);
        let wanted = finished(file.of_query(&request.query, Tier::Words, later)).unwrap().unwrap();
        let words = finished(file.of_words(&relax::words(&request.query), later)).unwrap();
        assert_eq!((wanted.len(), words), (if query == "fox" { 2 } else { 0 }, vec![Rc::new(vec![1, 2])]));
    }
    let request = SearchRequest { timeout: Duration::ZERO, ..SearchRequest::new(Query::parse("fox")) };
    assert!(search(&database, &request).unwrap().served.is_partial);
}

#[test]
fn a_scan_by_several_threads_finds_what_the_indexes_find() {
    let (folder, database) = file();
    let path = folder.path().join("state.db");
    let text = |number: usize| match number % 700 {
        0 => format!("the fox number {number}"),
        1 => format!("firefox {number}"),
        _ => format!("message {number} of many"),
    };
    let insert = "INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (?, 'a', 'user', ?, 2.0)";
    database.execute_batch("BEGIN").unwrap();
    for number in 0..6_000 {
        // Ids far apart, as after deletions.
        let id = 10 + number + if number > 5_000 { 900_000_000_000 } else { 0 };
        database.execute(insert, (id as i64, text(number))).unwrap();
    }
    database.execute_batch("COMMIT").unwrap();
    while indexes::fill(&database).unwrap() {}
    drop(database);
    let database = open_read_only(&path).unwrap();
    let facts =
        [Coverage::of(&database).unwrap(), Coverage::Nothing].map(|coverage| Facts::with(&database, coverage).unwrap());
    assert_eq!(facts[0].coverage.unknown(), Some(&[][..]));
    for query in ["fox", "fox OR number", "\"fox number\"", "irefo", "\"\" NOT message", "foxes jumping", "'", "zebra"]
    {
        for limit in [1, 3, 50] {
            let mut request =
                SearchRequest { page: PageRequest::first(limit), ..SearchRequest::new(Query::parse(query)) };
            loop {
                let [indexed, scanned] =
                    facts.each_ref().map(|facts| answer(&database, &request, facts, Instant::now()).unwrap());
                assert_eq!(found(&indexed).is_empty(), found(&scanned).is_empty(), "{query}");
                let sorted = |answer: &SearchAnswer| {
                    let mut ids = found(answer);
                    ids.sort_unstable();
                    ids
                };
                // Without an index the average length is unknown, so the order may differ within a part.
                if limit == 50 {
                    assert_eq!(sorted(&indexed), sorted(&scanned), "{query}");
                }
                assert_eq!(scanned.served.way, Way::Scan);
                match scanned.next.filter(|_| limit < 50) {
                    Some(next) => request.after = Some(next),
                    None => break,
                }
            }
        }
    }
}

#[test]
fn a_phrase_with_a_frequent_word_finds_every_message() {
    let (_folder, database) = file();
    (0..50).for_each(|number| say(&database, &format!("den zebrafish {number}")));
    while indexes::fill(&database).unwrap() {}
    let request =
        SearchRequest { page: PageRequest::first(100), ..SearchRequest::new(Query::parse("\"den zebrafish\"")) };
    assert_eq!(found(&search(&database, &request).unwrap()).len(), 50);
}

#[test]
fn a_phrase_behind_many_longer_words_finds_every_message() {
    let (_folder, database) = file();
    let first = database.last_insert_rowid() + 1;
    (0..100).for_each(|number| say(&database, &format!("{number}run zebrafish")));
    (0..100).for_each(|number| say(&database, &format!("{number}run far from a zebrafish")));
    (0..100).for_each(|number| say(&database, &format!("run zebrafishes {number}")));
    while indexes::fill(&database).unwrap() {}
    for (query, expect) in [("\"run zebrafish\"", 200), ("\"run zebrafishe\"", 100), ("\"5run zebrafish\"", 10)] {
        let request = SearchRequest { page: PageRequest::first(500), ..SearchRequest::new(Query::parse(query)) };
        let hits = found(&search(&database, &request).unwrap());
        assert_eq!(hits.len(), expect, "{query}");
        assert!(hits.iter().all(|id| !(first + 100..first + 200).contains(id)), "{query}");
    }
}

#[test]
fn on_the_thread_of_a_caller_a_search_is_short_or_not_at_all() {
    let (_folder, database) = file();
    (0..600).for_each(|number| say(&database, &format!("a common {number} word")));
    while indexes::fill(&database).unwrap() {}
    let answers = |query: &str| search(&database, &SearchRequest::new(Query::parse(query)));
    for (query, is_short) in [
        ("quick", true),
        ("nothing", true),
        ("\"the quick\"", true),
        ("ommo", false),
        ("common", false),
        ("'", false),
        ("qu*", false),
    ] {
        let expect = answers(query).unwrap();
        let here = Database::fresh(
            open_read_only(&std::path::PathBuf::from(database.path().unwrap())).unwrap().into_connection(),
        )
        .unwrap();
        here.read_on_callers_thread();
        match search(&here, &SearchRequest::new(Query::parse(query))) {
            Ok(answer) => assert!(is_short && answer == expect, "{query}"),
            Err(failure) => assert!(!is_short && matches!(failure, Failure::Long), "{query}: {failure:?}"),
        }
    }
}

#[test]
fn facts_are_read_again_once_the_file_has_changed() {
    let (folder, database) = file();
    let here = open_read_only(&folder.path().join("state.db")).unwrap();
    let known = Facts::of(&here).unwrap();
    assert!(std::sync::Arc::ptr_eq(&known, &Facts::of(&here).unwrap()));
    say(&database, "a third fox");
    let now = Facts::of(&here).unwrap();
    assert_eq!((known.newest, now.newest), (4, 5));
    assert_eq!(now.coverage.unknown(), Some(&[3, 4, 5][..]));
}

#[test]
fn the_best_are_kept_in_order_however_many_come() {
    let candidate = |id: i64| Candidate { place: Place { score: ((id * 7_919) % 101) as f64, id }, length: 1, has: 0 };
    let mut all: Vec<Candidate> = (0..1_000).map(candidate).collect();
    for limit in [1, 3, 100, 2_000] {
        let mut best = Best::new(limit);
        (0..1_000).for_each(|id| best.add(candidate(id)));
        all.sort_unstable_by(best_first);
        assert_eq!(best.in_order(), all[..limit.min(all.len())], "{limit}");
    }
}
