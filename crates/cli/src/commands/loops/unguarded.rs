//! Finds agents of a loop that have no hooks of Linchpin, or whose hooks are unknown. Without hooks, nothing enforces
//! the `writes` and `rules` of hats.

use agents::Agent;
use engine::hats::{AgentChoice, Loop};
use guard::Project;
use serde_json::{Value, json};

use crate::commands::{Context, install};
use crate::output::Output;
use crate::problem::Problem;

pub struct UnguardedAgent<'a> {
    agent: &'a AgentChoice,
    why: UnguardedReason,
}

enum UnguardedReason {
    /// Linchpin's hooks are not installed for the agent.
    NotInstalled(Agent),
    /// Linchpin has no hooks for this agent.
    NoHooks,
    /// The loop has a command instead of an agent's name, and that command can start any agent.
    Unknown,
}

/// Returns the unguarded agents among those of the loop's hats, without duplicates.
pub fn unguarded_agents<'a>(the_loop: &'a Loop, project: &Project, context: &Context) -> Vec<UnguardedAgent<'a>> {
    let mut agents: Vec<&AgentChoice> = Vec::new();
    for hat in &the_loop.hats {
        let agent = the_loop.agent_of(hat);
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    let why = |agent: &AgentChoice| {
        let AgentChoice::Named(name) = agent else { return Some(UnguardedReason::Unknown) };
        let Some(known) = Agent::from_name(name) else { return Some(UnguardedReason::NoHooks) };
        let is_installed = install::is_installed(known, &project.root, &context.environment);
        (!is_installed).then_some(UnguardedReason::NotInstalled(known))
    };
    agents.into_iter().filter_map(|agent| Some(UnguardedAgent { agent, why: why(agent)? })).collect()
}

impl UnguardedAgent<'_> {
    /// False if it is not certain that the agent is unguarded, so that a hint suffices.
    pub fn is_warning(&self) -> bool {
        !matches!(self.why, UnguardedReason::Unknown)
    }

    /// Returns the error that prevents the run from starting. `None` if the run can start: only missing hooks that a
    /// person could install prevent it.
    pub fn refusal(&self) -> Option<Problem> {
        let UnguardedReason::NotInstalled(agent) = self.why else { return None };
        let message = format!(
            "{} has no hooks of Linchpin, so nothing would enforce the rules of its hats during an unattended run",
            agent.title()
        );
        Some(Problem::new("NoHooks", message).help(self.help()))
    }

    pub fn print(&self, output: &Output) {
        output.line(format!("{}: {}", self.severity(), self.message()));
        output.line(format!(" = help: {}", self.help()));
        output.blank();
    }

    pub fn to_json(&self) -> Value {
        json!({
            "severity": self.severity(), "agent": self.agent.to_string(), "message": self.message(), "help": self.help(),
        })
    }

    pub fn message(&self) -> String {
        match self.why {
            UnguardedReason::NotInstalled(agent) => {
                format!("{} has no hooks of Linchpin, and `linchpin run` does not start it without them", agent.title())
            }
            UnguardedReason::NoHooks => {
                format!("Linchpin has no hooks for `{}`: nothing enforces `writes` and `rules` of its hats", self.agent)
            }
            UnguardedReason::Unknown => {
                format!("`writes` and `rules` are only enforced if `{}` calls Linchpin's hooks", self.agent)
            }
        }
    }

    fn severity(&self) -> &'static str {
        if self.is_warning() { "warning" } else { "hint" }
    }

    fn help(&self) -> String {
        match self.why {
            UnguardedReason::NotInstalled(agent) => {
                format!("run `linchpin install {}`, with `--user` for all of your projects", agent.name())
            }
            UnguardedReason::NoHooks => {
                "gates on topics are enforced anyway: use them for the important requirements".to_owned()
            }
            UnguardedReason::Unknown => {
                "if it starts an agent, `linchpin install AGENT` installs them; a script of your own has none. Gates on topics are \
                 enforced without them"
                    .to_owned()
            }
        }
    }
}
