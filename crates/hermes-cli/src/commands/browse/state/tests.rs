use super::*;
use crate::commands::browse::event::Input;
use crate::commands::browse::rows::tests::row;
use hermes_session::Title;

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

/// Rows `a` to `e`; those with an even number are from telegram.
fn five() -> Vec<Row> {
    ["alpha", "beta", "gamma", "delta", "alphabet"]
        .iter()
        .enumerate()
        .map(|(number, title)| {
            let name = char::from(b'a' + number as u8).to_string();
            row(&name, Some(title), "", if number.is_multiple_of(2) { "telegram" } else { "cli" })
        })
        .collect()
}

fn loaded() -> State {
    let mut state = State::new((80, 24));
    assert_eq!(state.update(Event::Rows { rows: five(), is_last: true }), []);
    state
}

fn many(count: usize) -> Vec<Row> {
    (0..count).map(|number| row(&format!("id{number}"), Some(&format!("title {number}")), "", "cli")).collect()
}

fn press(state: &mut State, input: Input) -> Vec<Effect> {
    state.update(Event::Input(input))
}

fn type_text(state: &mut State, text: &str) -> Vec<Effect> {
    let keys = text.chars().map(|character| press(state, Input::Text(character.to_string())));
    keys.last().unwrap_or_default()
}

fn shown(state: &State) -> Vec<String> {
    let name = |(row, is_in_text): (&Row, bool)| format!("{}{}", row.id, if is_in_text { "*" } else { "" });
    (0..state.len()).filter_map(|place| state.row(place)).map(name).collect()
}

fn on(state: &State) -> &str {
    state.current().map_or("", |row| row.id.as_str())
}

fn hit(name: &str) -> Hit {
    Hit { row: row(name, Some("found"), "", "cli"), place: (id("session"), MessageId(7)) }
}

#[test]
fn what_is_typed_filters_at_once() {
    let mut state = loaded();
    type_text(&mut state, "AL");
    assert_eq!(shown(&state), ["a", "e"]);
    type_text(&mut state, "phab");
    assert_eq!(shown(&state), ["e"]);
    press(&mut state, Input::ClearWord);
    assert_eq!(shown(&state).len(), 5);
    type_text(&mut state, "tele a");
    assert_eq!(shown(&state), ["a", "c", "e"]);
    press(&mut state, Input::Backspace);
    press(&mut state, Input::Clear);
    assert_eq!(shown(&state).len(), 5);
    type_text(&mut state, "zzz");
    assert_eq!((shown(&state).len(), on(&state)), (0, ""));
    assert_eq!(press(&mut state, Input::Enter), []);
}

#[test]
fn a_longer_filter_is_looked_for_in_the_former_result() {
    let mut state = loaded();
    state.update(Event::Rows { rows: many(300), is_last: true });
    // A filter gives the same result however it was entered.
    for text in ["t", "ti", "tit 2", "tit 29", "alpha", "alphab", "e", "el"] {
        let mut typed = State::new((80, 24));
        typed.update(Event::Rows { rows: five().into_iter().chain(many(300)).collect(), is_last: true });
        type_text(&mut typed, text);
        press(&mut state, Input::Clear);
        press(&mut state, Input::Text(text.into()));
        assert_eq!(shown(&typed), shown(&state), "{text}");
    }
}

#[test]
fn the_cursor_goes_around_and_by_pages() {
    let mut state = State::new((80, 24));
    state.update(Event::Rows { rows: many(100), is_last: true });
    press(&mut state, Input::Up);
    assert_eq!((on(&state), state.top), ("id99", 79));
    press(&mut state, Input::Down);
    assert_eq!((on(&state), state.top), ("id0", 0));
    press(&mut state, Input::PageDown);
    assert_eq!((on(&state), state.top), ("id21", 1));
    press(&mut state, Input::PageUp);
    press(&mut state, Input::PageUp);
    assert_eq!(on(&state), "id0");
    press(&mut state, Input::End);
    press(&mut state, Input::PageDown);
    assert_eq!(on(&state), "id99");
    press(&mut state, Input::Home);
    assert_eq!((on(&state), state.top), ("id0", 0));
}

