//! Measures the CPU time of the decoder for each streamed token, by the length of the answer.
//!
//! `cargo run --release -p hermes-model --example decode`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails is not one")]

use hermes_model::Piece;
use hermes_model::chat::Decoder;
use hermes_model::script::{Asked, Habits, ReasoningField, Reply, Sent, Step, render};
use rustix::time::{ClockId, clock_gettime};

fn main() {
    println!("{:>10} {:>12} {:>10} {:>14}", "tokens", "form", "bytes", "CPU per token");
    for tokens in [1_000, 10_000, 100_000] {
        for (form, reasoning) in [
            ("text", None),
            ("reasoning", Some(ReasoningField::ReasoningContent)),
            ("think", Some(ReasoningField::Tags)),
        ] {
            let words = "word ".repeat(tokens);
            let step = if reasoning.is_some() { Step::Reasoning(words) } else { Step::Text(words) };
            let habits = Habits { reasoning: reasoning.unwrap_or(ReasoningField::Reasoning), ..Habits::default() };
            let reply = Reply::answer([step]).habits(habits);
            let asked = Asked { model: "some-model-2026".into(), is_streamed: true, wants_usage: true, length: 1000 };
            let pieces: Vec<Vec<u8>> = render(&reply, &asked).pieces.into_iter().filter_map(bytes).collect();
            let size: usize = pieces.iter().map(Vec::len).sum();
            let fastest = (0..5).map(|_| measured(&pieces, tokens * 5)).min().unwrap();
            println!("{tokens:>10} {form:>12} {size:>10} {:>11.2} µs", fastest as f64 / tokens as f64 / 1000.0);
        }
    }
}

fn bytes(piece: Sent) -> Option<Vec<u8>> {
    if let Sent::Bytes(bytes) = piece { Some(bytes) } else { None }
}

/// Decodes an answer. Returns the CPU time in nanoseconds.
fn measured(pieces: &[Vec<u8>], least: usize) -> i64 {
    let start = clock_gettime(ClockId::ProcessCPUTime);
    let (mut decoder, mut length) = (Decoder::default(), 0);
    let mut on_piece = |piece: Piece<'_>| match piece {
        Piece::Text(text) | Piece::Reasoning(text) => length += text.len(),
        Piece::Call(_) => {}
    };
    for piece in pieces {
        decoder.push(piece, &mut on_piece).unwrap();
    }
    decoder.finish(&mut on_piece).unwrap();
    let end = clock_gettime(ClockId::ProcessCPUTime);
    assert!(length >= least, "{length} of {least} bytes");
    (end.tv_sec - start.tv_sec) * 1_000_000_000 + end.tv_nsec - start.tv_nsec
}
