//! Configuration: what the `config.yml` of all tiers say together.

mod file;
mod keys;
mod nested_rules;
mod observers;
mod overlay;
mod setting;
mod triggers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use engine::expr::Scope;
use engine::observers::Observer;
use engine::rules::Tier;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use file::ConfigFile;
pub use keys::{CONFIG, MOVES};
pub use setting::{Setting, Unaccepted};
pub use triggers::ConfigTriggers;

use crate::files::folder::PolicyFolder;
use crate::observers::Unchecked;
use crate::values::quantity::{DAY, KIB};
use keys::AGENT_MAY;

/// What the configurations of all tiers say together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// False: only what protects the guard itself is in force.
    pub enabled: bool,
    /// Declared variables with their first values, each as JSON text.
    variables: BTreeMap<String, String>,
    /// How often a rule of a tier may hold a stop, where it does not say so itself: a project decides for its own
    /// rules, not for those of the user.
    max_holds: BTreeMap<Tier, u32>,
    /// A hook's own time limit for judging.
    pub deadline: Duration,
    pub journal: JournalMode,
    pub retention: Duration,
    pub default_branch: Option<String>,
    /// Each tier's own.
    protected_branches: BTreeMap<Tier, Vec<String>>,
    /// The commands that an agent may run by itself: those that the user lets it, without those that a project takes away.
    agent_may: Vec<String>,
    /// And those that a project adds. They do not reach the user's own workflows and variables.
    project_lets_agents: Vec<String>,
    /// Environment variables that commands of rules and gates get beside the usual ones.
    pub command_env: Vec<String>,
    pub sandbox: Sandbox,
    /// Gets progress messages on its standard input.
    pub progress_command: Option<String>,
    /// Relative to the root.
    pub rules_dir: Option<String>,
    pub mode: Mode,
    /// What an agent is shown at once, in bytes.
    pub output_limit: usize,
    /// In the order in which they run: the user's, then the project's.
    pub observers: Vec<Observer>,
    /// What is done when events come; the user's, then the project's.
    pub triggers: Vec<ConfigTriggers>,
    /// The names of those variables that the user declared; none once the policy is loaded.
    #[serde(skip)]
    users_variables: BTreeSet<String>,
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

/// What keeps commands of rules and gates from writing elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    Off,
    /// They write in the repository and in caches, where the system can see to it.
    #[default]
    Repo,
    /// They do not run where the system cannot.
    Require,
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
            variables: BTreeMap::new(),
            max_holds: BTreeMap::new(),
            deadline: Duration::from_secs(2),
            journal: JournalMode::Lean,
            retention: Duration::from_secs(90 * DAY),
            default_branch: None,
            protected_branches: BTreeMap::new(),
            agent_may: AGENT_MAY.iter().map(|&name| name.to_owned()).collect(),
            project_lets_agents: Vec::new(),
            command_env: Vec::new(),
            sandbox: Sandbox::default(),
            progress_command: None,
            rules_dir: None,
            mode: Mode::Enforce,
            output_limit: 8 * KIB,
            observers: Vec::new(),
            triggers: Vec::new(),
            users_variables: BTreeSet::new(),
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

    /// Whether an agent may run a command by itself.
    pub fn lets_agents(&self, command: &str) -> bool {
        self.user_lets_agents(command) || self.project_lets_agents.iter().any(|name| name == command)
    }

    /// The same for what is the user's own.
    pub fn user_lets_agents(&self, command: &str) -> bool {
        self.agent_may.iter().any(|name| name == command)
    }

    pub fn max_holds(&self, tier: Tier) -> Option<u32> {
        self.max_holds.get(&tier).copied()
    }

    /// The branches that nobody rewrites. Which one is the default is not asked of git here, so both usual names are.
    /// Where the user has a policy of their own, a project adds to what that protects and takes nothing away.
    pub fn protected_branches(&self, has_user_tier: bool) -> Vec<String> {
        let usual = || ["main", "master"].map(str::to_owned).to_vec();
        let of_tier = |tier| self.protected_branches.get(&tier).cloned();
        let own = of_tier(Tier::Project).or_else(|| self.default_branch.clone().map(|branch| vec![branch]));
        let mut branches = match (has_user_tier, own) {
            (false, own) => own.unwrap_or_else(usual),
            (true, own) => [of_tier(Tier::User).unwrap_or_else(usual), own.unwrap_or_default()].concat(),
        };
        branches.sort();
        branches.dedup();
        branches
    }

    pub fn variable(&self, name: &str) -> Option<Value> {
        self.variables.get(name).and_then(|json| serde_json::from_str(json).ok())
    }

    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Whether it is declared here, or one of the observers here sets it.
    pub fn knows_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name) || self.observers.iter().any(|observer| observer.variables().contains(&name))
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
