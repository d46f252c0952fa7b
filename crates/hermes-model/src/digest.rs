//! A short digest for ids that must come out the same each time. Not for security.

/// FNV-1a, 64 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Digest(u64);

impl Digest {
    /// Returns the digest of parts. Lengths count: `["ab", "c"]` and `["a", "bc"]` differ.
    pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325;
        for part in parts {
            for byte in part.iter().chain(&(part.len() as u64).to_le_bytes()) {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        Self(hash)
    }

    /// Returns this many digits and small letters; at most 12 of them carry information.
    pub(crate) fn letters(self, count: usize) -> String {
        const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let mut rest = self.0;
        let mut letter = || {
            let digit = rest % 36;
            rest /= 36;
            char::from(ALPHABET[digit as usize])
        };
        (0..count).map(|_| letter()).collect()
    }
}
