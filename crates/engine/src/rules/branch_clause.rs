//! `rewrites`: the branches of a remote that a call rewrites or deletes.

use serde::{Deserialize, Serialize};

use super::subject::{Subject, Surest};
use super::{Clause, Truth, Wildcard};
use crate::situation::Situation;
use shell::RewrittenBranch;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchClause {
    pub branches: Vec<Wildcard>,
}

impl BranchClause {
    pub const KEY: &str = "rewrites";
    /// Those that the configuration names.
    pub const PROTECTED: &str = "protected_branches";

    /// `commands`: of which simple commands the rule's other clauses speak; empty: of all.
    pub(super) fn judge(&self, situation: &Situation, commands: &[Truth]) -> Clause {
        let is_read = situation.script().is_none_or(|script| script.complete);
        let mut truth = if is_read { Truth::False } else { Truth::Unknown };
        let mut shown = Vec::new();
        let mut surest = Surest::default();
        let mut missing = None;
        for rewrite in situation.rewrites() {
            let is_meant = commands.get(rewrite.command) != Some(&Truth::False) && situation.concerns(rewrite.command);
            let is_protected = if is_meant { self.speaks_of(&rewrite.branch) } else { Truth::False };
            let here = if rewrite.is_certain { is_protected } else { is_protected.and(Truth::Unknown) };
            if here > Truth::False {
                truth = truth.or(here);
                if rewrite.branch == RewrittenBranch::Unknown {
                    missing = situation.missing_branch().cloned();
                }
                surest.offer(here, true, || Subject { path: None, command: Some(rewrite.command) });
                shown.push(name(&rewrite.branch));
            }
        }
        if shown.is_empty() {
            shown.push(if is_read { "no such branch" } else { "a command that cannot be read" }.to_owned());
        }
        shown.dedup();
        Clause { key: Self::KEY, truth, shown: shown.join(", "), subject: surest.subject(), missing }
    }

    fn speaks_of(&self, branch: &RewrittenBranch) -> Truth {
        match branch {
            RewrittenBranch::Named(name) => self.branches.iter().any(|wanted| wanted.matches(name)).into(),
            RewrittenBranch::Matching(pattern) => {
                let pushed = Wildcard::parse(pattern);
                let truth = |wanted: &Wildcard| match (&pushed, wanted.only()) {
                    (Ok(pushed), Some(name)) => pushed.matches(name).into(),
                    _ => Truth::Unknown,
                };
                self.branches.iter().map(truth).fold(Truth::False, Truth::or)
            }
            RewrittenBranch::All => (!self.branches.is_empty()).into(),
            // The situation knows which, or nobody does.
            RewrittenBranch::Current(_) | RewrittenBranch::Unknown => Truth::Unknown,
        }
    }
}

fn name(branch: &RewrittenBranch) -> String {
    match branch {
        RewrittenBranch::Named(name) | RewrittenBranch::Matching(name) => name.clone(),
        RewrittenBranch::All => "all branches".to_owned(),
        RewrittenBranch::Current(_) | RewrittenBranch::Unknown => "a branch that is not known before".to_owned(),
    }
}
