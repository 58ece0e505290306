//! Checks the gates of a move, in this order: first expressions, approvals and file rules, which start no process of
//! the project; then commands and webhooks.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Situation;
use engine::workflow::{Gate, Requirement, Webhook};
use policy::Config;
use serde_json::json;
use tree::GitError;

use super::command_gate::CommandGate;
use super::{Approvals, FailedGate, GateRunners};
use crate::facts::ActiveWorkflow;
use crate::grants::Trust;
use crate::project::Project;
use crate::tree_digest::tree_digest;
use crate::workflow::condition::{NO_SESSION, NO_SESSION_IN_RUN, is_true};
use crate::{Environment, plain_text};

/// Checks the gates of one move.
pub struct GateChecker<'a> {
    pub active: &'a ActiveWorkflow,
    pub situation: &'a Arc<Situation>,
    pub project: &'a Project,
    pub environment: &'a Environment,
    pub config: &'a Config,
    pub gate_runners: &'a GateRunners,
    /// Environment variables for commands of gates. They override those of the process.
    pub environment_overrides: Vec<(&'static str, String)>,
    /// True if the move is made in a run of a loop.
    pub is_in_run: bool,
    /// True if file rules compare with the tree from before the hat was activated, in place of their own baseline.
    pub compares_with_activation: bool,
}

impl GateChecker<'_> {
    /// Returns the gates that do not pass. All cheap gates, which start no process of the project and call no webhook,
    /// are checked first. If all of them pass, the other gates are checked in order, up to the first that does not
    /// pass.
    pub fn check_gates<'r>(&self, requirements: impl Iterator<Item = &'r Requirement>) -> Vec<FailedGate> {
        let shared = SharedGateValues::default();
        let check = |required: &Requirement| self.check_gate(required, &shared);
        let (cheap, expensive): (Vec<&Requirement>, Vec<_>) =
            requirements.partition(|required| required.gate.is_cheap());
        let failed_cheap: Vec<FailedGate> = cheap.into_iter().filter_map(check).collect();
        if !failed_cheap.is_empty() {
            return failed_cheap;
        }
        expensive.into_iter().find_map(check).into_iter().collect()
    }

    /// Returns the gate as a [`FailedGate`] if it does not pass.
    fn check_gate(&self, required: &Requirement, shared: &SharedGateValues) -> Option<FailedGate> {
        let why = match &required.gate {
            Gate::Expression(expression) => self.expression_problem(expression),
            Gate::FileRules(rules) => return self.check_file_rules(&required.id, rules),
            Gate::Approval(text) => match shared.tree_digest(self) {
                Ok(digest) => self.approval_problem(&required.id, text, digest),
                Err(error) => Some(error.to_string()),
            },
            Gate::Command { .. } | Gate::Webhook(_) if !shared.is_trusted(self) => {
                Some(format!("{} is not trusted yet: run `linchpin trust`", gate_text(&required.gate)))
            }
            Gate::Command { text, words, timeout, .. } => match shared.tree_digest(self) {
                Ok(digest) => {
                    let options = &self.gate_runners.command;
                    self.command_gate(text, words, *timeout).check(digest, options, shared.deadline(self))
                }
                Err(error) => Some(error.to_string()),
            },
            Gate::Webhook(webhook) => self.call_webhook(webhook),
        };
        Some(FailedGate::new(&required.id, why?))
    }

    /// The reason why a gate with an expression does not pass.
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

    /// The reason why a gate with an approval does not pass.
    fn approval_problem(&self, gate: &str, text: &str, tree_digest: Option<&str>) -> Option<String> {
        let approvals = Approvals::of(&self.project.root, self.environment);
        let last = approvals.last(gate, text, &self.active.position);
        if last.as_ref().is_some_and(|last| last.tree_digest.as_deref() == tree_digest) {
            return None;
        }
        let before = last.map_or_else(String::new, |last| format!("\n{}", last.outdated_text()));
        let text = plain_text::single_line(text);
        let command =
            format!("(ask a person to run `linchpin approve {gate}`; the approval is valid until the tree changes)");
        Some(format!("a person must approve: {text}{before}\n{command}"))
    }

    fn command_gate<'c>(&'c self, text: &'c str, words: &'c [String], timeout: Duration) -> CommandGate<'c> {
        let Self { project, config, environment, .. } = self;
        let environment_overrides = &self.environment_overrides;
        CommandGate { text, words, timeout, project, config, environment, environment_overrides }
    }

    /// Calls the webhook, and returns the reason why its gate does not pass.
    fn call_webhook(&self, webhook: &Webhook) -> Option<String> {
        let name = |root: &Path| root.file_name().map(|name| name.to_string_lossy().into_owned());
        let payload = json!({
            "project": name(&self.project.root),
            "workflow": self.active.workflow.name,
            "node": self.active.position.node(),
            "visit": self.active.position.phase_key(),
            "claims": self.active.claims,
        });
        let answer = (self.gate_runners.webhook)(webhook, &payload, self.environment);
        answer.err().map(|why| {
            format!("{} did not approve: {}", plain_text::single_line(&webhook.url), plain_text::single_line(&why))
        })
    }
}

/// Values that several gates of one move need. Each value is computed when a gate first asks for it.
#[derive(Default)]
struct SharedGateValues {
    tree_digest: OnceCell<Result<Option<String>, GitError>>,
    is_trusted: OnceCell<bool>,
    deadline: OnceCell<Instant>,
}

impl SharedGateValues {
    /// The digest of the working tree; `None` without git.
    fn tree_digest(&self, checker: &GateChecker<'_>) -> Result<Option<&str>, &GitError> {
        self.tree_digest.get_or_init(|| tree_digest(&checker.project.root)).as_ref().map(Option::as_deref)
    }

    /// True if the workflow is trusted.
    fn is_trusted(&self, checker: &GateChecker<'_>) -> bool {
        *self.is_trusted.get_or_init(|| {
            Trust::of(&checker.project.root, checker.environment).accepts_workflow(&checker.active.workflow)
        })
    }

    /// The time until which the move waits for commands. The limit applies to all commands of the move together.
    fn deadline(&self, checker: &GateChecker<'_>) -> Instant {
        *self.deadline.get_or_init(|| Instant::now() + checker.gate_runners.command.wait_limit)
    }
}

fn gate_text(gate: &Gate) -> String {
    plain_text::single_line(&gate.to_string())
}
