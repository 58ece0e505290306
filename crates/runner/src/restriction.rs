//! Landlock: how a process gives up its right to write, for itself and for all that it starts.

use std::path::PathBuf;

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, path_beneath_rules,
};

/// Without these there is no limit worth the name: to write, make and remove files.
const LEAST: ABI = ABI::V1;
/// With these, renames and links between folders, truncation by name, and commands to devices (a terminal could be made to
/// type) are governed too. A kernel that does not know one of them does without; the first version refuses every rename
/// and link between folders.
const MOST: ABI = ABI::V5;

/// Whether this kernel can limit what a process writes.
pub fn is_supported() -> bool {
    ruleset().is_ok()
}

/// From here on this thread, and whatever it becomes or starts, writes in these places only.
pub fn enter(writable: &[PathBuf]) -> Result<(), String> {
    match restrict(writable) {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
        Ok(RulesetStatus::NotEnforced) => Err("the kernel does not enforce it".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn restrict(writable: &[PathBuf]) -> Result<RulesetStatus, RulesetError> {
    let rules = path_beneath_rules(writable, AccessFs::from_write(MOST));
    Ok(ruleset()?.add_rules(rules)?.restrict_self()?.ruleset)
}

fn ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(MOST))?
        .create()
}
