use super::*;
use crate::SqliteOptions;
use crate::open::connection::open_writer;
use hermes_session::search::Query;

/// Makes a file with two messages that are indexed and two that are not.
fn file() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = open_writer(&folder.path().join("state.db"), &SqliteOptions::default()).unwrap().writer.unwrap();
    let say = |text: &str| {
        let sql = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', ?, 2.0)";
        database.execute(sql, [text]).unwrap();
    };
    database.execute_batch("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0)").unwrap();
    ["the quick fox", "a lazy fox"].into_iter().for_each(say);
    while indexes::fill(&database).unwrap() {}
    ["another fox", "no animal"].into_iter().for_each(say);
    (folder, database)
}

#[test]
fn what_the_indexes_named_is_shown_when_time_runs_out_in_the_rest() {
    let (_folder, database) = file();
    let coverage = Coverage::of(&database).unwrap();
    assert_eq!(coverage.unknown(), Some(&[3, 4][..]));
    let request = SearchRequest { timeout: Duration::ZERO, ..SearchRequest::new(Query::parse("fox")) };
    let later = Instant::now() + Duration::from_secs(3_600);
    for is_relaxed in [false, true] {
        // There is time to query the indexes, but none to scan the backlog.
        let mut search = Search::new(&database, &request, &coverage, later).unwrap();
        let mut page = Page::new(&request, search.cursor(is_relaxed));
        let words = search.plan(Tier::Words).unwrap();
        search.end = Instant::now();
        std::thread::sleep(Duration::from_millis(1));
        if is_relaxed {
            relaxed::relaxed(&mut search, &mut page).unwrap();
        } else {
            let flow = search.best_first(&mut page, &words, &mut Handled::default()).unwrap();
            assert!(flow.is_break(), "nothing else is looked for");
        }
        let (hits, _) = page.end(&database, &mut search.rows).unwrap();
        let found: Vec<i64> = hits.iter().map(|hit| hit.message.0).collect();
        assert_eq!((found, search.served.is_partial), (vec![2, 1], true), "relaxed: {is_relaxed}");
    }
}
