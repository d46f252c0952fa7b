use super::*;
use crate::commands::browse::event::{Event, Hit, Input, Notice, Preview, Wanted};
use crate::commands::browse::keys::KEYS;
use crate::commands::browse::rows::Row;
use crate::commands::browse::rows::tests::row;
use hermes_session::{Message, MessageBody, MessageId, Role, SessionId, Tag, Timestamp, Title};
use jiff::tz::TimeZone;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use std::path::PathBuf;
use std::time::Duration;
use unicode_width::UnicodeWidthStr as _;

const HOSTILE: &str = "a\u{1b}[31mred\u{9b}2J\u{202e}evil\u{200b}\rx";

fn now() -> Now {
    Now { at: Timestamp::from_seconds(1_741_166_123.0).unwrap(), zone: TimeZone::UTC }
}

fn rows() -> Vec<Row> {
    let ago = |row: Row, seconds: f64| Row { last_active: now().at.plus(-seconds), ..row };
    vec![
        ago(row("20250305_091523_a1b2c3", Some("Flaky login test"), "fails", "cli"), 7200.0),
        ago(row("20250304_150000_b0b0b0b0", Some("大别山徒步计划和一个很长很长的标题"), "周末", "telegram"), 90000.0),
        ago(row("20250303_101500_f1f2f3f4", None, "كيف أحضّر كبسة الدجاج لستة أشخاص؟", "discord"), 300_000.0),
        ago(row("cron_job1", Some("Größe 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}"), "", "api_server"), 9e6),
        ago(row("evil", Some(HOSTILE), "", HOSTILE), 60.0),
    ]
}

fn message(number: i64, role: Role, text: &str) -> Message {
    Message::new(
        MessageId(number),
        SessionId::parse("s").unwrap(),
        now().at.plus(number as f64),
        MessageBody::new(role, text),
    )
}

fn loaded(size: (u16, u16)) -> State {
    let mut state = State::new(size);
    state.update(Event::Rows { rows: rows(), is_last: true });
    state
}

fn press(state: &mut State, inputs: impl IntoIterator<Item = Input>) {
    inputs.into_iter().for_each(|input| _ = state.update(Event::Input(input)));
}

fn drawn(state: &State) -> Buffer {
    drawn_by(&mut Painter::new(true), state).0
}

fn drawn_by(painter: &mut Painter, state: &State) -> (Buffer, Position) {
    let (width, height) = state.size();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| painter.draw(state, &now(), frame)).unwrap();
    (terminal.backend().buffer().clone(), terminal.backend().cursor_position())
}

/// Returns the visible lines, without trailing blanks.
fn lines(buffer: &Buffer) -> Vec<String> {
    let line = |y: u16| {
        let (mut text, mut x) = (String::new(), 0);
        while let Some(cell) = buffer.cell((x, y)) {
            text.push_str(cell.symbol());
            x += (cell.symbol().width() as u16).max(1);
        }
        text.trim_end().to_owned()
    };
    (0..buffer.area().height).map(line).collect()
}

fn seen(state: &State) -> String {
    lines(&drawn(state)).join("\n")
}

