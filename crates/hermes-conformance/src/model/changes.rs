//! The feed of changes.
