//! Filters on columns that only newer agents record: the working directory and the Git branch.

use crate::fixture::{assert_invalid, id, made, request, row_ids};
use crate::import::imported;
use crate::{CaseResult, Setup};
use hermes_session::{ListRequest, Maintenance, NewChild, Order, Recorded, SessionFilter, StoreError, View};

fn filter(recorded: &[Recorded]) -> SessionFilter {
    SessionFilter { recorded: recorded.to_vec(), ..SessionFilter::default() }
}

async fn listed(store: &dyn Maintenance, request: &ListRequest) -> Result<Vec<String>, StoreError> {
    Ok(row_ids(&store.list(request).await?).into_iter().map(ToString::to_string).collect())
}

/// Returns the line of an export for a session without messages.
fn line(name: &str, columns: &str) -> String {
    format!(
        "{{\"format\": \"hermes-sessions/1\", \"id\": \"{name}\", \"source\": \"cli\", \"relation\": \"root\", \
         \"started_at\": 1.0{columns}, \"messages\": []}}\n"
    )
}

/// A folder selects sessions that ran in it or below it, a branch those that ran on it. For a conversation its first
/// session counts. In every order, in pages and in counts.
pub async fn a_folder_and_a_branch_select(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let text = [
        line("a", ", \"cwd\": \"/work/it's 100%_é\", \"git_branch\": \"main\""),
        line("b", ", \"cwd\": \"/work/it's 100%_é/sub\", \"git_branch\": \"main/fix\""),
        line("c", ", \"cwd\": \"/work/it's 100%_élan\""),
        line("d", ", \"cwd\": \"/WORK\""),
        line("e", ", \"title\": \"\\\"cwd\\\": \\\"/work\\\"\""),
    ]
    .concat();
    let report = imported(&*store, &text).await;
    assert_eq!((report.sessions, report.findings.len()), (5, 0), "{report:?}");
    store.split(&id("a"), &NewChild::new(id("a2")), &[], &request(9)).await?;
    let cases: [(&[Recorded], &[&str], &[&str]); 8] = [
        (&[Recorded::cwd("/work/it's 100%_é")], &["a2", "b"], &["a", "b"]),
        (&[Recorded::cwd("/work/it's 100%_é/")], &["a2", "b"], &["a", "b"]),
        (&[Recorded::cwd("/work")], &["a2", "b", "c"], &["a", "b", "c"]),
        (&[Recorded::cwd("/")], &["a2", "b", "c", "d"], &["a", "b", "c", "d"]),
        (&[Recorded::cwd("/elsewhere")], &[], &[]),
        (&[Recorded::branch("main")], &["a2"], &["a"]),
        (&[Recorded::branch("Main")], &[], &[]),
        (&[Recorded::cwd("/work"), Recorded::branch("main/fix")], &["b"], &["b"]),
    ];
    for (recorded, conversations, sessions) in cases {
        for (view, expected) in [(View::Conversations, conversations), (View::Sessions, sessions)] {
            for order in [Order::Id, Order::Active, Order::Messages, Order::PinnedFirst] {
                let request = ListRequest { view, filter: filter(recorded), order, ..ListRequest::default() };
                let mut found = listed(&*store, &request).await?;
                found.sort();
                assert_eq!(found, expected, "{recorded:?} {view:?} {order:?}");
            }
        }
        let counts = store.counts(&filter(recorded)).await?;
        assert_eq!(counts.conversations, conversations.len() as u64, "{recorded:?}");
        assert_eq!(counts.sessions, sessions.len() as u64, "{recorded:?}");
    }
    let first = ListRequest {
        view: View::Sessions,
        filter: filter(&[Recorded::cwd("/work")]),
        order: Order::Id,
        page: hermes_session::PageRequest::new(1, 1)?,
        after: None,
    };
    let page = store.list(&first).await?;
    assert_eq!(row_ids(&page), ["b"]);
    let rest = ListRequest { page: hermes_session::PageRequest::first(9), after: page.next, ..first };
    assert_eq!(row_ids(&store.list(&rest).await?), ["c"]);
    Ok(())
}

/// A store in which no session has a value of the column refuses the filter: an empty list would hide that nothing
/// recorded it.
pub async fn what_no_session_has_is_refused(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for is_empty in [true, false] {
        for (recorded, what) in
            [(Recorded::cwd("/work"), "working directory"), (Recorded::branch("main"), "Git branch")]
        {
            for order in [Order::Active, Order::PinnedFirst, Order::Cost] {
                let request =
                    ListRequest { filter: filter(std::slice::from_ref(&recorded)), order, ..ListRequest::default() };
                assert_invalid(store.list(&request).await, what);
            }
            assert_invalid(store.counts(&filter(&[recorded])).await, what);
        }
        if is_empty {
            made(&*store, "s", 0).await;
        }
    }
    let report = imported(&*store, &line("a", ", \"cwd\": \"/work\"")).await;
    assert_eq!(report.sessions, 1, "{report:?}");
    assert_invalid(store.counts(&filter(&[Recorded::branch("main")])).await, "Git branch");
    assert_eq!(store.counts(&filter(&[Recorded::cwd("/work")])).await?.sessions, 1);
    Ok(())
}
