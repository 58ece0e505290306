//! `agent_may`: the workflow and variable commands that agents may run by themselves.

use engine::rules::Tier;
use engine::suggest;
use serde::{Deserialize, Serialize};

use super::keys::{AGENT_COMMANDS, DEFAULT_AGENT_MAY};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentPermissions {
    /// Commands that the user allows and the project does not forbid.
    allowed_by_user: Vec<String>,
    /// Commands that only the project allows. They do not work on the user's own workflows and variables.
    pub(super) allowed_by_project: Vec<String>,
}

impl Default for AgentPermissions {
    fn default() -> Self {
        Self {
            allowed_by_user: DEFAULT_AGENT_MAY.iter().map(|&name| name.to_owned()).collect(),
            allowed_by_project: Vec::new(),
        }
    }
}

impl AgentPermissions {
    /// True if agents may run the command by themselves.
    pub fn allows(&self, command: &str) -> bool {
        self.user_allows(command) || self.allowed_by_project.iter().any(|name| name == command)
    }

    /// True if agents may run the command on the user's own workflows and variables too.
    pub fn user_allows(&self, command: &str) -> bool {
        self.allowed_by_user.iter().any(|name| name == command)
    }

    /// Reads `agent_may`. Applies what needs no trust: the user's commands, and those that a project takes away.
    /// Returns the commands that a project adds.
    pub(super) fn take(&mut self, fields: &mut Fields, tier: Tier) -> Option<Vec<String>> {
        let commands = fields.texts("agent_may")?;
        let valid: Vec<String> =
            commands.into_iter().filter(|name| check_agent_command(name, fields)).map(|name| name.value).collect();
        if tier != Tier::Project {
            self.allowed_by_user = valid;
            return None;
        }
        let (still_allowed, added) = valid.into_iter().partition(|name| self.user_allows(name));
        self.allowed_by_user = still_allowed;
        Some(added).filter(|added: &Vec<String>| !added.is_empty())
    }
}

fn check_agent_command(name: &SpannedText, fields: &mut Fields) -> bool {
    if AGENT_COMMANDS.contains(&name.value.as_str()) {
        return true;
    }
    let help = suggest::closest(&name.value, AGENT_COMMANDS)
        .map_or_else(|| format!("known commands: {}", AGENT_COMMANDS.join(", ")), suggest::did_you_mean);
    let message = format!("`{}` is not a command that `agent_may` can allow", name.value);
    fields.problems.push(
        Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(name.span.clone())).help(help),
    );
    false
}