#[test]
fn rows_that_come_leave_the_cursor_where_it_is() {
    let mut state = loaded();
    press(&mut state, Input::End);
    state.update(Event::Rows { rows: many(50), is_last: false });
    assert_eq!((on(&state), state.len(), state.is_loading), ("e", 55, true));

    let mut state = loaded();
    let question = type_text(&mut state, "title");
    assert!(matches!(question.as_slice(), [Effect::Search { .. }]), "{question:?}");
    state.update(Event::Found { question: 5, hits: vec![hit("x"), hit("id3"), hit("b")], is_partial: false });
    assert_eq!(shown(&state), ["x*", "id3*", "b*"]);
    press(&mut state, Input::End);
    // Two rows are inserted before it; one of them was a hit already.
    state.update(Event::Rows { rows: many(5)[2..4].to_vec(), is_last: true });
    assert_eq!((shown(&state), on(&state)), (vec!["id2".into(), "id3".into(), "x*".into(), "b*".into()], "b"));
}

#[test]
fn an_answer_that_comes_too_late_is_none() {
    let mut state = loaded();
    let first = type_text(&mut state, "be");
    let Some(Effect::Search { question, text }) = first.first() else { panic!("{first:?}") };
    assert_eq!((text.as_str(), state.search.clone()), ("be", Search::Going));
    let late = *question;
    type_text(&mut state, "t");
    state.update(Event::Found { question: late, hits: vec![hit("d")], is_partial: false });
    assert_eq!((shown(&state), state.search.clone()), (vec!["b".to_owned(), "e".into()], Search::Going));
    state.update(Event::SearchFailed { question: late, why: "x".into() });
    assert_eq!(state.search, Search::Going);
    state.update(Event::Found { question: late + 1, hits: vec![hit("d"), hit("b"), hit("new")], is_partial: true });
    assert_eq!(shown(&state), ["b", "e", "d*", "new*"]);
    assert_eq!((state.found_in_text(), state.search.clone()), (2, Search::Done { is_partial: true }));
    // The row of the list is shown, not that of the hit.
    assert_eq!(state.row(2).unwrap().0.title.as_deref(), Some("delta"));
    press(&mut state, Input::Backspace);
    assert_eq!((state.found_in_text(), state.search.clone()), (0, Search::Going));
}

#[test]
fn what_is_in_every_message_is_not_searched_for() {
    let mut state = loaded();
    assert_eq!(type_text(&mut state, "a"), [Effect::StopSearch]);
    assert_eq!(press(&mut state, Input::Escape), [Effect::StopSearch]);
    assert!(matches!(type_text(&mut state, "大").as_slice(), [Effect::Search { .. }]));
    press(&mut state, Input::Clear);
    assert_eq!(type_text(&mut state, "\"\""), [Effect::StopSearch]);
}

#[test]
fn escape_clears_and_then_leaves() {
    let mut state = loaded();
    type_text(&mut state, "be");
    assert_eq!(press(&mut state, Input::Escape), [Effect::StopSearch]);
    assert_eq!((state.filter.text(), state.len()), ("", 5));
    assert_eq!(press(&mut state, Input::Escape), [Effect::Leave(None)]);
}

#[test]
fn q_leaves_only_before_anything_is_typed() {
    let mut state = loaded();
    assert_eq!(press(&mut state, Input::Text("q".into())), [Effect::Leave(None)]);
    type_text(&mut state, "bq");
    assert_eq!(state.filter.text(), "bq");
    press(&mut state, Input::Clear);
    type_text(&mut state, " ");
    assert_eq!(state.filter.text(), "");
    // Pasted text is searched for.
    press(&mut state, Input::Text("queue".into()));
    assert_eq!(state.filter.text(), "queue");
}

#[test]
fn enter_chooses_the_row_under_the_cursor() {
    let mut state = loaded();
    press(&mut state, Input::Down);
    press(&mut state, Input::Mark);
    assert_eq!(press(&mut state, Input::Enter), [Effect::Leave(Some(id("c")))]);
}

