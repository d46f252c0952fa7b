//! Transcripts as resources: `hermes://conversation/` and the id of a session, percent-encoded for use in a URI.

use hermes_session::{SessionId, percent_decoded, percent_encoded};

const SCHEME: &str = "hermes://conversation/";
/// The template of these addresses.
pub(crate) const TEMPLATE: &str = "hermes://conversation/{session_id}";

/// Returns the address of a conversation.
pub(crate) fn address(session: &SessionId) -> String {
    format!("{SCHEME}{}", percent_encoded(session.as_str()))
}

/// Returns the session of an address, or `None` if it is not the address of a conversation.
pub(crate) fn session(address: &str) -> Option<SessionId> {
    let id = percent_decoded(address.strip_prefix(SCHEME)?)?;
    SessionId::parse(id.into_owned()).ok()
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
        for odd in [
            "",
            "hermes://conversation/",
            "hermes://other/a",
            "hermes://conversation/%4",
            "hermes://conversation/%zz",
            "hermes://conversation/%+f",
        ] {
            assert_eq!(session(odd), None, "{odd}");
        }
    }
}
