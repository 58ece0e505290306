//! The transaction around the stages: the stored state is read, the event is judged by it, and the verdict is recorded
//! only if nothing changed in between. Otherwise the event is judged again. If the journal cannot be used, the event is
//! judged without it.

use std::sync::Arc;

use engine::{Event, NotEnforced, Verdict};
use store::{JudgementTransaction, RecordOutcome, SessionKey, Store, StoreError};

use super::consequences::Consequences;
use super::event_context::{EventContext, OncePerEvent, StoredStates};
use super::{Judge, Judged};
use crate::grants::{Allowances, CallDigest};
use crate::position::Position;
use crate::{failure, rule_outcomes};

impl Judge<'_> {
    /// Records an event that could not be judged. A journal error is ignored: the verdict is given anyway.
    pub fn record_unjudged(&self, event: &Arc<Event>, mut verdict: Verdict) -> Verdict {
        verdict.not_enforced = self.enforcement().why_not_enforced(&verdict, event.time);
        let unjudged = |_: StoredStates<'_>| (verdict.clone(), Consequences::default());
        let recorded = self.in_transaction(event, &OncePerEvent::default(), unjudged);
        recorded.map_or(verdict, |judged| judged.verdict)
    }

    /// `judge_by` judges the event by the stored state. It is called again if another process wrote meanwhile.
    pub(super) fn in_transaction(
        &self,
        event: &Arc<Event>,
        once_per_event: &OncePerEvent,
        judge_by: impl Fn(StoredStates<'_>) -> (Verdict, Consequences),
    ) -> Result<Judged, StoreError> {
        let mut store = Store::open(&self.session_context.journal_path, self.session_context.store_options(event))?;
        let notices = self.journal_notices(&mut store);
        let root = self.session_context.project.root.to_string_lossy();
        let mut transaction = store.begin(SessionKey { agent: &event.agent, session: &event.session })?;
        let mut judged = loop {
            let stored = StoredStates { session: Some(transaction.state()), workflow: Some(transaction.workflow()) };
            let (mut verdict, mut consequences) = judge_by(stored);
            verdict.notices.extend(notices.iter().cloned());
            let call = refused_call(event, &verdict, &mut transaction);
            if let Some(call) = &call {
                verdict.not_enforced = self.allowance(call, once_per_event);
            }
            consequences.count_outcome(event, &verdict);
            let phase = || Position::of(&transaction.workflow().variables).map(|position| position.phase_name());
            consequences.changes.rule_outcomes = rule_outcomes::of_verdict(&verdict, phase);
            match transaction.record(&self.event_record(event, &root, &verdict, &consequences))? {
                RecordOutcome::Stored(id) => {
                    verdict.refusal_id = call.filter(|_| verdict.not_enforced.is_none()).map(|_| id.0);
                    verdict.notices.extend(consequences.write_queue(verdict.not_enforced.is_none()));
                    break Judged { verdict, id: Some(id) };
                }
                RecordOutcome::Conflict(again) => transaction = *again,
            }
        };
        self.register_rule_versions(&once_per_event.nested_policies, &mut store, event.time);
        // Notices about the journal that came up while writing are given to the person, but cannot be recorded.
        judged.verdict.notices.extend(self.journal_notices(&mut store));
        Ok(judged)
    }

    /// Judges an event whose transaction failed with `error`.
    pub(super) fn judge_without_journal(&self, context: &EventContext<'_>, error: &StoreError) -> Judged {
        let event = context.event;
        // The journal may still be readable. The rules of a phase also apply while the journal is locked.
        let options = self.session_context.store_options(event);
        let journal = Store::open_read_only(&self.session_context.journal_path, options);
        let workflow = journal.and_then(|journal| journal.workflow()).ok();
        let stored = StoredStates { session: None, workflow: workflow.as_ref() };
        let (mut verdict, consequences) = self.run_stages(context, stored);
        if is_refused_call(event, &verdict) {
            // An allowance that was used up for this call applies to it.
            verdict.not_enforced = context.once_per_event.allowance.get().copied().flatten();
        }
        verdict.notices.push(failure::journal_notice(error));
        // Holds are counted in the queue even if there is no journal: otherwise a file rule could hold a stop forever.
        verdict.notices.extend(consequences.write_queue(verdict.not_enforced.is_none()));
        Judged { verdict, id: None }
    }

    /// A person's allowance for the call. It is looked up only once, even if the event is judged twice, because this
    /// uses up a one-time allowance.
    fn allowance(&self, call: &CallDigest, once_per_event: &OncePerEvent) -> Option<NotEnforced> {
        *once_per_event.allowance.get_or_init(|| {
            Allowances::of(&self.session_context.project.root, self.session_context.environment).take(call)
        })
    }
}

/// The digest of the call, if the verdict refuses it and a person could allow it.
fn refused_call(event: &Event, verdict: &Verdict, transaction: &mut JudgementTransaction) -> Option<CallDigest> {
    if !is_refused_call(event, verdict) {
        return None;
    }
    // A journal error shows up again when the event is recorded.
    let input = transaction.input_digest(event).ok().flatten();
    CallDigest::of_event(event, input.as_deref())
}

pub(super) fn is_refused_call(event: &Event, verdict: &Verdict) -> bool {
    event.kind.awaits_permission() && verdict.asks_or_blocks() && verdict.not_enforced.is_none()
}
