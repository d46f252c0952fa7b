//! Server URLs in a printable form: with `***` in place of every possible password.

use hermes_session::percent_decoded;
use std::borrow::Cow;

/// Returns the URL without its passwords.
///
/// People write passwords into URLs without encoding them. Where the extent of a password is ambiguous, everything
/// after the scheme is hidden.
pub(crate) fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "***".into() };
    let (user_info, tail) = match rest.rfind('@') {
        Some(at) if is_in_query(&rest[..at]) => return format!("{scheme}://***"),
        Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
        None => (None, rest),
    };
    let user = user_info.map_or(String::new(), |info| match info.split_once(':') {
        Some((user, _)) => format!("{user}:***@"),
        None => format!("{info}@"),
    });
    format!("{scheme}://{user}{}", without_secret_parameters(tail))
}

/// Returns whether the URL contains a password.
pub(crate) fn holds_password(url: &str) -> bool {
    redacted(url) != url
}

/// Returns whether a text that ends before an `@` already contains query parameters.
fn is_in_query(before: &str) -> bool {
    before.split_once('?').is_some_and(|(_, query)| query.contains('='))
}

fn without_secret_parameters(tail: &str) -> Cow<'_, str> {
    let Some((place, query)) = tail.split_once('?') else { return Cow::Borrowed(tail) };
    let parameters = query.split_inclusive(['&', ';']).map(|parameter| {
        let (body, separator) = match parameter.strip_suffix(['&', ';']) {
            Some(body) => (body, &parameter[body.len()..]),
            None => (parameter, ""),
        };
        match body.split_once('=') {
            Some((name, _)) if is_secret(name) => format!("{name}=***{separator}"),
            _ => parameter.to_owned(),
        }
    });
    Cow::Owned(format!("{place}?{}", parameters.collect::<String>()))
}

/// Returns whether a parameter may be a password: `password`, `sslpassword`, `passwd`, `pwd` and their like, or a name
/// that cannot be decoded.
fn is_secret(name: &str) -> bool {
    percent_decoded(name).is_none_or(|name| {
        let name = name.to_ascii_lowercase();
        ["pass", "pwd", "secret", "token", "key"].iter().any(|word| name.contains(word)) && name != "sslkey"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expect: &str) {
        assert_eq!(redacted(url), expect);
    }

    #[test]
    fn passwords_are_hidden_wherever_they_stand() {
        check("postgresql://ada:pw@db:5432/hermes", "postgresql://ada:***@db:5432/hermes");
        check("postgresql://ada:p%40w@a:1,b:2/hermes", "postgresql://ada:***@a:1,b:2/hermes");
        check("mysql://ada:p@s@h/d", "mysql://ada:***@h/d");
        check("mysql://ada:p/a?s#s@h/d", "mysql://ada:***@h/d");
        check("mysql://:pw@h/d", "mysql://:***@h/d");
        check("postgresql://h/d?user=ada&password=pw&x=1", "postgresql://h/d?user=ada&password=***&x=1");
        check("postgresql://h/d?%70assword=pw;sslpassword=b", "postgresql://h/d?%70assword=***;sslpassword=***");
        check("postgresql://ada@h/d?PASSWORD=", "postgresql://ada@h/d?PASSWORD=***");
        check("postgresql://h/d?%zz=pw&%ff=pw&x=%zz", "postgresql://h/d?%zz=***&%ff=***&x=%zz");
    }

    #[test]
    fn what_cannot_be_distinguished_is_hidden_as_a_whole() {
        check("postgresql://h/d?password=a@b", "postgresql://***");
        check("postgresql://ada:p?w=x@h/d", "postgresql://***");
        check("postgresql://ada:p@a?b=c@h/d", "postgresql://***");
        check("password=x host=y", "***");
    }

    #[test]
    fn a_url_without_a_password_is_shown_as_it_is() {
        for url in ["postgresql://ada@h/d?sslmode=require&sslkey=k.pem", "mysql://h:3306/d", "postgresql:///d"] {
            check(url, url);
            assert!(!holds_password(url));
        }
        assert!(holds_password("mysql://a:b@c"));
    }
}
