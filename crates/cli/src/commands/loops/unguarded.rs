//! Agents of a loop that may not call Linchpin: nothing holds those to the `writes` and `rules` of their hats.

use agents::Agent;
use engine::hats::{AgentChoice, Loop};
use guard::Project;
use serde_json::{Value, json};

use crate::commands::{Context, install};
use crate::output::Output;
use crate::problem::Problem;

pub struct Unguarded<'a> {
    agent: &'a AgentChoice,
    why: Why,
}

enum Why {
    /// Its hooks are not installed.
    NotInstalled(Agent),
    /// There are none for it.
    NoHooks,
    /// A command may be anything.
    Unknown,
}

/// Of those that its hats are put on, each once.
pub fn unguarded<'a>(the_loop: &'a Loop, project: &Project, context: &Context) -> Vec<Unguarded<'a>> {
    let mut agents: Vec<&AgentChoice> = Vec::new();
    for hat in &the_loop.hats {
        let agent = hat.agent.as_ref().unwrap_or(&the_loop.agent);
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    let why = |agent: &AgentChoice| {
        let AgentChoice::Named(name) = agent else { return Some(Why::Unknown) };
        let Some(known) = Agent::from_name(name) else { return Some(Why::NoHooks) };
        let is_installed = install::is_installed(known, &project.root, &context.environment);
        (!is_installed).then_some(Why::NotInstalled(known))
    };
    agents.into_iter().filter_map(|agent| Some(Unguarded { agent, why: why(agent)? })).collect()
}

impl Unguarded<'_> {
    pub fn is_warning(&self) -> bool {
        !matches!(self.why, Why::Unknown)
    }

    /// Why it is not started, where a person can do something about it.
    pub fn refusal(&self) -> Option<Problem> {
        let Why::NotInstalled(agent) = self.why else { return None };
        let message = format!(
            "{} has no hooks of Linchpin's, so nothing would hold it to what its hats may do while nobody watches",
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
            Why::NotInstalled(agent) => {
                format!("{} has no hooks of Linchpin's, and `linchpin run` does not start it without", agent.title())
            }
            Why::NoHooks => {
                format!(
                    "Linchpin has no hooks for `{}`: nothing holds it to `writes` and `rules` of its hats",
                    self.agent
                )
            }
            Why::Unknown => format!("`writes` and `rules` hold only if `{}` calls Linchpin's hooks", self.agent),
        }
    }

    fn severity(&self) -> &'static str {
        if self.is_warning() { "warning" } else { "hint" }
    }

    fn help(&self) -> String {
        match self.why {
            Why::NotInstalled(agent) => {
                format!("`linchpin install {}`, or with `--user` for all of your projects", agent.name())
            }
            Why::NoHooks => "gates on topics hold all the same: let them ask for what matters".to_owned(),
            Why::Unknown => "`linchpin install AGENT` installs them; gates on topics hold without".to_owned(),
        }
    }
}
