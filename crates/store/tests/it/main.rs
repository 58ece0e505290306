//! The crate's test binary. If `LINCHPIN_STORE_CHILD` is set, it is a child process of `processes.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers may panic, like the tests themselves"
)]

mod calls;
mod commands;
mod digests;
mod failures;
mod files;
mod journal;
mod masking;
mod migrations;
mod notes;
mod processes;
mod prune;
mod rule_counts;
mod rule_versions;
mod sample;
mod sessions;
mod tokens;
