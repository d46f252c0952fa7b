//! Records as SQLite stores them: a header of serial types, then the values. All lengths are checked; no input panics.

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    /// Text as UTF-8 bytes, which may be invalid.
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

/// The bytes of a record, as far as they could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    /// Length that the record should have, in bytes.
    pub(super) length: u64,
}

impl Payload {
    /// Returns whether the end of the record is missing.
    pub(super) fn is_cut(&self) -> bool {
        (self.bytes.len() as u64) < self.length
    }
}

/// The text encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Little,
    Utf16Big,
}

/// Reads a varint of one to nine bytes. Returns the number and the offset of its end.
pub(super) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for place in 0..9 {
        let byte = *bytes.get(at.checked_add(place)?)?;
        if place == 8 {
            return Some(((number << 8) | u64::from(byte), at + 9));
        }
        number = (number << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, at + place + 1));
        }
    }
    None
}

/// Returns the values of a record; `None` if the bytes can't be one. A record states its length twice, so random bytes
/// rarely pass for one.
///
/// If the payload is cut, the value at the cut is as long as it could be read, and the values after it are `Null`.
pub(super) fn values(payload: &Payload, encoding: Encoding) -> Option<Vec<Value>> {
    let bytes = &payload.bytes;
    let (header, mut at) = varint(bytes, 0)?;
    let header = usize::try_from(header).ok().filter(|header| *header <= bytes.len() && *header >= at)?;
    let mut kinds = Vec::new();
    let mut length = header as u64;
    while at < header {
        let (kind, next) = varint(bytes, at)?;
        length = length.checked_add(size(kind)?)?;
        kinds.push(kind);
        at = next;
    }
    if at != header || length != payload.length {
        return None;
    }
    let mut values = Vec::with_capacity(kinds.len());
    for kind in kinds {
        let end = at.checked_add(usize::try_from(size(kind)?).ok()?)?;
        values.push(match bytes.get(at..end) {
            Some(stored) => value(kind, stored, encoding),
            None => part(kind, bytes.get(at..).unwrap_or_default(), encoding),
        });
        at = end;
    }
    Some(values)
}

/// Returns the size of a value of this serial type, in bytes; `None` for a reserved type.
const fn size(kind: u64) -> Option<u64> {
    match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => Some(kind),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        _ => Some((kind - 12) / 2),
    }
}

fn value(kind: u64, bytes: &[u8], encoding: Encoding) -> Value {
    match kind {
        0 | 10 | 11 => Value::Null,
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        7 => Value::Real(f64::from_bits(bytes.iter().fold(0, |bits, byte| (bits << 8) | u64::from(*byte)))),
        1..=6 => {
            let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
            let start = if negative { -1_i64 } else { 0 };
            Value::Integer(bytes.iter().fold(start, |number, byte| (number << 8) | i64::from(*byte)))
        }
        even if even.is_multiple_of(2) => Value::Blob(bytes.to_vec()),
        _ => Value::Text(utf8(bytes, encoding)),
    }
}

/// Returns the readable part of a value; text ends after its last whole character.
fn part(kind: u64, bytes: &[u8], encoding: Encoding) -> Value {
    match kind {
        12.. if bytes.is_empty() => Value::Null,
        12.. if kind.is_multiple_of(2) => Value::Blob(bytes.to_vec()),
        12.. => {
            let mut text = utf8(bytes, encoding);
            if let Err(error) = std::str::from_utf8(&text) {
                text.truncate(error.valid_up_to());
            }
            Value::Text(text)
        }
        _ => Value::Null,
    }
}

fn utf8(bytes: &[u8], encoding: Encoding) -> Vec<u8> {
    let unit = |pair: &[u8]| match (encoding, pair) {
        (Encoding::Utf16Big, [high, low]) | (_, [low, high]) => u16::from_be_bytes([*high, *low]),
        _ => 0xfffd,
    };
    match encoding {
        Encoding::Utf8 => bytes.to_vec(),
        Encoding::Utf16Little | Encoding::Utf16Big => {
            let units: Vec<u16> = bytes.chunks(2).map(unit).collect();
            String::from_utf16_lossy(&units).into_bytes()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Payload {
        Payload { bytes: bytes.to_vec(), length: bytes.len() as u64 }
    }

    #[test]
    fn numbers_and_texts_are_read_as_sqlite_writes_them() {
        let record = [6, 0, 1, 2, 0x17, 9, 0xff, 0x01, 0x00, b'h', b'e', b'l', b'l', b'o'];
        let expect =
            [Value::Null, Value::Integer(-1), Value::Integer(256), Value::Text(b"hello".to_vec()), Value::Integer(1)];
        assert_eq!(values(&whole(&record), Encoding::Utf8).unwrap(), expect);
        let cut = Payload { bytes: record[..11].to_vec(), length: record.len() as u64 };
        assert_eq!(values(&cut, Encoding::Utf8).unwrap()[3], Value::Text(b"he".to_vec()));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0x80; 3], 0), None);
    }

    #[test]
    fn a_record_that_does_not_add_up_is_none() {
        for record in [&[3, 1, 1, 5][..], &[9, 1], &[2, 10, 0], &[2, 0x17, b'x'], &[0], &[]] {
            assert_eq!(values(&whole(record), Encoding::Utf8), None, "{record:?}");
        }
    }

    #[test]
    fn utf16_text_is_returned_as_utf8() {
        assert_eq!(utf8(&[0x27, 0x59, b'a', 0], Encoding::Utf16Little), "大a".as_bytes());
        assert_eq!(utf8(&[0x59, 0x27, 0, b'a'], Encoding::Utf16Big), "大a".as_bytes());
    }
}
