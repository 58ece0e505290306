//! Policy files on disk: their locations, bounded reading, and checks for changes.
//!
//! This module handles paths and stamps of files, and knows nothing about the contents.

pub mod bounded;
pub mod folder;
pub mod freshness;
pub mod inputs;
pub mod private_files;
pub mod reading;
pub mod stamp;