#[test]
fn deleting_asks_and_takes_what_is_marked() {
    let mut state = loaded();
    press(&mut state, Input::Mark);
    press(&mut state, Input::Mark);
    press(&mut state, Input::MarkUp);
    assert_eq!((state.marked(), on(&state)), (3, "b"));
    press(&mut state, Input::Mark);
    assert_eq!((state.marked(), state.is_marked(&id("b"))), (2, false));
    for answer in [Input::Escape, Input::Enter, Input::Text("n".into()), Input::Text("yes".into())] {
        press(&mut state, Input::Delete);
        assert_eq!(state.mode, Mode::Confirm(Question::Delete(vec![id("a"), id("c")])));
        assert_eq!(press(&mut state, answer), []);
        assert_eq!(state.mode, Mode::List);
    }
    press(&mut state, Input::Delete);
    press(&mut state, Input::Wheel { lines: 3, column: 0, row: 5 });
    assert_eq!(press(&mut state, Input::Text("y".into())), [Effect::Delete(vec![id("a"), id("c")])]);
    state.update(Event::Deleted { ids: vec![id("a"), id("c")], told: Notice::of("gone") });
    assert_eq!(
        (shown(&state).join(""), state.marked(), state.notice.as_ref().unwrap().text.as_str()),
        ("bde".into(), 0, "gone")
    );
    // Without marks, the row under the cursor is deleted. Without rows, no question is asked.
    press(&mut state, Input::Home);
    press(&mut state, Input::Delete);
    assert_eq!(state.mode, Mode::Confirm(Question::Delete(vec![id("b")])));
    press(&mut state, Input::Escape);
    type_text(&mut state, "zzz");
    press(&mut state, Input::Delete);
    assert_eq!(state.mode, Mode::List);
}

#[test]
fn a_title_is_changed_in_place() {
    let mut state = loaded();
    press(&mut state, Input::Rename);
    press(&mut state, Input::Clear);
    assert_eq!(press(&mut state, Input::Enter), []);
    assert!(state.notice.as_ref().is_some_and(|notice| notice.is_error) && matches!(state.mode, Mode::Rename { .. }));
    type_text(&mut state, "neq");
    press(&mut state, Input::Backspace);
    type_text(&mut state, "w?");
    press(&mut state, Input::Left);
    press(&mut state, Input::Delete);
    let title = Title::parse("new").unwrap();
    assert_eq!(press(&mut state, Input::Enter), [Effect::Rename { id: id("a"), title: title.clone() }]);
    press(&mut state, Input::Down);
    state.update(Event::Renamed { id: id("a"), title });
    assert_eq!((on(&state), state.known(&id("a")).unwrap().name()), ("b", "new"));
    type_text(&mut state, "new");
    assert_eq!(shown(&state), ["a"]);
    press(&mut state, Input::Rename);
    assert_eq!((press(&mut state, Input::Escape), state.mode.clone()), (vec![], Mode::List));
    assert_eq!(state.filter.text(), "new");
}

#[test]
fn an_export_replaces_nothing_without_a_question() {
    let mut state = loaded();
    press(&mut state, Input::Export);
    let file = PathBuf::from("a.jsonl");
    let export = |is_overwriting| Effect::Export { ids: vec![id("a")], file: file.clone(), is_overwriting };
    assert_eq!(press(&mut state, Input::Enter), [export(false)]);
    state.update(Event::Exists { ids: vec![id("a")], file: file.clone() });
    assert_eq!(press(&mut state, Input::Text("n".into())), []);
    state.update(Event::Exists { ids: vec![id("a")], file: file.clone() });
    assert_eq!(press(&mut state, Input::Text("y".into())), [export(true)]);
    press(&mut state, Input::Export);
    press(&mut state, Input::Clear);
    assert_eq!(
        (press(&mut state, Input::Enter), state.mode.clone()),
        (vec![], Mode::Export { ids: vec![id("a")], line: LineEditor::default() })
    );
}

