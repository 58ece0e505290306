//! Configuration: the settings in the `config.yml` files of all tiers, merged.

mod agent_permissions;
mod branches;
mod commands;
mod file;
mod keys;
mod nested_rules;
mod observers;
mod overlay;
mod setting;
mod trigger_actions;
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
pub use keys::{AGENT_COMMANDS, CONFIG};
pub use setting::{SettingNeedingTrust, SpannedSetting};
pub use trigger_actions::ConfigTriggers;

use crate::files::folder::PolicyFolder;
use crate::observers::UncheckedExpression;
use crate::values::quantity::{DAY, KIB};
use variables::DeclaredVariables;

/// The merged configuration of all tiers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// If false, only locked rules are in force.
    pub enabled: bool,
    variables: DeclaredVariables,
    /// The default of `max_holds` for rules of each tier. A project's setting does not apply to the user's rules.
    max_holds: BTreeMap<Tier, u32>,
    /// The time limit for judging an event.
    pub deadline: Duration,
    pub journal: JournalMode,
    pub retention: Duration,
    pub branches: BranchSettings,
    pub agent_permissions: AgentPermissions,
    pub commands: CommandSettings,
    /// Relative to the project's root.
    pub rules_dir: Option<String>,
    pub mode: PolicyMode,
    /// The size limit of the reasons shown to an agent at once, in bytes.
    pub output_limit: usize,
    /// In the order in which they run: the user's, then the project's.
    pub observers: Vec<Observer>,
    /// The user's triggers, then the project's.
    pub triggers: Vec<ConfigTriggers>,
    /// Observers' expressions that were not checked yet; empty once the policy is loaded.
    #[serde(skip)]
    unchecked_expressions: Vec<UncheckedExpression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMode {
    #[default]
    Enforce,
    /// Events are judged and recorded, but nothing is blocked.
    Observe,
}

impl PolicyMode {
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
    /// Stores commands, paths, and the facts that rules used; everything else only as digests.
    #[default]
    Lean,
    /// Stores whole events.
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
            mode: PolicyMode::Enforce,
            output_limit: 8 * KIB,
            observers: Vec::new(),
            triggers: Vec::new(),
            unchecked_expressions: Vec::new(),
        }
    }
}

impl Config {
    /// The folder of a tier's rules.
    pub fn rules_dir(&self, folder: &PolicyFolder) -> PathBuf {
        let configured = self.rules_dir.as_ref().filter(|_| folder.tier == Tier::Project);
        configured.map_or_else(|| folder.rules(), |name| folder.base.join(name))
    }

    pub fn max_holds(&self, tier: Tier) -> Option<u32> {
        self.max_holds.get(&tier).copied()
    }

    /// The initial value of a declared variable.
    pub fn initial_value(&self, name: &str) -> Option<Value> {
        self.variables.initial_value(name)
    }

    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.names()
    }

    /// True if the variable is declared, or an observer sets it.
    pub fn knows_variable(&self, name: &str) -> bool {
        self.variables.contains(name) || self.observers.iter().any(|observer| observer.variables().contains(&name))
    }

    /// Adds the declared variables, and the variables and functions of observers, to the scope of expressions.
    pub fn declare_in(&self, scope: &mut Scope) {
        for name in self.variable_names() {
            scope.declare(name);
        }
        for observer in &self.observers {
            observer.declare_in(scope);
        }
    }
}
