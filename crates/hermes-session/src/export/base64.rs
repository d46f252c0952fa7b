//! Bytes as text, in the standard alphabet of RFC 4648, with padding.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Requires padding, as the exports have it. Ignores unused low bits in the last digit, as Python's `b64decode` does.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

/// Encodes bytes as base64.
pub fn encode(bytes: &[u8]) -> String {
    ENGINE.encode(bytes)
}

/// Decodes base64. Returns `None` if the text has a character outside the alphabet, white space included, or lacks
/// padding.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    ENGINE.decode(text).ok()
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
        assert_eq!(decode("Zh==").as_deref(), Some(&b"f"[..]), "unused bits are ignored");
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
