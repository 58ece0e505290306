//! The default branch, and the branches that agents may not rewrite.

use std::collections::BTreeMap;

use engine::rules::Tier;
use serde::{Deserialize, Serialize};

use crate::text::fields::Fields;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BranchSettings {
    /// `default_branch`; `None` if git determines the default branch.
    pub default: Option<String>,
    /// Each tier's own `protected_branches`.
    protected: BTreeMap<Tier, Vec<String>>,
}

impl BranchSettings {
    /// The branches that agents may not rewrite. Without a setting these are `main` and `master`, because the default
    /// branch is not known here. A project can only add to the branches that a user's policy protects.
    pub fn protected(&self, has_user_tier: bool) -> Vec<String> {
        let default_names = || ["main", "master"].map(str::to_owned).to_vec();
        let of_tier = |tier| self.protected.get(&tier).cloned();
        let project_branches = of_tier(Tier::Project).or_else(|| self.default.clone().map(|branch| vec![branch]));
        let mut branches = match (has_user_tier, project_branches) {
            (false, project_branches) => project_branches.unwrap_or_else(default_names),
            (true, project_branches) => {
                [of_tier(Tier::User).unwrap_or_else(default_names), project_branches.unwrap_or_default()].concat()
            }
        };
        branches.sort();
        branches.dedup();
        branches
    }

    /// Reads the keys. The `default_branch` of the earliest tier has priority; a leading `origin/` is removed from it.
    pub(super) fn take(&mut self, fields: &mut Fields, tier: Tier) {
        let without_remote = |name: &str| name.strip_prefix("origin/").unwrap_or(name).to_owned();
        self.default = self.default.take().or(fields.text("default_branch").map(|text| without_remote(&text.value)));
        if let Some(branches) = fields.texts("protected_branches") {
            self.protected.insert(tier, branches.into_iter().map(|text| text.value).collect());
        }
    }
}
