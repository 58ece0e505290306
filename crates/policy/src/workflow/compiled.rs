//! The compiled cache of the active workflow. Hooks check only the files' stamps to see whether it is fresh.
//!
//! The cache is in the user's state directory, next to the compiled policy. If the workflow's file has errors, its last
//! good version applies.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use engine::rules::Tier;
use engine::workflow::Workflow;
use serde::{Deserialize, Serialize};

use super::workflows;
use crate::cache::{BUILD, CompiledPolicy};
use crate::files::folder::PolicyFolders;
use crate::files::freshness::FreshnessCheck;
use crate::files::private_files::write_private_file;
use crate::load::LoadedPolicy;
use crate::text::digest::digest;

#[derive(Debug, Clone)]
pub struct CompiledWorkflow {
    pub workflow: Workflow,
    /// True if the current file has errors, and this is its last good version.
    pub is_last_good: bool,
}

#[derive(Serialize, Deserialize)]
struct CachedWorkflow {
    /// The build that wrote the cache. Another build may use another format.
    build: String,
    /// The digest of the policy that the workflow was read with.
    policy_digest: String,
    read_at: SystemTime,
    inputs: Vec<u8>,
    workflow: Workflow,
    is_last_good: bool,
}

/// Returns the workflow with this name, from `tier` or else from the latest tier that has it; `None` if it does not
/// exist, or never was valid. `load` loads the policy, and is called only if the cache is stale.
pub fn compiled_workflow(
    name: &str,
    tier: Option<Tier>,
    tiers: &PolicyFolders,
    policy: &CompiledPolicy,
    cache: &Path,
    is_saved: bool,
    load: impl FnOnce() -> LoadedPolicy,
) -> Option<CompiledWorkflow> {
    let policy_digest = policy_digest(policy);
    let is_in_tier = |workflow_tier: Tier| tier.is_none_or(|tier| tier == workflow_tier);
    let cached =
        CachedWorkflow::read(cache).filter(|cached| cached.workflow.name == name && is_in_tier(cached.workflow.tier));
    if let Some(cached) = &cached
        && cached.policy_digest == policy_digest
        && FreshnessCheck::begin(Arc::new(cached.inputs.clone()), cached.read_at).finish().is_none()
    {
        return Some(CompiledWorkflow { workflow: cached.workflow.clone(), is_last_good: cached.is_last_good });
    }
    // Taken before the files are read, so that later changes look newer.
    let read_at = SystemTime::now();
    let workflows = workflows(tiers, &load());
    let inputs = workflows.inputs.to_bytes();
    let mut files = workflows.files.into_iter();
    let fresh = files.find(|file| file.name == name && is_in_tier(file.tier)).and_then(|file| file.workflow);
    let (workflow, is_last_good) = match fresh {
        Some(workflow) => (workflow, false),
        None => (cached?.workflow, true),
    };
    if let Some(inputs) = inputs.filter(|_| is_saved) {
        let (build, workflow) = (BUILD.to_owned(), workflow.clone());
        let cached = CachedWorkflow { build, policy_digest, read_at, inputs, workflow, is_last_good };
        // Without a cache, hooks are only slower.
        let _ = postcard::to_stdvec(&cached).map(|bytes| write_private_file(cache, bytes));
    }
    Some(CompiledWorkflow { workflow, is_last_good })
}

impl CachedWorkflow {
    fn read(cache: &Path) -> Option<Self> {
        let cached: Self = postcard::from_bytes(&fs::read(cache).ok()?).ok()?;
        (cached.build == BUILD).then_some(cached)
    }
}

fn policy_digest(policy: &CompiledPolicy) -> String {
    let config = postcard::to_stdvec(&*policy.config).unwrap_or_default();
    // A workflow can name rules that are not in force. If these change, only `read_at` changes.
    let read_at = postcard::to_stdvec(&policy.read_at).unwrap_or_default();
    digest([policy.rules_digest.as_bytes(), &config, &read_at].concat())
}
