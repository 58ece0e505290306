//! Builds what the journal stores about a judgement: the event with its verdict, and new versions of rules.

use std::cell::OnceCell;

use engine::{Event, Verdict};
use policy::{JournalMode, PinnedPolicy};
use store::{EventRecord, JournalDetail, Store, StoreNotice};

use super::Judge;
use super::consequences::Consequences;
use crate::project::Project;

impl Judge<'_> {
    /// Builds the record of an event.
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
            detail: match self.situation_builder.policy.config.journal {
                JournalMode::Lean => JournalDetail::Lean,
                JournalMode::Full => JournalDetail::Full,
            },
        }
    }

    /// Stores new versions of rules, so that a finding can be traced to the text of the rule that made it.
    pub(super) fn register_rule_versions(
        &self,
        nested_policies: &OnceCell<Vec<(Project, PinnedPolicy)>>,
        store: &mut Store,
        now: i64,
    ) {
        let nested = nested_policies.get().into_iter().flatten().map(|(project, pinned)| (project, &pinned.policy));
        for (project, policy) in nested.chain([(self.situation_builder.project, &*self.situation_builder.policy)]) {
            project.unrecorded_versions(self.situation_builder.environment).register(
                &policy.definitions_read,
                store,
                now,
            );
        }
    }

    /// The notices for the person that the journal itself causes, for example because it was created.
    pub(super) fn journal_notices(&self, store: &mut Store) -> Vec<String> {
        store.take_notices().iter().filter(|notice| self.is_worth_a_notice(notice)).map(ToString::to_string).collect()
    }

    /// False for the notice that a journal was created, if the project never had a journal before. True for all other
    /// notices.
    fn is_worth_a_notice(&self, notice: &StoreNotice) -> bool {
        !matches!(notice, StoreNotice::Created { .. })
            || self.situation_builder.project.mark_has_journal(self.situation_builder.environment)
    }
}
