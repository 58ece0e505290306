//! Versions of rules that are not in the journal yet.
//!
//! Only the process that compiles a policy has the texts of its rules, and it may be unable to write to the journal,
//! because the journal is locked or no time is left. So the texts are queued as files in the user's state directory,
//! and the next event that writes to the journal also writes these texts. Each file has the texts of one event. Its
//! name is the digest of the texts, so that concurrent events do not conflict.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use policy::RuleDefinition;
use serde::{Deserialize, Serialize};
use store::{RuleVersion, Store};

use crate::Environment;

pub struct UnrecordedVersions {
    folder: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Version {
    id: String,
    digest: String,
    tier: String,
    source: String,
    text: String,
}

impl UnrecordedVersions {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { folder: environment.project_state(root).join("versions") }
    }

    pub fn queue(&self, read: &[RuleDefinition]) -> io::Result<()> {
        if read.is_empty() {
            return Ok(());
        }
        policy::delete_old_files(&self.folder);
        let versions: Vec<Version> = read.iter().map(Version::of).collect();
        let bytes = serde_json::to_vec(&versions)?;
        policy::write_private_file(&self.folder.join(policy::digest(&bytes)), bytes)
    }

    /// Writes the queued versions to the journal, and those in `read`, which could not be queued. If this fails, they
    /// wait for the next event.
    pub fn register(&self, read: &[RuleDefinition], store: &mut Store, now: i64) {
        let waiting: Vec<(PathBuf, Vec<Version>)> = self.waiting().collect();
        let read: Vec<Version> = read.iter().map(Version::of).collect();
        let rules = waiting.iter().flat_map(|(_, versions)| versions).chain(&read).map(Version::as_rule);
        let rules: Vec<RuleVersion> = rules.collect();
        if rules.is_empty() || store.sync_rules(&rules, now).is_err() {
            return;
        }
        for (file, _) in waiting {
            let _ = fs::remove_file(file);
        }
    }

    /// The queued versions. Files that another process is just writing or removing are skipped.
    fn waiting(&self) -> impl Iterator<Item = (PathBuf, Vec<Version>)> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.filter_map(|file| {
            let versions = serde_json::from_slice(&fs::read(file.path()).ok()?).ok()?;
            Some((file.path(), versions))
        })
    }
}

impl Version {
    fn of(definition: &RuleDefinition) -> Self {
        let rule = &definition.rule;
        Self {
            id: rule.id.clone(),
            digest: rule.digest.clone(),
            tier: rule.tier.name().to_owned(),
            source: rule.source.clone(),
            text: definition.text().to_owned(),
        }
    }

    fn as_rule(&self) -> RuleVersion<'_> {
        let Self { id, digest, tier, source, text } = self;
        RuleVersion { id, digest, tier, source, text }
    }
}
