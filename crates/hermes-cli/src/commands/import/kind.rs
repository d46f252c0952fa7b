//! Detects by its first bytes whether a file can be an export.

/// Returns the reason why a file that starts with `head` is not an export, and a hint. `None` if it may be one.
pub(super) fn refusal(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let starts: [(&[u8], _, _); 5] = [
        (
            b"SQLite format 3\0",
            "is a store, not an export of one",
            "export it first: `hermes sessions export --url STORE FILE`",
        ),
        (b"\x1f\x8b", "is packed with gzip", "unpack it: `gunzip -c FILE | hermes sessions import -`"),
        (b"\x28\xb5\x2f\xfd", "is packed with zstd", "unpack it: `zstd -dc FILE | hermes sessions import -`"),
        (b"PK\x03\x04", "is a zip archive", "unpack it first"),
        (b"\xff\xfe", "is not UTF-8", "write it as UTF-8 first"),
    ];
    if let Some((_, why, hint)) = starts.into_iter().find(|(start, ..)| head.starts_with(start)) {
        return Some((why, hint));
    }
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    match lines.clone().next() {
        None => None,
        Some(b"{") => Some((
            "is one JSON document over several lines",
            "import reads one session per line, as `hermes sessions export` writes them",
        )),
        Some(first) if first.starts_with(b"[") => {
            Some(("is a JSON list", "import reads one session per line, without brackets around them"))
        }
        // A bad line is reported with its number, as long as other lines look like sessions.
        _ if lines.any(|line| line.starts_with(b"{")) => None,
        Some(_) => Some(("is not an export of sessions", "import reads what `hermes sessions export` writes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_an_export_is_read() {
        for head in ["", "\n\n", "{\"id\": \"a\"", "\u{feff}{\"id\"", "garbage\n{\"id\""] {
            assert_eq!(refusal(head.as_bytes()), None, "{head:?}");
        }
        for head in ["SQLite format 3\0", "[\n{\"id\"", "{\n  \"session_id\"", "---\nyaml: true", "id,title\n1,2"] {
            assert!(refusal(head.as_bytes()).is_some(), "{head:?}");
        }
    }
}
