//! Parses a URL, with the option names of MySQL's own clients.

use hermes_session::{Invalid, percent_decoded};
use mysql_async::{Opts, OptsBuilder};
use std::borrow::Cow;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A server, as a URL names it.
#[derive(Clone)]
pub(crate) struct Address {
    /// Options for the driver, without TLS.
    pub(crate) options: Opts,
    /// Required encryption and verification of the server.
    pub(crate) trust: Trust,
    /// Timeout of one attempt to connect, if the URL has one.
    pub(crate) connect_timeout: Option<Duration>,
    /// Name of the database.
    pub(crate) database: String,
    /// Printable URL of the server, without a password.
    pub(crate) location: String,
}

/// Required encryption and verification of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// No encryption.
    Plain,
    /// Encryption if the server supports it, without verification.
    Preferred,
    /// Encryption without verification.
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
    /// Parses `mysql://…` or `mariadb://…`. By default, a server on another machine must prove its identity.
    pub(crate) fn parse(url: &str) -> Result<Self, Invalid> {
        let (_, rest) = url.split_once("://").ok_or_else(|| unreadable("it has no ://"))?;
        // A password may contain a `?`, so the query is searched for after the `@`.
        let behind_user = rest.find('@').map_or(0, |at| at + 1);
        let (place, query) = match rest[behind_user..].find('?') {
            Some(at) => (&rest[..behind_user + at], &rest[behind_user + at + 1..]),
            None => (rest, ""),
        };
        let (mut mode, mut roots, mut socket, mut connect_timeout) = (None, None, None, None);
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "ssl-mode" | "sslmode" | "ssl_mode" => mode = Some(value.to_ascii_lowercase().replace('_', "-")),
                "ssl-ca" | "sslrootcert" | "ssl_ca" => roots = Some(PathBuf::from(decoded(value)?)),
                "socket" => socket = Some(decoded(value)?),
                "connect_timeout" => {
                    let seconds =
                        value.parse().map_err(|_| unreadable("connect_timeout is not a number of seconds"))?;
                    connect_timeout = Some(Duration::from_secs(seconds));
                }
                // A password that contains a `?` would appear as the name of an option.
                name if name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-')) => {
                    return Err(unreadable(&format!("unknown option `{name}`")));
                }
                _ => return Err(unreadable("an option has an odd name")),
            }
        }
        // With a socket, the host is optional.
        let (user, host) = place.split_at(behind_user.min(place.len()));
        let host = if host.is_empty() || host.starts_with('/') { format!("localhost{host}") } else { host.into() };
        let place = format!("{user}{host}");
        // The driver's error is not shown, because it may contain the password.
        let parsed = Opts::from_url(&format!("mysql://{place}")).map_err(|_| unreadable("it is not an address"))?;
        let Some(database) = parsed.db_name().filter(|name| !name.is_empty()).map(ToOwned::to_owned) else {
            return Err(unreadable("it names no database"));
        };
        let host = parsed.ip_or_hostname().to_owned();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_local =
            socket.is_some() || bare == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        let trust = trust(mode.as_deref(), roots, is_local)?;
        let user = parsed.user().map(|user| format!("{user}@")).unwrap_or_default();
        let location = match &socket {
            Some(socket) => format!("mysql://{user}{socket}/{database}"),
            None => format!("mysql://{user}{host}:{}/{database}", parsed.tcp_port()),
        };
        let options = OptsBuilder::from_opts(parsed).prefer_socket(false).socket(socket).into();
        Ok(Self { options, trust, connect_timeout, database, location })
    }
}

fn trust(mode: Option<&str>, roots: Option<PathBuf>, is_local: bool) -> Result<Trust, Invalid> {
    Ok(match mode {
        None if is_local && roots.is_none() => Trust::Preferred,
        None | Some("verify-identity" | "verify-full") => Trust::Authority { roots, is_named: true },
        Some("verify-ca") => Trust::Authority { roots, is_named: false },
        Some("required" | "require") if roots.is_some() => Trust::Authority { roots, is_named: false },
        Some("required" | "require") => Trust::Any,
        Some("preferred" | "prefer") => Trust::Preferred,
        Some("disabled" | "disable") => Trust::Plain,
        Some(_) => {
            return Err(Invalid::new(
                "store URL",
                "has an unknown ssl-mode",
                "use VERIFY_IDENTITY, VERIFY_CA, REQUIRED, PREFERRED or DISABLED",
            ));
        }
    })
}

fn decoded(value: &str) -> Result<String, Invalid> {
    percent_decoded(value).map(Cow::into_owned).ok_or_else(|| unreadable("a % is not followed by two digits"))
}

fn unreadable(why: &str) -> Invalid {
    Invalid::new(
        "store URL",
        format!("can't be read: {why}"),
        "write mysql://user@host:port/database, with %3F for a ? and %40 for an @ in the password",
    )
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
        for (url, trust) in [
            ("mysql://a@db/h", authority(true)),
            ("mariadb://a@192.0.2.1:3307/h", authority(true)),
            ("mysql://a@localhost/h", Trust::Preferred),
            ("mysql://a@127.0.0.1:1/h", Trust::Preferred),
            ("mysql://a@[::1]:1/h", Trust::Preferred),
            ("mysql://a@db/h?socket=%2Frun%2Fx.sock", Trust::Preferred),
            ("mysql://a@db/h?ssl-mode=VERIFY_CA", authority(false)),
            ("mysql://a@db/h?sslmode=verify-full", authority(true)),
            ("mysql://a@db/h?ssl-mode=REQUIRED", Trust::Any),
            ("mysql://a@db/h?ssl-mode=disabled", Trust::Plain),
        ] {
            assert_eq!(parsed(url).trust, trust, "{url}");
        }
        let own = parsed("mysql://a@db/h?ssl-ca=%2Fa%20b.pem&ssl-mode=VERIFY_IDENTITY");
        assert_eq!(own.trust, Trust::Authority { roots: Some("/a b.pem".into()), is_named: true });
    }

    #[test]
    fn words_are_taken_and_passwords_not_shown() {
        let address = parsed("mariadb://ada:p%40w@one:33/h?connect_timeout=3");
        assert_eq!((address.location.as_str(), address.database.as_str()), ("mysql://ada@one:33/h", "h"));
        assert_eq!(address.options.pass(), Some("p@w"));
        assert_eq!(address.connect_timeout, Some(Duration::from_secs(3)));
        let socket = parsed("mysql://ada@/h?socket=/run/my.sock");
        assert_eq!(socket.location, "mysql://ada@/run/my.sock/h");
        assert_eq!(socket.options.socket(), Some("/run/my.sock"));
    }

    #[test]
    fn what_cannot_be_read_is_said_without_the_password() {
        for (url, expect) in [
            ("mysql://a:secret@h:x/d", "store URL can't be read: it is not an address"),
            ("mysql://a:secret@h/d?colour=1", "store URL can't be read: unknown option `colour`"),
            ("mysql://a:secret@h/d?ssl-mode=maybe", "store URL has an unknown ssl-mode"),
            ("mysql://a:secret@h/d?sec?ret=1", "store URL can't be read: an option has an odd name"),
            ("mysql://a:secret@h", "store URL can't be read: it names no database"),
            ("mysql://a:secret@h/d?socket=%zz", "store URL can't be read: a % is not followed by two digits"),
            ("mysql://a:secret@h/", "store URL can't be read: it names no database"),
        ] {
            assert_eq!(Address::parse(url).err().map(|error| error.to_string()).as_deref(), Some(expect), "{url}");
        }
    }
}
