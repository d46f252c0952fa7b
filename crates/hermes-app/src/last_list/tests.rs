use super::*;

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_seconds(seconds).unwrap()
}

fn place(folder: &Path, store: &str) -> Place {
    Place { folder: folder.join("a/b"), store: store.into() }
}

#[test]
fn a_list_comes_back_for_its_store_and_terminal_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (place, one) = (place(folder.path(), "sqlite:/x"), Terminal::named("1"));
    let list = LastList::new(21, true, [id("a"), id("大\u{1b}")]).on_terminal(true);
    place.write(&list, &one, at(5.25)).unwrap();
    assert_eq!(place.read(&one), Some((list.clone(), at(5.25))));
    assert_eq!(place.read(&Terminal::UNKNOWN), None);
    assert_eq!(place.newest(), Some((list, at(5.25))));
    let other = Place { store: "sqlite:/y".into(), ..place };
    assert_eq!((other.read(&one), other.newest()), (None, None));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let file = lists(&other.folder).pop().unwrap().1;
        assert_eq!((mode(&other.folder), mode(&file)), (0o700, 0o600));
    }
}

#[test]
fn a_file_of_another_form_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list");
    assert_eq!(stored(&file, "s"), None);
    for text in [
        "",
        "{",
        "[]",
        r#"{"format": 2, "store": "s", "at": 1.0, "first": 1, "sessions": false, "rows": []}"#,
        r#"{"format": 1, "store": "s", "at": 1.0, "first": 1, "sessions": false, "rows": [3]}"#,
    ] {
        std::fs::write(&file, text).unwrap();
        assert_eq!(stored(&file, "s"), None, "{text}");
    }
}

#[test]
fn rows_have_the_numbers_that_were_printed() {
    let list = LastList::new(21, false, [id("a"), id("b")]);
    assert_eq!(list.row(22).unwrap(), &id("b"));
    for number in [0, 1, 20, 23, u64::MAX] {
        let text = list.row(number).unwrap_err().to_string();
        assert_eq!(text, format!("the last list has no row {number}: it has 21 to 22"));
    }
    assert!(LastList::new(1, false, []).row(1).unwrap_err().to_string().ends_with("it was empty"));
}

#[test]
fn a_list_of_yesterday_is_too_old() {
    assert!(!is_old(at(1e6 - MAX_AGE_SECONDS), at(1e6)) && is_old(at(1e6 - MAX_AGE_SECONDS - 1.0), at(1e6)));
}

#[test]
fn old_lists_and_the_oldest_of_too_many_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path(), "s");
    let list = LastList::new(1, false, [id("a")]);
    let terminal = |number: usize| Terminal::named(number.to_string());
    for number in 0..MAX_FILES + 2 {
        place.write(&list, &terminal(number), at(1e6 + number as f64)).unwrap();
    }
    let other = place.folder.join("notes.txt");
    std::fs::write(&other, "mine").unwrap();
    place.remove_old(at(1e6 + 100.0));
    assert_eq!(lists(&place.folder).len(), MAX_FILES);
    assert!(place.read(&terminal(1)).is_none() && place.read(&terminal(2)).is_some(), "the newest are kept");
    place.remove_old(at(1e6 + MAX_AGE_SECONDS + 60.0));
    assert!(place.read(&terminal(59)).is_none() && place.read(&terminal(60)).is_some());
    assert!(other.exists());
}
