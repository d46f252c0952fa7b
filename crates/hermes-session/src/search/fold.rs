//! Folding: the form in which texts are compared, which ignores case, accents, width and composition.
//!
//! A folded text is in NFC. Letters have full case folding (`ß` is `ss`, `ς` is `σ`), halfwidth and fullwidth forms
//! become the usual ones, and white space within a line becomes a space. Accents are removed where SQLite's `unicode61`
//! removes them: from Latin letters that are an ASCII letter with accents (so `ø` and `ǿ` stay), and wherever an accent
//! is a separate character and no composed letter exists: `й` stays however it is written, while the stress of `а́` is
//! removed. Variation selectors of emoji are removed, so that `⚠️` and `⚠` are equal. Everything else stays: joiners,
//! soft hyphens and NUL are ordinary characters, because the indexes split words there.
//!
//! Folding is idempotent, and canonically equivalent texts fold to the same text.

use std::borrow::Cow;

mod character;
mod origin;
mod pages;

pub use character::is_accent;
pub use origin::Folded;

use origin::Trace;
use pages::Kind;

/// Returns the folded form of a text; borrowed if the text is in that form already.
pub fn fold(text: &str) -> Cow<'_, str> {
    let same = unchanged(text);
    if same == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    fold_rest(text, same, &mut out, &mut ());
    Cow::Owned(out)
}

/// Returns whether a text contains a piece, ignoring case and accents.
pub fn contains(text: &str, piece: &str) -> bool {
    fold(text).contains(fold(piece).as_ref())
}

/// Folds a text into a buffer, replacing its content.
pub fn fold_into(text: &str, out: &mut String) {
    out.clear();
    out.reserve(text.len());
    fold_rest(text, 0, out, &mut ());
}

/// Returns the folded form of a text: the text itself if it is in that form already, otherwise the buffer, whose
/// content is replaced.
pub fn fold_with<'t>(text: &'t str, buffer: &'t mut String) -> &'t str {
    let same = unchanged(text);
    if same == text.len() {
        return text;
    }
    buffer.clear();
    buffer.reserve(text.len());
    fold_rest(text, same, buffer, &mut ());
    buffer
}

/// Returns the length of a prefix that folding surely leaves unchanged and that nothing after it combines with.
fn unchanged(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut base, mut is_marked) = (0, 0, false);
    loop {
        let plain = run_of(&bytes[at..], |byte| byte.is_ascii() & !byte.is_ascii_uppercase() & (byte != b'\t'));
        if plain > 0 {
            at += plain;
            (base, is_marked) = (at - 1, false);
        }
        let start = at;
        for character in text[start..].chars().take_while(|character| !character.is_ascii()) {
            match pages::kind(character) {
                Kind::Starter(to) if to == character => (base, is_marked) = (at, false),
                Kind::Mark if !is_marked => is_marked = true,
                Kind::Starter(_) | Kind::Expands => return at,
                Kind::Mark | Kind::Joins => return base,
            }
            at += character.len_utf8();
        }
        if at == start {
            return at;
        }
    }
}

/// Folds the text after a prefix that is unchanged.
///
/// Nearly every character folds to itself or to one other, independent of its neighbours. Where a character may combine
/// with those before it, the text from the last character that does not combine up to the next such character is folded
/// together.
fn fold_rest(text: &str, from: usize, out: &mut String, trace: &mut impl Trace) {
    out.push_str(&text[..from]);
    let mut buffers = character::Buffers::default();
    let mut at = from;
    // Start of the last character that does not combine with those before it: in the text, and in the output.
    let (mut base, mut is_marked) = ((at, at), false);
    while at < text.len() {
        let plain = run_of(&text.as_bytes()[at..], |byte| byte.is_ascii());
        if plain > 0 {
            push_ascii(&text[at..at + plain], out);
            at += plain;
            (base, is_marked) = ((at - 1, out.len() - 1), false);
        }
        while let Some(character) = text[at..].chars().next().filter(|character| !character.is_ascii()) {
            let end = at + character.len_utf8();
            let start = match pages::kind(character) {
                Kind::Starter(to) => {
                    (base, is_marked) = ((at, out.len()), false);
                    out.push(to);
                    trace.put(at..end, base.1..out.len());
                    at = end;
                    continue;
                }
                // One mark after its letter is in canonical order. Two may have to be swapped.
                Kind::Mark if !is_marked => {
                    is_marked = true;
                    out.push(character);
                    at = end;
                    continue;
                }
                Kind::Expands => (at, out.len()),
                Kind::Mark | Kind::Joins => base,
            };
            let end = text[end..].find(pages::is_apart).map_or(text.len(), |length| end + length);
            out.truncate(start.1);
            trace.take_back(start.0);
            let together = &text[start.0..end];
            match character::quickly(together) {
                Some(folded) => out.extend(folded),
                None => buffers.push_folded(together, out),
            }
            trace.put_block(start.0..end, start.1..out.len());
            at = end;
            (base, is_marked) = ((at, out.len()), false);
        }
    }
}

/// Returns the length in bytes of the prefix of one kind. All bytes of a chunk are tested at once, which the compiler
/// vectorises.
fn run_of(bytes: &[u8], is_of_kind: impl Fn(u8) -> bool) -> usize {
    const PIECE: usize = 32;
    let (pieces, _) = bytes.as_chunks::<PIECE>();
    let whole = pieces.iter().take_while(|piece| piece.iter().fold(true, |all, byte| all & is_of_kind(*byte))).count();
    let rest = &bytes[whole * PIECE..];
    whole * PIECE + rest.iter().take_while(|byte| is_of_kind(**byte)).count()
}

fn push_ascii(text: &str, out: &mut String) {
    let start = out.len();
    let mut rest = text;
    while let Some(tab) = memchr::memchr(b'\t', rest.as_bytes()) {
        out.push_str(&rest[..tab]);
        out.push(' ');
        rest = &rest[tab + 1..];
    }
    out.push_str(rest);
    out[start..].make_ascii_lowercase();
}

#[cfg(test)]
mod tests;
