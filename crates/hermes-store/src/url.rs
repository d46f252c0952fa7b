//! Forms of store URLs.

use crate::redact;
use hermes_session::Invalid;
use std::fmt;
use std::path::{Path, PathBuf};

/// Location of a store. Printed without passwords.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// A file on this machine.
    Sqlite(PathBuf),
    /// A PostgreSQL server.
    Postgresql(ServerUrl),
    /// A MySQL or MariaDB server.
    Mysql(ServerUrl),
}

impl StoreUrl {
    /// Parses `sqlite:PATH`, `sqlite:///PATH`, `sqlite://~/PATH`, `postgresql://…`, `postgres://…`, `mysql://…`,
    /// `mariadb://…` or a path.
    ///
    /// `home` is the user's home folder, for a leading `~`.
    ///
    /// # Errors
    /// Fails if the text has none of these forms, or may have been meant as something other than the file it would
    /// name.
    pub fn parse(text: &str, home: Option<&Path>) -> Result<Self, Invalid> {
        let text = text.trim();
        let Some((scheme, rest)) = split_scheme(text) else {
            return bare_path(text, home);
        };
        match scheme.to_ascii_lowercase().as_str() {
            "sqlite" => sqlite_path(rest, home).map(Self::Sqlite),
            "postgresql" | "postgres" => ServerUrl::parse(text, rest, true).map(Self::Postgresql),
            "mysql" | "mariadb" => ServerUrl::parse(text, rest, false).map(Self::Mysql),
            _ if rest.starts_with("//") => {
                Err(invalid(format!("has an unknown scheme {scheme:?}"), "use sqlite:, postgresql:// or mysql://"))
            }
            _ => Err(invalid(
                format!("starts with {scheme}:, which is not a scheme"),
                "if it is the name of a file, put ./ or sqlite: before it",
            )),
        }
    }

    /// Returns the file, if the store is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path) => Some(path),
            Self::Postgresql(_) | Self::Mysql(_) => None,
        }
    }

    /// Returns whether the URL contains a password, which other users of the machine can see in an argument.
    pub fn holds_password(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgresql(server) | Self::Mysql(server) => redact::holds_password(&server.0),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgresql(server) | Self::Mysql(server) => server.fmt(f),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

/// URL of a server. Printed with `***` in place of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// Returns the URL unchanged, for the driver.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn parse(text: &str, rest: &str, local_by_default: bool) -> Result<Self, Invalid> {
        let shape = "write it as scheme://user@host:port/database";
        let Some(place) = rest.strip_prefix("//") else {
            return Err(invalid("of a server lacks the // after its scheme", shape));
        };
        if text.contains(['\0', '\n', '\r']) {
            return Err(invalid("of a server holds a control character", shape));
        }
        if place.is_empty() || (!local_by_default && place.starts_with('/') && !place.contains("socket=")) {
            return Err(invalid("names no server", shape));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact::redacted(&self.0))
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerUrl({self})")
    }
}

fn invalid(why: impl Into<String>, hint: &'static str) -> Invalid {
    Invalid::new("store URL", why, hint)
}

/// Splits off the scheme of a text: letters, digits, `+`, `-` and `.` up to a colon. Returns `None` for a path with a
/// slash before the colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character))
    })
}

fn bare_path(text: &str, home: Option<&Path>) -> Result<StoreUrl, Invalid> {
    // libpq also accepts `host=db password=x`. A file of that name would show the password to everybody.
    let keyword =
        text.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    if keyword {
        return Err(invalid(
            "is a list of keywords",
            "write postgresql://user@host/database, or ./ before the name of a file",
        ));
    }
    file_path(text, home).map(StoreUrl::Sqlite)
}

fn sqlite_path(rest: &str, home: Option<&Path>) -> Result<PathBuf, Invalid> {
    let Some(place) = rest.strip_prefix("//") else {
        return file_path(rest, home);
    };
    if place.contains('?') {
        return Err(invalid("of SQLite takes no options", "leave out what follows the ?"));
    }
    match place.as_bytes().first() {
        None => file_path("", home),
        // Some other programs write an absolute path as `sqlite:////abs`.
        Some(b'/') => file_path(&format!("/{}", place.trim_start_matches('/')), home),
        Some(b'~') => file_path(place, home),
        Some(_) => Err(invalid(
            "of SQLite has a relative path after //",
            "use sqlite:PATH for a relative path, sqlite:///PATH for an absolute one",
        )),
    }
}

