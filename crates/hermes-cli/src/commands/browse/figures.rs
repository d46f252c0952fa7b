//! Measures the time from a keystroke to the drawn frame, with a hundred thousand conversations.
//!
//! It asserts nothing, so it is run by hand:
//! `cargo test --release -p hermes-cli --bin hermes browse::figures -- --ignored --nocapture`

use super::event::{Event, Input, Preview};
use super::rows::Row;
use super::state::State;
use super::view::Painter;
use hermes_session::{Message, MessageBody, MessageId, Role, SessionId, Timestamp};
use hermes_terminal::time::Now;
use jiff::tz::TimeZone;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use std::time::{Duration, Instant};

const ROWS: usize = 100_000;
const PAGE: usize = 500;
const WORDS: [&str; 12] =
    ["login", "queue", "Größe", "大别山", "report", "clock", "token", "徒步", "deploy", "كبسة", "flaky", "billing"];

fn row(number: usize) -> Row {
    let word = |step: usize| WORDS[(number / step + number * 7) % WORDS.len()];
    Row {
        id: SessionId::from_stored(format!("20260{:04}_{:06}_{:06x}", number % 9999, number, number * 31)),
        title: (!number.is_multiple_of(3)).then(|| format!("{} {} and the {} #{number}", word(1), word(5), word(11))),
        preview: format!("Can you look at the {} of the {}? It is {}", word(3), word(17), word(2)),
        source: ["cli", "telegram", "discord", "cron"][number % 4].to_owned(),
        last_active: Timestamp::from_seconds(1_741_166_123.0 - number as f64 * 60.0).unwrap(),
        messages: Some(number as i64 % 300),
        is_pinned: false,
        tags: Vec::new(),
    }
}

fn told(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1_000.0;
    println!("{what}: {} times, median {:.2} ms, p99 {:.2} ms, max {:.2} ms", times.len(), at(50), at(99), at(100));
}

#[test]
#[ignore = "a measurement: prints times, asserts nothing about them"]
fn keystrokes() {
    let now = Now { at: Timestamp::from_seconds(1_741_166_123.0).unwrap(), zone: TimeZone::UTC };
    for (width, height) in [(80, 24), (200, 50)] {
        let mut state = State::new((width, height));
        let mut pages = Vec::new();
        for first in (0..ROWS).step_by(PAGE) {
            let rows: Vec<Row> = (first..first + PAGE).map(row).collect();
            let start = Instant::now();
            state.update(Event::Rows { rows, is_last: first + PAGE == ROWS });
            pages.push(start.elapsed());
        }
        told(&format!("{width}×{height}, a page of {PAGE} rows comes"), pages);
        let (mut terminal, mut painter) = (Terminal::new(TestBackend::new(width, height)).unwrap(), Painter::new(true));
        let mut stroke = |state: &mut State, input: Input| {
            let start = Instant::now();
            state.update(Event::Input(input));
            terminal.draw(|frame| painter.draw(state, &now, frame)).unwrap();
            let took = start.elapsed();
            // The preview arrives before the next key, as it does when a person types.
            if let Some((wanted, None)) = state.preview() {
                let wanted = wanted.clone();
                state.update(Event::Previewed { wanted, preview: Preview::Messages(said()) });
            }
            took
        };
        let (mut typed, mut erased, mut moved) = (Vec::new(), Vec::new(), Vec::new());
        for text in ["e", "login", "the", "größe flaky", "大别山", "zzzz", "20260", "cli log", "كبسة", "title #99"]
        {
            for character in text.chars() {
                typed.push(stroke(&mut state, Input::Text(character.to_string())));
            }
            for input in [Input::Down, Input::PageDown, Input::End, Input::Up, Input::Home] {
                moved.push(stroke(&mut state, input));
            }
            for _ in text.chars() {
                erased.push(stroke(&mut state, Input::Backspace));
            }
        }
        told(&format!("{width}×{height}, a character is typed"), typed);
        told(&format!("{width}×{height}, a character is taken back"), erased);
        told(&format!("{width}×{height}, the cursor moves"), moved);
    }
}

/// Returns a preview of the maximum size.
fn said() -> Vec<Message> {
    let text = "It compares dates, and *that* is the reason for the login to fail. 大别山徒步计划 ".repeat(40);
    let message = |number: i64| {
        Message::new(
            MessageId(number),
            SessionId::from_stored("s"),
            Timestamp::from_seconds(1_741_166_123.0).unwrap(),
            MessageBody::new(if number % 2 == 0 { Role::User } else { Role::Assistant }, text.as_str()),
        )
    };
    (0..16).map(message).collect()
}
