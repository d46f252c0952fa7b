//! Titles: unique, exact, numbered once.

use crate::fixture::{assert_not_found, conflict, id, keyed, made, request, stored, title};
use crate::{CaseResult, Setup};
use hermes_session::{Conflict, DeleteExtent, NewChild, SessionId, Titled};
use std::collections::BTreeSet;

fn taken(text: &str, holder: &str) -> Conflict {
    Conflict::TitleTaken { title: text.into(), holder: id(holder) }
}

/// A title belongs to one session; titles are case-sensitive.
pub async fn unique_and_case_sensitive(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let names = ["a", "b", "c", "d", "e"];
    for name in names {
        made(&*store, name, 0).await;
    }
    store.set_title(&id("a"), Some(&title("My Title")), &request(1)).await?;
    let result = store.set_title(&id("b"), Some(&title("My Title")), &request(2)).await;
    assert_eq!(conflict(result), taken("My Title", "a"));
    assert_eq!(stored(&*store, &id("b")).await.title, None);

    let others = ["my title", "My Titles", "Mÿ Title", "ＭＹ title"];
    for (name, text) in names[1..].iter().zip(others) {
        store.set_title(&id(name), Some(&title(text)), &request(3)).await?;
        assert_eq!(stored(&*store, &id(name)).await.title.as_deref(), Some(text));
    }
    // After a refused title the session keeps its own.
    let result = store.set_title(&id("b"), Some(&title("My Title")), &request(4)).await;
    assert_eq!(conflict(result), taken("My Title", "a"));
    assert_eq!(stored(&*store, &id("b")).await.title.as_deref(), Some("my title"));
    Ok(())
}

/// A session may be given the title it already has.
pub async fn own_title_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "a", 0).await;
    for _ in 0..2 {
        store.set_title(&session, Some(&title("same")), &request(1)).await?;
        assert_eq!(stored(&*store, &session).await.title.as_deref(), Some("same"));
    }
    assert_eq!(store.allocate_title(&session, &title("same"), &request(2)).await?, title("same"));
    Ok(())
}

/// A title that was removed is free for others.
pub async fn cleared(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (first, second) = (made(&*store, "a", 0).await, made(&*store, "b", 0).await);
    store.set_title(&first, Some(&title("x")), &request(1)).await?;
    store.set_title(&first, None, &request(2)).await?;
    store.set_title(&first, None, &request(3)).await?;
    assert_eq!(stored(&*store, &first).await.title, None);
    store.set_title(&second, Some(&title("x")), &request(4)).await?;
    assert_eq!(conflict(store.set_title(&first, Some(&title("x")), &request(5)).await), taken("x", "b"));
    // Setting another title frees the old one as well.
    store.set_title(&second, Some(&title("y")), &request(6)).await?;
    store.set_title(&first, Some(&title("x")), &request(7)).await?;
    assert_eq!(stored(&*store, &first).await.title.as_deref(), Some("x"));
    Ok(())
}

/// Concurrent callers get different titles, without gaps.
pub async fn numbers_are_allocated_once(setup: Setup) -> CaseResult {
    const CALLERS: usize = 24;
    let handles = [setup.store().await, setup.store().await];
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..CALLERS {
        let session = made(&*handles[0], &format!("s{n:02}"), 0).await;
        let store = handles[n % 2].clone();
        calls.spawn(async move { store.allocate_title(&session, &title("plan"), &request(n as f64)).await });
    }
    let mut given = BTreeSet::new();
    while let Some(answer) = calls.join_next().await {
        assert!(given.insert(answer.unwrap()?), "a title was given twice");
    }
    let expected = std::iter::once("plan".to_owned()).chain((2..=CALLERS).map(|n| format!("plan #{n}")));
    assert_eq!(given, expected.map(|text| title(&text)).collect());
    let mut kept = BTreeSet::new();
    for n in 0..CALLERS {
        kept.insert(title(&stored(&*handles[1], &id(&format!("s{n:02}"))).await.title.unwrap()));
    }
    assert_eq!(kept, given);
    Ok(())
}

