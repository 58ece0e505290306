//! `agent_may`: the commands for workflows and variables that agents may run by themselves.

use engine::rules::Tier;
use engine::suggest;
use serde::{Deserialize, Serialize};

use super::keys::{AGENT_MAY, MOVES};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentPermissions {
    /// The commands that the user allows, without those that a project takes away.
    by_user: Vec<String>,
    /// Those that a project adds. They do not reach the user's own workflows and variables.
    pub(super) by_project: Vec<String>,
}

impl Default for AgentPermissions {
    fn default() -> Self {
        Self { by_user: AGENT_MAY.iter().map(|&name| name.to_owned()).collect(), by_project: Vec::new() }
    }
}

impl AgentPermissions {
    /// Whether an agent may run a command by itself.
    pub fn allows(&self, command: &str) -> bool {
        self.user_allows(command) || self.by_project.iter().any(|name| name == command)
    }

    /// The same for what is the user's own.
    pub fn user_allows(&self, command: &str) -> bool {
        self.by_user.iter().any(|name| name == command)
    }

    /// Takes over `agent_may` as far as nobody has to accept it: all of a user's, and what a project takes away. Returns what a
    /// project adds.
    pub(super) fn take(&mut self, fields: &mut Fields, tier: Tier) -> Option<Vec<String>> {
        let commands = fields.texts("agent_may")?;
        let known: Vec<String> =
            commands.into_iter().filter(|name| is_move(name, fields)).map(|name| name.value).collect();
        if tier != Tier::Project {
            self.by_user = known;
            return None;
        }
        let (kept, more) = known.into_iter().partition(|name| self.user_allows(name));
        self.by_user = kept;
        Some(more).filter(|more: &Vec<String>| !more.is_empty())
    }
}

fn is_move(name: &Text, fields: &mut Fields) -> bool {
    if MOVES.contains(&name.value.as_str()) {
        return true;
    }
    let help = suggest::closest(&name.value, MOVES)
        .map_or_else(|| format!("the moves are {}", MOVES.join(", ")), suggest::did_you_mean);
    let message = format!("`{}` is no move that an agent could make", name.value);
    fields
        .problems
        .push(Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(name.span.clone())).help(help));
    false
}
