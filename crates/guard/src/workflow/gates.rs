//! Checks the gates of a move.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::event::{EventKind, EventKinds};
use engine::expr::EvaluationError;
use engine::facts::{FactStore, Missing};
use engine::file_rules::{Baseline, ChangeScope};
use engine::rules::{Detector, Rule, RuleSet};
use engine::workflow::{Gate, Requirement, Webhook};
use engine::{DecisionRequest, Level, Situation, expr};
use policy::Config;
use serde_json::{Value, json};

use super::approval::Approvals;
use super::command_gate::{CommandGate, GateRunOptions};
use crate::facts::ActiveWorkflow;
use crate::grants::Trust;
use crate::project::Project;
use crate::tree_digest::tree_digest;
use crate::{Environment, plain_text};

/// A gate that does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedGate {
    /// The gate's id.
    pub gate: String,
    /// The missing requirement and the next step, in one or more lines.
    pub why: String,
    /// The file rules that are unmet.
    pub rules: Vec<String>,
}

impl FailedGate {
    fn new(gate: &str, why: String) -> Self {
        Self { gate: gate.to_owned(), why, rules: Vec::new() }
    }
}

/// The functions and options with which gates start processes and call webhooks.
#[derive(Clone)]
pub struct GateRunners {
    pub command: GateRunOptions,
    /// Calls a webhook. The error is the reason why the gate does not pass. The function is passed in, because the
    /// hook's code must not link a network client.
    pub webhook: fn(&Webhook, &Value, &Environment) -> Result<(), String>,
}

/// The context in which the gates of a move are checked.
pub struct Gates<'a> {
    pub active: &'a ActiveWorkflow,
    pub situation: &'a Arc<Situation>,
    pub project: &'a Project,
    pub environment: &'a Environment,
    pub config: &'a Config,
    pub gate_runners: &'a GateRunners,
    /// Environment variables for commands of gates, which override those of the process.
    pub variables: Vec<(&'static str, String)>,
    pub is_in_run: bool,
    /// True if file rules compare with the tree from before the hat was put on, instead of their own baseline.
    pub since_activation: bool,
}

