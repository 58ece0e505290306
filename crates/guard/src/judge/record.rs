//! Stage 5: the record of a judgement in the journal.

use std::cell::OnceCell;

use engine::{Event, Verdict};
use policy::{JournalMode, PinnedPolicy};
use store::{EventRecord, JournalDetail, Store, StoreNotice};

use super::Judge;
use super::consequences::Consequences;
use crate::project::Project;

impl Judge<'_> {
    pub(super) fn event_record<'r>(
        &'r self,
        event: &'r Event,
        root: &'r str,
        verdict: &'r Verdict,
        consequences: &'r Consequences,
    ) -> EventRecord<'r> {
        EventRecord {
            event,
            root,
            verdict,
            facts: &consequences.facts,
            fields: &consequences.fields,
            changes: &consequences.changes,
            detail: match self.session_context.policy.config.journal {
                JournalMode::Lean => JournalDetail::Lean,
                JournalMode::Full => JournalDetail::Full,
            },
        }
    }

    /// Stores every version of every rule, so that a finding can be traced to the text that made it.
    pub(super) fn register_rule_versions(
        &self,
        nested_policies: &OnceCell<Vec<(Project, PinnedPolicy)>>,
        store: &mut Store,
        now: i64,
    ) {
        let nested = nested_policies.get().into_iter().flatten().map(|(project, pinned)| (project, &pinned.policy));
        for (project, policy) in nested.chain([(self.session_context.project, &*self.session_context.policy)]) {
            project.unrecorded_versions(self.session_context.environment).register(
                &policy.definitions_read,
                store,
                now,
            );
        }
    }

    pub(super) fn journal_notices(&self, store: &mut Store) -> Vec<String> {
        store.take_notices().iter().filter(|notice| self.is_worth_a_notice(notice)).map(ToString::to_string).collect()
    }

    /// False for a new journal in a project that had no journal before.
    fn is_worth_a_notice(&self, notice: &StoreNotice) -> bool {
        !matches!(notice, StoreNotice::Created { .. })
            || self.session_context.project.record_journal(self.session_context.environment)
    }
}
