//! Finds the session of a transcript file by the file's name.

/// The gateway's list of chats and their sessions. It is never a transcript, whatever the id of a session is.
const ROUTES: &str = "sessions.json";

/// Returns the session whose file has this name: `session_ID.json`, `request_dump_ID_TIME.json`,
/// `request_dump_ID_NUMBER.json`, `ID.json`, `ID.jsonl`.
///
/// A name that fits two sessions belongs to the one for which today's agent writes it.
pub fn session_of(name: &str) -> Option<&str> {
    if name == ROUTES {
        return None;
    }
    if let Some(id) = name.strip_suffix(".jsonl") {
        return Some(id);
    }
    let stem = name.strip_suffix(".json")?;
    if let Some(id) = stem.strip_prefix("session_") {
        return Some(id);
    }
    match stem.strip_prefix("request_dump_") {
        Some(dump) => without_time(dump).or_else(|| without_number(dump)),
        None => Some(stem),
    }
}

/// Removes `_20250305_091523_123456`. The time has a fixed length, so no part of an id can be taken for it.
fn without_time(dump: &str) -> Option<&str> {
    const SHAPE: &[u8] = b"_dddddddd_dddddd_dddddd";
    let cut = dump.len().checked_sub(SHAPE.len())?;
    let (id, time) = dump.as_bytes().split_at(cut);
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == shape };
    (!id.is_empty() && time.iter().zip(SHAPE).all(fits)).then(|| &dump[..cut])
}

/// Removes `_001`: up to five digits, which is shorter than any part of a time.
fn without_number(dump: &str) -> Option<&str> {
    let (id, number) = dump.rsplit_once('_')?;
    let is_number = (1..=5).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whose_file_it_is() {
        for (name, id) in [
            ("session_20250305_091523_a1b2c3.json", Some("20250305_091523_a1b2c3")),
            ("20250305_091523_a1b2c3.jsonl", Some("20250305_091523_a1b2c3")),
            ("20250305_091523_a1b2c3.json", Some("20250305_091523_a1b2c3")),
            ("request_dump_x_20250305_091523_123456.json", Some("x")),
            ("request_dump_x_20250305_091523_20250305_091523_123456.json", Some("x_20250305_091523")),
            ("request_dump_20250305_091523_123456.json", None),
            ("request_dump_x_y.json", None),
            ("request_dump_x_001.json", Some("x")),
            ("request_dump_x_20250305_091523_001.json", Some("x_20250305_091523")),
            ("request_dump__1.json", None),
            ("request_dump_1.json", None),
            ("sessions.json", None),
            ("sessions.jsonl", Some("sessions")),
            ("notes.txt", None),
            ("request_dump_大_20250305_091523_12345大.json", None),
        ] {
            assert_eq!(session_of(name), id, "{name}");
        }
    }
}
