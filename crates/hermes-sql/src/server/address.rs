//! What the URLs of servers have in common.

/// A part of a URL with its `%20` and the like as what they stand for; nothing if one stands for nothing.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn signs_stand_for_what_they_say() {
        assert_eq!(percent_decoded("/a%20b%C3%A9%25").as_deref(), Some("/a bé%"));
        for odd in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(percent_decoded(odd), None, "{odd}");
        }
    }
}
