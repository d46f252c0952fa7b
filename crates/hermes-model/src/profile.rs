//! Servers that are known by their address, and how each differs from the protocol.

mod quirks;

pub use quirks::{CallIds, LengthField, Quirks, ReturnedReasoning, WrongQuirk};

use crate::BaseUrl;

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Its name, under which usage is billed.
    pub name: &'static str,
    /// Its quirks.
    pub quirks: Quirks,
    /// Whether it runs on this machine or in this network, where a call costs nothing.
    pub is_local: bool,
}

/// Services in the network, by the host and its subdomains.
const HOSTS: [(&str, &str); 6] = [
    ("api.openai.com", "openai"),
    ("openrouter.ai", "openrouter"),
    ("api.anthropic.com", "anthropic"),
    ("api.mistral.ai", "mistral"),
    ("api.deepseek.com", "deepseek"),
    ("ollama.com", "ollama"),
];

/// Servers on this machine, by the port that each takes unless it is told otherwise.
const PORTS: [(u16, &str); 4] = [(8000, "vllm"), (8080, "llama.cpp"), (11434, "ollama"), (1234, "lmstudio")];

/// Returns the profile of the server at an address.
pub fn profile(url: &BaseUrl) -> Profile {
    let (host, is_local) = (url.origin().host(), url.origin().is_local());
    let is_under = |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let service = HOSTS.iter().find(|(domain, _)| is_under(domain)).map(|(_, name)| *name);
    let server = || PORTS.iter().find(|(port, _)| is_local && *port == url.origin().port()).map(|(_, name)| *name);
    let name = service.or_else(server).unwrap_or("custom");
    Profile { name, quirks: quirks_of(name), is_local }
}

fn quirks_of(name: &str) -> Quirks {
    let usual = Quirks::default();
    match name {
        // Its newer models reject `max_tokens`.
        "openai" => Quirks { length_field: LengthField::MaxCompletionTokens, ..usual },
        "openrouter" => Quirks { reasoning: ReturnedReasoning::Details, ..usual },
        // It rejects unknown fields, and reports usage without being asked.
        "mistral" => Quirks { call_ids: CallIds::NineAlphanumeric, stream_options: false, ..usual },
        // While a model calls tools, it wants its reasoning back.
        "deepseek" => Quirks { reasoning: ReturnedReasoning::Content, images: false, ..usual },
        // The template of the model decides what becomes of it.
        "llama.cpp" => Quirks { reasoning: ReturnedReasoning::Content, ..usual },
        _ => usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Profile {
        profile(&BaseUrl::parse(url).unwrap())
    }

    #[test]
    fn servers_are_known_by_host_and_port() {
        for (url, name, is_local) in [
            ("https://api.openai.com/v1", "openai", false),
            ("https://eu.api.openai.com/v1", "openai", false),
            ("https://notapi.openai.com.example/v1", "custom", false),
            ("https://fakeopenrouter.ai/v1", "custom", false),
            ("https://openrouter.ai/api/v1", "openrouter", false),
            ("http://127.0.0.1:11434/v1", "ollama", true),
            ("http://localhost:8080/v1", "llama.cpp", true),
            ("http://192.168.1.7:8000/v1", "vllm", true),
            ("http://[::1]:1234/v1", "lmstudio", true),
            ("https://example.com:8080/v1", "custom", false),
        ] {
            let profile = of(url);
            assert_eq!((profile.name, profile.is_local), (name, is_local), "{url}");
        }
    }

    #[test]
    fn settings_override_a_profile() {
        let mistral = of("https://api.mistral.ai/v1").quirks;
        let settings = |text: &str| serde_json::from_str(text).unwrap();
        let changed = mistral.overridden(&settings(r#"{"call_ids": "any", "images": false}"#)).unwrap();
        assert_eq!(changed, Quirks { call_ids: CallIds::Any, images: false, ..mistral });
        for wrong in [r#"{"call_ids": "ten"}"#, r#"{"images": "yes"}"#, r#"{"colour": 1}"#] {
            assert!(!mistral.overridden(&settings(wrong)).unwrap_err().hint.is_empty(), "{wrong}");
        }
    }
}
