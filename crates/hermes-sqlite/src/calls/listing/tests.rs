use super::*;
use crate::SqliteOptions;
use crate::open::connection::open_writer;
use hermes_session::{PinAndTags, Tag};

/// Makes a file with conversations of which none is pinned; the tables of pins and tags exist.
fn file() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let database = open_writer(&path, &SqliteOptions::default()).unwrap().writer.unwrap();
    for number in 0..50 {
        let sql = "INSERT INTO sessions (id, source, started_at) VALUES (?, 'cli', ?)";
        database.execute(sql, params![format!("s{number}"), number]).unwrap();
    }
    let pins_and_tags = PinAndTags { pinned_at: None, tags: vec![Tag::from_stored("t")] };
    pins_and_tags::import(&database, &[(SessionId::from_stored("s0"), pins_and_tags)]).unwrap();
    database.refresh().unwrap();
    (folder, database)
}

fn plan(database: &Database, request: &ListRequest) -> String {
    let (sql, values) = page(request, Bounds::Page, database.shape(), "INDEXED BY hx_sessions_card");
    let mut statement = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
    steps.collect::<Result<Vec<_>, _>>().unwrap().join("\n")
}

#[test]
fn a_list_with_the_pinned_first_sorts_only_the_pinned() {
    let (_folder, database) = file();
    for view in [View::Conversations, View::Sessions] {
        let request = ListRequest { view, order: Order::PinnedFirst, ..ListRequest::default() };
        let [pinned, others] = request.pinned_parts().map(|part| plan(&database, &part.unwrap()));
        assert!(others.contains("SCAN h USING INDEX") && !others.contains("TEMP B-TREE"), "{view:?}: {others}");
        assert!(!pinned.contains("SCAN h"), "{view:?}: {pinned}");
    }
}
