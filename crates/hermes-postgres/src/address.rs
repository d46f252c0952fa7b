//! Parses a URL: libpq's keywords, and those that the driver leaves to us.

use hermes_session::{Invalid, percent_decoded};
use std::borrow::Cow;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr as _;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// A server, as a URL names it.
#[derive(Clone)]
pub(crate) struct Address {
    /// Configuration of the driver.
    pub(crate) config: Config,
    /// Required verification of the server.
    pub(crate) trust: Trust,
    /// Schema that the URL asks for.
    pub(crate) schema: Option<String>,
    /// Printable URL of the server, without a password.
    pub(crate) location: String,
}

/// Required verification of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// None.
    Any,
    /// A certificate signed by a trusted authority: one from a file, or one of the system's.
    Authority {
        /// File with the authorities; the system's if `None`.
        roots: Option<PathBuf>,
        /// Whether the certificate must be issued for the host name of the server.
        is_named: bool,
    },
}

impl Address {
    /// Parses `postgresql://…`. By default, a server on another machine must prove its identity, and every server must
    /// accept writes.
    pub(crate) fn parse(url: &str) -> Result<Self, Invalid> {
        // A password may contain a `?`, so the query is searched for after the first `@`, where the driver ends the
        // user part.
        let behind_user = url.find('@').map_or(0, |at| at + 1);
        let (place, query) = match url[behind_user..].find('?') {
            Some(at) => (&url[..behind_user + at], &url[behind_user + at + 1..]),
            None => (url, ""),
        };
        let (mut mode, mut roots, mut schema, mut rest, mut says_attributes) = (None, None, None, Vec::new(), false);
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "sslmode" => mode = Some(value.to_owned()),
                "sslrootcert" => roots = Some(PathBuf::from(decoded(value)?)),
                "schema" => schema = Some(decoded(value)?),
                _ => {
                    says_attributes |= name == "target_session_attrs";
                    rest.push(parameter);
                }
            }
        }
        let rest = if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
        let mut config = Config::from_str(&rest).map_err(|error| {
            // The driver's message names the keyword, never a value.
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            // A password that contains a `?` would appear as the name of an option.
            let is_plain = why
                .split('`')
                .nth(1)
                .is_none_or(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
            let why = if is_plain { format!("can't be read: {why}") } else { "can't be read".to_owned() };
            odd(why, "write postgresql://user@host:port/database, with %3F for a ? and %40 for an @ in the password")
        })?;
        if !says_attributes {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let is_local =
            config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        let named = |is_named| Trust::Authority { roots: roots.clone(), is_named };
        let (ssl, trust) = match mode.as_deref() {
            None if is_local => (SslMode::Prefer, Trust::Any),
            None | Some("verify-full") => (SslMode::Require, named(true)),
            Some("verify-ca") => (SslMode::Require, named(false)),
            Some("require") if roots.is_some() => (SslMode::Require, named(false)),
            Some("require") => (SslMode::Require, Trust::Any),
            Some("prefer" | "allow") => (SslMode::Prefer, Trust::Any),
            Some("disable") => (SslMode::Disable, Trust::Any),
            Some(_) => {
                return Err(odd(
                    "has an unknown sslmode".into(),
                    "use verify-full, verify-ca, require, prefer or disable",
                ));
            }
        };
        config.ssl_mode(ssl);
        if config.get_application_name().is_none() {
            config.application_name("hermes");
        }
        let location = location(&config);
        Ok(Self { config, trust, schema, location })
    }

    /// Parses the URL of a replica, which does not accept writes.
    pub(crate) fn following(url: &str) -> Result<Self, Invalid> {
        let mut address = Self::parse(url)?;
        address.config.target_session_attrs(TargetSessionAttrs::Any);
        Ok(address)
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
        Host::Unix(_) => true,
    }
}

/// Returns the server and the database, without a password.
fn location(config: &Config) -> String {
    let ports = config.get_ports();
    let port = |place: usize| ports.get(place).or(ports.first()).copied().unwrap_or(5432);
    let host = |(place, host): (usize, &Host)| match host {
        Host::Tcp(name) if name.contains(':') => format!("[{name}]:{}", port(place)),
        Host::Tcp(name) => format!("{name}:{}", port(place)),
        Host::Unix(path) => format!("{}:{}", path.display(), port(place)),
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    format!("postgresql://{user}{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

fn decoded(value: &str) -> Result<String, Invalid> {
    let bad = || odd("has a % that is not followed by two digits".into(), "write %25 for a % sign");
    percent_decoded(value).map(Cow::into_owned).ok_or_else(bad)
}

fn odd(why: String, hint: &'static str) -> Invalid {
    Invalid::new("store URL", why, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Address {
        Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    #[test]
    fn another_machine_has_to_prove_who_it_is() {
        let authority = |is_named| Trust::Authority { roots: None, is_named };
        let table = [
            ("postgresql://a@db/h", SslMode::Require, authority(true)),
            ("postgresql://a@localhost,db/h", SslMode::Require, authority(true)),
            ("postgresql://a@localhost/h", SslMode::Prefer, Trust::Any),
            ("postgresql://a@127.0.0.1:1/h", SslMode::Prefer, Trust::Any),
            ("postgresql:///h?host=/run/postgresql", SslMode::Prefer, Trust::Any),
            ("postgresql://a@db/h?sslmode=verify-ca", SslMode::Require, authority(false)),
            ("postgresql://a@db/h?sslmode=require", SslMode::Require, Trust::Any),
            ("postgresql://a@db/h?sslmode=disable", SslMode::Disable, Trust::Any),
        ];
        for (url, ssl, trust) in table {
            let address = parsed(url);
            assert_eq!((address.config.get_ssl_mode(), address.trust), (ssl, trust), "{url}");
        }
        let own = parsed("postgres://a@db/h?sslrootcert=%2Fa%20b.pem&sslmode=verify-full");
        assert_eq!(own.trust, Trust::Authority { roots: Some("/a b.pem".into()), is_named: true });
    }

    #[test]
    fn keywords_of_libpq_are_taken_and_passwords_not_shown() {
        let address =
            parsed("postgresql://ada:p%40w@one:1,two:2/h?connect_timeout=3&schema=work&target_session_attrs=any");
        assert_eq!(address.location, "postgresql://ada@one:1,two:2/h");
        assert_eq!(address.config.get_password(), Some(&b"p@w"[..]));
        assert_eq!(address.schema.as_deref(), Some("work"));
        let odd = parsed("postgresql://ada:p?w=1@db/h?sslmode=require");
        assert_eq!((odd.config.get_password(), odd.trust), (Some(&b"p?w=1"[..]), Trust::Any));
        assert_eq!(address.config.get_target_session_attrs(), TargetSessionAttrs::Any);
        assert_eq!(parsed("postgresql://a@one,two/h").config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    }

    #[test]
    fn what_cannot_be_read_is_said_without_the_password() {
        for (url, expect) in [
            ("postgresql://a:secret@h:x/d", "store URL can't be read: invalid value for option `port`"),
            ("postgresql://a:secret@h/d?colour=1", "store URL can't be read: unknown option `colour`"),
            ("postgresql://a:secret@h/d?sslmode=maybe", "store URL has an unknown sslmode"),
            ("postgresql://a:secret@h/d?sec?ret=1", "store URL can't be read"),
            ("postgresql://a:secret@h/d?schema=%zz", "store URL has a % that is not followed by two digits"),
        ] {
            assert_eq!(Address::parse(url).err().map(|error| error.to_string()).as_deref(), Some(expect));
        }
    }
}
