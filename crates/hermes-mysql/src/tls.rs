//! Encryption and verification of the server.

use crate::address::Trust;
use hermes_session::Invalid;
use mysql_async::SslOpts;
use std::path::Path;

/// Returns the options for the driver, or `None` for an unencrypted connection.
pub(crate) fn options(trust: &Trust) -> Result<Option<SslOpts>, Invalid> {
    let any = || SslOpts::default().with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true);
    Ok(match trust {
        Trust::Plain => None,
        Trust::Preferred | Trust::Any => Some(any()),
        Trust::Authority { roots, is_named } => Some(
            SslOpts::default()
                .with_root_certs(authorities(roots.as_deref())?.into_iter().map(Into::into).collect())
                .with_disable_built_in_roots(true)
                .with_danger_skip_domain_validation(!is_named),
        ),
    })
}

/// Returns the authorities from a file, or those that the system trusts.
fn authorities(file: Option<&Path>) -> Result<Vec<Vec<u8>>, Invalid> {
    let roots: Vec<Vec<u8>> = match file {
        Some(file) => {
            let text =
                std::fs::read(file).map_err(|error| odd(format!("names certificates that can't be read: {error}")))?;
            if !text.windows(11).any(|piece| piece == b"-----BEGIN ") {
                return Err(odd("names a file without certificates".into()));
            }
            vec![text]
        }
        // An unreadable certificate does not prevent the use of the others.
        None => rustls_native_certs::load_native_certs().certs.into_iter().map(|root| root.to_vec()).collect(),
    };
    match roots.is_empty() {
        true => Err(odd("asks to verify the server's certificate, but no CA certificates were found".into())),
        false => Ok(roots),
    }
}

fn odd(why: String) -> Invalid {
    Invalid::new(
        "store URL",
        why,
        "ssl-ca=FILE names the CA certificates; ssl-mode=VERIFY_IDENTITY, VERIFY_CA, REQUIRED or DISABLED sets what is verified",
    )
}
