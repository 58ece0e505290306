//! Stage 5: writes the judgement to the journal. If another process wrote meanwhile, the event is judged again.

use std::cell::OnceCell;
use std::sync::Arc;

use engine::{Event, NotEnforced, Verdict};
use policy::{JournalMode, PinnedPolicy};
use store::{EventRecord, JournalDetail, JudgementTransaction, RecordOutcome, SessionKey, Store, StoreError};

use super::consequences::Consequences;
use super::event_context::StoredStates;
use super::{Judge, Judged};
use crate::grants::{Allowances, CallDigest};
use crate::position::Position;
use crate::project::Project;
use crate::rule_outcomes;

impl Judge<'_> {
    /// Records an event that could not be judged. A journal error is ignored: the verdict is given anyway.
    pub fn record_unjudged(&self, event: &Arc<Event>, mut verdict: Verdict) -> Verdict {
        verdict.not_enforced = self.enforcement().why_not_enforced(&verdict, event.time);
        let by_states = |_: StoredStates<'_>| (verdict.clone(), Consequences::default());
        let recorded = self.judge_in_transaction(event, &OnceCell::new(), &OnceCell::new(), by_states);
        recorded.map_or(verdict, |judged| judged.verdict)
    }

    pub(super) fn judge_in_transaction(
        &self,
        event: &Arc<Event>,
        allowed: &OnceCell<Option<NotEnforced>>,
        nested: &OnceCell<Vec<(Project, PinnedPolicy)>>,
        by_states: impl Fn(StoredStates<'_>) -> (Verdict, Consequences),
    ) -> Result<Judged, StoreError> {
        let mut store = Store::open(&self.builder.journal_path, self.builder.store_options(event))?;
        let notices = self.journal_notices(&mut store);
        let mut judgement = store.begin(SessionKey { agent: &event.agent, session: &event.session })?;
        let (mut verdict, id) = loop {
            let stored = StoredStates { session: Some(judgement.state()), workflow: Some(judgement.workflow()) };
            let (mut verdict, mut consequences) = by_states(stored);
            verdict.notices.extend(notices.iter().cloned());
            let call = refused_call(event, &verdict, &mut judgement);
            if let Some(call) = &call {
                // The allowance is looked up only once, even if the event is judged twice, because this uses up a
                // one-time allowance.
                verdict.not_enforced = *allowed
                    .get_or_init(|| Allowances::of(&self.builder.project.root, self.builder.environment).take(call));
            }
            consequences.count_outcome(event, &verdict);
            let phase = || Position::of(&judgement.workflow().variables).map(|position| position.phase_name());
            consequences.changes.rule_outcomes = rule_outcomes::of_verdict(&verdict, phase);
            let record = EventRecord {
                event,
                root: &self.builder.project.root.to_string_lossy(),
                verdict: &verdict,
                facts: &consequences.facts,
                fields: &consequences.fields,
                changes: &consequences.changes,
                journal: match self.builder.policy.config.journal {
                    JournalMode::Lean => JournalDetail::Lean,
                    JournalMode::Full => JournalDetail::Full,
                },
            };
            match judgement.record(&record)? {
                RecordOutcome::Stored(id) => {
                    verdict.refusal_id = call.filter(|_| verdict.not_enforced.is_none()).map(|_| id.0);
                    verdict.notices.extend(consequences.write_queue(verdict.not_enforced.is_none()));
                    break (verdict, id);
                }
                RecordOutcome::Conflict(again) => judgement = *again,
            }
        };
        let nested = nested.get().into_iter().flatten().map(|(project, pinned)| (project, &pinned.policy));
        // Every version of every rule is kept, so that a finding can be traced to the text that made it.
        for (project, policy) in nested.chain([(self.builder.project, &*self.builder.policy)]) {
            project.unrecorded_versions(self.builder.environment).register(
                &policy.definitions_read,
                &mut store,
                event.time,
            );
        }
        // Notices about the journal that came up while writing are given to the person, but cannot be recorded.
        verdict.notices.extend(self.journal_notices(&mut store));
        Ok(Judged { verdict, id: Some(id) })
    }

    fn journal_notices(&self, store: &mut Store) -> Vec<String> {
        store.take_notices().iter().filter(|notice| self.is_worth_a_notice(notice)).map(ToString::to_string).collect()
    }

    /// False for a new journal in a project that had no journal before.
    fn is_worth_a_notice(&self, notice: &store::StoreNotice) -> bool {
        if !matches!(notice, store::StoreNotice::Created { .. }) {
            return true;
        }
        self.builder.project.had_journal(self.builder.environment)
    }
}

/// The digest of the call, if the verdict refuses it and a person could allow it.
fn refused_call(event: &Event, verdict: &Verdict, judgement: &mut JudgementTransaction) -> Option<CallDigest> {
    if !is_refused_call(event, verdict) {
        return None;
    }
    // A journal error shows up again when the event is recorded.
    let input = judgement.input_digest(event).ok().flatten();
    CallDigest::of_event(event, input.as_deref())
}

pub(super) fn is_refused_call(event: &Event, verdict: &Verdict) -> bool {
    event.kind.awaits_permission() && verdict.asks_or_blocks() && verdict.not_enforced.is_none()
}
