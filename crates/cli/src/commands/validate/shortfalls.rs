//! Reports shortfalls: what a rule needs and an installed agent cannot do. Text output has one paragraph per agent and
//! kind of shortfall; JSON lists every rule and event.

use std::collections::BTreeMap;

use agents::Agent;
use agents::shortfall::{self, Shortfall};
use engine::EventKind;
use engine::event::EventKinds;
use engine::pace::LiveMode;
use engine::rules::{Detector, Rule, Tier};
use guard::Project;
use serde_json::{Value, json};

use crate::commands::{Context, install};
use crate::output::Output;

pub struct Shortfalls(BTreeMap<(Severity, Agent, Shortfall), Rules>);

/// The affected rules by id, each with the events at which the agent falls short. A rule that several nodes of a
/// workflow contain is listed once.
type Rules = BTreeMap<String, EventKinds>;

/// A shortfall is something that a rule needs and an installed agent cannot do. It is a hint if the agent only loses a
/// rule's warning or approval. It is a warning if the rule does not prevent what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Warning,
    Hint,
}

/// The maximum number of rules to name; the others are only counted.
const MAX_NAMES: usize = 5;

impl Shortfalls {
    pub fn of<'r>(project: &Project, rules: impl Iterator<Item = &'r Rule>, context: &Context) -> Self {
        let is_installed = |agent: &Agent| install::is_installed(*agent, &project.root, &context.environment);
        let mut found = Self(BTreeMap::new());
        let rules: Vec<&Rule> = rules.filter(|rule| rule.tier != Tier::Bundled).collect();
        for agent in Agent::ALL.into_iter().filter(is_installed) {
            for rule in &rules {
                found.add_shortfalls(agent, rule);
            }
        }
        found
    }

    fn add_shortfalls(&mut self, agent: Agent, rule: &Rule) {
        let on = reporting_events(rule);
        for (event, shortfall) in shortfall::shortfalls(agent, on, rule.action) {
            self.add(agent, shortfall, rule, event);
        }
        let names_a_server = |server| matches!(&rule.detect, Detector::Tool(tool) if tool.names_other_server(server));
        if shortfall::unknown_server(agent).is_some_and(names_a_server) {
            on.iter().for_each(|event| self.add(agent, Shortfall::NoServer, rule, event));
        }
    }

    fn add(&mut self, agent: Agent, shortfall: Shortfall, rule: &Rule, event: EventKind) {
        let severity = if shortfall.is_harmless() { Severity::Hint } else { Severity::Warning };
        let events = self.0.entry((severity, agent, shortfall)).or_default().entry(rule.id.clone()).or_default();
        *events = events.with(event);
    }

    pub fn warnings(&self) -> usize {
        self.0.keys().filter(|(severity, ..)| *severity == Severity::Warning).count()
    }

    /// Returns one object for each rule at each event.
    pub fn to_json(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for ((severity, agent, shortfall), rules) in &self.0 {
            for (rule, events) in rules {
                all.extend(events.iter().map(|event| {
                    let there = EventKinds::default().with(event);
                    json!({
                        "severity": severity.name(),
                        "agent": agent.name(),
                        "kind": shortfall.name(),
                        "rule": rule,
                        "event": event.name(),
                        "message": shortfall.consequence(*agent, there),
                        "help": shortfall.help(*agent, there),
                    })
                }));
            }
        }
        all
    }

    pub fn print(&self, output: &Output) {
        for ((severity, agent, shortfall), rules) in &self.0 {
            let events: EventKinds = rules.values().flat_map(|events| events.iter()).collect();
            output.line(format!("{}: {}", severity.name(), shortfall.consequence(*agent, events)));
            output.line(format!(" = {}", rule_list(rules)));
            output.line(format!(" = help: {}", shortfall.help(*agent, events)));
            output.blank();
        }
    }
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Hint => "hint",
        }
    }
}

/// Returns the events at which the rule may warn or block. A pace rule is evaluated at more events.
fn reporting_events(rule: &Rule) -> EventKinds {
    match rule.as_pace_rule().map(|pace| pace.live) {
        Some(LiveMode::Off) => EventKinds::default(),
        Some(LiveMode::Block) => rule.on.iter().filter(|kind| kind.awaits_permission()).collect(),
        Some(LiveMode::Warn) | None => rule.on,
    }
}

fn rule_list(rules: &Rules) -> String {
    let names: Vec<String> = rules.keys().take(MAX_NAMES).map(|rule| format!("`{rule}`")).collect();
    let more = match rules.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}: {}{more}", if rules.len() == 1 { "rule" } else { "rules" }, names.join(", "))
}
