//! The scanner behind [`super::Json`]: one pass, no recursion, no tree.

/// Position at which the text stops being JSON, and the reason.
#[derive(Debug)]
pub(super) struct ScanFault {
    pub(super) at: usize,
    pub(super) why: &'static str,
}

/// Rewrites `text` in its canonical spelling, or returns where it is malformed.
pub(super) fn respell(text: &str) -> Result<String, ScanFault> {
    let mut scanner = Scanner { bytes: text.as_bytes(), text, at: 0, out: String::with_capacity(text.len()) };
    scanner.document()?;
    Ok(scanner.out)
}

/// Appends `text` as a JSON string.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    // Nearly all text needs no escapes and is copied in one piece.
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        out.push_str(&rest[..at]);
        push_escaped(char::from(rest.as_bytes()[at]), out);
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Returns the elements of a list, or the members of an object, given in canonical spelling.
pub(super) fn parts(container: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 1, 0_usize, false);
    let mut bytes = container.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if quoted => _ = bytes.next(),
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b',' if depth == 1 => {
                parts.push(&container[start..at]);
                start = at + ", ".len();
            }
            _ => {}
        }
    }
    let last = &container[start..container.len() - 1];
    parts.extend((!last.is_empty()).then_some(last));
    parts
}

/// Replaces values that only Python can hold, in text of canonical spelling: the only `\ud…` escapes left there are
/// lone surrogates, the only bare capitals are `NaN` and the infinities.
pub(super) fn tame(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut quoted) = (text, false);
    while let Some(next) = rest.chars().next() {
        let taken = match next {
            '\\' if rest.starts_with("\\ud") => {
                out.push('\u{fffd}');
                6
            }
            '\\' => {
                out.push_str(&rest[..2]);
                2
            }
            'N' | 'I' | '-' if !quoted => {
                let word = ["-Infinity", "Infinity", "NaN"].into_iter().find(|word| rest.starts_with(word));
                out.push_str(if word.is_some() { "null" } else { "-" });
                word.map_or(1, str::len)
            }
            _ => {
                quoted ^= next == '"';
                out.push(next);
                next.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out
}

fn push_escaped(character: char, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", character as u32)),
        _ => out.push(character),
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    out: String,
}

impl Scanner<'_> {
    fn fault<T>(&self, why: &'static str) -> Result<T, ScanFault> {
        Err(ScanFault { at: self.at, why })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads one value and the end of the input. `open` holds the closing bracket of each container around the cursor.
    fn document(&mut self) -> Result<(), ScanFault> {
        let mut open: Vec<u8> = Vec::new();
        self.space();
        loop {
            // A value starts here.
            match self.peek() {
                Some(bracket @ (b'[' | b'{')) => {
                    let close = bracket + 2;
                    self.at += 1;
                    self.out.push(char::from(bracket));
                    self.space();
                    if self.peek() != Some(close) {
                        open.push(close);
                        if close == b'}' {
                            self.key()?;
                        }
                        continue;
                    }
                    self.at += 1;
                    self.out.push(char::from(close));
                }
                Some(b'"') => self.string()?,
                _ => self.scalar()?,
            }
            // A value ended here: close the containers that end with it, or continue with the next value.
            loop {
                self.space();
                let Some(&close) = open.last() else {
                    return if self.at == self.bytes.len() {
                        Ok(())
                    } else {
                        self.fault("something follows the value")
                    };
                };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        self.out.push_str(", ");
                        self.space();
                        if close == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                    Some(byte) if byte == close => {
                        self.at += 1;
                        self.out.push(char::from(close));
                        open.pop();
                    }
                    _ => return self.fault("a comma or the end of the list or object is missing"),
                }
            }
        }
    }

    fn key(&mut self) -> Result<(), ScanFault> {
        if self.peek() != Some(b'"') {
            return self.fault("a key in quotes is missing");
        }
        self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return self.fault("a colon is missing");
        }
        self.at += 1;
        self.out.push_str(": ");
        self.space();
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), ScanFault> {
        for word in ["null", "true", "false", "NaN", "Infinity", "-Infinity"] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                self.out.push_str(word);
                return Ok(());
            }
        }
        self.number()
    }

    fn number(&mut self) -> Result<(), ScanFault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return self.fault("a value is missing"),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.out.push_str(&self.text[start..self.at]);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), ScanFault> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.fault("a digit is missing");
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), ScanFault> {
        self.at += 1;
        self.out.push('"');
        loop {
            let plain = self.bytes[self.at..].iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let Some(plain) = plain else {
                self.at = self.bytes.len();
                return self.fault("it ends inside a string");
            };
            self.out.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    self.out.push('"');
                    return Ok(());
                }
                b'\\' => self.escape()?,
                _ => return self.fault("an unescaped control character in a string"),
            }
        }
    }

    fn escape(&mut self) -> Result<(), ScanFault> {
        let character = match self.bytes.get(self.at + 1) {
            Some(b'u') => return self.unicode_escape(),
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            _ => return self.fault("an escape is not complete"),
        };
        self.at += 2;
        push_escaped(character, &mut self.out);
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<(), ScanFault> {
        let Some(first) = self.hex(self.at) else { return self.fault("an escape is not complete") };
        if let 0xd800..=0xdbff = first
            && let Some(second @ 0xdc00..=0xdfff) = self.hex(self.at + 6)
        {
            let character = char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            self.out.push(character.expect("a surrogate pair is a character"));
            self.at += 12;
            return Ok(());
        }
        match char::from_u32(first) {
            Some(character) => push_escaped(character, &mut self.out),
            None => self.out.push_str(&format!("\\u{first:04x}")),
        }
        self.at += 6;
        Ok(())
    }

    /// Returns the code unit of the `\uXXXX` at `at`, if there is one.
    fn hex(&self, at: usize) -> Option<u32> {
        let escape = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        escape.iter().try_fold(0, |value, byte| Some(value * 16 + char::from(*byte).to_digit(16)?))
    }
}
