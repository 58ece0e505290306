//! Policy files on disk: their locations, bounded reading, and checks for changes.
//!
//! This module knows folders, names and stamps, not what the files contain.

pub mod bounded;
pub mod folder;
pub mod freshness;
pub mod inputs;
pub mod private_files;
pub mod reading;
pub mod stamp;
