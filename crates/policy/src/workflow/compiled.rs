//! The workflow that is active, as hooks read it: ready, and checked against its files by their stamps alone.
//!
//! It lies in the user's own folder beside the compiled policy. Where its file is broken, it counts as it last was.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use engine::rules::Tier;
use engine::workflow::Workflow;
use serde::{Deserialize, Serialize};

use super::workflows;
use crate::cache::{BUILD, Compiled};
use crate::files::folder::Tiers;
use crate::files::freshness::FreshnessCheck;
use crate::files::private_files::write_private_file;
use crate::load::Loaded;
use crate::text::digest::digest;

/// A workflow, ready to judge by.
#[derive(Debug, Clone)]
pub struct CompiledWorkflow {
    pub workflow: Workflow,
    /// Its file cannot be used as it is now, and this is how it last was.
    pub is_last_good: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    /// Another build may lay out everything else in another way.
    build: String,
    /// Of the rules and settings that it was read with.
    around: String,
    read: SystemTime,
    inputs: Vec<u8>,
    workflow: Workflow,
    is_last_good: bool,
}

/// The workflow of a name, in a tier or in the nearest that has it; none where there is none that was ever sound. `load`: all that
/// the policy says.
pub fn compiled_workflow(
    name: &str,
    tier: Option<Tier>,
    tiers: &Tiers,
    policy: &Compiled,
    cache: &Path,
    is_kept: bool,
    load: impl FnOnce() -> Loaded,
) -> Option<CompiledWorkflow> {
    let around = around(policy);
    let is_in_tier = |found: Tier| tier.is_none_or(|tier| tier == found);
    let stored = Stored::read(cache).filter(|stored| stored.workflow.name == name && is_in_tier(stored.workflow.tier));
    if let Some(stored) = &stored
        && stored.around == around
        && FreshnessCheck::begin(Arc::new(stored.inputs.clone()), stored.read)
            .finish()
            .is_some_and(|changed| changed.is_empty())
    {
        return Some(CompiledWorkflow { workflow: stored.workflow.clone(), is_last_good: stored.is_last_good });
    }
    // Taken before the files are read: what changes from now on must look newer.
    let read = SystemTime::now();
    let found = workflows(tiers, &load());
    let inputs = found.inputs.to_bytes();
    let mut files = found.files.into_iter();
    let fresh = files.find(|file| file.name == name && is_in_tier(file.tier)).and_then(|file| file.workflow);
    let (workflow, is_last_good) = match fresh {
        Some(workflow) => (workflow, false),
        None => (stored?.workflow, true),
    };
    if let Some(inputs) = inputs.filter(|_| is_kept) {
        let stored = Stored { build: BUILD.to_owned(), around, read, inputs, workflow: workflow.clone(), is_last_good };
        // A cache that cannot be written only costs time.
        let _ = postcard::to_stdvec(&stored).map(|bytes| write_private_file(cache, bytes));
    }
    Some(CompiledWorkflow { workflow, is_last_good })
}

impl Stored {
    fn read(cache: &Path) -> Option<Self> {
        let stored: Self = postcard::from_bytes(&fs::read(cache).ok()?).ok()?;
        (stored.build == BUILD).then_some(stored)
    }
}

fn around(policy: &Compiled) -> String {
    let config = postcard::to_stdvec(&*policy.config).unwrap_or_default();
    // A workflow may name rules that are not in force otherwise.
    let read_at = postcard::to_stdvec(&policy.read_at).unwrap_or_default();
    digest([policy.generation.as_bytes(), &config, &read_at].concat())
}
