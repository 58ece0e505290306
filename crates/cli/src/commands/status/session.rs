//! The state of one session in `status`: its open demands, holds, acknowledgements and variables.

use std::collections::BTreeMap;
use std::fmt::Write;

use engine::rules::Rule;
use guard::Project;
use guard::file_rules::{Queue, QueueEntry, QueueStatus, open_queue_entries};
use guard::grants::Acknowledgement;
use guard::session::{AgentSession, CommandRun, policy as session_policy};
use policy::{BrokenFile, CompiledPolicy, Weakening};
use serde_json::{Map, Value, json};
use store::{SessionKey, Store, StoredState};

use super::rule_line::rule_json;
use crate::output::Output;
use crate::plural::counted;

/// The maximum number of a demand's files to name.
const MAX_FILES: usize = 5;

pub struct SessionStatus {
    /// The session's name, if the journal contains a session.
    name: Option<AgentSession>,
    /// Weakenings of rules that do not apply to this session yet, because the session keeps the stricter rules. Without
    /// a policy, those that do not apply to at least one running session.
    kept: Vec<Weakening>,
    /// How often each rule held the session's stop.
    holds: BTreeMap<String, usize>,
    /// Open demands of file rules.
    demands: Vec<QueueEntry>,
    /// The session's variables, without Linchpin's internal ones.
    variables: Map<String, Value>,
    acknowledged: Vec<Acknowledgement>,
}

impl SessionStatus {
    pub fn read(
        command: &CommandRun<'_>,
        store: Option<&Store>,
        project: &Project,
        policy: &CompiledPolicy,
        rules: &[Rule],
    ) -> Self {
        let environment = command.environment;
        let name = store.and_then(|store| command.target_session(store).ok().flatten());
        let state = name
            .as_ref()
            .zip(store)
            .and_then(|(name, store)| store.session_state(SessionKey { agent: &name.agent, session: &name.id }).ok());
        let kept = match &name {
            Some(name) => {
                session_policy::weakenings_ignored_by_session(project, policy, &name.agent, &name.id, environment)
            }
            // The journal is gone with the policy's folder, so the sessions are not known by name.
            None if !project.has_policy() => {
                session_policy::weakenings_ignored_by_any_session(project, policy, environment)
            }
            None => Vec::new(),
        };
        let queue = Queue::of(project, environment).for_dry_run(true);
        Self {
            name,
            kept,
            holds: state.as_ref().map(holds).unwrap_or_default(),
            demands: state.as_ref().map(|state| open_queue_entries(&queue, &state.variables)).unwrap_or_default(),
            acknowledged: state.as_ref().map(|state| acknowledged(state, rules)).unwrap_or_default(),
            variables: own_variables(state),
        }
    }

    /// `rules`: the rules in force.
    pub fn to_json(&self, rules: &[Rule], broken: &[BrokenFile]) -> Value {
        json!({
            "agent": self.name.as_ref().map(|name| &name.agent),
            "id": self.name.as_ref().map(|name| &name.id),
            "rules": rules.iter().map(rule_json).collect::<Vec<_>>(),
            "queue": self.demands.iter().map(demand_json).collect::<Map<_, _>>(),
            "acknowledgements": self.acknowledged.iter().map(acknowledgement_json).collect::<Vec<_>>(),
            "holds": self.holds,
            "kept": self.kept.iter().map(|change| &change.rule).collect::<Vec<_>>(),
            "variables": self.variables,
            "broken": broken.iter().map(|file| &file.problem).collect::<Vec<_>>(),
        })
    }

    pub fn show_name(&self, output: &Output) {
        match &self.name {
            Some(AgentSession { agent, id }) => {
                output.line(format!("{} {agent} {id}", output.bold("Session")));
            }
            None => output.line(format!("{} none yet", output.bold("Session"))),
        }
    }

