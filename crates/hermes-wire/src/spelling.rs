//! The one JSON format: `, ` and `: ` as separators, characters instead of escapes, as in `hermes_session::Json`.

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io;

struct Spelling;

impl Formatter for Spelling {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    /// Writes stored JSON unchanged. No other type here serialises as bytes.
    fn write_byte_array<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: &[u8]) -> io::Result<()> {
        writer.write_all(value)
    }
}

/// Returns the text of a value in this format.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> String {
    let mut out = Vec::new();
    let written = value.serialize(&mut Serializer::with_formatter(&mut out, Spelling));
    written.expect("types of this crate have text as keys, and memory takes every byte");
    String::from_utf8(out).expect("JSON is UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::json::ObjectWriter;

    #[test]
    fn values_are_spelled_as_the_lossless_writer_does() {
        let text = "\"\\ \n\r\t\u{8}\u{c}\0\u{1f}\u{7f} é大🚀\u{2028}/";
        for number in [0.0, -0.0, 1.0, 1e21, 1.5e-7, 1_794_767_912.25, f64::MAX, f64::MIN_POSITIVE] {
            let mut object = ObjectWriter::new();
            object.text("a", Some(text)).text("b", None).double("c", Some(number)).raw("d", "[1, []]").raw("e", "{}");
            let value = serde_json::json!({"a": text, "b": null, "c": number, "d": [1, []], "e": {}});
            assert_eq!(to_string(&value), object.finish());
        }
        assert_eq!(to_string(&f64::NAN), "null");
    }
}
