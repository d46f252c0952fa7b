use super::*;
use crate::{Content, Json, MessageId, SessionId, Timestamp};
use proptest::prelude::*;

fn said(role: Role, text: &str) -> MessageBody {
    MessageBody::new(role, text)
}

fn user(text: &str) -> MessageBody {
    said(Role::User, text)
}

fn answer(text: &str) -> MessageBody {
    said(Role::Assistant, text)
}

fn calling(text: &str, names: &str) -> MessageBody {
    let calls: Vec<String> = names.split(' ').map(|name| format!(r#"{{"function": {{"name": "{name}"}}}}"#)).collect();
    MessageBody { tool_calls: Some(Json::parse(&format!("[{}]", calls.join(","))).unwrap()), ..answer(text) }
}

fn of(bodies: &[MessageBody], limits: RecapLimits) -> Recap {
    let message = |body: &MessageBody| {
        Message::new(MessageId(1), SessionId::parse("s").unwrap(), Timestamp::from_seconds(0.0).unwrap(), body.clone())
    };
    recap(&bodies.iter().map(message).collect::<Vec<_>>(), limits)
}

/// Returns the entries as lines: `>` for the user, `<` for an answer, `<<` for the last one.
fn lines(recap: &Recap) -> Vec<String> {
    let line = |entry: &RecapEntry| match (entry.speaker, entry.is_last_answer) {
        (Speaker::User, _) => format!("> {}", entry.text),
        (Speaker::Assistant, false) => format!("< {}", entry.text),
        (Speaker::Assistant, true) => format!("<< {}", entry.text),
    };
    recap.entries.iter().map(line).collect()
}

#[track_caller]
fn check(bodies: &[MessageBody], expect: &[&str]) {
    let recap = of(bodies, RecapLimits::default());
    assert_eq!(lines(&recap), expect);
    assert_eq!(recap.earlier, 0);
}

#[test]
fn only_the_person_and_the_model_speak() {
    let meta = said(Role::Other("session_meta".into()), "m");
    check(&[said(Role::System, "s"), user("hi"), meta, said(Role::Tool, "t"), answer("ho")], &["> hi", "<< ho"]);
    check(&[], &[]);
}

#[test]
fn an_empty_message_is_skipped() {
    check(&[user(""), user(" \n"), MessageBody::empty(Role::User), answer(""), answer("<think>x")], &[]);
    check(&[user("<memory-context>\nx\n</memory-context>\nhi")], &["> hi"]);
}

#[test]
fn pictures_are_reported() {
    let parts = Json::parse(r#"[{"type": "text", "text": "look"}, {"type": "image_url"}]"#).unwrap();
    check(&[MessageBody::new(Role::User, Content::from_json(parts))], &["> look [image]"]);
}

#[test]
fn long_texts_are_cut_and_the_last_answer_is_not() {
    let long = "é".repeat(301);
    let (user_cut, answer_cut) = (format!("> {}...", "é".repeat(300)), format!("< {}...", "é".repeat(200)));
    let whole = format!("<< {long}");
    check(
        &[
            user(&long),
            user(&long[..600]),
            answer(&long),
            answer("1\n2\n3\n4"),
            answer("1\n2\n3"),
            answer(&long),
            user("x"),
        ],
        &[&user_cut, &format!("> {}", &long[..600]), &answer_cut, "< 1\n2\n3 ...", "< 1\n2\n3", &whole, "> x"],
    );
}

#[test]
fn tools_are_named_once_and_at_most_four() {
    check(
        &[calling("", "terminal web_search terminal"), calling("checking", "a b c d e"), calling("Done.", "x")],
        &[
            "< [3 tool calls: terminal, web_search]",
            "< checking [5 tool calls: a, b, c, d, ...]",
            "<< Done. [1 tool call: x]",
        ],
    );
    let nameless = MessageBody { tool_calls: Some(Json::parse("[{}, 1]").unwrap()), ..answer("") };
    check(&[nameless], &["<< [1 tool call]"]);
}

#[test]
fn work_without_words_is_reported_together() {
    let work = [calling("", "a"), said(Role::Tool, "r"), calling("<think>hm</think>", "b a"), said(Role::Tool, "r")];
    check(&work, &["<< [3 tool calls: a, b]"]);
    let talk = [&[user("go")], &work[..], &[answer("ok")], &work[..1], &[user("on")], &work[2..3]].concat();
    check(&talk, &["> go", "< [3 tool calls: a, b]", "< ok", "< [1 tool call: a]", "> on", "<< [2 tool calls: b, a]"]);
}

#[test]
fn work_without_words_does_not_use_up_the_entries() {
    let mut bodies = Vec::new();
    for n in 0..30 {
        bodies.extend([user(&format!("q{n}")), calling("", "a"), calling("", "b")]);
    }
    let recap = of(&bodies, RecapLimits::default());
    assert_eq!((recap.earlier, recap.entries.len()), (20, 40));
    assert_eq!(lines(&recap)[..2], ["> q10", "< [2 tool calls: a, b]"]);
    let none = of(&bodies, RecapLimits { entries: 0, ..RecapLimits::default() });
    assert_eq!((none.earlier, none.entries.len()), (60, 0));
}

#[test]
fn a_summary_was_not_typed_by_a_person() {
    let summary = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns …\n\n--- END OF CONTEXT SUMMARY — respond ---";
    check(&[user(summary), answer("[CONTEXT SUMMARY]: old"), user("hi")], &["> hi"]);
    check(&[user(&format!("{summary}\n\ngo on"))], &["> go on"]);
}

#[test]
fn control_characters_are_left_to_the_printer() {
    check(&[user("a\u{1b}[2Jb")], &["> a\u{1b}[2Jb"]);
}

proptest! {
    #[test]
    fn a_recap_keeps_its_limits(
        talk in prop::collection::vec((0..3_u8, "(a|é|\n| |<think>|</think>){0,9}", 0..3_usize), 0..20),
        entries in 0..5_usize,
    ) {
        let bodies: Vec<MessageBody> = talk
            .iter()
            .map(|(role, text, calls)| match role {
                0 => user(text),
                1 if *calls > 0 => calling(text, &["t"; 3][..*calls].join(" ")),
                1 => answer(text),
                _ => said(Role::Tool, text),
            })
            .collect();
        let limits = RecapLimits { entries, user_characters: 4, assistant_characters: 3, assistant_lines: 2, tool_names: 1 };
        let recap = of(&bodies, limits);
        let all = of(&bodies, RecapLimits { entries: usize::MAX, ..limits });
        prop_assert_eq!(all.earlier, 0);
        prop_assert_eq!(recap.earlier + recap.entries.len(), all.entries.len());
        let speaking = recap.entries.iter().filter(|entry| !entry.text.starts_with('[')).count();
        prop_assert!(speaking <= entries);
        prop_assert!(recap.entries.iter().filter(|entry| entry.is_last_answer).count() <= 1);
        for entry in &recap.entries {
            prop_assert!(!entry.text.trim().is_empty());
            let longest = "aaa...".len() + " ...".len() + " [2 tool calls: t]".len();
            prop_assert!(entry.is_last_answer || entry.text.chars().count() <= longest, "{:?}", entry.text);
        }
    }
}
