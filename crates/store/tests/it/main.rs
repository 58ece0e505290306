//! The crate's test binary. If `LINCHPIN_STORE_CHILD` is set, it is a child process of `processes.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may end a test, as the tests themselves may"
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
mod registry;
mod rule_counts;
mod sample;
mod sessions;
mod tokens;
