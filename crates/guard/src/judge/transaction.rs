//! The transaction around the stages: the stored state is read, the event is judged by it, and the verdict is recorded
//! only if nothing changed in between. Otherwise the event is judged again.

use std::sync::Arc;

use engine::{Event, NotEnforced, Verdict};
use store::{JudgementTransaction, RecordOutcome, SessionKey, Store, StoreError};

use super::consequences::Consequences;
use super::event_context::{OnceOnly, StoredStates};
use super::{Judge, Judged};
use crate::grants::{Allowances, CallDigest};
use crate::position::Position;
use crate::rule_outcomes;

impl Judge<'_> {
    /// `run_stages` judges the event by the stored state. It is called again if another process wrote meanwhile.
    pub(super) fn judge_in_transaction(
        &self,
        event: &Arc<Event>,
        once_only: &OnceOnly,
        run_stages: impl Fn(StoredStates<'_>) -> (Verdict, Consequences),
    ) -> Result<Judged, StoreError> {
        let mut store = Store::open(&self.session.journal_path, self.session.store_options(event))?;
        let notices = self.journal_notices(&mut store);
        let root = self.session.project.root.to_string_lossy();
        let mut transaction = store.begin(SessionKey { agent: &event.agent, session: &event.session })?;
        let mut judged = loop {
            let stored = StoredStates { session: Some(transaction.state()), workflow: Some(transaction.workflow()) };
            let (mut verdict, mut consequences) = run_stages(stored);
            verdict.notices.extend(notices.iter().cloned());
            let call = refused_call(event, &verdict, &mut transaction);
            if let Some(call) = &call {
                verdict.not_enforced = self.allowance(call, once_only);
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
        self.register_rule_versions(&once_only.nested, &mut store, event.time);
        // Notices about the journal that came up while writing are given to the person, but cannot be recorded.
        judged.verdict.notices.extend(self.journal_notices(&mut store));
        Ok(judged)
    }

    /// A person's allowance for the call. It is looked up only once, even if the event is judged twice, because this
    /// uses up a one-time allowance.
    fn allowance(&self, call: &CallDigest, once_only: &OnceOnly) -> Option<NotEnforced> {
        *once_only
            .allowed
            .get_or_init(|| Allowances::of(&self.session.project.root, self.session.environment).take(call))
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
