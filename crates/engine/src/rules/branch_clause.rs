//! `rewrites`: the branches of a remote that a call rewrites or deletes.

use serde::{Deserialize, Serialize};

use super::subject::{BestSubject, Subject};
use super::{Clause, Truth, Wildcard};
use crate::situation::Situation;
use shell::RewrittenBranch;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchClause {
    pub branches: Vec<Wildcard>,
}

impl BranchClause {
    pub const KEY: &str = "rewrites";
    /// The value of the key `rewrites` that stands for all protected branches of the configuration.
    pub const PROTECTED: &str = "protected_branches";

    /// `command_truths`: for each simple command, whether the rule's earlier clauses match it. Empty if the rule has no
    /// earlier clause about commands.
    pub(super) fn judge(&self, situation: &Situation, command_truths: &[Truth]) -> Clause {
        let is_parsed = situation.script().is_none_or(|script| script.complete);
        let mut truth = if is_parsed { Truth::False } else { Truth::Unknown };
        let mut shown = Vec::new();
        let mut best = BestSubject::default();
        let mut missing = None;
        for rewrite in situation.rewrites() {
            let index = rewrite.command_index;
            let is_selected = command_truths.get(index) != Some(&Truth::False) && situation.is_in_scope(index);
            let matched = if is_selected { self.matches_branch(&rewrite.branch) } else { Truth::False };
            let rewrite_truth = if rewrite.is_certain { matched } else { matched.and(Truth::Unknown) };
            if rewrite_truth > Truth::False {
                truth = truth.or(rewrite_truth);
                if rewrite.branch == RewrittenBranch::Unknown {
                    missing = situation.missing_branch().cloned();
                }
                best.offer(rewrite_truth, true, || Subject { path: None, command_index: Some(index) });
                shown.push(display_name(&rewrite.branch));
            }
        }
        if shown.is_empty() {
            let shown_text = match situation.rewrites() {
                _ if !is_parsed => "a command that cannot be parsed",
                [] => "the call rewrites no branch",
                _ => "the call rewrites other branches",
            };
            shown.push(shown_text.to_owned());
        }
        shown.dedup();
        Clause { key: Self::KEY, truth, shown: shown.join(", "), subject: best.subject(), missing }
    }

    fn matches_branch(&self, branch: &RewrittenBranch) -> Truth {
        match branch {
            RewrittenBranch::Named(name) => self.branches.iter().any(|wanted| wanted.matches(name)).into(),
            RewrittenBranch::Matching(pattern) => {
                let pushed = Wildcard::parse(pattern);
                let truth = |wanted: &Wildcard| match (&pushed, wanted.as_literal()) {
                    (Ok(pushed), Some(name)) => pushed.matches(name).into(),
                    _ => Truth::Unknown,
                };
                self.branches.iter().map(truth).fold(Truth::False, Truth::or)
            }
            RewrittenBranch::All => (!self.branches.is_empty()).into(),
            // A current branch whose name is known is `Named`, because [`Situation::rewrites`] has replaced the current
            // branch by its name.
            RewrittenBranch::Current(_) | RewrittenBranch::Unknown => Truth::Unknown,
        }
    }
}

fn display_name(branch: &RewrittenBranch) -> String {
    match branch {
        RewrittenBranch::Named(name) | RewrittenBranch::Matching(name) => name.clone(),
        RewrittenBranch::All => "all branches".to_owned(),
        RewrittenBranch::Current(_) | RewrittenBranch::Unknown => {
            "a branch that is not known before the command runs".to_owned()
        }
    }
}
