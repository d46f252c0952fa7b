use super::*;
use hermes_session::{Message, MessageBody, SessionId, Timestamp};

/// Returns a message. Later matches rank better.
fn said(id: i64, role: Role, text: &str, is_match: bool) -> Said {
    let message =
        Message::new(MessageId(id), SessionId::parse("s").unwrap(), Timestamp::EPOCH, MessageBody::new(role, text));
    Said { message, rank: is_match.then_some(1_000 - id as usize), follows: true }
}

/// Returns a hundred turns of three messages with a hundred characters each.
fn long(matches: &[i64]) -> Vec<Said> {
    let role = |place: i64| [Role::User, Role::Assistant, Role::Tool][place as usize % 3].clone();
    let text = |place: i64| format!("{}needle{place}", "x".repeat(90));
    (0..300).map(|place| said(place, role(place), &text(place), matches.contains(&place))).collect()
}

fn marks(text: &str) -> Vec<Range<usize>> {
    text.match_indices("needle").map(|(at, word)| at..at + word.len()).collect()
}

fn shown(window: &Window) -> Vec<i64> {
    (0..300).filter(|place| window.text.split("\n\n").any(|part| part.ends_with(&format!("needle{place}")))).collect()
}

/// Returns a transcript that was read completely.
fn whole(said: &[Said]) -> Transcript {
    Transcript { said: said.to_vec(), to_end: true, unread: 0 }
}

#[test]
fn what_fits_is_shown_whole() {
    let window = Window::new(&whole(&long(&[])), 100_000, marks);
    assert_eq!(
        (window.messages, window.left_out, window.first, window.last),
        (300, 0, Some(MessageId(0)), Some(MessageId(299)))
    );
    assert!(!window.text.contains("left out"));
}

#[test]
fn turns_around_a_match_are_whole() {
    let window = Window::new(&whole(&long(&[151])), 3_000, marks);
    let shown = shown(&window);
    assert!(shown.contains(&151) && shown.len() > 15, "{shown:?}");
    assert_eq!((shown[0] % 3, shown[shown.len() - 1] % 3), (0, 2), "{shown:?}");
    assert_eq!(shown.len() as i64, shown[shown.len() - 1] - shown[0] + 1, "nothing is missing in between");
    let (before, after) = (150 - shown[0], shown[shown.len() - 1] - 152);
    assert!((before - after).abs() <= 3, "it is in the middle: {shown:?}");
    assert!(window.text.starts_with("[… ") && window.text.ends_with(" messages left out …]"), "{}", window.text);
}

#[test]
fn every_match_is_inside_whatever_the_budget() {
    for budget in [1_000_usize, 2_000, 5_000, 20_000] {
        for mut matches in
            [vec![0], vec![299], vec![0, 299], vec![10, 11, 150, 290], (0..20).map(|place| place * 15).collect()]
        {
            matches.truncate(budget / 200);
            let window = Window::new(&whole(&long(&matches)), budget, marks);
            assert!(window.characters() <= budget, "{} of {budget}, {matches:?}", window.characters());
            let text: Vec<&str> = window.text.split("\n\n").filter(|part| part.contains("needle")).collect();
            assert!(text.len() >= matches.len(), "{} of {matches:?} in {budget}", text.len());
            if budget > 3_000 {
                let shown = shown(&window);
                assert!(matches.iter().all(|place| shown.contains(place)), "{matches:?} of {budget}: {shown:?}");
            }
        }
    }
}

#[test]
fn a_message_longer_than_the_budget_is_cut_around_its_match() {
    let text = format!("{}needle{}", "é".repeat(50_000), "y".repeat(50_000));
    let all =
        [said(0, Role::User, "before", false), said(1, Role::Tool, &text, true), said(2, Role::User, "after", false)];
    let window = Window::new(&whole(&all), 2_000, marks);
    assert!(window.text.contains("needle") && window.characters() <= 2_000);
    assert!(window.text.contains("before") && window.text.contains("after"), "{}", window.text);
}

#[test]
fn of_a_turn_that_is_too_long_the_nearest_messages_are_shown() {
    let mut all = vec![said(0, Role::User, "go", false)];
    all.extend(
        (1..200).map(|place| said(place, Role::Assistant, &format!("{}step{place}", "x".repeat(100)), place == 100)),
    );
    let window = Window::new(&whole(&all), 1_500, marks);
    let steps: Vec<usize> = (1..200)
        .filter(|place| window.text.split("\n\n").any(|part| part.ends_with(&format!("step{place}"))))
        .collect();
    assert!(steps.contains(&100) && steps.len() > 5, "{steps:?}");
    assert_eq!(steps.len(), steps[steps.len() - 1] - steps[0] + 1, "{steps:?}");
    let (before, after) = (100 - steps[0], steps[steps.len() - 1] - 100);
    assert!(after == before || after == before + 1, "as much on both sides, the answer first: {steps:?}");
}

#[test]
fn long_turns_share_the_budget() {
    let text = |place: i64| format!("{}step{place}", "x".repeat(100));
    let role = |place: i64| if place % 100 == 0 { Role::User } else { Role::Assistant };
    let all: Vec<Said> = (0..300).map(|place| said(place, role(place), &text(place), place % 100 == 50)).collect();
    let window = Window::new(&whole(&all), 3_000, marks);
    let shown = |turn: i64| {
        let has = |place: &i64| window.text.split("\n\n").any(|part| part.ends_with(&format!("step{place}")));
        (turn * 100..turn * 100 + 100).filter(has).collect::<Vec<_>>()
    };
    for turn in 0..3 {
        let (match_at, shown) = (turn * 100 + 50, shown(turn));
        assert!(shown.contains(&(match_at - 1)) && shown.contains(&(match_at + 1)), "both neighbours: {shown:?}");
        assert!(shown.len() >= 6, "a share: {shown:?}");
    }
    assert!(shown(2).len().abs_diff(shown(0).len()) <= 1);
    // A short turn needs less than its share; the others get the rest.
    let mut all = all;
    all.truncate(201);
    all[200] = said(200, Role::User, "short", true);
    assert!(Window::new(&whole(&all), 3_000, marks).characters() > 2_500);
}

#[test]
fn what_is_missing_between_two_stretches_is_reported() {
    let mut all = vec![said(1, Role::User, "one", true), said(2, Role::Assistant, "two", false)];
    all[1].follows = false;
    let window = Window::new(&whole(&all), 1_000, marks);
    assert_eq!(window.text, "[USER]: one\n\n[…]\n\n[ASSISTANT]: two");
    assert_eq!(window.left_out, 0);
    // Messages missing before and after are noted too, with the known number.
    all[0].follows = false;
    let read = Transcript { said: all, to_end: false, unread: 70 };
    let window = Window::new(&read, 1_000, marks);
    assert_eq!((window.text.as_str(), window.left_out), ("[…]\n\n[USER]: one\n\n[…]\n\n[ASSISTANT]: two\n\n[…]", 70));
    let mut said = long(&[150]);
    said[0].follows = false;
    said[200].follows = false;
    let window = Window::new(&Transcript { said, to_end: true, unread: 70 }, 3_000, marks);
    assert!(window.text.starts_with("[… more than 1") && window.text.contains("\n\n[… more than "), "{}", window.text);
    assert_eq!(window.left_out, 370 - window.messages);
}