impl Gates<'_> {
    /// The gates that do not pass. Cheap gates are checked first; expensive ones only if all cheap ones pass, and only
    /// until one of them fails.
    pub fn failed_gates<'r>(&self, requirements: impl Iterator<Item = &'r Requirement>) -> Vec<FailedGate> {
        let (tree, is_trusted, end) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let tree = || tree.get_or_init(|| tree_digest(&self.project.root)).as_ref().map(Option::as_deref);
        let is_trusted = || {
            let trust = || Trust::of(&self.project.root, self.environment).accepts_workflow(&self.active.workflow);
            *is_trusted.get_or_init(trust)
        };
        // All commands together may take this long.
        let end = || *end.get_or_init(|| Instant::now() + self.gate_runners.command.wait_limit);
        let failed = |required: &Requirement| {
            let why = match &required.gate {
                Gate::Expression(expression) => self.expression_problem(expression),
                Gate::FileRules(rules) => return self.failed_file_rules(&required.id, rules),
                Gate::Approval(text) => match tree() {
                    Ok(tree) => self.approval_problem(&required.id, text, tree),
                    Err(error) => Some(error.to_string()),
                },
                Gate::Command { .. } | Gate::Webhook(_) if !is_trusted() => {
                    Some(format!("{} is not trusted yet: run `linchpin trust`", shown(&required.gate)))
                }
                Gate::Command { text, words, timeout, .. } => match tree() {
                    Ok(tree) => self.command(text, words, *timeout).problem(tree, &self.gate_runners.command, end()),
                    Err(error) => Some(error.to_string()),
                },
                Gate::Webhook(webhook) => self.webhook_problem(webhook),
            };
            Some(FailedGate::new(&required.id, why?))
        };
        let (cheap, expensive): (Vec<&Requirement>, Vec<_>) =
            requirements.partition(|required| required.gate.is_cheap());
        let failed_cheap: Vec<FailedGate> = cheap.into_iter().filter_map(failed).collect();
        if !failed_cheap.is_empty() {
            return failed_cheap;
        }
        expensive.into_iter().find_map(failed).into_iter().collect()
    }

    fn expression_problem(&self, expression: &str) -> Option<String> {
        match is_true(expression, self.situation) {
            Ok(true) => None,
            Ok(false) => Some(format!("`{}` is not true", plain_text::single_line(expression))),
            Err(why) if self.is_in_run && why == NO_SESSION => {
                Some(format!("`{}` cannot be evaluated: {NO_SESSION_IN_RUN}", plain_text::single_line(expression)))
            }
            Err(why) => Some(format!("`{}` cannot be evaluated: {why}", plain_text::single_line(expression))),
        }
    }

    fn failed_file_rules(&self, gate: &str, rules: &[Rule]) -> Option<FailedGate> {
        let on = EventKinds::default().with(EventKind::Other);
        // A gate may refuse any number of times, and a rule that only warns at a stop blocks a gate.
        let asked = |rule: &Rule| {
            let mut rule = Rule { on, action: Level::Block, max_holds: Some(u32::MAX), ..rule.clone() };
            if let (true, Detector::Files(files)) = (self.since_activation, &mut rule.detect) {
                files.scope.compare_to = Baseline::Prompt;
            }
            rule
        };
        let rules: Vec<Rule> = rules.iter().map(asked).collect();
        let is_told = |rule: &&Rule| {
            rule.as_file_rule().is_none_or(|file| matches!(self.situation.facts.changes(file.scope), Ok(Some(_))))
        };
        if let Some(rule) = rules.iter().find(|rule| !is_told(rule)) {
            // A rule that cannot be judged is skipped at a stop, but a gate with such a rule must not pass.
            let why = format!(
                "`{}` cannot be judged, because git cannot list what changed: `linchpin check` shows why",
                rule.id
            );
            return Some(FailedGate::new(gate, why));
        }
        let asked = RuleSet::pack(&rules).and_then(|rules| {
            engine::decide(&DecisionRequest { situation: self.situation, rules: &rules, evaluate_all: false })
        });
        match asked {
            Ok(decision) if !decision.skipped.is_empty() => {
                let skipped: Vec<&str> = decision.skipped.iter().map(|skipped| skipped.rule.as_str()).collect();
                let skipped = skipped.join(", ");
                let why = format!("{skipped} cannot be judged, because demands cannot be written to disk");
                Some(FailedGate::new(gate, why))
            }
            Ok(decision) if decision.verdict.findings.is_empty() => None,
            Ok(decision) => {
                let findings = &decision.verdict.findings;
                let unmet = findings.iter().map(|finding| finding.reason.clone());
                let names: Vec<String> = findings.iter().map(|finding| format!("`{}`", finding.rule)).collect();
                let name = if let [only] = findings.as_slice() { only.rule.as_str() } else { "NAME" };
                let answer =
                    format!("If {} does not apply, run `linchpin ack {name} --reason \"…\"`.", names.join(" or "));
                let why = unmet.chain([answer]).collect::<Vec<_>>().join("\n\n");
                let rules = findings.iter().map(|finding| finding.rule.clone()).collect();
                Some(FailedGate { rules, ..FailedGate::new(gate, why) })
            }
            Err(error) => Some(FailedGate::new(gate, error.to_string())),
        }
    }

    fn approval_problem(&self, gate: &str, text: &str, tree: Option<&str>) -> Option<String> {
        let approvals = Approvals::of(&self.project.root, self.environment);
        let last = approvals.last(gate, text, &self.active.position);
        if last.as_ref().is_some_and(|last| last.tree.as_deref() == tree) {
            return None;
        }
        let before = last.map_or_else(String::new, |last| format!("\n{}", last.outdated()));
        let text = plain_text::single_line(text);
        let command = format!("(`linchpin approve {gate}`, for the tree as it is now)");
        Some(format!("a person must approve: {text}{before}\n{command}"))
    }

    fn command<'c>(&'c self, text: &'c str, words: &'c [String], timeout: Duration) -> CommandGate<'c> {
        let Self { project, config, environment, .. } = self;
        CommandGate { text, words, timeout, project, config, environment, variables: &self.variables }
    }

    fn webhook_problem(&self, webhook: &Webhook) -> Option<String> {
        let name = |root: &Path| root.file_name().map(|name| name.to_string_lossy().into_owned());
        let question = json!({
            "project": name(&self.project.root),
            "workflow": self.active.workflow.name,
            "node": self.active.position.node(),
            "visit": self.active.position.phase_key(),
            "claims": self.active.claims,
        });
        let asked = (self.gate_runners.webhook)(webhook, &question, self.environment);
        asked.err().map(|why| {
            format!("{} did not approve: {}", plain_text::single_line(&webhook.url), plain_text::single_line(&why))
        })
    }
}

/// Evaluates an expression for a move. If the session is unknown, using a session variable is an error; the variable
/// does not have its initial value.
pub(super) fn is_true(expression: &str, situation: &Arc<Situation>) -> Result<bool, String> {
    expr::is_true(expression, situation, ChangeScope::default()).map_err(|error| match error {
        EvaluationError::Missing(Missing::Unreadable(FactStore::Session)) => NO_SESSION.to_owned(),
        error => error.to_string(),
    })
}

pub(super) const NO_SESSION: &str = "variables of a session are needed, and it is not known which session runs this command. Name \
                                     it: `linchpin next --session ID`";
/// In a run, the hat's session is known if only one session had an event since the hat was put on.
const NO_SESSION_IN_RUN: &str = "variables of a session are needed, and it is not known which session wears this hat: its agent \
                                 called no hook of Linchpin's yet, or more than one session did. `emit` cannot name one; a person \
                                 can install the hooks (`linchpin install AGENT`) or change the gate";

fn shown(gate: &Gate) -> String {
    plain_text::single_line(&gate.to_string())
}

#[cfg(test)]
mod tests;
