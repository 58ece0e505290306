//! Prepares for file rules before an event is judged: extends the deadline for git, deletes old files, and takes a
//! snapshot of the tree at a prompt.

use std::sync::Arc;
use std::time::Duration;

use engine::file_rules::Baseline;
use engine::{Event, EventKind};
use policy::CompiledPolicy;
use tree::Tree;

use super::GIT_TIMEOUT;
use super::cleanup::clean_up_daily;
use super::prompt_baseline::PromptBaseline;
use crate::Environment;
use crate::project::Project;
use crate::timestamp::timestamp;

/// The results of the preparation.
#[derive(Default)]
pub struct FileRulePreparation {
    /// True if at least one snapshot of a tree was taken.
    pub is_snapshot_taken: bool,
    pub notices: Vec<String>,
}

impl FileRulePreparation {
    /// At a prompt or stop: for each policy with file rules, extends the deadline for git and deletes old files. At a
    /// prompt, also takes a snapshot of the tree for each policy with a rule that compares with the last prompt.
    pub fn prepare<'p>(
        event: &Arc<Event>,
        policies: impl Iterator<Item = (&'p Project, &'p CompiledPolicy)>,
        environment: &Environment,
        extend_deadline: &dyn Fn(Duration),
    ) -> Self {
        let mut preparation = Self::default();
        // A dry run prepares nothing. At events other than prompts and stops, file rules demand nothing, because they
        // would delay each tool call.
        if event.is_dry_run || !event.kind.is_stop() && event.kind != EventKind::Prompt {
            return preparation;
        }
        for (project, policy) in policies {
            let baselines = policy.rules.baselines().unwrap_or_default();
            if !baselines.is_empty() {
                extend_deadline(GIT_TIMEOUT);
                preparation.notices.extend(clean_up_daily(project, environment));
            }
            if event.kind == EventKind::Prompt && baselines.contains(&Baseline::Prompt) {
                preparation.take_snapshot(project, event, environment);
            }
        }
        preparation
    }

    fn take_snapshot(&mut self, project: &Project, event: &Event, environment: &Environment) {
        let Some(tree) = Tree::of(&project.root, GIT_TIMEOUT) else { return };
        let baseline = PromptBaseline::new(&project.tmp(environment), &event.session, event.time);
        match baseline.take_snapshot(&tree, timestamp(event.time)) {
            Ok(()) => self.is_snapshot_taken = true,
            Err(error) => self.notices.push(format!(
                "no snapshot of the tree was saved for this prompt ({error}), so rules with `compare_to: prompt` compare \
                 with the base of the branch instead"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;

    #[test]
    fn a_prompt_snapshot_includes_uncommitted_files() {
        let scratch = Scratch::new().committed();
        scratch.file("before", "text");
        let mut preparation = FileRulePreparation::default();
        preparation.take_snapshot(&scratch.project(), &scratch.event(EventKind::Prompt, 5000), &scratch.environment);
        assert!(preparation.is_snapshot_taken && preparation.notices.is_empty());
        scratch.file("after", "text");
        let baseline = PromptBaseline::new(&scratch.project().tmp(&scratch.environment), "s", 5000);
        let tree = Tree::of(&scratch.root, GIT_TIMEOUT).expect("a repository");
        let changes = baseline.read().expect("a snapshot").changes(&tree).expect("changes");
        assert!(changes.contains("after") && !changes.contains("before"));
    }

    #[test]
    fn outside_of_git_no_snapshot_is_taken_and_no_notice_given() {
        let scratch = Scratch::new();
        let mut preparation = FileRulePreparation::default();
        preparation.take_snapshot(&scratch.project(), &scratch.event(EventKind::Prompt, 5000), &scratch.environment);
        assert!(!preparation.is_snapshot_taken && preparation.notices.is_empty());
    }

    #[test]
    fn a_failed_snapshot_causes_a_notice() {
        let scratch = Scratch::new().committed();
        crate::tests::write(&scratch.root.join(".linchpin/tmp/rules/baselines"), "no directory");
        crate::tests::write(&scratch.state("tmp/rules/baselines"), "no directory");
        let mut preparation = FileRulePreparation::default();
        preparation.take_snapshot(&scratch.project(), &scratch.event(EventKind::Prompt, 5000), &scratch.environment);
        assert!(!preparation.is_snapshot_taken);
        assert!(
            preparation.notices.concat().starts_with("no snapshot of the tree was saved for this prompt"),
            "{:?}",
            preparation.notices
        );
    }
}
