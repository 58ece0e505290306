//! Consequences of a judgement: the state changes, counters and recorded facts that follow from the verdict. Every
//! stage adds to them; `judge/mod.rs` says when each method is called.

use std::sync::Arc;

use engine::decide::PaceUpdate;
use engine::{Event, Level, Verdict};
use serde_json::Map;
use store::{CounterChange, SessionState, StateChanges};

use crate::facts::input_record::UsedInput;
use crate::facts::{ActiveWorkflow, LiveFacts, PATHS_FACT, PathRecord, pace_facts};
use crate::file_rules::JudgedFileRules;
use crate::session::SessionNotice;

#[derive(Default)]
pub(super) struct Consequences {
    /// The changes to the state of session and workflow.
    pub(super) changes: StateChanges,
    /// The facts that rules used, by their names in the journal.
    pub(super) facts: Map<String, serde_json::Value>,
    /// The fields of the tool call's input to record.
    pub(super) fields: Map<String, serde_json::Value>,
    /// The answers about paths that rules used.
    pub(super) paths: PathRecord,
    /// The parts of the tool call's input that rules used.
    pub(super) used_input: UsedInput,
    /// Demands of file rules, one entry per policy.
    pub(super) demands: Vec<JudgedFileRules>,
    pub(super) counters: RuleCounters,
    /// The active workflow. It counts the call if the call is permitted.
    pub(super) active: Option<Arc<ActiveWorkflow>>,
}

/// The counters of rules. Whether they change depends on whether the verdict is enforced.
#[derive(Default)]
pub(super) struct RuleCounters {
    /// The names of counters, each with the number of times that its rule has now held this stop.
    pub(super) holds: Vec<(String, u32)>,
    /// Updates of pace rules; true for a rule of the active workflow.
    pub(super) pace: Vec<(PaceUpdate, bool)>,
    /// The facts of each policy, which have the attempts that pace rules counted.
    pub(super) fact_sources: Vec<Arc<LiveFacts>>,
}

impl RuleCounters {
    pub(super) fn add(
        &mut self,
        pace: Vec<PaceUpdate>,
        holds: Vec<(String, u32)>,
        is_of_workflow: bool,
        facts: &Arc<LiveFacts>,
    ) {
        self.pace.extend(pace.into_iter().map(|update| (update, is_of_workflow)));
        self.holds.extend(holds.into_iter().map(|(rule, count)| (facts.hold_counter(&rule), count)));
        self.fact_sources.push(Arc::clone(facts));
    }

    fn store(self, verdict: &Verdict, changes: &mut StateChanges) {
        let is_permitted = verdict.level < Level::Ask || verdict.not_enforced.is_some();
        for facts in &self.fact_sources {
            facts.pace().store_added_attempts(is_permitted, changes);
        }
        // If the verdict is not enforced, the stop was not held and the call was not refused, so neither is counted.
        if verdict.not_enforced.is_some() {
            return;
        }
        for (update, is_of_workflow) in &self.pace {
            pace_facts::store_memory(update, *is_of_workflow, changes);
        }
        for (counter, count) in self.holds {
            changes.change_counter(counter, CounterChange::Set(count.into()));
        }
    }
}

impl Consequences {
    /// Adds the facts that one policy's rules used.
    pub(super) fn add_facts(&mut self, facts: &LiveFacts) {
        self.facts.extend(facts.used_facts());
        self.paths.extend(facts.path_record());
        self.used_input.merge(facts.used_input());
    }

    /// Updates the counters of rules. Called once it is known whether the call is allowed.
    pub(super) fn count_outcome(&mut self, event: &Event, verdict: &Verdict) {
        std::mem::take(&mut self.counters).store(verdict, &mut self.changes);
        if let Some(active) = &self.active {
            active.count_call(event, verdict, &mut self.changes);
        }
    }

    /// Writes the demands of file rules to the queue. Called once the judgement is recorded. Returns error messages.
    pub(super) fn write_queue(&self, is_enforced: bool) -> Vec<String> {
        self.demands.iter().flat_map(|demands| demands.write_queue(is_enforced)).collect()
    }

    /// The texts of the notices, without those that this session was given before.
    pub(super) fn drop_seen_notices(
        &mut self,
        notices: impl IntoIterator<Item = SessionNotice>,
        state: Option<&SessionState>,
    ) -> Vec<String> {
        let mut new = Vec::new();
        for notice in notices {
            match notice {
                SessionNotice::Always(text) => new.push(text),
                SessionNotice::Once(text) => {
                    let variable = format!("_told:{}", policy::digest(&text));
                    let was_given = state.is_some_and(|state| state.variables.contains_key(&variable));
                    // Another policy may give the same notice at this event.
                    if !was_given && !self.changes.session_variables.contains_key(&variable) {
                        self.changes.set(variable, true);
                        new.push(text);
                    }
                }
            }
        }
        new
    }

    /// Adds the facts that come from the event itself: the paths it names and the fields of its input that rules used.
    pub(super) fn gather_facts(&mut self, event: &Event) {
        self.facts.extend(self.paths.to_fact().map(|paths| (PATHS_FACT.to_owned(), paths)));
        if let Some(call) = &event.tool {
            self.used_input.record(call, &mut self.fields, &mut self.facts);
        }
    }
}
