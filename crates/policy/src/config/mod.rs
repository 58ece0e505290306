//! Configuration: what the `config.yml` of all tiers say together.

mod agent_permissions;
mod branches;
mod commands;
mod file;
mod keys;
mod nested_rules;
mod observers;
mod overlay;
mod setting;
mod triggers;
mod variables;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use engine::expr::Scope;
use engine::observers::Observer;
use engine::rules::Tier;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use agent_permissions::AgentPermissions;
pub use branches::BranchSettings;
pub use commands::{CommandSettings, Sandbox};
pub use file::ConfigFile;
pub use keys::{CONFIG, MOVES};
pub use setting::{Setting, Unaccepted};
pub use triggers::ConfigTriggers;

use crate::files::folder::PolicyFolder;
use crate::observers::Unchecked;
use crate::values::quantity::{DAY, KIB};
use variables::DeclaredVariables;

/// What the configurations of all tiers say together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// False: only what protects the guard itself is in force.
    pub enabled: bool,
    variables: DeclaredVariables,
    /// How often a rule of a tier may hold a stop, where it does not say so itself: a project decides for its own
    /// rules, not for those of the user.
    max_holds: BTreeMap<Tier, u32>,
    /// A hook's own time limit for judging.
    pub deadline: Duration,
    pub journal: JournalMode,
    pub retention: Duration,
    pub branches: BranchSettings,
    pub agent_permissions: AgentPermissions,
    pub commands: CommandSettings,
    /// Relative to the root.
    pub rules_dir: Option<String>,
    pub mode: Mode,
    /// What an agent is shown at once, in bytes.
    pub output_limit: usize,
    /// In the order in which they run: the user's, then the project's.
    pub observers: Vec<Observer>,
    /// What is done when events come; the user's, then the project's.
    pub triggers: Vec<ConfigTriggers>,
    /// Expressions of observers; none once the policy is loaded.
    #[serde(skip)]
    unchecked: Vec<Unchecked>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Enforce,
    /// Everything is judged and recorded, nothing is stopped.
    Observe,
}

impl Mode {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Observe => "observe",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalMode {
    /// Commands, paths and what rules used; the rest as digests.
    #[default]
    Lean,
    /// Whole events.
    Full,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            variables: DeclaredVariables::default(),
            max_holds: BTreeMap::new(),
            deadline: Duration::from_secs(2),
            journal: JournalMode::Lean,
            retention: Duration::from_secs(90 * DAY),
            branches: BranchSettings::default(),
            agent_permissions: AgentPermissions::default(),
            commands: CommandSettings::default(),
            rules_dir: None,
            mode: Mode::Enforce,
            output_limit: 8 * KIB,
            observers: Vec::new(),
            triggers: Vec::new(),
            unchecked: Vec::new(),
        }
    }
}

impl Config {
    /// Where a tier's rules lie.
    pub fn rules_dir(&self, folder: &PolicyFolder) -> PathBuf {
        let elsewhere = self.rules_dir.as_ref().filter(|_| folder.tier == Tier::Project);
        elsewhere.map_or_else(|| folder.rules(), |name| folder.base.join(name))
    }

    pub fn max_holds(&self, tier: Tier) -> Option<u32> {
        self.max_holds.get(&tier).copied()
    }

    pub fn variable(&self, name: &str) -> Option<Value> {
        self.variables.first_value(name)
    }

    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.names()
    }

    /// Whether it is declared here, or one of the observers here sets it.
    pub fn knows_variable(&self, name: &str) -> bool {
        self.variables.contains(name) || self.observers.iter().any(|observer| observer.variables().contains(&name))
    }

    /// Makes known to expressions what is declared here, and what observers set and feed.
    pub fn declare_in(&self, scope: &mut Scope) {
        for name in self.variable_names() {
            scope.declare(name);
        }
        for observer in &self.observers {
            observer.declare_in(scope);
        }
    }
}
