//! Addresses of servers, and the keys that belong to them.

use hermes_session::Invalid;
use hyper::Uri;
use std::fmt;
use std::net::IpAddr;

/// Scheme, host and port: the unit to which a key belongs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    is_encrypted: bool,
    host: String,
    port: u16,
}

impl Origin {
    /// Returns the host in small letters; an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns whether the connection is encrypted.
    pub const fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Returns whether the server is on this machine or in a private network.
    pub fn is_local(&self) -> bool {
        match self.host.parse() {
            Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => {
                address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
            }
            Err(_) => self.host == "localhost" || !self.host.contains('.') || self.host.ends_with(".local"),
        }
    }

    /// Returns the value of the `Host` header.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let is_usual = self.port == if self.is_encrypted { 443 } else { 80 };
        if is_usual { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.is_encrypted { "https" } else { "http" }, self.authority())
    }
}

/// The address of a server's interface, such as `https://openrouter.ai/api/v1`. Holds no password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    origin: Origin,
    path: String,
}

impl BaseUrl {
    /// Parses an address. A slash at its end does not matter.
    ///
    /// # Errors
    /// If it is not an `http` or `https` URL with a host, or has a user, a query or a fragment.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let odd = |why: &'static str| Invalid::new("base_url", why, "use a URL such as https://openrouter.ai/api/v1");
        let uri: Uri = text.trim().parse().map_err(|_| odd("is not a URL"))?;
        if text.contains('#') || uri.query().is_some() {
            return Err(odd("has a query or a fragment"));
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(odd("has a user or a password"));
        }
        let origin = origin_of(&uri).ok_or_else(|| odd("is not an http or https URL with a host"))?;
        Ok(Self { origin, path: uri.path().trim_end_matches('/').to_owned() })
    }

    /// Returns its origin.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the address of a resource, such as `/models`.
    pub fn join(&self, path: &str) -> Url {
        Url { origin: self.origin.clone(), path: format!("{}{path}", self.path) }
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

fn origin_of(uri: &Uri) -> Option<Origin> {
    let is_encrypted = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return None,
    };
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
    (!host.is_empty()).then_some(Origin { is_encrypted, host, port })
}

/// The address of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub(crate) origin: Origin,
    /// Path and query; may be empty.
    pub(crate) path: String,
}

impl Url {
    /// Returns the path and query, which begin with a slash.
    pub fn target(&self) -> &str {
        if self.path.is_empty() { "/" } else { &self.path }
    }

    /// Resolves the `Location` of a redirect; `None` if it does not lead to a server.
    pub(crate) fn redirected(&self, location: &str) -> Option<Self> {
        let uri: Uri = location.trim().parse().ok()?;
        let path = uri.path_and_query().map(|path| path.as_str().to_owned()).unwrap_or_default();
        match origin_of(&uri) {
            Some(origin) => Some(Self { origin, path }),
            None => path.starts_with('/').then(|| Self { origin: self.origin.clone(), path }),
        }
    }
}

/// A key that is sent to one origin only. No formatter prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    origin: Origin,
    secret: String,
}

impl Key {
    /// Returns a key for the server at `origin`.
    ///
    /// # Errors
    /// If it has characters that cannot be in a header, such as a line break.
    pub fn new(origin: Origin, secret: &str) -> Result<Self, Invalid> {
        let secret = secret.trim();
        if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            let why = "is empty or has characters other than visible ASCII";
            return Err(Invalid::new("API key", why, "copy the key again"));
        }
        Ok(Self { origin, secret: secret.to_owned() })
    }

    /// Returns the key, if it belongs to the origin of a request.
    pub fn reveal_to(&self, origin: &Origin) -> Option<&str> {
        (self.origin == *origin).then_some(&self.secret)
    }

    /// Returns a text without the key, should a server have quoted it.
    pub(crate) fn masked(&self, text: &str) -> String {
        text.replace(&self.secret, "[redacted: api key]")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(*** for {})", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_printed() {
        for (text, shown, target) in [
            ("https://OpenRouter.ai/api/v1/", "https://openrouter.ai/api/v1", "/api/v1/models"),
            ("http://[::1]:8080", "http://[::1]:8080", "/models"),
            ("https://a.example:443/v1", "https://a.example/v1", "/v1/models"),
        ] {
            let url = BaseUrl::parse(text).unwrap();
            assert_eq!((url.to_string().as_str(), url.join("/models").target()), (shown, target));
        }
        for wrong in ["", "openrouter.ai/api/v1", "ftp://a/b", "https://u:p@a/v1", "https://a/v1?x=1", "https://a/#x"] {
            let error = BaseUrl::parse(wrong).unwrap_err();
            assert!(!error.to_string().contains("u:p"), "{error}");
        }
    }

    #[test]
    fn a_key_is_for_one_origin() {
        let origin = |text: &str| BaseUrl::parse(text).unwrap().origin().clone();
        let key = Key::new(origin("https://api.openai.com/v1"), " sk-1\n").unwrap();
        assert_eq!(key.reveal_to(&origin("https://api.openai.com/other")), Some("sk-1"));
        for other in ["http://api.openai.com", "https://api.openai.com:8443", "https://evil.example"] {
            assert_eq!(key.reveal_to(&origin(other)), None, "{other}");
        }
        assert_eq!(format!("{key:?}"), "Key(*** for https://api.openai.com)");
        assert!(Key::new(origin("https://a.example"), "a\r\nX: b").is_err());
    }

    #[test]
    fn redirects_are_resolved() {
        let url = BaseUrl::parse("https://a.example/v1").unwrap().join("/chat");
        for (location, expect) in [
            ("/v2/chat?x=1", Some("https://a.example/v2/chat?x=1")),
            ("http://b.example:81/", Some("http://b.example:81/")),
            ("javascript:alert(1)", None),
            ("", None),
        ] {
            let found = url.redirected(location).map(|url| format!("{}{}", url.origin, url.target()));
            assert_eq!(found.as_deref(), expect, "{location}");
        }
    }
}
