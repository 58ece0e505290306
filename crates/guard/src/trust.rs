//! What a person accepted of a repository's policy: kept in the user's own folder, as digests.
//!
//! Only what weakens a guard needs acceptance, and the digest is of just that text: editing another rule does not end
//! it, changing what was accepted does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::environment::Environment;

pub struct Trust {
    file: PathBuf,
}

impl Trust {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { file: environment.project_state(root).join("trusted") }
    }

    pub fn accepts(&self, weakening: &str) -> bool {
        !weakening.is_empty()
            && fs::read_to_string(&self.file).is_ok_and(|kept| kept.trim() == policy::digest(weakening))
    }

    /// In place of what was accepted before.
    pub fn accept(&self, weakening: &str) -> io::Result<()> {
        policy::write_private_file(&self.file, format!("{}\n", policy::digest(weakening)))
    }
}
