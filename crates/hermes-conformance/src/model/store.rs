//! The contract, each trait in a file of the same name.

mod conversations;
mod gateway;
mod maintenance;
mod sessions;
