//! A queue of versions of rules that are not in the journal yet.
//!
//! Only the process that compiles a policy has the texts of its rules. This process may be unable to write to the
//! journal, because the journal is locked or no time is left. So the process queues the texts as a file in the user's
//! state directory, and at the next event that is written to the journal, the queued texts are written too. The name of
//! the file is the digest of the texts, so that concurrent processes do not overwrite each other's files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use policy::RuleDefinition;
use serde::{Deserialize, Serialize};
use store::{RuleVersion, Store};

use crate::Environment;

/// The queue of a project's rule versions.
pub struct UnrecordedVersions {
    directory: PathBuf,
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
        Self { directory: environment.project_state(root).join("versions") }
    }

    /// Queues the versions of rules that were just compiled.
    pub fn queue(&self, definitions: &[RuleDefinition]) -> io::Result<()> {
        if definitions.is_empty() {
            return Ok(());
        }
        policy::delete_old_files(&self.directory);
        let versions: Vec<Version> = definitions.iter().map(Version::of).collect();
        let bytes = serde_json::to_vec(&versions)?;
        policy::write_private_file(&self.directory.join(policy::digest(&bytes)), bytes)
    }

    /// Writes the queued versions to the journal, and also those in `definitions`, which could not be queued. If the
    /// journal cannot be written, the queued versions stay in the queue until the next event.
    pub fn register(&self, definitions: &[RuleDefinition], store: &mut Store, now: i64) {
        let queued: Vec<(PathBuf, Vec<Version>)> = self.queued().collect();
        let unqueued: Vec<Version> = definitions.iter().map(Version::of).collect();
        let rules = queued.iter().flat_map(|(_, versions)| versions).chain(&unqueued).map(Version::as_rule);
        let rules: Vec<RuleVersion> = rules.collect();
        if rules.is_empty() || store.store_rule_versions(&rules, now).is_err() {
            return;
        }
        for (file, _) in queued {
            let _ = fs::remove_file(file);
        }
    }

    /// The files of the queue, each with the list of versions that it contains. A file that cannot be read is skipped,
    /// because another process may be removing it.
    fn queued(&self) -> impl Iterator<Item = (PathBuf, Vec<Version>)> {
        let files = fs::read_dir(&self.directory).into_iter().flatten().flatten();
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
