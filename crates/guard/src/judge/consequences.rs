//! The consequences of a judgement: state changes, counters and facts to record. The stages of the judgement add to
//! these. The doc comment of `judge/mod.rs` says in which order the methods are called.

use std::sync::Arc;

use engine::decide::PaceUpdate;
use engine::{Event, Level, Verdict};
use serde_json::Map;
use store::{CounterChange, StateChanges, StoredState};

use crate::facts::input_record::UsedInput;
use crate::facts::{ActiveWorkflow, LiveFacts, PATHS_FACT, PathRecord, pace_facts};
use crate::file_rules::JudgedFileRules;
use crate::session::SessionNotice;

#[derive(Default)]
pub(super) struct Consequences {
    /// The changes of the stored states of the session and the workflow.
    pub(super) changes: StateChanges,
    /// The facts that rules used, by their names in the journal.
    pub(super) facts: Map<String, serde_json::Value>,
    /// The fields of the tool call's input to record.
    pub(super) fields: Map<String, serde_json::Value>,
    /// The facts about paths that rules used.
    pub(super) paths: PathRecord,
    /// The parts of the tool call's input that rules used.
    pub(super) used_input: UsedInput,
    /// The file rules that were judged, with one item for each policy.
    pub(super) judged_file_rules: Vec<JudgedFileRules>,
    pub(super) counters: RuleCounters,
    /// The active workflow, which counts permitted calls.
    pub(super) active_workflow: Option<Arc<ActiveWorkflow>>,
}

/// The new counts of rules. Whether these counts are stored depends on the verdict and on whether it is enforced.
#[derive(Default)]
pub(super) struct RuleCounters {
    /// The names of the counters of holds, each with the number of times that its rule has held the stop, including
    /// this time.
    pub(super) holds: Vec<(String, u32)>,
    /// What pace rules did at this event, each with true if the rule belongs to the active workflow.
    pub(super) pace_updates: Vec<(PaceUpdate, bool)>,
    /// The facts of each policy, which contain the attempts that pace rules counted.
    pub(super) live_facts: Vec<Arc<LiveFacts>>,
}

impl RuleCounters {
    /// Adds the counts of one policy.
    pub(super) fn add(
        &mut self,
        pace_updates: Vec<PaceUpdate>,
        holds: Vec<(String, u32)>,
        is_of_workflow: bool,
        facts: &Arc<LiveFacts>,
    ) {
        self.pace_updates.extend(pace_updates.into_iter().map(|update| (update, is_of_workflow)));
        self.holds.extend(holds.into_iter().map(|(rule, count)| (facts.hold_counter(&rule), count)));
        self.live_facts.push(Arc::clone(facts));
    }

    /// Adds the counts to the changes, as far as the verdict lets them count.
    fn add_to(self, verdict: &Verdict, changes: &mut StateChanges) {
        let is_permitted = verdict.level < Level::Ask || !verdict.is_enforced();
        for facts in &self.live_facts {
            facts.pace().add_attempts_to(is_permitted, changes);
        }
        // If the verdict is not enforced, the stop was not held and the call was not refused, so neither is counted.
        if !verdict.is_enforced() {
            return;
        }
        for (update, is_of_workflow) in &self.pace_updates {
            pace_facts::add_memory_to(update, *is_of_workflow, changes);
        }
        for (counter, count) in self.holds {
            changes.change_counter(counter, CounterChange::Set(count.into()));
        }
    }
}

impl Consequences {
    /// Adds the facts that one policy's rules used.
    pub(super) fn add_used_facts(&mut self, facts: &LiveFacts) {
        self.facts.extend(facts.used_facts());
        self.paths.extend(facts.path_record());
        self.used_input.merge(facts.used_input());
    }

    /// Adds the counts of rules and of the active phase to the changes. Called once it is known whether the call is
    /// allowed.
    pub(super) fn count_outcome(&mut self, event: &Event, verdict: &Verdict) {
        std::mem::take(&mut self.counters).add_to(verdict, &mut self.changes);
        if let Some(active) = &self.active_workflow {
            active.count_call(event, verdict, &mut self.changes);
        }
    }

    /// Updates the queue: if `is_enforced`, counts that the open demands were shown once more; in any case, closes
    /// demands that are no longer made. Called after the judgement was recorded, or could not be recorded. Returns
    /// error messages.
    pub(super) fn count_and_close_demands(&self, is_enforced: bool) -> Vec<String> {
        self.judged_file_rules.iter().flat_map(|judged| judged.count_and_close(is_enforced)).collect()
    }

    /// Returns the texts of the notices that must be given at this event. A notice that is given only once in a session
    /// is left out if it was given before; otherwise, adds to the changes that it was given.
    pub(super) fn take_new_notices(
        &mut self,
        notices: impl IntoIterator<Item = SessionNotice>,
        state: Option<&StoredState>,
    ) -> Vec<String> {
        let mut new = Vec::new();
        for notice in notices {
            match notice {
                SessionNotice::Always(text) => new.push(text),
                SessionNotice::Once(text) => {
                    let variable = format!("_told:{}", policy::digest(&text));
                    let was_given = state.is_some_and(|state| state.variables.contains_key(&variable));
                    // Another policy may already have given the same notice at this event.
                    if !was_given && !self.changes.session_variables.contains_key(&variable) {
                        self.changes.set(variable, true);
                        new.push(text);
                    }
                }
            }
        }
        new
    }

    /// Adds the facts about paths, and the fields of the tool call's input, that rules of any policy used.
    pub(super) fn add_event_facts(&mut self, event: &Event) {
        self.facts.extend(self.paths.to_fact().map(|paths| (PATHS_FACT.to_owned(), paths)));
        if let Some(call) = &event.tool {
            self.used_input.record(call, &mut self.fields, &mut self.facts);
        }
    }
}
