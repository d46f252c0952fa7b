//! What a file holds of ours, looked at without changing it.

use crate::error::{Circumstances, Failure};
use crate::open::{connection, place, schema};
use hermes_session::{Location, StoreError};
use std::path::Path;
use std::time::Duration;

/// What a file holds of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoption {
    /// Whether our side tables are there, in the form that this program uses.
    pub is_adopted: bool,
    /// The names of our tables, views, indexes and triggers, in order. Tables that SQLite keeps for a full-text index of ours are not named.
    pub objects: Vec<String>,
}

/// Returns what the file holds of ours, for a command that writes it later. It is only read, but for a rollback journal that a killed writer left.
///
/// # Errors
/// If it can't be read or is not an agent's file.
pub fn adoption(path: &Path) -> Result<Adoption, StoreError> {
    let path = &place::resolve(path)?;
    place::check(path, false)?;
    look(path).map_err(|failure| {
        let location = Location::from(path);
        failure.into_store_error(Circumstances { op: "look at the file", waited: Duration::ZERO, location: &location })
    })
}

fn look(path: &Path) -> Result<Adoption, Failure> {
    let database = connection::open_to_write_later(path)?;
    let objects = schema::objects(&database)?;
    Ok(Adoption { is_adopted: schema::is_in_use(&database, path)?, objects })
}
