//! Encryption, and how far a server has to prove who it is.

use crate::address::Trust;
use hermes_session::Invalid;
use mysql_async::SslOpts;
use std::path::Path;

/// What the driver is told; nothing if the connection is not encrypted.
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

/// The authorities of a file, or those that the system trusts.
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
        // One that can't be read does not keep the others from being used.
        None => rustls_native_certs::load_native_certs().certs.into_iter().map(|root| root.to_vec()).collect(),
    };
    match roots.is_empty() {
        true => {
            Err(odd("asks for a proof that nothing here can check: there are no certificates of authorities".into()))
        }
        false => Ok(roots),
    }
}

fn odd(why: String) -> Invalid {
    Invalid::new(
        "store URL",
        why,
        "ssl-ca=FILE names the authority; ssl-mode=VERIFY_IDENTITY, VERIFY_CA, REQUIRED or DISABLED says how much is asked",
    )
}