#[test]
fn what_comes_while_something_is_typed_or_asked_waits() {
    let mut state = loaded();
    press(&mut state, Input::Rename);
    let exists = |name: &str| Event::Exists { ids: vec![id("a")], file: PathBuf::from(name) };
    state.update(exists("one"));
    state.update(exists("two"));
    state.update(Event::Told(Notice::error("no space left")));
    state.update(Event::Told(Notice::of("Deleted 20 of 46…")));
    press(&mut state, Input::Clear);
    // Letters typed into a title do not answer the question.
    assert_eq!((type_text(&mut state, "y"), state.asks_by_itself()), (vec![], false));
    let title = Title::parse("y").unwrap();
    assert_eq!(press(&mut state, Input::Enter), [Effect::Rename { id: id("a"), title }]);
    for name in ["one", "two"] {
        let question = Question::Overwrite { ids: vec![id("a")], file: name.into() };
        assert_eq!((state.mode.clone(), state.asks_by_itself()), (Mode::Confirm(question), true));
        press(&mut state, Input::Escape);
    }
    assert_eq!((state.mode.clone(), state.notice.clone()), (Mode::List, Some(Notice::error("no space left"))));
    press(&mut state, Input::Down);
    assert_eq!(state.notice, None);
}

#[test]
fn in_a_window_that_is_too_small_keys_only_leave() {
    let mut state = loaded();
    press(&mut state, Input::Delete);
    state.update(Event::Resized(39, 24));
    assert_eq!(press(&mut state, Input::Text("y".into())), []);
    assert_eq!(press(&mut state, Input::Escape), [Effect::Leave(None)]);
    state.update(Event::Resized(40, 24));
    assert_eq!(press(&mut state, Input::Text("y".into())), [Effect::Delete(vec![id("a")])]);
}

#[test]
fn a_preview_is_asked_for_once_and_where_it_is_seen() {
    let mut state = loaded();
    let wanted = |name: &str| Wanted { id: id(name), place: None };
    assert_eq!(press(&mut state, Input::Down), [], "a narrow screen has none");
    assert_eq!(press(&mut state, Input::Preview), [Effect::Preview(wanted("b"))]);
    state.update(Event::Previewed { wanted: wanted("b"), preview: Preview::Messages(vec![]) });
    assert!(state.preview().unwrap().1.is_some());
    press(&mut state, Input::ScrollPreview(5));
    state.update(Event::Told(Notice::of("x")));
    assert_eq!(state.preview_scroll, 5);
    assert_eq!(press(&mut state, Input::Down), [Effect::Preview(wanted("c"))]);
    assert_eq!(state.update(Event::Told(Notice::of("x"))), [], "it is on its way");
    assert_eq!((state.preview_scroll, state.preview().unwrap().1), (0, None));
    assert_eq!(press(&mut state, Input::Up), [], "it is kept");
    assert_eq!(state.update(Event::Resized(120, 30)), []);
    // A hit requests the preview around its message.
    type_text(&mut state, "beta");
    let effects = state.update(Event::Found { question: 4, hits: vec![hit("b")], is_partial: false });
    let place = Some((id("session"), MessageId(7)));
    assert_eq!(effects, [Effect::Preview(Wanted { id: id("b"), place })]);
    assert_eq!(press(&mut state, Input::Preview), []);
    assert!(state.preview().is_none());
}

#[test]
fn previews_do_not_pile_up() {
    let mut state = State::new((200, 50));
    state.update(Event::Rows { rows: many(100), is_last: true });
    for number in 0..100 {
        let wanted = Wanted { id: id(&format!("id{number}")), place: None };
        state.update(Event::Previewed { wanted, preview: Preview::Failed("x".into()) });
    }
    assert_eq!(state.previews.len(), KEPT);
}

#[test]
fn a_click_goes_there_and_a_second_one_chooses() {
    let mut state = loaded();
    let click = |row: u16, at: u64| Input::Click { column: 9, row, at: Duration::from_millis(at) };
    assert_eq!((press(&mut state, click(4, 1_000)), on(&state).to_owned()), (vec![], "c".into()));
    assert_eq!(press(&mut state, click(4, 1_900)), [], "that was too slow");
    assert_eq!(press(&mut state, click(3, 2_000)), [], "that was another row");
    assert_eq!(press(&mut state, click(3, 2_300)), [Effect::Leave(Some(id("b")))]);
    for nowhere in [0, 1, 7, 23] {
        assert_eq!((press(&mut state, click(nowhere, 9_000)), on(&state)), (vec![], "b"));
    }
}

