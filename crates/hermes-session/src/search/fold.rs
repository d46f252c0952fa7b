//! What is the same to those who search: case, accents, widths and composition aside.
//!
//! A folded text is in NFC. Letters are as full case folding has them (`ß` is `ss`, `ς` is `σ`), forms of half and full width are the
//! usual ones, white space within a line is a blank. Accents are gone where SQLite's `unicode61` takes them away: from Latin letters
//! that are an ASCII letter with accents (so `ø` and `ǿ` stay), and wherever an accent is a character of its own and no letter
//! exists for the two: `й` stays however it is written, while the stress of `а́` goes. Signs that tell how an emoji looks are gone, so that
//! `⚠️` and `⚠` are one. All the rest stays: joiners, soft hyphens and NUL are characters like others, because the indexes cut words there.
//!
//! Folding is idempotent, and texts that are canonically equivalent fold to the same.

use std::borrow::Cow;

mod character;
mod origin;
mod pages;

pub use character::is_accent;
pub use origin::Folded;

use origin::Trace;
use pages::Kind;

/// A text in the form in which texts are compared; borrowed where it is in that form.
pub fn fold(text: &str) -> Cow<'_, str> {
    let same = unchanged(text);
    if same == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    fold_rest(text, same, &mut out, &mut ());
    Cow::Owned(out)
}

/// Folds a text into a buffer, in place of what is there.
pub fn fold_into(text: &str, out: &mut String) {
    out.clear();
    out.reserve(text.len());
    fold_rest(text, 0, out, &mut ());
}

/// The folded form of a text: the text itself where it is in that form, else the buffer, with that form in place of what was there.
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

/// How much of the beginning surely stays as it is. What comes behind it does not join with it.
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

/// Folds what comes behind a beginning that stays as it is.
///
/// Nearly every character stands for itself or for one other, whatever is beside it. Where one may join with those before it, all
/// from the last that joins with none up to the next such are taken together.
fn fold_rest(text: &str, from: usize, out: &mut String, trace: &mut impl Trace) {
    out.push_str(&text[..from]);
    let mut buffers = character::Buffers::default();
    let mut at = from;
    // Where the last character that joins with none before it begins: in the text, and in what is put out.
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
                // One mark behind its letter is in order. Two may have to change places.
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

/// How many bytes of the beginning are of a kind. It is asked of all bytes of a piece at once, which the compiler makes quick.
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
