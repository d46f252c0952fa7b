//! Opening a file: the path, the connection, the schema, adoption, and other programs that have it open.

pub(crate) mod adoption;
pub(crate) mod connection;
pub(crate) mod copy;
pub(crate) mod damage;
pub(crate) mod facts;
pub(crate) mod filesystem;
pub(crate) mod foreign;
pub(crate) mod notice;
pub(crate) mod options;
pub(crate) mod place;
pub(crate) mod presence;
pub(crate) mod schema;
pub(crate) mod shape;
