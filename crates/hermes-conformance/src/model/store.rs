//! The contract, each trait in a file of the same name.

mod changes;
mod conversations;
mod gateway;
mod leases;
mod mail;
mod maintenance;
mod routes;
mod sessions;
mod turns;
