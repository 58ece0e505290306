//! Stage 5: what the journal stores of a judgement.

use std::cell::OnceCell;
use std::sync::Arc;

use engine::{Event, Verdict};
use policy::{JournalMode, PinnedPolicy};
use store::{EventRecord, JournalDetail, Store, StoreNotice};

use super::Judge;
use super::consequences::Consequences;
use super::event_context::{OnceOnly, StoredStates};
use crate::project::Project;

impl Judge<'_> {
    /// Records an event that could not be judged. A journal error is ignored: the verdict is given anyway.
    pub fn record_unjudged(&self, event: &Arc<Event>, mut verdict: Verdict) -> Verdict {
        verdict.not_enforced = self.enforcement().why_not_enforced(&verdict, event.time);
        let unjudged = |_: StoredStates<'_>| (verdict.clone(), Consequences::default());
        let recorded = self.judge_in_transaction(event, &OnceOnly::default(), unjudged);
        recorded.map_or(verdict, |judged| judged.verdict)
    }

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
            journal: match self.session.policy.config.journal {
                JournalMode::Lean => JournalDetail::Lean,
                JournalMode::Full => JournalDetail::Full,
            },
        }
    }

    /// Stores every version of every rule, so that a finding can be traced to the text that made it.
    pub(super) fn register_rule_versions(
        &self,
        nested: &OnceCell<Vec<(Project, PinnedPolicy)>>,
        store: &mut Store,
        now: i64,
    ) {
        let nested = nested.get().into_iter().flatten().map(|(project, pinned)| (project, &pinned.policy));
        for (project, policy) in nested.chain([(self.session.project, &*self.session.policy)]) {
            project.unrecorded_versions(self.session.environment).register(&policy.definitions_read, store, now);
        }
    }

    pub(super) fn journal_notices(&self, store: &mut Store) -> Vec<String> {
        store.take_notices().iter().filter(|notice| self.is_worth_a_notice(notice)).map(ToString::to_string).collect()
    }

    /// False for a new journal in a project that had no journal before.
    fn is_worth_a_notice(&self, notice: &StoreNotice) -> bool {
        !matches!(notice, StoreNotice::Created { .. })
            || self.session.project.remember_journal(self.session.environment)
    }
}
