//! Server-sent events from bytes that arrive in any pieces.

/// Maximum size of one event in bytes. An answer as one event is far smaller; what is larger is not an answer.
const MAX_EVENT: usize = 64 << 20;

/// An event is larger than any answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than 64 MiB")]
pub struct TooLong;

/// Splits bytes into events. Each byte is looked at once, whatever the pieces are.
///
/// Lines end with LF, CR or CRLF. Comments and unknown fields are skipped, a byte order mark too. Several `data` lines
/// are joined with LF. An event that the end of the stream cuts off counts, because many servers leave out the last
/// empty line.
#[derive(Debug, Default)]
pub struct EventReader {
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    is_error: bool,
    /// Whether the last byte was a CR, so that a LF after it belongs to it.
    is_after_return: bool,
    has_started: bool,
}

impl EventReader {
    /// Reads bytes, and calls `on_event` with the data of each event that they complete, and whether its type is
    /// `error`.
    ///
    /// # Errors
    /// [`TooLong`], or the first error of `on_event`.
    pub fn push<E: From<TooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut on_event: impl FnMut(&[u8], bool) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.is_after_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                return self.checked_size().map_err(E::from);
            };
            self.is_after_return = bytes[end] == b'\r';
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.line.is_empty() {
                self.end_line(line, &mut on_event)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.end_line(&whole, &mut on_event)?;
                // The buffer is kept for the next line.
                whole.clear();
                self.line = whole;
            }
        }
        Ok(())
    }

    /// Ends the stream, and calls `on_event` with an event that was not ended by an empty line.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish<E: From<TooLong>>(mut self, mut on_event: impl FnMut(&[u8], bool) -> Result<(), E>) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, &mut on_event)?;
        }
        self.dispatch(&mut on_event)
    }

    fn end_line<E: From<TooLong>>(
        &mut self,
        line: &[u8],
        on_event: &mut impl FnMut(&[u8], bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_first = !std::mem::replace(&mut self.has_started, true);
        let line = if is_first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.dispatch(on_event);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.is_error = value == b"error",
            _ => {}
        }
        self.checked_size().map_err(E::from)
    }

    fn dispatch<E>(&mut self, on_event: &mut impl FnMut(&[u8], bool) -> Result<(), E>) -> Result<(), E> {
        let is_error = std::mem::take(&mut self.is_error);
        if !std::mem::take(&mut self.has_data) {
            return Ok(());
        }
        let outcome = on_event(&self.data, is_error);
        self.data.clear();
        outcome
    }

    fn checked_size(&self) -> Result<(), TooLong> {
        if self.line.len() + self.data.len() > MAX_EVENT { Err(TooLong) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a stream in pieces of `size` bytes.
    fn read(stream: &[u8], size: usize) -> Vec<String> {
        let mut events = Vec::new();
        let mut reader = EventReader::default();
        let mut on_event = |data: &[u8], is_error: bool| {
            events.push(format!("{}{}", if is_error { "!" } else { "" }, String::from_utf8_lossy(data)));
            Ok::<(), TooLong>(())
        };
        for piece in stream.chunks(size) {
            reader.push(piece, &mut on_event).unwrap();
        }
        reader.finish(&mut on_event).unwrap();
        events
    }

    #[test]
    fn events_are_read_in_every_form_and_any_pieces() {
        for (stream, expect) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("\u{feff}data: a\r\n\r\ndata: b\r\rdata: c", vec!["a", "b", "c"]),
            (": comment\n\ndata:a\ndata:  b\n\n: x\n", vec!["a\n b"]),
            ("event: error\ndata: a\n\ndata: b\n\n", vec!["!a", "b"]),
            ("event: error\n\ndata: b\n\n", vec!["b"]),
            ("data\n\n", vec![""]),
            ("id: 1\nretry: 5\n\n\n\nnonsense\n\n", vec![]),
            ("data: é大\n\n", vec!["é大"]),
        ] {
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(read(stream.as_bytes(), size), expect, "{stream:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut reader = EventReader::default();
        let piece = vec![b'x'; 1 << 20];
        let outcome = (0..100).try_for_each(|_| reader.push(&piece, |_, _| Ok::<(), TooLong>(())));
        assert_eq!(outcome, Err(TooLong));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(bytes in proptest::collection::vec(prop_oneof![
            Just(b'\n'), Just(b'\r'), Just(b':'), Just(b' '), Just(b'd'), any::<u8>()
        ], 0..80), size in 1_usize..9) {
            let framed = [b"data: ".as_slice(), &bytes, b"\r\ndata:", &bytes].concat();
            prop_assert_eq!(read(&framed, size), read(&framed, framed.len()));
        }
    }
}