/// A session without a title gets the next free one; a title that it has stays, whoever gave it.
pub async fn a_title_that_was_given_stays(setup: Setup) -> CaseResult {
    let handles = [setup.store().await, setup.store().await];
    let store = &handles[0];
    let (first, second) = (made(&**store, "a", 0).await, made(&**store, "b", 0).await);
    assert_eq!(store.entitle(&first, &title("plan"), &keyed(1, "k")).await?, Some(title("plan")));
    assert_eq!(store.entitle(&second, &title("plan"), &request(1)).await?, Some(title("plan #2")));
    assert_eq!(store.entitle(&second, &title("other"), &request(2)).await?, None);
    store.set_title(&first, Some(&title("mine")), &request(3)).await?;
    assert_eq!(store.entitle(&first, &title("plan"), &request(4)).await?, None);
    assert_eq!(store.entitle(&first, &title("plan"), &keyed(5, "k")).await?, Some(title("plan")), "a repetition");
    assert_eq!(stored(&**store, &first).await.title.as_deref(), Some("mine"));
    let reused = Conflict::KeyReused(crate::fixture::key("k"));
    assert_eq!(conflict(store.allocate_title(&first, &title("plan"), &keyed(5, "k")).await), reused);
    assert_eq!(stored(&**store, &second).await.title.as_deref(), Some("plan #2"));
    store.set_title(&first, None, &request(6)).await?;
    assert_eq!(store.entitle(&first, &title("plan"), &request(7)).await?, Some(title("plan #3")));
    assert_not_found(store.entitle(&id("nobody"), &title("plan"), &request(8)).await, &id("nobody"));
    // A person and a program give a title at once: the person's stays.
    for n in 0..10 {
        let session = made(&**store, &format!("s{n}"), 0).await;
        let (automatic, manual, request) = (title(&format!("auto {n}")), title(&format!("mine {n}")), request(9));
        let (by_program, by_person) = tokio::join!(
            handles[1].entitle(&session, &automatic, &request),
            store.set_title(&session, Some(&manual), &request)
        );
        by_program?;
        by_person?;
        assert_eq!(stored(&**store, &session).await.title.as_deref(), Some(manual.as_str()));
    }
    Ok(())
}

/// The next number depends on this lineage alone, and not on the session's own title.
pub async fn the_next_number_counts_the_lineage(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let next = async |name: &str, base: &str| {
        let session = made(&*store, name, 0).await;
        store.allocate_title(&session, &title(base), &request(1)).await
    };
    for (n, text) in
        ["proj", "proj #10", "PROJ #90", "proj #notes", "proj #bar #99", "proj_x #7", "projX"].iter().enumerate()
    {
        let session = made(&*store, &format!("held{n}"), 0).await;
        store.set_title(&session, Some(&title(text)), &request(0)).await?;
    }
    assert_eq!(next("a", "proj").await?, title("proj #11"));
    assert_eq!(next("b", "proj #2").await?, title("proj #12"));
    assert_eq!(next("c", "fresh #7").await?, title("fresh"));
    assert_eq!(next("d", "proj%").await?, title("proj%"));
    assert_eq!(next("e", "PROJ").await?, title("PROJ #91"));
    // Its own title does not count: it may get it again.
    assert_eq!(store.allocate_title(&id("b"), &title("proj"), &request(2)).await?, title("proj #12"));
    assert_eq!(stored(&*store, &id("b")).await.title.as_deref(), Some("proj #12"));
    Ok(())
}

