//! Bytes as text, in the standard alphabet of RFC 4648, with padding.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes in base64.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            // A group of n bytes fills n + 1 places.
            let digit = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// The bytes that a text in base64 stands for; nothing if it is none.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let value = |byte: &u8| ALPHABET.iter().position(|digit| digit == byte).map(|place| place as u32);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let digits = text.trim_end_matches('=').as_bytes();
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    for group in digits.chunks(4) {
        let mut bits = 0;
        for place in 0..4 {
            bits = bits << 6 | group.get(place).map_or(Some(0), value)?;
        }
        // n digits hold n - 1 bytes.
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_the_standard() {
        for (plain, expect) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes()), expect);
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xfe]), "+//+");
        for bad in ["A", "AA=", "A===", "====", "Zm 9", "Zm9v\n", "Zg=x", "Z-=="] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            let text = encode(&bytes);
            prop_assert_eq!(text.len() % 4, 0);
            prop_assert_eq!(decode(&text), Some(bytes));
        }
    }
}