#[test]
fn the_wheel_moves_the_list_and_the_cursor_along() {
    let mut state = State::new((80, 24));
    state.update(Event::Rows { rows: many(100), is_last: true });
    let wheel = |lines| Input::Wheel { lines, column: 0, row: 5 };
    press(&mut state, wheel(3));
    assert_eq!((state.top, state.cursor), (3, 3));
    press(&mut state, Input::Down);
    press(&mut state, wheel(-3));
    assert_eq!((state.top, state.cursor), (0, 4));
    (0..50).for_each(|_| _ = press(&mut state, wheel(3)));
    assert_eq!((state.top, state.cursor), (79, 79));
}

#[test]
fn help_opens_scrolls_and_closes() {
    let mut state = loaded();
    for key in [Input::Help, Input::Text("?".into())] {
        press(&mut state, key);
        press(&mut state, Input::Down);
        assert_eq!(state.mode, Mode::Help(0), "all of it is shown");
        state.update(Event::Resized(40, 10));
        press(&mut state, Input::Down);
        assert_eq!(state.mode, Mode::Help(1));
        press(&mut state, Input::End);
        let Mode::Help(last) = state.mode else { panic!("{:?}", state.mode) };
        press(&mut state, Input::PageDown);
        press(&mut state, Input::Up);
        assert_eq!(state.mode, Mode::Help(last - 1), "it never scrolls behind its end");
        press(&mut state, Input::Home);
        assert_eq!((state.mode.clone(), state.update(Event::Resized(80, 24))), (Mode::Help(0), vec![]));
        assert_eq!((press(&mut state, Input::Escape), state.mode.clone()), (vec![], Mode::List));
    }
    type_text(&mut state, "b?");
    assert_eq!((state.mode.clone(), state.filter.text()), (Mode::List, "b?"));
}

#[test]
fn ctrl_d_quits_only_before_anything_is_typed() {
    let mut state = loaded();
    type_text(&mut state, "be");
    assert_eq!(press(&mut state, Input::EndOfFile), []);
    assert_eq!((state.filter.text(), state.mode.clone()), ("be", Mode::List));
    press(&mut state, Input::Clear);
    // In a line it deletes the character after the cursor, as in a shell.
    press(&mut state, Input::Rename);
    press(&mut state, Input::Home);
    press(&mut state, Input::EndOfFile);
    assert!(matches!(&state.mode, Mode::Rename { line, .. } if line.text() == "lpha"), "{:?}", state.mode);
    press(&mut state, Input::Escape);
    assert_eq!(press(&mut state, Input::EndOfFile), [Effect::Leave(None)]);
}

#[test]
fn ctrl_c_leaves_whatever_is_going_on() {
    for begin in [Input::Help, Input::Rename, Input::Tag, Input::Delete, Input::Export, Input::Text("x".into())] {
        let mut state = loaded();
        press(&mut state, begin);
        assert_eq!(press(&mut state, Input::Suspend), [Effect::Suspend]);
        assert_eq!(press(&mut state, Input::Quit), [Effect::Leave(None)]);
    }
}

#[test]
fn what_goes_wrong_is_told_until_the_next_key_but_of_the_list_until_the_end() {
    let mut state = State::new((80, 24));
    state.update(Event::Told(Notice::error("no space left")));
    state.update(Event::ListFailed("the store is locked".into()));
    state.update(Event::Unreadable { count: 2, first: "s1: no time".into() });
    state.update(Event::Unreadable { count: 3, first: "s2: no time".into() });
    assert_eq!(state.notice, Some(Notice::error("no space left")));
    press(&mut state, Input::Down);
    assert_eq!((state.is_loading, state.notice.clone()), (false, None));
    assert_eq!(state.cut_short.as_deref(), Some("the store is locked"));
    assert_eq!(state.unreadable, (5, "s1: no time".into()));
}
