//! Finds our objects in a file without changing it.

use crate::error::{Circumstances, Failure};
use crate::open::{connection, place, schema};
use hermes_session::{Location, StoreError};
use std::path::Path;
use std::time::Duration;

/// Our objects in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoption {
    /// Whether our side tables exist, in the form that this program uses.
    pub is_adopted: bool,
    /// The names of our tables, views, indexes and triggers, in order, without the shadow tables of our full-text
    /// indexes.
    pub objects: Vec<String>,
}

/// Returns our objects in a file, for a command that writes to it later. The file is only read, except that a rollback
/// journal of a killed writer is rolled back.
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
