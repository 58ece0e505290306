//! Consequences of a judgement: the state changes, counters and recorded facts that follow from the verdict.

use std::sync::Arc;

use engine::decide::PaceUpdate;
use engine::{Event, Level, Verdict};
use serde_json::Map;
use store::{CounterChange, SessionState, StateChanges};

use crate::facts::input_record::AskedInput;
use crate::facts::{ActiveWorkflow, LiveFacts, PATHS_FACT, PathRecord, pace_facts};
use crate::file_rules::OpenDemands;
use crate::session::SessionNotice;

#[derive(Default)]
pub(super) struct Consequences {
    pub(super) changes: StateChanges,
    pub(super) facts: Map<String, serde_json::Value>,
    pub(super) fields: Map<String, serde_json::Value>,
    pub(super) paths: PathRecord,
    pub(super) asked_input: AskedInput,
    /// Demands of file rules, one entry per policy.
    pub(super) demands: Vec<OpenDemands>,
    pub(super) counters: RuleCounters,
    pub(super) active: Option<Arc<ActiveWorkflow>>,
}

/// The counters of rules. Whether they change depends on whether the verdict is enforced.
#[derive(Default)]
pub(super) struct RuleCounters {
    /// The names of counters, each with the number of times that its rule has now held this stop.
    pub(super) holds: Vec<(String, u32)>,
    /// Updates of pace rules; true for a rule of the active workflow.
    pub(super) pace: Vec<(PaceUpdate, bool)>,
    /// The facts of each policy.
    pub(super) facts: Vec<Arc<LiveFacts>>,
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
        self.facts.push(Arc::clone(facts));
    }

    fn remember(self, verdict: &Verdict, changes: &mut StateChanges) {
        let is_let_through = verdict.level < Level::Ask || verdict.not_enforced.is_some();
        for facts in &self.facts {
            facts.paced().remember_added(is_let_through, changes);
        }
        // If the verdict is not enforced, the stop was not held and the call was not refused, so neither is counted.
        if verdict.not_enforced.is_some() {
            return;
        }
        for (update, is_of_workflow) in &self.pace {
            pace_facts::remember(update, *is_of_workflow, changes);
        }
        for (counter, count) in self.holds {
            changes.count(counter, CounterChange::Set(count.into()));
        }
    }
}

impl Consequences {
    /// Adds the facts that one policy's rules used.
    pub(super) fn add_facts(&mut self, facts: &LiveFacts) {
        self.facts.extend(facts.used());
        self.paths.extend(facts.path_record());
        self.asked_input.join(facts.asked_input());
    }

    /// Updates the counters of rules. Called once it is known whether the call is allowed.
    pub(super) fn count_outcome(&mut self, event: &Event, verdict: &Verdict) {
        std::mem::take(&mut self.counters).remember(verdict, &mut self.changes);
        if let Some(active) = &self.active {
            active.count(event, verdict, &mut self.changes);
        }
    }

    /// Writes the demands of file rules to the queue. Called once the judgement is recorded. Returns error messages.
    pub(super) fn write_queue(&self, is_enforced: bool) -> Vec<String> {
        self.demands.iter().flat_map(|demands| demands.write_queue(is_enforced)).collect()
    }

    /// Drops notices that the session has already been given.
    pub(super) fn unseen(
        &mut self,
        notices: impl IntoIterator<Item = SessionNotice>,
        state: Option<&SessionState>,
    ) -> Vec<String> {
        let mut news = Vec::new();
        for notice in notices {
            match notice {
                SessionNotice::Always(text) => news.push(text),
                SessionNotice::Once(text) => {
                    let variable = format!("_told:{}", policy::digest(&text));
                    let was_told = state.is_some_and(|state| state.variables.contains_key(&variable));
                    // Another policy may give the same notice at this event.
                    if !was_told && !self.changes.variables.contains_key(&variable) {
                        self.changes.set(variable, true);
                        news.push(text);
                    }
                }
            }
        }
        news
    }

    /// Adds the facts that come from the event itself: the paths it names and the fields of its input that rules used.
    pub(super) fn gather_facts(&mut self, event: &Event) {
        self.facts.extend(self.paths.fact().map(|paths| (PATHS_FACT.to_owned(), paths)));
        if let Some(call) = &event.tool {
            self.asked_input.keep(call, &mut self.fields, &mut self.facts);
        }
    }
}
