//! Landlock: a process gives up its right to write, for itself and everything that it starts.

use std::path::PathBuf;

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, path_beneath_rules,
};

/// The oldest Landlock version that suffices: it can restrict writing, creating and removing files.
const MIN_ABI: ABI = ABI::V1;
/// The newest Landlock version that is used. It adds renames and links between directories, truncation by path, and
/// `ioctl` on devices, which could inject input into a terminal. A kernel that does not support one of these works
/// without it. The oldest version refuses every rename and link between directories.
const MAX_ABI: ABI = ABI::V5;

/// True if this kernel can limit the paths that a process may write.
pub fn is_sandbox_supported() -> bool {
    ruleset().is_ok()
}

/// Limits this thread, and every program that it executes or starts, to writing these paths.
pub fn restrict_writes(writable_paths: &[PathBuf]) -> Result<(), String> {
    match apply_ruleset(writable_paths) {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
        Ok(RulesetStatus::NotEnforced) => Err("the kernel does not enforce it".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn apply_ruleset(writable_paths: &[PathBuf]) -> Result<RulesetStatus, RulesetError> {
    let rules = path_beneath_rules(writable_paths, AccessFs::from_write(MAX_ABI));
    Ok(ruleset()?.add_rules(rules)?.restrict_self()?.ruleset)
}

fn ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(MIN_ABI))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(MAX_ABI))?
        .create()
}
