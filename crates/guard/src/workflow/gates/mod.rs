//! Checks the gates of a move.
//!
//! This file decides the order: expressions, approvals and file rules start no process of the project and are checked
//! first. A gate with a command starts a process of its own (`gate_process.rs`), which outlives the move and writes a receipt.

mod approval;
mod command_gate;
mod file_rule_gate;
mod gate_process;
mod named_files;
mod protected_gate_files;
mod receipt;
mod running_command;

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Situation;
use engine::workflow::{Gate, Requirement, Webhook};
use policy::Config;
use serde_json::{Value, json};
use tree::GitError;

pub(crate) use self::approval::Approvals;
pub(super) use self::approval::{Approval, required_approvals};
use self::command_gate::CommandGate;
pub use self::command_gate::GateRunOptions;
pub use self::gate_process::{GATE_ARGUMENT, run_gate};
pub use self::protected_gate_files::{GateFiles, gate_files_of_run};
pub(crate) use self::receipt::ReceiptFile;
pub use self::running_command::{GateProgress, RunningCommand};
use super::condition::{NO_SESSION, NO_SESSION_IN_RUN, is_true};
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
    /// True if file rules compare with the tree from before the hat was activated, instead of their own baseline.
    pub since_activation: bool,
}

impl Gates<'_> {
    /// Checks the gates, and returns those that do not pass. Gates that start nothing are checked first; the others only
    /// if those pass, and only until one of them fails.
    pub fn check_gates<'r>(&self, requirements: impl Iterator<Item = &'r Requirement>) -> Vec<FailedGate> {
        let shared = SharedByGates::default();
        let check = |required: &Requirement| self.check_gate(required, &shared);
        let (cheap, expensive): (Vec<&Requirement>, Vec<_>) =
            requirements.partition(|required| required.gate.is_cheap());
        let failed_cheap: Vec<FailedGate> = cheap.into_iter().filter_map(check).collect();
        if !failed_cheap.is_empty() {
            return failed_cheap;
        }
        expensive.into_iter().find_map(check).into_iter().collect()
    }

    fn check_gate(&self, required: &Requirement, shared: &SharedByGates) -> Option<FailedGate> {
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

    fn approval_problem(&self, gate: &str, text: &str, tree_digest: Option<&str>) -> Option<String> {
        let approvals = Approvals::of(&self.project.root, self.environment);
        let last = approvals.last(gate, text, &self.active.position);
        if last.as_ref().is_some_and(|last| last.tree_digest.as_deref() == tree_digest) {
            return None;
        }
        let before = last.map_or_else(String::new, |last| format!("\n{}", last.outdated_text()));
        let text = plain_text::single_line(text);
        let command = format!("(`linchpin approve {gate}`, for the tree as it is now)");
        Some(format!("a person must approve: {text}{before}\n{command}"))
    }

    fn command_gate<'c>(&'c self, text: &'c str, words: &'c [String], timeout: Duration) -> CommandGate<'c> {
        let Self { project, config, environment, .. } = self;
        CommandGate { text, words, timeout, project, config, environment, variables: &self.variables }
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

/// Values that several gates of one move need, each computed when the first of them asks.
#[derive(Default)]
struct SharedByGates {
    tree_digest: OnceCell<Result<Option<String>, GitError>>,
    is_trusted: OnceCell<bool>,
    deadline: OnceCell<Instant>,
}

impl SharedByGates {
    /// The digest of the working tree; `None` without git.
    fn tree_digest(&self, gates: &Gates<'_>) -> Result<Option<&str>, &GitError> {
        self.tree_digest.get_or_init(|| tree_digest(&gates.project.root)).as_ref().map(Option::as_deref)
    }

    fn is_trusted(&self, gates: &Gates<'_>) -> bool {
        *self
            .is_trusted
            .get_or_init(|| Trust::of(&gates.project.root, gates.environment).accepts_workflow(&gates.active.workflow))
    }

    /// When to stop waiting for commands. The limit applies to all commands of the move together.
    fn deadline(&self, gates: &Gates<'_>) -> Instant {
        *self.deadline.get_or_init(|| Instant::now() + gates.gate_runners.command.wait_limit)
    }
}

fn gate_text(gate: &Gate) -> String {
    plain_text::single_line(&gate.to_string())
}