/// A title that is too long for a number is shortened; the number is kept whole.
pub async fn a_long_title_keeps_its_number(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let long = title(&"é".repeat(100));
    for (n, expected) in
        [long.clone(), title(&format!("{} #2", "é".repeat(82))), title(&format!("{} #3", "é".repeat(82)))]
            .into_iter()
            .enumerate()
    {
        let session = made(&*store, &format!("s{n}"), 0).await;
        assert_eq!(store.allocate_title(&session, &long, &request(1)).await?, expected);
        assert_eq!(stored(&*store, &session).await.title.as_deref(), Some(expected.as_str()));
    }
    let child = store.split(&id("s0"), &NewChild::new(id("child")), &[], &request(2)).await?;
    assert_eq!(child, Some(title(&format!("{} #4", "é".repeat(82)))));
    Ok(())
}

/// A title and its numbered variants are found by the title, and nothing that only looks similar.
pub async fn a_lineage_is_found_by_its_base(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let held = [
        "x",
        "x #2",
        "x #10",
        "x #2 #3",
        "X #4",
        "x #notes",
        "x y",
        "xx",
        "y",
        "x_",
        "x%",
        "x # 5",
        "x #12345678901234567890",
    ];
    for (n, text) in held.iter().enumerate() {
        let session = made(&*store, &format!("s{n:02}"), n as f64).await;
        store.set_title(&session, Some(&title(text)), &request(50)).await?;
    }
    made(&*store, "untitled", 0).await;
    let found = async |text: &str| -> Result<Vec<(String, SessionId)>, hermes_session::StoreError> {
        let mut found: Vec<Titled> = store.titled(text).await?;
        found.sort_by(|a, b| a.id.cmp(&b.id));
        for one in &found {
            assert_eq!(one.started_at, stored(&*store, &one.id).await.started_at);
        }
        Ok(found.into_iter().map(|one| (one.title, one.id)).collect())
    };
    let expect = |texts: &[&str]| -> Vec<(String, SessionId)> {
        let with_id = |text: &&str| {
            let n = held.iter().position(|other| other == text).unwrap();
            ((*text).to_owned(), id(&format!("s{n:02}")))
        };
        texts.iter().map(with_id).collect()
    };
    assert_eq!(found("x").await?, expect(&["x", "x #2", "x #10"]));
    assert_eq!(found("x #2").await?, expect(&["x #2", "x #2 #3"]));
    assert_eq!(found("X").await?, expect(&["X #4"]));
    assert_eq!(found("x_").await?, expect(&["x_"]));
    assert_eq!(found("x%").await?, expect(&["x%"]));
    for nothing in ["", " x", "x ", "x #", "z", "#2"] {
        assert_eq!(found(nothing).await?, [], "{nothing:?}");
    }
    Ok(())
}

/// Titles with combining forms, joined emoji and other scripts are kept in their cleaned form.
pub async fn titles_of_any_script(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for (n, text) in
        ["e\u{301}t\u{e9}", "👨\u{200d}👩\u{200d}👧 trip", "大别山 #２", "שלום עולם", "%_\\'\"", "a\u{a0} b"]
            .iter()
            .enumerate()
    {
        let session = made(&*store, &format!("s{n}"), 0).await;
        let clean = title(text);
        store.set_title(&session, Some(&clean), &request(1)).await?;
        assert_eq!(stored(&*store, &session).await.title.as_deref(), Some(clean.as_str()));
        let found = store.titled(clean.as_str()).await?;
        assert_eq!(found.iter().map(|one| &one.id).collect::<Vec<_>>(), [&session]);
    }
    Ok(())
}

/// A title is deleted with its session, and can be used again.
pub async fn a_deleted_title_is_free(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (first, second) = (made(&*store, "a", 0).await, made(&*store, "b", 0).await);
    store.set_title(&first, Some(&title("x")), &request(1)).await?;
    store.delete(&first, DeleteExtent::Conversation, &request(2)).await?;
    assert!(store.titled("x").await?.is_empty());
    assert_eq!(store.allocate_title(&second, &title("x"), &keyed(3, "k")).await?, title("x"));
    Ok(())
}
