//! Policy files on disk: where they lie, their texts within limits, and whether they changed since they were read.
//!
//! Knows folders, names and stamps, and nothing of what the texts say.

pub mod bounded;
pub mod folder;
pub mod freshness;
pub mod inputs;
pub mod private_files;
pub mod reading;
pub mod stamp;