fn file_path(path: &str, home: Option<&Path>) -> Result<PathBuf, Invalid> {
    let hint = "name a file, such as sqlite:~/.hermes/state.db";
    if path.is_empty() || path == "/" {
        return Err(invalid("names no file", hint));
    }
    if path.contains('\0') {
        return Err(invalid("holds a NUL character", hint));
    }
    if path.starts_with(":memory:") {
        return Err(invalid("asks for a store in memory, which would be lost at once", hint));
    }
    match path.strip_prefix("~/").or(path.strip_prefix('~').filter(|rest| rest.is_empty())) {
        Some("") => Err(invalid("names a folder", hint)),
        Some(below) => match home {
            Some(home) => Ok(home.join(below.trim_start_matches('/'))),
            None => Err(invalid("starts with ~, and there is no home folder", "give the whole path")),
        },
        None => Ok(PathBuf::from(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_file() {
        let table = [
            ("sqlite:state.db", "state.db"),
            ("sqlite:/a/b.db", "/a/b.db"),
            ("sqlite:///a/b.db", "/a/b.db"),
            ("sqlite:////a/b.db", "/a/b.db"),
            ("SQLite://~/.hermes/state.db", "/home/ada/.hermes/state.db"),
            ("sqlite:~/x.db", "/home/ada/x.db"),
            (" state.db ", "state.db"),
            ("~/x.db", "/home/ada/x.db"),
            ("./a:b", "./a:b"),
            ("/a/b=c", "/a/b=c"),
            ("/päth with space/数据.db", "/päth with space/数据.db"),
            ("~ada/x.db", "~ada/x.db"),
        ];
        for (text, expect) in table {
            let url = StoreUrl::parse(text, Some(Path::new("/home/ada"))).unwrap();
            assert_eq!(url, StoreUrl::Sqlite(expect.into()), "{text}");
            assert_eq!(url.to_string(), format!("sqlite:{expect}"));
        }
    }

    #[test]
    fn every_form_of_a_server() {
        for text in ["postgresql://a@h,i:2/d", "postgres:///d?host=/run", "POSTGRES://h"] {
            assert!(matches!(StoreUrl::parse(text, None), Ok(StoreUrl::Postgresql(_))), "{text}");
        }
        for text in ["mysql://h/d", "mariadb://a:b@h:3306/d", "mysql:///d?socket=/run/s"] {
            let Ok(StoreUrl::Mysql(server)) = StoreUrl::parse(text, None) else { panic!("{text}") };
            assert_eq!(server.reveal(), text);
        }
    }

    #[test]
    fn passwords_are_in_no_text() {
        let url = StoreUrl::parse("mysql://ada:hunter2@h/d", None).unwrap();
        assert_eq!(url.to_string(), "mysql://ada:***@h/d");
        assert_eq!(format!("{url:?}"), "StoreUrl(mysql://ada:***@h/d)");
        assert!(url.holds_password() && !StoreUrl::Sqlite("a:b@c".into()).holds_password());
    }

    #[test]
    fn what_it_is_not_is_said() {
        let table = [
            ("", "store URL names no file"),
            ("sqlite:", "store URL names no file"),
            ("sqlite:///", "store URL names no file"),
            ("~", "store URL names a folder"),
            ("~/x.db", "store URL starts with ~, and there is no home folder"),
            ("sqlite://state.db", "store URL of SQLite has a relative path after //"),
            ("sqlite:///a.db?mode=ro", "store URL of SQLite takes no options"),
            ("sqlite::memory:", "store URL asks for a store in memory, which would be lost at once"),
            ("oracle://ada:pw@h", "store URL has an unknown scheme \"oracle\""),
            ("sqllite:a.db", "store URL starts with sqllite:, which is not a scheme"),
            ("host=h password=pw", "store URL is a list of keywords"),
            ("postgres:h/d", "store URL of a server lacks the // after its scheme"),
            ("mysql://", "store URL names no server"),
            ("mysql:///d", "store URL names no server"),
        ];
        for (text, expect) in table {
            let error = StoreUrl::parse(text, None).unwrap_err();
            assert_eq!(error.to_string(), expect, "{text}");
            assert!(!error.hint.is_empty() && !error.hint.contains("pw"));
        }
    }
}
