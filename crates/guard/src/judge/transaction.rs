//! The transaction around the stages of a judgement: the stored states are read, the event is judged by these states,
//! and the verdict is recorded. If another process changed the states after they were read, the event is judged again
//! before anything is recorded. If the journal cannot be used, the event is judged without it.

use std::sync::Arc;

use engine::{Event, NotEnforced, Verdict};
use store::{JudgementTransaction, RecordOutcome, SessionKey, Store, StoreError};

use super::consequences::Consequences;
use super::event_context::{EventContext, OncePerEvent, StoredStates};
use super::{Judge, Judged};
use crate::grants::{Allowances, CallDigest};
use crate::position::Position;
use crate::{notices, rule_outcomes};

impl Judge<'_> {
    /// Records an event that could not be judged, and returns its verdict. The verdict is given even if it cannot be
    /// recorded.
    pub fn record_unjudged(&self, event: &Arc<Event>, mut verdict: Verdict) -> Verdict {
        verdict.not_enforced = self.enforcement().why_not_enforced(&verdict, event.time);
        let unjudged = |_: StoredStates<'_>| (verdict.clone(), Consequences::default());
        let recorded = self.in_transaction(event, &OncePerEvent::default(), unjudged);
        recorded.map_or(verdict, |judged| judged.verdict)
    }

    /// Judges the event with `judge_by` and records it. `judge_by` is called again if another process changed the
    /// stored states after they were read.
    pub(super) fn in_transaction(
        &self,
        event: &Arc<Event>,
        once_per_event: &OncePerEvent,
        judge_by: impl Fn(StoredStates<'_>) -> (Verdict, Consequences),
    ) -> Result<Judged, StoreError> {
        let mut store = Store::open(&self.situation_builder.journal_path, self.situation_builder.store_options(event))?;
        let journal_notices = self.journal_notices(&mut store);
        let root = self.situation_builder.project.root.to_string_lossy();
        let mut transaction = store.begin(SessionKey { agent: &event.agent, session: &event.session })?;
        let mut judged = loop {
            let stored = StoredStates {
                session: Some(transaction.session_state()),
                workflow: Some(transaction.workflow_state()),
            };
            let (mut verdict, mut consequences) = judge_by(stored);
            verdict.notices.extend(journal_notices.iter().cloned());
            let call = refused_call(event, &verdict, &mut transaction);
            if let Some(call) = &call {
                verdict.not_enforced = self.allowance(call, once_per_event);
            }
            consequences.count_outcome(event, &verdict);
            let phase = || Position::of(&transaction.workflow_state().variables).map(|position| position.phase_name());
            consequences.changes.rule_outcomes = rule_outcomes::of_verdict(&verdict, phase);
            match transaction.record(&self.event_record(event, &root, &verdict, &consequences))? {
                RecordOutcome::Stored(id) => {
                    verdict.refusal_id = call.filter(|_| verdict.is_enforced()).map(|_| id.0);
                    verdict.notices.extend(consequences.count_and_close_demands(verdict.is_enforced()));
                    break Judged { verdict, id: Some(id) };
                }
                RecordOutcome::Conflict(again) => transaction = *again,
            }
        };
        self.register_rule_versions(&once_per_event.nested_policies, &mut store, event.time);
        // Notices that the journal causes while it is written are given to the person, but can no longer be recorded
        // with the verdict.
        judged.verdict.notices.extend(self.journal_notices(&mut store));
        Ok(judged)
    }

    /// Judges an event whose transaction failed with `error`.
    pub(super) fn judge_without_journal(&self, context: &EventContext<'_>, error: &StoreError) -> Judged {
        let event = context.event;
        // The journal may be locked for writing, but still readable. Then the rules of the active phase apply.
        let options = self.situation_builder.store_options(event);
        let journal = Store::open_read_only(&self.situation_builder.journal_path, options);
        let workflow_state = journal.and_then(|journal| journal.workflow_state()).ok();
        let stored = StoredStates { session: None, workflow: workflow_state.as_ref() };
        let (mut verdict, consequences) = self.run_stages(context, stored);
        if is_refused_call(event, &verdict) {
            // If an allowance for this call was used up before the transaction failed, it still applies.
            verdict.not_enforced = context.once_per_event.allowance.get().copied().flatten();
        }
        verdict.notices.push(notices::journal_notice(error));
        // The queue counts how often each demand was shown, even if the journal cannot be used. Otherwise a file rule
        // could hold a stop forever.
        verdict.notices.extend(consequences.count_and_close_demands(verdict.is_enforced()));
        Judged { verdict, id: None }
    }

    /// A person's allowance for the call. It is looked up only once, even if the event is judged several times, because
    /// the lookup uses up a one-time allowance.
    fn allowance(&self, call: &CallDigest, once_per_event: &OncePerEvent) -> Option<NotEnforced> {
        *once_per_event.allowance.get_or_init(|| {
            Allowances::of(&self.situation_builder.project.root, self.situation_builder.environment).take(call)
        })
    }
}

/// The digest of the call, if the verdict refuses the call and the event has all fields that an allowance needs.
fn refused_call(event: &Event, verdict: &Verdict, transaction: &mut JudgementTransaction) -> Option<CallDigest> {
    if !is_refused_call(event, verdict) {
        return None;
    }
    // If the journal fails here, it also fails when the event is recorded, and the error is reported then.
    let input = transaction.input_digest(event).ok().flatten();
    CallDigest::of_event(event, input.as_deref())
}

/// True if the event is a call that waits for permission, and the verdict refuses the call and is enforced.
pub(super) fn is_refused_call(event: &Event, verdict: &Verdict) -> bool {
    event.kind.awaits_permission() && verdict.asks_or_blocks() && verdict.is_enforced()
}