#[test]
fn a_small_terminal() {
    insta::assert_snapshot!(seen(&loaded((40, 10))), @r#"
    Browse sessions                        5
       Title / preview            Active
    →  Flaky login test           2h ago
       大别山徒步计划和一个很长…  yesterday
       كيف أحضّر كبسة الدجاج لست…  3d ago
       Größe 👨‍👩‍👧 ❤️                2024-11-21
       a␛[31mred<U+009B>2J<U+20…  1m ago


    Enter resume  Esc quit  F1 help
    "#);
}

#[test]
fn a_usual_terminal_with_a_filter_and_what_is_found_in_text() {
    let mut state = loaded((80, 24));
    press(&mut state, [Input::Mark, Input::Text("LOG".into())]);
    let hit = Hit { row: rows().swap_remove(1), place: (SessionId::parse("s").unwrap(), MessageId(2)) };
    state.update(Event::Found { question: 1, hits: vec![hit], is_partial: false });
    press(&mut state, [Input::Down, Input::Preview]);
    let wanted = state.preview().unwrap().0.clone();
    let said = [
        message(1, Role::User, "Where is it?"),
        message(2, Role::Assistant, &format!("{}in the LOGIN file, {HOSTILE}", "A long text. ".repeat(40))),
        message(3, Role::User, "Fine."),
    ];
    state.update(Event::Previewed { wanted, preview: Preview::Messages(said.to_vec()) });
    insta::assert_snapshot!(seen(&state), @r#"
    › LOG                                              1 of 5 + 1 in text · 1 marked
       Title / preview              Active      Source      ID
     ● Flaky login test             2h ago      cli         20250305_091523_a1b2c3
    →  大别山徒步计划和一… in text  yesterday   telegram    20250304_150000_b0b0b0b0








    ── 大别山徒步计划和一个很长很长的标题 ──────────────────────────────────────────
      A long text. A long text. A long text. A long text. A long text. A long text.
      A long text. A long text. A long text. A long text. A long text. A long text.
      A long text. A long text. A long text. A long text. A long text. A long text.
      A long text. A long text. A long text. A long text. A long text. A long text.
      A long text. A long text. A long text. A long text. in the LOGIN file,
      a␛[31mred<U+009B>2J<U+202E>evil<U+200B>
      x

    ● You  09:15
      Fine.
    Enter resume  Esc quit  F1 help  Tab mark  F3 preview  F2 rename  Del delete
    "#);
}

#[test]
fn a_wide_terminal_has_the_preview_beside_the_list() {
    let mut state = loaded((200, 50));
    let wanted = state.preview().unwrap().0.clone();
    let said = [message(1, Role::User, "Why does it fail?"), message(2, Role::Tool, "1\n2\n3\n4\n5")];
    state.update(Event::Previewed { wanted, preview: Preview::Messages(said.to_vec()) });
    let buffer = drawn(&state);
    let all = lines(&buffer);
    insta::assert_snapshot!(all[..14].join("\n"), @r#"
    Browse sessions  type to filter                                                                                                                                                          5 conversations
       Title / preview                                       Active      Source       Msgs  ID                      │
    →  Flaky login test                                      2h ago      cli             2  20250305_091523_a1b2c3  │ ── 2025-03-05
       大别山徒步计划和一个很长很长的标题                    yesterday   telegram        2  20250304_150000_b0b0b0b0│
       كيف أحضّر كبسة الدجاج لستة أشخاص؟                      3d ago      discord         2  20250303_101500_f1f2f3f4│ ● You  09:15
       Größe 👨‍👩‍👧 ❤️                                           2024-11-21  api_server      2  cron_job1               │   Why does it fail?
       a␛[31mred<U+009B>2J<U+202E>evil<U+200B>␍x             1m ago      a␛[31mred…      2  evil                    │
                                                                                                                    │ ↳ tool  09:15
                                                                                                                    │   1
                                                                                                                    │   2
                                                                                                                    │   3
                                                                                                                    │   … (--full shows the rest)
                                                                                                                    │
                                                                                                                    │
    "#);
    assert_eq!(all.len(), 50);
    assert_eq!(buffer[(112, 20)].symbol(), "│");
}

#[test]
fn what_matches_stands_out() {
    let mut state = loaded((80, 24));
    press(&mut state, [Input::Text("größe".into())]);
    let buffer = drawn(&state);
    let red = |buffer: &Buffer| -> String {
        let cells = buffer.content().iter().filter(|cell| cell.fg == ratatui_core::style::Color::Red);
        cells.map(|cell| cell.symbol()).collect()
    };
    assert_eq!(red(&buffer), "Größe");
    let (plain, _) = drawn_by(&mut Painter::new(false), &state);
    assert!(plain.content().iter().all(|cell| cell.fg == ratatui_core::style::Color::Reset));
    assert_eq!(lines(&plain), lines(&buffer));
}

#[test]
fn the_place_where_typing_goes_on_is_in_sight() {
    for size in [(40, 10), (80, 24), (200, 50)] {
        let mut state = loaded(size);
        press(&mut state, [Input::Text("大别".into())]);
        assert_eq!(drawn_by(&mut Painter::new(true), &state).1, Position { x: 6, y: 0 });
        press(&mut state, [Input::Text("x大".repeat(300))]);
        let place = drawn_by(&mut Painter::new(true), &state).1;
        assert!(place.x > 6 && place.x < size.0 && place.y == 0, "{place}");
        press(&mut state, [Input::Escape, Input::Rename, Input::Text("很长".repeat(99))]);
        let place = drawn_by(&mut Painter::new(true), &state).1;
        assert!(place.x < size.0 && place.y == size.1 - 1, "{place}");
    }
}

#[test]
fn questions_and_news_are_on_the_last_line() {
    let mut state = loaded((40, 10));
    let last = |state: &State| lines(&drawn(state)).pop().unwrap();
    press(&mut state, [Input::Delete]);
    assert_eq!(last(&state), "Move Flaky login te… to the trash? [y/N]");
    press(&mut state, [Input::Escape]);
    assert_eq!(last(&state), "Nothing was changed");
    press(&mut state, [Input::Down, Input::Delete]);
    assert_eq!(last(&state), "Move 大别山徒步计划… to the trash? [y/N]");
    state.deletes_for_good = true;
    assert_eq!(last(&state), "Delete 大别山徒步计划和… for good? [y/N]");
    state.deletes_for_good = false;
    press(&mut state, [Input::Escape, Input::Mark, Input::Mark, Input::Delete]);
    assert_eq!(last(&state), "Move 2 conversations to the trash? [y/N]");
    state.deletes_for_good = true;
    assert_eq!(last(&state), "Delete 2 conversations for good? [y/N]");
    press(&mut state, [Input::Escape, Input::Export]);
    assert_eq!(last(&state), "Export to: conversations.jsonl");
    press(&mut state, [Input::Enter]);
    state.update(Event::Exists { ids: vec![], file: "/a/rather/long/path/to/x.jsonl".into() });
    assert_eq!(last(&state), "Overwrite …r/long/path/to/x.jsonl? [y/N]");
    press(&mut state, [Input::Escape, Input::Down]);
    assert_eq!(last(&state), "Enter resume  Esc quit  F1 help");
}

#[test]
fn news_is_never_seen_in_the_place_of_what_keys_answer() {
    let mut state = loaded((40, 10));
    let foot = |state: &State| lines(&drawn(state)).split_off(8);
    press(&mut state, [Input::Delete]);
    state.update(Event::Deleted { ids: vec![], told: Notice::of("Moved 20 of 46 to the trash…") });
    assert_eq!(foot(&state), ["", "Move Flaky login te… to the trash? [y/N]"]);
    press(&mut state, [Input::Escape]);
    assert_eq!(foot(&state)[1], "Moved 20 of 46 to the trash…");
    press(&mut state, [Input::Rename, Input::Clear, Input::Enter]);
    assert_eq!(foot(&state), ["visible character", "Title:"], "it is told above");
    state.update(Event::Told(Notice::of("Wrote it")));
    press(&mut state, [Input::Text("x".into())]);
    assert_eq!(foot(&state), ["", "Title: x"]);
}

#[test]
fn long_news_takes_the_lines_it_needs() {
    let mut state = loaded((40, 10));
    let told = |state: &mut State, text: &str| {
        state.update(Event::Told(Notice::error(text)));
        lines(&drawn(state)).split_off(5)
    };
    let seen = told(&mut state, "could not write to /a/long/path/to/conversations.jsonl: no space left on the device");
    assert_eq!(
        seen[2..],
        ["could not write to", "/a/long/path/to/conversations.jsonl: no", "space left on the device"]
    );
    let seen = told(&mut state, &"大别山徒步计划 ".repeat(99));
    assert!(
        seen[0].starts_with("   Größe") && seen[4].ends_with('…') && seen[1..].iter().all(|line| line.width() > 35)
    );
}

#[test]
fn the_title_tells_what_is_going_on() {
    let title = |state: &State| lines(&drawn(state)).swap_remove(0);
    let mut state = State::new((80, 24));
    assert!(title(&state).ends_with("  0 conversations, loading …") && seen(&state).contains("Loading …"));
    state.update(Event::Rows { rows: rows(), is_last: true });
    assert!(title(&state).ends_with("  5 conversations"), "{}", title(&state));
    press(&mut state, [Input::Text("zz".into())]);
    assert!(title(&state).starts_with("› zz ") && title(&state).ends_with(" 0 of 5 · searching what was said …"));
    state.update(Event::Found { question: 1, hits: vec![], is_partial: true });
    assert!(
        title(&state).ends_with(" 0 of 5 · stopped early") && seen(&state).contains("No sessions match the filter.")
    );
    press(&mut state, [Input::Text("z".into())]);
    state.update(Event::SearchFailed { question: 2, why: "x".into() });
    assert!(title(&state).ends_with(" · could not search what was said"));
    let mut state = State::new((80, 24));
    state.update(Event::Rows { rows: vec![], is_last: true });
    assert!(seen(&state).contains("No sessions found."));
}

#[test]
fn a_list_that_failed_looks_neither_empty_nor_complete() {
    let mut state = State::new((80, 24));
    state.update(Event::ListFailed("the store is locked".into()));
    press(&mut state, [Input::Down]);
    insta::assert_snapshot!(lines(&drawn(&state))[..3].join("\n"), @r#"
    Browse sessions  type to filter                    0 conversations, not complete
       Title / preview              Active      Source      ID
       The list is not complete: the store is locked
    "#);
    let mut state = State::new((40, 10));
    state.update(Event::Unreadable { count: 1, first: "sessions \"s1\": no time".into() });
    state.update(Event::Rows { rows: rows(), is_last: false });
    state.update(Event::Unreadable { count: 1, first: "sessions \"s2\": no time".into() });
    press(&mut state, [Input::Down]);
    insta::assert_snapshot!(lines(&drawn(&state))[..3].join("\n"), @r#"
    Browse sessions        5 …, 2 unreadable
    2 rows can't be read; the first: sessio…
       Flaky login test           2h ago
    "#);
    state.update(Event::ListFailed("the store is locked".into()));
    press(&mut state, [Input::Text("zz".into())]);
    state.update(Event::SearchFailed { question: 1, why: "the store is gone".into() });
    insta::assert_snapshot!(lines(&drawn(&state))[..6].join("\n"), @r#"
    › zz            0 of 5, cut short, 2 un…
    The list is not complete: the store is…
       No title matches, and what was said
       could not be searched: the store is
       gone
    "#);
}

#[test]
fn a_window_that_is_too_small_says_so() {
    assert_eq!(
        lines(&drawn(&loaded((39, 5)))),
        ["This window has 39×5; browsing needs", "40×10. Esc quits.", "", "", ""]
    );
    for width in 1..45 {
        for height in 1..12 {
            drawn(&loaded((width, height)));
        }
    }
}

#[test]
fn the_keys_are_told_as_far_as_there_is_room() {
    for width in [40, 60, 80, 100, 200] {
        let last = lines(&drawn(&loaded((width, 10)))).pop().unwrap();
        assert!(last.starts_with("Enter resume  Esc quit  F1 help"), "{last}");
        let is_whole = KEYS.iter().any(|(_, what, _)| !what.is_empty() && last.ends_with(what));
        assert!(last.width() <= usize::from(width) && is_whole, "{last}");
    }
}

#[test]
fn the_page_of_keys_is_readable_on_a_small_terminal() {
    let mut state = loaded((40, 10));
    press(&mut state, [Input::Help]);
    insta::assert_snapshot!(seen(&state), @r#"
    Browse sessions                        5
    Enter      resume the conversation under
               the cursor
    Esc        clear the filter; if there is
               none, quit. Also Ctrl-G
    F1         show this page. Also ? before
               anything is typed
    Tab        mark for F4, F5, Del and
               Ctrl-E, and go down;
    ↑ ↓ scroll (25 below), other keys close
    "#);
    press(&mut state, [Input::End]);
    insta::assert_snapshot!(seen(&state), @r#"
    Browse sessions                        5
    Shift-↑ ↓  scroll the preview
    Ctrl-U     clear the filter; Ctrl-W: its
               last word
    Ctrl-D     quit if nothing is typed,
               like q
    Ctrl-C     quit
    mouse      click to go there, click
               again to resume
    ↑ ↓ scroll (0 below), other keys close
    "#);
    let mut state = loaded((80, 24));
    press(&mut state, [Input::Help]);
    let all = lines(&drawn(&state));
    assert!(all[1].starts_with("Enter ") && all[17].starts_with("mouse ") && all[23] == "Any key closes this");
    for width in [40, 50, 80, 200] {
        state.update(Event::Resized(width, 60));
        assert!(!seen(&state).contains('…'), "{}", seen(&state));
    }
}

#[test]
fn pinned_rows_have_a_star_and_tags_are_behind_the_name() {
    let mut state = loaded((80, 24));
    let ids = [rows()[0].id.clone(), rows()[1].id.clone()];
    let tags: Vec<_> = ["home", "work"].map(Tag::from_stored).into();
    state.update(Event::Pinned { ids: vec![ids[1].clone()], is_pinned: true, failed: None });
    state.update(Event::Tagged { tags: ids.iter().map(|id| (id.clone(), tags.clone())).collect(), failed: None });
    press(&mut state, [Input::Tag]);
    let all = lines(&drawn(&state));
    insta::assert_snapshot!([&all[..5], &all[22..]].concat().join("\n"), @r#"
    Browse sessions  type to filter                                  5 conversations
       Title / preview              Active      Source      ID
       * 大别山徒步计划和一个很长…  yesterday   telegram    20250304_150000_b0b0b0b0
       a␛[31mred<U+009B>2J<U+202E…  1m ago      a␛[31mred…  evil
    →  Flaky login test  home, wo…  2h ago      cli         20250305_091523_a1b2c3
    Tags: home, work. TAG adds, -TAG removes.
    Tag:
    "#);
    let red = |buffer: &Buffer| -> String {
        let cells = buffer.content().iter().filter(|cell| cell.fg == ratatui_core::style::Color::Red);
        cells.map(|cell| cell.symbol()).collect()
    };
    press(&mut state, [Input::Escape, Input::Text("home".into())]);
    assert_eq!(red(&drawn(&state)), "home");
}

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn text(&mut self) -> String {
        let texts = [
            "a",
            "l",
            "大",
            " ",
            "é",
            "\u{301}",
            "👨\u{200d}👩\u{200d}👧",
            "q",
            "?",
            "y",
            "\"",
            "(",
            "\u{202e}",
            "كب",
            "log\nx",
            "\u{1b}",
        ];
        texts[self.below(texts.len() as u64) as usize].to_owned()
    }

    fn id(&mut self) -> SessionId {
        SessionId::parse(format!("id{}", self.below(40))).unwrap()
    }

    fn row(&mut self) -> Row {
        let title = (self.below(3) > 0).then(|| self.text().repeat(self.below(30) as usize));
        let preview = self.text();
        let tags = (0..self.below(3)).map(|_| Tag::from_stored(self.text())).collect();
        Row { id: self.id(), is_pinned: self.below(2) == 0, tags, ..row("x", title.as_deref(), &preview, HOSTILE) }
    }

    fn input(&mut self) -> Input {
        let (column, row) = (self.below(220) as u16, self.below(60) as u16);
        match self.below(33) {
            0 => Input::Up,
            1 => Input::Down,
            2 => Input::PageUp,
            3 => Input::PageDown,
            4 => Input::Home,
            5 => Input::End,
            6 => Input::Left,
            7 => Input::Right,
            8 => Input::ScrollPreview(self.below(100) as i32 - 50),
            9 => Input::Enter,
            10 => Input::Escape,
            11 => Input::Backspace,
            12 => Input::Clear,
            13 => Input::ClearWord,
            14 => Input::Mark,
            15 => Input::MarkUp,
            16 => Input::Preview,
            17 => Input::Rename,
            18 => Input::Delete,
            19 => Input::Export,
            20 => Input::Help,
            21 => Input::Wheel { lines: self.below(9) as i32 - 4, column, row },
            22 => Input::Click { column, row, at: Duration::from_millis(self.below(10_000)) },
            23 => Input::Pin,
            24 => Input::Tag,
            25 => Input::EndOfFile,
            _ => Input::Text(self.text()),
        }
    }

    fn event(&mut self) -> Event {
        let place = (self.id(), MessageId(self.below(4) as i64));
        match self.below(26) {
            0 => Event::Resized(self.below(220) as u16 + 1, self.below(60) as u16 + 1),
            1 => Event::Rows { rows: (0..self.below(60)).map(|_| self.row()).collect(), is_last: self.below(2) == 0 },
            2 => {
                let hits = (0..self.below(9)).map(|_| Hit { row: self.row(), place: place.clone() }).collect();
                Event::Found { question: self.below(30), hits, is_partial: false }
            }
            3 => {
                let wanted = Wanted { id: self.id(), place: (self.below(2) == 0).then_some(place) };
                let said = (0..4).map(|number| message(number, Role::User, &self.text().repeat(99))).collect();
                Event::Previewed { wanted, preview: Preview::Messages(said) }
            }
            4 => Event::Deleted { ids: vec![self.id(), self.id()], told: Notice::error(HOSTILE) },
            5 => Event::Renamed { id: self.id(), title: Title::parse("大别山").unwrap() },
            6 => Event::Exists { ids: vec![self.id()], file: PathBuf::from(HOSTILE) },
            7 => Event::ListFailed(HOSTILE.into()),
            8 => Event::Unreadable { count: self.below(3), first: HOSTILE.into() },
            9 => Event::Pinned { ids: vec![self.id(), self.id()], is_pinned: self.below(2) == 0, failed: None },
            10 => Event::Tagged { tags: vec![(self.id(), vec![Tag::from_stored(HOSTILE)])], failed: None },
            _ => Event::Input(self.input()),
        }
    }
}

#[test]
fn nothing_panics_and_nothing_hostile_is_drawn_whatever_happens() {
    let mut dice = Dice(7);
    for _ in 0..24 {
        let mut state = State::new((dice.below(220) as u16 + 1, dice.below(60) as u16 + 1));
        let mut painter = Painter::new(dice.below(2) == 0);
        for _ in 0..60 {
            let event = dice.event();
            state.update(event);
            assert!(state.cursor < state.len().max(1) && state.top <= state.cursor, "{state:?}");
            if let Some((wanted, None)) = state.preview() {
                let wanted = wanted.clone();
                let said = vec![message(1, Role::Assistant, HOSTILE)];
                state.update(Event::Previewed { wanted, preview: Preview::Messages(said) });
            }
            let (buffer, _) = drawn_by(&mut painter, &state);
            let bad = |symbol: &str| {
                symbol.chars().any(|character| character.is_control() || matches!(character, '\u{200b}' | '\u{202e}'))
            };
            assert_eq!(buffer.content().iter().find(|cell| bad(cell.symbol())), None);
        }
    }
}

#[test]
fn a_picture_for_a_size_that_is_gone_already_is_cut() {
    let mut terminal = Terminal::new(TestBackend::new(20, 5)).unwrap();
    let mut painter = Painter::new(true);
    for size in [(200, 50), (80, 24), (40, 10)] {
        let mut state = loaded(size);
        press(&mut state, [Input::Text("大".into()), Input::Rename]);
        terminal.draw(|frame| painter.draw(&state, &now(), frame)).unwrap();
    }
}
