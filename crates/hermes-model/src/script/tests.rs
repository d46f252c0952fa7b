use super::*;
use crate::chat::Decoder;
use crate::{Answer, ModelError};

fn asked(is_streamed: bool) -> Asked {
    Asked { model: "m".into(), is_streamed, wants_usage: true, length: 40 }
}

fn read(reply: &Reply, is_streamed: bool) -> Result<Answer, ModelError> {
    let mut decoder = Decoder::default();
    for piece in render(reply, &asked(is_streamed)).pieces {
        if let Sent::Bytes(bytes) = piece {
            decoder.push(&bytes, &mut |_| {})?;
        }
    }
    decoder.finish(&mut |_| {})
}

fn steps() -> Vec<Step> {
    let call =
        |id: &str| Step::Call(Call { id: id.into(), name: "ls".into(), arguments: "{\"path\": \"/tmp/é\"}".into() });
    let (reasoning, text) = (Step::Reasoning("I should look.".into()), Step::Text("Let me see.\nOne".into()));
    vec![reasoning, Step::Reasoning(" Yes.".into()), text, Step::Pause(Duration::from_secs(1)), call("a"), call("b")]
}

#[test]
fn every_habit_yields_the_same_answer() {
    let base = read(&Reply::answer(steps()), true).unwrap();
    assert_eq!((base.text.as_str(), base.calls.len()), ("Let me see.\nOne", 2));
    let habits = Habits::default();
    for changed in [
        Habits { streams: false, ..habits.clone() },
        Habits { says_done: false, ..habits.clone() },
        Habits { says_finish: false, ..habits.clone() },
        Habits { reasoning: ReasoningField::Reasoning, ..habits.clone() },
        Habits { reasoning: ReasoningField::Tags, ..habits.clone() },
        Habits { argument_piece: 1, has_index: false, ..habits.clone() },
        Habits { has_comments: true, has_crlf: true, ..habits },
    ] {
        for size in [None, Some(1), Some(7), Some(usize::MAX)] {
            let mut reply = Reply::answer(steps()).habits(changed.clone());
            reply.delivery.piece = size;
            for is_streamed in [true, false] {
                let answer = read(&reply, is_streamed).unwrap();
                let seen = (&answer.text, &answer.reasoning, &answer.calls, &answer.finish, &answer.tokens);
                assert_eq!(seen, (&base.text, &base.reasoning, &base.calls, &base.finish, &base.tokens), "{changed:?}");
            }
        }
    }
}

#[test]
fn a_cut_is_at_its_byte() {
    let whole = |reply: &Reply| -> usize {
        let pieces = render(reply, &asked(true)).pieces;
        pieces.iter().map(|piece| if let Sent::Bytes(bytes) = piece { bytes.len() } else { 0 }).sum()
    };
    let length = whole(&Reply::text("one two"));
    for at in [0, 1, length / 2, length, length + 9] {
        let reply = Reply::text("one two").cut_at(at).in_pieces(5);
        assert_eq!(whole(&reply), at.min(length));
        assert_eq!(render(&reply, &asked(true)).pieces.last(), Some(&Sent::Cut));
    }
}

#[test]
fn replies_are_for_the_requests_they_name() {
    let mut script = Script::new([Reply::text("title").when("title"), Reply::text("a"), Reply::text("z").repeated()]);
    let mut next = |body: &str| match script.next(body).body {
        ReplyBody::Answer(steps) => steps,
        ReplyBody::Bytes { .. } => Vec::new(),
    };
    let text = |text: &str| vec![Step::Text(text.into())];
    assert_eq!([next("x"), next("a title"), next("x"), next("x")], [text("a"), text("title"), text("z"), text("z")]);
    assert_eq!(Script::default().next("x").status, 500);
}
