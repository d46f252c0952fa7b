//! Transcripts as resources: `hermes://conversation/` and the id of a session, spelled so that it can stand in an address.

use hermes_session::SessionId;

const SCHEME: &str = "hermes://conversation/";
/// The template of these addresses.
pub(crate) const TEMPLATE: &str = "hermes://conversation/{session_id}";

/// The address of a conversation.
pub(crate) fn address(session: &SessionId) -> String {
    let mut out = SCHEME.to_owned();
    for byte in session.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// The session of an address; nothing if it is none of these.
pub(crate) fn session(address: &str) -> Option<SessionId> {
    let (mut bytes, mut rest) = (Vec::new(), address.strip_prefix(SCHEME)?.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    SessionId::parse(String::from_utf8(bytes).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_an_address() {
        for text in ["20260501_101500_a1b2c3", "a:b/c?d#e%f", "大別山 é", "agent:main:telegram:dm:7", "a\tb"] {
            let id = SessionId::parse(text).unwrap();
            let address = address(&id);
            assert!(address.is_ascii() && !address[SCHEME.len()..].contains(['/', '?', '#', ' ']), "{address}");
            assert_eq!(session(&address), Some(id));
        }
        for odd in
            ["", "hermes://conversation/", "hermes://other/a", "hermes://conversation/%4", "hermes://conversation/%zz"]
        {
            assert_eq!(session(odd), None, "{odd}");
        }
    }
}