    /// Shows that there is no policy, and the rules of a deleted policy that running sessions keep.
    pub fn show_rules_without_policy(&self, output: &Output) {
        let event = if self.kept.is_empty() { "event" } else { "event of a new session" };
        output.line(format!("{} none: there is no policy, so every {event} is allowed", output.bold("Rules  ")));
        let mut rules: Vec<&str> = self.kept.iter().map(|change| change.rule.as_str()).collect();
        rules.dedup();
        if !rules.is_empty() {
            output.line(format!(
                "{} {} of a deleted policy, in the sessions that began with it, until you run `linchpin trust`: {}",
                output.bold("Kept   "),
                counted(rules.len(), "rule"),
                rules.join(", ")
            ));
        }
    }

    /// Shows rules that the session keeps, rules that held its stop, and its open demands.
    pub fn show_rules(&self, output: &Output) {
        for change in &self.kept {
            let what = change.describe();
            output.line(format!(
                "{} {what}; this session keeps it until you run `linchpin trust`",
                output.bold("Kept   ")
            ));
        }
        for (rule, count) in &self.holds {
            let times = counted(*count, "time");
            output.line(format!("{} {rule} held this session's stop {times}", output.bold("Holds  ")));
        }
        self.demands.iter().for_each(|demand| show_demand(demand, output));
    }

    /// Shows the session's variables and acknowledgements.
    pub fn show_state(&self, output: &Output) {
        for (name, value) in &self.variables {
            output.line(format!("{} {name} = {value}", output.bold("Knows  ")));
        }
        for ack in &self.acknowledged {
            output.line(format!("{} {}, by the {}: {}", output.bold("Ack    "), ack.rule, ack.by.name(), ack.reason));
        }
    }
}

fn own_variables(state: Option<StoredState>) -> Map<String, Value> {
    let variables = state.map(|state| state.variables).unwrap_or_default();
    variables.into_iter().filter(|(name, _)| !name.starts_with('_')).collect()
}

/// Returns the acknowledgements whose rules have not changed since the acknowledgement.
fn acknowledged(state: &StoredState, rules: &[Rule]) -> Vec<Acknowledgement> {
    let mut acknowledged = Acknowledgement::of_session(state);
    acknowledged.retain(|ack| rules.iter().any(|rule| rule.id == ack.rule && rule.digest == ack.digest));
    acknowledged
}

fn holds(state: &StoredState) -> BTreeMap<String, usize> {
    let holds = state.counters.iter().filter_map(|(name, count)| {
        let rule = guard::facts::held_rule(name)?;
        Some((rule.to_owned(), usize::try_from(*count).ok().filter(|count| *count > 0)?))
    });
    holds.collect()
}

fn show_demand(demand: &QueueEntry, output: &Output) {
    let QueueEntry { rule_name, trigger_files, shown, status, .. } = demand;
    let named = trigger_files.iter().take(MAX_FILES).map(|file| engine::file_rules::escaped(file));
    let mut files = named.collect::<Vec<_>>().join(", ");
    if trigger_files.len() > MAX_FILES {
        let _ = write!(files, " and {} more", trigger_files.len() - MAX_FILES);
    }
    let outcome = match status {
        QueueStatus::Failed => "was unmet at the last stop, and the agent was allowed to stop".to_owned(),
        _ => format!(
            "was unmet at the last stop, asked {}",
            counted(usize::try_from(*shown).unwrap_or(usize::MAX), "time")
        ),
    };
    output.line(format!("{} {rule_name} {outcome}: {files}", output.bold("Asks   ")));
}

fn acknowledgement_json(ack: &Acknowledgement) -> Value {
    json!({ "rule": ack.rule, "reason": ack.reason, "by": ack.by.name(), "time": ack.time })
}

/// Returns the rule's name, and the demand as JSON.
fn demand_json(entry: &QueueEntry) -> (String, Value) {
    let QueueEntry { rule_name, status, shown, trigger_files, expected_files, .. } = entry;
    let value = json!({
        "status": status.name(), "shown": shown, "trigger_files": trigger_files, "expected_files": expected_files,
    });
    (rule_name.clone(), value)
}
